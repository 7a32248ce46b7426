import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { AccountsService } from '../../accounts/index.js';
import { type Acquirer, type AcquirerStatus, AcquirersService } from '../../acquirers/index.js';
import { Clock } from '../../core/clock.js';
import { isLockTimeout, isUnavailable } from '../../core/database/index.js';
import { business, notFound, providerUnavailable } from '../../core/errors/index.js';
import type { Scope } from '../../core/mode.js';
import { asOf, type Transaction, wasIssued } from '../transaction.js';
import { TransactionsRepository } from '../transactions.repository.js';

/** How long callers share one answer about a payment: a merchant who asks in a loop does not use up the acquirer's limits. */
const SHARED_MS = 2_000;

interface StatusQuestion {
  readonly acquirer: Acquirer;
  readonly txid: string;
}

/** Answers that only the acquirer can give. */
@Injectable()
export class InquiriesService {
  /** Answers and questions under way, by payment and its last change here. A question that failed is not kept. */
  readonly #statuses = new LRUCache<string, { status: AcquirerStatus | null }, StatusQuestion>({
    max: 1_000,
    ttl: SHARED_MS,
    ignoreFetchAbort: true,
    fetchMethod: async (_key, _stale, { context: { acquirer, txid } }) => ({
      status: await answered(acquirer.getStatus(txid)),
    }),
  });

  constructor(
    private readonly transactions: TransactionsRepository,
    private readonly acquirers: AcquirersService,
    private readonly accounts: AccountsService,
    private readonly clock: Clock,
  ) {}

  /**
   * The acquirer's answer, at most two seconds old.
   * @returns `status` null when the acquirer was never told of the transaction, has made nothing of it or knows nothing of it
   * @throws ApiError 404, 503 `provider_unavailable`
   */
  async status(scope: Scope, id: string): Promise<{ transaction: Transaction; status: AcquirerStatus | null }> {
    const found = await this.transactions.find(scope, id);
    if (!found) throw notFound('payment');
    const transaction = asOf(found, this.clock.now());
    // Whether a PENDING charge has reached the acquirer is unknown here, so the acquirer is asked.
    const mayBeThere = wasIssued(transaction) || transaction.status === 'PENDING';
    if (transaction.txid === null || !mayBeThere) return { transaction, status: null };
    const context = { acquirer: this.acquirers.get(transaction.acquirer), txid: transaction.txid };
    const answer = await this.#statuses.fetch(`${id} ${transaction.updatedAt.getTime()}`, { context });
    return { transaction, status: answer?.status ?? null };
  }

  /**
   * The acquirer's own receipt of a payment that settled, as a PDF.
   * @throws ApiError 404, 422 `RECEIPT_NOT_AVAILABLE`, 503 `provider_unavailable`
   */
  async receipt(scope: Scope, id: string): Promise<Buffer> {
    const transaction = await this.transactions.find(scope, id);
    if (!transaction) throw notFound('payment');
    const { acquirer: name, paidAt, endToEndId: reference, currency } = transaction;
    const acquirer = this.acquirers.get(name);
    if (paidAt === null || reference === null || !acquirer.capabilities.receipts) throw noReceipt();
    const account = await this.accounts.get(transaction.accountId);
    const { id: accountId, name: merchant } = account;
    const pdf = await answered(acquirer.getReceipt({ accountId, reference, currency, merchant: { name: merchant } }));
    if (!pdf) throw noReceipt();
    return pdf;
  }
}

async function answered<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    // Errors of our own database are not the acquirer's: it stores which acquirer to ask, and the sandbox's books.
    if (isUnavailable(error) || isLockTimeout(error)) throw error;
    throw providerUnavailable();
  }
}

function noReceipt(): ReturnType<typeof business> {
  return business('RECEIPT_NOT_AVAILABLE', 'There is a receipt only of a settled payment whose acquirer gives one.');
}
