import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { expectLedgerCoherent } from '../support/coherence.js';
import { Processes, type ServiceProcess, withDatabase } from '../support/process.js';
import { WebhookReceiver } from '../support/receiver.js';
import { isHere, itWith } from '../support/needs.js';
import { trial } from '../support/scale.js';
import { waitFor } from '../support/wait.js';
import { Random } from '../../tools/harness/random.js';

/** Two runs of at most: the load (some 20 s), and the lease of what was on its way at the last kill (30 s). */
jest.setTimeout(400_000);

const CHARGES = trial(500, 80);
const CLIENTS = 8;
const KILLS_UNDER_LOAD = trial(6, 2);
const ANSWER_LIMIT_MS = 120_000;
const DRAIN_LIMIT_MS = 150_000;

interface ChargeAnswer {
  id: string;
  status: string;
  settlement: { end_to_end_id?: string };
}

/**
 * A merchant and a bank that outlive the service. Each request is repeated with its Idempotency-Key or end-to-end id
 * until it is answered, and webhooks go to a receiver outside. The service is killed with SIGKILL at random moments.
 */
class CrashRun {
  readonly #processes = new Processes();
  readonly #dataDir = this.#processes.dataDir();
  readonly #ids: string[] = [];
  readonly #amounts: number[];
  #service!: ServiceProcess;
  #receiver!: WebhookReceiver;
  #key = '';
  /** Operations that clients have begun: these time the kills, so that kills hit work on any machine. */
  #begun = 0;
  kills = 0;

  constructor(
    private readonly random: Random,
    private readonly env: Record<string, string>,
    private readonly queue: RegExp,
  ) {
    this.#amounts = Array.from({ length: CHARGES }, () => random.between(1, 1_000_000));
  }

  async run(): Promise<void> {
    this.#receiver = await WebhookReceiver.start();
    try {
      await this.#start();
      expect(this.#service.stdout).toMatch(this.queue);
      this.#key = this.#service.demo().test_api_key;
      await this.#register();
      await Promise.all([this.#killer(), ...Array.from({ length: CLIENTS }, (_, client) => this.#client(client))]);
      // Crashes again with webhooks still on their way.
      await this.#crash();
      await this.#start();
      await withDatabase(this.#dataDir, (url) => this.#check(url));
    } catch (error) {
      const output = `${this.#service?.stdout ?? ''}${this.#service?.stderr ?? ''}`.slice(-5_000);
      throw new Error(`seed ${this.random.seed}; the service said: ${output}`, { cause: error });
    } finally {
      await this.#processes.cleanUp();
      await this.#receiver.stop();
    }
  }

  async #start(): Promise<void> {
    this.#service = await this.#processes.start(this.#dataDir, {
      RATE_LIMIT: 'off',
      WEBHOOK_RETRY_SCHEDULE: Array.from({ length: 60 }, () => 1).join(','),
      ...this.env,
    });
  }

  async #crash(): Promise<void> {
    await this.#service.kill('SIGKILL');
    this.kills += 1;
  }

  async #killer(): Promise<void> {
    const share = Math.floor((2 * CHARGES) / (KILLS_UNDER_LOAD + 1));
    for (let kill = 1; kill <= KILLS_UNDER_LOAD; kill++) {
      const at = kill * share - this.random.between(0, share - 1);
      await waitFor(`operation ${at}`, () => this.#begun >= at, ANSWER_LIMIT_MS);
      // A few milliseconds decide between before, inside and after a transaction.
      await delay(this.random.between(0, 12));
      await this.#crash();
      if (kill % Math.min(3, KILLS_UNDER_LOAD) === 0) await this.#crashWhileStarting();
      // The receiver fails for a while, so that retries are lost and found too.
      this.#receiver.answer = kill === 2 || kill === 5 ? 503 : 200;
      await this.#start();
    }
    this.#receiver.answer = 200;
  }

