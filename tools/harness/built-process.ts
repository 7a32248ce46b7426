import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cleanup } from './cleanup.js';

const START_LIMIT_MS = 120_000;

/** Settings of the caller's shell that would change the service under test. */
const OWN = ['DATABASE_URL', 'REDIS_URL', 'NODE_ENV', 'NODE_OPTIONS', 'ROLE', 'HOST', 'PUBLIC_BASE_URL', 'LOG_LEVEL'];

export interface Program<T> {
  /** Path below the build's directory, as `bundle/main.js`, or absolute. */
  readonly script: string;
  readonly args?: readonly string[];
  readonly nodeOptions?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The working directory; default: the caller's. */
  readonly cwd?: string;
  /** The file for its output. */
  readonly logPath: string;
  /** Reads a result from the output once the program is ready; null: not yet. */
  readonly ready: (output: string) => T | null;
}

/** A built program in a separate process. */
export class BuiltProcess<T> {
  /** How it ended, if that was not requested. */
  died: string | null = null;
  #isTold = false;

  private constructor(
    readonly pid: number,
    readonly said: T,
    /** Milliseconds from the start of the process until it reported ready. */
    readonly startMs: number,
    private readonly child: ChildProcess,
  ) {
    child.once('exit', (code, signal) => {
      if (!this.#isTold) this.died = signal ?? `exit code ${String(code)}`;
    });
  }

  /** @throws Error with the program's output when it does not start */
  static async start<T>(program: Program<T>, cleanup: Cleanup): Promise<BuiltProcess<T>> {
    const { script, args = [], nodeOptions = [], env = {}, cwd, logPath, ready } = program;
    const log = openSync(logPath, 'w');
    const began = performance.now();
    const child = spawn(process.execPath, [...nodeOptions, built(script), ...args], {
      stdio: ['ignore', log, log],
      env: environment(env),
      cwd,
    });
    closeSync(log);
    cleanup.add(() => end(child));
    while (performance.now() - began < START_LIMIT_MS) {
      const output = readFileSync(logPath, 'utf8');
      const said = ready(output);
      if (said !== null) return new BuiltProcess(child.pid ?? 0, said, performance.now() - began, child);
      if (child.exitCode !== null) throw new Error(`${script} did not start:\n${output}`);
      await delay(5);
    }
    child.kill('SIGKILL');
    throw new Error(
      `${script} was not ready after ${String(START_LIMIT_MS / 1000)} s:\n${readFileSync(logPath, 'utf8')}`,
    );
  }

  stop(): Promise<void> {
    this.#isTold = true;
    return end(this.child);
  }

  /** Kills the process as in a crash. Resolves when it is gone. */
  kill(): Promise<void> {
    this.#isTold = true;
    return end(this.child, 'SIGKILL');
  }
}

/** Runs a built program to its end. */
export async function runToEnd(
  script: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd?: string,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [built(script), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment(env),
    cwd,
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  await once(child, 'close');
  return { code: child.exitCode, ...output };
}

function built(script: string): string {
  return resolve(import.meta.dirname, '../..', script);
}

/**
 * Given settings override the caller's. A given database has neither TLS nor a mail server, so the service needs
 * ALLOW_INSECURE.
 */
function environment(given: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !OWN.includes(name));
  const insecure = given['DATABASE_URL'] === undefined ? {} : { ALLOW_INSECURE: 'true' };
  return { ...Object.fromEntries(inherited), ...insecure, ...given };
}

/** Shuts down in order by default, like a process manager: with PostgreSQL and Redis. */
async function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await ended;
}
