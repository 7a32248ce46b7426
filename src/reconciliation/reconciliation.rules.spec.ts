import { describe, expect, it } from '@jest/globals';
import type { StatementLine, StatementReturn, UnreadableLine } from '../acquirers/index.js';
import type { BookedDispute } from '../med/index.js';
import type { BookedPix, BookedReturn } from '../transactions/index.js';
import { type Difference, differencesOf, heldOf } from './reconciliation.rules.js';

const PIX: BookedPix = { endToEndId: 'E1', amount: 1000, outcome: 'credited' };
const OWN: BookedReturn = { endToEndId: 'E1', returnId: 'R1', amount: 400, state: 'returned' };

const theirs = (changes: Partial<StatementReturn> = {}): StatementReturn => ({
  returnId: 'R1',
  amount: 400,
  state: 'returned',
  cause: 'requested',
  hint: { kind: 'return', reference: 'E1/R1/DEVOLVIDO' },
  ...changes,
});
const taken = (state: StatementReturn['state'] = 'returned'): StatementReturn =>
  theirs({ returnId: 'M1', state, cause: 'dispute', hint: { kind: 'dispute', reference: 'E1/M1' } });
const booked = (changes: Partial<BookedDispute> = {}): BookedDispute => ({
  caseId: 'C1',
  endToEndId: 'E1',
  reference: 'E1/M1',
  amount: 400,
  state: 'returned',
  waits: false,
  ...changes,
});

function line(returns: readonly StatementReturn[] = [], changes: Partial<StatementLine['pix']> = {}): StatementLine {
  const settledAt = new Date('2026-11-21T12:00:00Z');
  const pix = { endToEndId: 'E1', txid: null, amount: 1000, settledAt, fee: 0, payerDocument: null, ...changes };
  return { pix, returns };
}

const unread = (what: UnreadableLine['what'], returnId: string | null): UnreadableLine => ({
  what,
  endToEndId: 'E1',
  returnId,
  hint: null,
});

interface Case {
  readonly what: string;
  readonly there: readonly StatementLine[];
  readonly unreadable?: readonly UnreadableLine[];
  readonly pix: readonly BookedPix[];
  readonly returns?: readonly BookedReturn[];
  readonly disputes?: readonly BookedDispute[];
  /** The amount by the ledger; without it, the list's amount. */
  readonly held?: readonly (readonly [string, number])[];
  readonly found: readonly Partial<Difference>[];
}

const side = (amount: number, state: StatementReturn['state'] | null = null) => ({ amount, state });

