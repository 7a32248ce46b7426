import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Dispute, ConfirmationService, type Notification } from '../../acquirers/index.js';
import { Database, type Tx } from '../../core/database/index.js';
import { newId } from '../../core/ids.js';
import { type DisputeClaims, MedPayers, RefundTransitions, type Transaction } from '../../transactions/index.js';
import { applyReport } from './bank-report.rules.js';
import { claimFreed } from './dispute.rules.js';
import { bankSideOf } from './med-case.rules.js';
import { MedCasesRepository } from './med-cases.repository.js';
import { MedTransitions } from './med-transitions.service.js';

/** Brings cases to the state that their acquirer reports. */
@Injectable()
export class MedDisputesService implements DisputeClaims, OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly confirmations: ConfirmationService,
    private readonly refunds: RefundTransitions,
    private readonly cases: MedCasesRepository,
    private readonly transitions: MedTransitions,
    private readonly payers: MedPayers,
  ) {}

  onModuleInit(): void {
    this.confirmations.on('disputeChanged', (...reported) => this.apply(...reported));
    this.refunds.claimedBy(this);
  }

  /**
   * Applies a dispute. Idempotent on (acquirer, reference): repeated calls with one state have one effect, and an older
   * state has none. Each report is complete, so a ruling needs no opening before it.
   * @param notification the report's source. If the acquirer was asked again since, the later answer is applied
   * @returns false while the payment is not settled here
   */
  async apply(acquirer: string, dispute: Dispute, notification: Notification): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const found = await this.transitions.find(tx, acquirer, dispute);
      if (!found) return false;
      if (!(await this.confirmations.isLatest(tx, notification))) return true;
      const { disputed, paymentReference } = found;
      // A Pix without a sale that an operator has dealt with becomes no merchant's case: `reconcile` judges its
      // bookings.
      if (!disputed) return true;
      const { payerName: name, payerDocument: document } = dispute;
      const { now } = disputed;
      const bank = bankSideOf(dispute, this.payers.seal(disputed.transaction.id, { name, document }), now);
      const report = { acquirer, dispute, bank, paymentReference, newId: newId(now) };
      await this.transitions.carryOut(tx, applyReport(disputed, report));
      return true;
    });
  }

  /** Lets the cases of a payment claim what a failed refund, or a loss that came back, has left of it: `claimFreed`. */
  async freed(tx: Tx, { id }: Transaction, cause: string): Promise<void> {
    await this.transitions.carryOut(tx, claimFreed(await this.transitions.lock(tx, id), cause));
  }

  async isUnderway(tx: Tx | null, transactionId: string): Promise<boolean> {
    return this.cases.isUnderway(tx, transactionId);
  }
}
