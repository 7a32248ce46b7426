import type { Branch, Reached } from './branches.js';
import { PayoutsModel, type PayoutTerms } from './payouts.js';
import {
  applied,
  type CaseModel,
  type CorrectionModel,
  type DisputeKind,
  isContradicted,
  isDisputed,
  isLost,
  isOver,
  isOnItsWay,
  isRefunding,
  isUnderway,
  left,
  type Lost,
  losses,
  type RefundModel,
  refunded,
  room,
  type SaleModel,
  sum,
  takeable,
  takenByCases,
} from './sale.js';

/**
 * Models a merchant's sales, refunds, disputes and balance. The sources are docs/contract.md, docs/design/money.md and
 * docs/design/disputes.md. The model imports no code of the service, keeps no ledger, and computes every total from the
 * sales.
 */

export interface Terms {
  readonly feeBps: number;
  readonly feeFixed: number;
  readonly pixOutFee: number;
  /** The bank's fee for each payment and return. The merchant bears the fee of a sale, the platform all others. */
  readonly bankFee: number;
  /** Days for which paid money is pending */
  readonly releaseDays: number;
  /** Part of each sale that is pending for two days, in basis points */
  readonly reserveBps: number;
  /** Total that one operator may enter within a day without a second operator */
  readonly correctionLimit: number;
  /** Minute of the day in São Paulo at which the story begins */
  readonly beginsAt: number;
  readonly payouts: PayoutTerms;
}

export interface RefundRequest {
  readonly amount: number | null;
  readonly strategy: 'cashout' | 'devolution' | null;
  readonly passFee: boolean;
}

/** Circumstances of a run of the worker */
export interface Run {
  /** Whether the bank refuses the refund if a call reaches it in this run. */
  readonly fails: boolean;
  /** When a call in this run is lost; null: not */
  readonly lost: Lost | null;
  /** Time of the run in milliseconds */
  readonly at: number;
}

/** Expected answer: the status, and the code of a refusal */
export type Expected = 200 | 201 | `${400 | 409 | 422} ${string}`;

/**
 * A ruling may take a refund's money after its call was lost. The call is given up after this many questions to the
 * bank, and not before `PATIENCE_MS` has passed.
 */
const QUESTIONS = 10;
const PATIENCE_MS = 8 * 60_000;
const DAY_MS = 86_400_000;

export class MoneyModel {
  readonly sales: SaleModel[] = [];
  readonly payouts: PayoutsModel;
  /** Counter in place of a clock: every event gets its own number. */
  #now = 0;

  /** Amounts that one operator has entered alone, with their times */
  #enteredAlone: { readonly at: number; readonly amount: number }[] = [];

  /** @param purse money of the merchant that comes from no sale */
  constructor(
    readonly terms: Terms,
    readonly purse: number,
    private readonly reached: Reached,
  ) {
    this.payouts = new PayoutsModel(
      terms.payouts,
      () => this.balance.available,
      (branch, isReached) => this.#reach(branch, isReached),
    );
  }

