import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { type Config, CONFIG } from '../../core/config/index.js';
import { Logger } from '../../core/log/index.js';
import { Metrics } from '../../core/metrics/index.js';
import { Poller } from '../../core/queue/index.js';
import { within } from '../../core/within.js';
import { DeliveryQueue } from './delivery-queue.service.js';
import type { ClaimedDelivery } from './delivery-queue.repository.js';
import { isSuccess } from '../endpoints/endpoint-health.js';
import { EndpointSlots, type Sending, type Receiver } from './endpoint-slots.js';
import { Recorder } from './recorder.service.js';
import { Sender, type SentAttempt } from './sender.service.js';

const LOOK_TASK = 'webhooks.look';
const CLAIM_TASK = 'webhooks.claim';
const CANCEL_TASK = 'webhooks.cancel';
const HAND_BACK_TASK = 'webhooks.hand_back';
/** Finds deliveries of dead processes and those of jobs that Redis lost; all others wake the dispatcher. */
const LOOK_MS = 3_000;
/** Shortest time between scans for retries and for endpoints whose pause ends. */
const SOONEST_LOOK_MS = 250;
/** A scan may use at most a tenth of the time: while a snapshot is held, it rereads sent deliveries. */
const LOOK_RESTS = 10;
const HAND_BACK_MS = 250;
/** Wait after a failed claim; otherwise a free place or an offered endpoint wakes it at once. */
const CLAIM_MS = 1_000;
/** Time that a shutdown waits beyond an attempt's limit; deliveries still under way return when their lease ends. */
const SHUTDOWN_MARGIN_MS = 1_000;

/**
 * Sends deliveries to their receivers, one dispatcher in each worker process. Claims as many as there is room for,
 * posts each outside any transaction, and stores the outcomes in batches. After a crash between a post and its record,
 * the lease repeats the post (at least once).
 */
