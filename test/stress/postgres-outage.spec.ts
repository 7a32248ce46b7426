import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Cleanup } from '../../tools/harness/cleanup.js';
import {
  CrashingPostgres,
  POSTMASTER_ENDS,
  type PostmasterEnd,
  postmasterPid,
} from '../../tools/harness/crashing-postgres.js';
import { makeMerchant } from '../support/cli.js';
import { type Confirmed, expectKept, PaymentLoad } from '../support/payment-load.js';
import { Processes, type ServiceProcess, TEST_ENCRYPTION_KEY, withDatabase } from '../support/process.js';
import { scaled, trial } from '../support/scale.js';
import { waitFor } from '../support/wait.js';

/** A trial repeats each end, as some failures happen once in a few times. */
const TIMES = trial(2, 1);
const LOAD_MS = 1_500;
/** For PostgreSQL to end, to recover and to start, and then for the service; a busy machine takes some of it. */
const SERVES_AGAIN_MS = 60_000;
const LIMIT_MS = 180_000;

jest.setTimeout(TIMES * LIMIT_MS + 60_000);

describe('a PostgreSQL that ends under load never ends the service', () => {
  let processes: Processes;
  let cleanup: Cleanup;

  beforeEach(() => {
    processes = new Processes();
    cleanup = new Cleanup();
  });
  afterEach(async () => {
    await cleanup.run(); // first: it ends the PostgreSQL in a directory that goes with those of the processes
    await processes.cleanUp();
  });

  /** @param end ends PostgreSQL; resolves when it is gone, or back */
  async function surviveOne(service: ServiceProcess, key: string, end: () => Promise<void>): Promise<Confirmed[]> {
    const load = new PaymentLoad([service.url], key);
    try {
      await load.isAtWork();
      await end();
      const backAt = performance.now();
      await waitFor(
        'charges to be confirmed again',
        () => !service.running || load.hasServedSince(backAt),
        SERVES_AGAIN_MS,
      );
      await delay(LOAD_MS);
    } finally {
      await load.end();
    }
    expect(service.exit).toBeNull();
    load.expectRight();
    return load.confirmed;
  }

  async function survive(
    service: ServiceProcess,
    key: string,
    signal: PostmasterEnd,
    end: () => Promise<void>,
  ): Promise<Confirmed[]> {
    const confirmed: Confirmed[] = [];
    try {
      for (let time = 0; time < TIMES; time++) confirmed.push(...(await surviveOne(service, key, end)));
    } catch (error) {
      const said = `${service.stdout}${service.stderr}`.slice(-4_000);
      throw new Error(`${signal}; the service said: ${said}`, { cause: error });
    }
    process.stderr.write(`${signal} × ${TIMES}: ${confirmed.length} charges\n`);
    return confirmed;
  }

  it.each(scaled<readonly PostmasterEnd[]>(POSTMASTER_ENDS, ['SIGKILL']))(
    'if it is the embedded one and ends by %s, the service starts it again',
    async (signal) => {
      const dataDir = processes.dataDir();
      const service = await processes.start(dataDir, { RATE_LIMIT: 'off' });
      const { test_api_key: key } = service.demo();
      const confirmed = await survive(service, key, signal, async () => {
        const pid = postmasterPid(dataDir);
        process.kill(pid, signal);
        await waitFor(
          'another PostgreSQL in its place',
          async () => !service.running || (await isServing(service, pid, dataDir)),
          SERVES_AGAIN_MS,
        );
      });
      expect(service.stdout.split('postgres has ended although it is in use; starting it again')).toHaveLength(
        TIMES + 1,
      );
      await withDatabase(dataDir, (url) => expectKept(url, confirmed));
    },
  );

  it.each(scaled<readonly PostmasterEnd[]>(POSTMASTER_ENDS, ['SIGINT']))(
    'if it is an external one and ends by %s, the service recovers when it is back',
    async (signal) => {
      const postgres = await CrashingPostgres.start(processes.emptyDataDir(), cleanup);
      const env = { DATABASE_URL: postgres.url, RATE_LIMIT: 'off', ENCRYPTION_KEY: TEST_ENCRYPTION_KEY };
      const dataDir = processes.dataDir();
      const service = await processes.start(dataDir, env);
      const key = await makeMerchant({ ...env, DATA_DIR: dataDir });
      const confirmed = await survive(service, key, signal, () => postgres.crash(signal));
      await expectKept(postgres.url, confirmed);
    },
  );

  /** Waits until the service is ready on another PostgreSQL than the given pid. */
  async function isServing(service: ServiceProcess, pid: number, dataDir: string): Promise<boolean> {
    const response = await fetch(`${service.url}/health/ready`).catch(() => null);
    await response?.arrayBuffer();
    try {
      return response?.status === 200 && postmasterPid(dataDir) !== pid;
    } catch {
      return false; // the file is gone while there is none
    }
  }
});
