import { execFileSync } from 'node:child_process';
import { accessSync, chmodSync, constants, mkdirSync, realpathSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, resolve } from 'node:path';
import { codeOf, EmbeddedServerError } from './embedded.errors.js';

/** The unprivileged system user a server runs under when the service itself is root. */
export interface ServerUser {
  name: string;
  uid: number;
  gid: number;
}

/**
 * Makes `$DATA_DIR` when it is missing and answers its real, absolute path.
 *
 * @throws EmbeddedServerError when it cannot be made or this user cannot write in it.
 */
export function prepareDataDir(dataDir: string): string {
  const path = resolve(dataDir);
  try {
    mkdirSync(path, { recursive: true });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return realpathSync(path);
  } catch (error) {
    throw new EmbeddedServerError(
      `${userInfo().username} cannot read and write the data directory ${path} (${codeOf(error)}). ${otherwise(path)}`,
    );
  }
}

/**
 * The user to run a server as: null (this one) unless the service is root, which PostgreSQL refuses. Who owns the
 * server's directory, or else `$DATA_DIR`, stays its owner: one `sudo npm start` in an ordinary user's clone must not
 * leave files behind which that user cannot read. Otherwise the system user `postgres`, made when missing.
 */
export function chooseServerUser(dataDir: string, directory: string): ServerUser | null {
  if (process.getuid?.() !== 0) return null;
  for (const path of [directory, dataDir]) {
    const owner = statSync(path, { throwIfNoEntry: false });
    if (owner && owner.uid !== 0) return { name: `uid ${String(owner.uid)}`, uid: owner.uid, gid: owner.gid };
  }
  const found = systemUser('postgres');
  if (found) return found;
  try {
    execFileSync('useradd', ['--system', '--user-group', '--no-create-home', 'postgres'], { stdio: 'ignore' });
  } catch {
    // No useradd (a minimal image) or a read-only /etc: `nobody` is there on every system.
  }
  const user = systemUser('postgres') ?? systemUser('nobody');
  if (user) return user;
  throw new EmbeddedServerError(
    'PostgreSQL does not run as root and no other user could be made. Run the service as an ordinary user, ' +
      'or set DATABASE_URL=postgres://… to a server of your own.',
  );
}

/**
 * Makes a server's own directory inside `dataDir`, closed to everybody but the user it runs as.
 *
 * @throws EmbeddedServerError when it belongs to someone else, as after a start by another user.
 */
export function prepareServerDirectory(directory: string, user: ServerUser | null): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    // With all it holds: root may have put back a backup with cp -r, and then every file in it is root's.
    if (user && statSync(directory).uid !== user.uid) {
      execFileSync('chown', ['-R', `${String(user.uid)}:${String(user.gid)}`, directory], { stdio: 'pipe' });
    }
    chmodSync(directory, 0o700);
  } catch (error) {
    if (user) {
      throw new EmbeddedServerError(
        `root may not give ${directory} to the user "${user.name}" here (${codeOf(error)}), and PostgreSQL does not ` +
          'run as root. Run the service as an ordinary user, or set DATABASE_URL=postgres://… to a server of your own.',
      );
    }
    const owner = statSync(directory, { throwIfNoEntry: false });
    const who = owner ? ` belongs to uid ${String(owner.uid)} and` : '';
    throw new EmbeddedServerError(
      `${directory}${who} cannot be used by ${userInfo().username} (${codeOf(error)}), ` +
        `perhaps because the service was started as root before. ${otherwise(dirname(directory))}`,
    );
  }
}

/** The first directory on the way to `path`, or `path` itself, that the user may not enter or read; null when none. */
export function blockedAt(user: ServerUser | null, path: string): string | null {
  if (!user) return null;
  const parent = dirname(path);
  const above = parent === path ? null : blockedAt(user, parent);
  if (above !== null) return above;
  const { uid, gid, mode } = statSync(path);
  const bits = uid === user.uid ? mode >> 6 : gid === user.gid ? mode >> 3 : mode;
  // Everything on the way is a directory and needs x only; files need r, and x where anybody has it.
  const needed = statSync(path).isDirectory() ? 1 : mode & 0o111 ? 5 : 4;
  return (bits & needed) === needed ? null : path;
}

/** The error for root whose unprivileged user may not enter a directory, as with a clone under /root. */
export function unreachable(user: ServerUser, path: string, what: string): EmbeddedServerError {
  const closed = blockedAt(user, path) ?? path;
  return new EmbeddedServerError(
    `PostgreSQL does not run as root, and the user "${user.name}" it runs as cannot pass ${closed} to reach ${what} ` +
      `(${path}). Any one of these mends it: chmod o+x ${closed} — or move the project, with its node_modules, to a ` +
      'directory others may enter, such as /opt/recebe, and start it there with DATA_DIR=/var/lib/recebe npm start — ' +
      'or start it as an ordinary user — or set DATABASE_URL=postgres://… to a server of your own.',
  );
}

/** What an ordinary user can do about a directory that is not theirs. */
export function otherwise(dataDir: string): string {
  return (
    `Any one of these mends it: sudo chown -R ${userInfo().username} ${dataDir} — or start with another directory, ` +
    'DATA_DIR=$HOME/recebe-data npm start — or set DATABASE_URL and REDIS_URL to servers of your own.'
  );
}

function systemUser(name: string): ServerUser | null {
  const id = (flag: string): number =>
    Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  try {
    return { name, uid: id('-u'), gid: id('-g') };
  } catch {
    return null;
  }
}
