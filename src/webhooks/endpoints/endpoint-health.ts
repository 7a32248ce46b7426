/** `direct`: the `webhookUrl` of transactions. */
export type EndpointKind = 'registered' | 'direct';

/** Failures of an endpoint since its last success. */
export interface Health {
  readonly failures: number;
  readonly failingSince: Date | null;
  /** Set while the circuit breaker is open: nothing is sent before this time, and one probe at a time after it. */
  readonly pausedUntil: Date | null;
}

export interface AttemptResult {
  /** Null when no answer came. */
  readonly statusCode: number | null;
  readonly at: Date;
  /** Attempts made for the delivery, including this one. */
  readonly attempts: number;
}

/** Failures in a row that open the circuit breaker. */
export const BREAKER_FAILURES = 5;
const MIN_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 60_000;
/** A pause is this share of the outage so far, so recovery is noticed at most this much later than possible. */
const PAUSE_SHARE = 0.25;
const PAUSE_JITTER = 0.2;

/** When the service disables an endpoint: docs/contract.md#endpoints-that-are-given-up. */
export const DISABLE_FAILURES = 20;
export const DISABLE_AFTER_MS = 5 * 24 * 3_600_000;

export function isSuccess(statusCode: number | null): boolean {
  return statusCode !== null && statusCode >= 200 && statusCode < 300;
}

/**
 * The circuit breaker: deliveries do not use up their attempts on an endpoint that is known to be down.
 *
 * After five failures in a row it opens if the last one shows an outage (no answer, 5xx or 429). The pause is 5 to 60
 * s, ±20 %; then one delivery is tried. There must be more failures than attempts of the last delivery. Otherwise they
 * may all belong to one delivery that the receiver cannot process. A redirect or a 4xx other than 429 closes the
 * breaker: the endpoint works, and its deliveries fail one by one on the schedule.
 * @param results in the order in which they came
 * @param random from 0 to below 1
 */
export function nextHealth(health: Health, results: readonly AttemptResult[], now: Date, random: () => number): Health {
  let { failures, failingSince, pausedUntil } = health;
  for (const { statusCode, at, attempts } of results) {
    if (isSuccess(statusCode)) {
      failures = 0;
      failingSince = null;
      pausedUntil = null;
      continue;
    }
    failures += 1;
    failingSince ??= at;
    const isDown = statusCode === null || statusCode >= 500 || statusCode === 429;
    const isOpen = pausedUntil !== null || (failures >= BREAKER_FAILURES && failures > attempts);
    pausedUntil = isDown && isOpen ? pauseEnd(failingSince, now, random()) : null;
  }
  return { failures, failingSince, pausedUntil };
}

function pauseEnd(failingSince: Date, now: Date, random: number): Date {
  const share = (now.getTime() - failingSince.getTime()) * PAUSE_SHARE;
  const pause = Math.min(Math.max(share, MIN_PAUSE_MS), MAX_PAUSE_MS);
  return new Date(now.getTime() + Math.round(pause * (1 - PAUSE_JITTER + 2 * PAUSE_JITTER * random)));
}

/**
 * Whether the service disables an endpoint: after at least twenty failures in a row, the first at least five days ago.
 * Deliveries that wait for it become CANCELLED. A 410 disables it at once and without a mail (`OutcomesService`). A
 * transaction's own URL is never disabled: nobody could enable it again.
 */
export function isToBeDisabled(kind: EndpointKind, { failures, failingSince }: Health, now: Date): boolean {
  if (kind !== 'registered' || failingSince === null) return false;
  return failures >= DISABLE_FAILURES && now.getTime() - failingSince.getTime() >= DISABLE_AFTER_MS;
}
