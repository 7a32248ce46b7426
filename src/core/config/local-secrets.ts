import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keepOwner } from '../embedded/index.js';

/**
 * A secret for the embedded default: read from `$DATA_DIR/<name>`, made on the first call (mode 0600).
 * It must outlive restarts: data encrypted under a key that is drawn anew at each start could never be read again.
 * @returns 64 hex characters
 */
export function localSecret(dataDir: string, name: string): string {
  const path = join(dataDir, name);
  mkdirSync(dataDir, { recursive: true });
  // Written whole, then linked: the first of two starting processes wins, and half a key is never read.
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, randomBytes(32).toString('hex'), { mode: 0o600 });
  try {
    keepOwner(draft);
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(path, 'utf8').trim();
}
