import { Injectable } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import type { Tx } from '../../core/database/index.js';
import { newId } from '../../core/ids.js';
import { type DomainEvent, EventCatalog, type EventConsumer } from '../../outbox/index.js';
import { DefaultSecretsService } from '../endpoints/default-secrets.service.js';
import { DeliveryWriter } from './delivery-writer.service.js';
import { EndpointsRepository } from '../endpoints/endpoints.repository.js';
import { buildMessages, type Candidate, candidatesOf, scopesOf } from './messages.js';
import { ALL_CANONICAL } from '../endpoints/subscription.js';

/** Turns domain events into deliveries, in the relay's transaction or in that of a resend. */
@Injectable()
export class DeliveryBuilder implements EventConsumer {
  constructor(
    private readonly catalog: EventCatalog,
    private readonly endpoints: EndpointsRepository,
    private readonly defaultSecrets: DefaultSecretsService,
    private readonly writer: DeliveryWriter,
    private readonly clock: Clock,
  ) {}

  async consume(tx: Tx, events: readonly DomainEvent[]): Promise<void> {
    await this.#build(tx, candidatesOf(events, this.catalog), false);
  }

  async replay(tx: Tx, events: readonly DomainEvent[]): Promise<number> {
    return this.#build(tx, candidatesOf(events, this.catalog, true), true);
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
    return this.writer.write(tx, messages, now);
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
