import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AccountsService } from '../../src/accounts/index.js';
import { ApiKeysService } from '../../src/api-keys/index.js';
import { SYSTEM } from '../../src/audit/index.js';
import { readConfig } from '../../src/core/config/index.js';
import { serveDashboard } from '../../src/app/dashboard.js';
import { setupOpenApi } from '../../src/app/openapi/setup.js';
import { openRuntime, type Runtime } from '../../src/app/runtime.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { ROUTES } from './route-table.js';

const rows = Object.entries(ROUTES);
const PUBLIC = rows.filter(([, { access }]) => access === 'public').map(([route]) => route);
const GUARDED = rows.filter(([, { access }]) => access !== 'public').map(([route]) => route);

const UNKNOWN_KEY = `ak_test_${'A'.repeat(32)}`;

/** The used part of Express's router */
interface RouterLayer {
  readonly name: string;
  readonly rawPath: string;
  readonly route?: { readonly path: string; readonly stack: readonly { readonly method?: string }[] };
}

const unknownField = (param: string): object => ({ param, code: 'unknown_field', message: 'is not a known field' });

describe('every route', () => {
  /** `METHOD /path` as the server registered it; HEAD is left out where a GET of the path makes it. */
  const routes = new Set<string>();
  let database: TestDatabase;
  let runtime: Runtime;
  let url: string;
  let key: string;
  const dataDir = mkdtempSync(join(tmpdir(), 'recebe-spec-'));

  beforeAll(async () => {
    database = await createTestDatabase();
    const config = readConfig({
      ALLOW_INSECURE: 'true',
      DATABASE_URL: database.url,
      DATA_DIR: dataDir,
      HOST: '127.0.0.1',
      PORT: '0',
      LOG_LEVEL: 'silent',
      RATE_LIMIT: 'off',
      ROLE: 'api',
      CHARGE_LIST_ENABLED: 'true',
    });
    runtime = await openRuntime(config, { redis: false });
    setupOpenApi(runtime.app, config.publicBaseUrl);
    serveDashboard(runtime.app, 'dist/dashboard');
    await runtime.app.listen(0, '127.0.0.1');
    // Reads the server itself, so that a route without decorator or document is seen too.
    for (const layer of runtime.app.getHttpAdapter().getInstance().router.stack as unknown as RouterLayer[]) {
      for (const handler of layer.route?.stack ?? []) {
        routes.add(`${(handler.method ?? 'all').toUpperCase()} ${String(layer.route?.path)}`);
      }
      if (layer.name === 'serveStatic') routes.add(`GET ${layer.rawPath}/*`);
    }
    url = await runtime.app.getUrl();
    const { accountId } = await runtime.app
      .get(AccountsService)
      .create({ name: 'Padaria', email: 'routes@example.com', password: 'long enough to be one' }, SYSTEM);
    key = (await runtime.app.get(ApiKeysService).issue(accountId, { mode: 'test', label: null }, SYSTEM)).apiKey;
  });

  afterAll(async () => {
    await runtime.close();
    await database.drop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('has its row in the table, and every row has its route', () => {
    const listed = [...routes].filter((route) => !(route.startsWith('HEAD ') && routes.has(`GET${route.slice(4)}`)));
    expect(listed.sort()).toEqual(Object.keys(ROUTES).sort());
  });

  const guardedCalls = GUARDED.flatMap((route) =>
    (route.startsWith('GET ') ? [route, `HEAD ${route.slice(4)}`] : [route]).flatMap((call) => [
      { call, key: null as string | null, what: 'without a key' },
      { call, key: UNKNOWN_KEY, what: 'with an unknown key' },
      { call, key: 'nonsense', what: 'with a malformed key' },
      { call, key: '', what: 'with an empty key' },
    ]),
  );

  it.each(guardedCalls)('$call answers 401 $what, whatever else is wrong', async ({ call, key }) => {
    const [method = '', path = ''] = call.split(' ');
    const hasBody = method !== 'GET' && method !== 'HEAD';
    const response = await fetch(`${url}${path.replace(':id', 'no-such-id')}?unknown=1`, {
      method,
      headers: {
        ...(key === null ? {} : { apikey: key }),
        ...(hasBody ? { 'content-type': 'text/plain' } : {}),
      },
      ...(hasBody ? { body: '{broken' } : {}),
    });
    expect(response.status).toBe(401);
    const requestId = response.headers.get('x-request-id');
    expect(requestId).toMatch(/^req_[0-9a-f]{32}$/);
    expect(response.headers.get('x-api-version')).toBe('2026-11-01');
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const text = await response.text();
    if (method === 'HEAD') return expect(text).toBe('');
    expect(JSON.parse(text)).toEqual({
      error: {
        type: 'authentication_error',
        code: 'unauthorized',
        message: expect.any(String),
      },
      request_id: requestId,
    });
  });

  // Keys do not have the routes of people at the dashboard's door.
  const ofKeys = rows.filter(([, { access, atDoor }]) => access === 'api-key' && atDoor === undefined);

  it.each(ofKeys.map(([route]) => route))('%s refuses a parameter that it does not read', async (route) => {
    const [method = '', path = ''] = route.split(' ');
    const response = await fetch(`${url}${path.replace(':id', 'no-such-id')}?no_such_field=1`, {
      method,
      headers: { apikey: key, 'Idempotency-Key': 'no-such-field' },
    });
    expect(await response.json()).toMatchObject({
      error: { code: 'invalid_request', details: expect.arrayContaining([unknownField('no_such_field')]) },
    });
    expect(response.status).toBe(400);
  });

  it('without a body refuses the fields of a body', async () => {
    const response = await fetch(`${url}/v1/webhooks/endpoints/no-such-id`, {
      method: 'DELETE',
      headers: { apikey: key, 'Content-Type': 'application/json' },
      body: '{"force":true}',
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { details: [unknownField('force')] } });
  });

  it.each([
    ...[undefined, '', ';', 'nonsense', 'application/json; charset=utf-16', 'application/json'].map((type) => ({
      type,
      size: 9,
    })),
    { type: 'application/json', size: 300_000 },
    { type: ';', size: 0 },
  ])('tells strangers nothing about their body, as for $size bytes of $type', async ({ type, size }) => {
    const response = await fetch(`${url}/v1/charges`, {
      method: 'POST',
      headers: type === undefined ? {} : { 'content-type': type },
      body: Buffer.alloc(size, '{'),
    });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { code: 'unauthorized' } });
  });

  it.each(PUBLIC.filter((route) => /^GET [^:*]+$/.test(route)))('%s answers without a key', async (route) => {
    const response = await fetch(`${url}${route.slice(4)}`, { redirect: 'manual' });
    // Some of the documentation's files do not exist: a public 404.
    expect([200, 302, 404]).toContain(response.status);
    expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
    await response.arrayBuffer();
  });

  it.each([
    '/v1/charge',
    '/v1/charges/x/y',
    '/%00',
    '/v2/charges',
    '/v1/wallets/balance/',
    '/v1/charges/%zz',
    '/%',
    `/v1/charges/${'a'.repeat(500)}`,
  ])('gives the 404 of the envelope for an unknown path: %s', async (path) => {
    const response = await fetch(`${url}${path}`, { headers: { 'x-request-id': 'my-own-id-1234' } });
    expect(response.status).toBe(404);
    expect(response.headers.get('x-request-id')).toBe('my-own-id-1234');
    expect(await response.json()).toEqual({
      error: { type: 'not_found_error', code: 'not_found', message: expect.stringMatching(/^No such route\./) },
      request_id: 'my-own-id-1234',
    });
  });
});
