import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { ENDLESS_ANSWERS } from '../../support/endless-answers.js';
import { WebhookReceiver } from '../../support/receiver.js';
import { type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

interface DeliveryRow extends Record<string, unknown> {
  id: string;
  endpoint_id: string;
  status: string;
  attempts: number;
  last_error: string | null;
}

interface EndpointRow extends Record<string, unknown> {
  status: string;
  failures: number;
  paused_until: Date | null;
}

const CHARGES = 40;

/** A thread of its own for receivers whose answers never end, as fast as they are read. Reports their ports. */
const ENDLESS_PEERS = `
  const { createServer } = require('node:net');
  const { parentPort, workerData } = require('node:worker_threads');
  const ports = workerData.map(([start, piece]) => new Promise((resolve) => {
    const block = Buffer.from(piece.repeat(Math.ceil(65536 / piece.length)));
    const server = createServer((socket) => {
      const more = () => {
        while (!socket.destroyed && socket.write(block));
      };
      socket.on('error', () => undefined).on('drain', more).once('data', () => {
        socket.write(start);
        more();
      });
    });
    server.listen(0, '127.0.0.1', () => resolve(server.address().port));
  }));
  void Promise.all(ports).then((all) => parentPort.postMessage(all));`;

/** Uses few places, so that an endpoint taking more than its share is noticed at once. */
describe('webhook endpoints beside each other', () => {
  let service: TestService;
  let receiver: WebhookReceiver;
  /** Accepts connections and never answers. */
  let abyss: Server;
  const swallowed = new Set<Socket>();

  beforeAll(async () => {
    service = await TestService.start({
      env: { WEBHOOK_CONCURRENCY: '16', WEBHOOK_TIMEOUT_MS: '30000', WEBHOOK_RETRY_SCHEDULE: '10,30,120' },
    });
    abyss = createServer((socket) => {
      swallowed.add(socket);
      socket.on('error', () => undefined).resume();
    });
    await new Promise<void>((resolve) => abyss.listen(0, '127.0.0.1', resolve));
  });
  beforeEach(async () => {
    receiver = await WebhookReceiver.start();
  });
  afterEach(async () => {
    await receiver.stop();
    await expectLedgerCoherent(service.database.url);
  });
  afterAll(async () => {
    for (const socket of swallowed) socket.destroy();
    await new Promise((resolve) => abyss.close(resolve));
    await service.stop();
  });

  async function register({ testKey: key }: Merchant, url: string, events = ['charge.created']): Promise<string> {
    const body = { url, events };
    const answer = await service.call<{ id: string }>('POST', '/v1/webhooks/endpoints', { key, body });
    expect(answer.status).toBe(201);
    return answer.body.id;
  }

  const portOf = (server: Server): number => (server.address() as AddressInfo).port;
  const chargeOf = (body: Record<string, unknown>): string => (body['data'] as { object: { id: string } }).object.id;
  const deliveries = (endpointId: string): Promise<DeliveryRow[]> =>
    service.sql<DeliveryRow>('SELECT * FROM webhook_deliveries WHERE endpoint_id = $1 ORDER BY id', [endpointId]);
  const health = async (id: string): Promise<EndpointRow | undefined> =>
    (await service.sql<EndpointRow>('SELECT * FROM webhook_endpoints WHERE id = $1', [id]))[0];

  /** Creates charges one after another. @returns milliseconds from the request to the arrival of each webhook */
  async function latencies(merchant: Merchant): Promise<number[]> {
    const sent = new Map<string, number>();
    for (let n = 0; n < CHARGES; n++) {
      const at = performance.now();
      const { body } = await service.createCharge(merchant.testKey);
      sent.set(body.id, at);
      await delay(20);
    }
    const times = await waitFor(
      'all webhooks',
      () => {
        const arrived = receiver.received.flatMap(({ body, at }) => {
          const began = sent.get(chargeOf(body));
          return began === undefined ? [] : [at - began];
        });
        return arrived.length === CHARGES ? arrived : null;
      },
      40_000,
    );
    return times.sort((a, b) => a - b);
  }

  const median = (times: readonly number[]): number => times[Math.floor(times.length / 2)] ?? Number.NaN;
  const p95 = (times: readonly number[]): number => times[Math.floor(times.length * 0.95)] ?? Number.NaN;

  it('dead endpoints of every kind leave the latency of good endpoints unchanged', async () => {
    const calm = await service.merchant();
    await register(calm, receiver.url);
    await latencies(calm);
    const ratios: number[] = [];
    // Takes the least of several rounds: a busy machine disturbs one side or the other.
    for (let round = 0; round < 3 && !ratios.some((ratio) => ratio <= 10); round++) {
      const alone = p95(await latencies(calm));
      const merchant = await service.merchant();
      await register(merchant, receiver.url);
      const dead = [];
      for (const path of ['a', 'b', 'c'])
        dead.push(await register(merchant, `http://127.0.0.1:${portOf(abyss)}/${path}`));
      for (const path of ['d', 'e', 'f']) dead.push(await register(merchant, `http://127.0.0.1:9/${path}`));
      const beside = p95(await latencies(merchant));
      ratios.push(beside / alone);
      process.stderr.write(`p95 alone ${alone.toFixed(1)} ms, beside six dead ${beside.toFixed(1)} ms\n`);
      for (const id of dead) {
        const rows = await deliveries(id);
        expect(rows).toHaveLength(CHARGES);
        expect(rows.filter(({ status }) => status === 'DELIVERED')).toEqual([]);
      }
      // Refusing endpoints are skipped after a few attempts, and the others keep theirs.
      const refused = await deliveries(dead[3] ?? '');
      expect(refused.filter(({ attempts }) => attempts > 0).length).toBeLessThan(CHARGES / 2);
    }
    // With shared places the first sixteen that hang would stop all others for 30 s.
    expect(Math.min(...ratios)).toBeLessThanOrEqual(10);
  });

  it('good endpoints get webhooks as fast beside eight receivers whose answers never end', async () => {
    const worker = new Worker(ENDLESS_PEERS, { eval: true, workerData: Object.values(ENDLESS_ANSWERS) });
    const [ports] = (await once(worker, 'message')) as [number[]];
    expect(ports).toHaveLength(8);
    const calm = await service.merchant();
    await register(calm, receiver.url);
    await latencies(calm);
    const ratios: number[] = [];
    // Takes the least of several rounds: a busy machine disturbs one side or the other.
    for (let round = 0; round < 5 && !ratios.some((ratio) => ratio <= 2); round++) {
      const alone = median(await latencies(calm));
      // Uses new endpoints: the endpoints of the previous round are paused.
      const hostile = await service.merchant();
      const endpoints = [];
      for (const port of ports) endpoints.push(await register(hostile, `http://127.0.0.1:${port}/`));
      let isOver = false;
      const load = (async () => {
        while (!isOver) {
          await service.createCharge(hostile.testKey);
          // An answer that is read until its time is over lasts for the whole round.
          await delay(500);
        }
      })();
      const beside = median(await latencies(calm));
      isOver = true;
      await load;
      ratios.push(beside / alone);
      process.stderr.write(`p50 alone ${alone.toFixed(1)} ms, beside eight endless ${beside.toFixed(1)} ms\n`);
      for (const id of endpoints) {
        const errors = (await deliveries(id)).flatMap(({ last_error: error }) => error ?? []);
        expect(errors.length).toBeGreaterThan(0);
        expect(errors.filter((error) => !/128 KiB|too large/.test(error))).toEqual([]);
      }
    }
    await worker.terminate();
    expect(Math.min(...ratios)).toBeLessThanOrEqual(2);
  });

  it('a new event is sent without delay beside another endpoint’s backlog', async () => {
    const [busy, other] = [await service.merchant(), await service.merchant()];
    const slow = await WebhookReceiver.start();
    const release = slow.hold();
    const id = await register(busy, slow.url);
    for (let n = 0; n < 60; n++) await service.createCharge(busy.testKey);
    await waitFor('the first ones to be on their way', () => slow.received.length > 0);
    await register(other, receiver.url);
    const { body } = await service.createCharge(other.testKey);
    const [arrived] = await receiver.waitForType('charge.created');
    expect(chargeOf(arrived?.body ?? {})).toBe(body.id);
    // No place has become free: each attempt of the backlog is still under way.
    expect(slow.held).toBe(slow.received.length);
    expect(
      await service.sql(
        'SELECT FROM webhook_attempts a JOIN webhook_deliveries d ON d.id = a.delivery_id WHERE d.endpoint_id = $1',
        [id],
      ),
    ).toEqual([]);
    release();
    await waitFor(
      'the backlog',
      async () => (await deliveries(id)).every(({ status }) => status === 'DELIVERED'),
      30_000,
    );
    expect(new Set(slow.received.map(({ body: { id: event } }) => event)).size).toBe(60);
    await slow.stop();
  });

  it('a new event is sent without delay beside the endpoint’s own old failures', async () => {
    const merchant = await service.merchant();
    const order: string[] = [];
    const slow = createHttpServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        order.push(chargeOf(JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>));
        setTimeout(() => response.writeHead(200).end(), 60);
      });
    });
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
    const id = await register(merchant, receiver.url);
    for (let n = 0; n < 120; n++) await service.createCharge(merchant.testKey);
    await waitFor('all of them', async () => (await deliveries(id)).every(({ status }) => status === 'DELIVERED'));
    // State after an outage: all failed once, and all are due.
    await service.call('PATCH', `/v1/webhooks/endpoints/${id}`, {
      key: merchant.testKey,
      body: { url: `http://127.0.0.1:${portOf(slow)}/` },
    });
    await service.sql(
      `UPDATE webhook_deliveries SET status = 'PENDING', attempts = 1, next_attempt_at = $2 WHERE endpoint_id = $1`,
      [id, service.clock.now()],
    );
    await waitFor('the first retries', () => order.length > 0);
    const { body } = await service.createCharge(merchant.testKey);
    const waited = order.length;
    await waitFor('the new one', () => order.includes(body.id));
    // Two run at once, on average one of each kind; a hundred old ones were due before the new one.
    expect(order.indexOf(body.id) - waited).toBeLessThan(40);
    await waitFor('the rest', async () => (await deliveries(id)).every(({ status }) => status === 'DELIVERED'), 30_000);
    expect(new Set(order).size).toBe(121);
    await new Promise((resolve) => slow.close(resolve));
  });

  it('a failing endpoint is paused, probed with one delivery at a time, and then gets every delivery', async () => {
    const merchant = await service.merchant();
    receiver.answer = 503;
    const id = await register(merchant, receiver.url);
    for (let n = 0; n < 20; n++) await service.createCharge(merchant.testKey);
    const paused = async (): Promise<Date | null> => (await health(id))?.paused_until ?? null;
    await waitFor('the breaker to open', paused);
    await waitFor('what was under way', async () => (await deliveries(id)).every(({ status }) => status === 'PENDING'));
    const before = receiver.received.length;
    expect(before).toBeGreaterThanOrEqual(5);
    expect(before).toBeLessThan(16);
    await service.createCharge(merchant.testKey);
    await waitFor('the new one to be written', async () => (await deliveries(id)).length === 21);

    // An event of another endpoint comes and goes meanwhile: this endpoint gets nothing.
    const [other, bystander] = [await service.merchant(), await WebhookReceiver.start()];
    await register(other, bystander.url);
    await service.createCharge(other.testKey);
    await bystander.waitForType('charge.created');
    await bystander.stop();
    expect(receiver.received).toHaveLength(before);

    // Each pause ends with one attempt, whose failure makes the next pause.
    for (let probe = 1; probe <= 2; probe++) {
      const until = await paused();
      service.clock.advance(8);
      await waitFor('a probe', () => receiver.received.length > before + probe - 1);
      await waitFor('its record', async () => {
        const [now, rows] = [await paused(), await deliveries(id)];
        return now !== null && until !== null && now > until && rows.every(({ status }) => status === 'PENDING');
      });
      expect(receiver.received).toHaveLength(before + probe);
    }
    const spared = (await deliveries(id)).filter(({ attempts }) => attempts === 0).length;
    expect(spared).toBeGreaterThan(5);

    receiver.answer = 200;
    service.clock.advance(80);
    await waitFor('everything', async () => (await deliveries(id)).every(({ status }) => status === 'DELIVERED'));
    expect(await health(id)).toMatchObject({ failures: 0, failing_since: null, paused_until: null });
    const attempts = (await deliveries(id)).reduce((sum, row) => sum + row.attempts, 0);
    expect(receiver.received).toHaveLength(attempts);
    expect(new Set(receiver.received.map(({ body: { id: event } }) => event)).size).toBe(21);
  });

  it('an endpoint without success for five days is switched off, with a mail, until the merchant switches it on', async () => {
    const merchant = await service.merchant({ contact_email: 'loja@example.com' });
    const key = merchant.testKey;
    receiver.answer = 500;
    const id = await register(merchant, receiver.url);
    const { body: charge } = await service.createCharge(key);
    await waitFor('the first failure', async () => (await health(id))?.failures === 1);
    await service.sql('UPDATE webhook_endpoints SET failures = 19 WHERE id = $1', [id]);
    service.clock.advance(5 * 24 * 3600 + 1);
    await waitFor('the endpoint to be switched off', async () => (await health(id))?.status === 'INACTIVE');
    await waitFor('what waits to be cancelled', async () => (await deliveries(id))[0]?.status === 'CANCELLED');
    expect(await deliveries(id)).toMatchObject([{ attempts: 2, last_error: 'the endpoint is inactive' }]);
    const listed = await service.call<{ data: unknown[] }>('GET', '/v1/webhooks/endpoints', { key });
    expect(listed.body.data).toMatchObject([{ id: `wh_${id}`, status: 'INACTIVE' }]);
    const mails = await waitFor('the mail to be sent', async () => {
      const rows = await service.sql<{ status: string; recipient: string; text_body: string }>(
        'SELECT * FROM emails WHERE account_id = $1',
        [merchant.accountId],
      );
      return rows[0]?.status === 'sent' ? rows : null;
    });
    expect(mails).toMatchObject([{ recipient: 'loja@example.com', text_body: expect.stringContaining(receiver.url) }]);
    expect(mails[0]?.text_body).toContain('HTTP 500');

    await service.createCharge(key);
    // Relayed while the endpoint is off: otherwise the event would be sent afterwards.
    await waitFor('the event to be relayed', async () => {
      const pending = await service.sql(`SELECT FROM events WHERE status = 'pending'`);
      return pending.length === 0;
    });
    receiver.reset();
    const patched = await service.call('PATCH', `/v1/webhooks/endpoints/${id}`, { key, body: { status: 'ACTIVE' } });
    expect(patched.status).toBe(200);
    const { body: next } = await service.createCharge(key);
    const [arrived] = await receiver.waitForType('charge.created');
    expect(chargeOf(arrived?.body ?? {})).toBe(next.id);
    expect(next.id).not.toBe(charge.id);
    expect(await health(id)).toMatchObject({ status: 'ACTIVE', failures: 0, failing_since: null, paused_until: null });
  });
});
