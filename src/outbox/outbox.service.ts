import { Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import type { Tx } from '../core/database/index.js';
import { groupBy } from '../core/group-by.js';
import { newId } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import { type DomainEvent, EventCatalog, type NewEvent } from './event-catalog.service.js';
import type { DomainEventType } from './event.entity.js';
import { OutboxRepository } from './outbox.repository.js';
import { Relay } from './relay.service.js';
import { RESENT } from './resends.js';

/** Writes events in the transaction of their change; wakes the relay after the commit. */
@Injectable()
export class OutboxService {
  readonly #wake = (): void => this.relay.wake();

  constructor(
    private readonly events: OutboxRepository,
    private readonly catalog: EventCatalog,
    private readonly relay: Relay,
    private readonly clock: Clock,
  ) {}

  /**
   * Records events. The caller holds the lock of every subject or has made it in `tx`: numbers continue from the last
   * event. Several events of one subject are numbered in their order here.
   */
  record<T extends DomainEventType>(tx: Tx, events: readonly NewEvent<T>[]): void {
    if (events.length === 0) return;
    const now = this.clock.now();
    this.events.insert(
      tx,
      events.map((event) => ({ ...event, id: newId(now) })),
      now,
    );
    tx.afterCommit(this.#wake);
  }

  /** Returns the last event of a type of a subject, unchanged; null also after its retention. */
  async last<T extends DomainEventType>(
    tx: Tx,
    scope: Scope,
    subjectId: string,
    type: T,
  ): Promise<DomainEvent<T> | null> {
    const [event] = await this.events.history(tx, scope, [subjectId], [type], 1);
    return (event as DomainEvent<T> | undefined) ?? null;
  }

  /**
   * Returns the events of each subject among `types`, updated to its current state.
   * @param limit of events of one subject, the last ones
   * @returns the events of each subject, the last one first; nothing of a subject that has none
   */
  async history(
    tx: Tx,
    scope: Scope,
    subjectIds: readonly string[],
    types: readonly DomainEventType[],
    limit: number,
  ): Promise<Map<string, DomainEvent[]>> {
    const events = await this.events.history(tx, scope, subjectIds, types, limit);
    const refreshed = await this.catalog.refresh(tx, events);
    refreshed.sort((a, b) => b.sequence - a.sequence);
    return groupBy(refreshed, (event) => event.subjectId);
  }

  /**
   * Resends a subject's events in its current state to all current subscribers. Each stays the same business event,
   * with its id and sequence; only the deliveries are new.
   * @param groups the last event of each group is sent; earlier groups are preferred, see `EventConsumer.replay`
   * @returns how many deliveries; 0 when there are no such events or no endpoint is subscribed
   */
  async replay(
    tx: Tx,
    scope: Scope,
    subjectId: string,
    groups: readonly (readonly DomainEventType[])[],
  ): Promise<number> {
    const events = new Map<string, DomainEvent>();
    for (const types of groups) {
      const [last] = (await this.history(tx, scope, [subjectId], types, 1)).get(subjectId) ?? [];
      if (last) events.set(last.id, last);
    }
    return this.#resend(tx, scope, [...events.values()]);
  }

  /** Returns an event that has a public name; null when the account has no such event. */
  async find(scope: Scope, id: string): Promise<DomainEvent | null> {
    const [event] = await this.events.byIds([id]);
    const isOwn = event?.accountId === scope.accountId && event.mode === scope.mode;
    return isOwn && this.catalog.publicEventsOf(event.type, true).length > 0 ? event : null;
  }

  /** Resends one event in the current state of its subject. @returns how many deliveries */
  async resend(tx: Tx, scope: Scope, event: DomainEvent): Promise<number> {
    return this.#resend(tx, scope, await this.catalog.refresh(tx, [event]));
  }

  async #resend(tx: Tx, { accountId, mode }: Scope, events: readonly DomainEvent[]): Promise<number> {
    if (events.length === 0) return 0;
    const occurredAt = this.clock.now();
    const data = { eventIds: events.map(({ id }) => id) };
    this.record(tx, [{ accountId, mode, type: RESENT, subjectId: newId(occurredAt), data, occurredAt }]);
    return this.relay.replay(tx, events);
  }
}
