import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import argon2 from 'argon2';
import { Redis } from 'ioredis';
import { AccountsService, PasswordChanges, UsersService } from '../../../src/accounts/index.js';
import { CLI } from '../../../src/audit/index.js';
import { Retention } from '../../../src/core/retention.js';
import { describeWith } from '../../support/needs.js';
import { startRedis } from '../../support/redis.js';
import { type Answer, type Merchant, PASSWORD, TestService } from '../../support/service.js';
import { claimsOf, JWT_SECRET } from '../../support/tokens.js';
import { waitFor } from '../../support/wait.js';

interface LoginAnswer extends Record<string, unknown> {
  access_token: string;
  error: { type: string; code: string; message: string };
  request_id: string;
}

/** Uses the real password cost, since these tests check it. */
const REAL_COST = { providers: [] };

const service = TestService.forSpec({ env: { JWT_SECRET }, overrides: REAL_COST });
let merchant: Merchant;

beforeAll(async () => {
  merchant = await service.merchant();
});

function login(email: string, password: string, at = service): Promise<Answer<LoginAnswer>> {
  return at.call<LoginAnswer>('POST', '/v1/auth/login', { body: { email, password } });
}

/** Needs nothing but a login. */
async function statusWith(authorization: string, at = service): Promise<number> {
  return (await at.call('GET', '/v1/api-keys', { headers: { authorization } })).status;
}

describe('login', () => {
  it('answers in the documented form, with a token of exactly the documented claims', async () => {
    const before = Math.floor(Date.now() / 1000);
    const answer = await login(`  ${merchant.ownerEmail.toUpperCase()} `, PASSWORD);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const token = answer.body.access_token;
    expect(answer.body).toStrictEqual({
      access_token: token,
      token,
      token_type: 'Bearer',
      expires_in: 3600,
      user: { id: merchant.ownerId, email: merchant.ownerEmail, name: 'Padaria São João' },
      account: { id: merchant.accountId, name: 'Padaria São João', role: 'OWNER' },
    });
    const claims = claimsOf(token);
    expect(claims).toStrictEqual({
      sub: merchant.ownerId,
      account_id: merchant.accountId,
      role: 'OWNER',
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      iat: expect.any(Number),
      exp: Number(claims['iat']) + 3600,
      iss: 'recebe',
      aud: 'recebe-dashboard',
    });
    expect(Number(claims['iat'])).toBeGreaterThanOrEqual(before);
    expect(Number(claims['iat'])).toBeLessThanOrEqual(Date.now() / 1000);
    expect(await statusWith(`Bearer ${token}`)).toBe(200);
    expect(await statusWith(`bearer ${token}`)).toBe(200);
  });

  it('gives an operator no account and no access to any', async () => {
    const operator = await service.operator();
    const answer = await login(operator.email, PASSWORD);
    expect(answer.body).toMatchObject({ user: { id: operator.userId, email: operator.email }, account: null });
    expect(claimsOf(operator.token)).toMatchObject({ account_id: null, role: 'OPERATOR', sub: operator.userId });
    expect(await statusWith(`Bearer ${operator.token}`)).toBe(403);
  });

  it('refuses a wrong password, an unknown e-mail and a removed member in the same words', async () => {
    const gone = await service.member(merchant.accountId, 'MEMBER');
    await service.sql('DELETE FROM members WHERE user_id = $1', [gone.userId]);
    const invited = await service.member(merchant.accountId, 'MEMBER');
    await service.sql('UPDATE users SET password_hash = NULL WHERE id = $1', [invited.userId]);
    for (const [email, password] of [
      [merchant.ownerEmail, 'wrong horse battery'],
      [merchant.ownerEmail, `${PASSWORD} `],
      [merchant.ownerEmail, ''],
      ['nobody@example.com', PASSWORD],
      [gone.email, PASSWORD],
      [invited.email, PASSWORD],
      [invited.email, ''],
      ['', ''],
      ["' OR 1=1 --", 'x'],
    ] as const) {
      const answer = await login(email, password);
      expect({ email, status: answer.status }).toEqual({ email, status: 401 });
      expect(answer.body).toStrictEqual({
        error: {
          type: 'authentication_error',
          code: 'invalid_credentials',
          message: 'The e-mail or the password is wrong.',
        },
        request_id: answer.headers.get('x-request-id'),
      });
    }
  });

  it.each([{}, { email: 'a@example.com' }, { email: 1, password: null }, { email: 'a@b.c', password: 'x', extra: 1 }])(
    'lists every violation of %j',
    async (body) => {
      const answer = await service.call<LoginAnswer>('POST', '/v1/auth/login', { body });
      expect(answer.status).toBe(400);
      expect(answer.body.error.code).toBe('invalid_request');
    },
  );

  it('uses the account that the user joined first', async () => {
    const person = await service.member(merchant.accountId, 'MEMBER');
    const other = await service.merchant();
    await service.sql(`INSERT INTO members VALUES ($1, $2, 'OWNER', now() + interval '1 s')`, [
      other.accountId,
      person.userId,
    ]);
    expect((await login(person.email, PASSWORD)).body['account']).toMatchObject({ id: merchant.accountId });
    await service.sql(`UPDATE members SET created_at = '2020-01-01' WHERE account_id = $1 AND user_id = $2`, [
      other.accountId,
      person.userId,
    ]);
    expect((await login(person.email, PASSWORD)).body['account']).toMatchObject({ id: other.accountId, role: 'OWNER' });
  });

  it('hashes the password anew when its stored hash has another cost', async () => {
    const { email } = await service.member(merchant.accountId, 'MEMBER');
    const stored = async (): Promise<string> => {
      const rows = await service.sql<{ hash: string }>('SELECT password_hash AS hash FROM users WHERE email = $1', [
        email,
      ]);
      return rows[0]?.hash ?? '';
    };
    const today = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/;
    expect(await stored()).toMatch(today);
    const old = await argon2.hash(PASSWORD, { type: argon2.argon2id, memoryCost: 1024 });
    await service.sql('UPDATE users SET password_hash = $2 WHERE email = $1', [email, old]);
    expect((await login(email, 'wrong')).status).toBe(401);
    expect(await stored()).toBe(old);
    expect((await login(email, PASSWORD)).status).toBe(200);
    expect(await stored()).toMatch(today);
    expect((await login(email, PASSWORD)).status).toBe(200);
  });
});

