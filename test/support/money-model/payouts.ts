import type { Branch } from './branches.js';
import { sum } from './sale.js';

/**
 * Models the payouts of a merchant and the bank that sends them. The sources are docs/payouts.md,
 * docs/design/payouts.md and docs/sandbox.md. Amounts are in cents, times in milliseconds.
 */

export interface PayoutTerms {
  readonly fee: number;
  /** Receivers that the account may pay */
  readonly to: 'own' | 'anyone';
  /** Null here and in the limits below: none */
  readonly approvalAbove: number | null;
  readonly newDestinationHours: number;
  readonly max: number | null;
  readonly dailyMax: number | null;
  readonly nightMax: number | null;
}

/** Person who decides about a payout. `asker` is the ADMIN who requests all payouts but those of the schedule. */
export type Person = 'asker' | 'admin' | 'owner';

/** Answer of the bank to the next call, or the moment at which that call is lost. */
export type Call = 'arrives' | 'lost before' | 'lost after' | 'refused' | 'invalid' | 'not now';

export type BankEvent = 'pay' | 'fail' | 'return' | 'unknown' | 'review' | 'resolve';

/** A saved destination. A receiver that is saved again after its removal gets another one. */
export interface SavedModel {
  isDeleted: boolean;
  isApproved: boolean;
}

interface BankModel {
  state: 'auto' | 'paid' | 'failed' | 'unknown' | 'review';
  requestedAt: number | null;
  paidAt: number | null;
  readonly returns: number[];
}

export interface PayoutModel {
  readonly amount: number;
  readonly fee: number;
  /** Index in `RECEIVERS` */
  readonly to: number;
  readonly isScheduled: boolean;
  readonly madeAt: number;
  readonly bank: BankModel;
  status: 'AWAITING' | 'QUEUED' | 'SENDING' | 'PAID' | 'FAILED' | 'CANCELLED' | 'REFUNDED';
  isApproved: boolean;
  sendAfter: number;
  sentAt: number;
  processing: 'sent' | 'review' | 'unknown' | null;
  failure: string | null;
  /** Returns that the merchant was credited with; the bank may know more. */
  readonly returns: number[];
  /** Events so far: type, status after, status before, returned amount */
  readonly events: (readonly [string, string, string | null, number | null])[];
  /** Lines of the statement so far */
  readonly lines: (readonly [string, number])[];
}

export interface ScheduleModel {
  readonly to: number;
  readonly saved: SavedModel;
  readonly leave: number;
  readonly minimum: number;
  /** Minutes after midnight in São Paulo */
  readonly minute: number;
  /** Occurrences up to this time are over. */
  after: number;
}

export interface PayoutRequest {
  readonly amount: number;
  readonly to: number;
  readonly isSaved: boolean;
  readonly allowsDuplicate: boolean;
}

/** Whether the receiver's tax id is the merchant's own or has the same root. Same order as the receivers of PayoutWorld. */
export const IS_OWN: readonly boolean[] = [true, true, false, false];

const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** São Paulo is three hours behind UTC, and has no summer time since 2019. */
const ZONE_MS = 3 * HOUR_MS;
export const REPEATED_MS = 10 * 60_000;
const PAID_MS = 1_000;

/** Start of the day in São Paulo */
export function dayOf(at: number): number {
  return Math.floor((at - ZONE_MS) / DAY_MS) * DAY_MS + ZONE_MS;
}

/** Start of the night in which `at` is: 20:00 to 06:00. @returns null by day */
function nightOf(at: number): number | null {
  const hour = (at - dayOf(at)) / HOUR_MS;
  if (hour >= 20) return dayOf(at) + 20 * HOUR_MS;
  return hour < 6 ? dayOf(at) - 4 * HOUR_MS : null;
}

/** The next end of a night */
function morningAfter(at: number): number {
  const morning = dayOf(at) + 6 * HOUR_MS;
  return at < morning ? morning : morning + DAY_MS;
}

/** Next change between day and night */
export function nextEdge(at: number): number {
  const edges = [6, 20, 30].map((hour) => dayOf(at) + hour * HOUR_MS);
  return edges.find((edge) => edge > at) as number;
}

/** National holidays in the months of the stories, without those that move with Easter */
const HOLIDAYS = ['09-07', '10-12', '11-02', '11-15', '11-20', '12-25'];

/** @param day start of a day in São Paulo */
function isBankDay(day: number): boolean {
  const date = new Date(day - ZONE_MS);
  return ![0, 6].includes(date.getUTCDay()) && !HOLIDAYS.includes(date.toISOString().slice(5, 10));
}

