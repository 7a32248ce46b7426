import Bull from 'bull';
import type { Redis } from 'ioredis';
import { JobQueue, type JobCounts, type JobData, type JobLogger, type JobMap, type JobName } from './job-queue.js';
import { QueueUnavailableError } from './queue.errors.js';
import { openRedis } from './redis-client.js';
import { LATE, within } from '../within.js';

/** The hash tag keeps all keys of the service in one slot of a Redis Cluster, which Bull's scripts need. */
const PREFIX = '{recebe}';
/**
 * Time limit for the first connection, and again for an answer. Together they stay within a second: the caller has
 * already committed to PostgreSQL, and its sweeper finds the job.
 */
const PATIENCE_MS = 500;
/** Number of `add` commands of an array that are sent at once: enough to fill the pipe, not the socket's buffer. */
const CHUNK = 500;
/** An idle worker's blocking read ends by itself after this many seconds and is issued again. */
const BLOCK_SECONDS = 5;
/**
 * Lifetime of a job's key. If Redis loses data, a key can stay whose job is in no list; it blocks new jobs no longer
 * than this.
 */
const KEY_MS = 600_000;
/** Lifetime of the key that `ping` writes. */
const PING_SECONDS = 60;
const STARTING: ReadonlySet<string> = new Set(['connecting', 'connect']);
/** Pause before an equal error is logged again: in an outage Bull and ioredis repeat it many times a second. */
const LOG_AGAIN_MS = 10_000;

export interface BullOptions {
  redisUrl: string;
  logger: JobLogger;
  /** How long `close` waits for running jobs, milliseconds; default 10 000. */
  closeTimeoutMs?: number;
}

/** Parts of a Bull queue that its type declarations leave out. The specs with a failing Redis cover this use. */
interface BullInternals {
  setWorkerName: () => Promise<void>;
  _registerEvent: (event: string) => Promise<void>;
  updateDelayTimer: () => Promise<void>;
  _clearTimers: () => void;
}

/** Jobs in Redis through Bull: one Bull queue per job name, shared by every process of the service. */
export class BullJobQueue extends JobQueue {
  readonly kind = 'redis';

  private readonly client: Redis;
  private readonly blocking: Redis[] = [];
  private readonly queues = new Map<string, Bull.Queue<JobData>>();
  private readonly processed = new Set<string>();
  private readonly loggedAt = new Map<string, number>();
  private readonly logger: JobLogger;
  private readonly redisUrl: string;
  private readonly closeTimeoutMs: number;
  private readonly firstReady: Promise<void>;
  private running = 0;
  private writing: Promise<unknown> | undefined;
  private onIdle: (() => void) | undefined;
  private closing: Promise<void> | undefined;

  constructor(options: BullOptions) {
    super();
    this.logger = options.logger;
    this.redisUrl = options.redisUrl;
    this.closeTimeoutMs = options.closeTimeoutMs ?? 10_000;
    this.client = this.connect(5_000, true);
    this.firstReady = new Promise((resolve) => this.client.once('ready', () => resolve()));
    this.client.on('close', () => this.logOnce('warn', 'Redis connection lost'));
    this.client.on('ready', () => {
      this.loggedAt.clear();
      this.logger.info({}, 'Redis connection ready');
    });
  }

  override async add<N extends JobName>(
    name: N,
    data: JobMap[N] | JobMap[N][],
    keyOf?: (data: JobMap[N]) => string,
  ): Promise<void> {
    await this.reachable();
    const jobs = Array.isArray(data) ? data : [data];
    const options = (job: JobMap[N]): Bull.JobOptions =>
      keyOf ? { jobId: `${keyOf(job)}@${Math.floor(Date.now() / KEY_MS)}` } : {};
    const queue = this.queue(name);
    for (let from = 0; from < jobs.length; from += CHUNK) {
      const chunk = jobs.slice(from, from + CHUNK);
      // Bull's addBulk puts the scripts into a MULTI and ignores the errors inside. After a SCRIPT FLUSH every bulk
      // would be lost and still be reported as added.
      await this.bounded(Promise.all(chunk.map((job) => queue.add(name, job as JobData, options(job)))));
    }
  }

