/**
 * What a merchant's sales, refunds, disputes and balance come to, written from docs/contract.md and docs/design/disputes.md
 * alone: it imports nothing of the service, keeps no ledger and adds everything up anew. Amounts are cents.
 */

export type DisputeKind = 'med' | 'chargeback' | 'dispute' | 'fraud';

export interface Terms {
  readonly feeBps: number;
  readonly feeFixed: number;
  readonly pixOutFee: number;
  /** What the bank charges for each payment and each return: of a sale the merchant bears it, of all else the platform. */
  readonly bankFee: number;
  /** For so many days what is paid is pending. */
  readonly releaseDays: number;
  /** Basis points of each sale that are pending for two days. */
  readonly reserveBps: number;
}

export interface RefundModel {
  readonly amount: number;
  readonly fee: number;
  readonly way: 'cashout' | 'devolution' | 'card';
  readonly madeAt: number;
  readonly fails: boolean;
  status: 'IN_PROGRESS' | 'REFUNDED' | 'FAILED';
}

export interface CaseModel {
  readonly kind: DisputeKind;
  readonly reported: number;
  amount: number;
  /** What the bank has ruled: null while it has not. */
  ruling: 'won' | 'lost' | null;
  status: 'open' | 'appealed' | 'accepted' | 'rejected' | 'closed';
  isVisible: boolean;
  /** Whether an operator has to look. */
  isInDoubt: boolean;
  outcome: 'lost' | 'refunded_to_merchant' | 'closed_without_refund' | null;
  held: number;
  lost: number;
  /** What was told of its money when it ended: what was held, given back, or is lost by now. */
  told: number | null;
  overAt: number;
}

/** What an operator has entered that a bank has taken of a sale; below zero: has given back. */
export interface CorrectionModel {
  readonly kind: 'loss' | 'bank_fee';
  readonly borneBy: 'merchant' | 'platform';
  readonly amount: number;
  status: 'waiting' | 'applied' | 'rejected';
}

export interface SaleModel {
  readonly method: 'PIX' | 'CREDIT_CARD';
  readonly amount: number;
  readonly isLocked: boolean;
  status: string;
  /** Payments that have come, whatever became of them. */
  payments: number;
  /** Why some of them went back. */
  readonly backs: string[];
  isHeldForReview: boolean;
  isPaid: boolean;
  payerIsKnown: boolean;
  /** Days until what was paid is released. */
  pendingDays: number;
  /** Days that its reserve is still pending. */
  reservedDays: number;
  failsNext: boolean;
  readonly refunds: RefundModel[];
  readonly cases: CaseModel[];
  readonly corrections: CorrectionModel[];
  /** Status before it was cancelled. */
  before: string | null;
}

/** How the service has to answer. */
export type Expected = 200 | 201 | `${400 | 409 | 422} ${string}`;

const sum = (numbers: number[]): number => numbers.reduce((a, b) => a + b, 0);
const isUnderway = ({ isVisible, status }: CaseModel): boolean => isVisible && ['open', 'appealed'].includes(status);

export class MoneyModel {
  readonly sales: SaleModel[] = [];
  /** Counts what happens: of two things one is later. */
  #now = 0;

  /** @param purse what is the merchant's without a sale */
  constructor(
    readonly terms: Terms,
    readonly purse = 0,
  ) {}

