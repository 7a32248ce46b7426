import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { describeWith } from '../../../test/support/needs.js';
import { startRedis, type TestRedis } from '../../../test/support/redis.js';
import { waitFor } from '../../../test/support/wait.js';
import { BullJobQueue } from './bull-job-queue.js';

declare module './index.js' {
  interface JobMap {
    'spec.bull': { id: number };
    'spec.other': { id: number };
  }
}

const ADD_LIMIT_MS = 1_300;

/** Outages of a real server: the service must come through each without a restart. */
describeWith('redis')('BullJobQueue when Redis fails', () => {
  let redis: TestRedis;
  let queues: BullJobQueue[];
  let unhandled: unknown[];
  let warnings: string[];
  const onUnhandled = (reason: unknown): void => void unhandled.push(reason);

  const open = (closeTimeoutMs = 5_000): BullJobQueue => {
    const warn = (_fields: object, message: string): void => void warnings.push(message);
    const queue = new BullJobQueue({
      redisUrl: redis.url,
      closeTimeoutMs,
      logger: { info: () => undefined, warn, error: warn },
    });
    queues.push(queue);
    return queue;
  };

  /** A queue with a handler, and the ids the handler has seen. */
  const worker = (concurrency = 2): { queue: BullJobQueue; seen: number[] } => {
    const queue = open();
    const seen: number[] = [];
    queue.process('spec.bull', { concurrency }, async ({ id }) => void seen.push(id));
    return { queue, seen };
  };

  /** Adds as a sweeper does: again until it is accepted and seen. */
  const addUntilSeen = (queue: BullJobQueue, seen: number[], id: number): Promise<true> =>
    waitFor(
      `job ${id}`,
      async () => {
        if (seen.includes(id)) return true;
        await queue.add('spec.bull', { id }).catch(() => undefined);
        return false;
      },
      10_000,
    );

  const expectRefusedInTime = async (queue: BullJobQueue, reason: string): Promise<void> => {
    const from = Date.now();
    await expect(queue.add('spec.bull', { id: -1 })).rejects.toMatchObject({ name: 'QueueUnavailableError', reason });
    expect(Date.now() - from).toBeLessThan(ADD_LIMIT_MS);
  };

  beforeAll(async () => {
    redis = await startRedis();
    process.on('unhandledRejection', onUnhandled);
  });

  beforeEach(() => {
    queues = [];
    unhandled = [];
    warnings = [];
  });

  afterEach(async () => {
    await Promise.all(queues.map((queue) => queue.close()));
    await redis.kill();
    await redis.start();
    expect(unhandled).toEqual([]);
  });

  afterAll(async () => {
    process.off('unhandledRejection', onUnhandled);
    await redis.stop();
  });

  it('refuses at once while Redis is dead and works again when it has restarted empty', async () => {
    const { queue, seen } = worker();
    await addUntilSeen(queue, seen, 1);
    for (let round = 2; round < 6; round++) {
      await redis.kill();
      await waitFor('the outage to be noticed', async () => !(await queue.ping()));
      await expectRefusedInTime(queue, 'unreachable');
      await expect(queue.counts()).rejects.toMatchObject({ reason: 'unreachable' });
      await redis.start();
      await addUntilSeen(queue, seen, round);
    }
  }, 60_000);

  it('comes through many short deaths under load', async () => {
    const { queue, seen } = worker(5);
    let id = 0;
    let adding = true;
    const load = (async () => {
      while (adding) {
        const first = id;
        id += 10;
        const jobs = Array.from({ length: 10 }, (_, i) => ({ id: first + i }));
        await queue.add('spec.bull', jobs).catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    })();
    for (let round = 0; round < 8; round++) {
      const from = seen.length;
      await waitFor('some jobs', () => seen.length > from + 50, 10_000);
      await redis.kill();
      await redis.start();
    }
    adding = false;
    await load;
    await addUntilSeen(queue, seen, 1_000_000);
  }, 60_000);

  it('can be started before Redis is', async () => {
    await redis.kill();
    const { queue, seen } = worker();
    await expectRefusedInTime(queue, 'unreachable');
    expect(await queue.ping()).toBe(false);
    await redis.start();
    await addUntilSeen(queue, seen, 1);
  }, 20_000);

  it('accepts a job as its very first act, while still connecting', async () => {
    const { queue, seen } = worker();
    await queue.add('spec.bull', { id: 7 });
    await waitFor('the job', () => seen.includes(7));
  });

  it('goes on after FLUSHALL, idle or under a running job', async () => {
    const queue = open();
    const seen: number[] = [];
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    queue.process('spec.bull', { concurrency: 1 }, async ({ id }) => {
      if (id === 2) await held;
      seen.push(id);
    });
    await addUntilSeen(queue, seen, 1);
    await redis.flush();
    await queue.add('spec.bull', { id: 2 });
    await waitFor('the job to run', async () => (await queue.counts())['spec.bull']?.active === 1);
    await redis.flush();
    release();
    await addUntilSeen(queue, seen, 3);
    expect(seen.filter((id) => id === 2)).toEqual([2]);
  }, 20_000);

  it('does not lose jobs when the server forgets its scripts', async () => {
    const { queue, seen } = worker();
    await queue.add('spec.bull', [{ id: 1 }, { id: 2 }]);
    await redis.command('SCRIPT', 'FLUSH');
    await queue.add('spec.bull', [{ id: 3 }, { id: 4 }]);
    await waitFor('4 jobs', () => seen.length === 4);
  });

  it('survives having its connections cut', async () => {
    const { queue, seen } = worker();
    await addUntilSeen(queue, seen, 1);
    for (let round = 2; round < 8; round++) {
      await redis.command('CLIENT', 'KILL', 'TYPE', 'normal');
      await addUntilSeen(queue, seen, round);
    }
  }, 30_000);

  it('gives up in time on a Redis that does not answer, and goes on when it does again', async () => {
    const { queue, seen } = worker();
    await addUntilSeen(queue, seen, 1);
    redis.freeze();
    try {
      await expectRefusedInTime(queue, 'timeout');
      expect(await queue.ping()).toBe(false);
    } finally {
      redis.thaw();
    }
    await addUntilSeen(queue, seen, 2);
  }, 20_000);

  it.each([
    ['is a replica (READONLY)', ['REPLICAOF 127.0.0.1 1'], ['REPLICAOF NO ONE']],
    ['is full (OOM)', ['CONFIG SET maxmemory-policy noeviction', 'CONFIG SET maxmemory 1'], ['CONFIG SET maxmemory 0']],
    [
      'misses its replicas (NOREPLICAS)',
      ['CONFIG SET min-replicas-to-write 1'],
      ['CONFIG SET min-replicas-to-write 0'],
    ],
  ])('is down in the health check while Redis answers PING and %s', async (_state, begin, end) => {
    const tell = async (commands: string[]): Promise<void> => {
      for (const command of commands) expect(await redis.command(...command.split(' '))).toBe('+OK');
    };
    const queue = open();
    await waitFor('the queue to be up', () => queue.ping());
    await tell(begin);
    expect(await redis.command('PING')).toBe('+PONG');
    for (let times = 0; times < 3; times++) expect(await queue.ping()).toBe(false);
    await expect(queue.add('spec.bull', { id: -1 })).rejects.toMatchObject({ name: 'QueueUnavailableError' });
    await tell(end);
    await waitFor('the queue to be up again', () => queue.ping());
    await queue.add('spec.bull', { id: 1 });
  });

  it('leaves nothing behind in Redis for its health check', async () => {
    const queue = open();
    await waitFor('the queue to be up', () => queue.ping());
    expect(await redis.command('TTL', '{recebe}:ping')).toMatch(/^:[1-6]\d?$/);
  });

  it('finds its way back from a connection that only looks alive', async () => {
    const { queue, seen } = worker();
    await addUntilSeen(queue, seen, 1);
    redis.freeze();
    try {
      // After the socket time-out the outage is known: add no longer waits at all.
      await waitFor(
        'the connection to be given up',
        async () => {
          const failure = await queue.add('spec.bull', { id: -1 }).catch((err: { reason: string }) => err);
          return failure?.reason === 'unreachable';
        },
        15_000,
      );
    } finally {
      redis.thaw();
    }
    await addUntilSeen(queue, seen, 2);
  }, 30_000);

  it('hands a job that ran through a short outage to nobody else', async () => {
    const first = open();
    const second = open();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let runs = 0;
    const handler = async ({ id }: { id: number }): Promise<void> => {
      if (id !== 1) return;
      runs += 1;
      await held;
    };
    first.process('spec.bull', { concurrency: 2 }, handler);
    second.process('spec.bull', { concurrency: 2 }, handler);
    await first.add('spec.bull', { id: 1 });
    await waitFor('the job to run', () => runs === 1);
    await redis.command('CLIENT', 'KILL', 'TYPE', 'normal');
    release();
    await waitFor('the job to be gone', async () => {
      const counts = await first.counts().catch(() => undefined);
      return counts?.['spec.bull']?.active === 0;
    });
    expect(runs).toBe(1);
  }, 20_000);

  it('shares the jobs of a name between processes, each run once', async () => {
    const one = worker();
    const two = worker();
    const jobs = Array.from({ length: 500 }, (_, id) => ({ id }));
    await one.queue.add('spec.bull', jobs);
    await waitFor('500 jobs', () => one.seen.length + two.seen.length >= 500, 10_000);
    const seen = [...one.seen, ...two.seen].sort((a, b) => a - b);
    expect(seen).toEqual(jobs.map(({ id }) => id));
  }, 20_000);

  it('leaves nothing behind in Redis for finished and failed jobs', async () => {
    const queue = open();
    let done = 0;
    queue.process('spec.bull', { concurrency: 4 }, async ({ id }) => {
      done += 1;
      if (id % 2 === 0) throw new Error('fails');
    });
    await queue.add(
      'spec.bull',
      Array.from({ length: 100 }, (_, id) => ({ id })),
    );
    await waitFor('100 jobs', () => done === 100);
    // The id counter and the mark of the last look for stalled jobs stay.
    await waitFor('the keys to go', async () => {
      const reply = await redis.command('DBSIZE');
      return Number(reply.slice(1)) <= 2;
    });
  });

  it('closes in bounded time with Redis dead and a job running, which may end its work', async () => {
    const queue = open();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let running = false;
    let ended = false;
    queue.process('spec.bull', { concurrency: 2 }, async () => {
      running = true;
      await held;
      ended = true;
    });
    queue.process('spec.other', { concurrency: 1 }, async () => undefined);
    await queue.add('spec.bull', { id: 1 });
    await waitFor('the job to run', () => running);
    await redis.kill();
    const from = Date.now();
    const closing = queue.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    release();
    await closing;
    expect(ended).toBe(true);
    expect(Date.now() - from).toBeLessThan(3_000);
    expect(warnings).not.toContain('job queue closed before its running jobs ended');
  }, 20_000);

  it('closes quickly when idle, also when Redis was never there', async () => {
    const { queue, seen } = worker();
    await addUntilSeen(queue, seen, 1);
    const from = Date.now();
    await queue.close();
    expect(Date.now() - from).toBeLessThan(500);
    await redis.kill();
    const lost = worker();
    const lostFrom = Date.now();
    await lost.queue.close();
    expect(Date.now() - lostFrom).toBeLessThan(1_500);
  }, 20_000);

  it('starts working when a wrong password is put right, and never logs it', async () => {
    await redis.command('CONFIG', 'SET', 'requirepass', 'the-right-one');
    const logged: unknown[] = [];
    const log = (fields: object, message: string): void => void logged.push({ ...fields, message });
    const queue = new BullJobQueue({
      redisUrl: redis.url.replace('redis://', 'redis://:the-wrong-one@'),
      logger: { info: log, warn: log, error: log },
    });
    queues.push(queue);
    const seen: number[] = [];
    queue.process('spec.bull', { concurrency: 1 }, async ({ id }) => void seen.push(id));
    await waitFor('the refusal to be logged', () => JSON.stringify(logged).includes('WRONGPASS'));
    await expectRefusedInTime(queue, 'unreachable');
    // Two commands on one connection, as the first is what allows the second.
    await redis.command('AUTH', 'the-right-one\r\nCONFIG', 'SET', 'requirepass', 'the-wrong-one');
    await addUntilSeen(queue, seen, 1);
    expect(inspect(logged, { depth: 10 })).not.toContain('the-wrong-one');
  }, 20_000);

  it('reports an outage in a few lines, not in one per attempt', async () => {
    const { queue, seen } = worker();
    queue.process('spec.other', { concurrency: 1 }, async () => undefined);
    await addUntilSeen(queue, seen, 1);
    await redis.kill();
    await waitFor('the outage to be noticed', async () => !(await queue.ping()));
    const until = Date.now() + 1_500;
    await waitFor('several attempts to reconnect', () => Date.now() > until);
    expect(warnings.length).toBeGreaterThan(0);
    expect(warnings.length).toBeLessThan(10);
  }, 20_000);
});
