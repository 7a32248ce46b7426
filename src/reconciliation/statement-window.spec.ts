import { describe, expect, it } from '@jest/globals';
import { afterFailure, afterRead, windowOf } from './statement-window.js';
import type { Progress } from './statements.repository.js';

const NOW = new Date('2026-11-21T12:00:00.000Z');
const at = (text: string): Date => new Date(`2026-11-${text}:00.000Z`);
const fresh: Progress = {
  acquirer: 'pix-api:1',
  list: 'payments',
  sweptUntil: null,
  resumeAt: null,
  nextDueAt: NOW,
  attempts: 0,
};

/** Reads windows until the pass has ended. */
function pass(progress: Progress, now: Date): { windows: string[]; after: Progress } {
  const windows: string[] = [];
  let current = progress;
  do {
    const window = windowOf(current, now);
    windows.push(`${window.from.toISOString().slice(8, 16)} ${window.to.toISOString().slice(8, 16)}`);
    current = { ...current, ...afterRead(current, window, now) };
  } while (current.resumeAt !== null);
  return { windows, after: current };
}

describe('the window of a list', () => {
  it('begins ten minutes ago, and then overlaps by ten minutes every minute', () => {
    const first = pass(fresh, NOW);
    expect(first.windows).toEqual(['21T11:50 21T12:00']);
    expect(first.after).toMatchObject({ sweptUntil: NOW, attempts: 0, nextDueAt: at('21T12:01') });
    expect(pass(first.after, at('21T12:01')).windows).toEqual(['21T11:50 21T12:01']);
  });

  it('covers every hour of an outage without a gap', () => {
    const { windows, after } = pass({ ...fresh, sweptUntil: at('21T09:40') }, NOW);
    expect(windows).toEqual(['21T09:30 21T10:30', '21T10:30 21T11:30', '21T11:30 21T12:00']);
    expect(after.sweptUntil).toEqual(NOW);
  });

  it('covers the Pix of ninety days for returns, once a day', () => {
    const { windows, after } = pass({ ...fresh, list: 'returns' }, NOW);
    expect(windows).toHaveLength(18);
    expect([windows[0], windows.at(-1)]).toEqual(['23T12:00 28T12:00', '16T12:00 21T12:00']);
    expect(after.nextDueAt).toEqual(at('22T12:00'));
    expect(pass(after, at('22T12:00')).windows).toHaveLength(18);
  });

  it('covers the last three days again once a day, except times that are not late yet', () => {
    const { windows, after } = pass({ ...fresh, list: 'late_payments' }, NOW);
    expect(windows).toHaveLength(12);
    expect([windows[0], windows.at(-1)]).toEqual(['18T12:00 18T18:00', '21T06:00 21T11:50']);
    expect(after.nextDueAt).toEqual(at('22T12:00'));
  });

  it('stays in place after a failure, and is retried in growing pauses', () => {
    const failing = { ...fresh, sweptUntil: at('21T08:00'), resumeAt: at('21T09:00') };
    const pauses = Array.from({ length: 6 }, (_, attempts) => {
      const { nextDueAt, ...kept } = afterFailure({ ...failing, attempts }, NOW);
      expect(kept).toEqual({ sweptUntil: failing.sweptUntil, resumeAt: failing.resumeAt, attempts: attempts + 1 });
      return (nextDueAt.getTime() - NOW.getTime()) / 60_000;
    });
    expect(pauses).toEqual([1, 2, 4, 8, 10, 10]);
  });
});
