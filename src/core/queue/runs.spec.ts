import { describe, expect, it } from '@jest/globals';
import { Poller } from './poller.js';
import { Runs } from './runs.js';

/** A run that ends when the spec says so. */
function aRun(): { work: () => Promise<void>; finish: () => void; isBegun: () => boolean } {
  let finish = (): void => undefined;
  const isFinished = new Promise<void>((resolve) => (finish = resolve));
  let isBegun = false;
  const work = async (): Promise<void> => {
    isBegun = true;
    await isFinished;
  };
  return { work, finish, isBegun: () => isBegun };
}

describe('Runs', () => {
  const create = (places: number): { runs: Runs; errors: object[] } => {
    const errors: object[] = [];
    const poller = new Poller({ logger: { error: (fields) => void errors.push(fields) } });
    return { runs: new Runs(poller, 'ask', places), errors };
  };

  it('has room for as many runs as there are places', async () => {
    const { runs } = create(2);
    const [first, second] = [aRun(), aRun()];
    runs.begin({ id: 1 }, first.work);
    runs.begin({ id: 2 }, second.work);
    expect(runs.room).toBe(0);
    first.finish();
    second.finish();
    await runs.end();
  });

  it('logs a failed run with the task and the subject, and frees its place', async () => {
    const { runs, errors } = create(1);
    runs.begin({ acquirer: 'bank', list: 'payments' }, () => Promise.reject(new Error('away')));
    await new Promise((resolve) => setImmediate(resolve));
    expect(errors).toEqual([{ err: new Error('away'), task: 'ask', acquirer: 'bank', list: 'payments' }]);
    expect(runs.room).toBe(1);
  });

  it('begins nothing once it ends, and waits for runs under way', async () => {
    const { runs } = create(2);
    const [underWay, late] = [aRun(), aRun()];
    runs.begin({ id: 1 }, underWay.work);
    let isEnded = false;
    const ending = runs.end().then(() => (isEnded = true));
    expect(runs.room).toBe(0);
    runs.begin({ id: 2 }, late.work);
    await new Promise((resolve) => setImmediate(resolve));
    expect([isEnded, late.isBegun()]).toEqual([false, false]);
    underWay.finish();
    await ending;
  });
});
