import { BullJobQueue } from './bull-job-queue.js';
import { InProcessJobQueue } from './in-process-job-queue.js';
import type { JobLogger, JobQueue } from './job-queue.js';

/**
 * The queue of this process: Bull when `redisUrl` (`redis://` or `rediss://`) is given, in-process otherwise. Does not
 * wait for Redis: the service starts without it and workers begin when it comes.
 */
export function createJobQueue(options: {
  redisUrl: string | undefined;
  logger: JobLogger;
  /** How long `close` waits for running jobs, milliseconds; default 10 000. */
  closeTimeoutMs?: number;
}): JobQueue {
  const { redisUrl, ...rest } = options;
  return redisUrl === undefined ? new InProcessJobQueue(rest) : new BullJobQueue({ redisUrl, ...rest });
}
