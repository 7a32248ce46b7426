import { createHash, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ApiKeyAuthentication } from '../../../src/api-keys/api-key-authentication.service.js';
import { SandboxService } from '../../../src/sandbox/index.js';
import { trial } from '../../support/scale.js';
import { type Answer, type Merchant, type Person, TestService } from '../../support/service.js';
import { JWT_SECRET } from '../../support/tokens.js';

interface IssuedKey extends Record<string, unknown> {
  id: string;
  apiKey: string;
  fingerprint: string;
  label: string | null;
}
interface KeyList extends Record<string, unknown> {
  data: { id: string; label: string | null }[];
  access: { canManage: boolean };
}
interface ErrorAnswer extends Record<string, unknown> {
  error: { type: string; code: string; param?: string };
}

const service = TestService.forSpec({ env: { JWT_SECRET } });
let merchant: Merchant;
let stranger: Merchant;
let owner: string;
let admin: Person;
let member: Person;

beforeAll(async () => {
  [merchant, stranger] = [await service.merchant(), await service.merchant()];
  owner = await service.login(merchant.ownerEmail);
  admin = await service.member(merchant.accountId, 'ADMIN');
  member = await service.member(merchant.accountId, 'MEMBER');
});

function issue(body: object = {}, token = owner): Promise<Answer<IssuedKey>> {
  return service.call<IssuedKey>('POST', '/v1/api-keys', { token, body });
}
function rotate(id: string, body?: object, token = owner, at = service): Promise<Answer<IssuedKey>> {
  return at.call<IssuedKey>('POST', `/v1/api-keys/${id}/rotate`, { token, ...(body ? { body } : {}) });
}
function revoke(id: string, token = owner, at = service): Promise<Answer> {
  return at.call('DELETE', `/v1/api-keys/${id}`, { token });
}
async function list(token = owner): Promise<KeyList> {
  return (await service.call<KeyList>('GET', '/v1/api-keys', { token })).body;
}
async function statusWith(key: string, at = service): Promise<number> {
  return (await at.call('GET', '/v1/wallets', { key })).status;
}

describe('issuing a key', () => {
  it.each([
    [{}, 'live', null],
    [{ test: false }, 'live', null],
    [{ test: true, label: 'Caixa 1' }, 'test', 'Caixa 1'],
    [{ label: 'x'.repeat(64) }, 'live', 'x'.repeat(64)],
    [{ label: '🧉'.repeat(64), test: true }, 'test', '🧉'.repeat(64)],
    [{ label: '' }, 'live', null],
  ])('with %j returns a key in the format of the contract', async (body, mode, label) => {
    const answer = await issue(body);
    expect(answer.status).toBe(201);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const { apiKey } = answer.body;
    expect(apiKey).toMatch(new RegExp(`^ak_${mode}_[A-Za-z0-9_-]{32}$`));
    expect(answer.body).toStrictEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/),
      apiKey,
      fingerprint: `sha256:${createHash('sha256').update(apiKey).digest('hex').slice(0, 16)}`,
      prefix: apiKey.slice(0, 12),
      label,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      mode,
    });
    expect(await statusWith(apiKey)).toBe(200);
  });

  it.each([
    [{ label: 'x'.repeat(65) }, 'label'],
    [{ label: 1 }, 'label'],
    [{ test: 'true' }, 'test'],
    // A misspelt field must not give a live key to a caller who meant a test key.
    [{ test: null }, 'test'],
    [{ mode: 'test' }, 'mode'],
  ])('with %j is a 400 that names the field', async (body, param) => {
    const answer = await issue(body);
    expect(answer.status).toBe(400);
    expect((answer.body as unknown as ErrorAnswer).error).toMatchObject({ code: 'invalid_request', param });
  });

  it('stores only the hash and prefix of a key', async () => {
    const { body } = await issue({ test: true });
    const [row] = await service.sql('SELECT * FROM api_keys WHERE id = $1', [body.id]);
    expect(JSON.stringify(row)).not.toContain(body.apiKey.slice(12));
  });
});

