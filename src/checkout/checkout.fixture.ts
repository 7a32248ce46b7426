import { encodeBrCode } from '../brazil/index.js';
import { type Transaction, UNTOUCHED } from '../transactions/index.js';
import type { CheckoutAccount, CheckoutView, ReceiptView } from './checkout.view.js';

export const ID = '0199a0c4-7c1d-7b3e-9f00-3a5b7c9d1e2f';
export const NOW = new Date('2026-03-10T02:10:30.000Z');

/** A BR Code of the usual length, somewhat over 150 characters. */
export const BR_CODE = encodeBrCode({
  kind: 'dynamic',
  location: 'pay.example/qr/0199a0c47c1d7b3e9f00',
  merchantName: 'Padaria Nova Aurora',
  merchantCity: 'Sao Paulo',
  amount: 123456,
});

/** Every field that must stay private has a value that can be found again. */
export function aTransaction(changes: Partial<Transaction> = {}): Transaction {
  return {
    ...UNTOUCHED,
    id: ID,
    accountId: '0199a0c4-aaaa-7aaa-8aaa-aaaaaaaaaaaa',
    mode: 'live',
    status: 'WAITING_PAYMENT',
    amount: 123456,
    currency: 'BRL',
    paymentMethods: ['PIX'],
    customerName: 'Private Name',
    customerDocument: '52998224725',
    customerEmail: 'private@mail.example',
    customerPhone: '+5511900001111',
    metadata: { order: 'private-order', description: 'Two loaves of bread' },
    expectedPayerTaxId: '11144477735',
    acquirer: 'private-acquirer',
    txid: 'PRIVATETXID00000000000000000',
    brCode: BR_CODE,
    webhookUrl: 'https://private.example/hook',
    customerId: 'private-customer-id',
    expiresAt: new Date('2026-03-10T02:30:00.000Z'),
    endToEndId: 'E00000000202603100210PRIVATE0001',
    providerFee: 70001,
    platformFee: 70002,
    netAmount: 70003,
    failure: { reason: 'private-reason', providerErrorCode: 'private-code', at: NOW.toISOString() },
    med: {
      referenceId: 'E00000000202603100210PRIVATE0001',
      status: 'created',
      reason: 'private-med-reason',
      payerSealed: 'private-payer',
      openedAt: NOW.toISOString(),
      updatedAt: NOW.toISOString(),
      lastEventAt: NOW.toISOString(),
      amountMismatch: false,
    },
    returns: [{ amount: 90009, reason: 'late', endToEndId: 'E00000000202603100210000000002', at: NOW.toISOString() }],
    createdAt: new Date('2026-03-10T02:00:07.007Z'),
    updatedAt: new Date('2026-03-10T02:00:09.009Z'),
    ...changes,
  };
}

export function aView(changes: Partial<CheckoutView> = {}): CheckoutView {
  return {
    id: ID,
    status: 'pending',
    merchant: 'Padaria Nova Aurora',
    amount: 123456,
    currency: 'BRL',
    test: false,
    brCode: BR_CODE,
    expiresAt: new Date('2026-03-10T02:30:00.000Z'),
    paidAt: null,
    now: NOW,
    accent: null,
    hasLogo: false,
    description: null,
    lockedTo: null,
    takesPix: true,
    otherWays: {},
    refunded: 0,
    returns: [],
    returnUrl: null,
    isJustPaid: false,
    hasReceipt: false,
    ...changes,
  };
}

export const ACCOUNT: CheckoutAccount = {
  name: 'Padaria Nova Aurora',
  contactEmail: 'owner@mail.example',
  accent: null,
  logo: null,
  taxId: null,
};

export function aReceipt(changes: Partial<ReceiptView> = {}): ReceiptView {
  return {
    id: ID,
    merchant: 'Padaria Nova Aurora',
    status: 'paid',
    contact: 'owner@mail.example',
    taxId: null,
    accent: null,
    hasLogo: false,
    test: false,
    amount: 123456,
    currency: 'BRL',
    description: null,
    paidAt: new Date('2026-03-10T03:05:00Z'),
    availableUntil: new Date('2026-04-09T03:05:00Z'),
    method: 'PIX',
    reference: 'E00000000202603100210000000001',
    refunded: 0,
    ...changes,
  };
}
