import { describe, expect, it } from '@jest/globals';
import { aPaidTransaction, aTransaction } from '../../test/support/a-transaction.js';
import {
  cancelledPayment,
  paymentBody,
  paymentDetail,
  paymentList,
  providerStatus,
  receiptBody,
} from './payment.serializer.js';

const RAW = '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12';
const EXPIRES_AT = '2026-11-21T13:00:00.000Z';

const created = {
  id: RAW,
  status: 'WAITING_PAYMENT',
  amount: 1990,
  currency: 'BRL',
  paymentMethods: ['PIX'],
  customerName: 'Maria da Silva',
  customerDocument: '52998224725',
  customerEmail: 'maria@example.com',
  metadata: { order: 42 },
  createdAt: '2026-11-21T12:00:00.000Z',
};
const nothing = {
  paidWith: null,
  pixQrCode: null,
  pixCopyPaste: null,
  pixExpiresAt: null,
  cardRedirectUrl: null,
  mbEntity: null,
  mbReference: null,
  mbExpiresAt: null,
  boletoBarcode: null,
  boletoLine: null,
  boletoPdfUrl: null,
  boletoExpiresAt: null,
  cryptoAddress: null,
  cryptoAmount: null,
  cryptoNetwork: null,
  cryptoCurrency: null,
  providerFee: null,
  platformFee: null,
  netAmount: null,
  paidAt: null,
};
const settled = {
  status: 'PAID',
  paidWith: 'PIX',
  providerFee: 5,
  platformFee: 40,
  netAmount: 1945,
  paidAt: '2026-11-21T12:30:00.000Z',
};

describe('a payment', () => {
  it('has exactly the documented keys and values when just created', () => {
    expect(paymentBody(aTransaction())).toStrictEqual(created);
    expect(
      paymentBody(aTransaction({ customerName: null, customerDocument: null, customerEmail: null, metadata: {} })),
    ).toStrictEqual({ ...created, customerName: null, customerDocument: null, customerEmail: null, metadata: {} });
  });

  it('has null for missing values before the acquirer has made anything', () => {
    expect(paymentDetail(aTransaction({ brCode: null }), null)).toStrictEqual({ ...created, ...nothing });
  });

  it('has the fields of every method, and one expiry for all methods', () => {
    const artefacts = {
      CREDIT_CARD: { redirectUrl: 'https://pay.example.com/sandbox/cards/x' },
      MBWAY: {},
      MULTIBANCO: { entity: '99999', reference: '123456789' },
      BOLETO: { barcode: '1'.repeat(44), line: '2'.repeat(47), pdfUrl: 'https://pay.example.com/boleto.pdf' },
      CRYPTO: { address: 'Tabc', amount: '3.62', network: 'TRON_TESTNET', currency: 'USDT' },
    };
    expect(paymentDetail(aTransaction({ artefacts }), 'data:image/png;base64,AA==')).toStrictEqual({
      ...created,
      ...nothing,
      pixQrCode: 'data:image/png;base64,AA==',
      pixCopyPaste: '00020126',
      pixExpiresAt: EXPIRES_AT,
      cardRedirectUrl: 'https://pay.example.com/sandbox/cards/x',
      mbEntity: '99999',
      mbReference: '123456789',
      mbExpiresAt: EXPIRES_AT,
      boletoBarcode: '1'.repeat(44),
      boletoLine: '2'.repeat(47),
      boletoPdfUrl: 'https://pay.example.com/boleto.pdf',
      boletoExpiresAt: EXPIRES_AT,
      cryptoAddress: 'Tabc',
      cryptoAmount: 3.62,
      cryptoNetwork: 'TRON_TESTNET',
      cryptoCurrency: 'USDT',
    });
  });

  it('shows its fees when it was paid', () => {
    expect(paymentDetail(aPaidTransaction({ brCode: null }), null)).toStrictEqual({
      ...created,
      ...nothing,
      ...settled,
    });
  });

  it('shows the refunded amount after a refund', () => {
    const refunded = aPaidTransaction({ refundsAmount: 990, brCode: null });
    expect(paymentDetail(refunded, null)).toStrictEqual({
      ...created,
      ...nothing,
      ...settled,
      amountRefunded: 990,
    });
    expect(paymentList([refunded], 1, 1, 20).data).toStrictEqual([
      { ...created, id: `tx_${RAW}`, ...settled, amountRefunded: 990 },
    ]);
  });

  it('shows its previous status as the last key when it was cancelled', () => {
    const body = cancelledPayment(aTransaction({ status: 'CANCELLED', brCode: null }), null, 'PROCESSING');
    expect(body).toStrictEqual({ ...created, ...nothing, status: 'CANCELLED', previousStatus: 'PROCESSING' });
  });

  it('never shows accounts, acquirers, locks, payers’ money trails or columns that a later version adds', () => {
    const later = { ...aPaidTransaction(), payerDocument: '11144477735', disputedAmount: 77_123 };
    const text = JSON.stringify([paymentDetail(later, null), paymentList([later], 1, 1, 20)]);
    for (const secret of [later.accountId, 'sandbox', 'expectedPayer', 'E0000', '11144477735', '77123', later.txid]) {
      expect(text).not.toContain(secret);
    }
  });
});

it('a list of payments has the contract’s item under its tx_ id', () => {
  expect(paymentList([aPaidTransaction()], 41, 3, 20)).toStrictEqual({
    data: [{ ...created, id: `tx_${RAW}`, ...settled }],
    total: 41,
    page: 3,
    limit: 20,
  });
});

describe('the provider’s report', () => {
  it('shows the acquirer’s status', () => {
    expect(providerStatus(aTransaction(), { status: 'ACTIVE', raw: { a: 1 } })).toStrictEqual({
      localStatus: 'WAITING_PAYMENT',
      provider: 'sandbox',
      providerTransactionId: 'abcdefghijklmnopqrstuvwxyz12345',
      providerStatus: 'ACTIVE',
      rawResponse: { a: 1 },
    });
  });

  it.each([
    ['WAITING_PAYMENT', { status: 'ATIVA', code: 'x' }],
    ['CANCELLED', { status: 'ATIVA' }],
  ] as const)('shows of a %s payment the fields %j', (status, rawResponse) => {
    const told = { status: 'ATIVA', raw: { status: 'ATIVA', code: 'x' }, payable: ['code'] };
    expect(providerStatus(aTransaction({ status }), told).rawResponse).toStrictEqual(rawResponse);
  });

  it('is an error when the acquirer does not know the payment', () => {
    expect(providerStatus(aTransaction(), null)).toStrictEqual({
      localStatus: 'WAITING_PAYMENT',
      provider: null,
      providerTransactionId: null,
      providerStatus: null,
      rawResponse: {},
      error: 'TRANSACTION_HAS_NO_PROVIDER_REFERENCE',
    });
  });
});

it('a receipt of a payment is the PDF in base64', () => {
  expect(receiptBody(Buffer.from('%PDF-'))).toStrictEqual({ contentType: 'application/pdf', base64: 'JVBERi0=' });
});
