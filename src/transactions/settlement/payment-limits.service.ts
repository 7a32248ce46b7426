import { Injectable } from '@nestjs/common';
import type { Tx } from '../../core/database/index.js';
import type { Transaction } from '../transaction.js';

/** A limit that another module sets on payments of its sales. */
export interface PaymentLimit {
  /** Returns whether the sale may be under the limit. Payments of all other sales are credited without `take`. */
  mayApply(transaction: Transaction): boolean;
  /**
   * Counts a payment in the transaction that credits it. The sale is locked.
   * @returns false when the limit is reached: the payment goes back
   */
  take(tx: Tx, transaction: Transaction): Promise<boolean>;
}

/** Limits that other modules set on payments. */
@Injectable()
export class PaymentLimits {
  readonly #limits: PaymentLimit[] = [];

  /** Call it before the application starts. */
  register(limit: PaymentLimit): void {
    this.#limits.push(limit);
  }

  mayApply(transaction: Transaction): boolean {
    return this.#limits.some((limit) => limit.mayApply(transaction));
  }

  /** @returns false when a limit is reached */
  async take(tx: Tx, transaction: Transaction): Promise<boolean> {
    for (const limit of this.#limits) {
      if (limit.mayApply(transaction) && !(await limit.take(tx, transaction))) return false;
    }
    return true;
  }
}
