import { Injectable } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import type { Tx } from '../../core/database/index.js';
import { ApiError, conflict, invalidRequest, notFound } from '../../core/errors/index.js';
import type { Amount } from '../../core/money/index.js';
import { OutboxService } from '../../outbox/index.js';
import type { DisputedTransaction } from '../cases/disputed-transaction.js';
import type { MedCase } from '../cases/med-case.js';
import { contradictionOf, rulingOf, versionOf } from '../cases/med-case.rules.js';
import { isUnderway } from '../cases/med-cases.machine.js';
import { MedCasesRepository } from '../cases/med-cases.repository.js';
import { MedTransitions } from '../cases/med-transitions.service.js';
import { medEvent } from '../cases/med.events.js';
import { MedCaseListsRepository, type ReviewQueueFilter } from './med-case-lists.repository.js';

/** An operator's decision, with the version of the case that the operator saw. */
export interface MedDecision {
  /** `versionOf` the case as the operator saw it. */
  readonly version: string;
  readonly operatorId: string;
}

/** A case before a decision, as read under its lock, and after it. */
export interface Decided {
  readonly before: MedCase;
  readonly after: MedCase;
}

/**
 * Makes operators' decisions about cases, in the transaction of their record. Works across accounts: never call it for
 * a merchant's request.
 */
@Injectable()
export class MedDesk {
  constructor(
    private readonly cases: MedCasesRepository,
    private readonly lists: MedCaseListsRepository,
    private readonly transitions: MedTransitions,
    private readonly outbox: OutboxService,
    private readonly clock: Clock,
  ) {}

  /** Cases that wait for an operator, newest first. */
  async queue(filter: ReviewQueueFilter): Promise<MedCase[]> {
    return this.lists.queue(filter);
  }

  /** @throws ApiError 404 */
  async find(id: string): Promise<MedCase> {
    const found = await this.cases.findAny(id);
    if (!found) throw notFound('MED case');
    return found;
  }

