import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cleanup } from './cleanup.js';

const MAIN = join(import.meta.dirname, '..', 'src', 'main.js');
/** As `npm start`. */
const NODE_OPTIONS = ['--max-old-space-size=512', '--max-semi-space-size=8'];
const START_LIMIT_MS = 120_000;

/** Settings of the caller's shell that would make it another service than the one that is measured. */
const OWN = ['DATABASE_URL', 'REDIS_URL', 'NODE_ENV', 'NODE_OPTIONS', 'ROLE', 'HOST', 'PUBLIC_BASE_URL', 'LOG_LEVEL'];

/** The real service as `npm start` runs it, in a process of its own, its log going to a file. */
export class ServiceProcess {
  private constructor(
    readonly pid: number,
    readonly url: string,
    /** From the start of the process to its banner. */
    readonly startMs: number,
    readonly queue: string,
    private readonly child: ChildProcess,
  ) {}

  /** @throws Error with the service's own words when it does not start */
  static async start(dataDir: string, cleanup: Cleanup, env: Record<string, string> = {}): Promise<ServiceProcess> {
    const logPath = join(dataDir, '..', `${dataDir.split('/').at(-1) ?? 'service'}.log`);
    const log = openSync(logPath, 'w');
    const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OWN.includes(name)));
    const began = performance.now();
    const child = spawn(process.execPath, [...NODE_OPTIONS, MAIN], {
      stdio: ['ignore', log, log],
      env: { ...inherited, DATA_DIR: dataDir, PORT: '0', RATE_LIMIT: 'off', ...env },
    });
    closeSync(log);
    cleanup.add(() => end(child));
    while (performance.now() - began < START_LIMIT_MS) {
      const text = readFileSync(logPath, 'utf8');
      const url = /^ {2}API +(\S+)$/m.exec(text)?.[1];
      if (url !== undefined && text.includes('Queue')) {
        const startMs = performance.now() - began;
        const queue = /^ {2}Queue +(.+)$/m.exec(text)?.[1] ?? '';
        const address = url.replace('localhost', '127.0.0.1');
        return new ServiceProcess(child.pid ?? 0, address, startMs, queue, child);
      }
      if (child.exitCode !== null) throw new Error(`The service did not start:\n${text}`);
      await delay(5);
    }
    child.kill('SIGKILL');
    throw new Error(
      `The service was not ready after ${String(START_LIMIT_MS / 1000)} s:\n${readFileSync(logPath, 'utf8')}`,
    );
  }

  stop(): Promise<void> {
    return end(this.child);
  }

  /** As in a crash. Resolves when the process is gone. */
  kill(): Promise<void> {
    return end(this.child, 'SIGKILL');
  }
}

/** In order by default, as a process manager does it: with PostgreSQL and Redis shut down. */
async function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await ended;
}
