import type { Dice } from './dice.js';
import type { MoneyModel, RefundRequest, Terms } from './model.js';
import {
  type CaseModel,
  type CorrectionModel,
  type DisputeKind,
  isDisputed,
  isOver,
  isRefunding,
  isUnderway,
  left,
  type Lost,
  room,
  type SaleModel,
  takeable,
} from './sale.js';
import {
  anyPayoutStep,
  drawMinute,
  drawPayoutTerms,
  type NextDay,
  PAYOUT_SCENES,
  type PayoutIntent,
  type PayoutStep,
} from './payout-walk.js';
import { type Intent, part, SCENES } from './scenes.js';

/**
 * A step of a story as data, so that a story can be repeated or shortened. Numbers of sales, refunds, cases and entries
 * are their indexes in the model.
 */
export type Step =
  | { do: 'create'; method: SaleModel['method']; amount: number; isLocked: boolean }
  | { do: 'pay'; sale: number; amount: number; payer: 'right' | 'other' | 'unknown'; isAgain: boolean }
  | { do: 'pay at the end'; amount: number; late: number }
  | { do: 'told late'; amount: number }
  | { do: 'end'; sale: number; event: 'expire' | 'fail' }
  | { do: 'cancel'; sale: number }
  | { do: 'review'; sale: number; decision: 'accept' | 'return' }
  | ({ do: 'refund'; sale: number; isAgain: boolean } & RefundRequest)
  | { do: 'refund both'; sale: number; other: number }
  | { do: 'work'; sale: number; refund: number; fails: boolean; lost: Lost | null }
  | { do: 'ask often'; sale: number; refund: number; times: number; isLong: boolean }
  | { do: 'dispute'; sale: number; amount: number; kind: DisputeKind }
  | { do: 'rule'; sale: number; result: 'agreed' | 'disagreed' | 'withdrawn' }
  | { do: 'restate'; sale: number; medCase: number; amount: number }
  | { do: 'answer'; sale: number; medCase: number; answer: 'appeal' | 'accept' }
  | { do: 'decide'; sale: number; medCase: number; decision: 'approve' | 'dismiss'; amount: number | null }
  | ({ do: 'enter'; sale: number; named: number | null } & Omit<Entered, 'named'>)
  | { do: 'decide entry'; sale: number; entry: number; decision: 'approve' | 'reject'; isOwn: boolean }
  | { do: 'payout'; step: PayoutStep }
  | NextDay;

type Entered = Pick<CorrectionModel, 'kind' | 'borneBy' | 'amount' | 'named'>;

const MAX_SALES = 9;
/** Available money from which on a scene of payouts can begin */
const MIN_OF_SCENE = 50;
const MOODS = ['all', 'refunds', 'disputes', 'losses', 'payouts'] as const;
/** The kind of step that a story prefers. Rules meet where several refunds, cases or losses are open at once. */
export type Mood = (typeof MOODS)[number];

export function drawTerms(dice: Dice, correctionLimit: number): { terms: Terms; purse: number; mood: Mood } {
  const terms = {
    // 5 000 basis points are half the amount: every odd amount then has half a cent to round.
    feeBps: dice.oneOf([0, 0, 0, 99, 99, 5_000, 10_000]),
    feeFixed: dice.oneOf([0, 40]),
    pixOutFee: dice.oneOf([0, 25, 25, 25]),
    // The highest fee is above the amount of some sales.
    bankFee: dice.oneOf([0, 0, 7, 150]),
    releaseDays: dice.oneOf([0, 0, 0, 0, 1, 2]),
    reserveBps: dice.oneOf([0, 0, 0, 1_000]),
    correctionLimit,
    beginsAt: drawMinute(dice),
    payouts: drawPayoutTerms(dice),
  };
  // A merchant with a purse can refund money that fees and disputes have taken from the sales.
  const mood = dice.oneOf(MOODS);
  return { terms, purse: dice.oneOf(mood === 'payouts' ? [10_000, 1_000_000] : [0, 1_000_000]), mood };
}

/** Draws an amount equal to the bound, or a cent beside it. */
function near(dice: Dice, bound: number): number {
  return Math.max(1, bound + dice.oneOf([0, 0, 0, 1, -1]));
}

const isOpen = ({ status }: SaleModel): boolean => ['WAITING_PAYMENT', 'PROCESSING'].includes(status);

/** Whether money of the sale can still move, so that rules can meet on it. */
function isAlive(sale: SaleModel): boolean {
  if (!sale.isPaid) return isOpen(sale) || (['CANCELLED', 'REFUSED'].includes(sale.status) && sale.payments === 0);
  const isWaiting = sale.corrections.some(({ status }) => status === 'waiting');
  const isUnruled = sale.cases.some(({ ruling, review }) => ruling === null || review !== null);
  return left(sale) > 0 || room(sale) > 0 || isRefunding(sale) || isWaiting || isUnruled;
}

