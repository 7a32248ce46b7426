import { Injectable } from '@nestjs/common';
import type { Dispute } from '../acquirers/index.js';
import { statement, type Tx } from '../core/database/index.js';
import type { Amount } from '../core/money/index.js';
import type { MedBlock } from './transaction.js';

/** $3: among whose end-to-end ids it is; null: among all there are. */
const BY_REFERENCE = statement(
  'disputes.settled_by_reference',
  `SELECT s.transaction_id, s.outcome FROM settlements s
   WHERE s.acquirer = $1 AND s.end_to_end_id = $2 AND s.transaction_id IS NOT NULL
     AND (s.namespace = $3::uuid OR (s.namespace IS NULL AND $3::uuid IS NULL))`,
);
/** What was credited before what was sent back: a payer who paid twice disputes the one that counts. */
const BY_TXID = statement(
  'disputes.settled_by_txid',
  `SELECT s.transaction_id, s.outcome FROM transactions t JOIN settlements s ON s.transaction_id = t.id
   WHERE t.acquirer = $1 AND t.txid = $2
   ORDER BY s.outcome = 'credited' DESC, s.id LIMIT 1`,
);
const AMOUNTS = statement('disputes.amounts', 'SELECT refunds_amount, disputed_amount FROM transactions WHERE id = $1');
const TELL = statement('disputes.tell', 'UPDATE transactions SET med = $2 WHERE id = $1');
const ADD = statement('disputes.add', 'UPDATE transactions SET disputed_amount = disputed_amount + $2 WHERE id = $1');

/** How an acquirer names the payment that a dispute is about. */
export type DisputedPayment = Pick<Dispute, 'accountId' | 'paymentReference' | 'txid'>;

@Injectable()
export class DisputesRepository {
  /** @returns null also for what is not decided yet */
  async settled(
    tx: Tx,
    acquirer: string,
    { accountId, paymentReference, txid }: DisputedPayment,
  ): Promise<{ transactionId: string; isCredited: boolean } | null> {
    type Row = { transaction_id: string; outcome: string };
    const [row] =
      paymentReference === null
        ? await tx.query<Row>(BY_TXID, [acquirer, txid])
        : await tx.query<Row>(BY_REFERENCE, [acquirer, paymentReference, accountId]);
    if (row?.outcome !== 'credited' && row?.outcome !== 'returned') return null;
    return { transactionId: row.transaction_id, isCredited: row.outcome === 'credited' };
  }

  async amounts(tx: Tx, id: string): Promise<{ refundsAmount: Amount; disputedAmount: Amount }> {
    const [row] = await tx.query<{ refunds_amount: Amount; disputed_amount: Amount }>(AMOUNTS, [id]);
    return { refundsAmount: row?.refunds_amount ?? 0, disputedAmount: row?.disputed_amount ?? 0 };
  }

  tell(tx: Tx, id: string, med: MedBlock | null): void {
    tx.defer(TELL, [id, med === null ? null : JSON.stringify(med)]);
  }

  add(tx: Tx, id: string, amount: Amount): void {
    tx.defer(ADD, [id, amount]);
  }
}
