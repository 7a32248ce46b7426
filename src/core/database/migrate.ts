import type { DataSourceOptions } from 'typeorm';
import { createDataSource, LIMITS, WatchedClient } from './data-source.js';
import { prepareServiceRole } from './service-role.js';

/** Thrown for a database that this version cannot migrate, with advice for an operator. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/** An arbitrary number, equal in every process of the service. */
const MIGRATION_LOCK = 7_236_310;

/** Turns limits off: another process may migrate for hours, and a waiting process has nothing else to do. */
const NO_LIMITS = Object.keys(LIMITS)
  .map((name) => `SET LOCAL ${name} = 0`)
  .join('; ');

/**
 * Applies the missing migrations, however long they take: with years of data a rewrite takes longer than a request may.
 * Several processes may start at once: the advisory lock lets one migrate while the others wait and then find nothing
 * to do.
 * @param url of the role that owns the tables
 * @param serviceUrl of the role that the service runs as, if another: it gets the rights on the tables that it needs
 * @param prepare as in `createDataSource`
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
    // Lock in a transaction: otherwise a pooler could keep the lock on a connection that nobody holds any more.
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