/** Chooses the steps of a story: the steps of scenes in which rules meet, and random steps between them. */
export class Walk {
  #scene: Intent[] = [];
  #sale = 0;
  #payoutScene: PayoutIntent[] = [];

  constructor(
    private readonly model: MoneyModel,
    private readonly dice: Dice,
    private readonly mood: Mood,
  ) {}

  /** @param at time in milliseconds */
  next(last: number, at: number): Step {
    const { model, dice } = this;
    const payoutStep = this.#nextOfPayouts(at);
    if (payoutStep) return payoutStep.do === 'next day' ? payoutStep : { do: 'payout', step: payoutStep };
    const sale = model.sales[last];
    const isFresh = sale?.isPaid === true && sale.method === 'PIX' && left(sale) === sale.amount && sale.amount > 9;
    if (this.#scene.length === 0 && isFresh && (this.mood !== 'all' || dice.isOne(2))) {
      this.#scene = [...dice.oneOf(SCENES)];
      this.#sale = last;
    }
    while (this.#scene.length > 0 && !dice.isOne(16)) {
      const step = this.#scene.shift()?.(model.sales[this.#sale] as SaleModel, this.#sale, dice, model);
      if (step) return step;
    }
    return nextStep(model, dice, last, this.mood);
  }

  /** @returns null for a step that is not about payouts */
  #nextOfPayouts(at: number): PayoutStep | NextDay | null {
    const { model, dice, mood } = this;
    const { available } = model.balance;
    const isPreferred = mood === 'payouts';
    if (isPreferred && this.#payoutScene.length === 0 && available > MIN_OF_SCENE && !dice.isOne(4)) {
      this.#payoutScene = [...dice.oneOf(PAYOUT_SCENES)];
    }
    while (this.#payoutScene.length > 0 && !dice.isOne(12)) {
      const step = this.#payoutScene.shift()?.(model.payouts, dice, available, at);
      if (step) return step;
    }
    const isNow = isPreferred ? !dice.isOne(available > MIN_OF_SCENE ? 5 : 2) : dice.isOne(30);
    return isNow && (available > 0 || model.payouts.all.length > 0)
      ? anyPayoutStep(model.payouts, dice, available, at)
      : null;
  }
}

/** Draws a possible step. Most often it concerns the same sale as the last step, so that rules meet. */
function nextStep(model: MoneyModel, dice: Dice, last: number, mood: Mood): Step {
  const { sales } = model;
  const alive = sales.flatMap((sale, at) => (isAlive(sale) ? [at] : []));
  const open = alive.filter((at) => isOpen(sales[at] as SaleModel));
  if (alive.length < 3 && open.length === 0 && sales.length < MAX_SALES) return create(dice, model.terms);
  // Rules meet only on paid sales, so most unpaid ones are paid next.
  const isPaidNext = open.length > 0 && !dice.isOne(3);
  const isLast = alive.includes(last) && !dice.isOne(4);
  const all = sales.map((_, at) => at);
  const of = isPaidNext
    ? dice.oneOf(open)
    : isLast
      ? last
      : dice.oneOf(alive.length > 0 && !dice.isOne(8) ? alive : all);
  const sale = sales[of] as SaleModel;
  const hasToWait = model.balance.pending > 0 || sales.some(({ isHeldForReview }) => isHeldForReview);
  return dice.weighted([
    ...(sales.length < MAX_SALES && dice.isOne(8) ? ([[2, () => atTheEnd(dice)]] as const) : []),
    ...(hasToWait || dice.isOne(8) ? ([[1, (): Step => ({ do: 'next day', minute: drawMinute(dice) })]] as const) : []),
    ...(sale.isPaid ? aboutPaid(model, dice, of, sale, mood) : aboutOpen(dice, of, sale)),
  ] as const)();
}

type Choice = readonly [weight: number, what: () => Step];

function create(dice: Dice, { bankFee }: Terms): Step {
  // A sale below the bank's fee, most often with a payer lock, so that it may be held.
  if (bankFee > 0 && dice.isOne(7)) {
    return { do: 'create', method: 'PIX', amount: 1 + dice.below(bankFee), isLocked: !dice.isOne(3) };
  }
  const method = dice.oneOf(['PIX', 'PIX', 'PIX', 'PIX', 'CREDIT_CARD'] as const);
  const amount = dice.oneOf([100, 1_000, 1_000, 1_000, 999, dice.oneOf([1, 2]), 1 + dice.below(100_000)]);
  return { do: 'create', method, amount, isLocked: method === 'PIX' && dice.isOne(4) };
}

