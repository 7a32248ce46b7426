import { Injectable } from '@nestjs/common';
import { columnsOf, insertInto, Reader, read, write, type Tx } from '../../core/database/index.js';
import { SandboxChargeEntity } from './sandbox-charge.entity.js';
import { SandboxRefundFailureEntity } from './sandbox-refund-failure.entity.js';
import { SandboxReturnEntity } from './sandbox-return.entity.js';

const END_CHARGE = insertInto('sandbox.end_charge', SandboxChargeEntity, { after: 'ON CONFLICT (txid) DO NOTHING' });
const FIND_CHARGE = read(
  'sandbox.find_charge',
  `SELECT ${columnsOf(SandboxChargeEntity, 'sandbox_charges')} FROM sandbox_charges WHERE txid = $1`,
);
/**
 * Inserts a return once for each return id. A cashout is a Pix of its own; other returns never exceed the received
 * amount. A requested failure is used up by the first return that may fail ($9).
 */
const INSERT_RETURN = write(
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
const FIND_RETURN = read(
  'sandbox.find_return',
  `SELECT ${columnsOf(SandboxReturnEntity, 'sandbox_returns')} FROM sandbox_returns
   WHERE holder_id = $1 AND end_to_end_id = $2 AND return_id = $3`,
);
const LOCK_PIX = write(
  'sandbox.lock_pix',
  'SELECT 1 FROM sandbox_pix WHERE holder_id = $1 AND end_to_end_id = $2 FOR UPDATE',
);
const FAIL_NEXT_REFUND = insertInto('sandbox.fail_next_refund', SandboxRefundFailureEntity, {
  after: 'ON CONFLICT (txid) DO NOTHING',
});

export interface SandboxReturn extends Omit<SandboxReturnEntity, 'fails'> {
  /** Whether a requested failure may apply to this return. */
  readonly mayFail: boolean;
}

/** The sandbox bank's books. */
@Injectable()
export class SandboxBankRepository {
  constructor(private readonly reader: Reader) {}

  /** Ends a charge. The first end stays. */
  endCharge(tx: Tx, txid: string, status: SandboxChargeEntity['status'], at: Date): void {
    tx.defer(END_CHARGE, END_CHARGE.valuesOf({ txid, status, endedAt: at }));
  }

  async findCharge(txid: string): Promise<SandboxChargeEntity | null> {
    return this.reader.first<SandboxChargeEntity>(FIND_CHARGE, [txid]);
  }

  /** Never returns more than was received, like a bank: the Pix is locked while its returns are summed. Idempotent. */
  async insertReturn(tx: Tx, row: SandboxReturn): Promise<void> {
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

  async findReturn(holderId: string, endToEndId: string, returnId: string): Promise<SandboxReturnEntity | null> {
    return this.reader.first<SandboxReturnEntity>(FIND_RETURN, [holderId, endToEndId, returnId]);
  }

  failNextRefund(tx: Tx, txid: string, at: Date): void {
    tx.defer(FAIL_NEXT_REFUND, FAIL_NEXT_REFUND.valuesOf({ txid, askedAt: at }));
  }
}
