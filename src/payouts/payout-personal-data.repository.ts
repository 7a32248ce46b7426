import { Injectable } from '@nestjs/common';
import { columnsOf, read, Reader, type Tx, write } from '../core/database/index.js';
import { PayoutDestination } from './payout-destination.entity.js';
import { Payout } from './payout.entity.js';
import type { Mode } from '../core/mode.js';
import type { PayoutStatus } from './payouts.machine.js';

/** Hashes by which a person's payouts and destinations are found. */
export interface ReceiverHashes {
  readonly taxIds: readonly Buffer[];
  /** Receivers that are a Pix key of the person. */
  readonly targets: readonly Buffer[];
  /** Null: both modes. */
  readonly mode: Mode | null;
}

/** Condition for rows of the person. Names both modes, because the index of receivers begins with account and mode. */
const ofPerson = (alias: string): string => `${alias}.account_id = $1 AND (${alias}.tax_id_hash = ANY ($2::bytea[])
     OR (${alias}.mode IN ('test', 'live') AND ${alias}.target_hash = ANY ($3::bytea[])))
   AND ($4::text IS NULL OR ${alias}.mode = $4)`;
const FIND = read(
  'payouts.of_person',
  `SELECT ${columnsOf(Payout, 'p')} FROM payouts p WHERE ${ofPerson('p')} AND p.id > $5 ORDER BY p.id LIMIT $6`,
);
const LOCK = write(
  'payouts.lock_of_person',
  `SELECT p.id, p.status FROM payouts p WHERE ${ofPerson('p')} AND p.id > $5 ORDER BY p.id LIMIT $6 FOR UPDATE`,
);
const FIND_DESTINATIONS = read(
  'payout_destinations.of_person',
  `SELECT ${columnsOf(PayoutDestination, 'd')} FROM payout_destinations d WHERE ${ofPerson('d')} ORDER BY d.id`,
);
const DELETE_DESTINATIONS = write(
  'payout_destinations.delete_of_person',
  `UPDATE payout_destinations d SET deleted_at = coalesce(d.deleted_at, $5) WHERE ${ofPerson('d')} RETURNING d.id`,
);

/** Finds payouts and destinations of one person. */
@Injectable()
export class PayoutPersonalDataRepository {
  constructor(private readonly reader: Reader) {}

  /** Oldest first, strictly newer than `after`. */
  async find(accountId: string, who: ReceiverHashes, after: string, limit: number): Promise<Payout[]> {
    return this.reader.query<Payout & Record<string, unknown>>(FIND, [
      accountId,
      who.taxIds,
      who.targets,
      who.mode,
      after,
      limit,
    ]);
  }

  /** Finds payouts as `find` does and locks them until the end of `tx`. */
  async lock(
    tx: Tx,
    accountId: string,
    who: ReceiverHashes,
    after: string,
    limit: number,
  ): Promise<{ readonly id: string; readonly status: PayoutStatus }[]> {
    return tx.query(LOCK, [accountId, who.taxIds, who.targets, who.mode, after, limit]);
  }

  /** Oldest first, with deleted ones. */
  async destinations(accountId: string, who: ReceiverHashes): Promise<PayoutDestination[]> {
    return this.reader.query<PayoutDestination & Record<string, unknown>>(FIND_DESTINATIONS, [
      ...[accountId, who.taxIds, who.targets, who.mode],
    ]);
  }

  /** @returns the ids, also of destinations that were deleted before */
  async deleteDestinations(tx: Tx, accountId: string, who: ReceiverHashes, at: Date): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(DELETE_DESTINATIONS, [
      accountId,
      who.taxIds,
      who.targets,
      who.mode,
      at,
    ]);
    return rows.map(({ id }) => id);
  }
}
