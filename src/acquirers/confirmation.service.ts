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

/** `closed`: applied, and the notification was ended in the same commit. `early`: it is tried again until it is applied. */
export type Settled = 'applied' | 'closed' | 'early';

/** Who applies what the acquirer has confirmed. Every method may be called again with the same facts. */
interface ConfirmedHandlers {
  /**
   * @param notification what told of it; null if its charge did
   * @returns `early` if another acquirer has to be asked first
   */
  pixReceived(acquirer: string, pix: ReceivedPix, notification: Notification | null): Promise<Settled>;
  chargeEnded(acquirer: string, txid: string, end: PixChargeEnd): Promise<void>;
  paymentReceived(acquirer: string, payment: ReceivedPayment, notification: Notification): Promise<Settled>;
  orderMoved(acquirer: string, event: OrderEvent): Promise<void>;
  /**
   * @param notification what told of it, for `isLatest`
   * @returns false when its payment is not known or not settled here yet: it is tried again until it is
   */
  disputeChanged(acquirer: string, dispute: Dispute, notification: Notification): Promise<boolean>;
  /**
   * Money of a Pix went back, or could not: whoever asked for it asks how it stands.
   * @returns false when nobody here asked for it
   */
  returnMoved(acquirer: string, endToEndId: string, returnId: string): Promise<boolean>;
}

/**
 * `unknown`: the acquirer does not know it. `foreign`: a Pix went to a key that is not ours. `early`: it is about what has
 * not reached us yet. `open`: nobody has paid a charge, and it goes on.
 */
type Applied = Settled | 'unknown' | 'foreign' | 'open';

/** With growing pauses these take about a day. Then a notification that nobody can confirm is set aside. */
const MAX_ATTEMPTS = 40;
/**
 * That a charge is not paid which may have been is believed after answers at these attempts: with their pauses, the first of
 * which is a minute, they take a quarter of an hour.
 */
const CONTRARY = { first: 6, last: 10 };
const FOREIGN = 'it went to a key that is not ours';
const OPEN = 'nothing has happened to it';

/**
 * Asks the acquirer about what stands in the inbox, and has it applied: a forged or repeated notification moves nothing.
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

  /** How many more hints of a line may be asked about now. @param underWay how many are */
  roomFor({ acquirer, isUnconfirmed }: Line, underWay: number): number {
    const room = this.#bulkhead.room(acquirer);
    return isUnconfirmed ? Math.min(room, this.reports.placesOf(acquirer) - underWay) : room;
  }

  on<K extends keyof ConfirmedHandlers>(kind: K, handler: ConfirmedHandlers[K]): void {
    this.#handlers[kind] = handler;
  }

  /**
   * Confirms one notification with its acquirer and applies it. Never throws: a failure is recorded and tried again.
   * @returns the failure, null without one
   */
  async confirm(notificationId: string): Promise<unknown> {
    const found = await this.inbox.findPending(notificationId);
    return found ? this.confirmFound(found) : null;
  }

  /** As `confirm`. */
  async confirmFound(found: Notification): Promise<unknown> {
    const notificationId = found.id;
    if (!(await this.#mayAsk(found))) return null;
    // Put off: its lease brings it back.
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
      // A cause is the failure of a further question: the acquirer has not answered all that it was asked.
      answered = isUnreadable && error.cause === undefined;
      this.#count(notification, isUnreadable ? 'unreadable' : 'failed');
      const { kind, acquirer, reference } = notification;
      // Never set aside: it is there, and may be money of somebody's.
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

  /** Stores hints and confirms them now, without a worker. @returns what each has failed by, null without a failure */
  async confirmNow(acquirer: string, hints: readonly NotificationHint[]): Promise<unknown[]> {
    const stored = await this.database.transaction((tx) => this.inbox.storeAll(tx, acquirer, hints));
    const failures: unknown[] = [];
    for (const notificationId of stored) failures.push(await this.confirm(notificationId));
    return failures;
  }

  /**
   * The acquirer's answer about it could not be read. It is marked as unreadable before the acquirer is asked once more,
   * since the bulkhead may not let the question through now.
   */
  async confirmUnreadable(acquirer: string, hint: NotificationHint): Promise<void> {
    await this.confirm(await this.database.transaction((tx) => this.inbox.storeUnreadable(tx, acquirer, hint)));
  }

  /**
   * Whether nobody has asked about the dispute since: banks do not always tell in which order they have said something.
   * Call it under a lock that all who apply the dispute take.
   */
  isLatest(tx: Tx, notification: Notification): Promise<boolean> {
    return this.inbox.isLatest(tx, notification);
  }

  /** Each Pix that is told of for a charge is asked about soon, however often it was in vain. */
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
        // An earlier answer that could not be read may have called it paid, and this one may be older.
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

  /** @throws UnreadableAnswer after the others are applied, when one cannot be had: the charge was paid, nobody knows how */
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
    // The charge is told to be paid by these, whatever a later answer says that is behind this one.
    await this.database.transaction((tx) => this.inbox.storeAll(tx, acquirer.name, failed));
    const [cause] = failures;
    throw (
      failures.find((error) => error instanceof UnreadableAnswer) ??
      new UnreadableAnswer('a payment of a charge', { cause })
    );
  }

  /**
   * Said by the acquirer, not guessed from an outage: a forged hint, or one about what never happened. Where the acquirer
   * had it before, its attempts are counted anew, once, and operators see it until it is set aside, or until it is believed
   * that the charge is not paid.
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

  /** @returns false when no questions are left: all reports of the acquirer that are due are put off then */
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
