import pg from 'pg';
import { waitFor } from './wait.js';

/**
 * Runs simultaneous works that need one row's lock in the given order. Each work waits for the row before the next
 * one begins, and PostgreSQL serves waiters in turn.
 * @param url of the database
 * @param row `SELECT … FOR UPDATE` of the row
 */
export async function inOrder<T extends readonly unknown[]>(
  url: string,
  row: string,
  ...works: { [K in keyof T]: () => Promise<T[K]> }
): Promise<T> {
  const holder = new pg.Client({ connectionString: url });
  const watcher = new pg.Client({ connectionString: url });
  await Promise.all([holder.connect(), watcher.connect()]);
  try {
    await holder.query('BEGIN');
    await holder.query(row);
    const running: Promise<unknown>[] = [];
    for (const work of works) {
      running.push(work());
      await waitFor(`${running.length} to wait for the row`, async () => {
        const { rowCount } = await watcher.query(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return (rowCount ?? 0) >= running.length;
      });
    }
    await holder.query('COMMIT');
    return (await Promise.all(running)) as unknown as T;
  } finally {
    await Promise.all([holder.end(), watcher.end()]);
  }
}
