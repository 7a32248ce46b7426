import { setTimeout as delay } from 'node:timers/promises';
import type { Run } from '../harness/run.js';
import { generate } from './generate.js';
import { describeMachine } from './machine.js';
import type { Merchant } from './merchants.js';
import { type Line, table } from './report.js';
import { HERE, Service } from './service.js';
import { type Plan, type Side, sideOf, takeTurns } from './turns.js';

const YEAR_MS = 365 * 86_400_000;
const FOLD_LIMIT_MS = 1_800_000;
const SMALL = 1_000;
const LIMIT = 20;
/** Promised: medians of the large account are at most 1.5 times those of the small one. */
const TARGET = { ratio: 0.67 };

type Account = Merchant & { readonly count: number };

/** Requests by the account's number of pages. */
type Path = (pages: number) => string;

/** Requests that the promise covers. */
const PROMISED: Readonly<Record<string, Path>> = {
  'list, first page': () => `?limit=${LIMIT}`,
  'list, page in the middle': (pages) => `?limit=${LIMIT}&page=${Math.ceil(pages / 2)}`,
  'list, last page': (pages) => `?limit=${LIMIT}&page=${pages}`,
  'list, oldest first, deep': (pages) => `?limit=${LIMIT}&sortOrder=asc&page=${Math.ceil(pages / 3)}`,
  'list of PAID, first page': () => `?limit=${LIMIT}&status=PAID`,
  'list of PAID, deep': (pages) => `?limit=${LIMIT}&status=PAID&page=${Math.ceil(pages / 2)}`,
  'stats of 7 days': () => '/stats',
  'stats of 250 days, a year': () => '/stats?days=250',
};

const OTHERS: Readonly<Record<string, Path>> = {
  'list by amount, first page': () => `?limit=${LIMIT}&sortBy=amount`,
  'list by paidAt, first page': () => `?limit=${LIMIT}&sortBy=paidAt`,
  // Sorts all rows: bounded in time, not constant.
  'list by customerName, page 50': () => `?limit=${LIMIT}&sortBy=customerName&page=50`,
  // All names begin with "Cliente", followed by one of 5 000 numbers.
  'search: one customer in 5 000': () => `?limit=${LIMIT}&query=cliente+3538`,
  'search: the beginning of a number': () => `?limit=${LIMIT}&query=353`,
  'search: a value that all have': () => `?limit=${LIMIT}&query=cli`,
  'search: a value that nobody has': () => `?limit=${LIMIT}&metadata[order_id]=none`,
  'metrics of 7 days': () => '/metrics',
  'metrics of 250 days': () => '/metrics?days=250',
};

/**
 * Compares lists and statistics of an account with many payments and of one with few, in turn, on the same service.
 * @param count payments of the large account
 * @throws Error when an answer was wrong
 */
export async function runLists(plan: Plan, count: number, { directory, cleanup, progress }: Run): Promise<string> {
  const service = await Service.start(HERE, directory, cleanup);
  const machine = describeMachine(service.postgresVersion, service.process.queue);
  const { database, merchants } = service;
  const accounts = [count, SMALL].flatMap((payments, index): Account[] =>
    merchants.slice(index, index + 1).map((merchant) => ({ ...merchant, count: payments })),
  );
  for (const account of accounts) {
    const to = new Date();
    const generation = { ...account, from: new Date(to.getTime() - YEAR_MS), to };
    await generate(database, generation, (written) => progress(`${written} of ${account.count} payments`));
  }
  await untilFolded(service, progress);
  progress('VACUUM ANALYZE, as autovacuum would do it later');
  await database.query('VACUUM ANALYZE');

  const lines: Line[] = [];
  for (const [paths, target] of [[PROMISED, TARGET] as const, [OTHERS, {}] as const]) {
    for (const [name, path] of Object.entries(paths)) {
      progress(name);
      const sides = accounts.map((account) => sideOfAccount(service, account, path));
      lines.push(...(await takeTurns(`${name}, of ${count}`, sides, plan, target)));
    }
  }
  return [...machine, `${SMALL} and ${count} payments of one year`, '', table(lines), ''].join('\n');
}

function sideOfAccount(service: Service, { apiKey, count }: Account, path: Path): Side {
  const url = `/v1/payments${path(Math.floor(count / LIMIT))}`;
  return sideOf(`of ${count}`, service, {
    ...{ name: url, connections: 1 },
    prepare: async (_service, load) => () => () => load.send(0, 'GET', url, { apikey: apiKey }, null, 200),
  });
}

/** Waits for the service's own worker, which counts the payments into the statistics. */
async function untilFolded({ database }: Service, progress: Run['progress']): Promise<void> {
  const deadline = performance.now() + FOLD_LIMIT_MS;
  for (;;) {
    const { rows } = await database.query<{ waiting: string }>('SELECT count(*) AS waiting FROM transaction_changes');
    const waiting = rows[0]?.waiting ?? '';
    if (waiting === '0') return;
    if (performance.now() > deadline) throw new Error('The statistics do not catch up');
    progress(`${waiting} changes wait to be counted`);
    await delay(2_000);
  }
}
