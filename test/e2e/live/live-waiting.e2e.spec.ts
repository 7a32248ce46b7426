import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { LiveStory } from '../../support/live-story.js';
import { TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

describe('waiting for the PSP', () => {
  const service = TestService.forSpec({ env: { DATABASE_POOL: '4' } });
  const story = LiveStory.forSpec(service);

  afterEach(() => story.expectSameBooks());

  it('reuses connections: forty charges, four at a time, need a handful of connections', async () => {
    const before = story.bank.state().traffic.connections;
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        for (let made = 0; made < 10; made += 1) await story.charge();
      }),
    );
    // The token's own, and some that are opened while others are just being freed.
    expect(story.bank.state().traffic.connections - before).toBeLessThanOrEqual(10);
    expect(story.asked('token')).toBeLessThanOrEqual(2);
  });

  it('holds no connection to the database during forty charges at once, so that others are served', async () => {
    story.bank.addFault({ operation: 'cob.put', fault: { kind: 'latency', ms: 8_000 }, times: 40 });
    const waiting = Promise.all(Array.from({ length: 40 }, () => story.charge()));
    await waitFor('all of them to wait, and no transaction to be open', async () => {
      const [row] = await service.sql<{ pending: number; busy: number }>(
        `SELECT (SELECT count(*)::int FROM transactions WHERE status = 'PENDING') AS pending,
           (SELECT count(*)::int FROM pg_stat_activity
            WHERE datname = current_database() AND application_name = 'recebe' AND state <> 'idle') AS busy`,
      );
      return row?.pending === 40 && row.busy === 0;
    });
    // With one connection held by each, four charges would have taken all that there are.
    const others = await Promise.all([
      service.createCharge(story.merchant.testKey),
      service.call('GET', '/v1/wallets/balance', { key: story.key }),
      service.call('GET', '/v1/payments', { key: story.key }),
      service.call('GET', '/health/ready'),
    ]);
    expect(others.map(({ status }) => status)).toEqual([201, 200, 200, 200]);
    const [row] = await service.sql<{ open: number }>(
      `SELECT count(*)::int AS open FROM transactions WHERE status = 'PENDING'`,
    );
    expect(row?.open).toBe(40);
    await waiting;
  });

  it('makes one charge at the PSP for a burst of the same request', async () => {
    const [key, before] = [randomUUID(), story.bank.state().cobs.length];
    story.bank.addFault({ operation: 'cob.put', fault: { kind: 'latency', ms: 100 } });
    const answers = await Promise.all(Array.from({ length: 20 }, () => service.createCharge(story.key, {}, key)));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.pix.txid ?? ''}`)).size).toBe(1);
    expect(story.bank.state().cobs.length).toBe(before + 1);
  });
});
