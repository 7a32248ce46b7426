import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { type ChildServer, type ChildServerSpec, joinOrLaunch } from './child-server.js';
import { withClaim } from './claim-lock.js';
import { codeOf, EmbeddedServerError } from './embedded.errors.js';
import { type PostgresBinaries, postgresBinaries } from './postgres-binaries.js';
import { makeSecret, readIfThere, readSecret } from './private-files.js';
import { commandOf } from './process-identity.js';
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
  log?: (line: string) => void;
  /** PostgreSQL settings over those below, as name and value; a server that is already running keeps its own. */
  settings?: Record<string, string>;
}

export interface EmbeddedPostgres {
  /** `postgres://user:password@127.0.0.1:port/database` */
  url: string;
  /** True when the server was running already. */
  adopted: boolean;
  /** True when this call made the database, so that it is empty. */
  initialised: boolean;
  keepRunning: ChildServer['keepRunning'];
  /** Shuts the server down in order unless another living process uses it. May be called twice. */
  stop: () => Promise<void>;
}

const USER = 'recebe';
/** "The database system is starting up / shutting down" and "too many clients": it is there, only not for us yet. */
const BUSY = new Set(['57P03', '53300']);

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
 * Signals are the caller's: SIGINT and SIGTERM to this process do not stop the server, `stop()` does.
 *
 * @throws EmbeddedServerError with what to do about it.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const log = options.log ?? (() => undefined);
  const dataDir = prepareDataDir(options.dataDir);
  const directory = join(dataDir, 'postgres');
  const { server, password } = await withClaim(dataDir, 'postgres', async () => {
    const settings = { ...SETTINGS, ...options.settings };
    removeDrafts(dataDir);
    const user = chooseServerUser(dataDir, directory);
    const binaries = postgresBinaries(user);
    const password = clusterPassword(dataDir, existsSync(directory));
    if (!existsSync(directory)) initialise(dataDir, directory, user, binaries, password, settings.fsync === 'off');
    prepareServerDirectory(directory, user);
    const spec = serverSpec({ dataDir, directory, user, binaries, password, settings });
    return { server: await joinOrLaunch(spec, log), password };
  });
  const database = options.databaseName ?? 'recebe';
  try {
    const initialised = await withClaim(dataDir, 'postgres', () => createDatabase(server.port, password, database));
    const url = `postgres://${USER}:${password}@127.0.0.1:${String(server.port)}/${encodeURIComponent(database)}`;
    const { adopted, keepRunning, stop } = server;
    return { url, adopted, initialised, keepRunning, stop };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

interface Cluster {
  dataDir: string;
  directory: string;
  user: ServerUser | null;
  binaries: PostgresBinaries;
  password: string;
  settings: Record<string, string>;
}

function serverSpec({ dataDir, directory, user, binaries, password, settings }: Cluster): ChildServerSpec {
  return {
    name: 'postgres',
    dataDir,
    directory,
    user,
    pidFile: 'postmaster.pid',
    isServer: (command, port) => isPostgres(command) && command.includes(` -p ${String(port)} `),
    launch: (port) => ({
      file: binaries.postgres,
      args: [
        ...['-D', pathFor(user, directory), '-p', String(port)],
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
    }),
    beforeLaunch: () => {
      refuseForeignServer(directory, user);
    },
    answers: async (port) => {
      // Connecting before it says so would fill the log with refusals.
      const lines = postmasterFile(directory);
      if (lines[3] !== String(port) || !lines[7]?.startsWith('ready')) return false;
      return withClient(port, password, async (client) => client !== null);
    },
    // After SIGTERM it lets those who are connected stay for as long as they like, and nobody else in.
    isLeaving: () => postmasterFile(directory)[7]?.startsWith('stopping') === true,
    stopSignals: ['SIGINT', 'SIGQUIT', 'SIGKILL'],
    // The first one: the backends of a killed server have a moment left to live.
    transient: /pre-existing shared memory block|lock file "postmaster\.pid"/,
    portTaken: /could not create any TCP\/IP sockets/,
  };
}

/** Its lines: the first is the pid, the fourth the port, the eighth one of starting, ready and stopping. */
function postmasterFile(directory: string): string[] {
  return readIfThere(join(directory, 'postmaster.pid'))?.split('\n') ?? [];
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

/**
 * A living pid in postmaster.pid that is not ours to remove: a PostgreSQL on this very directory, of which this service
 * knows nothing. Any other is a leftover, though PostgreSQL itself would wait for it for ever: a pid that has become
 * another program's after a reboot, or a zombie's in a container without an init.
 */
function refuseForeignServer(directory: string, user: ServerUser | null): void {
  const pid = Number(postmasterFile(directory)[0]);
  const command = Number.isInteger(pid) && pid > 1 ? (commandOf(pid) ?? '') : '';
  if (isPostgres(command) && ` ${command} `.includes(` ${pathFor(user, directory)} `)) {
    throw new EmbeddedServerError(
      `A PostgreSQL that this service did not start (pid ${String(pid)}) runs in ${directory}. ` +
        `Stop it with kill -INT ${String(pid)} and start again.`,
    );
  }
}

function isPostgres(command: string): boolean {
  return /(^|\/)postgres -D /.test(command);
}

/** Made before the cluster is, so that there is never a cluster whose password nobody knows. */
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

function removeDrafts(dataDir: string): void {
  for (const draft of readdirSync(dataDir).filter((file) => file.startsWith('postgres.init-'))) {
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
  const draft = join(dataDir, `postgres.init-${randomBytes(4).toString('hex')}`);
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
    renameSync(data, directory);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** True when it had to be made. */
async function createDatabase(port: number, password: string, name: string): Promise<boolean> {
  return withClient(port, password, async (client) => {
    if (!client) throw new EmbeddedServerError(`PostgreSQL on port ${String(port)} takes no connections`);
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (rowCount) return false;
    await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
    return true;
  });
}

/** Gives `work` null when the server is not ready for clients. */
async function withClient<T>(
  port: number,
  password: string,
  work: (client: pg.Client | null) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    ...{ host: '127.0.0.1', port, user: USER, password, database: 'postgres' },
    // Said outright, or PGSSLMODE in the environment would decide; the time-out is for a server that is suspended.
    ...{ ssl: false, connectionTimeoutMillis: 5_000 },
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    await client.end().catch(() => undefined);
    const code = codeOf(error);
    if (!BUSY.has(code) && /^[0-9A-Z]{5}$/.test(code)) {
      throw new EmbeddedServerError(`PostgreSQL on port ${String(port)} refused the service: ${String(error)}`);
    }
    return work(null);
  }
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
