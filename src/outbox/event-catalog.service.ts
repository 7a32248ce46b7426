import { Injectable } from '@nestjs/common';
import type { Tx } from '../core/database/index.js';
import type { Scope } from '../core/mode.js';
import type { EventEntity } from './event.entity.js';

/**
 * Domain events by type, each with the data it carries. A context adds its own by declaration merging; data is a
 * snapshot at the time of the event, so that a retry weeks later still tells what happened then.
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- the merging point
export interface DomainEvents {}

export type DomainEventType = keyof DomainEvents;

/** One business event. Its id gives the public `evt_…` id, whatever the number of endpoints and retries. */
export interface DomainEvent<T extends DomainEventType = DomainEventType> extends Omit<
  EventEntity,
  'type' | 'data' | 'customerSealed' | 'xid' | 'status' | 'nextAttemptAt'
> {
  readonly type: T;
  readonly data: DomainEvents[T];
}

/** An event before it is written, which is when it gets its id and number. */
export type NewEvent<T extends DomainEventType = DomainEventType> = Omit<DomainEvent<T>, 'id' | 'sequence'>;

/** How a public event family is wrapped and signed. */
export type EventFamily = 'canonical' | 'legacy';

export interface PublicEvent<T extends DomainEventType = DomainEventType> {
  /** What merchants subscribe to, as in `charge.paid`. */
  readonly name: string;
  readonly description: string;
  readonly family: EventFamily;
  /** The domain event it is made from; null for a name that is reserved and never sent by this version. */
  readonly from: T | null;
  /** It tells of the same as its family, beside it: when a status is told again, both say something. */
  readonly isAlias?: true;
  /** The event is sent under this name only when the status is resent. */
  readonly onlyAgain?: true;
  /** The one address that gets this event instead of the account's endpoints; null for these, as when left out. */
  destination?(event: DomainEvent<T>): string | null;
  /** `data.object` of a canonical event, `data` of a legacy one; null when this event does not concern the name. */
  present(event: DomainEvent<T>): object | null;
  /** What stands beside `object` in `data` of a canonical event; nothing for these, as when left out. */
  beside?(event: DomainEvent<T>): Readonly<Record<string, unknown>>;
}

/** Brings events to the state their subjects are in now; one whose subject is gone is left out. */
export type Refresh<T extends DomainEventType = DomainEventType> = (
  tx: Tx,
  events: readonly DomainEvent<T>[],
) => Promise<DomainEvent<T>[]>;

/** A whole, valid event that never was, for merchants who try their receiver: marked as a sample, with ids of its own. */
export type Sample<T extends DomainEventType = DomainEventType> = (type: T, scope: Scope, now: Date) => NewEvent<T>;

/**
 * Public event names and how each is made from a domain event. Contexts register, the webhooks module reads: so
 * no context imports webhooks, and a new name is one registration.
 */
@Injectable()
export class EventCatalog {
  readonly #events: PublicEvent[] = [];
  readonly #refreshes: { types: readonly string[]; refresh: Refresh }[] = [];
  readonly #samples = new Map<string, Sample>();

  register<T extends DomainEventType>(event: PublicEvent<T>): void {
    this.#events.push(event);
  }

  /**
   * How events of these types are told again later: without one they are told as they were. A type may have several, of
   * contexts that each know a part of its data.
   */
  registerRefresh<T extends DomainEventType>(types: readonly T[], refresh: Refresh<T>): void {
    this.#refreshes.push({ types, refresh: refresh as unknown as Refresh });
  }

  registerSample<T extends DomainEventType>(types: readonly T[], sample: Sample<T>): void {
    for (const type of types) this.#samples.set(type, sample as unknown as Sample);
  }

  /** @returns null for a name that this version does not send; where it has several sources, of the first */
  sample(name: string, scope: Scope, now: Date): { publicEvent: PublicEvent; event: NewEvent } | null {
    for (const publicEvent of this.#events) {
      const { from } = publicEvent;
      const isSent = publicEvent.name === name && publicEvent.onlyAgain !== true;
      const sample = isSent && from !== null ? this.#samples.get(from) : undefined;
      if (sample && from !== null) return { publicEvent, event: sample(from, scope, now) };
    }
    return null;
  }

  /** The domain events that this version knows, also those of which it tells nobody. */
  types(): readonly string[] {
    const sources = this.#events.flatMap(({ from }) => from ?? []);
    return [...new Set([...sources, ...this.#refreshes.flatMap(({ types }) => types)])];
  }

  /** The events as their subjects are now, in no particular order. */
  async refresh(tx: Tx, events: readonly DomainEvent[]): Promise<DomainEvent[]> {
    let refreshed = [...events];
    for (const { types, refresh } of this.#refreshes) {
      const concerned = refreshed.filter(({ type }) => types.includes(type));
      if (concerned.length === 0) continue;
      const others = refreshed.filter(({ type }) => !types.includes(type));
      refreshed = [...others, ...(await refresh(tx, concerned))];
    }
    return refreshed;
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

  /** How deliveries under that name are signed; of one that an older version sent: as usual. */
  familyOf(name: string): EventFamily {
    return this.#events.find((event) => event.name === name)?.family ?? 'canonical';
  }

  /** What `"*"` stands for: all canonical names. */
  canonicalNames(): string[] {
    return this.list()
      .filter((item) => !item.legacy)
      .map((item) => item.event);
  }

  /**
   * The public events of a domain event, not yet presented: a name without subscribers costs nothing.
   * @param again whether they are resent on request
   */
  publicEventsOf(type: string, again = false): readonly PublicEvent[] {
    return this.#events.filter((event) => event.from === type && (again || event.onlyAgain !== true));
  }

  /** The domain events that names for which `isWanted` holds are made from. */
  sourcesOf(isWanted: (name: string) => boolean): DomainEventType[] {
    const sources = this.#events.flatMap(({ name, from, onlyAgain }) =>
      from !== null && onlyAgain !== true && isWanted(name) ? [from] : [],
    );
    return [...new Set(sources)];
  }
}
