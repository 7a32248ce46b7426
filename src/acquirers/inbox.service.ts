import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { Database, type Tx } from '../core/database/index.js';
import type { IdCursorFilter } from '../core/http/index.js';
import { newId } from '../core/ids.js';
import { Logger } from '../core/log/index.js';
import { Metrics } from '../core/metrics/index.js';
import { JobQueue, Poller } from '../core/queue/index.js';
import { RateLimiter } from '../core/rate-limit/index.js';
import {
  type Acquirer,
  type Dispute,
  type NotificationHint,
  type OrderEvent,
  type PixChargeEnd,
  type ReceivedPayment,
  type ReceivedPix,
  UnreadableAnswer,
} from './acquirer.port.js';
import { AcquirersService } from './acquirers.service.js';
import { InboxRepository, type Notification, type UnreadableNews, type WaitingDispute } from './inbox.repository.js';
import { Bulkhead } from './bulkhead.js';

declare module '../core/queue/index.js' {
  interface JobMap {
    'acquirers.notification': { notificationId: string };
  }
}

/**
 * Who applies what the acquirer has confirmed. Every method may be called again with the same facts. `close` ends the
 * notification in the commit that applies it; where nobody calls it, it is ended afterwards.
 */
export interface ConfirmedHandlers {
  pixReceived(acquirer: string, pix: ReceivedPix, close?: (tx: Tx) => void): Promise<void>;
  chargeEnded(acquirer: string, txid: string, end: PixChargeEnd): Promise<void>;
  paymentReceived(acquirer: string, payment: ReceivedPayment, close: (tx: Tx) => void): Promise<void>;
  orderMoved(acquirer: string, event: OrderEvent): Promise<void>;
  /**
   * @param isLatest whether nobody has asked about it since: asked under a lock that all who apply it take, as banks do
   *   not always tell in which order they have said something
   * @returns false when its payment is not known or not settled here yet: it is tried again until it is
   */
  disputeChanged(acquirer: string, dispute: Dispute, isLatest: (tx: Tx) => Promise<boolean>): Promise<boolean>;
  /**
   * Money of a Pix went back, or could not: whoever asked for it asks how it stands.
   * @returns false when nobody here asked for it
   */
  returnMoved(acquirer: string, endToEndId: string, returnId: string): Promise<boolean>;
}

/**
 * `unknown`: the acquirer does not know it; `early`: it is about what has not reached us yet; `open`: of a charge, that
 * nobody has paid it and it goes on.
 */
type Applied = 'applied' | 'unknown' | 'early' | 'open';

const SWEEP_MS = 1_000;
const LEASE_SECONDS = 15;
/** Longer than an acquirer's answers about a dispute take. */
const DISPUTE_LEASE_SECONDS = 60;
const BATCH = 100;
/** With the growing pauses below this is about a day; after it a notification nobody can confirm is set aside. */
const MAX_ATTEMPTS = 40;
/** Questions about what only callbacks tell, for each acquirer: those that are under way, and those that were in vain. */
const UNCONFIRMED = { limit: 120, windowSeconds: 60 };
/** Apart, so that thousands do not come back at once. */
const PUT_OFF_SECONDS = { least: 60, most: 300 };
const UNKNOWN = 'the acquirer does not know it';
const OPEN = 'nothing has happened to it';

/**
 * What acquirers tell us. Stored first, answered, applied by a job, and only after asking the acquirer: a forged or
 * repeated notification moves nothing.
 */
@Injectable()
export class InboxService implements OnApplicationBootstrap {
  readonly #handlers: Partial<ConfirmedHandlers> = {};
  readonly #bulkhead = new Bulkhead();

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly inbox: InboxRepository,
    private readonly acquirers: AcquirersService,
    private readonly queue: JobQueue,
    private readonly poller: Poller,
    private readonly limiter: RateLimiter,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  on<K extends keyof ConfirmedHandlers>(kind: K, handler: ConfirmedHandlers[K]): void {
    this.#handlers[kind] = handler;
  }

