import { Injectable } from '@nestjs/common';
import { ACCOUNT_COLUMNS, type Account, type AccountRow, toAccount } from '../accounts/index.js';
import { Reader, statement, type Tx } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';

/** One indexed query for every request: key and account together (the account's columns are read, never written). */
const FIND_ACTIVE = statement(
  'api_keys.find_active',
  `SELECT k.id AS key_id, k.mode, ${ACCOUNT_COLUMNS} FROM api_keys k JOIN accounts a ON a.id = k.account_id
   WHERE k.key_hash = $1 AND k.revoked_at IS NULL`,
);
const INSERT = statement(
  'api_keys.insert',
  `INSERT INTO api_keys (id, account_id, mode, key_hash, prefix, label, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
);

@Injectable()
export class ApiKeysRepository {
  constructor(private readonly reader: Reader) {}

  async findActive(keyHash: Buffer): Promise<{ keyId: string; mode: Mode; account: Account } | null> {
    const [row] = await this.reader.query<AccountRow & { key_id: string; mode: Mode }>(FIND_ACTIVE, [keyHash]);
    return row ? { keyId: row.key_id, mode: row.mode, account: toAccount(row) } : null;
  }

  insert(
    tx: Tx,
    key: {
      id: string;
      accountId: string;
      mode: Mode;
      keyHash: Buffer;
      prefix: string;
      label: string | null;
      createdAt: Date;
    },
  ): void {
    tx.defer(INSERT, [key.id, key.accountId, key.mode, key.keyHash, key.prefix, key.label, key.createdAt]);
  }
}
