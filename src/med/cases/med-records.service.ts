import { Injectable } from '@nestjs/common';
import type { Amount } from '../../core/money/index.js';
import { type BookedCase, MedRecordsRepository } from './med-records.repository.js';
import { isUnderway } from './med-cases.machine.js';

/** A case seen as a devolution by its bank: on its way while the case is open, made when the case is lost. */
export interface BookedDispute {
  readonly caseId: string;
  readonly endToEndId: string;
  /** The bank's own id of the case. */
  readonly reference: string;
  /** Cents: the lost amount, or for a case that is not lost the bank's latest claim. */
  readonly amount: Amount;
  readonly state: 'in_progress' | 'returned' | 'failed';
  /** An operator has yet to decide about the case, for example about a ruling. */
  readonly waits: boolean;
}

/** A number of ids that fits into a statement's parameters and an index scan. */
const CHUNK = 1_000;

/** Reads the cases of an acquirer's Pix, to compare them with the acquirer's own list. Reads across accounts. */
@Injectable()
export class MedRecords {
  constructor(private readonly records: MedRecordsRepository) {}

  /** Returns cases about these payments, visible or hidden, of an acquirer whose references are unique worldwide. */
  async disputes(acquirer: string, endToEndIds: readonly string[]): Promise<BookedDispute[]> {
    const found: BookedDispute[] = [];
    for (let at = 0; at < endToEndIds.length; at += CHUNK) {
      const cases = await this.records.ofPayments(acquirer, endToEndIds.slice(at, at + CHUNK));
      found.push(...cases.map(toBooked));
    }
    return found;
  }
}

function toBooked(medCase: BookedCase): BookedDispute {
  const { id: caseId, paymentReference: endToEndId, reference, review, reportedAmount, lostAmount } = medCase;
  const state = stateOf(medCase);
  const amount = state === 'returned' ? lostAmount : reportedAmount;
  return { caseId, endToEndId, reference, amount, state, waits: review !== null && review !== 'ruling_dismissed' };
}

/**
 * Returns the state of the devolution. A case that was dismissed while hidden has no outcome, because nothing was
 * booked.
 */
function stateOf({ status, moneyOutcome }: BookedCase): BookedDispute['state'] {
  if (isUnderway(status)) return 'in_progress';
  return moneyOutcome === null || moneyOutcome === 'refunded_to_merchant' ? 'failed' : 'returned';
}
