import { Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { Database, type Tx } from '../core/database/index.js';
import type { IdCursorFilter } from '../core/http/index.js';
import { newId } from '../core/ids.js';
import { JobQueues } from '../core/queue/index.js';
import type { Dispute, NotificationHint } from './acquirer.port.js';
import { InboxRepository, type Notification, type UnreadableNews, type WaitingDispute } from './inbox.repository.js';

/** The task that looks for due hints. */
export const INBOX_TASK = 'acquirers.inbox';
const LEASE_SECONDS = 15;
/**
 * If a process died during a dispute, another one takes over after this time. The lease is prolonged while the acquirer
 * is queried.
 */
const DISPUTE_LEASE_SECONDS = 5;
const PROLONG_MS = 2_000;
/**
 * Latest next query about a reported Pix once its charge is past its expiry: the charge waits ten minutes for the Pix.
 */
const LONGEST_AT_EXPIRY_SECONDS = 240;
/** Spread out, so that thousands are not due at the same time. */
const PUT_OFF_SECONDS = { least: 60, most: 300 };
/**
 * Maximum of waiting unconfirmed reports of one acquirer, in all and from the last minute. The acquirer's list brings
 * the rest.
 */
const MAX_UNCONFIRMED = { waiting: 5_000, ofLastMinute: 2_000 };

/**
 * Inbox of hints from acquirers: stored first, and kept until `ConfirmationService` has queried the acquirer about
 * them.
 */
@Injectable()
export class InboxService {
  constructor(
    private readonly database: Database,
    private readonly inbox: InboxRepository,
    private readonly jobs: JobQueues,
    private readonly clock: Clock,
  ) {}

  /**
   * Stores a hint that the caller confirms now; repeating it is harmless. If the caller dies first, a worker confirms it.
   * @returns the id for `ConfirmationService.confirm`
   */
  async store(tx: Tx, acquirer: string, hint: NotificationHint): Promise<string> {
    const [id] = await this.storeAll(tx, acquirer, [hint]);
    if (id === undefined) throw new Error('A notification was not stored');
    return id;
  }

  /**
   * Stores a hint as `store` does, in the commit of the rows that it is about. Hints that come together share a
   * transaction.
   * @param owner owners take turns, and one whose hint fails runs alone for a while
   * @param write sends the rows
   */
  async storeWith(acquirer: string, hint: NotificationHint, owner: string, write: (tx: Tx) => void): Promise<string> {
    const conflictKey = `${acquirer} ${hint.reference}`;
    return this.database.inGroupCommit('inbox.store', { owner, conflictKey }, async (tx) => {
      write(tx);
      return this.store(tx, acquirer, hint);
    });
  }

  /**
   * Stores any number of hints, duplicates included, in one round trip. The caller confirms them now.
   * @returns ids, in no order
   */
  async storeAll(tx: Tx, acquirer: string, hints: readonly NotificationHint[]): Promise<string[]> {
    return this.#store(tx, acquirer, hints, leasedUntil);
  }

  /** Stores hints that workers confirm as soon as there is a free place. */
  async queueAll(tx: Tx, acquirer: string, hints: readonly NotificationHint[]): Promise<void> {
    await this.#store(tx, acquirer, hints, (_hint, now) => now);
    tx.afterCommit(this.#wakeWorkers);
  }

  /**
   * Stores a callback's reports like `queueAll`. Anybody may have sent them.
   * @returns how many were refused for lack of room
   */
  async queueUnconfirmed(tx: Tx, acquirer: string, hints: readonly NotificationHint[]): Promise<number> {
    if (hints.length === 0) return 0;
    const now = this.clock.now();
    const distinct = distinctHints(hints, now);
    const stored = await this.inbox.insertUnconfirmed(tx, acquirer, distinct, now, MAX_UNCONFIRMED);
    if (stored > 0) tx.afterCommit(this.#wakeWorkers);
    return distinct.length - stored;
  }

  async #store(
    tx: Tx,
    acquirer: string,
    hints: readonly NotificationHint[],
    dueAt: typeof leasedUntil,
  ): Promise<string[]> {
    if (hints.length === 0) return [];
    const now = this.clock.now();
    const rows = distinctHints(hints, now).map((hint) => ({ ...hint, nextAttemptAt: dueAt(hint, now) }));
    return this.inbox.insert(tx, acquirer, rows, now);
  }

  /** Whether a Pix is reported for a charge and not yet confirmed by the acquirer. */
  isTold(acquirer: string, txid: string): Promise<boolean> {
    return this.inbox.isTold(acquirer, txid);
  }

  /** Makes each reported Pix of a charge due soon, however many attempts have failed. */
  async hasten(acquirer: string, txid: string): Promise<void> {
    const by = new Date(this.clock.now().getTime() + LONGEST_AT_EXPIRY_SECONDS * 1000);
    await this.database.transaction(async (tx) => this.inbox.hasten(tx, acquirer, txid, by));
  }

  /** Returns the hints that were set aside before. */
  async setAside(tx: Tx, acquirer: string, hints: readonly NotificationHint[]): Promise<NotificationHint[]> {
    const found = await this.inbox.setAside(tx, acquirer, hints);
    return hints.filter(({ kind, reference }) => found.has(`${kind} ${reference}`));
  }

  /**
   * Stores a hint about an unreadable answer. The hint is retried as long as answers are unreadable; operators see it.
   */
  async storeUnreadable(tx: Tx, acquirer: string, hint: NotificationHint): Promise<string> {
    const id = await this.store(tx, acquirer, hint);
    this.inbox.markUnreadable(tx, id, this.clock.now());
    return id;
  }

  /**
   * Wakes workers when hints may be due. If a wake is lost, hints wait until the next sweep. A single function object,
   * so that one commit calls it once.
   */
  readonly #wakeWorkers = (): void => {
    this.jobs.wake(INBOX_TASK);
  };

  /**
   * Makes disputes due that wait for a payment, once it is credited or goes back.
   * @param names its reference and txid, if known
   */
  wake(tx: Tx, acquirer: string, names: readonly (string | null)[]): void {
    const known = names.filter((name) => name !== null);
    this.inbox.wake(tx, acquirer, known, this.clock.now());
  }

  /** Disputes whose payment is not settled here, newest first. Across accounts: for operators. */
  waitingDisputes(filter: IdCursorFilter): Promise<WaitingDispute[]> {
    return this.inbox.waiting(filter);
  }

  /**
   * Reported objects that the acquirer has but whose answer cannot be read, newest first. Across accounts: for
   * operators.
   */
  unreadable(filter: IdCursorFilter): Promise<UnreadableNews[]> {
    return this.inbox.unreadable(filter);
  }

  /** The status of a hint, and when it was stored. @returns null when there is no such hint */
  stateOf(tx: Tx, acquirer: string, hint: NotificationHint): ReturnType<InboxRepository['stateOf']> {
    return this.inbox.stateOf(tx, acquirer, hint);
  }

  /** @returns null when it has been applied or set aside */
  findPending(notificationId: string): Promise<Notification | null> {
    return this.inbox.findPending(notificationId);
  }

  /**
   * Whether a dispute of the charge is reported that the acquirer has not answered about yet: no refund is sent then.
   */
  isDisputeTold(tx: Tx, acquirer: string, txid: string): Promise<boolean> {
    return this.inbox.isDisputeTold(tx, acquirer, txid, this.clock.now());
  }

  /** Leases a dispute before it is queried. @returns null when it is no longer pending */
  begin(notification: Notification): Promise<Notification | null> {
    const until = leasedUntil(notification, this.clock.now());
    return this.database.transaction((tx) => this.inbox.begin(tx, notification, until));
  }

  /** Prolongs the lease of a dispute until the returned function is called, or this process dies. */
  keepLease(notification: Notification): () => void {
    const prolong = (): void => {
      const until = leasedUntil(notification, this.clock.now());
      // If the database is unreachable, the lease ends, and the dispute is queried again.
      this.database.transaction(async (tx) => this.inbox.prolong(tx, notification, until)).catch(() => undefined);
    };
    const timer = setInterval(prolong, PROLONG_MS);
    return () => clearInterval(timer);
  }

  /** Whether the notification was neither reported nor queried again since it was read. */
  isLatest(tx: Tx, notification: Notification): Promise<boolean> {
    return this.inbox.isLatest(tx, notification);
  }

  /** Makes the dispute wait for its payment. */
  async await(notification: Notification, dispute: Dispute): Promise<void> {
    await this.database.transaction(async (tx) => this.inbox.await(tx, notification, dispute));
  }

  /**
   * Puts off all due unconfirmed reports of an acquirer; this does not count as an attempt.
   * @returns how many of each kind
   */
  putOffUnconfirmed(acquirer: string): Promise<{ kind: string; count: number }[]> {
    const now = this.clock.now().getTime();
    const dueBy = new Date(now + LEASE_SECONDS * 1000);
    const earliest = new Date(now + PUT_OFF_SECONDS.least * 1000);
    const apartSeconds = PUT_OFF_SECONDS.most - PUT_OFF_SECONDS.least;
    return this.database.transaction((tx) => this.inbox.putOffUnconfirmed(tx, acquirer, dueBy, earliest, apartSeconds));
  }

  /** Ends the notification as applied, in the commit that applies it. */
  close(tx: Tx, notification: Notification): void {
    this.inbox.close(tx, notification, 'applied', this.clock.now(), null);
  }

  /** Ends the notification in a commit of its own. @param error why it is set aside; null: it is applied */
  async end(notification: Notification, error: string | null): Promise<void> {
    const { acquirer: owner, id: conflictKey } = notification;
    await this.database.inGroupCommit('inbox.end', { owner, conflictKey }, async (tx) => {
      this.inbox.close(tx, notification, error === null ? 'applied' : 'ignored', this.clock.now(), error);
    });
  }

  /**
   * Schedules another attempt, after pauses that grow to an hour.
   * @param unreadable true or false sets whether the acquirer has the object but cannot be read; null keeps it
   */
  async retry(notification: Notification, error: string, unreadable: boolean | null): Promise<void> {
    const pauseSeconds = Math.min(2 ** Math.min(notification.attempts, 12), 3600);
    const now = this.clock.now();
    const next = new Date(now.getTime() + pauseSeconds * 1000);
    await this.database.transaction(async (tx) => {
      this.inbox.retry(tx, notification, next, error.slice(0, 500), unreadable, now);
    });
  }
}

/** The end of the lease of a hint that is being queried. */
export function leasedUntil({ kind }: Pick<NotificationHint, 'kind'>, now: Date): Date {
  const seconds = kind === 'dispute' ? DISPUTE_LEASE_SECONDS : LEASE_SECONDS;
  return new Date(now.getTime() + seconds * 1000);
}

function distinctHints(hints: readonly NotificationHint[], now: Date): (NotificationHint & { readonly id: string })[] {
  return [...new Map(hints.map((hint) => [`${hint.kind} ${hint.reference}`, { ...hint, id: newId(now) }])).values()];
}
