import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SecretBox } from '../../../src/core/crypto/index.js';
import { ResealingRepository } from '../../../src/core/resealing/index.js';
import { CallingBank } from '../../support/callbacks.js';
import { type Ended, runCli } from '../../support/cli.js';
import { aDisputedCharge, happens } from '../../support/med.js';
import { aPaidCharge, paymentIdOf, refundEnd, requestRefund } from '../../support/refunds.js';
import { type Merchant, PASSWORD, TestService } from '../../support/service.js';
import { aFundedMerchant, aPayout, payoutOf, TO_CPF } from '../../support/payouts.js';
import { waitFor } from '../../support/wait.js';

const OLD = `old:${'5a'.repeat(32)}`;
const NEW = `new:${'6b'.repeat(32)}`;
const isOf = (id: string, sealed: Buffer | string): boolean =>
  typeof sealed === 'string'
    ? sealed.startsWith(`sealed:${id}:`)
    : sealed.subarray(0, id.length + 1).toString() === `\x03${id}`;
const IN_TEXT = ['events.customer_sealed', 'idempotency_keys.response_body', 'webhook_messages.payload'];

describe('secrets reseal', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'recebe-spec-'));
  const service = TestService.forSpec({ env: { ENCRYPTION_KEY: OLD } });
  let merchant: Merchant;
  let disputed: string;

  const reseal = (ENCRYPTION_KEY: string): Promise<Ended> =>
    runCli(['secrets', 'reseal'], { DATABASE_URL: service.database.url, DATA_DIR: dataDir, ENCRYPTION_KEY });

  /** Every sealed value, by its place */
  async function values(): Promise<{ place: string; sealed: Buffer | string }[]> {
    const columns = await service.sql<{ table: string; column: string }>(
      `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
       WHERE table_schema = 'public' AND udt_name = 'bytea' AND column_name ~ '_sealed$' ORDER BY 1, 2`,
    );
    const inBytes = await Promise.all(
      columns.map(async ({ table, column }) =>
        (
          await service.sql<{ sealed: Buffer }>(`SELECT ${column} AS sealed FROM ${table} WHERE length(${column}) > 0`)
        ).map(({ sealed }) => ({ place: `${table}.${column}`, sealed })),
      ),
    );
    const inTexts = (await service.rows()).flatMap(({ table, text }) =>
      [...text.matchAll(/payerSealed\W+([A-Za-z0-9+/=]+)/g)].map(([, base64 = '']) => ({
        place: table === 'events' ? 'events.data' : `${table}.med`,
        sealed: Buffer.from(base64, 'base64'),
      })),
    );
    const inColumnsOfText = await Promise.all(
      IN_TEXT.map((place) => {
        const [table = '', column = ''] = place.split('.');
        return service.sql<{ place: string; sealed: string }>(
          `SELECT '${place}' AS place, ${column} AS sealed FROM ${table} WHERE ${column} IS NOT NULL`,
        );
      }),
    );
    return [...inBytes.flat(), ...inTexts, ...inColumnsOfText.flat()];
  }

  beforeAll(async () => {
    merchant = await service.merchant();
    const { testKey: key, accountId } = merchant;
    const hook = { url: 'https://loja.example/hook', events: ['*'] };
    await service.call('POST', '/v1/webhooks/endpoints', { key, body: hook });
    for (let times = 0; times < 2; times++) {
      const body = { overlap_seconds: 3600 };
      await service.call('POST', '/v1/webhooks/default-secret/rotate', { key, body });
    }
    const { body } = await service.call<{ data: { id: string }[] }>('GET', '/v1/webhooks/endpoints', { key });
    await service.call('POST', `/v1/webhooks/endpoints/${body.data[0]?.id ?? ''}/rotate-secret`, { key, body: {} });
    disputed = (await aDisputedCharge(service, key, 100, { payer_document: '52998224725' })).charge.id;
    const charge = await aPaidCharge(service, key, 100);
    const refund = await requestRefund(service, key, paymentIdOf(charge), {
      amount: 1,
      destinationKey: 'maria@example.com',
    });
    await refundEnd(service, key, refund.body);
    const secrets = service.get(SecretBox);
    // A connection needs a PSP to be made; here its row is enough.
    const id = '01890000-0000-7000-8000-000000000001';
    const columns = await service.sql<{ name: string; type: string }>(
      `SELECT column_name AS name, udt_name AS type FROM information_schema.columns
       WHERE table_name = 'acquirer_connections' AND is_nullable = 'NO' AND column_default IS NULL`,
    );
    const known: Record<string, unknown> = {
      ...{ id, account_id: accountId, status: 'disabled' },
      credentials_sealed: secrets.seal('{}', `acquirer_connection:${id}`),
    };
    const filler: Record<string, unknown> = { timestamptz: new Date(), int4: 1, bool: false, jsonb: '{}', _text: [] };
    await service.sql(
      `INSERT INTO acquirer_connections (${columns.map(({ name }) => name).join()})
       VALUES (${columns.map((_, at) => `$${String(at + 1)}`).join()})`,
      columns.map(({ name, type }) => known[name] ?? filler[type] ?? 'x'),
    );
    await service.call('POST', '/v1/auth/totp', {
      token: await service.login(merchant.ownerEmail),
      body: { password: PASSWORD },
    });
    // A waiting mail: its secret is erased once it is sent.
    const mailId = '01890000-0000-7000-8000-000000000002';
    await service.sql(
      `INSERT INTO emails (id, recipient, subject, text_body, html_body, secret_sealed, created_at)
       VALUES ($1, 'ana@example.com', 'x', 'x', 'x', $2, now())`,
      [mailId, secrets.seal('token', `mail:${mailId}`)],
    );
    const paying = await aFundedMerchant(service);
    const saved = await service.call<{ id: string }>('POST', '/v1/payout-destinations', {
      key: paying.testKey,
      body: TO_CPF,
    });
    const payout = await aPayout(service, paying.testKey, { destination: saved.body.id });
    await payoutOf(service, paying.testKey, payout.id, 'paid');
    const bank = new CallingBank(service);
    await bank.post([{ endToEndId: 'E1234567820261122000000000000001' }]);
    await waitFor('the callback', async () => (await service.sql('SELECT FROM acquirer_callbacks')).length > 0);
  });
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  it('knows every place that has sealed values', async () => {
    const places = service.get(ResealingRepository).places.map(({ name }) => name);
    const found = await values();
    const columns = await service.sql<{ place: string }>(
      `SELECT table_name || '.' || column_name AS place FROM information_schema.columns
       WHERE table_schema = 'public' AND udt_name = 'bytea' AND column_name ~ '_sealed$'`,
    );
    expect(places).toEqual(
      [...columns.map(({ place }) => place), ...IN_TEXT, 'events.data', 'transactions.med'].sort(),
    );
    // Every place must have a value here, or the other tests would prove nothing.
    expect([...new Set(found.map(({ place }) => place))].sort()).toEqual(places);
    expect(found.every(({ sealed }) => isOf('old', sealed))).toBe(true);
    // State that the previous version has left
    await service.sql(
      `UPDATE idempotency_keys SET response_body = '{"clear":"text"}' WHERE ctid = (SELECT min(ctid) FROM idempotency_keys)`,
    );
  });

  it('is refused without the key of the stored values, and changes nothing', async () => {
    const before = await values();
    expect(await reseal(NEW)).toMatchObject({ code: 1, stderr: expect.stringMatching(/no key with the id "old"/) });
    expect(await values()).toEqual(before);
  });

  it('skips values whose key was given up, reports their number, and seals unsealed ones', async () => {
    const before = await values();
    const giveUp = (at: string): Promise<unknown> =>
      service.sql(`UPDATE encryption_keys SET lost_at = ${at} WHERE key_id = 'old'`);
    await giveUp('now()');
    const ended = await reseal(NEW);
    expect(ended.code).toBe(1);
    expect(JSON.parse(ended.stdout)).toMatchObject({ resealed: 1, unreadable: before.length - 1 });
    await giveUp('NULL');
  });

  it('seals everything under the first key beside a running service, so that the old key can go', async () => {
    const before = await values();
    const ended = await reseal(`${NEW},${OLD}`);
    expect(ended.code).toBe(0);
    const old = before.filter(({ sealed }) => isOf('old', sealed)).length;
    expect(old).toBeGreaterThan(30);
    expect(JSON.parse(ended.stdout)).toMatchObject({ resealed: old, skipped: 0, unreadable: 0 });
    expect(ended.stderr).toContain('webhook_endpoints.secret_sealed: 1 resealed, 0 unreadable');
    const after = await values();
    expect(after.length).toBe(before.length);
    expect(await service.sql('SELECT key_id FROM encryption_keys')).toEqual([{ key_id: 'new' }]);
    expect(after.every(({ sealed }) => isOf('new', sealed))).toBe(true);
    expect(JSON.parse((await reseal(NEW)).stdout)).toMatchObject({ resealed: 0, unreadable: 0 });

    const next = await TestService.start({ database: service.database, env: { ENCRYPTION_KEY: NEW } });
    try {
      const { body } = await next.getCharge(merchant.testKey, disputed);
      expect(JSON.stringify(body.metadata)).toContain('52998224725');
      await happens(next, merchant.testKey, disputed, { event: 'med_withdraw' });
    } finally {
      await next.stop();
    }
  });
});
