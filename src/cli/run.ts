import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { type Config, ConfigError, readConfig } from '../core/config/index.js';
import { openRuntime } from '../app/index.js';
import { runningServiceUrl } from '../core/service-address.js';
import type { Shell } from './shell.js';

export interface Service {
  readonly app: NestExpressApplication;
  /**
   * URL of the service: `PUBLIC_BASE_URL`, else the address that the running service announced; null without either.
   */
  readonly baseUrl: string | null;
}

/**
 * Refuses to run without the service's data. A command would otherwise work on a new, empty database, or seal secrets
 * under a key that the service does not know.
 */
function assertDataDir({ dataDir, databaseUrl, encryptionKey }: Config, env: NodeJS.ProcessEnv): void {
  const needed = [
    ...(databaseUrl === undefined ? [{ name: 'postgres', what: 'database', variable: 'DATABASE_URL' }] : []),
    ...(encryptionKey === undefined ? [{ name: 'encryption-key', what: 'key', variable: 'ENCRYPTION_KEY' }] : []),
  ];
  if (!existsSync(dataDir) && (needed.length > 0 || env['DATA_DIR'])) {
    throw new ConfigError(
      `There is no directory ${dataDir}. Start the service first (npm start makes it), run this in the service's ` +
        'folder, or name its directory: DATA_DIR=/path/to/data',
    );
  }
  for (const { name, what, variable } of needed) {
    if (existsSync(join(dataDir, name))) continue;
    throw new ConfigError(
      `${join(dataDir, name)}, the ${what} of a service, is not there. Start the service first, name its directory ` +
        `(DATA_DIR=/path/to/data), or set ${variable} as it is set for the service.`,
    );
  }
}

/** Opens the service without its port, prints what `work` gives as JSON, and closes it again. */
export async function run({ env, stdout }: Shell, work: (service: Service) => Promise<unknown>): Promise<void> {
  const config: Config = {
    ...readConfig(env),
    // No workers and no Redis: a command does one thing and leaves the rest to the service.
    runsWorkers: false,
    logLevel: 'error',
  };
  assertDataDir(config, env);
  const baseUrl = env['PUBLIC_BASE_URL'] ? config.publicBaseUrl : runningServiceUrl(config.dataDir);
  // No login happens here: a random secret serves, and none is made in the directory.
  const jwtSecret = config.jwtSecret ?? randomBytes(32).toString('hex');
  const runtime = await openRuntime({ ...config, jwtSecret }, { redis: false });
  try {
    await runtime.app.init();
    const result = await work({ app: runtime.app, baseUrl });
    stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  } finally {
    await runtime.close();
  }
}
