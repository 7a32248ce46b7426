import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SecretBox } from '../../../src/core/crypto/index.js';
import { runCli } from '../../support/cli.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import {
  aFundedMerchant,
  aPayout,
  CPF,
  OTHER_CPF,
  payoutOf,
  readPayout,
  requestPayout,
  simulatePayout,
} from '../../support/payouts.js';
import { WebhookReceiver } from '../../support/receiver.js';
import { type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const ENCRYPTION_KEY = 'd4'.repeat(32);
/** Unique values of the receiver, which are searched in everything that is stored. */
const PERSON = { name: 'Zenobia Quaresma Xisto', email: 'zenobia.xisto@receiver.example', cpf: CPF };
const BANK_ACCOUNT = {
  ...{ type: 'bank_account', ispb: '00000000', branch: '0001', number: '123456-7' },
  ...{ account_type: 'checking', name: PERSON.name, tax_id: PERSON.cpf },
};
const BY_EMAIL = { type: 'pix_key', key: PERSON.email, tax_id: PERSON.cpf };
const WORDS = { description: `For ${PERSON.name}`, metadata: { note: `rent of ${PERSON.name}` } };

interface Exported {
  payouts: Record<string, unknown>[];
  payout_destinations: Record<string, unknown>[];
}

interface Erased {
  erased: Record<string, number>;
  kept: { waiting: Record<string, string>[] };
}

describe('the personal data of a receiver of payouts', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'recebe-spec-'));
  const service = TestService.forSpec({ env: { ENCRYPTION_KEY } });
  const receiver = WebhookReceiver.forSpec();
  let merchant: Merchant;
  let key: string;
  let savedId: string;
  let toSaved: string;
  let toAccount: string;
  let open: string;
  let other: string;

  const cli = async <T>(...args: string[]): Promise<T> => {
    const env = { DATABASE_URL: service.database.url, DATA_DIR: dataDir, ENCRYPTION_KEY };
    const { code, stdout, stderr } = await runCli(['account', ...args], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(stdout) as T;
  };
  const isFound = (text: string): boolean => Object.values(PERSON).some((mark) => text.includes(mark));
  const tables = async (): Promise<string[]> => [
    ...new Set((await service.rows()).filter(({ text }) => isFound(text)).map(({ table }) => table)),
  ];
  /** Every sealed text, opened. */
  const opened = async (): Promise<string[]> => {
    const secrets = new SecretBox(ENCRYPTION_KEY);
    const texts = await service.sql<{ box: string; context: string }>(
      `SELECT payload AS box, 'webhook_message:' || id AS context FROM webhook_messages
       UNION ALL SELECT response_body, 'idempotency:' || account_id || '/' || mode || '/' || operation || '/' || key
       FROM idempotency_keys WHERE response_body IS NOT NULL
       UNION ALL SELECT customer_sealed, 'event:' || id FROM events WHERE customer_sealed IS NOT NULL`,
    );
    const boxes = await service.sql<{ box: Buffer; context: string }>(
      `SELECT target_sealed AS box, 'payout:' || id AS context FROM payouts WHERE target_sealed IS NOT NULL
       UNION ALL SELECT target_sealed, 'payout_destination:' || id FROM payout_destinations
       WHERE target_sealed IS NOT NULL`,
    );
    return [
      ...texts.map(({ box, context }) => secrets.openText(box, context)),
      ...boxes.map(({ box, context }) => secrets.open(box, context)),
    ];
  };
  const delivered = (): Promise<unknown> =>
    waitFor('the webhooks', async () => {
      const [row] = await service.sql<{ waiting: boolean }>(
        `SELECT EXISTS (SELECT FROM events WHERE status = 'pending')
           OR EXISTS (SELECT FROM webhook_deliveries WHERE status <> 'DELIVERED') AS waiting`,
      );
      return row?.waiting === false;
    });

  beforeAll(async () => {
    merchant = await aFundedMerchant(service);
    key = merchant.testKey;
    await service.call('POST', '/v1/webhooks/endpoints', { key, body: { url: receiver.url, events: ['*'] } });
    const saved = await service.call<{ id: string }>('POST', '/v1/payout-destinations', {
      key,
      body: { ...BY_EMAIL, label: PERSON.name },
    });
    savedId = saved.body.id;
    toSaved = (await requestPayout(service, key, { destination: savedId, ...WORDS }, 'to-saved')).body.id;
    toAccount = (await requestPayout(service, key, { destination: BANK_ACCOUNT, ...WORDS }, 'to-account')).body.id;
    const otherWords = { description: 'For Somebody Else', metadata: { note: 'Somebody Else' } };
    other = (await aPayout(service, key, { destination: { type: 'pix_key', key: OTHER_CPF }, ...otherWords })).id;
    for (const id of [toSaved, toAccount, other]) await payoutOf(service, key, id, 'paid');
    open = (await aPayout(service, key, { destination: { type: 'pix_key', key: CPF }, ...WORDS })).id;
    await simulatePayout(service, key, open, { event: 'review' });
    await waitFor('the review', async () => (await readPayout(service, key, open)).processing_reason === 'review');
    await delivered();
  });
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  it('stands in clear text in no copy: only the words of the merchant, in one row each', async () => {
    expect((await tables()).sort()).toEqual(['payout_destinations', 'payouts']);
    expect((await opened()).filter(isFound).length).toBeGreaterThan(10);
    expect(receiver.received.some(({ rawBody }) => rawBody.includes(PERSON.name))).toBe(true);
  });

  it.each([
    ['the tax id', ['--tax-id', '529.982.247-25'], 3, 1],
    ['an e-mail that is a key', ['--email', PERSON.email.toUpperCase()], 1, 1],
    ['a tax id without payouts', ['--tax-id', '11.222.333/0001-81'], 0, 0],
  ])('is exported by %s', async (_what, who, payouts, destinations) => {
    const exported = await cli<Exported>('export-customer', merchant.accountId, ...who);
    expect([exported.payouts.length, exported.payout_destinations.length]).toEqual([payouts, destinations]);
  });

  it('is exported with opened receivers, amounts, dates and the words of the merchant', async () => {
    const exported = await cli<Exported>('export-customer', merchant.accountId, '--tax-id', CPF);
    expect(exported.payouts[1]).toEqual({
      payout_id: toAccount.slice(3),
      mode: 'test',
      status: 'paid',
      ...{ amount: 500, fee: 0, amount_returned: 0, currency: 'BRL' },
      receiver: { ...BANK_ACCOUNT, number: '1234567' },
      ...WORDS,
      end_to_end_id: expect.stringMatching(/^E/),
      created_at: expect.stringMatching(/Z$/),
      paid_at: expect.stringMatching(/Z$/),
    });
    expect(exported.payouts.map(({ status }) => status)).toEqual(['paid', 'paid', 'processing']);
    expect(exported.payout_destinations).toEqual([
      {
        payout_destination_id: savedId.slice(3),
        ...{ mode: 'test', label: PERSON.name, receiver: BY_EMAIL },
        ...{ created_at: expect.stringMatching(/Z$/), deleted_at: null },
      },
    ]);
    const [audited] = await service.sql<{ data: object }>(
      `SELECT data FROM audit_events WHERE type = 'customer.exported' ORDER BY id DESC LIMIT 1`,
    );
    expect(audited?.data).toEqual({ transactions: 0, payouts: 3, payout_destinations: 1 });
  });

  it('stays with a payout for as long as it may be sent, also for the owner of the tables', async () => {
    const blank = 'UPDATE payouts SET target_sealed = NULL WHERE id = $1';
    await expect(service.sql(blank, [open.slice(3)])).rejects.toThrow('payouts_target_check');
    const change = `UPDATE payouts SET target_hash = '\\x01' WHERE id = $1`;
    await expect(service.sql(change, [toSaved.slice(3)])).rejects.toThrow();
    const keep = 'UPDATE payout_destinations SET target_sealed = NULL WHERE id = $1';
    await expect(service.sql(keep, [savedId.slice(3)])).rejects.toThrow('payout_destinations_target_check');
  });

  it('is erased on request: open payouts wait, and then no data of the person is left', async () => {
    const books = 'SELECT id, status, amount, end_to_end_id, shown, paid_at FROM payouts ORDER BY id';
    const before = await service.sql(books);
    const erase = ['erase-customer', merchant.accountId, '--tax-id', CPF, '--metadata'];
    const first = await cli<Erased>(...erase);
    expect(first.erased).toMatchObject({ payouts: 2, payout_destinations: 1, idempotency_keys: 4 });
    expect(first.kept.waiting).toEqual([{ payout_id: open.slice(3), reason: 'open_payout' }]);
    expect(await service.sql(books)).toEqual(before);
    expect((await service.call('GET', `/v1/payout-destinations/${savedId}`, { key })).status).toBe(404);

    await simulatePayout(service, key, open, { event: 'pay' });
    await payoutOf(service, key, open, 'paid');
    await delivered();
    const second = await cli<Erased>(...erase);
    expect(second).toMatchObject({ erased: { payouts: 1, payout_destinations: 0 }, kept: { waiting: [] } });
    expect((await cli<Erased>(...erase)).erased).toMatchObject({ payouts: 0, events: 0, webhook_messages: 0 });

    expect(await tables()).toEqual([]);
    const texts = await opened();
    expect(texts.filter(isFound)).toEqual([]);
    expect(texts.filter((text) => text.includes('Somebody Else')).length).toBeGreaterThan(3);
    const exported = await cli<Exported>('export-customer', merchant.accountId, '--tax-id', CPF);
    expect([exported.payouts, exported.payout_destinations]).toEqual([[], []]);
    expect((await readPayout(service, key, other)).metadata).toMatchObject({ note: 'Somebody Else' });
  });

  it('leaves nothing in the answer to a repeated request, which another request does not get', async () => {
    const again = await requestPayout(service, key, { destination: savedId, ...WORDS }, 'to-saved');
    expect([again.status, again.headers.get('idempotent-replayed'), again.body.id]).toEqual([201, 'true', toSaved]);
    expect(isFound(again.text)).toBe(false);
    for (const changed of [{ amount: 501 }, { destination: { type: 'pix_key', key: OTHER_CPF } }]) {
      const body = { destination: BANK_ACCOUNT, ...WORDS, ...changed };
      const refused = await requestPayout(service, key, body, 'to-account');
      expect([refused.status, refused.body.error.code]).toEqual([409, 'idempotency_key_reused']);
    }
    const same = await requestPayout(service, key, { destination: BANK_ACCOUNT, ...WORDS }, 'to-account');
    expect(same.body.id).toBe(toAccount);
  });

  it('is not needed when money of a paid payout comes back', async () => {
    expect((await simulatePayout(service, key, toAccount, { event: 'return', amount: 200 })).status).toBe(200);
    await waitFor('the return', async () => (await readPayout(service, key, toAccount)).amount_returned === 200);
    await simulatePayout(service, key, toAccount, { event: 'return' });
    await payoutOf(service, key, toAccount, 'refunded');
    await delivered();
    expect(await tables()).toEqual([]);
    await expectLedgerCoherent(service.database.url);
  });

  it('is saved anew when the merchant pays the person again', async () => {
    const { body } = await service.call<{ id: string }>('POST', '/v1/payout-destinations', { key, body: BY_EMAIL });
    expect(body.id).not.toBe(savedId);
    await payoutOf(service, key, (await aPayout(service, key, { destination: body.id })).id, 'paid');
    const exported = await cli<Exported>('export-customer', merchant.accountId, '--tax-id', CPF);
    expect([exported.payouts.length, exported.payout_destinations.length]).toEqual([1, 1]);
  });
});
