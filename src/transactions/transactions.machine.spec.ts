import { describe, expect, it } from '@jest/globals';
import { EVENT_OF } from './transaction.events.js';
import {
  MOVES,
  nextStatus,
  TRANSACTION_STATUSES,
  type TransactionStatus,
  type Trigger,
} from './transactions.machine.js';

const NO = null;

/** Written by hand from the contract; columns are triggers, rows are the statuses before. */
const TRIGGERS = [
  ...(['issued', 'not_issued', 'settled', 'settled_by_other_payer'] as const),
  ...(['settled_by_unknown_payer', 'expired', 'refused', 'cancelled', 'refunded'] as const),
  ...(['approved', 'authenticating', 'charged_back', 'card_disputed', 'disputed', 'dispute_won'] as const),
  ...(['review_accepted', 'review_returned', 'card_dispute_won'] as const),
] satisfies Trigger[];

type Row = readonly (TransactionStatus | null)[];

const TABLE: Readonly<Record<TransactionStatus, Row>> = {
  PENDING: ['WAITING_PAYMENT', 'REFUSED', NO, NO, NO, NO, NO, 'CANCELLED', NO, NO, NO, NO, NO, NO, NO, NO, NO, NO],
  WAITING_PAYMENT: [
    NO,
    NO,
    'PAID',
    'REFUNDED',
    'PROCESSING',
    'EXPIRED',
    'REFUSED',
    'CANCELLED',
    NO,
    'APPROVED',
    'PROCESSING',
    NO,
    NO,
    NO,
    NO,
    NO,
    NO,
    NO,
  ],
  PROCESSING: [
    NO,
    NO,
    'PAID',
    NO,
    NO,
    'EXPIRED',
    'REFUSED',
    'CANCELLED',
    NO,
    'APPROVED',
    NO,
    NO,
    NO,
    NO,
    NO,
    'PAID',
    'REFUNDED',
    NO,
  ],
  PAID: [NO, NO, NO, NO, NO, NO, NO, NO, 'REFUNDED', NO, NO, NO, NO, 'DISPUTE', NO, NO, NO, NO],
  APPROVED: [NO, NO, NO, NO, NO, NO, NO, NO, 'REFUNDED', NO, NO, 'CHARGEBACK', 'DISPUTE', NO, NO, NO, NO, NO],
  REFUSED: [NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO],
  CANCELLED: [NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO],
  EXPIRED: [NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO],
  REFUNDED: [NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO],
  CHARGEBACK: [NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, 'APPROVED'],
  DISPUTE: [NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, 'CHARGEBACK', NO, NO, 'PAID', NO, NO, 'APPROVED'],
};

describe('the state machine of transactions', () => {
  it('knows exactly the statuses of the contract and the triggers of the table', () => {
    expect([...TRANSACTION_STATUSES].sort()).toEqual(Object.keys(TABLE).sort());
    expect(Object.keys(MOVES).sort()).toEqual([...TRIGGERS].sort());
  });

  it.each(
    TRANSACTION_STATUSES.flatMap((from) =>
      TRIGGERS.map((trigger, column) => ({ from, trigger, to: TABLE[from][column] })),
    ),
  )('moves from $from by $trigger to $to', ({ from, trigger, to }) => {
    expect(nextStatus(from, trigger)).toBe(to);
  });

  it('has no move to the same status', () => {
    for (const { from, to } of Object.values(MOVES)) expect(from).not.toContain(to);
  });

  it('has an event for every move; two moves share one only if their outcome is equal', () => {
    expect(Object.keys(EVENT_OF).sort()).toEqual([...TRIGGERS].sort());
    const news = new Map<string, string[]>();
    for (const [trigger, event] of Object.entries(EVENT_OF)) news.set(event, [...(news.get(event) ?? []), trigger]);
    expect([...news.values()].filter((triggers) => triggers.length > 1).map((triggers) => triggers.sort())).toEqual([
      // PAID and APPROVED are the same news: the payment was made.
      ['approved', 'review_accepted', 'settled'],
      ['review_returned', 'settled_by_other_payer'],
    ]);
  });
});
