import { execFileSync } from 'node:child_process';
import { accessSync, constants, realpathSync } from 'node:fs';
import { createConnection } from 'node:net';
import { delimiter, join } from 'node:path';
import { type ChildServer, type ChildServerSpec, joinOrLaunch } from './child-server.js';
import { withClaim } from './claim-lock.js';
import { makeSecret, readSecret } from './private-files.js';
import { blockedAt, chooseServerUser, prepareDataDir, prepareServerDirectory, type ServerUser } from './server-user.js';

export interface RedisChildOptions {
  /** `$DATA_DIR`; the data go to `redis` in it. */
  dataDir: string;
  log?: (line: string) => void;
}

export interface RedisChild {
  /** `redis://:password@127.0.0.1:port/0` */
  url: string;
  /** True when the server was running already. */
  adopted: boolean;
  keepRunning: ChildServer['keepRunning'];
  /** Shuts the server down in order unless another living process uses it. May be called twice. */
  stop: () => Promise<void>;
}

const PROGRAMS = ['redis-server', 'valkey-server'];

/**
 * Starts the Redis or Valkey found on PATH for a data directory, or joins the one another process has started for it;
 * the rules are those of `startEmbeddedPostgres`. Null when there is none of version 6.2 or later.
 *
 * @throws EmbeddedServerError when there is one and it does not start.
 */
export async function startRedisChild(options: RedisChildOptions): Promise<RedisChild | null> {
  const log = options.log ?? (() => undefined);
  const dataDir = prepareDataDir(options.dataDir);
  const directory = join(dataDir, 'redis');
  const user = chooseServerUser(dataDir, directory);
  const program = findProgram(user);
  if (program === null) return null;
  return withClaim(dataDir, 'redis', async () => {
    prepareServerDirectory(directory, user);
    const secret = join(dataDir, 'redis.password');
    // Kept between starts, as the server may outlive the process that chose it.
    const password = readSecret(secret) || makeSecret(secret);
    const server = await joinOrLaunch(serverSpec(dataDir, directory, user, program, password), log);
    const url = `redis://:${password}@127.0.0.1:${String(server.port)}/0`;
    const { adopted, keepRunning, stop } = server;
    return { url, adopted, keepRunning, stop };
  });
}

function serverSpec(
  dataDir: string,
  directory: string,
  user: ServerUser | null,
  program: string,
  password: string,
): ChildServerSpec {
  return {
    name: 'redis',
    dataDir,
    directory,
    user,
    pidFile: 'redis.pid',
    // It rewrites its command line to "redis-server 127.0.0.1:<port>" soon after the start.
    isServer: (command, port) =>
      /(^|\/)(redis|valkey)-server /.test(command) && command.split(/\D+/).includes(String(port)),
    launch: (port) => ({ file: program, args: ['-', '--port', String(port)], input: configuration(password) }),
    answers: (port) => answers(port, password),
    stopSignals: ['SIGTERM', 'SIGKILL'],
    portTaken: /Address already in use|Failed listening on port/i,
  };
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
    'pidfile redis.pid',
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

/** PING as an inline command: "+PONG" when it takes commands, "-LOADING" while it reads its data. */
async function answers(port: number, password: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port, timeout: 5_000 });
    let reply = '';
    const done = (): void => {
      socket.destroy();
      resolve(reply.includes('+PONG'));
    };
    socket.setEncoding('utf8');
    socket.on('connect', () => socket.write(`AUTH ${password}\r\nPING\r\n`));
    socket.on('data', (chunk: string) => {
      reply += chunk;
      if (reply.split('\r\n').length > 2) done();
    });
    socket.on('timeout', done);
    socket.on('error', done);
    socket.on('close', done);
  });
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
