import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { Agent, request } from 'undici';
import { Cleanup } from '../../tools/harness/cleanup.js';
import {
  CrashingPostgres,
  POSTMASTER_ENDS,
  type PostmasterEnd,
  postmasterPid,
} from '../../tools/harness/crashing-postgres.js';
import { runCli } from '../support/cli.js';
import { Processes, type ServiceProcess, withDatabase } from '../support/process.js';
import { expectLedgerCoherent } from '../support/coherence.js';
import { scaled } from '../support/scale.js';
import { waitFor } from '../support/wait.js';

/** FULL=1: as often as it takes to see what happens once in a few times. */
const TIMES = scaled(2, 1);
const CONNECTIONS = 40;
const LOAD_MS = 1_500;
/** For PostgreSQL to end, to recover and to start, and then for the service; a busy machine takes some of it. */
const SERVES_AGAIN_MS = 20_000;
/** A request waits at most 10 s for a connection, and then for the answer of its statements. */
const ANSWER_MS = 30_000;
const LIMIT_MS = 60_000;

jest.setTimeout(TIMES * LIMIT_MS + 60_000);

interface Confirmed {
  readonly id: string;
  readonly amount: number;
  readonly endToEndId: string;
  isPaid: boolean;
}

/** Merchants on forty connections, each of which creates a charge, has it paid, and goes on with the next. */
class Load {
  readonly confirmed: Confirmed[] = [];
  /** Whatever a merchant must not hear, even from a service without its database. */
  readonly wrong: string[] = [];
  /** Requests that were answered 503. */
  refused = 0;
  /** When a charge was last confirmed. */
  lastAt = 0;
  slowestMs = 0;
  #isOver = false;
  readonly #agent = new Agent({ connections: CONNECTIONS, headersTimeout: ANSWER_MS });
  readonly #clients: Promise<void>[];

  constructor(
    private readonly url: string,
    private readonly key: string,
  ) {
    this.#clients = Array.from({ length: CONNECTIONS }, () => this.#client());
  }

  /** Every request that was begun is brought to its end first. */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#clients);
    await this.#agent.close();
  }

  async #client(): Promise<void> {
    while (!this.#isOver) {
      const amount = 1 + Math.floor(Math.random() * 1_000_000);
      const charge = await this.#insist<{ id: string }>(201, '/v1/charges', { amount, payment_method: 'pix' });
      if (!charge) return;
      const endToEndId = `E${randomUUID().replaceAll('-', '').slice(0, 31)}`;
      const confirmed = { id: charge.id.slice('ch_'.length), amount, endToEndId, isPaid: false };
      this.confirmed.push(confirmed);
      this.lastAt = performance.now();
      const body = { event: 'pay', end_to_end_id: endToEndId };
      const paid = await this.#insist<{ charge: { status: string } }>(
        200,
        `/v1/sandbox/charges/${charge.id}/simulate`,
        body,
      );
      confirmed.isPaid = paid?.charge.status === 'paid';
    }
  }

  /** Repeats a request under its key until it is answered as it should be; null after an answer that must not be. */
  async #insist<T>(status: number, path: string, body: object): Promise<T | null> {
    const key = randomUUID();
    for (;;) {
      const began = performance.now();
      try {
        const answer = await request(`${this.url}${path}`, {
          method: 'POST',
          dispatcher: this.#agent,
          headers: { apikey: this.key, 'content-type': 'application/json', 'idempotency-key': key },
          body: JSON.stringify(body),
        });
        const text = await answer.body.text();
        if (answer.statusCode === status) return JSON.parse(text) as T;
        const { error } = JSON.parse(text) as { error: { type: string; code: string } };
        const isAway = answer.statusCode === 503 && error.type === 'api_error' && error.code === 'service_unavailable';
        if (isAway) this.refused += 1;
        else if (error.code !== 'idempotency_key_in_use') {
          this.wrong.push(`${String(answer.statusCode)} ${text}`);
          return null;
        }
      } catch (error) {
        this.wrong.push(String(error));
        return null;
      }
      this.slowestMs = Math.max(this.slowestMs, performance.now() - began);
      await delay(50);
    }
  }
}