@Injectable()
export class Dispatcher implements OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  readonly #slots: EndpointSlots<ClaimedDelivery>;
  readonly #underWay = new Set<Promise<void>>();
  #lagSeconds = 0;
  #soonestLookMs = SOONEST_LOOK_MS;
  #inactive: readonly string[] = [];
  readonly #whenRoom: (() => void)[] = [];
  #closing = false;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly queue: DeliveryQueue,
    private readonly sender: Sender,
    private readonly recorder: Recorder,
    private readonly poller: Poller,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {
    this.#slots = new EndpointSlots(config.webhooks.concurrency);
  }

  onApplicationBootstrap(): void {
    if (!this.config.runsWorkers) return;
    this.poller.every(LOOK_TASK, LOOK_MS, () => this.#look());
    this.poller.every(CLAIM_TASK, CLAIM_MS, () => this.#claim());
    this.poller.every(CANCEL_TASK, LOOK_MS, () => this.#cancel());
    this.poller.every(HAND_BACK_TASK, HAND_BACK_MS, () => this.#handBack(this.#slots.takeBack()));
    this.metrics.gauge('recebe_webhook_held', 'Webhooks claimed and not yet recorded.', () => this.#slots.held);
    this.metrics.gauge(
      'recebe_webhook_lag_seconds',
      'How long the oldest due webhook of an endpoint that is not paused has waited.',
      () => this.#lagSeconds,
    );
  }

  /**
   * Called when deliveries to these endpoints have been committed. This process looks at once. A job wakes a process
   * with room too: each delivery is claimed once, whoever comes first.
   */
  wake(receivers: readonly Receiver[]): void {
    if (this.config.runsWorkers && !this.#closing) this.#offer(receivers);
    void this.queue.tell(receivers);
  }

  /** Takes a job. While there is no room it waits, so that a process with room may take the next ones. */
  async take(receiver: Receiver): Promise<void> {
    while (this.#slots.isFull && !this.#closing) await new Promise<void>((resolve) => this.#whenRoom.push(resolve));
    if (!this.#closing) this.#offer([receiver]);
  }

  /** Stops claiming and beginning deliveries. */
  onModuleDestroy(): void {
    this.#closing = true;
    this.#roomMade();
    this.#track(this.#handBack(this.#slots.takeBack(true)));
  }

  /** Waits for posts under way and their records, and hands the other deliveries back. */
  async onApplicationShutdown(): Promise<void> {
    await within(this.config.webhooks.timeoutMs + SHUTDOWN_MARGIN_MS, Promise.all(this.#underWay));
    this.recorder.close();
  }

  #offer(receivers: readonly Receiver[]): void {
    for (const receiver of receivers) this.#slots.offer(receiver);
    this.poller.wake(CLAIM_TASK);
  }

  #roomMade(): void {
    for (const resolve of this.#whenRoom.splice(0)) resolve();
  }

  async #look(): Promise<void> {
    if (this.#closing) return;
    const began = performance.now();
    const { waiting, lagMs, inactive, restMs } = await this.queue.look();
    this.#soonestLookMs = Math.max(SOONEST_LOOK_MS, LOOK_RESTS * (performance.now() - began));
    this.#inactive = inactive;
    if (inactive.length > 0) this.poller.wake(CANCEL_TASK);
    this.poller.wakeIn(LOOK_TASK, Math.max(restMs, this.#soonestLookMs));
    for (const endpoint of waiting) this.#slots.offer(endpoint, endpoint.failing);
    this.#lagSeconds = lagMs / 1000;
    this.#slots.prune();
    this.poller.wake(CLAIM_TASK);
  }

  /** A separate task: cancelling a long queue must not delay the scans. */
  async #cancel(): Promise<void> {
    if (!this.#closing && this.#inactive.length > 0) await this.queue.cancel(this.#inactive);
  }

  /** @returns whether there may be room for others, since some endpoints had less than requested */
  async #claim(): Promise<boolean> {
    const asks = this.#closing ? [] : this.#slots.allot();
    if (asks.length === 0) return false;
    const claimed = await this.queue.claim(asks);
    const counts = new Map<string, number>();
    for (const { endpoint } of claimed) counts.set(endpoint.id, (counts.get(endpoint.id) ?? 0) + 1);
    for (const ask of asks) this.#slots.taken(ask, counts.get(ask.endpointId) ?? 0);
    if (this.#closing) {
      await this.#handBack(claimed);
      return true;
    }
    for (const delivery of claimed) {
      const { id: endpointId, accountId } = delivery.endpoint;
      const sending = this.#slots.admit({ endpointId, accountId }, delivery);
      if (sending) this.#begin(sending);
    }
    // Some endpoints may have failed while the claim was under way.
    this.#track(this.#handBack(this.#slots.takeBack()));
    return true;
  }

  #begin(sending: Sending<ClaimedDelivery>): void {
    const attempt = this.#attempt(sending).catch((error: unknown) => {
      const { id } = sending.delivery;
      this.logger.error({ error, deliveryId: id }, 'a webhook attempt broke off; it comes back by its lease');
    });
    this.#track(
      attempt.then(() => {
        this.#slots.leave();
        this.#roomMade();
        this.poller.wake(CLAIM_TASK);
      }),
    );
  }

  async #attempt(sending: Sending<ClaimedDelivery>): Promise<void> {
    const { delivery, lane } = sending;
    let sent: SentAttempt | null = null;
    try {
      sent = await this.sender.send(delivery);
    } finally {
      const succeeded = sent !== null && isSuccess(sent.statusCode);
      if (this.#slots.answered(sending, succeeded)) this.poller.wake(CLAIM_TASK);
      if (!this.#slots.isPrompt(lane)) this.#track(this.#handBack(this.#slots.takeBack()));
      for (let next = this.#slots.next(lane); next; next = this.#slots.next(lane)) this.#begin(next);
    }
    await this.recorder.record(delivery, sent);
    // The scan determines when this delivery, or its endpoint, is due again.
    if (!isSuccess(sent.statusCode)) this.poller.wakeIn(LOOK_TASK, this.#soonestLookMs);
  }

  /** Registers work that a shutdown waits for. */
  #track(work: Promise<void>): void {
    this.#underWay.add(work);
    void work.then(() => this.#underWay.delete(work));
  }

  /** Hands back deliveries that were claimed but will not begin here. If that fails, their lease returns them. */
  async #handBack(deliveries: readonly ClaimedDelivery[]): Promise<void> {
    if (deliveries.length === 0) return;
    try {
      await this.queue.handBack(deliveries);
    } catch (error) {
      this.logger.warn({ error, count: deliveries.length }, 'webhooks claimed ahead come back by their leases');
    }
  }
}
