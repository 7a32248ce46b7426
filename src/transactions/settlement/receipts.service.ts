import { Injectable } from '@nestjs/common';
import type { Account } from '../../accounts/index.js';
import { Clock } from '../../core/clock.js';
import type { Tx } from '../../core/database/index.js';
import { MemoryRateLimiter } from '../../core/rate-limit/index.js';
import { WorkService } from '../../core/work/index.js';
import type { Transaction } from '../transaction.js';

/**
 * Limits receipts of an account in test mode. A sale of a test key costs nothing, and such a key must not relay mail.
 */
export const TEST_RECEIPTS = { limit: 30, windowSeconds: 3_600 };

/** Asks for the payers' receipts, which `checkout/receipt.processor` sends. */
@Injectable()
export class ReceiptsService {
  /** Receipts that this process has asked for in test mode. The processor counts those of all processes. */
  readonly #tests = new MemoryRateLimiter();

  constructor(
    private readonly work: WorkService,
    private readonly clock: Clock,
  ) {}

  /** Asks for the receipt, in the commit that credits the sale. */
  ask(tx: Tx, { id, accountId, mode, customerEmail }: Transaction, account: Account): void {
    if (!account.payerReceipts || customerEmail === null) return;
    // Counts once, also when a settlement is rolled back and repeated.
    if (mode === 'test' && !this.#tests.takeInWindow(accountId, id, TEST_RECEIPTS).allowed) return;
    this.work.add(tx, 'receipt', id, this.clock.now());
  }
}