  onApplicationBootstrap(): void {
    this.poller.onWorkers('acquirers.inbox', SWEEP_MS, () => this.sweep());
  }

  /**
   * Stores a hint; repeating it is harmless.
   * @returns the id for `process`. The caller queues a job or processes it at once; if it dies first, the sweeper does
   */
  async store(tx: Tx, acquirer: string, hint: NotificationHint): Promise<string> {
    const [id] = await this.storeAll(tx, acquirer, [hint]);
    if (id === undefined) throw new Error('A notification was not stored');
    return id;
  }

  /**
   * The same for any number, which may repeat themselves, in one round trip.
   * @param options.isHearsay a callback says so, whoever sent it; default false
   * @returns ids, in no order
   */
  async storeAll(
    tx: Tx,
    acquirer: string,
    hints: readonly NotificationHint[],
    { isHearsay = false } = {},
  ): Promise<string[]> {
    if (hints.length === 0) return [];
    const now = this.clock.now();
    const distinct = new Map(hints.map((hint) => [`${hint.kind} ${hint.reference}`, { ...hint, id: newId(now) }]));
    const nextAttemptAt = new Date(now.getTime() + LEASE_SECONDS * 1000);
    return this.inbox.insert(tx, acquirer, [...distinct.values()], now, nextAttemptAt, isHearsay);
  }

  async enqueue(notificationIds: readonly string[]): Promise<void> {
    await this.queue.add(
      'acquirers.notification',
      notificationIds.map((notificationId) => ({ notificationId })),
    );
  }

