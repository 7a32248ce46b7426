import { Injectable } from '@nestjs/common';
import { columnsOf, insertInto, read, Reader, type Tx, write, writeRow } from '../../core/database/index.js';
import type { Amount } from '../../core/money/index.js';
import { PixReturnEntity, SHOWN_RETURNS } from '../returns/pix-return.entity.js';
import { SettlementEntity } from './settlement.entity.js';

/** Fields of a return that the caller sets. */
export type IntentField =
  | 'accountId'
  | 'mode'
  | 'transactionId'
  | 'acquirer'
  | 'endToEndId'
  | 'returnId'
  | 'way'
  | 'amount'
  | 'currency'
  | 'reason';

/**
 * A Pix `s` of no charge that no operator has decided about. If a charge shows it as its payment, it is credited to
 * that charge.
 */
export const IS_CLAIMABLE = `s.outcome = 'unmatched' AND s.transaction_id IS NULL AND s.account_id IS NOT NULL`;

const INSERT = insertInto('settlements.insert', SettlementEntity, { without: ['reviewedAt', 'reviewedBy'] });
const SETTLED_BY_ANOTHER = read(
  'settlements.settled_by_another',
  'SELECT id FROM settlements WHERE end_to_end_id = $1 AND namespace IS NULL AND account_id <> $2',
);
const INSERT_RETURN = insertInto('pix_returns.insert', PixReturnEntity, { without: ['failureReason', 'providerFee'] });
/** Looks only among Pix with worldwide ids: other payments have ids that are unique within an account. */
const IS_SETTLED = read(
  'settlements.is_settled',
  'SELECT 1 FROM settlements WHERE end_to_end_id = $1 AND namespace IS NULL',
);
/** Ends the review of a held Pix without a decision, because the sale is cancelled. */
const GIVE_BACK_HELD = write(
  'settlements.give_back_held',
  `UPDATE settlements SET outcome = 'returned', reason = $2, reviewed_at = $3
   WHERE transaction_id = $1 AND outcome = 'review'
   RETURNING acquirer, end_to_end_id AS "endToEndId", amount`,
);
const RETURN_COLUMNS = columnsOf(PixReturnEntity, 'pix_returns');
const OPEN_RETURN = read(
  'pix_returns.open',
  `SELECT ${RETURN_COLUMNS} FROM pix_returns WHERE id = $1 AND status IN ('PENDING', 'IN_PROGRESS')`,
);
const FIND_RETURN = read(
  'pix_returns.find',
  'SELECT id FROM pix_returns WHERE acquirer = $1 AND end_to_end_id = $2 AND return_id = $3',
);
const MOVE_RETURN = write(
  'pix_returns.move',
  `UPDATE pix_returns SET status = $2, failure_reason = $3, updated_at = $4
   WHERE id = $1 AND status IN ('PENDING', 'IN_PROGRESS')`,
);
/**
 * Completes a return, and shows it on the sale; the return is locked before its transaction. A sale keeps only its last
 * twenty returns, because every reader of the sale reads them.
 */
const COMPLETE_RETURN = write(
  'pix_returns.complete',
  `WITH done AS (
     UPDATE pix_returns SET status = 'RETURNED', failure_reason = NULL, updated_at = $2, provider_fee = $5
     WHERE id = $1 AND status IN ('PENDING', 'IN_PROGRESS')
     RETURNING id, transaction_id, amount, reason, end_to_end_id, way),
   shown AS (
     UPDATE transactions t SET returns =
       CASE WHEN jsonb_array_length(t.returns) >= 20 THEN t.returns - 0 ELSE coalesce(t.returns, '[]') END ||
       jsonb_build_array(jsonb_build_object(
       'amount', done.amount, 'reason', done.reason, 'endToEndId', done.end_to_end_id, 'at', $3::text))
     FROM done WHERE t.id = done.transaction_id AND done.way = 'devolution' AND done.reason = ANY ($4))
   SELECT id FROM done`,
);
const RETURNS_OF = read(
  'pix_returns.of',
  `SELECT ${RETURN_COLUMNS} FROM pix_returns WHERE transaction_id = $1 ORDER BY id`,
);

@Injectable()
export class SettlementsRepository {
  constructor(private readonly reader: Reader) {}

  /** A Pix seen before fails the transaction: unique violation of `settlements_end_to_end_id_key`. */
  insert(tx: Tx, settlement: Omit<SettlementEntity, 'reviewedAt' | 'reviewedBy'>): void {
    writeRow(tx, INSERT, settlement);
  }

  /** Returns whether a Pix is settled, by any acquirer. */
  async isSettled(tx: Tx, endToEndId: string): Promise<boolean> {
    return (await tx.query(IS_SETTLED, [endToEndId])).length > 0;
  }

  /** Finds the settlement of a Pix in another account's books. @returns its id; null when there is none */
  async settledByAnother(accountId: string, endToEndId: string): Promise<string | null> {
    const [row] = await this.reader.query<{ id: string }>(SETTLED_BY_ANOTHER, [endToEndId, accountId]);
    return row?.id ?? null;
  }

  insertReturn(
    tx: Tx,
    { now, ...intent }: Pick<PixReturnEntity, IntentField> & { readonly id: string; readonly now: Date },
  ): void {
    const times = { createdAt: now, updatedAt: now };
    tx.defer(INSERT_RETURN, INSERT_RETURN.valuesOf({ ...intent, ...times, status: 'PENDING' }));
  }

  /** @returns the held money of a transaction, which the caller has to send back in the same `tx` */
  async giveBackHeld(
    tx: Tx,
    transactionId: string,
    reason: string,
    at: Date,
  ): Promise<Pick<SettlementEntity, 'acquirer' | 'endToEndId' | 'amount'>[]> {
    return tx.query(GIVE_BACK_HELD, [transactionId, reason, at]);
  }

  /** Returns null for a return that has ended. */
  async openReturn(id: string): Promise<PixReturnEntity | null> {
    return this.reader.first<PixReturnEntity>(OPEN_RETURN, [id]);
  }

  /** @returns its id; null when there is no such return */
  async findReturn(acquirer: string, endToEndId: string, returnId: string): Promise<string | null> {
    const [row] = await this.reader.query<{ id: string }>(FIND_RETURN, [acquirer, endToEndId, returnId]);
    return row?.id ?? null;
  }

  /**
   * Records that the money is with its payer again.
   * @param fee the acquirer's fee for the return
   * @returns false if it was recorded before; nothing changes then
   */
  async completeReturn(tx: Tx, id: string, at: Date, fee: Amount): Promise<boolean> {
    return (await tx.query(COMPLETE_RETURN, [id, at, at.toISOString(), SHOWN_RETURNS, fee])).length > 0;
  }

  moveReturn(tx: Tx, id: string, status: 'IN_PROGRESS' | 'FAILED', failureReason: string | null, at: Date): void {
    tx.defer(MOVE_RETURN, [id, status, failureReason, at]);
  }

  async returnsOf(transactionId: string): Promise<PixReturnEntity[]> {
    return this.reader.query(RETURNS_OF, [transactionId]);
  }
}
