import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { type Account, AccountsService } from '../accounts/index.js';
import { type Acquirer, AcquirersService, type Artefacts, type OrderMethod } from '../acquirers/index.js';
import { Clock } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { Database } from '../core/database/index.js';
import { Logger } from '../core/log/index.js';
import { JobQueue, Poller } from '../core/queue/index.js';
import { OutboxService } from '../outbox/index.js';
import { AcquirerWorkRepository } from './acquirer-work.repository.js';
import { CreationService } from './creation.service.js';
import { pixRequest } from './pix-draft.js';
import { failureOf, isOpen, isPastExpiry, type Transaction, wasIssued } from './transaction.js';
import { EVENT_OF, transactionEvent } from './transaction.events.js';
import { TransactionsRepository } from './transactions.repository.js';

declare module '../core/queue/index.js' {
  interface JobMap {
    'transactions.acquirer': { transactionId: string };
  }
}

const SWEEP_MS = 1_000;
/** What is due for longer has lost its job. */
const GRACE_MS = 750;
const BATCH = 50;
/** Longer than any acquirer call: after it a worker is taken for dead. */
const LEASE_MS = 30_000;
const LONGEST_PAUSE_MS = 60_000;

/** What came of asking for one method. */
type Outcome =
  | { readonly kind: 'issued'; readonly brCode?: string; readonly artefacts?: Artefacts }
  | { readonly kind: 'refused'; readonly code: string; readonly reason: string }
  /** Not known, or nobody could be asked: the method is asked for again. */
  | { readonly kind: 'open' };

/**
 * Calls acquirers about transactions that exist already: issues what was answered as WAITING_PAYMENT, takes back what
 * was cancelled. A job does it at once; the column `acquirer_due_at` is the truth, and a sweeper brings what was lost.
 * Everything may run twice: an acquirer takes two requests under one txid for the same.
 */