describe('listing keys', () => {
  it('shows the working keys of both modes, without their secrets, and the permissions of the caller', async () => {
    const fresh = await service.merchant();
    const token = await service.login(fresh.ownerEmail);
    const made = (await issue({ label: 'Loja', test: true }, token)).body;
    const answer = await list(token);
    expect(Object.keys(answer).sort()).toEqual(['access', 'data']);
    expect(answer.data).toHaveLength(3);
    expect(answer.data[0]).toStrictEqual({
      id: made.id,
      prefix: made.apiKey.slice(0, 12),
      label: 'Loja',
      createdAt: made['createdAt'],
      mode: 'test',
    });
    await revoke(made.id, token);
    expect((await list(token)).data).toHaveLength(2);
  });

  it('says who may manage keys', async () => {
    expect((await list()).access).toEqual({ canManage: true });
    expect((await list(admin.token)).access).toEqual({ canManage: true });
    expect((await list(member.token)).access).toEqual({ canManage: false });
  });
});

describe('rotating a key', () => {
  it.each(['test', 'live'])('a %s key issues a new key of its mode and ends the old one', async (mode) => {
    const old = (await issue({ test: mode === 'test', label: 'Loja' })).body;
    const answer = await rotate(old.id);
    expect(answer.status).toBe(201);
    expect(Object.keys(answer.body).sort()).toEqual(Object.keys(old).sort());
    expect(answer.body).toMatchObject({ mode, label: 'Loja', apiKey: expect.stringContaining(`ak_${mode}_`) });
    expect(answer.body.id).not.toBe(old.id);
    expect([await statusWith(old.apiKey), await statusWith(answer.body.apiKey)]).toEqual([401, 200]);
    const again = await rotate(answer.body.id, { label: 'Loja nova' });
    expect(again.body.label).toBe('Loja nova');
  });

  it('with a bad label fails and changes nothing', async () => {
    const key = (await issue()).body;
    expect((await rotate(key.id, { label: 'x'.repeat(65) })).status).toBe(400);
    expect((await rotate(key.id, { label: 5 })).status).toBe(400);
    expect((await rotate(key.id, { test: true })).status).toBe(400);
    expect(await statusWith(key.apiKey)).toBe(200);
  });

  it('100 times at once leaves exactly one live key', async () => {
    const fresh = await service.merchant();
    const token = await service.login(fresh.ownerEmail);
    const before = (await list(token)).data.length;
    const key = (await issue({ label: 'Contested' }, token)).body;
    const answers = await Promise.all(Array.from({ length: 100 }, () => rotate(key.id, undefined, token)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array.from({ length: 99 }, () => 404)]);
    const after = (await list(token)).data;
    expect(after).toHaveLength(before + 1);
    const winner = answers.find(({ status }) => status === 201)?.body;
    expect(after.filter(({ label }) => label === 'Contested').map(({ id }) => id)).toEqual([winner?.id]);
    expect([await statusWith(key.apiKey), await statusWith(winner?.apiKey ?? '')]).toEqual([401, 200]);
  });
});

describe('revoking a key', () => {
  it('ends it at once and permanently', async () => {
    const key = (await issue()).body;
    const answer = await revoke(key.id);
    expect({ status: answer.status, body: answer.body }).toEqual({ status: 200, body: { revoked: true } });
    expect(await statusWith(key.apiKey)).toBe(401);
    expect((await revoke(key.id)).status).toBe(404);
    expect((await rotate(key.id)).status).toBe(404);
    expect(await statusWith(key.apiKey)).toBe(401);
  });

  it('in test mode leaves its charges open, and another test key sees them', async () => {
    const [first, second] = [(await issue({ test: true })).body, (await issue({ test: true })).body];
    const charge = await service.createCharge(first.apiKey);
    await revoke(first.id);
    expect((await service.getCharge(second.apiKey, charge.body.id)).status).toBe(200);
  });
});