describe('logout', () => {
  it('ends this session at once in every process, and no other session', async () => {
    const neighbour = await TestService.start({
      database: service.database,
      env: { JWT_SECRET },
      overrides: REAL_COST,
    });
    try {
      for (let round = 0; round < 20; round++) {
        const [token, other] = [await service.login(merchant.ownerEmail), await neighbour.login(merchant.ownerEmail)];
        expect(await statusWith(`Bearer ${token}`, neighbour)).toBe(200);
        const answer = await service.call('POST', '/v1/auth/logout', { token });
        expect({ status: answer.status, text: answer.text }).toEqual({ status: 204, text: '' });
        expect(await statusWith(`Bearer ${token}`, neighbour)).toBe(401);
        expect(await statusWith(`Bearer ${token}`)).toBe(401);
        expect((await service.call('POST', '/v1/auth/logout', { token })).status).toBe(401);
        expect(await statusWith(`Bearer ${other}`)).toBe(200);
      }
    } finally {
      await neighbour.stop();
    }
  });

  it('removes its row, and keeps rows of running sessions until they expire, even with a clock a minute behind', async () => {
    const [ended, token] = [await service.login(merchant.ownerEmail), await service.login(merchant.ownerEmail)];
    await service.call('POST', '/v1/auth/logout', { token: ended });
    const rows = async (of: string): Promise<number> => {
      await service.get(Retention).remove('sessions');
      return (await service.sql('SELECT 1 FROM sessions WHERE id = $1', [claimsOf(of)['jti']])).length;
    };
    expect(await rows(ended)).toBe(0);
    expect(await rows(token)).toBe(1);
    service.clock.advance(3590);
    expect(await statusWith(`Bearer ${token}`)).toBe(200);
    service.clock.advance(59);
    expect(await rows(token)).toBe(1);
    expect(await statusWith(`Bearer ${token}`)).toBe(401);
    service.clock.advance(12);
    // The service's own sweep may run at the same moment.
    await waitFor('the row to go', async () => (await rows(token)) === 0);
    service.clock.offsetMs = 0;
  });
});

describe('between processes whose clocks differ', () => {
  let behind: TestService;

  beforeAll(async () => {
    behind = await TestService.start({ database: service.database, env: { JWT_SECRET }, overrides: REAL_COST });
    behind.clock.advance(-50);
  });
  afterAll(() => behind.stop());

  it('a new member can use the token of a process whose clock is behind', async () => {
    for (const role of ['MEMBER', 'OWNER'] as const) {
      const { email } = await service.member(merchant.accountId, role);
      const token = await behind.login(email);
      expect(await statusWith(`Bearer ${token}`, behind)).toBe(200);
      expect(await statusWith(`Bearer ${token}`)).toBe(200);
    }
  });
});

