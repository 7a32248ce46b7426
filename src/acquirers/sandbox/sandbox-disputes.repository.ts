import { Injectable } from '@nestjs/common';
import { columnsOf, insertInto, Reader, read, write, type Tx } from '../../core/database/index.js';
import type { Dispute } from '../acquirer.port.js';
import { SandboxDisputeEntity } from './sandbox-dispute.entity.js';

const INSERT = insertInto('sandbox.insert_dispute', SandboxDisputeEntity, {
  after: 'ON CONFLICT (reference) DO NOTHING',
});
const COLUMNS = columnsOf(SandboxDisputeEntity, 'sandbox_disputes');
const FIND = read('sandbox.find_dispute', `SELECT ${COLUMNS} FROM sandbox_disputes WHERE reference = $1`);
const OF = read(
  'sandbox.disputes_of',
  `SELECT ${COLUMNS} FROM sandbox_disputes WHERE txid = $1 ORDER BY opened_at, reference`,
);
/**
 * Ends the dispute that has waited longest. The bank's clock never goes back, whichever of our machines opened the
 * dispute: an end before its opening would count as an older state.
 */
const END = write(
  'sandbox.end_dispute',
  `UPDATE sandbox_disputes d SET status = $2, result = $3, updated_at = ends.at, closed_at = ends.at
   FROM (SELECT greatest($4::timestamptz, max(updated_at) + interval '1 millisecond') AS at
     FROM sandbox_disputes WHERE txid = $1) ends
   WHERE reference = (
     SELECT reference FROM sandbox_disputes WHERE txid = $1 AND closed_at IS NULL
     ORDER BY opened_at, reference LIMIT 1 FOR UPDATE) AND closed_at IS NULL
   RETURNING reference`,
);
const LAST_ENDED = read(
  'sandbox.last_ended_dispute',
  `SELECT reference FROM sandbox_disputes WHERE txid = $1 AND closed_at IS NOT NULL
   ORDER BY closed_at DESC, reference DESC LIMIT 1`,
);

/** The sandbox bank's books of disputes. */
@Injectable()
export class SandboxDisputesRepository {
  constructor(private readonly reader: Reader) {}

  /** Inserts a dispute once for each reference. */
  insert(tx: Tx, dispute: SandboxDisputeEntity): void {
    tx.defer(INSERT, INSERT.valuesOf(dispute));
  }

  async find(reference: string): Promise<SandboxDisputeEntity | null> {
    return this.reader.first<SandboxDisputeEntity>(FIND, [reference]);
  }

  /** Disputes of a charge, in the order in which they were opened. */
  async of(txid: string): Promise<SandboxDisputeEntity[]> {
    return this.reader.query(OF, [txid]);
  }

  /** @returns the ended dispute; if none is open, the last one that was ended; null without any dispute */
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
