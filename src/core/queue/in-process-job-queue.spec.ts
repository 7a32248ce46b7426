import { describe, expect, it } from '@jest/globals';
import { waitFor } from '../../../test/support/wait.js';
import { Fifo } from './fifo.js';
import { InProcessJobQueue } from './in-process-job-queue.js';

declare module './index.js' {
  interface JobMap {
    'spec.in-process': { id: number };
  }
}

const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe('InProcessJobQueue', () => {
  it('refuses what would exceed its memory, whole arrays and not parts of them, and takes jobs again later', async () => {
    const queue = new InProcessJobQueue({ logger, maxWaiting: 3 });
    await queue.add('spec.in-process', [{ id: 0 }, { id: 1 }]);
    await expect(queue.add('spec.in-process', [{ id: 2 }, { id: 3 }])).rejects.toMatchObject({ reason: 'full' });
    expect(await queue.counts()).toEqual({ 'spec.in-process': { waiting: 2, active: 0 } });
    await queue.add('spec.in-process', { id: 4 });
    await expect(queue.add('spec.in-process', { id: 5 })).rejects.toMatchObject({ reason: 'full' });

    const seen: number[] = [];
    queue.process('spec.in-process', { concurrency: 1 }, async ({ id }) => void seen.push(id));
    await waitFor('the accepted jobs', () => seen.length === 3);
    await queue.add('spec.in-process', { id: 6 });
    await waitFor('the job after them', () => seen.length === 4);
    expect(seen).toEqual([0, 1, 4, 6]);
    await queue.close();
  });

  it('lets the event loop turn between jobs that never wait for anything', async () => {
    const queue = new InProcessJobQueue({ logger });
    let done = 0;
    queue.process('spec.in-process', { concurrency: 1 }, async () => void (done += 1));
    await queue.add(
      'spec.in-process',
      Array.from({ length: 10_000 }, (_, id) => ({ id })),
    );
    const doneAtTimer = await new Promise<number>((resolve) => setTimeout(() => resolve(done), 0));
    expect(doneAtTimer).toBeLessThan(10_000);
    await queue.close();
  });
});

describe('Fifo', () => {
  it('gives back everything in order across its compactions', () => {
    const fifo = new Fifo<number>();
    const out: number[] = [];
    let next = 0;
    for (let round = 0; round < 50; round++) {
      for (let i = 0; i < 100; i++) fifo.push(next++);
      for (let i = 0; i < 70; i++) out.push(fifo.shift() as number);
    }
    expect(fifo.size).toBe(50 * 30);
    while (fifo.size > 0) out.push(fifo.shift() as number);
    expect(out).toEqual(Array.from({ length: 5_000 }, (_, i) => i));
    expect(fifo.shift()).toBeUndefined();
    expect(fifo.size).toBe(0);
  });
});
