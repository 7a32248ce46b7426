import { describe, expect, it } from '@jest/globals';
import { aPaidTransaction, aTransaction } from '../../test/support/a-transaction.js';
import { asOf, expiryFailure, failureOf, fromSnapshot, isPastExpiry, isPix, toSnapshot } from './transaction.js';
import { transactionEvent } from './transaction.events.js';
import { TRANSACTION_STATUSES } from './transactions.machine.js';

const EXPIRES_AT = new Date('2026-11-21T13:00:00.000Z');
const JUST_BEFORE = new Date(EXPIRES_AT.getTime() - 1);
const LONG_AFTER = new Date('2027-01-01T00:00:00.000Z');

describe('a transaction as of a moment', () => {
  it('is expired from the millisecond of its expiry, before the expiry is written', () => {
    const transaction = aTransaction();
    expect(asOf(transaction, JUST_BEFORE)).toBe(transaction);
    expect(asOf(transaction, EXPIRES_AT)).toEqual({
      ...transaction,
      status: 'EXPIRED',
      failure: {
        reason: 'The charge expired without payment.',
        providerErrorCode: 'expired',
        ttlSeconds: 3600,
        at: '2026-11-21T13:00:00.000Z',
      },
    });
  });

  it('shows the time of the expiry, not the time of the read', () => {
    expect(asOf(aTransaction(), LONG_AFTER)).toEqual(asOf(aTransaction(), EXPIRES_AT));
  });

  it.each(TRANSACTION_STATUSES.filter((status) => status !== 'PENDING' && status !== 'WAITING_PAYMENT'))(
    'stays unchanged when it is %s',
    (status) => {
      const transaction = aTransaction({ status });
      expect(asOf(transaction, LONG_AFTER)).toBe(transaction);
    },
  );

  it('lets a card in flight expire, but never a held Pix', () => {
    expect(asOf(aTransaction({ status: 'PROCESSING', expectedPayerTaxId: null }), EXPIRES_AT).status).toBe('EXPIRED');
    expect(asOf(aTransaction({ status: 'PROCESSING' }), EXPIRES_AT).status).toBe('PROCESSING');
  });

  it('leaves a transaction without expiry unchanged', () => {
    const transaction = aTransaction({ expiresAt: null });
    expect(asOf(transaction, LONG_AFTER)).toBe(transaction);
    expect(isPastExpiry(transaction, LONG_AFTER)).toBe(false);
  });
});

describe('the failure block', () => {
  const cause = { reason: 'No.', providerErrorCode: 'refused', at: new Date('2026-11-21T12:00:01.234Z') };

  it('has the keys of the contract', () => {
    expect(Object.keys(failureOf(aTransaction(), cause))).toEqual(['reason', 'providerErrorCode', 'ttlSeconds', 'at']);
    expect(Object.keys(expiryFailure(aTransaction(), EXPIRES_AT))).toEqual([
      'reason',
      'providerErrorCode',
      'ttlSeconds',
      'at',
    ]);
  });

  it('has no lifetime when there was no expiry', () => {
    expect(failureOf(aTransaction({ expiresAt: null }), cause)).toEqual({
      reason: 'No.',
      providerErrorCode: 'refused',
      at: '2026-11-21T12:00:01.234Z',
    });
  });
});

describe('a snapshot', () => {
  it.each([
    aTransaction(),
    aPaidTransaction(),
    aTransaction({ expiresAt: null, failure: expiryFailure(aTransaction(), EXPIRES_AT) }),
  ])('comes back from JSON as the same transaction', (transaction) => {
    expect(fromSnapshot(JSON.parse(JSON.stringify(toSnapshot(transaction))) as ReturnType<typeof toSnapshot>)).toEqual(
      transaction,
    );
  });

  it('is part of the event, together with the previous status', () => {
    const paid = aPaidTransaction();
    expect(transactionEvent('transaction.paid', paid, 'WAITING_PAYMENT')).toEqual({
      accountId: paid.accountId,
      mode: 'test',
      type: 'transaction.paid',
      subjectId: paid.id,
      data: { transaction: toSnapshot(paid), previousStatus: 'WAITING_PAYMENT' },
      occurredAt: paid.updatedAt,
    });
  });
});

it('a transaction is a Pix when Pix is among its methods', () => {
  expect(isPix(aTransaction({ paymentMethods: ['BOLETO', 'PIX'] }))).toBe(true);
  expect(isPix(aTransaction({ paymentMethods: ['BOLETO'] }))).toBe(false);
});
