import { describe, expect, it } from '@jest/globals';
import type { ListedPayout, PayoutReturn, UnreadablePayout } from '../acquirers/index.js';
import { newsOf, type PayoutDifference, payoutDifferencesOf, type PayoutEntry, takenBy } from './payout-differences.js';
import type { BookedPayout } from './payout-records.repository.js';

const SENT_AT = new Date('2026-11-21T12:00:00Z');
const BEFORE = new Date('2026-11-21T11:00:00Z');
const LATER = new Date('2026-11-21T15:00:00Z');

const PAID: BookedPayout = {
  subject: 'payout',
  id: 'p1',
  acquirer: 'psp',
  sendId: 'S1',
  endToEndId: 'E1',
  amount: 1000,
  state: 'paid',
  sentAt: SENT_AT,
  acceptedBefore: LATER,
  returns: [],
};
const own = (changes: Partial<BookedPayout> = {}): BookedPayout => ({ ...PAID, ...changes });
const back = (returnId: string, amount: number): PayoutReturn => ({
  ...{ returnId, amount, endToEndId: returnId, reason: null, at: SENT_AT },
});
const COMMON = { sendId: 'S1', endToEndId: 'E1', at: SENT_AT, hint: { kind: 'payout', reference: 'S1/X' } } as const;

function paid(returns: readonly PayoutReturn[] = [], changes: Partial<ListedPayout> = {}): ListedPayout {
  const state = { kind: 'paid', endToEndId: 'E1', at: SENT_AT, fee: 0, returns } as const;
  return { ...COMMON, amount: 1000, state, ...changes };
}
const processing = (changes: Partial<ListedPayout> = {}): ListedPayout =>
  paid([], { state: { kind: 'processing', reason: 'sent', endToEndId: 'E1' }, ...changes });
const failed = (changes: Partial<ListedPayout> = {}): ListedPayout =>
  paid([], { state: { kind: 'failed', reason: 'refused' }, ...changes });
const unreadable: UnreadablePayout = { ...COMMON, amount: null, state: { kind: 'unknown' } };
/** A send of the PSP's app. */
const APP = { sendId: null, hint: null, endToEndId: 'E9' } as const;

interface Case {
  readonly what: string;
  readonly there: readonly PayoutEntry[];
  readonly here: readonly BookedPayout[];
  readonly entered?: readonly (readonly [string, number])[];
  readonly unfinishedBefore?: Date;
  readonly found: readonly Partial<PayoutDifference>[];
}

const side = (amount: number, state: BookedPayout['state'] | null = null) => ({ amount, state });

