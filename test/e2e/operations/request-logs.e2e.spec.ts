import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { RequestLogsService } from '../../../src/request-logs/index.js';
import { createTestDatabase } from '../../support/database.js';
import { type Answer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

interface Log extends Record<string, unknown> {
  id: string;
  requestId: string;
  mode: string | null;
  apiKeyFingerprint: string | null;
  userId: string | null;
  method: string;
  route: string;
  path: string;
  status: number;
  errorCode: string | null;
  createdAt: string;
}
interface Page extends Record<string, unknown> {
  data: Log[];
  has_more: boolean;
  next_cursor: string | null;
  error: { code: string; details: { param: string }[] };
}

const PATH = '/v1/request-logs';
const DAY_SECONDS = 86_400;

const service = TestService.forSpec();
let merchant: Merchant;
let owner: string;

beforeAll(async () => {
  merchant = await service.merchant();
  owner = await service.login(merchant.ownerEmail);
});

function list(query: Record<string, string> = {}, token = owner): Promise<Answer<Page>> {
  return service.call<Page>('GET', `${PATH}?${new URLSearchParams(query).toString()}`, { token });
}

/** Rows are written after their answers. */
function logged(requestId: string, token = owner): Promise<Log> {
  return waitFor(`the request ${requestId} to be logged`, async () => (await list({ requestId }, token)).body.data[0]);
}

function idOf(answer: Answer<unknown>): string {
  return answer.headers.get('x-request-id') ?? '';
}

describe('the request log of an account', () => {
  it('shows the requests of a key', async () => {
    const before = Date.now();
    const { body: charge } = await service.createCharge(merchant.testKey);
    const read = await service.getCharge(merchant.testKey, charge.id);
    expect(await logged(idOf(read))).toStrictEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      object: 'request_log',
      requestId: idOf(read),
      mode: 'test',
      apiKeyFingerprint: expect.stringMatching(/^sha256:[0-9a-f]{16}$/),
      userId: null,
      method: 'GET',
      route: '/v1/charges/:id',
      path: `/v1/charges/${charge.id}`,
      status: 200,
      errorCode: null,
      durationMs: expect.any(Number),
      ip: '127.0.0.1',
      createdAt: expect.stringMatching(/Z$/),
    });
    const { createdAt } = await logged(idOf(read));
    expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(before - 5);
    expect(Date.parse(createdAt)).toBeLessThanOrEqual(Date.now());
  });

  it('shows the requests of a person, and refusals with their codes', async () => {
    const keys = await service.call('GET', '/v1/api-keys', { token: owner });
    expect(await logged(idOf(keys))).toMatchObject({
      userId: merchant.ownerId,
      apiKeyFingerprint: null,
      mode: null,
      path: '/v1/api-keys',
    });
    const refused = await service.call('GET', '/v1/operations/accounts', { token: owner });
    expect(await logged(idOf(refused))).toMatchObject({ status: 403, errorCode: 'forbidden' });
    const wrong = await service.call('POST', '/v1/charges', { key: merchant.testKey, body: { amount: 0 } });
    expect(await logged(idOf(wrong))).toMatchObject({ status: 400, errorCode: 'idempotency_key_required' });
    const head = await service.call('HEAD', '/v1/wallets', { key: merchant.liveKey });
    expect(await logged(idOf(head))).toMatchObject({ method: 'HEAD', route: '/v1/wallets', mode: 'live' });
  });

  it('shows an account the refusals of its own key, since somebody else may have the key', async () => {
    const body = { test: true, allowed_ips: ['203.0.113.7'] };
    const { body: issued } = await service.call<{ apiKey: string }>('POST', '/v1/api-keys', { token: owner, body });
    const refused = await service.call('GET', '/v1/wallets', { key: issued.apiKey });
    expect(refused.status).toBe(403);
    expect(await logged(idOf(refused))).toMatchObject({
      errorCode: 'ip_not_allowed',
      mode: 'test',
      apiKeyFingerprint: expect.stringMatching(/^sha256:/),
    });
  });

  it('stores at most as many refusals of a leaked key as its caller has tries, so that nobody fills the log', async () => {
    const env = { RATE_LIMIT: 'on', RATE_LIMIT_AUTH_FAILURES_PER_MINUTE: '5' };
    const limited = await TestService.start({ database: service.database, env });
    try {
      const theirs = await service.merchant();
      const token = await service.login(theirs.ownerEmail);
      const body = { test: true, allowed_ips: ['203.0.113.7'] };
      const { body: issued } = await service.call<{ apiKey: string }>('POST', '/v1/api-keys', { token, body });
      const statuses: number[] = [];
      for (let n = 0; n < 20; n++)
        statuses.push((await limited.call('GET', '/v1/wallets', { key: issued.apiKey })).status);
      expect(new Set(statuses)).toEqual(new Set([403, 429]));
      const refused = statuses.filter((status) => status === 403).length;
      const rows = async (): Promise<Log[]> => (await list({ route: '/v1/wallets' }, token)).body.data;
      await waitFor('the refusals', async () => (await rows()).length >= refused);
      await delay(1_500);
      expect((await rows()).map(({ status }) => status)).toEqual(Array<number>(refused).fill(403));
    } finally {
      await limited.stop();
    }
  });

  it('stores sixty of a minute’s rate-limit refusals, and every request that was carried out', async () => {
    const env = { RATE_LIMIT: 'on', RATE_LIMIT_RATE: '1', RATE_LIMIT_BURST: '20' };
    const limited = await TestService.start({ database: service.database, env, stillLimits: true });
    try {
      const { accountId, testKey } = await service.merchant();
      const answers = await Promise.all(
        Array.from({ length: 150 }, () => limited.call('POST', '/v1/payments/x/cancel', { key: testKey })),
      );
      const refused = answers.filter(({ status }) => status === 429).length;
      expect(refused).toBeGreaterThan(60);
      await limited.stop();
      const rows = await service.sql<{ status: number; count: number }>(
        'SELECT status, count(*)::int AS count FROM request_logs WHERE account_id = $1 GROUP BY 1 ORDER BY 1',
        [accountId],
      );
      expect(rows).toEqual([
        { status: 404, count: 150 - refused },
        { status: 429, count: 60 },
      ]);
    } finally {
      await limited.stop();
    }
  });

  it.each([0, 2])(
    'shows a carried-out request once when its caller hung up, behind %i streams of events',
    async (streams) => {
      const theirs = await service.merchant();
      const { hostname, port } = new URL(service.url);
      const head = `Host: x\r\napikey: ${theirs.testKey}\r\n`;
      const body = JSON.stringify({ amount: 100, paymentMethods: ['PIX'], idempotencyKey: 'hung-up-1' });
      const socket = connect(Number(port), hostname);
      const stream = `GET /v1/events/stream HTTP/1.1\r\n${head}\r\n`;
      const post = `POST /v1/payments HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
      await new Promise((resolve) => socket.write(`${stream.repeat(streams)}${post}`, resolve));
      const made = (): Promise<unknown[]> =>
        service.sql('SELECT FROM transactions WHERE account_id = $1', [theirs.accountId]);
      if (streams > 0) await waitFor('the payment', async () => (await made()).length === 1);
      socket.destroy();
      const token = await service.login(theirs.ownerEmail);
      const posts = async (): Promise<Log[]> =>
        (await list({ route: '/v1/payments' }, token)).body.data.filter(({ method }) => method === 'POST');
      await waitFor('the request to be logged', async () => (await posts()).length > 0);
      await delay(1_500);
      const [row, ...others] = await posts();
      expect(others).toEqual([]);
      expect(row?.apiKeyFingerprint).toMatch(/^sha256:/);
      // An answer that waits for its turn on the connection is complete.
      expect(row).toMatchObject(streams > 0 ? { status: 201 } : { status: 499, errorCode: 'client_closed_request' });
      expect(await made()).toHaveLength(1);
      // The places are given back: an account may have two reads at a time.
      for (let n = 0; n < 3; n++)
        expect((await service.call('GET', '/v1/wallets', { key: theirs.testKey })).status).toBe(200);
    },
  );

  it('shows the reason of a refusal when the caller hung up', async () => {
    const { hostname, port } = new URL(service.url);
    const body = { test: true, allowed_ips: ['203.0.113.7'] };
    const { body: issued } = await service.call<{ apiKey: string }>('POST', '/v1/api-keys', { token: owner, body });
    const socket = connect(Number(port), hostname);
    socket.write(`GET /v1/webhooks/stats HTTP/1.1\r\nHost: x\r\napikey: ${issued.apiKey}\r\n\r\n`, () =>
      socket.destroy(),
    );
    const row = await waitFor('the request to be logged', async () => {
      // Filters by status: reading the log is logged too, and would fill a page.
      const { data } = (await list({ status: '403' })).body;
      return data.find(({ errorCode, route }) => errorCode === 'ip_not_allowed' && route !== '/v1/wallets');
    });
    expect(row).toMatchObject({ status: 403, mode: 'test' });
  });

  it('stores neither queries nor text in the place of an id', async () => {
    const secret = merchant.testKey;
    const asked = await service.call('GET', `/v1/charges/${secret}?apikey=${secret}&document=52998224725`, {
      key: secret,
    });
    expect(await logged(idOf(asked))).toMatchObject({ status: 400, path: '/v1/charges/:id' });
    const balance = await service.call('GET', `/v1/wallets/balance?currency=${secret}`, { key: secret });
    expect(await logged(idOf(balance))).toMatchObject({ status: 400, path: '/v1/wallets/balance' });
    const rows = await service.sql<{ row: string }>('SELECT l::text AS row FROM request_logs l');
    expect(rows.length).toBeGreaterThan(5);
    expect(rows.filter(({ row }) => /52998224725|ak_(?:test|live)_/.test(row))).toEqual([]);
  });

  it('stores nothing about unknown callers', async () => {
    const asked = await service.call('GET', '/v1/wallets', { key: 'ak_test_unknown' });
    const marker = await service.call('GET', '/v1/wallets', { key: merchant.testKey });
    await logged(idOf(marker));
    expect(await service.sql('SELECT 1 FROM request_logs WHERE request_id = $1', [idOf(asked)])).toEqual([]);
  });

  it('is shown only to its account, whatever id others request', async () => {
    const other = await service.merchant();
    const token = await service.login(other.ownerEmail);
    const asked = await service.call('GET', '/v1/wallets', { key: merchant.testKey });
    const { id, apiKeyFingerprint } = await logged(idOf(asked));
    for (const query of [
      { requestId: idOf(asked) },
      { apiKeyFingerprint: apiKeyFingerprint ?? '' },
      { starting_after: id },
      {},
    ]) {
      const { status, body } = await list(query, token);
      expect(status).toBe(200);
      const foreign = await service.sql<{ id: string }>(
        'SELECT id FROM request_logs WHERE id = ANY ($1) AND account_id <> $2',
        [body.data.map((log) => log.id), other.accountId],
      );
      expect(foreign).toEqual([]);
    }
    const admin = await service.member(merchant.accountId, 'MEMBER');
    expect((await list({ requestId: idOf(asked) }, admin.token)).body.data).toHaveLength(1);
  });
});

describe('the list of requests', () => {
  let mine: Merchant;
  let token: string;
  let ids: string[];

  beforeAll(async () => {
    mine = await service.merchant();
    token = await service.login(mine.ownerEmail);
    ids = [];
    for (let index = 0; index < 6; index++) {
      const key = index % 2 === 0 ? mine.testKey : mine.liveKey;
      const path = index < 4 ? '/v1/wallets' : '/v1/charges/none';
      ids.push(idOf(await service.call('GET', path, { key })));
    }
    await logged(ids[5] ?? '', token);
  });

  /** Leaves out the requests of reading the log. */
  const found = async (query: Record<string, string>): Promise<string[]> =>
    (await list(query, token)).body.data.filter((log) => log.userId === null).map((log) => log.requestId);

  it('is newest first, page by page', async () => {
    const seen: string[] = [];
    let cursor: string | null = null;
    const until = new Date(Date.now() + 1).toISOString();
    do {
      const query: Record<string, string> = { limit: '2', created_before: until };
      const page: Page = (await list(cursor === null ? query : { ...query, starting_after: cursor }, token)).body;
      expect(page.data.length).toBeLessThanOrEqual(2);
      seen.push(...page.data.filter((log) => log.userId === null).map((log) => log.requestId));
      expect(page.next_cursor).toBe(page.has_more ? page.data.at(-1)?.id : null);
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual([...ids].reverse());
  });

  it('is filtered by key, mode, route, status and request', async () => {
    const { apiKeyFingerprint } = await logged(ids[0] ?? '', token);
    expect(await found({ apiKeyFingerprint: apiKeyFingerprint ?? '' })).toEqual([ids[4], ids[2], ids[0]]);
    expect(await found({ mode: 'live' })).toEqual([ids[5], ids[3], ids[1]]);
    expect(await found({ route: '/v1/charges/:id' })).toEqual([ids[5], ids[4]]);
    expect(await found({ status: '404' })).toEqual([ids[5], ids[4]]);
    expect(await found({ status: '404', mode: 'test' })).toEqual([ids[4]]);
    expect(await found({ requestId: ids[2] ?? '' })).toEqual([ids[2]]);
    expect(await found({ requestId: ids[2] ?? '', status: '404' })).toEqual([]);
  });

  it('is filtered by time, bounds included', async () => {
    const { createdAt } = await logged(ids[3] ?? '', token);
    // Uses separate routes: reading the log is logged too, and would fill a page.
    const [early, late] = ['/v1/wallets', '/v1/charges/:id'];
    expect(await found({ route: late, created_after: createdAt })).toEqual([ids[5], ids[4]]);
    expect(await found({ route: early, created_after: createdAt })).toContain(ids[3]);
    expect(await found({ route: early, created_before: createdAt })).toEqual([ids[3], ids[2], ids[1], ids[0]]);
    expect(await found({ route: late, created_before: createdAt })).not.toContain(ids[5]);
    expect(await found({ created_after: new Date(Date.now() + 60_000).toISOString() })).toEqual([]);
    expect(await found({ created_before: '2020-01-01' })).toEqual([]);
  });

  it.each([
    ['limit', '0'],
    ['limit', '101'],
    ['starting_after', 'nobody'],
    ['apiKeyFingerprint', 'ak_test_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
    ['apiKeyFingerprint', ''],
    ['mode', 'both'],
    ['route', 'v1/charges'],
    ['status', '2xx'],
    ['status', '99'],
    ['requestId', 'x'],
    ['created_after', 'yesterday'],
    ['created_before', '2026-13-01'],
    ['page', '2'],
    ['account_id', '019aa0f0-0000-7000-8000-000000000001'],
  ])('refuses %s=%s', async (param, value) => {
    const { status, body } = await list({ [param]: value }, token);
    expect(status).toBe(400);
    expect(body.error.details.map((detail) => detail.param)).toEqual([param]);
  });
});

describe('the table of requests', () => {
  const partitions = async (): Promise<string[]> =>
    (
      await service.sql<{ name: string }>(
        `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'request_logs'::regclass ORDER BY 1`,
      )
    ).map(({ name }) => name);
  const dateOf = (offset: number): string =>
    new Date(service.clock.now().getTime() + offset * DAY_SECONDS * 1000).toISOString().slice(0, 10);
  const day = (offset: number): string => `request_logs_${dateOf(offset).replaceAll('-', '')}`;

  it('has a partition for each day, made ahead, even by many workers at once', async () => {
    const logs = service.get(RequestLogsService);
    await Promise.all(Array.from({ length: 12 }, () => logs.rotate()));
    expect(await partitions()).toEqual(expect.arrayContaining([day(0), day(1), day(2)]));
  });

  it('keeps seven days, and drops the partitions of older days', async () => {
    await service.sql('SELECT request_logs_add_days($1::date[])', [[dateOf(-7), dateOf(-8), dateOf(-9)]]);
    const logs = service.get(RequestLogsService);
    await Promise.all(Array.from({ length: 12 }, () => logs.rotate()));
    const left = await partitions();
    expect(left).toEqual(expect.arrayContaining([day(-7), day(0), day(1), day(2)]));
    expect(left).not.toEqual(expect.arrayContaining([day(-8)]));
    expect(left).not.toEqual(expect.arrayContaining([day(-9)]));
  });

  it('keeps the requests of today even when a clock is days ahead', async () => {
    const asked = await service.call('GET', '/v1/wallets', { key: merchant.testKey });
    await logged(idOf(asked));
    service.clock.advance(9 * DAY_SECONDS);
    await service.get(RequestLogsService).rotate();
    const later = await service.login(merchant.ownerEmail);
    expect((await list({ requestId: idOf(asked) }, later)).body.data).toHaveLength(1);
  });

  it('creates the partition of today if no worker has made it', async () => {
    service.clock.advance(40 * DAY_SECONDS);
    expect(await partitions()).not.toContain(day(0));
    const asked = await service.call('GET', '/v1/wallets', { key: merchant.testKey });
    owner = await service.login(merchant.ownerEmail);
    expect(await logged(idOf(asked))).toMatchObject({ status: 200 });
    expect(await partitions()).toContain(day(0));
  });

  it('is rotated without waiting for long readers or making others wait', async () => {
    const old = new Date(Date.now() - 30 * DAY_SECONDS * 1000).toISOString().slice(0, 10);
    await service.sql('SELECT request_logs_add_days($1::date[])', [[old]]);
    const reader = await holdOpen('SELECT 1 FROM request_logs LIMIT 1');
    try {
      await expect(service.get(RequestLogsService).rotate()).rejects.toMatchObject({ code: '55P03' });
    } finally {
      await reader();
    }
    await service.get(RequestLogsService).rotate();
    expect(await partitions()).not.toContain(`request_logs_${old.replaceAll('-', '')}`);
  });

  /** Runs `sql` in a transaction that stays open. @returns a function that ends it */
  async function holdOpen(sql: string): Promise<() => Promise<void>> {
    const client = new pg.Client({ connectionString: service.database.ownerUrl });
    await client.connect();
    await client.query('BEGIN');
    await client.query(sql);
    return () => client.end();
  }
});

describe('a service that shuts down', () => {
  it('first writes the requests that it has answered', async () => {
    const database = await createTestDatabase();
    const going = await TestService.start({ database });
    const { testKey } = await going.merchant();
    const asked = await Promise.all(
      Array.from({ length: 20 }, () => going.call('GET', '/v1/wallets', { key: testKey })),
    );
    await going.stop();
    const rows = await going.sql<{ request_id: string }>('SELECT request_id FROM request_logs');
    expect(rows.map((row) => row.request_id).sort()).toEqual(asked.map(idOf).sort());
    await database.drop();
  });
});
