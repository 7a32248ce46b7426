import { Injectable } from '@nestjs/common';
import { Reader, statement, type Tx } from '../../core/database/index.js';
import type { Amount } from '../../core/money/index.js';
import type { Dispute, DisputeMethod, DisputeType } from '../acquirer.port.js';

export interface SandboxDisputeRow {
  reference: string;
  txid: string;
  holder_id: string;
  end_to_end_id: string;
  type: DisputeType;
  amount: Amount;
  status: Dispute['status'];
  result: Dispute['result'];
  method: DisputeMethod | null;
  reason: string | null;
  response_deadline: Date | null;
  opened_at: Date;
  updated_at: Date;
  closed_at: Date | null;
}

const INSERT = statement(
  'sandbox.insert_dispute',
  `INSERT INTO sandbox_disputes (reference, txid, holder_id, end_to_end_id, type, amount, status, method, reason,
     response_deadline, opened_at, updated_at)
   VALUES ($1, $2, $3, $4, $5, $6, 'created', $7, $8, $9, $10, $10) ON CONFLICT (reference) DO NOTHING`,
);
const COLUMNS = `reference, txid, holder_id, end_to_end_id, type, amount, status, result, method, reason, response_deadline,
  opened_at, updated_at, closed_at`;
const FIND = statement('sandbox.find_dispute', `SELECT ${COLUMNS} FROM sandbox_disputes WHERE reference = $1`);
const OF = statement(
  'sandbox.disputes_of',
  `SELECT ${COLUMNS} FROM sandbox_disputes WHERE txid = $1 ORDER BY opened_at, reference`,
);
/** The one that has waited longest. */
const END = statement(
  'sandbox.end_dispute',
  `UPDATE sandbox_disputes SET status = $2, result = $3, updated_at = $4, closed_at = $4 WHERE reference = (
     SELECT reference FROM sandbox_disputes WHERE txid = $1 AND closed_at IS NULL
     ORDER BY opened_at, reference LIMIT 1 FOR UPDATE) AND closed_at IS NULL
   RETURNING reference`,
);
const LAST_ENDED = statement(
  'sandbox.last_ended_dispute',
  `SELECT reference FROM sandbox_disputes WHERE txid = $1 AND closed_at IS NOT NULL
   ORDER BY closed_at DESC, reference DESC LIMIT 1`,
);

/** The sandbox bank's books of disputes. */
@Injectable()
export class SandboxDisputesRepository {
  constructor(private readonly reader: Reader) {}

  /** Once for each reference. */
  insert(tx: Tx, row: Omit<SandboxDisputeRow, 'status' | 'result' | 'updated_at' | 'closed_at'>): void {
    tx.defer(INSERT, [
      row.reference,
      row.txid,
      row.holder_id,
      row.end_to_end_id,
      row.type,
      row.amount,
      row.method,
      row.reason,
      row.response_deadline,
      row.opened_at,
    ]);
  }

  async find(reference: string): Promise<SandboxDisputeRow | null> {
    const [row] = await this.reader.query<SandboxDisputeRow>(FIND, [reference]);
    return row ?? null;
  }

  /** In the order in which they were opened. */
  async of(txid: string): Promise<SandboxDisputeRow[]> {
    return this.reader.query(OF, [txid]);
  }

  /** @returns which one was ended, or where none waits the last one that was; null where there is none at all */
  async end(
    tx: Tx,
    txid: string,
    status: 'closed' | 'canceled',
    result: Dispute['result'],
    at: Date,
  ): Promise<string | null> {
    const [ended] = await tx.query<{ reference: string }>(END, [txid, status, result, at]);
    if (ended) return ended.reference;
    const [before] = await tx.query<{ reference: string }>(LAST_ENDED, [txid]);
    return before?.reference ?? null;
  }
}
