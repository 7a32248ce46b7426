import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Secret, TOTP } from 'otpauth';
import { SecondFactor } from '../../../src/accounts/index.js';
import { CLI } from '../../../src/audit/index.js';
import { describeWith } from '../../support/needs.js';
import { startRedis } from '../../support/redis.js';
import { type Answer, type Merchant, PASSWORD, type Person, TestClock, TestService } from '../../support/service.js';
import { claimsOf, JWT_SECRET } from '../../support/tokens.js';

interface Body extends Record<string, unknown> {
  access_token: string;
  secret: string;
  uri: string;
  recovery_codes: string[];
  data: Record<string, unknown>[];
  error: { code: string; param?: string };
}

const NEXT = 'another good password';

const service = TestService.forSpec({ env: { JWT_SECRET } });
let merchant: Merchant;

beforeAll(async () => {
  merchant = await service.merchant();
});

function ask(method: string, path: string, token?: string, body?: object, at = service): Promise<Answer<Body>> {
  return at.call<Body>(method, `/v1/auth/${path}`, { ...(token && { token }), ...(body && { body }) });
}
function login(email: string, password: string, code?: string, at = service): Promise<Answer<Body>> {
  return ask('POST', 'login', undefined, { email, password, ...(code !== undefined && { code }) }, at);
}
const said = ({ status, body }: Answer<Body>): string =>
  status < 300 ? String(status) : `${status} ${body.error.code}${body.error.param ? ` ${body.error.param}` : ''}`;
const isIn = async (token: string): Promise<boolean> => (await ask('GET', 'sessions', token)).status === 200;

/** Returns the code that an authenticator app shows at the time of the service. */
function codeOf(secret: string, at = service): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: at.clock.now().getTime() });
}
async function withFactor(person: Person, at = service): Promise<{ secret: string; recovery: string[] }> {
  const { secret } = (await ask('POST', 'totp', person.token, { password: PASSWORD }, at)).body;
  const confirmed = await ask('POST', 'totp/confirm', person.token, { code: codeOf(secret, at) }, at);
  expect(confirmed.status).toBe(200);
  at.clock.advance(30);
  return { secret, recovery: confirmed.body.recovery_codes };
}

