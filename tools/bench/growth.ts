import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Cleanup } from '../harness/cleanup.js';
import type { Progress } from '../harness/run.js';
import { type AgainstPlan, compare, HERE, Side, WORKS } from './against.js';
import { generate } from './generate.js';
import { HttpLoad } from './http-load.js';
import { type Account, expectRight, linesOf, measure, REQUESTS, untilFolded } from './lists.js';
import { describeMachine, loadAverage, residentMemory } from './machine.js';
import { type Line, table, told } from './report.js';
import { expectCoherent } from './stage.js';
import { percentile } from './stats.js';
import { drainAgain, startReceiver } from './webhook-drain.js';
import { registerEndpoint, removeEndpoint } from './webhook-latency.js';

export interface GrowthPlan extends AgainstPlan {
  /** Payments of the first merchant in each of the two databases, over the same time. */
  readonly small: number;
  readonly large: number;
  /** Number of requests for each list and statistic. */
  readonly requests: number;
  /** Deliveries that are drained in one round. */
  readonly backlog: number;
}

const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;
const STARTS = 3;
const DRAINS = 5;
const MOST = 1.5;
const TABLES = 12;
const SEARCH = 'transactions_search_idx';

/** No row is deleted during a year of data, and receivers are on this machine. */
const ENV = { RETENTION_DAYS: '3660', WEBHOOK_ALLOW_PRIVATE: 'true' };

/**
 * Compares the same service on a database with few payments and on one with many, alternately. Old data must not make
 * new payments slower.
 * @param directory an empty one; the caller removes it after the clean-up
 * @throws Error when an answer was wrong
 */
export async function runGrowthBenchmark(
  plan: GrowthPlan,
  directory: string,
  cleanup: Cleanup,
  progress: Progress,
): Promise<string> {
  const load = loadAverage();
  const receiver = await startReceiver(cleanup);
  const sides = {
    large: await Side.start(HERE, directory, cleanup, ENV),
    small: await Side.start(HERE, directory, cleanup, ENV),
  };
  const began = performance.now();
  const accounts = {
    small: await fill(sides.small, plan.small, receiver.url, cleanup, progress),
    large: await fill(sides.large, plan.large, receiver.url, cleanup, progress),
  };
  const seconds = (performance.now() - began) / 1000;
  const lines: Line[] = [];
  for (const work of WORKS) {
    progress(`${work.name}, beside a small database`);
    const { lines: compared, ratio } = await compare(work, sides, plan);
    lines.push(...compared.slice(0, -1), atMost('  as slow as in the small one', 1 / ratio));
  }
  // Autovacuum runs only a minute later: until then the planner takes new rows for a part of the large account.
  for (const { database } of Object.values(sides)) await database.query('ANALYZE transactions');
  for (const { figure, judged, requests, path } of REQUESTS) {
    progress(figure);
    const times = await measure([accounts.small, accounts.large], path, requests ?? plan.requests);
    lines.push(...linesOf(figure, judged, ['the small one', 'the large one'], times));
  }
  progress('deliveries drained');
  lines.push(...(await drainLines(sides, plan, receiver.url)));
  progress('memory, and another start');
  lines.push(...(await processLines(sides)));
  await expectCoherent(Object.values(sides).map(({ database }) => database));
  const [version] = await sides.large.database.query<{ server_version: string }>('SHOW server_version');
  return [
    ...describeMachine(version?.server_version ?? 'unknown', sides.large.service.queue),
    load,
    `${String(plan.small)} and ${String(plan.large)} payments of one year, made and folded in ${seconds.toFixed(0)} s`,
    '',
    table(lines),
    '',
    'Bytes for each generated charge, with its indexes; one made by the API has keys and notifications besides:',
    ...(await sizes(sides.large, plan.large)),
    '',
  ].join('\n');
}

/** Waits until the journal is linked by its hashes and all balances have been compared. */
async function untilLinked(client: pg.Client, progress: Progress): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ waiting: string }>(
      `SELECT (SELECT coalesce(sum(entries), 0) * 2 FROM balances WHERE bucket = 'available')
         - (SELECT count(*) FROM journal_hashes)
         - (SELECT coalesce(sum(number), 0) FROM balance_checkpoints WHERE bucket = 'available') AS waiting`,
    );
    const waiting = rows[0]?.waiting ?? '';
    if (Number(waiting) <= 0) return;
    progress(`${waiting} entries wait to be linked or added up`);
    await delay(5_000);
  }
}

function atMost(figure: string, ratio: number): Line {
  return {
    figure,
    measured: ratio.toFixed(2),
    target: { text: `at most ${String(MOST)}`, met: ratio <= MOST },
  };
}

