/** `direct`: the `webhookUrl` of transactions. */
export type EndpointKind = 'registered' | 'direct';

/** What the attempts since an endpoint's last success were. */
export interface Health {
  readonly failures: number;
  readonly failingSince: Date | null;
  /** Set while the circuit breaker is open: until then nothing is sent, after it one delivery at a time as a probe. */
  readonly pausedUntil: Date | null;
}

export interface AttemptResult {
  /** Null when no answer came. */
  readonly statusCode: number | null;
  readonly at: Date;
  /** Made for its delivery, including this one. */
  readonly attempts: number;
}

/** Failures in a row after which an endpoint is left in peace. */
export const BREAKER_FAILURES = 5;
const MIN_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 60_000;
/** A pause is this part of how long the endpoint has been failing: it comes back at most that much later than it could. */
const PAUSE_SHARE = 0.25;
const PAUSE_JITTER = 0.2;

/** When an endpoint is given up: docs/contract.md#endpoints-that-are-given-up. */
export const DISABLE_FAILURES = 20;
export const DISABLE_AFTER_MS = 5 * 24 * 3_600_000;

export function isSuccess(statusCode: number | null): boolean {
  return statusCode !== null && statusCode >= 200 && statusCode < 300;
}

/**
 * The circuit breaker, so that deliveries do not use up their attempts on an endpoint that is known to be down. It opens
 * after five failures in a row of which the last one says "I cannot" (no answer, 5xx, 429), for 5 to 60 s, ±20 %; then one
 * delivery is tried. The failures must also be more than the attempts of the last delivery: these alone may be of the only
 * delivery that the receiver cannot digest. An answer that says "not this" (another 4xx, a redirect) closes the breaker:
 * the endpoint works, and its deliveries fail one by one on the schedule.
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
 * Whether the service gives an endpoint up: after at least twenty failures in a row, the first of them at least five days
 * ago. A 410 ends it at once,
 * without a mail (`OutcomesService`). What still waits for it is CANCELLED then. The address of a transaction is never
 * given up: it could not be switched on again.
 */
export function isToBeDisabled(kind: EndpointKind, { failures, failingSince }: Health, now: Date): boolean {
  if (kind !== 'registered' || failingSince === null) return false;
  return failures >= DISABLE_FAILURES && now.getTime() - failingSince.getTime() >= DISABLE_AFTER_MS;
}
