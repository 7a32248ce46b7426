import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { accountSuspended, AccountsService, MembersService } from '../accounts/index.js';
import { type Actor, AuditTrail } from '../audit/index.js';
import { Clock } from '../core/clock.js';
import { Database } from '../core/database/index.js';
import { invalidRequest, notFound, type Violation } from '../core/errors/index.js';
import { newId } from '../core/ids.js';
import type { Mode } from '../core/mode.js';
import { isNetwork } from '../core/net/index.js';
import { hasControls } from '../core/text.js';
import type { ApiKey } from './api-key.entity.js';
import { keyHashOf } from './api-key-authentication.service.js';
import { ApiKeysRepository } from './api-keys.repository.js';
import { fingerprintOf, issuedApiKey } from './api-keys.serializer.js';
import type { IssuedApiKeyBody } from './dto/api-key.body.js';

const MAX_LABEL = 64;
const MAX_ALLOWED_IPS = 50;

/** Terms of a key, set when it is issued or rotated. */
export interface KeyTerms {
  readonly label: string | null;
  /** Time at which it stops working; null: no end. */
  readonly expiresAt: Date | null;
  /** Addresses and networks (CIDR) from which it works; empty: from everywhere. */
  readonly allowedIps: readonly string[];
}

/** The keys of an account: issued, rotated and revoked (docs/contract.md#api-keys). */
@Injectable()
export class ApiKeysService {
  constructor(
    private readonly database: Database,
    private readonly keys: ApiKeysRepository,
    private readonly accounts: AccountsService,
    private readonly members: MembersService,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /** @throws ApiError 400 with every violation, 404 for an unknown account */
  async issue(accountId: string, options: { mode: Mode } & Partial<KeyTerms>, actor: Actor): Promise<IssuedApiKeyBody> {
    const { mode, label = null, expiresAt = null, allowedIps = [] } = options;
    const terms = { label, expiresAt, allowedIps };
    this.#check(terms);
    await this.#assertNotSuspended(accountId);
    const { apiKey, key } = this.#newKey(accountId, mode, terms, actor);
    await this.database.transaction(async (tx) => {
      await this.members.holdKeyManager(tx, accountId, actor);
      this.keys.insert(tx, key);
      this.audit.record(tx, actor, 'api_key.issued', accountId, {
        apiKeyFingerprint: fingerprintOf(key.keyHash),
        data: { api_key_id: key.id, mode: key.mode },
      });
    });
    return issuedApiKey(key, apiKey);
  }

  /** Lists active keys, newest first. */
  list(accountId: string): Promise<ApiKey[]> {
    return this.keys.listActive(accountId);
  }

  /** Returns an active key. @throws ApiError 404 */
  async find(accountId: string, id: string): Promise<ApiKey> {
    const key = await this.keys.findOfAccount(accountId, id);
    if (!key) throw notFound('API key');
    return key;
  }

  /**
   * Ends the key and issues another of its mode in one commit. If it is rotated several times at once, one call
   * succeeds and the others find no active key.
   * @param changes fields left out keep their value
   * @throws ApiError 400 with every violation, 404 for a key that is not an active one of the account
   */
  async rotate(accountId: string, id: string, changes: Partial<KeyTerms>, actor: Actor): Promise<IssuedApiKeyBody> {
    await this.#assertNotSuspended(accountId);
    return this.database.transaction(async (tx) => {
      await this.members.holdKeyManager(tx, accountId, actor);
      const old = await this.keys.revoke(tx, accountId, id, this.clock.now());
      if (!old) throw notFound('API key');
      const { label = old.label, expiresAt = old.expiresAt, allowedIps = old.allowedIps } = changes;
      const terms = { label, expiresAt, allowedIps };
      this.#check(terms);
      const { apiKey, key } = this.#newKey(accountId, old.mode, terms, actor);
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
      return issuedApiKey(key, apiKey);
    });
  }

  /**
   * Revokes a key for good, from the commit on.
   * @param accountId null: a key of any account, for operators
   * @throws ApiError 404 for a key that is not an active one of the account
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

  /** @throws ApiError 403, 404 */
  async #assertNotSuspended(accountId: string): Promise<void> {
    if ((await this.accounts.get(accountId)).suspended) throw accountSuspended();
  }

  /** @throws ApiError 400 with every violation */
  #check({ label, expiresAt, allowedIps }: KeyTerms): void {
    const violations: Violation[] = [];
    const invalid = (param: string, message: string) => violations.push({ param, code: 'invalid', message });
    // Counts characters as people do.
    if (label !== null && [...label].length > MAX_LABEL) invalid('label', `must have at most ${MAX_LABEL} characters`);
    if (label !== null && hasControls(label)) invalid('label', 'must be on one line');
    if (expiresAt !== null && expiresAt <= this.clock.now()) {
      invalid('expires_at', 'must be in the future; null is for a key that does not end by itself');
    }
    if (allowedIps.length > MAX_ALLOWED_IPS) invalid('allowed_ips', `must have at most ${MAX_ALLOWED_IPS} entries`);
    for (const [index, entry] of allowedIps.entries()) {
      if (isNetwork(entry)) continue;
      invalid(`allowed_ips[${index}]`, 'must be an IP address or a network, as 203.0.113.7 or 203.0.113.0/24');
    }
    if (violations.length > 0) throw invalidRequest(violations);
  }

  #newKey(accountId: string, mode: Mode, terms: KeyTerms, actor: Actor): { apiKey: string; key: ApiKey } {
    const apiKey = `ak_${mode}_${randomBytes(24).toString('base64url')}`;
    const createdAt = this.clock.now();
    const prefix = apiKey.slice(0, 'ak_test_'.length + 4);
    return {
      apiKey,
      key: {
        id: newId(createdAt),
        accountId,
        mode,
        keyHash: keyHashOf(apiKey),
        prefix,
        ...terms,
        createdAt,
        issuedBy: actor.id,
        lastUsedAt: null,
      },
    };
  }
}