describe('the roles that may manage keys', () => {
  it('lets an OWNER and an ADMIN issue, rotate and revoke', async () => {
    for (const token of [owner, admin.token]) {
      const key = await issue({}, token);
      expect(key.status).toBe(201);
      const rotated = await rotate(key.body.id, undefined, token);
      expect(rotated.status).toBe(201);
      expect((await revoke(rotated.body.id, token)).status).toBe(200);
    }
  });

  it('answers API_KEY_ROLE_REQUIRED to a MEMBER, whatever the id and the body, and changes nothing', async () => {
    const key = (await issue()).body;
    const operator = await service.operator();
    for (const { token } of [member, operator]) {
      for (const answer of [
        await issue({}, token),
        await issue({ nonsense: 1 }, token),
        await rotate(key.id, undefined, token),
        await rotate('nobody', undefined, token),
        await revoke(key.id, token),
        await revoke(randomUUID(), token),
      ]) {
        expect(answer.status).toBe(403);
        expect((answer.body as unknown as ErrorAnswer).error).toMatchObject({
          type: 'permission_error',
          code: 'API_KEY_ROLE_REQUIRED',
        });
      }
    }
    expect(await statusWith(key.apiKey)).toBe(200);
  });

  it('shows no key to another account, which can revoke none', async () => {
    const theirs = await service.login(stranger.ownerEmail);
    const key = (await issue()).body;
    const before = await list();
    for (const id of [key.id, key.id.toUpperCase(), randomUUID(), 'nobody', `ak_${key.id}`, "' OR true --"]) {
      const path = encodeURIComponent(id);
      for (const answer of [await rotate(path, undefined, theirs), await revoke(path, theirs)]) {
        expect(answer.status).toBe(404);
        expect((answer.body as unknown as ErrorAnswer).error).toMatchObject({ code: 'not_found' });
      }
    }
    expect(await list()).toEqual(before);
    expect(await statusWith(key.apiKey)).toBe(200);
    expect((await list(theirs)).data.map(({ id }) => id)).not.toContain(key.id);
  });
});

