import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import { type Config, CONFIG } from '../../core/config/index.js';
import { Database } from '../../core/database/index.js';
import { groupBy } from '../../core/group-by.js';
import { FIRST_ID } from '../../core/ids.js';
import { Logger } from '../../core/log/index.js';
import { DUE_TIMES, JobQueues, LowWaterMark } from '../../core/queue/index.js';
import { DeliveriesRepository } from '../log/deliveries.repository.js';
import {
  type ClaimedDelivery,
  DeliveryQueueRepository,
  type Line,
  LINES,
  type WaitingEndpoint,
} from './delivery-queue.repository.js';
import type { Ask, Receiver } from './endpoint-slots.js';

/** Time for storing an outcome, beyond the longest attempt, before other workers consider the worker dead. */
const LEASE_MARGIN_MS = 15_000;
/** The margin for the single delivery that probes a paused endpoint. */
const PROBE_MARGIN_MS = 5_000;
const RELEASES = 500;
/** Leases that expired more than a minute ago are searched for after this time or after this many scans. */
const WHOLE_AFTER_MS = 30_000;
const WHOLE_EVERY = 20;
/** Deliveries cancelled in one commit, about 50 ms for the database, and commits per call. */
const CANCELS = 1_000;
const CANCEL_ROUNDS = 20;
/** Endpoints scanned at a time; about 6 ms for the database. */
const GLANCE = 1_000;
/** Endpoints whose marks are kept in memory. */
const MAX_MARKS = 10_000;

/** The deliveries in PostgreSQL as a queue for any number of workers. */
@Injectable()
export class DeliveryQueue {
  #from = FIRST_ID;
  #lookedAt = 0;
  #looks = 0;
  /** Due time up to which deliveries were claimed, for each endpoint and queue. */
  readonly #marks = new Map<string, Record<Line, LowWaterMark>>();

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly queue: DeliveryQueueRepository,
    private readonly deliveries: DeliveriesRepository,
    private readonly jobs: JobQueues,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /**
   * Releases deliveries of dead workers and finds endpoints with due deliveries. With many endpoints each scan
   * continues where the last one ended, which bounds its cost.
   * @returns the endpoints to claim for, some perhaps twice; how long their oldest delivery has waited; INACTIVE
   * endpoints with waiting deliveries to cancel; and the time until the next scan, as far as this process knows
   */
  async look(): Promise<{ waiting: WaitingEndpoint[]; lagMs: number; inactive: string[]; restMs: number }> {
    const now = this.clock.now();
    const isWhole = this.#looks % WHOLE_EVERY === 0 || Math.abs(now.getTime() - this.#lookedAt) > WHOLE_AFTER_MS;
    const { endpoints, nextDueAt, next } = await this.database.transaction(async (tx) => {
      this.queue.byIndex(tx);
      this.queue.release(tx, now, this.clock.offsetMs, RELEASES, isWhole);
      return this.queue.waiting(tx, now, this.#from, GLANCE);
    });
    this.#looks += 1;
    this.#lookedAt = now.getTime();
    this.#from = next ?? FIRST_ID;
    const waiting = endpoints.filter(({ active }) => active);
    const lagMs = waiting.reduce((lag, { dueAt }) => Math.max(lag, now.getTime() - dueAt.getTime()), 0);
    const inactive = endpoints.filter(({ active }) => !active).map(({ endpointId }) => endpointId);
    const restMs = next !== null ? 0 : (nextDueAt?.getTime() ?? Infinity) - now.getTime();
    return { waiting, lagMs, inactive, restMs };
  }

  /**
   * Cancels waiting deliveries of those endpoints that are INACTIVE. Such deliveries are never sent, so this may be
   * late or incomplete: the next scans find the remainder.
   */
  async cancel(endpointIds: readonly string[]): Promise<void> {
    try {
      for (let round = 0, count = CANCELS; round < CANCEL_ROUNDS && count === CANCELS; round++) {
        count = await this.database.transaction((tx) => {
          this.queue.byIndex(tx);
          return this.deliveries.cancelPending(tx, endpointIds, this.clock.now(), CANCELS);
        });
      }
    } catch (error) {
      this.logger.warn(
        { error, endpoints: endpointIds.length },
        'webhooks of inactive endpoints were not cancelled yet',
      );
    }
  }

  /** Wakes a worker with room, in any process, by a job for each endpoint. @returns whether Redis took the jobs */
  tell(receivers: readonly Receiver[]): Promise<boolean> {
    const jobs = receivers.map(({ endpointId, accountId }) => ({ endpointId, accountId }));
    return this.jobs.add('deliveries', jobs, ({ endpointId }) => endpointId);
  }

  /**
   * @returns at most the requested number; less when less is due, when others hold deliveries, or when the endpoint is
   * paused
   */
  async claim(asks: readonly Ask[]): Promise<ClaimedDelivery[]> {
    const now = this.clock.now();
    const { timeoutMs } = this.config.webhooks;
    const times = {
      now,
      leaseMs: timeoutMs + LEASE_MARGIN_MS + this.clock.offsetMs,
      probedUntil: new Date(now.getTime() + timeoutMs + PROBE_MARGIN_MS),
    };
    const wanted = asks.map((ask) => {
      const marks = this.#marksOf(ask.endpointId);
      const from = { fresh: marks.fresh.next(now.getTime()), again: marks.again.next(now.getTime()) };
      return { ...ask, from, marks };
    });
    const claimed = await this.database.transaction((tx) => {
      this.queue.byIndex(tx);
      return this.queue.claim(tx, wanted, times, Math.random() < 0.5);
    });
    const taken = groupBy(claimed, ({ endpoint, isAgain }) => `${endpoint.id} ${isAgain ? 'again' : 'fresh'}`);
    const counts = groupBy(claimed, ({ endpoint }) => endpoint.id);
    for (const { endpointId, allowance, from, marks } of wanted) {
      const count = counts.get(endpointId)?.length ?? 0;
      for (const line of LINES) {
        const dueAt = taken.get(`${endpointId} ${line}`)?.map(({ dueAtMs }) => dueAtMs);
        if (dueAt) marks[line].claimed(from[line], dueAt, null);
        // Of a paused endpoint, and of a line whose turn it was not, nothing was read.
        else if (count > 0 && count < allowance) marks[line].taken(from[line], null, null);
      }
    }
    return claimed;
  }

  /** Hands back claimed deliveries whose attempt did not begin. */
  async handBack(deliveries: readonly ClaimedDelivery[]): Promise<void> {
    // Called before and after: a claim in between starts a new mark.
    const forget = (): void => {
      for (const { endpoint } of deliveries) this.#marks.delete(endpoint.id);
    };
    forget();
    await this.database.transaction(async (tx) => this.queue.handBack(tx, deliveries, this.clock.now()));
    forget();
  }

  #marksOf(endpointId: string): Record<Line, LowWaterMark> {
    const known = this.#marks.get(endpointId);
    if (known) return known;
    // Marks only save reads: any endpoint may start without them.
    if (this.#marks.size >= MAX_MARKS) this.#marks.clear();
    const marks = { fresh: new LowWaterMark(DUE_TIMES), again: new LowWaterMark(DUE_TIMES) };
    this.#marks.set(endpointId, marks);
    return marks;
  }
}
