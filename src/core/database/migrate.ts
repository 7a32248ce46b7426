import type { DataSourceOptions } from 'typeorm';
import { createDataSource, WatchedClient } from './data-source.js';
import { prepareServiceRole } from './service-role.js';

/** Any number; the same in every process of the service. */
const MIGRATION_LOCK = 7_236_310;

/**
 * Applies what is missing, however long that takes: with years of data a rewrite takes more than a request may. Several
 * processes may start at once: the advisory lock lets one migrate while the others wait and then find nothing to do.
 * @param url of the role that owns the tables
 * @param serviceUrl of the role that the service runs as, where it is another one: it gets what it needs of the tables
 * @returns names of the migrations applied by this call
 */
export async function migrate(
  url: string,
  migrations: NonNullable<DataSourceOptions['migrations']>,
  serviceUrl = url,
): Promise<string[]> {
  const lock = new WatchedClient({ connectionString: url });
  await lock.connect();
  try {
    await lock.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const source = await createDataSource({ url, pool: 1, migrations, statementTimeoutMs: 0 }).initialize();
    try {
      const applied = await source.runMigrations({ transaction: 'each' });
      await prepareServiceRole(lock, serviceUrl);
      return applied.map((migration) => migration.name);
    } finally {
      await source.destroy();
    }
  } finally {
    await lock.end();
  }
}
