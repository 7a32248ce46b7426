import { Injectable } from '@nestjs/common';
import type { Dispute } from '../../acquirers/index.js';
import { columnsOf, Reader, read, write, type Tx, valuesOfFields } from '../../core/database/index.js';
import type { Amount } from '../../core/money/index.js';
import { SettlementEntity } from '../transaction.entity.js';
import { NOTHING_TAKEN, type Taken } from '../taken.js';
import type { MedBlock } from '../transaction.js';
import { TAKEN_COLUMNS } from '../transactions.repository.js';

/**
 * $3: among whose end-to-end ids it is; null: among all there are. A Pix of no sale that goes back is not decided before
 * it is there: the bank may refuse that, and the Pix be assigned to a sale.
 */
const BY_REFERENCE = read(
  'disputes.settled_by_reference',
  `SELECT s.transaction_id AS "transactionId", s.end_to_end_id AS "paymentReference", s.outcome FROM settlements s
   WHERE s.acquirer = $1 AND s.end_to_end_id = $2
     AND (s.transaction_id IS NOT NULL OR s.outcome <> 'returned' OR EXISTS (
       SELECT 1 FROM pix_returns p WHERE p.acquirer = s.acquirer AND p.end_to_end_id = s.end_to_end_id
         AND p.account_id = s.account_id AND p.status = 'RETURNED'))
     AND (s.namespace = $3::uuid OR (s.namespace IS NULL AND $3::uuid IS NULL))`,
);
/** What was credited before what was sent back: a payer who paid twice disputes the one that counts. */
const BY_TXID = read(
  'disputes.settled_by_txid',
  `SELECT s.transaction_id AS "transactionId", s.end_to_end_id AS "paymentReference", s.outcome FROM transactions t JOIN settlements s ON s.transaction_id = t.id
   WHERE t.acquirer = $1 AND t.txid = $2
   ORDER BY s.outcome = 'credited' DESC, s.id LIMIT 1`,
);
const UNSETTLED_FIELDS = ['acquirer', 'endToEndId', 'txid', 'outcome'] as const;
/** What waits for an operator of the payments that $1 and $2 name, by their acquirers and references or txids. */
const UNSETTLED = read(
  'disputes.unsettled',
  `SELECT ${columnsOf(SettlementEntity, 's', { only: UNSETTLED_FIELDS })} FROM settlements s
   WHERE s.outcome IN ('review', 'unmatched') AND (
     (s.acquirer, s.end_to_end_id) IN (SELECT * FROM unnest($1::text[], $2::text[]))
     OR (s.acquirer, s.txid) IN (SELECT * FROM unnest($1::text[], $2::text[])))`,
);
const CLAIMS = read(
  'disputes.claims',
  `SELECT ${TAKEN_COLUMNS}, EXISTS (
     SELECT 1 FROM refunds r WHERE r.transaction_id = t.id AND r.status IN ('PENDING', 'IN_PROGRESS')) AS "isRefunding",
     greatest((SELECT max(r.created_at) FROM refunds r WHERE r.transaction_id = t.id), (
       SELECT max(c.decided_at) FROM corrections c
       WHERE c.transaction_id = t.id AND c.kind = 'loss' AND c.status = 'applied' AND c.amount > 0)) AS "lastTakenAt"
   FROM transactions t WHERE t.id = $1`,
);
const TELL = write('disputes.tell', 'UPDATE transactions SET med = $2 WHERE id = $1');
const ADD = write('disputes.add', 'UPDATE transactions SET disputed_amount = disputed_amount + $2 WHERE id = $1');

/** How an acquirer names the payment that a dispute is about. */
export type DisputedPayment = Pick<Dispute, 'accountId' | 'paymentReference' | 'txid'>;

/** What there is on a transaction's money. Amounts in the smallest unit. */
export interface Claims extends Taken {
  /** Whether a refund is on its way: it may yet fail and give back what it has taken. */
  readonly isRefunding: boolean;
  /** When the last refund was asked for, whatever came of it, or the last loss was entered. */
  readonly lastTakenAt: Date | null;
}

@Injectable()
export class DisputesRepository {
  constructor(private readonly reader: Reader) {}

  /** @returns null also for what is not decided yet; `transactionId` null: it was decided, and is no payment of a sale */
  async settled(
    tx: Tx,
    acquirer: string,
    { accountId, paymentReference, txid }: DisputedPayment,
  ): Promise<{ transactionId: string | null; paymentReference: string } | null> {
    type Row = { transactionId: string | null; paymentReference: string; outcome: SettlementEntity['outcome'] };
    const [row] =
      paymentReference === null
        ? await tx.query<Row>(BY_TXID, [acquirer, txid])
        : await tx.query<Row>(BY_REFERENCE, [acquirer, paymentReference, accountId]);
    if (!row || row.outcome === 'review' || row.outcome === 'unmatched') return null;
    return { transactionId: row.transactionId, paymentReference: row.paymentReference };
  }

  /** Payments that are here and wait for an operator, among those that `named` names. */
  async unsettled(
    named: readonly { acquirer: string; awaits: string }[],
  ): Promise<Pick<SettlementEntity, (typeof UNSETTLED_FIELDS)[number]>[]> {
    return this.reader.query(UNSETTLED, valuesOfFields(named, 'acquirer', 'awaits'));
  }

  async claims(tx: Tx, id: string): Promise<Claims> {
    const [row] = await tx.query<Claims>(CLAIMS, [id]);
    return row ?? { ...NOTHING_TAKEN, isRefunding: false, lastTakenAt: null };
  }

  writeMedBlock(tx: Tx, id: string, med: MedBlock | null): void {
    tx.defer(TELL, [id, med === null ? null : JSON.stringify(med)]);
  }

  add(tx: Tx, id: string, amount: Amount): void {
    tx.defer(ADD, [id, amount]);
  }
}
