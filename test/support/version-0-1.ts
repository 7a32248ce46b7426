import type pg from 'pg';

export const LAST_OF_0_1 = 'MetadataAsSent1700000009995';

/**
 * Makes a migrated database look as version 0.1 left it. The schema is the same, so only the list of applied migrations
 * differs.
 * @param count how many of its 75 migrations, from the first one, were applied
 */
export async function recordVersion01(owner: Pick<pg.Pool, 'query'>, count = 75): Promise<void> {
  await owner.query(
    `WITH gone AS (DELETE FROM migrations)
     INSERT INTO migrations (timestamp, name)
     SELECT substring(name FROM '\\d{13}$')::bigint, name FROM (
       SELECT CASE n WHEN 1 THEN 'Initial1700000000000' WHEN 75 THEN $2
         ELSE format('Filler%sx%s', n, 1700000000000 + n) END AS name
       FROM generate_series(1, $1::int) n) m`,
    [count, LAST_OF_0_1],
  );
}
