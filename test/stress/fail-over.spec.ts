import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Cleanup } from '../../tools/harness/cleanup.js';
import { makeMerchant } from '../support/cli.js';
import { type Confirmed, expectKept, PaymentLoad } from '../support/payment-load.js';
import { Processes } from '../support/process.js';
import { describeWith } from '../support/needs.js';
import { ReplicatedPostgres } from '../support/replicated-postgres.js';
import { trial } from '../support/scale.js';
import { waitFor } from '../support/wait.js';

const TIMES = trial(6, 2);
const PROCESSES = 3;
const LOAD_MS = 1_000;
/** All processes confirm payments again in as many times a start, from when the database does; usually in one. */
const STARTS = 5;
const LIMIT_MS = 120_000;

jest.setTimeout(600_000);

describeWith('replica')('a fail-over to a synchronous replica, under load', () => {
  let processes: Processes;
  let cleanup: Cleanup;

  beforeEach(() => {
    processes = new Processes();
    cleanup = new Cleanup();
  });
  afterEach(async () => {
    // First, because PostgreSQL runs in a directory that `processes.cleanUp` removes.
    await cleanup.run();
    await processes.cleanUp();
  });

  it(`ends none of ${PROCESSES} processes and loses nothing that was confirmed; each serves again soon`, async () => {
    const postgres = await ReplicatedPostgres.start(processes.emptyDataDir(), cleanup);
    const env = { DATABASE_URL: postgres.url, RATE_LIMIT: 'off', ENCRYPTION_KEY: 'ab'.repeat(32) };
    const first = await processes.start(processes.dataDir(), env);
    const began = performance.now();
    const others = Array.from({ length: PROCESSES - 1 }, () => processes.start(processes.dataDir(), env));
    const services = [first, ...(await Promise.all(others))];
    const start = performance.now() - began;
    const key = await makeMerchant({ ...env, DATA_DIR: first.dataDir });
    const confirmed: Confirmed[] = [];
    const pauses: number[] = [];
    for (let time = 0; time < TIMES; time++) {
      const load = new PaymentLoad(
        services.map(({ url }) => url),
        key,
      );
      try {
        await load.isAtWork();
        const at = await postgres.failOver(time % 2 === 1);
        await waitFor(
          'every process to confirm charges again',
          () => services.some(({ running }) => !running) || load.hasServedSince(at),
          LIMIT_MS,
        );
        pauses.push(Math.round(performance.now() - at));
        // The load continues while the replica is added.
        await postgres.addReplica();
        await delay(LOAD_MS);
      } finally {
        confirmed.push(...(await load.end()));
      }
      expect(services.map(({ exit }) => exit)).toEqual(services.map(() => null));
      load.expectRight();
      expect(load.refused).toBeGreaterThan(0);
    }
    process.stderr.write(
      `fail-over × ${TIMES}: ${confirmed.length} charges; served again after ${pauses.join(', ')} ms\n` +
        `a start took ${start.toFixed(0)} ms\n`,
    );
    for (const kind of [0, 1]) {
      const ofKind = pauses.filter((_pause, time) => time % 2 === kind);
      expect(Math.min(...ofKind)).toBeLessThan(STARTS * start);
    }
    await expectKept(postgres.url, confirmed);
  });
});
