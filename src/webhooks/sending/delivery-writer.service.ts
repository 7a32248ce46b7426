import { Inject, Injectable } from '@nestjs/common';
import { type Config, CONFIG } from '../../core/config/index.js';
import type { Tx } from '../../core/database/index.js';
import { groupBy } from '../../core/group-by.js';
import { RateLimiter } from '../../core/rate-limit/index.js';
import { EndpointsRepository } from '../endpoints/endpoints.repository.js';
import { DeliveriesRepository, type Message } from '../log/deliveries.repository.js';
import { Dispatcher } from './dispatcher.service.js';
import { maxAttempts } from './retry-schedule.js';

/** Deliveries cost less than requests. */
const DELIVERIES_PER_TOKEN = 5;
/** Bytes that a delivery writes: its row, its attempt, and most answers in full. */
const BYTES_PER_DELIVERY = 2_048;

/** Writes deliveries: of events, samples and recoveries. */
@Injectable()
export class DeliveryWriter {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly endpoints: EndpointsRepository,
    private readonly deliveries: DeliveriesRepository,
    private readonly dispatcher: Dispatcher,
    private readonly limiter: RateLimiter,
  ) {}

  /**
   * Writes the deliveries of `messages`, due at once, and wakes the dispatchers.
   * @param attempts how many each may have; omitted: as many as the schedule has
   * @returns how many deliveries
   */
  write(
    tx: Tx,
    messages: readonly Message[],
    now: Date,
    attempts = maxAttempts(this.config.webhooks.retryScheduleSeconds),
  ): number {
    if (messages.length === 0) return 0;
    const receivers = messages.flatMap(({ accountId, deliveries }) =>
      deliveries.map(({ endpointId }) => ({ accountId, endpointId })),
    );
    if (messages.some((message) => message.manual)) {
      const endpointIds = receivers.map(({ endpointId }) => endpointId);
      this.endpoints.endPause(tx, endpointIds, now);
    }
    this.deliveries.insert(tx, messages, attempts, now);
    tx.afterCommit(() => {
      this.dispatcher.wake(receivers);
      this.#charge(messages);
    });
    return receivers.length;
  }

  /** A request that creates hundreds of deliveries is charged for them to its account. */
  #charge(messages: readonly Message[]): void {
    const { enabled, rate, burst, testModePerDay } = this.config.rateLimit;
    if (!enabled) return;
    for (const [scope, ofScope] of groupBy(messages, ({ accountId, mode }) => `${accountId}:${mode}`)) {
      const count = ofScope.reduce((sum, { deliveries }) => sum + deliveries.length, 0);
      const tokens = Math.floor(count / DELIVERIES_PER_TOKEN);
      if (tokens > 0) this.limiter.debit(`account:${scope}`, { rate, burst }, tokens);
      const [{ accountId, mode }] = ofScope as [Message];
      if (mode !== 'test') continue;
      const policy = { rate: testModePerDay / 86_400, burst: testModePerDay };
      this.limiter.debit(`test-data:${accountId}`, policy, count * BYTES_PER_DELIVERY);
    }
  }
}
