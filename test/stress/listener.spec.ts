import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { EventBody, EventListBody } from '../../src/webhooks/dto/event.body.js';
import { BuiltProcess, CLI, Processes, type ServiceProcess } from '../support/process.js';
import { type ReceivedWebhook, WebhookReceiver } from '../support/receiver.js';
import { trial } from '../support/scale.js';
import { waitFor } from '../support/wait.js';

jest.setTimeout(900_000);

/** Each has two events. */
const SALES = trial(5_000, 500);
const CLIENTS = 8;
const CUTS = 20;
const LIMIT_MS = 600_000;

/** Stands between the listener and the service, and cuts what goes through. */
class Wire {
  /** Port of the service, which changes with each start. */
  target = 0;
  cuts = 0;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((near) => {
    const far = connect(this.target, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });

  async start(): Promise<this> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  cut(): void {
    this.cuts++;
    for (const socket of this.#sockets) socket.destroy();
  }

  stop(): void {
    this.cut();
    this.#server.close();
  }
}

describe('a listener on a bad connection', () => {
  const processes = new Processes();
  const dataDir = processes.dataDir();
  const wire = new Wire();
  let receiver: WebhookReceiver;
  let service: ServiceProcess;
  let key: string;
  let listener: BuiltProcess | null = null;

  const start = async (): Promise<void> => {
    service = await processes.start(dataDir, { RATE_LIMIT: 'off' });
    wire.target = Number(new URL(service.url).port);
  };
  beforeAll(async () => {
    await wire.start();
    receiver = await WebhookReceiver.start();
    await start();
    key = service.demo().test_api_key;
  });
  afterAll(async () => {
    await listener?.kill();
    wire.stop();
    await receiver.stop();
    await processes.cleanUp();
  });

  async function listen(args: readonly string[] = []): Promise<BuiltProcess> {
    const env = { RECEBE_URL: wire.url, RECEBE_API_KEY: key };
    const started = new BuiltProcess(CLI, ['listen', '--forward-to', receiver.url, ...args], env);
    listener = started;
    await waitFor('the listener', () => {
      if (!started.running) throw new Error(started.stderr);
      return started.stdout.includes('\n');
    });
    return started;
  }

  /** Repeats a request until the service answers. */
  async function insist<T>(method: string, path: string, body?: object, idempotencyKey?: string): Promise<T> {
    return waitFor(
      `${method} ${path}`,
      async () => {
        const response = await fetch(`${service.url}${path}`, {
          method,
          headers: {
            apikey: key,
            ...(body && { 'Content-Type': 'application/json' }),
            ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }),
          },
          ...(body && { body: JSON.stringify(body) }),
        }).catch(() => null);
        return response?.ok === true ? ((await response.json()) as T) : null;
      },
      LIMIT_MS,
    );
  }

  async function sell(count: number): Promise<void> {
    let left = count;
    const client = async (): Promise<void> => {
      while (left-- > 0) {
        const body = { amount: 1990, payment_method: 'pix' };
        const { id } = await insist<{ id: string }>('POST', '/v1/charges', body, randomUUID());
        await insist('POST', `/v1/sandbox/charges/${id}/simulate`, { event: 'pay' });
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
  }

  async function eventsAfter(cursor: string): Promise<EventBody[]> {
    const events: EventBody[] = [];
    for (let after = cursor; ;) {
      const page = await insist<EventListBody>('GET', `/v1/events?limit=100&after=${after}`);
      events.push(...page.data);
      after = page.next_cursor ?? after;
      if (!page.has_more) return events;
    }
  }

  const distinct = (): ReceivedWebhook[] => {
    const seen = new Set<string>();
    return receiver.received.filter(({ body }) => {
      const isNew = !seen.has(String(body['id']));
      seen.add(String(body['id']));
      return isNew;
    });
  };

  it(`forwards each of ${2 * SALES} events in the order of its subject, through ${CUTS} cuts and a kill -9`, async () => {
    const begin = (await insist<EventListBody>('GET', '/v1/events?limit=1')).data[0]?.cursor ?? '';
    await listen();
    const cutter = async (): Promise<void> => {
      for (let n = 1; n <= CUTS; n++) {
        const at = Math.floor((n * 2 * SALES) / (CUTS + 2));
        await waitFor(`event ${at}`, () => receiver.received.length >= at, LIMIT_MS);
        wire.cut();
        if (n === CUTS / 2) {
          await service.kill('SIGKILL');
          await start();
        }
      }
    };
    await Promise.all([sell(SALES), cutter()]);
    const events = await eventsAfter(begin);
    expect(events.length).toBeGreaterThanOrEqual(2 * SALES);
    await waitFor('all of them', () => distinct().length >= events.length, LIMIT_MS);

    const received = distinct();
    expect(new Set(received.map(({ body }) => body['id']))).toEqual(new Set(events.map(({ id }) => id)));
    const last = new Map<string, number>();
    for (const { body } of received) {
      const { sequence, data } = body as unknown as EventBody;
      const { id } = (data as { object: { id: string } }).object;
      expect(sequence).toBeGreaterThan(last.get(id) ?? 0);
      last.set(id, sequence);
    }
    const { secret } = JSON.parse(listener?.stdout.split('\n')[0] ?? '') as { secret: string };
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    for (const { headers, rawBody } of received) {
      const [, time, signature] = /^t=(\d+),v1=(\w+)$/.exec(String(headers['x-service-signature'])) ?? [];
      const made = createHmac('sha256', secret).update(`${String(time)}.${rawBody}`);
      expect(signature).toBe(made.digest('hex'));
    }
    expect(wire.cuts).toBe(CUTS);
    const twice = receiver.received.length - received.length;
    process.stderr.write(`listener: ${events.length} events, ${CUTS} cuts, ${twice} came twice\n`);
  });

  it('goes on where Ctrl-C has ended it, and brings what happened meanwhile', async () => {
    const { code, stderr } = await (listener as BuiltProcess).kill('SIGINT');
    expect(code).toBe(130);
    const cursor = /--since (evc_\w+)/.exec(stderr)?.[1] ?? '';
    const instant = new Date().toISOString();
    await sell(3);
    for (const [since, missed] of [
      [cursor, 6],
      [instant, 8],
    ] as const) {
      receiver.reset();
      const again = await listen(['--since', since]);
      await waitFor('what was missed', () => receiver.received.length >= missed);
      await sell(1);
      await waitFor('the sale of now', () => receiver.received.length >= missed + 2);
      await again.kill('SIGINT');
      expect(distinct()).toHaveLength(missed + 2);
      expect(receiver.received).toHaveLength(missed + 2);
    }
  });
});
