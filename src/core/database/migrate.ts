import type { DataSourceOptions } from 'typeorm';
import { createDataSource, LIMITS, WatchedClient } from './data-source.js';
import { prepareServiceRole } from './service-role.js';

/** A database that this version cannot migrate, with what to do about it in words for an operator. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/** Any number; the same in every process of the service. */
const MIGRATION_LOCK = 7_236_310;

/** Another process may migrate for hours, and one that waits does nothing else. */
const NO_LIMITS = Object.keys(LIMITS)
  .map((name) => `SET LOCAL ${name} = 0`)
  .join('; ');

/**
 * Applies what is missing, however long that takes: with years of data a rewrite takes more than a request may. Several
 * processes may start at once: the advisory lock lets one migrate while the others wait and then find nothing to do.
 * @param url of the role that owns the tables
 * @param serviceUrl of the role that the service runs as, where it is another one: it gets what it needs of the tables
 * @param prepare as of `createDataSource`
 * @returns names of the migrations applied by this call
 */
export async function migrate(
  url: string,
  migrations: NonNullable<DataSourceOptions['migrations']>,
  serviceUrl = url,
  prepare = true,
): Promise<string[]> {
  const lock = new WatchedClient({ connectionString: url });
  await lock.connect();
  try {
    // In a transaction, so that a pooler cannot keep it on a connection that nobody has any more.
    await lock.query(`BEGIN; ${NO_LIMITS}`);
    await lock.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    const source = await createDataSource({ url, pool: 1, migrations, statementTimeoutMs: 0, prepare }).initialize();
    try {
      const applied = await source.runMigrations({ transaction: 'each' });
      await prepareServiceRole(lock, serviceUrl);
      await lock.query('COMMIT');
      return applied.map((migration) => migration.name);
    } finally {
      await source.destroy();
    }
  } finally {
    await lock.end();
  }
}
