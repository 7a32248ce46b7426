import { describe, expect, it } from '@jest/globals';
import { type Transaction, TRANSACTION_STATUSES } from '../transactions/index.js';
import { ACCOUNT, aTransaction, BR_CODE, ID, NOW } from './checkout.fixture.js';
import { toCheckoutStatus, toCheckoutView, toReceiptView } from './checkout.view.js';

describe('toCheckoutView', () => {
  it('passes on exactly the listed values of a charge', () => {
    expect(toCheckoutView(aTransaction(), ACCOUNT, NOW)).toEqual({
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
      description: 'Two loaves of bread',
      takesPix: true,
      lockedTo: '***.444.777-**',
      otherWays: {},
      refunded: 0,
      returns: [{ amount: 90009, reason: 'late', endToEndId: 'E00000000202603100210000000002', at: NOW }],
      returnUrl: null,
      isJustPaid: false,
      hasReceipt: false,
    });
  });

  it.each([
    ['https://shop.example/thanks?a=%20b', 'https://shop.example/thanks?a=%20b&'],
    ['https://shop.example/thanks#x', 'https://shop.example/thanks?', '#x'],
    ['http://localhost:3000/thanks', 'http://localhost:3000/thanks?'],
    ['http://127.0.0.1/', 'http://127.0.0.1/?'],
    ['http://[::1]:8080/', 'http://[::1]:8080/?'],
    ...[
      'http://shop.example/',
      'javascript:alert(1)',
      'https://user:password@shop.example/',
      'shop.example',
      7,
      '',
      null,
    ].map((wrong) => [wrong, undefined] as const),
  ])('leads back to the shop at %j with the charge and its status', (returnUrl, start, end = '') => {
    const transaction = aTransaction({ mode: 'test', metadata: { returnUrl } });
    const view = toCheckoutView(transaction, ACCOUNT, NOW);
    const added = `charge_id=ch_${transaction.id}&status=${view.status}`;
    expect(view.returnUrl?.href).toBe(start === undefined ? undefined : `${start}${added}${end}`);
  });

  it('leads back to a loopback address by http with a test key only', () => {
    const metadata = { returnUrl: 'http://localhost:3000/thanks' };
    expect(toCheckoutView(aTransaction({ mode: 'live', metadata }), ACCOUNT, NOW).returnUrl).toBeNull();
  });

  it('leads back to the shop by itself for two minutes after the payment', () => {
    const paid = aTransaction({ status: 'PAID', paidAt: NOW });
    const at = (seconds: number): boolean =>
      toCheckoutView(paid, ACCOUNT, new Date(NOW.getTime() + seconds * 1000)).isJustPaid;
    expect([at(0), at(119), at(120)]).toEqual([true, true, false]);
    expect(toCheckoutView(aTransaction(), ACCOUNT, NOW).isJustPaid).toBe(false);
  });

  it('has a description on one line, of at most 500 characters, or none', () => {
    const of = (description: unknown) =>
      toCheckoutView(aTransaction({ metadata: { description } }), ACCOUNT, NOW).description;
    expect(of('  a\n\u202ebread ')).toBe('a bread');
    expect(of('x'.repeat(600))).toHaveLength(500);
    for (const nothing of ['', ' \n', 7, {}, undefined]) expect(of(nothing)).toBeNull();
  });

  it('marks a sandbox charge', () => {
    expect(toCheckoutView(aTransaction({ mode: 'test' }), ACCOUNT, NOW).test).toBe(true);
  });

  it('gives the Pix code only while the charge can be paid', () => {
    const withCode = TRANSACTION_STATUSES.filter(
      (status) => toCheckoutView(aTransaction({ status }), ACCOUNT, NOW).brCode !== null,
    );
    expect(withCode).toEqual(['PENDING', 'WAITING_PAYMENT']);
  });
});

describe('toReceiptView', () => {
  const paidAt = new Date('2026-03-10T02:10:00.000Z');
  const receipt = (changes: Partial<Transaction>, taxId: string | null = null) =>
    toReceiptView(aTransaction({ paidAt, paidWith: 'PIX', ...changes }), { ...ACCOUNT, taxId }, NOW);

  it('passes on exactly the listed values of a paid charge', () => {
    expect(receipt({ status: 'REFUNDED', refundsAmount: 123456 }, '12ABC34501DE35')).toEqual({
      ...{ merchant: 'Padaria Nova Aurora', accent: null, hasLogo: false, test: false },
      ...{ id: ID, status: 'refunded', amount: 123456, currency: 'BRL', paidAt },
      availableUntil: new Date('2026-04-09T02:10:00.000Z'),
      contact: 'owner@mail.example',
      taxId: '12.ABC.345/01DE-35',
      description: 'Two loaves of bread',
      method: 'PIX',
      reference: 'E00000000202603100210PRIVATE0001',
      refunded: 123456,
    });
  });

  it('masks a CPF of the merchant', () => {
    expect(receipt({ status: 'PAID' }, '52998224725')?.taxId).toBe('***.982.247-**');
  });

  it.each(['WAITING_PAYMENT', 'EXPIRED', 'CANCELLED', 'REFUSED', 'PROCESSING'] as const)(
    'is nothing while %s and unpaid',
    (status) => {
      expect(receipt({ status, paidAt: null })).toBeNull();
    },
  );
});

describe('toCheckoutStatus', () => {
  it('has exactly three fields, in the vocabulary of the API', () => {
    const paidAt = new Date('2026-03-10T02:12:00.123Z');
    expect(toCheckoutStatus(aTransaction({ status: 'PAID', paidAt }))).toEqual({
      status: 'paid',
      paid_at: '2026-03-10T02:12:00.123Z',
      expires_at: '2026-03-10T02:30:00.000Z',
    });
  });

  it('writes null for missing times', () => {
    expect(toCheckoutStatus(aTransaction({ expiresAt: null }))).toEqual({
      status: 'pending',
      paid_at: null,
      expires_at: null,
    });
  });
});
