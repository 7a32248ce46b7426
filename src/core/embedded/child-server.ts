import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedServerError } from './embedded.errors.js';
import { openLog, readIfThere } from './private-files.js';
import type { ServerUser } from './server-user.js';
import type { Logger } from '../log/index.js';

/**
 * A connection to a running server, by which the server itself counts this process among its users: it closes with the
 * process, however that ends.
 */
export interface Hold {
  port: number;
  pid: number;
  isOpen(): boolean;
  /**
   * Gives the hold back. The last one to do so ends the server; resolves when it has ended.
   * @param isExiting nothing is awaited: what is sent at once must do
   */
  leave(isExiting?: boolean): Promise<void>;
}

/** What is particular to one kind of server. */
export interface ChildServerSpec {
  name: 'postgres' | 'redis';
  /** `$DATA_DIR`, absolute: holds the log. */
  dataDir: string;
  /** The server's own directory in it. */
  directory: string;
  user: ServerUser | null;
  /** File in `directory` with the server's pid on its first line. */
  pidFile: string;
  /**
   * Looks for the running server of `directory` and holds it: `busy` while one is there that takes no clients (yet), null
   * when there is none. `launched` is the pid of the one that is being launched by the caller.
   */
  find(launched?: number): Promise<Hold | 'busy' | null>;
  launch(port: number): { file: string; args: string[]; input?: string; env?: Record<string, string> };
  /** True when it was told to stop and only waits for its clients, which may be for ever. */
  isLeaving?(): boolean;
  /** Ports to start it on, the one where clients of the last time look for it first. */
  ports(): number[];
  /** Words of a failed start that another port cures. */
  portTaken: RegExp;
  /** Words with which it refuses a directory that a server is, or was a moment ago, at work in. */
  directoryTaken?: RegExp;
}

export interface ChildServer {
  port: number;
  /** True when it was running already. */
  adopted: boolean;
  /**
   * Starts it again, on the same port, whenever it ends although this process uses it; for ever, with pauses between
   * attempts that fail. Ends with `stop` and with the function that it gives back, which is for the beginning of a
   * shutdown: a supervisor may end the server together with the service.
   */
  keepRunning: (log: KeepLog) => () => void;
  /** Ends the server unless another living process uses it. May be called twice. */
  stop: () => Promise<void>;
}

/** Who hears of a server that ended by itself. */
export type KeepLog = Pick<Logger, 'warn' | 'error'>;

/** What a server that is started again has to keep to. */
interface Again {
  /** The port that clients know: no other one will do. */
  port: number;
  signal: AbortSignal;
  /** Called when the launched server has the directory for itself. */
  onLaunch: () => void;
}

const ANSWER_LIMIT_MS = 120_000;
const STOP_LIMIT_MS = 30_000;
const LAUNCHES = 20;
/** How often a server that is kept running is looked at. */
const LOOK_MS = 500;
/** The pause before a server is started again: if everything shuts down, that is known by then. */
const FIRST_PAUSE_MS = 300;
/** The pause before a server is started again that ended soon after its last start; doubled by each start that fails. */
const PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** One that has run this long did not end for the reason of its last start. */
const STEADY_MS = 60_000;

/** Eight ports of a directory's own, outside of those that systems give to outgoing connections. */
export function portsOf(directory: string): number[] {
  const first = 20_000 + ((statSync(directory).ino * 8) % 12_000);
  return Array.from({ length: 8 }, (_, n) => first + n);
}

/** Uses the server of `spec.directory`: the one that runs, whichever process has launched it, or else a new one. */
export async function useServer(spec: ChildServerSpec): Promise<ChildServer> {
  let { hold, launched } = await holdServer(spec);
  const { port } = hold;
  const adopted = !launched;
  const ending = new AbortController();
  const onExit = (): void => {
    if (hold.isOpen()) void hold.leave(true).catch(() => undefined);
  };
  process.once('exit', onExit);

  const pause = (ms: number): Promise<unknown> =>
    delay(ms, undefined, { signal: ending.signal, ref: false }).catch(() => undefined);
  const hasEnded = (): boolean => {
    try {
      return !hold.isOpen() || spec.isLeaving?.() === true;
    } catch {
      return false; // it cannot be looked at now, as when the process has no descriptor left
    }
  };
  const keep = async (log: KeepLog): Promise<void> => {
    const fields = { server: spec.name, port, log: logPath(spec) };
    const onLaunch = (): void => log.warn(fields, `${spec.name} has ended although it is in use; starting it again`);
    let failures = 0;
    let triedAt = -Infinity;
    for (; !ending.signal.aborted; await pause(LOOK_MS)) {
      if (!hasEnded()) continue;
      const next = (): number => Math.min(PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
      await pause(Date.now() - triedAt > STEADY_MS ? FIRST_PAUSE_MS : next());
      if (ending.signal.aborted) return;
      try {
        ({ hold, launched } = await holdServer(spec, { port, signal: ending.signal, onLaunch }));
        if (launched) log.warn(fields, `${spec.name} runs again`);
        failures = 0;
      } catch (error) {
        if (ending.signal.aborted) return;
        failures += 1;
        const reason = error instanceof Error ? error.message : String(error);
        log.error(
          { ...fields, failures, reason },
          `${spec.name} cannot be started again; the next attempt follows in ${String(next() / 1000)} s`,
        );
      }
      triedAt = Date.now();
    }
  };

  let kept: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    ending.abort();
    await kept;
    // Another process may have started it again since it was lost, or it recovers from a crash and takes no clients yet.
    let last = hold.isOpen() ? hold : await spec.find();
    for (
      const deadline = Date.now() + STOP_LIMIT_MS;
      last === 'busy' && Date.now() < deadline;
      last = await spec.find()
    ) {
      await delay(200);
    }
    if (last !== null && last !== 'busy') await last.leave();
    process.off('exit', onExit);
  };
  let stopped: Promise<void> | null = null;
  return {
    port,
    adopted,
    keepRunning: (log) => {
      kept ??= keep(log);
      return () => ending.abort();
    },
    stop: () => (stopped ??= stop()),
  };
}

