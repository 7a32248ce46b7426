import { Injectable } from '@nestjs/common';
import { Database, type Tx } from '../core/database/index.js';
import { Logger } from '../core/log/index.js';
import { Metrics } from '../core/metrics/index.js';
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
import { Bulkhead } from './bulkhead.js';
import type { Line } from './inbox-places.js';
import { type Notification, UNKNOWN } from './inbox.repository.js';
import { InboxService } from './inbox.service.js';
import { UnconfirmedReports } from './unconfirmed-reports.service.js';

/** `closed`: applied, and the notification was ended in the same commit. `early`: retried until it is applied. */
export type Settled = 'applied' | 'closed' | 'early';

/** Handlers of facts that the acquirer has confirmed. Every method may be called again with the same facts. */
interface ConfirmedHandlers {
  /**
   * @param notification the one that reported this Pix; null if its charge did
   * @returns `early` if another acquirer has to be queried first
   */
  pixReceived(acquirer: string, pix: ReceivedPix, notification: Notification | null): Promise<Settled>;
  chargeEnded(acquirer: string, txid: string, end: PixChargeEnd): Promise<void>;
  paymentReceived(acquirer: string, payment: ReceivedPayment, notification: Notification): Promise<Settled>;
  orderMoved(acquirer: string, event: OrderEvent): Promise<void>;
  /**
   * @param notification the one that reported the dispute, for `isLatest`
   * @returns false when its payment is not known or not settled here yet: the notification is retried until it is
   */
  disputeChanged(acquirer: string, dispute: Dispute, notification: Notification): Promise<boolean>;
  /**
   * Money of a Pix went back, or could not: the part that requested the return queries its state.
   * @returns false when nobody here requested it
   */
  returnMoved(acquirer: string, endToEndId: string, returnId: string): Promise<boolean>;
  /**
   * A payout moved, or a part of it came back: the part that sent it queries its state.
   * @returns false when nobody here sent it
   */
  payoutMoved(acquirer: string, sendId: string): Promise<boolean>;
  /** As `payoutMoved`, of a refund by cashout, which the same desk sends. */
  cashoutMoved(acquirer: string, sendId: string): Promise<boolean>;
}

/**
 * `unknown`: the acquirer does not know the reported object. `foreign`: the Pix went to a key that is not ours.
 * `early`: its payment is not settled here yet. `open`: the charge is unpaid and can still be paid.
 */
type Applied = Settled | 'unknown' | 'foreign' | 'open';

/** With growing pauses these attempts take about a day. After the last one the notification is set aside. */
const MAX_ATTEMPTS = 40;
/**
 * If a charge may have been paid, an answer "not paid" counts only after attempts `first` to `last`. With their pauses
 * (the first is a minute) they take a quarter of an hour.
 */
const CONTRARY = { first: 6, last: 10 };
const FOREIGN = 'it went to a key that is not ours';
const OPEN = 'nothing has happened to it';

/**
 * Queries the acquirer about each notification in the inbox and has the answer applied: a forged or repeated
 * notification changes nothing.
 */
@Injectable()
export class ConfirmationService {
  readonly #handlers: Partial<ConfirmedHandlers> = {};
  readonly #bulkhead = new Bulkhead();

