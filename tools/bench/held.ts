import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Cleanup } from '../harness/cleanup.js';
import type { Progress } from '../harness/run.js';
import { HERE, Side } from './against.js';
import { HttpLoad } from './http-load.js';
import { atLeast, type Line, table, told } from './report.js';
import { expectCoherent } from './stage.js';
import { merge, percentile, perSecond, type Round } from './stats.js';
import { drainAgain, startReceiver } from './webhook-drain.js';
import { registerEndpoint } from './webhook-latency.js';
import { httpPayments, openCharges } from './workload.js';

export interface HeldPlan {
  /** Payments in each of the two databases while one has the snapshot: 180 000 are 300 a second for ten minutes. */
  readonly payments: number;
  readonly roundPayments: number;
  /** Deliveries that are drained at the end. */
  readonly backlog: number;
}

const CONNECTIONS = 16;
const LIMIT_SECONDS = 600;
const LOOK_MS = 100;
const LEAST = 0.9;
const DRAINS = 5;
/** Share of the rounds that counts as the beginning, and as the end. */
const SHARE = 0.2;
const ENV = { WEBHOOK_ALLOW_PRIVATE: 'true' };

/**
 * Measures payments and webhooks while another session holds a snapshot, such as a backup or a long report. PostgreSQL
 * keeps all rows changed since, and a queue has to scan past them. Alternates with a second service without a held
 * snapshot.
 * @param directory an empty one; the caller removes it after the clean-up
 * @throws Error when an answer was wrong
 */
export async function runHeldBenchmark(
  plan: HeldPlan,
  directory: string,
  cleanup: Cleanup,
  progress: Progress,
): Promise<string> {
  const receiver = await startReceiver(cleanup);
  const sides = {
    held: await Side.start(HERE, directory, cleanup, ENV),
    free: await Side.start(HERE, directory, cleanup, ENV),
  };
  /** Endpoints of the first merchant, which has half of all payments. */
  const endpointIds = { held: '', free: '' };
  for (const name of ['held', 'free'] as const) {
    const { service, merchants } = sides[name];
    for (const { apiKey } of merchants) {
      const id = await registerEndpoint(service.url, apiKey, receiver.url);
      endpointIds[name] ||= id;
    }
  }
  const client = new pg.Client({ connectionString: sides.held.databaseUrl });
  client.on('error', () => undefined); // ends with its server
  await client.connect();
  cleanup.add(() => client.end());
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM accounts');

  const rounds = { held: [] as Round[], free: [] as Round[] };
  for (let paid = 0; paid < plan.payments; paid += plan.roundPayments) {
    progress(`${String(paid)} of ${String(plan.payments)} payments beside an open snapshot, in turn with none`);
    for (const name of ['held', 'free'] as const) rounds[name].push(await pay(sides[name], plan.roundPayments));
  }
  progress('deliveries drained');
  const drains = { held: [] as number[], free: [] as number[] };
  for (let drain = 0; drain < DRAINS; drain++) {
    for (const name of ['held', 'free'] as const) {
      drains[name].push(await drainAgain(sides[name], plan.backlog, endpointIds[name]));
    }
  }
  await expectCoherent(Object.values(sides).map(({ database }) => database));
  const some = Math.ceil(rounds.held.length * SHARE);
  const rate = (all: readonly Round[]): number => perSecond(merge(all));
  const lines = [
    ...linesOf(
      'payments and webhooks, the first',
      rate(rounds.held.slice(0, some)),
      rate(rounds.free.slice(0, some)),
      '/s',
    ),
    ...linesOf('  the last', rate(rounds.held.slice(-some)), rate(rounds.free.slice(-some)), '/s'),
    ...linesOf('webhooks drained', percentile(drains.held, 0.5), percentile(drains.free, 0.5), '/s'),
  ];
  return [`${String(plan.payments)} payments beside a snapshot of before them`, '', table(lines), ''].join('\n');
}

/** Creates and then pays `count` charges; measures from the payments until their webhooks have been answered. */
async function pay(side: Side, count: number): Promise<Round> {
  const load = new HttpLoad(side.service.url, CONNECTIONS);
  await load.open();
  try {
    await side.create(load, CONNECTIONS, LIMIT_SECONDS, count);
    const charges = (await openCharges(side.database, side.merchants)).slice(0, count);
    const before = await attempts(side);
    const began = performance.now();
    const round = await httpPayments(load, CONNECTIONS, LIMIT_SECONDS, charges);
    if (round.refused > 0) throw new Error(`${String(round.refused)} were refused: ${String(round.firstRefusal)}`);
    while ((await attempts(side)) - before < round.count) {
      if (performance.now() - began > LIMIT_SECONDS * 1000) throw new Error('Webhooks stay behind');
      await delay(LOOK_MS);
    }
    return { ...round, seconds: (performance.now() - began) / 1000 };
  } finally {
    await load.close();
  }
}

/** Counts the attempts of all webhooks. Attempts are only added, so counting does not scan past changed rows. */
async function attempts({ database }: Side): Promise<number> {
  const [row] = await database.query<{ count: number }>('SELECT count(*)::int AS count FROM webhook_attempts');
  return row?.count ?? 0;
}

function linesOf(name: string, held: number, free: number, unit: string): Line[] {
  return [
    told(`${name}, beside a snapshot`, `${held.toFixed(0)}${unit}`),
    told('  beside none', `${free.toFixed(0)}${unit}`),
    atLeast('  ratio', held / free, LEAST),
  ];
}
