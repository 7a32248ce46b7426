import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { AcquirersService } from '../../acquirers/index.js';
import { Clock } from '../../core/clock.js';
import { Database, type Tx } from '../../core/database/index.js';
import type { Scope } from '../../core/mode.js';
import { Poller } from '../../core/queue/index.js';
import { OutboxService } from '../../outbox/index.js';
import { transactionEvent } from '../transaction.events.js';
import type { Transaction } from '../transaction.js';
import { type ExpiryDue, ExpiryRepository } from './expiry.repository.js';

const SWEEP_MS = 1_000;
/** Number of waits for rows that another transaction has locked, each of `LOCK_WAIT_MS`. */
const MAX_LOCK_WAITS = 50;
const LOCK_WAIT_MS = 20;
/** Small, because whole rows are in memory together, each with its metadata. */
const BATCH = 50;

/**
 * Marks charges as EXPIRED after their expiry. A charge can expire while it waits for its payer, also while a card is in
 * flight (`isOpen`). A held charge (`isHeld`) never expires, as an operator may still credit it.
 *
 * A PENDING charge does not expire. `PixIssueService.resolve` asks the acquirer about it. If the acquirer has issued
 * it, it expires like any other charge. If the acquirer does not know it, it becomes REFUSED.
 *
 * Four things write an expiry, apart from an acquirer that ends the charge (last paragraph):
 * - the sweep below, every second;
 * - a list by status or a report, which must not count an expired charge as open (`payment-pages.service.ts`);
 * - a resend of the charge's webhook;
 * - in the sandbox only, a payment that was settled too late (`decideSettlement`).
 *
 * A charge past its expiry is still paid in exactly two cases:
 * - The bank settled the payment at or before `expiresAt` by the bank's own time, and the expiry is not written yet.
 *   The charge may read EXPIRED already (`asOf` in transaction.ts). This also holds for an unmatched Pix that an
 *   operator assigns (`whyNotCredited`).
 * - The charge is held (`isHeld`): its Pix came in time, but the bank did not name the payer. An operator may accept
 *   that Pix at any later time. Any other Pix for the charge goes back.
 *
 * Every other payment goes back, or waits for an operator if its method has no way back.
 *
 * Before the expiry of a live Pix charge is written, `ExpiryProcessor` asks its acquirer about the charge every 15 s.
 * Questions begin when the acquirer's settlement lag (60 s, unless its profile says otherwise) has passed since the
 * expiry. At that time the acquirer's answers contain a Pix of the last second. The sandbox is not asked, because it is
 * part of the service.
 * - The acquirer answers: a payment that was made in time is settled. Otherwise the expiry is written, whatever state
 *   the acquirer gives the charge. If a callback or list reported a Pix that the acquirer does not know yet (a PSP may
 *   be behind its own callbacks), the charge is asked about again. This ends ten minutes after the first question.
 * - The acquirer does not answer, or answers "not found" for a charge that it has made: it is asked again. If a
 *   question ten minutes after the first one has no answer either, the expiry is written. A payment that is reported
 *   later goes back, even one in time. While the service is down no charge ends: a question decides, not the clock.
 * - The answer cannot be read, or calls the charge paid while its Pix cannot be fetched: the inbox
 *   (docs/design/live-pix-inbox.md) goes on asking. The charge does not expire until the acquirer has reported it as
 *   unpaid for a quarter of an hour.
 *
 * `ExpiryRepository` has these rules in SQL (`isHeard`).
 *
 * An acquirer may also end a charge at any time as refused or removed. The charge becomes REFUSED or CANCELLED, unless
 * it is held (`endCharge` in settlement-listener.service.ts). In the sandbox `expired` ends a charge at once, by
 * `simulate`. From a PSP `expired` changes nothing: the questions above find the charge's state.
 */
@Injectable()
export class ExpiryService implements OnApplicationBootstrap {
  constructor(
    private readonly database: Database,
    private readonly expiry: ExpiryRepository,
    private readonly acquirers: AcquirersService,
    private readonly outbox: OutboxService,
    private readonly poller: Poller,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.poller.onWorkers('transactions.expiry', SWEEP_MS, () => this.expireDue());
  }

  /** Writes the due expiries of one account; usually there are none. */
  async expireDueOf(scope: Scope): Promise<void> {
    let lockWaits = 0;
    while (lockWaits < MAX_LOCK_WAITS && (await this.expiry.hasDue(scope, this.#due()))) {
      const expired = await this.database.transaction((tx) => this.#expire(tx, scope, null));
      if (expired.length > 0) continue;
      // Waits, because another transaction holds the remaining charges, for example to settle a payment.
      lockWaits++;
      await delay(LOCK_WAIT_MS);
    }
  }

  /**
   * Writes due expiries, each with its event, once.
   * @param scope null: all accounts
   * @returns whether there may be more
   */
  async expireDue(scope: Scope | null = null): Promise<boolean> {
    const expired = await this.database.transaction((tx) => this.#expire(tx, scope, null));
    return expired.length === BATCH;
  }

  /** Writes the expiry of a transaction that the caller has locked. @returns null if it does not expire (yet) */
  async expire(tx: Tx, id: string): Promise<Transaction | null> {
    const [expired] = await this.#expire(tx, null, id);
    return expired ?? null;
  }

  /**
   * Records that the acquirer was asked about a charge. Afterwards the expiry may be written in two cases.
   * - The acquirer has answered, and no Pix waits to be confirmed.
   * - The question began at least ten minutes after the first one.
   * @param at when the question began
   */
  async asked(id: string, at: Date, isAnswered: boolean): Promise<void> {
    await this.database.transaction(async (tx) => {
      this.expiry.asked(tx, id, at, isAnswered);
      tx.afterCommit(() => this.poller.wake('transactions.expiry'));
    });
  }

  /** Postpones the question, because the acquirer does not answer questions about other charges. */
  async putOff(id: string): Promise<void> {
    await this.database.transaction(async (tx) => this.expiry.putOff(tx, id, this.clock.now()));
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
    return { now: this.clock.now(), localAcquirers: this.acquirers.local() };
  }
}
