import type { ListedPayout, UnreadablePayout } from '../acquirers/index.js';
import type { Amount } from '../core/money/index.js';
import type { BookedPayout, BookedPayoutReturn } from './payout-records.repository.js';

export type PayoutDifferenceKind =
  /** The PSP lists a payout whose amount, state or returns cannot be read. */
  | 'payout_unreadable'
  /** Money left that was not sent from here: in the PSP's app, for example. */
  | 'payout_unknown_here'
  /** Failed or cancelled here, so that the merchant has the money again, and sent or under way there. */
  | 'payout_given_back'
  /** The PSP has made one send of ours more than once. */
  | 'payout_twice'
  | 'payout_missing_there'
  | 'payout_amount_differs'
  | 'payout_state_differs'
  /** Under way for longer than the PSP may examine it. */
  | 'payout_unfinished'
  /** The PSP has money back that is not booked here. */
  | 'payout_return_unknown'
  /** Booked here, and the PSP has no such return. */
  | 'payout_return_missing_there'
  | 'payout_return_amount_differs';

/** A payout or a return as one side records it; for a return the state is null. */
export interface PayoutSide {
  /** Cents; null: not readable. */
  readonly amount: Amount | null;
  readonly state: BookedPayout['state'] | 'unreadable' | null;
}

export interface PayoutDifference {
  readonly kind: PayoutDifferenceKind;
  /** Null: the PSP shows no id of ours. */
  readonly sendId: string | null;
  readonly endToEndId: string | null;
  /** Null: the difference is about the payout itself. */
  readonly returnId: string | null;
  /** The payout or refund here; null: there is none. */
  readonly subject: Pick<BookedPayout, 'subject' | 'id'> | null;
  /** Null: this side has no record. */
  readonly here: PayoutSide | null;
  readonly there: PayoutSide | null;
}

export type PayoutEntry = ListedPayout | UnreadablePayout;

export interface PayoutBooks {
  /** Payouts and cashouts of the time, and all others that the list names. */
  readonly payouts: readonly BookedPayout[];
  /** Losses that operators entered by the bank's ids; negative: money that came back. */
  readonly entered: ReadonlyMap<string, Amount>;
  /** Payouts that were sent earlier and have no end are differences. */
  readonly unfinishedBefore: Date;
}

/** Cents that a listed payout has taken from the account at the PSP. */
export function takenBy({ amount, state }: PayoutEntry): Amount {
  if (amount === null) return 0;
  switch (state.kind) {
    case 'failed':
      return 0;
    case 'processing':
      return amount;
    case 'paid':
      return amount - sumOf(state.returns);
  }
}

/** Finds every difference between the PSP's list of sends and our books; empty if both agree. */
export function payoutDifferencesOf(there: readonly PayoutEntry[], books: PayoutBooks): PayoutDifference[] {
  const pairs = pairsOf(there, books.payouts);
  const ofList = pairs.flatMap(({ entry, own, isFirst }) => entryDifferences(entry, own, isFirst, books));
  const paired = new Set(pairs.map(({ own }) => own));
  const ofBooks = books.payouts
    .filter((own) => !paired.has(own))
    .flatMap((own) => {
      const kind = missingKind(own, books.unfinishedBefore);
      return kind === null ? [] : [difference(kind, null, own)];
    });
  return [...ofList, ...ofBooks];
}

interface Pair {
  readonly entry: PayoutEntry;
  readonly own: BookedPayout | null;
  /** False for a further entry about the same payout. */
  readonly isFirst: boolean;
}

/** Finds our payout of each entry: by our id, or by the end-to-end id if the entry has none. */
function pairsOf(there: readonly PayoutEntry[], here: readonly BookedPayout[]): Pair[] {
  const bySendId = new Map(here.map((own) => [own.sendId, own]));
  const byEndToEndId = new Map(here.flatMap((own) => (own.endToEndId === null ? [] : [[own.endToEndId, own]])));
  const firstOf = new Map<BookedPayout, PayoutEntry>();
  const found = there.map((entry) => {
    const { sendId, endToEndId } = entry;
    const id = sendId ?? endToEndId;
    const own = (sendId === null ? byEndToEndId : bySendId).get(id ?? '') ?? null;
    const before = own && firstOf.get(own);
    // The entry with the booked end-to-end id is ours, else one that took money.
    if (own && (!before || rank(entry, own) > rank(before, own))) firstOf.set(own, entry);
    return { entry, own };
  });
  return found.map(({ entry, own }) => ({ entry, own, isFirst: own === null || firstOf.get(own) === entry }));
}

function rank(entry: PayoutEntry, own: BookedPayout): number {
  const isBooked = entry.endToEndId !== null && entry.endToEndId === own.endToEndId;
  return (isBooked ? 2 : 0) + (entry.state.kind === 'failed' ? 0 : 1);
}

