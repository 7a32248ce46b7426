import { Injectable } from '@nestjs/common';
import { columnsOf, insertInto, read, Reader, type Tx, writeRows, removeDue } from '../core/database/index.js';
import type { IdCursorFilter } from '../core/http/index.js';
import { idBound, idRange } from '../core/ids.js';
import { FraudHitEntity as FraudHit } from './fraud-hit.entity.js';
import { Retained } from '../core/retention.js';

export interface FraudHitFilter extends IdCursorFilter {
  readonly accountId: string | null;
}

/** May come twice: when it is not known whether the first time arrived. */
const INSERT = insertInto('fraud_hits.insert', FraudHit, { after: 'ON CONFLICT (id) DO NOTHING' });
const COLUMNS = columnsOf(FraudHit, 'fraud_hits');
const WANTED = `id < coalesce($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AND id >= $2::uuid AND id <= $3::uuid`;
const LIST = read('fraud_hits.list', `SELECT ${COLUMNS} FROM fraud_hits WHERE ${WANTED} ORDER BY id DESC LIMIT $4`);
const LIST_OF_ACCOUNT = read(
  'fraud_hits.list_of_account',
  `SELECT ${COLUMNS} FROM fraud_hits WHERE ${WANTED} AND account_id = $5 ORDER BY id DESC LIMIT $4`,
);
const REMOVE = removeDue('fraud_hits.remove', 'fraud_hits', { dueAt: 'id' });

@Injectable()
export class FraudHitsRepository {
  constructor(private readonly reader: Reader) {}

  insert(tx: Tx, hits: readonly FraudHit[]): void {
    writeRows(tx, INSERT, hits);
  }

  /** Newest first. */
  async list({ accountId, before, createdFrom, createdTo, limit }: FraudHitFilter): Promise<FraudHit[]> {
    const wanted = [before, ...idRange(createdFrom, createdTo), limit];
    return accountId === null
      ? this.reader.query(LIST, wanted)
      : this.reader.query(LIST_OF_ACCOUNT, [...wanted, accountId]);
  }

  /** @returns how many older than `before` are gone now */
  @Retained('fraud_hits', 'fraudHits')
  async remove(tx: Tx, before: Date, limit: number): Promise<number> {
    return (await tx.query(REMOVE, [idBound(before, 'min'), limit])).length;
  }
}
