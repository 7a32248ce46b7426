import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import type { DemoFile } from '../../src/demo/demo-data.js';
import { startPostgres } from '../../src/local-servers/index.js';
import { commandOf, ownerUrl, postgresPid, redisPid } from '../../tools/harness/local-servers.js';
import { waitFor } from './wait.js';

/** Files that `npm start`, `npm run demo` and `npm run cli` run, once built. */
export const MAIN = 'dist/bundle/main.js';
export const DEMO = 'dist/bundle/cli/demo.js';
export const CLI = 'dist/bundle/cli/main.js';

const READY_LIMIT_MS = 90_000;
const EXIT_LIMIT_MS = 60_000;

export interface Exit {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Finished extends Exit {
  readonly stdout: string;
  readonly stderr: string;
}

/** Specs give a database of their own and neither certificates nor a mail server. */
export const insecure = (env: Record<string, string>): Record<string, string> =>
  env['DATABASE_URL'] === undefined ? {} : { ALLOW_INSECURE: 'true' };

/** TEST_DATABASE_GROUP=1 runs all specs without groups: what is written together, written alone. */
export const GROUP: Readonly<Record<string, string>> =
  process.env['TEST_DATABASE_GROUP'] === undefined ? {} : { DATABASE_GROUP: process.env['TEST_DATABASE_GROUP'] };

/** A built program in a process of its own. */
export class BuiltProcess {
  stdout = '';
  stderr = '';
  exit: Exit | null = null;
  readonly #child: ChildProcess;

  /** @param stdin what it reads; nothing by default */
  constructor(script: string, args: readonly string[], env: Record<string, string>, stdin?: string) {
    const path = resolve(script);
    if (!existsSync(path)) throw new Error(`${path} is missing: run the tests with \`npm test\`, which builds it`);
    // Nothing of the runner's own environment, or DATABASE_URL and LOG_LEVEL of a developer would decide.
    this.#child = spawn(process.execPath, ['--enable-source-maps', path, ...args], {
      env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...GROUP, ...insecure(env), ...env },
      stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    this.#child.stdin?.end(stdin);
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    // Not 'exit': what the process wrote last may still be on its way then.
    this.#child.on('close', (code, signal) => (this.exit = { code, signal }));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get running(): boolean {
    return this.exit === null;
  }

  /** Resolves when it has ended by itself and all it wrote was read. */
  finished(limitMs = EXIT_LIMIT_MS): Promise<Finished> {
    return waitFor(
      'the process to end',
      () => this.exit && { ...this.exit, stdout: this.stdout, stderr: this.stderr },
      limitMs,
    );
  }

  /** SIGKILL as in a crash, SIGTERM as from a supervisor. Resolves when the process is gone; may be called twice. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<Finished> {
    if (this.running) this.#child.kill(signal);
    return this.finished();
  }
}

/** All processes of a database have one key; each would else make its own in its directory. */
export const TEST_ENCRYPTION_KEY = 'c1'.repeat(32);

/** The service as `npm start` runs it, on a port that the system chooses. */
export class ServiceProcess extends BuiltProcess {
  constructor(
    readonly dataDir: string,
    env: Record<string, string>,
  ) {
    const key = env['DATABASE_URL'] === undefined ? {} : { ENCRYPTION_KEY: TEST_ENCRYPTION_KEY };
    super(MAIN, [], { PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'warn', DEMO_FILL: 'false', ...key, ...env });
  }

  /** Resolves once it has said that it is ready and `/health/ready` agrees. @throws Error with its output otherwise */
  async ready(): Promise<this> {
    await waitFor(
      'the service to be ready',
      async () => {
        if (!this.running) throw new Error(`the service ended: ${this.stdout}\n${this.stderr}`);
        if (!/Recebe is ready[^]*^ {2}Queue +.+\n/m.test(this.stdout)) return false;
        const response = await fetch(`${this.url}/health/ready`).catch(() => null);
        await response?.arrayBuffer();
        return response?.status === 200;
      },
      READY_LIMIT_MS,
    );
    return this;
  }

  /** As its banner says, but without `localhost`, which some machines resolve to an address it does not listen on. */
  get url(): string {
    const port = /^ {2}(?:API|Health) +http:\/\/localhost:(\d+)(?:\/health\/ready)?$/m.exec(this.stdout)?.[1];
    if (port === undefined) throw new Error(`the service has not said its address: ${this.stdout}${this.stderr}`);
    return `http://127.0.0.1:${port}`;
  }

