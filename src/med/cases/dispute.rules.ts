import type { Amount } from '../../core/money/index.js';
import type { DisputedTransaction } from './disputed-transaction.js';
import type { MedCase } from './med-case.js';
import { claimOf, contradictionOf, nextNotice, rulingOf } from './med-case.rules.js';
import { MED_MOVES, type MedTrigger } from './med-cases.machine.js';

/**
 * The changes of cases, as pure functions: each takes a disputed transaction and returns it with further steps.
 * `MedTransitions.carryOut` writes the steps.
 */

/**
 * Lets the merchant see a case and holds its money: the case's amount, or the payment's `room` if that is less. The
 * room is the amount of the payment, less devolutions (made or under way), less the amounts that other cases hold or
 * have taken. Refunds by cashout do not reduce it.
 *
 * The money goes from available to retained. Available may become negative, also because the sale's own money may still
 * be in pending. The sale becomes DISPUTE (by a card's chargeback: CHARGEBACK) if its status allows that.
 *
 * `applyReport` decides before this whether a case is opened at once. Three kinds of claims wait for an operator:
 * 1. The claim has another amount than the sale.
 * 2. The disputed payment was not credited.
 * 3. Nothing can be held for the claim now or later (`isDisputable`).
 *
 * If an operator opens a case of the second or third kind, nothing is held and the sale keeps its status. A case of the
 * third kind holds money of the sale, and disputes it, when some becomes free (`claimFreed`).
 */
export function open(disputed: DisputedTransaction, medCase: MedCase): DisputedTransaction {
  const { now } = disputed;
  const heldAmount = Math.min(medCase.amount, disputed.roomFor(medCase));
  const opened: MedCase = {
    ...medCase,
    visible: true,
    review: null,
    heldAmount,
    deadlineDueAt: nextNotice(medCase.responseDeadline, now),
    createdAt: now,
    updatedAt: now,
  };
  const held = disputed.change(opened, { what: 'held', amount: heldAmount, claimed: heldAmount });
  const moved = disputed.isDisputable(opened) ? held.add({ kind: 'transaction_disputed', medCase: opened }) : held;
  return moved.add({ kind: 'opened', medCase: opened });
}

/**
 * Carries out the bank's ruling, if any: at once, or after an operator's approval (`rulesAtOnce`). While the amount of
 * the case is in doubt, no ruling is carried out.
 */
export function rule(disputed: DisputedTransaction, caseId: string, isApproved: boolean): DisputedTransaction {
  const medCase = disputed.find(caseId);
  const ruling = rulingOf(medCase.bank, medCase.status);
  if (ruling === null || medCase.review === 'amount_mismatch') return disputed;
  if (disputed.circumstances.rulesAtOnce || isApproved) return end(disputed, medCase, ruling);
  return disputed.change({ ...medCase, review: 'ruling' });
}

/**
 * Ends a case.
 *
 * A case is won if the bank rules for the merchant or withdraws its claim (`rulingOf`). The held money becomes available
 * again, unless other open cases of the sale hold less than they claim. A case is lost if the merchant accepts it or the
 * bank rules for the payer: the held money is gone.
 *
 * A deadline that passes releases nothing, and a case that the bank closes without a result stays as it is.
 */
export function end(disputed: DisputedTransaction, medCase: MedCase, trigger: MedTrigger): DisputedTransaction {
  const { from, to, outcome } = MED_MOVES[trigger];
  if (outcome === null || !from.includes(medCase.status)) {
    throw new Error(`The case ${medCase.id} is ${medCase.status}: it cannot end by ${trigger}`);
  }
  const { now } = disputed;
  const isWon = outcome === 'refunded_to_merchant';
  const { heldAmount } = medCase;
  const closed: MedCase = {
    ...medCase,
    status: to,
    moneyOutcome: outcome,
    heldAmount: 0,
    lostAmount: isWon ? 0 : heldAmount,
    review: null,
    deadlineDueAt: null,
    closedAt: now,
    updatedAt: now,
  };
  const ended: MedCase = { ...closed, review: contradictionReviewOf(disputed, closed) };
  const left = isWon
    ? holdMore(disputed.change(ended, { what: 'released', amount: heldAmount, claimed: -heldAmount }), medCase.id)
    : disputed.change(ended, { what: 'lost', amount: heldAmount, claimed: 0 });
  return revive(left).add({ kind: 'ended', medCase: ended, amount: heldAmount });
}

/**
 * Changes a closed case, and its money, to the bank's final ruling and amount. Money that the bank has taken is gone,
 * even if younger cases hold it now. At most the payment's amount is taken, less devolutions and other cases' losses.
 * @throws Error when the bank does not contradict the end of the case
 */