/**
 * Looks and launches in turns until there is a server to hold. Of several who launch at the same moment the servers
 * themselves let one through; the others find that one at their next look.
 */
async function holdServer(spec: ChildServerSpec, again?: Again): Promise<{ hold: Hold; launched: boolean }> {
  const ports = again ? [again.port] : spec.ports();
  const deadline = Date.now() + ANSWER_LIMIT_MS;
  let child: Launched | null = null;
  let isTold = false;
  const onExit = (): void => void child?.process.kill('SIGINT');
  process.once('exit', onExit);
  try {
    for (let launches = 0; ;) {
      const found = await spec.find(child?.process.pid);
      if (again && child && !isTold && pidIn(spec) === child.process.pid) {
        isTold = true;
        again.onLaunch();
      }
      if (found !== null && found !== 'busy') {
        const launched = found.pid === child?.process.pid;
        if (!again || found.port === again.port) return { hold: found, launched };
        await found.leave();
        throw new EmbeddedServerError(
          `${spec.name} was started on port ${String(found.port)} by another process, while this one knows it on port ` +
            `${String(again.port)}: start this service again`,
        );
      }
      if (again?.signal.aborted === true) throw new EmbeddedServerError('the service was stopped meanwhile');
      const failure = child?.failure() ?? null;
      if (failure !== null) {
        child = null;
        if (spec.portTaken.test(failure)) {
          if (!again) ports.shift();
        } else if (spec.directoryTaken?.test(failure) !== true) launches = LAUNCHES;
        if (launches === LAUNCHES || ports.length === 0) throw didNotStart(spec, failure);
        await delay(200);
        continue;
      }
      if (Date.now() > deadline) {
        child = null; // recovering for long, perhaps: it goes on
        throw new EmbeddedServerError(
          `The ${spec.name} in ${spec.directory} has taken no connection for ${String(ANSWER_LIMIT_MS / 1000)} s and ` +
            `is left to go on; see ${logPath(spec)}. Start again later, or end it first ` +
            `(its pid is in ${join(spec.directory, spec.pidFile)}).`,
        );
      }
      if (child === null && found === null) {
        child = launch(spec, ports[0] ?? 0);
        launches += 1;
      }
      await delay(child ? 10 : 200);
    }
  } catch (error) {
    // It does not answer yet, so no process uses it.
    child?.process.kill('SIGINT');
    for (; child?.failure() === null && Date.now() < deadline; await delay(20));
    throw error;
  } finally {
    process.off('exit', onExit);
  }
}

interface Launched {
  process: ChildProcess;
  /** Its last words once it has ended. */
  failure(): string | null;
}

function launch(spec: ChildServerSpec, port: number): Launched {
  const { file, args, input, env } = spec.launch(port);
  const output = openLog(logPath(spec));
  try {
    let ended: string | null = null;
    const child = spawn(file, args, {
      cwd: spec.directory,
      ...(spec.user && { uid: spec.user.uid, gid: spec.user.gid }),
      env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC', ...env },
      // A process group of its own: Ctrl-C in the terminal must reach the service only, which stops the server last.
      detached: true,
      stdio: ['pipe', output.fd, output.fd],
    });
    child.on('error', (error) => {
      ended ??= error.message;
    });
    child.on('exit', (code, signal) => {
      ended ??= `ended with ${signal ?? `exit code ${String(code)}`}`;
    });
    // EPIPE of a child that ended before it read: its exit tells more.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input ?? '');
    child.unref();
    return { process: child, failure: () => (ended === null ? null : `${ended}\n${output.since()}`) };
  } finally {
    output.close();
  }
}

function didNotStart(spec: ChildServerSpec, failure: string): EmbeddedServerError {
  const taker = spec.directoryTaken?.test(failure) === true ? pidIn(spec) : null;
  if (taker !== null && existsSync('/proc/self') && !existsSync(`/proc/${String(taker)}`)) {
    return new EmbeddedServerError(
      `The last processes of a ${spec.name} that was killed are still at work in ${spec.directory}: ` +
        'start again in a minute.',
    );
  }
  if (taker !== null) {
    const pid = String(taker);
    return new EmbeddedServerError(
      `A ${spec.name} that this service did not start, or that does not answer, runs in ${spec.directory} ` +
        `(pid ${pid}). Stop it with kill -INT ${pid} and start again.`,
    );
  }
  return new EmbeddedServerError(
    `${spec.name} did not start in ${spec.directory}. Its last words (all of them: ${logPath(spec)}):\n${failure}`,
  );
}

/** Null when there is no such file. */
export function pidIn(spec: { directory: string; pidFile: string }): number | null {
  const pid = Number(readIfThere(join(spec.directory, spec.pidFile))?.split('\n', 1)[0]);
  return pid > 1 ? pid : null;
}

function logPath(spec: ChildServerSpec): string {
  return join(spec.dataDir, `${spec.name}.log`);
}
