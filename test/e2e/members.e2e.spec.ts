import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AccountsService, UsersService } from '../../src/accounts/index.js';
import { SYSTEM } from '../../src/audit/index.js';
import { type Answer, type Merchant, PASSWORD, type Person, TestService } from '../support/service.js';
import { claimsOf, JWT_SECRET } from '../support/tokens.js';

interface MemberAnswer extends Record<string, unknown> {
  id: string;
  role: string;
  status: string;
  invitation: { token: string; expires_at: string };
  error: { type: string; code: string; param?: string };
}

let service: TestService;
let merchant: Merchant;
let owner: string;
let admin: Person;
let member: Person;

beforeAll(async () => {
  service = await TestService.start({ env: { JWT_SECRET } });
});
/** People of their own for each test: most of them remove somebody. */
beforeEach(async () => {
  merchant = await service.merchant();
  owner = await service.login(merchant.ownerEmail);
  admin = await service.member(merchant.accountId, 'ADMIN');
  member = await service.member(merchant.accountId, 'MEMBER');
});
afterAll(() => service.stop());

const newEmail = (): string => `guest-${randomUUID()}@example.com`;

function invite(body: object, token = owner): Promise<Answer<MemberAnswer>> {
  return service.call<MemberAnswer>('POST', '/v1/members', { token, body });
}
function accept(token: string, password: string): Promise<Answer<MemberAnswer>> {
  return service.call<MemberAnswer>('POST', '/v1/auth/accept-invitation', { body: { token, password } });
}
function change(id: string, role: string, token = owner): Promise<Answer<MemberAnswer>> {
  return service.call<MemberAnswer>('PATCH', `/v1/members/${id}`, { token, body: { role } });
}
function remove(id: string, token = owner): Promise<Answer<MemberAnswer>> {
  return service.call<MemberAnswer>('DELETE', `/v1/members/${id}`, { token });
}
async function list(token = owner): Promise<MemberAnswer[]> {
  return (await service.call<{ data: MemberAnswer[] }>('GET', '/v1/members', { token })).body.data;
}
async function canVisit(token: string): Promise<number> {
  return (await service.call('GET', '/v1/api-keys', { token })).status;
}
async function loginStatus(email: string, password: string): Promise<number> {
  return (await service.call('POST', '/v1/auth/login', { body: { email, password } })).status;
}

describe('the list of members', () => {
  it('has everybody of the account, oldest first, and nobody else', async () => {
    const people = await list();
    expect(people).toStrictEqual([
      {
        id: merchant.ownerId,
        object: 'member',
        email: merchant.ownerEmail,
        name: 'Padaria São João',
        role: 'OWNER',
        status: 'active',
        created_at: expect.stringMatching(/Z$/),
      },
      expect.objectContaining({ id: admin.userId, role: 'ADMIN' }),
      expect.objectContaining({ id: member.userId, role: 'MEMBER' }),
    ]);
    expect(await list(admin.token)).toEqual(people);
  });

  it.each(['GET', 'POST', 'PATCH', 'DELETE'])('is not for MEMBERs: %s', async (method) => {
    const path = method === 'PATCH' || method === 'DELETE' ? `/v1/members/${member.userId}` : '/v1/members';
    const answer = await service.call<MemberAnswer>(method, path, {
      token: member.token,
      ...(method === 'GET' ? {} : { body: { role: 'OWNER' } }),
    });
    expect(answer.status).toBe(403);
    expect(answer.body.error).toMatchObject({ type: 'permission_error', code: 'forbidden' });
  });
});