describe('operators', () => {
  it('can revoke a key of any account', async () => {
    const { token } = await service.operator();
    const key = (await issue({ test: true })).body;
    const answer = await service.call('DELETE', `/v1/operations/api-keys/${key.id}`, { token });
    expect({ status: answer.status, body: answer.body }).toEqual({ status: 200, body: { revoked: true } });
    expect(await statusWith(key.apiKey)).toBe(401);
    expect((await service.call('DELETE', `/v1/operations/api-keys/${key.id}`, { token })).status).toBe(404);
  });

  it('can find an account by a part of its name or e-mail, and see its keys', async () => {
    const { token } = await service.operator();
    const found = async (query: string): Promise<string[]> => {
      const path = `/v1/operations/accounts?limit=100&query=${encodeURIComponent(query)}`;
      const { body } = await service.call<{ data: { id: string }[] }>('GET', path, { token });
      return body.data.map(({ id }) => id);
    };
    const path = `/v1/operations/accounts/${merchant.accountId}`;
    const name = 'Açougue 100% _Bom_';
    await service.call('PATCH', path, { token, body: { name, contact_email: 'Caixa@acougue.example' } });
    for (const query of ['100% _b', 'AÇOUGUE', 'caixa@ACOUGUE', merchant.accountId]) {
      expect(await found(query)).toEqual([merchant.accountId]);
    }
    for (const query of ['100%_', '%%', 'nobody']) expect(await found(query)).toEqual([]);
    const { status, body } = await service.call<{ data: { id: string; prefix: string }[]; access: unknown }>(
      'GET',
      `${path}/api-keys`,
      { token },
    );
    const own = await service.call<{ data: unknown }>('GET', '/v1/api-keys', {
      token: await service.login(merchant.ownerEmail),
    });
    expect(status).toBe(200);
    expect(body).toEqual({ data: own.body.data, access: { canManage: false } });
    const nobody = '/v1/operations/accounts/01a20000-0000-7000-8000-000000000000/api-keys';
    expect((await service.call('GET', nobody, { token })).status).toBe(404);
  });

  it('can suspend an account: its keys are refused in every process, its people log in, its charges are paid', async () => {
    const { token } = await service.operator();
    const other = await service.merchant();
    const charge = (await service.createCharge(other.testKey)).body;
    const suspend = async (suspended: boolean) => {
      const path = `/v1/operations/accounts/${other.accountId}`;
      const answer = await service.call('PATCH', path, { token, body: { suspended } });
      expect(answer.body).toMatchObject({ suspended });
    };
    await suspend(true);
    for (const key of [other.testKey, other.liveKey]) {
      const answer = await service.call<ErrorAnswer>('GET', '/v1/wallets', { key });
      expect(answer.status).toBe(403);
      expect(answer.body.error).toMatchObject({ type: 'permission_error', code: 'account_suspended' });
    }
    expect(await statusWith(merchant.testKey)).toBe(200);
    const login = await service.login(other.ownerEmail);
    expect((await service.call('GET', '/v1/api-keys', { token: login })).status).toBe(200);
    const issued = await service.call<ErrorAnswer>('POST', '/v1/api-keys', { token: login, body: { test: true } });
    expect(issued.body.error.code).toBe('account_suspended');
    const { body: keys } = await service.call<{ data: { id: string }[] }>('GET', '/v1/api-keys', { token: login });
    for (const [method, path, body] of [
      ['POST', `/v1/api-keys/${keys.data[0]?.id ?? ''}/rotate`, {}],
      ['PATCH', '/v1/account', { city: 'Natal' }],
    ] as const) {
      const answer = await service.call<ErrorAnswer>(method, path, { token: login, body });
      expect([answer.status, answer.body.error.code]).toEqual([403, 'account_suspended']);
    }
    await service
      .get(SandboxService)
      .simulate({ accountId: other.accountId, mode: 'test' }, charge.id, { event: 'pay' });
    await suspend(false);
    expect((await service.getCharge(other.testKey, charge.id)).body.status).toBe('paid');
    const audit = await service.call<{ data: { type: string; data: unknown }[] }>('GET', '/v1/audit-events', {
      token: login,
    });
    expect(audit.body.data.filter(({ type }) => type === 'account.settings_changed').map(({ data }) => data)).toEqual([
      { changes: { suspended: { from: true, to: false } } },
      { changes: { suspended: { from: false, to: true } } },
    ]);
  });
});

