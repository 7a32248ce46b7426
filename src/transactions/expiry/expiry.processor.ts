import { Injectable } from '@nestjs/common';
import {
  AcquirersService,
  Bulkhead,
  ConfirmationService,
  type NotificationHint,
  UnreadableAnswer,
} from '../../acquirers/index.js';
import { Clock } from '../../core/clock.js';
import { Logger } from '../../core/log/index.js';
import { InternalRecordsRepository } from '../settlement/internal-records.repository.js';
import { isOpen } from '../transaction.js';
import { TransactionsRepository } from '../transactions.repository.js';
import { ExpiryService } from './expiry.service.js';

/**
 * Asks acquirers about charges past their expiry, to find payments in time that were not reported. Found later, such a
 * payment would have to go back. Nothing is locked while asking.
 * If an answer cannot be read, or names a Pix that cannot be fetched, the charge may be paid. The inbox then goes on
 * asking without end, where operators see it.
 */
@Injectable()
export class ExpiryProcessor {
  readonly #bulkhead = new Bulkhead();

  constructor(
    private readonly transactions: TransactionsRepository,
    private readonly acquirers: AcquirersService,
    private readonly records: InternalRecordsRepository,
    private readonly confirmations: ConfirmationService,
    private readonly expiry: ExpiryService,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Asks about one charge, settles its payments, and records whether its acquirer has answered. */
  async run(id: string): Promise<void> {
    const transaction = await this.transactions.findPublic(id);
    if (!transaction || !isOpen(transaction) || transaction.txid === null) return;
    const { acquirer, txid } = transaction;
    if (!this.#bulkhead.enter(acquirer)) return this.expiry.putOff(id);
    const at = this.clock.now();
    let isHeard = false;
    let outcome: 'answered' | 'silent' | 'open' = 'silent';
    try {
      const state = await this.acquirers.get(acquirer).getPixCharge(txid);
      isHeard = true;
      outcome = 'open';
      if (state.kind === 'found') await this.#settle(acquirer, state.payments);
      // If an acquirer does not know a charge that it has made, it is disturbed, and its answer does not count.
      outcome = state.kind === 'found' || transaction.brCode === null ? 'answered' : 'silent';
      if (outcome === 'silent') this.logger.warn({ transactionId: id }, 'an acquirer does not know what it has made');
    } catch (error) {
      if (error instanceof UnreadableAnswer) {
        outcome = 'open';
        isHeard ||= error.cause === undefined;
        await this.confirmations.confirmUnreadable(acquirer, { kind: 'charge', reference: txid });
      } else this.logger.warn({ error, transactionId: id }, 'how an expired charge stands is not known');
    } finally {
      this.#bulkhead.leave(acquirer, isHeard);
    }
    // Open: a payment may be unread or unsettled; the inbox or the end of the lease brings the charge back.
    if (outcome === 'open') return;
    await this.confirmations.hasten(acquirer, txid);
    await this.expiry.asked(id, at, outcome === 'answered');
  }

  /**
   * Settles the payments of a charge. If the list brought a Pix before the charge named it, the Pix is unmatched, and
   * is asked about as an unknown Pix is.
   * @throws UnreadableAnswer when a Pix cannot be fetched: the charge was paid, so it must not expire
   */
  async #settle(acquirer: string, payments: readonly NotificationHint[]): Promise<void> {
    const ids = payments.map(({ reference }) => reference);
    const claimable = await this.records.claimable(acquirer, ids);
    if (claimable.length === 0) return;
    const failures = await this.confirmations.confirmNow(
      acquirer,
      payments.filter(({ reference }) => claimable.includes(reference)),
    );
    const isFailed = failures.some((failure) => failure !== null);
    if (isFailed || (await this.records.unsettled(claimable)).length > 0) {
      throw new UnreadableAnswer('a payment of a charge');
    }
  }
}
