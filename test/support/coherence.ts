import { expect } from '@jest/globals';
import pg from 'pg';
import { brokenPromises } from '../../src/reconciliation/coherence.js';

/** Keeps one connection per database: in a new one each check costs ten times as much, mostly for planning. */
const pools = new Map<string, pg.Pool>();

function poolOf(url: string): pg.Pool {
  const known = pools.get(url);
  if (known) return known;
  const pool = new pg.Pool({ connectionString: url, max: 1, idleTimeoutMillis: 5_000, allowExitOnIdle: true });
  pool.on('error', () => undefined); // that its database goes away is what some specs are about
  pools.set(url, pool);
  return pool;
}

/** Checks that need all events since the beginning */
const OF_ALL_EVENTS = [
  'each change of a refund has its event, once, and no other has one',
  'each event of a transaction goes on from the status that the one before it tells of',
  'the events of each subject are numbered 1, 2, … without a hole',
];

/** Checks that need sales */
const OF_SALES = [
  'each entry follows from something that is there',
  'pending is what waits for its releases, which are what each sale has put there',
  'what acquirers have charged is the fees of what came and went back, and what operators have entered',
];

/**
 * Runs after every test that touches money.
 * @param url of the database
 * @param options.eventsRemoved old events were removed by retention
 * @param options.madeUp entries were posted for no sale
 */
export async function expectLedgerCoherent(url: string, { eventsRemoved = false, madeUp = false } = {}): Promise<void> {
  const pool = poolOf(url);
  const ask = async (text: string, name: string): Promise<Record<string, unknown>[]> =>
    (await pool.query<Record<string, unknown>>({ name, text })).rows;
  const broken = Object.entries(await brokenPromises(ask));
  const without = [...(eventsRemoved ? OF_ALL_EVENTS : []), ...(madeUp ? OF_SALES : [])];
  expect(Object.fromEntries(broken.filter(([promise]) => !without.includes(promise)))).toEqual({});
}
