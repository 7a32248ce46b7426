import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { expectLedgerCoherent } from '../support/coherence.js';
import { WebhookReceiver } from '../support/receiver.js';
import { type Merchant, TestService } from '../support/service.js';
import { waitFor } from '../support/wait.js';

const BEFORE = 1_000;
const AFTER = 40;
/** What is pending: entries of what was taken stay in them while somebody may see it as pending. */
const QUEUES = ['events_pending_idx', 'webhook_deliveries_fresh_idx', 'acquirer_notifications_due_idx'];

describe('queues beside a snapshot that somebody holds', () => {
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

  /** Entries of the queues' indexes that were read so far, also of rows that are in the queue no more. */
  async function reads(): Promise<Record<string, number>> {
    // Sessions tell what they have read a second later, with what they do next.
    await delay(2_500);
    const rows = await service.sql<{ name: string; reads: number }>(
      `SELECT indexrelname AS name, idx_tup_read::int AS reads FROM pg_stat_user_indexes WHERE indexrelname = ANY ($1)`,
      [QUEUES],
    );
    return Object.fromEntries(rows.map((row) => [row.name, row.reads]));
  }

  it('are not read past what was taken at each claim', async () => {
    await pay(BEFORE, 20);
    const before = await reads();
    await pay(AFTER, 1);
    const after = await reads();
    for (const queue of QUEUES) {
      const read = (after[queue] ?? NaN) - (before[queue] ?? NaN);
      // They are read whole every five seconds; otherwise each of forty claims and more would read all of it.
      expect(read).toBeLessThan(AFTER * BEFORE * 0.4);
    }
  });
});
