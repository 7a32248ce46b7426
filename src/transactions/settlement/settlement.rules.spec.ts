import { describe, expect, it } from '@jest/globals';
import { type AnyTransaction, aTransaction } from '../../../test/support/a-transaction.js';
import type { ReturnReason } from '../returns/pix-return.entity.js';
import type { Transaction } from '../transaction.js';
import { nextStatus, TRANSACTION_STATUSES, type TransactionStatus } from '../transactions.machine.js';
import { decideSettlement, type ReceivedMoney, type SettlementDecision } from './settlement.rules.js';

const EXPIRES_AT = new Date('2026-11-21T13:00:00.000Z');
const LOCK = '52998224725';
const OTHER = '11144477735';

const unlocked = (changes: Partial<AnyTransaction> = {}): Transaction =>
  aTransaction({ expectedPayerTaxId: null, expiresAt: EXPIRES_AT, ...changes });
const pix = (changes: Partial<ReceivedMoney> = {}): ReceivedMoney => ({
  method: 'PIX',
  endToEndId: 'E00000000202611211230abcDEF12345',
  txid: 'abcdefghijklmnopqrstuvwxyz12345',
  amount: 1990,
  settledAt: new Date('2026-11-21T12:30:00.000Z'),
  fee: 0,
  payerDocument: OTHER,
  ...changes,
});
const before = new Date(EXPIRES_AT.getTime() - 1);
const LATE = new Date(EXPIRES_AT.getTime() + 1);

const credited: SettlementDecision = { outcome: 'credited', reason: null, trigger: 'settled' };
const returned = (reason: ReturnReason, trigger: SettlementDecision['trigger'] = null): SettlementDecision => ({
  outcome: 'returned',
  reason,
  trigger,
});

/** Statuses that take no more money, with the reason for sending a further Pix back. */
const CLOSED = {
  EXPIRED: 'late',
  CANCELLED: 'charge_closed',
  REFUSED: 'charge_closed',
  PAID: 'duplicate',
  APPROVED: 'duplicate',
  REFUNDED: 'duplicate',
  CHARGEBACK: 'duplicate',
  DISPUTE: 'duplicate',
} as const satisfies Partial<Record<TransactionStatus, ReturnReason>>;

describe('a confirmed Pix', () => {
  it.each([
    ['the exact amount in time', unlocked(), pix(), credited],
    ['the last millisecond', unlocked(), pix({ settledAt: before }), credited],
    ['the moment of expiry itself', unlocked(), pix({ settledAt: EXPIRES_AT }), credited],
    ['a millisecond after it', unlocked(), pix({ settledAt: LATE }), returned('late', 'expired')],
    ['no expiry', unlocked({ expiresAt: null }), pix({ settledAt: new Date('2036-01-01T00:00:00Z') }), credited],
    ['one cent less', unlocked(), pix({ amount: 1989 }), returned('wrong_amount')],
    ['one cent more', unlocked(), pix({ amount: 1991 }), returned('wrong_amount')],
    ['no lock, payer not reported', unlocked(), pix({ payerDocument: null }), credited],
    ['lock, right payer', aTransaction(), pix({ payerDocument: LOCK }), credited],
    ['lock, other payer', aTransaction(), pix(), returned('payer_mismatch', 'settled_by_other_payer')],
    [
      'lock, payer not reported',
      aTransaction(),
      pix({ payerDocument: null }),
      { outcome: 'review', reason: 'payer_unknown', trigger: 'settled_by_unknown_payer' },
    ],
    // A wrong amount is checked before the payer: the charge stays open for the right payer.
    ['lock, other payer, wrong amount', aTransaction(), pix({ amount: 1 }), returned('wrong_amount')],
    [
      'lock, payer not reported, wrong amount',
      aTransaction(),
      pix({ amount: 1, payerDocument: null }),
      returned('wrong_amount'),
    ],
    [
      'lock, right payer, late',
      aTransaction(),
      pix({ payerDocument: LOCK, settledAt: LATE }),
      returned('late', 'expired'),
    ],
    ['wrong amount, late', unlocked(), pix({ amount: 1, settledAt: LATE }), returned('late', 'expired')],
  ] as [string, Transaction, ReceivedMoney, SettlementDecision][])(
    'is credited or sent back by the rules: %s',
    (_what, transaction, received, decision) => {
      expect(decideSettlement(transaction, received)).toEqual(decision);
    },
  );

  it.each(Object.keys(CLOSED) as (keyof typeof CLOSED)[])(
    'goes back from a charge that is %s, and the status stays',
    (status) => {
      for (const received of [
        pix(),
        pix({ amount: 1 }),
        pix({ payerDocument: null }),
        pix({ settledAt: EXPIRES_AT }),
      ]) {
        for (const transaction of [unlocked({ status }), aTransaction({ status })]) {
          expect(decideSettlement(transaction, received)).toEqual(returned(CLOSED[status]));
        }
      }
    },
  );

  it('goes back when the charge already holds a Pix of an unknown payer', () => {
    expect(decideSettlement(aTransaction({ status: 'PROCESSING' }), pix({ payerDocument: LOCK }))).toEqual(
      returned('duplicate'),
    );
  });

  it.each([
    ['CREDIT_CARD', 'approved'],
    ['PIX', 'settled'],
    ['MBWAY', 'settled'],
    ['MULTIBANCO', 'settled'],
    ['BOLETO', 'settled'],
    ['CRYPTO', 'settled'],
  ] as const)('by %s is accepted while waiting and while a card is in flight: %s', (method, trigger) => {
    for (const status of ['WAITING_PAYMENT', 'PROCESSING'] as const) {
      expect(decideSettlement(unlocked({ status }), pix({ method }))).toEqual({ ...credited, trigger });
    }
  });

  it('has a decision for every status, with moves that the machine allows', () => {
    expect(() => decideSettlement(aTransaction({ status: 'PENDING' }), pix())).toThrow(/issued/);
    const open = TRANSACTION_STATUSES.filter((status) => !(status in CLOSED) && status !== 'PENDING');
    expect(open).toEqual(['WAITING_PAYMENT', 'PROCESSING']);
    for (const status of open) {
      for (const received of [
        pix(),
        pix({ payerDocument: LOCK }),
        pix({ payerDocument: null }),
        pix({ settledAt: EXPIRES_AT }),
      ]) {
        const { trigger } = decideSettlement(
          status === 'PROCESSING' ? unlocked({ status }) : aTransaction({ status }),
          received,
        );
        expect(trigger === null ? null : nextStatus(status, trigger)).not.toBeNull();
      }
    }
  });
});
