import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Cleanup } from '../harness/cleanup.js';
import type { Progress } from '../harness/run.js';
import { generate } from './generate.js';
import { HttpLoad } from './http-load.js';
import { describeMachine, loadAverage } from './machine.js';
import { makeMerchants, type Merchant } from './merchants.js';
import { pageLines, readDemo } from './pages.js';
import { type Line, table, told } from './report.js';
import { ownerUrl } from '../harness/local-servers.js';
import { ServiceProcess } from '../harness/service-process.js';

import { percentile } from './stats.js';

export interface ListPlan {
  /** Payments of the small and of the large account, over the same year. */
  readonly small: number;
  readonly large: number;
  /** Number of requests for each figure and account. */
  readonly requests: number;
}

const YEAR_MS = 365 * 86_400_000;
const FOLD_LIMIT_MS = 1_800_000;
const LIMIT = 20;
const MOST = 1.5;

export interface Account extends Omit<Merchant, 'keyHash'> {
  readonly count: number;
  /** Connections to the account's service. */
  readonly http: HttpLoad;
}

/** Requests, by the account's number of pages. Only `judged` ones are covered by the promise. */
export const REQUESTS: readonly {
  figure: string;
  judged: boolean;
  requests?: number;
  path: (pages: number) => string;
}[] = [
  { figure: 'list, first page', judged: true, path: () => `?limit=${LIMIT}` },
  { figure: 'list, page in the middle', judged: true, path: (pages) => `?limit=${LIMIT}&page=${Math.ceil(pages / 2)}` },
  { figure: 'list, last page', judged: true, path: (pages) => `?limit=${LIMIT}&page=${pages}` },
  {
    figure: 'list, oldest first, deep',
    judged: true,
    path: (pages) => `?limit=${LIMIT}&sortOrder=asc&page=${Math.ceil(pages / 3)}`,
  },
  { figure: 'list of PAID, first page', judged: true, path: () => `?limit=${LIMIT}&status=PAID` },
  {
    figure: 'list of PAID, deep',
    judged: true,
    path: (pages) => `?limit=${LIMIT}&status=PAID&page=${Math.ceil(pages / 2)}`,
  },
  { figure: 'list by amount, first page', judged: false, path: () => `?limit=${LIMIT}&sortBy=amount` },
  { figure: 'list by paidAt, first page', judged: false, path: () => `?limit=${LIMIT}&sortBy=paidAt` },
  // Sorts all rows: bounded in time, not constant.
  {
    figure: 'list by customerName, page 50',
    judged: false,
    requests: 20,
    path: () => `?limit=${LIMIT}&sortBy=customerName&page=50`,
  },
  // All names begin with "Cliente", followed by one of 5 000 numbers.
  { figure: 'search: one customer in 5 000', judged: false, path: () => `?limit=${LIMIT}&query=cliente+3538` },
  { figure: 'search: a number that begins so', judged: false, path: () => `?limit=${LIMIT}&query=353` },
  { figure: 'search: what all have', judged: false, path: () => `?limit=${LIMIT}&query=cli` },
  { figure: 'search: a value that nobody has', judged: false, path: () => `?limit=${LIMIT}&metadata[order_id]=none` },
  { figure: 'stats of 7 days', judged: true, path: () => '/stats' },
  { figure: 'stats of 250 days, a year', judged: true, path: () => '/stats?days=250' },
  { figure: 'metrics of 7 days', judged: false, path: () => '/metrics' },
  { figure: 'metrics of 250 days', judged: false, path: () => '/metrics?days=250' },
];

/**
 * Compares lists and statistics of an account with few payments and of one with many, alternately, on the same service.
 * @param directory an empty one; the caller removes it after the clean-up
 * @throws Error when an answer was wrong
 */
export async function runListBenchmark(
  plan: ListPlan,
  directory: string,
  cleanup: Cleanup,
  progress: Progress,
): Promise<string> {
  const load = loadAverage();
  const dataDir = mkdtempSync(join(directory, 'data-'));
  const service = await ServiceProcess.start(dataDir, cleanup);
  const databaseUrl = ownerUrl(dataDir);
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  cleanup.add(() => client.end());
  const [small] = await makeMerchants(databaseUrl, 1);
  if (!small) throw new Error('No merchants');
  // A person can log in to this account and open its pages.
  const demo = readDemo(dataDir);
  const large = { accountId: demo.account_id, apiKey: demo.test_api_key };
  const http = new HttpLoad(service.url, 1);
  await http.open();
  cleanup.add(() => http.close());
  const accounts = [
    { ...small, count: plan.small, http },
    { ...large, count: plan.large, http },
  ] as const;

  const began = performance.now();
  for (const account of accounts) await fill(client, account, progress);
  await untilFolded(client, progress);
  const seconds = (performance.now() - began) / 1000;
  progress('VACUUM ANALYZE, as autovacuum would have done it by and by');
  await client.query('VACUUM ANALYZE');

  for (const account of accounts) await expectRight(client, account);
  const lines: Line[] = [];
  for (const { figure, judged, requests, path } of REQUESTS) {
    progress(figure);
    const times = await measure(accounts, path, requests ?? plan.requests);
    lines.push(...linesOf(figure, judged, [String(plan.small), String(plan.large)], times));
  }
  progress('pages of the dashboard');
  lines.push(...(await pageLines(service.url, demo)));
  const version = (await client.query<{ server_version: string }>('SHOW server_version')).rows[0]?.server_version;
  return [
    ...describeMachine(version ?? 'unknown', service.queue),
    load,
    `${String(plan.small)} and ${String(plan.large)} payments of one year, made and folded in ${seconds.toFixed(0)} s`,
    '',
    table(lines),
    '',
  ].join('\n');
}

