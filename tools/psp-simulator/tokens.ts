import { randomBytes } from 'node:crypto';
import { type Bank } from './bank.js';
import { type Merchant } from './model.js';

export interface Grant {
  readonly merchant: Merchant;
  readonly scopes: readonly string[];
  readonly expiresAt: number;
}

type TokenAnswer = { readonly status: number; readonly body: Readonly<Record<string, string | number>> };

/** OAuth 2.0 client credentials (RFC 6749 §4.4), credentials by HTTP Basic or in the body, as form or JSON. */
export class Tokens {
  readonly #grants = new Map<string, Grant>();

  constructor(
    private readonly bank: Bank,
    private readonly settings: { readonly tokenSeconds: number },
    private readonly now: () => Date,
  ) {}

  grant(authorization: string | undefined, contentType: string | undefined, body: string): TokenAnswer {
    const fields = readFields(contentType, body);
    if (!fields) return refused(400, 'invalid_request');
    const [id, secret] = readBasic(authorization) ?? [fields['client_id'] ?? '', fields['client_secret'] ?? ''];
    const merchant = this.bank.merchant(id);
    if (!merchant || merchant.clientSecret !== secret) return refused(401, 'invalid_client');
    if (fields['grant_type'] !== 'client_credentials') return refused(400, 'unsupported_grant_type');
    const asked = (fields['scope'] ?? '').split(' ').filter((scope) => scope !== '');
    const allowed: readonly string[] = merchant.scopes;
    const scopes = asked.length === 0 ? allowed : asked;
    if (!scopes.every((scope) => allowed.includes(scope))) return refused(400, 'invalid_scope');
    const token = randomBytes(24).toString('base64url');
    const { tokenSeconds } = this.settings;
    this.#grants.set(token, { merchant, scopes, expiresAt: this.now().getTime() + tokenSeconds * 1_000 });
    return {
      status: 200,
      body: { access_token: token, token_type: 'Bearer', expires_in: tokenSeconds, scope: scopes.join(' ') },
    };
  }

  /** Null for an unknown or expired token. */
  check(authorization: string | undefined): Grant | null {
    const token = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
    const grant = this.#grants.get(token);
    if (!grant) return null;
    if (grant.expiresAt > this.now().getTime()) return grant;
    this.#grants.delete(token);
    return null;
  }

  expireAll(): void {
    this.#grants.clear();
  }
}

function refused(status: number, error: string): TokenAnswer {
  return { status, body: { error } };
}

function readFields(contentType: string | undefined, body: string): Partial<Record<string, string>> | null {
  if (!/^application\/json\b/i.test(contentType ?? '')) return Object.fromEntries(new URLSearchParams(body));
  try {
    const fields: unknown = JSON.parse(body);
    if (typeof fields !== 'object' || fields === null) return null;
    return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));
  } catch {
    return null;
  }
}

/** Client id and secret are form-encoded before they are joined (RFC 6749 §2.3.1). */
function readBasic(authorization: string | undefined): [string, string] | null {
  const encoded = /^Basic (\S+)$/i.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return null;
  const [, id = '', secret = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? [];
  return [formDecoded(id), formDecoded(secret)];
}

function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
