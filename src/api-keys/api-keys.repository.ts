import { Injectable } from '@nestjs/common';
import { ACCOUNT_COLUMNS, type Account, type AccountRow, toAccount } from '../accounts/index.js';
import { Reader, statement, TurnBatch, type Tx } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';

export interface ApiKey {
  readonly id: string;
  readonly accountId: string;
  readonly mode: Mode;
  readonly keyHash: Buffer;
  readonly prefix: string;
  readonly label: string | null;
  readonly createdAt: Date;
}

/** A key that is live, and whose it is. */
interface ActiveKey {
  readonly keyId: string;
  readonly mode: Mode;
  readonly account: Account;
}

/** At most one indexed query for a request: key and account together (the account's columns are read, never written). */
const FIND_ACTIVE = statement(
  'api_keys.find_active',
  `SELECT k.id AS key_id, k.mode, k.key_hash, ${ACCOUNT_COLUMNS} FROM api_keys k JOIN accounts a ON a.id = k.account_id
   WHERE k.key_hash = ANY ($1::bytea[]) AND k.revoked_at IS NULL`,
);
const COLUMNS = 'id, account_id, mode, key_hash, prefix, label, created_at';
const LIST_ACTIVE = statement(
  'api_keys.list_active',
  `SELECT ${COLUMNS} FROM api_keys WHERE account_id = $1 AND revoked_at IS NULL ORDER BY id DESC`,
);
const INSERT = statement(
  'api_keys.insert',
  `INSERT INTO api_keys (id, account_id, mode, key_hash, prefix, label, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
);
const REVOKE = statement(
  'api_keys.revoke',
  `UPDATE api_keys SET revoked_at = $3 WHERE account_id = coalesce($1, account_id) AND id = $2 AND revoked_at IS NULL
   RETURNING ${COLUMNS}`,
);

interface Row {
  id: string;
  account_id: string;
  mode: Mode;
  key_hash: Buffer;
  prefix: string;
  label: string | null;
  created_at: Date;
}

function toApiKey(row: Row): ApiKey {
  return {
    id: row.id,
    accountId: row.account_id,
    mode: row.mode,
    keyHash: row.key_hash,
    prefix: row.prefix,
    label: row.label,
    createdAt: row.created_at,
  };
}

@Injectable()
export class ApiKeysRepository {
  readonly #active = new TurnBatch<ActiveKey>((hashes) => this.#loadActive(hashes));

  constructor(private readonly reader: Reader) {}

  findActive(keyHash: Buffer): Promise<ActiveKey | null> {
    return this.#active.find(keyHash.toString('hex'));
  }

  /** Newest first. */
  async listActive(accountId: string): Promise<ApiKey[]> {
    return (await this.reader.query<Row>(LIST_ACTIVE, [accountId])).map(toApiKey);
  }

  insert(tx: Tx, key: ApiKey): void {
    tx.defer(INSERT, [key.id, key.accountId, key.mode, key.keyHash, key.prefix, key.label, key.createdAt]);
  }

  /**
   * @param accountId null: of any account
   * @returns the key that was live until now; null when there is none: of two at once one gets it
   */
  async revoke(tx: Tx, accountId: string | null, id: string, at: Date): Promise<ApiKey | null> {
    const [row] = await tx.query<Row>(REVOKE, [accountId, id, at]);
    return row ? toApiKey(row) : null;
  }

  async #loadActive(hashes: readonly string[]): Promise<ReadonlyMap<string, ActiveKey>> {
    const wanted = [...new Set(hashes)].map((hash) => `\\x${hash}`);
    const rows = await this.reader.query<AccountRow & { key_id: string; mode: Mode; key_hash: Buffer }>(FIND_ACTIVE, [
      wanted,
    ]);
    return new Map(
      rows.map((row) => [row.key_hash.toString('hex'), { keyId: row.key_id, mode: row.mode, account: toAccount(row) }]),
    );
  }
}
