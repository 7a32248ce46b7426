import { beforeAll, describe, expect, it } from '@jest/globals';
import type { CurrentSessionBody, LoginBody } from '../../../src/auth/dto/login.body.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { type Answer, type Merchant, PASSWORD, TestService } from '../../support/service.js';

interface Failure {
  readonly error: { readonly type: string; readonly code: string; readonly message: string };
}

function expectForbidden({ status, body }: Answer<Failure>, code: string): void {
  expect({ status, type: body.error.type, code: body.error.code }).toEqual({
    status: 403,
    type: 'permission_error',
    code,
  });
}

const PAGE = { 'x-requested-with': 'dashboard' };

describe('the login of a browser', () => {
  const service = TestService.forSpec();
  let merchant: Merchant;

  beforeAll(async () => {
    merchant = await service.merchant();
  });

  const logIn = (email = merchant.ownerEmail): Promise<Answer<LoginBody>> =>
    service.call<LoginBody>('POST', '/v1/auth/login', {
      headers: PAGE,
      body: { email, password: PASSWORD, session: 'cookie' },
    });
  /** `name=value` of the cookie that an answer sets. */
  const cookieOf = (answer: Answer<unknown>): string => answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  const ask = <T>(method: string, path: string, cookie: string, headers = {}, body?: object): Promise<Answer<T>> =>
    service.call<T>(method, path, { headers: { cookie, ...headers }, ...(body ? { body } : {}) });

  it('is a cookie that no script can read, and no token', async () => {
    const answer = await logIn();
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body).sort()).toEqual(['account', 'expires_in', 'user']);
    const attributes = (answer.headers.getSetCookie()[0] ?? '').split('; ').slice(1);
    expect(attributes).toEqual([
      'Max-Age=3600',
      'Path=/',
      expect.stringMatching(/^Expires=/),
      'HttpOnly',
      'Secure',
      'SameSite=Strict',
    ]);
    const current = await ask<CurrentSessionBody>('GET', '/v1/auth/session', cookieOf(answer));
    expect(current.body).toMatchObject({
      object: 'session',
      role: 'OWNER',
      second_factor: false,
      second_factor_required: false,
      user: { email: merchant.ownerEmail },
      account: { id: merchant.accountId },
    });
    // A cookie is no token and a token is no cookie.
    const [, token = ''] = cookieOf(answer).split('=');
    expect((await service.call('GET', '/v1/auth/session', { token })).status).toBe(401);
    const program = await service.login(merchant.ownerEmail);
    expect((await ask('GET', '/v1/auth/session', `__Host-recebe_session=${program}`)).status).toBe(401);
  });

  it('is a cookie of this host, sent only over TLS where the service has TLS', async () => {
    expect(cookieOf(await logIn())).toMatch(/^__Host-recebe_session=/);
    const local = await TestService.start({
      database: service.database,
      env: { PUBLIC_BASE_URL: 'http://localhost:3000' },
    });
    try {
      const body = { email: merchant.ownerEmail, password: PASSWORD, session: 'cookie' };
      const answer = await local.call('POST', '/v1/auth/login', { headers: PAGE, body });
      expect(cookieOf(answer)).toMatch(/^recebe_session=/);
      expect(answer.headers.get('set-cookie')).not.toMatch(/Secure|Domain/);
    } finally {
      await local.stop();
    }
  });

  it('accepts writes from pages of the service only', async () => {
    const cookie = cookieOf(await logIn());
    const body = { amount: 100, payment_method: 'pix' };
    const write = (headers: object): Promise<Answer<Failure>> =>
      ask<Failure>(
        'POST',
        '/v1/dashboard/test/charges',
        cookie,
        { 'Idempotency-Key': 'from-a-page', ...headers },
        body,
      );
    for (const foreign of [
      {},
      { 'x-requested-with': 'XMLHttpRequest' },
      { ...PAGE, 'sec-fetch-site': 'cross-site' },
      { ...PAGE, origin: 'https://evil.example' },
      { ...PAGE, origin: 'null' },
    ]) {
      expectForbidden(await write(foreign), 'foreign_page');
    }
    for (const headers of [{}, { ...PAGE, 'sec-fetch-site': 'cross-site' }]) {
      const login = { email: merchant.ownerEmail, password: PASSWORD, session: 'cookie' };
      const foreign = await service.call<Failure>('POST', '/v1/auth/login', { headers, body: login });
      expectForbidden(foreign, 'foreign_page');
      expect(cookieOf(foreign)).toBe('');
    }
    const old = await write({ ...PAGE, origin: 'https://pay.example.com' });
    expect(old.status).toBe(201);
    const own = await write({ ...PAGE, 'sec-fetch-site': 'same-origin' });
    expect(own.status).toBe(201);
    // A key with this request gets the charge that the page has made.
    const again = await service.call('POST', '/v1/charges', {
      key: merchant.testKey,
      headers: { 'Idempotency-Key': 'from-a-page' },
      body,
    });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await ask('POST', '/v1/auth/logout', cookie)).status).toBe(403);
    expect((await ask('GET', '/v1/auth/session', cookie)).status).toBe(200);
  });

  it('shows each mode its own data, and records the person’s name in the audit trail', async () => {
    const charge = await service.createCharge(merchant.testKey, { amount: 4200 });
    const cookie = cookieOf(await logIn());
    const path = (mode: string): string => `/v1/dashboard/${mode}/payments/${charge.body.id.slice(3)}`;
    expect((await ask<{ amount: number }>('GET', path('test'), cookie)).body.amount).toBe(4200);
    expect((await ask('GET', path('live'), cookie)).status).toBe(404);
    expect((await ask('GET', `${path('test')}?limit=1`, cookie)).status).toBe(400);
    const found = await ask<{ data: object[] }>('GET', '/v1/dashboard/test/payments?query=nobody', cookie);
    expect(found.body.data).toEqual([]);
    // The sandbox exists in test mode only.
    const simulate = `sandbox/charges/${charge.body.id}/simulate`;
    const pay = (mode: string): Promise<Answer<unknown>> =>
      ask('POST', `/v1/dashboard/${mode}/${simulate}`, cookie, PAGE, { event: 'pay' });
    expect([(await pay('live')).status, (await pay('test')).status]).toEqual([404, 200]);
    const endpoint = { url: 'https://merchant.example/hooks', events: ['*'] };
    expect((await ask('POST', '/v1/dashboard/test/webhooks/endpoints', cookie, PAGE, endpoint)).status).toBe(201);
    const [event] = await service.sql<{ type: string; actor: string }>(
      `SELECT type, actor_id AS actor FROM audit_events WHERE account_id = $1 ORDER BY created_at DESC, id DESC LIMIT 1`,
      [merchant.accountId],
    );
    expect(event).toEqual({ type: 'webhook_endpoint.registered', actor: merchant.ownerId });
    await expectLedgerCoherent(service.database.url);
  });

  it('opens only the routes of keys, whatever path follows it', async () => {
    const cookie = cookieOf(await logIn());
    const paths = [
      '',
      '/',
      '/payments/../api-keys',
      '/dashboard/live/payments',
      '/auth/session',
      '//payments',
      '/nothing',
    ];
    for (const path of paths) {
      const answer = await ask<Failure>('GET', `/v1/dashboard/test${path}`, cookie);
      expect([path, answer.status]).toEqual([path, 404]);
    }
    expect((await ask('GET', '/v1/dashboard/TEST/payments', cookie)).status).toBe(404);
    expect((await ask('GET', '/v1/payments', cookie)).status).toBe(401);
  });

  it('reads but does not write for a suspended account', async () => {
    const suspended = await service.merchant();
    const cookie = cookieOf(await logIn(suspended.ownerEmail));
    await service.sql('UPDATE accounts SET suspended = true WHERE id = $1', [suspended.accountId]);
    expect((await ask('GET', '/v1/dashboard/test/payments', cookie)).status).toBe(200);
    const write = await ask<Failure>('POST', '/v1/dashboard/test/webhooks/default-secret/rotate', cookie, PAGE);
    expectForbidden(write, 'account_suspended');
  });

  it('lasts while it is used, ends after an idle hour, and after twelve hours at most', async () => {
    const begun = service.clock.now();
    let cookie = cookieOf(await logIn());
    const use = (): Promise<Answer<CurrentSessionBody>> => ask('GET', '/v1/auth/session', cookie);
    service.clock.advance(570);
    expect((await use()).headers.get('set-cookie')).toBeNull();
    let hours = 0;
    for (;;) {
      service.clock.advance(2_400);
      const answer = await use();
      if (answer.status !== 200) break;
      cookie = cookieOf(answer) || cookie;
      hours = (service.clock.now().getTime() - begun.getTime()) / 3_600_000;
    }
    expect(hours).toBeGreaterThan(10.5);
    expect(hours).toBeLessThanOrEqual(12);
    const idle = cookieOf(await logIn());
    service.clock.advance(3_601);
    expect((await ask('GET', '/v1/auth/session', idle)).status).toBe(401);
  });

  it('marks the browser, whose later logins have a limit of their own beside strangers’', async () => {
    const limited = await TestService.start({
      database: service.database,
      env: { RATE_LIMIT: 'on', RATE_LIMIT_LOGIN_PER_15_MINUTES: '2', TRUST_PROXY: 'loopback' },
    });
    try {
      const { ownerEmail: email } = await limited.merchant();
      const logInFrom = (device: string, password = PASSWORD, who = email): Promise<Answer<LoginBody>> =>
        limited.call<LoginBody>('POST', '/v1/auth/login', {
          headers: { ...PAGE, 'x-forwarded-for': '192.0.2.7', cookie: device },
          body: { email: who, password, session: 'cookie' },
        });
      const first = await logInFrom('');
      const [, mark = ''] = first.headers.getSetCookie();
      expect(mark).toMatch(
        /^recebe_device=[\w-]{22}\.[\w-]{43}; Max-Age=15552000; Path=\/v1\/auth\/login; .*HttpOnly; Secure; SameSite=Strict$/,
      );
      const [device = ''] = mark.split(';');
      expect((await logInFrom('', 'wrong horse battery')).status).toBe(401);
      // The address has used up its tries, even for the right password; a forged or foreign mark does not help.
      const { ownerEmail: other } = await limited.merchant();
      expect((await logInFrom('')).status).toBe(429);
      expect((await logInFrom(`${device.slice(0, -2)}xx`)).status).toBe(429);
      expect((await logInFrom('recebe_device=.')).status).toBe(429);
      expect((await logInFrom('', 'wrong horse battery', other)).status).toBe(401);
      expect((await logInFrom('', 'wrong horse battery', other)).status).toBe(401);
      expect((await logInFrom(device, PASSWORD, other)).status).toBe(429);
      const again = await logInFrom(device);
      // The answer keeps the same device, so no second device gets tries of its own.
      expect([again.status, again.headers.getSetCookie()[1]?.split(';')[0]]).toEqual([200, device]);
      // The device cookie opens nothing, and its tries are limited too.
      expect((await logInFrom(device, 'wrong horse battery')).status).toBe(401);
      expect((await logInFrom(device)).status).toBe(429);
      // All devices of one e-mail together have ten tries, five times those of one device: two of them are used.
      const fresh = async (address: string): Promise<string> => {
        const answer = await limited.call<LoginBody>('POST', '/v1/auth/login', {
          headers: { ...PAGE, 'x-forwarded-for': address },
          body: { email, password: PASSWORD, session: 'cookie' },
        });
        return answer.headers.getSetCookie()[1]?.split(';')[0] ?? '';
      };
      const statuses: number[] = [];
      for (let index = 0; index < 10; index++) {
        statuses.push((await logInFrom(await fresh(`198.51.${String(index)}.7`))).status);
      }
      expect(statuses).toEqual([...Array<number>(8).fill(200), 429, 429]);
      // Used-up devices lock nobody out: the browser then counts as a stranger, by its address.
      const own = await fresh('198.51.99.7');
      const asStranger = await limited.call('POST', '/v1/auth/login', {
        headers: { ...PAGE, 'x-forwarded-for': '203.0.113.9', cookie: own },
        body: { email, password: PASSWORD, session: 'cookie' },
      });
      expect(asStranger.status).toBe(200);
    } finally {
      await limited.stop();
    }
  });

  it('ends at once when it is logged out or ended elsewhere, together with its renewed tokens', async () => {
    const first = cookieOf(await logIn());
    service.clock.advance(700);
    const renewed = cookieOf(await ask('GET', '/v1/auth/session', first));
    expect(renewed).not.toBe('');
    const out = await ask('POST', '/v1/auth/logout', renewed, PAGE);
    expect(out.status).toBe(204);
    expect(out.headers.get('set-cookie')).toContain('Expires=Thu, 01 Jan 1970');
    for (const cookie of [first, renewed]) expect((await ask('GET', '/v1/auth/session', cookie)).status).toBe(401);
    const here = cookieOf(await logIn());
    const { body } = await ask<CurrentSessionBody>('GET', '/v1/auth/session', here);
    const elsewhere = await service.login(merchant.ownerEmail);
    await service.call('DELETE', `/v1/auth/sessions/${body.id}`, { token: elsewhere });
    expect((await ask('GET', '/v1/dashboard/test/payments', here)).status).toBe(401);
  });
});
