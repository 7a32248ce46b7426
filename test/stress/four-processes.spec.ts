import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { AccountsService } from '../../src/accounts/index.js';
import { SYSTEM } from '../../src/audit/index.js';
import { expectLedgerCoherent } from '../support/coherence.js';
import { Processes, type ServiceProcess } from '../support/process.js';
import { describeWith } from '../support/needs.js';
import { startRedis, type TestRedis } from '../support/redis.js';
import { TestService } from '../support/service.js';
import { waitFor } from '../support/wait.js';

jest.setTimeout(120_000);

const BURST = 200;
const CATALOG = '/v1/webhooks/event-catalog';
const DOCUMENTS = ['52998224725', '11144477735', '39053344705'];

/** Limits are of the account, not of the process that happens to answer. */
describeWith('redis')('four API processes with one Redis', () => {
  const processes = new Processes();
  let redis: TestRedis;
  let makers: TestService;
  let apis: ServiceProcess[];

  beforeAll(async () => {
    redis = await startRedis();
    // Only makes merchants, and looks into the database.
    makers = await TestService.start();
    apis = await Promise.all(
      Array.from({ length: 4 }, () =>
        processes.start(processes.dataDir(), {
          ROLE: 'api',
          HOST: '127.0.0.1',
          DATABASE_URL: makers.database.url,
          REDIS_URL: redis.url,
          RATE_LIMIT_RATE: '1',
          RATE_LIMIT_BURST: String(BURST),
        }),
      ),
    );
    for (const api of apis) await shares(api);
  });

  afterAll(async () => {
    await processes.cleanUp();
    await expectLedgerCoherent(makers.database.url);
    await makers.stop();
    await redis.stop();
  });

  /** Until a process is connected it limits on its own. */
  async function shares(api: ServiceProcess): Promise<void> {
    const bucket = `{recebe}:rl:ip:${CATALOG}:127.0.0.1`;
    await waitFor('the process to share its limits', async () => {
      await redis.command('DEL', bucket);
      await (await fetch(`${api.url}${CATALOG}`)).arrayBuffer();
      return (await redis.command('EXISTS', bucket)) === ':1';
    });
  }

  /** All at once, the processes in turn. @returns how often each outcome came */
  async function burst(count: number, ask: (url: string) => Promise<Response>): Promise<Record<string, number>> {
    const outcomes = await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const response = await ask(apis[index % apis.length]?.url ?? '');
        const body = (await response.json()) as { error?: { code: string } };
        return `${String(response.status)} ${body.error?.code ?? ''}`.trim();
      }),
    );
    return outcomes.reduce<Record<string, number>>(
      (counts, outcome) => ({ ...counts, [outcome]: (counts[outcome] ?? 0) + 1 }),
      {},
    );
  }

  function charge(key: string, document: string, idempotencyKey: () => string = randomUUID) {
    return (url: string): Promise<Response> =>
      fetch(`${url}/v1/charges`, {
        method: 'POST',
        headers: { apikey: key, 'content-type': 'application/json', 'Idempotency-Key': idempotencyKey() },
        body: JSON.stringify({ amount: 1990, payment_method: 'pix', customer: { document } }),
      });
  }

  it.each(DOCUMENTS)('allow exactly thirty charges a minute for one document: %s', async (document) => {
    const { accountId, testKey } = await makers.merchant();
    expect(await burst(60, charge(testKey, document))).toEqual({ '201': 30, '403 fraud.velocity_exceeded': 30 });
    expect(await burst(8, charge(testKey, document))).toEqual({ '403 fraud.velocity_exceeded': 8 });
    const made = await makers.sql('SELECT 1 FROM transactions WHERE account_id = $1', [accountId]);
    expect(made).toHaveLength(30);
    const keys = await makers.sql('SELECT 1 FROM idempotency_keys WHERE account_id = $1', [accountId]);
    expect(keys).toHaveLength(30);
    const other = DOCUMENTS.find((candidate) => candidate !== document) ?? '';
    expect(await burst(4, charge(testKey, other))).toEqual({ '201': 4 });
  });

  it('count simultaneous repetitions at different processes once, and refuse none of them', async () => {
    const { accountId, testKey } = await makers.merchant({ fraud_velocity: '5' });
    const [document = ''] = DOCUMENTS;
    const keys = Array.from({ length: 5 }, () => randomUUID());
    let asked = 0;
    const next = (): string => keys[Math.floor(asked++ / 4)] ?? '';
    expect(await burst(20, charge(testKey, document, next))).toEqual({ '201': 20 });
    expect(await makers.sql('SELECT 1 FROM transactions WHERE account_id = $1', [accountId])).toHaveLength(5);
    expect(await burst(4, charge(testKey, document))).toEqual({ '403 fraud.velocity_exceeded': 4 });
  });

  it('all apply a changed setting at once', async () => {
    const { accountId, testKey } = await makers.merchant();
    const [document = ''] = DOCUMENTS;
    const set = (settings: Record<string, string>): Promise<unknown> =>
      makers.get(AccountsService).set(accountId, settings, SYSTEM);
    for (let round = 0; round < 5; round++) {
      await set({ fraud_blocked_documents: document });
      expect(await burst(4, charge(testKey, document))).toEqual({ '403 fraud.document_blocked': 4 });
      await set({ fraud_blocked_documents: '' });
      expect(await burst(4, charge(testKey, document))).toEqual({ '201': 4 });
    }
  });

  it('share the token bucket of an account, separately for each mode', async () => {
    const { testKey, liveKey } = await makers.merchant();
    for (const key of [testKey, liveKey]) {
      const started = performance.now();
      const outcomes = await burst(3 * BURST, (url) => fetch(`${url}/v1/wallets`, { headers: { apikey: key } }));
      const refilled = Math.ceil((performance.now() - started) / 1000);
      expect(Object.keys(outcomes).sort()).toEqual(['200', '429 rate_limited']);
      expect(outcomes['200']).toBeGreaterThanOrEqual(BURST);
      expect(outcomes['200']).toBeLessThanOrEqual(BURST + refilled);
    }
  });
});
