import cluster, { type Worker } from 'node:cluster';
import { createLogger } from './core/log/index.js';
import type { Config } from './core/config/index.js';

/** A process that ends by itself is started again after so long: one that cannot start must not fill the machine. */
const PAUSE_MS = 1_000;

/** Whether this process speaks for all: it is the only one, or the first of a cluster. */
export const speaks = (): boolean => cluster.worker === undefined || cluster.worker.id === 1;

/**
 * `CLUSTER=n`: so many processes of this role on one machine, which share the port. Each is the whole service, as if it
 * had been started by itself. The first one migrates and makes the demo's data; one that dies is replaced.
 * @param exit ends this process, with the exit code of the first process where that does not start
 */
export function runCluster({ cluster: count, logLevel }: Config, exit: (code: number) => void): void {
  const logger = createLogger(logLevel);
  let isEnding = false;
  let isUp = false;
  const workers = (): Worker[] => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
  const fill = (): void => {
    for (let missing = count - workers().length; !isEnding && missing > 0; missing--) cluster.fork();
  };
  cluster.on('message', (_worker, message) => {
    if (message !== READY || isUp) return;
    isUp = true;
    fill();
  });
  cluster.on('exit', ({ process: { pid } }, code: number | null, signal) => {
    if (isEnding) {
      if (workers().length === 0) exit(0);
    } else if (!isUp) exit(code ?? 1);
    else {
      logger.error({ pid, code, signal }, 'a process of the cluster has ended; another one takes its place');
      setTimeout(fill, PAUSE_MS);
    }
  });
  const end = (): void => {
    // Asked twice: a person who does not want to wait.
    for (const worker of workers()) worker.process.kill(isEnding ? 'SIGKILL' : 'SIGTERM');
    isEnding = true;
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  // Each takes connections by itself: one that is handed over to a process which dies meanwhile would never be answered.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.fork();
}

const READY = 'recebe:ready';

/** Tells the process that has started this one, if any did. */
export function tellReady(): void {
  cluster.worker?.send(READY);
}
