import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { trial } from '../support/scale.js';
import { Pool } from 'undici';
import type { OpenApiDocument } from '../support/openapi.js';
import { Processes, type ServiceProcess } from '../support/process.js';
import { type Merchant, PASSWORD, TestService } from '../support/service.js';
import { waitFor } from '../support/wait.js';
import {
  bodyWith,
  MAX_BODY_BYTES,
  QUOTED,
  type Shape,
  SHAPES,
  type Template,
  templateOf,
} from '../support/worst-bodies.js';

/** WORST_BODIES=all tries every shape at every place in many sizes and pounds every route: a quarter of an hour. */
const ALL = process.env['WORST_BODIES'] === 'all';
jest.setTimeout(ALL ? 7_200_000 : 300_000);

/** KiB of a value at a known field. A whole body and an unknown field are tried in the last of them only. */
const SIZES = ALL ? [1, 4, 12, 15.5, 32, 62] : [4, 15.5, 62];
/** Otherwise each place is tried with every n-th shape and size, a different one at each place. */
const STEP = ALL ? 1 : trial(12, 96);
/** Number of connections, and the duration for each */
const CONNECTIONS = [1, 4];
const SECONDS = ALL ? 5 : 1;
/** How many of the dearest bodies are sent without pause, and how often that may be tried on a busy machine. */
const POUNDED = ALL ? Infinity : trial(3, 2);
const TRIES = 3;
/** Limit of a body's cost to the event loop, in empty bodies: about 20 ms. Four at once still leave a check its time. */
const BODY_LIMIT = 60;
/** Limit of a health check's p99 while the worst bodies come in, in empty bodies: about 60 ms. */
const HEALTH_LIMIT = 180;

interface Route {
  readonly name: string;
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly template: Template;
}

interface Cost {
  readonly what: string;
  readonly body: string;
  readonly ms: number;
  readonly status: number;
}

