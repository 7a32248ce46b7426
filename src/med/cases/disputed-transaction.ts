import type { Account } from '../../accounts/index.js';
import type { Amount } from '../../core/money/index.js';
import {
  type Disputed,
  type MedBlock,
  takeableOf,
  type Transaction,
  type TransactionStatus,
} from '../../transactions/index.js';
import type { DisputeMove } from '../../wallets/index.js';
import type { MedCase } from './med-case.js';
import { medBlockOf } from './med-case.rules.js';
import { isUnderway, type MedCaseStatus } from './med-cases.machine.js';

/**
 * Statuses of credited payments. A dispute does not change REFUNDED. A cashout is a separate Pix, so the bank can still
 * take the paid one.
 */
const DISPUTABLE: readonly TransactionStatus[] = ['PAID', 'APPROVED', 'DISPUTE', 'CHARGEBACK', 'REFUNDED'];

/** A step that changes no case. */
export type FurtherStep =
  /** `metadata.med` shows the cases; null: it shows nothing. */
  | { readonly kind: 'med_block_changed'; readonly block: MedBlock | null }
  /** The case disputes the transaction, if the transaction's status allows that. */
  | { readonly kind: 'transaction_disputed'; readonly medCase: MedCase }
  /** The transaction's dispute has ended. */
  | { readonly kind: 'transaction_revived' }
  /** The merchant is notified of one of these. */
  | { readonly kind: 'opened' | 'evidence_requested'; readonly medCase: MedCase }
  /** @param amount formerly held */
  | { readonly kind: 'ended'; readonly medCase: MedCase; readonly amount: Amount }
  /** @param taken from the merchant; negative: given back */
  | { readonly kind: 'corrected'; readonly medCase: MedCase; readonly taken: Amount };

/** A change that a dispute makes, as a value. `MedTransitions.carryOut` writes it. */
export type DisputeStep =
  | FurtherStep
  | { readonly kind: 'case_begun'; readonly medCase: MedCase }
  /** @param claimed how much more of the payment is disputed; negative: less */
  | {
      readonly kind: 'case_changed';
      readonly medCase: MedCase;
      readonly from: MedCaseStatus;
      readonly claimed: Amount;
    };

/** The movement of money that changes a case. */
export interface CaseMoney {
  readonly what: DisputeMove['what'];
  readonly amount: Amount;
  /** How much more of the payment is disputed; negative: less. */
  readonly claimed: Amount;
  /** `DisputeMove.detail`; missing: null. */
  readonly detail?: string;
}

/** Facts that hold for all steps of one change. */
export interface Circumstances {
  readonly now: Date;
  /** Whether a ruling of the bank is carried out without an operator's approval. */
  readonly rulesAtOnce: boolean;
}

/**
 * A transaction and all its cases, locked together, with the steps that change them. This is a value: a method that adds
 * a step returns another value, in which the step is made. Movements of money have a list of their own. They are posted
 * last, because balances are locked last.
 */
export class DisputedTransaction {
  readonly transaction: Transaction;
  readonly account: Account;
  readonly #disputed: Disputed;

  constructor(
    disputed: Disputed,
    /** Cases in the order in which they came. */
    readonly cases: readonly MedCase[],
    readonly circumstances: Circumstances,
    readonly steps: readonly DisputeStep[] = [],
    readonly moves: readonly DisputeMove[] = [],
  ) {
    this.#disputed = disputed;
    this.transaction = disputed.transaction;
    this.account = disputed.account;
  }

  get now(): Date {
    return this.circumstances.now;
  }

  /**
   * How much more can be held: the payment, less devolutions and losses, less the amounts that cases hold or have
   * taken.
   */
  get room(): Amount {
    return this.transaction.paidAt === null ? 0 : takeableOf(this.transaction.amount, this.#disputed);
  }

  /** Amount that refunds returned by separate Pix of the merchant. */
  get cashoutsAmount(): Amount {
    return this.#disputed.cashoutsAmount;
  }

  /** Visible open cases about the credited payment, in the order in which they came. */
  get underway(): MedCase[] {
    return this.cases.filter((c) => c.visible && isUnderway(c.status) && this.isCredited(c));
  }

  /**
   * Whether cases have taken all that devolutions and losses had left of the payment; it stays DISPUTE or CHARGEBACK
   * then. A refund or an operator's entry after the last case's loss makes this false. The case had left the merchant
   * something, and the refund or the entry has taken the rest.
   */
  get isLost(): boolean {
    const losses = this.cases.flatMap(({ lostAmount, closedAt }) => (lostAmount > 0 && closedAt ? [closedAt] : []));
    const taken = this.#disputed.lastTakenAt;
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
    return takeableOf(this.transaction.amount, { ...this.#disputed, disputedAmount });
  }

  /**
   * Returns whether the case can hold money now, or later: when a refund under way fails, or when another open case
   * ends in the merchant's favour.
   */
  isDisputable(medCase: Pick<MedCase, 'id' | 'paymentReference'>): boolean {
    if (!this.isCredited(medCase) || !DISPUTABLE.includes(this.transaction.status)) return false;
    return this.room > 0 || this.#disputed.isRefunding || this.underway.some(({ id }) => id !== medCase.id);
  }

  find(id: string): MedCase {
    const found = this.cases.find((candidate) => candidate.id === id);
    if (!found) throw new Error(`The case ${id} is not one of the transaction ${this.transaction.id}`);
    return found;
  }

  /** Adds a new case behind the others. */
  begin(medCase: MedCase): DisputedTransaction {
    const steps: DisputeStep[] = [...this.steps, { kind: 'case_begun', medCase }];
    return new DisputedTransaction(this.#disputed, [...this.cases, medCase], this.circumstances, steps, this.moves);
  }

  /** Replaces a case by its next version, and moves its money. */
  change(medCase: MedCase, money?: CaseMoney): DisputedTransaction {
    const { status: from } = this.find(medCase.id);
    const claimed = money?.claimed ?? 0;
    return new DisputedTransaction(
      { ...this.#disputed, disputedAmount: this.#disputed.disputedAmount + claimed },
      this.cases.map((other) => (other.id === medCase.id ? medCase : other)),
      this.circumstances,
      [...this.steps, { kind: 'case_changed', medCase, from, claimed }],
      money && money.amount !== 0 ? [...this.moves, moveOf(medCase, money)] : this.moves,
    );
  }

  /**
   * Writes `metadata.med` from the present cases. Call it before the transaction is moved, because that event carries
   * it.
   */
  showCases(): DisputedTransaction {
    return this.add({ kind: 'med_block_changed', block: medBlockOf(this.transaction, this.cases) });
  }

  /** Adds a step that changes no case. */
  add(step: FurtherStep): DisputedTransaction {
    return new DisputedTransaction(this.#disputed, this.cases, this.circumstances, [...this.steps, step], this.moves);
  }
}

function moveOf(medCase: MedCase, { what, amount, detail }: CaseMoney): DisputeMove {
  const { id: caseId, type, accountId, mode, transactionId, currency } = medCase;
  return {
    caseId,
    isCard: type !== 'med',
    accountId,
    mode,
    transactionId,
    currency,
    what,
    detail: detail ?? null,
    amount,
  };
}
