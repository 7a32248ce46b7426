import { Injectable } from '@nestjs/common';
import { columnsOf, insertInto, read, Reader, type Tx, write } from '../../core/database/index.js';
import type { IdCursorFilter } from '../../core/http/index.js';
import { idBound, idRange } from '../../core/ids.js';
import type { Amount } from '../../core/money/index.js';
import { OperatorQueues } from '../../core/operator-queues.js';
import { PixReturnEntity, type ReturnReason } from '../returns/pix-return.entity.js';
import { SettlementEntity } from '../settlement/settlement.entity.js';
import { IS_CLAIMABLE } from '../settlement/settlements.repository.js';
import { type Taken, TAKEN_FIELDS } from '../taken.js';
import { TransactionEntity } from '../transaction.entity.js';
import { CorrectionEntity, type CorrectionStatus } from './correction.entity.js';

/** A Pix that was not credited. */
export interface SuspendedPix extends SettlementEntity {
  /** The currency of its transaction; BRL for a Pix without one. */
  readonly currency: string;
}

/** An earlier request to the bank to send a Pix back. */
export type EarlierReturn = Pick<PixReturnEntity, 'way' | 'status'> & { readonly reason: ReturnReason };

/** Amounts taken of a sale, by our books. */
export interface TakenOfSale {
  /** Bounds of the sum of its losses, depending on how the waiting ones are decided. */
  readonly least: Amount;
  readonly most: Amount;
  readonly taken: Taken;
  /** Whether a refund, return, dispute or valid loss already has the requested bank reference. */
  readonly isBooked: boolean;
}

export interface CorrectionFilter extends IdCursorFilter {
  readonly accountId: string | null;
  readonly status: CorrectionStatus | null;
}

const COLUMNS = columnsOf(CorrectionEntity, 'c');

const INSERT = insertInto('corrections.insert', CorrectionEntity);
/**
 * Locks the key until the end of the transaction. A repetition at the same moment waits before it looks at the money.
 */
const LOCK_KEY = write(
  'corrections.lock_key',
  `SELECT pg_advisory_xact_lock(hashtextextended('corrections.key:' || $1, 0))`,
);
const FIND_BY_KEY = read(
  'corrections.find_by_key',
  `SELECT ${COLUMNS} FROM corrections c WHERE c.idempotency_key = $1`,
);
/** Reads without a lock, so it does not wait for a decision under way that has the Pix locked. */
const WAITS = read(
  'corrections.waits',
  `SELECT 1 FROM corrections c WHERE c.settlement_id = $1 AND c.status = 'waiting' AND c.borne_by IS NULL`,
);
const LOCK = write('corrections.lock', `SELECT ${COLUMNS} FROM corrections c WHERE c.id = $1 FOR UPDATE`);
const DECIDE = write(
  'corrections.decide',
  `UPDATE corrections c SET status = $2, decided_by = $3, decided_at = $4 WHERE c.id = $1`,
);
/**
 * Locks the operator until the end of the transaction, so that two corrections at once do not both find room below the
 * limit.
 */
