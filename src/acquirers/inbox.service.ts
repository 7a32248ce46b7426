import { Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { Database, type Tx } from '../core/database/index.js';
import type { IdCursorFilter } from '../core/http/index.js';
import { newId } from '../core/ids.js';
import { JobQueue, Poller } from '../core/queue/index.js';
import type { Dispute, NotificationHint } from './acquirer.port.js';
import { InboxRepository, type Notification, type UnreadableNews, type WaitingDispute } from './inbox.repository.js';

declare module '../core/queue/index.js' {
  interface JobMap {
    /** A process without workers has stored hints. */
    'acquirers.inbox': Record<string, never>;
  }
}

/** The task by which the inbox is looked through. */
export const INBOX_TASK = 'acquirers.inbox';
const LEASE_SECONDS = 15;
/** A dispute whose process has died is taken up by another one after this. The lease is prolonged while the acquirer is asked. */
const DISPUTE_LEASE_SECONDS = 5;
const PROLONG_MS = 2_000;
/** The expiry of a charge waits ten minutes for a Pix that is told of. */
const LONGEST_AT_EXPIRY_SECONDS = 240;
/** Apart, so that thousands do not come back at once. */
const PUT_OFF_SECONDS = { least: 60, most: 300 };
/** Unconfirmed reports of one acquirer that may wait, in all and of the last minute. The list brings the rest. */
const MAX_UNCONFIRMED = { waiting: 5_000, ofLastMinute: 2_000 };

/** Hints of acquirers: stored first, and kept until `ConfirmationService` has asked the acquirer about them. */
@Injectable()
export class InboxService {
  constructor(
    private readonly database: Database,
    private readonly inbox: InboxRepository,
    private readonly queue: JobQueue,
    private readonly poller: Poller,
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
   * Stores any number of hints, which may repeat themselves, in one round trip. The caller confirms them now.
   * @returns ids, in no order
   */
  async storeAll(tx: Tx, acquirer: string, hints: readonly NotificationHint[]): Promise<string[]> {
    return this.#store(tx, acquirer, hints, leasedUntil);
  }

  /** Stores hints that workers confirm as soon as there is a place. */
  async queueAll(tx: Tx, acquirer: string, hints: readonly NotificationHint[]): Promise<void> {
    await this.#store(tx, acquirer, hints, (_hint, now) => now);
    tx.afterCommit(this.#wakeWorkers);
  }

  /**
   * Stores what a callback tells, which anybody may have sent; as `queueAll`.
   * @returns how many there was no room for
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

  /** Whether a Pix is told of for a charge that its acquirer has not confirmed yet. */
  isTold(acquirer: string, txid: string): Promise<boolean> {
    return this.inbox.isTold(acquirer, txid);
  }

  /** Each Pix that is told of for a charge is asked about soon, however often it was in vain. */
  async hasten(acquirer: string, txid: string): Promise<void> {
    const by = new Date(this.clock.now().getTime() + LONGEST_AT_EXPIRY_SECONDS * 1000);
    await this.database.transaction(async (tx) => this.inbox.hasten(tx, acquirer, txid, by));
  }

  /** Those of the hints that were set aside. */
  async setAside(tx: Tx, acquirer: string, hints: readonly NotificationHint[]): Promise<NotificationHint[]> {
    const found = await this.inbox.setAside(tx, acquirer, hints);
    return hints.filter(({ kind, reference }) => found.has(`${kind} ${reference}`));
  }

  /** Stores a hint at what the acquirer's answer could not be read about. It is asked about without end, and operators see it. */
  async storeUnreadable(tx: Tx, acquirer: string, hint: NotificationHint): Promise<string> {
    const id = await this.store(tx, acquirer, hint);
    this.inbox.markUnreadable(tx, id, this.clock.now());
    return id;
  }

  /** Hints may be due. A lost wake costs a moment, until the next look. As a single function, a commit calls it once. */
  readonly #wakeWorkers = (): void => {
    if (!this.poller.wake(INBOX_TASK)) this.queue.add('acquirers.inbox', {}, () => INBOX_TASK).catch(() => undefined);
  };

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

  /** How a hint stands, and since when it is stored. @returns null when there is no such hint */
  stateOf(tx: Tx, acquirer: string, hint: NotificationHint): ReturnType<InboxRepository['stateOf']> {
    return this.inbox.stateOf(tx, acquirer, hint);
  }

  /** @returns null when it has been applied or set aside */
  findPending(notificationId: string): Promise<Notification | null> {
    return this.inbox.findPending(notificationId);
  }

  /** Whether a dispute of the charge is reported that the acquirer has not answered about yet: no refund is sent then. */
  isDisputeTold(tx: Tx, acquirer: string, txid: string): Promise<boolean> {
    return this.inbox.isDisputeTold(tx, acquirer, txid, this.clock.now());
  }

  /** Leases a dispute that is about to be asked about. @returns null when it is not pending any more */
  begin(notification: Notification): Promise<Notification | null> {
    const until = leasedUntil(notification, this.clock.now());
    return this.database.transaction((tx) => this.inbox.begin(tx, notification, until));
  }

  /** Prolongs the lease of a dispute until the returned function is called, or this process dies. */
  keepLease(notification: Notification): () => void {
    const prolong = (): void => {
      const until = leasedUntil(notification, this.clock.now());
      // If the database is away, the lease ends, and the dispute is asked about anew.
      this.database.transaction(async (tx) => this.inbox.prolong(tx, notification, until)).catch(() => undefined);
    };
    const timer = setInterval(prolong, PROLONG_MS);
    return () => clearInterval(timer);
  }

  /** Whether nobody has told of it or asked about it since. */
  isLatest(tx: Tx, notification: Notification): Promise<boolean> {
    return this.inbox.isLatest(tx, notification);
  }

  /** The dispute waits for its payment. */
  async await(notification: Notification, dispute: Dispute): Promise<void> {
    await this.database.transaction(async (tx) => this.inbox.await(tx, notification, dispute));
  }

  /** Puts all unconfirmed reports of an acquirer off that are due, which is no attempt. @returns how many of each kind */
  putOffUnconfirmed(acquirer: string): Promise<{ kind: string; count: number }[]> {
    const now = this.clock.now().getTime();
    const dueBy = new Date(now + LEASE_SECONDS * 1000);
    const earliest = new Date(now + PUT_OFF_SECONDS.least * 1000);
    const apartSeconds = PUT_OFF_SECONDS.most - PUT_OFF_SECONDS.least;
    return this.database.transaction((tx) => this.inbox.putOffUnconfirmed(tx, acquirer, dueBy, earliest, apartSeconds));
  }

  /** Ends it as applied, in the commit that applies it. */
  close(tx: Tx, notification: Notification): void {
    this.inbox.close(tx, notification, 'applied', this.clock.now(), null);
  }

  /** Ends it in a commit of its own. @param error why it is set aside; null: it is applied */
  async end(notification: Notification, error: string | null): Promise<void> {
    const { acquirer: owner, id: conflictKey } = notification;
    await this.database.inGroupCommit('inbox', { owner, conflictKey }, async (tx) => {
      this.inbox.close(tx, notification, error === null ? 'applied' : 'ignored', this.clock.now(), error);
    });
  }

  /**
   * It is tried again, after pauses that grow to an hour.
   * @param unreadable whether the acquirer has it, and it cannot be read; null: as it has said before
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

/** How long a hint is left to whoever asks about it. */
export function leasedUntil({ kind }: Pick<NotificationHint, 'kind'>, now: Date): Date {
  const seconds = kind === 'dispute' ? DISPUTE_LEASE_SECONDS : LEASE_SECONDS;
  return new Date(now.getTime() + seconds * 1000);
}

function distinctHints(hints: readonly NotificationHint[], now: Date): (NotificationHint & { readonly id: string })[] {
  return [...new Map(hints.map((hint) => [`${hint.kind} ${hint.reference}`, { ...hint, id: newId(now) }])).values()];
}