  async #crashWhileStarting(): Promise<void> {
    const starting = this.#processes.spawn(this.#dataDir, this.env);
    await delay(this.random.between(100, 2_000));
    await starting.kill('SIGKILL');
    this.kills += 1;
  }

  async #client(client: number): Promise<void> {
    for (let n = client; n < CHARGES; n += CLIENTS) {
      const create = (): Promise<ChargeAnswer> =>
        this.#insist<ChargeAnswer>(201, '/v1/charges', {
          headers: { 'Idempotency-Key': `crash-key-${n}` },
          body: { amount: this.#amounts[n], payment_method: 'pix', metadata: { n } },
        });
      // Impatient merchants send the same request twice at once.
      const [charge, twin] = n % 5 === 0 ? await Promise.all([create(), create()]) : [await create()];
      if (twin) expect(twin).toEqual(charge);
      this.#ids[n] = charge.id;

      const endToEndId = `E00000000202611211530${String(n).padStart(11, '0')}`;
      const path = `/v1/sandbox/charges/${charge.id}/simulate`;
      const pay = (): Promise<{ charge: ChargeAnswer }> =>
        this.#insist(200, path, { body: { event: 'pay', end_to_end_id: endToEndId } });
      const [paid] = n % 7 === 0 ? await Promise.all([pay(), pay()]) : [await pay()];
      // A notification may be stored and not yet applied when its answer is lost; in the end it is applied.
      expect(['paid', 'pending']).toContain(paid.charge.status);
    }
  }

  /** Repeats a POST until it is answered as it should be. Any other answer than "not now" is a failure. */
  async #insist<T>(
    status: number,
    path: string,
    request: { headers?: Record<string, string>; body: object },
  ): Promise<T> {
    this.#begun += 1;
    return waitFor(
      `an answer to POST ${path}`,
      async () => {
        const service = this.#service;
        if (!service.running) return null;
        const response = await fetch(`${service.url}${path}`, {
          method: 'POST',
          signal: AbortSignal.timeout(30_000),
          headers: {
            apikey: this.#key,
            'Content-Type': 'application/json',
            ...request.headers,
          },
          body: JSON.stringify(request.body),
        }).catch(() => null);
        const text = await response?.text().catch(() => null);
        if (!response || text == null) return null;
        if (response.status === status) return JSON.parse(text) as T;
        if (response.status === 503 || text.includes('"idempotency_key_in_use"')) return null;
        throw new Error(`POST ${path} was answered ${response.status}: ${text}`);
      },
      ANSWER_LIMIT_MS,
    );
  }

  async #register(): Promise<void> {
    // The service makes its sample charge just before this line, and its endpoint must not hear of that one.
    await waitFor('the sample charge', () => this.#service.stdout.includes('Checkout'), ANSWER_LIMIT_MS);
    await this.#insist(201, '/v1/webhooks/endpoints', {
      body: { url: this.#receiver.url, events: ['charge.created', 'charge.paid'] },
    });
    this.#begun = 0;
  }

  async #check(url: string): Promise<void> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      const rows = async (sql: string): Promise<Record<string, unknown>[]> =>
        (await client.query<Record<string, unknown>>(sql)).rows;

      await waitFor(
        'nothing to be pending',
        async () => {
          const [left] = await rows(
            `SELECT (SELECT count(*) FROM events WHERE status = 'pending')
                  + (SELECT count(*) FROM webhook_deliveries WHERE status IN ('PENDING', 'PROCESSING'))
                  + (SELECT count(*) FROM acquirer_notifications WHERE status = 'pending') AS pending`,
          );
          return Number(left?.['pending']) === 0;
        },
        DRAIN_LIMIT_MS,
      );
      await expectLedgerCoherent(url);

      // Each key has exactly one charge, the confirmed one.
      const charges = await rows(
        `SELECT 'ch_' || id AS id, (metadata ->> 'n')::int AS n, amount::int, status FROM transactions
         WHERE metadata ->> 'n' IS NOT NULL ORDER BY n`,
      );
      expect(charges).toEqual(this.#ids.map((id, n) => ({ id, n, amount: this.#amounts[n], status: 'PAID' })));
      expect(charges).toHaveLength(CHARGES);

      // No Pix was credited twice: the balance is the sum, and no Pix went back.
      const answer = await fetch(`${this.#service.url}/v1/wallets/balance?currency=BRL`, {
        headers: { apikey: this.#key },
      });
      expect(await answer.json()).toMatchObject({
        available: this.#amounts.reduce((sum, amount) => sum + amount, 0),
        pending: 0,
      });
      expect(await rows(`SELECT outcome, count(*)::int FROM settlements GROUP BY outcome`)).toEqual([
        { outcome: 'credited', count: CHARGES },
      ]);

      // No charge without its events, and every delivery was made.
      expect(
        await rows(`SELECT event_type, status, count(*)::int FROM webhook_deliveries GROUP BY 1, 2 ORDER BY 1`),
      ).toEqual([
        { event_type: 'charge.created', status: 'DELIVERED', count: CHARGES },
        { event_type: 'charge.paid', status: 'DELIVERED', count: CHARGES },
      ]);
      this.#checkReceived();
    } finally {
      await client.end();
    }
  }

  /** Checks that the merchant saw each event at least once, and always under one id. */
  #checkReceived(): void {
    const idsOf = new Map<string, Set<unknown>>();
    for (const { body } of this.#receiver.received) {
      const { id } = (body['data'] as { object: { id: string } }).object;
      const event = `${String(body['type'])} ${id}`;
      idsOf.set(event, (idsOf.get(event) ?? new Set()).add(body['id']));
    }
    const expected = this.#ids.flatMap((id) => [`charge.created ${id}`, `charge.paid ${id}`]);
    expect([...idsOf.keys()].sort()).toEqual(expected.sort());
    const ids = [...idsOf.values()].flatMap((found) => [...found]);
    expect(ids).toHaveLength(expected.length);
    expect(new Set(ids).size).toBe(expected.length);
  }
}

describe('kill -9 of the service at random moments loses nothing and doubles nothing', () => {
  const { seed } = Random.seeded();
  const tools = new Processes();
  // Side by side, because most of the time is the wait for the leases of what was on its way at the last kill.
  const runs: Promise<string>[] = [];

  beforeAll(() => {
    runs.push(survive(new CrashRun(new Random(seed), { PATH: tools.pathWithoutRedis() }, /^ {2}Queue +in-process/m)));
    if (isHere('redis')) runs.push(survive(new CrashRun(new Random(seed + 1), {}, /^ {2}Queue +redis$/m)));
    // Each run is awaited by its test; an early failure must not end the runner as an unhandled rejection.
    void Promise.allSettled(runs);
  });
  afterAll(async () => {
    await Promise.allSettled(runs);
    await tools.cleanUp();
  });

  async function survive(run: CrashRun): Promise<string> {
    const started = performance.now();
    await run.run();
    expect(run.kills).toBeGreaterThan(KILLS_UNDER_LOAD);
    const seconds = Math.round((performance.now() - started) / 1000);
    return `STRESS_SEED=${seed}: ${CHARGES} charges, ${run.kills} kills, ${seconds} s\n`;
  }

  it('with the queue in the process', async () => {
    process.stderr.write(`in-process queue, ${await runs[0]}`);
  });

  itWith('redis')('with the queue in Redis', async () => {
    process.stderr.write(`Redis, ${await runs[1]}`);
  });
});
