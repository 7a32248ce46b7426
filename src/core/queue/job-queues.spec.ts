import { inspect } from 'node:util';
import { BullModule, Process, Processor } from '@nestjs/bull';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { describeWith } from '../../../test/support/needs.js';
import { startRedis, type TestRedis } from '../../../test/support/redis.js';
import { waitFor } from '../../../test/support/wait.js';
import { Logger } from '../log/index.js';
import { within } from '../within.js';
import { JobQueues, Poller, QueueRedis, QUEUES, WakeProcessor } from './index.js';

/** Above the limit of `add`, which is half a second */
const ADD_LIMIT_MS = 700;

interface Job {
  readonly id: string;
}
type Handler = (id: string) => Promise<void>;
type Log = (fields: object, message: string) => void;

const noop = (): void => undefined;
const never = 1_000_000_000;

/** Blocks a handler until the spec opens it. */
function gate(): { opened: Promise<void>; open: () => void } {
  let open = noop;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

const ids = (count: number): Job[] => Array.from({ length: count }, (_, id) => ({ id: String(id) }));
const keyOf = ({ id }: Job): string => id;

/** A process of the service as far as queues matter. */
class SpecProcess {
  readonly seen: string[] = [];

  private constructor(
    private readonly app: INestApplicationContext,
    private readonly redis: QueueRedis | null,
    readonly poller: Poller,
    readonly jobs: JobQueues,
  ) {}

  /** @param handler runs the jobs of `deliveries`; null in a process without workers */
  static async start(redisUrl: string | null, handler: Handler | null, log: Log = noop): Promise<SpecProcess> {
    const logger: Logger = { debug: noop, info: log, warn: log, error: log };
    const redis = redisUrl === null ? null : new QueueRedis({ redisUrl, logger });
    const poller = new Poller({ logger });
    const run = async ({ id }: Job): Promise<void> => {
      await handler?.(id);
      started.seen.push(id);
    };

    @Processor('deliveries')
    class SpecProcessor {
      @Process({ name: 'deliveries', concurrency: 1 })
      run({ data }: { data: Job }): Promise<void> {
        return run(data);
      }
    }
    class SpecModule {}
    const queues = QUEUES.map((name) => ({ name }));
    const app = await NestFactory.createApplicationContext(
      {
        module: SpecModule,
        imports: redis ? [BullModule.forRoot(redis.options), BullModule.registerQueue(...queues)] : [],
        providers: [
          { provide: Logger, useValue: logger },
          { provide: Poller, useValue: poller },
          { provide: QueueRedis, useValue: redis },
          JobQueues,
          ...(redis && handler ? [SpecProcessor, WakeProcessor] : []),
        ],
      },
      { logger: false, abortOnError: false },
    );
    const started = new SpecProcess(app, redis, poller, app.get(JobQueues));
    return started;
  }

  add(id: string): Promise<boolean> {
    return this.jobs.add('deliveries', [{ id }], keyOf);
  }

  /** Adds the job again and again, as a sweeper does, until a process has run it. */
  addUntilSeen(id: string): Promise<true> {
    return waitFor(`job ${id}`, async () => {
      if (this.seen.includes(id)) return true;
      await this.add(id);
      return false;
    });
  }

  async close(): Promise<void> {
    await this.app.close();
    await this.redis?.close();
    await this.poller.stop();
  }
}

it('without Redis wakes only the tasks of this process', async () => {
  const own = await SpecProcess.start(null, async () => undefined);
  let runs = 0;
  own.poller.every('task', never, async () => void (runs += 1));
  own.jobs.wake('task');
  own.jobs.wake('task of another process');
  await waitFor('the run', () => runs === 1);
  expect([await own.add('1'), await own.jobs.ping(), await own.jobs.waiting(), own.seen]).toEqual([false, true, 0, []]);
  await own.close();
});

describeWith('redis')('JobQueues on Redis', () => {
  let redis: TestRedis;
  let processes: SpecProcess[];
  let unhandled: unknown[];
  let warnings: string[];
  const onUnhandled = (reason: unknown): void => void unhandled.push(reason);

  const open = async (handler: Handler | null, url = redis.url): Promise<SpecProcess> => {
    const log: Log = (_fields, message) => void (message === 'Redis connection ready' || warnings.push(message));
    const started = await SpecProcess.start(url, handler, log);
    processes.push(started);
    return started;
  };
  const worker = (handler: Handler = async () => undefined): Promise<SpecProcess> => open(handler);
  /** A process without workers, which can add jobs. */
  const api = async (): Promise<SpecProcess> => {
    const started = await open(null);
    await waitFor('the connection', () => started.jobs.ping());
    return started;
  };

  /** Timers of one process end in their order, however slow it is: that of `add` comes first. */
  const expectRefusedInTime = async ({ jobs }: SpecProcess): Promise<void> => {
    expect(await within(ADD_LIMIT_MS, jobs.add('deliveries', [{ id: '-1' }], keyOf))).toBe(false);
  };
  /** The number of jobs that a process has taken and not ended. */
  const active = async (queue = 'deliveries'): Promise<number> =>
    Number((await redis.command('LLEN', `{recebe}:${queue}:active`)).slice(1));

  beforeAll(async () => {
    redis = await startRedis();
    process.on('unhandledRejection', onUnhandled);
  });

  beforeEach(() => {
    processes = [];
    unhandled = [];
    warnings = [];
  });

  afterEach(async () => {
    await Promise.all(processes.map((each) => each.close()));
    await redis.kill();
    await redis.start();
    expect(unhandled).toEqual([]);
  });

  afterAll(async () => {
    process.off('unhandledRejection', onUnhandled);
    await redis.stop();
  });

  it('has two queues in Redis', async () => {
    const { jobs } = await api();
    await jobs.add('deliveries', ids(1), keyOf);
    await jobs.add('wake', [{ task: 'a' }], ({ task }) => task);
    await waitFor('both jobs', async () => (await jobs.waiting()) === 2);
    for (const queue of QUEUES) expect(await redis.command('LLEN', `{recebe}:${queue}:wait`)).toBe(':1');
  });

  describe.each(QUEUES)('promises for `%s` that', (queue) => {
    const add = ({ jobs }: SpecProcess, names: readonly string[]): Promise<boolean> => {
      const datas = names.map((name) => (queue === 'wake' ? { task: name } : { id: name }));
      return jobs.add(queue, datas, (data) => Object.values(data)[0] ?? '');
    };

    /** Starts a worker that runs jobs of either queue by the same function. */
    const start = async (tasks: readonly string[], run: (id: string) => Promise<void>): Promise<SpecProcess> => {
      const started = await worker(run);
      if (queue === 'wake') {
        for (const task of tasks) started.poller.every(task, never, () => run(task));
      }
      return started;
    };
    it('each job runs once, in the order they were added', async () => {
      const names = ids(20).map(keyOf);
      const runs: string[] = [];
      await start(names, async (id) => void runs.push(id));
      const adder = await api();
      for (const name of names) expect(await add(adder, [name])).toBe(true);
      await waitFor('20 jobs', () => runs.length === 20);
      await waitFor('nothing left', async () => (await active(queue)) === 0);
      expect(runs).toEqual(names);
    });

    it('jobs added before there is a worker are kept', async () => {
      const runs: string[] = [];
      const adder = await api();
      await add(adder, ['a', 'b', 'c']);
      expect(await adder.jobs.waiting()).toBe(3);
      if (queue === 'deliveries') {
        await start([], async (id) => void runs.push(id));
        await waitFor('3 jobs', () => runs.length === 3);
      }
    });

    it('one job of a key waits, and another is accepted once it has ended', async () => {
      const adder = await api();
      for (let times = 0; times < 50; times++) await add(adder, ['a', 'b']);
      expect(await adder.jobs.waiting()).toBe(2);
      await start([], async () => undefined);
      await waitFor('both to end', async () => (await adder.jobs.waiting()) + (await active(queue)) === 0);
      const runs: string[] = [];
      await Promise.all(processes.splice(1).map((each) => each.close()));
      await start(['a'], async (id) => void runs.push(id));
      await add(adder, ['a']);
      await waitFor('the next job', () => runs.length === 1);
    });

    it('no job is added after the close', async () => {
      const own = await api();
      await own.close();
      expect(await add(own, ['a'])).toBe(false);
      expect(await own.jobs.ping()).toBe(false);
    });
  });

  it('wakes a task of this process directly, and tasks of other processes by a job', async () => {
    const own = await worker();
    const adder = await api();
    const runs: string[] = [];
    own.poller.every('task', never, async () => void runs.push('own'));
    adder.poller.every('other', never, async () => void runs.push('other'));
    adder.jobs.wake('other');
    adder.jobs.wake('task');
    await waitFor('both', () => runs.length === 2);
    expect(runs.sort()).toEqual(['other', 'own']);
  });

  it('logs a failing job and goes on', async () => {
    const own = await worker(async (id) => {
      if (id === '0') throw new Error('boom');
    });
    await own.addUntilSeen('1');
    await own.add('0');
    await waitFor('the log', () => warnings.includes('job failed'));
    await own.addUntilSeen('2');
  });

  it('starts no further job once it is closed', async () => {
    const hold = gate();
    const begun: string[] = [];
    const own = await worker(async (id) => {
      begun.push(id);
      await hold.opened;
    });
    const adder = await api();
    await adder.jobs.add('deliveries', ids(6), keyOf);
    await waitFor('one running', () => begun.length === 1);
    await own.close();
    hold.open();
    await waitFor('its end', () => own.seen.length === 1);
    expect([begun, await adder.jobs.waiting()]).toEqual([['0'], 5]);
  });

  it('closes although a job hangs', async () => {
    const hold = gate();
    let running = false;
    const own = await worker(() => {
      running = true;
      return hold.opened;
    });
    await (await api()).add('1');
    await waitFor('the job', () => running);
    await own.close();
    expect(own.seen).toEqual([]);
    hold.open();
  });

  it('refuses at once while Redis is dead and works again when it has restarted empty', async () => {
    const own = await worker();
    await own.addUntilSeen('1');
    for (let round = 2; round < 6; round++) {
      await redis.kill();
      await waitFor('the outage to be noticed', async () => !(await own.jobs.ping()));
      await expectRefusedInTime(own);
      await expect(own.jobs.waiting()).rejects.toThrow('Redis');
      await redis.start();
      await own.addUntilSeen(String(round));
    }
  });

  it('survives many short outages of Redis under load', async () => {
    const own = await worker();
    let id = 0;
    let adding = true;
    const load = (async () => {
      while (adding) {
        const first = id;
        id += 10;
        const jobs = Array.from({ length: 10 }, (_, i) => ({ id: String(first + i) }));
        await own.jobs.add('deliveries', jobs, keyOf);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    })();
    for (let round = 0; round < 8; round++) {
      const from = own.seen.length;
      await waitFor('some jobs', () => own.seen.length > from + 50);
      await redis.kill();
      await redis.start();
    }
    adding = false;
    await load;
    await own.addUntilSeen('the last');
  });

  it('can start before Redis', async () => {
    await redis.kill();
    const own = await worker();
    await expectRefusedInTime(own);
    expect(await own.jobs.ping()).toBe(false);
    await redis.start();
    await own.addUntilSeen('1');
  });

  it('goes on after FLUSHALL, idle or under a running job', async () => {
    const hold = gate();
    const own = await worker((id) => (id === '2' ? hold.opened : Promise.resolve()));
    await own.addUntilSeen('1');
    await redis.flush();
    await own.add('2');
    await waitFor('the job to run', async () => (await active()) === 1);
    await redis.flush();
    hold.open();
    await own.addUntilSeen('3');
    expect(own.seen.filter((id) => id === '2')).toEqual(['2']);
  });

  it('does not lose jobs when the server forgets its scripts', async () => {
    const own = await worker();
    await own.addUntilSeen('0');
    await own.jobs.add('deliveries', [{ id: '1' }, { id: '2' }], keyOf);
    await redis.command('SCRIPT', 'FLUSH');
    await own.jobs.add('deliveries', [{ id: '3' }, { id: '4' }], keyOf);
    await waitFor('4 more jobs', () => new Set(own.seen).size === 5);
  });

  it('survives having its connections cut', async () => {
    const own = await worker();
    await own.addUntilSeen('1');
    for (let round = 2; round < 8; round++) {
      await redis.command('CLIENT', 'KILL', 'TYPE', 'normal');
      await own.addUntilSeen(String(round));
    }
  });

  it('gives up in time on a Redis that does not answer, and goes on when it answers again', async () => {
    const own = await worker();
    await own.addUntilSeen('1');
    redis.freeze();
    try {
      await expectRefusedInTime(own);
      expect(await own.jobs.ping()).toBe(false);
    } finally {
      redis.thaw();
    }
    await own.addUntilSeen('2');
  });

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
    const own = await worker();
    await waitFor('the queue to be up', () => own.jobs.ping());
    await tell(begin);
    expect(await redis.command('PING')).toBe('+PONG');
    for (let times = 0; times < 3; times++) expect(await own.jobs.ping()).toBe(false);
    await expectRefusedInTime(own);
    await tell(end);
    await waitFor('the queue to be up again', () => own.jobs.ping());
    await own.addUntilSeen('1');
  });

  it('leaves nothing behind in Redis for its health check', async () => {
    await api();
    expect(await redis.command('TTL', '{recebe}:ping')).toMatch(/^:[1-6]\d?$/);
  });

  it('recovers from a connection that only looks alive', async () => {
    const own = await worker();
    await own.addUntilSeen('1');
    redis.freeze();
    try {
      // After the socket time-out the outage is known: add no longer waits at all.
      await waitFor('the connection to be given up', async () => {
        const adding = own.add('-1');
        const isKnown = (await within(100, adding)) === false;
        await adding;
        return isKnown;
      });
    } finally {
      redis.thaw();
    }
    await own.addUntilSeen('2');
  });

  it('runs a job only once when it lasts through a short outage', async () => {
    const hold = gate();
    let runs = 0;
    const handler: Handler = async (id) => {
      if (id !== '1') return;
      runs += 1;
      await hold.opened;
    };
    await Promise.all([worker(handler), worker(handler)]);
    await (await api()).add('1');
    await waitFor('the job to run', () => runs === 1);
    await redis.command('CLIENT', 'KILL', 'TYPE', 'normal');
    hold.open();
    await waitFor('the job to be gone', async () => (await active()) === 0);
    expect(runs).toBe(1);
  });

  it('shares jobs between processes, each run once', async () => {
    const [one, two] = await Promise.all([worker(), worker()]);
    await (await api()).jobs.add('deliveries', ids(500), keyOf);
    await waitFor('500 jobs', () => one.seen.length + two.seen.length >= 500);
    const seen = [...one.seen, ...two.seen].sort((a, b) => Number(a) - Number(b));
    expect(seen).toEqual(ids(500).map(keyOf));
  });

  it('leaves nothing behind in Redis for finished and failed jobs', async () => {
    let done = 0;
    await worker(async (id) => {
      done += 1;
      if (Number(id) % 2 === 0) throw new Error('fails');
    });
    await (await api()).jobs.add('deliveries', ids(100), keyOf);
    await waitFor('100 jobs', () => done === 100);
    // The id counter, the marks of the last looks for stalled jobs and the key of the health check stay.
    await waitFor('the keys to go', async () => Number((await redis.command('DBSIZE')).slice(1)) <= 4);
  });

  it('closes while Redis is dead and a job is running', async () => {
    const hold = gate();
    let running = false;
    const own = await worker(() => {
      running = true;
      return hold.opened;
    });
    await (await api()).add('1');
    await waitFor('the job to run', () => running);
    await redis.kill();
    await own.close();
    expect(own.seen).toEqual([]);
    hold.open();
    await waitFor('its end', () => own.seen.length === 1);
  });

  it.each(['cut off', 'frozen', 'never there'])('closes while Redis is %s', async (state) => {
    if (state === 'never there') await redis.kill();
    const own = await worker();
    if (state !== 'never there') await own.addUntilSeen('1');
    if (state === 'cut off') {
      await redis.kill();
      await waitFor('the outage to be noticed', async () => !(await own.jobs.ping()));
    }
    if (state === 'frozen') redis.freeze();
    try {
      await own.close();
      // Failures that nobody has listened to come a turn later.
      await new Promise((resolve) => setTimeout(resolve, 300));
    } finally {
      redis.thaw();
    }
  });

  it('closes an idle worker without the waits for a Redis that does not answer', async () => {
    const timeToClose = async (isFrozen: boolean): Promise<number> => {
      const own = await worker();
      await own.addUntilSeen('1');
      if (isFrozen) redis.freeze();
      try {
        const from = performance.now();
        await own.close();
        return performance.now() - from;
      } finally {
        redis.thaw();
      }
    };
    const frozen = await timeToClose(true);
    const idle = [await timeToClose(false), await timeToClose(false), await timeToClose(false)];
    expect(Math.min(...idle)).toBeLessThan(frozen / 2);
  });

  it('starts working when a wrong password is put right, and never logs it', async () => {
    await redis.command('CONFIG', 'SET', 'requirepass', 'the-right-one');
    const logged: unknown[] = [];
    const log: Log = (fields, message) => void logged.push({ ...fields, message });
    const url = redis.url.replace('redis://', 'redis://:the-wrong-one@');
    const own = await SpecProcess.start(url, async () => undefined, log);
    processes.push(own);
    await waitFor('the refusal to be logged', () => JSON.stringify(logged).includes('WRONGPASS'));
    await expectRefusedInTime(own);
    // Two commands on one connection, as the first is what allows the second.
    await redis.command('AUTH', 'the-right-one\r\nCONFIG', 'SET', 'requirepass', 'the-wrong-one');
    await own.addUntilSeen('1');
    expect(inspect(logged, { depth: 10 })).not.toContain('the-wrong-one');
  });

  it('works for a user of Redis who may not name connections', async () => {
    await redis.command('ACL', 'SETUSER', 'default', '-client|setname');
    const own = await worker();
    await own.addUntilSeen('1');
    expect(unhandled).toEqual([]);
  });

  it('reports an outage in a few lines, not in one per attempt', async () => {
    const own = await worker();
    await own.addUntilSeen('1');
    await redis.kill();
    await waitFor('the outage to be noticed', async () => !(await own.jobs.ping()));
    const until = Date.now() + 1_500;
    await waitFor('several attempts to reconnect', () => Date.now() > until);
    expect(warnings.length).toBeGreaterThan(0);
    expect(warnings.length).toBeLessThan(10);
  });
});
