import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { liveClaims, withClaim } from './claim-lock.js';
import { codeOf, EmbeddedServerError } from './embedded.errors.js';
import { openLog, readIfThere, writePrivate } from './private-files.js';
import { commandOf, isAlive, type ProcessIdentity, thisProcess } from './process-identity.js';
import type { ServerUser } from './server-user.js';

/** What is particular to one kind of server. */
export interface ChildServerSpec {
  name: 'postgres' | 'redis';
  /** `$DATA_DIR`, absolute: holds the record, the log and the claims. */
  dataDir: string;
  /** The server's own directory in it. */
  directory: string;
  user: ServerUser | null;
  /** File in `directory` in which the server itself writes its pid on the first line. */
  pidFile: string;
  /** True when the command line is that of such a server on that port. */
  isServer(command: string, port: number): boolean;
  launch(port: number): { file: string; args: string[]; input?: string };
  /** Run before each launch, when no server of ours is alive; throws when another one must not be disturbed. */
  beforeLaunch?(): void;
  /** True when it takes commands, false while it does not (yet); throws when waiting cannot help. */
  answers(port: number): Promise<boolean>;
  /** True when it was told to stop and only waits for its clients, which may be for ever. */
  isLeaving?(): boolean;
  /** From the gentlest on; each but the first is for a server that outlived the one before. */
  stopSignals: [NodeJS.Signals, ...NodeJS.Signals[]];
  /** Words of a failed start that a moment's patience cures. */
  transient?: RegExp;
  /** Words of a failed start that another port cures. */
  portTaken: RegExp;
}

/** Who hears of a server that ended by itself. */
export interface KeepLog {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
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
  stop: () => Promise<void>;
}

/** One start in one process; a process may hold a server several times. */
interface Use extends ProcessIdentity {
  id: string;
}

interface ChildRecord {
  /** Device and inode of the server's directory: the record in a copy of `$DATA_DIR` speaks of another server. */
  place: string;
  port: number;
  /** The last of them to leave stops the server. */
  users: readonly Use[];
}

const ANSWER_LIMIT_MS = 120_000;
const STOP_LIMIT_MS = 60_000;
const LAUNCHES = 20;
/** How often the server that is to be kept running is looked at. */
const LOOK_MS = 500;
/**
 * Before it is started again: the first one lets a shutdown of everything be known, the second is for one that has
 * ended soon after its last start, and the others grow with starts that fail.
 */
const PAUSES_MS = [300, 1_000, 2_000, 5_000, 10_000, 30_000] as const;
/** One that has run this long did not end for the reason of its last start. */
const STEADY_MS = 60_000;

/**
 * Joins the server of `spec.directory` when it runs, launches it otherwise. To be called under the claim of
 * `spec.name`.
 *
 * Nobody owns the server for good: each process that uses it is noted in `$DATA_DIR/<name>.json`, and `stop()` ends it
 * only when no other noted process is alive. So a command-line tool leaves a running service its database, whichever
 * of the two launched it, and an orphan left by `kill -9` belongs to whoever starts next.
 */
export async function joinOrLaunch(spec: ChildServerSpec, log: (line: string) => void): Promise<ChildServer> {
  const me = { ...thisProcess(), id: randomBytes(4).toString('hex') };
  const port = await runningPort(spec, log);
  if (port === null) return handle(spec, me, await launch(spec, [me], log), false);
  const users = readRecord(spec)?.users.filter(isAlive) ?? [];
  writeRecord(spec, port, [...users, me]);
  log(
    `joined the ${spec.name} already running on port ${String(port)}${users.length ? '' : ', left by an ended process'}`,
  );
  return handle(spec, me, port, true);
}

/** The port of our living server once it answers; one that never answers is ended. */
async function runningPort(spec: ChildServerSpec, log: (line: string) => void): Promise<number | null> {
  const deadline = Date.now() + ANSWER_LIMIT_MS;
  for (;;) {
    const server = findServer(spec);
    if (!server) return null;
    if (spec.isLeaving?.() === true) {
      await terminate(spec);
      return null;
    }
    // False during crash recovery, and while a server that was told to stop is still writing.
    if (await spec.answers(server.port)) return server.port;
    if (Date.now() > deadline) {
      log(`the ${spec.name} left running (pid ${String(server.pid)}) does not answer and is stopped`);
      await terminate(spec);
      return null;
    }
    await delay(50);
  }
}

