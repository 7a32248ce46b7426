import { beforeEach, describe, expect, it } from '@jest/globals';
import { waitFor } from '../../../test/support/wait.js';
import { Poller } from './poller.js';

/** Timers that fire only when the spec says so. */
class Timers {
  readonly pending: { work: () => void; ms: number }[] = [];

  readonly set = (work: () => void, ms: number): (() => void) => {
    const timer = { work, ms };
    this.pending.push(timer);
    return () => {
      const at = this.pending.indexOf(timer);
      if (at >= 0) this.pending.splice(at, 1);
    };
  };

  fire(): void {
    const timer = this.pending.shift();
    if (!timer) throw new Error('no timer is set');
    timer.work();
  }
}

/** A task whose runs the spec ends one by one. */
class Task {
  started = 0;
  overlaps = 0;
  private end: ((result: boolean | Error | undefined) => void) | undefined;

  readonly run = (): Promise<boolean | void> => {
    if (this.end) this.overlaps += 1;
    this.started += 1;
    return new Promise((resolve, reject) => {
      this.end = (result) => {
        this.end = undefined;
        if (result instanceof Error) reject(result);
        else resolve(result);
      };
    });
  };

  finish(result?: boolean | Error): void {
    if (!this.end) throw new Error('the task is not running');
    this.end(result);
  }
}