describe('an invitation', () => {
  it('makes a member who comes in by choosing a password, once', async () => {
    const email = newEmail();
    const answer = await invite({ email: email.toUpperCase(), name: ' Ana Souza ', role: 'ADMIN' });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const { token, expires_at: expiresAt } = answer.body.invitation;
    expect(answer.body).toStrictEqual({
      id: expect.any(String),
      object: 'member',
      email,
      name: 'Ana Souza',
      role: 'ADMIN',
      status: 'invited',
      created_at: expect.any(String),
      invitation: { token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/), expires_at: expect.any(String) },
    });
    expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(7 * 86_400_000 - 60_000);
    expect((await list()).find(({ id }) => id === answer.body.id)).toMatchObject({ status: 'invited', role: 'ADMIN' });
    expect(await loginStatus(email, '')).toBe(401);

    expect((await accept(token, 'too short')).body.error).toMatchObject({ param: 'password' });
    expect((await accept(token, 'x'.repeat(257))).body.error).toMatchObject({ param: 'password' });
    const accepted = await accept(token, 'a password of my own');
    expect({ status: accepted.status, text: accepted.text }).toEqual({ status: 204, text: '' });
    expect(await canVisit(await service.login(email, 'a password of my own'))).toBe(200);
    expect((await list()).find(({ id }) => id === answer.body.id)).toMatchObject({ status: 'active' });
    expect((await accept(token, 'a password of another')).status).toBe(400);
    expect(await loginStatus(email, 'a password of another')).toBe(401);
  });

  it('works for one of two who use it at once', async () => {
    const email = newEmail();
    const { token } = (await invite({ email, role: 'MEMBER' })).body.invitation;
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => accept(token, `password number ${index}`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array.from({ length: 7 }, () => 400)]);
    const winner = answers.findIndex(({ status }) => status === 204);
    expect(await loginStatus(email, `password number ${winner}`)).toBe(200);
  });

  it('is over after 7 days, and can be made anew, which ends the one before', async () => {
    const email = newEmail();
    const first = (await invite({ email, role: 'ADMIN' })).body;
    const second = (await invite({ email, name: 'Ana', role: 'MEMBER' })).body;
    expect(second.id).toBe(first.id);
    expect((await accept(first.invitation.token, PASSWORD)).status).toBe(400);
    service.clock.advance(7 * 86_400 + 1);
    owner = await service.login(merchant.ownerEmail);
    expect((await accept(second.invitation.token, PASSWORD)).status).toBe(400);
    const third = (await invite({ email, role: 'MEMBER' })).body;
    expect((await accept(third.invitation.token, PASSWORD)).status).toBe(204);
    expect((await list()).filter(({ id }) => id === first.id)).toEqual([
      expect.objectContaining({ role: 'MEMBER', status: 'active' }),
    ]);
    service.clock.offsetMs = 0;
  });

  it('keeps its token nowhere', async () => {
    const { token } = (await invite({ email: newEmail(), role: 'MEMBER' })).body.invitation;
    const rows = await service.sql(
      'SELECT i::text AS row FROM invitations i UNION ALL SELECT a::text FROM audit_events a',
    );
    expect(rows.length).toBeGreaterThan(3);
    expect(rows.filter(({ row }) => String(row).includes(token))).toEqual([]);
  });

  it('is gone with the member who was invited', async () => {
    const invited = (await invite({ email: newEmail(), role: 'MEMBER' })).body;
    expect((await remove(invited.id)).status).toBe(200);
    expect((await accept(invited.invitation.token, PASSWORD)).status).toBe(400);
  });

  it('is not for who belongs to an account already, or to the platform', async () => {
    const operator = await service.operator();
    const elsewhere = await service.merchant();
    for (const email of [member.email, merchant.ownerEmail, elsewhere.ownerEmail, operator.email]) {
      const answer = await invite({ email, role: 'MEMBER' });
      expect({ email, status: answer.status, param: answer.body.error.param }).toEqual({
        email,
        status: 400,
        param: 'email',
      });
    }
    expect(await list()).toHaveLength(3);
    expect(await loginStatus(member.email, PASSWORD)).toBe(200);
  });

  it('brings back who was removed, who then chooses a new password', async () => {
    const old = await service.login(member.email);
    await remove(member.userId);
    const elsewhere = await service.merchant();
    const back = await invite({ email: member.email, role: 'ADMIN' }, await service.login(elsewhere.ownerEmail));
    expect(back.body.id).toBe(member.userId);
    expect(await loginStatus(member.email, PASSWORD)).toBe(401);
    expect((await accept(back.body.invitation.token, 'another password')).status).toBe(204);
    const token = await service.login(member.email, 'another password');
    expect((await service.call('GET', '/v1/members', { token })).status).toBe(200);
    expect(await canVisit(old)).toBe(401);
  });

  describe('that has expired', () => {
    const WEEK_SECONDS = 7 * 86_400;

    /** The answer to an invitation that was never accepted. */
    async function expired(email: string): Promise<MemberAnswer> {
      const invited = (await invite({ email, role: 'ADMIN' })).body;
      service.clock.advance(WEEK_SECONDS + 1);
      owner = await service.login(merchant.ownerEmail);
      return invited;
    }
    const membershipsOf = (id: string): Promise<{ account: string; role: string }[]> =>
      service.sql('SELECT account_id AS account, role FROM members WHERE user_id = $1', [id]);

    afterEach(() => {
      service.clock.offsetMs = 0;
    });

    it('gives way to the invitation of another account, which its old token cannot use', async () => {
      const email = newEmail();
      const old = await expired(email);
      const elsewhere = await service.merchant();
      const theirs = await service.login(elsewhere.ownerEmail);
      const answer = await invite({ email, name: 'Ana', role: 'MEMBER' }, theirs);
      expect(answer.status).toBe(201);
      expect(answer.body).toMatchObject({ id: old.id, name: 'Ana', role: 'MEMBER', status: 'invited' });
      expect(await membershipsOf(old.id)).toEqual([{ account: elsewhere.accountId, role: 'MEMBER' }]);
      expect((await list()).map(({ id }) => id)).not.toContain(old.id);
      const told = await service.sql(
        'SELECT actor_type, actor_id, data FROM audit_events WHERE account_id = $1 AND type = $2',
        [merchant.accountId, 'member.removed'],
      );
      expect(told).toEqual([
        {
          actor_type: 'system',
          actor_id: null,
          data: { user_id: old.id, role: 'ADMIN', reason: 'invitation_expired' },
        },
      ]);
      expect((await accept(old.invitation.token, PASSWORD)).status).toBe(400);
      expect((await accept(answer.body.invitation.token, PASSWORD)).status).toBe(204);
      const token = await service.login(email);
      expect((await service.call('GET', '/v1/api-keys', { token })).status).toBe(200);
      // And now it is somebody's.
      expect((await invite({ email, role: 'MEMBER' })).body.error.param).toBe('email');
    });

    it('gives way to a member, an account and an operator that are made with its e-mail', async () => {
      const other = await service.merchant();
      const accounts = service.get(AccountsService);
      for (const take of [
        (email: string) => accounts.addMember(other.accountId, { email, password: PASSWORD, role: 'MEMBER' }, SYSTEM),
        (email: string) =>
          accounts.addMember(merchant.accountId, { email, password: PASSWORD, role: 'MEMBER' }, SYSTEM),
        (email: string) => accounts.create({ name: 'Livraria', email, password: PASSWORD }, SYSTEM),
        (email: string) => service.get(UsersService).createOperator({ email, password: PASSWORD }, SYSTEM),
      ]) {
        const email = newEmail();
        const open = (await invite({ email, role: 'MEMBER' })).body;
        await expect(take(email)).rejects.toMatchObject({ status: 400, param: 'email' });
        service.clock.advance(WEEK_SECONDS + 1);
        expect(await take(email)).toMatchObject({ userId: open.id });
        expect(await loginStatus(email, PASSWORD)).toBe(200);
        owner = await service.login(merchant.ownerEmail);
      }
    });

    it('goes to one of many who take it at once', async () => {
      for (let round = 0; round < 5; round++) {
        const email = newEmail();
        const old = await expired(email);
        const others = await Promise.all(Array.from({ length: 3 }, () => service.merchant()));
        const tokens = [...(await Promise.all(others.map(({ ownerEmail }) => service.login(ownerEmail)))), owner];
        const answers = await Promise.all(tokens.map((token) => invite({ email, role: 'MEMBER' }, token)));
        expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400]);
        const winner = answers.findIndex(({ status }) => status === 201);
        const account = [...others, merchant][winner]?.accountId;
        expect(await membershipsOf(old.id)).toEqual([{ account, role: 'MEMBER' }]);
        expect((await accept(answers[winner]?.body.invitation.token ?? '', PASSWORD)).status).toBe(204);
        const claims = claimsOf(await service.login(email));
        expect(claims['account_id']).toBe(account);
      }
    });

    it('while it has not, keeps its e-mail', async () => {
      const email = newEmail();
      const { id } = (await invite({ email, role: 'MEMBER' })).body;
      const theirs = await service.login((await service.merchant()).ownerEmail);
      service.clock.advance(3_000);
      expect((await invite({ email, role: 'MEMBER' }, theirs)).body.error.param).toBe('email');
      expect(await membershipsOf(id)).toEqual([{ account: merchant.accountId, role: 'MEMBER' }]);
    });
  });

  it('of two at once for one who was removed is one member', async () => {
    const accounts = service.get(AccountsService);
    for (let round = 0; round < 5; round++) {
      const { userId, email } = await service.member(merchant.accountId, 'MEMBER');
      await remove(userId);
      const others = await Promise.all(Array.from({ length: 3 }, () => service.merchant()));
      const added = await Promise.allSettled(
        others.map(({ accountId }) =>
          accounts.addMember(accountId, { email, password: PASSWORD, role: 'ADMIN' }, SYSTEM),
        ),
      );
      expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await service.sql('SELECT 1 FROM members WHERE user_id = $1', [userId])).toHaveLength(1);
    }
  });

  it('of two at once for one new e-mail is one member', async () => {
    const email = newEmail();
    const answers = await Promise.all(Array.from({ length: 6 }, () => invite({ email, role: 'MEMBER' })));
    expect(answers.filter(({ status }) => status === 201).length).toBeGreaterThan(0);
    expect(answers.filter(({ status }) => status !== 201 && status !== 400)).toEqual([]);
    expect((await list()).filter((each) => each['email'] === email)).toHaveLength(1);
  });

  it.each([
    [{}, ['email', 'role']],
    [{ email: 'nobody', role: 'MEMBER' }, ['email']],
    [{ email: 'a@example.com', role: 'OPERATOR' }, ['role']],
    [{ email: 'a@example.com', role: 'MEMBER', name: 'x'.repeat(121) }, ['name']],
    [{ email: 'a@example.com', role: 'MEMBER', name: ' ' }, ['name']],
    [{ email: 'a@example.com', role: 'MEMBER', name: '\u00ad\u2060' }, ['name']],
    [{ email: 'a@example.com', role: 'MEMBER', password: PASSWORD }, ['password']],
  ])('with %j is a 400', async (body, params) => {
    const answer = await invite(body);
    expect(answer.status).toBe(400);
    const { details } = answer.body.error as unknown as { details: { param: string }[] };
    expect(details.map(({ param }) => param).sort()).toEqual(params);
  });

  it.each(['', 'x', 'A'.repeat(43)])('with the token "%s" is a 400', async (token) => {
    expect((await accept(token, PASSWORD)).body.error).toMatchObject({ code: 'invalid_request', param: 'token' });
  });
});

