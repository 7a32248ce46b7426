import { afterAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { itWith } from '../../test/support/needs.js';
import { waitFor } from '../../test/support/wait.js';
import { isRunning, postgresPid } from '../../tools/harness/local-servers.js';
import { keepOwner } from '../core/private-files.js';
import { identify } from '../core/process-identity.js';
import type { Restarts } from './child-server.js';
import { type LocalServers, type LocalServersOptions, openLocalServers, refuseSecondService } from './local-servers.js';
import { startPostgres } from './postgres.js';
import { prepareDataDir } from './server-user.js';

const root = mkdtempSync(join(tmpdir(), 'recebe-local-'));
chmodSync(root, 0o755);
afterAll(() => rmSync(root, { recursive: true, force: true }));

let count = 0;
const newDataDir = (): string => join(root, `data ${String(++count)}`);
const fileOf = (dataDir: string): string => join(dataDir, 'local-servers.json');
const AS_SERVICE = { needs: { postgres: true, redis: true }, joins: false, shares: true };
const AS_COMMAND = { needs: { postgres: true, redis: false }, joins: true, shares: false };
/** The lock alone, without servers: most cases test nothing else. */
const LOCK_ONLY = { needs: { postgres: false, redis: false }, joins: false, shares: false };

const open = (dataDir: string, options: Partial<LocalServersOptions>): Promise<LocalServers> =>
  openLocalServers({ ...AS_SERVICE, ...options, dataDir });

async function query(url: string | undefined, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Leaves the lock file of an owner that was killed. */
function leaveLock(dataDir: string, change: object = {}): void {
  prepareDataDir(dataDir);
  const { dev, ino } = statSync(dataDir, { bigint: true });
  const file = {
    ...{ id: 'old', directory: `${String(dev)}:${String(ino)}`, children: {}, addresses: null },
    ...{ owner: { pid: 1, startedAt: 'long ago' }, ...change },
  };
  writeFileSync(fileOf(dataDir), JSON.stringify(file));
}

const myself = { pid: process.pid, startedAt: identify(process.pid) };
const ADDRESSES = { postgres: { url: 'postgres://a', serviceUrl: 'postgres://b' }, redis: null };

describe('the lock of a data directory', () => {
  it.each([
    ['of an owner that was killed', (dataDir: string) => leaveLock(dataDir, { addresses: ADDRESSES })],
    [
      'that came with a copy of the directory',
      (dataDir: string) => leaveLock(dataDir, { directory: '1:2', owner: myself }),
    ],
    [
      'that was cut off by a crash',
      (dataDir: string) => (prepareDataDir(dataDir), writeFileSync(fileOf(dataDir), '{')),
    ],
    ['that is not there', (dataDir: string) => prepareDataDir(dataDir)],
  ])('is acquired in place of a lock %s', async (_, prepare) => {
    const dataDir = newDataDir();
    prepare(dataDir);
    const servers = await open(dataDir, LOCK_ONLY);
    expect(JSON.parse(readFileSync(fileOf(dataDir), 'utf8'))).toMatchObject({ owner: myself, addresses: null });
    expect(statSync(fileOf(dataDir)).mode & 0o777).toBe(0o600);
    await servers.stop();
    expect(existsSync(fileOf(dataDir))).toBe(false);
  });

  it.each([
    ['none is there', () => undefined],
    ['a killed owner has left one', (dataDir: string) => leaveLock(dataDir)],
  ])('lets one process in at a time when several come at once and %s', async (_, prepare) => {
    const dataDir = newDataDir();
    prepare(dataDir);
    let [inside, most] = [0, 0];
    const enter = async (): Promise<void> => {
      const servers = await open(dataDir, LOCK_ONLY);
      most = Math.max(most, ++inside);
      await new Promise((done) => setTimeout(done, 50));
      inside -= 1;
      await servers.stop();
    };
    await Promise.all([1, 2, 3].map(enter));
    expect(most).toBe(1);
  });

  it('refuses a second service and says what to do, but lets a command join', async () => {
    const dataDir = newDataDir();
    leaveLock(dataDir, { owner: myself, addresses: ADDRESSES });
    const refusal = `Recebe already runs on the data in ${dataDir} (process ${String(process.pid)}). Stop it first`;
    expect(() => refuseSecondService(dataDir)).toThrow(refusal);
    await expect(open(dataDir, AS_SERVICE)).rejects.toThrow(refusal);
    const guest = await open(dataDir, AS_COMMAND);
    expect(guest).toMatchObject(ADDRESSES);
    await guest.stop();
    expect(existsSync(fileOf(dataDir))).toBe(true);
  });

  it('sends a command to the database of a service that has its own elsewhere', async () => {
    const dataDir = newDataDir();
    leaveLock(dataDir, { owner: myself, addresses: { postgres: null, redis: null } });
    await expect(open(dataDir, AS_COMMAND)).rejects.toThrow('set DATABASE_URL as it is set there');
  });

  it('ends the children that a killed owner left, but no process that reused their pid', async () => {
    const dataDir = newDataDir();
    const [orphan, stranger] = [spawn('sleep', ['600']), spawn('sleep', ['600'])];
    const pids = await waitFor(
      'both',
      () => orphan.pid !== undefined && stranger.pid !== undefined && [orphan.pid, stranger.pid],
    );
    const [left = 0, reused = 0] = pids;
    leaveLock(dataDir, {
      children: {
        postgres: { pid: left, startedAt: identify(left) },
        redis: { pid: reused, startedAt: 'another start' },
      },
    });
    const servers = await open(dataDir, LOCK_ONLY);
    expect([isRunning(left), isRunning(reused)]).toEqual([false, true]);
    await servers.stop();
    stranger.kill();
  });
});

describe('local servers', () => {
  it('start with a new database, are shared, and keep the data for the next start', async () => {
    const dataDir = newDataDir();
    const service = await open(dataDir, AS_SERVICE);
    await query(service.postgres?.url, `CREATE TABLE note AS SELECT lower('AÇÃO') AS body`);
    const command = await open(dataDir, AS_COMMAND);
    expect(command.postgres).toEqual(service.postgres);
    await command.stop();
    const settings = `SELECT inet_server_addr()::text AS address, current_setting('server_encoding') AS encoding,
      current_setting('timezone') AS zone, current_setting('fsync') AS fsync`;
    expect(await query(service.postgres?.url, settings)).toEqual([
      { address: '127.0.0.1/32', encoding: 'UTF8', zone: 'UTC', fsync: 'on' },
    ]);
    const wrong = service.postgres?.url.replace(/:[\w-]+@/, ':wrong@');
    await expect(query(wrong, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    for (const file of ['postgres.password', 'postgres.log', 'local-servers.json']) {
      expect([file, statSync(join(dataDir, file)).mode & 0o777]).toEqual([file, 0o600]);
    }
    await service.stop();
    await service.stop();
    expect([postgresPid(dataDir), existsSync(fileOf(dataDir))]).toEqual([null, false]);

    const alone = await open(dataDir, AS_COMMAND);
    expect(await query(alone.postgres?.url, 'SELECT body FROM note')).toEqual([{ body: 'ação' }]);
    await alone.stop();
  });

  itWith('redis')('restart by themselves, on their ports and with their data', async () => {
    const dataDir = newDataDir();
    const said: string[] = [];
    const say = (_fields: object, line: string): unknown => said.push(line);
    const restarts: Restarts = {
      ...{ log: { warn: say, error: say }, pausesMs: [10, 10, 10] },
      onFailure: ({ message }) => said.push(message),
    };
    const service = await open(dataDir, { restarts });
    await query(service.postgres?.url, 'CREATE TABLE kept ()');
    const client = new pg.Client({ connectionString: service.postgres?.url });
    client.on('error', () => undefined);
    await client.connect(); // after SIGTERM PostgreSQL would wait for this client without end
    const pids = (): { postgres: { pid: number }; redis: { pid: number } } =>
      (JSON.parse(readFileSync(fileOf(dataDir), 'utf8')) as { children: ReturnType<typeof pids> }).children;
    process.kill(pids().postgres.pid, 'SIGTERM');
    await waitFor('PostgreSQL', () => said.includes('postgres runs again'));
    process.kill(pids().redis.pid, 'SIGKILL');
    await waitFor('Redis', () => said.includes('redis runs again'));
    expect(said).toHaveLength(4);
    expect(await query(service.postgres?.url, 'SELECT FROM kept')).toEqual([]);
    const { postgres, redis } = pids();
    await service.stop();
    expect([isRunning(postgres.pid), isRunning(redis.pid)]).toEqual([false, false]);
  });
});

describe('startPostgres', () => {
  let made: Promise<string> | null = null;
  /** A copy of a data directory: making a cluster is most of what a first start takes. */
  async function madeDataDir(): Promise<string> {
    made ??= (async () => {
      const first = newDataDir();
      await (await startPostgres({ dataDir: first })).stop();
      return first;
    })();
    const dataDir = newDataDir();
    cpSync(await made, dataDir, { recursive: true });
    return dataDir;
  }

  /** `postmaster.pid` of a server that was killed, with the pid of another program since. */
  function leavePidFile(dataDir: string, pid: number): void {
    const lines = [pid, join(dataDir, 'postgres'), 1_700_000_000, 5432, '', '127.0.0.1', '  1 1', 'ready   ', ''];
    const path = join(dataDir, 'postgres', 'postmaster.pid');
    writeFileSync(path, lines.join('\n'), { mode: 0o600 });
    keepOwner(path);
  }

  it('starts over when the first start was cut off, and despite the pid file of a crash', async () => {
    const dataDir = await madeDataDir();
    cpSync(join(dataDir, 'postgres', 'base'), join(dataDir, 'postgres.init', 'data', 'base'), { recursive: true });
    rmSync(join(dataDir, 'postgres'), { recursive: true });
    await (await startPostgres({ dataDir })).stop();
    expect(existsSync(join(dataDir, 'postgres.init'))).toBe(false);

    const { user } = prepareDataDir(dataDir);
    const stranger = spawn('sleep', ['600'], { ...(user && { uid: user.uid, gid: user.gid }) });
    leavePidFile(dataDir, stranger.pid ?? 0);
    await (await startPostgres({ dataDir })).stop();
    expect(isRunning(stranger.pid ?? 0)).toBe(true);
    stranger.kill();
  });

  it('leaves a server alone that it did not start, and says how to end it', async () => {
    const dataDir = await madeDataDir();
    const foreign = await startPostgres({ dataDir });
    await expect(startPostgres({ dataDir })).rejects.toThrow(`kill -INT ${String(postgresPid(dataDir))}`);
    expect(await query(foreign.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await foreign.stop();
  });

  it.each([
    ['the password is missing', 'postgres.password', null, /postgres\.password.*Put it back/s],
    [
      'the data are of another version',
      'postgres/PG_VERSION',
      '9.6\n',
      /did not start in .*by PostgreSQL version 9\.6/s,
    ],
  ])('says what to do when %s', async (_, file, content, words) => {
    const dataDir = await madeDataDir();
    if (content === null) rmSync(join(dataDir, file));
    else writeFileSync(join(dataDir, file), content);
    await expect(startPostgres({ dataDir })).rejects.toThrow(words);
  });

  it('keeps ordinary SQL errors out of its log', async () => {
    const dataDir = await madeDataDir();
    const server = await startPostgres({ dataDir });
    await expect(query(server.url, 'SELECT nothing_of_the_kind')).rejects.toThrow('nothing_of_the_kind');
    await server.stop();
    expect(readFileSync(join(dataDir, 'postgres.log'), 'utf8')).not.toContain('nothing_of_the_kind');
  });

  it('ends with its process, even when the process does not stop it', async () => {
    const dataDir = await madeDataDir();
    const script = `import('${join(process.cwd(), 'dist/src/local-servers/index.js')}')
      .then(({ startPostgres }) => startPostgres({ dataDir: process.argv[1] })).then(() => process.exit(3))`;
    const child = spawn(process.execPath, ['-e', script, dataDir], { stdio: 'ignore' });
    expect(await once(child, 'exit')).toEqual([3, null]);
    await waitFor('its end', () => postgresPid(dataDir) === null);
  });
});
