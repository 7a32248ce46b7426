import { createHash, randomBytes } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AccountsService } from '../accounts/index.js';
import { type ApiKeyPrincipal, Authenticators } from '../auth/index.js';
import { Clock } from '../core/clock.js';
import { Database } from '../core/database/index.js';
import { invalidRequest } from '../core/errors/index.js';
import { newId } from '../core/ids.js';
import type { Mode } from '../core/mode.js';
import { ApiKeysRepository } from './api-keys.repository.js';

const FORMAT = /^ak_(test|live)_[A-Za-z0-9_-]{32}$/;

/** The contract's API key object; `apiKey` is the cleartext, which exists only in this answer. */
export interface IssuedApiKey {
  id: string;
  apiKey: string;
  fingerprint: string;
  prefix: string;
  label: string | null;
  createdAt: string;
  mode: Mode;
}

/**
 * Keys have 192 bits of entropy, so a plain SHA-256 is what is stored: nothing to guess, and one indexed look-up to
 * find (decisions §5.3).
 */
@Injectable()
export class ApiKeysService implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly keys: ApiKeysRepository,
    private readonly accounts: AccountsService,
    private readonly authenticators: Authenticators,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.authenticators.registerApiKey((key) => this.authenticate(key));
  }

  /** @throws ApiError 400 for a label over 64 characters, 404 for an unknown account */
  async issue(accountId: string, options: { mode: Mode; label: string | null }): Promise<IssuedApiKey> {
    if (options.label !== null && (options.label.length > 64 || options.label.trim() === '')) {
      throw invalidRequest([{ param: 'label', code: 'invalid', message: 'must have 1 to 64 characters' }]);
    }
    await this.accounts.get(accountId);
    const apiKey = `ak_${options.mode}_${randomBytes(24).toString('base64url')}`;
    const keyHash = hashOf(apiKey);
    const createdAt = this.clock.now();
    const id = newId(createdAt);
    const prefix = apiKey.slice(0, 'ak_test_'.length + 4);
    await this.database.transaction(async (tx) => {
      this.keys.insert(tx, { id, accountId, mode: options.mode, keyHash, prefix, label: options.label, createdAt });
    });
    return {
      id,
      apiKey,
      fingerprint: fingerprintOfHash(keyHash),
      prefix,
      label: options.label,
      createdAt: createdAt.toISOString(),
      mode: options.mode,
    };
  }

  /** Asks the database at every request: a revoked key stops working at once, in every process. */
  async authenticate(key: string): Promise<ApiKeyPrincipal | null> {
    if (!FORMAT.test(key)) return null;
    const keyHash = hashOf(key);
    const found = await this.keys.findActive(keyHash);
    if (!found) return null;
    return {
      keyId: found.keyId,
      fingerprint: fingerprintOfHash(keyHash),
      accountId: found.account.id,
      mode: found.mode,
      account: found.account,
    };
  }
}

function hashOf(key: string): Buffer {
  return createHash('sha256').update(key, 'utf8').digest();
}

function fingerprintOfHash(hash: Buffer): string {
  return `sha256:${hash.toString('hex').slice(0, 16)}`;
}
