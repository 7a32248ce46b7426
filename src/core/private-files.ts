import { randomBytes } from 'node:crypto';
import {
  chownSync,
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** Writes a file of mode 0600 in one piece: a kill in between leaves the old content, never half of the new. */
export function writePrivate(path: string, content: string | Uint8Array): void {
  const draft = `${path}.${randomBytes(4).toString('hex')}`;
  // Flush first: after a power cut a renamed but empty password file would lock the service out of its own data.
  writeFileSync(draft, content, { mode: 0o600, flush: true });
  keepOwner(draft);
  renameSync(draft, path);
}

/**
 * Creates a file of mode 0600 in one piece, which is on the disk when it returns.
 * @returns false if the file is there already; of several calls at once, only one gets true
 */
export function createPrivate(path: string, content: string): boolean {
  const draft = `${path}.${randomBytes(4).toString('hex')}`;
  writePrivate(draft, content);
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    rmSync(draft, { force: true });
  }
  flushDirectory(dirname(path));
  return true;
}

/** Returns null if the file is not there; throws any other failure. */
export function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Keeps a secret in a private file. If several processes call it at once, all get the first secret.
 * @param secret by default a random one fit for a URL
 */
export function makeSecret(path: string, secret = randomBytes(24).toString('base64url')): string {
  createPrivate(path, `${secret}\n`);
  return readIfThere(path)?.trim() ?? '';
}

/** When root has written the file, gives it to the owner of its directory. */
export function keepOwner(path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  chownSync(path, uid, gid);
}

/** Flushes the names of files to disk. Windows does so by itself, and cannot open directories. */
function flushDirectory(path: string): void {
  if (process.platform === 'win32') return;
  const fd = openSync(path, 'r');
  fsyncSync(fd);
  closeSync(fd);
}
