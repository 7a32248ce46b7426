import { expect } from '@jest/globals';
import pg from 'pg';
import { brokenPromises } from '../../tools/harness/coherence.js';

/** One connection for a database: in a new one each check costs ten times as much, most of it for planning. */
const pools = new Map<string, pg.Pool>();

function poolOf(url: string): pg.Pool {
  const known = pools.get(url);
  if (known) return known;
  const pool = new pg.Pool({ connectionString: url, max: 1, idleTimeoutMillis: 5_000, allowExitOnIdle: true });
  pool.on('error', () => undefined); // that its database goes away is what some specs are about
  pools.set(url, pool);
  return pool;
}

/** Runs after every test that touches money. @param url of the database */
export async function expectLedgerCoherent(url: string): Promise<void> {
  const pool = poolOf(url);
  const ask = async (text: string, name: string): Promise<Record<string, unknown>[]> =>
    (await pool.query<Record<string, unknown>>({ name, text })).rows;
  expect(await brokenPromises(ask)).toEqual({});
}
