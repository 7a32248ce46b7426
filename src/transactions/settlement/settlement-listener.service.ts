import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AcquirersService, ConfirmationService, type OrderEvent, type PixChargeEnd } from '../../acquirers/index.js';
import { Clock } from '../../core/clock.js';
import { Database } from '../../core/database/index.js';
import { PixIssueService } from '../creation/pix-issue.service.js';
import { failureOf, isHeld, isPastExpiry } from '../transaction.js';
import { TransactionMoves } from '../transaction-moves.service.js';
import type { Trigger } from '../transactions.machine.js';
import { SettlementService } from './settlement.service.js';

const END_TRIGGERS = { expired: 'expired', refused: 'refused', removed: 'cancelled' } as const;

/** Applies what an acquirer has confirmed. Everything here may be called again with the same facts. */
@Injectable()
export class SettlementListener implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly acquirers: AcquirersService,
    private readonly confirmations: ConfirmationService,
    private readonly issues: PixIssueService,
    private readonly settlements: SettlementService,
    private readonly moves: TransactionMoves,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.confirmations.on('pixReceived', async (acquirer, pix, notification) => {
      if (pix.txid !== null) await this.issues.resolveByTxid(acquirer, pix.txid);
      return this.settlements.settle(acquirer, { ...pix, method: 'PIX' }, notification);
    });
    this.confirmations.on('paymentReceived', (acquirer, { reference, ...payment }, notification) =>
      this.settlements.settle(acquirer, { ...payment, endToEndId: reference }, notification),
    );
    this.confirmations.on('orderMoved', (acquirer, event) => this.#moveOrder(acquirer, event));
    this.confirmations.on('chargeEnded', async (acquirer, txid, end) => {
      await this.issues.resolveByTxid(acquirer, txid);
      const isLocal = this.acquirers.local().includes(acquirer);
      // A PSP's word that a charge has expired may be older than its payment: `ExpiryService` asks.
      if (end.end === 'expired' && !isLocal) return;
      await this.endCharge(acquirer, txid, end, isLocal ? null : this.clock.now());
    });
  }

  /**
   * The acquirer says that a charge has ended without payment.
   * @param now a charge that is past its expiry by then stays as it is: it reads as expired. Null: every charge ends
   */
  async endCharge(acquirer: string, txid: string, end: PixChargeEnd, now: Date | null = null): Promise<void> {
    const trigger: Trigger = END_TRIGGERS[end.end];
    await this.database.transaction(async (tx) => {
      const found = await this.moves.lockIssued(tx, acquirer, txid);
      // Held: a Pix did arrive, and waits for an operator or for the merchant's cancellation, which sends it back. Ending
      // it here would leave the payer's money with nobody.
      if (!found || isHeld(found.transaction)) return;
      if (now !== null && isPastExpiry(found.transaction, now)) return;
      const failure = failureOf(found.transaction, {
        reason: end.reason,
        providerErrorCode: end.end === 'removed' ? 'canceled' : end.end,
        at: end.at,
      });
      await this.moves.move(tx, found.transaction, trigger, { failure });
    });
  }

  /** Something happened to an order besides money arriving. */
  async #moveOrder(acquirer: string, { txid, kind, reason, at }: OrderEvent): Promise<void> {
    if (kind !== 'processing') return this.endCharge(acquirer, txid, { end: kind, reason, at });
    await this.database.transaction(async (tx) => {
      const found = await this.moves.lockIssued(tx, acquirer, txid);
      if (found) await this.moves.move(tx, found.transaction, 'authenticating');
    });
  }
}
