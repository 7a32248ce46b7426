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

/** Merchants: the first has a busy wallet, the others are a hundred. */
const MERCHANTS = 101;

export interface AgainstPlan {
  readonly rounds: number;
  readonly roundSeconds: number;
}

/** A measured kind of work: its name, the number of connections, and a function that runs a round. */
export interface Work {
  readonly name: string;
  readonly connections: number;
  readonly round: (side: Side, load: HttpLoad, connections: number, seconds: number) => Promise<Round>;
}

/** Result of a round; processor time in milliseconds, null if the system does not report it. */
export interface Measured {
  readonly round: Round;
  readonly nodeMs: number | null;
  readonly postgresMs: number | null;
}

/** A side that can run a round of a work. */
export interface Measurable {
  measure(work: Work, seconds: number): Promise<Measured>;
}

/**
 * Measures this build and another checkout's alternately, each as a service with a database of its own.
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

/** The root of this build. */
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
 * Measures two sides alternately: other load on the machine affects both alike.
 * @param sides by their names in the report; the ratio is that of the first to the second
 */
export async function compare(
  work: Work,
  sides: Readonly<Record<string, Measurable>>,
  plan: AgainstPlan,
): Promise<{ lines: Line[]; ratio: number }> {
  const both = Object.entries(sides).map(([name, side]) => ({ name, side, measured: [] as Measured[] }));
  for (const { side } of both) await side.measure(work, plan.roundSeconds); // warm-up
  for (let round = 0; round < plan.rounds; round++) {
    const inTurn = round % 2 === 0 ? both : both.toReversed();
    for (const { side, measured } of inTurn) measured.push(await side.measure(work, plan.roundSeconds));
  }
  const [one, other] = both;
  if (!one || !other) throw new Error('Two sides are compared');
  // On a slow machine too few charges were created, and a round finds nothing to do.
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

/** A build's service, its database and its merchants, created by that build's own code. */
export class Side implements Measurable {
  readonly #create: ReturnType<typeof httpCreates>;

  private constructor(
    /** Starts the service again on the same data. */
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
   * Ends the connections of `database`, because the database stops with the service.
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

  /** Runs a round, until all of its events are relayed. */
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
