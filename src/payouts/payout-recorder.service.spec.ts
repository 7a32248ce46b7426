import { describe, expect, it } from '@jest/globals';
import type { Tx } from '../core/database/index.js';
import { Metrics } from '../core/metrics/index.js';
import type { OutboxService } from '../outbox/index.js';
import { PayoutRecorder } from './payout-recorder.service.js';
import type { PayoutEventType } from './payouts.events.js';
import type { PayoutStatus } from './payouts.machine.js';
import type { WholePayout } from './payouts.repository.js';

const AT = new Date('2026-11-20T12:00:00Z');

function aPayout(status: PayoutStatus): WholePayout {
  const payout: Partial<WholePayout> = {
    ...{ id: '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12', accountId: 'a', mode: 'test', status, amount: 500 },
    ...{ sendAfter: AT, createdAt: AT, updatedAt: AT, paidAt: null, returns: [] },
  };
  return payout as WholePayout;
}

describe('metrics of payouts', () => {
  const metrics = new Metrics();
  const hooks: (() => void)[] = [];
  const events: unknown[] = [];
  const tx = { afterCommit: (hook: () => void) => hooks.push(hook) } as unknown as Tx;
  const outbox = { record: (_tx: Tx, made: unknown[]) => events.push(...made) } as unknown as OutboxService;
  const recorder = new PayoutRecorder(outbox, metrics);

  it('count each public status that a payout reaches, after the commit and without an id', async () => {
    const changes: [PayoutEventType, PayoutStatus, PayoutStatus | null][] = [
      ['payout.requested', 'AWAITING', null],
      ['payout.approved', 'QUEUED', 'AWAITING'],
      ['payout.sent', 'SENDING', 'QUEUED'],
      ['payout.put_back', 'QUEUED', 'SENDING'],
      ['payout.sent', 'SENDING', 'QUEUED'],
      ['payout.paid', 'PAID', 'SENDING'],
      ['payout.returned', 'PAID', 'PAID'],
      ['payout.returned', 'REFUNDED', 'PAID'],
    ];
    for (const [type, status, previous] of changes) recorder.record(tx, type, aPayout(status), previous);
    expect(events).toHaveLength(changes.length);
    const counted = async (name: 'payouts' | 'payoutCents'): Promise<Record<string, number>> =>
      Object.fromEntries(
        (await metrics[name].get()).values.map(({ labels, value }) => [Object.values(labels).join(' '), value]),
      );
    expect(await counted('payouts')).toEqual({});
    for (const hook of hooks) hook();
    expect(await counted('payouts')).toEqual({
      ...{ 'test pix pending': 1, 'test pix processing': 2, 'test pix paid': 1, 'test pix refunded': 1 },
    });
    expect(await counted('payoutCents')).toEqual({
      ...{ 'test pix pending': 500, 'test pix processing': 1000, 'test pix paid': 500, 'test pix refunded': 500 },
    });
  });
});
