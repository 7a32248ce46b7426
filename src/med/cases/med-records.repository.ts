import { Injectable } from '@nestjs/common';
import { columnsOf, Reader, read } from '../../core/database/index.js';
import { MedCaseEntity } from './med-case.entity.js';

const BOOKED = [
  ...(['id', 'paymentReference', 'reference', 'status', 'moneyOutcome', 'review'] as const),
  ...(['reportedAmount', 'lostAmount'] as const),
] as const;

/** The fields of a case that are compared with what its acquirer says. */
export type BookedCase = Pick<MedCaseEntity, (typeof BOOKED)[number]>;

/** Finds cases by the settlements of the payments, which name the transactions: cases have no index on the payment. */
const OF_PAYMENTS = read(
  'med_books.of_payments',
  `SELECT ${columnsOf(MedCaseEntity, 'c', { only: BOOKED })}
   FROM med_cases c
   WHERE c.transaction_id IN (
       SELECT s.transaction_id FROM settlements s
       WHERE s.acquirer = $1 AND s.namespace IS NULL AND s.end_to_end_id = ANY ($2::text[]))
     AND c.acquirer = $1 AND c.payment_reference = ANY ($2)
   ORDER BY c.id`,
);

@Injectable()
export class MedRecordsRepository {
  constructor(private readonly reader: Reader) {}

  async ofPayments(acquirer: string, endToEndIds: readonly string[]): Promise<BookedCase[]> {
    return this.reader.query(OF_PAYMENTS, [acquirer, endToEndIds]);
  }
}
