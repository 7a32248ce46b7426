import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Cleanup } from '../harness/cleanup.js';
import { CrashingPostgres, POSTMASTER_ENDS } from '../harness/crashing-postgres.js';
import type { Progress } from '../harness/run.js';
import { makeMerchants, type Merchant } from '../bench/merchants.js';
import { newCharge } from '../bench/requests.js';
import { ServiceProcess } from '../harness/service-process.js';
import { type Receiver, startReceivers } from './receivers.js';
import type { Random } from '../harness/random.js';
import { InsistentClient } from './insistent-client.js';
import { CrashingRedis } from './servers.js';

export interface StormPlan {
  /** Settings of each round: one round without and one with crashes. */
  readonly events: number;
  readonly goodEndpoints: number;
  readonly deadEndpoints: number;
}

/** Result of the deliveries to good endpoints in one round. */
export interface RoundResult {
  readonly events: number;
  readonly expected: number;
  readonly once: number;
  readonly repeated: number;
  readonly lost: number;
  /** Milliseconds from the event to its first arrival. */
  readonly delays: readonly number[];
  readonly seconds: number;
  readonly crashes: ReadonlyMap<string, number>;
  /** Deliveries to dead endpoints, by status. */
  readonly dead: Readonly<Record<string, number>>;
}

const MERCHANTS = 5;
const WORKERS = 2;
const CLIENTS = 16;
/** Deliveries of a killed worker wait for their lease. */
const DRAIN_LIMIT_MS = 240_000;
/** Short waits, so that deliveries that fail during a crash are retried within the run. */
const RETRY_SCHEDULE = '1,2,3,5,5,10,10,20,30,60,60,60,60,60';

/** Merchants, their endpoints, and the service as several processes; any process may die. */
export class WebhookStorm {
  readonly #workers: ServiceProcess[] = [];
  /** All services that were ever started. */
  readonly #services: ServiceProcess[] = [];
  /** Events of earlier rounds, which are judged already. */
  readonly #judged = new Set<string>();

  private constructor(
    private readonly random: Random,
    private readonly directory: string,
    private readonly cleanup: Cleanup,
    private readonly env: Record<string, string>,
    private readonly postgres: CrashingPostgres,
    private readonly redis: CrashingRedis | null,
    private readonly client: InsistentClient,
    private readonly merchants: readonly Merchant[],
    private readonly receivers: readonly Receiver[],
  ) {}

  static async open(plan: StormPlan, random: Random, directory: string, cleanup: Cleanup): Promise<WebhookStorm> {
    const postgres = await CrashingPostgres.start(directory, cleanup);
    const redis = await CrashingRedis.start(directory, cleanup);
    const env = {
      DATABASE_URL: postgres.url,
      ...(redis ? { REDIS_URL: redis.url } : {}),
      HOST: '127.0.0.1',
      ENCRYPTION_KEY: randomBytes(32).toString('hex'),
      WEBHOOK_ALLOW_PRIVATE: 'true',
      WEBHOOK_RETRY_SCHEDULE: RETRY_SCHEDULE,
      LOG_LEVEL: 'warn',
    };
    // Without Redis jobs stay in their process: one process is then both API and worker, and the other another worker.
    const api = await start('api', directory, cleanup, { ...env, ROLE: redis ? 'api' : 'all' });
    const merchants = await makeMerchants(postgres.url, MERCHANTS);
    const receivers = await startReceivers(plan.goodEndpoints, plan.deadEndpoints, cleanup);
    const client = new InsistentClient(api.url, CLIENTS, cleanup);
    const storm = new WebhookStorm(random, directory, cleanup, env, postgres, redis, client, merchants, receivers);
    storm.#services.push(api);
    await storm.#register();
    for (let n = 0; n < WORKERS; n++) storm.#workers.push(await storm.#startWorker(n));
    return storm;
  }

  get description(): string {
    const dead = this.receivers.flatMap(({ fault }) => fault ?? []);
    return [
      `${String(this.receivers.length)} endpoints of ${String(MERCHANTS)} merchants, ${String(dead.length)} of them dead: ${dead.join(', ')}`,
      `1 API process, ${String(WORKERS)} worker processes, PostgreSQL, ${this.redis ? 'Redis' : 'no Redis on the PATH'}`,
    ].join('\n');
  }

  /** Exits of service processes that were not killed by the test. */
  get died(): string[] {
    return this.#services.flatMap(({ died }) => died ?? []);
  }

