import { describe, expect, it } from '@jest/globals';
import type { Difference } from '../reconciliation/index.js';
import { summaryOf } from './reconciliation.js';

const DAY = '2026-11-21';
const TOTAL = { count: 1, amount: 400, returned: 0, held: 400 };

function summary(difference: Pick<Difference, 'kind' | 'caseId' | 'here' | 'there'> & Partial<Difference>): string {
  const differences = [{ endToEndId: 'E1', returnId: 'M1', ...difference }];
  const time = new Date('2026-11-21T03:00:00Z');
  return summaryOf(DAY, {
    from: time,
    to: time,
    acquirers: [{ acquirer: 'psp', there: TOTAL, here: TOTAL, differences }],
    notCompared: [],
  }).join('\n');
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
