import { describe, expect, it } from '@jest/globals';
import { readConfig } from '../../core/config/index.js';
import { judge, maxAttempts, retryAfterSeconds, type Verdict } from './retry-schedule.js';

const now = new Date('2026-11-03T12:00:00.000Z');
const schedule = [10, 30, 120];
const ALMOST_1 = 1 - 2 ** -53;

function after(attempts: number, statusCode: number | null, retryAfter: string | null = null, random = 0.5): Verdict {
  return judge({ statusCode, retryAfter }, { attempts, maxAttempts: maxAttempts(schedule) }, schedule, now, random);
}

function waitOf(verdict: Verdict): number | null {
  return verdict.nextAttemptAt && (verdict.nextAttemptAt.getTime() - now.getTime()) / 1000;
}

describe('judge', () => {
  it.each([200, 201, 204, 299])('judges %d as delivered', (statusCode) => {
    expect(after(1, statusCode)).toEqual({ status: 'DELIVERED', nextAttemptAt: null });
  });

  it('judges a 2xx of the last attempt as delivered', () => {
    expect(after(4, 200).status).toBe('DELIVERED');
  });

  it.each([301, 302, 400, 404, 429, 500, 503, null])('tries %p again after the wait of that attempt', (statusCode) => {
    expect([1, 2, 3].map((attempts) => waitOf(after(attempts, statusCode)))).toEqual([10, 30, 120]);
    expect(after(1, statusCode).status).toBe('PENDING');
  });

  it.each([500, 429, null])('fails after the last attempt (%p)', (statusCode) => {
    expect(after(4, statusCode, '5')).toEqual({ status: 'FAILED', nextAttemptAt: null });
    expect(after(5, statusCode, '5')).toEqual({ status: 'FAILED', nextAttemptAt: null });
  });

  it('fails at once on 410', () => {
    expect(after(1, 410)).toEqual({ status: 'FAILED', nextAttemptAt: null });
  });

  it('keeps the jitter within 10 % to either side', () => {
    expect(waitOf(after(3, 500, null, 0))).toBe(108);
    expect(waitOf(after(3, 500, null, ALMOST_1))).toBe(132);
  });

  it('waits as Retry-After says, up to twice the next wait, and never less than the schedule', () => {
    expect(waitOf(after(2, 429, '45'))).toBe(45);
    expect(waitOf(after(2, 503, '3600'))).toBe(60);
    expect(waitOf(after(2, 503, '1'))).toBe(30);
    expect(waitOf(after(2, 503, 'Tue, 03 Nov 2026 12:00:50 GMT'))).toBe(50);
  });

  it('heeds Retry-After on 429 and 503 only', () => {
    expect(waitOf(after(2, 500, '45'))).toBe(30);
    expect(waitOf(after(2, 302, '45'))).toBe(30);
  });

  it('repeats the last wait for a row written under a longer schedule', () => {
    const verdict = judge({ statusCode: 500, retryAfter: null }, { attempts: 9, maxAttempts: 15 }, schedule, now, 0.5);
    expect(waitOf(verdict)).toBe(120);
  });

  it('makes 15 attempts over about four days by default', () => {
    const { retryScheduleSeconds } = readConfig({}).webhooks;
    expect(maxAttempts(retryScheduleSeconds)).toBe(15);
    const waits = Array.from({ length: 15 }, (_, index) =>
      waitOf(
        judge(
          { statusCode: null, retryAfter: null },
          { attempts: index + 1, maxAttempts: 15 },
          retryScheduleSeconds,
          now,
          0.5,
        ),
      ),
    );
    const minute = 60;
    const hour = 3600;
    expect(waits).toEqual([
      10,
      30,
      2 * minute,
      5 * minute,
      15 * minute,
      30 * minute,
      ...[1, 2, 4, 6, 8, 12, 16, 22].map((hours) => hours * hour),
      null,
    ]);
  });
});

describe('retryAfterSeconds', () => {
  it.each([
    ['120', 120],
    [' 7 ', 7],
    ['Tue, 03 Nov 2026 12:01:00 GMT', 60],
    ['Tue, 03 Nov 2026 11:00:00 GMT', 0],
    ['-5', 0],
    ['1.5', 0],
    ['soon', 0],
    ['', 0],
    [null, 0],
  ])('reads %p as %d s', (value, seconds) => {
    expect(retryAfterSeconds(value, now)).toBe(seconds);
  });
});
