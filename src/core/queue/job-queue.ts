import type { Logger } from '../log/index.js';

declare const noName: unique symbol;

/**
 * Jobs by name, with the data they carry. Each module adds its own by declaration merging, always through `index.js`.
 * TypeScript loses additions when some name the door and some name this file:
 *
 *     declare module '../core/queue/index.js' {
 *       interface JobMap { 'acquirers.notification': { notificationId: string } }
 *     }
 *
 * Jobs carry ids only, never secrets or payloads. The truth is in PostgreSQL; a lost job costs time, never work.
 */
export interface JobMap {
  // Placeholder, never a job: the interface must not be empty before the first module adds to it.
  readonly [noName]?: never;
}

export type JobName = keyof JobMap & string;
export type JobData = Record<string, unknown>;

/** Methods of a logger that the queue uses. */
export type JobLogger = Pick<Logger, 'info' | 'warn' | 'error'>;

/** Jobs of one name: `waiting` not yet started, `active` running now (on Redis: in all processes). */
export interface JobCounts {
  waiting: number;
  active: number;
}

/**
 * Wakes workers. Both adapters promise only three things. Jobs of one name start in the order of their acceptance, at
 * most `concurrency` at once per process. A job usually runs once and may run twice after a crash, so handlers must
 * take their row by a guarded UPDATE. Nothing is retried: the retry schedule is in PostgreSQL, and a sweeper adds the
 * job again when it is due.
 *
 * The class is abstract because it is the injection token.
 */
export abstract class JobQueue {
  abstract readonly kind: 'redis' | 'in-process';

  /**
   * Resolves when the jobs are accepted. Rejects with `QueueUnavailableError` within about a second when the queue
   * cannot take them; a part of an array may then have been accepted. Callers commit to PostgreSQL first and may ignore
   * that error: their sweeper adds the missing jobs.
   *
   * @param keyOf gives a job's key: while a job with the same key waits or runs, for ten minutes at most, a new one is
   *   dropped
   */
  abstract add<N extends JobName>(
    name: N,
    data: JobMap[N] | JobMap[N][],
    keyOf?: (data: JobMap[N]) => string,
  ): Promise<void>;

  /**
   * Registers the handler of a name in this process; a second one throws. If a handler fails, its error is logged with
   * the job's name and the job ends.
   */
  abstract process<N extends JobName>(
    name: N,
    options: { concurrency: number },
    handler: (data: JobMap[N]) => Promise<void>,
  ): void;

  /**
   * Counts jobs by the names that this process adds to or processes. Rejects with `QueueUnavailableError` within a
   * second.
   */
  abstract counts(): Promise<Record<string, JobCounts>>;

  /**
   * Returns whether jobs can be added now, by a test write, for the health check. Answers within a second, never
   * rejects.
   */
  abstract ping(): Promise<boolean>;

  /**
   * Takes no further jobs, waits for the running ones up to a limit (default 10 s), closes connections. Waiting jobs
   * stay in Redis for another process. In-process they are dropped, and the sweepers add them after the restart.
   */
  abstract close(): Promise<void>;
}
