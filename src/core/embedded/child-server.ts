import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { liveClaims, withClaim } from './claim-lock.js';
import { codeOf, EmbeddedServerError } from './embedded.errors.js';
import { type KeepLog, keepRunning } from './keep-running.js';
import { openLog, readIfThere, writePrivate } from './private-files.js';
import { commandOf, identify, isAlive, isStillAlive, type ProcessIdentity, thisProcess } from './process-identity.js';
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
  // Of a server that has ended too: whoever used it finds the new one, and must not lose it when this process ends.
  const others = othersOf(spec, me);
  const users = [...others, me];
  const port = await runningPort(spec, log);
  if (port === null) return handle(spec, me, await launch(spec, users, log), false);
  writeRecord(spec, port, users);
  log(
    `joined the ${spec.name} already running on port ${String(port)}${others.length ? '' : ', left by an ended process'}`,
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
    leaveAtExit(spec, me);
  };
  // For process.exit and uncaught errors: nothing may be awaited there, so the signal is sent and not waited for.
  process.once('exit', onExit);
  const ending = new AbortController();
  let kept: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    ending.abort();
    await kept;
    await withClaim(spec.dataDir, spec.name, () => leave(spec, me));
    process.off('exit', onExit);
  };
  let stopped: Promise<void> | null = null;
  return {
    port,
    adopted,
    keepRunning: (log) => {
      kept ??= keepRunning(
        {
          name: spec.name,
          isRunning: lookout(spec),
          startAgain: () => withClaim(spec.dataDir, spec.name, () => startAgain(spec, me, port, log, ending.signal)),
        },
        log,
        ending.signal,
      );
      return () => ending.abort();
    },
    stop: () => (stopped ??= stop()),
  };
}

/** Whether the server runs and may be counted on. To be asked often: it is looked at closely only when it is another. */
function lookout(spec: ChildServerSpec): () => boolean {
  let seen: ProcessIdentity | null = null;
  return () => {
    if (spec.isLeaving?.() === true) return false;
    if (seen === null || seen.pid !== pidOf(spec) || !isStillAlive(seen)) {
      const server = findServer(spec);
      seen = server && identify(server.pid);
    }
    return seen !== null;
  };
}

/** Unless another process has done so already; then it is one of the users of that one. */
async function startAgain(
  spec: ChildServerSpec,
  me: Use,
  port: number,
  log: KeepLog,
  signal: AbortSignal,
): Promise<void> {
  const users = [...othersOf(spec, me), me];
  const running = await runningPort(spec, (line) => log.warn({ server: spec.name }, line));
  if (running !== null && running !== port) {
    throw new EmbeddedServerError(
      `${spec.name} was started on port ${String(running)} by another process, while this one knows it on port ` +
        `${String(port)}: start this service again`,
    );
  }
  if (running !== null) {
    writeRecord(spec, port, users);
    return;
  }
  if (signal.aborted) return;
  log.warn(
    { server: spec.name, port, log: logPath(spec) },
    `${spec.name} has ended although it is in use; starting it again`,
  );
  await launch(spec, users, () => undefined, { port, signal });
  log.warn({ server: spec.name, port }, `${spec.name} runs again`);
}

async function leave(spec: ChildServerSpec, me: Use): Promise<void> {
  const record = readRecord(spec);
  if (!isNoted(record, me)) return;
  const others = othersOf(spec, me);
  if (others.length > 0) {
    writeRecord(spec, record.port, others);
    return;
  }
  await terminate(spec);
  rmSync(recordPath(spec), { force: true });
}

function leaveAtExit(spec: ChildServerSpec, me: Use): void {
  try {
    const server = findServer(spec);
    if (!server || !isNoted(readRecord(spec), me)) return;
    // By pid: two starts in this one process end together.
    if (othersOf(spec, me).some((user) => user.pid !== process.pid)) return;
    // A process in the middle of its start is about to join: it takes the server over.
    if (liveClaims(spec.dataDir, spec.name).some((claim) => claim.process.pid !== process.pid)) return;
    process.kill(server.pid, spec.stopSignals[0]);
  } catch {
    // The data directory was removed under us, or the server has just ended: nothing is left to do.
  }
}

/** False of a record that somebody else has made who did not know of us: their server is theirs to stop. */
function isNoted(record: ChildRecord | null, me: Use): record is ChildRecord {
  return record?.users.some((user) => user.id === me.id) === true;
}

function othersOf(spec: ChildServerSpec, me: Use): Use[] {
  return readRecord(spec)?.users.filter((user) => user.id !== me.id && isAlive(user)) ?? [];
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
  const pid = pidOf(spec);
  if (!record || pid === null) return null;
  return spec.isServer(commandOf(pid) ?? '', record.port) ? { pid, port: record.port } : null;
}

function pidOf(spec: ChildServerSpec): number | null {
  const pid = Number(readIfThere(join(spec.directory, spec.pidFile))?.split('\n', 1)[0]);
  return Number.isInteger(pid) && pid > 1 ? pid : null;
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
