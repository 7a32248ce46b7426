import { createHash, randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { AccountsService } from '../../../src/accounts/index.js';
import { SYSTEM } from '../../../src/audit/index.js';
import { Retention } from '../../../src/core/retention.js';
import { png } from '../../support/evidence.js';
import { mailsTo } from '../../support/med.js';
import { type Answer, type Merchant, PASSWORD, type Person, TestService } from '../../support/service.js';
import { claimsOf, JWT_SECRET } from '../../support/tokens.js';

interface MemberAnswer extends Record<string, unknown> {
  id: string;
  role: string;
  status: string;
  invitation: { expires_at: string };
  error: { type: string; code: string; param?: string };
}

const service = TestService.forSpec({ env: { JWT_SECRET } });
let merchant: Merchant;
let owner: string;
let admin: Person;
let member: Person;

/** Fresh people for each test, since most tests remove somebody */
beforeEach(async () => {
  merchant = await service.merchant();
  owner = await service.login(merchant.ownerEmail);
  admin = await service.member(merchant.accountId, 'ADMIN');
  member = await service.member(merchant.accountId, 'MEMBER');
});

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
  it('has every member of the account, oldest first, and no others', async () => {
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

  it.each(['GET', 'POST', 'PATCH', 'DELETE'])('is refused to a MEMBER: %s', async (method) => {
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
  it('is sent by mail alone, and makes a member once the invited person chooses a password', async () => {
    const email = newEmail();
    const answer = await invite({ email: ` ${email.toUpperCase()}`, name: ' Ana Souza ', role: 'ADMIN' });
    expect(answer.status).toBe(201);
    const { expires_at: expiresAt } = answer.body.invitation;
    const invited = {
      id: expect.any(String),
      object: 'member',
      email,
      name: 'Ana Souza',
      role: 'ADMIN',
      status: 'invited',
      created_at: expect.any(String),
      invitation: { expires_at: expect.any(String) },
    };
    expect(answer.body).toStrictEqual(invited);
    const token = await service.mailedToken(email);
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(answer.text).not.toContain(token);
    expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(7 * 86_400_000 - 60_000);
    expect((await list()).find(({ id }) => id === answer.body.id)).toStrictEqual(invited);
    expect(await loginStatus(email, '')).toBe(401);
    // Nobody becomes a user without accepting.
    expect(await service.sql('SELECT 1 FROM users WHERE email = $1', [email])).toEqual([]);

    expect((await accept(token, 'too short')).body.error).toMatchObject({ param: 'password' });
    expect((await accept(token, 'x'.repeat(257))).body.error).toMatchObject({ param: 'password' });
    expect((await accept(token, 'qwertyuiop')).body.error).toMatchObject({ param: 'password' });
    expect((await accept(token, `my ${email} today`)).body.error).toMatchObject({ param: 'password' });
    const accepted = await accept(token, 'a password of my own');
    expect({ status: accepted.status, text: accepted.text }).toEqual({ status: 204, text: '' });
    expect(await canVisit(await service.login(email, 'a password of my own'))).toBe(200);
    expect((await list()).filter((each) => each['email'] === email)).toEqual([
      expect.objectContaining({ status: 'active', role: 'ADMIN', name: 'Ana Souza' }),
    ]);
    expect((await accept(token, 'a password of another')).status).toBe(400);
    expect(await loginStatus(email, 'a password of another')).toBe(401);
  });

  it('works for one of two simultaneous uses', async () => {
    const email = newEmail();
    await invite({ email, role: 'MEMBER' });
    const token = await service.mailedToken(email);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => accept(token, `password number ${index}`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array.from({ length: 7 }, () => 400)]);
    const winner = answers.findIndex(({ status }) => status === 204);
    expect(await loginStatus(email, `password number ${winner}`)).toBe(200);
  });

  it('expires after 7 days, and ends when a new one is sent', async () => {
    const email = newEmail();
    await invite({ email, role: 'ADMIN' });
    const first = await service.mailedToken(email);
    await invite({ email, name: 'Ana', role: 'MEMBER' });
    const second = await service.mailedToken(email);
    expect((await accept(first, PASSWORD)).status).toBe(400);
    expect((await list()).filter((each) => each['email'] === email)).toHaveLength(1);
    service.clock.advance(7 * 86_400 + 1);
    owner = await service.login(merchant.ownerEmail);
    expect((await accept(second, PASSWORD)).status).toBe(400);
    expect((await list()).filter((each) => each['email'] === email)).toEqual([]);
    await service.get(Retention).remove('invitations');
    expect(await service.sql('SELECT 1 FROM invitations WHERE email = $1', [email])).toEqual([]);
    await invite({ email, role: 'MEMBER' });
    expect((await accept(await service.mailedToken(email), PASSWORD)).status).toBe(204);
    service.clock.offsetMs = 0;
  });

  it('has a token that is only in the mail, and in no table', async () => {
    const email = newEmail();
    await invite({ email, role: 'MEMBER' });
    const token = await service.mailedToken(email);
    const rows = await service.sql(
      'SELECT i::text AS row FROM invitations i UNION ALL SELECT a::text FROM audit_events a',
    );
    expect(rows.length).toBeGreaterThan(3);
    expect(rows.filter(({ row }) => String(row).includes(token))).toEqual([]);
  });

  it('links only to the service, whatever name the account has', async () => {
    const email = newEmail();
    await service.call('PATCH', '/v1/account', { token: owner, body: { name: 'Loja evil.example/login' } });
    await invite({ email, role: 'MEMBER' });
    const [mail] = await mailsTo(service, email, 1);
    expect(mail?.text_body).toContain('para a conta Loja evil….');
    expect(mail?.text_body).not.toContain('/login');
  });

  it('is withdrawn by its id', async () => {
    const email = newEmail();
    const { id } = (await invite({ email, role: 'OWNER' })).body;
    const theirs = await service.login((await service.merchant()).ownerEmail);
    expect((await remove(id, theirs)).status).toBe(404);
    expect((await remove(id, admin.token)).status).toBe(403);
    expect((await remove(id)).status).toBe(200);
    expect((await remove(id)).status).toBe(404);
    expect((await accept(await service.mailedToken(email), PASSWORD)).status).toBe(400);
  });

  it('gets the same answer for an e-mail of another account, whose owner cannot accept it', async () => {
    const operator = await service.operator();
    const elsewhere = await service.merchant();
    for (const email of [elsewhere.ownerEmail, operator.email, newEmail()]) {
      const { status, body } = await invite({ email, role: 'MEMBER' });
      expect({ status, shape: Object.keys(body), email: body['email'] }).toEqual({
        status: 201,
        shape: ['id', 'object', 'email', 'name', 'role', 'status', 'created_at', 'invitation'],
        email,
      });
    }
    for (const email of [elsewhere.ownerEmail, operator.email]) {
      const answer = await accept(await service.mailedToken(email), 'another password');
      expect(answer).toMatchObject({ status: 400, body: { error: { param: 'email' } } });
      expect(await loginStatus(email, PASSWORD)).toBe(200);
    }
    // The inviter sees their own members anyway.
    expect((await invite({ email: member.email, role: 'OWNER' })).body.error.param).toBe('email');
  });

  it('reserves no e-mail: of several accounts, the first accepted invitation wins', async () => {
    const email = newEmail();
    const tokens: string[] = [];
    const others = await Promise.all(Array.from({ length: 3 }, () => service.merchant()));
    for (const { ownerEmail } of others) {
      expect((await invite({ email, role: 'MEMBER' }, await service.login(ownerEmail))).status).toBe(201);
      tokens.push(await service.mailedToken(email));
    }
    const answers = await Promise.all(tokens.map((token) => accept(token, PASSWORD)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 400, 400]);
    const winner = others[answers.findIndex(({ status }) => status === 204)];
    expect(claimsOf(await service.login(email))['account_id']).toBe(winner?.accountId);
  });

  it('is limited to five a day per mailbox, twenty over all accounts, and fifty per account', async () => {
    const limited = await TestService.start({ database: service.database, env: { JWT_SECRET, RATE_LIMIT: 'on' } });
    try {
      const theirs = await limited.merchant();
      const token = await limited.login(theirs.ownerEmail);
      const ask = async (email: string, as = token): Promise<number> =>
        (await limited.call('POST', '/v1/members', { token: as, body: { email, role: 'MEMBER' } })).status;
      const name = randomUUID();
      const spellings = ['', '+a', ' ', '+b', '+c', '+d'].map(
        (tag) => `${tag.trim() === '' ? tag : ''}${name}${tag.trim()}@Example.com`,
      );
      const answers: number[] = [];
      for (const email of spellings) answers.push(await ask(email));
      expect(answers).toEqual([201, 201, 201, 201, 201, 429]);
      // An account uses up nothing of another's limit.
      const others: string[] = [];
      for (let n = 0; n < 4; n++) others.push(await limited.login((await limited.merchant()).ownerEmail));
      const asked: number[] = [];
      for (const other of others) {
        for (let n = 0; n < 5; n++) asked.push(await ask(`${name}@example.com`, other));
      }
      // The first invitation of an account is always sent, so that others cannot block it.
      const five = Array<number>(5).fill(201);
      expect(asked).toEqual([...five, ...five, ...five, ...five]);
      const [next, another] = [await limited.merchant(), await limited.merchant()];
      const late: number[] = [];
      for (const { ownerEmail } of [next, another]) {
        const as = await limited.login(ownerEmail);
        for (let n = 0; n < 5; n++) late.push(await ask(`${name}@example.com`, as));
      }
      expect(late).toEqual([201, 429, 429, 429, 429, 201, 429, 429, 429, 429]);
      const emails = Array.from({ length: 10 }, newEmail);
      const more: number[] = [];
      for (let n = 0; n < 46; n++) more.push(await ask(emails[n % 10] ?? ''));
      // Invitations refused for the mailbox still count for their account.
      expect(more).toEqual([...Array<number>(44).fill(201), 429, 429]);
    } finally {
      await limited.stop();
    }
  });

  it('is not sent for an account that is suspended', async () => {
    const theirs = await service.merchant();
    const token = await service.login(theirs.ownerEmail);
    await service.sql('UPDATE accounts SET suspended = true WHERE id = $1', [theirs.accountId]);
    const answer = await invite({ email: newEmail(), role: 'MEMBER' }, token);
    expect([answer.status, answer.body.error.code]).toEqual([403, 'account_suspended']);
  });

  it('is refused when 20 others wait already', async () => {
    const emails = Array.from({ length: 21 }, newEmail);
    const answers = [];
    for (const email of emails) answers.push(await invite({ email, role: 'MEMBER' }));
    expect(answers.map(({ status }) => status)).toEqual([...Array.from({ length: 20 }, () => 201), 422]);
    expect(answers[20]?.body.error).toMatchObject({ code: 'invitation_limit_reached' });
    expect((await invite({ email: emails[3], role: 'ADMIN' })).status).toBe(201);
    await remove(answers[0]?.body.id ?? '');
    expect((await invite({ email: emails[20], role: 'MEMBER' })).status).toBe(201);
  });

  it('brings back a removed member, who then chooses a new password', async () => {
    const old = await service.login(member.email);
    await remove(member.userId);
    const elsewhere = await service.merchant();
    await invite({ email: member.email, role: 'ADMIN' }, await service.login(elsewhere.ownerEmail));
    expect(await loginStatus(member.email, PASSWORD)).toBe(401);
    expect((await accept(await service.mailedToken(member.email), 'another password')).status).toBe(204);
    const token = await service.login(member.email, 'another password');
    expect(claimsOf(token)['sub']).toBe(member.userId);
    expect((await service.call('GET', '/v1/members', { token })).status).toBe(200);
    expect(await canVisit(old)).toBe(401);
  });

  it('sent by several accounts at once brings a removed member back once', async () => {
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

  it('sent twice at once to one new e-mail makes one member', async () => {
    const email = newEmail();
    const answers = await Promise.all(Array.from({ length: 6 }, () => invite({ email, role: 'MEMBER' })));
    expect(answers.filter(({ status }) => status === 201).length).toBeGreaterThan(0);
    expect(answers.filter(({ status }) => status !== 201 && status !== 400)).toEqual([]);
    expect((await list()).filter((each) => each['email'] === email)).toHaveLength(1);
  });

  it('treats different spellings of an e-mail as one', async () => {
    const name = newEmail().split('@')[0];
    const { body } = await invite({ email: `${name}＠ＥＸＡＭＰＬＥ.com`, role: 'MEMBER' });
    expect(body['email']).toBe(`${name}@example.com`);
    const elsewhere = await invite({ email: `${name}@Café.example`, role: 'MEMBER' });
    expect(elsewhere.body['email']).toBe(`${name}@xn--caf-dma.example`);
  });

  it.each([
    [{}, ['email', 'role']],
    [{ email: 'nobody', role: 'MEMBER' }, ['email']],
    [{ email: 'аna@example.com', role: 'MEMBER' }, ['email']], // a Cyrillic letter
    [{ email: '"ana b"@example.com', role: 'MEMBER' }, ['email']],
    [{ email: 'a@example.com, b@example.com', role: 'MEMBER' }, ['email']],
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
  it('apply from the next request on', async () => {
    expect((await service.call('GET', '/v1/members', { token: member.token })).status).toBe(403);
    const answer = await change(member.userId, 'ADMIN');
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ id: member.userId, object: 'member', role: 'ADMIN', status: 'active' });
    expect((await service.call('GET', '/v1/members', { token: member.token })).status).toBe(200);
    await change(member.userId, 'MEMBER');
    expect((await service.call('GET', '/v1/members', { token: member.token })).status).toBe(403);
  });

  it('can be given and taken as OWNER by an OWNER only', async () => {
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
    // An ADMIN may not change an invitation as OWNER either.
    const email = newEmail();
    await invite({ email, role: 'OWNER' });
    expect((await invite({ email, role: 'MEMBER' }, admin.token)).status).toBe(403);
    expect((await list()).map(({ role }) => role).sort()).toEqual(['ADMIN', 'MEMBER', 'OWNER', 'OWNER']);
    // An ADMIN may change all other roles.
    expect((await change(member.userId, 'ADMIN', admin.token)).status).toBe(200);
    expect((await remove(member.userId, admin.token)).status).toBe(200);
    expect((await change(admin.userId, 'MEMBER', admin.token)).status).toBe(200);
  });

  it('always leave an OWNER who can log in', async () => {
    for (const answer of [await remove(merchant.ownerId), await change(merchant.ownerId, 'ADMIN')]) {
      expect(answer.status).toBe(422);
      expect(answer.body.error).toMatchObject({ type: 'business_error', code: 'last_owner' });
    }
    const email = newEmail();
    await invite({ email, role: 'OWNER' });
    expect((await remove(merchant.ownerId)).body.error.code).toBe('last_owner');
    await accept(await service.mailedToken(email), PASSWORD);
    expect((await remove(merchant.ownerId)).status).toBe(200);
    expect(await canVisit(owner)).toBe(401);
  });

  it('leave one OWNER when OWNERs remove and demote each other at once', async () => {
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

  it('leave an OWNER when all leave at once', async () => {
    const second = await service.member(merchant.accountId, 'OWNER');
    const answers = await Promise.all([remove(merchant.ownerId), remove(second.userId, second.token)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
  });
});

describe('removing a member', () => {
  it('names every key that the member has issued to the owners, even one of that moment', async () => {
    const issue = (): Promise<Answer<MemberAnswer & { label: string }>> =>
      service.call('POST', '/v1/api-keys', { token: admin.token, body: { test: true } });
    const early = await Promise.all(Array.from({ length: 3 }, issue));
    const [removed, ...late] = await Promise.all([remove(admin.userId), ...Array.from({ length: 12 }, issue)]);
    expect(removed.status).toBe(200);
    const ids = [...early, ...late].filter(({ status }) => status === 201).map(({ body }) => body.id);
    const mail = (await mailsTo(service, merchant.ownerEmail, 1)).at(-1);
    for (const id of ids) expect(mail?.text_body).toContain(id);
  });

  it('ends all sessions of the member at once in every process, permanently', async () => {
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

  it('ends the invitations that the member has sent, and no others', async () => {
    const admin = await service.member(merchant.accountId, 'ADMIN');
    const [theirs, mine] = [newEmail(), newEmail()];
    expect((await invite({ email: theirs, role: 'ADMIN' }, admin.token)).status).toBe(201);
    expect((await invite({ email: mine, role: 'MEMBER' })).status).toBe(201);
    const tokens = [await service.mailedToken(theirs), await service.mailedToken(mine)];
    expect((await remove(admin.userId)).status).toBe(200);
    const answers = await Promise.all(tokens.map((token) => accept(token, PASSWORD)));
    expect(answers.map(({ status }) => status)).toEqual([400, 204]);
  });

  it('ends invitations above the new role after a change of role, and keeps those below it', async () => {
    const [down, up] = [
      await service.member(merchant.accountId, 'ADMIN'),
      await service.member(merchant.accountId, 'ADMIN'),
    ];
    const emails = [newEmail(), newEmail()];
    for (const [index, { token }] of [down, up].entries()) {
      expect((await invite({ email: emails[index] ?? '', role: 'ADMIN' }, token)).status).toBe(201);
    }
    const tokens = await Promise.all(emails.map((email) => service.mailedToken(email)));
    expect((await change(down.userId, 'MEMBER')).status).toBe(200);
    expect((await change(up.userId, 'OWNER')).status).toBe(200);
    const answers = await Promise.all(tokens.map((token) => accept(token, PASSWORD)));
    expect(answers.map(({ status }) => status)).toEqual([400, 204]);
  });

  it('finds no member of another account', async () => {
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

describe('the settings of an account', () => {
  const settings = (body: object, token = owner): Promise<Answer<Record<string, unknown>>> =>
    service.call('PATCH', '/v1/account', { token, body });

  it('are changed by an OWNER only, and shown to every member of the account', async () => {
    const before = (await service.call<Record<string, unknown>>('GET', '/v1/account', { token: member.token })).body;
    const changed = await settings({ city: 'Recife', accent: '#0b6b60', payer_receipts: false });
    expect(changed.body).toEqual({ ...before, city: 'Recife', accent: '#0b6b60', payer_receipts: false });
    expect((await service.call('GET', '/v1/account', { token: member.token })).body).toEqual(changed.body);
    expect((await settings({ city: 'Natal' }, admin.token)).status).toBe(403);
    expect((await settings({ fee_bps: 0 })).status).toBe(400);
  });

  it('show every member the tax id, which an operator sets', async () => {
    expect((await settings({ tax_id: '52998224725' })).status).toBe(400);
    await service.sql(`UPDATE accounts SET tax_id = '52998224725' WHERE id = $1`, [merchant.accountId]);
    const shown = await service.call('GET', '/v1/account', { token: member.token });
    expect(shown.body).toMatchObject({ tax_id: '52998224725' });
  });

  it.each(['payout_approval_above', 'payout_max', 'payout_daily_max', 'payout_night_max'])(
    'let an OWNER lower %s, and nobody but an operator raise or remove it',
    async (name) => {
      const set = async (value: number | null, token = owner): Promise<unknown> => {
        const { status, body } = await settings({ [name]: value }, token);
        return status === 200 ? body[name] : status;
      };
      expect(await set(5_000, admin.token)).toBe(403);
      expect(await set(5_000, member.token)).toBe(403);
      expect([await set(5_000), await set(5_000), await set(4_999), await set(0)]).toEqual([5_000, 5_000, 4_999, 0]);
      expect([await set(1), await set(null)]).toEqual([403, 403]);
      const refused = await settings({ [name]: 1, city: 'Natal' });
      expect(refused.body['error']).toMatchObject({ code: 'forbidden', message: expect.stringContaining(name) });
      const { token } = await service.operator();
      const path = `/v1/operations/accounts/${merchant.accountId}`;
      const raised = await service.call<Record<string, unknown>>('PATCH', path, { token, body: { [name]: null } });
      expect([raised.status, raised.body[name]]).toEqual([200, null]);
    },
  );

  it('let no OWNER raise a limit above the default of live mode', async () => {
    expect((await settings({ payout_night_max: 100_001 })).status).toBe(403);
    expect((await settings({ payout_night_max: 100_000 })).status).toBe(200);
  });

  it('record no change when an empty setting is emptied, and keep the settings that are not named', async () => {
    const told = async (): Promise<unknown[]> => {
      const events = await service.sql<{ data: { changes: unknown } }>(
        `SELECT data FROM audit_events WHERE account_id = $1 AND type = 'account.settings_changed' ORDER BY id`,
        [merchant.accountId],
      );
      return events.map(({ data }) => data.changes);
    };
    expect((await settings({ accent: null, logo: null, city: 'Belém' })).status).toBe(200);
    const before = await told();
    expect((await settings({ accent: null, logo: null })).status).toBe(200);
    expect(await told()).toEqual(before);
    expect((await settings({ accent: '#0b6b60' })).body).toMatchObject({ accent: '#0b6b60', city: 'Belém' });
    expect((await settings({ accent: null })).body).toMatchObject({ accent: null, city: 'Belém' });
    expect((await told()).slice(before.length)).toEqual([
      { accent: { from: null, to: '#0b6b60' } },
      { accent: { from: '#0b6b60', to: null } },
    ]);
  });

  it('are recorded in the audit trail, a picture by its name only', async () => {
    const logo = `data:image/png;base64,${png(12_000).toString('base64')}`;
    expect((await settings({ logo })).status).toBe(200);
    const { data } = (
      await service.call<{ data: { type: string; data: object }[] }>('GET', '/v1/audit-events', { token: owner })
    ).body;
    const { changes } = data.find(({ type }) => type === 'account.settings_changed')?.data as {
      changes: { logo: { from: unknown; to: string } };
    };
    expect(changes.logo).toEqual({
      from: null,
      to: `${String(logo.length)} characters, SHA-256 ${createHash('sha256').update(logo).digest('hex')}`,
    });
  });

  it('notify the old address once when the contact address changes', async () => {
    const old = newEmail();
    expect((await settings({ name: 'Loja https://evil.example' })).status).toBe(200);
    expect((await settings({ contact_email: old })).status).toBe(200);
    const [first] = await mailsTo(service, merchant.ownerEmail, 1);
    expect(first?.subject).toBe('E-mail da conta alterado / Account e-mail changed');
    // The name is chosen by others, so it must not become a link.
    expect(first?.text_body).toContain('A conta Loja … passou');
    // The new address is left out: the old mailbox may belong to somebody who has left.
    expect(first?.text_body).not.toContain(old);
    expect((await settings({ contact_email: old, city: 'Natal' })).status).toBe(200);
    expect((await settings({ contact_email: newEmail() })).status).toBe(200);
    expect(await mailsTo(service, old, 1)).toHaveLength(1);
    expect(await mailsTo(service, merchant.ownerEmail, 1)).toHaveLength(1);
  });

  it('change the contact address at most ten times a day, and mail each time to the previous one', async () => {
    const limited = await TestService.start({ database: service.database, env: { JWT_SECRET, RATE_LIMIT: 'on' } });
    try {
      const statuses: number[] = [];
      for (let n = 0; n < 11; n++) {
        const body = { contact_email: newEmail() };
        statuses.push((await limited.call('PATCH', '/v1/account', { token: owner, body })).status);
      }
      expect(statuses).toEqual([...Array<number>(10).fill(200), 429]);
      const same = { city: 'Natal' };
      expect((await limited.call('PATCH', '/v1/account', { token: owner, body: same })).status).toBe(200);
    } finally {
      await limited.stop();
    }
  });

  it('refuse a contact address whose domain reverses the following text', async () => {
    expect((await settings({ contact_email: 'a@b\u202eexample.com' })).status).toBe(400);
  });
});
