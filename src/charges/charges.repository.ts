import { Injectable } from '@nestjs/common';
import { read, Reader } from '../core/database/index.js';
import type { IdCursorFilter } from '../core/http/index.js';
import { idRange } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import { OPEN, type Transaction, TRANSACTION_COLUMNS, type TransactionStatus } from '../transactions/index.js';

const LIST = read(
  'transactions.list',
  `SELECT ${TRANSACTION_COLUMNS} FROM transactions t
   WHERE t.account_id = $1 AND t.mode = $2 AND 'PIX' = ANY (t.payment_methods)
     AND t.id < coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
     AND t.id >= $4::uuid AND t.id <= $5::uuid
     AND ($6::text[] IS NULL OR (CASE
       WHEN ${OPEN} AND t.expires_at <= $7 THEN 'EXPIRED' ELSE t.status END) = ANY ($6))
     AND ($8::text IS NULL OR t.customer_document = $8)
   ORDER BY t.id DESC LIMIT $9`,
);

export interface ChargeFilter extends IdCursorFilter {
  readonly statuses: readonly TransactionStatus[] | null;
  readonly customerDocument: string | null;
}

/** The reading SQL of the list of charges, over the table of `transactions`. */
@Injectable()
export class ChargesRepository {
  constructor(private readonly reader: Reader) {}

  /** Newest first. */
  async list(scope: Scope, filter: ChargeFilter, now: Date): Promise<Transaction[]> {
    return this.reader.query(LIST, [
      scope.accountId,
      scope.mode,
      filter.before,
      ...idRange(filter.createdFrom, filter.createdTo),
      filter.statuses,
      now,
      filter.customerDocument,
      filter.limit,
    ]);
  }
}
