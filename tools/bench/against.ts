import { mkdtempSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Cleanup } from '../harness/cleanup.js';
import type { Progress } from '../harness/run.js';
import { ownerUrl } from '../harness/local-servers.js';
import type { ServiceProcess } from '../harness/service-process.js';
import { HttpLoad } from './http-load.js';
import { familySeconds } from './disturbance.js';
import { processorSeconds } from './machine.js';
import type { Merchant } from './merchants.js';
import { BareClients } from './replay.js';
import { type Line, table, told } from './report.js';
import { expectCoherent, untilRelayed } from './stage.js';
import { merge, percentile, perSecond, type Round } from './stats.js';
import { httpCreates, httpPayments, type OpenCharge, openCharges } from './workload.js';

/** One merchant with a busy wallet, and a hundred. */
const MERCHANTS = 101;

export interface AgainstPlan {
  readonly rounds: number;
  readonly roundSeconds: number;
}

/** What is measured of both: a name, how many connections, and one round of it. */
export interface Work {
  readonly name: string;
  readonly connections: number;
  readonly round: (side: Side, load: HttpLoad, connections: number, seconds: number) => Promise<Round>;
}

/** What a round came to; processor time in milliseconds, null where the system does not tell. */
export interface Measured {
  readonly round: Round;
  readonly nodeMs: number | null;
  readonly postgresMs: number | null;
}

/** What runs one round of a work. */
export interface Measurable {
  measure(work: Work, seconds: number): Promise<Measured>;
}

/**
 * Measures this build and another checkout's in turn, each as a service with a database of its own.
 * @param other path of a checkout that is built, with its node_modules
 * @throws Error when the other one is not built, or an answer was wrong
 */
export async function runAgainst(
  plan: AgainstPlan,
  other: string,
  directory: string,
  cleanup: Cleanup,
  progress: Progress,
): Promise<string> {
  const sides = {
    here: await Side.start(HERE, directory, cleanup),
    there: await Side.start(join(resolve(other), 'dist'), directory, cleanup),
  };
  const lines: Line[] = [];
  for (const work of WORKS) {
    progress(`${work.name}, in turn with ${other}`);
    lines.push(...(await compare(work, sides, plan)).lines);
  }
  await expectCoherent(Object.values(sides).map(({ database }) => database));
  return [`here against ${other}, ${String(plan.rounds)} rounds of each`, '', table(lines), ''].join('\n');
}

/** What this very build was compiled to. */
export const HERE = join(import.meta.dirname, '../..');

export const WORKS: readonly Work[] = [
  ...[1, 16].map((connections): Work => ({
    name: `charges created, ${connections} connection${connections === 1 ? '' : 's'}`,
    connections,
    round: (side, load, count, seconds) => side.create(load, count, seconds),
  })),
  ...(
    [
      ['one wallet', 1],
      ['one wallet', 16],
      ['100 wallets', 16],
    ] as const
  ).map(([wallets, connections]): Work => ({
    name: `charges paid, ${wallets}, ${connections} connection${connections === 1 ? '' : 's'}`,
    connections,
    round: async (side, load, count, seconds) =>
      httpPayments(load, count, seconds, await side.openCharges(wallets === 'one wallet')),
  })),
];

/**
 * Measures two sides in turn: what else the machine does hits both alike.
 * @param sides by their names in the report; the ratio is that of the first to the second
 */
export async function compare(
  work: Work,
  sides: Readonly<Record<string, Measurable>>,
  plan: AgainstPlan,
): Promise<{ lines: Line[]; ratio: number }> {
  const both = Object.entries(sides).map(([name, side]) => ({ name, side, measured: [] as Measured[] }));
  for (const { side } of both) await side.measure(work, plan.roundSeconds); // to warm up
  for (let round = 0; round < plan.rounds; round++) {
    const inTurn = round % 2 === 0 ? both : both.toReversed();
    for (const { side, measured } of inTurn) measured.push(await side.measure(work, plan.roundSeconds));
  }
  const [one, other] = both;
  if (!one || !other) throw new Error('Two sides are compared');
  // A round finds nothing to do where too few charges were created for it, on a slow machine.
  const ratios = one.measured
    .map(({ round }, index) => perSecond(round) / perSecond(other.measured[index]?.round ?? round))
    .filter((ratio) => ratio > 0 && Number.isFinite(ratio));
  const [least, median, most] = [0, 0.5, 1].map((share) => percentile(ratios, share).toFixed(2));
  const lines = [
    told(work.name, textOf(one.measured)),
    told(`  ${other.name}`, textOf(other.measured)),
    told(`  ${one.name} / ${other.name}`, `${median ?? ''} (${least ?? ''} to ${most ?? ''})`),
  ];
  return { lines, ratio: percentile(ratios, 0.5) };
}

