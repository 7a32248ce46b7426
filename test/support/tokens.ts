import { createHmac } from 'node:crypto';

/** For services of the tests: `env: { JWT_SECRET }`. */
export const JWT_SECRET = 'a secret of the tests, long enough';

export type Claims = Record<string, unknown>;

const HASHES: Readonly<Record<string, string>> = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' };

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export function claimsOf(token: string): Claims {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Claims;
}

/** `header.payload`, for who signs in a way of their own. */
export function unsigned(claims: Claims, header: object): string {
  return `${encode(header)}.${encode(claims)}`;
}

/** A token as anybody could write it, without the library that the service has. */
export function forge(claims: Claims, alg = 'HS256', secret: string | Buffer = JWT_SECRET, header = {}): string {
  const text = unsigned(claims, { alg, typ: 'JWT', ...header });
  const hash = HASHES[alg] ?? 'sha256';
  return `${text}.${createHmac(hash, secret).update(text).digest('base64url')}`;
}

/** A token with these claims, issued an hour and a second ago. */
export function expired(token: string): string {
  const claims = claimsOf(token);
  const iat = Math.floor(Date.now() / 1000) - 3601;
  return forge({ ...claims, iat, exp: iat + 3600 });
}

/** `alg: none`, as libraries once accepted it. */
export function withoutSignature(token: string): string {
  return `${unsigned(claimsOf(token), { alg: 'none', typ: 'JWT' })}.`;
}

export function byAnotherKey(token: string): string {
  return forge(claimsOf(token), 'HS256', 'another secret that is long enough');
}