describe('keys of a member who is removed or made a MEMBER', () => {
  const toldOwners = (accountId: string): Promise<{ recipient: string; subject: string; text_body: string }[]> =>
    service.sql(
      `SELECT recipient, subject, text_body FROM emails WHERE account_id = $1 AND subject LIKE 'Chaves e webhooks%'`,
      [accountId],
    );

  it.each([
    ['removed', 'DELETE', 'Ana … (%) não faz mais parte da conta.', 'Ana … (%) is no member of the account any more.'],
    [
      'made a MEMBER',
      'PATCH',
      'Ana … (%) continua na conta, agora com o papel MEMBER.',
      'Ana … (%) stays in the account, with the role MEMBER now.',
    ],
  ])('names the keys to the owners, since they go on working: %s', async (_, method, ...said) => {
    const account = await service.merchant();
    const token = await service.login(account.ownerEmail);
    const leaver = await service.member(account.accountId, 'OWNER');
    const idle = await service.member(account.accountId, 'ADMIN');
    await service.call('PATCH', '/v1/auth/user', { token: leaver.token, body: { name: 'Ana https://evil.example' } });
    const left = (await issue({ test: true, label: 'Caixa 7 evil.example/login' }, leaver.token)).body;
    const revoked = (await issue({ test: true }, leaver.token)).body;
    await revoke(revoked.id, token);
    const others = (await issue({ test: true }, token)).body;
    const loses = async ({ userId }: Person, role: string): Promise<number> => {
      const body = method === 'PATCH' ? { body: { role } } : {};
      return (await service.call(method, `/v1/members/${userId}`, { token, ...body })).status;
    };
    if (method === 'PATCH') expect(await loses(leaver, 'ADMIN')).toBe(200);
    for (const person of [leaver, idle]) expect(await loses(person, 'MEMBER')).toBe(200);
    expect(await statusWith(left.apiKey)).toBe(200);
    const mails = await toldOwners(account.accountId);
    expect(mails.map(({ recipient, subject }) => [recipient, subject])).toEqual([
      [account.ownerEmail, 'Chaves e webhooks de Ana … / Keys and webhooks of Ana …'],
    ]);
    expect(mails[0]?.text_body).not.toContain('evil.example');
    expect(mails[0]?.text_body).toContain(`${left.apiKey.slice(0, 12)}… Caixa 7 evil… (${left.id})`);
    for (const words of said) expect(mails[0]?.text_body).toContain(words.replace('%', leaver.email));
    for (const other of [revoked, others]) expect(mails[0]?.text_body).not.toContain(other.id);
    expect(mails[0]?.text_body).not.toContain(left.apiKey);
  });

  it.each(['removed', 'made a MEMBER'])('names the webhooks to the owners, even without keys: %s', async (end) => {
    const account = await service.merchant();
    const token = await service.login(account.ownerEmail);
    const leaver = await service.member(account.accountId, 'ADMIN');
    const write = async (as: string, path: string, body: object = {}, method = 'POST'): Promise<string> => {
      const at = `/v1/dashboard/test/webhooks/${path}`;
      const answer = await service.call<{ id?: string }>(method, at, {
        token: as,
        ...(method === 'DELETE' ? {} : { body }),
      });
      expect([path, answer.status]).toEqual([path, method === 'POST' && path === 'endpoints' ? 201 : 200]);
      return answer.body.id ?? '';
    };
    const register = (as: string, host: string): Promise<string> =>
      write(as, 'endpoints', { url: `https://${host}.example/hidden`, events: ['*'] });
    const registered = await register(leaver.token, 'first');
    const deleted = await register(leaver.token, 'second');
    const [rotated, moved, others] = [
      await register(token, 'third'),
      await register(token, 'fourth'),
      await register(token, 'fifth'),
    ];
    await write(leaver.token, `endpoints/${rotated}/rotate-secret`);
    await write(leaver.token, `endpoints/${moved}`, { url: 'https://elsewhere.example/hidden' }, 'PATCH');
    await write(token, `endpoints/${others}/rotate-secret`);
    await write(leaver.token, 'default-secret/rotate');
    await write(token, `endpoints/${deleted}`, {}, 'DELETE');
    const path = `/v1/members/${leaver.userId}`;
    const answer = await (end === 'removed'
      ? service.call('DELETE', path, { token })
      : service.call('PATCH', path, { token, body: { role: 'MEMBER' } }));
    expect(answer.status).toBe(200);
    const [mail, ...more] = await toldOwners(account.accountId);
    expect([mail?.recipient, more]).toEqual([account.ownerEmail, []]);
    const text = mail?.text_body ?? '';
    const named = [
      `first.example (wh_${registered}, test)`,
      `third.example (wh_${rotated}, test)`,
      `elsewhere.example (wh_${moved}, test)`,
    ];
    expect(text.split('\n').filter((line) => line.includes('(wh_'))).toEqual([...named, ...named]);
    expect(text).toMatch(/segredo padrão[^\n]*\n\ntest: \d{4}-\d\d-\d\d \d\d:\d\d UTC\n/);
    for (const unsaid of ['chaves de API', 'hidden', deleted, others]) expect(text).not.toContain(unsaid);
  });
});

