import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import { Database } from '../../core/database/index.js';
import { badRequest, invalidRequest, notFound } from '../../core/errors/index.js';
import { Logger } from '../../core/log/index.js';
import { eventId, eventUuid } from '../../core/ids.js';
import type { Scope } from '../../core/mode.js';
import {
  type DomainEvent,
  EventCatalog,
  OutboxRepository,
  OutboxService,
  type PublicEvent,
  RESENT,
} from '../../outbox/index.js';
import { envelope } from '../sending/envelope.js';
import { candidatesOf, voiceOf } from '../sending/messages.js';
import { ALL_CANONICAL } from '../endpoints/subscription.js';
import type { EventBody, ResentEventBody } from '../dto/event.body.js';
import { cursorText, type EventCursor, FIRST, LAST } from './cursor.js';

/** How long events are listed. */
export const FEED_DAYS = 30;
/** Events that are scanned for one page. */
const MAX_LOOKED_AT = 2_000;
/** How many of them have their bodies read: each may be large, and of another payment than the name is about. */
const MAX_BODIES = 150;
const BODIES_AT_ONCE = 20;
/** Events are published shortly after they happen, in the order of their commits. */
const DISORDER_MS = 600_000;

export interface FeedFilter {
  readonly names: ReadonlySet<string>;
  readonly subjectId: string | null;
  readonly since: Date;
  /** Whether events that were sent again are listed once more, at the time of the resend. */
  readonly resends: boolean;
}

/** A name of an event, with its number and the event to present under it. */
type Named = readonly [number: number, event: DomainEvent, publicEvent: PublicEvent];

export interface FeedPage {
  readonly items: readonly EventBody[];
  /** Where the next page starts: after the last item, or after the last scanned event when nothing matched. */
  readonly end: EventCursor;
  readonly hasMore: boolean;
}