describe('a PostgreSQL that ends under load never ends the service', () => {
  let processes: Processes;
  let cleanup: Cleanup;
  let directory: string;

  beforeEach(() => {
    processes = new Processes();
    cleanup = new Cleanup();
    directory = mkdtempSync(join(tmpdir(), 'recebe-outage-'));
    chmodSync(directory, 0o755); // as root PostgreSQL runs as another user, who must get in
  });
  afterEach(async () => {
    await processes.cleanUp();
    await cleanup.run();
    rmSync(directory, { recursive: true, force: true });
  });

  /** @param end ends PostgreSQL; resolves when it is gone, or back */
  async function surviveOne(service: ServiceProcess, key: string, end: () => Promise<void>): Promise<Confirmed[]> {
    const load = new Load(service.url, key);
    try {
      await waitFor(
        'all connections to be at work',
        () => load.wrong.length > 0 || load.confirmed.length > 3 * CONNECTIONS,
        LIMIT_MS,
      );
      await end();
      const backAt = performance.now();
      await waitFor(
        'charges to be confirmed again',
        () => !service.running || load.wrong.length > 0 || load.lastAt > backAt,
        SERVES_AGAIN_MS,
      );
      await delay(LOAD_MS);
    } finally {
      await load.end();
    }
    expect({ exit: service.exit, wrong: load.wrong }).toEqual({ exit: null, wrong: [] });
    expect(load.slowestMs).toBeLessThan(ANSWER_MS);
    return load.confirmed;
  }

  async function survive(
    service: ServiceProcess,
    key: string,
    signal: PostmasterEnd,
    end: () => Promise<void>,
  ): Promise<Confirmed[]> {
    const confirmed: Confirmed[] = [];
    try {
      for (let time = 0; time < TIMES; time++) confirmed.push(...(await surviveOne(service, key, end)));
    } catch (error) {
      const said = `${service.stdout}${service.stderr}`.slice(-4_000);
      throw new Error(`${signal}; the service said: ${said}`, { cause: error });
    }
    process.stderr.write(`${signal} × ${TIMES}: ${confirmed.length} charges\n`);
    return confirmed;
  }

  /** Nothing that a merchant was told is lost, and what was paid is paid exactly once. */
  async function check(url: string, confirmed: readonly Confirmed[]): Promise<void> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      await waitFor(
        'nothing to be pending',
        async () => {
          const { rows } = await client.query<{ pending: string }>(
            `SELECT (SELECT count(*) FROM events WHERE status = 'pending')
                  + (SELECT count(*) FROM acquirer_notifications WHERE status = 'pending') AS pending`,
          );
          return rows[0]?.pending === '0';
        },
        LIMIT_MS,
      );
      const { rows } = await client.query<{ id: string; amount: string; status: string; settled: string[] }>(
        `SELECT t.id, t.amount, t.status, array_agg(s.end_to_end_id || ' ' || s.outcome) AS settled
         FROM transactions t LEFT JOIN settlements s ON s.transaction_id = t.id
         WHERE t.id = ANY ($1) GROUP BY t.id`,
        [confirmed.map(({ id }) => id)],
      );
      const kept = new Map(rows.map((row) => [row.id, row]));
      const wrong = confirmed.filter(({ id, amount, endToEndId }) => {
        const row = kept.get(id);
        const isKept = Number(row?.amount) === amount && row?.status === 'PAID';
        return !isKept || row.settled.join() !== `${endToEndId} credited`;
      });
      expect(wrong.map((one) => ({ ...one, kept: kept.get(one.id) }))).toEqual([]);
      expect(confirmed.filter(({ isPaid }) => isPaid).length).toBeGreaterThan(0);
    } finally {
      await client.end();
    }
    await expectLedgerCoherent(url);
  }

  it.each(scaled<readonly PostmasterEnd[]>(POSTMASTER_ENDS, ['SIGKILL']))(
    'the embedded one, by %s: the service starts it again',
    async (signal) => {
      const dataDir = processes.dataDir();
      const service = await processes.start(dataDir, { RATE_LIMIT: 'off' });
      const { test_api_key: key } = service.demo();
      const confirmed = await survive(service, key, signal, async () => {
        const pid = postmasterPid(dataDir);
        process.kill(pid, signal);
        await waitFor(
          'another PostgreSQL in its place',
          async () => !service.running || (await isServing(service, pid, dataDir)),
          SERVES_AGAIN_MS,
        );
      });
      expect(service.stdout.split('postgres has ended although it is in use; starting it again')).toHaveLength(
        TIMES + 1,
      );
      await withDatabase(dataDir, (url) => check(url, confirmed));
    },
  );

  it.each(scaled<readonly PostmasterEnd[]>(POSTMASTER_ENDS, ['SIGINT']))(
    'one of its own, by %s: the service is there when it is back',
    async (signal) => {
      const postgres = await CrashingPostgres.start(directory, cleanup);
      const env = { DATABASE_URL: postgres.url, RATE_LIMIT: 'off' };
      const dataDir = processes.dataDir();
      const service = await processes.start(dataDir, env);
      const key = await merchant({ ...env, DATA_DIR: dataDir });
      const confirmed = await survive(service, key, signal, () => postgres.crash(signal));
      await check(postgres.url, confirmed);
    },
  );

  async function merchant(env: Record<string, string>): Promise<string> {
    const cli = async <T>(args: string[], stdin?: string): Promise<T> => {
      const { code, stdout, stderr } = await runCli(args, env, stdin);
      if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
      return JSON.parse(stdout) as T;
    };
    const account = ['--name', 'Padaria', '--email', 'owner@example.com', '--password-file', '-'];
    const { account_id } = await cli<{ account_id: string }>(
      ['account', 'create', ...account],
      'correct horse battery',
    );
    return (await cli<{ apiKey: string }>(['key', 'issue', account_id, '--test'])).apiKey;
  }

  /** Ready on another PostgreSQL than the one with that pid. */
  async function isServing(service: ServiceProcess, pid: number, dataDir: string): Promise<boolean> {
    const response = await fetch(`${service.url}/health/ready`).catch(() => null);
    await response?.arrayBuffer();
    try {
      return response?.status === 200 && postmasterPid(dataDir) !== pid;
    } catch {
      return false; // the file is gone while there is none
    }
  }
});