  override process<N extends JobName>(
    name: N,
    options: { concurrency: number },
    handler: (data: JobMap[N]) => Promise<void>,
  ): void {
    if (this.processed.has(name)) throw new Error(`Jobs "${name}" already have a handler in this process`);
    this.processed.add(name);
    const run = async (job: Bull.Job<JobData>): Promise<void> => {
      this.running += 1;
      try {
        await handler(job.data as JobMap[N]);
      } catch (err) {
        // Bull sees the job as done: the failure is recorded in PostgreSQL and retried from there. A failure in Redis
        // too would only cost another transaction per job.
        this.logger.error({ err, job: name, data: job.data }, 'job failed');
      } finally {
        this.running -= 1;
        if (this.running === 0) this.onIdle?.();
      }
    };
    // This promise ends when the queue is closed; its errors are also emitted and logged there.
    void this.queue(name)
      .process(name, options.concurrency, run)
      .catch((err: unknown) => this.logOnce('error', 'job queue worker ended', err, name));
  }

  override async counts(): Promise<Record<string, JobCounts>> {
    await this.reachable();
    const names = [...this.queues.keys()];
    const counts: Record<string, JobCounts> = {};
    const read = async (name: string): Promise<void> => {
      const [waiting, active] = await Promise.all([
        this.client.llen(`${PREFIX}:${name}:wait`),
        this.client.llen(`${PREFIX}:${name}:active`),
      ]);
      counts[name] = { waiting, active };
    };
    await this.bounded(Promise.all(names.map(read)));
    return counts;
  }