  get balance(): { available: number; pending: number; retained: number } {
    const { pixOutFee: _, ...terms } = this.terms;
    const all = this.sales.map((sale) => {
      const net = sale.isPaid ? sale.amount - feesOf(sale.amount, terms) : 0;
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
      available: this.purse + sum(all.map(({ available }) => available)),
      pending: sum(all.map(({ pending }) => pending)),
      retained: sum(all.map(({ retained }) => retained)),
    };
  }

  /** What the bank has received and not sent back, before what disputes take: all that is not credited or looked at goes back. */
  get heldByBank(): number {
    return sum(
      this.sales.map(({ amount, isPaid, isHeldForReview, refunds }) => {
        const arrived = refunds.filter(({ status }) => status === 'REFUNDED').map((refund) => refund.amount);
        return (isPaid || isHeldForReview ? amount : 0) - sum(arrived);
      }),
    );
  }

  /** For what has come and what has gone back. */
  get chargedByBank(): number {
    const times = this.sales.map(({ payments, isPaid, isHeldForReview, refunds }) => {
      const back = payments - (isPaid || isHeldForReview ? 1 : 0);
      return payments + back + refunds.filter(({ status }) => status === 'REFUNDED').length;
    });
    const entered = this.sales.flatMap(applied).filter(({ kind }) => kind === 'bank_fee');
    return this.terms.bankFee * sum(times) + sum(entered.map(({ amount }) => amount));
  }

  create(sale: Pick<SaleModel, 'method' | 'amount' | 'isLocked'>): void {
    const fresh = {
      payments: 0,
      isHeldForReview: false,
      isPaid: false,
      payerIsKnown: false,
      pendingDays: 0,
      failsNext: false,
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
      sale.backs.push(isWaiting ? 'wrong_amount' : ended);
      return;
    }
    // Also of what an operator has to look at first: the days count from when the bank had it.
    sale.pendingDays = this.terms.releaseDays;
    sale.reservedDays = 2;
    if (sale.isLocked && payer === 'unknown') {
      sale.status = 'PROCESSING';
      sale.isHeldForReview = true;
    } else if (sale.isLocked && payer === 'other') {
      sale.status = 'REFUNDED';
      sale.backs.push('payer_mismatch');
    } else this.#credit(sale, payer !== 'unknown');
  }

  /** What is paid when its time is over goes back. */
  comesLate(sale: SaleModel): void {
    sale.payments += 1;
    sale.backs.push('late');
    this.end(sale, 'EXPIRED');
  }

  decideReview(sale: SaleModel, decision: 'accept' | 'return'): void {
    sale.isHeldForReview = false;
    if (decision === 'accept') this.#credit(sale, false);
    else {
      sale.status = 'REFUNDED';
      sale.backs.push('review_returned');
    }
  }

  /** The bank ends what was not paid. */
  end(sale: SaleModel, status: 'EXPIRED' | 'REFUSED'): void {
    if (['WAITING_PAYMENT', 'PROCESSING'].includes(sale.status) && !sale.isHeldForReview) sale.status = status;
  }

  cancel(sale: SaleModel): Expected {
    if (sale.status === 'CANCELLED') return 200;
    if (!['WAITING_PAYMENT', 'PROCESSING'].includes(sale.status)) return '400 payment_not_cancellable';
    sale.before = sale.status;
    sale.status = 'CANCELLED';
    if (sale.isHeldForReview) sale.backs.push('cancelled');
    sale.isHeldForReview = false;
    return 200;
  }

  refund(
    sale: SaleModel,
    asked: { amount: number | null; strategy: 'cashout' | 'devolution' | null; passFee: boolean },
  ): Expected {
    if (['DISPUTE', 'CHARGEBACK'].includes(sale.status)) return '400 charge_disputed';
    if (!['PAID', 'APPROVED'].includes(sale.status)) return '400 payment_not_refundable';
    if (sale.method === 'CREDIT_CARD' && (asked.strategy !== null || asked.passFee)) return '400 invalid_request';
    if (sale.method === 'PIX' && asked.strategy === 'cashout' && !sale.payerIsKnown)
      return '422 REFUND_STRATEGY_NOT_SUPPORTED';
    const byDefault = sale.payerIsKnown ? 'cashout' : 'devolution';
    const way = sale.method === 'CREDIT_CARD' ? 'card' : (asked.strategy ?? byDefault);
    const left = Math.max(0, sale.amount - sum(standing(sale).map(({ amount }) => amount)) - takenByCases(sale));
    const amount = asked.amount ?? left;
    if (left === 0 || amount > left) return '400 refund_amount_exceeds_remaining';
    const fee = way === 'cashout' && asked.passFee ? this.terms.pixOutFee : 0;
    if (this.balance.available < amount + fee) return '422 insufficient_balance';
    const fails = sale.failsNext;
    sale.failsNext = false;
    sale.refunds.push({ amount, fee, way, fails, madeAt: ++this.#now, status: 'IN_PROGRESS' });
    return 201;
  }

  /** The last refund leaves for the bank, unless a case has claimed the payment since it was asked for. */
  send(sale: SaleModel): void {
    const refund = sale.refunds.at(-1);
    if (!refund || !['DISPUTE', 'CHARGEBACK'].includes(sale.status) || !sale.cases.some(isUnderway)) return;
    refund.status = 'FAILED';
    this.#claimAnew(sale);
  }

  /** What was on its way arrives, or does not, in the order in which it was sent. */
  arrive(): void {
    for (const sale of this.sales) {
      for (const refund of sale.refunds.filter(({ status }) => status === 'IN_PROGRESS')) {
        refund.status = refund.fails ? 'FAILED' : 'REFUNDED';
        if (refund.fails) this.#claimAnew(sale);
        else this.#close(sale);
      }
    }
  }

  nextDay(): void {
    this.arrive();
    for (const sale of this.sales) {
      sale.pendingDays = Math.max(0, sale.pendingDays - 1);
      sale.reservedDays = Math.max(0, sale.reservedDays - 1);
      this.end(sale, 'EXPIRED');
    }
  }

  enter(sale: SaleModel, entered: Omit<CorrectionModel, 'status'>): Expected {
    if (!isLossWithin(sale, entered)) return '409 loss_exceeds_charge';
    sale.corrections.push({ ...entered, status: 'waiting' });
    return 200;
  }

  /** Refunds and disputes may have taken meanwhile what there was when it was entered. */
  approveEntry(sale: SaleModel, entry: CorrectionModel): Expected {
    if (!isLossWithin(sale, entry)) return '409 loss_exceeds_charge';
    entry.status = 'applied';
    return 200;
  }

  rejectEntry(entry: CorrectionModel): Expected {
    entry.status = 'rejected';
    return 200;
  }

  /** The payer's bank disputes. A card is disputed once in each way. */
  dispute(sale: SaleModel, kind: DisputeKind, reported: number): void {
    if (kind !== 'med' && sale.cases.some((known) => known.kind === kind)) return;
    const isClear = reported === sale.amount && this.#isDisputable(sale);
    const fresh = { ruling: null, status: 'open', outcome: null, held: 0, lost: 0, told: null, overAt: 0 } as const;
    const made: CaseModel = { ...fresh, kind, reported, amount: reported, isVisible: false, isInDoubt: !isClear };
    sale.cases.push(made);
    if (isClear) this.#show(sale, made);
  }

  /** Of the dispute that has waited longest at the bank. */
  rule(sale: SaleModel, ruling: 'won' | 'lost'): void {
    const ruled = sale.cases.find((candidate) => candidate.ruling === null);
    if (!ruled) return;
    ruled.ruling = ruling;
    if (isUnderway(ruled)) this.#finish(sale, ruled);
    else if (isOver(ruled)) ruled.isInDoubt = isContradicted(sale, ruled);
  }

  appeal(medCase: CaseModel): Expected {
    if (medCase.status !== 'open') return '400 invalid_request';
    medCase.status = 'appealed';
    return 200;
  }

  accept(sale: SaleModel, medCase: CaseModel): Expected {
    if (medCase.status !== 'open') return '400 invalid_request';
    this.#over(sale, medCase, 'accepted', 'lost');
    this.#revive(sale);
    return 200;
  }

  dismiss(medCase: CaseModel): Expected {
    medCase.isInDoubt = false;
    if (!medCase.isVisible) Object.assign(medCase, { status: 'closed', overAt: ++this.#now });
    return 200;
  }

  /** @param amount what is really disputed of a case that the merchant has not seen; null: what the bank reports */
  approve(sale: SaleModel, medCase: CaseModel, amount: number | null): Expected {
    if (medCase.isVisible) {
      if (amount !== null) return '400 invalid_request';
      medCase.isInDoubt = false;
      if (isContradicted(sale, medCase)) this.#correct(sale, medCase);
      return 200;
    }
    const claimed = amount ?? medCase.reported;
    if (claimed > sale.amount) return '400 invalid_request';
    Object.assign(medCase, { isInDoubt: false, status: 'open', amount: claimed });
    this.#show(sale, medCase);
    if (medCase.ruling !== null) this.#finish(sale, medCase);
    return 200;
  }

  #credit(sale: SaleModel, payerIsKnown: boolean): void {
    sale.status = sale.method === 'PIX' ? 'PAID' : 'APPROVED';
    sale.isPaid = true;
    sale.payerIsKnown = payerIsKnown;
  }

  #isDisputable(sale: SaleModel): boolean {
    if (!sale.isPaid) return false;
    const isRefunding = sale.refunds.some(({ status }) => status === 'IN_PROGRESS');
    return room(sale) > 0 || isRefunding || sale.cases.some(isUnderway);
  }

  #show(sale: SaleModel, medCase: CaseModel): void {
    const isDisputable = this.#isDisputable(sale);
    medCase.held = Math.min(medCase.amount, room(sale));
    medCase.isVisible = true;
    if (isDisputable) this.#disputed(sale, medCase.kind);
  }

  #disputed(sale: SaleModel, kind: DisputeKind): void {
    if (['PAID', 'APPROVED'].includes(sale.status)) sale.status = kind === 'chargeback' ? 'CHARGEBACK' : 'DISPUTE';
    else if (sale.status === 'DISPUTE' && kind === 'chargeback') sale.status = 'CHARGEBACK';
  }

  #finish(sale: SaleModel, medCase: CaseModel): void {
    if (medCase.ruling === 'won') {
      const released = medCase.held;
      medCase.held = 0;
      this.#over(sale, medCase, 'closed', 'refunded_to_merchant');
      medCase.told = released;
      holdMore(sale);
    } else if (medCase.status === 'appealed') this.#over(sale, medCase, 'rejected', 'lost');
    else this.#over(sale, medCase, 'closed', 'closed_without_refund');
    this.#revive(sale);
  }