describe('a password that is changed for somebody', () => {
  const NEW = 'another horse battery';
  const change = (email: string, password = NEW): Promise<{ userId: string }> =>
    service.get(PasswordChanges).change({ email, password }, CLI);

  it('ends all sessions of that person in every process, no others, and is recorded', async () => {
    const [person, other] = [
      await service.member(merchant.accountId, 'ADMIN'),
      await service.member(merchant.accountId, 'ADMIN'),
    ];
    const ahead = await TestService.start({ database: service.database, env: { JWT_SECRET }, overrides: REAL_COST });
    const behind = await TestService.start({ database: service.database, env: { JWT_SECRET }, overrides: REAL_COST });
    ahead.clock.advance(25);
    behind.clock.advance(-25);
    const everywhere = [service, ahead, behind];
    try {
      const old = await Promise.all([...everywhere, service].map((each) => each.login(person.email)));
      expect(await change(` ${person.email.toUpperCase()} `)).toEqual({ userId: person.userId });
      for (const each of everywhere) {
        for (const token of [...old, person.token]) expect(await statusWith(`Bearer ${token}`, each)).toBe(401);
        expect(await statusWith(`Bearer ${other.token}`, each)).toBe(200);
        expect((await login(person.email, PASSWORD, each)).status).toBe(401);
      }
      for (const given of everywhere) {
        const token = (await login(person.email, NEW, given)).body.access_token;
        for (const each of everywhere) expect(await statusWith(`Bearer ${token}`, each)).toBe(200);
      }
    } finally {
      await ahead.stop();
      await behind.stop();
    }
    const told = await service.sql(
      `SELECT account_id, actor_type, actor_id, data FROM audit_events WHERE type = 'user.password_changed'`,
    );
    expect(told).toEqual([
      { account_id: merchant.accountId, actor_type: 'cli', actor_id: null, data: { user_id: person.userId } },
    ]);
  });

  it('stops a login with the old password that is under way', async () => {
    const { email, userId } = await service.member(merchant.accountId, 'MEMBER');
    // The old hash has another cost, so a login would also renew the hash.
    const old = await argon2.hash(PASSWORD, { type: argon2.argon2id, memoryCost: 1024 });
    const seen = new Set<number>();
    for (let round = 0; round < 8; round++) {
      await service.sql('UPDATE users SET password_hash = $2 WHERE id = $1', [userId, old]);
      const tries = Array.from({ length: 6 }, () => login(email, PASSWORD));
      // Starts a little later each time: some logins are over before the change, some are not.
      await delay(round * 30);
      await change(email);
      for (const answer of await Promise.all(tries)) {
        seen.add(answer.status);
        if (answer.status !== 200) continue;
        expect(await statusWith(`Bearer ${answer.body.access_token}`)).toBe(401);
      }
      expect((await login(email, PASSWORD)).status).toBe(401);
      expect((await login(email, NEW)).status).toBe(200);
    }
    expect(seen.has(200)).toBe(true);
  }, 60_000);

  it('is refused for an unknown user, and when it is weak', async () => {
    const removed = await service.member(merchant.accountId, 'MEMBER');
    await service.sql('DELETE FROM members WHERE user_id = $1', [removed.userId]);
    const invited = await service.member(merchant.accountId, 'MEMBER');
    await service.sql('UPDATE users SET password_hash = NULL WHERE id = $1', [invited.userId]);
    for (const email of [removed.email, invited.email, 'nobody@example.com', '']) {
      await expect(change(email)).rejects.toMatchObject({ status: 404 });
    }
    await expect(change(merchant.ownerEmail, 'short')).rejects.toMatchObject({ status: 400, param: 'password' });
    expect((await login(merchant.ownerEmail, PASSWORD)).status).toBe(200);
  });
});