async function fill(client: pg.Client, { accountId, count }: Account, progress: Progress): Promise<void> {
  const to = new Date();
  await generate([client], { accountId, count, from: new Date(to.getTime() - YEAR_MS), to }, (written) => {
    progress(`${String(written)} of ${String(count)} payments`);
  });
}

/** Waits for the service's own worker. */
export async function untilFolded(client: pg.Client, progress: Progress): Promise<void> {
  const deadline = performance.now() + FOLD_LIMIT_MS;
  for (;;) {
    const { rows } = await client.query<{ waiting: string }>('SELECT count(*) AS waiting FROM transaction_changes');
    const waiting = Number(rows[0]?.waiting);
    if (waiting === 0) return;
    if (performance.now() > deadline) throw new Error('The figures do not catch up');
    progress(`${String(waiting)} changes wait to be folded`);
    await delay(2_000);
  }
}

/** Checks totals, and the ids of a page far from the first one. */
export async function expectRight(client: pg.Client, { accountId, apiKey, count, http }: Account): Promise<void> {
  for (const status of [null, 'PAID'] as const) {
    const page = Math.floor(count / LIMIT / 3);
    const filter = status === null ? '' : `&status=${status}`;
    const body = await http.get(0, `/v1/payments?limit=${String(LIMIT)}&page=${String(page)}${filter}`, {
      apikey: apiKey,
    });
    const list = JSON.parse(body) as { data: { id: string }[]; total: number };
    const { rows } = await client.query<{ id: string }>(
      `SELECT id FROM transactions WHERE account_id = $1 AND ($2::text IS NULL OR status = $2)
       ORDER BY id DESC OFFSET $3 LIMIT $4`,
      [accountId, status, (page - 1) * LIMIT, LIMIT],
    );
    const { rows: counted } = await client.query<{ total: string }>(
      'SELECT count(*) AS total FROM transactions WHERE account_id = $1 AND ($2::text IS NULL OR status = $2)',
      [accountId, status],
    );
    const expected = { ids: rows.map(({ id }) => `tx_${id}`), total: Number(counted[0]?.total) };
    const given = { ids: list.data.map(({ id }) => id), total: list.total };
    if (JSON.stringify(given) !== JSON.stringify(expected))
      throw new Error(`A list of ${String(count)} payments is wrong`);
  }
}

/** Milliseconds for each account, with alternating requests: other load on the machine affects both alike. */
export async function measure(
  accounts: readonly Account[],
  path: (pages: number) => string,
  requests: number,
): Promise<number[][]> {
  const times = accounts.map((): number[] => []);
  const warmUp = Math.ceil(requests / 5);
  for (let request = -warmUp; request < requests; request++) {
    for (const [index, { apiKey, count, http }] of accounts.entries()) {
      const began = performance.now();
      await http.get(0, `/v1/payments${path(Math.floor(count / LIMIT))}`, { apikey: apiKey });
      if (request >= 0) times[index]?.push(performance.now() - began);
    }
  }
  return times;
}

export function linesOf(
  figure: string,
  judged: boolean,
  [ofSmall, ofLarge]: readonly [string, string],
  [small = [], large = []]: readonly number[][],
): Line[] {
  const text = (times: readonly number[]): string =>
    `p50 ${percentile(times, 0.5).toFixed(1)} ms, p95 ${percentile(times, 0.95).toFixed(1)}, p99 ${percentile(times, 0.99).toFixed(1)} ms`;
  const ratio = percentile(large, 0.5) / percentile(small, 0.5);
  return [
    told(`${figure}, of ${ofSmall}`, text(small)),
    told(`  of ${ofLarge}`, text(large)),
    {
      figure: '  ratio of the medians',
      measured: ratio.toFixed(2),
      target: judged ? { text: `at most ${String(MOST)}`, met: ratio <= MOST } : null,
    },
  ];
}