  /** What is held then is lost. */
  #over(sale: SaleModel, medCase: CaseModel, status: CaseModel['status'], outcome: CaseModel['outcome']): void {
    Object.assign(medCase, { status, outcome, lost: medCase.held, told: medCase.held, held: 0, overAt: ++this.#now });
    medCase.isInDoubt = isContradicted(sale, medCase);
  }

  /** The bank has ruled otherwise than the case had ended. */
  #correct(sale: SaleModel, medCase: CaseModel): void {
    const isWon = medCase.ruling === 'won';
    const before = medCase.lost;
    const isAsBefore = !isWon && medCase.outcome !== 'refunded_to_merchant';
    if (isWon) medCase.lost = 0;
    else {
      medCase.amount = Math.min(medCase.reported, sale.amount);
      // What the bank has taken is gone, also where younger cases hold it by now.
      for (const other of sale.cases.filter(isUnderway).reverse()) {
        other.held -= Math.max(0, Math.min(other.held, medCase.amount - medCase.lost - room(sale)));
      }
      medCase.lost = Math.min(medCase.amount, medCase.lost + room(sale));
    }
    medCase.told = isWon ? before : medCase.lost;
    medCase.overAt = ++this.#now;
    // One that is lost for another amount stays as it had ended.
    const outcome = isWon ? 'refunded_to_merchant' : 'closed_without_refund';
    if (!isAsBefore) Object.assign(medCase, { status: 'closed', outcome });
    if (isWon || medCase.lost < before) {
      holdMore(sale);
      doubtLosses(sale);
    }
    this.#revive(sale);
    const holder = sale.cases.find((other) => isUnderway(other) && other.held > 0);
    if (holder) this.#disputed(sale, holder.kind);
    else if (isLost(sale)) this.#disputed(sale, medCase.kind);
  }