/** The events that webhooks report, as a list that a reader can resume anywhere without a gap. */
@Injectable()
export class EventFeed implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly events: OutboxRepository,
    private readonly catalog: EventCatalog,
    private readonly outbox: OutboxService,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  async onModuleInit(): Promise<void> {
    const isRestored = await this.database.transaction((tx) => this.events.forgetForeignPositions(tx));
    if (isRestored)
      this.logger.warn({}, 'the database was restored from a dump: cursors of events from before are refused');
  }

  /**
   * @param types of the query: names with commas between, `*` for all canonical ones, which is the default
   * @throws ApiError 400 for a name that is no event
   */
  filter(
    types = ALL_CANONICAL,
    subjectId: string | null = null,
    createdAfter: Date | null = null,
    resends = false,
  ): FeedFilter {
    const given = types.split(',');
    const unknown = given.find((name) => name !== ALL_CANONICAL && !this.catalog.has(name));
    if (unknown !== undefined) {
      const message = 'must be names of GET /v1/webhooks/event-catalog with commas between, or *';
      throw invalidRequest([{ param: 'type', code: 'invalid', message }]);
    }
    const names = given.flatMap((name) => (name === ALL_CANONICAL ? this.catalog.canonicalNames() : [name]));
    const listedSince = this.clock.now().getTime() - FEED_DAYS * 86_400_000;
    return {
      names: new Set(names),
      subjectId,
      since: new Date(Math.max(listedSince, createdAfter?.getTime() ?? 0)),
      resends,
    };
  }

  /** Events older than the cursor, newest first. */
  older(scope: Scope, filter: FeedFilter, from: EventCursor | null, limit: number): Promise<FeedPage> {
    return this.#page(scope, filter, 'older', from ?? LAST, limit);
  }

  /**
   * Events newer than the cursor, oldest first.
   * @throws ApiError 400 for a cursor of another database, after which nothing would ever come
   */
  async newer(scope: Scope, filter: FeedFilter, from: EventCursor, limit: number): Promise<FeedPage> {
    const page = await this.#page(scope, filter, 'newer', from, limit);
    if (page.items.length === 0 && (await this.events.isForeign(null, from))) {
      throw badRequest('unknown_cursor', 'This database has no such cursor: begin again without one.', 'after');
    }
    return page;
  }

  /** The cursor after the latest event. */
  async end(scope: Scope): Promise<EventCursor> {
    const [newest] = await this.events.newest([scope]);
    return newest ? { xid: newest.xid, id: newest.id, name: LAST.name } : FIRST;
  }

  /** Sends an event again, to endpoints and to readers of resends. @throws ApiError 404 */
  async resend(scope: Scope, id: string): Promise<ResentEventBody> {
    const uuid = eventUuid(id);
    const event = uuid && (await this.outbox.find(scope, uuid));
    if (!event) throw notFound('event');
    const deliveries = await this.database.transaction((tx) => this.outbox.resend(tx, scope, event));
    return { id: eventId(event.id), object: 'event', deliveries };
  }

  async #page(
    scope: Scope,
    { names, subjectId, since, resends }: FeedFilter,
    direction: 'older' | 'newer',
    from: EventCursor,
    limit: number,
  ): Promise<FeedPage> {
    const sources: ReadonlySet<string> = new Set([
      ...this.catalog.sourcesOf((name) => names.has(name)),
      ...(resends ? [RESENT] : []),
    ]);
    const items: EventBody[] = [];
    const cursors: EventCursor[] = [];
    const behind = direction === 'older' ? FIRST.name : LAST.name;
    let end = from;
    for (let size = limit + 2, looked = 0, bodies = 0; ; size *= 4) {
      const traces = await this.events.traces(scope, direction, end, size, subjectId);
      const wanted = traces.filter(({ type, occurredAt }) => sources.has(type) && occurredAt >= since);
      const xids = new Map(wanted.map(({ id, xid }) => [id, xid]));
      const begin = end;
      const ids = [...xids.keys()];
      for (let at = 0; at < ids.length; at += BODIES_AT_ONCE) {
        for (const event of await this.events.byIds(ids.slice(at, at + BODIES_AT_ONCE))) {
          const position = { xid: xids.get(event.id) ?? 0, id: event.id };
          for (const [name, named, publicEvent] of await this.#namesOf(event, names, direction)) {
            const cursor = { ...position, name };
            if (!names.has(publicEvent.name) || !isBeyond(cursor, begin, direction)) continue;
            const body = bodyOf(named, publicEvent, cursor);
            if (body === null) continue;
            if (items.length === limit) return { items, end: cursors.at(-1) ?? from, hasMore: true };
            items.push(body);
            cursors.push(cursor);
          }
          bodies++;
          end = { ...position, name: behind };
        }
        if (bodies >= MAX_BODIES) return { items, end, hasMore: true };
      }
      looked += traces.length;
      const last = traces.at(-1);
      if (last) end = { xid: last.xid, id: last.id, name: behind };
      const isPast =
        direction === 'older' && last !== undefined && last.occurredAt.getTime() < since.getTime() - DISORDER_MS;
      if (traces.length < size || isPast) return { items, end, hasMore: false };
      if (looked >= MAX_LOOKED_AT) return { items, end, hasMore: true };
    }
  }

  /** The names of an event with their numbers, from 1, in the order of the direction. */
  async #namesOf(
    event: DomainEvent,
    names: ReadonlySet<string>,
    direction: 'older' | 'newer',
  ): Promise<readonly Named[]> {
    const named =
      event.type === RESENT
        ? await this.#resentNames((event as DomainEvent<typeof RESENT>).data.eventIds, names)
        : this.catalog.publicEventsOf(event.type).map((each, index): Named => [index + 1, event, each]);
    return direction === 'older' ? [...named].reverse() : named;
  }

  /** The names under which an endpoint that is subscribed to `names` gets a resend, see `EventConsumer.replay`. */
  async #resentNames(ids: readonly string[], names: ReadonlySet<string>): Promise<readonly Named[]> {
    const stored = await this.events.byIds(ids);
    const current = await this.database.transaction((tx) => this.catalog.refresh(tx, stored));
    current.sort((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id));
    const toldBy = new Map<string, string>();
    return candidatesOf(current, this.catalog, true)
      .map(({ event, publicEvent }, index): Named => [index + 1, event, publicEvent])
      .filter(([, event, publicEvent]) => {
        const voice = voiceOf(publicEvent);
        const isTold = names.has(publicEvent.name) && (toldBy.get(voice) ?? event.id) === event.id;
        if (!isTold || publicEvent.present(event) === null) return false;
        toldBy.set(voice, event.id);
        return true;
      });
  }
}

function isBeyond({ id, name }: EventCursor, end: EventCursor, direction: 'older' | 'newer'): boolean {
  if (id !== end.id) return true;
  return direction === 'older' ? name < end.name : name > end.name;
}

/** @returns null when the event does not concern the name */
function bodyOf(event: DomainEvent, publicEvent: PublicEvent, cursor: EventCursor): EventBody | null {
  const content = publicEvent.present(event);
  if (content === null) return null;
  const { name, family } = publicEvent;
  const canonical = envelope('canonical', event, name, content, publicEvent.beside?.(event)) as EventBody;
  return { ...canonical, ...(family === 'legacy' ? { data: content } : {}), cursor: cursorText(cursor) };
}