  /** Creates `events` charges, announces each to every endpoint of its merchant, and judges the arrivals. */
  async round(events: number, crashing: boolean, progress: Progress): Promise<RoundResult> {
    const began = performance.now();
    for (const receiver of this.receivers) receiver.delays.length = 0;
    const crashes = new Map<string, number>();
    const created = { count: 0, done: false };
    const crash = crashing ? this.#crashes(events, created, crashes, progress) : Promise.resolve();
    await this.#create(events, created);
    created.done = true;
    await crash;
    progress(`${String(events)} charges created; waiting for their webhooks`);
    await this.#drained();
    const seconds = (performance.now() - began) / 1000;
    return { ...(await this.#judge(events)), seconds, crashes };
  }

  async #register(): Promise<void> {
    for (const [index, receiver] of this.receivers.entries()) {
      const body = JSON.stringify({ url: receiver.url, events: ['charge.created'] });
      await this.client.post({ path: '/v1/webhooks/endpoints', apiKey: this.#merchantOf(index).apiKey, body });
    }
  }

  #merchantOf(index: number): Merchant {
    const merchant = this.merchants[index % this.merchants.length];
    if (!merchant) throw new Error('No merchants');
    return merchant;
  }

  async #startWorker(index: number): Promise<ServiceProcess> {
    const env = { ...this.env, ROLE: 'worker' };
    const worker = await start(`worker-${String(index)}`, this.directory, this.cleanup, env);
    this.#services.push(worker);
    return worker;
  }

  async #create(events: number, created: { count: number }): Promise<void> {
    let next = 0;
    const client = async (): Promise<void> => {
      while (next < events) {
        const { apiKey } = this.#merchantOf(next++);
        await this.client.post({ path: '/v1/charges', apiKey, body: newCharge(), idempotencyKey: randomUUID() });
        created.count += 1;
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
  }

  /**
   * Spreads crashes over the creation of the charges, with every way in which a postmaster ends. The last crash happens
   * while the last webhooks are on their way.
   */
  async #crashes(
    events: number,
    created: { count: number; done: boolean },
    crashes: Map<string, number>,
    progress: Progress,
  ): Promise<void> {
    const postgres = POSTMASTER_ENDS.map((signal) => `PostgreSQL (${signal})`);
    const redis = this.redis ? ['Redis'] : [];
    const kinds = ['worker', ...redis, ...postgres.flatMap((kind) => [kind, 'worker'])];
    for (const [index, kind] of kinds.entries()) {
      const share = events / (kinds.length + 1);
      const at = Math.floor(share * (index + 1) - this.random.next() * share * 0.8);
      while (created.count < at && !created.done) await delay(5);
      await this.#crash(kind, crashes, progress);
    }
    while (!created.done) await delay(5);
    await this.#crash('worker', crashes, progress);
  }

  async #crash(kind: string, crashes: Map<string, number>, progress: Progress): Promise<void> {
    progress(`crash: ${kind}`);
    const signal = POSTMASTER_ENDS.find((end) => kind.endsWith(`(${end})`));
    if (kind === 'Redis') await this.redis?.crash();
    else if (signal) await this.postgres.crash(signal);
    else {
      const index = this.random.between(0, this.#workers.length - 1);
      await this.#workers[index]?.kill();
      this.#workers[index] = await this.#startWorker(index);
    }
    crashes.set(kind, (crashes.get(kind) ?? 0) + 1);
  }

  /** Waits until no good endpoint has waiting deliveries. */
  async #drained(): Promise<void> {
    const deadline = performance.now() + DRAIN_LIMIT_MS;
    for (;;) {
      const [row] = await this.#rows<{ waiting: string }>(
        `SELECT (SELECT count(*) FROM events WHERE status = 'pending')
              + (SELECT count(*) FROM webhook_deliveries d JOIN webhook_endpoints e ON e.id = d.endpoint_id
                 WHERE d.status IN ('PENDING', 'PROCESSING') AND e.url = ANY ($1)) AS waiting`,
        [this.receivers.filter(({ fault }) => fault === null).map(({ url }) => url)],
      );
      if (row?.waiting === '0') return;
      // Late deliveries count as lost: the report says so.
      if (performance.now() > deadline) return;
      await delay(200);
    }
  }

  /** Compares arrivals with the events: each event must have reached every good endpoint of its account. */
  async #judge(created: number): Promise<Omit<RoundResult, 'seconds' | 'crashes'>> {
    const rows = await this.#rows<{ id: string; account_id: string }>(
      `SELECT 'evt_' || replace(id::text, '-', '') AS id, account_id FROM events WHERE type = 'transaction.created'`,
    );
    const events = rows.filter(({ id }) => !this.#judged.has(id));
    if (events.length !== created) {
      throw new Error(`${String(created)} charges were confirmed, but there are ${String(events.length)} events`);
    }
    let once = 0;
    let repeated = 0;
    let lost = 0;
    const good = this.receivers.map((receiver, index) => ({ receiver, accountId: this.#merchantOf(index).accountId }));
    for (const { id, account_id } of events) {
      this.#judged.add(id);
      for (const { receiver } of good.filter(
        ({ receiver: { fault }, accountId }) => !fault && accountId === account_id,
      )) {
        const times = receiver.arrivals.get(id) ?? 0;
        if (times === 0) lost += 1;
        else if (times === 1) once += 1;
        else repeated += 1;
      }
    }
    const dead = await this.#rows<{ status: string; count: string }>(
      `SELECT d.status, count(*) FROM webhook_deliveries d JOIN webhook_endpoints e ON e.id = d.endpoint_id
       WHERE e.url = ANY ($1) GROUP BY 1 ORDER BY 1`,
      [this.receivers.filter(({ fault }) => fault !== null).map(({ url }) => url)],
    );
    return {
      events: events.length,
      expected: once + repeated + lost,
      once,
      repeated,
      lost,
      delays: this.receivers.flatMap(({ delays }) => delays),
      dead: Object.fromEntries(dead.map(({ status, count }) => [status, Number(count)])),
    };
  }

  /** Queries over a new connection: the last one may have died with the server. */
  async #rows<R extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<R[]> {
    const client = new pg.Client({ connectionString: this.postgres.url });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<R>(sql, values)).rows;
    } finally {
      await client.end();
    }
  }
}

function start(
  name: string,
  directory: string,
  cleanup: Cleanup,
  env: Record<string, string>,
): Promise<ServiceProcess> {
  return ServiceProcess.start(mkdtempSync(join(directory, `${name}-`)), cleanup, env);
}