describe('a person', () => {
  it('is invited, chooses a password, sets a second factor, forgets the password, ends sessions, and is removed', async () => {
    const owner = await service.login(merchant.ownerEmail);
    const email = `ana-${randomUUID()}@example.com`;
    const invited = await service.call('POST', '/v1/members', {
      token: owner,
      body: { email, name: 'Ana Souza', role: 'ADMIN' },
    });
    expect(invited.status).toBe(201);
    const invitation = await service.mailedToken(email);
    expect((await ask('POST', 'accept-invitation', undefined, { token: invitation, password: PASSWORD })).status).toBe(
      204,
    );
    const first = (await login(email, PASSWORD)).body.access_token;

    // A stolen token alone must not set a factor that locks its owner out.
    expect(said(await ask('POST', 'totp', first, { password: 'stolen token' }))).toBe('400 invalid_request password');
    const begun = (await ask('POST', 'totp', first, { password: PASSWORD })).body;
    expect(begun.uri).toBe(
      `otpauth://totp/Recebe:${encodeURIComponent(email)}?issuer=Recebe&secret=${begun.secret}&algorithm=SHA1&digits=6&period=30`,
    );
    const other = await login(email, PASSWORD);
    expect(other.status).toBe(200); // not before it is confirmed
    const confirmed = await ask('POST', 'totp/confirm', first, { code: codeOf(begun.secret) });
    expect(confirmed.body.recovery_codes).toHaveLength(10);
    expect([await isIn(first), await isIn(other.body.access_token)]).toEqual([true, false]);
    expect(await service.mailTo(email)).toContain('Second factor set');
    expect(said(await login(email, PASSWORD))).toBe('401 totp_required');
    service.clock.advance(30);
    const second = await login(email, PASSWORD, codeOf(begun.secret));
    expect(second.status).toBe(200);

    expect(said(await ask('POST', 'forgot-password', undefined, { email: email.toUpperCase() }))).toBe('204');
    const reset = await service.mailedToken(email);
    expect(said(await ask('POST', 'reset-password', undefined, { token: reset, password: 'short' }))).toBe(
      '400 invalid_request password',
    );
    expect(said(await ask('POST', 'reset-password', undefined, { token: reset, password: NEXT }))).toBe('204');
    expect(said(await ask('POST', 'reset-password', undefined, { token: reset, password: PASSWORD }))).toBe(
      '400 invalid_request token',
    );
    expect(await service.mailTo(email)).toContain('Password changed');
    expect([await isIn(first), await isIn(second.body.access_token)]).toEqual([false, false]);
    // Access to the mailbox alone lets nobody in.
    expect(said(await login(email, NEXT))).toBe('401 totp_required');
    service.clock.advance(30);
    const here = (await login(email, NEXT, codeOf(begun.secret))).body.access_token;
    const there = (await login(email, NEXT, confirmed.body.recovery_codes[0])).body.access_token;

    const { data } = (await ask('GET', 'sessions', here)).body;
    expect(data.map(({ id, current }) => ({ id, current }))).toEqual([
      { id: claimsOf(there)['jti'], current: false },
      { id: claimsOf(here)['jti'], current: true },
    ]);
    expect(data[1]).toStrictEqual({
      id: claimsOf(here)['jti'],
      object: 'session',
      current: true,
      created_at: expect.stringMatching(/Z$/),
      last_used_at: expect.stringMatching(/:00:00\.000Z$/),
      expires_at: expect.stringMatching(/Z$/),
      ip: '127.0.0.1',
      user_agent: 'node',
    });
    const path = `sessions/${String(claimsOf(there)['jti'])}`;
    expect(said(await ask('DELETE', path, owner))).toBe('404 not_found');
    expect(said(await ask('DELETE', path, here))).toBe('204');
    expect([await isIn(there), await isIn(here)]).toEqual([false, true]);

    for (const name of ['', 'x'.repeat(121), 'Ana\nSouza']) {
      expect(said(await ask('PATCH', 'user', here, { name }))).toBe('400 invalid_request name');
    }
    const renamed = await ask('PATCH', 'user', here, { name: 'Ana Lima' });
    expect((await ask('PATCH', 'user', here, { name: 'Ana Lima' })).status).toBe(200);
    expect(renamed.body).toStrictEqual({ id: claimsOf(here)['sub'], email, name: 'Ana Lima' });
    const { body: members } = await service.call<Body>('GET', '/v1/members', { token: owner });
    expect(members.data).toContainEqual(expect.objectContaining({ email, name: 'Ana Lima' }));
    const { body: audit } = await service.call<Body>('GET', '/v1/audit-events', { token: owner });
    const renames = audit.data.filter(({ type }) => type === 'user.renamed');
    expect(renames).toEqual([expect.objectContaining({ data: { user_id: claimsOf(here)['sub'] } })]);

    await service.call('DELETE', `/v1/members/${String(claimsOf(here)['sub'])}`, { token: owner });
    expect(await isIn(here)).toBe(false);
    expect(said(await login(email, NEXT, codeOf(begun.secret)))).toBe('401 invalid_credentials');
    expect(await service.sql('SELECT 1 FROM sessions WHERE user_id = $1', [claimsOf(here)['sub']])).toEqual([]);
    service.clock.offsetMs = 0;
  });
});

