import type { Dice } from './dice.js';
import type { MoneyModel } from './model.js';
import { isOver, left, type Lost, type SaleModel } from './sale.js';
import type { Step } from './walk.js';

/** Makes a step from the sale's state at that time; null if the step is no longer possible. */
export type Intent = (sale: SaleModel, at: number, dice: Dice, model: MoneyModel) => Step | null;

/** Draws a part of an amount, so that two or three such parts can meet in one sale. */
export function part(dice: Dice, all: number): number {
  return Math.max(1, Math.round(all * dice.oneOf([0.2, 0.3, 0.4, 0.4, 0.5, 0.6, 0.6])));
}

const refund =
  (strategy: 'cashout' | 'devolution', isPart: boolean): Intent =>
  (sale, at, dice, { balance, terms }) => {
    const passFee = strategy === 'cashout' && dice.isOne(2);
    const rest = Math.max(1, left(sale));
    const there = balance.available - (passFee ? terms.pixOutFee : 0);
    const most = there > 0 ? Math.min(rest, there) : rest;
    return {
      ...{ do: 'refund', sale: at, passFee, isAgain: false },
      ...{ amount: isPart ? part(dice, most) : most === rest ? null : most },
      ...{ strategy: strategy === 'cashout' && !sale.payerIsKnown ? 'devolution' : strategy },
    };
  };

/** A refund of the whole available balance: nothing is left for the cashout fee, so the service must refuse it. */
const refundShortOfFee: Intent = (sale, at, _, { terms, balance: { available } }) =>
  terms.pixOutFee === 0 || available <= 0 || available > left(sale)
    ? null
    : { do: 'refund', sale: at, amount: available, strategy: 'cashout', passFee: true, isAgain: false };

/** Runs the worker once for the last refund. */
const work =
  (fails = false, lost: Lost | null = null): Intent =>
  ({ refunds }, at) =>
    refunds.length === 0 ? null : { do: 'work', sale: at, refund: refunds.length - 1, fails, lost };

const loseCall = work(false, 'before');
const loseAnswer = work(false, 'after');

/** Repeated questions of the worker to the bank about the last refund. */
const askOften =
  (times: number, isLong: boolean): Intent =>
  ({ refunds }, at) =>
    refunds.at(-1)?.status === 'IN_PROGRESS'
      ? { do: 'ask often', sale: at, refund: refunds.length - 1, times, isLong }
      : null;

const dispute =
  (share: number): Intent =>
  ({ amount }, at) => ({ do: 'dispute', sale: at, amount: Math.max(1, Math.round(amount * share)), kind: 'med' });

const rule =
  (result: 'agreed' | 'disagreed' | 'withdrawn'): Intent =>
  ({ cases }, at) =>
    cases.length === 0 ? null : { do: 'rule', sale: at, result };

/** The bank changes the claim of a case. @param medCase its index @param share new claim, as a share of the sale */
const restate =
  (medCase: number, share: number): Intent =>
  ({ cases, amount: whole }, at) => {
    const amount = Math.max(1, Math.round(whole * share));
    const known = cases[medCase];
    return !known || known.reported === amount ? null : { do: 'restate', sale: at, medCase, amount };
  };

const decide =
  (decision: 'approve' | 'dismiss'): Intent =>
  ({ cases }, at) => {
    const medCase = cases.findIndex(({ review }) => review !== null);
    return medCase < 0 ? null : { do: 'decide', sale: at, medCase, decision, amount: null };
  };

/** An operator sets the amount of an open case to the bank's present claim. */
const settle: Intent = ({ cases }, at) => {
  const medCase = cases.findIndex((one) => one.review === 'amount_mismatch' && !isOver(one));
  const amount = cases[medCase]?.reported ?? 0;
  return medCase < 0 ? null : { do: 'decide', sale: at, medCase, decision: 'approve', amount };
};

const answer =
  (what: 'appeal' | 'accept'): Intent =>
  ({ cases }, at) => {
    const medCase = cases.findIndex(({ isVisible, status }) => isVisible && status === 'open');
    return medCase < 0 ? null : { do: 'answer', sale: at, medCase, answer: what };
  };

const lose =
  (share: number): Intent =>
  ({ amount }, at) => ({
    ...{ do: 'enter', sale: at, kind: 'loss', borneBy: 'merchant', named: null },
    amount: Math.max(1, Math.round(amount * share)),
  });

/** An operator enters the last refund as a loss too, although the bank has made the refund. */
const loseRefund: Intent = ({ refunds }, at) => {
  const last = refunds.at(-1);
  if (!last) return null;
  return {
    ...{ do: 'enter', sale: at, kind: 'loss', borneBy: 'merchant' },
    ...{ amount: last.amount, named: refunds.length - 1 },
  };
};

/** An operator gives an applied loss back. */
const giveBack: Intent = ({ corrections, refunds }, at) => {
  const known = corrections.findLast(
    ({ kind, amount, status }) => kind === 'loss' && amount > 0 && status === 'applied',
  );
  if (!known) return null;
  const named = known.named === null ? null : refunds.indexOf(known.named);
  return { do: 'enter', sale: at, kind: 'loss', borneBy: 'merchant', amount: -known.amount, named };
};

const approve =
  (isOwn: boolean): Intent =>
  ({ corrections }, at) => {
    const entry = corrections.findIndex(({ status }) => status === 'waiting');
    return entry < 0 ? null : { do: 'decide entry', sale: at, entry, decision: 'approve', isOwn };
  };
const approveEntry = approve(false);

const reject: Intent = ({ corrections }, at) => {
  const entry = corrections.findIndex(({ status }) => status === 'waiting');
  return entry < 0 ? null : { do: 'decide entry', sale: at, entry, decision: 'reject', isOwn: false };
};

