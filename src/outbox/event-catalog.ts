import { Injectable } from '@nestjs/common';
import type { Mode } from '../core/mode.js';

/**
 * Domain events by type, each with the data it carries. A context adds its own by declaration merging; data is a
 * snapshot at the time of the event, so that a retry weeks later still tells what happened then.
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- the merging point
export interface DomainEvents {}

export type DomainEventType = keyof DomainEvents;

/** One business event. Its id gives the public `evt_…` id, whatever the number of endpoints and retries. */
export interface DomainEvent<T extends DomainEventType = DomainEventType> {
  readonly id: string;
  readonly accountId: string;
  readonly mode: Mode;
  readonly type: T;
  readonly subjectId: string;
  readonly data: DomainEvents[T];
  readonly occurredAt: Date;
}

/** How a public event family is wrapped and signed. */
export type EventFamily = 'canonical' | 'legacy';

export interface PublicEvent<T extends DomainEventType = DomainEventType> {
  /** What merchants subscribe to, as in `charge.paid`. */
  readonly name: string;
  readonly description: string;
  readonly family: EventFamily;
  /** The domain event it is made from; null for a name that is reserved and never sent by this version. */
  readonly from: T | null;
  /** `data.object` of a canonical event, `data` of a legacy one; null when this event does not concern the name. */
  present(event: DomainEvent<T>): object | null;
}

/**
 * Public event names and how each is made from a domain event. Contexts register, the webhooks module reads: so
 * nobody has to import webhooks, and a new name is one registration.
 */
@Injectable()
export class EventCatalog {
  readonly #events: PublicEvent[] = [];

  register<T extends DomainEventType>(event: PublicEvent<T>): void {
    this.#events.push(event);
  }

  /** Subscribable names in the order of registration, each once. */
  list(): { event: string; description: string; legacy: boolean }[] {
    const byName = new Map<string, { event: string; description: string; legacy: boolean }>();
    for (const { name, description, family } of this.#events) {
      if (!byName.has(name)) byName.set(name, { event: name, description, legacy: family === 'legacy' });
    }
    return [...byName.values()];
  }

  has(name: string): boolean {
    return this.#events.some((event) => event.name === name);
  }

  /** What `"*"` stands for: all canonical names. */
  canonicalNames(): string[] {
    return this.list()
      .filter((item) => !item.legacy)
      .map((item) => item.event);
  }

  /** The public events of a domain event, not yet presented: a name nobody subscribed to costs nothing. */
  publicEventsOf(type: string): readonly PublicEvent[] {
    return this.#events.filter((event) => event.from === type);
  }
}
