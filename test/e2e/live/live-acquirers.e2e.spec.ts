import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { AcquirersService, ConnectionsService, LiveAcquirersService } from '../../../src/acquirers/index.js';
import { CLIENT } from '../../../tools/psp-simulator/certificates.js';
import { DEFAULT_MERCHANT, PspSimulator } from '../../../tools/psp-simulator/simulator.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { goLive } from '../../support/live-acquirer.js';
import { type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

interface Refused {
  error: { code: string; message: string };
}

const SECRETS = [DEFAULT_MERCHANT.clientSecret, CLIENT.passphrase, CLIENT.pfx.slice(40, 80), 'wrong-secret'];

describe('live acquirers', () => {
  const service = TestService.forSpec();
  let simulator: PspSimulator;
  const keys = Array.from({ length: 10 }, () => randomUUID());
  const merchants = keys.map((key) => ({ ...DEFAULT_MERCHANT, clientId: `client-${key}`, pixKeys: [key] }));
  let used = 0;

  beforeAll(async () => {
    simulator = await PspSimulator.start({ merchants });
  });
  afterEach(() => expectLedgerCoherent(service.database.url));
  afterAll(() => simulator.stop());

  /** A merchant here, and what it has at the PSP. */
  async function newcomer(): Promise<{ merchant: Merchant; at: { pixKey: string; clientId: string } }> {
    const pixKey = keys[used++] ?? '';
    return { merchant: await service.merchant(), at: { pixKey, clientId: `client-${pixKey}` } };
  }

  it('serve live keys from the moment they are configured, while test keys stay in the sandbox', async () => {
    const { merchant, at } = await newcomer();
    const before = await service.createCharge<Refused>(merchant.liveKey);
    expect([before.status, before.body.error.code]).toEqual([422, 'no_provider_configured']);
    const configured = await goLive(service, simulator, merchant.accountId, at);
    expect(configured).toMatchObject({
      acquirer: `pix-api:${configured.id}`,
      renewed: false,
      replaced: null,
      certificate: { subject: 'CN=Recebe PSP simulator client', expiresAt: new Date('2120-01-01T00:00:00Z') },
    });
    const live = await service.createCharge(merchant.liveKey);
    expect([live.status, live.body.pix.br_code]).toEqual([201, expect.stringContaining('localhost')]);
    expect(simulator.state().cobs.map(({ txid }) => txid)).toContain(live.body.pix.txid);
    expect((await service.createCharge(merchant.testKey)).status).toBe(201);
    const made = await service.sql('SELECT mode, acquirer FROM transactions WHERE account_id = $1 ORDER BY id', [
      merchant.accountId,
    ]);
    expect(made).toEqual([
      { mode: 'live', acquirer: configured.acquirer },
      { mode: 'test', acquirer: 'sandbox' },
    ]);
  });

  it('refuse methods that the PSP does not have, before anything is created', async () => {
    const { merchant, at } = await newcomer();
    await goLive(service, simulator, merchant.accountId, at);
    const pay = (...paymentMethods: string[]) =>
      service.call<Refused>('POST', '/v1/payments', {
        key: merchant.liveKey,
        body: {
          amount: 4990,
          paymentMethods,
          idempotencyKey: randomUUID(),
        },
      });
    for (const methods of [['CREDIT_CARD'], ['PIX', 'CREDIT_CARD']]) {
      const refused = await pay(...methods);
      expect([refused.status, refused.body.error]).toMatchObject([
        422,
        { code: 'no_provider_configured', message: 'No acquirer of this account offers CREDIT_CARD.' },
      ]);
    }
    expect((await pay('PIX')).status).toBe(201);
    const rows = await service.sql('SELECT id FROM transactions WHERE account_id = $1', [merchant.accountId]);
    expect(rows).toHaveLength(1);
  });

  it('keep their secrets sealed, so that they are in no column of any table and in no list', async () => {
    const { merchant, at } = await newcomer();
    await goLive(service, simulator, merchant.accountId, { ...at, clientSecret: 'wrong-secret' });
    await goLive(service, simulator, merchant.accountId, at);
    await service.createCharge(merchant.liveKey);
    const forms = SECRETS.flatMap((secret) => [secret, Buffer.from(secret).toString('hex')]);
    const rows = await service.rows();
    expect(rows.filter(({ text }) => forms.some((form) => text.includes(form)))).toEqual([]);
    const [stored] = await service.sql<{ sealed: Buffer }>(
      'SELECT credentials_sealed AS sealed FROM acquirer_connections WHERE account_id = $1',
      [merchant.accountId],
    );
    expect(stored?.sealed.length).toBeGreaterThan(1_000);
    const list = JSON.stringify(await service.get(LiveAcquirersService).list(null));
    for (const secret of SECRETS) expect(list).not.toContain(secret);
  });

  it('are listed for operators, of all accounts or one, with the last configured one in use and without secrets', async () => {
    const { merchant, at } = await newcomer();
    const first = await goLive(service, simulator, merchant.accountId, at);
    const { at: elsewhere } = await newcomer();
    const second = await goLive(service, simulator, merchant.accountId, elsewhere);
    const { token } = await service.operator();
    const path = '/v1/operations/connections';
    const own = await service.call<{ data: object[] }>('GET', `${path}?account_id=${merchant.accountId}`, { token });
    expect([own.status, own.body.data]).toMatchObject([
      200,
      [
        { id: second.id, account_id: merchant.accountId, pix_key: elsewhere.pixKey, in_use: true },
        { id: first.id, account_id: merchant.accountId, pix_key: at.pixKey, in_use: false },
      ],
    ]);
    for (const secret of SECRETS) expect(own.text).not.toContain(secret);
    const ids: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: { body: { data: { id: string }[]; next_cursor: string | null } } = await service.call(
        'GET',
        `${path}?limit=2${cursor === '' ? '' : `&starting_after=${cursor}`}`,
        { token },
      );
      ids.push(...page.body.data.map(({ id }) => id));
      cursor = page.body.next_cursor;
    }
    const stored = await service.sql<{ id: string }>('SELECT id FROM acquirer_connections ORDER BY id DESC');
    expect(ids).toEqual(stored.map(({ id }) => id));
    const { token: owner } = await service.member(merchant.accountId, 'OWNER');
    expect((await service.call('GET', path, { token: owner })).status).toBe(403);
  });

  it('are sealed to their row, so that credentials copied to another connection do not open there', async () => {
    const [one, two] = [await newcomer(), await newcomer()];
    const first = await goLive(service, simulator, one.merchant.accountId, one.at);
    const second = await goLive(service, simulator, two.merchant.accountId, two.at);
    await service.sql(
      `UPDATE acquirer_connections SET version = version + 1, credentials_sealed =
         (SELECT credentials_sealed FROM acquirer_connections WHERE id = $1) WHERE id = $2`,
      [first.id, second.id],
    );
    const connections = service.get(ConnectionsService);
    expect(await connections.find(first.id)).toMatchObject({ credentials: { clientId: one.at.clientId } });
    await expect(connections.find(second.id)).rejects.toThrow();
    // The service may have opened the credentials before, and notices the change within seconds.
    await waitFor('the refusal', async () => {
      const { status, body } = await service.createCharge<Partial<Refused>>(two.merchant.liveKey);
      return status === 503 && body.error?.code === 'provider_unavailable';
    });
  });

  it('a Pix key at a PSP belongs to one account, even when two ask at the same moment', async () => {
    const [one, two] = [await newcomer(), await newcomer()];
    const both = await Promise.allSettled(
      [one, two].map(({ merchant }) => goLive(service, simulator, merchant.accountId, one.at)),
    );
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const loser = both[0]?.status === 'rejected' ? one : two;
    await expect(goLive(service, simulator, loser.merchant.accountId, one.at)).rejects.toMatchObject({
      status: 409,
      code: 'acquirer_key_taken',
      message: `The Pix key ${one.at.pixKey} at standard is another account's: a key is charged to by one account only.`,
    });
    const charge = await service.createCharge<Refused>(loser.merchant.liveKey);
    expect([charge.status, charge.body.error.code]).toEqual([422, 'no_provider_configured']);
    // At another PSP the key makes another connection.
    const elsewhere = { ...one.at, psp: 'efi' };
    expect(await goLive(service, simulator, loser.merchant.accountId, elsewhere)).toMatchObject({ renewed: false });
  });

  it('an account that configures twice at the same moment has one connection', async () => {
    const { merchant, at } = await newcomer();
    const both = await Promise.all([1, 2].map(() => goLive(service, simulator, merchant.accountId, at)));
    expect(both.map(({ renewed }) => renewed).sort()).toEqual([false, true]);
    expect(new Set(both.map(({ id }) => id)).size).toBe(1);
    expect(await service.get(LiveAcquirersService).list(merchant.accountId)).toMatchObject([
      { version: 2, live: true, webhookRegisteredAt: null },
    ]);
  });

  it('are renewed in place, and a running service notices within seconds', async () => {
    const merchant = await service.merchant();
    const pixKey = randomUUID();
    const at = { pixKey, clientId: `client-${pixKey}` };
    simulator.addMerchant({ ...DEFAULT_MERCHANT, clientId: at.clientId, pixKeys: [pixKey] });
    const wrong = await goLive(service, simulator, merchant.accountId, { ...at, clientSecret: 'wrong-secret' });
    expect((await service.createCharge(merchant.liveKey)).status).toBe(503);
    const right = await goLive(service, simulator, merchant.accountId, at);
    expect(right).toMatchObject({ id: wrong.id, renewed: true, replaced: null });
    service.clock.advance(11);
    expect((await service.createCharge(merchant.liveKey)).status).toBe(201);
    expect(
      await service.sql(
        `SELECT data FROM audit_events WHERE account_id = $1 AND type = 'acquirer.configured' ORDER BY id`,
        [merchant.accountId],
      ),
    ).toMatchObject([
      { data: { connection_id: wrong.id, psp: 'standard', renewed: false } },
      { data: { connection_id: wrong.id, psp: 'standard', renewed: true } },
    ]);
  });

  it('a new connection takes over new charges, and the old one keeps its own', async () => {
    const merchant = await service.merchant();
    const [first = '', second = ''] = [randomUUID(), randomUUID()];
    simulator.addMerchant({ ...DEFAULT_MERCHANT, clientId: `client-${first}`, pixKeys: [first, second] });
    const old = await goLive(service, simulator, merchant.accountId, { pixKey: first, clientId: `client-${first}` });
    const { body: charge } = await service.createCharge(merchant.liveKey);
    const now = await goLive(service, simulator, merchant.accountId, { pixKey: second, clientId: `client-${first}` });
    expect([now.renewed, now.replaced]).toEqual([false, old.acquirer]);
    expect((await service.createCharge(merchant.liveKey)).status).toBe(201);
    const status = await service
      .get(AcquirersService)
      .get(old.acquirer)
      .getPixCharge(charge.pix.txid ?? '');
    expect(status).toMatchObject({ kind: 'found', ended: null });
    const list = await service.get(LiveAcquirersService).list(merchant.accountId);
    expect(list.map(({ id, live }) => [id, live])).toEqual([
      [old.id, false],
      [now.id, true],
    ]);
  });

  it('a wrong configuration stores nothing', async () => {
    const { accountId } = await service.merchant();
    await expect(goLive(service, simulator, accountId, { pixKey: '1', clientId: '' })).rejects.toMatchObject({
      status: 400,
      details: [{ param: 'key' }, { param: 'client-id' }],
    });
    const nobody = '00000000-0000-7000-8000-000000000000';
    await expect(goLive(service, simulator, nobody, { pixKey: randomUUID() })).rejects.toMatchObject({ status: 404 });
    expect(await service.get(LiveAcquirersService).list(accountId)).toEqual([]);
    expect(await service.sql('SELECT live_acquirer FROM accounts WHERE id = $1', [accountId])).toEqual([
      { live_acquirer: null },
    ]);
  });
});