function atTheEnd(dice: Dice): Step {
  const amount = dice.oneOf([1, 100, 1_000]);
  return dice.isOne(3) ? { do: 'told late', amount } : { do: 'pay at the end', amount, late: dice.oneOf([-1, 0, 1]) };
}

function aboutOpen(dice: Dice, sale: number, { amount, isLocked, isHeldForReview }: SaleModel): Choice[] {
  return [
    [
      isHeldForReview ? 1 : 16,
      () => {
        const paid = dice.isOne(8) ? near(dice, amount) : amount;
        const payer = dice.oneOf([
          ...(['right', 'right', 'other', 'unknown'] as const),
          ...(isLocked ? (['unknown', 'unknown'] as const) : (['right', 'right'] as const)),
        ]);
        return { do: 'pay', sale, amount: paid, payer, isAgain: dice.isOne(4) };
      },
    ],
    [isHeldForReview ? 8 : 0, () => ({ do: 'review', sale, decision: dice.oneOf(['accept', 'accept', 'return']) })],
    [1, () => ({ do: 'cancel', sale })],
    [dice.below(2), () => ({ do: 'end', sale, event: dice.oneOf(['expire', 'fail']) })],
  ];
}

function aboutPaid(model: MoneyModel, dice: Dice, at: number, sale: SaleModel, mood: Mood): Choice[] {
  const { refunds, cases, corrections } = sale;
  const indexes = <T>(all: readonly T[], is: (one: T) => boolean): number[] =>
    all.flatMap((one, index) => (is(one) ? [index] : []));
  const underway = indexes(refunds, ({ status }) => status === 'PENDING' || status === 'IN_PROGRESS');
  const unknown = indexes(refunds, ({ status, isAtBank }) => status === 'IN_PROGRESS' && !isAtBank);
  const isCalled = model.isSent(sale);
  const doubted = indexes(cases, ({ review }) => review !== null);
  const open = indexes(cases, isUnderway);
  const unruled = cases.filter(({ ruling }) => ruling === null).length;
  const waiting = indexes(corrections, ({ status }) => status === 'waiting');
  const others = indexes(model.sales, (other) => other !== sale && other.isPaid);
  return [
    [
      refunds.length < 8 ? (isDisputed(sale) ? 1 : left(sale) <= 0 ? 2 : mood === 'refunds' ? 10 : 6) : 0,
      () => refund(model, dice, at, sale),
    ],
    [
      others.length > 0 && refunds.length < 8 ? 1 : 0,
      () => ({ do: 'refund both', sale: at, other: dice.oneOf(others) }),
    ],
    [underway.length > 0 ? 5 : 0, () => work(dice, at, dice.oneOf(underway))],
    [
      unknown.length > 0 && !isCalled ? 4 : 0,
      () => ({
        ...({ do: 'ask often', sale: at, refund: dice.oneOf(unknown) } as const),
        ...{ times: dice.oneOf([9, 10, 11]), isLong: dice.isOne(2) },
      }),
    ],
    [cases.length < 5 ? (mood === 'disputes' && cases.length < 3 ? 16 : 4) : 0, () => dispute(dice, at, sale, mood)],
    [
      unruled > 0 ? (mood === 'disputes' && cases.length < 3 ? 1 : 5) : cases.length > 0 && dice.isOne(4) ? 1 : 0,
      () => ({ do: 'rule', sale: at, result: dice.oneOf(['agreed', 'agreed', 'disagreed', 'withdrawn']) }),
    ],
    [
      open.length > 0 ? 2 : 0,
      () => ({ do: 'answer', sale: at, medCase: dice.oneOf(open), answer: dice.oneOf(['appeal', 'appeal', 'accept']) }),
    ],
    [cases.length === 0 ? 0 : open.length === 0 ? 2 : mood === 'disputes' ? 6 : 3, () => restate(dice, at, sale)],
    [doubted.length > 0 ? 8 : 0, () => decide(dice, at, sale, dice.oneOf(doubted))],
    [corrections.length < 8 ? (left(sale) <= 0 ? 1 : mood === 'losses' ? 8 : 2) : 0, () => enter(dice, at, sale)],
    [
      waiting.length === 0 ? 0 : mood === 'losses' ? 2 : 3,
      () => ({
        ...({ do: 'decide entry', sale: at, entry: dice.oneOf(waiting) } as const),
        ...({ decision: dice.oneOf(['approve', 'approve', 'reject']), isOwn: dice.isOne(4) } as const),
      }),
    ],
    [dice.isOne(4) ? 1 : 0, () => ({ do: 'pay', sale: at, amount: sale.amount, payer: 'right', isAgain: false })],
    [dice.isOne(4) ? 1 : 0, () => ({ do: 'cancel', sale: at })],
  ];
}

function work(dice: Dice, sale: number, refund: number): Step {
  const lost = dice.oneOf([null, null, null, null, 'before', 'before', 'after'] as const);
  return { do: 'work', sale, refund, fails: dice.isOne(2), lost };
}

