import type { Refund } from '../../src/transactions/index.js';

/** A whole, valid refund: R$ 9,90 of the payment that `aPaidTransaction` is, sent to its payer by a cashout. */
export function aRefund(changes: Partial<Refund> = {}): Refund {
  return {
    id: '019aa0f0-9a01-7b8c-8d2e-5f6071829304',
    accountId: '019aa0f0-0000-7000-8000-000000000001',
    mode: 'test',
    transactionId: '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12',
    acquirer: 'sandbox',
    paymentReference: 'E00000000202611211230abcDEF12345',
    way: 'cashout',
    amount: 990,
    fee: 0,
    currency: 'BRL',
    reason: 'Article returned',
    destinationSealed: null,
    status: 'REFUNDED',
    bankReference: 'E00000000202611211300abcDEF12345',
    failureReason: null,
    providerFee: 0,
    createdAt: new Date('2026-11-21T13:00:00.000Z'),
    updatedAt: new Date('2026-11-21T13:00:01.000Z'),
    ...changes,
  };
}
