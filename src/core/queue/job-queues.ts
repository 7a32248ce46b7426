import { InjectQueue } from '@nestjs/bull';
import { type BeforeApplicationShutdown, Inject, Injectable, Optional } from '@nestjs/common';
import type Bull from 'bull';
import { Logger } from '../log/index.js';
import { Poller } from './poller.js';
import { QueueRedis } from './queue-redis.js';

/** Names of the queues in Redis, and of their jobs. */
export const QUEUES = ['deliveries', 'wake'] as const;

export type QueueName = (typeof QUEUES)[number];

/** Job of the queue `wake`: a task of the poller has something to do. */
export interface WakeJob {
  readonly task: string;
}

/**
 * Lifetime of a job's key. If Redis loses data, a key can stay whose job is in no list; it blocks new jobs no longer
 * than this.
 */
const KEY_MS = 600_000;

/**
 * Wakes workers after a commit, in any process: through Bull's two queues if there is Redis, otherwise in this process
 * alone. A lost wake costs time and never work, since all workers also look in PostgreSQL.
 */
@Injectable()
export class JobQueues implements BeforeApplicationShutdown {
  readonly #queues: readonly Bull.Queue[];

  constructor(
    private readonly poller: Poller,
    private readonly logger: Logger,
    @Optional() @Inject(QueueRedis) private readonly redis: QueueRedis | null = null,
    @Optional() @InjectQueue('deliveries') deliveries?: Bull.Queue,
    @Optional() @InjectQueue('wake') wake?: Bull.Queue,
  ) {
    this.#queues = [deliveries, wake].filter((queue) => queue !== undefined);
    if (!redis) return;
    for (const queue of this.#queues) {
      queue.on('error', (error) => redis.log('error', 'job queue error', error, queue.name));
      queue.on('failed', (_job, error) => redis.log('error', 'job failed', error, queue.name));
      // Bull does not wait for this name. If Redis refuses it (ACL) or goes away, nobody would catch the error.
      const setWorkerName = queue.setWorkerName.bind(queue);
      queue.setWorkerName = () =>
        setWorkerName().catch((error: unknown) => redis.log('warn', 'worker not named', error, queue.name));
      queue.on('lock-extension-failed', (_job, error) => redis.log('error', 'job lock not renewed', error, queue.name));
    }
  }

  /**
   * Runs a task of the poller now: here if this process runs it, otherwise in the process that takes the job. Any number
   * of wakes before a process takes the job make one job.
   */
  wake(task: string): void {
    if (!this.poller.wake(task)) void this.add('wake', [{ task }], () => task);
  }

  /**
   * Adds jobs. A job carries ids only; what is due for them, and when, is in PostgreSQL. While a job with the same key
   * waits or runs, for ten minutes at most, a new one is dropped.
   * @returns whether Redis took them all; false within half a second, also without Redis. Never rejects
   */
  async add<T extends object>(name: QueueName, jobs: readonly T[], keyOf: (job: T) => string): Promise<boolean> {
    const queue = this.#queues.find((each) => each.name === name);
    if (!queue || !this.redis) return false;
    const epoch = Math.floor(Date.now() / KEY_MS);
    try {
      // Bull's addBulk ignores the errors inside its MULTI. After a SCRIPT FLUSH every bulk would be lost.
      await this.redis.send(() =>
        Promise.all(jobs.map((job) => queue.add(name, { ...job }, { jobId: `${keyOf(job)}@${epoch}` }))),
      );
      return true;
    } catch (error) {
      this.logger.debug({ error, queue: name }, 'workers were not woken by a job; they look by themselves');
      return false;
    }
  }

  /** Counts the jobs in both queues that no process has taken yet. @throws when Redis is away */
  async waiting(): Promise<number> {
    const counts = await this.redis?.send(() => Promise.all(this.#queues.map((queue) => queue.getWaitingCount())));
    return counts?.reduce((sum, count) => sum + count, 0) ?? 0;
  }

  /** Returns whether wakes reach other processes, for the health check; true without Redis. Never rejects. */
  async ping(): Promise<boolean> {
    return this.redis?.ping() ?? true;
  }

  /** Takes no further jobs. Comes after the modules have let go of the jobs that they run. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.redis?.release(this.#queues);
  }
}