  #reach(branch: Branch, isReached = true): void {
    if (isReached) this.reached.add(branch);
  }

  get balance(): { available: number; pending: number; retained: number; reserved: number } {
    const all = this.sales.map((sale) => {
      const net = sale.isPaid ? sale.amount - feesOf(sale.amount, this.terms) : 0;
      const gone = sum(sale.refunds.filter(({ status }) => status !== 'FAILED').map((r) => r.amount + r.fee));
      const retained = sum(sale.cases.map(({ held }) => held));
      const entered = sum(applied(sale).map(({ borneBy, amount }) => (borneBy === 'merchant' ? amount : 0)));
      const reserve = Math.min(net, shareOf(sale.amount, this.terms.reserveBps));
      const pending = (sale.pendingDays > 0 ? net - reserve : 0) + (sale.reservedDays > 0 ? reserve : 0);
      return {
        available: net - pending - gone - retained - entered - sum(sale.cases.map(({ lost }) => lost)),
        pending,
        retained,
      };
    });
    return {
      available: this.purse + sum(all.map(({ available }) => available)) - this.payouts.taken,
      pending: sum(all.map(({ pending }) => pending)),
      retained: sum(all.map(({ retained }) => retained)),
      reserved:
        sum(this.sales.flatMap(({ refunds }) => refunds.filter(isOnItsWay).map(({ amount, fee }) => amount + fee))) +
        this.payouts.reserved,
    };
  }

  /** Money that the bank holds if disputes are ignored: payments credited or under review, less arrived refunds and payouts */
  get heldByBank(): number {
    const held = sum(
      this.sales.map(({ amount, isPaid, isHeldForReview, refunds }) => {
        const arrived = refunds.filter(({ status }) => status === 'REFUNDED').map((refund) => refund.amount);
        return (isPaid || isHeldForReview ? amount : 0) - sum(arrived);
      }),
    );
    return held - this.payouts.sent;
  }

  /** Total of the bank's fees for payments and returns, and of fees that operators entered */
  get chargedByBank(): number {
    const times = this.sales.map(({ payments, isPaid, isHeldForReview, refunds }) => {
      const back = payments - (isPaid || isHeldForReview ? 1 : 0);
      return payments + back + refunds.filter(({ status }) => status === 'REFUNDED').length;
    });
    const entered = this.sales.flatMap(applied).filter(({ kind }) => kind === 'bank_fee');
    return this.terms.bankFee * sum(times) + sum(entered.map(({ amount }) => amount));
  }

  /** The buckets that the merchant does not see, once all payments that pay nothing are back at their payers. */
  get books(): { suspense: number; clearing: number; platform_fees: number; provider_fees: number } {
    const paid = this.sales.filter(({ isPaid }) => isPaid);
    const refunds = this.sales.flatMap((sale) => sale.refunds.filter(({ status }) => status === 'REFUNDED'));
    const lost = sum(this.sales.flatMap(({ cases }) => cases.map((one) => one.lost)));
    const entered = this.sales.flatMap(applied);
    const platform = entered.filter(({ borneBy }) => borneBy === 'platform');
    const merchantFees = entered.filter(({ kind, borneBy }) => kind === 'bank_fee' && borneBy === 'merchant');
    const earned =
      sum(paid.map(({ amount }) => feesOf(amount, this.terms))) +
      sum(refunds.map(({ fee }) => fee)) +
      this.payouts.fees;
    const amounts = (all: readonly CorrectionModel[]): number => sum(all.map(({ amount }) => amount));
    return {
      suspense: sum(this.sales.map(({ amount, isHeldForReview }) => (isHeldForReview ? amount : 0))),
      clearing: lost + sum(this.sales.map(losses)) - this.purse - this.heldByBank,
      platform_fees:
        earned + amounts(merchantFees) - this.chargedByBank - amounts(platform.filter(({ kind }) => kind === 'loss')),
      provider_fees: this.chargedByBank,
    };
  }

  create(sale: Pick<SaleModel, 'method' | 'amount' | 'isLocked'>): void {
    const fresh = {
      payments: 0,
      isHeldForReview: false,
      isPaid: false,
      payerIsKnown: false,
      pendingDays: 0,
    };
    this.sales.push({
      ...sale,
      ...fresh,
      reservedDays: 0,
      status: 'WAITING_PAYMENT',
      backs: [],
      refunds: [],
      cases: [],
      corrections: [],
      before: null,
    });
  }

  pay(sale: SaleModel, amount: number, payer: 'right' | 'other' | 'unknown'): void {
    const { method, status } = sale;
    sale.payments += 1;
    // A card is authenticated before it is charged.
    if (method === 'CREDIT_CARD' && status === 'WAITING_PAYMENT') sale.status = 'PROCESSING';
    const isWaiting = sale.status === 'WAITING_PAYMENT' || (sale.status === 'PROCESSING' && !sale.isHeldForReview);
    const isClosed = sale.status === 'CANCELLED' || sale.status === 'REFUSED';
    const ended = sale.status === 'EXPIRED' ? 'late' : isClosed ? 'charge_closed' : 'duplicate';
    if (!isWaiting || amount !== sale.amount) {
      const reason = isWaiting ? 'wrong_amount' : ended;
      const branches = { wrong_amount: 'wrong amount', late: 'late', charge_closed: 'of a closed charge' } as const;
      this.#reach(reason === 'duplicate' ? 'duplicate' : branches[reason]);
      sale.backs.push(reason);
      return;
    }
    // The days count from the money's arrival at the bank, also for money under review.
    sale.pendingDays = this.terms.releaseDays;
    sale.reservedDays = 2;
    if (sale.isLocked && payer === 'unknown') {
      this.#reach('held for review');
      sale.status = 'PROCESSING';
      sale.isHeldForReview = true;
    } else if (sale.isLocked && payer === 'other') {
      this.#reach('of another payer');
      sale.status = 'REFUNDED';
      sale.backs.push('payer_mismatch');
    } else this.#credit(sale, payer !== 'unknown');
  }

  /** A payment in the last millisecond pays the sale, even if the bank reports it after the expiry. */
  payInTheEnd(sale: SaleModel, isToldLate = false): void {
    this.#reach(isToldLate ? 'told after the expiry' : 'in the last millisecond');
    this.pay(sale, sale.amount, 'right');
  }

  /** A payment after the expiry goes back, and the sale expires. */
  comesLate(sale: SaleModel): void {
    this.#reach('late');
    sale.payments += 1;
    sale.backs.push('late');
    this.end(sale, 'EXPIRED');
  }

  decideReview(sale: SaleModel, decision: 'accept' | 'return'): void {
    sale.isHeldForReview = false;
    this.#reach(decision === 'accept' ? 'review accepted' : 'review returned');
    if (decision === 'accept') {
      this.#reach('review accepted of a sale below the bank fee', sale.amount < this.terms.bankFee);
      this.#credit(sale, false);
    } else {
      sale.status = 'REFUNDED';
      sale.backs.push('review_returned');
    }
  }

  /** The bank ends an unpaid sale. */
  end(sale: SaleModel, status: 'EXPIRED' | 'REFUSED'): void {
    if (!['WAITING_PAYMENT', 'PROCESSING'].includes(sale.status) || sale.isHeldForReview) return;
    this.#reach('ended unpaid');
    sale.status = status;
  }

  cancel(sale: SaleModel): Expected {
    if (sale.status === 'CANCELLED') return 200;
    if (!['WAITING_PAYMENT', 'PROCESSING'].includes(sale.status)) return '400 payment_not_cancellable';
    sale.before = sale.status;
    sale.status = 'CANCELLED';
    this.#reach(sale.isHeldForReview ? 'cancelled while held' : 'cancelled');
    if (sale.isHeldForReview) sale.backs.push('cancelled');
    sale.isHeldForReview = false;
    return 200;
  }

  refund(sale: SaleModel, asked: RefundRequest): Expected {
    if (isDisputed(sale)) return this.#refuse('refund refused: disputed', '400 charge_disputed');
    if (!['PAID', 'APPROVED'].includes(sale.status)) return '400 payment_not_refundable';
    if (sale.method === 'CREDIT_CARD' && (asked.strategy !== null || asked.passFee)) {
      return this.#refuse('refund refused: way', '400 invalid_request');
    }
    if (sale.method === 'PIX' && asked.strategy === 'cashout' && !sale.payerIsKnown) {
      return this.#refuse('refund refused: way', '422 REFUND_STRATEGY_NOT_SUPPORTED');
    }
    const byDefault = sale.payerIsKnown ? 'cashout' : 'devolution';
    const way = sale.method === 'CREDIT_CARD' ? 'card' : (asked.strategy ?? byDefault);
    const rest = Math.max(0, left(sale));
    const amount = asked.amount ?? rest;
    if (rest === 0 || amount > rest) {
      return this.#refuse('refund refused: more than is left', '400 refund_amount_exceeds_remaining');
    }
    const fee = way === 'cashout' && asked.passFee ? this.terms.pixOutFee : 0;
    const { available } = this.balance;
    if (available < amount + fee) {
      this.#reach('refund refused: balance, by its fee alone', available >= amount);
      return this.#refuse('refund refused: balance', '422 insufficient_balance');
    }
    this.#reach(
      ({ cashout: 'refund by cashout', devolution: 'refund by devolution', card: 'refund of a card' } as const)[way],
    );
    this.#reach('refund of the rest', asked.amount === null);
    this.#reach('refund of what a loss has left', losses(sale) > 0 && amount === rest);
    const fresh = { fails: false, isAtBank: false, sentAt: 0, questions: 0, status: 'PENDING', reason: null } as const;
    sale.refunds.push({ amount, fee, way, madeAt: ++this.#now, ...fresh });
    return 201;
  }

  /** Two sales were refunded at the same moment. @param isOne whether at least one was accepted */
  bothRefunded(isOne: boolean): void {
    this.#reach('refund at the same moment as another', isOne);
  }

  /**
   * Whether the worker may send refunds of the sale now. While a case is open, it may not, because the case has the
   * money. A ruling that has taken more than the refunds left stops them too, even if the sale is paid again.
   */
  isSent(sale: SaleModel): boolean {
    return left(sale) >= 0 && !(isDisputed(sale) && sale.cases.some(isUnderway));
  }

  /** Whether the worker calls the bank for the refund now, for the first time or because an earlier call was lost. */
  isCalled(sale: SaleModel, { status, isAtBank }: RefundModel): boolean {
    return this.isSent(sale) && (status === 'PENDING' || (status === 'IN_PROGRESS' && !isAtBank));
  }

  /** Whether a run can end the refund now. While a case is open, a lost call is not repeated, and so cannot end. */
  canEnd(sale: SaleModel, { status, isAtBank }: RefundModel): boolean {
    const isWaiting = !isAtBank && isDisputed(sale) && sale.cases.some(isUnderway);
    return status === 'PENDING' || (status === 'IN_PROGRESS' && !isWaiting);
  }

  /** Takes the refund one step further, as a run of the worker does. */
  work(sale: SaleModel, refund: RefundModel, run: Run): void {
    if (refund.status === 'PENDING') {
      if (this.isSent(sale)) {
        this.#reach('refund sent');
        this.#reach(
          'refund sent after a ruling that left its money',
          sale.cases.some(isOver) && takenByCases(sale) > 0,
        );
        Object.assign(refund, { status: 'IN_PROGRESS', sentAt: run.at });
        this.#call(refund, run);
        return;
      }
      const isOpen = isDisputed(sale) && sale.cases.some(isUnderway);
      this.#reach('refund stopped: a case is open', isOpen);
      this.#reach('refund stopped: a ruling has taken its money, and the sale is paid again', !isDisputed(sale));
      this.#fail(sale, refund, 'charge_disputed');
    } else if (refund.status === 'IN_PROGRESS') {
      refund.questions += 1;
      if (!refund.isAtBank) return this.#askAbout(sale, refund, run);
      if (refund.fails) return this.#fail(sale, refund, 'refused');
      this.#reach('refund arrived');
      this.#reach('refund arrived while a case is open', sale.cases.some(isUnderway));
      refund.status = 'REFUNDED';
      this.#close(sale, 'sale refunded');
    }
  }

  #call(refund: RefundModel, { fails, lost }: Run): void {
    this.#reach('call lost before the bank has it', lost === 'before');
    this.#reach('call lost after the bank has it', lost === 'after');
    if (lost !== 'before') Object.assign(refund, { isAtBank: true, fails });
  }

  /** The bank does not know the refund. The worker repeats the call, unless a case has the money. */
  #askAbout(sale: SaleModel, refund: RefundModel, run: Run): void {
    if (this.isSent(sale)) {
      this.#reach('lost call made again');
      this.#call(refund, run);
    } else if (isDisputed(sale) && sale.cases.some(isUnderway)) {
      this.#reach('lost call only asked about: a case is open');
    } else {
      this.#reach('lost call only asked about: a ruling has taken its money');
      const isOften = refund.questions >= QUESTIONS;
      const isLong = run.at - refund.sentAt >= PATIENCE_MS;
      this.#reach('not given up: too few questions', isLong && !isOften);
      this.#reach('not given up: too early', isOften && !isLong);
      if (!isOften || !isLong) return;
      this.#reach('lost call given up after ten questions in eight minutes');
      this.#reach('lost cashout given up', refund.way === 'cashout');
      this.#fail(sale, refund, 'amount_exceeded');
    }
  }

  #fail(sale: SaleModel, refund: RefundModel, reason: NonNullable<RefundModel['reason']>): void {
    Object.assign(refund, { status: 'FAILED', reason });
    this.#reach('refund refused by the bank', reason === 'refused');
    this.#reach('fee of a failed cashout given back', refund.fee > 0);
    this.#free(sale, 'failed refund held for a case', 'failed refund: a lost case is in doubt');
  }

  nextDay(): void {
    for (const sale of this.sales) {
      sale.pendingDays = Math.max(0, sale.pendingDays - 1);
      sale.reservedDays = Math.max(0, sale.reservedDays - 1);
      this.end(sale, 'EXPIRED');
    }
  }

  enter(
    sale: SaleModel,
    entered: Pick<CorrectionModel, 'kind' | 'borneBy' | 'amount' | 'named'>,
    at: number,
  ): Expected {
    const refused = this.#refusedLoss(sale, entered, null);
    if (refused) return refused;
    this.#reach('bank fee', entered.kind === 'bank_fee');
    this.#reach('borne by the platform', entered.borneBy === 'platform');
    const before = sum(this.#enteredAlone.filter((one) => at - one.at <= DAY_MS).map(({ amount }) => amount));
    const isAlone = before + Math.abs(entered.amount) <= this.terms.correctionLimit;
    this.#reach(
      'waits because of what was made alone before',
      !isAlone && Math.abs(entered.amount) <= this.terms.correctionLimit,
    );
    const correction: CorrectionModel = { ...entered, status: 'waiting', appliedAt: 0 };
    sale.corrections.push(correction);
    if (entered.kind === 'loss') this.#reach(isAlone ? 'loss applied at once' : 'loss waits');
    if (isAlone) {
      this.#enteredAlone.push({ at, amount: Math.abs(entered.amount) });
      this.#apply(sale, correction);
    }
    return 200;
  }

  /** A second operator approves an entry. Refunds and disputes may have taken the money since it was made. */
  approveEntry(sale: SaleModel, entry: CorrectionModel): Expected {
    const refused = this.#refusedLoss(sale, entry, entry);
    if (refused) return this.#refuse('approval refused: taken meanwhile', refused);
    this.#reach('loss approved', entry.kind === 'loss');
    this.#apply(sale, entry);
    return 200;
  }

  /** An operator tries to approve their own entry. */
  approveOwnEntry(): Expected {
    return this.#refuse('second operator required', '409 second_operator_required');
  }

  rejectEntry(entry: CorrectionModel): Expected {
    this.#reach('loss rejected', entry.kind === 'loss');
    entry.status = 'rejected';
    return 200;
  }

  #apply(sale: SaleModel, entry: CorrectionModel): void {
    Object.assign(entry, { status: 'applied', appliedAt: ++this.#now });
    if (entry.kind !== 'loss' || entry.amount > 0) return;
    this.#reach('loss given back');
    this.#free(sale, 'loss given back held for a case', 'loss given back: a lost case is in doubt');
  }

  /**
   * Refuses a loss above the amount that refunds, disputes and other losses have left, waiting entries included.
   * Refuses giving back more than was lost.
   */
  #refusedLoss(
    sale: SaleModel,
    { kind, amount, named }: Pick<CorrectionModel, 'kind' | 'amount' | 'named'>,
    itself: CorrectionModel | null,
  ): Expected | null {
    if (kind !== 'loss') return null;
    if (amount > 0 && named && isBooked(sale, named, itself)) {
      this.#reach('loss refused: its refund is on its way', named.status === 'IN_PROGRESS' && named.way !== 'cashout');
      return this.#refuse('loss refused: booked by its id', '409 already_booked');
    }
    const waiting = sale.corrections.filter(
      (other) => other !== itself && other.kind === 'loss' && other.status === 'waiting',
    );
    const of = (sign: number): number => sum(waiting.map((other) => (other.amount * sign > 0 ? other.amount : 0)));
    const refusal = '409 loss_exceeds_charge';
    if (losses(sale) + of(-1) + amount < 0) return this.#refuse('loss refused: more comes back than was lost', refusal);
    const rest = left(sale) - of(1);
    if (amount < 0 || amount <= rest) return null;
    this.#reach('loss refused: a case holds it', amount <= rest + sum(sale.cases.map(({ held }) => held)));
    const cashouts = refunded(sale) - (sale.amount - room(sale) - takenByCases(sale) - losses(sale));
    this.#reach('loss refused: a cashout gave it back', cashouts > 0 && amount <= rest + cashouts);
    this.#reach('loss refused: another one waits', amount <= left(sale));
    return this.#refuse('loss refused: more than is left', refusal);
  }

  #refuse(branch: Branch, expected: Expected): Expected {
    this.#reach(branch);
    return expected;
  }

  /** The payer's bank opens a dispute. A card payment has at most one dispute of each kind. */
  dispute(sale: SaleModel, kind: DisputeKind, reported: number): void {
    if (kind !== 'med' && sale.cases.some((known) => known.kind === kind)) {
      this.#reach('card disputed twice in one way');
      return;
    }
    const others = sale.cases.filter(isUnderway).length;
    this.#reach('case beside another one', others === 1);
    this.#reach('case beside two others', others > 1);
    const review = this.#reviewOf(sale, reported);
    const fresh = { ruling: null, status: 'open', outcome: null, held: 0, lost: 0, told: null, overAt: 0 } as const;
    const made: CaseModel = { ...fresh, kind, reported, amount: reported, isVisible: false, review };
    sale.cases.push(made);
    if (review === null) this.#show(sale, made);
    else this.#reach(reported === sale.amount ? 'case kept back: nothing to hold' : 'case kept back: amount');
  }

  /** The bank rules on its oldest dispute without a ruling. */
  rule(sale: SaleModel, ruling: 'won' | 'lost'): void {
    const ruled = sale.cases.find((candidate) => candidate.ruling === null);
    if (!ruled) return;
    ruled.ruling = ruling;
    if (isUnderway(ruled)) {
      this.#reach('ruling waits for the amount', ruled.review === 'amount_mismatch');
      if (ruled.review !== 'amount_mismatch') this.#finish(sale, ruled);
    } else if (isOver(ruled)) {
      this.#reach('ruling of a case that is over');
      ruled.review = isContradicted(sale, ruled) ? 'contradiction' : null;
    }
  }

  /** The bank changes the amount of a dispute, in any state of the case. */
  restate(sale: SaleModel, medCase: CaseModel, reported: number): void {
    const isKeptBack = !medCase.isVisible;
    this.#reach(reported > medCase.reported ? 'claim raised' : 'claim lowered');
    this.#reach('claim of a younger case restated', sale.cases.filter(isUnderway).indexOf(medCase) > 0);
    medCase.reported = reported;
    if (isKeptBack) {
      this.#reach(isOver(medCase) ? 'claim of a dismissed case restated' : 'claim of a case kept back restated');
      Object.assign(medCase, { status: 'open', amount: reported, review: this.#reviewOf(sale, reported) });
      if (medCase.review !== null) return;
      this.#reach('restated claim opens the case');
      this.#show(sale, medCase);
      if (medCase.ruling !== null) this.#finish(sale, medCase);
    } else if (isOver(medCase)) {
      this.#reach('claim restated of a case that is over');
      const isContrary = isContradicted(sale, medCase);
      this.#reach('restated claim takes the doubt away', medCase.review !== null && !isContrary);
      medCase.review = isContrary ? 'contradiction' : null;
    } else {
      const isSame = reported === medCase.amount;
      this.#reach('claim as the case is again', isSame);
      medCase.review = isSame ? null : 'amount_mismatch';
      if (isSame && medCase.ruling !== null) this.#finish(sale, medCase);
    }
  }

  appeal(medCase: CaseModel): Expected {
    if (medCase.status !== 'open') return '400 invalid_request';
    this.#reach('case appealed');
    medCase.status = 'appealed';
    return 200;
  }

  accept(sale: SaleModel, medCase: CaseModel): Expected {
    if (medCase.status !== 'open') return '400 invalid_request';
    // Accepting is final, so the operator decides first which amount is disputed.
    if (medCase.review === 'amount_mismatch') {
      return this.#refuse('acceptance refused: amount', '400 invalid_request');
    }
    this.#reach('case accepted');
    this.#over(sale, medCase, 'accepted', 'lost');
    this.#revive(sale);
    return 200;
  }

  dismiss(medCase: CaseModel): Expected {
    if (medCase.review === 'ruling_dismissed') {
      return this.#refuse('dismissal refused', '409 med_case_not_under_review');
    }
    this.#reach('case dismissed');
    const isRuled = isUnderway(medCase) && medCase.ruling !== null;
    this.#reach('ruling dismissed', isRuled);
    // The dismissed ruling stays in the operators' list and can still be approved.
    medCase.review = isRuled ? 'ruling_dismissed' : null;
    if (!medCase.isVisible) Object.assign(medCase, { status: 'closed', overAt: ++this.#now });
    return 200;
  }

  /**
   * An operator approves a case under review.
   * @param amount the disputed amount as the operator enters it. Null: the bank's amount, or the present amount of a
   *   case that the merchant sees
   */
  approve(sale: SaleModel, medCase: CaseModel, amount: number | null): Expected {
    if (isUnderway(medCase)) return this.#settle(sale, medCase, amount);
    if (medCase.isVisible) {
      if (amount !== null) return this.#refuse('approval refused', '400 invalid_request');
      medCase.review = null;
      if (isContradicted(sale, medCase)) this.#correct(sale, medCase);
      else this.#reach('contradiction without anything to move');
      return 200;
    }
    const claimed = amount ?? medCase.reported;
    if (claimed > sale.amount) return this.#refuse('approval refused', '400 invalid_request');
    this.#reach('case approved');
    this.#reach('case approved with another amount', claimed !== medCase.reported);
    this.#reach('ruled before it was approved', medCase.ruling !== null);
    Object.assign(medCase, { review: null, status: 'open', amount: claimed });
    this.#show(sale, medCase);
    if (medCase.ruling !== null) this.#finish(sale, medCase);
    return 200;
  }

  /** An operator decides the amount of an open case, or has a dismissed ruling carried out. */
  #settle(sale: SaleModel, medCase: CaseModel, amount: number | null): Expected {
    const isAboutAmount = medCase.review === 'amount_mismatch';
    if (amount !== null && (!isAboutAmount || amount > sale.amount)) {
      return this.#refuse('approval refused', '400 invalid_request');
    }
    this.#reach('restated claim approved as it was', isAboutAmount && amount === null);
    this.#reach('dismissed ruling approved', !isAboutAmount);
    this.#reach('ruling carried out with the amount', isAboutAmount && medCase.ruling !== null);
    medCase.review = null;
    if (amount !== null) {
      const before = medCase.held;
      medCase.held = Math.min(amount, before + room(sale));
      medCase.amount = amount;
      this.#reach('restated claim holds more', medCase.held > before);
      this.#reach('restated claim holds less', medCase.held < before);
      this.#reach('restated claim finds too little', medCase.held < amount);
      this.#reach('restated claim leaves money to another case', holdMore(sale));
    }
    this.#disputedByHolder(sale);
    if (medCase.ruling !== null) this.#finish(sale, medCase);
    return 200;
  }

  #credit(sale: SaleModel, payerIsKnown: boolean): void {
    this.#reach('credited');
    this.#reach('sale below the bank fee', sale.amount < this.terms.bankFee);
    this.#reach('reserve kept back', this.terms.reserveBps > 0);
    this.#reach('pending until a later day', sale.pendingDays > 0);
    sale.status = sale.method === 'PIX' ? 'PAID' : 'APPROVED';
    sale.isPaid = true;
    sale.payerIsKnown = payerIsKnown;
  }

  /** Reason why an operator has to look before the merchant sees the case; null: the case opens at once */
  #reviewOf(sale: SaleModel, reported: number): CaseModel['review'] {
    if (reported !== sale.amount) return 'amount_mismatch';
    return this.#isDisputable(sale) ? null : 'not_disputable';
  }

  #isDisputable(sale: SaleModel): boolean {
    if (!sale.isPaid) return false;
    return room(sale) > 0 || isRefunding(sale) || sale.cases.some(isUnderway);
  }

  #show(sale: SaleModel, medCase: CaseModel): void {
    const isDisputable = this.#isDisputable(sale);
    const rest = room(sale);
    this.#reach(medCase.amount > rest ? 'case opened, holding less than it claims' : 'case opened');
    this.#reach('case of what a loss has left', losses(sale) > 0 && rest > 0 && medCase.amount >= rest);
    this.#reach('case of what a cashout gave back', Math.min(medCase.amount, rest) > Math.max(0, left(sale)));
    medCase.held = Math.min(medCase.amount, rest);
    this.#reach('below zero by a case', this.balance.available < 0 && medCase.held > 0);
    medCase.isVisible = true;
    if (isDisputable) this.#disputed(sale, medCase.kind);
  }

  #disputed(sale: SaleModel, kind: DisputeKind): void {
    if (['PAID', 'APPROVED'].includes(sale.status)) sale.status = kind === 'chargeback' ? 'CHARGEBACK' : 'DISPUTE';
    else if (sale.status === 'DISPUTE' && kind === 'chargeback') sale.status = 'CHARGEBACK';
  }

  #finish(sale: SaleModel, medCase: CaseModel): void {
    if (medCase.ruling === 'won') {
      this.#reach('case won');
      const released = medCase.held;
      medCase.held = 0;
      this.#over(sale, medCase, 'closed', 'refunded_to_merchant');
      medCase.told = released;
      this.#reach('released money held for another case', holdMore(sale));
    } else if (medCase.status === 'appealed') {
      this.#reach('case lost on appeal');
      this.#over(sale, medCase, 'rejected', 'lost');
    } else {
      this.#reach('case lost');
      this.#over(sale, medCase, 'closed', 'closed_without_refund');
    }
    this.#revive(sale);
  }

  /** Ends a case. The amount that it holds is lost. */
  #over(sale: SaleModel, medCase: CaseModel, status: CaseModel['status'], outcome: CaseModel['outcome']): void {
    Object.assign(medCase, { status, outcome, lost: medCase.held, told: medCase.held, held: 0, overAt: ++this.#now });
    medCase.review = isContradicted(sale, medCase) ? 'contradiction' : null;
  }

  /** Corrects a case that ended otherwise than the bank has ruled. */
  #correct(sale: SaleModel, medCase: CaseModel): void {
    const isWon = medCase.ruling === 'won';
    const before = medCase.lost;
    const isAsBefore = !isWon && medCase.outcome !== 'refunded_to_merchant';
    // The sandbox bank rules once on a dispute, so a won case is never lost afterwards.
    this.#reach(isWon ? 'contradiction: won after all' : 'contradiction: another amount');
    if (isWon) medCase.lost = 0;
    else {
      medCase.amount = Math.min(medCase.reported, sale.amount);
      // The bank has taken its amount, even if younger cases hold that money now.
      const holders = sale.cases.filter((other) => isUnderway(other) && other.held > 0);
      for (const other of holders.reverse()) {
        const less = Math.max(0, Math.min(other.held, medCase.amount - medCase.lost - room(sale)));
        this.#reach('contradiction takes what a younger case holds', less > 0);
        this.#reach(
          'contradiction takes of the youngest of two',
          less > 0 && other === holders[0] && holders.length > 1,
        );
        other.held -= less;
      }
      medCase.lost = Math.min(medCase.amount, medCase.lost + room(sale));
    }
    this.#reach('contradiction: more was taken', medCase.lost > before);
    this.#reach('contradiction: less was taken', !isWon && medCase.lost < before);
    medCase.told = isWon ? before : medCase.lost;
    medCase.overAt = ++this.#now;
    // A case lost for another amount keeps its old outcome.
    const outcome = isWon ? 'refunded_to_merchant' : 'closed_without_refund';
    if (!isAsBefore) Object.assign(medCase, { status: 'closed', outcome });
    if (isWon || medCase.lost < before) {
      holdMore(sale);
      doubtLosses(sale);
    }
    this.#revive(sale);
    if (!this.#disputedByHolder(sale) && isLost(sale)) this.#disputed(sale, medCase.kind);
  }

  /**
   * A case that holds money disputes the sale, also when it had found nothing to hold at first.
   * @returns whether there is one
   */
  #disputedByHolder(sale: SaleModel): boolean {
    const holder = sale.cases.find((medCase) => isUnderway(medCase) && medCase.held > 0);
    if (holder) this.#disputed(sale, holder.kind);
    return holder !== undefined;
  }

  /** Money of the payment became free: a case that holds too little takes it, or it is the merchant's again. */
  #free(sale: SaleModel, held: Branch, doubted: Branch): void {
    const wasDisputed = isDisputed(sale);
    this.#reach(held, holdMore(sale));
    this.#disputedByHolder(sale);
    this.#reach('loss given back: the sale is disputed', !wasDisputed && isDisputed(sale));
    this.#reach(doubted, doubtLosses(sale));
    this.#revive(sale);
    this.#reach('failed refund: the sale is paid again', wasDisputed && !isDisputed(sale));
  }

  /** Ends the sale's dispute after its last case, unless cases have taken everything that was left. */
  #revive(sale: SaleModel): void {
    if (!isDisputed(sale)) return;
    this.#reach('sale stays disputed: another case', sale.cases.some(isUnderway));
    if (sale.cases.some(isUnderway)) return;
    this.#reach('sale stays disputed: all is lost', isLost(sale));
    if (isLost(sale)) return;
    this.#reach('sale paid again, less what was lost', takenByCases(sale) > 0);
    sale.status = sale.method === 'PIX' ? 'PAID' : 'APPROVED';
    this.#close(sale, 'sale refunded when its dispute ended');
  }

  #close(sale: SaleModel, branch: Branch): void {
    const arrived = sum(sale.refunds.filter(({ status }) => status === 'REFUNDED').map(({ amount }) => amount));
    if (!['PAID', 'APPROVED'].includes(sale.status) || arrived < sale.amount) return;
    this.#reach(branch);
    sale.status = 'REFUNDED';
  }
}