  override async ping(): Promise<boolean> {
    try {
      await this.reachable();
      await this.bounded(this.written());
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Writes a key: a replica, a Redis with full memory and a master without its replicas answer PING but take no job.
   * Only one write is under way at a time, since ioredis repeats it until Redis takes it.
   */
  private written(): Promise<unknown> {
    this.writing ??= this.client
      .set(`${PREFIX}:ping`, '', 'EX', PING_SECONDS)
      .finally(() => (this.writing = undefined));
    return this.writing;
  }

  override close(): Promise<void> {
    this.closing ??= this.shutDown();
    return this.closing;
  }

  private async shutDown(): Promise<void> {
    // Bull marks itself closing before its first await, so no slot fetches again once its blocking read is cut off.
    const queues = [...this.queues.values()].map((queue) => queue.close());
    this.blocking.forEach(cutOff);
    const idle = new Promise<void>((resolve) => {
      if (this.running === 0) resolve();
      this.onIdle = resolve;
    });
    // Without Redis, finished jobs cannot be reported to it: wait for half a second only.
    const done = Promise.race([Promise.all(queues), idle.then(() => within(PATIENCE_MS, Promise.all(queues)))]);
    await within(this.closeTimeoutMs, done);
    if (this.running > 0) {
      this.logger.warn({ running: this.running }, 'job queue closed before its running jobs ended');
    }
    this.client.disconnect();
    // Without Redis, Bull's own close never ends: between two attempts to connect ioredis drops queued commands without
    // settling them. Bull's timers would then keep the process alive.
    for (const queue of this.queues.values()) internalsOf(queue)._clearTimers();
  }

  private queue(name: string): Bull.Queue<JobData> {
    const known = this.queues.get(name);
    if (known) return known;
    const queue = new Bull<JobData>(name, {
      prefix: PREFIX,
      createClient: (type) => (type === 'client' ? this.client : this.connectBlocking()),
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
      settings: {
        // The lock is renewed every 10 s, so two renewals may be late before another process may take the job.
        lockDuration: 30_000,
        lockRenewTime: 10_000,
        // A job of a process that died is handed out again once; the sweepers see to anything beyond that.
        stalledInterval: 30_000,
        maxStalledCount: 1,
        drainDelay: BLOCK_SECONDS,
        // After an error (FLUSHALL under a running job, fail-over, loading) a slot rests this long; default 5 s.
        retryProcessDelay: 200,
      },
    });
    quieten(queue);
    queue.on('error', (err) => this.logOnce('error', 'job queue error', err, name));
    queue.on('failed', (_job, err) => this.logOnce('error', 'job could not be run', err, name));
    queue.on('stalled', () => this.logger.warn({ job: name }, 'job of a dead worker is run again'));
    queue.on('lock-extension-failed', (_job, err) => this.logOnce('error', 'job lock not renewed', err, name));
    this.queues.set(name, queue);
    return queue;
  }

  /** Opens one connection per processed name: a blocking read holds its connection. Bull demands no ready check. */
  private connectBlocking(): Redis {
    // Redis ends each blocking read after BLOCK_SECONDS, so a longer silence means a dead connection. Without this
    // limit workers would wait endlessly on it.
    const client = this.connect(BLOCK_SECONDS * 2_000, false);
    // Bull may request this connection after `close` began: it does so some turns after `process`.
    if (this.closing) cutOff(client);
    else this.blocking.push(client);
    return client;
  }

  private connect(silenceMs: number, enableReadyCheck: boolean): Redis {
    const client = openRedis(this.redisUrl, silenceMs, {
      enableReadyCheck,
      // Commands of workers wait for Redis instead of failing. A job that ended during an outage is reported as done on
      // reconnect and does not run again as stalled. `add` and `counts` have their own limit.
      maxRetriesPerRequest: null,
      // After a fail-over the old address may lead to a new replica: reconnect and send the command again.
      reconnectOnError: (err) => (err.message.startsWith('READONLY') ? 2 : false),
    });
    client.setMaxListeners(0); // every Bull queue listens on the shared connection
    client.on('error', (err) => this.logOnce('error', 'Redis connection error', err));
    return client;
  }

  /** Fails at once in a known outage; waits only for the very first connection. */
  private async reachable(): Promise<void> {
    if (this.closing) throw new QueueUnavailableError('closed');
    if (this.client.status === 'ready') return;
    if (STARTING.has(this.client.status)) await within(PATIENCE_MS, this.firstReady);
    // Read the status again: commands sent now would pile up in memory until Redis is back.
    if ((this.client.status as string) !== 'ready') throw new QueueUnavailableError('unreachable');
  }

  private async bounded<T>(work: Promise<T>): Promise<T> {
    let result: T | typeof LATE;
    try {
      result = await within(PATIENCE_MS, work);
    } catch (cause) {
      throw new QueueUnavailableError(this.closing ? 'closed' : 'refused', { cause });
    }
    if (result === LATE) throw new QueueUnavailableError('timeout');
    return result;
  }

  private logOnce(level: 'warn' | 'error', message: string, err?: unknown, job?: string): void {
    if (this.closing) return;
    // Log the message alone: an error of ioredis also carries its command, and AUTH has the password in it.
    const reason = err instanceof Error ? err.message : undefined;
    const key = `${message}: ${reason}`;
    const now = Date.now();
    if (now - (this.loggedAt.get(key) ?? -Infinity) < LOG_AGAIN_MS) return;
    if (this.loggedAt.size > 1_000) this.loggedAt.clear(); // messages may carry job ids
    this.loggedAt.set(key, now);
    this.logger[level]({ job, reason }, message);
  }
}

/** Ends a blocking read at once, for good. */
function cutOff(client: Redis): void {
  // Bull reconnects this connection while closing. With Redis down that fails while Bull still waits for running jobs.
  // No handler is attached yet: the unhandled rejection would end the process under those jobs.
  client.connect = () => Promise.resolve();
  client.disconnect();
}

/**
 * Turns off three unused features of Bull, since each can fail on its own:
 *
 * - Naming workers sends CLIENT SETNAME without handling its failure. With Redis down this is an unhandled rejection,
 *   which ends the process.
 * - If the subscription for delayed and global events is refused (ACL, wrong password), `process` gives up for good. No
 *   job would run until a restart. The subscription also costs one more connection per process.
 * - The timer for delayed jobs runs a script every 5 s per name. If Redis is down, it outlives `close`.
 */
function quieten(queue: Bull.Queue<JobData>): void {
  const internals = internalsOf(queue);
  internals.setWorkerName = () => Promise.resolve();
  internals._registerEvent = () => Promise.resolve();
  internals.updateDelayTimer = () => Promise.resolve();
}

function internalsOf(queue: Bull.Queue<JobData>): BullInternals {
  return queue as unknown as BullInternals;
}