describe('the worst body of every route', () => {
  const processes = new Processes();
  let makers: TestService;
  let merchant: Merchant;
  let service: ServiceProcess;
  let client: Pool;
  let routes: Route[];

  beforeAll(async () => {
    makers = await TestService.start();
    merchant = await makers.merchant({ fraud_mode: 'off' });
    service = await processes.start(processes.dataDir(), {
      HOST: '127.0.0.1',
      DATABASE_URL: makers.database.url,
      PATH: processes.pathWithoutRedis(),
      LOG_LEVEL: 'silent',
      RATE_LIMIT: 'off',
      WEBHOOK_ALLOW_PRIVATE: 'true',
    });
    client = new Pool(service.url, { connections: 1 });
    routes = await readRoutes();
  });
  afterAll(async () => {
    await client.close();
    await processes.cleanUp();
    await makers.stop();
  });

  async function call<T>(
    method: 'GET' | 'POST',
    path: string,
    headers: Record<string, string>,
    body?: object,
  ): Promise<T> {
    const response = await client.request({
      method,
      path,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return (await response.body.json()) as T;
  }

  /** Every write of the document but the uploads of files, which are streams and no JSON. */
  async function readRoutes(): Promise<Route[]> {
    const document = await call<OpenApiDocument>('GET', '/openapi/all.json', {});
    const key = { apikey: merchant.testKey };
    const token = async (email: string): Promise<{ authorization: string }> => {
      const answer = await call<{ access_token: string }>('POST', '/v1/auth/login', {}, { email, password: PASSWORD });
      return { authorization: `Bearer ${answer.access_token}` };
    };
    const owner = await token(merchant.ownerEmail);
    const operator = await token((await makers.operator()).email);
    const endpoint = { url: 'http://127.0.0.1:9/', events: ['charge.created'] };
    const { id: endpointId } = await call<{ id: string }>('POST', '/v1/webhooks/endpoints', key, endpoint);
    const charge = await call<{ id: string }>(
      'POST',
      '/v1/charges',
      { ...key, 'idempotency-key': randomUUID() },
      {
        amount: 1990,
        payment_method: 'pix',
      },
    );
    const delivery = await waitFor('a delivery', async () => {
      const list = await call<{ data: { id: string }[] }>('GET', '/v1/webhooks/deliveries', key);
      return list.data[0];
    });
    // Uses as many secrets as an account can have, since a webhook may be signed with any.
    for (let count = 1; count < 100; count++) {
      const { id } = await call<{ id: string }>('POST', '/v1/webhooks/endpoints', key, endpoint);
      await call('POST', `/v1/webhooks/endpoints/${id}/rotate-secret`, key, { overlap_seconds: 86_400 });
    }
    const signature = { 'X-Service-Signature': `t=${Math.floor(Date.now() / 1000)},v1=${'0'.repeat(64)}` };
    const known = JSON.stringify({ ...signature, 'X-Service-Delivery-Id': delivery.id });
    const ids: Record<string, string> = { endpoints: endpointId, charges: charge.id, payments: charge.id };
    return Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([verb, operation]) => {
        const method = verb.toUpperCase() as Route['method'];
        if (!['POST', 'PUT', 'PATCH', 'DELETE'].includes(method) || path.startsWith('/storage/')) return [];
        const needs = operation.security?.flatMap((one) => Object.keys(one)) ?? [];
        const person = path.startsWith('/v1/operations/') ? operator : owner;
        const template = templateOf(operation, document);
        const route: Route = {
          name: `${method} ${path}`,
          method,
          path: path.replaceAll(
            /\{\w+\}/g,
            ids[path.split('/').at(-3) ?? ''] ?? ids[path.split('/').at(-2) ?? ''] ?? randomUUID(),
          ),
          headers: needs.includes('apikey') ? key : needs.includes('dashboard') ? person : {},
          template,
        };
        if (path !== '/v1/webhooks/verify') return [route];
        const withHeaders = (headers: string): Template => ({ ...template, fields: { ...template.fields, headers } });
        return [
          { ...route, template: withHeaders(JSON.stringify(signature)) },
          { ...route, name: `${route.name} of a known delivery`, template: withHeaders(known) },
        ];
      }),
    );
  }

  async function send(pool: Pool, route: Route, body: string | Buffer): Promise<number> {
    const response = await pool.request({
      method: route.method,
      path: route.path,
      headers: {
        'content-type': 'application/json',
        'idempotency-key': randomBytes(12).toString('hex'),
        ...route.headers,
      },
      body,
    });
    await response.body.dump();
    return response.statusCode;
  }

  /** Time that the event loop's thread has spent on a processor, which a busy machine does not change. */
  function loopMs(): number {
    const file = `/proc/${service.pid}/task/${service.pid}/schedstat`;
    return existsSync(file) ? Number(readFileSync(file, 'utf8').split(' ', 1)[0]) / 1e6 : performance.now();
  }

  async function costOf(route: Route, what: string, body: string, times = 1): Promise<Cost> {
    let ms = Infinity;
    let status = 0;
    for (let time = 0; time < times; time++) {
      const before = loopMs();
      status = await send(client, route, body);
      ms = Math.min(ms, loopMs() - before);
    }
    return { what, body, ms, status };
  }

  let turn = 0;
  const values = new Map<string, string>();
  function valueOf(name: string, shape: Shape, kibibytes: number): string {
    const key = `${kibibytes} ${name}`;
    const value = values.get(key) ?? shape(kibibytes * 1024);
    values.set(key, value);
    return value;
  }

  /** The dearest bodies of the route, dearest first. */
  async function search(route: Route): Promise<Cost[]> {
    let found: Cost[] = [];
    for (const place of route.template.places) {
      const shapes = Object.entries({ ...SHAPES, ...(place === 'payload' ? QUOTED : {}) });
      const sizes = place === '' || place === 'unknown' ? SIZES.slice(-1) : SIZES;
      for (const [name, shape] of shapes) {
        for (const kibibytes of sizes) {
          if (turn++ % STEP !== 0) continue;
          const body = bodyWith(route.template, place, valueOf(name, shape, kibibytes));
          if (Buffer.byteLength(body) > MAX_BODY_BYTES) continue;
          found.push(await costOf(route, `${kibibytes} KiB at ${place || 'the whole'}: ${name}`, body));
        }
      }
      found = found.sort((one, other) => other.ms - one.ms).slice(0, 8);
    }
    const again = [];
    // The least of several: what the collector of garbage took once is not the body's.
    for (const { what, body } of found.slice(0, 4)) again.push(await costOf(route, what, body, 10));
    return again.sort((one, other) => other.ms - one.ms);
  }

  /**
   * p99 of health checks while `work` runs: by the clock, and by the time that the service's event loop has worked
   * meanwhile. On an idle machine both are equal; on a busy one the clock also measures other load.
   */
  async function healthDuring(work: () => Promise<unknown>): Promise<{ clock: number; loop: number; count: number }> {
    const probe = new Pool(service.url, { connections: 2 });
    const times: { clock: number; loop: number }[] = [];
    let done = false;
    const check = async (path: string): Promise<void> => {
      while (!done) {
        const start = { clock: performance.now(), loop: loopMs() };
        const { statusCode, body } = await probe.request({ method: 'GET', path });
        await body.dump();
        const isUp = statusCode === 200;
        // A 503 of readiness is worse than any delay.
        times.push({
          clock: isUp ? performance.now() - start.clock : Infinity,
          loop: isUp ? loopMs() - start.loop : Infinity,
        });
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    const checks = [check('/health/live'), check('/health/ready')];
    await work();
    done = true;
    await Promise.all(checks);
    await probe.close();
    const p99 = (values: number[]): number =>
      values.sort((one, other) => one - other)[Math.floor(values.length * 0.99)] ?? 0;
    return {
      clock: p99(times.map(({ clock }) => clock)),
      loop: p99(times.map(({ loop }) => loop)),
      count: times.length,
    };
  }

  async function pound(route: Route, body: Buffer, connections: number, until: number): Promise<void> {
    const pool = new Pool(service.url, { connections });
    await Promise.all(
      Array.from({ length: connections }, async () => {
        while (Date.now() < until) await send(pool, route, body);
      }),
    );
    await pool.close();
  }

  it('leaves the service time to answer health checks', async () => {
    expect(routes.length).toBeGreaterThan(30);
    const found: { route: Route; worst: Cost }[] = [];
    for (const route of routes) {
      const [worst] = await search(route);
      if (worst) found.push({ route, worst });
    }
    found.sort((one, other) => other.worst.ms - one.worst.ms);
    const [any] = routes;
    if (!any) throw new Error('there is no route');
    // The mean: the counter of the loop is too coarse for a single one.
    const before = loopMs();
    for (let time = 0; time < 200; time++) await send(client, any, '{}');
    const empty = (loopMs() - before) / 200;
    const report = found.map(
      ({ route, worst }) => `${worst.ms.toFixed(1)} ms: ${route.name}: ${worst.status} ${worst.what}`,
    );
    process.stderr.write(`${report.join('\n')}\n${empty.toFixed(2)} ms: an empty body\n`);

    const late: string[] = [];
    for (const { route, worst } of found.slice(0, POUNDED)) {
      for (const connections of CONNECTIONS) {
        const body = Buffer.from(worst.body);
        let least = Infinity;
        for (let time = 0; time < TRIES && least > HEALTH_LIMIT * empty; time++) {
          const until = Date.now() + SECONDS * 1000;
          const { clock, loop, count } = await healthDuring(() => pound(route, body, connections, until));
          least = Math.min(least, clock, loop);
          const times = `p99 ${clock.toFixed(0)} ms, of the loop ${loop.toFixed(0)} ms, ${count} checks`;
          process.stderr.write(`${times}, ${connections} connections: ${route.name} ${worst.what}\n`);
        }
        if (least > HEALTH_LIMIT * empty) late.push(`${least.toFixed(0)} ms: ${route.name} ${worst.what}`);
      }
    }
    expect(found.filter(({ worst }) => worst.ms > BODY_LIMIT * empty).map((_one, index) => report[index])).toEqual([]);
    expect(late).toEqual([]);
  });
});
