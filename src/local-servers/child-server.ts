import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../core/log/index.js';
import { keepOwner } from '../core/private-files.js';
import { LocalServerError } from './local-servers.errors.js';
import type { ServerUser } from './server-user.js';

/** A kind of server and the way to run it. */
export interface ServerProgram {
  name: 'postgres' | 'redis';
  /** `$DATA_DIR`, absolute: holds the log. */
  dataDir: string;
  /** The server's own directory in it, where it is started. */
  directory: string;
  user: ServerUser | null;
  command(port: number): { file: string; args: string[]; input?: string; env?: Record<string, string> };
  /** Returns true when the process takes connections on the port. */
  isReady(pid: number, port: number): boolean | Promise<boolean>;
  /** Returns true if the server was told to stop and waits for its clients, perhaps without end. */
  isStuck?(): boolean;
  /** Last words of a start that may succeed a moment later, or on another port. */
  transient: RegExp;
}

export interface ChildOptions {
  /** Default: a free port. */
  port?: number;
  /** Reports the pid of each process before it is ready. */
  onLaunch?: (pid: number) => void;
  /** Default: a server that ends by itself stays down. */
  restarts?: Restarts | undefined;
}

export interface Restarts {
  log: Pick<Logger, 'warn' | 'error'>;
  /** Receives the error when the server has ended too often. */
  onFailure: (error: LocalServerError) => void;
  pausesMs?: readonly number[];
}

/** Three restarts within the window, each after its pause. */
const RESTART_PAUSES_MS = [1_000, 5_000, 15_000];
const RESTART_WINDOW_MS = 600_000;
const TRANSIENT_LIMIT_MS = 10_000;
const LOG_LIMIT_BYTES = 1_048_576;
/** Ports outside the range that systems give to outgoing connections. */
const PORTS = [20_000, 32_000] as const;
export const STOP_SIGNALS = { postgres: 'SIGINT', redis: 'SIGTERM' } as const;

/** A server as a child of this process. */
export class ChildServer {
  readonly #ending = new AbortController();
  readonly #onExit = (): void => this.#signal();
  readonly #restartedAt: number[] = [];
  readonly #stuckTimer = setInterval(() => this.#endIfStuck(), 1_000).unref();
  #child: ChildProcess | null = null;
  #restarting: Promise<void> | null = null;

  private constructor(
    private readonly program: ServerProgram,
    private readonly options: ChildOptions,
    public port: number,
  ) {}

