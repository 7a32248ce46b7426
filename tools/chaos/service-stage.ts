import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { runToEnd } from '../harness/built-process.js';
import { CrashingPostgres, POSTMASTER_ENDS } from '../harness/crashing-postgres.js';
import type { Random } from '../harness/random.js';
import type { Run } from '../harness/run.js';
import { freePort } from '../harness/free-port.js';
import { ServiceProcess } from '../harness/service-process.js';
import { PspProcess } from './psp-process.js';
import { CrashingRedis } from './servers.js';

export type Role = 'API' | 'worker';
export type Victim = Role | 'Redis' | `PostgreSQL (${(typeof POSTMASTER_ENDS)[number]})`;

/** Databases, the PSP, and two service processes that may be killed. */
export class ServiceStage {
  readonly #services = new Map<Role, ServiceProcess>();
  readonly #started: ServiceProcess[] = [];

  private constructor(
    private readonly run: Run,
    /** Environment of the service's processes. */
    readonly env: Readonly<Record<string, string>>,
    private readonly redis: CrashingRedis | null,
    private readonly postgres: CrashingPostgres,
    readonly serviceUrl: string,
    readonly psp: PspProcess,
  ) {}

  static async open(random: Random, run: Run): Promise<ServiceStage> {
    const { directory, cleanup } = run;
    const postgres = await CrashingPostgres.start(directory, cleanup);
    const redis = await CrashingRedis.start(directory, cleanup);
    const psp = await PspProcess.start(directory, random.between(1, 2 ** 30), cleanup);
    // The PSP calls back at one address, whichever process listens there.
    const port = String(await freePort());
    const url = `http://127.0.0.1:${port}`;
    const env = {
      DATABASE_URL: postgres.url,
      ...(redis ? { REDIS_URL: redis.url } : {}),
      HOST: '127.0.0.1',
      PORT: port,
      PUBLIC_BASE_URL: url,
      ENCRYPTION_KEY: randomBytes(32).toString('hex'),
      LOG_LEVEL: 'warn',
    };
    const stage = new ServiceStage(run, env, redis, postgres, url, psp);
    await stage.#launch('API');
    await stage.#launch('worker');
    return stage;
  }

  get databaseUrl(): string {
    return this.postgres.url;
  }

  /** Exits of service processes that were not killed by the test. */
  get died(): string[] {
    return this.#started.flatMap(({ died }) => died ?? []);
  }

  get hasRedis(): boolean {
    return this.redis !== null;
  }

  get description(): string {
    return `1 API process, 1 worker process, PostgreSQL, ${this.hasRedis ? 'Redis' : 'no Redis on the PATH'}`;
  }

  /** Kills the victims (with `kill -9` by default) and starts them again. */
  async crash(victims: readonly Victim[]): Promise<void> {
    const roles = victims.filter((victim) => victim === 'API' || victim === 'worker');
    const signals = POSTMASTER_ENDS.filter((signal) => victims.includes(`PostgreSQL (${signal})`));
    await Promise.all(roles.map(async (role) => this.#services.get(role)?.kill()));
    for (const signal of signals) await this.postgres.crash(signal);
    if (victims.includes('Redis')) await this.redis?.crash();
    await Promise.all(roles.map((role) => this.#launch(role)));
  }

  /** Runs the command line like an operator, while the service runs. */
  cli(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const DATA_DIR = mkdtempSync(join(this.run.directory, 'cli-'));
    return runToEnd('bundle/cli/main.js', args, { ...this.env, DATA_DIR });
  }

  /** Queries over a separate connection. */
  async rows<R extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<R[]> {
    const client = new pg.Client({ connectionString: this.databaseUrl });
    await client.connect();
    try {
      return (await client.query<R>(sql, values)).rows;
    } finally {
      await client.end();
    }
  }

  async #launch(role: Role): Promise<void> {
    const dataDir = mkdtempSync(join(this.run.directory, `${role}-`));
    // Without Redis jobs stay in their process: the API process then works too, beside another worker.
    const own = role === 'worker' ? { ROLE: 'worker', PORT: '0' } : { ROLE: this.hasRedis ? 'api' : 'all' };
    const service = await ServiceProcess.start(dataDir, this.run.cleanup, { ...this.env, ...own });
    this.#services.set(role, service);
    this.#started.push(service);
  }
}