  constructor(
    private readonly database: Database,
    private readonly inbox: InboxService,
    private readonly acquirers: AcquirersService,
    private readonly reports: UnconfirmedReports,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  /** How many more hints of a line may be queried now. @param underWay number of running queries */
  roomFor({ acquirer, isUnconfirmed }: Line, underWay: number): number {
    const room = this.#bulkhead.room(acquirer);
    return isUnconfirmed ? Math.min(room, this.reports.placesOf(acquirer) - underWay) : room;
  }

  on<K extends keyof ConfirmedHandlers>(kind: K, handler: ConfirmedHandlers[K]): void {
    this.#handlers[kind] = handler;
  }

  /**
   * Confirms one notification with its acquirer and applies it. Never throws: a failure is recorded and retried.
   * @returns the failure, null without one
   */
  async confirm(notificationId: string): Promise<unknown> {
    const found = await this.inbox.findPending(notificationId);
    return found ? this.confirmFound(found) : null;
  }

  /** Confirms like `confirm`, for a notification that was read before. */
  async confirmFound(found: Notification): Promise<unknown> {
    const notificationId = found.id;
    if (!(await this.#mayAsk(found))) return null;
    // If the bulkhead refuses, the hint is due again when its lease ends.
    if (!this.#bulkhead.enter(found.acquirer)) return null;
    let notification = found;
    let answered = false;
    let endLease = (): void => undefined;
    try {
      if (found.kind === 'dispute') {
        const begun = await this.inbox.begin(found);
        answered = begun === null;
        if (!begun) return null;
        notification = begun;
        endLease = this.inbox.keepLease(notification);
      }
      const applied = await this.#apply(notification).finally(endLease);
      answered = true;
      if (applied === 'unknown' || applied === 'open') {
        await this.#notConfirmed(notification, applied);
        return null;
      }
      await this.reports.wasTrue(found);
      this.#count(notification, applied === 'closed' ? 'applied' : applied);
      if (applied === 'closed') return null;
      if (applied === 'foreign') {
        await this.inbox.end(notification, FOREIGN);
        return null;
      }
      if (applied === 'applied') await this.inbox.end(notification, null);
      // Never set aside: the acquirer has confirmed it, and what it is about is on its way.
      else await this.inbox.retry(notification, 'its payment is not settled here yet', false);
      return null;
    } catch (error) {
      const isUnreadable = error instanceof UnreadableAnswer;
      // If the error has a cause, a further query failed: the acquirer has not answered everything.
      answered = isUnreadable && error.cause === undefined;
      this.#count(notification, isUnreadable ? 'unreadable' : 'failed');
      const { kind, acquirer, reference } = notification;
      // Unreadable answers are never set aside: the acquirer has the object, and it may be somebody's money.
      if (isUnreadable)
        this.logger.error({ notificationId, kind, acquirer, reference, cause: error.cause }, error.message);
      else this.logger.error({ error, notificationId, kind }, 'applying a notification failed; kept');
      const text = error instanceof Error ? error.message : String(error);
      // If the acquirer did not know an unconfirmed report, that answer stands until it gives another one.
      const stands = !isUnreadable && notification.isUnconfirmed && notification.lastError === UNKNOWN;
      await this.inbox.retry(notification, stands ? UNKNOWN : text, isUnreadable ? true : null);
      return error;
    } finally {
      this.#bulkhead.leave(notification.acquirer, answered);
    }
  }

  /** Stores hints and confirms them now, without a worker. @returns the failure of each, null without a failure */
  async confirmNow(acquirer: string, hints: readonly NotificationHint[]): Promise<unknown[]> {
    const stored = await this.database.transaction((tx) => this.inbox.storeAll(tx, acquirer, hints));
    const failures: unknown[] = [];
    for (const notificationId of stored) failures.push(await this.confirm(notificationId));
    return failures;
  }

  /**
   * Stores a hint about an answer that could not be read, and marks it unreadable before it is queried once more: the
   * bulkhead may refuse the query now.
   */
  async confirmUnreadable(acquirer: string, hint: NotificationHint): Promise<void> {
    await this.confirm(await this.database.transaction((tx) => this.inbox.storeUnreadable(tx, acquirer, hint)));
  }

  /**
   * Whether nobody has queried the dispute since: banks do not always report changes in order. Call it under a lock
   * that every writer of the dispute takes.
   */
  isLatest(tx: Tx, notification: Notification): Promise<boolean> {
    return this.inbox.isLatest(tx, notification);
  }

  /** Makes each reported Pix of a charge due soon, however many attempts have failed. */
  hasten(acquirer: string, txid: string): Promise<void> {
    return this.inbox.hasten(acquirer, txid);
  }

  async #apply(notification: Notification): Promise<Applied> {
    const acquirer = this.acquirers.get(notification.acquirer);
    switch (notification.kind) {
      case 'pix':
        return this.#applyPix(acquirer, notification, notification);
      case 'charge': {
        const state = await acquirer.getPixCharge(notification.reference);
        if (state.kind === 'not_found') return 'unknown';
        await this.#applyPayments(acquirer, state.payments);
        // If an earlier unreadable answer called the charge paid, this answer may be older.
        if (notification.isConfirmed && state.payments.length === 0) return 'open';
        if (state.ended) await this.#handlers.chargeEnded?.(acquirer.name, notification.reference, state.ended);
        return state.ended || state.payments.length > 0 ? 'applied' : 'open';
      }
      case 'payment': {
        const payment = (await acquirer.orders?.getPayment(notification.reference)) ?? null;
        if (!payment) return 'unknown';
        return (await this.#handlers.paymentReceived?.(acquirer.name, payment, notification)) ?? 'applied';
      }
      case 'order': {
        const event = (await acquirer.orders?.getEvent(notification.reference)) ?? null;
        if (event) await this.#handlers.orderMoved?.(acquirer.name, event);
        return event ? 'applied' : 'unknown';
      }
      case 'dispute': {
        const dispute = await acquirer.getDispute(notification.reference);
        if (!dispute) return 'unknown';
        if ((await this.#handlers.disputeChanged?.(acquirer.name, dispute, notification)) === true) return 'applied';
        await this.inbox.await(notification, dispute);
        return 'early';
      }
      case 'return': {
        const [endToEndId = '', returnId = ''] = notification.reference.split('/');
        const known = await this.#handlers.returnMoved?.(acquirer.name, endToEndId, returnId);
        return known === true ? 'applied' : 'unknown';
      }
      case 'payout': {
        const [sendId = ''] = notification.reference.split('/');
        const isPayout = await this.#handlers.payoutMoved?.(acquirer.name, sendId);
        const isKnown = isPayout === true || (await this.#handlers.cashoutMoved?.(acquirer.name, sendId)) === true;
        return isKnown ? 'applied' : 'unknown';
      }
    }
  }

  async #applyPix(
    acquirer: Acquirer,
    { reference, txid, shown }: Pick<NotificationHint, 'reference' | 'txid' | 'shown'>,
    notification: Notification | null,
  ): Promise<Exclude<Applied, 'open'>> {
    const answer = await acquirer.getPix(reference, txid);
    if (answer === 'foreign') return answer;
    const pix = answer ?? shown ?? null;
    if (!pix) return 'unknown';
    return (await this.#handlers.pixReceived?.(acquirer.name, pix, notification)) ?? 'applied';
  }

  /**
   * @throws UnreadableAnswer after all other payments are applied, if one cannot be fetched: the charge was paid, but
   * nobody knows by which Pix
   */
  async #applyPayments(acquirer: Acquirer, hints: readonly NotificationHint[]): Promise<void> {
    const failures: unknown[] = [];
    const failed: NotificationHint[] = [];
    for (const hint of hints) {
      try {
        if ((await this.#applyPix(acquirer, hint, null)) === 'applied') continue;
        this.logger.warn(
          { acquirer: acquirer.name, endToEndId: hint.reference },
          'the acquirer says that it has paid, and does not know it',
        );
        failures.push(new UnreadableAnswer('a payment of a charge'));
      } catch (error) {
        failures.push(error);
      }
      failed.push(hint);
    }
    if (failures.length === 0) return;
    // The charge reported these payments. Stored hints keep that, even if a later but outdated answer differs.
    await this.database.transaction((tx) => this.inbox.storeAll(tx, acquirer.name, failed));
    const [cause] = failures;
    throw (
      failures.find((error) => error instanceof UnreadableAnswer) ??
      new UnreadableAnswer('a payment of a charge', { cause })
    );
  }

  /**
   * Handles an acquirer's answer "unknown" or "not paid", which is no outage: the hint is forged, or nothing happened.
   * If the acquirer had it before, its attempts are counted anew, once. Operators then see the hint until it is set
   * aside or the charge counts as unpaid.
   */
  async #notConfirmed(known: Notification, applied: 'unknown' | 'open'): Promise<void> {
    const error = applied === 'unknown' ? UNKNOWN : OPEN;
    const isNews = known.isConfirmed && known.lastError !== error;
    const notification = isNews ? { ...known, attempts: applied === 'open' ? CONTRARY.first : 0 } : known;
    const { id: notificationId, acquirer, kind, attempts } = notification;
    const isBelieved = applied === 'open' && (!known.isConfirmed || attempts >= CONTRARY.last);
    const isGivenUp = attempts + 1 >= MAX_ATTEMPTS;
    this.reports.wasNotConfirmed(notification);
    this.#count(notification, isGivenUp ? 'ignored' : applied);
    if (isGivenUp) this.logger.warn({ notificationId, acquirer, kind }, 'a notification was set aside');
    else if (attempts === 0) this.logger.warn({ notificationId, acquirer, kind }, 'a notification is not confirmed');
    if (isGivenUp) await this.inbox.end(notification, error);
    else await this.inbox.retry(notification, error, isBelieved ? false : null);
  }

  /** @returns false when no queries are left: all due reports of the acquirer are then put off */
  async #mayAsk(notification: Notification): Promise<boolean> {
    if (await this.reports.mayAsk(notification)) return true;
    for (const { kind, count } of await this.inbox.putOffUnconfirmed(notification.acquirer)) {
      this.metrics.notifications.inc({ kind, outcome: 'put_off' }, count);
    }
    return false;
  }

  #count({ kind }: Notification, outcome: Applied | 'unreadable' | 'failed' | 'ignored'): void {
    this.metrics.notifications.inc({ kind, outcome });
  }
}