describe('the rate limit of key management', () => {
  it('applies before the role check, and separately to people and programs', async () => {
    const env = { JWT_SECRET, RATE_LIMIT: 'on', RATE_LIMIT_RATE: '1', RATE_LIMIT_BURST: '3' };
    const limited = await TestService.start({ database: service.database, env, stillLimits: true });
    try {
      const answers = await Promise.all(
        Array.from({ length: 30 }, () => limited.call<ErrorAnswer>('POST', '/v1/api-keys', { token: member.token })),
      );
      expect(new Set(answers.map(({ status, body }) => `${status} ${body.error.code}`))).toEqual(
        new Set(['403 API_KEY_ROLE_REQUIRED', '429 rate_limited']),
      );
      expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(20);
      expect(await statusWith(merchant.testKey, limited)).toBe(200);
      // Failed authentications have their own limit per address.
      const strangers = await Promise.all(
        Array.from({ length: 70 }, () => limited.call('GET', '/v1/members', { token: 'a.b.c' })),
      );
      expect(new Set(strangers.map(({ status }) => status))).toEqual(new Set([401, 429]));
    } finally {
      await limited.stop();
    }
  });
});

/** Changes of keys that each of four chains makes */
const CHANGES = trial(250, 50);

describe('between processes', () => {
  it(`a key that was rotated or revoked in one process is refused by another on the next request, ${4 * CHANGES} times under load`, async () => {
    const neighbour = await TestService.start({ database: service.database, env: { JWT_SECRET } });
    const busy = await service.merchant();
    let over = false;
    let served = 0;
    const load = (async () => {
      while (!over) {
        const at = served++ % 2 === 0 ? service : neighbour;
        if ((await statusWith(busy.testKey, at)) !== 200) throw new Error('A key that was not touched was refused');
      }
    })();
    /** Each chain has its own key, changes it in one process and at once uses it in the other. */
    const chain = async (from: TestService, to: TestService): Promise<void> => {
      let key = (await issue({ test: true })).body;
      for (let round = 0; round < CHANGES; round++) {
        if (round % 25 === 0) expect(await statusWith(key.apiKey, to)).toBe(200);
        const rotates = round % 5 !== 0;
        const answer = rotates ? await rotate(key.id, undefined, owner, from) : await revoke(key.id, owner, from);
        expect({ round, status: answer.status }).toEqual({ round, status: rotates ? 201 : 200 });
        expect({ round, status: await statusWith(key.apiKey, to) }).toEqual({ round, status: 401 });
        key = rotates ? (answer.body as IssuedKey) : (await issue({ test: true })).body;
      }
    };
    try {
      await Promise.all([
        chain(service, neighbour),
        chain(neighbour, service),
        chain(service, neighbour),
        chain(neighbour, service),
      ]);
    } finally {
      over = true;
      await load;
      await neighbour.stop();
    }
    expect(served).toBeGreaterThan(0.8 * CHANGES);
  }, 120_000);
});

