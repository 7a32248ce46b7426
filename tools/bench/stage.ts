import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Callers, callersOf } from './authentication.js';
import type { Cleanup } from '../harness/cleanup.js';
import type { Progress } from '../harness/run.js';
import { makeMerchants, type Merchant } from './merchants.js';
import { recordHotPaths, type Recordings } from './recordings.js';
import { BareClients } from './replay.js';
import { ownerUrl } from '../harness/local-servers.js';
import { ServiceProcess } from '../harness/service-process.js';

/** Merchants: the first has a busy wallet, the other hundred share the rest. */
const MERCHANTS = 101;
export const MAX_CONNECTIONS = 64;
const RELAY_LIMIT_MS = 60_000;

export interface StartTimes {
  readonly firstMs: readonly number[];
  readonly secondMs: readonly number[];
}

/** Starts the service in new directories, and again in each; the last service stays up. */
export async function measureStarts(
  times: number,
  directory: string,
  cleanup: Cleanup,
  progress: Progress,
): Promise<{ starts: StartTimes; service: ServiceProcess; dataDir: string }> {
  const firstMs: number[] = [];
  const secondMs: number[] = [];
  for (let run = 1; ; run++) {
    progress(`start ${String(run)} of ${String(times)}: on an empty directory, and again`);
    const dataDir = mkdtempSync(join(directory, 'data-'));
    const first = await ServiceProcess.start(dataDir, cleanup);
    firstMs.push(first.startMs);
    await first.stop();
    const second = await ServiceProcess.start(dataDir, cleanup);
    secondMs.push(second.startMs);
    if (run >= times) return { starts: { firstMs, secondMs }, service: second, dataDir };
    await second.stop();
  }
}

/** The running service and databases of the measurements. */
export interface Stage {
  readonly service: ServiceProcess;
  readonly postgresVersion: string;
  readonly databaseUrl: string;
  readonly recordings: Recordings;
  /** The service's own database, for checks. */
  readonly database: BareClients;
  readonly merchants: readonly Merchant[];
  readonly callers: Callers;
  /**
   * A second database in the same PostgreSQL for the bare SQL: otherwise the service's relay would process its events.
   */
  readonly bare: BareClients;
  readonly bareMerchants: readonly Merchant[];
}

export async function openStage(
  service: ServiceProcess,
  dataDir: string,
  directory: string,
  cleanup: Cleanup,
  progress: Progress,
): Promise<Stage> {
  const databaseUrl = ownerUrl(dataDir);
  const database = await BareClients.connect(databaseUrl, 1, cleanup);
  const merchants = await makeMerchants(databaseUrl, MERCHANTS);
  const [busy] = merchants;
  if (!busy) throw new Error('No merchants');
  const callers = await callersOf(databaseUrl, service, busy);

  progress('recording the statements of a create and of a payment');
  await database.query('CREATE DATABASE bare');
  const bareUrl = new URL(databaseUrl);
  bareUrl.pathname = '/bare';
  const recordings = await recordHotPaths(bareUrl.href, directory, cleanup);
  const bareMerchants = await makeMerchants(bareUrl.href, MERCHANTS);
  const bare = await BareClients.connect(bareUrl.href, MAX_CONNECTIONS, cleanup);

  const [version] = await database.query<{ server_version: string }>('SHOW server_version');
  const postgresVersion = version?.server_version ?? 'unknown';
  return {
    service,
    postgresVersion,
    databaseUrl,
    recordings,
    database,
    merchants,
    callers,
    bare,
    bareMerchants,
  };
}

/** Waits until all events are relayed: the remaining work of the service must not overlap the bare round. */
export async function untilRelayed({ database }: Pick<Stage, 'database'>): Promise<void> {
  const deadline = performance.now() + RELAY_LIMIT_MS;
  for (;;) {
    const [row] = await database.query<{ pending: boolean }>(
      `SELECT EXISTS (SELECT 1 FROM events WHERE status = 'pending') AS pending`,
    );
    if (row?.pending !== true) return;
    if (performance.now() > deadline) throw new Error('The relay does not catch up');
    await delay(5);
  }
}

/** A fast service that loses cents is worthless: checks that every balance is the sum of its lines. */
export async function expectCoherent(databases: readonly BareClients[]): Promise<void> {
  for (const clients of databases) {
    const broken = await clients.query(
      `SELECT current_database() AS database, bucket, b.amount AS balance, l.lines FROM balances b FULL JOIN (
         SELECT account_id, mode, currency, bucket, sum(amount) AS lines FROM journal_lines GROUP BY 1, 2, 3, 4) l
       USING (account_id, mode, currency, bucket) WHERE b.amount IS DISTINCT FROM l.lines`,
    );
    if (broken.length > 0) {
      const first = JSON.stringify(broken.slice(0, 3));
      throw new Error(`${String(broken.length)} balances are not the sum of their lines: ${first}`);
    }
  }
}
