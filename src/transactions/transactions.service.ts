import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { Database, type Tx } from '../core/database/index.js';
import { notFound } from '../core/errors/index.js';
import type { Scope } from '../core/mode.js';
import { Poller } from '../core/queue/index.js';
import { OutboxService } from '../outbox/index.js';
import { PixIssueService } from './creation/pix-issue.service.js';
import { ExpiryService } from './expiry/expiry.service.js';
import { eventsAgain } from './status-events.js';
import { asOf, isOpen, isPastExpiry, type Transaction } from './transaction.js';
import { TransactionsRepository } from './transactions.repository.js';

const UNKNOWN_AFTER_MS = 60_000;

@Injectable()
export class TransactionsService implements OnApplicationBootstrap {
  constructor(
    private readonly database: Database,
    private readonly transactions: TransactionsRepository,
    private readonly issues: PixIssueService,
    private readonly expiry: ExpiryService,
    private readonly outbox: OutboxService,
    private readonly poller: Poller,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.poller.onWorkers('transactions.unknown', 15_000, () => this.issues.resolveUnknown(UNKNOWN_AFTER_MS));
  }

  /**
   * @param what the caller's word for it, for the refusal
   * @throws ApiError 404, also if another account or mode has it
   */
  async get(scope: Scope, id: string, what: 'charge' | 'payment'): Promise<Transaction> {
    const transaction = await this.transactions.find(scope, id);
    if (!transaction) throw notFound(what);
    return asOf(transaction, this.clock.now());
  }

  /** Returns these transactions in no particular order. */
  async getAll(tx: Tx, ids: readonly string[]): Promise<Transaction[]> {
    return this.transactions.findAll(tx, ids);
  }

  /** A transaction for the public checkout page, whose address is the credential. @throws ApiError 404 */
  async getPublic(id: string): Promise<Transaction> {
    const transaction = await this.transactions.findPublic(id);
    if (!transaction) throw notFound('charge');
    return asOf(transaction, this.clock.now());
  }

  /** A transaction for the acquirer's own public pages, where the txid is the credential. @throws ApiError 404 */
  async getByTxid(acquirer: string, txid: string): Promise<Transaction> {
    const transaction = await this.transactions.findByTxid(acquirer, txid);
    if (!transaction) throw notFound('charge');
    return asOf(transaction, this.clock.now());
  }

  /**
   * Prepares a full read of the list of payments: writes due expiries.
   * @returns the text to search for: an id that only a bank knows leads to its sale
   */
  async sought(scope: Scope, text: string | null): Promise<string | null> {
    await this.expiry.expireDueOf(scope);
    if (text === null) return null;
    return (await this.database.transaction((tx) => this.transactions.behind(tx, scope, text))) ?? text;
  }

  /** Finds the sale that a refund's id or a bank's id leads to; null for every other text. */
  async behind(tx: Tx, scope: Scope, text: string): Promise<string | null> {
    return this.transactions.behind(tx, scope, text);
  }

  /**
   * Resends the event of the current status, as fresh deliveries. If the transaction is past its expiry, that is
   * written first, so that the status and the event agree.
   * @returns how many deliveries it makes: none when no endpoint is subscribed
   * @throws ApiError 404
   */
  async resendEvent(scope: Scope, id: string): Promise<{ transaction: Transaction; deliveries: number }> {
    return this.database.transaction(async (tx) => {
      const transaction = await this.#lockCurrent(tx, scope, id);
      return { transaction, deliveries: await this.outbox.replay(tx, scope, id, eventsAgain(transaction.status)) };
    });
  }

  /** Locks the transaction; an expiry that the sweeper has not written yet is written. */
  async #lockCurrent(tx: Tx, scope: Scope, id: string): Promise<Transaction> {
    const transaction = await this.transactions.lockOwn(tx, scope, id);
    if (!transaction) throw notFound('payment');
    if (!isOpen(transaction) || !isPastExpiry(transaction, this.clock.now())) return transaction;
    return (await this.expiry.expire(tx, id)) ?? transaction;
  }
}