/** @param fixed the port that clients know: no other one will do */
async function launch(
  spec: ChildServerSpec,
  users: readonly Use[],
  log: (line: string) => void,
  fixed: { port: number; signal: AbortSignal } | null = null,
): Promise<number> {
  const before = readIfThere(recordPath(spec));
  // That of the last time, where it ended by itself: whoever still asks there finds it again.
  let known = fixed?.port ?? readRecord(spec)?.port ?? null;
  for (let attempt = 1; ; attempt++) {
    spec.beforeLaunch?.();
    // One it cannot overwrite, or the one PostgreSQL takes for a living server's, would keep it from starting.
    rmSync(join(spec.directory, spec.pidFile), { force: true });
    const port = known ?? (await freePort());
    // Before the launch: killed right after it, the next start still knows the orphan by its pid file and this port.
    writeRecord(spec, port, users);
    const failure = await launchOnce(spec, port, log, fixed?.signal);
    if (failure === null) return port;
    if (before === null) rmSync(recordPath(spec), { force: true });
    else writePrivate(recordPath(spec), before);
    const isTaken = spec.portTaken.test(failure);
    if (isTaken && !fixed) known = null;
    if (
      attempt === LAUNCHES ||
      fixed?.signal.aborted === true ||
      !(isTaken || spec.transient?.test(failure) === true)
    ) {
      throw new EmbeddedServerError(
        `${spec.name} did not start in ${spec.directory}. Its last words (all of them: ${logPath(spec)}):\n${failure}`,
      );
    }
    await delay(200);
  }
}

