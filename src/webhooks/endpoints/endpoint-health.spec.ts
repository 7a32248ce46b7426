import { describe, expect, it } from '@jest/globals';
import { type AttemptResult, type Health, isSuccess, isToBeDisabled, nextHealth } from './endpoint-health.js';

const WELL: Health = { failures: 0, failingSince: null, pausedUntil: null };
const T0 = new Date('2026-11-21T12:00:00.000Z');
const after = (seconds: number): Date => new Date(T0.getTime() + seconds * 1000);
const middle = (): number => 0.5;
const result = (statusCode: number | null, seconds = 0, attempts = 1): AttemptResult => ({
  statusCode,
  at: after(seconds),
  attempts,
});
const times = (count: number, statusCode: number | null): AttemptResult[] =>
  Array.from({ length: count }, () => result(statusCode));

describe('the circuit breaker', () => {
  it.each([null, 500, 502, 503, 504, 599, 429])('opens after five failures in a row: %p', (statusCode) => {
    expect(nextHealth(WELL, times(4, statusCode), T0, middle)).toEqual({
      failures: 4,
      failingSince: T0,
      pausedUntil: null,
    });
    expect(nextHealth(WELL, times(5, statusCode), T0, middle)).toEqual({
      failures: 5,
      failingSince: T0,
      pausedUntil: after(5),
    });
  });

  it.each([301, 400, 401, 404, 410, 422])('does not open for %i: the endpoint works', (statusCode) => {
    expect(nextHealth(WELL, times(50, statusCode), T0, middle)).toEqual({
      failures: 50,
      failingSince: T0,
      pausedUntil: null,
    });
  });

  it('counts failures over several batches, but only in a row', () => {
    const four = nextHealth(WELL, times(4, 500), T0, middle);
    expect(nextHealth(four, [result(null, 3)], after(3), middle)).toEqual({
      failures: 5,
      failingSince: T0,
      pausedUntil: after(8),
    });
    const mixed = [...times(3, 500), result(200), result(500, 1), result(500, 2)];
    expect(nextHealth(four, mixed, after(2), middle)).toEqual({
      failures: 2,
      failingSince: after(1),
      pausedUntil: null,
    });
  });

  it('does not open for a single delivery, however often it fails, until another one fails too', () => {
    const alone = (from: Health, first: number, last: number): Health =>
      Array.from({ length: last - first + 1 }, (_, n) => first + n).reduce(
        (health, attempts) => nextHealth(health, [result(500, 0, attempts)], T0, middle),
        from,
      );
    const poisoned = alone(WELL, 1, 14);
    expect(poisoned).toEqual({ failures: 14, failingSince: T0, pausedUntil: null });
    expect(nextHealth(poisoned, [result(500, 0, 1)], T0, middle).pausedUntil).toEqual(after(5));
    // Failures before the last success do not count.
    expect(alone(WELL, 7, 14).pausedUntil).toBeNull();
    // While the breaker is open, the probe's result decides, whichever delivery it is.
    const open: Health = { failures: 5, failingSince: T0, pausedUntil: T0 };
    expect(nextHealth(open, [result(500, 0, 9)], T0, middle).pausedUntil).toEqual(after(5));
  });

  it('pauses for a quarter of the outage, 5 to 60 s, ±20 %', () => {
    const down = (seconds: number): Health => ({ failures: 9, failingSince: after(-seconds), pausedUntil: T0 });
    const pause = (seconds: number, random: number): number =>
      ((nextHealth(down(seconds), [result(null)], T0, () => random).pausedUntil?.getTime() ?? 0) - T0.getTime()) / 1000;
    expect([0, 20, 40, 100, 240, 86_400].map((seconds) => pause(seconds, 0.5))).toEqual([5, 5, 10, 25, 60, 60]);
    expect(pause(86_400, 0)).toBe(48);
    expect(pause(86_400, 0.999_999)).toBeCloseTo(72, 2);
  });

  it('closes at a success, which resets everything', () => {
    const open: Health = { failures: 12, failingSince: after(-100), pausedUntil: after(20) };
    expect(nextHealth(open, [result(204)], T0, middle)).toEqual(WELL);
  });

  it('closes at an answer without success too, but the endpoint still counts as failing', () => {
    const open: Health = { failures: 12, failingSince: after(-100), pausedUntil: after(20) };
    expect(nextHealth(open, [result(404)], T0, middle)).toEqual({ ...open, failures: 13, pausedUntil: null });
  });

  it('changes nothing when there were no attempts', () => {
    const open: Health = { failures: 12, failingSince: after(-100), pausedUntil: after(20) };
    expect(nextHealth(open, [], T0, middle)).toEqual(open);
  });
});

describe('giving an endpoint up', () => {
  const DAYS_5 = 5 * 24 * 3600;

  it.each([
    ['registered', 20, DAYS_5, true],
    ['registered', 19, DAYS_5, false],
    ['registered', 20, DAYS_5 - 1, false],
    ['registered', 5_000, DAYS_5 - 1, false],
    ['registered', 20, 30 * DAYS_5, true],
    ['direct', 5_000, 30 * DAYS_5, false],
  ] as const)('a %s endpoint with %i failures in %i s is given up: %p', (kind, failures, seconds, expected) => {
    const health = { failures, failingSince: after(-seconds), pausedUntil: null };
    expect(isToBeDisabled(kind, health, T0)).toBe(expected);
  });

  it('never disables a healthy endpoint', () => {
    expect(isToBeDisabled('registered', WELL, T0)).toBe(false);
  });
});

it.each([
  [200, true],
  [299, true],
  [199, false],
  [300, false],
  [null, false],
])('the status %p counts as a success: %p', (statusCode, expected) => {
  expect(isSuccess(statusCode)).toBe(expected);
});
