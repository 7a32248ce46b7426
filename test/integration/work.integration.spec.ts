import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Clock } from '../../src/core/clock.js';
import { type Database, read, write } from '../../src/core/database/index.js';
import { Metrics } from '../../src/core/metrics/index.js';
import { OperatorQueues } from '../../src/core/operator-queues.js';
import { JobQueues, Poller, type Timer } from '../../src/core/queue/index.js';
import { doubling, type WorkAnswer, WorkRepository, WorkService } from '../../src/core/work/index.js';
import { Gate, SILENT, TestSchema } from '../support/schema.js';
import { TestClock, TestService } from '../support/service.js';
import { waitFor } from '../support/wait.js';

const KIND = 'spec';
const LEASE_MS = 30_000;

class FixedClock extends Clock {
  constructor(private readonly at: Date) {
    super();
  }
  override now(): Date {
    return this.at;
  }
}

describe('late work', () => {
  let schema: TestSchema;
  let database: Database;
  let source: { query(text: string, values?: unknown[]): Promise<Record<string, unknown>[]> };
  let clock: TestClock;
  let stop: (() => Promise<void>)[];

  beforeAll(async () => {
    schema = await TestSchema.open();
    ({ database, source } = await schema.connect(4));
  });
  afterAll(() => schema.close());
  beforeEach(async () => {
    clock = new TestClock();
    stop = [];
    await schema.database.pool.query('TRUNCATE work');
  });

  /** Makes a work service as in a separate process. @param options without `sweeps` only the spec claims work */
  async function process(
    run: (subjectId: string, attempt: number) => Promise<WorkAnswer>,
    {
      sweeps = true,
      concurrency = 2,
      own = clock,
      timer = clock.timer,
    }: { sweeps?: boolean; concurrency?: number; own?: Clock; timer?: Timer } = {},
  ): Promise<WorkService> {
    const { database: door, reader } = await schema.connect(4);
    const poller = new Poller({ logger: SILENT, runsWorkers: sweeps, timer });
    const made = new WorkService(
      door,
      new WorkRepository(reader, own, new OperatorQueues(reader)),
      new JobQueues(poller, SILENT),
      poller,
      new Metrics(),
      own,
      SILENT,
    );
    made.register(KIND, { backoff: doubling(500, 4_000), concurrency, leaseMs: LEASE_MS, run });
    made.onApplicationBootstrap();
    stop.push(async () => {
      made.onModuleDestroy();
      await poller.stop();
      await made.onApplicationShutdown();
    });
    return made;
  }

  const end = async (): Promise<void> => {
    for (const each of stop) await each();
  };
  const add = (work: WorkService, subjectId: string, afterMs = 0): Promise<void> =>
    database.transaction(async (tx) => work.add(tx, KIND, subjectId, new Date(clock.now().getTime() + afterMs)));
  const rows = (): Promise<Record<string, unknown>[]> =>
    source.query('SELECT subject_id, due_at, attempts, leased_until, last_error FROM work ORDER BY due_at');
  const gone = (): Promise<true> => waitFor('the work to be gone', async () => (await rows()).length === 0);
  const pauseOf = async (): Promise<number> => {
    const [row] = await rows();
    return Math.round(((row?.['due_at'] as Date).getTime() - clock.now().getTime()) / 100) / 10;
  };

  it('runs once after the commit that adds it, and never after a rollback', async () => {
    const done: string[] = [];
    const work = await process(async (id) => {
      done.push(id);
      return 'done';
    });
    const [kept, dropped] = [randomUUID(), randomUUID()];
    await add(work, kept);
    const failing = database.transaction(async (tx) => {
      work.add(tx, KIND, dropped, clock.now());
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await gone();
    expect(done).toEqual([kept]);
    await end();
  });

  it('is not due before its time', async () => {
    const done: string[] = [];
    const work = await process(async (id) => {
      done.push(id);
      return 'done';
    });
    await add(work, randomUUID(), 60_000);
    await work.sweep();
    expect(await rows()).toMatchObject([{ attempts: 0, leased_until: null }]);
    clock.advance(61);
    await gone();
    expect(done).toHaveLength(1);
    await end();
  });

  it('is retried in growing pauses after a failure, and keeps its error; a new date starts anew', async () => {
    clock.stand();
    const answers: (WorkAnswer | Error)[] = [new Error('broken\0'), 'again', 'again', 'again', 'again'];
    const attempts: number[] = [];
    const work = await process(
      async (_id, attempt) => {
        attempts.push(attempt);
        const answer = answers.shift() ?? 'done';
        if (answer instanceof Error) throw answer;
        return answer;
      },
      { sweeps: false },
    );
    const id = randomUUID();
    await add(work, id);
    const pauses: number[] = [];
    for (let run = 0; run < 5; run++) {
      await work.runNow(KIND, id);
      pauses.push(await pauseOf());
      expect((await rows())[0]).toMatchObject({ last_error: run === 0 ? 'broken' : null, leased_until: null });
    }
    expect(pauses).toEqual([0.5, 1, 2, 4, 4]);
    answers.push(new Date(clock.now().getTime() + 10_000), 'again');
    await work.runNow(KIND, id);
    expect(await pauseOf()).toBe(10);
    await work.runNow(KIND, id);
    expect(await pauseOf()).toBe(0.5);
    await work.runNow(KIND, id);
    expect(await rows()).toEqual([]);
    expect(attempts).toEqual([1, 2, 3, 4, 5, 6, 1, 2]);
    clock.go();
  });

  it('runs within the concurrency of its kind, and the rest follows', async () => {
    const gate = new Gate();
    let [running, most] = [0, 0];
    const work = await process(
      async () => {
        most = Math.max(most, ++running);
        await gate.opened;
        running -= 1;
        return 'done';
      },
      { concurrency: 3 },
    );
    for (let n = 0; n < 10; n++) await add(work, randomUUID());
    await waitFor('three to run', () => running === 3);
    await work.sweep();
    expect((await rows()).filter(({ leased_until }) => leased_until !== null)).toHaveLength(3);
    gate.open();
    await gone();
    expect(most).toBe(3);
    await end();
  });

  it('runs once although many processes look for it', async () => {
    const seen = new Map<string, number>();
    const run = async (id: string): Promise<WorkAnswer> => {
      seen.set(id, (seen.get(id) ?? 0) + 1);
      return 'done';
    };
    const works = await Promise.all(Array.from({ length: 4 }, () => process(run, { concurrency: 5 })));
    const ids = Array.from({ length: 100 }, () => randomUUID());
    for (const [n, id] of ids.entries()) await add(works[n % 4] as WorkService, id);
    await gone();
    expect(seen.size).toBe(100);
    expect([...seen.values()].filter((times) => times !== 1)).toEqual([]);
    await end();
  });

  it('runs again after a process died and its lease ended, and the dead process no longer decides', async () => {
    const gate = new Gate();
    const [id, answers] = [randomUUID(), [] as string[]];
    const dead = await process(
      async () => {
        await gate.opened;
        answers.push('dead');
        return 'done';
      },
      { sweeps: false },
    );
    await add(dead, id);
    await dead.sweep();
    const other = await process(
      async () => {
        answers.push('other');
        return new Date(clock.now().getTime() + 60_000);
      },
      { sweeps: false },
    );
    await other.sweep();
    await other.onApplicationShutdown();
    expect(answers).toEqual([]);
    clock.advance(LEASE_MS / 1000 + 1);
    await other.sweep();
    await other.onApplicationShutdown();
    gate.open();
    await dead.onApplicationShutdown();
    expect(answers).toEqual(['other', 'dead']);
    expect(await rows()).toMatchObject([{ subject_id: id, attempts: 0, leased_until: null }]);
  });

  it('runs again when it was added again while it ran, whatever the first run returns', async () => {
    const gate = new Gate();
    let runs = 0;
    const work = await process(
      async () => {
        if (++runs === 1) await gate.opened;
        return 'done';
      },
      { sweeps: false },
    );
    const id = randomUUID();
    await add(work, id);
    await work.sweep();
    await waitFor('the run', () => runs === 1);
    await add(work, id);
    gate.open();
    await work.onApplicationShutdown();
    expect(await rows()).toMatchObject([{ attempts: 0, leased_until: null }]);
    await work.sweep();
    await work.onApplicationShutdown();
    expect([runs, await rows()]).toEqual([2, []]);
  });

  it('stays with its current owner when it is added again and claimed in the same moment', async () => {
    // A clock one second ahead makes the added work due.
    const own = new FixedClock(new Date(clock.now().getTime() + 1_000));
    const [first, second, id] = [new Gate(), new Gate(), randomUUID()];
    const runBehind = (gate: Gate) => async (): Promise<WorkAnswer> => {
      await gate.opened;
      return 'done';
    };
    const one = await process(runBehind(first), { sweeps: false, own });
    const other = await process(runBehind(second), { sweeps: false, own });
    await add(one, id);
    await one.sweep();
    await add(one, id);
    await other.sweep();
    first.open();
    await one.onApplicationShutdown();
    expect(await rows()).toMatchObject([{ subject_id: id, leased_until: expect.any(Date) }]);
    second.open();
    await other.onApplicationShutdown();
    expect(await rows()).toEqual([]);
  });

  it('is not taken from its owner by a process whose clock is ahead', async () => {
    const gate = new Gate();
    const runs: string[] = [];
    const one = await process(
      async () => {
        runs.push('one');
        await gate.opened;
        return 'done';
      },
      { sweeps: false },
    );
    await add(one, randomUUID());
    await one.sweep();
    const ahead = await process(
      async () => {
        runs.push('ahead');
        return 'done';
      },
      { sweeps: false, own: new FixedClock(new Date(clock.now().getTime() + 60_000)) },
    );
    await ahead.sweep();
    await ahead.onApplicationShutdown();
    gate.open();
    await one.onApplicationShutdown();
    expect([runs, await rows()]).toEqual([['one'], []]);
  });

  it('that waits for room follows at once, even when other kinds were polled meanwhile', async () => {
    const gate = new Gate();
    const runs: string[] = [];
    const never: Timer = () => () => undefined;
    const work = await process(
      async (id) => {
        runs.push(id);
        await gate.opened;
        return 'done';
      },
      { concurrency: 1, timer: never },
    );
    const others: string[] = [];
    work.register('other', {
      backoff: doubling(500, 4_000),
      concurrency: 2,
      leaseMs: LEASE_MS,
      run: async (id) => {
        others.push(id);
        return 'done';
      },
    });
    await add(work, randomUUID());
    await waitFor('the first', () => runs.length === 1);
    await add(work, randomUUID());
    await database.transaction(async (tx) => work.add(tx, 'other', randomUUID(), clock.now()));
    await waitFor('the other kind', () => others.length === 1);
    gate.open();
    await gone();
    expect(runs).toHaveLength(2);
    await end();
  });

  it.each([
    ['new', 0, 1],
    ['tried again', 1, 0],
  ])('is not held up by much other work when it is %s', async (_what, attempts, others) => {
    const [late, runs] = [randomUUID(), [] as string[]];
    await source.query(
      `INSERT INTO work (kind, subject_id, due_at, attempts)
       SELECT $1, gen_random_uuid(), now() - interval '1 hour', $2::int FROM generate_series(1, 100)
       UNION ALL SELECT $1, $3::uuid, now(), $4::int`,
      [KIND, others, late, attempts],
    );
    const work = await process(
      async (id) => {
        runs.push(id);
        return 'done';
      },
      { concurrency: 1 },
    );
    work.wake();
    await gone();
    // The only place goes to either line by a draw, so `late` does not wait for all others.
    expect(runs.indexOf(late)).toBeLessThan(50);
    expect(runs).toHaveLength(101);
    await end();
  });

  it('is claimed quickly and only as far as there is room, with a plan made for an empty table', async () => {
    const { reader } = await schema.connect(1);
    const repository = new WorkRepository(reader, clock, new OperatorQueues(reader));
    const rooms = [KIND, 'other', 'none'].map((kind) => ({ kind, room: 16, leaseMs: LEASE_MS }));
    const times = { now: new Date(clock.now().getTime() + 60_000), offsetMs: 0 };
    const rowsOf = read(
      'spec.rows_read',
      `SELECT (seq_tup_read + idx_tup_fetch)::int AS rows FROM pg_stat_xact_user_tables WHERE relid = 'work'::regclass`,
    );
    let rowsRead = 0;
    const claim = () =>
      database.transaction(async (tx) => {
        const claimed = await repository.claim(tx, times, rooms, true);
        rowsRead = (await tx.first<{ rows: number }>(rowsOf, []))?.rows ?? 0;
        return claimed;
      });
    await source.query(`INSERT INTO work SELECT 'spec', gen_random_uuid(), now() FROM generate_series(1, 10)`);
    await source.query('DELETE FROM work');
    await schema.database.pool.query('VACUUM ANALYZE work');
    // Repeats often enough for PostgreSQL to keep the plan.
    for (let claims = 1; claims <= 6; claims++) expect(await claim()).toEqual([]);
    await source.query(
      `INSERT INTO work (kind, subject_id, due_at, attempts)
       SELECT kind, gen_random_uuid(), now(), attempts
       FROM unnest('{spec,other}'::text[]) AS k (kind), generate_series(0, 1) AS a (attempts), generate_series(1, 5000)`,
    );
    for (let claims = 1; claims <= 5; claims++) {
      const claimed = await claim();
      expect(claimed).toHaveLength(32);
      expect(new Set(claimed.map(({ subjectId }) => subjectId)).size).toBe(32);
      expect(rowsRead).toBeLessThan(10_000); // Rows in all: 20 000. Without the settings each claim reads them all repeatedly.
    }
  });

  it('that is being claimed when the process shuts down runs before the process ends', async () => {
    const gate = new Gate();
    let runs = 0;
    const work = await process(
      async () => {
        runs += 1;
        await gate.opened;
        return 'done';
      },
      { sweeps: false },
    );
    await add(work, randomUUID());
    let [sweep, shutdown] = [Promise.resolve(), Promise.resolve()];
    let isDown = false;
    await database.transaction(async (tx) => {
      await tx.query(write('spec.lock_work', 'LOCK TABLE work'), []);
      sweep = work.sweep();
      work.onModuleDestroy();
      shutdown = work.onApplicationShutdown().then(() => {
        isDown = true;
      });
    });
    await sweep;
    await waitFor('the run', () => runs === 1);
    expect(isDown).toBe(false);
    gate.open();
    await shutdown;
    expect(await rows()).toEqual([]);
  });

  it('that has an unknown kind cannot be added', async () => {
    const work = await process(async () => 'done', { sweeps: false });
    const adding = database.transaction(async (tx) => work.add(tx, 'nonsense', randomUUID(), clock.now()));
    await expect(adding).rejects.toThrow('no processor for work of kind nonsense');
  });
});

describe('late work in the service', () => {
  const service = TestService.forSpec({ env: { ROLE: 'api' } });

  it('is not added when a sandbox charge is created and paid', async () => {
    const { testKey } = await service.merchant();
    await service.sql(`CREATE FUNCTION spec_refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'work was added: %', NEW.kind; END $$`);
    await service.sql('CREATE TRIGGER spec_refuse BEFORE INSERT ON work FOR EACH ROW EXECUTE FUNCTION spec_refuse()');
    try {
      const { status, body } = await service.createCharge(testKey);
      expect(status).toBe(201);
      expect((await service.simulate(testKey, body.id, { event: 'pay' })).body.charge.status).toBe('paid');
    } finally {
      await service.sql('DROP FUNCTION spec_refuse CASCADE');
    }
  });

  it('is shown to operators when it is overdue or failed, and can be run at once', async () => {
    const [overdue, failed, fresh] = [randomUUID(), randomUUID(), randomUUID()];
    await service.sql(
      `INSERT INTO work (kind, subject_id, due_at, attempts, last_error) VALUES
         ('refund', $1, now() - interval '2 minutes', 0, NULL), ('acquirer', $2, now() + interval '1 hour', 3, 'broken'),
         ('refund', $3, now(), 0, NULL)`,
      [overdue, failed, fresh],
    );
    const { token } = await service.operator();
    const list = async (query: string): Promise<{ data: Record<string, unknown>[]; has_more: boolean }> =>
      (
        await service.call<{ data: Record<string, unknown>[]; has_more: boolean }>(
          'GET',
          `/v1/operations/work${query}`,
          {
            token,
          },
        )
      ).body;
    const all = await list('');
    expect(all).toMatchObject({ object: 'list', has_more: false });
    expect(all.data).toEqual([
      {
        object: 'work',
        kind: 'refund',
        subject_id: overdue,
        due_at: expect.any(String),
        attempts: 0,
        leased_until: null,
        last_error: null,
        failing_since: null,
      },
      {
        object: 'work',
        kind: 'acquirer',
        subject_id: failed,
        due_at: expect.any(String),
        attempts: 3,
        leased_until: null,
        last_error: 'broken',
        failing_since: null,
      },
    ]);
    expect(await list('?limit=1')).toMatchObject({ data: [{ subject_id: overdue }], has_more: true });
    expect((await list('?kind=acquirer')).data).toMatchObject([{ subject_id: failed }]);
    expect((await service.call('GET', '/v1/operations/work?kind=Re%20fund', { token })).status).toBe(400);

    const work = service.get(WorkService);
    expect(await work.retry('acquirer', failed)).toMatchObject({ attempts: 3, lastError: 'broken' });
    expect((await service.sql('SELECT due_at <= now() AS due FROM work WHERE subject_id = $1', [failed]))[0]).toEqual({
      due: true,
    });
    expect(await work.retry('refund', randomUUID())).toBeNull();
  });
});
