import { Injectable } from '@nestjs/common';
import { statement, type Tx } from '../core/database/index.js';
import type { Amount } from '../core/money/index.js';
import type { MedBlock } from './transaction.js';

const BY_REFERENCE = statement(
  'disputes.settled_by_reference',
  `SELECT s.transaction_id, s.outcome FROM settlements s
   WHERE s.acquirer = $1 AND s.end_to_end_id = $2 AND s.transaction_id IS NOT NULL`,
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

@Injectable()
export class DisputesRepository {
  /** @returns null also for what is not decided yet */
  async settled(
    tx: Tx,
    acquirer: string,
    paymentReference: string | null,
    txid: string | null,
  ): Promise<{ transactionId: string; isCredited: boolean } | null> {
    const [row] = await tx.query<{ transaction_id: string; outcome: string }>(
      paymentReference === null ? BY_TXID : BY_REFERENCE,
      [acquirer, paymentReference ?? txid],
    );
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