/** First Monday of the next July. Stories begin there: whenever they run, the same of their days are bank days. */
export function firstMonday(now: Date): Date {
  const year = now.getUTCFullYear() + (now.getUTCMonth() >= 5 ? 1 : 0);
  const weekday = new Date(Date.UTC(year, 6, 1)).getUTCDay();
  return new Date(Date.UTC(year, 6, 1 + ((8 - weekday) % 7), 12));
}

const isOpen = ({ status }: PayoutModel): boolean => ['AWAITING', 'QUEUED', 'SENDING'].includes(status);
const isEnded = ({ status }: PayoutModel): boolean => ['FAILED', 'CANCELLED'].includes(status);

/** Whether nothing of the payout is left, so that its fee is given back. */
const hasNoFee = (one: PayoutModel): boolean => isEnded(one) || one.status === 'REFUNDED';

export function returned({ returns }: PayoutModel): number {
  return sum(returns);
}

export class PayoutsModel {
  readonly all: PayoutModel[] = [];
  /** Last saved destination of each receiver; null: never saved */
  readonly saved: (SavedModel | null)[] = IS_OWN.map(() => null);
  /** Receivers of which the owner has approved a destination, also one that was removed since */
  readonly #vouched = new Set<number>();
  schedule: ScheduleModel | null = null;

  constructor(
    readonly terms: PayoutTerms,
    /** The merchant's available balance */
    private readonly available: () => number,
    private readonly reach: (branch: Branch, isReached?: boolean) => void,
  ) {}

  /** Money that payouts have taken from the available balance */
  get taken(): number {
    return sum(this.all.map((one) => (hasNoFee(one) ? 0 : one.amount + one.fee - returned(one))));
  }

  /** Money that is set aside for payouts without an end */
  get reserved(): number {
    return sum(this.all.map((one) => (isOpen(one) ? one.amount + one.fee : 0)));
  }

  /** Money that the receivers have */
  get sent(): number {
    return sum(this.#arrived.map((one) => one.amount - returned(one)));
  }

  /** Fees of the payouts that were paid and did not come back whole */
  get fees(): number {
    return sum(this.#arrived.map((one) => (hasNoFee(one) ? 0 : one.fee)));
  }

  get #arrived(): PayoutModel[] {
    return this.all.filter(({ status }) => status === 'PAID' || status === 'REFUNDED');
  }

  request(asked: PayoutRequest, at: number): 201 | `${409 | 422} ${string}` {
    const { amount, to, isSaved } = asked;
    const saved = isSaved ? (this.saved[to] ?? null) : null;
    if (isSaved && saved?.isDeleted !== false) {
      this.reach('payout refused: destination');
      return '422 destination_not_found';
    }
    if (this.terms.to === 'own' && IS_OWN[to] !== true) {
      this.reach('payout refused: not the own account');
      return '422 destination_not_allowed';
    }
    const same = this.all.filter((one) => one.to === to && one.amount === amount && at - one.madeAt < REPEATED_MS);
    if (same.some((one) => !isEnded(one)) && !asked.allowsDuplicate) {
      this.reach('payout refused: duplicate');
      return '409 likely_duplicate';
    }
    this.reach('payout repeated after one that ended', same.length > 0 && same.every(isEnded));
    this.reach(
      'payout repeated on purpose',
      same.some((one) => !isEnded(one)),
    );
    const limits = this.#limits(at);
    for (const { left, branch } of limits) {
      if (amount <= left) continue;
      this.reach(branch);
      return '422 payout_limit_exceeded';
    }
    this.reach(
      'payout of all that a limit leaves',
      limits.some(({ left }) => amount === left),
    );
    const available = this.available();
    if (amount + this.terms.fee > available) {
      this.reach('payout refused: balance, by its fee alone', amount <= available);
      this.reach('payout refused: balance');
      return '422 insufficient_balance';
    }
    this.reach('payout of the whole balance', amount + this.terms.fee === available);
    this.reach(isSaved ? 'payout to a saved destination' : 'payout to an inline destination');
    this.#open(asked, at, false);
    return 201;
  }

  /** Two payouts were requested at the same moment. @param isOne whether exactly one was accepted */
  bothRequested(isOne: boolean): void {
    this.reach('payout at the same moment as another', isOne);
  }

  #limits(at: number): { readonly left: number; readonly branch: Branch }[] {
    const { max, dailyMax, nightMax } = this.terms;
    const night = nightOf(at);
    const since = (start: number): number =>
      sum(this.all.map((one) => (isEnded(one) || one.madeAt < start ? 0 : one.amount)));
    const all = [
      { limit: max, used: 0, branch: 'payout refused: limit of one payout' },
      { limit: dailyMax, used: since(dayOf(at)), branch: 'payout refused: limit of the day' },
      {
        limit: night === null ? null : nightMax,
        used: since(night ?? at),
        branch: 'payout refused: limit of the night',
      },
    ] as const;
    return all.flatMap(({ limit, used, branch }) =>
      limit === null ? [] : [{ left: Math.max(0, limit - used), branch }],
    );
  }

