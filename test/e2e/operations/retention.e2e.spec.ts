import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AuditTrail, SYSTEM } from '../../../src/audit/index.js';
import { DAY_MS } from '../../../src/core/clock.js';
import { Database } from '../../../src/core/database/index.js';
import { newId } from '../../../src/core/ids.js';
import { Retention } from '../../../src/core/retention.js';
import { RequestLogsService } from '../../../src/request-logs/index.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { aPaidCharge, paymentIdOf, refundEnd, requestRefund } from '../../support/refunds.js';
import { WebhookReceiver } from '../../support/receiver.js';
import { type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const DAY = 86_400;

describe('removal of old data', () => {
  const service = TestService.forSpec({ env: { RETENTION_DAYS: '90', WEBHOOK_RETRY_SCHEDULE: '10' } });
  const receiver = WebhookReceiver.forSpec();
  let merchant: Merchant;

  beforeEach(async () => {
    receiver.answer = 200;
    service.clock.offsetMs = 0;
    merchant = await service.merchant();
    const body = { url: receiver.url, events: ['charge.created', 'charge.paid', 'payment.refunded'] };
    expect((await service.call('POST', '/v1/webhooks/endpoints', { key: merchant.testKey, body })).status).toBe(201);
  });
  afterEach(() => expectLedgerCoherent(service.database.url, { eventsRemoved: true }));

  async function removeAll(...tables: string[]): Promise<void> {
    for (const table of tables) while (await service.get(Retention).remove(table));
  }

  const deliveries = (): Promise<{ id: string; status: string; type: string }[]> =>
    service.sql('SELECT id, status, event_type AS type FROM webhook_deliveries WHERE account_id = $1 ORDER BY id', [
      merchant.accountId,
    ]);
  const count = async (table: string): Promise<number> =>
    (await service.sql(`SELECT 1 FROM ${table} WHERE account_id = $1`, [merchant.accountId])).length;
  const counts = async (): Promise<number[]> =>
    Promise.all(['webhook_messages', 'webhook_deliveries', 'webhook_attempts'].map(count));
  /** The service's own sweep may run at the same moment. */
  const gone = (): Promise<unknown> =>
    waitFor('all deliveries to go', async () => {
      await removeAll('webhook_deliveries');
      return (await counts()).every((rows) => rows === 0);
    });
  const sequences = async (): Promise<number[]> =>
    (
      await service.sql<{ sequence: number }>('SELECT sequence FROM events WHERE account_id = $1 ORDER BY sequence', [
        merchant.accountId,
      ])
    ).map(({ sequence }) => sequence);

  async function settled(status = 'DELIVERED', least = 1): Promise<void> {
    await waitFor(`all ${status}`, async () => {
      if (status === 'FAILED') service.clock.advance(15);
      const found = await deliveries();
      return found.length >= least && found.every((one) => one.status === status);
    });
  }

  it('removes the answer under a permanent key, and rebuilds it on request', async () => {
    const key = merchant.testKey;
    const body = { amount: 300, paymentMethods: ['PIX'], customerName: 'Maria Souza', idempotencyKey: 'kept-for-ever' };
    const first = await service.call<{ id: string }>('POST', '/v1/payments', { key, body });
    await service.simulate(key, `ch_${first.body.id}`, { event: 'pay' });
    const order = { amount: 100, idempotencyKey: 'kept-for-ever' };
    const refund = await requestRefund(service, key, first.body.id, order);
    await refundEnd(service, key, refund.body);
    service.clock.advance(DAY + 60);
    await removeAll('permanent_answers');
    const kept = await service.sql(
      'SELECT response_body FROM idempotency_keys WHERE account_id = $1 AND response_body IS NOT NULL',
      [merchant.accountId],
    );
    expect(kept).toEqual([]);
    const again = await service.call<Record<string, unknown>>('POST', '/v1/payments', { key, body });
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
    expect(again.text).toBe(first.text);
    const refundAgain = await requestRefund(service, key, first.body.id, order);
    expect([refundAgain.status, refundAgain.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
    expect(refundAgain.text).toBe(refund.text);
    const other = await service.call('POST', '/v1/payments', { key, body: { ...body, amount: 301 } });
    expect(other.status).toBe(409);
  });

  it('removes ended deliveries with messages and attempts, and all events but the last of each subject', async () => {
    const charge = await aPaidCharge(service, merchant.testKey);
    await settled('DELIVERED', 2);
    const before = await counts();
    expect(Math.min(...before)).toBeGreaterThan(1);
    expect(await sequences()).toEqual([1, 2]);

    service.clock.advance(90 * DAY - 60);
    await removeAll('webhook_deliveries', 'events');
    expect(await counts()).toEqual(before);
    expect(await sequences()).toEqual([1, 2]);

    service.clock.advance(120);
    await gone();
    await waitFor('the first event to go', async () => {
      await removeAll('events');
      return (await sequences()).join() === '2';
    });

    // Later events of the charge get the next number and are sent.
    expect((await requestRefund(service, merchant.testKey, paymentIdOf(charge), { amount: 40 })).status).toBe(201);
    await settled('DELIVERED');
    expect(Math.min(...(await sequences()))).toBe(2);
    expect((await sequences()).length).toBeGreaterThan(1);
    service.clock.advance(91 * DAY);
    await removeAll('webhook_deliveries', 'events');
    const again = await service.call<{ resent: boolean }>(
      'POST',
      `/v1/payments/${paymentIdOf(charge)}/resend-webhook`,
      { key: merchant.testKey },
    );
    expect(again.body.resent).toBe(true);
    expect((await service.getCharge(merchant.testKey, charge.id)).body.status).toBe('paid');
  });

  it('keeps waiting deliveries, however old, and counts the days of ended ones from their end', async () => {
    receiver.answer = 500;
    await service.createCharge(merchant.testKey);
    await settled('FAILED');
    const [delivery] = await deliveries();
    service.clock.advance(89 * DAY);
    receiver.answer = 200;
    const path = `/v1/webhooks/deliveries/${String(delivery?.id)}/retry`;
    expect((await service.call('POST', path, { key: merchant.testKey })).status).toBe(200);
    await settled('DELIVERED');
    service.clock.advance(89 * DAY);
    await removeAll('webhook_deliveries');
    expect(await deliveries()).toEqual([{ ...delivery, status: 'DELIVERED' }]);

    const inAYear = new Date(service.clock.now().getTime() + 365 * DAY_MS);
    await service.sql(`UPDATE webhook_deliveries SET status = 'PENDING', next_attempt_at = $2 WHERE id = $1`, [
      delivery?.id,
      inAYear,
    ]);
    service.clock.advance(2 * DAY);
    await removeAll('webhook_deliveries');
    expect(await deliveries()).toEqual([{ ...delivery, status: 'PENDING' }]);
    await service.sql(`UPDATE webhook_deliveries SET status = 'CANCELLED' WHERE id = $1`, [delivery?.id]);
    await gone();
  });

  it('keeps a delivery that somebody retries at the same moment', async () => {
    receiver.answer = 500;
    await service.createCharge(merchant.testKey);
    await settled('FAILED');
    const [delivery] = await deliveries();
    const client = await service.database.pool.connect();
    let removal: Promise<boolean>;
    try {
      await client.query('BEGIN');
      await client.query(`UPDATE webhook_deliveries SET status = 'PENDING', next_attempt_at = $2 WHERE id = $1`, [
        delivery?.id,
        new Date(service.clock.now().getTime() + DAY_MS),
      ]);
      service.clock.advance(91 * DAY);
      removal = service.get(Retention).remove('webhook_deliveries');
      await waitFor('the removal to wait', async () => {
        const waiting = await service.sql(
          `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%webhook_attempts a USING ended%'`,
        );
        return waiting.length > 0;
      });
      await client.query('COMMIT');
    } finally {
      client.release();
    }
    await removal;
    expect((await deliveries()).find(({ id }) => id === delivery?.id)?.status).toBe('PENDING');
    expect(await count('webhook_messages')).toBeGreaterThan(0);
  });

  it('runs in several batches and by several workers', async () => {
    const old = new Date(service.clock.now().getTime() - 91 * DAY_MS);
    const [endpoint] = await service.sql<{ id: string }>('SELECT id FROM webhook_endpoints WHERE account_id = $1', [
      merchant.accountId,
    ]);
    const ids = Array.from({ length: 2_500 }, () => [newId(old), newId(old), newId(old)] as const);
    await service.sql(
      `WITH given AS (SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS g (message, one, two)),
       messages AS (
         INSERT INTO webhook_messages (id, account_id, mode, event_id, event_type, manual, payload, delivery_ids)
         SELECT message, $4, 'test', message, 'charge.paid', false, '{}', ARRAY[one, two] FROM given)
       INSERT INTO webhook_deliveries (id, account_id, mode, endpoint_id, message_id, event_type, subject_id, status,
         attempts, max_attempts, created_at, updated_at)
       SELECT id, $4, 'test', $5, message, 'charge.paid', message, 'DELIVERED', 1, 15, $6, $6
       FROM given CROSS JOIN LATERAL unnest(ARRAY[one, two]) AS d (id)`,
      [...[0, 1, 2].map((at) => ids.map((three) => three[at])), merchant.accountId, endpoint?.id, old],
    );
    await Promise.all([1, 2, 3].map(() => gone()));
  });

  it('removes the audit trail after five years, which the database keeps until then', async () => {
    const record = (yearsAgo: number): Promise<void> => {
      service.clock.offsetMs = -yearsAgo * 366 * DAY_MS;
      return service.get(Database).transaction(async (tx) => {
        service
          .get(AuditTrail)
          .record(tx, SYSTEM, 'account.settings_changed', merchant.accountId, { data: { yearsAgo } });
      });
    };
    await record(6);
    await record(4);
    service.clock.offsetMs = 0;
    await removeAll('audit_events');
    const left = await service.sql<{ id: string; data: Record<string, unknown> }>(
      `SELECT id, data FROM audit_events WHERE account_id = $1 AND data ? 'yearsAgo'`,
      [merchant.accountId],
    );
    expect(left.map(({ data }) => data)).toEqual([{ yearsAgo: 4 }]);
    await expect(service.sql('DELETE FROM audit_events WHERE id = $1', [left[0]?.id])).rejects.toThrow();
    await expect(service.sql('UPDATE audit_events SET data = data WHERE id = $1', [left[0]?.id])).rejects.toThrow();
  });

  it('covers each table with a documented retention', async () => {
    service.clock.advance(200 * DAY);
    const tables = service.get(Retention).tables.sort();
    expect(tables).toEqual([
      ...['acquirer_callbacks', 'acquirer_notifications', 'audit_events', 'emails', 'events', 'fraud_hits'],
      ...['idempotency_keys', 'invitations', 'permanent_answers', 'reports', 'sessions', 'webhook_deliveries'],
    ]);
    await removeAll(...tables);
    await expect(service.get(Retention).remove('transactions')).rejects.toThrow('No retention is registered');
  });
});

describe('data with a configured retention', () => {
  it('is removed after that many days: mails, fraud hits, requests', async () => {
    const names = ['MAILS', 'FRAUD_HITS', 'REQUEST_LOGS'].map((kind) => [`RETENTION_DAYS_${kind}`, '2']);
    const service = await TestService.start({ env: Object.fromEntries(names) as Record<string, string> });
    try {
      const { ownerEmail, testKey } = await service.merchant({ fraud_max_amount: '100' });
      await service.call('POST', '/v1/auth/forgot-password', { body: { email: ownerEmail } });
      expect((await service.createCharge(testKey, { amount: 1_000 })).status).toBeGreaterThanOrEqual(400);
      // The database keeps requests of its real present days, so the test uses a past day under a clock that is
      // ahead.
      const old = new Date(service.clock.now().getTime() - 2 * DAY_MS).toISOString().slice(0, 10);
      await service.sql('SELECT request_logs_add_days($1::date[])', [[old]]);
      const firstDay = new Date(service.clock.now().getTime() + DAY_MS / 2).toISOString();
      const left = async (): Promise<number[]> => {
        const counts = [
          `SELECT count(*)::int AS n FROM emails WHERE ended_at < '${firstDay}'`,
          'SELECT count(*)::int AS n FROM fraud_hits',
          `SELECT count(*)::int AS n FROM pg_class WHERE relname = 'request_logs_${old.replaceAll('-', '')}'`,
        ];
        return Promise.all(counts.map(async (sql) => (await service.sql<{ n: number }>(sql))[0]?.n ?? 0));
      };
      await waitFor('one of each', async () => (await left()).every((rows) => rows > 0));
      await service.get(RequestLogsService).rotate();
      expect((await left()).every((rows) => rows > 0)).toBe(true);
      service.clock.advance(DAY);
      const sweep = async (): Promise<void> => {
        for (const table of ['emails', 'fraud_hits']) await service.get(Retention).remove(table);
      };
      await sweep();
      expect((await left()).slice(0, 2).every((rows) => rows > 0)).toBe(true);
      service.clock.advance(2 * DAY);
      // The service's own sweep may run at the same moment.
      await waitFor('none of each', async () => {
        await sweep();
        await service.get(RequestLogsService).rotate();
        return (await left()).every((rows) => rows === 0);
      });
    } finally {
      await service.stop();
    }
  });
});
