import { Injectable } from '@nestjs/common';
import type { ApiError } from '../core/errors/index.js';
import type { ApiKeyPrincipal } from './principal.js';

/** A valid API key with its holder, who may be refused all the same. */
export interface KnownApiKey {
  readonly principal: ApiKeyPrincipal;
  /** Why it is not let in: 401 `api_key_expired`, 403 `ip_not_allowed`, 403 `account_suspended`; null when it is. */
  readonly refusal: ApiError | null;
}

/**
 * @param address of the caller
 * @returns null for a key that is unknown, malformed or revoked
 */
export type ApiKeyAuthenticator = (key: string, address: string) => Promise<KnownApiKey | null>;

/** Where the api-keys module says how a key is looked up: so that auth need not import it. */
@Injectable()
export class Authenticators {
  #apiKey: ApiKeyAuthenticator = () => Promise.reject(new Error('No API key authenticator is registered'));

  registerApiKey(authenticator: ApiKeyAuthenticator): void {
    this.#apiKey = authenticator;
  }

  apiKey(key: string, address: string): Promise<KnownApiKey | null> {
    return this.#apiKey(key, address);
  }
}
