import type { Account } from '../accounts/index.js';
import type { Mode } from '../core/mode.js';

/** Who calls with an API key. The account comes with the key in one query. */
export interface ApiKeyPrincipal {
  readonly keyId: string;
  readonly fingerprint: string;
  readonly accountId: string;
  readonly mode: Mode;
  readonly account: Account;
}

declare module 'fastify' {
  interface FastifyRequest {
    principal?: ApiKeyPrincipal;
  }
}

/** @throws Error when the route is not behind a guard: a mistake in the code, not of the caller */
export function principalOf(request: { principal?: ApiKeyPrincipal }): ApiKeyPrincipal {
  if (!request.principal) throw new Error('This route reads the caller but is public');
  return request.principal;
}