describe('a password', () => {
  it('changed by its owner ends their other sessions, and requires the old password', async () => {
    const person = await service.member(merchant.accountId, 'MEMBER');
    const other = await service.login(person.email);
    const change = (current_password: string, new_password: string): Promise<Answer<Body>> =>
      ask('POST', 'password', person.token, { current_password, new_password });
    expect(said(await change('wrong', NEXT))).toBe('400 invalid_request current_password');
    expect(said(await change(PASSWORD, 'short'))).toBe('400 invalid_request new_password');
    expect(said(await change(PASSWORD, '1q2w3e4r5t'))).toBe('400 invalid_request new_password');
    expect(said(await change(PASSWORD, `x ${person.email}`))).toBe('400 invalid_request new_password');
    expect(await isIn(other)).toBe(true);
    expect(said(await change(PASSWORD, NEXT))).toBe('204');
    expect([await isIn(other), await isIn(person.token)]).toEqual([false, true]);
    expect(await service.mailTo(person.email)).toContain('Password changed');
    expect((await login(person.email, PASSWORD)).status).toBe(401);
    expect((await login(person.email, NEXT)).status).toBe(200);
    const told = await service.sql(
      `SELECT actor_type, data FROM audit_events WHERE type = 'user.password_changed' AND actor_id = $1`,
      [person.userId],
    );
    expect(told).toEqual([{ actor_type: 'member', data: { user_id: person.userId } }]);
  });

  it('forgotten by its owner gets the same answer and time for every e-mail, and mails only people who log in', async () => {
    const gone = await service.member(merchant.accountId, 'MEMBER');
    await service.sql('DELETE FROM members WHERE user_id = $1', [gone.userId]);
    const { email } = await service.member(merchant.accountId, 'MEMBER');
    const before = await service.sql('SELECT 1 FROM emails');
    for (const each of [email, gone.email, `nobody-${randomUUID()}@example.com`, 'no e-mail']) {
      const began = performance.now();
      const answer = await ask('POST', 'forgot-password', undefined, { email: each });
      expect({ status: answer.status, text: answer.text }).toEqual({ status: 204, text: '' });
      expect(performance.now() - began).toBeGreaterThan(190);
    }
    expect(await service.sql('SELECT 1 FROM emails')).toHaveLength(before.length + 1);
    const older = await service.mailedToken(email);
    await ask('POST', 'forgot-password', undefined, { email });
    const token = await service.mailedToken(email);
    const reset = (value: string): Promise<Answer<Body>> =>
      ask('POST', 'reset-password', undefined, { token: value, password: NEXT });
    expect(said(await reset(older))).toBe('400 invalid_request token');
    service.clock.advance(3601);
    expect(said(await reset(token))).toBe('400 invalid_request token');
    service.clock.offsetMs = 0;
    const answers = await Promise.all(Array.from({ length: 5 }, () => reset(token)));
    expect(answers.map(said).sort()).toEqual(['204', ...Array.from({ length: 4 }, () => '400 invalid_request token')]);
  });
});