// Runs last, since it moves this process’s clock and no other’s.
describe('terms of a key', () => {
  const details = async (id: string, token = owner) => service.call('GET', `/v1/api-keys/${id}`, { token });
  /** Logins end after an hour. */
  const later = async (seconds: number): Promise<void> => {
    service.clock.advance(seconds);
    owner = await service.login(merchant.ownerEmail);
    member = { ...member, token: await service.login(member.email) };
  };
  const errorWith = async (key: string, headers: Record<string, string> = {}, at = service) => {
    const { status, body } = await at.call<ErrorAnswer>('GET', '/v1/wallets', { key, headers });
    return `${status} ${body.error.code}`;
  };

  it('are shown with the key, and the list of keys stays as it was', async () => {
    const allowed_ips = ['127.0.0.1', '2001:db8::/32'];
    const made = await issue({ test: true, expires_at: '2099-12-31', allowed_ips });
    const { apiKey: _, ...shown } = made.body;
    const answer = await details(made.body.id, member.token);
    expect(answer.body).toStrictEqual({
      ...shown,
      issued_by: merchant.ownerId,
      last_used_at: null,
      expires_at: '2100-01-01T02:59:59.999Z',
      allowed_ips,
    });
    expect(Object.keys((await list()).data[0] ?? {}).sort()).toEqual(['createdAt', 'id', 'label', 'mode', 'prefix']);
    expect((await details(made.body.id, await service.login(stranger.ownerEmail))).status).toBe(404);
    await revoke(made.body.id);
    expect((await details(made.body.id)).status).toBe(404);
  });

  it.each([
    [{ expires_at: '2020-01-01' }, 'expires_at'],
    [{ expires_at: '2026-02-30' }, 'expires_at'],
    [{ expires_at: 1 }, 'expires_at'],
    [{ allowed_ips: '127.0.0.1' }, 'allowed_ips'],
    [{ allowed_ips: null }, 'allowed_ips'],
    [{ allowed_ips: ['localhost'] }, 'allowed_ips[0]'],
    [{ allowed_ips: ['10.0.0.0/33'] }, 'allowed_ips[0]'],
    [{ allowed_ips: Array.from({ length: 51 }, () => '10.0.0.1') }, 'allowed_ips'],
  ])('such as %j are a 400 that names the field', async (body, param) => {
    const key = (await issue({ test: true })).body;
    for (const answer of [await issue({ test: true, ...body }), await rotate(key.id, body)]) {
      expect(answer.status).toBe(400);
      expect((answer.body as unknown as ErrorAnswer).error).toMatchObject({ code: 'invalid_request', param });
    }
    expect(await statusWith(key.apiKey)).toBe(200);
  });

  it('end the key at its time, and a rotation then requires a new expiry', async () => {
    const expires_at = new Date(service.clock.now().getTime() + 3600_000).toISOString();
    const key = (await issue({ test: true, expires_at })).body;
    expect(await statusWith(key.apiKey)).toBe(200);
    await later(3601);
    expect(await errorWith(key.apiKey)).toBe('401 api_key_expired');
    // A rotation that copied the old expiry would give a key that does not work.
    expect((await rotate(key.id)).status).toBe(400);
    const renewed = (await rotate(key.id, { expires_at: null })).body;
    expect(await statusWith(renewed.apiKey)).toBe(200);
    expect((await details(renewed.id)).body).toMatchObject({ expires_at: null });
  });

  it('restrict the key to its networks, whatever forwarding headers a stranger sends', async () => {
    const key = (await issue({ test: true, allowed_ips: ['203.0.113.0/24'] })).body;
    expect(await errorWith(key.apiKey)).toBe('403 ip_not_allowed');
    expect(await errorWith(key.apiKey, { 'X-Forwarded-For': '203.0.113.7' })).toBe('403 ip_not_allowed');
    const behind = await TestService.start({
      database: service.database,
      env: { JWT_SECRET, TRUST_PROXY: '127.0.0.1' },
    });
    try {
      const headers = { 'X-Forwarded-For': '203.0.113.7' };
      expect((await behind.call('GET', '/v1/wallets', { key: key.apiKey, headers })).status).toBe(200);
      expect(await errorWith(key.apiKey, { 'X-Forwarded-For': '203.0.114.7' }, behind)).toBe('403 ip_not_allowed');
    } finally {
      await behind.stop();
    }
    const rotated = (await rotate(key.id)).body;
    expect(await errorWith(rotated.apiKey)).toBe('403 ip_not_allowed');
    const opened = (await rotate(rotated.id, { allowed_ips: [] })).body;
    expect(await statusWith(opened.apiKey)).toBe(200);
  });

  it('include the hour of its last use, which is recorded once an hour', async () => {
    const key = (await issue({ test: true })).body;
    const lastUse = async (): Promise<unknown> => {
      await service.get(ApiKeyAuthentication).recordUse();
      return (await details(key.id)).body['last_used_at'];
    };
    expect(await lastUse()).toBeNull();
    await Promise.all(Array.from({ length: 5 }, () => statusWith(key.apiKey)));
    const hour = (): string => `${service.clock.now().toISOString().slice(0, 13)}:00:00.000Z`;
    expect(await lastUse()).toBe(hour());
    const version = async () => (await service.sql('SELECT xmin::text FROM api_keys WHERE id = $1', [key.id]))[0];
    const before = await version();
    await statusWith(key.apiKey);
    await service.get(ApiKeyAuthentication).recordUse();
    expect(await version()).toEqual(before);
    await later(3600);
    await statusWith(key.apiKey);
    expect(await lastUse()).toBe(hour());
  });
});
