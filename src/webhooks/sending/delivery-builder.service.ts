import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import { type Config, CONFIG } from '../../core/config/index.js';
import type { Tx } from '../../core/database/index.js';
import { groupBy } from '../../core/group-by.js';
import { newId } from '../../core/ids.js';
import { RateLimiter } from '../../core/rate-limit/index.js';
import { type DomainEvent, EventCatalog, type EventConsumer } from '../../outbox/index.js';
import { DefaultSecretsService } from '../endpoints/default-secrets.service.js';
import { DeliveriesRepository, type Message } from '../log/deliveries.repository.js';
import { Dispatcher } from './dispatcher.service.js';
import { EndpointsRepository } from '../endpoints/endpoints.repository.js';
import { buildMessages, type Candidate, candidatesOf, scopesOf } from './messages.js';
import { maxAttempts } from './retry-schedule.js';
import { ALL_CANONICAL } from '../endpoints/subscription.js';

/** Deliveries are cheaper than requests. */
const DELIVERIES_PER_TOKEN = 5;
/** What a delivery writes: its row, its attempt, and of most answers all. */
const BYTES_PER_DELIVERY = 2_048;

/** Turns domain events into deliveries, in the relay's transaction or in that of a resend. */
@Injectable()
export class DeliveryBuilder implements EventConsumer {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly catalog: EventCatalog,
    private readonly endpoints: EndpointsRepository,
    private readonly defaultSecrets: DefaultSecretsService,
    private readonly deliveries: DeliveriesRepository,
    private readonly dispatcher: Dispatcher,
    private readonly clock: Clock,
    private readonly limiter: RateLimiter,
  ) {}

  async consume(tx: Tx, events: readonly DomainEvent[]): Promise<void> {
    await this.#build(tx, candidatesOf(events, this.catalog), false);
  }

  async replay(tx: Tx, events: readonly DomainEvent[]): Promise<number> {
    return this.#build(tx, candidatesOf(events, this.catalog, true), true);
  }

  /**
   * Writes the deliveries of `messages`, due at once, and wakes the dispatchers.
   * @param attempts how many each may have; left out: those of the schedule
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

  /** A request that makes hundreds of deliveries costs its account as much as they do. */
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

  /** At most two statements for a whole batch, and two more for transactions with a URL of their own. */
  async #build(tx: Tx, candidates: readonly Candidate[], manual: boolean): Promise<number> {
    if (candidates.length === 0) return 0;
    const names = new Set([...candidates.map(({ publicEvent }) => publicEvent.name), ALL_CANONICAL]);
    const endpoints = await this.endpoints.subscribed(tx, scopesOf(candidates), [...names]);
    const now = this.clock.now();
    const canonicalNames = new Set(this.catalog.canonicalNames());
    const messages = buildMessages(candidates, endpoints, canonicalNames, manual, () => newId(now));
    this.#ensureDirect(tx, candidates, now);
    return this.write(tx, messages, now);
  }

  /** The rows that deliveries to transactions' own URLs need: the endpoint, and a secret to sign with. */
  #ensureDirect(tx: Tx, candidates: readonly Candidate[], now: Date): void {
    const direct = candidates.filter((candidate) => candidate.direct !== null);
    if (direct.length === 0) return;
    for (const scope of scopesOf(direct)) this.defaultSecrets.ensureDefaultSecret(tx, scope);
    this.endpoints.insertDirect(
      tx,
      direct.flatMap((candidate) => candidate.direct ?? []),
      now,
    );
  }
}
