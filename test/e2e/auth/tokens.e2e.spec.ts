import { createPublicKey, createSign, generateKeyPairSync, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Merchant, type Person, TestService } from '../../support/service.js';
import {
  byAnotherKey,
  type Claims,
  claimsOf,
  expired,
  forge,
  JWT_SECRET,
  unsigned,
  withoutSignature,
} from '../../support/tokens.js';

const now = (): number => Math.floor(Date.now() / 1000);

const service = TestService.forSpec({ env: { JWT_SECRET } });
let merchant: Merchant;
let stranger: Merchant;
let member: Person;
let operator: Person;
/** A token of the owner as the service gave it, and its claims. */
let token: string;
let claims: Claims;

beforeAll(async () => {
  [merchant, stranger] = [await service.merchant(), await service.merchant()];
  member = await service.member(merchant.accountId, 'MEMBER');
  operator = await service.operator();
  token = await service.login(merchant.ownerEmail);
  claims = claimsOf(token);
});

async function statusOf(authorization: string): Promise<number> {
  const answer = await service.call<{ error?: { code: string } }>('GET', '/v1/api-keys', {
    headers: { authorization },
  });
  // The answer does not say why the token was refused.
  if (answer.status === 401) expect(answer.body.error).toMatchObject({ code: 'unauthorized' });
  return answer.status;
}

function without(...names: string[]): Claims {
  return Object.fromEntries(Object.entries(claims).filter(([name]) => !names.includes(name)));
}

/** An RSA key whose public half an attacker would have, if there were one. */
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const publicPem = createPublicKey(rsa.privateKey).export({ type: 'spki', format: 'pem' }).toString();
const publicJwk = createPublicKey(rsa.privateKey).export({ format: 'jwk' });

function byRsa(header: object): string {
  const text = unsigned(claims, { alg: 'RS256', typ: 'JWT', ...header });
  return `${text}.${createSign('RSA-SHA256').update(text).sign(rsa.privateKey).toString('base64url')}`;
}

