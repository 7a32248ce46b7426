import { setTimeout as delay } from 'node:timers/promises';
import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { Clock } from '../clock.js';
import { Database, type Tx } from '../database/index.js';
import { Logger } from '../log/index.js';
import { Metrics } from '../metrics/index.js';
import { JobQueues, Poller } from '../queue/index.js';
import { type ClaimedWork, type WorkItem, WorkRepository, type WorkTimes } from './work.repository.js';

/** Result of a run. `again`: repeat after the back-off of its kind. A date: run then, and count attempts from zero. */
export type WorkAnswer = 'done' | 'again' | Date;

/** Thrown when a run is too late: another run has the work, or it was added anew. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/**
 * Restarts the lease of a run.
 * @param within keeps other runs off until the end of this transaction too; default: a transaction of its own
 * @throws LeaseLost when another run has the work
 */
export type Prolong = (within?: Tx) => Promise<void>;

/** A kind of work. If a run throws, it is repeated after the back-off, and its error is kept. */
export interface WorkKind {
  /** Pauses after the first attempt, the second and so on, in milliseconds; the last one repeats. */
  readonly backoff: readonly number[];
  /** Runs at once in each process. */
  readonly concurrency: number;
  /** Lease of a run, longer than a run takes except in outages. Afterwards another process runs the work again. */
  readonly leaseMs: number;
  /** @param attempt from 1 on @param prolong for long runs, and for outcomes that only the current run may write */
  run(subjectId: string, attempt: number, prolong: Prolong): Promise<WorkAnswer>;
}

/** Returns a back-off whose pauses double. */
export function doubling(firstMs: number, longestMs: number): readonly number[] {
  const pauses = [firstMs];
  while ((pauses.at(-1) ?? longestMs) < longestMs) pauses.push(Math.min(firstMs * 2 ** pauses.length, longestMs));
  return pauses;
}

const TASK = 'work';
/** Interval at which work left by other processes is found; this process wakes for its own work when it is due. */
const SWEEP_MS = 1_000;
/** Time for which a shutdown waits for current runs; unfinished work comes back when its lease ends. */
const SHUTDOWN_MS = 10_000;

/**
 * Work that is to happen later, unless a row of its own already says so (docs/design/late-work.md). Work is a row added
 * in the commit of the fact that causes it. A run claims it with a lease, works outside any transaction, and deletes it
 * or puts it off. If a process dies during a run, another one repeats it after the lease, so a run may happen twice.
 */