/** Null when the server answers, its last words when it ended instead. */
async function launchOnce(
  spec: ChildServerSpec,
  port: number,
  log: (line: string) => void,
  signal?: AbortSignal,
): Promise<string | null> {
  const { file, args, input } = spec.launch(port);
  const output = openLog(logPath(spec));
  const state: { ended: string | null; up: boolean } = { ended: null, up: false };
  const child = spawn(file, args, {
    cwd: spec.directory,
    ...(spec.user && { uid: spec.user.uid, gid: spec.user.gid }),
    env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' },
    // A process group of its own: Ctrl-C in the terminal must reach the service only, which stops the server last.
    detached: true,
    stdio: ['pipe', output.fd, output.fd],
  });
  try {
    child.on('error', (error) => {
      state.ended ??= error.message;
    });
    child.on('exit', (code, signal) => {
      state.ended ??= `ended with ${signal ?? `exit code ${String(code)}`}`;
      if (state.up && code !== 0) log(`${spec.name} ${state.ended}; see ${logPath(spec)}`);
    });
    // EPIPE of a child that ended before it read: its exit tells more.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input ?? '');
    child.unref();
    const deadline = Date.now() + ANSWER_LIMIT_MS;
    while (state.ended === null) {
      if (findServer(spec) && (await spec.answers(port))) {
        state.up = true;
        return null;
      }
      if (signal?.aborted === true) state.ended = 'the service was stopped meanwhile';
      else if (Date.now() > deadline) state.ended = `no answer within ${String(ANSWER_LIMIT_MS / 1000)} s`;
      await delay(10);
    }
    return `${state.ended}\n${output.since()}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    output.close();
    if (!state.up) {
      await terminate(spec);
      child.kill('SIGKILL');
    }
  }
}

function handle(spec: ChildServerSpec, me: Use, port: number, adopted: boolean): ChildServer {
  const onExit = (): void => {
    leaveAtExit(spec, me, port);
  };
  // For process.exit and uncaught errors: nothing may be awaited there, so the signal is sent and not waited for.
  process.once('exit', onExit);
  const ending = new AbortController();
  let kept: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    ending.abort();
    await kept;
    await withClaim(spec.dataDir, spec.name, () => leave(spec, me, port));
    process.off('exit', onExit);
  };
  let stopped: Promise<void> | null = null;
  return {
    port,
    adopted,
    keepRunning: (log) => {
      kept ??= keep(spec, me, port, log, ending.signal);
      return () => ending.abort();
    },
    stop: () => (stopped ??= stop()),
  };
}

/** Never rejects. */
async function keep(spec: ChildServerSpec, me: Use, port: number, log: KeepLog, signal: AbortSignal): Promise<void> {
  const pause = (ms: number): Promise<void> => delay(ms, undefined, { signal, ref: false }).catch(() => undefined);
  const longest = PAUSES_MS.length - 1;
  for (let attempts = 0, endedAt = 0; !signal.aborted; await pause(LOOK_MS)) {
    if (findServer(spec) && spec.isLeaving?.() !== true) continue;
    if (Date.now() - endedAt > STEADY_MS) attempts = 0;
    await pause(PAUSES_MS[Math.min(attempts, longest)] ?? 0);
    if (signal.aborted) return;
    try {
      await withClaim(spec.dataDir, spec.name, () => startAgain(spec, me, port, log, signal));
      attempts = 1;
    } catch (error) {
      if (signal.aborted) return;
      attempts += 1;
      const seconds = (PAUSES_MS[Math.min(attempts, longest)] ?? 0) / 1000;
      const reason = error instanceof Error ? error.message : String(error);
      log.error(
        { server: spec.name, attempts, reason },
        `${spec.name} cannot be started again; the next attempt follows in ${String(seconds)} s`,
      );
    }
    endedAt = Date.now();
  }
}

/** Unless another process that uses it has done so already. */
async function startAgain(
  spec: ChildServerSpec,
  me: Use,
  port: number,
  log: KeepLog,
  signal: AbortSignal,
): Promise<void> {
  const others = readRecord(spec)?.users.filter((user) => user.id !== me.id && isAlive(user)) ?? [];
  const running = await runningPort(spec, (line) => log.warn({ server: spec.name }, line));
  if (running !== null && running !== port) {
    throw new EmbeddedServerError(
      `${spec.name} was started on port ${String(running)} by another process, while this one knows it on port ` +
        `${String(port)}: start this service again`,
    );
  }
  if (running !== null || signal.aborted) return;
  log.warn(
    { server: spec.name, port, log: logPath(spec) },
    `${spec.name} has ended although it is in use; starting it again`,
  );
  await launch(spec, [...others, me], () => undefined, { port, signal });
  log.warn({ server: spec.name, port }, `${spec.name} runs again`);
}

async function leave(spec: ChildServerSpec, me: Use, port: number): Promise<void> {
  const record = readRecord(spec);
  // Another record: our server had ended, and somebody else has launched the next one.
  if (!record || record.port !== port) return;
  const others = othersOf(record, me);
  if (others.length > 0) {
    writeRecord(spec, port, others);
    return;
  }
  await terminate(spec);
  rmSync(recordPath(spec), { force: true });
}

function leaveAtExit(spec: ChildServerSpec, me: Use, port: number): void {
  try {
    const record = readRecord(spec);
    const server = findServer(spec);
    if (!server || record?.port !== port) return;
    // By pid: two starts in this one process end together.
    if (othersOf(record, me).some((user) => user.pid !== process.pid)) return;
    // A process in the middle of its start is about to join: it takes the server over.
    if (liveClaims(spec.dataDir, spec.name).some((claim) => claim.process.pid !== process.pid)) return;
    process.kill(server.pid, spec.stopSignals[0]);
  } catch {
    // The data directory was removed under us, or the server has just ended: nothing is left to do.
  }
}

function othersOf(record: ChildRecord, me: Use): Use[] {
  return record.users.filter((user) => user.id !== me.id && isAlive(user));
}

async function terminate(spec: ChildServerSpec): Promise<void> {
  for (const signal of spec.stopSignals) {
    const server = findServer(spec);
    if (!server) return;
    send(server.pid, signal);
    const deadline = Date.now() + (signal === spec.stopSignals[0] ? STOP_LIMIT_MS : STOP_LIMIT_MS / 6);
    while (Date.now() < deadline) {
      // By its command, as it removes its pid file a moment before it is gone.
      if (!spec.isServer(commandOf(server.pid) ?? '', server.port)) return;
      await delay(20);
    }
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It ended between the look and the signal.
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}

/**
 * Our server, if it is alive. A pid alone proves nothing, since it may have been given to another program after a
 * crash or reboot: the process must also be that kind of server on the port we chose.
 */
function findServer(spec: ChildServerSpec): { pid: number; port: number } | null {
  const record = readRecord(spec);
  const pid = Number(readIfThere(join(spec.directory, spec.pidFile))?.split('\n', 1)[0]);
  if (!record || !Number.isInteger(pid) || pid <= 1) return null;
  return spec.isServer(commandOf(pid) ?? '', record.port) ? { pid, port: record.port } : null;
}

function readRecord(spec: ChildServerSpec): ChildRecord | null {
  const text = readIfThere(recordPath(spec));
  if (text === null || !existsSync(spec.directory)) return null;
  const record = JSON.parse(text) as ChildRecord;
  return record.place === placeOf(spec) ? record : null;
}

function writeRecord(spec: ChildServerSpec, port: number, users: readonly Use[]): void {
  const record: ChildRecord = { place: placeOf(spec), port, users };
  writePrivate(recordPath(spec), `${JSON.stringify(record)}\n`);
}

function placeOf(spec: ChildServerSpec): string {
  const { dev, ino } = statSync(spec.directory);
  return `${String(dev)}:${String(ino)}`;
}

function recordPath(spec: ChildServerSpec): string {
  return join(spec.dataDir, `${spec.name}.json`);
}

function logPath(spec: ChildServerSpec): string {
  return join(spec.dataDir, `${spec.name}.log`);
}

/** A port that was free a moment ago. Somebody may take it before the server does; then the launch is tried again. */
async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => {
        resolve(typeof address === 'object' && address ? address.port : 0);
      });
    });
  });
}
