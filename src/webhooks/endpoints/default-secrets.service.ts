import { Injectable } from '@nestjs/common';
import { type Actor, AuditTrail } from '../../audit/index.js';
import { Clock } from '../../core/clock.js';
import { SecretBox } from '../../core/crypto/index.js';
import { Database, type Tx } from '../../core/database/index.js';
import type { Scope } from '../../core/mode.js';
import { defaultSecretContext, SecretsRepository } from './secrets.repository.js';
import { newSecret, overlapEnd } from './secrets.js';

/**
 * The account's default signing secret, which signs webhooks to a transaction's `webhookUrl`
 * (docs/contract.md#a-payments-own-webhookurl).
 */
@Injectable()
export class DefaultSecretsService {
  constructor(
    private readonly database: Database,
    private readonly repository: SecretsRepository,
    private readonly secrets: SecretBox,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /**
   * Makes a new secret, even if the account had none yet.
   * @param overlapSeconds how long the previous secret signs too
   * @returns the secret (64 hex characters), which cannot be read again
   */
  async rotate(scope: Scope, overlapSeconds: number, actor: Actor): Promise<string> {
    const secret = newSecret();
    const sealed = this.secrets.seal(secret, defaultSecretContext(scope.accountId, scope.mode));
    const now = this.clock.now();
    await this.database.transaction(async (tx) => {
      this.repository.rotateDefault(tx, scope, sealed, overlapEnd(now, overlapSeconds), now);
      this.audit.record(tx, actor, 'default_secret.rotated', scope.accountId, { data: { mode: scope.mode } });
    });
    return secret;
  }

  /**
   * Inserts a default secret if the scope has none: a delivery may need it before the merchant asks for it. An existing
   * secret stays, even when two calls run at once.
   */
  ensureDefaultSecret(tx: Tx, scope: Scope): void {
    const sealed = this.secrets.seal(newSecret(), defaultSecretContext(scope.accountId, scope.mode));
    this.repository.insertDefault(tx, scope, sealed, this.clock.now());
  }
}
