import cluster, { type Worker } from 'node:cluster';
import type { Config } from './core/config/index.js';
import { createLogger } from './core/log/index.js';
import type { LocalServers } from './local-servers/index.js';
import { openServersOf } from './runtime.js';

/** A process that ends by itself is started again after so long, each time twice as long until one is ready. */
const PAUSES_MS = { least: 1_000, most: 30_000 };
/** How long processes have to end in order when a local server has failed. */
export const FAILURE_LIMIT_MS = 20_000;
/** Where none has been ready for so long, whoever supervises the cluster has to know. */
const PATIENCE_MS = 60_000;
const READY = 'recebe:ready';

/** Whether this process speaks for all: it is the only one, or the first of a cluster. */
export const speaks = (): boolean => cluster.worker === undefined || cluster.worker.id === 1;

/** Tells the process that has started this one, if any did. */
export function tellReady(): void {
  cluster.worker?.send(READY);
}

/**
 * `CLUSTER=n`: so many processes of this role on one machine, which share the port. Each is the whole service, as if it
 * had been started by itself, on the local servers of this process. The first one migrates and makes the demo's data;
 * one that dies is replaced. Ends this process when all have ended, and with the exit code of the first one where that
 * does not start.
 */
export async function runCluster(config: Config): Promise<void> {
  const { cluster: count, logLevel } = config;
  const logger = createLogger(logLevel);
  let servers: LocalServers | null = null;
  let exitCode = 0;
  const members = new Set<Worker>();
  const ready = new Set<Worker>();
  let isEnding = false;
  let isUp = false;
  let pauseMs = PAUSES_MS.least;
  let lastReadyAt = performance.now();
  const ended = (member: Worker, how: object, code: number | null): void => {
    members.delete(member);
    if (ready.delete(member)) lastReadyAt = performance.now();
    const isInVain = !isUp || (ready.size === 0 && performance.now() - lastReadyAt > PATIENCE_MS);
    if (isEnding && members.size === 0) void exit();
    if (isEnding) return;
    if (isInVain) process.exit(code ?? 1);
    logger.error(how, 'a process of the cluster has ended; another one takes its place');
    setTimeout(fill, pauseMs);
    pauseMs = Math.min(2 * pauseMs, PAUSES_MS.most);
  };
  const fork = (): void => {
    const member = cluster.fork();
    members.add(member);
    member.on('message', (message) => {
      if (message !== READY) return;
      ready.add(member);
      isUp = true;
      pauseMs = PAUSES_MS.least;
      fill();
    });
    const { pid } = member.process;
    member.on('exit', (code: number | null, signal) => ended(member, { pid, code, signal }, code));
    // One that could not be started, as the machine has no room for it, has no exit.
    member.on('error', (error: unknown) => {
      if (pid === undefined) ended(member, { error }, null);
    });
  };
  const fill = (): void => {
    while (!isEnding && members.size < count) fork();
  };
  const exit = async (): Promise<void> => {
    await servers?.stop();
    process.exit(exitCode);
  };
  const end = (): void => {
    servers?.release();
    if (members.size === 0) void exit();
    for (const { process: member } of members) {
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
  const onServerFailure = (error: Error): void => {
    process.once('exit', () => process.stderr.write(`\nRecebe has ended.\n${error.message}\n`));
    exitCode = 1;
    setTimeout(() => process.exit(1), FAILURE_LIMIT_MS).unref();
    end();
  };
  const joins = config.databaseUrl !== undefined;
  servers = await openServersOf(config, { redis: true, joins, shares: true, onServerFailure }, logger);
  fork();
}
