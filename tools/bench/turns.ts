import { HttpLoad } from './http-load.js';
import { atLeast, below, type Line, told } from './report.js';
import { drive, merge, type Next, percentile, perSecond, type Round } from './stats.js';

/** A kind of work as a value. `S` is the system that does it. */
export interface Workload<S> {
  readonly name: string;
  readonly connections: number;
  /** Operations a second, all connections together. If left out, an operation begins when the previous one ends. */
  readonly rate?: number;
  /** Prepares what one round uses up. @returns the operations of the round */
  prepare(system: S, load: HttpLoad): Promise<Next>;
  readonly target?: Target;
}

/** Limits of a workload. A missed limit is marked in the report. */
export interface Target {
  /** Milliseconds. */
  readonly p50?: number;
  readonly p99?: number;
  /** Smallest allowed ratio: this workload's rate divided by the other side's rate. */
  readonly ratio?: number;
  /** Largest allowed extra processor time of Node.js for an operation, in milliseconds, over the other side. */
  readonly addedMs?: number;
}

/** A running system that is measured over HTTP. */
export interface System {
  readonly url: string;
  /** Processor seconds used so far; null if the operating system does not report them. */
  processors(): Processors;
  /** Waits until all work of earlier requests is done. */
  settle(): Promise<void>;
}

export interface Processors {
  readonly node: number | null;
  readonly postgres: number | null;
}

export interface Measured {
  readonly round: Round;
  /** Processor time of the round, including its work in the background. */
  readonly used: Processors;
}

/** A system with its workload. The sides of a comparison are measured in turns. */
export interface Side {
  readonly name: string;
  measure(seconds: number): Promise<Measured>;
}

export interface Plan {
  readonly rounds: number;
  readonly seconds: number;
  /** Unmeasured rounds before; default one. */
  readonly warmUps?: number;
}

/** The side of a system that is measured over HTTP. */
export function sideOf<S extends System>(name: string, system: S, work: Workload<S>): Side {
  return {
    name,
    async measure(seconds) {
      const load = new HttpLoad(system.url, work.connections);
      await load.open();
      try {
        const next = await work.prepare(system, load);
        await system.settle();
        const before = system.processors();
        const round = await drive(work.connections, seconds, next, work.rate);
        await system.settle();
        const after = system.processors();
        const since = (of: keyof Processors): number | null =>
          before[of] === null || after[of] === null ? null : after[of] - before[of];
        return { round, used: { node: since('node'), postgres: since('postgres') } };
      } finally {
        await load.close();
      }
    },
  };
}

/**
 * Measures sides in turn: other load on the machine affects all of them alike.
 * @param title the name of the first side in the report
 * @param sides one, or two of which the report has the ratio
 * @throws Error when an answer was wrong
 */
export async function takeTurns(
  title: string,
  sides: readonly Side[],
  plan: Plan,
  target: Target = {},
): Promise<Line[]> {
  const all = sides.map((side) => ({ side, measured: [] as Measured[] }));
  for (let round = -(plan.warmUps ?? 1); round < plan.rounds; round++) {
    for (const { side, measured } of round % 2 === 0 ? all : all.toReversed()) {
      const one = await side.measure(plan.seconds);
      const { count, refused, firstRefusal } = one.round;
      if (refused > 0) throw new Error(`${title}, ${side.name}: ${refused} wrong answers, the first: ${firstRefusal}`);
      if (count === 0) throw new Error(`${title}, ${side.name}: a round found nothing to do`);
      if (round >= 0) measured.push(one);
    }
  }
  const [first = { side: null, measured: [] }, second] = all;
  const { latencies } = merge(first.measured.map(({ round }) => round));
  return [
    told(title, textOf(first.measured)),
    ...(target.p50 === undefined ? [] : [below('  p50', percentile(latencies, 0.5), target.p50, 'ms')]),
    ...(target.p99 === undefined ? [] : [below('  p99', percentile(latencies, 0.99), target.p99, 'ms')]),
    ...(second === undefined ? [] : comparison(first.measured, second.side.name, second.measured, target)),
  ];
}

function comparison(
  first: readonly Measured[],
  name: string,
  second: readonly Measured[],
  { ratio, addedMs }: Target,
): Line[] {
  const ratios = first.map(({ round }, index) => perSecond(round) / perSecond(second[index]?.round ?? round));
  const spread = ` (${percentile(ratios, 0).toFixed(2)} to ${percentile(ratios, 1).toFixed(2)})`;
  const lines = [told(`  ${name}`, textOf(second)), atLeast('  ratio', percentile(ratios, 0.5), ratio ?? null, spread)];
  const [of, beside] = [each(first, 'node'), each(second, 'node')];
  if (addedMs !== undefined && of !== null && beside !== null) {
    lines.push(below('  added', of - beside, addedMs, 'ms Node.js', 2));
  }
  return lines;
}

/** Mean processor time of an operation in milliseconds. */
function each(measured: readonly Measured[], of: keyof Processors): number | null {
  if (measured.some(({ used }) => used[of] === null)) return null;
  const { count } = merge(measured.map(({ round }) => round));
  return (measured.reduce((sum, { used }) => sum + (used[of] ?? 0), 0) * 1000) / count;
}

function textOf(measured: readonly Measured[]): string {
  const round = merge(measured.map((one) => one.round));
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => percentile(round.latencies, share).toFixed(1));
  const processor = (name: string, ms: number | null): string => (ms === null ? '' : ` · ${ms.toFixed(2)} ms ${name}`);
  const processors = processor('Node.js', each(measured, 'node')) + processor('PostgreSQL', each(measured, 'postgres'));
  return `${perSecond(round).toFixed(0)}/s · p50 ${p50 ?? ''} · p95 ${p95 ?? ''} · p99 ${p99 ?? ''} ms${processors}`;
}
