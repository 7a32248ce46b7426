import { Injectable } from '@nestjs/common';
import { columnsOf, insertInto, read, Reader, type Tx, write } from '../core/database/index.js';
import type { IdCursorFilter } from '../core/http/index.js';
import { idRange } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import { PayoutDestination } from './payout-destination.entity.js';

const COLUMNS = columnsOf(PayoutDestination, 'd');
const INSERT = insertInto('payout_destinations.insert', PayoutDestination, {
  after: 'ON CONFLICT (account_id, mode, target_hash) WHERE deleted_at IS NULL DO NOTHING RETURNING 1',
});
const OWN = 'd.account_id = $1 AND d.mode = $2 AND d.deleted_at IS NULL';
const FIND = read(
  'payout_destinations.find',
  `SELECT ${COLUMNS} FROM payout_destinations d WHERE ${OWN} AND d.id = $3`,
);
const FIND_BY_HASH = read(
  'payout_destinations.find_by_hash',
  `SELECT ${COLUMNS} FROM payout_destinations d WHERE ${OWN} AND d.target_hash = $3`,
);
const FIND_ANY = read('payout_destinations.find_any', `SELECT ${COLUMNS} FROM payout_destinations d WHERE d.id = $1`);
const LIST = read(
  'payout_destinations.list',
  `SELECT ${COLUMNS} FROM payout_destinations d WHERE ${OWN}
     AND d.id < coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AND d.id >= $4::uuid AND d.id <= $5::uuid
   ORDER BY d.id DESC LIMIT $6`,
);
const HAS_APPROVED = read(
  'payout_destinations.has_approved',
  `SELECT 1 FROM payout_destinations d
   WHERE d.account_id = $1 AND d.mode = $2 AND d.target_hash = $3 AND d.approved_by = $4 LIMIT 1`,
);
const APPROVE = write(
  'payout_destinations.approve',
  `UPDATE payout_destinations d SET approved_by = $4, approved_at = $5 WHERE ${OWN} AND d.id = $3 AND d.approved_at IS NULL
   RETURNING ${COLUMNS}`,
);
const REMOVE = write(
  'payout_destinations.remove',
  `UPDATE payout_destinations d SET deleted_at = $4 WHERE ${OWN} AND d.id = $3 RETURNING 1`,
);

@Injectable()
export class PayoutDestinationsRepository {
  constructor(private readonly reader: Reader) {}

  /** @returns false when the same receiver is saved already */
  async insert(tx: Tx, destination: PayoutDestination): Promise<boolean> {
    return (await tx.query(INSERT, INSERT.valuesOf(destination))).length > 0;
  }

  async find(scope: Scope, id: string): Promise<PayoutDestination | null> {
    return this.reader.first<PayoutDestination>(FIND, [scope.accountId, scope.mode, id]);
  }

  async findByHash(scope: Scope, targetHash: Buffer): Promise<PayoutDestination | null> {
    return this.reader.first<PayoutDestination>(FIND_BY_HASH, [scope.accountId, scope.mode, targetHash]);
  }

  /** Reads a destination also after its deletion, and across accounts: for payouts that exist. */
  async findAny(tx: Tx, id: string): Promise<PayoutDestination | null> {
    return tx.first<PayoutDestination>(FIND_ANY, [id]);
  }

  /** @returns whether the person has approved a destination with this receiver, also a deleted one */
  async hasApproved(tx: Tx, { accountId, mode }: Scope, targetHash: Buffer, userId: string): Promise<boolean> {
    return (await tx.query(HAS_APPROVED, [accountId, mode, targetHash, userId])).length > 0;
  }

  /** Newest first. */
  async list({ accountId, mode }: Scope, filter: IdCursorFilter): Promise<PayoutDestination[]> {
    const { before, createdFrom, createdTo, limit } = filter;
    return this.reader.query(LIST, [accountId, mode, before, ...idRange(createdFrom, createdTo), limit]);
  }

  /** @returns null when it was approved before, or is gone */
  async approve(tx: Tx, scope: Scope, id: string, by: string, at: Date): Promise<PayoutDestination | null> {
    return tx.first<PayoutDestination>(APPROVE, [scope.accountId, scope.mode, id, by, at]);
  }

  /** @returns false when there is none */
  async remove(tx: Tx, scope: Scope, id: string, at: Date): Promise<boolean> {
    return (await tx.query(REMOVE, [scope.accountId, scope.mode, id, at])).length > 0;
  }
}
