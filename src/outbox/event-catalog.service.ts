import { Injectable, type Type } from '@nestjs/common';
import type { Tx } from '../core/database/index.js';
import type { Scope } from '../core/mode.js';
import type { DomainEvents, DomainEventType, EventEntity } from './event.entity.js';
import { RESENT } from './resends.js';

/** A business event. The public `evt_…` id comes from its id, whatever the number of endpoints and retries. */
export interface DomainEvent<T extends DomainEventType = DomainEventType> extends Omit<
  EventEntity,
  'type' | 'data' | 'personalSealed' | 'xid' | 'status' | 'nextAttemptAt'
> {
  readonly type: T;
  readonly data: DomainEvents[T];
}

/** An event before it is written; writing gives it its id and number. */
export type NewEvent<T extends DomainEventType = DomainEventType> = Omit<DomainEvent<T>, 'id' | 'sequence'>;

/** Format and signature of public events. */
export type EventFamily = 'canonical' | 'legacy';

export interface PublicEvent<T extends DomainEventType = DomainEventType> {
  /** Name that merchants subscribe to, as in `report.ready`. */
  readonly name: string;
  readonly description: string;
  readonly family: EventFamily;
  /** The domain event it is made from. */
  readonly from: T;
  /** Whether the name is a second one for the same fact: when a status is resent, both names are sent. */
  readonly isAlias?: true;
  /** The event is sent under this name only when the status is resent. */
  readonly onlyAgain?: true;
  /** Class of what `present` makes, for the OpenAPI document. */
  readonly body: Type;
  /** Class of the fields that `beside` makes; left out: none. */
  readonly besideBody?: Type;
  /** Returns the only address that gets this event; null, or left out: the account's endpoints get it. */
  destination?(event: DomainEvent<T>): string | null;
  /**
   * Makes `data.object` of a canonical event, or `data` of a legacy one; null when this event does not concern the
   * name.
   */
  present(event: DomainEvent<T>): object | null;
  /** Makes further fields beside `object` in `data` of a canonical event; left out: none. */
  beside?(event: DomainEvent<T>): Readonly<Record<string, unknown>>;
}

/** Updates events to the current state of their subjects; drops an event whose subject is gone. */
export type Refresh<T extends DomainEventType = DomainEventType> = (
  tx: Tx,
  events: readonly DomainEvent<T>[],
) => Promise<DomainEvent<T>[]>;

/**
 * Makes a complete, valid event that never happened, for merchants who test their receiver: marked as a sample, with
 * its own ids.
 */
export type Sample<T extends DomainEventType = DomainEventType> = (type: T, scope: Scope, now: Date) => NewEvent<T>;

/**
 * Public event names, and how each is made from a domain event. Contexts register, and the webhooks module reads.
 * Therefore no context imports webhooks, and a new name is one registration.
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
   * Registers how events of these types are updated before they are resent; without it they are resent unchanged. A
   * type may have several, from contexts that each know a part of its data.
   */
  registerRefresh<T extends DomainEventType>(types: readonly T[], refresh: Refresh<T>): void {
    this.#refreshes.push({ types, refresh: refresh as unknown as Refresh });
  }

  registerSample<T extends DomainEventType>(types: readonly T[], sample: Sample<T>): void {
    for (const type of types) this.#samples.set(type, sample as unknown as Sample);
  }

  /** @returns null for a name that this version does not send; the sample of the first source if there are several */
  sample(name: string, scope: Scope, now: Date): { publicEvent: PublicEvent; event: NewEvent } | null {
    for (const publicEvent of this.#events) {
      const { from } = publicEvent;
      const isSent = publicEvent.name === name && publicEvent.onlyAgain !== true;
      const sample = isSent ? this.#samples.get(from) : undefined;
      if (sample) return { publicEvent, event: sample(from, scope, now) };
    }
    return null;
  }

  /** Returns the domain events that this version knows, including those never sent to anybody. */
  types(): readonly string[] {
    const sources = this.#events.map(({ from }) => from);
    return [...new Set([...sources, ...this.#refreshes.flatMap(({ types }) => types), RESENT])];
  }

  /** Returns the events in the current state of their subjects, in no particular order. */
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

  /** Returns the shapes of each name for the OpenAPI document. A name with several sources may have several. */
  shapes(): Map<string, PublicEvent[]> {
    const byName = new Map<string, PublicEvent[]>();
    for (const event of this.#events) byName.set(event.name, [...(byName.get(event.name) ?? []), event]);
    return byName;
  }

  has(name: string): boolean {
    return this.#events.some((event) => event.name === name);
  }

  /** Returns how deliveries under that name are signed; a name of an older version counts as canonical. */
  familyOf(name: string): EventFamily {
    return this.#events.find((event) => event.name === name)?.family ?? 'canonical';
  }

  /** Returns the meaning of `"*"`: all canonical names. */
  canonicalNames(): string[] {
    return this.list()
      .filter((item) => !item.legacy)
      .map((item) => item.event);
  }

  /**
   * Returns the public events of a domain event, not yet presented: a name without subscribers costs nothing.
   * @param again whether they are resent on request
   */
  publicEventsOf(type: string, again = false): readonly PublicEvent[] {
    return this.#events.filter((event) => event.from === type && (again || event.onlyAgain !== true));
  }

  /** Returns the domain events that are sources of the names for which `isWanted` holds. */
  sourcesOf(isWanted: (name: string) => boolean): DomainEventType[] {
    const sources = this.#events.flatMap(({ name, from, onlyAgain }) =>
      onlyAgain !== true && isWanted(name) ? [from] : [],
    );
    return [...new Set(sources)];
  }
}