  /** A refund has failed: its money is the merchant's again, or a case's that has too little. */
  #claimAnew(sale: SaleModel): void {
    const isDisputed = ['DISPUTE', 'CHARGEBACK'].includes(sale.status);
    if (isDisputed) holdMore(sale);
    doubtLosses(sale);
    if (isDisputed) this.#revive(sale);
  }

  /** A dispute ends with its last case, unless cases have taken all that was left to take. */
  #revive(sale: SaleModel): void {
    if (!['DISPUTE', 'CHARGEBACK'].includes(sale.status)) return;
    if (sale.cases.some(isUnderway) || isLost(sale)) return;
    sale.status = sale.method === 'PIX' ? 'PAID' : 'APPROVED';
    this.#close(sale);
  }

  #close(sale: SaleModel): void {
    const arrived = sum(sale.refunds.filter(({ status }) => status === 'REFUNDED').map(({ amount }) => amount));
    if (['PAID', 'APPROVED'].includes(sale.status) && arrived >= sale.amount) sale.status = 'REFUNDED';
  }
}

/** The bank's and the platform's: never more than the amount. */
function feesOf(amount: number, { feeBps, feeFixed, bankFee }: Pick<Terms, 'feeBps' | 'feeFixed' | 'bankFee'>): number {
  return Math.min(amount, shareOf(amount, feeBps) + feeFixed + bankFee);
}