/** Long enough for anything already due to happen: several turns of the event loop. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe('Poller', () => {
  let timers: Timers;
  let errors: object[];
  let task: Task;
  let poller: Poller;

  const create = (random: () => number = () => 0.5): Poller => {
    const logger = { error: (fields: object) => void errors.push(fields) };
    return new Poller({ logger, random, timer: timers.set });
  };

  beforeEach(() => {
    timers = new Timers();
    errors = [];
    task = new Task();
    poller = create();
  });

  it('runs a task each time its interval has passed, counted from the end of the run', async () => {
    poller.every('sweep', 1_000, task.run);
    expect(timers.pending.map(({ ms }) => ms)).toEqual([1_000]);
    await settle();
    expect(task.started).toBe(0);
    for (let run = 1; run <= 3; run++) {
      timers.fire();
      await settle();
      expect(task.started).toBe(run);
      expect(timers.pending).toHaveLength(0);
      task.finish();
      await settle();
      expect(timers.pending).toHaveLength(1);
    }
  });

  it('varies each interval by up to a tenth in either direction', () => {
    const draws = [0, 0.25, 0.999_999];
    const jittered = create(() => draws.shift() ?? 0.5);
    for (const name of ['a', 'b', 'c']) jittered.every(name, 1_000, task.run);
    expect(timers.pending.map(({ ms }) => Math.round(ms))).toEqual([900, 950, 1_100]);
  });

  it('runs at once when woken, and rests a whole interval after it', async () => {
    poller.every('relay', 1_000, task.run);
    poller.wake('relay');
    await settle();
    expect(task.started).toBe(1);
    expect(timers.pending).toHaveLength(0);
    task.finish();
    await settle();
    expect(task.started).toBe(1);
    expect(timers.pending).toHaveLength(1);
  });

  it('rests at most as long as wakeIn says, before and during a run', async () => {
    poller.every('look', 60_000, task.run);
    const rests = (): number[] => timers.pending.map(({ ms }) => Math.round(ms));
    poller.wakeIn('look', 5_000);
    poller.wakeIn('look', 10_000);
    poller.wakeIn('elsewhere', 1);
    expect(rests()).toEqual([5_000]);
    timers.fire();
    await settle();
    poller.wakeIn('look', 300);
    poller.wakeIn('look', 200);
    expect(rests()).toEqual([]);
    task.finish();
    await settle();
    expect(rests()).toEqual([200]);
    timers.fire();
    await settle();
    task.finish();
    await settle();
    expect(rests()[0]).toBeGreaterThanOrEqual(54_000);
  });

  it('makes one run of many wakes in the same moment', async () => {
    poller.every('relay', 1_000, task.run);
    for (let i = 0; i < 5; i++) poller.wake('relay');
    await settle();
    task.finish();
    await settle();
    expect(task.started).toBe(1);
  });

  it('makes one more run after any number of wakes during a run, and never two at once', async () => {
    poller.every('relay', 1_000, task.run);
    poller.wake('relay');
    await settle();
    for (let i = 0; i < 5; i++) poller.wake('relay');
    await settle();
    expect(task.started).toBe(1);
    task.finish();
    await settle();
    expect(task.started).toBe(2);
    task.finish();
    await settle();
    expect(task.started).toBe(2);
    expect(task.overlaps).toBe(0);
    expect(timers.pending).toHaveLength(1);
  });

  it('loses no wake, whatever moment of a run it comes in', async () => {
    // Each pass sees what was committed before it began; a lost wake leaves something unseen until the interval ends.
    let committed = 0;
    let seen = 0;
    poller.every('relay', 1_000, async () => {
      const visible = committed;
      await Promise.resolve();
      seen = visible;
    });
    for (let i = 0; i < 500; i++) {
      committed += 1;
      poller.wake('relay');
      for (let hop = 0; hop < i % 7; hop++) await Promise.resolve();
      if (i % 11 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await settle();
    expect(seen).toBe(committed);
  });

  it('runs again at once as long as the task says there is more', async () => {
    let passes = 0;
    poller.every('drain', 1_000, async () => ++passes < 4);
    poller.wake('drain');
    await waitFor('the rest', () => timers.pending.length === 1);
    expect(passes).toBe(4);
  });

  it('lets the event loop turn under a task that always has more', async () => {
    let passes = 0;
    poller.every('busy', 1_000, async () => {
      passes += 1;
      return true;
    });
    poller.wake('busy');
    await waitFor('some passes', () => passes > 10);
    await poller.stop();
    const atStop = passes;
    await settle();
    expect(passes).toBe(atStop);
  });

  it('logs an error with the name of the task and goes on', async () => {
    poller.every('sweep', 1_000, task.run);
    timers.fire();
    await settle();
    task.finish(new Error('database away'));
    await settle();
    expect(errors).toEqual([{ err: new Error('database away'), task: 'sweep' }]);
    timers.fire();
    await settle();
    expect(task.started).toBe(2);
    task.finish();
  });

  it('survives a task that throws before it has a promise', async () => {
    poller.every('broken', 1_000, () => {
      throw new Error('at once');
    });
    poller.wake('broken');
    await settle();
    expect(errors).toEqual([{ err: new Error('at once'), task: 'broken' }]);
    expect(timers.pending).toHaveLength(1);
  });

  it('does not let one task hold up another', async () => {
    const other = new Task();
    poller.every('slow', 1_000, task.run);
    poller.every('quick', 1_000, other.run);
    poller.wake('slow');
    await settle();
    poller.wake('quick');
    await settle();
    expect([task.started, other.started]).toEqual([1, 1]);
  });

  it('waits for running tasks when it is stopped and starts none after', async () => {
    poller.every('sweep', 1_000, task.run);
    poller.every('idle', 1_000, async () => undefined);
    poller.wake('sweep');
    await settle();
    poller.wake('sweep');
    let stopped = false;
    const stopping = poller.stop().then(() => {
      stopped = true;
    });
    await settle();
    expect(stopped).toBe(false);
    task.finish(true);
    await stopping;
    expect(timers.pending).toHaveLength(0);
    poller.wake('sweep');
    await settle();
    expect(task.started).toBe(1);
    expect(() => poller.every('late', 1_000, task.run)).toThrow('stopped');
  });

  it('runs a task at once, and only once, that was woken before it was there', async () => {
    expect([poller.wake('relay'), poller.wake('relay')]).toEqual([false, false]);
    poller.every('relay', 1_000, task.run);
    await settle();
    expect([task.started, timers.pending.length]).toEqual([1, 0]);
    task.finish();
    await settle();
    expect([task.started, timers.pending.length]).toEqual([1, 1]);
  });

  it('leaves tasks that run on workers to other processes, woken or not', async () => {
    const logger = { error: (fields: object) => void errors.push(fields) };
    const api = new Poller({ logger, runsWorkers: false, timer: timers.set });
    api.wake('relay');
    expect([api.onWorkers('relay', 1_000, task.run), api.wake('relay')]).toEqual([false, false]);
    await settle();
    expect([task.started, timers.pending.length]).toEqual([0, 0]);
  });

  it('refuses a second task of the same name', () => {
    poller.every('sweep', 1_000, task.run);
    expect(() => poller.every('sweep', 1_000, task.run)).toThrow('already');
  });

  it('uses the real clock by default', async () => {
    let runs = 0;
    const real = new Poller({ logger: { error: () => undefined } });
    real.every('tick', 5, async () => void (runs += 1));
    await waitFor('three runs', () => runs >= 3);
    await real.stop();
  });
});
