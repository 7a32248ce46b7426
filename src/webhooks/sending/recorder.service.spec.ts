import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { withFakeTimers } from '../../../test/support/fake-timers.js';
import { Clock } from '../../core/clock.js';
import { readConfig } from '../../core/config/index.js';
import type { Logger } from '../../core/log/index.js';
import { Metrics } from '../../core/metrics/index.js';
import type { ClaimedDelivery, Outcome } from './delivery-queue.repository.js';
import type { OutcomesService } from './outcomes.service.js';
import { Recorder } from './recorder.service.js';
import type { SentAttempt } from './sender.service.js';

const endpoint: ClaimedDelivery['endpoint'] = {
  id: 'endpoint',
  url: 'http://receiver.example/',
  kind: 'registered' as const,
  accountId: 'account',
  mode: 'test' as const,
  secretSealed: null,
  previousSecretSealed: null,
  previousSecretUntil: null,
  signature: 'default',
};
const delivery = (id: string): ClaimedDelivery => ({
  id,
  endpoint,
  eventType: 'charge.paid',
  messageId: 'message',
  payload: '{}',
  dueAt: '2026-11-20 12:00:00+00',
  dueAtMs: Date.UTC(2026, 10, 20, 12),
  isAgain: false,
  attempts: 1,
  maxAttempts: 3,
});
const answered = (statusCode: number): SentAttempt => ({
  startedAt: new Date(),
  durationMs: 1,
  statusCode,
  error: statusCode === 200 ? null : `HTTP ${statusCode}`,
  retryAfter: null,
  responseBody: '',
  isSigned: true,
});
const away = (): Error => Object.assign(new Error('the database is starting'), { code: '57P03' });

describe('Recorder', () => {
  let batches: string[][];
  /** Behaviour of the next writes; by default they succeed. */
  let fate: (ids: string[]) => Promise<void> | void;
  let logged: string[];
  let metrics: Metrics;
  let recorder: Recorder;

  beforeEach(() => {
    batches = [];
    logged = [];
    fate = () => undefined;
    metrics = new Metrics();
    const outcomes = {
      write: async (written: readonly Outcome[]) => {
        const ids = written.map((outcome) => outcome.delivery.id);
        batches.push(ids);
        await fate(ids);
      },
    };
    const note = (_fields: object, message: string): void => void logged.push(message);
    const logger: Logger = { debug: note, info: note, warn: note, error: note };
    const config = readConfig({ WEBHOOK_RETRY_SCHEDULE: '10,20' });
    recorder = new Recorder(config, outcomes as OutcomesService, new Clock(), metrics, logger);
  });

  const record = (ids: string[], statusCode = 200): Promise<void[]> =>
    Promise.all(ids.map((id) => recorder.record(delivery(id), answered(statusCode))));

  describe('writes outcomes that gathered during a write at once, without waiting for more', () => {
    withFakeTimers();

    /** Records `count` outcomes while the first one is written. Time does not move after that write. */
    async function recordDuringWrite(count: number): Promise<void> {
      fate = (ids) => {
        if (ids.includes('first')) void record(Array.from({ length: count }, (_, n) => `${n}`));
      };
      void record(['first']);
      await jest.advanceTimersByTimeAsync(20);
    }

    it('writes 64 outcomes that came meanwhile without waiting for more', async () => {
      await recordDuringWrite(64);
      expect(batches.map((ids) => ids.length)).toEqual([1, 64]);
    });

    it('waits 20 ms for more when only 63 came meanwhile', async () => {
      await recordDuringWrite(63);
      expect(batches).toHaveLength(1);
      await jest.advanceTimersByTimeAsync(20);
      expect(batches.map((ids) => ids.length)).toEqual([1, 63]);
    });
  });

  it('writes outcomes that end together in one write, and those that end meanwhile in the next one', async () => {
    let later: Promise<unknown> = Promise.resolve();
    fate = async (ids) => {
      if (ids.includes('a')) later = record(['d', 'e']);
    };
    await record(['a', 'b', 'c']);
    await later;
    expect(batches).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e'],
    ]);
    await record(['f']);
    expect(batches).toHaveLength(3);
  });

  it('counts outcomes by the resulting status of the delivery', async () => {
    await record(['a', 'b']);
    await record(['c'], 500);
    await record(['d'], 410);
    const { values } = await metrics.deliveries.get();
    expect(Object.fromEntries(values.map(({ labels, value }) => [labels['outcome'], value]))).toEqual({
      delivered: 2,
      retry: 1,
      failed: 1,
    });
  });

  it('waits while the database is away, keeps the order, and holds callers until the outcome is written', async () => {
    let done = 0;
    let second: Promise<unknown> = Promise.resolve();
    fate = () => {
      if (batches.length === 3) return;
      expect(done).toBe(0);
      if (batches.length === 1) second = record(['c']).then(() => done++);
      throw away();
    };
    await record(['a', 'b']).then(() => done++);
    await second;
    expect(done).toBe(2);
    expect(batches).toEqual([
      ['a', 'b'],
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
    ]);
  });

  it.each([
    ['invalid byte sequence', '22021'],
    ['canceling statement due to statement timeout', '57014'],
  ])('isolates an outcome that cannot be written from the others: %s', async (message, code) => {
    fate = (ids) => {
      if (ids.includes('bad')) throw Object.assign(new Error(message), { code });
    };
    await record(['a', 'bad', 'b']);
    expect(batches).toEqual([['a', 'bad', 'b'], ['a'], ['bad'], ['b']]);
    expect(logged).toEqual(['a webhook attempt was not recorded; it will be repeated']);
    expect((await metrics.deliveries.get()).values[0]?.value).toBe(2);
  });

  it('releases all callers when closed, and writes nothing more', async () => {
    fate = () => {
      recorder.close();
      throw away();
    };
    await record(['a', 'b']);
    await record(['c']);
    expect(batches).toEqual([['a', 'b']]);
    expect(await metrics.deliveries.get()).toMatchObject({ values: [] });
  });
});
