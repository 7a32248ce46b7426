import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeSecret, readSecret } from '../embedded/index.js';

/**
 * A secret for the embedded default: read from `$DATA_DIR/<name>`, made on the first call (mode 0600).
 * It must outlive restarts: data encrypted under a key that is drawn anew at each start could never be read again.
 * @returns 64 hex characters
 */
export function localSecret(dataDir: string, name: string): string {
  mkdirSync(dataDir, { recursive: true });
  const path = join(dataDir, name);
  return readSecret(path) ?? makeSecret(path, randomBytes(32).toString('hex'));
}
