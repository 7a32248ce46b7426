import { describe, expect, it } from '@jest/globals';
import { checkBrCode, isEndToEndId, isTxid } from '../brazil/index.js';
import { fromSnapshot } from './transaction.js';
import { SAMPLED_EVENTS, sampleTransactionEvent } from './transaction-samples.service.js';

const scope = { accountId: '019aa0f0-0000-7000-8000-000000000001', mode: 'live' } as const;
const now = new Date('2026-11-21T12:00:00.000Z');

describe('the sample of an event', () => {
  it.each(SAMPLED_EVENTS)('is complete, valid and marked as a sample: %s', (type) => {
    const event = sampleTransactionEvent(type, scope, now);
    const transaction = fromSnapshot(event.data.transaction);
    expect(event).toMatchObject({ ...scope, type, subjectId: transaction.id, occurredAt: now });
    expect(transaction).toMatchObject({
      ...scope,
      metadata: { sample: true },
      paymentMethods: ['PIX'],
      updatedAt: now,
    });
    expect(checkBrCode(transaction.brCode ?? '')).toMatchObject({ valid: true });
    expect(isTxid(transaction.txid ?? '')).toBe(true);
    const isCreation = type === 'transaction.created';
    expect(event.data.previousStatus).toBe(isCreation ? null : 'WAITING_PAYMENT');
    expect(transaction.createdAt.getTime()).toBeLessThanOrEqual(now.getTime());
  });

  it.each([
    ['transaction.created', 'WAITING_PAYMENT', false],
    ['transaction.paid', 'PAID', false],
    ['transaction.returned', 'REFUNDED', false],
    ['transaction.held', 'PROCESSING', false],
    ['transaction.expired', 'EXPIRED', true],
    ['transaction.refused', 'REFUSED', true],
    ['transaction.cancelled', 'CANCELLED', true],
  ] as const)('has the right status for %s: %s', (type, status, hasFailed) => {
    const transaction = fromSnapshot(sampleTransactionEvent(type, scope, now).data.transaction);
    expect(transaction.status).toBe(status);
    expect(transaction.failure !== null).toBe(hasFailed);
    expect(transaction.paidAt !== null).toBe(status === 'PAID');
    expect(transaction.expiresAt && transaction.expiresAt <= now).toBe(status === 'EXPIRED');
  });

  it('has amounts that add up when it is paid', () => {
    const { amount, providerFee, platformFee, netAmount, endToEndId } = sampleTransactionEvent(
      'transaction.paid',
      scope,
      now,
    ).data.transaction;
    expect(amount - (providerFee ?? 0) - (platformFee ?? 0)).toBe(netAmount);
    expect(isEndToEndId(endToEndId ?? '')).toBe(true);
  });

  it('has new ids each time', () => {
    const ids = Array.from({ length: 20 }, () => sampleTransactionEvent('transaction.paid', scope, now).subjectId);
    expect(new Set(ids).size).toBe(20);
  });
});
