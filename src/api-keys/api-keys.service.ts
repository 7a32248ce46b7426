import { createHash, randomBytes } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AccountsService } from '../accounts/index.js';
import { type Actor, AuditTrail } from '../audit/index.js';
import { type ApiKeyPrincipal, Authenticators } from '../auth/index.js';
import { Clock } from '../core/clock.js';
import { Database } from '../core/database/index.js';
import { invalidRequest, notFound } from '../core/errors/index.js';
import { newId } from '../core/ids.js';
import type { Mode } from '../core/mode.js';
import type { ApiKey } from './api-key.entity.js';
import { ApiKeysRepository } from './api-keys.repository.js';
import { issuedApiKey } from './api-keys.serializer.js';
import type { IssuedApiKeyBody } from './dto/api-key.body.js';

const FORMAT = /^ak_(test|live)_[A-Za-z0-9_-]{32}$/;
const MAX_LABEL = 64;

/**
 * Keys have 192 bits of entropy, so a plain SHA-256 is what is stored: nothing to guess, and one indexed look-up to
 * find (docs/contract.md#api-keys).
 */
@Injectable()
export class ApiKeysService implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly keys: ApiKeysRepository,
    private readonly accounts: AccountsService,
    private readonly authenticators: Authenticators,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.authenticators.registerApiKey((key) => this.authenticate(key));
  }

  /** @throws ApiError 400 for a label over 64 characters, 404 for an unknown account */
  async issue(
    accountId: string,
    options: { mode: Mode; label: string | null },
    actor: Actor,
  ): Promise<IssuedApiKeyBody> {
    checkLabel(options.label);
    await this.accounts.get(accountId);
    const { apiKey, key } = this.#newKey(accountId, options.mode, options.label);
    await this.database.transaction(async (tx) => {
      this.keys.insert(tx, key);
      this.audit.record(tx, actor, 'api_key.issued', accountId, {
        apiKeyFingerprint: fingerprintOf(key.keyHash),
        data: { api_key_id: key.id, mode: key.mode },
      });
    });
    return issuedApiKey(key, apiKey, fingerprintOf(key.keyHash));
  }

  /** The keys that work, newest first. */
  list(accountId: string): Promise<ApiKey[]> {
    return this.keys.listActive(accountId);
  }

  /**
   * Ends the key and gives another of its mode in one commit: of many rotations at once one succeeds, the others find
   * no live key.
   * @param label undefined keeps the old one
   * @throws ApiError 400 for a label over 64 characters, 404 for a key that is not a live one of the account
   */
  async rotate(accountId: string, id: string, label: string | undefined, actor: Actor): Promise<IssuedApiKeyBody> {
    checkLabel(label ?? null);
    return this.database.transaction(async (tx) => {
      const old = await this.keys.revoke(tx, accountId, id, this.clock.now());
      if (!old) throw notFound('API key');
      const { apiKey, key } = this.#newKey(accountId, old.mode, label ?? old.label);
      this.keys.insert(tx, key);
      this.audit.record(tx, actor, 'api_key.rotated', accountId, {
        apiKeyFingerprint: fingerprintOf(key.keyHash),
        data: {
          api_key_id: key.id,
          mode: key.mode,
          replaced_api_key_id: old.id,
          replaced_fingerprint: fingerprintOf(old.keyHash),
        },
      });
      return issuedApiKey(key, apiKey, fingerprintOf(key.keyHash));
    });
  }

  /**
   * For ever, from the commit on.
   * @param accountId null: a key of any account, for operators
   * @throws ApiError 404 for a key that is not a live one of the account
   */
  async revoke(accountId: string | null, id: string, actor: Actor): Promise<{ accountId: string }> {
    return this.database.transaction(async (tx) => {
      const key = await this.keys.revoke(tx, accountId, id, this.clock.now());
      if (!key) throw notFound('API key');
      this.audit.record(tx, actor, 'api_key.revoked', key.accountId, {
        apiKeyFingerprint: fingerprintOf(key.keyHash),
        data: { api_key_id: key.id, mode: key.mode },
      });
      return { accountId: key.accountId };
    });
  }

  /** Asks the database at every request: a revoked key stops working at once, in every process. */
  async authenticate(key: string): Promise<ApiKeyPrincipal | null> {
    if (!FORMAT.test(key)) return null;
    const keyHash = hashOf(key);
    const found = await this.keys.findActive(keyHash);
    if (!found) return null;
    return {
      kind: 'api-key',
      keyId: found.keyId,
      fingerprint: fingerprintOf(keyHash),
      accountId: found.account.id,
      mode: found.mode,
      account: found.account,
    };
  }

  #newKey(accountId: string, mode: Mode, label: string | null): { apiKey: string; key: ApiKey } {
    const apiKey = `ak_${mode}_${randomBytes(24).toString('base64url')}`;
    const createdAt = this.clock.now();
    const prefix = apiKey.slice(0, 'ak_test_'.length + 4);
    return {
      apiKey,
      key: { id: newId(createdAt), accountId, mode, keyHash: hashOf(apiKey), prefix, label, createdAt },
    };
  }
}

/** In characters as people count them. */
function checkLabel(label: string | null): void {
  if (label !== null && [...label].length > MAX_LABEL) {
    throw invalidRequest([{ param: 'label', code: 'invalid', message: `must have at most ${MAX_LABEL} characters` }]);
  }
}

function hashOf(key: string): Buffer {
  return createHash('sha256').update(key, 'utf8').digest();
}

function fingerprintOf(hash: Buffer): string {
  return `sha256:${hash.toString('hex').slice(0, 16)}`;
}
