import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
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
export type Victim = Role | `PostgreSQL (${(typeof POSTMASTER_ENDS)[number]})`;

const EMAIL = 'owner@example.com';
const PASSWORD = 'a-password-of-nobody';

/** Databases, the PSP, and two service processes that may be killed, with a merchant connected to the PSP. */
export class LivePixStage {
  readonly #services = new Map<Role, ServiceProcess>();
  readonly #started: ServiceProcess[] = [];
  #accountId = '';
  #apiKey = '';

  private constructor(
    private readonly run: Run,
    private readonly env: Record<string, string>,
    private readonly hasRedis: boolean,
    private readonly postgres: CrashingPostgres,
    readonly serviceUrl: string,
    readonly psp: PspProcess,
  ) {}

  static async open(random: Random, run: Run): Promise<LivePixStage> {
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
    const stage = new LivePixStage(run, env, redis !== null, postgres, url, psp);
    await stage.#launch('API');
    await stage.#launch('worker');
    await stage.#connect();
    return stage;
  }

  get databaseUrl(): string {
    return this.postgres.url;
  }

  /** Exits of service processes that were not killed by the test. */
  get died(): string[] {
    return this.#started.flatMap(({ died }) => died ?? []);
  }

  get accountId(): string {
    return this.#accountId;
  }

  /** The merchant's key in live mode. */
  get apiKey(): string {
    return this.#apiKey;
  }

  get description(): string {
    return [
      'one merchant, connected to the PSP simulator (a process of its own, mTLS) by `acquirer configure`',
      `1 API process, 1 worker process, PostgreSQL, ${this.hasRedis ? 'Redis' : 'no Redis on the PATH'}`,
    ].join('\n');
  }

  /** Kills the victims (with `kill -9` by default) and starts them again. */
  async crash(victims: readonly Victim[]): Promise<void> {
    const roles = victims.filter((victim) => victim === 'API' || victim === 'worker');
    const signals = POSTMASTER_ENDS.filter((signal) => victims.includes(`PostgreSQL (${signal})`));
    await Promise.all(roles.map(async (role) => this.#services.get(role)?.kill()));
    for (const signal of signals) await this.postgres.crash(signal);
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

  async #connect(): Promise<void> {
    const passwordFile = join(this.run.directory, 'owner-password');
    writeFileSync(passwordFile, PASSWORD, { mode: 0o600 });
    const { account_id } = await this.#printed<{ account_id: string }>(
      ...['account', 'create', '--name', 'Padaria', '--email', EMAIL, '--password-file', passwordFile],
    );
    this.#accountId = account_id;
    this.#apiKey = (await this.#printed<{ apiKey: string }>('key', 'issue', account_id)).apiKey;
    await this.#printed('acquirer', 'configure', '--account', account_id, ...this.psp.configuration);
    await this.#printed('acquirer', 'check', '--account', account_id, '--register-webhook');
  }

  async #printed<T>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await this.cli(...args);
    if (code !== 0) throw new Error(`${args.slice(0, 2).join(' ')} failed: ${stderr}${stdout}`);
    return JSON.parse(stdout) as T;
  }
}
