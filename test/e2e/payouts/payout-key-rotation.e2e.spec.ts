import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runCli } from '../../support/cli.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { aFundedMerchant, aPayout, CPF, OTHER_CPF, payoutOf, requestPayout, TO_CPF } from '../../support/payouts.js';
import { type Merchant, TestService } from '../../support/service.js';

const OLD = `old:${'5a'.repeat(32)}`;
const NEW = `new:${'6b'.repeat(32)}`;
/** Idempotency key of the first payout. */
const ONCE = 'withdrawal-1042';
const OTHER = `other:${'7c'.repeat(32)}`;

describe('receivers of payouts after another ENCRYPTION_KEY', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'recebe-spec-'));
  let database: TestDatabase;
  let merchant: Merchant;
  let savedId: string;
  let paidId: string;

  const during = async (env: string, work: (service: TestService, key: string) => Promise<void>): Promise<void> => {
    const service = await TestService.start({ database, env: { ENCRYPTION_KEY: env } });
    try {
      merchant ??= await aFundedMerchant(service);
      await work(service, merchant.testKey);
    } finally {
      await service.stop();
    }
  };
  const cli = async (ENCRYPTION_KEY: string, ...args: string[]): Promise<Record<string, unknown>> => {
    const { code, stdout } = await runCli(args, { DATABASE_URL: database.url, DATA_DIR: dataDir, ENCRYPTION_KEY });
    expect(code).toBe(0);
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  const save = async (service: TestService, key: string): Promise<string> =>
    (await service.call<{ id: string }>('POST', '/v1/payout-destinations', { key, body: TO_CPF })).body.id;
  /** The keys that seal the keys of the hashes, oldest first. */
  const hashKeys = async (): Promise<string[]> => {
    const keys = 'SELECT key_sealed AS sealed FROM payout_hash_keys ORDER BY number';
    const { rows } = await database.pool.query<{ sealed: Buffer }>(keys);
    return rows.map(({ sealed }) => sealed.subarray(1, 1 + (sealed[0] ?? 0)).toString());
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    await during(OLD, async (service, key) => {
      savedId = await save(service, key);
      paidId = (await requestPayout(service, key, { destination: savedId }, ONCE)).body.id;
      await payoutOf(service, key, paidId, 'paid');
      await database.pool.query('UPDATE accounts SET payout_new_destination_hours = 24');
    });
  });
  afterAll(async () => {
    await database.drop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const areFound = async (service: TestService, key: string): Promise<void> => {
    expect(await save(service, key)).toBe(savedId);
    const replay = await requestPayout(service, key, { destination: savedId }, ONCE);
    expect([replay.status, replay.body.id]).toEqual([201, paidId]);
    const repeated = await requestPayout(service, key);
    expect([repeated.status, repeated.body.error.code]).toEqual([409, 'likely_duplicate']);
    const known = await aPayout(service, key, { amount: 100, allow_duplicate: true });
    expect(known).not.toHaveProperty('send_after');
    await payoutOf(service, key, known.id, 'paid');
    const isNew = await aPayout(service, key, { amount: 100, destination: { type: 'pix_key', key: OTHER_CPF } });
    expect(isNew).toHaveProperty('send_after');
    await service.call('POST', `/v1/payouts/${isNew.id}/cancel`, { key });
  };

  it('are found with the new key before the old one, when nothing is sealed anew yet', async () => {
    await during(`${NEW},${OLD}`, areFound);
    expect(await hashKeys()).toEqual(['old']);
  });

  it('are found when everything is sealed anew and the old key is gone, also by the tax id', async () => {
    expect(await cli(`${NEW},${OLD}`, 'secrets', 'reseal')).toMatchObject({ unreadable: 0 });
    expect(await hashKeys()).toEqual(['new']);
    await during(NEW, areFound);
    const exported = await cli(NEW, 'account', 'export-customer', merchant.accountId, '--tax-id', CPF);
    expect(exported).toMatchObject({
      payouts: [{ payout_id: paidId.slice(3), receiver: { type: 'pix_key', key: CPF, tax_id: CPF } }, {}, {}],
      payout_destinations: [{ payout_destination_id: savedId.slice(3), receiver: { key: CPF } }],
    });
  });

  it('are new ones when an operator gave up the only key, and known by their tax id when it is found again', async () => {
    await database.pool.query('UPDATE encryption_keys SET lost_at = now()');
    await during(OTHER, async (service, key) => {
      expect(await save(service, key)).not.toBe(savedId);
      expect(await aPayout(service, key)).toHaveProperty('send_after');
    });
    expect(await hashKeys()).toEqual(['new', 'other']);
    await database.pool.query('UPDATE encryption_keys SET lost_at = NULL');
    const exported = await cli(`${OTHER},${NEW}`, 'account', 'export-customer', merchant.accountId, '--tax-id', CPF);
    expect([exported['payouts'], exported['payout_destinations']]).toMatchObject([{ length: 4 }, { length: 2 }]);
  });
});
