import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type ChildServer, type Hold, portsOf, useServer } from './child-server.js';
import { codeOf, EmbeddedServerError } from './embedded.errors.js';
import { type PostgresBinaries, postgresBinaries } from './postgres-binaries.js';
import { makeSecret, readIfThere, readSecret } from './private-files.js';
import {
  blockedAt,
  chooseServerUser,
  prepareDataDir,
  prepareServerDirectory,
  type ServerUser,
  unreachable,
} from './server-user.js';

export interface EmbeddedPostgresOptions {
  /** `$DATA_DIR`; the cluster goes to `postgres` in it, its log and password beside that. */
  dataDir: string;
  /** Default `recebe`. Made when missing. */
  databaseName?: string;
  /** PostgreSQL settings over those below, as name and value; a server that is already running keeps its own. */
  settings?: Record<string, string>;
}

export interface EmbeddedPostgres extends ChildServer {
  /** `postgres://user:password@127.0.0.1:port/database`, of the role that owns the database: a superuser. */
  url: string;
  /** The URL with the role that the service runs as, which the migration makes. */
  serviceUrl: string;
  /** True when this call made the database, so that it is empty. */
  initialised: boolean;
}

const USER = 'recebe';
const SERVICE_USER = 'recebe_service';
/** It starts, stops, or has too many clients: it is there, only not for us. */
const BUSY = /^(57P|53300)/;
/** Another process has made the database at the same moment. */
const EXISTS = new Set(['42P04', '23505']);
const STOP_LIMIT_MS = 60_000;

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  timezone: 'UTC',
  log_timezone: 'UTC',
  max_connections: '100',
  shared_buffers: '128MB',
  wal_compression: 'on',
  checkpoint_timeout: '15min',
  max_wal_size: '2GB',
  fsync: 'on',
  synchronous_commit: 'on',
  // A refused INSERT is the application's everyday business; the file is for what ends the server.
  log_min_messages: 'fatal',
  log_min_error_statement: 'panic',
};

/**
 * Starts the embedded PostgreSQL of a data directory, or joins it when another process has started it; both may be
 * called at the same moment by any number of processes.
 *
 * PostgreSQL itself decides what must be decided once. Its `postmaster.pid` and shared memory keep a second server out
 * of a directory, so the second process joins the first, and a server that outlives a killed service belongs to the
 * service that starts next. Each process that uses it holds a connection with a shared advisory lock, and the
 * one that gets the lock for itself when it leaves was the last and stops the server.
 *
 * Signals are the caller's: SIGINT and SIGTERM to this process do not stop the server, `stop()` does.
 *
 * @throws EmbeddedServerError with what to do about it.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = prepareDataDir(options.dataDir);
  const directory = join(dataDir, 'postgres');
  const settings = { ...SETTINGS, ...options.settings };
  removeDrafts(dataDir);
  const user = chooseServerUser(dataDir, directory);
  const binaries = postgresBinaries(user);
  const password = clusterPassword(dataDir, existsSync(directory));
  if (!existsSync(directory)) initialise(dataDir, directory, user, binaries, password, settings.fsync === 'off');
  prepareServerDirectory(directory, user);
  const server = await useServer({
    ...{ name: 'postgres', dataDir, directory, user, pidFile: 'postmaster.pid' },
    find: (launched) => find(directory, password, launched),
    launch: (port) => ({
      file: binaries.postgres,
      args: [
        ...['-D', pathFor(user, directory), '-p', String(port), '-c', `recebe.place=${placeOf(directory)}`],
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      env: pastStalePid(directory),
    }),
    ports: () => [...lastPort(directory), ...portsOf(directory)],
    // After SIGTERM it lets connected clients stay for as long as they like, and takes no others.
    isLeaving: () => postmasterFile(directory).status === 'stopping',
    portTaken: /could not create any TCP\/IP sockets/,
    // The first one: the backends of a killed server have a moment left to live.
    directoryTaken: /pre-existing shared memory block|lock file "postmaster\.pid"/,
  });
  const database = options.databaseName ?? 'recebe';
  try {
    const initialised = await createDatabase(server.port, password, database);
    const place = `127.0.0.1:${String(server.port)}/${encodeURIComponent(database)}`;
    return {
      ...server,
      url: `postgres://${USER}:${password}@${place}`,
      serviceUrl: `postgres://${SERVICE_USER}:${servicePassword(password)}@${place}`,
      initialised,
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** What PostgreSQL says of the server in a directory; a file without `status` is not written to its end yet. */
function postmasterFile(directory: string): { pid: number; port: number; memory: string; status: string } {
  const lines = readIfThere(join(directory, 'postmaster.pid'))?.split('\n') ?? [];
  return { pid: Number(lines[0]), port: Number(lines[3]), memory: lines[6] ?? '', status: (lines[7] ?? '').trim() };
}

