import { Injectable } from '@nestjs/common';
import type { Tx } from '../../core/database/index.js';
import { ApiError, conflict, invalidRequest, notFound } from '../../core/errors/index.js';
import type { Amount } from '../../core/money/index.js';
import { correct, disputeByHolder, open, reclaim, rule } from '../cases/dispute.rules.js';
import type { DisputedTransaction } from '../cases/disputed-transaction.js';
import type { MedCase } from '../cases/med-case.js';
import { contradictionOf, rulingOf, versionOf } from '../cases/med-case.rules.js';
import { isUnderway } from '../cases/med-cases.machine.js';
import { MedCasesRepository } from '../cases/med-cases.repository.js';
import { MedTransitions } from '../cases/med-transitions.service.js';
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
    const { disputed, found } = await this.#find(tx, id);
    const isContradicted = contradictionOf(found, disputed.takeableBy(found)) !== null;
    if (found.review === null && !isContradicted) throw undecided();
    assertSeen(found, decision);
    const reviewed = reviewedCase(disputed, found, decision);
    if (!found.visible) return this.#decide(tx, admit(disputed, reviewed, amount), found);
    if (amount !== null && found.review !== 'amount_mismatch') throw invalidAmount('is not open any more');
    if (isContradicted) return this.#decide(tx, correct(disputed, reviewed), found);
    // Refunds have meanwhile taken the money that the bank reported as taken: nothing is left to move.
    if (!isUnderway(found.status)) return this.#decide(tx, disputed.change(reviewed), found);
    return this.#decide(tx, goOn(disputed, reviewed, amount), found);
  }

  /**
   * Dismisses a review. A hidden case stays hidden until the bank changes the amount or takes the money. A ruling is
   * not applied: the case goes on, in the queue, until the bank reports something else or the ruling is approved.
   * @throws ApiError 404, 409 `med_case_not_under_review`, `med_case_changed`
   */
  async dismiss(tx: Tx, id: string, decision: MedDecision): Promise<Decided> {
    const { disputed, found } = await this.#find(tx, id);
    if (found.review === null || found.review === 'ruling_dismissed') throw undecided();
    assertSeen(found, decision);
    const { now } = disputed;
    const reviewed = reviewedCase(disputed, found, decision);
    const dismissed: MedCase = found.visible
      ? { ...reviewed, review: isRuled(found) ? 'ruling_dismissed' : null }
      : { ...reviewed, status: 'closed', closedAt: now, updatedAt: now };
    return this.#decide(tx, disputed.change(dismissed).showCases(), found);
  }

  /** @throws ApiError 404; 409 `med_case_over` for a hidden case, or one that takes no evidence any more */
  async requestEvidence(tx: Tx, id: string): Promise<Decided> {
    const { disputed, found } = await this.#find(tx, id);
    if (!found.visible || !isUnderway(found.status)) {
      throw conflict('med_case_over', 'Evidence is asked for while the merchant sees the case and it is not over.');
    }
    const { now } = disputed;
    if (found.responseDeadline !== null && now >= found.responseDeadline) {
      throw conflict('med_case_over', `The response deadline was ${found.responseDeadline.toISOString()}.`);
    }
    const asked: MedCase = { ...found, evidenceRequestedAt: now, updatedAt: now };
    return this.#decide(tx, disputed.change(asked).add({ kind: 'evidence_requested', medCase: asked }), found);
  }

  async #find(tx: Tx, id: string): Promise<{ disputed: DisputedTransaction; found: MedCase }> {
    const [known] = await this.cases.findAll(tx, [id]);
    if (!known) throw notFound('MED case');
    const disputed = await this.transitions.lock(tx, known.transactionId);
    return { disputed, found: disputed.find(id) };
  }

  async #decide(tx: Tx, disputed: DisputedTransaction, before: MedCase): Promise<Decided> {
    await this.transitions.carryOut(tx, disputed);
    return { before, after: disputed.find(before.id) };
  }
}

/** Shows a hidden case to the merchant. The case starts as a new one does, also after it was dismissed. */
function admit(disputed: DisputedTransaction, reviewed: MedCase, amount: Amount | null): DisputedTransaction {
  const claimed = claimOf(disputed, amount ?? reviewed.reportedAmount);
  const admitted: MedCase = { ...reviewed, status: 'open', closedAt: null, visible: true, amount: claimed };
  return rule(open(disputed.change(admitted).showCases(), admitted), admitted.id, false);
}

/** Goes on with an open case after its review. @param amount really disputed; null: the present one */
function goOn(disputed: DisputedTransaction, reviewed: MedCase, amount: Amount | null): DisputedTransaction {
  const claimed = amount === null ? disputed.change(reviewed) : reclaim(disputed, reviewed, claimOf(disputed, amount));
  return rule(disputeByHolder(claimed.showCases()), reviewed.id, true);
}

function reviewedCase({ now }: DisputedTransaction, found: MedCase, { operatorId }: MedDecision): MedCase {
  return { ...found, review: null, reviewedAt: now, reviewedBy: operatorId };
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
