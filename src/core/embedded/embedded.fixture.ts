import { transformFileSync } from '@swc/core';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

export const IS_ROOT = process.getuid?.() === 0;
const SOURCES = resolve('src/core/embedded');

/** Temporary directories and processes of one spec file, all gone after `cleanUp`. */
export class Fixture {
  private readonly root = mkdtempSync(join(tmpdir(), 'recebe-embedded-'));
  private readonly services: Service[] = [];
  private script: string | null = null;
  private count = 0;

  constructor() {
    chmodSync(this.root, 0o755);
  }

  /** A `$DATA_DIR` that does not exist yet. */
  dataDir(): string {
    this.count += 1;
    return join(this.root, `data-${String(this.count)}`);
  }

  /**
   * A real process that starts the server and holds it, as the service does; `uid` to run it as is for root. It may
   * open 256 files, and takes itself to be on the platform that is named.
   */
  async service(
    kind: 'postgres' | 'redis',
    dataDir: string,
    { uid, path, platform }: { uid?: number; path?: string; platform?: NodeJS.Platform } = {},
  ): Promise<Service> {
    this.script ??= this.compile();
    const limited = ['-c', 'ulimit -Sn 256; exec "$@"', 'sh'];
    const child = spawn(
      '/bin/sh',
      [...limited, process.execPath, this.script, kind, dataDir, platform ?? process.platform],
      {
        stdio: ['pipe', 'pipe', 'ignore'],
        ...(uid !== undefined && { uid, gid: uid }),
        env: { ...process.env, ...(path !== undefined && { PATH: path }) },
      },
    );
    const service = new Service(child);
    this.services.push(service);
    return service;
  }

  async cleanUp(): Promise<void> {
    for (const service of this.services) await service.kill('SIGKILL');
    for (const dataDir of readdirSync(this.root)) {
      for (const pid of [postgresPid(join(this.root, dataDir)), redisPid(join(this.root, dataDir))]) {
        if (pid !== null && pid !== process.pid && isRunning(pid)) process.kill(pid, 'SIGKILL');
      }
    }
    await until(() => {
      rmSync(this.root, { recursive: true, force: true });
      return true;
    });
  }

  /** The sources of this directory as plain JavaScript, for a process that is not run by the test runner. */
  private compile(): string {
    const target = join(this.root, 'compiled');
    mkdirSync(target);
    symlinkSync(resolve('node_modules'), join(target, 'node_modules'));
    writeFileSync(join(target, 'package.json'), '{"type":"module"}');
    const sources = readdirSync(SOURCES).filter((name) => /^(?!.*\.(spec|fixture)\.ts$).*\.ts$/.test(name));
    for (const file of [...sources, '../process-identity.ts']) {
      const { code } = transformFileSync(join(SOURCES, file));
      writeFileSync(join(target, basename(file, '.ts') + '.js'), code);
    }
    const script = join(target, 'service.js');
    writeFileSync(script, SERVICE_SCRIPT);
    return script;
  }
}

const SERVICE_SCRIPT = `
import { closeSync, openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { identify } from './process-identity.js';
import { startEmbeddedPostgres, startRedisChild } from './index.js';
const say = (line) => process.stdout.write(JSON.stringify(line) + '\\n');
const [kind, dataDir, platform] = process.argv.slice(2);
Object.defineProperty(process, 'platform', { value: platform });
const opened = [];
const useUpDescriptors = () => {
  try {
    for (;;) opened.push(openSync('/dev/null'));
  } catch (error) {
    say({ said: error.code });
  }
};
const look = () => {
  try {
    return identify(process.pid) ?? 'ended';
  } catch (error) {
    return error.code;
  }
};
const keptLog = { warn: (_fields, line) => say({ said: line }), error: (_fields, line) => say({ said: line }) };
const start = () => kind === 'redis'
  ? startRedisChild({ dataDir })
  : startEmbeddedPostgres({ dataDir, settings: { fsync: 'off' } });
start().then(
  (server) => {
    say({ url: server.url, adopted: server.adopted, initialised: server.initialised });
    createInterface({ input: process.stdin }).on('line', async (command) => {
      if (command === 'exit') process.exit(3);
      if (command === 'throw') throw new Error('on purpose');
      if (command === 'keep') return say({ said: typeof server.keepRunning(keptLog) });
      if (command === 'use up descriptors') return useUpDescriptors();
      if (command === 'give them back') return say({ said: String(opened.splice(0).map(closeSync).length) });
      if (command === 'look') return say({ said: look() });
      await server.stop();
      say({ stopped: true });
      process.exit(0);
    });
  },
  (error) => { say({ error: error.message }); process.exit(1); },
);
`;