@Injectable()
export class AcquirerWorkService implements OnApplicationBootstrap {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly transactions: TransactionsRepository,
    private readonly work: AcquirerWorkRepository,
    private readonly creation: CreationService,
    private readonly acquirers: AcquirersService,
    private readonly accounts: AccountsService,
    private readonly outbox: OutboxService,
    private readonly queue: JobQueue,
    private readonly poller: Poller,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.config.runsWorkers) return;
    this.poller.every('transactions.acquirer', SWEEP_MS, () => this.sweep());
  }

  /** After the commit that made it due. */
  enqueue(transactionId: string): void {
    this.queue.add('transactions.acquirer', { transactionId }).catch((error: unknown) => {
      this.logger.warn({ error, transactionId }, 'acquirer work not queued; the sweeper will bring it');
    });
  }

  /** Brings what lost its job or its worker. @returns whether there may be more at once */
  async sweep(): Promise<boolean> {
    const ids = await this.work.due(new Date(this.clock.now().getTime() - GRACE_MS), BATCH);
    await Promise.all(ids.map((id) => this.process(id)));
    return ids.length === BATCH;
  }

  /** Does what is due for one transaction, if anything. What an acquirer fails at is due again. */
  async process(transactionId: string): Promise<void> {
    const now = this.clock.now();
    const leasedUntil = new Date(now.getTime() + LEASE_MS);
    const transaction = await this.database.transaction((tx) => this.work.claim(tx, transactionId, now, leasedUntil));
    if (!transaction) return;
    let again: Date | null = null;
    try {
      if (transaction.status === 'CANCELLED') {
        await this.acquirers.get(transaction.acquirer).cancel(transaction.txid ?? '');
      } else if (isOpen(transaction) && !isPastExpiry(transaction, now)) {
        return await this.#issue(transaction);
      }
    } catch (error) {
      this.logger.error({ error, transactionId, status: transaction.status }, 'acquirer work failed; it is due again');
      again = this.#later(transaction);
    }
    await this.database.transaction(async (tx) => this.work.done(tx, transactionId, leasedUntil, again));
  }

  async #issue(transaction: Transaction): Promise<void> {
    const acquirer = this.acquirers.get(transaction.acquirer);
    const account = await this.accounts.get(transaction.accountId);
    const outcomes = await Promise.all([
      ...(transaction.paymentMethods.includes('PIX') && transaction.brCode === null
        ? [this.#askPix(acquirer, transaction, account)]
        : []),
      ...transaction.paymentMethods
        .filter((method): method is OrderMethod => method !== 'PIX' && transaction.artefacts?.[method] === undefined)
        .map((method) => this.#askOrder(acquirer, transaction, account, method)),
    ]);
    const issued = outcomes.flatMap((outcome) => (outcome.kind === 'issued' ? [outcome] : []));
    const refused = outcomes.flatMap((outcome) => (outcome.kind === 'refused' ? [outcome] : []));
    const isComplete = issued.length + refused.length === outcomes.length;
    const brCode = issued.find((outcome) => outcome.brCode !== undefined)?.brCode ?? null;
    const artefacts = issued.reduce<Artefacts>((all, outcome) => ({ ...all, ...outcome.artefacts }), {});
    const [refusal] = refused;
    if (refusal) this.logger.info({ transactionId: transaction.id, codes: refused.map(({ code }) => code) }, 'refused');
    await this.database.transaction(async (tx) => {
      const now = this.clock.now();
      const again = isComplete ? null : this.#later(transaction);
      if (brCode !== null) await this.creation.announce(tx, transaction.id, brCode);
      const current = await this.work.issued(tx, transaction.id, now, artefacts, again);
      if (!current) return;
      if (current.status === 'CANCELLED') {
        tx.afterCommit(() => this.enqueue(transaction.id));
      } else if (refusal && isComplete && !wasIssued(current)) {
        const failure = failureOf(transaction, { reason: refusal.reason, providerErrorCode: refusal.code, at: now });
        const moved = await this.transactions.move(tx, transaction.id, 'refused', now, { failure });
        if (moved) this.outbox.record(tx, [transactionEvent(EVENT_OF.refused, moved, current.status)]);
      }
    });
  }

  async #askPix(acquirer: Acquirer, transaction: Transaction, account: Account): Promise<Outcome> {
    const outcome = await this.creation.askPix(acquirer, pixRequest(transaction, account), true);
    return outcome.kind === 'unknown' || outcome.kind === 'unavailable' ? { kind: 'open' } : outcome;
  }

  async #askOrder(
    acquirer: Acquirer,
    transaction: Transaction,
    account: Account,
    method: OrderMethod,
  ): Promise<Outcome> {
    const { txid, amount, currency, createdAt, expiresAt, metadata } = transaction;
    const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
    try {
      const outcome = await acquirer.orders?.issue({
        txid: txid ?? '',
        method,
        amount,
        currency,
        createdAt,
        expiresAt: expiresAt ?? createdAt,
        returnUrl: text(metadata['returnUrl']),
        phone: text(metadata['phone']),
        merchant: { name: account.name },
        payer: { name: transaction.customerName, document: transaction.customerDocument },
      });
      if (!outcome) return { kind: 'refused', code: 'method_not_supported', reason: `${method} is not offered.` };
      return outcome.kind === 'unknown' || outcome.kind === 'unavailable' ? { kind: 'open' } : outcome;
    } catch (error) {
      this.logger.warn({ error, transactionId: transaction.id, method }, 'the outcome of an order is not known');
      return { kind: 'open' };
    }
  }

  /** Pauses grow with the age of what is waiting: the payment, or its cancellation. */
  #later(transaction: Transaction): Date {
    const now = this.clock.now().getTime();
    const since = transaction.status === 'CANCELLED' ? transaction.updatedAt : transaction.createdAt;
    const age = now - since.getTime();
    return new Date(now + Math.min(Math.max(age, SWEEP_MS), LONGEST_PAUSE_MS));
  }
}
