import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { Database, type Tx } from '../core/database/index.js';
import { notFound } from '../core/errors/index.js';
import type { Scope } from '../core/mode.js';
import { Poller } from '../core/queue/index.js';
import { OutboxService } from '../outbox/index.js';
import { CreationService } from './creation.service.js';
import { asOf, expiryFailure, isOpen, isPastExpiry, type Transaction } from './transaction.js';
import { eventsOfStatus, transactionEvent } from './transaction.events.js';
import { type TransactionFilter, TransactionsRepository } from './transactions.repository.js';

const SWEEP_MS = 1_000;
const BATCH = 200;
const UNKNOWN_AFTER_MS = 60_000;

@Injectable()
export class TransactionsService implements OnApplicationBootstrap {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly transactions: TransactionsRepository,
    private readonly creation: CreationService,
    private readonly outbox: OutboxService,
    private readonly poller: Poller,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.config.runsWorkers) return;
    this.poller.every('transactions.expiry', SWEEP_MS, () => this.expireDue());
    this.poller.every('transactions.unknown', 15_000, () => this.creation.resolveUnknown(UNKNOWN_AFTER_MS));
  }

  /** @throws ApiError 404, also for what belongs to another account or mode */
  async get(scope: Scope, id: string): Promise<Transaction> {
    const transaction = await this.transactions.find(scope, id);
    if (!transaction) throw notFound('charge');
    return asOf(transaction, this.clock.now());
  }

  /** For the public checkout page, whose address is the credential. @throws ApiError 404 */
  async getPublic(id: string): Promise<Transaction> {
    const transaction = await this.transactions.findPublic(id);
    if (!transaction) throw notFound('charge');
    return asOf(transaction, this.clock.now());
  }

  /** For the acquirer's own public pages, as above: the txid is the credential. @throws ApiError 404 */
  async getByTxid(acquirer: string, txid: string): Promise<Transaction> {
    const transaction = await this.transactions.findByTxid(acquirer, txid);
    if (!transaction) throw notFound('charge');
    return asOf(transaction, this.clock.now());
  }

  /** Newest first. */
  async list(scope: Scope, filter: TransactionFilter): Promise<Transaction[]> {
    const now = this.clock.now();
    const rows = await this.transactions.list(scope, filter, now);
    return rows.map((transaction) => asOf(transaction, now));
  }

  /**
   * Sends the event of the status that the transaction has again, as fresh deliveries. One that is past its expiry is
   * written as expired first, so that the status and the event agree.
   * @returns how many deliveries it makes: none when nobody is subscribed, or the status has no public event
   * @throws ApiError 404
   */
  async resendEvent(scope: Scope, id: string): Promise<{ transaction: Transaction; deliveries: number }> {
    return this.database.transaction(async (tx) => {
      const transaction = await this.#lockCurrent(tx, scope, id);
      const deliveries = await this.outbox.replay(tx, scope, id, eventsOfStatus(transaction.status));
      return { transaction, deliveries };
    });
  }

  /** Locks the transaction; an expiry that the sweeper has not written yet is written. */
  async #lockCurrent(tx: Tx, scope: Scope, id: string): Promise<Transaction> {
    const transaction = await this.transactions.lockOwn(tx, scope, id);
    if (!transaction) throw notFound('payment');
    const now = this.clock.now();
    const { status, expiresAt } = transaction;
    if (!isOpen(transaction) || expiresAt === null || !isPastExpiry(transaction, now)) return transaction;
    const failure = expiryFailure(transaction, expiresAt);
    const expired = await this.transactions.move(tx, id, 'expired', now, { failure });
    if (!expired) throw new Error(`${id} was moved while it was locked`);
    this.outbox.record(tx, [transactionEvent('transaction.expired', expired, status)]);
    return expired;
  }

  /** Writes the expiry of everything of one account that is past it: nothing in the usual case. */
  async expireDueOf(scope: Scope): Promise<void> {
    while (await this.transactions.hasDue(scope, this.clock.now())) await this.expireDue(scope);
  }

  /**
   * Writes the expiry of what is past it, with its event, once.
   * @param scope of whom; everybody's without it
   * @returns whether there may be more
   */
  async expireDue(scope: Scope | null = null): Promise<boolean> {
    const count = await this.database.transaction(async (tx) => {
      const { reason } = expiryFailure({ createdAt: new Date(0), expiresAt: null }, new Date(0));
      const expired = await this.transactions.expireDue(tx, this.clock.now(), BATCH, reason, scope);
      this.outbox.record(
        tx,
        expired.map(({ transaction, previousStatus }) =>
          transactionEvent('transaction.expired', transaction, previousStatus),
        ),
      );
      return expired.length;
    });
    return count === BATCH;
  }
}