interface Report {
  url?: string;
  adopted?: boolean;
  initialised?: boolean;
  stopped?: boolean;
  said?: string;
  error?: string;
}

/** What is told of a server that is kept running. */
export class KeptLog {
  readonly lines: string[] = [];
  readonly #add = (fields: object, message: string): void => {
    this.lines.push(`${message} ${JSON.stringify(fields)}`);
  };
  readonly warn = this.#add;
  readonly error = this.#add;

  count(words: string): number {
    return this.lines.filter((line) => line.includes(words)).length;
  }
}

export class Service {
  private readonly reports: AsyncIterator<string>;
  private readonly ended: Promise<void>;

  constructor(private readonly child: ChildProcess) {
    if (!child.stdout) throw new Error('the service has no output');
    this.reports = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    this.ended = new Promise((done) =>
      child.once('exit', () => {
        done();
      }),
    );
  }

  /** The next thing the service reports; `started()` first. */
  async report(): Promise<Report> {
    const next = await this.reports.next();
    if (next.done) throw new Error('the service ended without a word');
    return JSON.parse(next.value) as Report;
  }

  async started(): Promise<{ url: string; adopted: boolean; initialised: boolean }> {
    const { url, adopted, initialised, error } = await this.report();
    if (url === undefined) throw new Error(error ?? 'the service reported no url');
    return { url, adopted: adopted === true, initialised: initialised === true };
  }

  async tell(command: 'stop' | 'exit' | 'throw'): Promise<void> {
    this.child.stdin?.write(`${command}\n`);
    await this.ended;
  }

  /** What it says first after that. */
  async ask(command: 'keep' | 'use up descriptors' | 'give them back' | 'look'): Promise<string | undefined> {
    this.child.stdin?.write(`${command}\n`);
    return (await this.report()).said;
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    this.child.kill(signal);
    await this.ended;
  }
}

export function postgresPid(dataDir: string): number | null {
  return firstNumber(join(dataDir, 'postgres', 'postmaster.pid'));
}

export function redisPid(dataDir: string): number | null {
  return firstNumber(join(dataDir, 'redis', 'redis.pid'));
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // A test runner in a container without an init has nobody to reap what was orphaned.
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${String(pid)}/stat`, 'utf8'));
  } catch {
    return process.platform !== 'linux';
  }
}

/** The command of a process, with its arguments; empty where there is no such process. */
export function commandOf(pid: number): string {
  const options = ['-ww', '-o', 'command=', '-p', String(pid)];
  if (process.platform !== 'linux') return spawnSync('ps', options, { encoding: 'utf8' }).stdout;
  // Not every Linux has `ps`.
  try {
    return readFileSync(`/proc/${String(pid)}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

/** Polls until `check` is true and does not throw. */
export async function until(check: () => boolean | Promise<boolean>, seconds = 20): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    try {
      if (await check()) return;
      if (Date.now() > deadline) throw new Error(`not so within ${String(seconds)} s`);
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await delay(20);
  }
}

function firstNumber(path: string): number | null {
  try {
    return Number(readFileSync(path, 'utf8').split('\n', 1)[0]);
  } catch {
    return null;
  }
}
