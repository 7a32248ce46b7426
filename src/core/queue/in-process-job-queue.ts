import { Fifo } from './fifo.js';
import { JobQueue, type JobCounts, type JobData, type JobLogger, type JobMap, type JobName } from './job-queue.js';
import { QueueUnavailableError } from './queue.errors.js';
import { within } from '../within.js';

export interface InProcessOptions {
  logger: JobLogger;
  /** Waiting jobs of one name beyond which `add` rejects with `full`; default 100 000. */
  maxWaiting?: number;
  /** How long `close` waits for running jobs, milliseconds; default 10 000. */
  closeTimeoutMs?: number;
}

interface Waiting {
  readonly data: JobData;
  readonly key: string | undefined;
}

interface Lane {
  readonly name: string;
  readonly waiting: Fifo<Waiting>;
  /** The keys of jobs that wait or run, where they have one. */
  readonly keys: Set<string>;
  active: number;
  concurrency: number;
  handler: ((data: JobData) => Promise<void>) | undefined;
  scheduled: NodeJS.Immediate | undefined;
}

const IDLE = { active: 0, concurrency: 0, handler: undefined, scheduled: undefined };

/** The queue of a single process: no Redis needed, nothing survives a restart, and the sweepers make up for that. */
export class InProcessJobQueue extends JobQueue {
  readonly kind = 'in-process';

  private readonly lanes = new Map<string, Lane>();
  private readonly logger: JobLogger;
  private readonly maxWaiting: number;
  private readonly closeTimeoutMs: number;
  private closing: Promise<void> | undefined;
  private onIdle: (() => void) | undefined;

  constructor(options: InProcessOptions) {
    super();
    this.logger = options.logger;
    this.maxWaiting = options.maxWaiting ?? 100_000;
    this.closeTimeoutMs = options.closeTimeoutMs ?? 10_000;
  }

  override async add<N extends JobName>(
    name: N,
    data: JobMap[N] | JobMap[N][],
    keyOf?: (data: JobMap[N]) => string,
  ): Promise<void> {
    if (this.closing) throw new QueueUnavailableError('closed');
    const jobs = Array.isArray(data) ? data : [data];
    const lane = this.lane(name);
    // A backlog this long means the consumers are stuck. Holding more would end in an out-of-memory crash, while
    // refusing costs nothing: every job is a row that a sweeper finds again.
    if (lane.waiting.size + jobs.length > this.maxWaiting) throw new QueueUnavailableError('full');
    // Copies, because on Redis a caller that reuses its object cannot change what the handler sees either.
    for (const job of jobs) {
      const key = keyOf?.(job);
      if (key !== undefined && lane.keys.has(key)) continue;
      if (key !== undefined) lane.keys.add(key);
      lane.waiting.push({ data: { ...job }, key });
    }
    this.schedule(lane);
  }

  override process<N extends JobName>(
    name: N,
    options: { concurrency: number },
    handler: (data: JobMap[N]) => Promise<void>,
  ): void {
    const lane = this.lane(name);
    if (lane.handler) throw new Error(`Jobs "${name}" already have a handler in this process`);
    lane.handler = handler as (data: JobData) => Promise<void>;
    lane.concurrency = options.concurrency;
    this.schedule(lane);
  }

  override async counts(): Promise<Record<string, JobCounts>> {
    const counts: Record<string, JobCounts> = {};
    for (const lane of this.lanes.values()) counts[lane.name] = { waiting: lane.waiting.size, active: lane.active };
    return counts;
  }

  override async ping(): Promise<boolean> {
    return this.closing === undefined;
  }

  override close(): Promise<void> {
    this.closing ??= this.drain();
    return this.closing;
  }

  private async drain(): Promise<void> {
    for (const lane of this.lanes.values()) {
      clearImmediate(lane.scheduled);
      lane.scheduled = undefined;
      lane.waiting.clear();
    }
    if (this.running() === 0) return;
    const idle = new Promise<void>((resolve) => {
      this.onIdle = resolve;
    });
    await within(this.closeTimeoutMs, idle);
    const running = this.running();
    if (running > 0) this.logger.warn({ running }, 'job queue closed before its running jobs ended');
  }

  private lane(name: string): Lane {
    let lane = this.lanes.get(name);
    if (!lane) {
      lane = { name, waiting: new Fifo(), keys: new Set(), ...IDLE };
      this.lanes.set(name, lane);
    }
    return lane;
  }

  private running(): number {
    let running = 0;
    for (const lane of this.lanes.values()) running += lane.active;
    return running;
  }

  /** Always through setImmediate: handlers that never wait for I/O would otherwise starve the HTTP server. */
  private schedule(lane: Lane): void {
    if (lane.scheduled || this.closing || lane.waiting.size === 0 || lane.active >= lane.concurrency) return;
    lane.scheduled = setImmediate(() => {
      lane.scheduled = undefined;
      this.pump(lane);
    });
  }

  private pump(lane: Lane): void {
    while (lane.active < lane.concurrency && !this.closing) {
      const job = lane.waiting.shift();
      if (job === undefined || lane.handler === undefined) return;
      lane.active += 1;
      void this.run(lane, lane.handler, job);
    }
  }

  private async run(lane: Lane, handler: (data: JobData) => Promise<void>, { data, key }: Waiting): Promise<void> {
    try {
      await handler(data);
    } catch (err) {
      this.logger.error({ err, job: lane.name, data }, 'job failed');
    } finally {
      lane.active -= 1;
      if (key !== undefined) lane.keys.delete(key);
      this.schedule(lane);
      if (this.onIdle && this.running() === 0) this.onIdle();
    }
  }
}
