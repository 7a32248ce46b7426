import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Dispute, ConfirmationService, type Notification } from '../../acquirers/index.js';
import { Clock } from '../../core/clock.js';
import { Database, type Tx } from '../../core/database/index.js';
import { newId } from '../../core/ids.js';
import type { Amount } from '../../core/money/index.js';
import { type DisputeClaims, MedPayers, RefundTransitions, type Transaction } from '../../transactions/index.js';
import { type BankSide, type MedCase, type MedReview, UNTOUCHED } from './med-case.js';
import { bankSideOf, contradictionOf, isNews, nextNotice } from './med-case.rules.js';
import { isUnderway } from './med-cases.machine.js';
import { MedCasesRepository } from './med-cases.repository.js';
import type { DisputedTransaction } from './disputed-transaction.js';
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
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.confirmations.on('disputeChanged', (...told) => this.apply(...told));
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
      const { disputedTransaction, paymentReference } = found;
      // A Pix without a sale that an operator has dealt with becomes no merchant's case: `reconcile` judges its
      // bookings.
      if (!disputedTransaction) return true;
      const known = disputedTransaction.cases.find(
        (candidate) => candidate.acquirer === acquirer && candidate.reference === dispute.reference,
      );
      if (!known) await this.#begin(tx, disputedTransaction, acquirer, paymentReference, dispute);
      else if (isNews(known, dispute)) await this.#goOn(tx, disputedTransaction, known, paymentReference, dispute);
      this.transitions.postMoves(tx, disputedTransaction);
      return true;
    });
  }

  /**
   * Gives freed money, of a failed refund or a loss that came back, to the open cases. Without open cases the merchant
   * keeps it. If cases had taken the rest of the payment, the payment counts as paid again. If the bank took more than
   * was lost because of the refund or the loss, an operator has to look.
   */
  async freed(tx: Tx, transaction: Transaction, cause: string): Promise<void> {
    const disputedTransaction = await this.transitions.lock(tx, transaction.id);
    if (disputedTransaction.cases.length === 0) return;
    const isDisputed = transaction.status === 'DISPUTE' || transaction.status === 'CHARGEBACK';
    if (isDisputed) await this.transitions.holdMore(tx, disputedTransaction, cause);
    await this.transitions.doubtLosses(tx, disputedTransaction);
    if (isDisputed) await this.transitions.revive(tx, disputedTransaction);
    this.transitions.postMoves(tx, disputedTransaction);
  }

  async isUnderway(tx: Tx | null, transactionId: string): Promise<boolean> {
    return this.cases.isUnderway(tx, transactionId);
  }

  async #begin(
    tx: Tx,
    disputedTransaction: DisputedTransaction,
    acquirer: string,
    paymentReference: string,
    dispute: Dispute,
  ): Promise<void> {
    const now = this.clock.now();
    const id = newId(now);
    const review = reviewOf(disputedTransaction, { id, paymentReference, amount: dispute.amount });
    const { transaction } = disputedTransaction;
    const { reference, type, amount, reason, responseDeadline, openedAt } = dispute;
    const medCase: MedCase = {
      ...UNTOUCHED,
      id,
      accountId: transaction.accountId,
      mode: transaction.mode,
      transactionId: transaction.id,
      acquirer,
      reference,
      paymentReference,
      type,
      status: 'open',
      visible: review === null,
      review,
      amount,
      reportedAmount: amount,
      heldAmount: 0,
      lostAmount: 0,
      currency: transaction.currency,
      reason,
      responseDeadline,
      evidenceCount: 0,
      openedAt,
      bank: this.#bankSide(transaction.id, dispute, now),
      createdAt: now,
      updatedAt: now,
    };
    this.cases.insert(tx, medCase);
    disputedTransaction.put(medCase);
    this.transitions.writeMedBlock(tx, disputedTransaction);
    if (review !== null) return;
    await this.transitions.open(tx, disputedTransaction, medCase);
    await this.transitions.rule(tx, disputedTransaction, disputedTransaction.find(medCase.id), false);
  }

  async #goOn(
    tx: Tx,
    disputedTransaction: DisputedTransaction,
    known: MedCase,
    paymentReference: string,
    dispute: Dispute,
  ): Promise<void> {
    const now = this.clock.now();
    const bank = this.#bankSide(known.transactionId, dispute, now);
    const { reason, responseDeadline, amount: reportedAmount } = dispute;
    if (!known.visible) {
      const claim = { paymentReference, amount: reportedAmount };
      await this.#goOnHidden(tx, disputedTransaction, { ...known, bank, reason, responseDeadline }, claim);
      return;
    }
    if (!isUnderway(known.status)) {
      const current = { ...known, bank, reportedAmount };
      await this.transitions.change(tx, disputedTransaction, {
        ...current,
        review: contradictionReviewOf(disputedTransaction, current),
      });
      this.transitions.writeMedBlock(tx, disputedTransaction);
      return;
    }
    const isMoved = responseDeadline?.getTime() !== known.responseDeadline?.getTime();
    const deadlineDueAt = isMoved && known.status === 'open' ? nextNotice(responseDeadline, now) : known.deadlineDueAt;
    const review = reviewOfChange(known, reportedAmount);
    const changed = { bank, reason, responseDeadline, deadlineDueAt, reportedAmount, review, updatedAt: now };
    const current: MedCase = { ...known, ...changed };
    await this.transitions.change(tx, disputedTransaction, current);
    this.transitions.writeMedBlock(tx, disputedTransaction);
    await this.transitions.rule(tx, disputedTransaction, current, false);
  }

  #bankSide(transactionId: string, dispute: Dispute, now: Date): BankSide {
    const { payerName: name, payerDocument: document } = dispute;
    return bankSideOf(dispute, this.payers.seal(transactionId, { name, document }), now);
  }

  /**
   * Reviews a hidden or dismissed case again when the bank changes its amount, or when another payment has been
   * credited since the returned one. A bank that names only the charge means that other payment.
   * A dismissed case waits for an operator again once the bank has taken the money, until the bank gives it back.
   */
  async #goOnHidden(
    tx: Tx,
    disputedTransaction: DisputedTransaction,
    known: MedCase,
    { paymentReference, amount }: { paymentReference: string; amount: Amount },
  ): Promise<void> {
    if (amount === known.reportedAmount && paymentReference === known.paymentReference) {
      const review = isUnderway(known.status) ? known.review : contradictionReviewOf(disputedTransaction, known);
      await this.transitions.change(tx, disputedTransaction, { ...known, review });
      this.transitions.writeMedBlock(tx, disputedTransaction);
      return;
    }
    const claimed = { ...known, paymentReference, amount };
    const review = reviewOf(disputedTransaction, claimed);
    const anew: MedCase = { ...claimed, status: 'open', closedAt: null, reportedAmount: amount, review };
    const current = { ...anew, visible: review === null, updatedAt: this.clock.now() };
    await this.transitions.change(tx, disputedTransaction, current);
    this.transitions.writeMedBlock(tx, disputedTransaction);
    if (review !== null) return;
    await this.transitions.open(tx, disputedTransaction, current);
    await this.transitions.rule(tx, disputedTransaction, disputedTransaction.find(known.id), false);
  }
}

/**
 * Returns why an operator must review a new case before the merchant sees it. A payment that was not credited has no
 * amount to compare.
 */
function reviewOf(
  disputedTransaction: DisputedTransaction,
  { amount, ...medCase }: Pick<MedCase, 'id' | 'paymentReference' | 'amount'>,
): MedReview | null {
  if (!disputedTransaction.isCredited(medCase)) return 'not_disputable';
  if (amount !== disputedTransaction.transaction.amount) return 'amount_mismatch';
  return disputedTransaction.isDisputable(medCase) ? null : 'not_disputable';
}

/** Returns why an operator must review a visible case after the bank changed it; `rule` handles rulings. */
function reviewOfChange(known: MedCase, reportedAmount: Amount): MedReview | null {
  if (reportedAmount !== known.reportedAmount) return reportedAmount === known.amount ? null : 'amount_mismatch';
  return known.review === 'ruling' || known.review === 'ruling_dismissed' ? null : known.review;
}

/** Returns why a closed or dismissed case has to be reviewed. */
function contradictionReviewOf(disputedTransaction: DisputedTransaction, medCase: MedCase): MedReview | null {
  return contradictionOf(medCase, disputedTransaction.takeableBy(medCase)) === null ? null : 'contradiction';
}
