import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { AcquirersService, ConfirmationService, UnreadableAnswer } from '../../acquirers/index.js';
import { Clock } from '../../core/clock.js';
import { Database, type Tx } from '../../core/database/index.js';
import type { Scope } from '../../core/mode.js';
import { Logger } from '../../core/log/index.js';
import { JobQueue, Poller } from '../../core/queue/index.js';
import { OutboxService } from '../../outbox/index.js';
import { InternalRecordsRepository } from '../settlement/internal-records.repository.js';
import { type ExpiryDue, ExpiryRepository } from './expiry.repository.js';
import { isOpen, type Transaction } from '../transaction.js';
import { transactionEvent } from '../transaction.events.js';
import { TransactionsRepository } from '../transactions.repository.js';

declare module '../../core/queue/index.js' {
  interface JobMap {
    'transactions.expiry': { transactionId: string };
  }
}

const SWEEP_MS = 1_000;
/** What somebody else has locked is waited for so often and so long. */
const MOST_HELD = 50;
const HELD_MS = 20;
/** Whole rows in memory together, each with its metadata. */
const BATCH = 50;
/** A Pix of the last second is in the acquirer's books by then. */
const GRACE_MS = 2_000;
/** Longer than an acquirer's answer takes. */
const LEASE_MS = 15_000;
/** For so long an acquirer that is down keeps its charges from being written as expired. */
const PATIENCE_MS = 10 * 60_000;

/**
 * Writes what is past its expiry as expired. A charge that was issued by an acquirer far away is asked about first,
 * once: a payment in time that was not reported is found then, and later it would have to go back. Nothing is held
 * while asking. An acquirer that does not answer is asked again for ten minutes, and no longer; one whose answer cannot
 * be read as long as it takes, by the inbox, before the operators' eyes: the charge may be paid.
 */
@Injectable()
export class ExpiryService implements OnApplicationBootstrap {
  constructor(
    private readonly database: Database,
    private readonly transactions: TransactionsRepository,
    private readonly expiry: ExpiryRepository,
    private readonly records: InternalRecordsRepository,
    private readonly acquirers: AcquirersService,
    private readonly confirmation: ConfirmationService,
    private readonly outbox: OutboxService,
    private readonly queue: JobQueue,
    private readonly poller: Poller,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.poller.onWorkers('transactions.expiry', SWEEP_MS, () => this.expireDue());
    this.poller.onWorkers('transactions.expiry.ask', SWEEP_MS, () => this.askDue());
  }

  /** Writes the expiry of everything of one account that is past it: nothing in the usual case. */
  async expireDueOf(scope: Scope): Promise<void> {
    let held = 0;
    while (held < MOST_HELD && (await this.expiry.hasDue(scope, this.#due()))) {
      const expired = await this.database.transaction((tx) => this.#expire(tx, scope, null));
      if (expired.length > 0) continue;
      // Somebody else is deciding what is left, as its payment.
      held++;
      await delay(HELD_MS);
    }
  }

  /**
   * Writes the expiry of what is past it, with its event, once.
   * @param scope of whom; everybody's without it
   * @returns whether there may be more
   */
  async expireDue(scope: Scope | null = null): Promise<boolean> {
    const expired = await this.database.transaction((tx) => this.#expire(tx, scope, null));
    return expired.length === BATCH;
  }

  /** The same for one that the caller has locked. @returns it as it is now, or null when it is not to be expired (yet) */
  async expire(tx: Tx, id: string): Promise<Transaction | null> {
    const [expired] = await this.#expire(tx, null, id);
    return expired ?? null;
  }

  /** Queues the questions about what is past its expiry. @returns whether there may be more at once */
  async askDue(): Promise<boolean> {
    const due = this.#due();
    const expiredBefore = new Date(due.now.getTime() - GRACE_MS);
    const leasedUntil = new Date(due.now.getTime() + LEASE_MS);
    const ids = await this.database.transaction((tx) => this.expiry.claim(tx, due, expiredBefore, leasedUntil, BATCH));
    if (ids.length > 0) {
      await this.queue.add(
        'transactions.expiry',
        ids.map((transactionId) => ({ transactionId })),
      );
    }
    return ids.length === BATCH;
  }

  /** Asks about one charge and settles what has arrived for it; without an answer nothing changes. */
  async ask(id: string): Promise<void> {
    const transaction = await this.transactions.findPublic(id);
    if (!transaction || !isOpen(transaction) || transaction.txid === null) return;
    const { acquirer, txid } = transaction;
    try {
      const state = await this.acquirers.get(acquirer).getPixCharge(txid);
      const isSettled = state.kind === 'not_found' || (await this.#settle(acquirer, state.payments));
      if (!isSettled) return;
    } catch (error) {
      if (error instanceof UnreadableAnswer) {
        await this.confirmation.confirmNow(acquirer, [{ kind: 'charge', reference: txid }]);
        return;
      }
      this.logger.warn({ error, transactionId: id }, 'an acquirer does not say how an expired charge stands');
      return;
    }
    await this.database.transaction(async (tx) => {
      this.expiry.asked(tx, id, this.clock.now());
      tx.afterCommit(() => this.poller.wake('transactions.expiry'));
    });
  }

  /** @returns whether all of them have come to their end here @throws UnreadableAnswer when one cannot be read */
  async #settle(acquirer: string, endToEndIds: readonly string[]): Promise<boolean> {
    const news = await this.records.unknown(acquirer, endToEndIds);
    if (news.length === 0) return true;
    const failures = await this.confirmation.confirmNow(
      acquirer,
      news.map((reference) => ({ kind: 'pix', reference })),
    );
    const unreadable = failures.find((failure) => failure instanceof UnreadableAnswer);
    if (unreadable) throw unreadable;
    return (await this.records.unknown(acquirer, news)).length === 0;
  }

  async #expire(tx: Tx, scope: Scope | null, id: string | null): Promise<Transaction[]> {
    const expired = await this.expiry.expireDue(tx, { ...this.#due(), scope, id }, BATCH);
    this.outbox.record(
      tx,
      expired.map(({ transaction, previousStatus }) =>
        transactionEvent('transaction.expired', transaction, previousStatus),
      ),
    );
    return expired.map(({ transaction }) => transaction);
  }

  #due(): ExpiryDue {
    const now = this.clock.now();
    return { now, unheardBefore: new Date(now.getTime() - PATIENCE_MS), localAcquirers: this.acquirers.local() };
  }
}
