import { afterAll, describe, expect, it } from '@jest/globals';
import { execFileSync, spawn } from 'node:child_process';
import {
  chownSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.js';
import { postgresBinaries } from './postgres-binaries.js';
import { Fixture, isRunning, KeptLog, postgresPid, until } from './embedded.fixture.js';
import { chooseServerUser } from './server-user.js';

const fixture = new Fixture();
const settings = { fsync: 'off' };

afterAll(() => fixture.cleanUp());

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

let made: Promise<string> | null = null;

/** A data directory whose cluster was made before, by a copy: making one is most of what a first start takes. */
async function madeDataDir(): Promise<string> {
  made ??= (async () => {
    const first = fixture.dataDir();
    await (await startEmbeddedPostgres({ dataDir: first, settings })).stop();
    return first;
  })();
  const dataDir = fixture.dataDir();
  execFileSync('cp', ['-a', await made, dataDir]);
  return dataDir;
}

async function withNote(dataDir: string): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, settings });
  await query(server.url, `CREATE TABLE note AS SELECT 'Ação'::text AS body`);
  return server;
}

/** The backends that stand for those who use the server. */
async function holds(url: string): Promise<unknown[]> {
  const rows = await query(url, `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted ORDER BY pid`);
  return rows.map(({ pid }) => pid);
}

/** A service was killed and has left its server, in which there is a table `kept`. */
async function killedService(): Promise<{ dataDir: string; url: string; pid: number }> {
  const dataDir = await madeDataDir();
  const killed = await fixture.service('postgres', dataDir);
  const { url } = await killed.started();
  await query(url, 'CREATE TABLE kept (id int)');
  const pid = pidIn(dataDir);
  await killed.kill('SIGKILL');
  return { dataDir, url, pid };
}

function pidIn(dataDir: string): number {
  const pid = postgresPid(dataDir);
  if (pid === null) throw new Error('no PostgreSQL runs there');
  return pid;
}

