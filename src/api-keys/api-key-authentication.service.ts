import { createHash } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Account, accountSuspended } from '../accounts/index.js';
import { Authenticators, type KnownApiKey } from '../auth/index.js';
import { Clock, hourOf } from '../core/clock.js';
import { Database } from '../core/database/index.js';
import { ApiError, forbidden } from '../core/errors/index.js';
import { isWithin } from '../core/net/index.js';
import { Poller } from '../core/queue/index.js';
import { ApiKeysRepository } from './api-keys.repository.js';
import { fingerprintOf } from './api-keys.serializer.js';

const FORMAT = /^ak_(test|live)_[A-Za-z0-9_-]{32}$/;
const USED_MS = 10_000;

/**
 * Finds the account and mode of a key, and records when the key was used. `AuthGuard` in auth/guards.ts calls this
 * class through `Authenticators` with the key of the header `apikey`. The guard stores the result in
 * `request.principal`.
 *
 * Handlers read it by a parameter decorator of auth/access.decorators.ts: `@CurrentScope` gives account id and mode,
 * and `@CurrentCaller` also the account's settings.
 */
@Injectable()
export class ApiKeyAuthentication implements OnModuleInit {
  /** Ids of keys whose use in this hour is not recorded yet. */
  readonly #used = new Set<string>();

  constructor(
    private readonly database: Database,
    private readonly keys: ApiKeysRepository,
    private readonly authenticators: Authenticators,
    private readonly poller: Poller,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.authenticators.registerApiKey((key, address) => this.authenticate(key, address));
    this.poller.every('api_keys.used', USED_MS, () => this.recordUse());
  }

  /**
   * Reads the key from the database at every request, so that a revoked key stops working at once, in every process.
   * Rotating a key revokes it and issues another. Account and mode are those that the key was issued for.
   * @param address of the caller; behind a proxy, the address that `TRUST_PROXY` allows to believe
   * @returns null, which becomes a 401, if the text has not the form of a key, no key has its hash, or the key is
   *   revoked. `refusal` is set if a known key is refused. Checks in this order: 401 `api_key_expired`, 403
   *   `ip_not_allowed`, 403 `account_suspended`
   */
  async authenticate(key: string, address: string): Promise<KnownApiKey | null> {
    if (!FORMAT.test(key)) return null;
    const keyHash = keyHashOf(key);
    const found = await this.keys.findActive(keyHash);
    if (!found) return null;
    const now = this.clock.now();
    const refusal = refusalOf(found, address, now);
    if (refusal === null && (found.lastUsedAt?.getTime() ?? 0) < hourOf(now).getTime()) this.#used.add(found.keyId);
    const principal = {
      kind: 'api-key',
      keyId: found.keyId,
      fingerprint: fingerprintOf(keyHash),
      issuedBy: found.issuedBy,
      accountId: found.account.id,
      mode: found.mode,
      account: found.account,
    } as const;
    return { principal, refusal };
  }

  /** Records which keys were used, to the hour. A single statement writes all of them, outside of the requests. */
  async recordUse(): Promise<void> {
    if (this.#used.size === 0) return;
    const ids = [...this.#used];
    const hour = hourOf(this.clock.now());
    await this.database.transaction(async (tx) => this.keys.used(tx, ids, hour));
    for (const id of ids) this.#used.delete(id);
  }
}

/** These messages are for callers who have the whole key: a guess learns nothing. */
function refusalOf(
  key: { expiresAt: Date | null; allowedIps: readonly string[]; account: Pick<Account, 'suspended'> },
  address: string,
  now: Date,
): ApiError | null {
  const { expiresAt, allowedIps, account } = key;
  if (expiresAt !== null && now >= expiresAt) {
    const message = `This API key ended at ${expiresAt.toISOString()}. Issue or rotate one in the dashboard or by POST /v1/api-keys.`;
    return new ApiError(401, 'authentication_error', 'api_key_expired', message);
  }
  if (allowedIps.length > 0 && !isWithin(allowedIps, address)) {
    return forbidden(
      `This API key does not work from ${address}: the address is not in its allowed_ips.`,
      'ip_not_allowed',
    );
  }
  return account.suspended ? accountSuspended() : null;
}

/** Keys have 192 bits of entropy, so a plain SHA-256 is what is stored: nothing to guess, and one indexed look-up to find. */
export function keyHashOf(key: string): Buffer {
  return createHash('sha256').update(key, 'utf8').digest();
}