/** Writes payments of the first merchant, and their deliveries to a deleted endpoint. */
async function fill(
  { databaseUrl, merchants, service }: Side,
  count: number,
  receiverUrl: string,
  cleanup: Cleanup,
  progress: Progress,
): Promise<Account> {
  const [merchant] = merchants;
  if (!merchant) throw new Error('No merchants');
  const { accountId, apiKey } = merchant;
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    return client;
  };
  const client = await connect();
  const second = await connect();
  const endpointId = await registerEndpoint(service.url, apiKey, receiverUrl);
  // Older than any payment waits to be paid.
  const to = new Date(Date.now() - 2 * DAY_MS);
  const from = new Date(to.getTime() - YEAR_MS);
  const { rows } = await client.query<{ search: string }>(`SELECT pg_get_indexdef('${SEARCH}'::regclass) AS search`);
  await client.query(`DROP INDEX ${SEARCH}`);
  await generate([client, second], { accountId, count, from, to, endpointId }, (written) =>
    progress(`${String(written)} of ${String(count)} payments`),
  );
  await second.end();
  progress('the index of the search, which is made sooner at once');
  await client.query(`SET maintenance_work_mem = '1GB'; ${rows[0]?.search ?? ''};
    ALTER INDEX ${SEARCH} ALTER COLUMN 1 SET STATISTICS 400`);
  await removeEndpoint(service.url, apiKey, endpointId);
  await untilFolded(client, progress);
  await untilLinked(client, progress);
  progress('VACUUM ANALYZE, as autovacuum would have done it by and by');
  await client.query('VACUUM ANALYZE');
  const http = new HttpLoad(service.url, 1);
  await http.open();
  cleanup.add(() => http.close());
  const account = { accountId, apiKey, count, http };
  await expectRight(client, account);
  await client.end();
  return account;
}

/** Medians of the rates at which a backlog of the first merchant is sent. */
async function drainLines(
  sides: Readonly<Record<'small' | 'large', Side>>,
  plan: GrowthPlan,
  receiverUrl: string,
): Promise<Line[]> {
  const rates = { small: [] as number[], large: [] as number[] };
  const endpointIds = { small: '', large: '' };
  for (const name of ['small', 'large'] as const) {
    const { service, merchants } = sides[name];
    endpointIds[name] = await registerEndpoint(service.url, merchants[0]?.apiKey ?? '', receiverUrl);
  }
  for (let round = -1; round < DRAINS; round++) {
    for (const name of ['small', 'large'] as const) {
      const rate = await drainAgain(sides[name], plan.backlog, endpointIds[name]);
      if (round >= 0) rates[name].push(rate);
    }
  }
  const [small, large] = [percentile(rates.small, 0.5), percentile(rates.large, 0.5)];
  return [
    told('webhooks drained, large', `${large.toFixed(0)}/s`),
    told('  small', `${small.toFixed(0)}/s`),
    atMost('  as slow as in the small one', small / large),
  ];
}

async function processLines(sides: Readonly<Record<'small' | 'large', Side>>): Promise<Line[]> {
  const of = (name: 'small' | 'large'): { nowMb: number } => residentMemory(sides[name].service.pid);
  const memory = { small: of('small').nowMb, large: of('large').nowMb };
  const starts = { small: [] as number[], large: [] as number[] };
  for (let start = 0; start < STARTS; start++) {
    for (const name of ['small', 'large'] as const) starts[name].push(await sides[name].restart());
  }
  const [small, large] = [percentile(starts.small, 0.5), percentile(starts.large, 0.5)];
  return [
    told('memory after all that, large', `${memory.large.toFixed(0)} MB`),
    told('  small', `${memory.small.toFixed(0)} MB`),
    atMost('  as much as of the small one', memory.large / memory.small),
    told('another start to ready, large', `${(large / 1000).toFixed(2)} s`),
    told('  small', `${(small / 1000).toFixed(2)} s`),
    atMost('  as slow as of the small one', large / small),
  ];
}

async function sizes({ database }: Side, count: number): Promise<string[]> {
  const rows = await database.query<{ name: string; bytes: string; indexes: string }>(
    `SELECT relname AS name, pg_total_relation_size(oid) AS bytes, pg_indexes_size(oid) AS indexes FROM pg_class
     WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 2 DESC`,
  );
  const each = (bytes: number): string => (bytes / count).toFixed(0).padStart(6);
  const all = rows.reduce((sum, { bytes }) => sum + Number(bytes), 0);
  return [
    ...rows
      .slice(0, TABLES)
      .map(
        ({ name, bytes, indexes }) =>
          `${each(Number(bytes))}  ${name} (${each(Number(indexes)).trim()} of them indexes)`,
      ),
    `${each(all)}  all tables`,
  ];
}
