import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { describeWith } from '../../../test/support/needs.js';
import { startRedis, type TestRedis } from '../../../test/support/redis.js';
import { waitFor } from '../../../test/support/wait.js';
import { createJobQueue, QueueUnavailableError, type JobQueue } from './index.js';

declare module './index.js' {
  interface JobMap {
    'spec.first': { id: number };
    'spec.second': { id: number };
  }
}

interface LogLine {
  fields: { err?: unknown; job?: string };
  message: string;
}

/** Something a handler can wait on and the spec lets go of. */
function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

const ids = (count: number): { id: number }[] => Array.from({ length: count }, (_, id) => ({ id }));

/** Suite that both adapters must pass. */
function contract(kind: JobQueue['kind'], redisUrl: () => string | undefined): void {
  let queue: JobQueue;
  let errors: LogLine[];

  const open = (closeTimeoutMs = 5_000): JobQueue =>
    createJobQueue({
      redisUrl: redisUrl(),
      closeTimeoutMs,
      logger: {
        info: () => undefined,
        warn: () => undefined,
        error: (fields, message) => errors.push({ fields, message }),
      },
    });

  beforeEach(() => {
    errors = [];
    queue = open();
  });

  afterEach(async () => {
    await queue.close();
  });

  it('says what it is and that it can take jobs', async () => {
    expect(queue.kind).toBe(kind);
    await waitFor('an answer in time', () => queue.ping());
  });

  it('gives each job to the handler once, in the order they were added', async () => {
    const seen: number[] = [];
    queue.process('spec.first', { concurrency: 1 }, async ({ id }) => void seen.push(id));
    for (const job of ids(20)) await queue.add('spec.first', job);
    await waitFor('20 jobs', () => seen.length >= 20);
    expect(seen).toEqual(ids(20).map(({ id }) => id));
    await waitFor('nothing left', async () => (await queue.counts())['spec.first']?.active === 0);
    expect(seen).toHaveLength(20);
  });

  it('takes an array, also an empty one and one larger than it sends at once', async () => {
    const seen: number[] = [];
    queue.process('spec.first', { concurrency: 1 }, async ({ id }) => void seen.push(id));
    await queue.add('spec.first', []);
    await queue.add('spec.first', ids(1_200));
    await waitFor('1200 jobs', () => seen.length >= 1_200);
    expect(seen).toEqual(ids(1_200).map(({ id }) => id));
  });

  it('keeps jobs added before there is a handler', async () => {
    const seen: number[] = [];
    await queue.add('spec.first', ids(3));
    expect(await queue.counts()).toEqual({ 'spec.first': { waiting: 3, active: 0 } });
    queue.process('spec.first', { concurrency: 1 }, async ({ id }) => void seen.push(id));
    await waitFor('3 jobs', () => seen.length === 3);
  });

  it('runs exactly as many at once as the concurrency allows', async () => {
    const hold = gate();
    let running = 0;
    let most = 0;
    let done = 0;
    queue.process('spec.first', { concurrency: 3 }, async () => {
      running += 1;
      most = Math.max(most, running);
      await hold.opened;
      running -= 1;
      done += 1;
    });
    await queue.add('spec.first', ids(10));
    await waitFor('3 running', () => running === 3);
    expect(await queue.counts()).toEqual({ 'spec.first': { waiting: 7, active: 3 } });
    hold.open();
    await waitFor('10 done', () => done === 10);
    expect(most).toBe(3);
  });

  it('does not let one name hold up another', async () => {
    const hold = gate();
    const seen: number[] = [];
    queue.process('spec.first', { concurrency: 1 }, () => hold.opened);
    queue.process('spec.second', { concurrency: 1 }, async ({ id }) => void seen.push(id));
    await queue.add('spec.first', ids(5));
    await queue.add('spec.second', ids(5));
    await waitFor('the second name', () => seen.length === 5);
    hold.open();
  });

  it('logs a failing handler with the name of its job and goes on', async () => {
    const seen: number[] = [];
    queue.process('spec.first', { concurrency: 1 }, async ({ id }) => {
      if (id === 0) throw new Error('boom 0');
      seen.push(id);
    });
    // Not async on purpose: it throws before there is a promise.
    queue.process('spec.second', { concurrency: 1 }, ({ id }) => {
      if (id === 0) throw new Error('boom before the promise');
      seen.push(10 + id);
      return Promise.resolve();
    });
    await queue.add('spec.first', ids(2));
    await queue.add('spec.second', ids(2));
    await waitFor('the jobs after the failed ones', () => seen.length === 2);
    expect([...seen].sort((a, b) => a - b)).toEqual([1, 11]);
    expect(errors.map(({ fields, message }) => [message, fields.job, (fields.err as Error).message]).sort()).toEqual([
      ['job failed', 'spec.first', 'boom 0'],
      ['job failed', 'spec.second', 'boom before the promise'],
    ]);
  });

  it('is not affected by what the caller does to its object afterwards', async () => {
    const hold = gate();
    const seen: number[] = [];
    queue.process('spec.first', { concurrency: 1 }, async ({ id }) => {
      await hold.opened;
      seen.push(id);
    });
    const job = { id: 1 };
    await queue.add('spec.first', job);
    job.id = 2;
    hold.open();
    await waitFor('the job', () => seen.length === 1);
    expect(seen).toEqual([1]);
  });

  it('takes one job of a key, and another one once that has ended', async () => {
    const hold = gate();
    const seen: number[] = [];
    const keyOf = ({ id }: { id: number }): string => `key-${id % 2}`;
    await queue.add('spec.first', ids(4), keyOf);
    await queue.add('spec.first', { id: 4 }, keyOf);
    await queue.add('spec.second', { id: 6 }, keyOf);
    expect(await queue.counts()).toEqual({
      'spec.first': { waiting: 2, active: 0 },
      'spec.second': { waiting: 1, active: 0 },
    });
    queue.process('spec.first', { concurrency: 2 }, async ({ id }) => {
      seen.push(id);
      await hold.opened;
    });
    await waitFor('2 running', () => seen.length === 2);
    hold.open();
    await waitFor('them to have ended', async () => (await queue.counts())['spec.first']?.active === 0);
    await queue.add('spec.first', { id: 8 }, keyOf);
    await waitFor('the next job', () => seen.length === 3);
    expect(seen).toEqual([0, 1, 8]);
  });

  it('refuses a second handler for a name', () => {
    queue.process('spec.first', { concurrency: 1 }, async () => undefined);
    expect(() => queue.process('spec.first', { concurrency: 1 }, async () => undefined)).toThrow('already');
  });

  it('lets running jobs end before it is closed and starts no further ones', async () => {
    const hold = gate();
    const started: number[] = [];
    const ended: number[] = [];
    queue.process('spec.first', { concurrency: 2 }, async ({ id }) => {
      started.push(id);
      await hold.opened;
      ended.push(id);
    });
    await queue.add('spec.first', ids(6));
    await waitFor('2 running', () => started.length === 2);
    let closed = false;
    const closing = queue.close().then(() => {
      closed = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(closed).toBe(false);
    hold.open();
    await closing;
    expect(ended).toEqual([0, 1]);
    expect(started).toEqual([0, 1]);
  });

  it('closes although a job hangs', async () => {
    await queue.close();
    queue = open(100);
    const hold = gate();
    let running = false;
    queue.process('spec.first', { concurrency: 1 }, () => {
      running = true;
      return hold.opened;
    });
    await queue.add('spec.first', { id: 1 });
    await waitFor('the job', () => running);
    const from = Date.now();
    await queue.close();
    expect(Date.now() - from).toBeLessThan(2_000);
    hold.open();
  });

  it('takes nothing once closed, and can be closed twice', async () => {
    await queue.close();
    await queue.close();
    const refused = queue.add('spec.first', { id: 1 });
    await expect(refused).rejects.toBeInstanceOf(QueueUnavailableError);
    await expect(refused).rejects.toMatchObject({ reason: 'closed' });
    expect(await queue.ping()).toBe(false);
  });
}

describe('JobQueue in-process', () => {
  contract('in-process', () => undefined);
});

describeWith('redis')('JobQueue on Redis', () => {
  let redis: TestRedis;

  beforeAll(async () => {
    redis = await startRedis();
  });

  afterEach(async () => {
    await redis.flush();
  });

  afterAll(async () => {
    await redis.stop();
  });

  contract('redis', () => redis.url);
});
