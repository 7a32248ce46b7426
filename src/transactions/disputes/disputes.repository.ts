import { Injectable } from '@nestjs/common';
import type { Dispute } from '../../acquirers/index.js';
import { columnsOf, Reader, read, write, type Tx, valuesOfFields } from '../../core/database/index.js';
import type { Amount } from '../../core/money/index.js';
import { SettlementEntity } from '../settlement/settlement.entity.js';
import { NOTHING_TAKEN, type Taken } from '../taken.js';
import type { MedBlock } from '../transaction.entity.js';
import { TAKEN_COLUMNS } from '../transactions.repository.js';

/**
 * Finds a payment by its end-to-end id; $3: the account in which the id is unique, null: worldwide. A Pix of no sale on
 * its way back counts only once it has arrived: the bank may refuse the return, and an operator may then assign the Pix
 * to a sale.
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
/** Finds the payment of a txid, credited before sent back: if a payer paid twice, the credited payment is disputed. */
const BY_TXID = read(
  'disputes.settled_by_txid',
  `SELECT s.transaction_id AS "transactionId", s.end_to_end_id AS "paymentReference", s.outcome FROM transactions t JOIN settlements s ON s.transaction_id = t.id
   WHERE t.acquirer = $1 AND t.txid = $2
   ORDER BY s.outcome = 'credited' DESC, s.id LIMIT 1`,
);
const UNSETTLED_FIELDS = ['acquirer', 'endToEndId', 'txid', 'outcome'] as const;
/** Finds payments that wait for an operator, by their acquirers $1 and references or txids $2. */
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

/** The acquirer's identification of a disputed payment. */
export type DisputedPayment = Pick<Dispute, 'accountId' | 'paymentReference' | 'txid'>;

/** Amounts taken of a transaction, and how recently. Amounts in the smallest unit. */
export interface Claims extends Taken {
  /** Whether a refund is on its way: it may still fail and give its money back. */
  readonly isRefunding: boolean;
  /** When the last refund was asked for, with any outcome, or the last loss was entered. */
  readonly lastTakenAt: Date | null;
}

@Injectable()
export class DisputesRepository {
  constructor(private readonly reader: Reader) {}

  /**
   * @returns null also while the payment is undecided; `transactionId` null: it was decided, and is no payment of a
   *   sale
   */
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

  /** Finds the named payments that have arrived and wait for an operator. */
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
