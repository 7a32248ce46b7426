import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { expectLedgerCoherent } from '../support/coherence.js';
import { balance } from '../support/med.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { describeWith } from '../support/needs.js';
import { keepsPreparedStatements, PgBouncer } from '../support/pgbouncer.js';
import { WebhookReceiver } from '../support/receiver.js';
import { TestService } from '../support/service.js';

const CONNECTIONS = 3;
const CHARGES = 60;

/** Setting that an older PgBouncer needs. */
const PREPARE: Record<string, string> = keepsPreparedStatements ? {} : { DATABASE_PREPARE: 'false' };

describeWith('pgbouncer')('behind a pooler that gives each transaction another connection', () => {
  let database: TestDatabase;
  let pooler: PgBouncer;

  beforeAll(async () => {
    database = await createTestDatabase();
    pooler = new PgBouncer(database.url);
    await pooler.start(CONNECTIONS);
  });
  afterAll(async () => {
    await pooler.remove();
    await database.drop();
  });

  const start = (env: Record<string, string> = {}): Promise<TestService> =>
    TestService.start({ database, env: { DATABASE_URL: pooler.url, ...env } });

  const itOfOlder = keepsPreparedStatements ? it.skip : it;

  itOfOlder('the service does not start with prepared statements, and gives advice', async () => {
    await expect(start()).rejects.toThrow('set DATABASE_PREPARE=false');
  });

  it('the service refuses to start without time limits, which the pooler would not pass on', async () => {
    const role = new URL(database.url).username;
    await expect(start(PREPARE)).rejects.toThrow(`ALTER ROLE ${role} SET idle_in_transaction_session_timeout = '60s';`);
    for (const [limit, seconds] of [
      ['lock_timeout', 10],
      ['statement_timeout', 30],
      ['idle_in_transaction_session_timeout', 60],
    ]) {
      const name = new URL(database.url).pathname.slice(1);
      await database.pool.query(`ALTER ROLE ${role} IN DATABASE ${name} SET ${limit} = '${seconds}s'`);
    }
    await pooler.stop();
    await pooler.start(CONNECTIONS);
  });

  it('the service leaves no lock of migrations behind, even where the pooler is the only address', async () => {
    const byPooler = { DATABASE_MIGRATION_URL: pooler.url };
    if (!keepsPreparedStatements) await expect(start(byPooler)).rejects.toThrow('set DATABASE_PREPARE=false');
    const service = await start({ ...byPooler, ...PREPARE });
    await service.stop();
    const { rows } = await database.pool.query(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND database = (
      SELECT oid FROM pg_database WHERE datname = current_database())`);
    expect(rows).toEqual([]);
  });

  it('the service creates, credits, announces and refunds over fewer connections than it has', async () => {
    const service = await start(PREPARE);
    const receiver = await WebhookReceiver.start();
    try {
      const { testKey: key } = await service.merchant();
      const body = { url: receiver.url, events: ['charge.paid', 'payment.refunded'] };
      expect((await service.call('POST', '/v1/webhooks/endpoints', { key, body })).status).toBe(201);
      const keys = Array.from({ length: CHARGES }, (_, index) => `order-number-${String(index)}`);
      // Each request is sent twice at once: the second one gets the answer of the first.
      const made = await Promise.all([...keys, ...keys].map((name) => service.createCharge(key, {}, name)));
      expect(made.filter(({ status }) => status !== 201)).toEqual([]);
      const ids = [...new Set(made.map((answer) => answer.body.id))];
      expect(ids).toHaveLength(CHARGES);
      const paid = await Promise.all(ids.map((id) => service.simulate(key, id, { event: 'pay' })));
      expect(paid.filter(({ status }) => status !== 200)).toEqual([]);
      const refunds = await Promise.all(
        ids.slice(0, 5).map((id) =>
          service.call('POST', `/v1/payments/${id.slice(3)}/refund`, {
            key,
            body: { idempotencyKey: `refund-${id}` },
          }),
        ),
      );
      expect(refunds.filter(({ status }) => status !== 201)).toEqual([]);
      expect(await receiver.waitForType('charge.paid', CHARGES, 30_000)).toHaveLength(CHARGES);
      await receiver.waitForType('payment.refunded', 5, 30_000);
      expect((await balance(service, key)).available).toBe((CHARGES - 5) * 1990);
      await expectLedgerCoherent(database.url);
    } finally {
      await receiver.stop();
      await service.stop();
    }
  });
});
