import { Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import type { Tx } from '../core/database/index.js';
import { newId } from '../core/ids.js';
import { type DomainEvent, type DomainEventType } from './event-catalog.js';
import { OutboxRepository } from './outbox.repository.js';
import { Relay } from './relay.js';

/** Writes events in the transaction of the change they tell of; wakes the relay when it has committed. */
@Injectable()
export class OutboxService {
  readonly #wake = (): void => this.relay.wake();

  constructor(
    private readonly events: OutboxRepository,
    private readonly relay: Relay,
    private readonly clock: Clock,
  ) {}

  record<T extends DomainEventType>(tx: Tx, events: readonly Omit<DomainEvent<T>, 'id'>[]): void {
    if (events.length === 0) return;
    const now = this.clock.now();
    this.events.insert(
      tx,
      events.map((event) => ({ ...event, id: newId(now) })),
      now,
    );
    tx.afterCommit(this.#wake);
  }
}
