import { Injectable } from '@nestjs/common';
import { write, type Tx } from '../../core/database/index.js';
import type { Mode, Scope } from '../../core/mode.js';

/** Binds a sealed secret to its row. */
export function defaultSecretContext(accountId: string, mode: Mode): string {
  return `webhook_default_secret:${accountId}:${mode}`;
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

/** Secrets that sign what goes to a transaction's own `webhookUrl`: one for each account and mode. */
@Injectable()
export class DefaultSecretsRepository {
  /** Nothing when there is one. */
  insert(tx: Tx, scope: Scope, sealed: Buffer, now: Date): void {
    tx.defer(INSERT, [scope.accountId, scope.mode, sealed, now]);
  }

  /** @param previousUntil until when the secret before this one signs too; null: it stops at once */
  rotate(tx: Tx, scope: Scope, sealed: Buffer, previousUntil: Date | null, now: Date): void {
    tx.defer(ROTATE, [scope.accountId, scope.mode, sealed, previousUntil, now]);
  }
}