describe('an operator who is removed', () => {
  it('loses access at once, and may return in any role', async () => {
    const users = service.get(UsersService);
    const operator = await service.operator();
    const visit = async (token: string, path: string): Promise<number> =>
      (await service.call('GET', path, { token })).status;
    expect(await visit(operator.token, '/v1/operations/accounts')).toBe(200);
    expect(await users.removeOperator(operator.email.toUpperCase(), CLI)).toEqual({ userId: operator.userId });
    expect(await visit(operator.token, '/v1/operations/accounts')).toBe(401);
    expect((await login(operator.email, PASSWORD)).status).toBe(401);
    await expect(users.removeOperator(operator.email, CLI)).rejects.toMatchObject({ status: 404 });
    await expect(users.removeOperator(merchant.ownerEmail, CLI)).rejects.toMatchObject({ status: 404 });

    // Tokens from before stay ended.
    await users.createOperator({ email: operator.email, password: PASSWORD }, CLI);
    expect(await visit(operator.token, '/v1/operations/accounts')).toBe(401);
    const again = await service.login(operator.email);
    expect(await visit(again, '/v1/operations/accounts')).toBe(200);

    await users.removeOperator(operator.email, CLI);
    const { email } = operator;
    const member = { email, password: PASSWORD, role: 'MEMBER' as const };
    await service.get(AccountsService).addMember(merchant.accountId, member, CLI);
    expect(await visit(again, '/v1/operations/accounts')).toBe(401);
    const token = await service.login(email);
    expect(await visit(token, '/v1/api-keys')).toBe(200);
    expect(await visit(token, '/v1/operations/accounts')).toBe(403);
    const told = await service.sql<{ type: string }>(
      `SELECT type FROM audit_events WHERE data ->> 'user_id' = $1 AND actor_type = 'cli' ORDER BY id`,
      [operator.userId],
    );
    expect(told.map(({ type }) => type)).toEqual([
      'operator.removed',
      'operator.created',
      'operator.removed',
      'member.added',
    ]);
  });
});

describe('guessing passwords', () => {
  it('is stopped after 10 tries for an e-mail from one address, even with the right password', async () => {
    const limited = await TestService.start({ database: service.database, env: { JWT_SECRET, RATE_LIMIT: 'on' } });
    try {
      const target = await limited.merchant();
      const statuses: number[] = [];
      for (let attempt = 0; attempt < 12; attempt++) {
        statuses.push((await login(target.ownerEmail, 'wrong horse battery', limited)).status);
      }
      expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429]);
      const right = await login(` ${target.ownerEmail.toUpperCase()}`, PASSWORD, limited);
      expect(right.status).toBe(429);
      expect(right.body.error).toMatchObject({ type: 'rate_limit_error', code: 'rate_limited' });
      // A further try every 90 seconds.
      expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(45);
      expect(Number(right.headers.get('retry-after'))).toBeLessThanOrEqual(90);
      expect(right.headers.get('ratelimit-limit')).toBe('10');
      // An unknown e-mail gets the same answers.
      const nobody = `nobody-${randomUUID()}@example.com`;
      for (let attempt = 0; attempt < 10; attempt++) await login(nobody, PASSWORD, limited);
      expect((await login(nobody, PASSWORD, limited)).status).toBe(429);
      // Used-up tries lock nobody else out.
      expect((await login((await limited.merchant()).ownerEmail, PASSWORD, limited)).status).toBe(200);
    } finally {
      await limited.stop();
    }
  });

  it('is counted over many e-mails from one address too', async () => {
    const env = { JWT_SECRET, RATE_LIMIT: 'on', RATE_LIMIT_PUBLIC_PER_MINUTE: '6' };
    const limited = await TestService.start({ database: service.database, env });
    try {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => login(`${randomUUID()}@example.com`, PASSWORD, limited)),
      );
      const refused = answers.filter(({ status }) => status === 429);
      expect(refused.length).toBeGreaterThanOrEqual(10);
      expect(answers.filter(({ status }) => status === 401)).toHaveLength(20 - refused.length);
    } finally {
      await limited.stop();
    }
  });
});

describeWith('redis')('guessing passwords at several processes', () => {
  it('is counted over all processes together, and Redis stores no e-mail', async () => {
    const redis = await startRedis();
    const env = { JWT_SECRET, RATE_LIMIT: 'on', REDIS_URL: redis.url };
    const services = [
      await TestService.start({ database: service.database, env }),
      await TestService.start({ database: service.database, env }),
    ];
    const client = new Redis(redis.url);
    try {
      const tries = async (): Promise<number[]> => {
        const email = `victim-${randomUUID()}@example.com`;
        const statuses: number[] = [];
        for (let attempt = 0; attempt < 12; attempt++) {
          statuses.push((await login(email, PASSWORD, services[attempt % 2])).status);
        }
        return statuses;
      };
      const expected = [...Array.from({ length: 10 }, () => 401), 429, 429];
      let statuses = await tries();
      // On a very busy machine Redis does not answer within 50 ms, and each process counts alone.
      for (let again = 0; again < 2 && String(statuses) !== String(expected); again++) statuses = await tries();
      expect(statuses).toEqual(expected);
      const keys = await client.keys('*');
      expect(keys.filter((key) => key.includes('rl:login:')).length).toBeGreaterThan(0);
      expect(keys.filter((key) => key.includes('victim'))).toEqual([]);
    } finally {
      client.disconnect();
      for (const each of services) await each.stop();
      await redis.stop();
    }
  });
});
