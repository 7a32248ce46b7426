import { Injectable } from '@nestjs/common';
import type { Amount } from '../core/money/index.js';
import { type BookedCase, MedRecordsRepository } from './med-records.repository.js';
import { isUnderway } from './med-cases.machine.js';

/** A case as the devolution that its bank makes of it: on its way while the case goes on, made when it is lost. */
export interface BookedDispute {
  readonly caseId: string;
  readonly endToEndId: string;
  /** The bank's own id of it. */
  readonly reference: string;
  /** Cents: what was lost; of a case that is not lost what the bank has last claimed. */
  readonly amount: Amount;
  readonly state: 'in_progress' | 'returned' | 'failed';
  /** An operator has yet to decide about it, a ruling that waits included. */
  readonly waits: boolean;
}

/** Fits into a statement's parameters and an index scan. */
const CHUNK = 1_000;

/** The cases of an acquirer's Pix, to be held against the acquirer's own list. Across accounts. */
@Injectable()
export class MedRecords {
  constructor(private readonly records: MedRecordsRepository) {}

  /** Cases about these payments, seen by merchants or not, of an acquirer whose references are worldwide. */
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

/** One that was dismissed before the merchant saw it is over without an outcome: nothing of it was ever booked. */
function stateOf({ status, moneyOutcome }: BookedCase): BookedDispute['state'] {
  if (isUnderway(status)) return 'in_progress';
  return moneyOutcome === null || moneyOutcome === 'refunded_to_merchant' ? 'failed' : 'returned';
}
