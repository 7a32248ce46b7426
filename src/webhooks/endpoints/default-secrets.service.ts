import { Injectable } from '@nestjs/common';
import { type Actor, AuditTrail } from '../../audit/index.js';
import { Clock } from '../../core/clock.js';
import { SecretBox } from '../../core/crypto/index.js';
import { Database, type Tx } from '../../core/database/index.js';
import type { Scope } from '../../core/mode.js';
import { defaultSecretContext, SecretsRepository } from './secrets.repository.js';
import { newSecret, overlapEnd } from './secrets.js';

/** The account's own signing secret, for what goes to a transaction's `webhookUrl` (docs/contract.md#a-payments-own-webhookurl). */
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
   * Makes a new secret, also where there was none yet.
   * @param overlapSeconds for how long the secret before it signs too
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
   * Sees to it that deliveries of this scope can be signed: the secret may be needed before the merchant has ever asked
   * for it. One that exists is left alone, also when two do this at once.
   */
  ensureDefaultSecret(tx: Tx, scope: Scope): void {
    const sealed = this.secrets.seal(newSecret(), defaultSecretContext(scope.accountId, scope.mode));
    this.repository.insertDefault(tx, scope, sealed, this.clock.now());
  }
}
