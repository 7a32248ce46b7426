import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeSecret, readIfThere } from '../private-files.js';
import { ConfigError } from './config.js';

/**
 * Returns a secret for the embedded default: reads `$DATA_DIR/<name>`, and makes it on the first call (mode 0600). The
 * secret must outlive restarts: with a new key at each start, encrypted data could never be read again.
 * @returns 64 hex characters, or the text that somebody wrote there
 * @throws ConfigError for an empty file
 */
export function localSecret(dataDir: string, name: 'encryption-key' | 'jwt-secret'): string {
  mkdirSync(dataDir, { recursive: true });
  const path = join(dataDir, name);
  const secret = readIfThere(path)?.trim() ?? makeSecret(path, randomBytes(32).toString('hex'));
  if (secret !== '') return secret;
  throw new ConfigError(`${path} is empty. Put its copy back, or set ${name.toUpperCase().replace('-', '_')}.`);
}
