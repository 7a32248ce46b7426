import { setTimeout as delay } from 'node:timers/promises';

/** Result of a round; latencies in milliseconds, one for each request with the expected answer. */
export interface Round {
  readonly count: number;
  readonly seconds: number;
  readonly latencies: readonly number[];
  /** Number of unexpected answers, with the first of them. */
  readonly refused: number;
  readonly firstRefusal: string | null;
}

/** The value below which `share` (0 to 1) of the values lie; NaN without values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

/** Merges rounds: all requests over all seconds, so that a round's weight is its duration. */
export function merge(rounds: readonly Round[]): Round {
  return {
    count: rounds.reduce((sum, round) => sum + round.count, 0),
    seconds: rounds.reduce((sum, round) => sum + round.seconds, 0),
    latencies: rounds.flatMap((round) => round.latencies),
    refused: rounds.reduce((sum, round) => sum + round.refused, 0),
    firstRefusal: rounds.find((round) => round.firstRefusal !== null)?.firstRefusal ?? null,
  };
}

export function perSecond(round: Round): number {
  return round.count / round.seconds;
}

/** Runs an operation: null if its answer was the expected one, otherwise the answer. */
export type Operation = () => Promise<string | null>;

/** Returns the next operation of a worker; null ends the worker before the round is over. */
export type Next = (worker: number) => Operation | null;

/**
 * Runs operations for `seconds`, one at a time for each worker.
 * @param rate operations a second of all workers together: each operation has a planned start, from which its latency
 *   counts, so that late operations stay in the figures. Null: each begins when the one before ends
 */
export async function drive(workers: number, seconds: number, next: Next, rate: number | null = null): Promise<Round> {
  const latencies: number[] = [];
  let refused = 0;
  let firstRefusal: string | null = null;
  const started = performance.now();
  const deadline = started + seconds * 1000;
  const work = async (worker: number): Promise<void> => {
    for (let turn = worker, at = started; ; turn += workers) {
      if (rate !== null) {
        at = started + (turn * 1000) / rate;
        if (at > performance.now() && at < deadline) await delay(at - performance.now());
      }
      if (at >= deadline) return;
      const operation = next(worker);
      if (!operation) return;
      const refusal = await operation();
      const now = performance.now();
      if (refusal === null) latencies.push(now - at);
      else {
        refused += 1;
        firstRefusal ??= refusal;
      }
      at = now;
    }
  };
  await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
  return { count: latencies.length, seconds: (performance.now() - started) / 1000, latencies, refused, firstRefusal };
}
