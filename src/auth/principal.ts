import type { Account, Role } from '../accounts/index.js';
import type { Actor, Origin } from '../audit/index.js';
import { addressOf } from '../core/http/index.js';
import type { Mode } from '../core/mode.js';

/** The caller of a route of API keys: every query of the request is restricted to its account and mode. */
export interface ScopedCaller {
  readonly accountId: string;
  readonly mode: Mode;
  readonly account: Account;
}

/** A caller with an API key. The account comes with the key in one query. */
export interface ApiKeyPrincipal extends ScopedCaller {
  readonly kind: 'api-key';
  readonly keyId: string;
  readonly fingerprint: string;
  /** The person who issued or last rotated the key; null if nobody knows. */
  readonly issuedBy: string | null;
}

/** A person logged in to the dashboard of an account. The role is the current one, not that of the login. */
export interface MemberPrincipal {
  readonly kind: 'member';
  readonly userId: string;
  readonly accountId: string;
  readonly role: Role;
  readonly sessionId: string;
  /** Whether the member's login needs a one-time code. */
  readonly hasSecondFactor: boolean;
  /** Mode and account of a request through the dashboard's door; null for other requests. */
  readonly door: { readonly mode: Mode; readonly account: Account } | null;
}

/** Platform staff: a user without an account (docs/contract.md#roles). */
export interface OperatorPrincipal {
  readonly kind: 'operator';
  readonly userId: string;
  readonly role: 'OPERATOR';
  readonly sessionId: string;
  /** Whether the operator's login needs a one-time code. */
  readonly hasSecondFactor: boolean;
}

export type UserPrincipal = MemberPrincipal | OperatorPrincipal;
export type Principal = ApiKeyPrincipal | UserPrincipal;
export type DashboardRole = UserPrincipal['role'];

declare module 'express-serve-static-core' {
  interface Request {
    principal?: Principal;
  }
}

/** The parts of a request that the functions below read; Express’s Request has them. */
export interface CallerRequest {
  readonly principal?: Principal;
  /** Undefined once the connection is gone. */
  readonly ip?: string | undefined;
  readonly id: string;
}

/** @throws Error when no guard restricts the route to such callers: a mistake in the code */
export function principalOf<K extends Principal['kind']>(
  request: Pick<CallerRequest, 'principal'>,
  ...kinds: K[]
): Extract<Principal, { kind: K }> {
  const { principal } = request;
  if (!principal || !(kinds as string[]).includes(principal.kind)) {
    throw new Error(`This route reads the caller as ${kinds.join(' or ')} but lets others in`);
  }
  return principal as Extract<Principal, { kind: K }>;
}

/** @throws Error as `principalOf` */
export function scopedCallerOf(request: Pick<CallerRequest, 'principal'>): ScopedCaller {
  const principal = principalOf(request, 'api-key', 'member');
  if (principal.kind === 'api-key') return principal;
  if (principal.door === null) throw new Error('This route reads account and mode but is no route of keys');
  return { accountId: principal.accountId, ...principal.door };
}

/** Returns the mode of the caller; null where the request has none. */
export function modeOf(principal: Principal): Mode | null {
  if (principal.kind === 'api-key') return principal.mode;
  return principal.kind === 'member' ? (principal.door?.mode ?? null) : null;
}

export function originOf(request: CallerRequest): Origin {
  return { ip: request.ip === undefined ? null : addressOf(request), requestId: request.id };
}

/** Returns the caller in the form of the audit trail. */
export function actorOf(request: CallerRequest): Actor {
  const principal = principalOf(request, 'member', 'operator', 'api-key');
  if (principal.kind !== 'api-key') return { type: principal.kind, id: principal.userId, ...originOf(request) };
  return { type: 'api_key', id: null, apiKeyFingerprint: principal.fingerprint, ...originOf(request) };
}

/** Returns the bucket that limits a request: one for each person, and one for all API keys of an account and mode. */
export function bucketOf(principal: Principal): string {
  if (principal.kind === 'api-key') return `account:${principal.accountId}:${principal.mode}`;
  return `person:${principal.userId}`;
}