/**
 * PostgreSQL refuses to start while the pid in `postmaster.pid` is alive, though after a crash or reboot that may be
 * another program's or a zombie's. It ignores the pid of its own grandparent, so the stale pid is named as that; the
 * shared memory that the file names still tells whether a server lives.
 */
function pastStalePid(directory: string): Record<string, string> {
  const { pid, memory } = postmasterFile(directory);
  return pid > 1 && memory.trim() !== '' ? { PG_GRANDPARENT_PID: String(pid) } : {};
}

/** The port of the server that was started last, where its clients look for it: PostgreSQL notes its arguments. */
function lastPort(directory: string): number[] {
  const port = /"-p" "(\d+)"/.exec(readIfThere(join(directory, 'postmaster.opts')) ?? '')?.[1];
  return port === undefined ? [] : [Number(port)];
}

/** Device and inode: the server of a copy of the directory answers with another one. */
function placeOf(directory: string): string {
  const { dev, ino } = statSync(directory, { bigint: true });
  return `${String(dev)}:${String(ino)}`;
}

async function find(directory: string, password: string, launched?: number): Promise<Hold | 'busy' | null> {
  const { pid, port, status } = postmasterFile(directory);
  // Connecting before it says that it is ready would fill the log with refusals.
  if (!(port > 0) || (pid === launched && status !== 'ready')) return null;
  const client = clientOf(port, password);
  let isOpen = true;
  client.on('end', () => (isOpen = false));
  try {
    await client.connect();
    const { rows } = await client.query<{ place: string | null }>(
      `SELECT current_setting('recebe.place', true) AS place`,
    );
    if (rows[0]?.place === placeOf(directory)) {
      // Waits while another process stops the server, and ends with it then.
      await client.query('SELECT pg_advisory_lock_shared(1)');
      client.unref();
      return {
        ...{ port, pid },
        isOpen: () => isOpen,
        leave: () => leave(client, directory, pid),
      };
    }
    await client.end();
    return null;
  } catch (error) {
    void client.end().catch(() => undefined);
    const code = codeOf(error);
    if (BUSY.test(code)) {
      // It would wait for its clients for ever.
      if (status === 'stopping') signal(pid, 'SIGINT');
      return 'busy';
    }
    if (pid === launched && /^\d[0-9A-Z]{4}$/.test(code)) {
      throw new EmbeddedServerError(`PostgreSQL on port ${String(port)} refused the service: ${String(error)}`);
    }
    // Another program may listen there now: only a launch tells whether the server runs.
    return null;
  }
}

/**
 * Gives the lock back and, where no other process has it, sends the server the signal of `pg_ctl stop -m fast`. One
 * statement does both, so that it can be sent when a process ends and waits for no answer. 55006 is object_in_use.
 */
const LEAVE = `DO $$ BEGIN
  IF pg_advisory_unlock_shared(1) AND pg_try_advisory_lock(1) THEN
    COPY (SELECT WHERE false) TO PROGRAM 'read pid < postmaster.pid && kill -INT $pid';
  ELSE
    RAISE object_in_use;
  END IF;
END $$`;

async function leave(client: HoldClient, directory: string, pid: number): Promise<void> {
  client.ref();
  const isUsed = await client.query(LEAVE).then(
    () => false,
    (error: unknown) => codeOf(error) === '55006',
  );
  if (!isUsed) {
    const isThere = (): boolean => postmasterFile(directory).pid === pid && signal(pid, 0);
    for (const deadline = Date.now() + STOP_LIMIT_MS; isThere() && Date.now() < deadline; await delay(20));
    // As by a crash, which the next start recovers from.
    if (isThere()) signal(pid, 'SIGQUIT');
    for (const deadline = Date.now() + 5_000; isThere() && Date.now() < deadline; await delay(20));
  }
  await client.end().catch(() => undefined);
}

/** False when there is no such process of ours; 0 asks for no more than that. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

/**
 * The path PostgreSQL is given for a directory it is started in. As root's unprivileged user it may not be able to
 * pass the directories above (a clone under /root), but its working directory was entered by root before the switch
 * of user, and Linux leads back there without asking the directories above.
 */