  static async start(program: ServerProgram, options: ChildOptions): Promise<ChildServer> {
    const server = new ChildServer(program, options, options.port ?? randomInt(...PORTS));
    process.on('exit', server.#onExit);
    try {
      await server.#launch(options.port === undefined);
      return server;
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  /** Ends the restarts. For the beginning of a shutdown, when a supervisor may end the server beside the service. */
  release(): void {
    this.#ending.abort();
  }

  /** May be called twice. */
  async stop(): Promise<void> {
    this.release();
    await this.#end();
    await this.#restarting;
    await this.#end(); // the restart may have launched one more meanwhile
    clearInterval(this.#stuckTimer);
    process.off('exit', this.#onExit);
  }

  async #end(): Promise<void> {
    const pid = this.#child?.pid;
    if (pid !== undefined) await endProcess(pid, STOP_SIGNALS[this.program.name], () => this.#isRunning());
  }

  #isRunning(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  #endIfStuck(): void {
    try {
      if (this.options.restarts && !this.#ending.signal.aborted && this.program.isStuck?.() === true) this.#signal();
    } catch {
      // It cannot be looked at now, as when the process has no descriptor left.
    }
  }

  #signal(): void {
    if (this.#isRunning()) this.#child?.kill(STOP_SIGNALS[this.program.name]);
  }

  /** @throws LocalServerError with the last words of a server that does not become ready */
  async #launch(mayMove: boolean): Promise<void> {
    const { name, directory, transient } = this.program;
    for (const deadline = Date.now() + TRANSIENT_LIMIT_MS; ; await delay(200)) {
      const lastWords = await this.#launchOnce();
      if (lastWords === null) return;
      if (this.#ending.signal.aborted || Date.now() > deadline || !transient.test(lastWords)) {
        throw new LocalServerError(`${name} did not start in ${directory}. The end of its log:\n${lastWords}`);
      }
      if (mayMove) this.port = randomInt(...PORTS);
    }
  }

  /** @returns null when the server is ready, else its last words */
  async #launchOnce(): Promise<string | null> {
    const { program, port } = this;
    const { file, args, input = '', env } = program.command(port);
    const log = openLog(logPath(program));
    const child = spawn(file, args, {
      cwd: program.directory,
      ...(program.user && { uid: program.user.uid, gid: program.user.gid }),
      env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC', ...env },
      // A process group of its own: Ctrl-C in the terminal must reach the service only, which stops the server last.
      detached: true,
      stdio: ['pipe', log.fd, log.fd],
    });
    closeSync(log.fd);
    this.#child = child;
    let ended = '';
    child.on('error', (error) => (ended ||= error.message));
    child.on('exit', (code, signal) => (ended ||= `ended with ${signal ?? `exit code ${String(code)}`}`));
    // If the child ended before it read, EPIPE follows: its exit tells more.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
    if (child.pid !== undefined) this.options.onLaunch?.(child.pid);
    while (ended === '' && !(await program.isReady(child.pid ?? 0, port))) await delay(20);
    if (ended !== '') return `${ended}\n${log.lastWords()}`;
    const { restarts } = this.options;
    if (restarts) child.once('exit', () => void (this.#restarting = this.#restart(restarts)));
    return null;
  }

  async #restart({ log, onFailure, pausesMs = RESTART_PAUSES_MS }: Restarts): Promise<void> {
    const { name } = this.program;
    const { signal } = this.#ending;
    const fields = { server: name, port: this.port, log: logPath(this.program) };
    let reason = '';
    while (!signal.aborted) {
      const since = Date.now() - RESTART_WINDOW_MS;
      const recent = this.#restartedAt.filter((at) => at > since).length;
      const pauseMs = pausesMs[recent];
      if (pauseMs === undefined) {
        const message = `${name} has ended again after ${String(recent)} restarts within ten minutes. See ${fields.log}.`;
        return onFailure(new LocalServerError(message + reason));
      }
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      this.#restartedAt.push(Date.now());
      log.warn(fields, `${name} has ended although it is in use; starting it again`);
      try {
        await this.#launch(false);
        return log.warn(fields, `${name} runs again`);
      } catch (error) {
        await this.#end();
        reason = `\n${error instanceof Error ? error.message : String(error)}`;
        if (!signal.aborted) log.error({ ...fields, reason }, `${name} cannot be started again`);
      }
    }
  }
}

/** Ends a process: first in order, then by force. */
export async function endProcess(pid: number, signal: NodeJS.Signals, isRunning: () => boolean): Promise<void> {
  for (const [name, limitMs] of [[signal, 60_000] as const, ['SIGQUIT', 10_000] as const]) {
    if (isRunning()) process.kill(pid, name);
    for (const deadline = Date.now() + limitMs; isRunning() && Date.now() < deadline; await delay(20));
  }
}

function logPath({ dataDir, name }: ServerProgram): string {
  return join(dataDir, `${name}.log`);
}

/** Opens a log for appending. Past 1 MiB it becomes `<path>.1`, so that any number of starts takes a bounded space. */
function openLog(path: string): { fd: number; lastWords: () => string } {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > LOG_LIMIT_BYTES) renameSync(path, `${path}.1`);
  const fd = openSync(path, 'a', 0o600);
  keepOwner(path);
  const from = statSync(path).size;
  const lastWords = (): string =>
    readFileSync(path).subarray(from).toString('utf8').trim().split('\n').slice(-12).join('\n');
  return { fd, lastWords };
}
