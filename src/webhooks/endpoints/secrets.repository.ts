import { Injectable } from '@nestjs/common';
import { read, Reader, write, type Tx } from '../../core/database/index.js';
import type { Mode, Scope } from '../../core/mode.js';

/** Binds a sealed secret to its row. */
export function defaultSecretContext(accountId: string, mode: Mode): string {
  return `webhook_default_secret:${accountId}:${mode}`;
}

/** `owner` is the endpoint's id, null for the account's default secret. */
export interface SealedSecrets {
  readonly owner: string | null;
  readonly secretSealed: Buffer;
  readonly previousSecretSealed: Buffer | null;
}

const INSERT = write(
  'webhook_default_secrets.insert',
  `INSERT INTO webhook_default_secrets (account_id, mode, secret_sealed, created_at, updated_at)
   VALUES ($1, $2, $3, $4, $4) ON CONFLICT (account_id, mode) DO NOTHING`,
);
const ROTATE = write(
  'webhook_default_secrets.rotate',
  `INSERT INTO webhook_default_secrets AS s (account_id, mode, secret_sealed, created_at, updated_at)
   VALUES ($1, $2, $3, $5, $5)
   ON CONFLICT (account_id, mode) DO UPDATE SET previous_secret_sealed = s.secret_sealed, previous_secret_until = $4,
     secret_sealed = excluded.secret_sealed, updated_at = excluded.updated_at`,
);
const ALL = read(
  'webhook_secrets.all',
  `SELECT id AS owner, secret_sealed AS "secretSealed", previous_secret_sealed AS "previousSecretSealed" FROM webhook_endpoints
   WHERE account_id = $1 AND mode = $2 AND kind = 'registered' AND deleted_at IS NULL
   UNION ALL
   SELECT NULL, secret_sealed, previous_secret_sealed FROM webhook_default_secrets WHERE account_id = $1 AND mode = $2`,
);

/**
 * Secrets that sign webhooks: one for each endpoint, and a default one per account and mode for a transaction's own
 * `webhookUrl`.
 */
@Injectable()
export class SecretsRepository {
  constructor(private readonly reader: Reader) {}

  /**
   * All secrets that may have signed a webhook: those of every endpoint of the account and mode, and the default
   * secret.
   */
  async all(scope: Scope): Promise<SealedSecrets[]> {
    return this.reader.query(ALL, [scope.accountId, scope.mode]);
  }

  /** Does nothing when a default secret exists. */
  insertDefault(tx: Tx, scope: Scope, sealed: Buffer, now: Date): void {
    tx.defer(INSERT, [scope.accountId, scope.mode, sealed, now]);
  }

  /** @param previousUntil until when the previous secret signs too; null: it stops at once */
  rotateDefault(tx: Tx, scope: Scope, sealed: Buffer, previousUntil: Date | null, now: Date): void {
    tx.defer(ROTATE, [scope.accountId, scope.mode, sealed, previousUntil, now]);
  }
}