function pathFor(user: ServerUser | null, directory: string): string {
  if (!user || blockedAt(user, directory) === null) return directory;
  if (!existsSync('/proc/self/cwd')) throw unreachable(user, directory, 'its data directory');
  return '/proc/self/cwd';
}

/** Made before the cluster is, so that there is never a cluster whose password is not known. */
function clusterPassword(dataDir: string, clusterExists: boolean): string {
  const path = join(dataDir, 'postgres.password');
  const known = readSecret(path);
  if (known) return known;
  if (clusterExists) {
    throw new EmbeddedServerError(
      `${path}, the password of the database in ${join(dataDir, 'postgres')}, is missing. Put it back, ` +
        'or move that directory away to start with an empty database.',
    );
  }
  return makeSecret(path);
}

/** Made of the owner's and of no use for finding it: there is no second file that could be lost. */
function servicePassword(password: string): string {
  return createHmac('sha256', password).update(SERVICE_USER).digest('base64url');
}

/** Drafts have the pid of their process in their name; this one's are done when it looks. */
function removeDrafts(dataDir: string): void {
  for (const draft of readdirSync(dataDir).filter((file) => file.startsWith('postgres.init-'))) {
    const pid = Number(draft.split('-')[1]);
    if (pid !== process.pid && pid > 1 && signal(pid, 0)) continue;
    try {
      rmSync(join(dataDir, draft), { recursive: true, force: true });
    } catch {
      // The initdb of a service killed a moment ago is still writing in it; a later start finds it quiet.
    }
  }
}

/** Makes the cluster beside its place and moves it there when it is whole: a kill half-way leaves no broken cluster. */
function initialise(
  dataDir: string,
  directory: string,
  user: ServerUser | null,
  binaries: PostgresBinaries,
  password: string,
  throwaway: boolean,
): void {
  const draft = join(dataDir, `postgres.init-${String(process.pid)}`);
  const data = join(draft, 'data');
  const secret = join(draft, 'password');
  try {
    prepareServerDirectory(draft, user);
    mkdirSync(data, { mode: 0o700 });
    writeFileSync(secret, password, { mode: 0o600 });
    for (const path of user ? [data, secret] : []) chownSync(path, user?.uid ?? 0, user?.gid ?? 0);
    const { status, stdout, stderr, error } = spawnSync(
      binaries.initdb,
      [
        ...['-D', pathFor(user, data), '-U', USER, '--pwfile=../password', '--auth=scram-sha-256', '--encoding=UTF8'],
        // PostgreSQL's own locale: the same order and the same lower('Ç') on every machine and after every upgrade.
        ...['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-instructions'],
        ...(throwaway ? ['--no-sync'] : []),
      ],
      {
        cwd: data,
        ...(user && { uid: user.uid, gid: user.gid }),
        env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' },
        encoding: 'utf8',
      },
    );
    if (status !== 0) {
      const words = error?.message ?? `${stdout}\n${stderr}`.trim().split('\n').slice(-6).join('\n');
      const who = user ? ` as "${user.name}"` : '';
      throw new EmbeddedServerError(`initdb could not make a database in ${data}${who}:\n${words}`);
    }
    chmodSync(data, 0o700);
    try {
      renameSync(data, directory);
    } catch (error) {
      // Another process was faster.
      if (!existsSync(directory)) throw error;
    }
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Its types do not know that a connection can leave the process free to end. */
type HoldClient = pg.Client & { ref: () => void; unref: () => void };

/** True when it had to be made. */
async function createDatabase(port: number, password: string, name: string): Promise<boolean> {
  const client = clientOf(port, password);
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
    return true;
  } catch (error) {
    if (EXISTS.has(codeOf(error))) return false;
    throw error;
  } finally {
    await client.end();
  }
}

function clientOf(port: number, password: string): HoldClient {
  const client = new pg.Client({
    ...{ host: '127.0.0.1', port, user: USER, password, database: 'postgres' },
    // Said outright, or PGSSLMODE in the environment would decide; the time-out is for a server that is suspended.
    ...{ ssl: false, connectionTimeoutMillis: 5_000 },
    // That its own shutdown ends this connection is no news for the log.
    options: '-c log_min_messages=panic',
  });
  client.on('error', () => undefined);
  return client as HoldClient;
}
