import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { expectLedgerCoherent } from '../support/coherence.js';
import { WebhookReceiver } from '../support/receiver.js';
import { type Merchant, TestService } from '../support/service.js';
import { waitFor } from '../support/wait.js';

const BEFORE = 1_000;
const AFTER = 40;
/** Indexes of pending rows: taken rows keep entries while a snapshot may see them as pending. */
const QUEUES = ['events_pending_idx', 'webhook_deliveries_fresh_idx', 'acquirer_notifications_due_idx'];

describe('queues beside a snapshot that another connection holds', () => {
  let service: TestService;
  let merchant: Merchant;
  let receiver: WebhookReceiver;
  let holder: pg.Client;

  beforeAll(async () => {
    service = await TestService.start({ env: { RATE_LIMIT: 'off', WEBHOOK_ALLOW_PRIVATE: 'true' } });
    merchant = await service.merchant();
    receiver = await WebhookReceiver.start();
    const body = { url: receiver.url, events: ['charge.paid'] };
    expect(await service.call('POST', '/v1/webhooks/endpoints', { key: merchant.testKey, body })).toMatchObject({
      status: 201,
    });
    holder = new pg.Client({ connectionString: service.database.url });
    await holder.connect();
    await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM accounts');
  });
  afterEach(() => expectLedgerCoherent(service.database.url));
  afterAll(async () => {
    await holder.end();
    await service.stop();
    await receiver.stop();
  });

  async function pay(count: number, atOnce: number): Promise<void> {
    const before = receiver.received.length;
    for (let paid = 0; paid < count; paid += atOnce) {
      await Promise.all(
        Array.from({ length: atOnce }, async () => {
          const { body } = await service.createCharge(merchant.testKey, { amount: 100, payment_method: 'pix' });
          const path = `/v1/sandbox/charges/${body.id}/simulate`;
          await service.call('POST', path, { key: merchant.testKey, body: { event: 'pay' } });
        }),
      );
    }
    await waitFor('all webhooks', () => receiver.received.length >= before + count);
  }

  /** Counts index entries of the queues read so far, including rows that have left the queue. */
  async function reads(): Promise<Record<string, number>> {
    // Sessions report their reads a second later, with their next statement.
    await delay(2_500);
    const rows = await service.sql<{ name: string; reads: number }>(
      `SELECT indexrelname AS name, idx_tup_read::int AS reads FROM pg_stat_user_indexes WHERE indexrelname = ANY ($1)`,
      [QUEUES],
    );
    return Object.fromEntries(rows.map((row) => [row.name, row.reads]));
  }

  it('do not read rows again at each claim that were already taken', async () => {
    await pay(BEFORE, 20);
    const before = await reads();
    await pay(AFTER, 1);
    const after = await reads();
    for (const queue of QUEUES) {
      const read = (after[queue] ?? NaN) - (before[queue] ?? NaN);
      // A full read every five seconds is allowed; otherwise each of forty claims would read everything.
      expect(read).toBeLessThan(AFTER * BEFORE * 0.4);
    }
  });
});