/** Fees of the bank and the platform for a sale, at most its amount */
function feesOf(amount: number, { feeBps, feeFixed, bankFee }: Pick<Terms, 'feeBps' | 'feeFixed' | 'bankFee'>): number {
  return Math.min(amount, shareOf(amount, feeBps) + feeFixed + bankFee);
}

/** Share of an amount in basis points, rounded half up */
function shareOf(amount: number, bps: number): number {
  return Math.floor((amount * bps + 5_000) / 10_000);
}

/** Whether the books already have money under the refund's id at the bank: the refund itself, or an entered loss. */
function isBooked(sale: SaleModel, named: RefundModel, itself: CorrectionModel | null): boolean {
  // A cashout is a new Pix with an id of its own, so it is not booked under that id.
  if (named.way !== 'cashout' && named.status !== 'FAILED') return true;
  const entered = sale.corrections.filter(
    (other) =>
      other !== itself &&
      other.kind === 'loss' &&
      other.named === named &&
      (other.status === 'applied' || (other.status === 'waiting' && other.amount > 0)),
  );
  return sum(entered.map(({ amount }) => amount)) > 0;
}

/** Lets open cases hold free money up to their amounts. @returns whether a case holds more now */
function holdMore(sale: SaleModel): boolean {
  const before = takenByCases(sale);
  for (const medCase of sale.cases.filter(isUnderway)) {
    medCase.held += Math.max(0, Math.min(medCase.amount - medCase.held, room(sale)));
  }
  return takenByCases(sale) > before;
}

/**
 * Puts lost cases under review if the bank can have taken more than they lost, because money became free.
 * @returns whether there is such a case
 */
function doubtLosses(sale: SaleModel): boolean {
  const doubted = sale.cases.filter(
    (medCase) =>
      isOver(medCase) &&
      medCase.ruling === 'lost' &&
      medCase.outcome !== 'refunded_to_merchant' &&
      medCase.isVisible &&
      medCase.lost < takeable(sale, medCase),
  );
  for (const medCase of doubted) medCase.review = 'contradiction';
  return doubted.length > 0;
}
