import { Injectable } from '@nestjs/common';
import { Reader, read } from '../../core/database/index.js';
import type { Scope } from '../../core/mode.js';

/** `owner` is the endpoint's id, null for the account's default secret. */
export interface SealedSecrets {
  readonly owner: string | null;
  readonly secretSealed: Buffer;
  readonly previousSecretSealed: Buffer | null;
}

const SECRETS = read(
  'webhook_verification.secrets',
  `SELECT id AS owner, secret_sealed AS "secretSealed", previous_secret_sealed AS "previousSecretSealed" FROM webhook_endpoints
   WHERE account_id = $1 AND mode = $2 AND kind = 'registered' AND deleted_at IS NULL
   UNION ALL
   SELECT NULL, secret_sealed, previous_secret_sealed FROM webhook_default_secrets WHERE account_id = $1 AND mode = $2`,
);

/** The secrets that a received webhook may be signed with. */
@Injectable()
export class VerificationRepository {
  constructor(private readonly reader: Reader) {}

  /** Of every endpoint of the account in this mode, and its default ones. */
  async secrets(scope: Scope): Promise<SealedSecrets[]> {
    return this.reader.query(SECRETS, [scope.accountId, scope.mode]);
  }
}