/** Sequences of steps in which several rules meet on one sale. Random steps may come between the steps of a scene. */
export const SCENES: readonly (readonly Intent[])[] = [
  // The bank rules between a refund's request and its worker's run
  [refundShortOfFee, refund('cashout', false), dispute(0.6), settle, rule('agreed'), work(), work()],
  [refundShortOfFee, refund('cashout', true), dispute(0.4), decide('approve'), rule('agreed'), work(), work()],
  [refund('devolution', true), dispute(1), rule('disagreed'), work(), work()],
  [refund('devolution', false), work(), dispute(1), work(), rule('disagreed')],
  [refund('devolution', true), dispute(1), work()],
  [refundShortOfFee, refund('cashout', false), work(), dispute(1), work(), rule('disagreed')],
  // A refund fails while a case is open
  [
    refund('devolution', true),
    work(true),
    dispute(1),
    rule('agreed'),
    work(),
    refund('devolution', false),
    decide('approve'),
  ],
  [refund('devolution', true), work(true), dispute(1), answer('accept'), rule('agreed'), work(), decide('approve')],
  [refund('devolution', true), work(true), dispute(1), work(), rule('withdrawn')],
  [
    refundShortOfFee,
    refund('cashout', true),
    work(true),
    work(),
    refund('cashout', false),
    work(),
    work(),
    dispute(1),
    rule('agreed'),
  ],
  // A refund's call is lost
  [
    refundShortOfFee,
    refund('cashout', true),
    loseCall,
    dispute(1),
    work(),
    rule('agreed'),
    askOften(10, false),
    askOften(1, true),
  ],
  [
    refundShortOfFee,
    refund('cashout', false),
    loseCall,
    dispute(0.6),
    settle,
    rule('agreed'),
    askOften(9, true),
    work(),
    work(),
  ],
  [refund('devolution', true), loseCall, dispute(1), work(), rule('disagreed'), work(true), work()],
  [refund('cashout', true), loseAnswer, dispute(1), work(), rule('agreed')],
  [refund('devolution', false), loseCall, loseCall, loseAnswer, work()],
  // The bank changes its claims
  [dispute(1), dispute(0.6), settle, restate(0, 0.6), settle, rule('agreed'), rule('agreed')],
  [dispute(0.4), settle, dispute(0.6), settle, restate(1, 0.3), settle, restate(0, 1), settle, rule('agreed')],
  [dispute(0.3), settle, rule('agreed'), dispute(0.7), settle, restate(0, 0.6), decide('approve'), rule('agreed')],
  [
    dispute(1),
    restate(0, 0.4),
    answer('accept'),
    rule('agreed'),
    decide('dismiss'),
    decide('dismiss'),
    decide('approve'),
  ],
  [
    dispute(1),
    restate(0, 0.4),
    rule('agreed'),
    restate(0, 1),
    restate(0, 0.6),
    restate(0, 1),
    restate(0, 0.6),
    decide('approve'),
  ],
  [dispute(0.6), restate(0, 1), dispute(0.4), decide('dismiss'), restate(1, 1), rule('agreed'), rule('disagreed')],
  [dispute(0.6), decide('dismiss'), rule('agreed'), restate(0, 1), restate(0, 0.3), decide('approve')],
  [dispute(1), restate(0, 0.6), rule('agreed'), settle, restate(0, 0.3), decide('approve')],
  [dispute(1), restate(0, 0.4), decide('approve'), answer('appeal'), rule('agreed'), decide('approve')],
  // A sale has several cases
  [
    dispute(0.4),
    decide('dismiss'),
    dispute(0.6),
    decide('approve'),
    dispute(0.4),
    decide('approve'),
    rule('agreed'),
    decide('approve'),
    decide('approve'),
  ],
  [
    dispute(0.6),
    decide('approve'),
    dispute(0.4),
    decide('approve'),
    dispute(0.3),
    decide('approve'),
    rule('disagreed'),
    rule('agreed'),
  ],
  [
    dispute(0.6),
    decide('approve'),
    rule('agreed'),
    refund('devolution', false),
    work(),
    dispute(1),
    rule('agreed'),
    work(),
  ],
  [dispute(1), answer('accept'), rule('disagreed'), decide('approve')],
  [dispute(1), answer('appeal'), dispute(1), rule('agreed'), rule('disagreed')],
  // Operators enter losses beside cases and refunds
  [lose(0.5), approveEntry, dispute(1), rule('agreed'), giveBack, approveEntry, decide('approve')],
  [lose(0.6), approveEntry, refundShortOfFee, dispute(1), giveBack, approveEntry, rule('disagreed')],
  [
    lose(1),
    approveEntry,
    dispute(1),
    decide('approve'),
    giveBack,
    approveEntry,
    refund('devolution', true),
    rule('disagreed'),
  ],
  [
    lose(1),
    approveEntry,
    dispute(1),
    decide('approve'),
    giveBack,
    restate(0, 0.6),
    approveEntry,
    settle,
    refund('devolution', true),
    rule('agreed'),
  ],
  [dispute(0.6), decide('approve'), lose(0.5), lose(0.4), approveEntry, rule('agreed')],
  [refund('devolution', true), work(), loseRefund, work(), loseRefund, lose(0.2), giveBack],
  [lose(1), refund('cashout', true), approveEntry, work(), work(), lose(1)],
  [lose(1), lose(0.3), approve(true), approveEntry, refund('devolution', false)],
  [lose(1), dispute(1), rule('agreed'), approveEntry, reject],
  [refund('cashout', true), work(), work(), lose(1), lose(0.3), dispute(1), rule('agreed')],
];
