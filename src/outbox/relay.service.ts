import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { Database, isAway, type Tx } from '../core/database/index.js';
import { Logger } from '../core/log/index.js';
import { JobQueues, Poller } from '../core/queue/index.js';
import { type DomainEvent, EventCatalog } from './event-catalog.service.js';
import { type EventRow, OutboxRepository } from './outbox.repository.js';

/** Turns events into its own rows (deliveries) inside `tx`; leaves later actions to the hooks of `tx`. */
export interface EventConsumer {
  consume(tx: Tx, events: readonly DomainEvent[]): Promise<void>;
  /**
   * Resends the events of one subject on request, whatever was delivered before. In each family, and by an alias beside
   * it, an endpoint gets the first of the events under a name that it is subscribed to.
   * @returns how many deliveries it made
   */
  replay(tx: Tx, events: readonly DomainEvent[]): Promise<number>;
}

const TASK = 'outbox.relay';
const BATCH = 200;
const POLL_MS = 500;
const POSTPONE_SECONDS = 60;

/**
 * Moves committed events to their consumer: at once after the commit, and by polling as the safety net. Claims skip
 * rows that another relay holds. Never claim "ids greater than the last seen": ids commit out of order.
 */
@Injectable()
export class Relay implements OnApplicationBootstrap {
  #consumer: EventConsumer | null = null;

  constructor(
    private readonly database: Database,
    private readonly events: OutboxRepository,
    private readonly catalog: EventCatalog,
    private readonly jobs: JobQueues,
    private readonly poller: Poller,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Sets the only consumer, the webhooks module: a second one would need a cursor of its own. */
  setConsumer(consumer: EventConsumer): void {
    this.#consumer = consumer;
  }

  onApplicationBootstrap(): void {
    this.poller.onWorkers(TASK, POLL_MS, () => this.run());
  }

  /** Call this after a commit. A lost wake costs at most one polling interval. */
  wake(): void {
    this.jobs.wake(TASK);
  }

  /** @returns whether there may be more to do at once */
  async run(): Promise<boolean> {
    try {
      return (await this.#relay(BATCH)) === BATCH;
    } catch (error) {
      // If the database is away, no event is the cause.
      if (isAway(error)) throw error;
      // If one event cannot be presented, it must not hold up the others: relay them one at a time to find it.
      this.logger.error({ error }, 'relaying a batch of events failed; going one by one');
      let relayed = 0;
      while (relayed < BATCH && (await this.#relayOne())) relayed++;
      return relayed === BATCH;
    }
  }

  async replay(tx: Tx, events: readonly DomainEvent[]): Promise<number> {
    return (await this.#consumer?.replay(tx, events)) ?? 0;
  }

  async #relay(limit: number): Promise<number> {
    return this.database.transaction(async (tx) => {
      const rows = await this.#claim(tx, limit);
      await this.#consume(tx, rows);
      return rows.length;
    });
  }

  /**
   * Relays the next event; an event that fails is put off and kept, never dropped.
   * @throws when the database is away: then no event is put off
   */
  async #relayOne(): Promise<boolean> {
    let current: EventRow | null = null;
    try {
      await this.database.transaction(async (tx) => {
        const [row] = await this.#claim(tx, 1);
        current = row ?? null;
        if (row) await this.#consume(tx, [row]);
      });
      return current !== null;
    } catch (error) {
      const failed = current as EventRow | null;
      if (!failed || isAway(error)) throw error;
      this.logger.error({ error, eventId: failed.id, eventType: failed.type }, 'an event could not be relayed; kept');
      await this.database.transaction((tx) => this.events.postpone(tx, [failed.id], this.#later(), 'pending'));
      return true;
    }
  }

  #claim(tx: Tx, limit: number): Promise<EventRow[]> {
    return this.events.claim(tx, this.clock.now(), limit, this.catalog.types());
  }

  /** Puts off all events that cannot be opened: their key may come back. Passes the others to the consumer. */
  async #consume(tx: Tx, rows: readonly EventRow[]): Promise<void> {
    const events: DomainEvent[] = [];
    const sealed: string[] = [];
    for (const row of rows) {
      try {
        events.push(this.events.open(row));
      } catch (error) {
        this.logger.error({ error, eventId: row.id, eventType: row.type }, 'an event could not be opened; kept');
        sealed.push(row.id);
      }
    }
    if (sealed.length > 0) await this.events.postpone(tx, sealed, this.#later(), 'done');
    if (events.length > 0) await this.#consumer?.consume(tx, events);
  }

  #later(): Date {
    return new Date(this.clock.now().getTime() + POSTPONE_SECONDS * 1000);
  }
}
