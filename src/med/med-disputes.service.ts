import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { type Dispute, InboxService } from '../acquirers/index.js';
import { Clock } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { Database, type Tx } from '../core/database/index.js';
import { newId } from '../core/ids.js';
import {
  type DisputeClaims,
  type Refund,
  RefundMoves,
  type Transaction,
  type TransactionStatus,
} from '../transactions/index.js';
import type { MedCase, MedReview } from './med-case.js';
import { bankSideOf, isContradicted, isNews, nextNotice, rulingOf } from './med-case.rules.js';
import { isUnderway } from './med-cases.machine.js';
import { MedCasesRepository } from './med-cases.repository.js';
import type { Docket } from './med-docket.js';
import { MedMoves } from './med-moves.js';

/** Where money of the merchant is left that can be held. */
const DISPUTABLE: readonly TransactionStatus[] = ['PAID', 'APPROVED', 'DISPUTE', 'CHARGEBACK'];

/** Brings cases to the state in which their acquirer has them. */
@Injectable()
export class MedDisputesService implements DisputeClaims, OnModuleInit {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly inbox: InboxService,
    private readonly refunds: RefundMoves,
    private readonly cases: MedCasesRepository,
    private readonly moves: MedMoves,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.inbox.on('disputeChanged', (acquirer, dispute) => this.apply(acquirer, dispute));
    this.refunds.claimedBy(this);
  }

  /**
   * Idempotent on (acquirer, reference): of any number of calls with one state, at once or later, one has an effect, and
   * none with a state older than what was applied. As the state is a whole, a ruling needs no opening before it.
   * @returns false while the payment is not settled here
   */
  async apply(acquirer: string, dispute: Dispute): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const docket = await this.moves.find(tx, acquirer, dispute);
      if (!docket) return false;
      const known = docket.cases.find(
        (candidate) => candidate.acquirer === acquirer && candidate.reference === dispute.reference,
      );
      if (!known) await this.#begin(tx, docket, acquirer, dispute);
      else if (isNews(known.bank, dispute)) await this.#goOn(tx, docket, known, dispute);
      this.moves.close(tx, docket);
      return true;
    });
  }

  /** What a failed refund gives back is claimed by the cases that are open, in the refund's own transaction. */
  async refundFailed(tx: Tx, transaction: Transaction, refund: Refund): Promise<void> {
    if (transaction.status !== 'DISPUTE' && transaction.status !== 'CHARGEBACK') return;
    const docket = await this.moves.lock(tx, transaction.id);
    await this.moves.holdMore(tx, docket, refund.id);
    this.moves.close(tx, docket);
  }

  async isUnderway(transactionId: string): Promise<boolean> {
    return this.cases.isUnderway(transactionId);
  }

  /** What the bank has ruled, if it has: at once, or when an operator has approved it. */
  async rule(tx: Tx, docket: Docket, medCase: MedCase, isApproved: boolean): Promise<void> {
    const ruling = rulingOf(medCase.bank, medCase.status);
    if (ruling === null) return;
    if (this.config.medAutoRulings || isApproved) await this.moves.end(tx, docket, medCase, ruling);
    else await this.moves.change(tx, docket, { ...medCase, review: 'ruling' });
  }

  async #begin(tx: Tx, docket: Docket, acquirer: string, dispute: Dispute): Promise<void> {
    const review = reviewOf(docket, dispute);
    const now = this.clock.now();
    const { transaction } = docket;
    const { reference, type, amount, reason, responseDeadline, openedAt } = dispute;
    const medCase: MedCase = {
      id: newId(now),
      accountId: transaction.accountId,
      mode: transaction.mode,
      transactionId: transaction.id,
      acquirer,
      reference,
      type,
      status: 'open',
      moneyOutcome: null,
      visible: review === null,
      review,
      reviewedAt: null,
      reviewedBy: null,
      amount,
      reportedAmount: amount,
      heldAmount: 0,
      lostAmount: 0,
      currency: transaction.currency,
      reason,
      responseDeadline,
      deadlineDueAt: null,
      evidenceRequestedAt: null,
      appealReason: null,
      appealedAt: null,
      evidenceCount: 0,
      openedAt,
      closedAt: null,
      bank: bankSideOf(dispute, now),
      createdAt: now,
      updatedAt: now,
    };
    this.cases.insert(tx, medCase);
    docket.put(medCase);
    this.moves.tell(tx, docket);
    if (review !== null) return;
    await this.moves.open(tx, docket, medCase);
    await this.rule(tx, docket, docket.find(medCase.id), false);
  }

  async #goOn(tx: Tx, docket: Docket, known: MedCase, dispute: Dispute): Promise<void> {
    const now = this.clock.now();
    const bank = bankSideOf(dispute, now);
    if (!known.visible || !isUnderway(known.status)) {
      const review = known.visible && isContradicted(known, bank) ? 'contradiction' : known.review;
      await this.moves.change(tx, docket, { ...known, bank, review, reportedAmount: dispute.amount });
      this.moves.tell(tx, docket);
      return;
    }
    const { reason, responseDeadline } = dispute;
    const isMoved = responseDeadline?.getTime() !== known.responseDeadline?.getTime();
    const deadlineDueAt = isMoved && known.status === 'open' ? nextNotice(responseDeadline, now) : known.deadlineDueAt;
    const current = { ...known, bank, reason, responseDeadline, deadlineDueAt, updatedAt: now };
    await this.moves.change(tx, docket, current);
    this.moves.tell(tx, docket);
    await this.rule(tx, docket, current, false);
  }
}

function reviewOf({ transaction, isCredited }: Docket, dispute: Dispute): MedReview | null {
  if (dispute.amount !== transaction.amount) return 'amount_mismatch';
  return isCredited && DISPUTABLE.includes(transaction.status) ? null : 'not_disputable';
}
