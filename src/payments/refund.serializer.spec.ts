import { describe, expect, it } from '@jest/globals';
import { aPaidTransaction } from '../../test/support/a-transaction.js';
import { aRefund } from '../../test/support/a-refund.js';
import type { DomainEvent } from '../outbox/index.js';
import { type RefundEventType, type RefundStatus, toSnapshot, type Transaction } from '../transactions/index.js';
import { refundBody, refundList } from './refund.serializer.js';
import { legacyRefund } from './refund-event.serializer.js';

const BODY = {
  id: '019aa0f0-9a01-7b8c-8d2e-5f6071829304',
  transactionId: '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12',
  amount: 990,
  currency: 'BRL',
  status: 'REFUNDED',
  reason: 'Article returned',
  createdAt: '2026-11-21T13:00:00.000Z',
};

describe('a refund as the API shows it', () => {
  it('has exactly the documented keys and values when it is created', () => {
    expect(refundBody(aRefund())).toStrictEqual(BODY);
    expect(refundBody(aRefund({ reason: null, status: 'PENDING' }))).toStrictEqual({
      ...BODY,
      reason: null,
      status: 'PENDING',
    });
  });

  it('has exactly the documented keys and values in a list, whose total counts the refunds', () => {
    expect(refundList([aRefund()])).toStrictEqual({
      data: [
        {
          ...BODY,
          strategy: 'cashout',
          endToEndId: 'E00000000202611211300abcDEF12345',
          returnId: null,
          failureReason: null,
          updatedAt: '2026-11-21T13:00:01.000Z',
        },
      ],
      total: 1,
    });
    expect(refundList([])).toStrictEqual({ data: [], total: 0 });
  });

  it.each([
    [
      'devolution',
      'D00000000202611211300abcDEF12345',
      'E00000000202611211230abcDEF12345',
      'D00000000202611211300abcDEF12345',
    ],
    ['devolution', null, 'E00000000202611211230abcDEF12345', null],
    ['cashout', null, null, null],
    ['card', null, null, null],
  ] as const)('shows the ids of a %s whose reference at the bank is %p', (way, bankReference, endToEndId, returnId) => {
    const [item] = refundList([aRefund({ way, bankReference })]).data;
    expect(item).toMatchObject({ strategy: way === 'card' ? null : way, endToEndId, returnId });
  });

  it('shows the reason when it failed', () => {
    const [item] = refundList([aRefund({ status: 'FAILED', failureReason: 'refused', bankReference: null })]).data;
    expect(item).toMatchObject({ status: 'FAILED', failureReason: 'refused' });
  });
});

describe('the data of payment.refunded', () => {
  const event = (
    transaction: Transaction,
    previousStatus: 'PAID',
    status: RefundStatus,
  ): DomainEvent<RefundEventType> => ({
    id: '019aa0f0-7d5c-7c3e-9b1a-000000000001',
    accountId: transaction.accountId,
    mode: transaction.mode,
    type: 'refund.returned',
    subjectId: transaction.id,
    sequence: 3,
    data: {
      transaction: toSnapshot(transaction),
      previousStatus,
      refund: { id: BODY.id, amount: 990, status, reason: 'Article returned', failureReason: null },
    },
    occurredAt: new Date('2026-11-21T13:00:01.000Z'),
  });
  const refund = {
    refundId: BODY.id,
    refundAmount: 990,
    refundStatus: 'REFUNDED',
    refundReason: 'Article returned',
    refundFailureReason: null,
  };
  const payment = {
    transactionId: `tx_${BODY.transactionId}`,
    paymentId: BODY.transactionId,
    amount: 1990,
    previousStatus: 'PAID',
    occurredAt: '2026-11-21T13:00:01.000Z',
  };

  it('has exactly the documented keys and values after a partial refund', () => {
    expect(legacyRefund(event(aPaidTransaction(), 'PAID', 'REFUNDED'))).toStrictEqual({
      ...payment,
      status: 'PAID',
      paidWith: 'PIX',
      providerFee: 5,
      platformFee: 40,
      netAmount: 1945,
      ...refund,
    });
  });

  it('has exactly the documented keys and values after a full refund', () => {
    expect(legacyRefund(event(aPaidTransaction({ status: 'REFUNDED' }), 'PAID', 'REFUNDED'))).toStrictEqual({
      ...payment,
      status: 'REFUNDED',
      ...refund,
    });
  });
});
