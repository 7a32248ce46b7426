import type { Logger } from '../log/index.js';

declare const noName: unique symbol;

/**
 * Which jobs exist and what they carry. Each module adds its own by declaration merging, always through the door
 * `index.js` (TypeScript loses additions when some name the door and some name this file):
 *
 *     declare module '../core/queue/index.js' {
 *       interface JobMap { 'acquirers.notification': { notificationId: string } }
 *     }
 *
 * Jobs carry ids only: never secrets, never payloads. The truth is in PostgreSQL; a lost job costs time, never work.
 */
export interface JobMap {
  // Only there so that the interface is not empty before the first module adds to it; never a job.
  readonly [noName]?: never;
}

export type JobName = keyof JobMap & string;
export type JobData = Record<string, unknown>;

/** What the queue needs of a logger. */
export type JobLogger = Pick<Logger, 'info' | 'warn' | 'error'>;

/** Jobs of one name: `waiting` not yet started, `active` running now (on Redis: in all processes). */
export interface JobCounts {
  waiting: number;
  active: number;
}

/**
 * Wakes workers. Both adapters promise the same and no more:
 *
 * - jobs of one name start in the order they were accepted, at most `concurrency` of them at once per process;
 * - a job runs once in the usual case and may run twice after a crash, so handlers take their row by a guarded UPDATE;
 * - nothing is retried: the retry schedule lives in PostgreSQL and a sweeper adds the job again when it is due.
 *
 * An abstract class because it is the injection token.
 */
export abstract class JobQueue {
  abstract readonly kind: 'redis' | 'in-process';

  /**
   * Resolves when the jobs are accepted. Rejects with `QueueUnavailableError` within about a second when the queue
   * cannot take them; some of an array may then have been accepted. Callers commit to PostgreSQL first and may ignore
   * that error: their sweeper adds what is missing.
   *
   * @param keyOf of jobs of a name with the same key there is one: another one is dropped until it has ended, or for
   *   ten minutes at most
   */
  abstract add<N extends JobName>(
    name: N,
    data: JobMap[N] | JobMap[N][],
    keyOf?: (data: JobMap[N]) => string,
  ): Promise<void>;

  /**
   * Registers the one handler of a name in this process; a second one throws. A handler's error is logged with the
   * job's name and ends that job.
   */
  abstract process<N extends JobName>(
    name: N,
    options: { concurrency: number },
    handler: (data: JobMap[N]) => Promise<void>,
  ): void;

  /** Jobs by the names that this process adds to or processes. Rejects with `QueueUnavailableError` within a second. */
  abstract counts(): Promise<Record<string, JobCounts>>;

  /** Whether jobs can be added now, shown by a write, for the health check. Answers within a second, never rejects. */
  abstract ping(): Promise<boolean>;

  /**
   * Takes no further jobs, waits for the running ones up to a limit (default 10 s), closes connections. What waits
   * stays in Redis for another process; in-process it is dropped and comes back by the sweepers after the restart.
   */
  abstract close(): Promise<void>;
}
