import { type ShownTransaction, type Transaction, UNTOUCHED } from '../../src/transactions/index.js';

/** As it is stored, and as its merchant sees it. */
export type AnyTransaction = Transaction & ShownTransaction;

/** A whole, valid transaction: a Pix charge of R$ 19,90 that waits for its payment, with every optional field set. */
export function aTransaction(changes: Partial<AnyTransaction> = {}): AnyTransaction {
  return {
    ...UNTOUCHED,
    id: '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12',
    accountId: '019aa0f0-0000-7000-8000-000000000001',
    mode: 'test',
    status: 'WAITING_PAYMENT',
    amount: 1990,
    currency: 'BRL',
    paymentMethods: ['PIX'],
    customerName: 'Maria da Silva',
    customerDocument: '52998224725',
    customerEmail: 'maria@example.com',
    customerPhone: '+5511987654321',
    metadata: { order: 42 },
    expectedPayerTaxId: '52998224725',
    acquirer: 'sandbox',
    txid: 'abcdefghijklmnopqrstuvwxyz12345',
    brCode: '00020126',
    expiresAt: new Date('2026-11-21T13:00:00.000Z'),
    createdAt: new Date('2026-11-21T12:00:00.000Z'),
    updatedAt: new Date('2026-11-21T12:00:00.000Z'),
    ...changes,
  };
}

/** A transaction as above, paid by its customer with a Pix. */
export function aPaidTransaction(changes: Partial<AnyTransaction> = {}): AnyTransaction {
  return aTransaction({
    status: 'PAID',
    paidWith: 'PIX',
    endToEndId: 'E00000000202611211230abcDEF12345',
    providerFee: 5,
    platformFee: 40,
    netAmount: 1945,
    paidAt: new Date('2026-11-21T12:30:00.000Z'),
    updatedAt: new Date('2026-11-21T12:30:01.000Z'),
    ...changes,
  });
}
