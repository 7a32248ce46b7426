import type { StatementLine, StatementReturn, UnreadableLine } from '../acquirers/index.js';
import type { Amount } from '../core/money/index.js';
import type { BookedDispute } from '../med/index.js';
import type { BookedPix, BookedReturn } from '../transactions/index.js';

export type DifferenceKind =
  /** The acquirer has a Pix or a return that cannot be read, and so not be compared. */
  | 'unreadable'
  /** The acquirer has a Pix that is unknown here. */
  | 'missing_here'
  /** Settled here, and the acquirer's list does not have it. */
  | 'missing_there'
  | 'amount_differs'
  /** Money went back, or is about to, that was not asked for here but in the bank's own app, for example. */
  | 'return_not_asked'
  /** The bank took money for a dispute of which nothing is known here, or is about to. */
  | 'dispute_unknown'
  /** The bank has come to its end, and the case here waits for an operator to decide about it. */
  | 'dispute_waits'
  /** The bank claims, or has taken, another amount than its case says. */
  | 'dispute_amount_differs'
  /** The bank has taken the money and the case is not lost, or the other way round. */
  | 'dispute_state_differs'
  /** Lost by our books, and the acquirer has no such devolution. */
  | 'dispute_missing_there'
  /** Returned by our books, and the acquirer has no such return. */
  | 'return_missing_there'
  | 'return_amount_differs'
  | 'return_state_differs'
  /** All of the above agree, and the ledger says that the acquirer holds another part of a Pix. */
  | 'ledger_differs';

/** A Pix or a return as one side records it; for a Pix the state is null. */
export interface Side {
  /** Cents. */
  readonly amount: Amount;
  readonly state: StatementReturn['state'] | null;
}

export interface Difference {
  readonly kind: DifferenceKind;
  /** Null: the id cannot be read. */
  readonly endToEndId: string | null;
  /** Null: the difference is about the Pix itself, or about a return without a readable id. */
  readonly returnId: string | null;
  /** The case of a dispute difference; null for any other. */
  readonly caseId: string | null;
  /** Null: this side has no record. */
  readonly here: Side | null;
  readonly there: Side | null;
}

export interface Books {
  readonly pix: readonly BookedPix[];
  readonly returns: readonly BookedReturn[];
  readonly disputes: readonly BookedDispute[];
  /** The acquirer's remaining amount of each Pix by the ledger, in cents. */
  readonly held: ReadonlyMap<string, Amount>;
}

/** The acquirer's remaining amount of a Pix by its list, in cents. */
export function heldOf({ pix, returns }: StatementLine): Amount {
  const gone = returns.filter(({ state }) => state === 'returned').map(({ amount }) => amount);
  return gone.reduce((left, amount) => left - amount, pix.amount);
}

/**
 * Finds every difference between the acquirer's list and our books, Pix by Pix; empty if both agree.
 * @param unreadable entries of the list that cannot be read: they exist there, so they do not count as missing
 */
export function differencesOf(
  there: readonly StatementLine[],
  unreadable: readonly UnreadableLine[],
  here: Books,
): Difference[] {
  const pixHere = new Map(here.pix.map((pix) => [pix.endToEndId, pix]));
  const pixThere = new Set([...there.map(({ pix }) => pix), ...unreadable].map(({ endToEndId }) => endToEndId));
  const returnsThere = new Set(unreadable.map(({ endToEndId, returnId }) => `${endToEndId}/${returnId}`));
  const ofLines = there.flatMap((line) => {
    const { endToEndId, amount } = line.pix;
    const own = pixHere.get(endToEndId);
    const sides = { endToEndId, returnId: null, caseId: null, there: { amount, state: null } };
    if (!own) return [{ kind: 'missing_here' as const, ...sides, here: null }];
    const returns = here.returns.filter((known) => known.endToEndId === endToEndId);
    const disputes = here.disputes.filter((known) => known.endToEndId === endToEndId);
    const differences = [
      ...(own.amount === amount
        ? []
        : [{ kind: 'amount_differs' as const, ...sides, here: { amount: own.amount, state: null } }]),
      ...[...returnDifferences(line, returns), ...disputeDifferences(line, disputes, returns)].filter(
        ({ there: theirs, returnId }) => theirs !== null || !returnsThere.has(`${endToEndId}/${returnId}`),
      ),
    ];
    const [ledger, held] = [here.held.get(endToEndId) ?? 0, heldOf(line)];
    const moves = [...returns, ...disputes, ...line.returns].some(({ state }) => state === 'in_progress');
    const isUnread = unreadable.some((one) => one.endToEndId === endToEndId);
    if (differences.length > 0 || moves || isUnread || ledger === held) return differences;
    const amounts = { here: { amount: ledger, state: null }, there: { amount: held, state: null } };
    return [{ kind: 'ledger_differs' as const, ...sides, ...amounts }];
  });
  const unread = unreadable.map(({ what, endToEndId, returnId }) => {
    const ours: Side | undefined =
      what === 'pix'
        ? here.pix.filter((pix) => pix.endToEndId === endToEndId).map(({ amount }) => ({ amount, state: null }))[0]
        : here.returns.find((known) => known.endToEndId === endToEndId && known.returnId === returnId);
    const side = ours ? { amount: ours.amount, state: ours.state } : null;
    return { kind: 'unreadable' as const, endToEndId, returnId, caseId: null, here: side, there: null };
  });
  const missing = here.pix
    .filter(({ endToEndId }) => !pixThere.has(endToEndId))
    .map(({ endToEndId, amount }) => ({
      kind: 'missing_there' as const,
      ...{ endToEndId, returnId: null, caseId: null, here: { amount, state: null }, there: null },
    }));
  return [...unread, ...ofLines, ...missing];
}

