import { Injectable } from '@nestjs/common';
import { Reader, statement, type Tx } from '../core/database/index.js';
import type { IdCursorFilter } from '../core/http/index.js';
import { idBound, idRange } from '../core/ids.js';
import type { Mode } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import type { FraudCode, FraudOperation } from './fraud-guard.js';

export interface FraudHit {
  readonly id: string;
  readonly accountId: string;
  readonly mode: Mode;
  readonly code: FraudCode;
  /** False in shadow mode: the request went on. */
  readonly enforced: boolean;
  readonly operation: FraudOperation;
  readonly amount: Amount;
  readonly maskedDocument: string | null;
  readonly createdAt: Date;
}

export interface FraudHitFilter extends IdCursorFilter {
  readonly accountId: string | null;
}

/** May come twice: when it is not known whether the first time arrived. */
const INSERT = statement(
  'fraud_hits.insert',
  `INSERT INTO fraud_hits (id, account_id, mode, code, enforced, operation, amount, masked_document, created_at)
   SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::boolean[], $6::text[], $7::bigint[],
     $8::text[], $9::timestamptz[])
   ON CONFLICT (id) DO NOTHING`,
);
const COLUMNS = 'id, account_id, mode, code, enforced, operation, amount, masked_document, created_at';
const WANTED = `id < coalesce($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AND id >= $2::uuid AND id <= $3::uuid`;
const LIST = statement(
  'fraud_hits.list',
  `SELECT ${COLUMNS} FROM fraud_hits WHERE ${WANTED} ORDER BY id DESC LIMIT $4`,
);
const LIST_OF_ACCOUNT = statement(
  'fraud_hits.list_of_account',
  `SELECT ${COLUMNS} FROM fraud_hits WHERE ${WANTED} AND account_id = $5 ORDER BY id DESC LIMIT $4`,
);
const PURGE = statement(
  'fraud_hits.purge',
  `DELETE FROM fraud_hits WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM fraud_hits WHERE id < $1::uuid LIMIT $2 FOR UPDATE SKIP LOCKED))
   RETURNING 1`,
);

interface Row {
  id: string;
  account_id: string;
  mode: Mode;
  code: FraudCode;
  enforced: boolean;
  operation: FraudOperation;
  amount: Amount;
  masked_document: string | null;
  created_at: Date;
}

@Injectable()
export class FraudHitsRepository {
  constructor(private readonly reader: Reader) {}

  insert(tx: Tx, hits: readonly FraudHit[]): void {
    tx.defer(INSERT, [
      hits.map((hit) => hit.id),
      hits.map((hit) => hit.accountId),
      hits.map((hit) => hit.mode),
      hits.map((hit) => hit.code),
      hits.map((hit) => hit.enforced),
      hits.map((hit) => hit.operation),
      hits.map((hit) => hit.amount),
      hits.map((hit) => hit.maskedDocument),
      hits.map((hit) => hit.createdAt),
    ]);
  }

  /** Newest first. */
  async list({ accountId, before, createdFrom, createdTo, limit }: FraudHitFilter): Promise<FraudHit[]> {
    const wanted = [before, ...idRange(createdFrom, createdTo), limit];
    const rows =
      accountId === null
        ? await this.reader.query<Row>(LIST, wanted)
        : await this.reader.query<Row>(LIST_OF_ACCOUNT, [...wanted, accountId]);
    return rows.map((row) => ({
      id: row.id,
      accountId: row.account_id,
      mode: row.mode,
      code: row.code,
      enforced: row.enforced,
      operation: row.operation,
      amount: row.amount,
      maskedDocument: row.masked_document,
      createdAt: row.created_at,
    }));
  }

  /** @returns how many older than `before` are gone now */
  async purge(tx: Tx, before: Date, limit: number): Promise<number> {
    return (await tx.query(PURGE, [idBound(before, 'min'), limit])).length;
  }
}