const LOCK_OPERATOR = write(
  'corrections.lock_operator',
  `SELECT pg_advisory_xact_lock(hashtextextended('corrections:' || $1, 0))`,
);
const MADE_ALONE = read(
  'corrections.made_alone',
  `SELECT coalesce(sum(abs(c.amount)), 0)::float8 AS amount FROM corrections c
   WHERE c.id >= $2::uuid AND c.requested_by = $1 AND c.decided_by = $1 AND c.status = 'applied'
     AND c.borne_by IS NOT NULL`,
);
const LIST = read(
  'corrections.list',
  `SELECT ${COLUMNS} FROM corrections c
   WHERE c.id < coalesce($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AND c.id >= $2::uuid AND c.id <= $3::uuid
     AND ($5::uuid IS NULL OR c.account_id = $5) AND ($6::text IS NULL OR c.status = $6)
   ORDER BY c.id DESC LIMIT $4`,
);
const COUNT = read(
  'corrections.count',
  `SELECT count(*)::int AS waiting, min(c.created_at) AS since FROM corrections c WHERE c.status = 'waiting'`,
);
const LOCK_PIX = write(
  'corrections.lock_pix',
  `SELECT ${columnsOf(SettlementEntity, 's')}, coalesce(t.currency, 'BRL') AS currency
   FROM settlements s LEFT JOIN transactions t ON t.id = s.transaction_id WHERE s.id = $1 FOR UPDATE OF s`,
);
const CLAIMABLE = read(
  'corrections.claimable',
  `SELECT s.id FROM settlements s
   WHERE s.end_to_end_id = $1 AND s.namespace IS NULL AND s.acquirer = $2 AND ${IS_CLAIMABLE}`,
);
/** Finds the credited Pix of a paid sale. */
const PIX_OF = read(
  'corrections.pix_of',
  `SELECT s.id FROM settlements s WHERE s.transaction_id = $1 AND s.outcome = 'credited'`,
);
/**
 * Reads the amounts taken of the sale $1, and its losses without the correction $3. $2: the id of a return at the bank.
 */
const TAKEN_OF = read(
  'corrections.taken_of',
  `SELECT ${columnsOf(TransactionEntity, 't', { only: TAKEN_FIELDS, within: 'taken' })}, l.most, l.least,
     l.is_named OR r.is_named OR d.is_named OR p.is_named AS "isBooked"
   FROM transactions t, (
     SELECT coalesce(sum(c.amount) FILTER (WHERE c.amount > 0 OR c.status = 'applied'), 0)::float8 AS most,
       coalesce(sum(c.amount) FILTER (WHERE c.amount < 0 OR c.status = 'applied'), 0)::float8 AS least,
       coalesce(sum(c.amount) FILTER (WHERE c.bank_reference = $2 AND (c.amount > 0 OR c.status = 'applied')), 0) > 0 AS is_named
     FROM corrections c
     WHERE c.transaction_id = $1 AND c.kind = 'loss' AND c.status <> 'rejected' AND c.id IS DISTINCT FROM $3::uuid) l, (
     SELECT coalesce(bool_or(replace(r.id::text, '-', '') = $2), false) AS is_named
     FROM refunds r WHERE r.transaction_id = $1 AND r.way <> 'cashout' AND r.status <> 'FAILED') r, (
     SELECT coalesce(bool_or(split_part(c.reference, '/', -1) = $2), false) AS is_named
     FROM med_cases c WHERE c.transaction_id = $1 AND c.held_amount + c.lost_amount > 0) d, (
     SELECT count(*) > 0 AS is_named
     FROM pix_returns p WHERE p.transaction_id = $1 AND p.return_id = $2 AND p.status <> 'FAILED') p
   WHERE t.id = $1`,
);
const ADD_LOSS = write(
  'corrections.add_loss',
  'UPDATE transactions SET losses_amount = losses_amount + $2 WHERE id = $1',
);
const RETURNS_OF = read(
  'corrections.returns_of',
  `SELECT ${columnsOf(PixReturnEntity, 'p', { only: ['way', 'status', 'reason'] })} FROM pix_returns p
   WHERE p.acquirer = $1 AND p.end_to_end_id = $2 AND p.account_id = $3 AND p.transaction_id IS NOT DISTINCT FROM $4
   ORDER BY p.id DESC`,
);
const MOVE_PIX = write(
  'corrections.move_pix',
  `UPDATE settlements SET outcome = $2, reason = CASE WHEN $2 = 'closed' THEN reason ELSE $3 END,
     transaction_id = coalesce(transaction_id, $4) WHERE id = $1`,
);

@Injectable()
export class CorrectionsRepository {
  constructor(
    private readonly reader: Reader,
    queues: OperatorQueues,
  ) {
    queues.register('corrections', COUNT);
  }

  insert(tx: Tx, correction: CorrectionEntity): void {
    tx.defer(INSERT, INSERT.valuesOf(correction));
  }