function refund(model: MoneyModel, dice: Dice, at: number, sale: SaleModel): Step {
  const passFee = sale.method === 'PIX' && !dice.isOne(3);
  const fee = passFee ? model.terms.pixOutFee : 0;
  const rest = Math.max(1, left(sale));
  const there = model.balance.available - fee;
  const amount = dice.oneOf([
    null,
    part(dice, rest),
    part(dice, sale.amount),
    near(dice, rest),
    // The available balance itself, or a cent or the fee above it. Random amounts rarely come near.
    ...(there > 0 && there <= rest ? [there, there + 1, there + Math.max(1, fee)] : [part(dice, rest)]),
  ]);
  const isOdd = dice.isOne(10);
  const strategy = sale.method === 'PIX' || isOdd ? dice.oneOf([null, 'cashout', 'devolution'] as const) : null;
  return {
    do: 'refund',
    sale: at,
    amount,
    strategy,
    passFee: passFee || (isOdd && dice.isOne(2)),
    isAgain: dice.isOne(4),
  };
}

function dispute(dice: Dice, at: number, { method, amount }: SaleModel, mood: Mood): Step {
  if (method !== 'PIX') {
    return { do: 'dispute', sale: at, amount, kind: dice.oneOf(['chargeback', 'dispute', 'fraud'] as const) };
  }
  const isPart = mood === 'disputes' ? !dice.isOne(5) : dice.isOne(2);
  const claimed = isPart ? part(dice, amount) : dice.oneOf([amount, amount, amount, amount + 1]);
  return { do: 'dispute', sale: at, amount: claimed, kind: 'med' };
}

function decide(dice: Dice, at: number, sale: SaleModel, medCase: number): Step {
  const { isVisible, reported, review, ruling } = sale.cases[medCase] as CaseModel;
  const isRestated = isVisible && review === 'amount_mismatch';
  const decision = dice.isOne(isVisible && !(isRestated && ruling !== null) ? 6 : 3) ? 'dismiss' : 'approve';
  if (isRestated && decision === 'approve' && !dice.isOne(3)) {
    return { do: 'decide', sale: at, medCase, decision, amount: reported };
  }
  const isOther = decision === 'approve' && dice.isOne(isVisible && !isRestated ? 12 : 4);
  const amount = isOther ? dice.oneOf([part(dice, sale.amount), near(dice, sale.amount), reported]) : null;
  return { do: 'decide', sale: at, medCase, decision, amount };
}

/**
 * Changes the bank's claim, mostly of an open case. Draws also the amounts that rules compare with: the case's amount,
 * and what it could hold.
 */
function restate(dice: Dice, at: number, sale: SaleModel): Step {
  const open = sale.cases.flatMap((each, index) => (isUnderway(each) ? [index] : []));
  const medCase = open.length > 0 && !dice.isOne(3) ? dice.oneOf(open) : dice.below(sale.cases.length);
  const { amount, held, lost } = sale.cases[medCase] as CaseModel;
  const whole = sale.amount + dice.oneOf([0, 0, 0, 1]);
  const amounts = [part(dice, sale.amount), part(dice, sale.amount), whole, amount, held + lost + room(sale)];
  return { do: 'restate', sale: at, medCase, amount: Math.max(1, dice.oneOf(amounts)) };
}

function enter(dice: Dice, at: number, sale: SaleModel): Step {
  const isLoss = !dice.isOne(6);
  const lost = sale.corrections.filter(({ kind, status }) => kind === 'loss' && status === 'applied');
  const total = lost.reduce((all, { amount }) => all + amount, 0);
  const cut = sale.cases.filter((each) => isOver(each) && each.lost > 0 && each.lost < takeable(sale, each) + total);
  // Now and then an operator enters more as given back than was lost.
  if (dice.isOne(12)) {
    const amount = -(Math.max(0, total) + 1);
    return { do: 'enter', sale: at, kind: 'loss', borneBy: 'merchant', amount, named: null };
  }
  const back = total > 0 && dice.isOne(cut.length > 0 || sale.cases.some(isUnderway) ? 2 : 4);
  const rest = Math.max(1, left(sale));
  const takes = [near(dice, rest), part(dice, rest), near(dice, sale.amount), near(dice, Math.max(1, room(sale)))];
  const amount = back ? -dice.oneOf([total, total, part(dice, total), total + 1]) : dice.oneOf(takes);
  const borneBy = dice.oneOf(['merchant', 'merchant', 'platform'] as const);
  const named = isLoss && sale.refunds.length > 0 && dice.isOne(3) ? dice.below(sale.refunds.length) : null;
  return { do: 'enter', sale: at, kind: isLoss ? 'loss' : 'bank_fee', borneBy, amount, named };
}