describe('a token', () => {
  it('signed by our key with our claims is accepted', async () => {
    expect(await statusOf(`Bearer ${token}`)).toBe(200);
    expect(await statusOf(`Bearer ${forge(claims)}`)).toBe(200);
    // Clocks of two of our machines may differ by this much.
    expect(await statusOf(`Bearer ${forge({ ...claims, iat: now() + 30, exp: now() + 3630 })}`)).toBe(200);
  });

  it.each<[string, () => string]>([
    ['alg none', () => withoutSignature(token)],
    ['alg None', () => `${unsigned(claims, { alg: 'None' })}.`],
    ['alg nOnE with a signature', () => forge(claims, 'nOnE')],
    ['alg none with a signature of ours', () => `${unsigned(claims, { alg: 'none' })}.${token.split('.')[2] ?? ''}`],
    ['no alg', () => `${unsigned(claims, { typ: 'JWT' })}.`],
    ['no signature', () => `${token.split('.').slice(0, 2).join('.')}.`],
    ['another key', () => byAnotherKey(token)],
    ['an empty key', () => forge(claims, 'HS256', '')],
    ['HS384 with our key', () => forge(claims, 'HS384')],
    ['HS512 with our key', () => forge(claims, 'HS512')],
    ['RS256', () => byRsa({})],
    ['RS256 with its key in the header', () => byRsa({ jwk: publicJwk })],
    ['RS256 with its key elsewhere', () => byRsa({ jku: 'https://attacker.example/keys', kid: '1' })],
    ['HS256 with a public key as the secret', () => forge(claims, 'HS256', publicPem)],
    ['a key named by the token', () => forge(claims, 'HS256', '', { kid: '/dev/null' })],
    ['claims that were changed', () => changed({ role: 'OWNER' })],
    ['a signature cut short', () => token.slice(0, -1)],
    ['a signature that goes on', () => `${token}AAAA`],
    ['four parts', () => `${token}.AAAA`],
    ['claims that are no object', () => forge([] as unknown as Claims)],
    ['claims that are no JSON', () => `${token.split('.')[0]}.AAAA.${token.split('.')[2]}`],
  ])('with %s is refused', async (_name, make) => {
    expect(await statusOf(`Bearer ${make()}`)).toBe(401);
  });

  it.each<[string, () => Claims]>([
    ['that has expired', () => claimsOf(expired(token))],
    ['that expires now', () => ({ ...claims, iat: now() - 3600, exp: now() })],
    ['that lives longer than we give', () => ({ ...claims, exp: Number(claims['iat']) + 3601 })],
    ['that never expires', () => without('exp')],
    ['with an expiry in words', () => ({ ...claims, exp: 'tomorrow' })],
    ['from the future', () => ({ ...claims, iat: now() + 120, exp: now() + 3720 })],
    ['of no known age', () => without('iat')],
    ['with an age in words', () => ({ ...claims, iat: 'now' })],
    ['that is not valid yet', () => ({ ...claims, nbf: now() + 120 })],
    ['of nobody', () => without('sub')],
    ['of a user that is none', () => ({ ...claims, sub: randomUUID() })],
    ['of a user by e-mail', () => ({ ...claims, sub: merchant.ownerEmail })],
    ['that we did not give', () => ({ ...claims, jti: randomUUID() })],
    ['without an id', () => without('jti')],
    ['with an id that is none', () => ({ ...claims, jti: 'x' })],
    ['without an account', () => without('account_id')],
    ['with no account, of a member', () => ({ ...claims, account_id: null, role: 'OPERATOR' })],
    ['of another account', () => ({ ...claims, account_id: stranger.accountId })],
    ['of an operator for an account', () => ({ ...claims, sub: operator.userId })],
    ['without a role', () => without('role')],
    ['with a role that is none', () => ({ ...claims, role: 'ROOT' })],
    ['with an operator’s role in an account', () => ({ ...claims, role: 'OPERATOR' })],
    ['of another issuer', () => ({ ...claims, iss: 'recebe2' })],
    ['of no issuer', () => without('iss')],
    ['for somebody else', () => ({ ...claims, aud: 'recebe-api' })],
    ['for nobody', () => without('aud')],
  ])('%s is refused, although our key signed it', async (_name, make) => {
    expect(await statusOf(`Bearer ${forge(make())}`)).toBe(401);
  });

  it.each<[string, () => string]>([
    ['alone', () => token],
    ['under another scheme', () => `Basic ${token}`],
    ['without a space', () => `Bearer${token}`],
    ['twice', () => `Bearer ${token}, Bearer ${token}`],
    ['in quotes', () => `Bearer "${token}"`],
    ['as nothing', () => 'Bearer '],
    ['as a key', () => `Bearer ${merchant.testKey}`],
  ])('sent %s is refused', async (_name, header) => {
    expect(await statusOf(header())).toBe(401);
  });

  it('is read from its header only', async () => {
    const elsewhere = await service.call('GET', `/v1/api-keys?access_token=${token}`, {
      key: token,
      headers: { cookie: `token=${token}` },
    });
    expect(elsewhere.status).toBe(401);
    // An API key counts neither beside a token nor in its place.
    expect((await service.call('GET', '/v1/api-keys', { key: merchant.testKey })).status).toBe(401);
    expect((await service.call('GET', '/v1/wallets', { token })).status).toBe(401);
    expect((await service.call('GET', '/v1/wallets', { token, key: merchant.testKey })).status).toBe(200);
  });

  it('may name any role, but only the current role of the user counts', async () => {
    const forged = forge({ ...claimsOf(member.token), role: 'OWNER' });
    const answer = await service.call<{ access: object }>('GET', '/v1/api-keys', { token: forged });
    expect(answer.body.access).toEqual({ canManage: false });
    expect((await service.call('GET', '/v1/members', { token: forged })).status).toBe(403);
  });

  it('is refused after its expiry, by the clock of the service', async () => {
    service.clock.advance(3590);
    expect(await statusOf(`Bearer ${token}`)).toBe(200);
    service.clock.advance(11);
    expect(await statusOf(`Bearer ${token}`)).toBe(401);
    service.clock.offsetMs = 0;
  });

  /** Raises the claims of a MEMBER's token under its old signature. */
  function changed(change: Claims): string {
    const [header = '', , signature = ''] = member.token.split('.');
    const payload = Buffer.from(JSON.stringify({ ...claimsOf(member.token), ...change })).toString('base64url');
    return `${header}.${payload}.${signature}`;
  }
});
