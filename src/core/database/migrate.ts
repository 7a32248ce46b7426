import pg from 'pg';
import type { DataSource } from 'typeorm';

/** Any number; the same in every process of the service. */
const MIGRATION_LOCK = 7_236_310;

/**
 * Applies what is missing. Several processes may start at once: the advisory lock lets one migrate while the others
 * wait and then find nothing to do.
 * @returns names of the migrations applied by this call
 */
export async function migrate(dataSource: DataSource, url: string): Promise<string[]> {
  const lock = new pg.Client({ connectionString: url });
  await lock.connect();
  try {
    await lock.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const applied = await dataSource.runMigrations({ transaction: 'each' });
    return applied.map((migration) => migration.name);
  } finally {
    await lock.end();
  }
}
