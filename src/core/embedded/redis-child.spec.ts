import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describeWith, pathOf } from '../../../test/support/needs.js';
import { portsOf } from './child-server.js';
import { commandOf, Fixture, isRunning, KeptLog, redisPid, until } from './embedded.fixture.js';
import { type RedisChild, startRedisChild } from './redis-child.js';
import { chooseServerUser } from './server-user.js';

const fixture = new Fixture();
const PATH = process.env['PATH'] ?? '';

afterAll(() => fixture.cleanUp());
afterEach(() => {
  process.env['PATH'] = PATH;
});

async function start(dataDir: string): Promise<RedisChild> {
  const server = await startRedisChild({ dataDir });
  if (!server) throw new Error('these tests need redis-server or valkey-server on PATH');
  return server;
}

async function ask<T>(url: string, question: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return await question(redis);
  } finally {
    redis.disconnect();
  }
}

function pidIn(dataDir: string): number {
  const pid = redisPid(dataDir);
  if (pid === null) throw new Error('no Redis runs there');
  return pid;
}

describeWith('redis')('startRedisChild', () => {
  it('starts on the loopback address behind a password that no command line shows', async () => {
    const dataDir = fixture.dataDir();
    const server = await start(dataDir);
    try {
      expect(server.adopted).toBe(false);
      const settings = await ask(server.url, async (redis) =>
        redis.config('GET', 'bind', 'appendonly', 'appendfsync', 'maxmemory-policy'),
      );
      expect(settings).toEqual(expect.arrayContaining(['127.0.0.1', 'yes', 'everysec', 'noeviction']));
      await expect(ask(server.url.replace(/:[\w-]+@/, ':wrong@'), (redis) => redis.get('x'))).rejects.toThrow();
      const password = new URL(server.url).password;
      expect(commandOf(pidIn(dataDir))).toMatch(/(redis|valkey)-server/);
      expect(commandOf(pidIn(dataDir))).not.toContain(password);
      expect(readFileSync(join(dataDir, 'redis.password'), 'utf8').trim()).toBe(password);
      expect(statSync(join(dataDir, 'redis.password')).mode & 0o777).toBe(0o600);
    } finally {
      await server.stop();
    }
  });

  it('keeps its data between starts', async () => {
    const dataDir = fixture.dataDir();
    const first = await start(dataDir);
    await ask(first.url, (redis) => redis.set('job', 'waiting'));
    const pid = pidIn(dataDir);
    await Promise.all([first.stop(), first.stop()]);
    expect(isRunning(pid)).toBe(false);
    const second = await start(dataDir);
    expect(second.adopted).toBe(false);
    expect(await ask(second.url, (redis) => redis.get('job'))).toBe('waiting');
    await second.stop();
  });

  it('takes over the orphan of a service that was killed, and stops it in the end', async () => {
    const dataDir = fixture.dataDir();
    const killed = await fixture.service('redis', dataDir);
    const { url } = await killed.started();
    const pid = pidIn(dataDir);
    await killed.kill('SIGKILL');
    const server = await start(dataDir);
    expect(server).toMatchObject({ url, adopted: true });
    expect(pidIn(dataDir)).toBe(pid);
    await server.stop();
    expect(isRunning(pid)).toBe(false);
  });

  const onLinux = process.platform === 'linux' ? it : it.skip;
  onLinux('waits for a Redis of somebody else in its directory, and starts when that has ended', async () => {
    const dataDir = fixture.dataDir();
    await (await start(dataDir)).stop();
    const user = chooseServerUser(dataDir, join(dataDir, 'redis'));
    const foreign = spawn(pathOf('redis'), ['--port', '0', '--unixsocket', 'foreign.sock', '--pidfile', 'redis.pid'], {
      cwd: join(dataDir, 'redis'),
      stdio: 'ignore',
      ...(user && { uid: user.uid, gid: user.gid }),
    });
    await until(() => redisPid(dataDir) === foreign.pid);
    let isStarted = false;
    const starting = start(dataDir).finally(() => (isStarted = true));
    await delay(1_000);
    expect([isStarted, pidIn(dataDir)]).toEqual([false, foreign.pid]);
    foreign.kill('SIGTERM');
    const server = await starting;
    expect(server.adopted).toBe(false);
    expect(pidIn(dataDir)).not.toBe(foreign.pid);
    await server.stop();
  });

  it('keeps what it acknowledged when service and server are both killed', async () => {
    const dataDir = fixture.dataDir();
    const killed = await fixture.service('redis', dataDir);
    const { url } = await killed.started();
    await ask(url, (redis) => redis.set('job', 'waiting'));
    process.kill(pidIn(dataDir), 'SIGKILL');
    await killed.kill('SIGKILL');
    const server = await start(dataDir);
    expect(server.adopted).toBe(false);
    expect(await ask(server.url, (redis) => redis.get('job'))).toBe('waiting');
    await server.stop();
  });

  it('leaves a living service its server when a guest stops', async () => {
    const dataDir = fixture.dataDir();
    const service = await fixture.service('redis', dataDir);
    const { url } = await service.started();
    const guest = await start(dataDir);
    expect(guest).toMatchObject({ url, adopted: true });
    await guest.stop();
    expect(await ask(url, (redis) => redis.ping())).toBe('PONG');
    const pid = pidIn(dataDir);
    await service.tell('stop');
    expect(isRunning(pid)).toBe(false);
  });

  it.each(['SIGKILL', 'SIGTERM'] as const)(
    'kept running, it comes back by itself after %s, with its data',
    async (signal) => {
      const dataDir = fixture.dataDir();
      const server = await start(dataDir);
      const log = new KeptLog();
      server.keepRunning(log);
      await ask(server.url, (redis) => redis.set('kept', 'yes'));
      await delay(1_500); // it writes its log to the disk every second
      const pid = pidIn(dataDir);
      process.kill(pid, signal);
      await until(
        async () => (await ask(server.url, (redis) => redis.get('kept'))) === 'yes' && pidIn(dataDir) !== pid,
      );
      await until(() => log.count('redis runs again') === 1);
      expect(log.count('redis has ended although it is in use; starting it again')).toBe(1);
      await server.stop();
      expect(redisPid(dataDir)).toBeNull();
    },
  );

  it('kept running, it and the service outlive the time in which no file can be opened', async () => {
    const dataDir = fixture.dataDir();
    const service = await fixture.service('redis', dataDir);
    const { url } = await service.started();
    await service.ask('keep');
    const pid = pidIn(dataDir);
    expect(await service.ask('use up descriptors')).toBe('EMFILE');
    await delay(2_000);
    // What cannot be looked at has not ended.
    expect(await service.ask('look')).toBe('EMFILE');
    expect(pidIn(dataDir)).toBe(pid);
    process.kill(pid, 'SIGKILL');
    await delay(2_000);
    // What it says first is that it could not start it.
    let said = await service.ask('give them back');
    expect(said).toMatch(/^redis cannot be started again/);
    while (said?.startsWith('redis ')) said = (await service.report()).said;
    expect(Number(said)).toBeGreaterThan(100);
    await until(async () => (await ask(url, (redis) => redis.ping())) === 'PONG' && pidIn(dataDir) !== pid);
    const second = pidIn(dataDir);
    await service.tell('stop');
    expect(isRunning(second)).toBe(false);
  });

  it('is looked at without a program being started for that', async () => {
    const dataDir = fixture.dataDir();
    const bin = fixture.dataDir();
    mkdirSync(bin, { mode: 0o755 });
    const calls = join(bin, 'calls');
    writeFileSync(join(bin, 'ps'), `#!/bin/sh\necho >> '${calls}'\n`);
    chmodSync(join(bin, 'ps'), 0o755);
    const service = await fixture.service('redis', dataDir, { platform: 'darwin', path: `${bin}:${PATH}` });
    const { url } = await service.started();
    await service.ask('keep');
    const pid = pidIn(dataDir);
    process.kill(pid, 'SIGKILL');
    await until(async () => (await ask(url, (redis) => redis.ping())) === 'PONG' && pidIn(dataDir) !== pid);
    await service.tell('stop');
    expect(redisPid(dataDir)).toBeNull();
    expect(existsSync(calls)).toBe(false);
  });

  it.each(['exit', 'throw'] as const)('does not outlive a process that ends by %s without stopping it', async (how) => {
    const dataDir = fixture.dataDir();
    const service = await fixture.service('redis', dataDir);
    await service.started();
    const pid = pidIn(dataDir);
    await service.tell(how);
    await until(() => !isRunning(pid));
  });

  it('starts on another port where another program, or the server of a copied directory, has its own', async () => {
    const dataDir = fixture.dataDir();
    await (await start(dataDir)).stop();
    const [first = 0, second = 0, third = 0] = portsOf(join(dataDir, 'redis'));
    const stranger = createServer((socket) => socket.end('no Redis\n')).listen(first, '127.0.0.1');
    const copied = spawn(pathOf('redis'), ['-', '--port', String(second)], { stdio: ['pipe', 'ignore', 'ignore'] });
    const unknown = spawn(pathOf('redis'), ['-', '--port', String(third)], { stdio: ['pipe', 'ignore', 'ignore'] });
    try {
      const password = readFileSync(join(dataDir, 'redis.password'), 'utf8').trim();
      unknown.stdin.end('bind 127.0.0.1\nrequirepass another\nsave ""\n');
      copied.stdin.end(`bind 127.0.0.1\nrequirepass ${password}\nsave ""\n`);
      const other = `redis://:${password}@127.0.0.1:${String(second)}/0`;
      await until(async () => (await ask(other, (redis) => redis.ping())) === 'PONG');
      await until(
        async () =>
          (await ask(other.replace(/:[^:]*@.*/, `:another@127.0.0.1:${String(third)}/0`), (redis) => redis.ping())) ===
          'PONG',
      );
      const server = await start(dataDir);
      expect(server.adopted).toBe(false);
      expect([first, second, third]).not.toContain(Number(new URL(server.url).port));
      await server.stop();
      expect(await ask(other, (redis) => redis.ping())).toBe('PONG');
    } finally {
      stranger.close();
      copied.kill();
      unknown.kill();
    }
  });

  it('launches one server when several processes start at the same moment, and ends when they do so', async () => {
    const dataDir = fixture.dataDir();
    const services = await Promise.all([1, 2, 3].map(() => fixture.service('redis', dataDir)));
    const reports = await Promise.all(services.map((service) => service.started()));
    expect(new Set(reports.map(({ url }) => url)).size).toBe(1);
    expect(reports.filter(({ adopted }) => !adopted)).toHaveLength(1);
    await Promise.all(services.map((service) => service.tell('stop')));
    expect(redisPid(dataDir)).toBeNull();
  });

  it('is not blocked by a pid file whose pid is now another program', async () => {
    const dataDir = fixture.dataDir();
    await (await start(dataDir)).stop();
    writeFileSync(join(dataDir, 'redis', 'redis.pid'), `${String(process.pid)}\n`);
    const server = await start(dataDir);
    expect(server.adopted).toBe(false);
    await server.stop();
  });
});

describe('startRedisChild without a server that it can use', () => {
  it('is null when there is no server on PATH, or only one that is too old', async () => {
    const bin = fixture.dataDir();
    mkdirSync(bin, { mode: 0o755 });
    // Root asks for a user to run the server as.
    for (const tool of ['id', 'chown'])
      symlinkSync(
        execFileSync('sh', ['-c', `command -v ${tool}`])
          .toString()
          .trim(),
        join(bin, tool),
      );
    process.env['PATH'] = bin;
    expect(await startRedisChild({ dataDir: fixture.dataDir() })).toBeNull();
    writeFileSync(join(bin, 'redis-server'), '#!/bin/sh\necho "Redis server v=6.0.16 sha=00000000:0"\n');
    chmodSync(join(bin, 'redis-server'), 0o755);
    expect(await startRedisChild({ dataDir: fixture.dataDir() })).toBeNull();
  });
});