describe('a second factor', () => {
  it('accepts each code once, including those of the step before and after, and no others', async () => {
    const person = await service.member(merchant.accountId, 'MEMBER');
    const { secret, recovery } = await withFactor(person);
    const at = (steps: number): string =>
      new TOTP({ secret: Secret.fromBase32(secret) }).generate({
        timestamp: service.clock.now().getTime() + steps * 30_000,
      });
    expect(said(await login(person.email, PASSWORD, at(-2)))).toBe('401 totp_invalid');
    expect(said(await login(person.email, PASSWORD, at(2)))).toBe('401 totp_invalid');
    const tries = await Promise.all(Array.from({ length: 4 }, () => login(person.email, PASSWORD, at(0))));
    expect(tries.map(said).sort()).toEqual(['200', ...Array.from({ length: 3 }, () => '401 totp_invalid')]);
    expect(said(await login(person.email, PASSWORD, at(-1)))).toBe('401 totp_invalid');
    expect(said(await login(person.email, PASSWORD, at(1)))).toBe('200');
    for (const code of recovery.slice(0, 2)) {
      expect(said(await login(person.email, PASSWORD, code.toUpperCase().replaceAll('-', ' ')))).toBe('200');
      expect(said(await login(person.email, PASSWORD, code))).toBe('401 totp_invalid');
    }
    expect(said(await login(person.email, 'wrong', recovery[2]))).toBe('401 invalid_credentials');
    expect(said(await login(person.email, PASSWORD, recovery[2]))).toBe('200');
    // The database shows neither the secret nor a code.
    const [row] = await service.sql<{ text: string }>('SELECT u::text AS text FROM users u WHERE id = $1', [
      person.userId,
    ]);
    for (const hidden of [secret, Buffer.from(secret).toString('hex'), ...recovery]) {
      expect(row?.text).not.toContain(hidden);
    }
    service.clock.offsetMs = 0;
  });

  it('is set once, and removed only with the password and a code', async () => {
    const person = await service.member(merchant.accountId, 'MEMBER');
    expect(said(await ask('POST', 'totp/confirm', person.token, { code: '123456' }))).toBe('422 totp_not_begun');
    const { recovery } = await withFactor(person);
    expect(said(await ask('POST', 'totp', person.token, { password: PASSWORD }))).toBe('422 totp_already_set');
    const remove = (password: string, code = ''): Promise<Answer<Body>> =>
      ask('DELETE', 'totp', person.token, { password, code });
    expect(said(await remove('wrong', recovery[0]))).toBe('400 invalid_request password');
    expect(said(await remove(PASSWORD, 'wrong'))).toBe('400 invalid_request code');
    expect(said(await remove(PASSWORD, recovery[0]))).toBe('204');
    expect(said(await remove(PASSWORD, recovery[1]))).toBe('404 not_found');
    expect(await service.mailTo(person.email)).toContain('Second factor removed');
    expect((await login(person.email, PASSWORD)).status).toBe(200);
    const told = await service.sql<{ type: string }>(
      `SELECT type FROM audit_events WHERE actor_id = $1 AND type LIKE 'user.totp%' ORDER BY id`,
      [person.userId],
    );
    expect(told.map(({ type }) => type)).toEqual(['user.totp_set', 'user.totp_removed']);
    service.clock.offsetMs = 0;
  });

  it('lost by its owner is removed on the command line, which ends the sessions', async () => {
    const operator = await service.operator();
    await withFactor(operator);
    expect(await service.get(SecondFactor).reset(operator.email.toUpperCase(), CLI)).toEqual({
      userId: operator.userId,
    });
    expect(await isIn(operator.token)).toBe(false);
    expect((await login(operator.email, PASSWORD)).status).toBe(200);
    await expect(service.get(SecondFactor).reset(operator.email, CLI)).rejects.toMatchObject({ status: 404 });
    service.clock.offsetMs = 0;
  });

  it('cannot be guessed: ten codes in 15 minutes, from all addresses together', async () => {
    const env = { JWT_SECRET, RATE_LIMIT: 'on', TRUST_PROXY: 'loopback', RATE_LIMIT_PUBLIC_PER_MINUTE: '1000' };
    const limited = await TestService.start({ database: service.database, env });
    try {
      const { accountId } = await limited.merchant();
      const person = await limited.member(accountId, 'MEMBER');
      const { secret } = await withFactor(person, limited);
      const answers: string[] = [];
      for (let index = 0; index < 12; index++) {
        const answer = await limited.call<Body>('POST', '/v1/auth/login', {
          headers: { 'x-forwarded-for': `192.0.2.${index}` },
          body: { email: person.email, password: PASSWORD, code: index === 11 ? codeOf(secret, limited) : '000000' },
        });
        answers.push(said(answer));
      }
      expect(answers.filter((answer) => answer === '401 totp_invalid')).toHaveLength(10);
      expect(answers.slice(10)).toEqual(['429 rate_limited', '429 rate_limited']);
      // A guesser must know the password.
      const mails = await limited.sql(
        `SELECT 1 FROM emails WHERE recipient = $1 AND subject LIKE '%Many wrong codes'`,
        [person.email],
      );
      expect(mails).toHaveLength(1);
    } finally {
      await limited.stop();
    }
  });

  it('cannot be guessed inside a session: 10 codes are tried, also of 64 sent at once', async () => {
    const env = { JWT_SECRET, RATE_LIMIT: 'on', RATE_LIMIT_LOGIN_PER_15_MINUTES: '1000' };
    const clock = new TestClock().stand();
    const limited = await TestService.start({ database: service.database, env, clock, clockLimits: true });
    try {
      const { accountId } = await limited.merchant();
      const person = await limited.member(accountId, 'MEMBER');
      const { secret } = (await ask('POST', 'totp', person.token, { password: PASSWORD }, limited)).body;
      const confirm = (code = codeOf(secret, limited)): Promise<Answer<Body>> =>
        ask('POST', 'totp/confirm', person.token, { code }, limited);
      const confirmed = await Promise.all(Array.from({ length: 64 }, () => confirm('12345')));
      expect(confirmed.map(said).sort()).toEqual([
        ...Array<string>(10).fill('400 invalid_request code'),
        ...Array<string>(54).fill('429 rate_limited'),
      ]);
      const refused = await confirm();
      expect([said(refused), refused.headers.get('retry-after')]).toEqual(['429 rate_limited', '90']);
      clock.advance(90);
      expect(said(await confirm())).toBe('200');
      clock.advance(30);

      const remove = async (code = codeOf(secret, limited)): Promise<string> =>
        said(await ask('DELETE', 'totp', person.token, { password: PASSWORD, code }, limited));
      for (let count = 0; count < 10; count++) expect(await remove('12345')).toBe('400 invalid_request code');
      expect(await remove()).toBe('429 rate_limited');
      clock.advance(90);
      expect(await remove()).toBe('204');
    } finally {
      await limited.stop();
    }
  });
});