/** Rounded half up. */
function shareOf(amount: number, bps: number): number {
  return Math.floor((amount * bps + 5_000) / 10_000);
}

function applied({ corrections }: SaleModel): CorrectionModel[] {
  return corrections.filter(({ status }) => status === 'applied');
}

/**
 * What is lost of a sale by entries is nothing to what devolutions and lost disputes have left, however another operator
 * decides those that wait.
 */
function isLossWithin(sale: SaleModel, entered: Omit<CorrectionModel, 'status'>): boolean {
  if (entered.kind !== 'loss') return true;
  const others = sale.corrections.filter(
    (other) => other !== entered && other.kind === 'loss' && other.status !== 'rejected',
  );
  const lost = (sign: number): number =>
    sum(others.filter(({ amount, status }) => amount * sign > 0 || status === 'applied').map(({ amount }) => amount));
  if (entered.amount < 0) return lost(-1) + entered.amount >= 0;
  const backs = sale.refunds.filter(({ way, status }) => way !== 'cashout' && status === 'REFUNDED');
  const taken = sum([...backs.map(({ amount }) => amount), ...sale.cases.map((each) => each.lost)]);
  return lost(1) + entered.amount <= sale.amount - taken;
}

function standing({ refunds }: SaleModel): RefundModel[] {
  return refunds.filter(({ status }) => status !== 'FAILED');
}

function takenByCases({ cases }: SaleModel): number {
  return sum(cases.map(({ held, lost }) => held + lost));
}

/** What the bank can still take or hold: a cashout is another Pix, and leaves the one that was paid where it is. */
function room(sale: SaleModel): number {
  if (!sale.isPaid) return 0;
  const backs = standing(sale).filter(({ way }) => way !== 'cashout');
  return sale.amount - sum(backs.map(({ amount }) => amount)) - takenByCases(sale);
}

function holdMore(sale: SaleModel): void {
  for (const medCase of sale.cases.filter(isUnderway)) {
    medCase.held += Math.max(0, Math.min(medCase.amount - medCase.held, room(sale)));
  }
}

/** Whether cases have taken all that devolutions had left, and the merchant could refund nothing after the last loss. */
function isLost(sale: SaleModel): boolean {
  const losses = sale.cases.filter(({ lost }) => lost > 0).map(({ overAt }) => overAt);
  const lastRefund = Math.max(0, ...sale.refunds.map(({ madeAt }) => madeAt));
  return room(sale) === 0 && losses.some((at) => at > lastRefund);
}

/** Cases that are over and lost less than the bank has taken, now that there is more for it to take. */
function doubtLosses(sale: SaleModel): void {
  for (const medCase of sale.cases.filter((candidate) => isOver(candidate) && candidate.ruling === 'lost')) {
    if (medCase.outcome === 'refunded_to_merchant' || !medCase.isVisible) continue;
    if (medCase.lost < takeable(sale, medCase)) medCase.isInDoubt = true;
  }
}

function isOver({ status }: CaseModel): boolean {
  return !['open', 'appealed'].includes(status);
}

/** What the bank can have taken for the case: what devolutions and the other cases' losses have left, up to its claim. */
function takeable(sale: SaleModel, medCase: CaseModel): number {
  const others = sale.cases.filter((other) => other !== medCase);
  const backs = standing(sale).filter(({ way }) => way !== 'cashout');
  const there = sale.amount - sum(backs.map(({ amount }) => amount)) - sum(others.map(({ lost }) => lost));
  return Math.min(medCase.reported, there);
}

/** Whether the bank has ruled otherwise than a case that is over has ended, or about another amount. */
function isContradicted(sale: SaleModel, medCase: CaseModel): boolean {
  if (!isOver(medCase) || medCase.ruling === null) return false;
  const wasWon = !medCase.isVisible || medCase.outcome === 'refunded_to_merchant';
  if ((medCase.ruling === 'won') !== wasWon) return true;
  return !wasWon && medCase.lost !== takeable(sale, medCase);
}
