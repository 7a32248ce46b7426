import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { Redis as Client } from 'ioredis';
import { makeSecret } from '../core/private-files.js';
import { type ChildOptions, ChildServer } from './child-server.js';
import { prepareDataDir, prepareDirectory, readSecret, type ServerUser } from './server-user.js';

/** `url` is `redis://:password@127.0.0.1:port/0`. */
export type Redis = ChildServer & { readonly url: string };

const PROGRAMS = ['redis-server', 'valkey-server'];

/**
 * Starts the Redis or Valkey found on PATH as a child of this process, with its data in `$DATA_DIR/redis`.
 *
 * @returns null if there is none of version 6.2 or later
 * @throws LocalServerError if there is one and it does not start
 */
export async function startRedis(options: ChildOptions & { dataDir: string }): Promise<Redis | null> {
  const { dataDir, user } = prepareDataDir(options.dataDir);
  const file = PROGRAMS.find((program) => isUsable(program, user));
  if (file === undefined) return null;
  const directory = join(dataDir, 'redis');
  prepareDirectory(directory, user);
  const secret = join(dataDir, 'redis.password');
  const password = readSecret(secret) || makeSecret(secret);
  const server = await ChildServer.start(
    {
      ...{ name: 'redis', dataDir, directory, user },
      command: (port) => ({ file, args: ['-', '--port', String(port)], input: configuration(password) }),
      isReady: (pid, port) => isReady(pid, port, password),
      transient: /Address already in use|Failed listening on port/i,
    },
    options,
  );
  return Object.assign(server, { url: `redis://:${password}@127.0.0.1:${String(server.port)}/0` });
}

/** Bull needs Redis 6.2 or later; Valkey began at 7.2. */
function isUsable(program: string, user: ServerUser | null): boolean {
  const { uid, gid } = user ?? {};
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8', uid, gid });
  const [major, minor] = / v=(\d+)\.(\d+)/
    .exec(stdout ?? '')
    ?.slice(1)
    .map(Number) ?? [0, 0];
  return Number(major) > 6 || (major === 6 && Number(minor) >= 2);
}

/** Given on standard input, since everybody on the machine can read a command line. */
const configuration = (password: string): string => `
bind 127.0.0.1
requirepass ${password}
# Relative to the directory of the start: those above may be closed to the user of the server.
dir ./
pidfile redis.pid
appendonly yes
save ""
# Evicted keys would be jobs that silently never run.
maxmemory-policy noeviction
loglevel warning
`;

/** The pid tells it from another Redis on the port, such as that of a copied directory. */
async function isReady(pid: number, port: number, password: string): Promise<boolean> {
  const redis = new Client({
    ...{ host: '127.0.0.1', port, password, lazyConnect: true, enableReadyCheck: false },
    ...{ connectTimeout: 5_000, commandTimeout: 5_000, retryStrategy: () => null },
  });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    await redis.ping(); // an error while it loads its data
    return (await redis.info('server')).includes(`process_id:${String(pid)}\r`);
  } catch {
    return false;
  } finally {
    redis.disconnect();
  }
}