  /** The least that a limit leaves now; null: no limit holds */
  limit(at: number): number | null {
    const left = this.#limits(at).map((limit) => limit.left);
    return left.length === 0 ? null : Math.min(...left);
  }

  #open({ amount, to, isSaved }: PayoutRequest, at: number, isScheduled: boolean): void {
    const { fee, approvalAbove, newDestinationHours } = this.terms;
    const saved = this.saved[to];
    const wasPaid = this.#arrived.some((one) => one.to === to);
    const isApproved = saved?.isDeleted === false && saved.isApproved;
    const isNew = !wasPaid && !isApproved;
    const waits = isNew ? newDestinationHours * HOUR_MS : 0;
    const status = approvalAbove !== null && amount > approvalAbove ? 'AWAITING' : 'QUEUED';
    this.reach('payout waits for approval', status === 'AWAITING');
    this.reach('payout waits for its new destination', waits > 0);
    this.reach('payout to a known destination', newDestinationHours > 0 && wasPaid);
    const isKnown = newDestinationHours > 0 && !wasPaid && isApproved;
    this.reach('payout to an approved destination', isKnown && isSaved);
    this.reach('inline payout to an approved destination', isKnown && !isSaved);
    this.all.push({
      ...{ amount, fee, to, isScheduled, madeAt: at, status },
      bank: { state: 'auto', requestedAt: null, paidAt: null, returns: [] },
      ...{ isApproved: false, sendAfter: at + waits, sentAt: 0, processing: null, failure: null },
      ...{ returns: [], events: [['payout.requested', status, null, null]], lines: [['payout', -amount - fee]] },
    });
  }

  save(to: number): void {
    if (this.saved[to]?.isDeleted !== false) this.saved[to] = { isDeleted: false, isApproved: false };
  }

  approveDestination(to: number, at: number): void {
    const saved = this.saved[to];
    if (saved?.isApproved === false) {
      saved.isApproved = true;
      const waiting = this.all.filter(
        (one) => one.to === to && ['AWAITING', 'QUEUED'].includes(one.status) && one.sendAfter > at,
      );
      this.reach('payout let go by the approval of its destination', waiting.length > 0);
      for (const one of waiting) one.sendAfter = at;
    }
    this.#vouched.add(to);
  }

  approve(payout: PayoutModel, by: Person, at: number): 200 | `${403 | 409} ${string}` {
    if (this.#isOwn(payout, by)) return '403 approval_not_allowed';
    const isOwner = by === 'owner';
    const isPutOff = nightOf(at) !== null && payout.sendAfter === morningAfter(at);
    this.reach('approval of a payout that waits for the morning', isPutOff);
    const isWaiting = payout.status === 'QUEUED' && payout.sendAfter > at && !isPutOff;
    if (payout.status === 'AWAITING') {
      this.reach('payout approved');
      this.#move(payout, 'QUEUED', 'payout.approved');
    } else if (isWaiting && isOwner) this.reach('payout let go by an owner');
    else if (payout.isApproved && payout.status !== 'CANCELLED') return 200;
    else {
      this.reach('approval refused: the payout does not wait');
      return '409 payout_not_waiting';
    }
    this.reach('payout approved, and waits for its new destination', !isOwner && payout.sendAfter > at);
    payout.isApproved = true;
    if (isOwner || payout.sendAfter <= at) payout.sendAfter = at;
    return 200;
  }

  refuse(payout: PayoutModel, by: Person): 200 | `${403 | 409} ${string}` {
    if (this.#isOwn(payout, by)) return '403 approval_not_allowed';
    if (payout.failure === 'approval_refused') return 200;
    if (payout.status !== 'AWAITING') return '409 payout_not_waiting';
    this.reach('payout refused by a second person');
    this.#release(payout, 'CANCELLED', 'approval_refused');
    return 200;
  }

  #isOwn({ isScheduled, to }: PayoutModel, by: Person): boolean {
    const isAsker = by === 'asker' && !isScheduled;
    const isVoucher = by === 'owner' && this.#vouched.has(to);
    this.reach('approval refused: by the asker', isAsker);
    this.reach('approval refused: by the one who approved the destination', isVoucher);
    return isAsker || isVoucher;
  }

  cancel(payout: PayoutModel): 200 | `409 ${string}` {
    if (payout.status === 'CANCELLED') return 200;
    if (payout.status !== 'AWAITING' && payout.status !== 'QUEUED') {
      this.reach('cancellation refused: the bank has the payout');
      return '409 payout_not_cancellable';
    }
    this.reach('payout cancelled');
    this.#release(payout, 'CANCELLED', 'cancelled');
    return 200;
  }

  /** An operator reports the end of a payout. */
  resolve(payout: PayoutModel, outcome: 'paid' | 'failed', at: number): 200 | `409 ${string}` {
    const isOverdue = outcome === 'failed' && payout.status === 'QUEUED' && payout.sendAfter < at;
    this.reach('payout failed by an operator before it was sent', isOverdue);
    if (payout.status !== 'SENDING' && !isOverdue) {
      this.reach('payout not uncertain');
      return '409 payout_not_uncertain';
    }
    this.reach('payout resolved by an operator');
    if (outcome === 'paid') this.#move(payout, 'PAID', 'payout.paid');
    else this.#release(payout, 'FAILED', 'not_sent');
    return 200;
  }

  /** Something happens to the payout at the sandbox bank. @param part of a return; null: all that is left */
  happens({ amount, bank }: PayoutModel, event: BankEvent, part: number | null, at: number): 200 | `400 ${string}` {
    if (event === 'return') {
      const left = amount - sum(bank.returns);
      if (this.bankSays(bank, at) !== 'paid' || left === 0 || (part ?? left) > left) return '400 invalid_request';
      bank.returns.push(part ?? left);
    } else {
      const states = { pay: 'paid', resolve: 'paid', fail: 'failed', unknown: 'unknown', review: 'review' } as const;
      bank.state = states[event];
    }
    if (['pay', 'resolve', 'return'].includes(event)) bank.paidAt ??= at;
    return 200;
  }

  bankSays(
    { state, requestedAt, paidAt }: BankModel,
    at: number,
  ): 'not found' | 'sent' | Exclude<BankModel['state'], 'auto'> {
    if (requestedAt === null) return 'not found';
    if (state !== 'auto' && state !== 'paid') return state;
    return (paidAt ?? requestedAt + PAID_MS) > at ? 'sent' : 'paid';
  }

  /** Whether the limit of the night keeps the payout from being sent now. */
  #isHeldBack({ amount }: PayoutModel, at: number): boolean {
    const night = nightOf(at);
    if (night === null || this.terms.nightMax === null) return false;
    const sent = this.all.filter((one) => one.sentAt >= night && ['SENDING', 'PAID', 'REFUNDED'].includes(one.status));
    return sum(sent.map((one) => one.amount)) + amount > this.terms.nightMax;
  }

  /** Whether a run of the worker calls the bank now. */
  isCalled(payout: PayoutModel, at: number): boolean {
    const { status, sendAfter, sentAt, bank } = payout;
    if (status === 'QUEUED') return sendAfter <= at && !this.#isHeldBack(payout, at);
    return status === 'SENDING' && bank.requestedAt === null && at - sentAt < HOUR_MS;
  }

  /** Takes the payout one step further, as a run of the worker does. @param call answer if the run calls the bank */
  run(payout: PayoutModel, call: Call, at: number): void {
    const { bank, status } = payout;
    if (status === 'QUEUED' && payout.sendAfter <= at) {
      if (this.#isHeldBack(payout, at)) {
        this.reach('payout put off until the morning');
        payout.sendAfter = morningAfter(at);
        return;
      }
      this.#move(payout, 'SENDING', 'payout.sent');
      payout.sentAt = at;
      return this.#call(payout, call, at, true);
    }
    if (status !== 'SENDING' && status !== 'PAID') return;
    const word = this.bankSays(bank, at);
    if (word === 'paid') return this.#paid(payout);
    if (word === 'failed') {
      if (status === 'SENDING') {
        this.reach('payout failed at the bank');
        return this.#release(payout, 'FAILED', 'rejected_by_receiver');
      }
      return this.#revoke(payout);
    }
    this.reach('bank unsure about a paid payout', status === 'PAID' && word !== 'not found');
    if (status === 'PAID') return;
    if (word !== 'not found') {
      this.reach('payout under review', word === 'review');
      this.reach('bank does not answer about a payout', word === 'unknown');
      payout.processing = word;
    } else if (at - payout.sentAt < HOUR_MS) {
      this.reach('lost payout sent again');
      this.#call(payout, call, at, false);
    } else {
      this.reach('lost payout given up after an hour');
      this.#release(payout, 'FAILED', 'not_sent');
    }
  }

  #call(payout: PayoutModel, call: Call, at: number, isFirst: boolean): void {
    const { bank } = payout;
    this.reach('payout call lost before the bank has it', call === 'lost before');
    this.reach('payout call lost after the bank has it', call === 'lost after');
    payout.processing = 'unknown';
    if (call === 'arrives' || call === 'lost after') {
      bank.requestedAt ??= at;
      if (call === 'arrives' && bank.state !== 'unknown') payout.processing = 'sent';
    } else if (call === 'invalid' || (call === 'refused' && isFirst)) {
      this.reach(isFirst ? 'payout refused by the first call' : 'payout refused by a later call');
      this.#release(payout, 'FAILED', call === 'invalid' ? 'destination_invalid' : 'refused');
    } else if (call === 'refused' || (call === 'not now' && !isFirst)) this.reach('later refusal of a payout ignored');
    else if (call === 'not now') {
      this.reach('payout put back');
      this.#move(payout, 'QUEUED', 'payout.put_back');
    }
  }

  #paid(payout: PayoutModel): void {
    const { amount, bank } = payout;
    if (payout.status === 'SENDING') {
      this.reach('payout paid');
      this.#move(payout, 'PAID', 'payout.paid');
    }
    this.reach('report of a payout repeated', bank.returns.length > 0 && bank.returns.length === payout.returns.length);
    this.reach('two returns of a payout reported at once', bank.returns.length > payout.returns.length + 1);
    for (const part of bank.returns.slice(payout.returns.length)) {
      payout.returns.push(part);
      const isAll = returned(payout) === amount;
      this.reach(
        isAll ? (part === amount ? 'payout returned whole' : 'payout returned in parts') : 'part of a payout returned',
      );
      payout.lines.push(['payout_returned', part]);
      payout.events.push(['payout.returned', isAll ? 'REFUNDED' : 'PAID', 'PAID', part]);
      if (!isAll) continue;
      payout.status = 'REFUNDED';
      this.reach('fee of a returned payout given back', payout.fee > 0);
      if (payout.fee > 0) payout.lines.push(['payout_returned', payout.fee]);
    }
  }

  #revoke(payout: PayoutModel): void {
    const back = returned(payout);
    this.reach(back > 0 ? 'payout revoked after a partial return' : 'payout revoked');
    payout.lines.push(['payout_failed', payout.amount + payout.fee - back]);
    payout.failure = 'revoked_by_bank';
    this.#move(payout, 'FAILED', 'payout.ended');
  }

  /** Ends a payout that no receiver has got: amount and fee are available again. */
  #release(payout: PayoutModel, status: 'FAILED' | 'CANCELLED', failure: string): void {
    this.reach('fee of a failed payout given back', payout.fee > 0);
    payout.lines.push(['payout_failed', payout.amount + payout.fee]);
    payout.failure = failure;
    this.#move(payout, status, 'payout.ended');
  }

  #move(payout: PayoutModel, status: PayoutModel['status'], event: string): void {
    payout.events.push([event, status, payout.status, null]);
    payout.status = status;
    payout.processing = null;
  }

  /** Makes the payout of the last occurrence that has come, if it is not over. */
  runSchedule(at: number): void {
    const { schedule, terms } = this;
    if (!schedule) return;
    let day = dayOf(at);
    while (day + schedule.minute * 60_000 > at || !isBankDay(day)) day -= DAY_MS;
    const due = day + schedule.minute * 60_000;
    this.reach('no occurrence: not yet', due <= schedule.after);
    if (due <= schedule.after) return;
    schedule.after = due;
    this.reach('occurrence: destination removed', schedule.saved.isDeleted);
    this.reach('occurrence: not the own account', terms.to === 'own' && IS_OWN[schedule.to] !== true);
    const isAllowed = terms.to === 'anyone' || IS_OWN[schedule.to] === true;
    if (schedule.saved.isDeleted || !isAllowed) return;
    const wanted = this.available() - terms.fee - schedule.leave;
    const least = Math.max(1, schedule.minimum);
    const limit = this.limit(at);
    const amount = Math.min(wanted, limit ?? wanted);
    this.reach('occurrence: below the minimum', wanted < least && wanted > 0);
    this.reach('occurrence: nothing above what stays', wanted <= 0);
    this.reach('occurrence: a limit leaves too little', wanted >= least && amount < least);
    if (amount < least) return;
    this.reach(amount < wanted ? 'occurrence: paid up to a limit' : 'occurrence: paid');
    this.#open({ amount, to: schedule.to, isSaved: true, allowsDuplicate: true }, at, true);
  }
}
