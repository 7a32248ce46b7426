import { Injectable } from '@nestjs/common';
import { Account } from '../accounts/index.js';
import { columnsOf, insertInto, oneOf, Reader, read, write, type Tx } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';
import { ApiKey, ApiKeyEntity } from './api-key.entity.js';

/** An active key with its account. */
interface ActiveKey {
  readonly keyId: string;
  readonly mode: Mode;
  readonly keyHash: Buffer;
  readonly expiresAt: Date | null;
  readonly allowedIps: readonly string[];
  readonly lastUsedAt: Date | null;
  readonly issuedBy: string | null;
  readonly account: Account;
}

/** Finds key and account together, with at most one indexed query per request. The account's columns are only read. */
const FIND_ACTIVE = oneOf(
  read(
    'api_keys.find_active',
    `SELECT k.id AS "keyId", k.mode, k.expires_at AS "expiresAt",
       k.allowed_ips AS "allowedIps", k.last_used_at AS "lastUsedAt", k.issued_by AS "issuedBy",
       ${columnsOf(Account, 'a', { within: 'account' })}
     FROM api_keys k JOIN accounts a ON a.id = k.account_id
     WHERE k.key_hash = $1 AND k.revoked_at IS NULL`,
  ),
  'bytea',
);
const COLUMNS = columnsOf(ApiKey, 'api_keys');
const LIST_ACTIVE = read(
  'api_keys.list_active',
  `SELECT ${COLUMNS} FROM api_keys WHERE account_id = $1 AND revoked_at IS NULL ORDER BY id DESC`,
);
const FIND = read(
  'api_keys.find',
  `SELECT ${COLUMNS} FROM api_keys WHERE account_id = $1 AND id = $2 AND revoked_at IS NULL`,
);
const ISSUED_BY = read(
  'api_keys.issued_by',
  `SELECT ${COLUMNS} FROM api_keys WHERE account_id = $1 AND issued_by = $2 AND revoked_at IS NULL ORDER BY id`,
);
/** Sorted, so that two processes that write at once cannot deadlock. */
const USED = write(
  'api_keys.used',
  `UPDATE api_keys SET last_used_at = $2 WHERE id IN (
     SELECT id FROM api_keys WHERE id = ANY ($1::uuid[]) AND coalesce(last_used_at < $2, true) ORDER BY id FOR UPDATE)`,
);
const INSERT = insertInto('api_keys.insert', ApiKeyEntity, { without: ['revokedAt'] });
const REVOKE = write(
  'api_keys.revoke',
  `UPDATE api_keys SET revoked_at = $3 WHERE account_id = coalesce($1, account_id) AND id = $2 AND revoked_at IS NULL
   RETURNING ${COLUMNS}`,
);

@Injectable()
export class ApiKeysRepository {
  constructor(private readonly reader: Reader) {}

  findActive(keyHash: Buffer): Promise<ActiveKey | null> {
    return this.reader.one<ActiveKey>(FIND_ACTIVE, [keyHash]);
  }

  /** Newest first. */
  async listActive(accountId: string): Promise<ApiKey[]> {
    return this.reader.query(LIST_ACTIVE, [accountId]);
  }

  async findOfAccount(accountId: string, id: string): Promise<ApiKey | null> {
    return this.reader.first<ApiKey>(FIND, [accountId, id]);
  }

  /** Lists active keys that this user issued or last rotated. */
  async issuedBy(tx: Tx, accountId: string, userId: string): Promise<ApiKey[]> {
    return tx.query(ISSUED_BY, [accountId, userId]);
  }

  used(tx: Tx, ids: readonly string[], hour: Date): void {
    tx.defer(USED, [ids, hour]);
  }

  insert(tx: Tx, key: ApiKey): void {
    tx.defer(INSERT, INSERT.valuesOf(key));
  }

  /**
   * @param accountId null: of any account
   * @returns the key that was active until now; null when there is none: only one of two calls at once gets it
   */
  async revoke(tx: Tx, accountId: string | null, id: string, at: Date): Promise<ApiKey | null> {
    return tx.first<ApiKey>(REVOKE, [accountId, id, at]);
  }
}
