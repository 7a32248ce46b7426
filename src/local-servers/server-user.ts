import { execFileSync, spawnSync } from 'node:child_process';
import { accessSync, chmodSync, constants, mkdirSync, realpathSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { readIfThere } from '../core/private-files.js';
import { LocalServerError } from './local-servers.errors.js';

/** The unprivileged system user of a server, as PostgreSQL refuses to run as root. */
export interface ServerUser {
  name: string;
  uid: number;
  gid: number;
}

export const OWN_SERVER =
  'Run the service as an ordinary user, or set DATABASE_URL=postgres://… to a server of your own.';

/** Makes `$DATA_DIR`. @returns its real, absolute path and the user of its servers; null stands for the present user */
export function prepareDataDir(given: string): { dataDir: string; user: ServerUser | null } {
  const path = resolve(given);
  return orDenied(path, () => {
    mkdirSync(path, { recursive: true });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return { dataDir: realpathSync(path), user: chooseUser(path) };
  });
}

/**
 * Chooses the owner of the data, if that is not root: one `sudo npm start` in an ordinary user's clone must not leave
 * files behind that the user cannot read. Otherwise the system user `postgres`, made if missing.
 */
function chooseUser(dataDir: string): ServerUser | null {
  if (process.getuid?.() !== 0) return null;
  for (const path of [join(dataDir, 'postgres'), dataDir]) {
    const { uid = 0, gid = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
    if (uid !== 0) return { name: `uid ${String(uid)}`, uid, gid };
  }
  // Fails in a minimal image or with a read-only /etc; `nobody` is there on every system.
  if (!systemUser('postgres')) spawnSync('useradd', ['--system', '--user-group', '--no-create-home', 'postgres']);
  const user = systemUser('postgres') ?? systemUser('nobody');
  if (user) return user;
  throw new LocalServerError(`PostgreSQL does not run as root and there is no other user. ${OWN_SERVER}`);
}

function systemUser(name: string): ServerUser | null {
  const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout || null);
  return uid && gid ? { name, uid: Number(uid), gid: Number(gid) } : null;
}

/** Makes a directory below `$DATA_DIR` that is closed to everybody but its server. */
export function prepareDirectory(directory: string, user: ServerUser | null): void {
  orDenied(directory, () => {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    // With all it holds: root may have put back a backup with cp -r, and then every file in it is root's.
    if (user && statSync(directory).uid !== user.uid) {
      execFileSync('chown', ['-R', `${String(user.uid)}:${String(user.gid)}`, directory], { stdio: 'pipe' });
    }
    chmodSync(directory, 0o700);
  });
}

/** Reads a secret; null if there is none yet. */
export function readSecret(path: string): string | null {
  return orDenied(path, () => readIfThere(path)?.trim() ?? null);
}

function orDenied<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof LocalServerError) throw error;
    const { username } = userInfo();
    throw new LocalServerError(
      `${username} cannot use ${path} (${String(error)}), perhaps because the service was started by another user ` +
        `before. Any one of these mends it: sudo chown -R ${username} ${dirname(path)} — or start with another ` +
        'directory, DATA_DIR=$HOME/recebe-data npm start — or set DATABASE_URL and REDIS_URL to servers of your own.',
    );
  }
}
