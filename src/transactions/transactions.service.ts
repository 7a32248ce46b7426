import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { Database } from '../core/database/index.js';
import { notFound } from '../core/errors/index.js';
import type { Scope } from '../core/mode.js';
import { Poller } from '../core/queue/index.js';
import { OutboxService } from '../outbox/index.js';
import { CreationService } from './creation.service.js';
import { asOf, expiryFailure, type Transaction } from './transaction.js';
import { transactionEvent } from './transaction.events.js';
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

  /** Newest first. */
  async list(scope: Scope, filter: TransactionFilter): Promise<Transaction[]> {
    const now = this.clock.now();
    const rows = await this.transactions.list(scope, filter, now);
    return rows.map((transaction) => asOf(transaction, now));
  }

  /** Writes the expiry of what is past it, with its event, once. @returns whether there may be more */
  async expireDue(): Promise<boolean> {
    const count = await this.database.transaction(async (tx) => {
      const { reason } = expiryFailure({ createdAt: new Date(0), expiresAt: null }, new Date(0));
      const expired = await this.transactions.expireDue(tx, this.clock.now(), BATCH, reason);
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
