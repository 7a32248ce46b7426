import { describe, expect, it } from '@jest/globals';
import type { BalanceComparison, Difference, PayoutDifference, Reconciliation } from '../reconciliation/index.js';
import { exitCodeOf, reconciliationBody, summaryOf } from './reconciliation.js';

const DAY = '2026-11-21';
const TOTAL = { count: 1, amount: 400, returned: 0, held: 400 };

function result(
  differences: readonly Difference[],
  sends: readonly PayoutDifference[] = [],
  balance: BalanceComparison | null = null,
): Reconciliation {
  const time = new Date('2026-11-21T03:00:00Z');
  const payouts = { there: TOTAL, here: TOTAL, differences: sends };
  const acquirers = [{ acquirer: 'psp', there: TOTAL, here: TOTAL, differences, payouts }];
  return { from: time, to: time, acquirers, notCompared: [], balance };
}

function summary(difference: Pick<Difference, 'kind' | 'caseId' | 'here' | 'there'> & Partial<Difference>): string {
  return summaryOf(DAY, result([{ endToEndId: 'E1', returnId: 'M1', ...difference }])).join('\n');
}

describe('the summary of a difference for people', () => {
  it.each([
    ['in_progress', 'is about to take'],
    ['returned', 'took'],
  ] as const)('reports a dispute without a case (%s): the bank %s the money', (state, does) => {
    const there = { amount: 400, state };
    expect(summary({ kind: 'dispute_unknown', caseId: null, here: null, there })).toBe(
      [
        `${DAY}: 1 difference`,
        `  psp E1/M1: the bank ${does} money for a dispute that has no case here (here nothing, there R$ 4,00 ${state})`,
        '    Within a day it has one; if it waits for its payment, it is in GET /v1/operations/med/waiting.',
      ].join('\n'),
    );
  });

  it.each([
    ['E1', null, 'E1'],
    [null, null, '(no id)'],
    ['E1', 'M1', 'E1/M1'],
  ])('names an unreadable return with end-to-end id %s and return id %s as %s', (endToEndId, returnId, name) => {
    const nothing = { caseId: null, here: null, there: null };
    expect(summary({ kind: 'unreadable', endToEndId, returnId, ...nothing })).toContain(
      `  psp ${name}: in the acquirer's list, and cannot be read (here nothing, there nothing)\n    It is credited to no account before it can be read.`,
    );
  });

  it('names the place where a waiting case is decided', () => {
    const sides = { here: { amount: 400, state: 'in_progress' }, there: { amount: 400, state: 'returned' } } as const;
    expect(summary({ kind: 'dispute_waits', caseId: 'C1', ...sides })).toBe(
      [
        `${DAY}: 1 difference`,
        '  psp E1/M1 med_C1: the bank has come to its end with a dispute whose case waits for an operator (here R$ 4,00 in_progress, there R$ 4,00 returned)',
        "    Decide it at the operators' desk: GET /v1/operations/med.",
      ].join('\n'),
    );
  });
});

describe('the summary of sends and balances', () => {
  const sent: PayoutDifference = {
    kind: 'payout_given_back',
    sendId: 'S1',
    endToEndId: 'E1',
    returnId: null,
    subject: { subject: 'payout', id: '7' },
    here: { amount: 400, state: 'failed' },
    there: { amount: 400, state: 'paid' },
  };
  const balance: BalanceComparison = {
    there: { available: 900, blocked: { med: 50 } },
    here: { held: 1_000, underWay: 10, fees: 40 },
    difference: -40,
  };

  it('names a send with its payout, and says what to do', () => {
    const found = result([], [sent]);
    const [, line] = summaryOf(DAY, found);
    expect(line).toContain(
      '  psp E1 po_7: sent by the acquirer, and given back to the merchant here (here R$ 4,00 failed, there R$ 4,00 paid)\n    The merchant has the money twice.',
    );
    expect(exitCodeOf(found)).toBe(1);
    expect(reconciliationBody(found)).toMatchObject({
      acquirers: [{ payouts: { differences: [{ kind: 'payout_given_back', payout_id: 'po_7', refund_id: null }] } }],
    });
  });

  it('names a refund, and an id of ours where the PSP shows no other', () => {
    const difference = { ...sent, endToEndId: null, returnId: 'R1', subject: { subject: 'refund', id: '8' } } as const;
    expect(summaryOf(DAY, result([], [difference]))[1]).toContain('  psp S1/R1 refund 8: ');
  });

  it('names another balance to the cent, and the fees that may explain it', () => {
    const found = result([], [], balance);
    const [, text] = summaryOf(DAY, found);
    expect(text).toContain('balance: there is R$ 0,40 less than the books say');
    expect(text).toContain('if the PSP takes them out of the balance, give --fees-debited');
    expect(exitCodeOf(found)).toBe(1);
  });

  it('says nothing about an equal balance', () => {
    const found = result([], [], { ...balance, difference: 0 });
    expect([summaryOf(DAY, found), exitCodeOf(found)]).toEqual([[], 0]);
  });
});
