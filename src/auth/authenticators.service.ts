import { Injectable } from '@nestjs/common';
import type { ApiKeyPrincipal } from './principal.js';

/** @returns null for a key that is unknown, malformed or revoked */
export type ApiKeyAuthenticator = (key: string) => Promise<ApiKeyPrincipal | null>;

/** Where the api-keys module says how a key is looked up: so that auth need not import it. */
@Injectable()
export class Authenticators {
  #apiKey: ApiKeyAuthenticator = () => Promise.reject(new Error('No API key authenticator is registered'));

  registerApiKey(authenticator: ApiKeyAuthenticator): void {
    this.#apiKey = authenticator;
  }

  apiKey(key: string): Promise<ApiKeyPrincipal | null> {
    return this.#apiKey(key);
  }
}
