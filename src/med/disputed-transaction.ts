import type { Account } from '../accounts/index.js';
import type { Amount } from '../core/money/index.js';
import {
  type Disputed,
  type Taken,
  takeableOf,
  type Transaction,
  type TransactionStatus,
} from '../transactions/index.js';
import type { DisputeMove } from '../wallets/index.js';
import type { MedCase } from './med-case.js';
import { isUnderway } from './med-cases.machine.js';

/**
 * What was credited. Also REFUNDED, whose status a dispute does not change: a cashout is a Pix of its own, so the Pix that
 * was paid is still there for the bank to take.
 */
const DISPUTABLE: readonly TransactionStatus[] = ['PAID', 'APPROVED', 'DISPUTE', 'CHARGEBACK', 'REFUNDED'];

/**
 * One transaction with all its cases, locked together, and what is being done about them. The movements of money are
 * collected here: balances are locked last.
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

  /** How much more can be held: what was paid, less devolutions and losses, less what cases hold or have taken. */
  get room(): Amount {
    return this.transaction.paidAt === null ? 0 : takeableOf(this.transaction.amount, this.#taken);
  }

  /** What refunds have given back by a Pix of the merchant, beside the one that was paid. */
  get cashoutsAmount(): Amount {
    return this.#taken.cashoutsAmount;
  }

  /**
   * Cases with a claim on what was credited that the merchant sees and that are not over, in the order in which they
   * came.
   */
  get underway(): MedCase[] {
    return this.cases.filter((c) => c.visible && isUnderway(c.status) && this.isCredited(c));
  }

  /**
   * Whether cases have taken all that devolutions and losses had left of the payment; it stays DISPUTE or CHARGEBACK then.
   * A refund or an operator's entry after the last case's loss makes this false: that case had left the merchant something,
   * so the refund or the entry has taken the rest and no case has.
   */
  get isLost(): boolean {
    const losses = this.cases.flatMap(({ lostAmount, closedAt }) => (lostAmount > 0 && closedAt ? [closedAt] : []));
    const taken = this.#lastTakenAt;
    return this.room === 0 && losses.length > 0 && (taken === null || losses.some((at) => at >= taken));
  }

  /** Whether the case is about the payment that was credited. Of a payment that was sent back nothing can be held. */
  isCredited({ paymentReference }: Pick<MedCase, 'paymentReference'>): boolean {
    return this.transaction.paidAt !== null && this.transaction.endToEndId === paymentReference;
  }

  /** How much can be held for the case. */
  roomFor(medCase: Pick<MedCase, 'paymentReference'>): Amount {
    return this.isCredited(medCase) ? this.room : 0;
  }

  /** How much the bank can take by this case: what was paid, less devolutions, losses and what other cases have lost. */
  takeableBy(medCase: Pick<MedCase, 'id' | 'paymentReference'>): Amount {
    if (!this.isCredited(medCase)) return 0;
    const others = this.cases.filter(({ id }) => id !== medCase.id);
    const disputedAmount = others.reduce((sum, { lostAmount }) => sum + lostAmount, 0);
    return takeableOf(this.transaction.amount, { ...this.#taken, disputedAmount });
  }

  /**
   * Whether the case can hold money now, or later: when a refund under way fails, or another case that is open ends in the
   * merchant's favour.
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

  /** Puts the case in the place of its former self, or behind the others. */
  put(medCase: MedCase): void {
    const isThere = this.cases.some(({ id }) => id === medCase.id);
    this.cases = isThere
      ? this.cases.map((other) => (other.id === medCase.id ? medCase : other))
      : [...this.cases, medCase];
  }

  /** @param claimed by how much more, or less when negative, is disputed */
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
