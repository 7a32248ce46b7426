import cluster, { type Worker } from 'node:cluster';
import type { Config } from '../core/config/index.js';
import { createLogger } from '../core/log/index.js';
import type { LocalServers } from '../local-servers/index.js';
import { openServersOf } from './runtime.js';

/** Wait before a process that ended by itself is restarted; doubles each time until a process is ready. */
const PAUSES_MS = { least: 1_000, most: 30_000 };
/** How long processes may take to shut down when a local server has failed. */
export const FAILURE_LIMIT_MS = 20_000;
/** If no process was ready for this long, the cluster ends, so that its supervisor notices. */
const PATIENCE_MS = 60_000;
const READY = 'recebe:ready';

/** Whether this process speaks for all: it is the only process, or the first of a cluster. */
export const speaks = (): boolean => cluster.worker === undefined || cluster.worker.id === 1;

/** Notifies the parent process, if there is one. */
export function tellReady(): void {
  cluster.worker?.send(READY);
}

/**
 * `CLUSTER=n`: runs n processes of this role on one machine, which share the port. Each is a whole service that uses
 * the local servers of this process. The first process migrates and makes the demo's data; a process that dies is
 * replaced.
 *
 * Ends this process when all have ended. If the first one does not start, its exit code is used.
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
    // A process that could not be started, for lack of memory for instance, emits no exit.
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
      // A second signal means that a person does not want to wait: every process ends at once, with the servers it
      // started.
      if (isEnding) member.disconnect();
      else member.kill('SIGTERM');
    }
    isEnding = true;
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  // Each process accepts connections itself: a connection handed to a process that dies would never be answered.
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