describe('roles', () => {
  it('hold from the next request on', async () => {
    expect((await service.call('GET', '/v1/members', { token: member.token })).status).toBe(403);
    const answer = await change(member.userId, 'ADMIN');
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ id: member.userId, object: 'member', role: 'ADMIN', status: 'active' });
    expect((await service.call('GET', '/v1/members', { token: member.token })).status).toBe(200);
    await change(member.userId, 'MEMBER');
    expect((await service.call('GET', '/v1/members', { token: member.token })).status).toBe(403);
  });

  it('of OWNER are an OWNER’s to give and to take', async () => {
    for (const answer of [
      await invite({ email: newEmail(), role: 'OWNER' }, admin.token),
      await change(member.userId, 'OWNER', admin.token),
      await change(admin.userId, 'OWNER', admin.token),
      await change(merchant.ownerId, 'MEMBER', admin.token),
      await remove(merchant.ownerId, admin.token),
    ]) {
      expect(answer.status).toBe(403);
      expect(answer.body.error).toMatchObject({ code: 'forbidden' });
    }
    // An invitation as OWNER is not an ADMIN's to weaken either.
    const email = newEmail();
    await invite({ email, role: 'OWNER' });
    expect((await invite({ email, role: 'MEMBER' }, admin.token)).status).toBe(403);
    expect((await list()).map(({ role }) => role).sort()).toEqual(['ADMIN', 'MEMBER', 'OWNER', 'OWNER']);
    // The rest is.
    expect((await change(member.userId, 'ADMIN', admin.token)).status).toBe(200);
    expect((await remove(member.userId, admin.token)).status).toBe(200);
    expect((await change(admin.userId, 'MEMBER', admin.token)).status).toBe(200);
  });

  it('leave an OWNER, one who can log in', async () => {
    for (const answer of [await remove(merchant.ownerId), await change(merchant.ownerId, 'ADMIN')]) {
      expect(answer.status).toBe(422);
      expect(answer.body.error).toMatchObject({ type: 'business_error', code: 'last_owner' });
    }
    const invited = (await invite({ email: newEmail(), role: 'OWNER' })).body;
    expect((await remove(merchant.ownerId)).body.error.code).toBe('last_owner');
    await accept(invited.invitation.token, PASSWORD);
    expect((await remove(merchant.ownerId)).status).toBe(200);
    expect(await canVisit(owner)).toBe(401);
  });

  it('survive OWNERs who remove and demote each other at once: one is left', async () => {
    for (let round = 0; round < 10; round++) {
      const { accountId, ownerId, ownerEmail } = await service.merchant();
      const owners: Person[] = [
        { userId: ownerId, email: ownerEmail, token: await service.login(ownerEmail) },
        await service.member(accountId, 'OWNER'),
        await service.member(accountId, 'OWNER'),
      ];
      const answers = await Promise.all(
        owners.flatMap(({ token }, me) =>
          owners
            .filter((_, other) => other !== me)
            .map(({ userId }) => (round % 2 === 0 ? remove(userId, token) : change(userId, 'MEMBER', token))),
        ),
      );
      const [counts] = await service.sql(
        `SELECT (SELECT count(*)::int FROM members WHERE account_id = $1 AND role = 'OWNER') AS left,
                (SELECT count(*)::int FROM audit_events WHERE account_id = $1 AND type ~ 'removed|changed') AS told`,
        [accountId],
      );
      expect({ round, ...counts }).toEqual({ round, left: 1, told: 2 });
      expect(answers.filter(({ status }) => ![200, 401, 403, 404, 422].includes(status))).toEqual([]);
    }
  });

  it('survive OWNERs who all leave at once', async () => {
    const second = await service.member(merchant.accountId, 'OWNER');
    const answers = await Promise.all([remove(merchant.ownerId), remove(second.userId, second.token)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
  });
});