@Injectable()
export class WorkService implements OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  readonly #kinds = new Map<string, WorkKind>();
  /** Number of current runs of each kind in this process. */
  readonly #running = new Map<string, number>();
  readonly #underWay = new Set<Promise<unknown>>();
  #closing = false;

  constructor(
    private readonly database: Database,
    private readonly work: WorkRepository,
    private readonly jobs: JobQueues,
    private readonly poller: Poller,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  register(name: string, kind: WorkKind): void {
    this.#kinds.set(name, kind);
  }

  onApplicationBootstrap(): void {
    if (!this.poller.onWorkers(TASK, SWEEP_MS, () => this.sweep())) return;
    this.metrics.gaugeBy(
      'recebe_work_lag_seconds',
      'How long the oldest due work of a kind has waited.',
      'kind',
      async () => {
        const now = this.clock.now();
        const lags = await this.work.lags(now);
        return new Map([...lags].map(([kind, dueAt]) => [kind, (now.getTime() - dueAt.getTime()) / 1000]));
      },
    );
  }

  /** Adds work, in the commit of the fact that causes it. Adding work that is there already restarts it. */
  add(tx: Tx, kind: string, subjectId: string, dueAt: Date): void {
    this.#kind(kind);
    this.work.add(tx, kind, subjectId, dueAt);
    if (dueAt <= this.clock.now()) tx.afterCommit(this.wake);
  }

  /**
   * Wakes the workers, as work may be due. If a wake is lost, the next sweep finds the work. Being one function, it
   * runs once per commit.
   */
  readonly wake = (): void => {
    this.jobs.wake(TASK);
  };

  /**
   * Runs one piece now, due or not, and waits for it. A current run no longer decides its outcome.
   * @returns the error of the run, whose work is due again; null on success
   */
  async runNow(kind: string, subjectId: string): Promise<Error | null> {
    const leaseMs = this.#kind(kind).leaseMs + this.clock.offsetMs;
    const claimed = await this.database.transaction((tx) => this.work.claimOne(tx, kind, subjectId, leaseMs));
    return claimed ? this.#run(claimed) : null;
  }

  /** Makes one piece of work due now. @returns the work, or null when there is none or it runs */
  async retry(kind: string, subjectId: string): Promise<WorkItem | null> {
    return this.database.transaction(async (tx) => {
      const found = await this.work.retry(tx, this.#times(), kind, subjectId);
      if (found) tx.afterCommit(this.wake);
      return found;
    });
  }

  /** Lists overdue and failed work; due longest first. @param kind null for all kinds */
  overdue(kind: string | null, limit: number): Promise<WorkItem[]> {
    return this.work.overdue(kind, limit);
  }

  onModuleDestroy(): void {
    this.#closing = true;
  }

  async onApplicationShutdown(): Promise<void> {
    const limit = new AbortController();
    const late = delay(SHUTDOWN_MS, null, { signal: limit.signal }).catch(() => undefined);
    const ended = async (): Promise<void> => {
      // A claim under way can still add runs.
      while (this.#underWay.size > 0 && !limit.signal.aborted) await Promise.all(this.#underWay);
    };
    await Promise.race([ended(), late]);
    limit.abort();
  }

  /** Claims as much due work as there is room for, and begins to run it. */
  async sweep(): Promise<void> {
    if (this.#closing) return;
    const rooms = [...this.#kinds].flatMap(([kind, { concurrency, leaseMs }]) => {
      const room = concurrency - (this.#running.get(kind) ?? 0);
      return room > 0 ? [{ kind, room, leaseMs }] : [];
    });
    if (rooms.length === 0) return;
    const againFirst = Math.random() < 0.5;
    const claiming = this.database.transaction((tx) => this.work.claim(tx, this.#times(), rooms, againFirst));
    const begun = claiming.then((claimed) => {
      for (const work of claimed) this.#track(this.#run(work));
    });
    this.#track(begun.catch(() => undefined));
    await begun;
  }

  /** Keeps a run in the set that a shutdown waits for. */
  #track(work: Promise<unknown>): void {
    this.#underWay.add(work);
    void work.then(() => {
      this.#underWay.delete(work);
    });
  }

  #times(): WorkTimes {
    return { now: this.clock.now(), offsetMs: this.clock.offsetMs };
  }

  /** @returns the error of the run, null on success */
  async #run(claimed: ClaimedWork): Promise<Error | null> {
    const { kind, subjectId, attempts } = claimed;
    let answer: WorkAnswer = 'again';
    let failure: Error | null = null;
    this.#running.set(kind, (this.#running.get(kind) ?? 0) + 1);
    try {
      answer = await this.#kind(kind).run(subjectId, attempts, (within) => this.#prolong(claimed, within));
    } catch (error) {
      if (error instanceof LeaseLost) this.logger.debug({ kind, subjectId }, 'a run was overtaken by another one');
      else this.logger.error({ error, kind, subjectId }, 'work has failed; it is due again');
      failure = error instanceof Error ? error : new Error(String(error));
    }
    const problem = failure?.message.replaceAll('\0', '').slice(0, 500) ?? null;
    try {
      const dueAt = answer === 'done' ? null : answer === 'again' ? this.#later(kind, attempts) : answer;
      const membership = { owner: kind, conflictKey: `${kind} ${subjectId}` };
      await this.database.inGroupCommit('work', membership, async (tx) => {
        const counted = answer === 'again' ? attempts : 0;
        const now = this.clock.now();
        if (dueAt) this.work.again(tx, claimed, { dueAt, attempts: counted, error: problem, now });
        else this.work.finish(tx, claimed);
      });
      if (dueAt) this.poller.wakeIn(TASK, dueAt.getTime() - this.clock.now().getTime());
    } catch (error) {
      this.logger.warn({ error, kind, subjectId }, 'what became of work was not written; it comes back by its lease');
    }
    const running = this.#running.get(kind) ?? 1;
    this.#running.set(kind, running - 1);
    // More work may be due than there was room for.
    if (running >= this.#kind(kind).concurrency) this.poller.wake(TASK);
    return failure;
  }

  async #prolong(claimed: ClaimedWork, within?: Tx): Promise<void> {
    const leaseMs = this.#kind(claimed.kind).leaseMs + this.clock.offsetMs;
    const prolong = (tx: Tx): Promise<boolean> => this.work.prolong(tx, claimed, leaseMs);
    if (await (within ? prolong(within) : this.database.transaction(prolong))) return;
    throw new LeaseLost('Its lease was over, and it has been taken or changed since');
  }

  #later(kind: string, attempts: number): Date {
    const { backoff } = this.#kind(kind);
    return new Date(this.clock.now().getTime() + (backoff[attempts - 1] ?? backoff.at(-1) ?? SWEEP_MS));
  }

  #kind(name: string): WorkKind {
    const kind = this.#kinds.get(name);
    if (!kind) throw new Error(`There is no processor for work of kind ${name}`);
    return kind;
  }
}
