import { describe, expect, it } from '@jest/globals';
import type { DomainEvent } from '../outbox/index.js';
import type { PayoutSnapshot } from './payout.serializer.js';
import { legacyPayout, type PayoutEventData, type PayoutEventType, samplePayoutEvent } from './payouts.events.js';
import { PAYOUT_STATUSES } from './payouts.machine.js';

const SCOPE = { accountId: '019aa0f0-7d5c-7c3e-9b1a-000000000001', mode: 'test' } as const;
const NOW = new Date('2026-11-21T12:30:01.000Z');

function event(
  type: PayoutEventType,
  payout: Partial<PayoutSnapshot> = {},
  data: Partial<PayoutEventData> = {},
): DomainEvent<PayoutEventType> {
  const sample = samplePayoutEvent(type, SCOPE, NOW);
  const id = '019aa0f0-7d5c-7c3e-9b1a-000000000002';
  return {
    ...sample,
    id,
    sequence: 2,
    data: { ...sample.data, ...data, payout: { ...sample.data.payout, ...payout } },
  };
}

const RAW = '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12';
const ALWAYS = {
  ...{ transactionId: `po_${RAW}`, withdrawalId: RAW, amount: 150_000, fee: 250, currency: 'BRL' },
  occurredAt: '2026-11-21T12:30:01.000Z',
};
const PAID = {
  ...{ paidWith: 'PIX', providerFee: 0, platformFee: 250, netAmount: 149_750 },
  endToEndId: 'E00000000202611211230abcDEF12345',
};
const MINE = { id: RAW, fee: 250 };
const SENT = { ...MINE, endToEndId: PAID.endToEndId, paidAt: NOW.toISOString() };

describe('the data of a withdrawal event', () => {
  it('has exactly the documented keys and values when the payout is accepted', () => {
    expect(legacyPayout(event('payout.requested', MINE))).toStrictEqual({
      ...{ ...ALWAYS, status: 'QUEUED', previousStatus: null },
    });
  });

  it('has exactly the documented keys and values when the payout is paid', () => {
    expect(legacyPayout(event('payout.paid', SENT))).toStrictEqual({
      ...{ ...ALWAYS, ...PAID, status: 'PAID', previousStatus: 'SENDING' },
    });
  });

  it('has exactly the documented keys and values when the payout fails', () => {
    expect(legacyPayout(event('payout.ended', MINE))).toStrictEqual({
      ...{ ...ALWAYS, status: 'FAILED', previousStatus: 'SENDING', failureReason: 'destination_invalid' },
    });
  });

  it('has exactly the documented keys and values when a part comes back', () => {
    const back = { amount: 990, end_to_end_id: null, return_id: 'D1', reason: null, at: NOW.toISOString() };
    const changed = { ...SENT, status: 'PAID', failure: null, amountReturned: 1_000 } as const;
    expect(legacyPayout(event('payout.returned', changed, { previousStatus: 'PAID', return: back }))).toStrictEqual({
      ...{ ...ALWAYS, ...PAID, status: 'PAID', previousStatus: 'PAID' },
      ...{ amountReturned: 1_000, returnId: 'D1', returnAmount: 990 },
    });
  });

  it.each(PAYOUT_STATUSES)('shows method and fees if and only if the status is PAID: %s', (status) => {
    const keys = Object.keys(legacyPayout(event('payout.paid', { ...SENT, status })));
    for (const key of ['paidWith', 'providerFee', 'platformFee', 'netAmount']) {
      expect(keys.includes(key)).toBe(status === 'PAID');
    }
  });
});