  /**
   * Confirms one notification with its acquirer and applies it. Never throws: a failure is recorded and tried again.
   * @returns the failure, null without one
   */
  async process(notificationId: string): Promise<unknown> {
    const found = await this.inbox.findPending(notificationId);
    if (!found || !(await this.#mayAsk(found))) return null;
    // Put off: its lease brings it back.
    if (!this.#bulkhead.enter(found.acquirer)) return null;
    let notification = found;
    let answered = false;
    let isClosed = false;
    const close = (tx: Tx): void => {
      this.inbox.close(tx, notification, 'applied', this.clock.now(), null);
      tx.afterCommit(() => (isClosed = true));
    };
    try {
      if (found.kind === 'dispute') {
        const begun = await this.#begin(found);
        answered = begun === null;
        if (!begun) return null;
        notification = begun;
      }
      const applied = await this.#apply(notification, close);
      answered = true;
      if (applied === 'unknown' || applied === 'open') {
        await this.#vain(notification, applied);
        return null;
      }
      await this.#wasTrue(found);
      this.#count(notification, applied);
      if (isClosed) return null;
      if (applied === 'applied') await this.#close(notification, 'applied', null);
      // Never set aside: the acquirer has confirmed it, and what it is about is on its way.
      else await this.#retry(notification, 'its payment is not settled here yet', false);
      return null;
    } catch (error) {
      const isUnreadable = error instanceof UnreadableAnswer;
      answered = isUnreadable;
      this.#count(notification, isUnreadable ? 'unreadable' : 'failed');
      const { kind, acquirer, reference } = notification;
      // Never set aside: it is there, and may be money of somebody's.
      if (isUnreadable) this.logger.error({ notificationId, kind, acquirer, reference }, error.message);
      else this.logger.error({ error, notificationId, kind }, 'applying a notification failed; kept');
      await this.#retry(
        notification,
        error instanceof Error ? error.message : String(error),
        isUnreadable ? true : null,
      );
      return error;
    } finally {
      this.#bulkhead.leave(notification.acquirer, answered);
    }
  }

  /**
   * A payment is credited or goes back: disputes that wait for it are due at once.
   * @param names its reference and txid, whichever there are
   */
  wake(tx: Tx, acquirer: string, names: readonly (string | null)[]): void {
    const known = names.filter((name) => name !== null);
    this.inbox.wake(tx, acquirer, known, this.clock.now());
  }

  /** Disputes whose payment is not settled here, newest first. Across accounts: for operators. */
  waitingDisputes(filter: IdCursorFilter): Promise<WaitingDispute[]> {
    return this.inbox.waiting(filter);
  }

  /** What an acquirer has told of, has, and says in a way that nobody understands, newest first; as `waitingDisputes`. */
  unreadable(filter: IdCursorFilter): Promise<UnreadableNews[]> {
    return this.inbox.unreadable(filter);
  }

  /** Queues what is due again: jobs that were lost, and notifications that could not be confirmed yet. */
  async sweep(): Promise<boolean> {
    const now = this.clock.now();
    const leasedUntil = new Date(now.getTime() + LEASE_SECONDS * 1000);
    const ids = await this.database.transaction((tx) => this.inbox.claimDue(tx, now, leasedUntil, BATCH));
    if (ids.length > 0) await this.enqueue(ids);
    return ids.length === BATCH;
  }

  /** Which of these have been applied, at least once. */
  applied(acquirer: string, kind: NotificationHint['kind'], references: readonly string[]): Promise<Set<string>> {
    return this.inbox.applied(acquirer, kind, references);
  }

  async #apply(notification: Notification, close: (tx: Tx) => void): Promise<Applied> {
    const acquirer = this.acquirers.get(notification.acquirer);
    switch (notification.kind) {
      case 'pix':
        return (await this.#applyPix(acquirer, notification.reference, close)) ? 'applied' : 'unknown';
      case 'charge': {
        const state = await acquirer.getPixCharge(notification.reference);
        if (state.kind === 'not_found') return 'unknown';
        await this.#applyPayments(acquirer, state.payments);
        if (state.ended) await this.#handlers.chargeEnded?.(acquirer.name, notification.reference, state.ended);
        return state.ended || state.payments.length > 0 ? 'applied' : 'open';
      }
      case 'payment': {
        const payment = (await acquirer.orders?.getPayment(notification.reference)) ?? null;
        if (payment) await this.#handlers.paymentReceived?.(acquirer.name, payment, close);
        return payment ? 'applied' : 'unknown';
      }
      case 'order': {
        const event = (await acquirer.orders?.getEvent(notification.reference)) ?? null;
        if (event) await this.#handlers.orderMoved?.(acquirer.name, event);
        return event ? 'applied' : 'unknown';
      }
      case 'dispute': {
        const dispute = await acquirer.getDispute(notification.reference);
        if (!dispute) return 'unknown';
        const isLatest = (tx: Tx): Promise<boolean> => this.inbox.isLatest(tx, notification);
        if ((await this.#handlers.disputeChanged?.(acquirer.name, dispute, isLatest)) === true) return 'applied';
        await this.database.transaction(async (tx) => this.inbox.await(tx, notification, dispute));
        return 'early';
      }
      case 'return': {
        const [endToEndId = '', returnId = ''] = notification.reference.split('/');
        const known = await this.#handlers.returnMoved?.(acquirer.name, endToEndId, returnId);
        return known === true ? 'applied' : 'unknown';
      }
    }
  }

  #begin(notification: Notification): Promise<Notification | null> {
    const leasedUntil = new Date(this.clock.now().getTime() + DISPUTE_LEASE_SECONDS * 1000);
    return this.database.transaction((tx) => this.inbox.begin(tx, notification, leasedUntil));
  }

  async #applyPix(acquirer: Acquirer, reference: string, close?: (tx: Tx) => void): Promise<boolean> {
    const pix = await acquirer.getPix(reference);
    if (pix) await this.#handlers.pixReceived?.(acquirer.name, pix, close);
    return pix !== null;
  }

  /** @throws for what of it cannot be had, after the rest is applied; of that what cannot be read before all else */
  async #applyPayments(acquirer: Acquirer, endToEndIds: readonly string[]): Promise<void> {
    const failures: unknown[] = [];
    for (const endToEndId of endToEndIds) {
      try {
        if (await this.#applyPix(acquirer, endToEndId)) continue;
        failures.push(new Error(`the acquirer says that ${endToEndId} has paid, and does not know it`));
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures.find((error) => error instanceof UnreadableAnswer) ?? failures[0];
  }

  /**
   * Said by the acquirer, not guessed from an outage: a forged hint, or one about what never happened. What it had before
   * is asked for as often again, and stays before the operators until it is set aside.
   */
  async #vain(known: Notification, applied: 'unknown' | 'open'): Promise<void> {
    const isTurn = known.isConfirmed && known.lastError !== UNKNOWN;
    const notification = isTurn ? { ...known, attempts: 0 } : known;
    const { id: notificationId, acquirer, kind, attempts } = notification;
    const error = applied === 'unknown' ? UNKNOWN : OPEN;
    const isGivenUp = attempts + 1 >= MAX_ATTEMPTS;
    this.#count(notification, isGivenUp ? 'ignored' : applied);
    if (isGivenUp) this.logger.warn({ notificationId, acquirer, kind }, 'a notification was set aside');
    else if (attempts === 0) this.logger.warn({ notificationId, acquirer, kind }, 'a notification is not confirmed');
    if (isGivenUp) await this.#close(notification, 'ignored', error);
    else await this.#retry(notification, error, applied === 'unknown' ? null : false);
  }

  /**
   * Of hearsay so many are asked about in a minute as are not confirmed by then, and each time it is asked again counts:
   * who has learnt the address of the callbacks cannot make us pester the acquirer. What is put off and true is found in
   * the acquirer's list before, and is no hearsay then.
   */
  async #mayAsk(notification: Notification): Promise<boolean> {
    if (!this.config.rateLimit.enabled || !notification.isHearsay) return true;
    const { key, member } = unconfirmed(notification);
    const { allowed } = await this.limiter.takeInWindow(key, member, UNCONFIRMED);
    if (allowed) return true;
    const pauseSeconds = PUT_OFF_SECONDS.least + Math.random() * (PUT_OFF_SECONDS.most - PUT_OFF_SECONDS.least);
    const next = new Date(this.clock.now().getTime() + pauseSeconds * 1000);
    await this.database.transaction(async (tx) => this.inbox.putOff(tx, notification, next));
    this.metrics.notifications.inc({ kind: notification.kind, outcome: 'put_off' });
    return false;
  }

  /** What was confirmed does not count. */
  async #wasTrue(notification: Notification): Promise<void> {
    if (!this.config.rateLimit.enabled || !notification.isHearsay) return;
    const { key, member } = unconfirmed(notification);
    await this.limiter.giveBack(key, member);
  }

  #count({ kind }: Notification, outcome: Applied | 'unreadable' | 'failed' | 'ignored'): void {
    this.metrics.notifications.inc({ kind, outcome });
  }

  async #close(notification: Notification, status: 'applied' | 'ignored', error: string | null): Promise<void> {
    const { acquirer: owner, id: about } = notification;
    await this.database.together('inbox', { owner, about }, async (tx) => {
      this.inbox.close(tx, notification, status, this.clock.now(), error);
    });
  }

  async #retry(notification: Notification, error: string, unreadable: boolean | null): Promise<void> {
    const pauseSeconds = Math.min(2 ** Math.min(notification.attempts, 12), 3600);
    const now = this.clock.now();
    const next = new Date(now.getTime() + pauseSeconds * 1000);
    await this.database.transaction(async (tx) => {
      this.inbox.retry(tx, notification, next, error.slice(0, 500), unreadable, now);
    });
  }
}

function unconfirmed({ id, acquirer, attempts }: Notification): { key: string; member: string } {
  return { key: `hearsay:${acquirer}`, member: `${id}:${attempts}` };
}