const CASES: readonly Case[] = [
  { what: 'nothing on both sides', there: [], pix: [], found: [] },
  { what: 'the same Pix', there: [line()], pix: [PIX], found: [] },
  ...(['credited', 'returned', 'review', 'unmatched'] as const).map((outcome) => ({
    what: `the same Pix, here ${outcome}`,
    there: [line()],
    pix: [{ ...PIX, outcome }],
    found: [],
  })),
  {
    what: 'a Pix that nobody here knows',
    there: [line()],
    pix: [],
    found: [{ kind: 'missing_here', endToEndId: 'E1', returnId: null, here: null, there: side(1000) }],
  },
  {
    what: 'a Pix that the acquirer does not know',
    there: [],
    pix: [PIX],
    found: [{ kind: 'missing_there', endToEndId: 'E1', returnId: null, here: side(1000), there: null }],
  },
  {
    what: 'a Pix that cannot be read, and is not known here',
    there: [],
    unreadable: [unread('pix', null)],
    pix: [],
    found: [{ kind: 'unreadable', endToEndId: 'E1', returnId: null, here: null, there: null }],
  },
  {
    what: 'a Pix that cannot be read, and is known here: not missed there besides',
    there: [],
    unreadable: [unread('pix', null)],
    pix: [PIX],
    found: [{ kind: 'unreadable', endToEndId: 'E1', returnId: null, here: side(1000), there: null }],
  },
  {
    what: 'something without an id that cannot be read',
    there: [line()],
    unreadable: [{ what: 'pix', endToEndId: null, returnId: null, hint: null }],
    pix: [PIX],
    found: [{ kind: 'unreadable', endToEndId: null, returnId: null, here: null, there: null }],
  },
  {
    what: 'a return that cannot be read, and is known here: not missed there besides',
    there: [line()],
    unreadable: [unread('return', 'R1')],
    pix: [PIX],
    returns: [OWN],
    found: [{ kind: 'unreadable', endToEndId: 'E1', returnId: 'R1', here: side(400, 'returned'), there: null }],
  },
  {
    what: 'a return of a dispute that cannot be read, and is lost here',
    there: [line()],
    unreadable: [unread('return', 'M1')],
    pix: [PIX],
    disputes: [booked()],
    found: [{ kind: 'unreadable', endToEndId: 'E1', returnId: 'M1', here: null, there: null }],
  },
  {
    what: 'another amount',
    there: [line([], { amount: 1001 })],
    pix: [PIX],
    found: [{ kind: 'amount_differs', here: side(1000), there: side(1001) }],
  },
  { what: 'the same return', there: [line([theirs()])], pix: [PIX], returns: [OWN], found: [] },
  {
    what: 'a return that nobody here asked for',
    there: [line([theirs()])],
    pix: [PIX],
    found: [{ kind: 'return_not_asked', returnId: 'R1', here: null, there: side(400, 'returned') }],
  },
  {
    what: 'a return on its way that nobody here asked for',
    there: [line([theirs({ state: 'in_progress' })])],
    pix: [PIX],
    found: [{ kind: 'return_not_asked', returnId: 'R1' }],
  },
  {
    what: 'a return that nobody here asked for and that failed',
    there: [line([theirs({ state: 'failed' })])],
    pix: [PIX],
    found: [],
  },
  {
    what: 'another amount of a return',
    there: [line([theirs({ amount: 401 })])],
    pix: [PIX],
    returns: [OWN],
    found: [{ kind: 'return_amount_differs', here: side(400, 'returned'), there: side(401, 'returned') }],
  },
  ...(['in_progress', 'returned', 'failed'] as const).flatMap((here) =>
    (['in_progress', 'returned', 'failed'] as const).map((there) => ({
      what: `a return that is ${here} here and ${there} there`,
      there: [line([theirs({ state: there })])],
      pix: [PIX],
      returns: [{ ...OWN, state: here }],
      found: here === there ? [] : [{ kind: 'return_state_differs' as const, returnId: 'R1' }],
    })),
  ),
  ...[0, 1].map((first) => ({
    what: `a return that failed here and that an operator has entered as a loss, ${first === 0 ? 'before' : 'after'} it`,
    there: [line([theirs()])],
    pix: [PIX],
    returns: first === 0 ? [OWN, { ...OWN, state: 'failed' as const }] : [{ ...OWN, state: 'failed' as const }, OWN],
    found: [],
  })),
  {
    what: 'a return that the acquirer does not know',
    there: [line()],
    pix: [PIX],
    returns: [OWN],
    found: [{ kind: 'return_missing_there', returnId: 'R1', here: side(400, 'returned'), there: null }],
  },
  ...(['in_progress', 'failed'] as const).map((state) => ({
    what: `a return that is ${state} here and has not reached the acquirer`,
    there: [line()],
    pix: [PIX],
    returns: [{ ...OWN, state }],
    found: [],
  })),
  {
    what: 'a dispute with its case',
    there: [line([taken(), theirs()])],
    pix: [PIX],
    returns: [OWN],
    disputes: [booked()],
    found: [],
  },
  // If a case is over here, it is no difference before the bank has ended it too.
  ...(['in_progress', 'returned', 'failed'] as const).flatMap((here) =>
    (['in_progress', 'returned', 'failed'] as const).map((there) => ({
      what: `a dispute that is ${here} here and ${there} there`,
      there: [line([taken(there)])],
      pix: [PIX],
      disputes: [booked({ state: here })],
      found:
        here === there || there === 'in_progress'
          ? []
          : [{ kind: 'dispute_state_differs' as const, returnId: 'M1', caseId: 'C1', here: side(400, here) }],
    })),
  ),
  ...(['in_progress', 'returned', 'failed'] as const).flatMap((here) =>
    (['in_progress', 'returned', 'failed'] as const).map((there) => ({
      what: `a dispute that is ${here} here, waits for an operator, and is ${there} there`,
      there: [line([taken(there)])],
      pix: [PIX],
      disputes: [booked({ state: here, amount: 399, waits: true })],
      found:
        there === 'in_progress'
          ? []
          : [
              {
                kind: 'dispute_waits' as const,
                ...{ returnId: 'M1', caseId: 'C1', here: side(399, here), there: side(400, there) },
              },
            ],
    })),
  ),
  ...(['in_progress', 'returned'] as const).map((state) => ({
    what: `another amount of a dispute that is ${state}`,
    there: [line([taken(state)])],
    pix: [PIX],
    disputes: [booked({ amount: 390, state })],
    found: [
      {
        kind: 'dispute_amount_differs' as const,
        ...{ returnId: 'M1', caseId: 'C1', here: side(390, state), there: side(400, state) },
      },
    ],
  })),
  {
    what: 'less lost here than the bank claims, while it has taken nothing',
    there: [line([taken('in_progress')])],
    pix: [PIX],
    disputes: [booked({ amount: 390 })],
    found: [],
  },
  {
    what: 'another amount of a dispute of which nothing is taken',
    there: [line([taken('failed')])],
    pix: [PIX],
    disputes: [booked({ amount: 390, state: 'failed' })],
    found: [],
  },
  ...[false, true].map((waits) => ({
    what: `a dispute that is lost here${waits ? ', waits for an operator,' : ''} and that the acquirer does not know`,
    there: [line()],
    pix: [PIX],
    disputes: [booked({ waits })],
    found: [
      {
        kind: 'dispute_missing_there' as const,
        ...{ returnId: 'M1', caseId: 'C1', here: side(400, 'returned'), there: null },
      },
    ],
  })),
  ...[booked({ state: 'in_progress' }), booked({ state: 'failed' }), booked({ state: 'in_progress', waits: true })].map(
    (own) => ({
      what: `a dispute that is ${own.state} here${own.waits ? ', under review,' : ''} and that the acquirer does not know`,
      there: [line()],
      pix: [PIX],
      disputes: [own],
      found: [],
    }),
  ),
  ...(['in_progress', 'returned', 'failed'] as const).map((state) => ({
    what: `a dispute without one that is ${state} there`,
    there: [line([taken(state)])],
    pix: [PIX],
    disputes: [booked({ reference: 'E1/M2', state: 'in_progress' })],
    found:
      state === 'failed'
        ? []
        : [
            {
              kind: 'dispute_unknown' as const,
              ...{ returnId: 'M1', caseId: null, here: null, there: side(400, state) },
            },
          ],
  })),
  {
    what: 'a Pix of which the ledger has more at the acquirer than is there',
    there: [line([theirs()])],
    pix: [PIX],
    returns: [OWN],
    held: [['E1', 1000]],
    found: [{ kind: 'ledger_differs', returnId: null, here: side(1000), there: side(600) }],
  },
  {
    what: 'a Pix that the ledger does not have',
    there: [line()],
    pix: [PIX],
    held: [],
    found: [{ kind: 'ledger_differs', here: side(0), there: side(1000) }],
  },
  {
    what: 'a return on its way, of which the ledger knows nothing yet',
    there: [line([theirs({ state: 'in_progress' })])],
    pix: [PIX],
    returns: [{ ...OWN, state: 'in_progress' }],
    held: [['E1', 600]],
    found: [],
  },
  {
    what: 'all at once, each Pix by itself',
    there: [line([theirs({ returnId: 'R9' })]), line([], { endToEndId: 'E2' })],
    pix: [PIX, { ...PIX, endToEndId: 'E3' }],
    returns: [{ ...OWN, endToEndId: 'E3' }, OWN],
    found: [
      { kind: 'return_not_asked', returnId: 'R9' },
      { kind: 'return_missing_there', endToEndId: 'E1', returnId: 'R1' },
      { kind: 'missing_here', endToEndId: 'E2' },
      { kind: 'missing_there', endToEndId: 'E3' },
    ],
  },
];

describe('the differences between a list and our books', () => {
  it.each(CASES)(
    'are exactly the expected ones for $what',
    ({ there, unreadable = [], pix, returns = [], disputes = [], held, found }) => {
      const ledger = new Map(held ?? there.map((each) => [each.pix.endToEndId, heldOf(each)]));
      const differences = differencesOf(there, unreadable, { pix, returns, disputes, held: ledger });
      expect(differences).toEqual(found.map((each) => expect.objectContaining(each)));
      expect(differences).toHaveLength(found.length);
    },
  );
});
