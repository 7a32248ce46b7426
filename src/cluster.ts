import cluster, { type Worker } from 'node:cluster';
import { createLogger } from './core/log/index.js';
import type { Config } from './core/config/index.js';

/** A process that ends by itself is started again after so long, each time twice as long until one is ready. */
const PAUSES_MS = { least: 1_000, most: 30_000 };
/** Where none has been ready for so long, whoever supervises the cluster has to know. */
const PATIENCE_MS = 60_000;

/** Whether this process speaks for all: it is the only one, or the first of a cluster. */
export const speaks = (): boolean => cluster.worker === undefined || cluster.worker.id === 1;

/**
 * `CLUSTER=n`: so many processes of this role on one machine, which share the port. Each is the whole service, as if it
 * had been started by itself. The first one migrates and makes the demo's data; one that dies is replaced.
 * @param exit ends this process, with the exit code of the first process where that does not start
 */
export function runCluster({ cluster: count, logLevel }: Config, exit: (code: number) => void): void {
  const logger = createLogger(logLevel);
  const ready = new Set<number>();
  let isEnding = false;
  let isUp = false;
  let pauseMs = PAUSES_MS.least;
  let lastReadyAt = performance.now();
  const workers = (): Worker[] => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
  const fork = (): void => {
    cluster
      .fork()
      .on('error', (error: unknown) => logger.error({ error }, 'a process of the cluster could not be started'));
  };
  const fill = (): void => {
    for (let missing = count - workers().length; !isEnding && missing > 0; missing--) fork();
  };
  cluster.on('message', ({ id }, message) => {
    if (message !== READY) return;
    ready.add(id);
    pauseMs = PAUSES_MS.least;
    if (!isUp) fill();
    isUp = true;
  });
  cluster.on('exit', ({ id, process: { pid } }, code: number | null, signal) => {
    if (ready.delete(id)) lastReadyAt = performance.now();
    if (isEnding) {
      if (workers().length === 0) exit(0);
    } else if (!isUp || (ready.size === 0 && performance.now() - lastReadyAt > PATIENCE_MS)) exit(code ?? 1);
    else {
      logger.error({ pid, code, signal }, 'a process of the cluster has ended; another one takes its place');
      setTimeout(fill, pauseMs);
      pauseMs = Math.min(2 * pauseMs, PAUSES_MS.most);
    }
  });
  const end = (): void => {
    for (const { process: member } of workers()) {
      // Asked twice, by a person who does not want to wait: each ends at once, and the servers that it has started.
      if (isEnding) member.disconnect();
      else member.kill('SIGTERM');
    }
    isEnding = true;
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  // Each takes connections by itself: one that is handed over to a process which dies meanwhile would never be answered.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  fork();
}

const READY = 'recebe:ready';

/** Tells the process that has started this one, if any did. */
export function tellReady(): void {
  cluster.worker?.send(READY);
}
