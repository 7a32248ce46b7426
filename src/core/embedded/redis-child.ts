import { execFileSync } from 'node:child_process';
import { accessSync, constants, readlinkSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Redis } from 'ioredis';
import { type ChildServer, type Hold, pidIn, portsOf, useServer } from './child-server.js';
import { makeSecret, readSecret } from './private-files.js';
import { blockedAt, chooseServerUser, prepareDataDir, prepareServerDirectory, type ServerUser } from './server-user.js';

export interface RedisChildOptions {
  /** `$DATA_DIR`; the data go to `redis` in it. */
  dataDir: string;
}

export interface RedisChild extends ChildServer {
  /** `redis://:password@127.0.0.1:port/0` */
  url: string;
}

/** The name under which the server lists the connections of those who use it. */
const HOLD = 'recebe';
const PID_FILE = 'redis.pid';
const PROGRAMS = ['redis-server', 'valkey-server'];

/**
 * Starts the Redis or Valkey found on PATH for a data directory, or joins the one another process has started for it;
 * the rules are those of `startEmbeddedPostgres`. Null when there is none of version 6.2 or later.
 *
 * @throws EmbeddedServerError when there is one and it does not start.
 */
export async function startRedisChild(options: RedisChildOptions): Promise<RedisChild | null> {
  const dataDir = prepareDataDir(options.dataDir);
  const directory = join(dataDir, 'redis');
  const user = chooseServerUser(dataDir, directory);
  const program = findProgram(user);
  if (program === null) return null;
  prepareServerDirectory(directory, user);
  const secret = join(dataDir, 'redis.password');
  // Kept between starts, as the server may outlive the process that chose it.
  const password = readSecret(secret) || makeSecret(secret);
  const server = await useServer({
    ...{ name: 'redis', dataDir, directory, user, pidFile: PID_FILE },
    find: () => find(directory, password),
    launch: (port) => ({ file: program, args: ['-', '--port', String(port)], input: configuration(password) }),
    ports: () => portsOf(directory),
    portTaken: /Address already in use|Failed listening on port/i,
  });
  return { ...server, url: `redis://:${password}@127.0.0.1:${String(server.port)}/0` };
}

/**
 * Given on standard input, since everybody on the machine can read a command line. Paths are relative to the directory
 * it is started in, so that the directories above may be closed to its user.
 */
function configuration(password: string): string {
  return [
    'bind 127.0.0.1',
    'protected-mode yes',
    `requirepass ${password}`,
    'daemonize no',
    `pidfile ${PID_FILE}`,
    'dir ./',
    'appendonly yes',
    'appendfsync everysec',
    'save ""',
    // Evicted keys would be jobs that silently never run.
    'maxmemory-policy noeviction',
    'loglevel warning',
    'logfile ""',
    '',
  ].join('\n');
}

/**
 * Redis does not lock the directory that it works in, but a port has one listener: all processes look for the
 * server on the same ports, and starts it on the first that is free. One that listens elsewhere, as it starts, ends, or
 * was started by another program, is known by its working directory where the system tells (Linux).
 */
async function find(directory: string, password: string): Promise<Hold | 'busy' | null> {
  for (const port of portsOf(directory)) {
    const found = await holdAt(port, directory, password);
    if (found !== null) return found;
  }
  const pid = pidIn({ directory, pidFile: PID_FILE });
  return pid !== null && workingDirectoryOf(pid) === directory ? 'busy' : null;
}

/** Null where there is no such process, or the system does not tell. */
function workingDirectoryOf(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${String(pid)}/cwd`);
  } catch {
    return null;
  }
}

async function holdAt(port: number, directory: string, password: string): Promise<Hold | 'busy' | null> {
  const redis = new Redis({
    ...{ host: '127.0.0.1', port, password, connectionName: HOLD, lazyConnect: true, enableReadyCheck: false },
    ...{ connectTimeout: 5_000, commandTimeout: 5_000, disconnectTimeout: 250, retryStrategy: () => null },
  });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    const [, place] = (await redis.config('GET', 'dir')) as string[];
    await redis.ping();
    if (place === directory) {
      const pid = Number(/process_id:(\d+)/.exec(await redis.info('server'))?.[1]);
      redis.stream.unref();
      return {
        ...{ port, pid },
        isOpen: () => redis.status === 'ready',
        leave: (isExiting) => leave(redis, isExiting),
      };
    }
    redis.disconnect();
    return null;
  } catch (error) {
    redis.disconnect();
    // It reads its data. A server that does not answer is another one, or is found by its working directory.
    return String(error).includes('LOADING') ? 'busy' : null;
  }
}

/**
 * Another process may connect between the look and the end, and one that exits has no time to look: the process that
 * keeps the server running starts it again.
 */
async function leave(redis: Redis, isExiting = false): Promise<void> {
  redis.stream.ref();
  // The name goes before the look: of two processes that leave at once, at least one sees no other.
  const isUsed = async (): Promise<boolean> => {
    await redis.client('SETNAME', '');
    return String(await redis.client('LIST')).includes(` name=${HOLD} `);
  };
  if (isExiting || !(await isUsed().catch(() => false))) await redis.shutdown().catch(() => undefined);
  redis.disconnect();
}

function findProgram(user: ServerUser | null): string | null {
  const directories = (process.env['PATH'] ?? '').split(delimiter).filter((directory) => directory.startsWith('/'));
  const candidates = PROGRAMS.flatMap((program) => directories.map((directory) => join(directory, program)));
  return candidates.find((candidate) => isUsable(candidate, user)) ?? null;
}

/** Bull needs Redis 6.2 or later; Valkey began at 7.2. */
function isUsable(program: string, user: ServerUser | null): boolean {
  try {
    accessSync(program, constants.X_OK);
    if (blockedAt(user, realpathSync(program)) !== null) return false;
    const version = / v=(\d+)\.(\d+)/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' }));
    const [major, minor] = [Number(version?.[1]), Number(version?.[2])];
    return major > 6 || (major === 6 && minor >= 2);
  } catch {
    return false;
  }
}
