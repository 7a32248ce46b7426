import { Injectable } from '@nestjs/common';
import { Reader, statement } from '../core/database/index.js';
import type { MedCase } from './med-case.js';

/** What of a case is held against what its acquirer says. */
export type BookedCase = Pick<
  MedCase,
  'id' | 'paymentReference' | 'reference' | 'status' | 'moneyOutcome' | 'review' | 'reportedAmount' | 'lostAmount'
>;

/** By the payments, whose settlements name their transactions: cases have no index on what they dispute. */
const OF_PAYMENTS = statement(
  'med_books.of_payments',
  `SELECT c.id, c.payment_reference, c.reference, c.status, c.money_outcome, c.review, c.reported_amount, c.lost_amount
   FROM med_cases c
   WHERE c.transaction_id IN (
       SELECT s.transaction_id FROM settlements s
       WHERE s.acquirer = $1 AND s.namespace IS NULL AND s.end_to_end_id = ANY ($2::text[]))
     AND c.acquirer = $1 AND c.payment_reference = ANY ($2)
   ORDER BY c.id`,
);

interface Row {
  id: string;
  payment_reference: string;
  reference: string;
  status: BookedCase['status'];
  money_outcome: BookedCase['moneyOutcome'];
  review: BookedCase['review'];
  reported_amount: number;
  lost_amount: number;
}

@Injectable()
export class MedBooksRepository {
  constructor(private readonly reader: Reader) {}

  async ofPayments(acquirer: string, endToEndIds: readonly string[]): Promise<BookedCase[]> {
    return (await this.reader.query<Row>(OF_PAYMENTS, [acquirer, endToEndIds])).map((row) => ({
      id: row.id,
      paymentReference: row.payment_reference,
      reference: row.reference,
      status: row.status,
      moneyOutcome: row.money_outcome,
      review: row.review,
      reportedAmount: row.reported_amount,
      lostAmount: row.lost_amount,
    }));
  }
}
