import { Disturbance, UNDISTURBED } from './disturbance.js';
import { HttpLoad } from './http-load.js';
import { processorSeconds } from './machine.js';
import type { Progress } from '../harness/run.js';
import { type Stage, untilRelayed } from './stage.js';
import { merge, percentile, perSecond, type Round } from './stats.js';
import { bareCreates, barePayments, httpCreates, httpPayments, openCharges, type OpenCharge } from './workload.js';

/** The service and the bare SQL alternately, in the same minute on the same machine. */
export interface Comparison {
  readonly service: Round;
  readonly bare: Round;
  readonly ratio: number;
  /**
   * Processor time of the service's Node process, milliseconds for one operation; null if the system does not report
   * it.
   */
  readonly processorMs: number | null;
  /** Longest time after the last answer of a round until all events were relayed, milliseconds. */
  readonly relayMs: number;
  /** Largest share of the machine that others used in a counted round, 0 to 1. */
  readonly disturbed: number;
}

interface Sides {
  service(): Promise<Round>;
  bare(): Promise<Round>;
}

interface Pair {
  readonly service: Round;
  readonly bare: Round;
  readonly processorMs: number | null;
  readonly relayMs: number;
  readonly disturbed: number;
}

/** On a busy machine: at most this many times the requested pairs; the least disturbed pairs count. */
const PATIENCE = 2;

/** The least disturbed of the measured pairs. @throws Error when an answer was wrong */
export async function compare(stage: Stage, pairs: number, sides: Sides): Promise<Comparison> {
  const taken: Pair[] = [];
  const quiet = (): number => taken.filter(({ disturbed }) => disturbed <= UNDISTURBED).length;
  while (quiet() < pairs && taken.length < pairs * PATIENCE) {
    const pair = await takePair(stage, sides);
    const idle = (['service', 'bare'] as const).find((side) => pair[side].count + pair[side].refused === 0);
    if (idle === undefined) taken.push(pair);
    // Bulkhead is over as well when no open charge is left to pay.
    else if (taken.length > 0) break;
    else throw new Error(`The first round of the ${idle} side found nothing to do`);
  }
  const best = taken.sort((one, other) => one.disturbed - other.disturbed).slice(0, pairs);
  const service = merge(best.map((pair) => pair.service));
  const bare = merge(best.map((pair) => pair.bare));
  for (const side of [service, bare]) {
    if (side.refused > 0) {
      throw new Error(`${String(side.refused)} answers were wrong, the first: ${String(side.firstRefusal)}`);
    }
  }
  const processorMs = best.every((pair) => pair.processorMs !== null)
    ? best.reduce((sum, pair) => sum + (pair.processorMs ?? 0), 0) / service.count
    : null;
  const ratio = perSecond(service) / perSecond(bare);
  const relayMs = Math.max(...best.map((pair) => pair.relayMs));
  return { service, bare, ratio, processorMs, relayMs, disturbed: Math.max(...best.map((pair) => pair.disturbed)) };
}

async function takePair(stage: Stage, sides: Sides): Promise<Pair> {
  const disturbance = new Disturbance();
  const before = processorSeconds(stage.service.pid);
  const service = await sides.service();
  const answered = performance.now();
  await untilRelayed(stage);
  const relayMs = performance.now() - answered;
  const after = processorSeconds(stage.service.pid);
  const bare = await sides.bare();
  return {
    service,
    bare,
    processorMs: before === null || after === null ? null : (after - before) * 1000,
    relayMs,
    disturbed: disturbance.share() ?? 0,
  };
}

export interface Creates {
  readonly warmUp: Round;
  run(connections: number, pairs: number, seconds: number): Promise<Comparison>;
}

/** Warms both sides up, the service with exactly `warmUpCharges` charges at 16 connections. */
export async function prepareCreates(stage: Stage, warmUpCharges: number, progress: Progress): Promise<Creates> {
  const http = httpCreates(stage.merchants);
  const bare = bareCreates(stage.bareMerchants, stage.recordings.create);
  const load = new HttpLoad(stage.service.url, 16);
  await load.open();
  const warmUp = await http(load, 16, 600, warmUpCharges);
  await load.close();
  progress(`${String(warmUp.count)} charges in ${warmUp.seconds.toFixed(1)} s`);
  if (warmUp.refused > 0) throw new Error(`Not every charge was created: ${String(warmUp.firstRefusal)}`);
  return {
    warmUp,
    async run(connections, pairs, seconds) {
      await bare(stage.bare, connections, 0.3);
      const connected = new HttpLoad(stage.service.url, connections);
      await connected.open();
      try {
        return await compare(stage, pairs, {
          service: () => http(connected, connections, seconds),
          bare: () => bare(stage.bare, connections, seconds),
        });
      } finally {
        await connected.close();
      }
    },
  };
}

/** Pays charges of the first merchant (one wallet) or of the others (many), at 16 connections. */
export async function compareSettlements(
  stage: Stage,
  wallets: 'one' | 'many',
  pairs: number,
  seconds: number,
): Promise<Comparison> {
  const workers = 16;
  const chosen = <T>(merchants: readonly T[]): readonly T[] =>
    wallets === 'one' ? merchants.slice(0, 1) : merchants.slice(1);
  const ofService = await openCharges(stage.database, chosen(stage.merchants));
  const ofBare = await openCharges(stage.bare, chosen(stage.bareMerchants));
  const load = new HttpLoad(stage.service.url, workers);
  await load.open();
  const service = (time: number): Promise<Round> => httpPayments(load, workers, time, ofService);
  const bare = (time: number): Promise<Round> => barePayments(stage.bare, stage.recordings.pay, workers, time, ofBare);
  try {
    const counts = { service: ofService.length, bare: ofBare.length };
    const warmUps = { service: await service(0.5), bare: await bare(0.5) };
    for (const side of ['service', 'bare'] as const) {
      const { count, refused, firstRefusal } = warmUps[side];
      if (refused === 0 && count > 0 && count < counts[side]) continue;
      throw new Error(
        `Of ${String(counts[side])} open charges the ${side} side paid ${String(count)} to warm up, ` +
          `${String(refused)} were refused: ${String(firstRefusal)}`,
      );
    }
    return await compare(stage, pairs, { service: () => service(seconds), bare: () => bare(seconds) });
  } finally {
    await load.close();
  }
}

export async function chargesToAnnounce(stage: Stage, count: number): Promise<OpenCharge[]> {
  const charges = await openCharges(stage.database, stage.merchants.slice(0, 1));
  if (charges.length < count) throw new Error(`Only ${String(charges.length)} charges are left to pay`);
  return charges.slice(0, count);
}

/** `p50 1.2 · p95 3.4 · p99 5.6 ms` */
export function latencies(round: Round): string {
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => percentile(round.latencies, share).toFixed(1));
  return `p50 ${p50 ?? ''} · p95 ${p95 ?? ''} · p99 ${p99 ?? ''} ms`;
}
