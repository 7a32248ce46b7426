import type { Account } from '../../accounts/index.js';
import type { Amount } from '../../core/money/index.js';
import {
  type Disputed,
  type Taken,
  takeableOf,
  type Transaction,
  type TransactionStatus,
} from '../../transactions/index.js';
import type { DisputeMove } from '../../wallets/index.js';
import type { MedCase } from './med-case.js';
import { isUnderway } from './med-cases.machine.js';

/**
 * Statuses of credited payments. REFUNDED is among them, and a dispute does not change it: a cashout is a separate Pix,
 * so the bank can still take the paid one.
 */
const DISPUTABLE: readonly TransactionStatus[] = ['PAID', 'APPROVED', 'DISPUTE', 'CHARGEBACK', 'REFUNDED'];

/**
 * A transaction with all its cases, locked together. Movements of money are collected here and posted last, because
 * balances are locked last.
 */
export class DisputedTransaction {
  transaction: Transaction;
  readonly account: Account;
  readonly moves: DisputeMove[] = [];
  readonly #isRefunding: boolean;
  readonly #lastTakenAt: Date | null;
  #taken: Taken;

  constructor(
    disputed: Disputed,
    /** Cases in the order in which they came. */
    public cases: readonly MedCase[],
  ) {
    this.transaction = disputed.transaction;
    this.account = disputed.account;
    this.#isRefunding = disputed.isRefunding;
    this.#lastTakenAt = disputed.lastTakenAt;
    const { refundsAmount, cashoutsAmount, disputedAmount, lossesAmount } = disputed;
    this.#taken = { refundsAmount, cashoutsAmount, disputedAmount, lossesAmount };
  }

  /**
   * How much more can be held: the payment, less devolutions and losses, less the amounts that cases hold or have
   * taken.
   */
  get room(): Amount {
    return this.transaction.paidAt === null ? 0 : takeableOf(this.transaction.amount, this.#taken);
  }

  /** Amount that refunds returned by separate Pix of the merchant. */
  get cashoutsAmount(): Amount {
    return this.#taken.cashoutsAmount;
  }

  /** Visible open cases about the credited payment, in the order in which they came. */
  get underway(): MedCase[] {
    return this.cases.filter((c) => c.visible && isUnderway(c.status) && this.isCredited(c));
  }

  /**
   * Whether cases have taken all that devolutions and losses had left of the payment; it stays DISPUTE or CHARGEBACK
   * then.
   * A refund or an operator's entry after the last case's loss makes this false: the case had left the merchant
   * something, and the refund or the entry has taken the rest.
   */
  get isLost(): boolean {
    const losses = this.cases.flatMap(({ lostAmount, closedAt }) => (lostAmount > 0 && closedAt ? [closedAt] : []));
    const taken = this.#lastTakenAt;
    return this.room === 0 && losses.length > 0 && (taken === null || losses.some((at) => at >= taken));
  }

  /** Returns whether the case concerns the credited payment. If that payment was sent back, nothing can be held. */
  isCredited({ paymentReference }: Pick<MedCase, 'paymentReference'>): boolean {
    return this.transaction.paidAt !== null && this.transaction.endToEndId === paymentReference;
  }

  /** Returns how much can be held for the case. */
  roomFor(medCase: Pick<MedCase, 'paymentReference'>): Amount {
    return this.isCredited(medCase) ? this.room : 0;
  }

  /** Returns how much the bank can take by this case: the payment, less devolutions, losses and other cases' losses. */
  takeableBy(medCase: Pick<MedCase, 'id' | 'paymentReference'>): Amount {
    if (!this.isCredited(medCase)) return 0;
    const others = this.cases.filter(({ id }) => id !== medCase.id);
    const disputedAmount = others.reduce((sum, { lostAmount }) => sum + lostAmount, 0);
    return takeableOf(this.transaction.amount, { ...this.#taken, disputedAmount });
  }

  /**
   * Returns whether the case can hold money now, or later: when a refund under way fails, or when another open case
   * ends in the merchant's favour.
   */
  isDisputable(medCase: Pick<MedCase, 'id' | 'paymentReference'>): boolean {
    if (!this.isCredited(medCase) || !DISPUTABLE.includes(this.transaction.status)) return false;
    return this.room > 0 || this.#isRefunding || this.underway.some(({ id }) => id !== medCase.id);
  }

  find(id: string): MedCase {
    const found = this.cases.find((candidate) => candidate.id === id);
    if (!found) throw new Error(`The case ${id} is not one of the transaction ${this.transaction.id}`);
    return found;
  }

  /** Replaces the case's former version, or adds the case at the end. */
  put(medCase: MedCase): void {
    const isThere = this.cases.some(({ id }) => id === medCase.id);
    this.cases = isThere
      ? this.cases.map((other) => (other.id === medCase.id ? medCase : other))
      : [...this.cases, medCase];
  }

  /** @param claimed how much more is disputed; negative: less */
  move(
    medCase: MedCase,
    what: DisputeMove['what'],
    amount: Amount,
    claimed: Amount,
    detail: string | null = null,
  ): void {
    this.#taken = { ...this.#taken, disputedAmount: this.#taken.disputedAmount + claimed };
    if (amount === 0) return;
    const { id: caseId, type, accountId, mode, transactionId, currency } = medCase;
    const isCard = type !== 'med';
    this.moves.push({ caseId, isCard, accountId, mode, transactionId, currency, what, detail, amount });
  }
}
