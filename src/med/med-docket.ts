import type { Account } from '../accounts/index.js';
import type { Amount } from '../core/money/index.js';
import type { Disputed, Transaction } from '../transactions/index.js';
import type { DisputeMove } from '../wallets/index.js';
import type { MedCase } from './med-case.js';
import { isUnderway } from './med-cases.machine.js';

/**
 * One transaction with all its cases, locked together, and what is being done about them. The movements of money are
 * collected here: balances are locked last.
 */
export class Docket {
  transaction: Transaction;
  readonly account: Account;
  readonly isCredited: boolean;
  readonly moves: DisputeMove[] = [];
  readonly #refundsAmount: Amount;
  #disputedAmount: Amount;

  constructor(
    disputed: Disputed,
    /** In the order in which they came. */
    public cases: readonly MedCase[],
  ) {
    this.transaction = disputed.transaction;
    this.account = disputed.account;
    this.isCredited = disputed.isCredited;
    this.#refundsAmount = disputed.refundsAmount;
    this.#disputedAmount = disputed.disputedAmount;
  }

  /** What of the payment is neither refunded nor disputed: as much can be held. Nothing of one that was sent back. */
  get room(): Amount {
    return this.isCredited ? this.transaction.amount - this.#refundsAmount - this.#disputedAmount : 0;
  }

  /** Cases that the merchant sees and that are not over, in the order in which they came. */
  get underway(): MedCase[] {
    return this.cases.filter(({ visible, status }) => visible && isUnderway(status));
  }

  /** Whether cases have taken all that refunds had left of the payment. */
  get isLost(): boolean {
    return this.cases.some(({ lostAmount }) => lostAmount > 0) && this.room === 0;
  }

  find(id: string): MedCase {
    const found = this.cases.find((candidate) => candidate.id === id);
    if (!found) throw new Error(`The case ${id} is not on the docket of ${this.transaction.id}`);
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
    this.#disputedAmount += claimed;
    if (amount === 0) return;
    const { id: caseId, accountId, mode, transactionId, currency } = medCase;
    this.moves.push({ caseId, accountId, mode, transactionId, currency, what, detail, amount });
  }
}