function entryDifferences(
  entry: PayoutEntry,
  own: BookedPayout | null,
  isFirst: boolean,
  { entered, unfinishedBefore }: PayoutBooks,
): PayoutDifference[] {
  if (entry.amount === null) return [difference('payout_unreadable', entry, own)];
  const taken = takenBy(entry);
  if (!own || !isFirst || own.state === 'failed') {
    // An operator may have entered the loss under the end-to-end id.
    if (taken === (entered.get(entry.endToEndId ?? '') ?? 0)) return [];
    return [difference(own ? (isFirst ? 'payout_given_back' : 'payout_twice') : 'payout_unknown_here', entry, own)];
  }
  const amounts = own.amount === entry.amount ? [] : [difference('payout_amount_differs', entry, own)];
  return [...amounts, ...stateDifferences(entry, own, entered, unfinishedBefore)];
}

function stateDifferences(
  entry: ListedPayout,
  own: BookedPayout,
  entered: PayoutBooks['entered'],
  unfinishedBefore: Date,
): PayoutDifference[] {
  const { state } = entry;
  if (own.state === 'in_progress') {
    if (state.kind !== 'processing') return [difference('payout_state_differs', entry, own)];
    return own.sentAt < unfinishedBefore ? [difference('payout_unfinished', entry, own)] : [];
  }
  if (state.kind === 'paid') return returnDifferences(entry, state.returns, own, entered);
  // All of it came back before the PSP wrote it off: the money is the same.
  const isAllBack = state.kind === 'failed' && sumOf(own.returns) === own.amount;
  return isAllBack ? [] : [difference('payout_state_differs', entry, own)];
}

function returnDifferences(
  entry: PayoutEntry,
  there: readonly BookedPayoutReturn[],
  own: BookedPayout,
  entered: PayoutBooks['entered'],
): PayoutDifference[] {
  const ofReturn = (
    kind: PayoutDifferenceKind,
    theirs: BookedPayoutReturn | null,
    ours: BookedPayoutReturn | null,
  ): PayoutDifference => ({
    ...difference(kind, entry, own),
    returnId: (theirs ?? ours)?.returnId ?? null,
    here: ours && { amount: ours.amount, state: null },
    there: theirs && { amount: theirs.amount, state: null },
  });
  const booked = new Map(own.returns.map((ours) => [ours.returnId, ours]));
  const named = new Set(there.map(({ returnId }) => returnId));
  return [
    ...there.flatMap((theirs) => {
      const ours = booked.get(theirs.returnId) ?? null;
      if (ours) return ours.amount === theirs.amount ? [] : [ofReturn('payout_return_amount_differs', theirs, ours)];
      const isEntered = entered.get(theirs.returnId) === -theirs.amount;
      return isEntered ? [] : [ofReturn('payout_return_unknown', theirs, null)];
    }),
    ...own.returns
      .filter(({ returnId }) => !named.has(returnId))
      .map((ours) => ofReturn('payout_return_missing_there', null, ours)),
  ];
}

/** @returns null if the PSP needs not list it: it failed here, or was sent a moment ago */
function missingKind({ state, sentAt }: BookedPayout, unfinishedBefore: Date): PayoutDifferenceKind | null {
  if (state === 'paid') return 'payout_missing_there';
  return state === 'in_progress' && sentAt < unfinishedBefore ? 'payout_unfinished' : null;
}

const STATES = { processing: 'in_progress', paid: 'paid', failed: 'failed', unknown: 'unreadable' } as const;

function difference(kind: PayoutDifferenceKind, entry: PayoutEntry | null, own: BookedPayout | null): PayoutDifference {
  return {
    kind,
    sendId: (entry ?? own)?.sendId ?? null,
    endToEndId: entry?.endToEndId ?? own?.endToEndId ?? null,
    returnId: null,
    subject: own && { subject: own.subject, id: own.id },
    here: own && { amount: own.amount, state: own.state },
    there: entry && { amount: entry.amount, state: STATES[entry.state.kind] },
  };
}

/** The meaning of a listed payout for the sweep. */
export type PayoutNews =
  /** The list knows more than the books: the PSP is to be queried. */
  | 'look_up'
  /** Money left that the merchant has again. */
  | 'failed_payout_moved'
  /** A refund by cashout came back after its end. */
  | 'cashout_returned'
  | 'unreadable'
  | 'unknown_here'
  | null;

/** Compares one listed payout with ours. */
export function newsOf(entry: PayoutEntry, own: BookedPayout | null): PayoutNews {
  const { state } = entry;
  if (state.kind === 'unknown') return 'unreadable';
  if (!own) return takenBy(entry) === 0 ? null : 'unknown_here';
  switch (own.state) {
    case 'failed':
      return takenBy(entry) === 0 ? null : 'failed_payout_moved';
    case 'in_progress':
      return state.kind === 'processing' ? null : 'look_up';
    case 'paid': {
      const booked = new Set(own.returns.map(({ returnId }) => returnId));
      const isAllBack = sumOf(own.returns) === own.amount;
      if (state.kind === 'failed') return isAllBack ? null : 'look_up';
      const hasNew = state.kind === 'paid' && state.returns.some(({ returnId }) => !booked.has(returnId));
      if (!hasNew) return null;
      return own.subject === 'refund' ? 'cashout_returned' : 'look_up';
    }
  }
}

function sumOf(amounts: readonly { readonly amount: Amount }[]): Amount {
  return amounts.reduce((sum, { amount }) => sum + amount, 0);
}
