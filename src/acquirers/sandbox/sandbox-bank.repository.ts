import { Injectable } from '@nestjs/common';
import { Reader, statement, type Tx } from '../../core/database/index.js';
import type { Amount } from '../../core/money/index.js';
import type { RefundWay } from '../acquirer.port.js';

export type SandboxChargeStatus = 'EXPIRED' | 'REFUSED' | 'REMOVED';

const END_CHARGE = statement(
  'sandbox.end_charge',
  'INSERT INTO sandbox_charges (txid, status, ended_at) VALUES ($1, $2, $3) ON CONFLICT (txid) DO NOTHING',
);
const FIND_CHARGE = statement('sandbox.find_charge', 'SELECT status, ended_at FROM sandbox_charges WHERE txid = $1');
/**
 * Once for each return id. A cashout is a Pix of its own; the others give back at most what came in. A failure that was
 * asked for is used up by what may fail ($9).
 */
const INSERT_RETURN = statement(
  'sandbox.insert_return',
  `WITH pix AS (
     SELECT holder_id, end_to_end_id, txid, amount FROM sandbox_pix p
     WHERE p.holder_id = $8 AND p.end_to_end_id = $1 AND NOT EXISTS (
       SELECT 1 FROM sandbox_returns r WHERE r.holder_id = $8 AND r.end_to_end_id = $1 AND r.return_id = $2)
   ), failure AS (
     DELETE FROM sandbox_refund_failures f USING pix WHERE f.txid = pix.txid AND $9::boolean RETURNING 1
   )
   INSERT INTO sandbox_returns (holder_id, end_to_end_id, return_id, way, amount, destination_sealed, bank_reference, fails, requested_at)
   SELECT holder_id, end_to_end_id, $2, $3, $4::bigint, $5::bytea, $6, EXISTS (SELECT 1 FROM failure), $7::timestamptz
   FROM pix WHERE $3 = 'cashout' OR amount >= $4::bigint + (
     SELECT coalesce(sum(amount), 0) FROM sandbox_returns r
     WHERE r.holder_id = $8 AND r.end_to_end_id = $1 AND r.way <> 'cashout' AND NOT r.fails)`,
);
const FIND_RETURN = statement(
  'sandbox.find_return',
  `SELECT bank_reference, fails, requested_at FROM sandbox_returns
   WHERE holder_id = $1 AND end_to_end_id = $2 AND return_id = $3`,
);
const LOCK_PIX = statement(
  'sandbox.lock_pix',
  'SELECT 1 FROM sandbox_pix WHERE holder_id = $1 AND end_to_end_id = $2 FOR UPDATE',
);
const FAIL_NEXT_REFUND = statement(
  'sandbox.fail_next_refund',
  'INSERT INTO sandbox_refund_failures (txid, asked_at) VALUES ($1, $2) ON CONFLICT (txid) DO NOTHING',
);

export interface SandboxReturnRow {
  holderId: string;
  /** Whether it is one that a failure may have been asked for. */
  mayFail: boolean;
  endToEndId: string;
  returnId: string;
  way: RefundWay;
  amount: Amount;
  destinationSealed: Buffer | null;
  bankReference: string | null;
  requestedAt: Date;
}

/** The sandbox bank's books. */
@Injectable()
export class SandboxBankRepository {
  constructor(private readonly reader: Reader) {}

  /** The first end is the end. */
  endCharge(tx: Tx, txid: string, status: SandboxChargeStatus, at: Date): void {
    tx.defer(END_CHARGE, [txid, status, at]);
  }

  async findCharge(txid: string): Promise<{ status: SandboxChargeStatus; ended_at: Date } | null> {
    const [row] = await this.reader.query<{ status: SandboxChargeStatus; ended_at: Date }>(FIND_CHARGE, [txid]);
    return row ?? null;
  }

  /** Like a bank, never returns more than came in: the Pix is locked while its returns are summed. Idempotent. */
  async insertReturn(tx: Tx, row: SandboxReturnRow): Promise<void> {
    await tx.query(LOCK_PIX, [row.holderId, row.endToEndId]);
    tx.defer(INSERT_RETURN, [
      row.endToEndId,
      row.returnId,
      row.way,
      row.amount,
      row.destinationSealed,
      row.bankReference,
      row.requestedAt,
      row.holderId,
      row.mayFail,
    ]);
  }

  async findReturn(
    holderId: string,
    endToEndId: string,
    returnId: string,
  ): Promise<{ bank_reference: string | null; fails: boolean; requested_at: Date } | null> {
    const [row] = await this.reader.query<{ bank_reference: string | null; fails: boolean; requested_at: Date }>(
      FIND_RETURN,
      [holderId, endToEndId, returnId],
    );
    return row ?? null;
  }

  failNextRefund(tx: Tx, txid: string, at: Date): void {
    tx.defer(FAIL_NEXT_REFUND, [txid, at]);
  }
}
