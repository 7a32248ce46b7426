import { describe, expect, it } from '@jest/globals';
import { aPaidTransaction, aTransaction } from '../../test/support/a-transaction.js';
import type { DomainEvent } from '../outbox/index.js';
import {
  toSnapshot,
  type Transaction,
  TRANSACTION_STATUSES,
  type TransactionEventType,
  type TransactionStatus,
} from '../transactions/index.js';
import { legacyPayment } from './payment-event.serializer.js';

const event = (
  transaction: Transaction,
  previousStatus: TransactionStatus | null,
): DomainEvent<TransactionEventType> => ({
  id: '019aa0f0-7d5c-7c3e-9b1a-000000000001',
  accountId: transaction.accountId,
  mode: transaction.mode,
  type: 'transaction.paid',
  subjectId: transaction.id,
  sequence: 2,
  data: { transaction: toSnapshot(transaction), previousStatus },
  occurredAt: new Date('2026-11-21T12:30:01.000Z'),
});

const RAW = '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12';

describe('the data of a legacy event', () => {
  it('has exactly the documented keys and values when money was credited', () => {
    expect(legacyPayment(event(aPaidTransaction(), 'WAITING_PAYMENT'))).toStrictEqual({
      transactionId: `tx_${RAW}`,
      paymentId: RAW,
      amount: 1990,
      status: 'PAID',
      previousStatus: 'WAITING_PAYMENT',
      paidWith: 'PIX',
      providerFee: 5,
      platformFee: 40,
      netAmount: 1945,
      occurredAt: '2026-11-21T12:30:01.000Z',
    });
  });

  it('has exactly the documented keys and values when no money was credited, and null as the first previous status', () => {
    expect(legacyPayment(event(aTransaction(), null))).toStrictEqual({
      transactionId: `tx_${RAW}`,
      paymentId: RAW,
      amount: 1990,
      status: 'WAITING_PAYMENT',
      previousStatus: null,
      occurredAt: '2026-11-21T12:30:01.000Z',
    });
  });

  it.each(TRANSACTION_STATUSES)('shows fees if and only if the status is PAID or APPROVED: %s', (status) => {
    const keys = Object.keys(legacyPayment(event(aPaidTransaction({ status }), 'PAID')));
    const isSettled = status === 'PAID' || status === 'APPROVED';
    for (const key of ['paidWith', 'providerFee', 'platformFee', 'netAmount'])
      expect(keys.includes(key)).toBe(isSettled);
  });

  it('repeats the merchant’s own id of its user, if there is one', () => {
    expect(legacyPayment(event(aTransaction({ customerId: 'user-42' }), null))).toMatchObject({
      customerId: 'user-42',
    });
    expect(legacyPayment(event(aTransaction(), null))).not.toHaveProperty('customerId');
  });

  it('shows fees of zero', () => {
    const free = aPaidTransaction({ providerFee: 0, platformFee: 0, netAmount: 1990 });
    expect(legacyPayment(event(free, null))).toMatchObject({ providerFee: 0, platformFee: 0, netAmount: 1990 });
  });
});
