import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeSecret, readIfThere } from '../private-files.js';
import { ConfigError } from './config.js';

/**
 * A secret for the embedded default: read from `$DATA_DIR/<name>`, made on the first call (mode 0600).
 * It must outlive restarts: data encrypted under a key that is drawn anew at each start could never be read again.
 * @returns 64 hex characters, or what somebody wrote there
 * @throws ConfigError for an empty file
 */
export function localSecret(dataDir: string, name: 'encryption-key' | 'jwt-secret'): string {
  mkdirSync(dataDir, { recursive: true });
  const path = join(dataDir, name);
  const secret = readIfThere(path)?.trim() ?? makeSecret(path, randomBytes(32).toString('hex'));
  if (secret !== '') return secret;
  throw new ConfigError(`${path} is empty. Put its copy back, or set ${name.toUpperCase().replace('-', '_')}.`);
}