  demo(): DemoFile {
    return readDemo(this.dataDir);
  }
}

export function readDemo(dataDir: string): DemoFile {
  return JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as DemoFile;
}

/**
 * Processes and data directories of one spec, all removed by `cleanUp`, to be called in `afterAll` or `finally`. The
 * clean-up ends the PostgreSQL and Redis that a killed service left behind, too.
 */
export class Processes {
  readonly #root = mkdtempSync(join(tmpdir(), 'recebe-process-'));
  readonly #processes: BuiltProcess[] = [];
  #count = 0;

  constructor() {
    chmodSync(this.#root, 0o755); // started by root, PostgreSQL runs as another user, who must get in
  }

  /** A `$DATA_DIR` that does not exist yet. */
  dataDir(): string {
    return join(this.#root, `data-${++this.#count}`);
  }

  /** An existing, empty `$DATA_DIR`. */
  emptyDataDir(): string {
    const path = this.dataDir();
    mkdirSync(path);
    return path;
  }

  /** Starts the service and does not wait. */
  spawn(dataDir: string, env: Record<string, string> = {}): ServiceProcess {
    const service = new ServiceProcess(dataDir, env);
    this.#processes.push(service);
    return service;
  }

  /** Starts the service and waits until it is ready. */
  start(dataDir: string, env: Record<string, string> = {}): Promise<ServiceProcess> {
    return this.spawn(dataDir, env).ready();
  }

  /** Runs a program to its end. */
  run(script: string, args: readonly string[], env: Record<string, string>, stdin?: string): Promise<Finished> {
    const program = new BuiltProcess(script, args, env, stdin);
    this.#processes.push(program);
    return program.finished();
  }

  /** A PATH with everything of this one but Redis and Valkey. */
  pathWithoutRedis(): string {
    const directory = join(this.#root, 'bin');
    mkdirSync(directory);
    const taken = new Set(['redis-server', 'valkey-server']);
    for (const from of (process.env['PATH'] ?? '').split(delimiter).filter((entry) => existsSync(entry))) {
      for (const name of readdirSync(from).filter((candidate) => !taken.has(candidate))) {
        symlinkSync(join(from, name), join(directory, name));
        taken.add(name);
      }
    }
    return directory;
  }

  async cleanUp(): Promise<void> {
    for (const process of this.#processes) await process.kill();
    for (const entry of readdirSync(this.#root)) await endServers(join(this.#root, entry));
    await waitFor('the data directories to be removed', () => {
      try {
        rmSync(this.#root, { recursive: true, force: true });
        return true;
      } catch {
        return false; // A PostgreSQL backend is still writing in the directory: try again.
      }
    });
  }
}

/** Pids of the local servers of a data directory that are alive. */
export function serverPids(dataDir: string): { postgres: number | null; redis: number | null } {
  // By the command too: the pid in a file left behind may have been given to somebody else's program.
  const alive = (pid: number | null, command: RegExp): number | null =>
    pid !== null && pid > 1 && command.test(commandOf(pid)) ? pid : null;
  return {
    postgres: alive(postgresPid(dataDir), /(^|\/)postgres -D /),
    redis: alive(redisPid(dataDir), /(^|\/)(redis|valkey)-server /),
  };
}

/** Gives `work` the URL of the PostgreSQL of a data directory, which is started for that unless it runs. */
export async function withDatabase<T>(dataDir: string, work: (url: string) => Promise<T>): Promise<T> {
  if (serverPids(dataDir).postgres !== null) return work(ownerUrl(dataDir));
  const postgres = await startPostgres({ dataDir });
  try {
    return await work(postgres.url);
  } finally {
    await postgres.stop();
  }
}

async function endServers(dataDir: string): Promise<void> {
  const { postgres, redis } = serverPids(dataDir);
  if (postgres !== null) process.kill(postgres, 'SIGQUIT'); // at once, and its backends with it
  if (redis !== null) process.kill(redis, 'SIGKILL');
  await waitFor('the local servers to end', () => {
    const left = serverPids(dataDir);
    return left.postgres === null && left.redis === null;
  });
}