function returnDifferences(
  { pix: { endToEndId }, returns: there }: StatementLine,
  here: readonly BookedReturn[],
): Difference[] {
  // If a return failed here but moved at the bank, an operator booked the loss under the same id: the booking wins.
  const failedFirst = [...here].sort((a, b) => Number(b.state === 'failed') - Number(a.state === 'failed'));
  const own = new Map(failedFirst.map((known) => [known.returnId, known]));
  const named = new Set(there.map(({ returnId }) => returnId));
  const difference = (kind: DifferenceKind, ours: BookedReturn | null, theirs: StatementReturn | null): Difference => ({
    kind,
    endToEndId,
    returnId: (ours ?? theirs)?.returnId ?? null,
    caseId: null,
    here: ours && { amount: ours.amount, state: ours.state },
    there: theirs && { amount: theirs.amount, state: theirs.state },
  });
  const ofTheirs = there.flatMap((theirs) => {
    if (theirs.cause === 'dispute') return [];
    const ours = own.get(theirs.returnId) ?? null;
    // A failed return has moved no money.
    if (!ours) return theirs.state === 'failed' ? [] : [difference('return_not_asked', null, theirs)];
    return [
      ...(ours.amount === theirs.amount ? [] : [difference('return_amount_differs', ours, theirs)]),
      ...(ours.state === theirs.state ? [] : [difference('return_state_differs', ours, theirs)]),
    ];
  });
  // Only returned money must be in the list: a return in progress may not have reached the acquirer, a failed one may
  // never.
  const missing = here.filter(({ returnId, state }) => state === 'returned' && !named.has(returnId));
  return [...ofTheirs, ...missing.map((ours) => difference('return_missing_there', ours, null))];
}

function disputeDifferences(
  { pix: { endToEndId }, returns }: StatementLine,
  here: readonly BookedDispute[],
  booked: readonly BookedReturn[],
): Difference[] {
  const there = returns.filter(({ cause }) => cause === 'dispute');
  const own = new Map(here.map((known) => [known.reference, known]));
  const named = new Set(there.map(({ hint }) => hint.reference));
  const difference = (
    kind: DifferenceKind,
    ours: BookedDispute | null,
    theirs: StatementReturn | null,
  ): Difference => ({
    kind,
    endToEndId,
    returnId: theirs?.returnId ?? returnIdOf(ours),
    caseId: ours?.caseId ?? null,
    here: ours && { amount: ours.amount, state: ours.state },
    there: theirs && { amount: theirs.amount, state: theirs.state },
  });
  const ofTheirs = there.flatMap((theirs) => {
    const ours = own.get(theirs.hint.reference) ?? null;
    // A failed return has moved no money. If a Pix belongs to no sale, there is no case: an operator books a return
    // instead.
    const isBooked = booked.some(({ returnId, amount }) => returnId === theirs.returnId && amount === theirs.amount);
    if (!ours) return theirs.state === 'failed' || isBooked ? [] : [difference('dispute_unknown', null, theirs)];
    // Nothing has been taken yet: the case may wait for an operator, or be over because the merchant has given up.
    if (theirs.state === 'in_progress' && (ours.waits || ours.state !== 'in_progress')) return [];
    // If the case waits for an operator, all other differences are part of that decision.
    if (ours.waits) return [difference('dispute_waits', ours, theirs)];
    return [
      ...(ours.amount === theirs.amount || theirs.state === 'failed'
        ? []
        : [difference('dispute_amount_differs', ours, theirs)]),
      ...(ours.state === theirs.state ? [] : [difference('dispute_state_differs', ours, theirs)]),
    ];
  });
  const missing = here.filter(({ reference, state }) => state === 'returned' && !named.has(reference));
  return [...ofTheirs, ...missing.map((ours) => difference('dispute_missing_there', ours, null))];
}

/** Banks name a dispute by an id of its own, or by Pix and devolution: the last part is the return's id. */
function returnIdOf(dispute: BookedDispute | null): string | null {
  return dispute?.reference.split('/').at(-1) ?? null;
}
