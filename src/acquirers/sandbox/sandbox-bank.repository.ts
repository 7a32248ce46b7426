import { Injectable } from '@nestjs/common';
import { Reader, statement, type Tx } from '../../core/database/index.js';
import type { Amount } from '../../core/money/index.js';

export interface SandboxPixRow {
  end_to_end_id: string;
  txid: string;
  amount: Amount;
  payer_sealed: Buffer;
  settled_at: Date;
}

const INSERT_PIX = statement(
  'sandbox.insert_pix',
  `INSERT INTO sandbox_pix (end_to_end_id, txid, amount, payer_sealed, settled_at) VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (end_to_end_id) DO NOTHING`,
);
const FIND_PIX = statement(
  'sandbox.find_pix',
  'SELECT end_to_end_id, txid, amount, payer_sealed, settled_at FROM sandbox_pix WHERE end_to_end_id = $1',
);
const END_CHARGE = statement(
  'sandbox.end_charge',
  'INSERT INTO sandbox_charges (txid, status, ended_at) VALUES ($1, $2, $3) ON CONFLICT (txid) DO NOTHING',
);
const FIND_CHARGE = statement('sandbox.find_charge', 'SELECT status, ended_at FROM sandbox_charges WHERE txid = $1');
const INSERT_RETURN = statement(
  'sandbox.insert_return',
  `INSERT INTO sandbox_returns (end_to_end_id, return_id, amount, requested_at)
   SELECT end_to_end_id, $2, $3::bigint, $4::timestamptz FROM sandbox_pix p WHERE end_to_end_id = $1
     AND amount >= $3::bigint + (SELECT coalesce(sum(amount), 0) FROM sandbox_returns r WHERE r.end_to_end_id = $1)
   ON CONFLICT (end_to_end_id, return_id) DO NOTHING`,
);
const FIND_RETURN = statement(
  'sandbox.find_return',
  'SELECT amount, requested_at FROM sandbox_returns WHERE end_to_end_id = $1 AND return_id = $2',
);
const LOCK_PIX = statement('sandbox.lock_pix', 'SELECT 1 FROM sandbox_pix WHERE end_to_end_id = $1 FOR UPDATE');

/** The sandbox bank's books. */
@Injectable()
export class SandboxBankRepository {
  constructor(private readonly reader: Reader) {}

  insertPix(tx: Tx, row: SandboxPixRow): void {
    tx.defer(INSERT_PIX, [row.end_to_end_id, row.txid, row.amount, row.payer_sealed, row.settled_at]);
  }

  async findPix(endToEndId: string): Promise<SandboxPixRow | null> {
    const [row] = await this.reader.query<SandboxPixRow>(FIND_PIX, [endToEndId]);
    return row ?? null;
  }

  endCharge(tx: Tx, txid: string, status: 'EXPIRED' | 'REFUSED', at: Date): void {
    tx.defer(END_CHARGE, [txid, status, at]);
  }

  async findCharge(txid: string): Promise<{ status: 'EXPIRED' | 'REFUSED'; ended_at: Date } | null> {
    const [row] = await this.reader.query<{ status: 'EXPIRED' | 'REFUSED'; ended_at: Date }>(FIND_CHARGE, [txid]);
    return row ?? null;
  }

  /** Like a bank, never returns more than came in: the Pix is locked while its returns are summed. */
  async insertReturn(tx: Tx, endToEndId: string, returnId: string, amount: Amount, at: Date): Promise<void> {
    await tx.query(LOCK_PIX, [endToEndId]);
    tx.defer(INSERT_RETURN, [endToEndId, returnId, amount, at]);
  }

  async findReturn(endToEndId: string, returnId: string): Promise<{ amount: Amount; requested_at: Date } | null> {
    const [row] = await this.reader.query<{ amount: Amount; requested_at: Date }>(FIND_RETURN, [endToEndId, returnId]);
    return row ?? null;
  }
}