describe('startEmbeddedPostgres', () => {
  it('makes a database at the first start, on the loopback address, behind a password', async () => {
    const dataDir = fixture.dataDir();
    const server = await startEmbeddedPostgres({ dataDir, databaseName: 'shop', settings });
    try {
      expect(server).toMatchObject({ adopted: false, initialised: true });
      expect(server.url).toMatch(/^postgres:\/\/recebe:[\w-]{32}@127\.0\.0\.1:\d+\/shop$/);
      const [row] = await query(
        server.url,
        `SELECT current_database() AS database, current_setting('listen_addresses') AS address,
                current_setting('server_encoding') AS encoding, current_setting('timezone') AS zone,
                current_setting('synchronous_commit') AS commit, current_setting('fsync') AS fsync,
                lower('AÇÃO') AS lower`,
      );
      expect(row).toEqual({
        database: 'shop',
        address: '127.0.0.1',
        encoding: 'UTF8',
        zone: 'UTC',
        commit: 'on',
        fsync: 'off',
        lower: 'ação',
      });
      await expect(query(server.url.replace(/:[\w-]+@/, ':wrong@'), 'SELECT 1')).rejects.toMatchObject({
        code: '28P01',
      });
      for (const file of ['postgres.password', 'postgres.log']) {
        expect([file, statSync(join(dataDir, file)).mode & 0o777]).toEqual([file, 0o600]);
      }
      expect(statSync(join(dataDir, 'postgres')).mode & 0o777).toBe(0o700);
    } finally {
      await server.stop();
    }
  });

  it('keeps its data between starts, stops once however often it is told to, and leaves nothing behind', async () => {
    const dataDir = await madeDataDir();
    const first = await withNote(dataDir);
    const pid = pidIn(dataDir);
    await Promise.all([first.stop(), first.stop()]);
    await until(() => !isRunning(pid)); // its pid outlives its command by a moment

    const second = await startEmbeddedPostgres({ dataDir, settings });
    expect(second).toMatchObject({ adopted: false, initialised: false });
    expect(await query(second.url, 'SELECT body FROM note')).toEqual([{ body: 'Ação' }]);
    await second.stop();
    await second.stop();
    expect(readdirSync(dataDir).sort()).toEqual(['postgres', 'postgres.log', 'postgres.password']);
  });

  it('takes over the orphan of a service that was killed, and stops it in the end', async () => {
    const { dataDir, url, pid } = await killedService();
    expect(isRunning(pid)).toBe(true);

    const server = await startEmbeddedPostgres({ dataDir, settings });
    expect(server).toMatchObject({ url, adopted: true, initialised: false });
    expect(pidIn(dataDir)).toBe(pid);
    expect(await query(server.url, 'SELECT * FROM kept')).toEqual([]);
    await server.stop();
    await until(() => !isRunning(pid)); // its pid outlives its command by a moment
  });

  it('starts after a power cut: service and server killed, the pid file left', async () => {
    const { dataDir, pid } = await killedService();
    process.kill(pid, 'SIGKILL');

    const server = await startEmbeddedPostgres({ dataDir, settings });
    expect(server.adopted).toBe(false);
    expect(pidIn(dataDir)).not.toBe(pid);
    expect(await query(server.url, 'SELECT * FROM kept')).toEqual([]);
    await server.stop();
  });

  it('starts once when several find the pid file of a power cut at the same moment, and ends when they do so', async () => {
    const { dataDir, pid } = await killedService();
    process.kill(pid, 'SIGKILL');
    const services = await Promise.all([1, 2, 3, 4].map(() => fixture.service('postgres', dataDir)));
    const reports = await Promise.all(services.map((service) => service.started()));
    expect(new Set(reports.map((report) => report.url)).size).toBe(1);
    expect(reports.filter(({ adopted }) => !adopted)).toHaveLength(1);
    const second = pidIn(dataDir);
    expect(await query(reports[0]?.url ?? '', 'SELECT * FROM kept')).toEqual([]);
    await Promise.all(services.map((service) => service.tell('stop')));
    await until(() => !isRunning(second));
  });

  it('leaves a living service its server when a guest stops', async () => {
    const dataDir = await madeDataDir();
    const service = await fixture.service('postgres', dataDir);
    const { url } = await service.started();
    const pid = pidIn(dataDir);

    const guest = await startEmbeddedPostgres({ dataDir, settings });
    expect(guest).toMatchObject({ url, adopted: true });
    await guest.stop();
    expect(isRunning(pid)).toBe(true);
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);

    await service.tell('stop');
    await until(() => !isRunning(pid)); // its pid outlives its command by a moment
  });

  it('hands the server over when the process that launched it stops first', async () => {
    const dataDir = await madeDataDir();
    const tool = await fixture.service('postgres', dataDir);
    await tool.started();
    const service = await startEmbeddedPostgres({ dataDir, settings });
    const pid = pidIn(dataDir);
    await tool.tell('stop');
    expect(await query(service.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await service.stop();
    await until(() => !isRunning(pid)); // its pid outlives its command by a moment
  });

  it('launches one server when several processes start at the same moment', async () => {
    const dataDir = fixture.dataDir();
    const services = await Promise.all([1, 2, 3].map(() => fixture.service('postgres', dataDir)));
    const reports = await Promise.all([
      ...services.map((service) => service.started()),
      startEmbeddedPostgres({ dataDir, settings }),
      startEmbeddedPostgres({ dataDir, settings }),
    ]);
    expect(new Set(reports.map(({ url }) => url)).size).toBe(1);
    expect(reports.filter(({ adopted }) => !adopted)).toHaveLength(1);
    expect(reports.filter(({ initialised }) => initialised)).toHaveLength(1);

    const pid = pidIn(dataDir);
    await services[0]?.tell('stop');
    await services[1]?.kill('SIGKILL');
    for (const report of reports) if ('stop' in report) await report.stop();
    expect(isRunning(pid)).toBe(true);
    await services[2]?.tell('stop');
    await until(() => !isRunning(pid)); // its pid outlives its command by a moment
  });

  it.each(['exit', 'throw'] as const)('does not outlive a process that ends by %s without stopping it', async (how) => {
    const dataDir = await madeDataDir();
    const service = await fixture.service('postgres', dataDir);
    await service.started();
    const pid = pidIn(dataDir);
    await service.tell(how);
    await until(() => !isRunning(pid));
  });

  describe('kept running', () => {
    const STARTED = 'postgres has ended although it is in use; starting it again';

    async function kept(start = (dataDir: string) => startEmbeddedPostgres({ dataDir, settings })) {
      const dataDir = await madeDataDir();
      const server = await start(dataDir);
      const log = new KeptLog();
      return { dataDir, server, log, release: server.keepRunning(log) };
    }

    /** Resolves when another server answers in the place of the one with this pid. */
    async function isBack(dataDir: string, url: string, pid: number): Promise<void> {
      await until(async () => {
        await query(url, 'SELECT 1');
        return pidIn(dataDir) !== pid;
      });
    }

    it.each(['SIGKILL', 'SIGINT', 'SIGTERM', 'SIGQUIT'] as const)(
      'comes back by itself after %s, on its port and with its data',
      async (signal) => {
        const { dataDir, server, log } = await kept(withNote);
        // After SIGTERM it would wait for this one for ever.
        const client = new pg.Client({ connectionString: server.url });
        client.on('error', () => undefined);
        await client.connect();
        const pid = pidIn(dataDir);
        process.kill(pid, signal);
        await isBack(dataDir, server.url, pid);
        expect(await query(server.url, 'SELECT body FROM note')).toEqual([{ body: 'Ação' }]);
        await until(() => log.count('postgres runs again') === 1);
        expect(log.count(STARTED)).toBe(1);
        const second = pidIn(dataDir);
        await client.end();
        await server.stop();
        await until(() => !isRunning(second));
      },
    );

    it('is started again by one of those who use it, and stopped by the last of them', async () => {
      const { dataDir, server: service, log } = await kept();
      const guests = await Promise.all([1, 2].map(() => startEmbeddedPostgres({ dataDir, settings })));
      for (const guest of guests) guest.keepRunning(log);
      const pid = pidIn(dataDir);
      process.kill(pid, 'SIGKILL');
      await isBack(dataDir, service.url, pid);
      const second = pidIn(dataDir);
      await until(async () => (await holds(service.url)).length === 3);
      for (const guest of guests) await guest.stop();
      expect(log.count(STARTED)).toBe(1);
      expect(isRunning(second)).toBe(true);
      await service.stop();
      await until(() => !isRunning(second));
    });

    it('launched again by a guest, it stays for who used it before, and goes with the last of them', async () => {
      const { dataDir, server: service, log } = await kept();
      process.kill(pidIn(dataDir), 'SIGKILL');
      // As a command of the command line in the pause before the service does it.
      const guest = await startEmbeddedPostgres({ dataDir, settings });
      expect(guest).toMatchObject({ url: service.url, adopted: false });
      const second = pidIn(dataDir);
      await until(async () => (await holds(guest.url)).length === 2);
      await guest.stop();
      expect(isRunning(second)).toBe(true);
      expect(log.lines).toEqual([]);
      await service.stop();
      await until(() => !isRunning(second));
    });

    it('is joined again by a service whose connection was cut, and still ends with it', async () => {
      const { dataDir, server: service, log } = await kept();
      const pid = pidIn(dataDir);
      const [hold] = await holds(service.url);
      await query(service.url, `SELECT pg_terminate_backend(${String(hold)})`);
      await until(async () => {
        const now = await holds(service.url);
        return now.length === 1 && now[0] !== hold;
      });
      expect(pidIn(dataDir)).toBe(pid);
      expect(log.lines).toEqual([]);
      await service.stop();
      await until(() => !isRunning(pid));
    });

    it('is left alone by who is shutting down, and by who has stopped it', async () => {
      const { dataDir, server, log, release } = await kept();
      const pid = pidIn(dataDir);
      process.kill(pid, 'SIGINT');
      release();
      await until(() => !isRunning(pid));
      await delay(1_500);
      await server.stop();
      expect(postgresPid(dataDir)).toBeNull();
      expect(log.lines).toEqual([]);
    });

    it('is tried again and again when it cannot start, and why is said each time', async () => {
      const { dataDir, server, log } = await kept(withNote);
      const control = join(dataDir, 'postgres', 'global', 'pg_control');
      const pid = pidIn(dataDir);
      renameSync(control, `${control}.away`);
      process.kill(pid, 'SIGKILL');
      await until(() => log.count('postgres cannot be started again') >= 2);
      expect(log.lines.at(-1)).toMatch(/the next attempt follows in \d+ s.*pg_control.*"?No such file or directory/);
      // It has not moved meanwhile, nor forgotten who uses it.
      renameSync(`${control}.away`, control);
      await isBack(dataDir, server.url, pid);
      expect(await query(server.url, 'SELECT body FROM note')).toEqual([{ body: 'Ação' }]);
      await server.stop();
      expect(postgresPid(dataDir)).toBeNull();
    });
  });

  it('is not blocked by a pid file whose pid is dead or now another program', async () => {
    const dataDir = await madeDataDir();
    await (await withNote(dataDir)).stop();
    // Also one of the server's own user, whom PostgreSQL by itself would take for a server.
    const user = chooseServerUser(dataDir, join(dataDir, 'postgres'));
    const stranger = spawn('sleep', ['600'], { stdio: 'ignore', ...(user && { uid: user.uid, gid: user.gid }) });
    const dead = spawn('true', { stdio: 'ignore' });
    await new Promise((done) => dead.once('exit', done));
    try {
      for (const pid of [stranger.pid, dead.pid, process.pid]) {
        const lines = [pid, join(dataDir, 'postgres'), 1_700_000_000, 5432, '', '127.0.0.1', '  1 1', 'ready   ', ''];
        const file = join(dataDir, 'postgres', 'postmaster.pid');
        writeFileSync(file, lines.join('\n'), { mode: 0o600 });
        if (user) chownSync(file, user.uid, user.gid);
        const server = await startEmbeddedPostgres({ dataDir, settings });
        expect(server.adopted).toBe(false);
        expect(await query(server.url, 'SELECT body FROM note')).toEqual([{ body: 'Ação' }]);
        await server.stop();
      }
      expect(isRunning(stranger.pid ?? 0)).toBe(true);
    } finally {
      stranger.kill();
    }
  });

  it('starts over when the first start was cut off while it made the cluster', async () => {
    const dataDir = fixture.dataDir();
    await (await startEmbeddedPostgres({ dataDir, settings })).stop();
    cpSync(join(dataDir, 'postgres', 'base'), join(dataDir, 'postgres.init-half', 'data', 'base'), { recursive: true });
    rmSync(join(dataDir, 'postgres'), { recursive: true });
    const server = await startEmbeddedPostgres({ dataDir, settings });
    expect(server.initialised).toBe(true);
    expect(existsSync(join(dataDir, 'postgres.init-half'))).toBe(false);
    await server.stop();
  });

  it('does not mistake the server of a data directory for that of its copy', async () => {
    const dataDir = await madeDataDir();
    const copy = fixture.dataDir();
    const original = await withNote(dataDir);
    await query(original.url, 'CHECKPOINT');
    cpSync(dataDir, copy, { recursive: true, preserveTimestamps: true });
    await query(original.url, `UPDATE note SET body = 'changed'`);
    const second = await startEmbeddedPostgres({ dataDir: copy, settings });
    expect(second.adopted).toBe(false);
    expect(await query(second.url, 'SELECT body FROM note')).toEqual([{ body: 'Ação' }]);
    await second.stop();
    expect(await query(original.url, 'SELECT body FROM note')).toEqual([{ body: 'changed' }]);
    await original.stop();
  });

  it('leaves alone a server in its directory that it did not start, and says how to stop it', async () => {
    const dataDir = await madeDataDir();
    await (await withNote(dataDir)).stop();
    const directory = join(dataDir, 'postgres');
    const user = chooseServerUser(dataDir, directory);
    const foreign = spawn(postgresBinaries(user).postgres, ['-D', directory, '-p', '19999', '-k', ''], {
      stdio: 'ignore',
      ...(user && { uid: user.uid, gid: user.gid }),
    });
    try {
      const password = readFileSync(join(dataDir, 'postgres.password'), 'utf8').trim();
      const url = `postgres://recebe:${password}@127.0.0.1:19999/recebe`;
      await until(async () => (await query(url, 'SELECT body FROM note')).length === 1);
      await expect(startEmbeddedPostgres({ dataDir, settings })).rejects.toThrow(`kill -INT ${String(foreign.pid)}`);
      expect(pidIn(dataDir)).toBe(foreign.pid);
      expect(await query(url, 'SELECT body FROM note')).toEqual([{ body: 'Ação' }]);
    } finally {
      foreign.kill('SIGINT');
    }
    await until(() => postgresPid(dataDir) === null);
  });

  it('says what to do when the password of an existing cluster is missing', async () => {
    const dataDir = fixture.dataDir();
    await (await startEmbeddedPostgres({ dataDir, settings })).stop();
    rmSync(join(dataDir, 'postgres.password'));
    await expect(startEmbeddedPostgres({ dataDir, settings })).rejects.toThrow(/postgres\.password.*Put it back/s);
  });

  it('passes on what the server said when it cannot start', async () => {
    const dataDir = await madeDataDir();
    await (await startEmbeddedPostgres({ dataDir, settings })).stop();
    writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '9.6\n');
    await expect(startEmbeddedPostgres({ dataDir, settings })).rejects.toThrow(
      /did not start in .*initialized by PostgreSQL version 9\.6/s,
    );
  });

  it('keeps ordinary SQL errors out of its log, and the log from growing over the starts', async () => {
    const dataDir = await madeDataDir();
    const path = join(dataDir, 'postgres.log');
    const first = await startEmbeddedPostgres({ dataDir, settings });
    await expect(query(first.url, 'SELECT nothing_of_the_kind')).rejects.toThrow('nothing_of_the_kind');
    expect(readFileSync(path, 'utf8')).not.toContain('nothing_of_the_kind');
    await first.stop();

    writeFileSync(path, 'x'.repeat(1_048_577));
    const second = await startEmbeddedPostgres({ dataDir, settings });
    await second.stop();
    expect(statSync(path).size).toBeLessThan(10_000);
    expect(statSync(`${path}.1`).size).toBe(1_048_577);
  });
});
