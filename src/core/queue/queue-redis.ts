import { EventEmitter } from 'node:events';
import type Bull from 'bull';
import type { Redis } from 'ioredis';
import type { Logger } from '../log/index.js';
import { LATE, within } from '../within.js';
import { openRedis } from './redis-client.js';

/** The hash tag keeps all keys of the service in one slot of a Redis Cluster, which Bull's scripts need. */
const PREFIX = '{recebe}';
/** Time limit for an answer: the caller has already committed to PostgreSQL, and workers also look there. */
const PATIENCE_MS = 500;
/** An idle worker's blocking read ends by itself after this many seconds and is issued again. */
const BLOCK_SECONDS = 5;
/** Lifetime of the key that `ping` writes. */
const PING_SECONDS = 60;
/** Pause before an equal error is logged again: in an outage Bull and ioredis repeat it many times a second. */
const LOG_AGAIN_MS = 10_000;

/**
 * Stands in for the connection on which Bull listens for delayed jobs and for events of other processes. We have
 * neither. If Redis refused the subscription (ACL, wrong password), Bull would never start to work.
 */
const NO_SUBSCRIPTIONS = Object.assign(new EventEmitter().setMaxListeners(0), {
  status: 'ready',
  options: {},
  subscribe: () => Promise.resolve(0),
});

export interface QueueRedisOptions {
  readonly redisUrl: string;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/** The connections of Bull's queues: one for commands, and one for each blocking read of a worker. */
export class QueueRedis {
  readonly #client: Redis;
  readonly #blocking: Redis[] = [];
  readonly #loggedAt = new Map<string, number>();
  readonly #redisUrl: string;
  readonly #logger: QueueRedisOptions['logger'];
  #writing: Promise<unknown> | undefined;
  #isReading = true;

  constructor({ redisUrl, logger }: QueueRedisOptions) {
    this.#redisUrl = redisUrl;
    this.#logger = logger;
    this.#client = this.#connect(5_000, { enableReadyCheck: true });
    this.#client.on('close', () => this.log('warn', 'Redis connection lost'));
    this.#client.on('ready', () => {
      this.#loggedAt.clear();
      logger.info({}, 'Redis connection ready');
    });
  }

  /** Options for `BullModule.forRoot`. */
  get options(): Bull.QueueOptions {
    return {
      prefix: PREFIX,
      createClient: (type) => {
        if (type === 'client') return this.#client;
        return type === 'bclient' ? this.#connectBlocking() : (NO_SUBSCRIPTIONS as unknown as Redis);
      },
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
      settings: {
        // The lock is renewed every 10 s, so two renewals may be late before another process may take the job.
        lockDuration: 30_000,
        lockRenewTime: 10_000,
        // A job of a process that died is handed out again once; looking in PostgreSQL sees to anything beyond that.
        stalledInterval: 30_000,
        maxStalledCount: 1,
        drainDelay: BLOCK_SECONDS,
        // After an error (FLUSHALL under a running job, fail-over, loading) a worker rests this long; default 5 s.
        retryProcessDelay: 200,
      },
    };
  }

  /**
   * Sends commands, unless there is no connection: they would pile up in memory until Redis is back.
   * @throws within half a second when Redis is away, refuses or does not answer
   */
  async send<T>(commands: () => Promise<T>): Promise<T> {
    if (this.#client.status !== 'ready') throw new Error('Redis is not connected');
    const answer = await within(PATIENCE_MS, commands());
    if (answer === LATE) throw new Error(`Redis did not answer within ${PATIENCE_MS} ms`);
    return answer;
  }

  /**
   * Returns whether jobs can be added now. Writes a key: a replica, a Redis with full memory and a master without its
   * replicas answer PING but take no job.
   */
  async ping(): Promise<boolean> {
    // Only one write is under way at a time, since ioredis repeats it until Redis takes it.
    const write = (): Promise<unknown> =>
      (this.#writing ??= this.#client
        .set(`${PREFIX}:ping`, '', 'EX', PING_SECONDS)
        .finally(() => (this.#writing = undefined)));
    return this.send(write).then(
      () => true,
      () => false,
    );
  }

  /** Closes Bull's queues within two seconds, with Redis or without. Afterwards jobs can only be added. */
  async release(queues: readonly Bull.Queue[]): Promise<void> {
    this.#isReading = false;
    const closed = Promise.all(queues.map((queue) => queue.close(true)));
    // A blocking read would last up to five seconds more.
    await this.#endReading();
    // Bull connects once more while it closes. A Redis that does not answer would hold it up.
    if ((await within(PATIENCE_MS, closed)) === LATE) await this.#endReading();
  }

  /** Ends all connections, also those that Bull has opened anew while it closed its queues. */
  async close(): Promise<void> {
    this.#isReading = false;
    await Promise.all([end(this.#client), this.#endReading()]);
  }

  async #endReading(): Promise<void> {
    await Promise.all(this.#blocking.map(end));
  }

  /** Logs a problem, unless the same one was logged in the last seconds. */
  log(level: 'warn' | 'error', message: string, err?: unknown, queue?: string): void {
    if (!this.#isReading) return;
    // Log the message alone: an error of ioredis also carries its command, and AUTH has the password in it.
    const reason = err instanceof Error ? err.message : undefined;
    const key = `${message}: ${reason}`;
    const now = Date.now();
    if (now - (this.#loggedAt.get(key) ?? -Infinity) < LOG_AGAIN_MS) return;
    if (this.#loggedAt.size > 1_000) this.#loggedAt.clear(); // messages may carry job ids
    this.#loggedAt.set(key, now);
    this.#logger[level]({ queue, reason }, message);
  }

  /** Opens a connection for one queue: a blocking read holds its connection. Bull demands no ready check. */
  #connectBlocking(): Redis {
    // Redis ends each blocking read after BLOCK_SECONDS, so a longer silence means a dead connection. Without this
    // limit workers would wait endlessly on it.
    const options = { enableReadyCheck: false, lazyConnect: !this.#isReading };
    const client = this.#connect(BLOCK_SECONDS * 2_000, options);
    this.#blocking.push(client);
    return client;
  }

  #connect(silenceMs: number, options: { enableReadyCheck: boolean; lazyConnect?: boolean }): Redis {
    const client = openRedis(this.#redisUrl, silenceMs, {
      ...options,
      // Commands of workers wait for Redis instead of failing. A job that ended during an outage is reported as done on
      // reconnect and does not run again as stalled. `send` has its own limit.
      maxRetriesPerRequest: null,
      // After a fail-over the old address may lead to a new replica: reconnect and send the command again.
      reconnectOnError: (err) => (err.message.startsWith('READONLY') ? 2 : false),
    });
    client.setMaxListeners(0); // every Bull queue listens on the shared connection
    client.on('error', (err) => this.log('error', 'Redis connection error', err));
    return client;
  }
}

/** Ends a connection for good. All of its commands fail. */
async function end(client: Redis): Promise<void> {
  if (client.status === 'end') return;
  // Bull waits for a connection that was never there, and would fail with nobody listening.
  client.removeAllListeners('end');
  const ended = new Promise((resolve) => client.once('end', resolve));
  client.disconnect();
  if (client.status === 'reconnecting') {
    // Between two attempts to connect, ioredis forgets its commands without settling them. A cancelled attempt does.
    client.connect().catch(() => undefined);
    client.disconnect();
  }
  await within(PATIENCE_MS, ended);
}