describeWith('redis')('a second factor in production', () => {
  it('is required of operators before anything else, and of owners for live keys', async () => {
    const redis = await startRedis();
    const production = await TestService.start({
      env: {
        JWT_SECRET,
        NODE_ENV: 'production',
        REDIS_URL: redis.url,
        ENCRYPTION_KEY: 'ab'.repeat(32),
      },
    });
    try {
      const operator = await production.operator();
      const accounts = (token: string): Promise<Answer<Body>> =>
        production.call<Body>('GET', '/v1/operations/accounts', { token });
      expect(said(await accounts(operator.token))).toBe('403 totp_setup_required');
      for (const [method, path] of [
        ['GET', 'sessions'],
        ['DELETE', 'totp'],
        ['POST', 'password'],
      ] as const) {
        expect(said(await ask(method, path, operator.token, undefined, production))).toBe('403 totp_setup_required');
      }
      const { secret } = await withFactor(operator, production);
      // Applies from the next request on, with the same token.
      expect(said(await accounts(operator.token))).toBe('200');
      expect(said(await login(operator.email, PASSWORD, codeOf(secret, production), production))).toBe('200');

      const { accountId, ownerEmail, ownerId } = await production.merchant();
      const owner = { userId: ownerId, email: ownerEmail, token: await production.login(ownerEmail) };
      const keys = (method: string, path = '', body?: object): Promise<Answer<Body>> =>
        production.call<Body>(method, `/v1/api-keys${path}`, { token: owner.token, ...(body && { body }) });
      const { data } = (await keys('GET')).body as unknown as { data: { id: string; mode: string }[] };
      const [live = '', test = ''] = ['live', 'test'].map((mode) => data.find((key) => key.mode === mode)?.id ?? '');
      expect(accountId).toEqual(expect.any(String));
      expect(said(await keys('POST', '', {}))).toBe('403 totp_setup_required');
      expect(said(await keys('POST', `/${live}/rotate`))).toBe('403 totp_setup_required');
      expect(said(await keys('DELETE', `/${live}`))).toBe('403 totp_setup_required');
      expect(said(await keys('POST', '', { test: true }))).toBe('201');
      expect(said(await keys('DELETE', `/${test}`))).toBe('200');
      // The dashboard's access to live mode is as good as a live key.
      const rotate = (mode: string): Promise<Answer<Body>> =>
        production.call<Body>('POST', `/v1/dashboard/${mode}/webhooks/default-secret/rotate`, { token: owner.token });
      expect(said(await rotate('live'))).toBe('403 totp_setup_required');
      expect(said(await rotate('test'))).toBe('200');
      const read = await production.call('GET', '/v1/dashboard/live/payments', { token: owner.token });
      expect(read.status).toBe(200);
      await withFactor(owner, production);
      expect(said(await rotate('live'))).toBe('200');
      expect(said(await keys('POST', '', {}))).toBe('201');
      expect(said(await keys('POST', `/${live}/rotate`))).toBe('201');
      const again = ((await keys('GET')).body as unknown as { data: { id: string; mode: string }[] }).data;
      expect(said(await keys('DELETE', `/${again.find(({ mode }) => mode === 'live')?.id ?? ''}`))).toBe('200');
    } finally {
      await production.stop();
      await redis.stop();
    }
  });
});
