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
import { codeOf, EmbeddedServerError } from './embedded.errors.js';
import { otherwise } from './server-user.js';

const LOG_LIMIT_BYTES = 1_048_576;

/** Writes a file of mode 0600 in one piece: a kill in between leaves the old content, never half of the new. */
export function writePrivate(path: string, content: string | Uint8Array): void {
  const draft = `${path}.${randomBytes(4).toString('hex')}`;
  // Flushed first: after a power cut a renamed but empty password file would lock the service out of its own data.
  writeFileSync(draft, content, { mode: 0o600, flush: true });
  keepOwner(draft);
  renameSync(draft, path);
}

/** Null when the file is not there; any other failure is thrown. */
export function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** The secret in a file, null when there is none yet. */
export function readSecret(path: string): string | null {
  try {
    return readIfThere(path)?.trim() ?? null;
  } catch (error) {
    throw new EmbeddedServerError(`${path} cannot be read (${codeOf(error)}). ${otherwise(dirname(path))}`);
  }
}

/**
 * Keeps a secret in a file of mode 0600, which is on the disk when it returns. Of several who do so at once, all get the
 * first.
 * @param secret one fit for a URL, where none is given
 */
export function makeSecret(path: string, secret = randomBytes(24).toString('base64url')): string {
  const draft = `${path}.${randomBytes(4).toString('hex')}`;
  writePrivate(draft, `${secret}\n`);
  try {
    linkSync(draft, path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  flushDirectory(dirname(path));
  return readSecret(path) ?? '';
}

/** Names of files as well, not only their content; Windows does so by itself, and opens no directories. */
function flushDirectory(path: string): void {
  if (process.platform === 'win32') return;
  const fd = openSync(path, 'r');
  fsyncSync(fd);
  closeSync(fd);
}

/**
 * Opens a server's log for appending. Past 1 MiB it becomes `<path>.1` in place of the one before, so that any number
 * of starts takes a bounded space and the reason of the last failure is still there to read.
 */
export function openLog(path: string): { fd: number; since: () => string; close: () => void } {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LOG_LIMIT_BYTES) renameSync(path, `${path}.1`);
  const from = size > LOG_LIMIT_BYTES ? 0 : size;
  const fd = openSync(path, 'a', 0o600);
  keepOwner(path);
  return {
    fd,
    since: () => readFileSync(path).subarray(from).toString('utf8').trim().split('\n').slice(-12).join('\n'),
    close: () => {
      closeSync(fd);
    },
  };
}

/** Gives a file that root writes into an ordinary user's directory to that user. */
export function keepOwner(path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  chownSync(path, uid, gid);
}
