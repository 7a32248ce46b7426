import { describe, expect, it } from '@jest/globals';
import {
  isUnderway,
  MED_CASE_STATUSES,
  MED_MOVES,
  type MedCaseStatus,
  type MedTrigger,
  MONEY_OUTCOMES,
} from './med-cases.machine.js';

/** Written by hand from the contract's table: the status and the outcome after each trigger. */
const TABLE: Readonly<Record<MedTrigger, readonly [from: MedCaseStatus, to: MedCaseStatus, outcome: string | null][]>> =
  {
    appealed: [['open', 'appealed', null]],
    accepted: [['open', 'accepted', 'lost']],
    won: [
      ['open', 'closed', 'refunded_to_merchant'],
      ['appealed', 'closed', 'refunded_to_merchant'],
    ],
    lost_unanswered: [['open', 'closed', 'closed_without_refund']],
    lost_on_appeal: [['appealed', 'rejected', 'lost']],
    // Beyond the contract: moves that an operator approves when the bank has moved the money after all.
    won_after_all: [
      ['accepted', 'closed', 'refunded_to_merchant'],
      ['rejected', 'closed', 'refunded_to_merchant'],
      ['closed', 'closed', 'refunded_to_merchant'],
    ],
    lost_after_all: [['closed', 'closed', 'closed_without_refund']],
  };

describe('the state machine of MED cases', () => {
  it('has the moves of the contract and no others', () => {
    const moves = Object.entries(MED_MOVES).map(([trigger, { from, to, outcome }]) => [
      trigger,
      from.map((status) => [status, to, outcome]),
    ]);
    expect(Object.fromEntries(moves)).toEqual(TABLE);
  });

  it('leaves a final status only for another final one, and reaches every other status', () => {
    const left = new Set(
      Object.values(MED_MOVES).flatMap(({ from, to }) =>
        from.filter((status) => isUnderway(status) || to !== 'closed'),
      ),
    );
    expect(MED_CASE_STATUSES.filter((status) => left.has(status))).toEqual(MED_CASE_STATUSES.filter(isUnderway));
    const reached = new Set(['open', ...Object.values(MED_MOVES).map(({ to }) => to)]);
    expect([...reached].sort()).toEqual([...MED_CASE_STATUSES].sort());
  });

  it('has an outcome exactly for the final statuses, and reaches every outcome', () => {
    for (const { to, outcome } of Object.values(MED_MOVES)) expect(outcome === null).toBe(isUnderway(to));
    const outcomes = new Set(Object.values(MED_MOVES).map(({ outcome }) => outcome));
    expect(MONEY_OUTCOMES.every((outcome) => outcomes.has(outcome))).toBe(true);
  });
});