describe('removing a member', () => {
  it('ends all their logins at once, also in another process, and is for ever', async () => {
    const neighbour = await TestService.start({ database: service.database, env: { JWT_SECRET } });
    try {
      const tokens = [member.token, await service.login(member.email), await neighbour.login(member.email)];
      expect(await remove(member.userId)).toMatchObject({ status: 200, body: { removed: true } });
      for (const token of tokens) {
        expect((await neighbour.call('GET', '/v1/api-keys', { token })).status).toBe(401);
        expect(await canVisit(token)).toBe(401);
      }
      expect(await loginStatus(member.email, PASSWORD)).toBe(401);
      expect((await remove(member.userId)).status).toBe(404);
    } finally {
      await neighbour.stop();
    }
  });

  it('of another account finds nobody', async () => {
    const stranger = await service.merchant();
    const theirs = await service.login(stranger.ownerEmail);
    for (const id of [member.userId, merchant.ownerId, randomUUID(), 'nobody']) {
      for (const answer of [await remove(id, theirs), await change(id, 'ADMIN', theirs)]) {
        expect({ id, status: answer.status }).toEqual({ id, status: 404 });
      }
    }
    expect(await list()).toHaveLength(3);
    expect((await list(theirs)).map(({ id }) => id)).toEqual([stranger.ownerId]);
  });
});
