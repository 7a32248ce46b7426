import type { DeliveryStatus } from '../webhook-delivery.entity.js';
import { isSuccess } from '../endpoints/endpoint-health.js';

export interface AttemptOutcome {
  /** Null when no answer came. */
  readonly statusCode: number | null;
  /** The answer's Retry-After header as it was sent. */
  readonly retryAfter: string | null;
}

export interface Verdict {
  readonly status: Extract<DeliveryStatus, 'DELIVERED' | 'PENDING' | 'FAILED'>;
  readonly nextAttemptAt: Date | null;
}

const JITTER = 0.1;
const MAX_RETRY_AFTER_FACTOR = 2;

/**
 * Returns 15 for the default WEBHOOK_RETRY_SCHEDULE, over three days. The first attempt is at once; the waits grow from
 * 10 s, 30 s, 2 min and 5 min up to 22 h (docs/contract.md#attempts). A manual retry of a failed delivery allows at
 * least one more, up to 100 in all. After a 410, the remaining attempts are used.
 */
export function maxAttempts(scheduleSeconds: readonly number[]): number {
  return scheduleSeconds.length + 1;
}

/**
 * Decides the next status of a delivery after an attempt (docs/contract.md#attempts). 2xx is delivered and 410 ends it.
 * Everything else is retried until the attempts are used up.
 *
 * The wait starts at the end of the attempt, plus or minus 10 %. `Retry-After` of a 429 or 503 may extend it, up to
 * twice the scheduled wait, but never shortens it. While the endpoint's circuit breaker is open (`nextHealth`,
 * docs/contract.md#attempts) nothing is sent. A delivery then takes longer but loses no attempt.
 * @param delivery attempts made, including this one, and how many there may be
 * @param random from 0 to below 1
 */
export function judge(
  outcome: AttemptOutcome,
  delivery: { attempts: number; maxAttempts: number },
  scheduleSeconds: readonly number[],
  now: Date,
  random: number,
): Verdict {
  const { statusCode } = outcome;
  if (isSuccess(statusCode)) return { status: 'DELIVERED', nextAttemptAt: null };
  if (statusCode === 410 || delivery.attempts >= delivery.maxAttempts) return { status: 'FAILED', nextAttemptAt: null };
  // If a delivery was created under a longer schedule, it repeats the last wait of the current one.
  const wait = scheduleSeconds[Math.min(delivery.attempts, scheduleSeconds.length) - 1] ?? 0;
  const jittered = wait * (1 - JITTER + 2 * JITTER * random);
  const asked = statusCode === 429 || statusCode === 503 ? retryAfterSeconds(outcome.retryAfter, now) : 0;
  const seconds = Math.max(jittered, Math.min(asked, wait * MAX_RETRY_AFTER_FACTOR));
  return { status: 'PENDING', nextAttemptAt: new Date(now.getTime() + Math.round(seconds * 1000)) };
}

/** Parses seconds or an HTTP date (RFC 9110 §10.2.3); 0 for anything else and for past times. */
export function retryAfterSeconds(value: string | null, now: Date): number {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text);
  // Date.parse alone would also take "5.5" and "-1" for dates.
  const at = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? 0 : Math.max(0, (at - now.getTime()) / 1000);
}