  async lockKey(tx: Tx, key: string): Promise<void> {
    await tx.query(LOCK_KEY, [key]);
  }

  async findByKey(tx: Tx, key: string): Promise<CorrectionEntity | null> {
    return tx.first<CorrectionEntity>(FIND_BY_KEY, [key]);
  }

  /** @returns whether a correction of this Pix waits for a second operator */
  async waits(tx: Tx, settlementId: string): Promise<boolean> {
    return (await tx.query(WAITS, [settlementId])).length > 0;
  }

  async lock(tx: Tx, id: string): Promise<CorrectionEntity | null> {
    return tx.first<CorrectionEntity>(LOCK, [id]);
  }

  async lockOperator(tx: Tx, operatorId: string): Promise<void> {
    await tx.query(LOCK_OPERATOR, [operatorId]);
  }

  /**
   * @returns the sum of the wallet corrections since then that an operator has made without a second one, each in the
   *   smallest unit of its currency
   */
  async madeAlone(tx: Tx, operatorId: string, since: Date): Promise<Amount> {
    const [row] = await tx.query<{ amount: Amount }>(MADE_ALONE, [operatorId, idBound(since, 'min')]);
    return row?.amount ?? 0;
  }

  decide(tx: Tx, { id, status, decidedBy, decidedAt }: CorrectionEntity): void {
    tx.defer(DECIDE, [id, status, decidedBy, decidedAt]);
  }

  /** Newest first. */
  async list(filter: CorrectionFilter): Promise<CorrectionEntity[]> {
    const { before, createdFrom, createdTo, limit, accountId, status } = filter;
    return this.reader.query(LIST, [before, ...idRange(createdFrom, createdTo), limit, accountId, status]);
  }

  async lockPix(tx: Tx, settlementId: string): Promise<SuspendedPix | null> {
    return tx.first<SuspendedPix>(LOCK_PIX, [settlementId]);
  }

  /** @returns the id of an unmatched Pix that no charge has yet; not locked. Null: there is none */
  async claimable(tx: Tx, acquirer: string, endToEndId: string): Promise<string | null> {
    const [row] = await tx.query<{ id: string }>(CLAIMABLE, [endToEndId, acquirer]);
    return row?.id ?? null;
  }

  /** @returns the id of the settlement that the sale was credited with; null for an unpaid sale */
  async pixOf(tx: Tx, transactionId: string): Promise<string | null> {
    const [row] = await tx.query<{ id: string }>(PIX_OF, [transactionId]);
    return row?.id ?? null;
  }

  /**
   * Lock the sale before calling.
   * @param bankReference the id of a return at the bank; null: none
   * @param without a correction that does not count; null: none
   */
  async takenOf(
    tx: Tx,
    transactionId: string,
    bankReference: string | null,
    without: string | null,
  ): Promise<TakenOfSale> {
    const [row] = await tx.query<TakenOfSale>(TAKEN_OF, [transactionId, bankReference, without]);
    if (!row) throw new Error(`There is no transaction ${transactionId}`);
    return row;
  }

  /**
   * Adds to the loss of a sale; a negative amount reduces it. A loss above what is left fails the transaction
   * (`transactions_left`).
   */
  addLoss(tx: Tx, transactionId: string, amount: Amount): void {
    tx.defer(ADD_LOSS, [transactionId, amount]);
  }

  /** Returns the latest first. Lock the Pix before calling. */
  async returnsOf(tx: Tx, pix: SuspendedPix): Promise<EarlierReturn[]> {
    return tx.query<EarlierReturn>(RETURNS_OF, [pix.acquirer, pix.endToEndId, pix.accountId, pix.transactionId]);
  }

  /** @param reason why the Pix goes back, else null @param transactionId the sale that it is assigned to, else null */
  movePix(
    tx: Tx,
    settlementId: string,
    outcome: 'credited' | 'returned' | 'closed',
    reason: 'unmatched' | null,
    transactionId: string | null,
  ): void {
    tx.defer(MOVE_PIX, [settlementId, outcome, reason, transactionId]);
  }
}
