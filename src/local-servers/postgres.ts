import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { makeSecret, readIfThere, writePrivate } from '../core/private-files.js';
import { type ChildOptions, ChildServer } from './child-server.js';
import { LocalServerError } from './local-servers.errors.js';
import { postgresBinaries } from './postgres-binaries.js';
import { prepareDataDir, prepareDirectory, readSecret, type ServerUser } from './server-user.js';

export interface PostgresOptions extends ChildOptions {
  /** `$DATA_DIR`; the cluster goes to `postgres` in it, its log and password beside that. */
  dataDir: string;
  /** Made if missing. */
  databaseName?: string;
  /** PostgreSQL settings over those below, as `name=value`. */
  settings?: string[];
}

/**
 * A running server. `url` has the role that owns the database, a superuser; the migration makes the role of
 * `serviceUrl`.
 */
export type Postgres = ChildServer & { readonly url: string; readonly serviceUrl: string };

const USER = 'recebe';
const SERVICE_USER = 'recebe_service';
const TRANSIENT = /TCP\/IP sockets|pre-existing shared memory block|lock file "postmaster\.pid" already exists/;
/** Words with which PostgreSQL refuses a directory that another server uses, or used a moment ago. */
const TAKEN = /pre-existing shared memory block|lock file "postmaster\.pid" already exists/;

const SETTINGS = [
  'listen_addresses=127.0.0.1 unix_socket_directories= timezone=UTC log_timezone=UTC max_connections=100',
  'shared_buffers=128MB wal_compression=on checkpoint_timeout=15min max_wal_size=2GB fsync=on synchronous_commit=on',
  // A refused INSERT is the application's everyday business; the log is for what ends the server.
  'log_min_messages=fatal log_min_error_statement=panic',
].flatMap((line) => line.split(' '));

/**
 * Starts the PostgreSQL of a data directory as a child of this process.
 *
 * @throws LocalServerError with advice
 */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const { dataDir, user } = prepareDataDir(options.dataDir);
  const directory = join(dataDir, 'postgres');
  const bin = postgresBinaries(user);
  const password = clusterPassword(dataDir, directory);
  if (!existsSync(directory)) initialise(dataDir, user, bin, password);
  prepareDirectory(directory, user);
  const settings = [...SETTINGS, ...(options.settings ?? [])].flatMap((setting) => ['-c', setting]);
  const server = await ChildServer.start(
    {
      ...{ name: 'postgres', dataDir, directory, user, transient: TRANSIENT },
      command: (port) => ({
        file: join(bin, 'postgres'),
        args: ['-D', pathFor(user, directory), '-p', String(port), ...settings],
        env: pastStalePid(directory),
      }),
      isReady: (pid) => postmasterFile(directory).pid === pid && postmasterFile(directory).status === 'ready',
      // After SIGTERM PostgreSQL lets connected clients stay as long as they like, and takes no others.
      isStuck: () => postmasterFile(directory).status === 'stopping',
    },
    options,
  ).catch((error: unknown) => {
    const pid = String(postmasterFile(directory).pid);
    if (!TAKEN.test(String(error))) throw error;
    throw new LocalServerError(
      `A postgres that this service did not start is at work in ${directory} (pid ${pid}). ` +
        `Stop it with kill -INT ${pid} and start again.`,
    );
  });
  const { databaseName = 'recebe' } = options;
  const url = (role: string, secret: string, name: string): string =>
    `postgres://${role}:${secret}@127.0.0.1:${String(server.port)}/${encodeURIComponent(name)}`;
  try {
    await createDatabase(url(USER, password, 'postgres'), databaseName);
  } catch (error) {
    await server.stop();
    throw error;
  }
  // Derived from the owner's password, which it does not reveal: there is no second file that could be lost.
  const servicePassword = createHmac('sha256', password).update(SERVICE_USER).digest('base64url');
  return Object.assign(server, {
    url: url(USER, password, databaseName),
    serviceUrl: url(SERVICE_USER, servicePassword, databaseName),
  });
}

/** Reads PostgreSQL's file about the server in a directory; without `status` the file is not complete yet. */
function postmasterFile(directory: string): { pid: number; memory: string; status: string } {
  const lines = readIfThere(join(directory, 'postmaster.pid'))?.split('\n') ?? [];
  return { pid: Number(lines[0]), memory: (lines[6] ?? '').trim(), status: (lines[7] ?? '').trim() };
}

/**
 * Lets PostgreSQL start past a stale pid in `postmaster.pid`. After a crash or reboot another program may have that
 * pid, and PostgreSQL would refuse to start. PostgreSQL ignores the pid of its own grandparent, so the stale pid is
 * passed as that. The shared memory named in the file still shows whether a server lives.
 */
function pastStalePid(directory: string): Record<string, string> {
  const { pid, memory } = postmasterFile(directory);
  return pid > 1 && memory !== '' ? { PG_GRANDPARENT_PID: String(pid) } : {};
}

/**
 * Returns a path relative to the working directory: root's unprivileged user may not pass the directories above (a
 * clone under /root).
 */
function pathFor(user: ServerUser | null, directory: string): string {
  return user && existsSync('/proc/self/cwd') ? '/proc/self/cwd' : directory;
}

/** Writes the password before the cluster is made: no cluster may exist whose password is unknown. */
function clusterPassword(dataDir: string, directory: string): string {
  const path = join(dataDir, 'postgres.password');
  const known = readSecret(path);
  if (known) return known;
  if (!existsSync(directory)) return makeSecret(path);
  throw new LocalServerError(
    `${path}, the password of the database in ${directory}, is missing. Put it back, or move that directory away to ` +
      'start with an empty database.',
  );
}

/**
 * Makes the cluster beside its place and moves it there when it is whole: a kill half-way leaves no broken cluster.
 */
function initialise(dataDir: string, user: ServerUser | null, bin: string, password: string): void {
  const draft = join(dataDir, 'postgres.init');
  const data = join(draft, 'data');
  rmSync(draft, { recursive: true, force: true });
  prepareDirectory(draft, user);
  prepareDirectory(data, user);
  writePrivate(join(draft, 'password'), password);
  const { status, stdout, stderr, error } = spawnSync(
    join(bin, 'initdb'),
    [
      ...['-D', pathFor(user, data), '-U', USER, '--pwfile=../password', '--auth=scram-sha-256', '--encoding=UTF8'],
      // PostgreSQL's own locale: the same order and the same lower('Ç') on every machine and after every upgrade.
      ...['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-instructions'],
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
    throw new LocalServerError(`initdb could not make a database in ${data}:\n${words}`);
  }
  renameSync(data, join(dataDir, 'postgres'));
  rmSync(draft, { recursive: true, force: true });
}

/** Makes the database unless it exists. */
async function createDatabase(url: string, name: string): Promise<void> {
  // Set `ssl` explicitly, or PGSSLMODE in the environment would decide.
  const client = new pg.Client({ connectionString: url, ssl: false });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
  } finally {
    await client.end();
  }
}