const CASES: readonly Case[] = [
  { what: 'nothing on both sides', there: [], here: [], found: [] },
  { what: 'a payout that both paid', there: [paid()], here: [own()], found: [] },
  { what: 'a payout that both know as failed', there: [failed()], here: [own({ state: 'failed' })], found: [] },
  { what: 'a payout that failed here and was never sent', there: [], here: [own({ state: 'failed' })], found: [] },
  { what: 'a payout under way', there: [processing()], here: [own({ state: 'in_progress' })], found: [] },
  { what: 'a payout under way that is not listed yet', there: [], here: [own({ state: 'in_progress' })], found: [] },
  {
    what: 'a payout without our id, found by its end-to-end id',
    there: [paid([], { sendId: null, hint: null })],
    here: [own()],
    found: [],
  },
  {
    what: 'a send of the app',
    there: [paid([], APP)],
    here: [own({ state: 'failed' })],
    found: [{ kind: 'payout_unknown_here', endToEndId: 'E9', subject: null, here: null, there: side(1000, 'paid') }],
  },
  { what: 'a send of the app that failed', there: [failed(APP)], here: [], found: [] },
  { what: 'a send of the app that came back whole', there: [paid([back('R1', 1000)], APP)], here: [], found: [] },
  {
    what: 'a send of the app that is under way',
    there: [processing(APP)],
    here: [],
    found: [{ kind: 'payout_unknown_here', there: side(1000, 'in_progress') }],
  },
  {
    what: 'a send of the app that an operator has entered',
    there: [paid([], APP)],
    here: [],
    entered: [['E9', 1000]],
    found: [],
  },
  {
    what: 'a send of the app that an operator has entered, of which a part came back since',
    there: [paid([back('R1', 400)], APP)],
    here: [],
    entered: [['E9', 1000]],
    found: [{ kind: 'payout_unknown_here' }],
  },
  ...[paid(), processing()].map((entry) => ({
    what: `a payout given back here that is ${entry.state.kind} there`,
    there: [entry],
    here: [own({ state: 'failed' })],
    found: [{ kind: 'payout_given_back', sendId: 'S1', here: side(1000, 'failed') } as const],
  })),
  {
    what: 'a payout given back here that came back whole',
    there: [paid([back('R1', 600), back('R2', 400)])],
    here: [own({ state: 'failed' })],
    found: [],
  },
  {
    what: 'a payout given back here whose loss an operator has entered',
    there: [paid()],
    here: [own({ state: 'failed' })],
    entered: [['E1', 1000]],
    found: [],
  },
  {
    what: 'a payout sent twice: the second one is named',
    there: [paid([], { endToEndId: 'E2' }), paid()],
    here: [own()],
    found: [{ kind: 'payout_twice', endToEndId: 'E2', subject: { subject: 'payout', id: 'p1' } }],
  },
  {
    what: 'a payout whose first send failed',
    there: [failed({ endToEndId: 'E0' }), paid()],
    here: [own()],
    found: [],
  },
  {
    what: 'a payout whose first send failed, before its end-to-end id is known',
    there: [failed({ endToEndId: 'E0' }), processing()],
    here: [own({ state: 'in_progress', endToEndId: null })],
    found: [],
  },
  {
    what: 'a payout that the list does not have',
    there: [],
    here: [own()],
    found: [{ kind: 'payout_missing_there', sendId: 'S1', endToEndId: 'E1', here: side(1000, 'paid'), there: null }],
  },
  {
    what: 'another amount',
    there: [paid([], { amount: 1001 })],
    here: [own()],
    found: [{ kind: 'payout_amount_differs', here: side(1000, 'paid'), there: side(1001, 'paid') }],
  },
  {
    what: 'an unreadable entry of a payout: it is not missing besides',
    there: [unreadable],
    here: [own()],
    found: [{ kind: 'payout_unreadable', here: side(1000, 'paid'), there: { amount: null, state: 'unreadable' } }],
  },
  {
    what: 'an unreadable entry that nobody here knows',
    there: [{ ...unreadable, ...APP }],
    here: [],
    found: [{ kind: 'payout_unreadable', here: null }],
  },
  ...[paid(), failed()].map((entry) => ({
    what: `a payout under way here that is ${entry.state.kind} there`,
    there: [entry],
    here: [own({ state: 'in_progress' })],
    found: [{ kind: 'payout_state_differs' } as const],
  })),
  ...[processing(), failed()].map((entry) => ({
    what: `a payout paid here that is ${entry.state.kind} there`,
    there: [entry],
    here: [own()],
    found: [{ kind: 'payout_state_differs' } as const],
  })),
  {
    what: 'a payout that is back whole here and failed there',
    there: [failed()],
    here: [own({ returns: [back('R1', 1000)] })],
    found: [],
  },
  ...[[processing()], []].map((there) => ({
    what: `a payout under way for too long, ${there.length === 0 ? 'not listed' : 'listed'}`,
    there,
    here: [own({ state: 'in_progress' })],
    unfinishedBefore: LATER,
    found: [{ kind: 'payout_unfinished', here: side(1000, 'in_progress') } as const],
  })),
  {
    what: 'the same returns',
    there: [paid([back('R1', 300), back('R2', 250)])],
    here: [own({ returns: [back('R2', 250), back('R1', 300)] })],
    found: [],
  },
  {
    what: 'a return that is not booked here',
    there: [paid([back('R1', 300), back('R2', 250)])],
    here: [own({ returns: [back('R1', 300)] })],
    found: [{ kind: 'payout_return_unknown', returnId: 'R2', here: null, there: side(250) }],
  },
  {
    what: 'a return of a cashout that an operator has entered',
    there: [paid([back('R1', 300)])],
    here: [own({ subject: 'refund' })],
    entered: [['R1', -300]],
    found: [],
  },
  {
    what: 'a return that the list does not have',
    there: [paid()],
    here: [own({ returns: [back('R1', 300)] })],
    found: [{ kind: 'payout_return_missing_there', returnId: 'R1', here: side(300), there: null }],
  },
  {
    what: 'a return of another amount',
    there: [paid([back('R1', 301)])],
    here: [own({ returns: [back('R1', 300)] })],
    found: [{ kind: 'payout_return_amount_differs', returnId: 'R1', here: side(300), there: side(301) }],
  },
];

describe("a PSP's list of sends against our books", () => {
  it.each(CASES)('$what', ({ there, here, entered = [], unfinishedBefore = BEFORE, found }) => {
    const books = { payouts: here, entered: new Map(entered), unfinishedBefore };
    const differences = payoutDifferencesOf(there, books);
    expect(differences.map(({ kind }) => kind)).toEqual(found.map(({ kind }) => kind));
    expect(differences).toMatchObject(found);
  });

  it.each([
    ['a paid send', paid(), 1000],
    ['a send under way', processing(), 1000],
    ['a send of which a part came back', paid([back('R1', 300)]), 700],
    ['a failed send', failed(), 0],
    ['an unreadable send', unreadable, 0],
  ])('counts what %s has taken from the account', (_, entry, cents) => expect(takenBy(entry)).toBe(cents));

  it.each<[string, PayoutEntry, BookedPayout | null, ReturnType<typeof newsOf>]>([
    ['has a payout looked up that is paid there', paid(), own({ state: 'in_progress' }), 'look_up'],
    ['has a payout looked up that failed there', failed(), own({ state: 'in_progress' }), 'look_up'],
    ['has a payout looked up whose bank took it back', failed(), own(), 'look_up'],
    ['has a payout looked up with a new return', paid([back('R1', 1)]), own(), 'look_up'],
    ['leaves a payout whose return is booked', paid([back('R1', 1)]), own({ returns: [back('R1', 1)] }), null],
    ['leaves a payout that is processed on both sides', processing(), own({ state: 'in_progress' }), null],
    ['leaves a paid payout that is processed there', processing(), own(), null],
    ['leaves a payout that is back whole', failed(), own({ returns: [back('R1', 1000)] }), null],
    ['leaves a payout that failed on both sides', failed(), own({ state: 'failed' }), null],
    ['alarms about money that was given back here', paid(), own({ state: 'failed' }), 'failed_payout_moved'],
    ['alarms about a cashout that came back', paid([back('R1', 1)]), own({ subject: 'refund' }), 'cashout_returned'],
    ['names a send of the app', paid([], APP), null, 'unknown_here'],
    ['leaves a failed send of the app', failed(APP), null, null],
    ['names an unreadable entry', unreadable, own(), 'unreadable'],
  ])('the sweep %s', (_, entry, booked, news) => expect(newsOf(entry, booked)).toBe(news));
});