function textOf(all: readonly Measured[]): string {
  const round = merge(all.map((one) => one.round));
  if (round.refused > 0) throw new Error(`${round.refused} answers were wrong, the first: ${round.firstRefusal ?? ''}`);
  const each = (name: string, of: (one: Measured) => number | null): string => {
    if (all.some((one) => of(one) === null)) return '';
    return ` · ${(all.reduce((sum, one) => sum + (of(one) ?? 0), 0) / round.count).toFixed(2)} ms ${name}`;
  };
  const [p50, p99] = [0.5, 0.99].map((share) => percentile(round.latencies, share).toFixed(1));
  const processors = `${each('Node.js', (one) => one.nodeMs)}${each('PostgreSQL', (one) => one.postgresMs)}`;
  return `${perSecond(round).toFixed(0)}/s · p50 ${p50 ?? ''} · p99 ${p99 ?? ''} ms${processors}`;
}

type ServiceProcesses = typeof import('../harness/service-process.js');
type Merchants = typeof import('./merchants.js');

/** One build's service, its database and the merchants in it, which that build's own code has entered. */
export class Side implements Measurable {
  readonly #create: ReturnType<typeof httpCreates>;

  private constructor(
    /** Starts the service on the same data once more. */
    private readonly begin: () => Promise<ServiceProcess>,
    private running: ServiceProcess,
    readonly databaseUrl: string,
    readonly database: BareClients,
    private readonly postmaster: number,
    readonly merchants: readonly Merchant[],
  ) {
    this.#create = httpCreates(merchants);
  }

  static async start(
    build: string,
    directory: string,
    cleanup: Cleanup,
    env: Record<string, string> = {},
  ): Promise<Side> {
    const load = <T>(path: string): Promise<T> => import(pathToFileURL(join(build, path)).href) as Promise<T>;
    const { ServiceProcess } = await load<ServiceProcesses>('tools/harness/service-process.js');
    const { makeMerchants } = await load<Merchants>('tools/bench/merchants.js');
    const dataDir = mkdtempSync(join(directory, 'side-'));
    const begin = (): Promise<ServiceProcess> => ServiceProcess.start(dataDir, cleanup, env);
    const service = await begin();
    const databaseUrl = ownerUrl(dataDir);
    const database = await BareClients.connect(databaseUrl, 1, cleanup);
    const [server] = await database.query<{ pid: number }>(
      `SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::integer AS pid`,
    );
    return new Side(
      begin,
      service,
      databaseUrl,
      database,
      server?.pid ?? 0,
      await makeMerchants(databaseUrl, MERCHANTS),
    );
  }

  get service(): ServiceProcess {
    return this.running;
  }

  /**
   * Ends the connections of `database`, as the database ends with the service.
   * @returns milliseconds from the start of the process to its banner
   */
  async restart(): Promise<number> {
    await this.running.stop();
    this.running = await this.begin();
    return this.running.startMs;
  }

  create(load: HttpLoad, connections: number, seconds: number, limit?: number): Promise<Round> {
    return this.#create(load, connections, seconds, limit);
  }

  openCharges(isOneWallet: boolean): Promise<OpenCharge[]> {
    return openCharges(this.database, isOneWallet ? this.merchants.slice(0, 1) : this.merchants.slice(1));
  }

  /** One round, until all of its events are relayed. */
  async measure({ connections, round }: Work, seconds: number): Promise<Measured> {
    const load = new HttpLoad(this.service.url, connections);
    await load.open();
    try {
      const before = this.#processors();
      const measured = await round(this, load, connections, seconds);
      await untilRelayed(this);
      const after = this.#processors();
      const since = (of: keyof typeof after): number | null =>
        before[of] === null || after[of] === null ? null : (after[of] - before[of]) * 1000;
      return { round: measured, nodeMs: since('node'), postgresMs: since('postgres') };
    } finally {
      await load.close();
    }
  }

  #processors(): { node: number | null; postgres: number | null } {
    return { node: processorSeconds(this.service.pid), postgres: familySeconds(this.postmaster) };
  }
}