  /**
   * Approves a case under review, by its state:
   * - Hidden: shows it to the merchant and holds its money. This also works for a dismissed case whose money the bank
   *   took all the same.
   * - Visible and open: applies the ruling, also a dismissed one. Without a ruling the case goes on.
   * - Over: moves the money as the bank has finally ruled.
   * @param amount the amount that is really disputed; null: the reported one, or for a visible case the present one
   * @throws ApiError 400 for an amount above the charge's, or for a visible case whose amount is not in doubt; 404; 409
   *   `med_case_not_under_review`, `med_case_changed`
   */
  async approve(tx: Tx, id: string, amount: Amount | null, decision: MedDecision): Promise<Decided> {
    const { disputedTransaction, found } = await this.#find(tx, id);
    const isContradicted = contradictionOf(found, disputedTransaction.takeableBy(found)) !== null;
    if (found.review === null && !isContradicted) throw undecided();
    assertSeen(found, decision);
    const reviewed: MedCase = { ...found, review: null, ...this.#decidedBy(decision) };
    if (!found.visible) await this.#admit(tx, disputedTransaction, reviewed, amount);
    else if (amount !== null && found.review !== 'amount_mismatch') throw invalidAmount('is not open any more');
    else if (isContradicted) await this.transitions.correct(tx, disputedTransaction, reviewed);
    // Refunds have meanwhile taken the money that the bank reported as taken: nothing is left to move.
    else if (!isUnderway(found.status)) await this.transitions.change(tx, disputedTransaction, reviewed);
    else await this.#goOn(tx, disputedTransaction, reviewed, amount);
    this.transitions.postMoves(tx, disputedTransaction);
    return { before: found, after: disputedTransaction.find(id) };
  }

  /**
   * Dismisses a review. A hidden case stays hidden until the bank changes the amount or takes the money. A ruling is
   * not applied: the case goes on, in the queue, until the bank reports something else or the ruling is approved.
   * @throws ApiError 404, 409 `med_case_not_under_review`, `med_case_changed`
   */
  async dismiss(tx: Tx, id: string, decision: MedDecision): Promise<Decided> {
    const { disputedTransaction, found } = await this.#find(tx, id);
    if (found.review === null || found.review === 'ruling_dismissed') throw undecided();
    assertSeen(found, decision);
    const now = this.clock.now();
    const reviewed: MedCase = { ...found, review: null, ...this.#decidedBy(decision) };
    const dismissed: MedCase = found.visible
      ? { ...reviewed, review: isRuled(found) ? 'ruling_dismissed' : null }
      : { ...reviewed, status: 'closed', closedAt: now, updatedAt: now };
    await this.transitions.change(tx, disputedTransaction, dismissed);
    this.transitions.writeMedBlock(tx, disputedTransaction);
    return { before: found, after: dismissed };
  }

  /** @throws ApiError 404; 409 `med_case_over` for a hidden case, or one that takes no evidence any more */
  async requestEvidence(tx: Tx, id: string): Promise<Decided> {
    const { disputedTransaction, found } = await this.#find(tx, id);
    if (!found.visible || !isUnderway(found.status)) {
      throw conflict('med_case_over', 'Evidence is asked for while the merchant sees the case and it is not over.');
    }
    const now = this.clock.now();
    if (found.responseDeadline !== null && now >= found.responseDeadline) {
      throw conflict('med_case_over', `The response deadline was ${found.responseDeadline.toISOString()}.`);
    }
    const asked = { ...found, evidenceRequestedAt: now, updatedAt: now };
    await this.transitions.change(tx, disputedTransaction, asked);
    this.outbox.record(tx, [medEvent('med_case.evidence_requested', asked, disputedTransaction.transaction)]);
    return { before: found, after: asked };
  }

  async #admit(
    tx: Tx,
    disputedTransaction: DisputedTransaction,
    reviewed: MedCase,
    amount: Amount | null,
  ): Promise<void> {
    const claimed = claimOf(disputedTransaction, amount ?? reviewed.reportedAmount);
    // Starts as a new case does, also after it was dismissed.
    const admitted: MedCase = { ...reviewed, status: 'open', closedAt: null, visible: true, amount: claimed };
    await this.transitions.change(tx, disputedTransaction, admitted);
    this.transitions.writeMedBlock(tx, disputedTransaction);
    await this.transitions.open(tx, disputedTransaction, admitted);
    await this.transitions.rule(tx, disputedTransaction, disputedTransaction.find(admitted.id), false);
  }

  async #goOn(
    tx: Tx,
    disputedTransaction: DisputedTransaction,
    reviewed: MedCase,
    amount: Amount | null,
  ): Promise<void> {
    if (amount === null) await this.transitions.change(tx, disputedTransaction, reviewed);
    else await this.transitions.reclaim(tx, disputedTransaction, reviewed, claimOf(disputedTransaction, amount));
    this.transitions.writeMedBlock(tx, disputedTransaction);
    await this.transitions.rule(tx, disputedTransaction, disputedTransaction.find(reviewed.id), true);
  }

  #decidedBy({ operatorId }: MedDecision): Pick<MedCase, 'reviewedAt' | 'reviewedBy'> {
    return { reviewedAt: this.clock.now(), reviewedBy: operatorId };
  }

  async #find(tx: Tx, id: string): Promise<{ disputedTransaction: DisputedTransaction; found: MedCase }> {
    const [known] = await this.cases.findAll(tx, [id]);
    if (!known) throw notFound('MED case');
    const disputedTransaction = await this.transitions.lock(tx, known.transactionId);
    return { disputedTransaction, found: disputedTransaction.find(id) };
  }
}

/** Returns whether the bank has ruled an open case. */
function isRuled({ status, bank }: MedCase): boolean {
  return isUnderway(status) && rulingOf(bank, status) !== null;
}

/** @throws ApiError 409 when the case has changed since the operator looked at it */
function assertSeen(found: MedCase, { version }: MedDecision): void {
  if (versionOf(found) === version) return;
  throw conflict('med_case_changed', 'The case has changed since it was read: look at it again.');
}

/** @throws ApiError 400 for more than the charge's amount */
function claimOf({ transaction }: DisputedTransaction, amount: Amount): Amount {
  if (amount <= transaction.amount) return amount;
  throw invalidAmount(`must be at most the amount of the charge, ${transaction.amount}`);
}

function invalidAmount(message: string): Error {
  return invalidRequest([{ param: 'amount', code: 'invalid', message }]);
}

function undecided(): ApiError {
  return conflict('med_case_not_under_review', 'The case does not wait for a decision.');
}