export function correct(disputed: DisputedTransaction, medCase: MedCase): DisputedTransaction {
  const trigger = contradictionOf(medCase, disputed.takeableBy(medCase));
  if (trigger === null) throw new Error(`The bank does not contradict the case ${medCase.id}`);
  const { now } = disputed;
  const isWon = trigger === 'won_after_all';
  const amount = isWon ? medCase.amount : claimOf(medCase, disputed.transaction.amount);
  // Makes the cause of the ledger's entry unique by `detail`. The bank's time alone would not: a bank may report several
  // changes under one time. A claim may also take more later, when a failed refund has left money to take.
  const before = trigger === 'lost_another_amount' ? `:${medCase.lostAmount}` : '';
  const detail = `${medCase.bank.appliedAt.toISOString()}${before}`;
  const cause = `${medCase.id}:${detail}`;
  const freed =
    !isWon && disputed.isCredited(medCase) ? holdLess(disputed, amount - medCase.lostAmount, cause) : disputed;
  const lostAmount = isWon ? 0 : Math.min(amount, medCase.lostAmount + freed.roomFor(medCase));
  const taken = lostAmount - medCase.lostAmount;
  // A case that was lost for another amount keeps its status and outcome.
  const { status, moneyOutcome } =
    trigger === 'lost_another_amount'
      ? medCase
      : { status: MED_MOVES[trigger].to, moneyOutcome: MED_MOVES[trigger].outcome };
  const changed = { status, moneyOutcome, amount, lostAmount, review: null, closedAt: now, updatedAt: now };
  const corrected: MedCase = { ...medCase, ...changed };
  const moved = freed.change(corrected, { what: 'corrected', amount: taken, claimed: taken, detail });
  const shared = taken < 0 ? doubtLosses(holdMore(moved, cause)) : moved;
  // If the money came back, a case that had found nothing to hold may hold it now, and then disputes the payment.
  const disputing = holderOf(shared) ?? (shared.isLost ? corrected : null);
  const settled = disputing ? shared.add({ kind: 'transaction_disputed', medCase: disputing }) : revive(shared);
  return settled.add({ kind: 'corrected', medCase: corrected, taken });
}

/**
 * Changes the amount of an open case, and holds that much for it. Money that becomes free goes to the other cases. The
 * sale keeps its status: call `disputeByHolder` after `showCases`.
 */
export function reclaim(disputed: DisputedTransaction, medCase: MedCase, amount: Amount): DisputedTransaction {
  const heldAmount = Math.min(amount, medCase.heldAmount + disputed.roomFor(medCase));
  const more = heldAmount - medCase.heldAmount;
  const detail = medCase.bank.appliedAt.toISOString();
  const claimed = disputed.change(
    { ...medCase, amount, heldAmount, updatedAt: disputed.now },
    { what: more < 0 ? 'released' : 'held', amount: Math.abs(more), claimed: more, detail },
  );
  return holdMore(claimed, `${medCase.id}:${detail}`);
}

/**
 * Gives freed money, of a failed refund or a loss that came back, to the open cases. A case that holds money of the sale
 * for the first time disputes it. Without open cases the merchant keeps the money. If cases had taken the rest of the
 * payment, the payment counts as paid again. If the bank took more than was lost because of the refund or the loss, an
 * operator has to look.
 * @param cause the id of the refund or the correction
 */
export function claimFreed(disputed: DisputedTransaction, cause: string): DisputedTransaction {
  if (disputed.cases.length === 0) return disputed;
  return revive(disputeByHolder(doubtLosses(holdMore(disputed, cause))));
}

/**
 * Disputes the sale if an open case holds money of it. A case that had found nothing to hold left the sale as it was.
 * While a case holds money, a sale that is not disputed could be refunded, and the money would be given back twice.
 */
export function disputeByHolder(disputed: DisputedTransaction): DisputedTransaction {
  const medCase = holderOf(disputed);
  return medCase ? disputed.add({ kind: 'transaction_disputed', medCase }) : disputed;
}

/** Returns why a closed or dismissed case has to be reviewed. */
export function contradictionReviewOf(disputed: DisputedTransaction, medCase: MedCase): 'contradiction' | null {
  return contradictionOf(medCase, disputed.takeableBy(medCase)) === null ? null : 'contradiction';
}

/** Returns the oldest open case that holds money. */
function holderOf(disputed: DisputedTransaction): MedCase | undefined {
  return disputed.underway.find(({ heldAmount }) => heldAmount > 0);
}

/** Makes room for the money that the bank has taken: other cases cannot hold it any more. */
function holdLess(disputed: DisputedTransaction, taken: Amount, detail: string): DisputedTransaction {
  let next = disputed;
  for (const other of disputed.underway.toReversed()) {
    const less = Math.min(other.heldAmount, taken - next.room);
    if (less <= 0) continue;
    const changed = { ...other, heldAmount: other.heldAmount - less, updatedAt: disputed.now };
    next = next.change(changed, { what: 'released', amount: less, claimed: -less, detail });
  }
  return next;
}

/**
 * Holds free money of the payment, from another case or a failed refund, for the cases that hold too little, the oldest
 * first.
 * @param detail the cause; counts once for each case
 */
function holdMore(disputed: DisputedTransaction, detail: string): DisputedTransaction {
  let next = disputed;
  for (const medCase of disputed.underway) {
    const more = Math.min(medCase.amount - medCase.heldAmount, next.room);
    if (more <= 0) continue;
    const changed = { ...medCase, heldAmount: medCase.heldAmount + more, updatedAt: disputed.now };
    next = next.change(changed, { what: 'held', amount: more, claimed: more, detail });
  }
  return next;
}

/** Asks for a review of closed cases when the bank has taken money of the payment that has become free here. */
function doubtLosses(disputed: DisputedTransaction): DisputedTransaction {
  let next = disputed;
  for (const medCase of disputed.cases) {
    const takeable = disputed.takeableBy(medCase);
    if (medCase.review !== null || contradictionOf(medCase, takeable) !== 'lost_another_amount') continue;
    if (medCase.lostAmount < claimOf(medCase, takeable)) next = next.change({ ...medCase, review: 'contradiction' });
  }
  return next;
}

/** Ends the transaction's dispute when no case of it is underway and cases have not taken all of it (`isLost`). */
function revive(disputed: DisputedTransaction): DisputedTransaction {
  return disputed.underway.length > 0 || disputed.isLost ? disputed : disputed.add({ kind: 'transaction_revived' });
}
