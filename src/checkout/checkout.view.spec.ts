import { describe, expect, it } from '@jest/globals';
import { TRANSACTION_STATUSES } from '../transactions/index.js';
import { aTransaction, BR_CODE, ID, NOW } from './checkout.fixture.js';
import { toCheckoutStatus, toCheckoutView } from './checkout.view.js';

const ACCOUNT = { name: 'Padaria Nova Aurora', contactEmail: 'owner@mail.example' };

describe('toCheckoutView', () => {
  it('lets exactly these values through', () => {
    expect(toCheckoutView(aTransaction(), ACCOUNT, NOW)).toEqual({
      id: ID,
      status: 'pending',
      merchant: 'Padaria Nova Aurora',
      amount: 123456,
      test: false,
      brCode: BR_CODE,
      expiresAt: new Date('2026-03-10T02:30:00.000Z'),
      paidAt: null,
      now: NOW,
    });
  });

  it('marks a sandbox charge', () => {
    expect(toCheckoutView(aTransaction({ mode: 'test' }), ACCOUNT, NOW).test).toBe(true);
  });

  it('gives the code only while the charge can be paid', () => {
    const withCode = TRANSACTION_STATUSES.filter(
      (status) => toCheckoutView(aTransaction({ status }), ACCOUNT, NOW).brCode !== null,
    );
    expect(withCode).toEqual(['PENDING', 'WAITING_PAYMENT']);
  });
});

describe('toCheckoutStatus', () => {
  it('has exactly three fields, in the public vocabulary', () => {
    const paidAt = new Date('2026-03-10T02:12:00.123Z');
    expect(toCheckoutStatus(aTransaction({ status: 'PAID', paidAt }))).toEqual({
      status: 'paid',
      paid_at: '2026-03-10T02:12:00.123Z',
      expires_at: '2026-03-10T02:30:00.000Z',
    });
  });

  it('writes null for what there is not', () => {
    expect(toCheckoutStatus(aTransaction({ expiresAt: null }))).toEqual({
      status: 'pending',
      paid_at: null,
      expires_at: null,
    });
  });
});
