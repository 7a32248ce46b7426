import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Drain } from '../../core/drain.js';
import { ApiError, serviceUnavailable } from '../../core/errors/index.js';
import type { Scope } from '../../core/mode.js';
import { Poller } from '../../core/queue/index.js';
import { Turnstile } from '../../core/turnstile.js';
import { type EventPosition, OutboxRepository } from '../../outbox/index.js';
import { cursorText, type EventCursor, isBehind } from './cursor.js';
import { EventFeed, type FeedFilter } from './event-feed.service.js';

const LOOK_MS = 250;
/** Proxies close a silent connection; ours do after a minute. */
const COMMENT_MS = 15_000;
/** A stream ends after this time and the client reconnects, so a revoked key or session stops receiving events. */
const STREAM_MS = 60_000;
const RECONNECT_MS = 500;
/** Most events of a page; a page has fewer when its events are large. */
const MAX_EVENTS = 50;
const FEW_EVENTS = 5;
const PAGE_LENGTH = 65_536;
/** Open streams per account and mode in one process, and per person. A visible dashboard page has one stream. */
const OF_ONE = 50;
const OF_PERSON = 10;
/** Unread characters buffered for one account and mode. Above this, nothing more is read for it. */
const MAX_UNREAD = 1_000_000;
const UNREAD_AGAIN_MS = 100;
/** Pages read at a time for all streams, at most one for each account. */
const READ_AT_A_TIME = 8;
const MAX_WAITING = 2_000;
/** Reading past events pauses three times as long as the page took, so it uses a quarter of the time. */
const PAUSE = 3;

interface Listeners {
  readonly scope: Scope;
  newest: EventPosition | null;
  count: number;
  unread: number;
  /** Events of the next page, estimated from the size of the page before. */
  pageSize: number;
  readonly wakes: Set<() => void>;
  /** Open streams of each person. */
  readonly people: Map<string, number>;
}

interface Page {
  readonly text: string;
  readonly end: EventCursor;
  readonly hasMore: boolean;
}

/**
 * Server-sent events. A single query for all open streams, four times a second, finds the accounts with new events.
 * Without open streams nothing is queried.
 */
@Injectable()
export class EventStreams implements OnApplicationBootstrap {
  readonly #listeners = new Map<string, Listeners>();
  readonly #reading = new Turnstile(READ_AT_A_TIME, MAX_WAITING, 1);

  constructor(
    private readonly events: OutboxRepository,
    private readonly feed: EventFeed,
    private readonly poller: Poller,
    private readonly drain: Drain,
  ) {}

  onApplicationBootstrap(): void {
    this.poller.every('webhooks.streams', LOOK_MS, () => this.#look());
  }

  /**
   * @param userId of a person; null for a key
   * @param from after which event; null for what happens from now on
   * @param gone ends the stream, and must come at last
   * @returns the text of the stream, as it comes
   * @throws ApiError 400 as `EventFeed.newer`, 429 where the account or person has too many
   */
  async open(
    scope: Scope,
    userId: string | null,
    filter: FeedFilter,
    from: EventCursor | null,
    gone: AbortSignal,
  ): Promise<AsyncGenerator<string>> {
    const listeners = this.#join(scope, userId, gone);
    if (from) await this.feed.newer(scope, filter, from, 1);
    const start = from ?? (await this.feed.end(scope));
    return this.#stream(listeners, filter, start, AbortSignal.any([gone, this.drain.signal]));
  }

  #join(scope: Scope, userId: string | null, gone: AbortSignal): Listeners {
    const key = `${scope.accountId} ${scope.mode}`;
    const listeners = this.#listeners.get(key) ?? {
      ...{ scope, newest: null, count: 0, unread: 0, pageSize: FEW_EVENTS },
      wakes: new Set<() => void>(),
      people: new Map<string, number>(),
    };
    const own = userId === null ? 0 : (listeners.people.get(userId) ?? 0);
    if (listeners.count >= OF_ONE || own >= OF_PERSON) {
      throw new ApiError(
        429,
        'rate_limit_error',
        'too_many_streams',
        own >= OF_PERSON
          ? `${OF_PERSON} streams of yours are open in this mode: close one of them.`
          : `${OF_ONE} streams of this account and mode are open: close one of them.`,
        { headers: { 'Retry-After': String(STREAM_MS / 1000) } },
      );
    }
    // If the reader hung up during the query, it has left already.
    if (gone.aborted) return listeners;
    this.#listeners.set(key, listeners);
    listeners.count++;
    if (userId !== null) listeners.people.set(userId, own + 1);
    gone.addEventListener('abort', () => {
      listeners.count--;
      if (userId !== null) listeners.people.set(userId, (listeners.people.get(userId) ?? 1) - 1);
      if (listeners.count === 0) this.#listeners.delete(key);
    });
    return listeners;
  }

  async *#stream(
    listeners: Listeners,
    filter: FeedFilter,
    from: EventCursor,
    end: AbortSignal,
  ): AsyncGenerator<string> {
    yield `retry: ${RECONNECT_MS}\n\n`;
    const endsAt = performance.now() + STREAM_MS;
    let cursor = from;
    while (!end.aborted) {
      const page = await this.#read(listeners, filter, cursor, end);
      if (page === null) {
        await delay(UNREAD_AGAIN_MS, undefined, { signal: end }).catch(() => undefined);
        continue;
      }
      cursor = page.end;
      try {
        if (page.text !== '') yield page.text;
      } finally {
        listeners.unread -= page.text.length;
      }
      const left = endsAt - performance.now();
      if (left <= 0) return;
      if (page.hasMore) continue;
      if (!(await this.#news(listeners, cursor, Math.min(left, COMMENT_MS), end))) yield ': nothing new\n\n';
    }
  }

  /**
   * Returns only the text of a page: the events it was made from may be twenty times as large and are not kept.
   * @returns null while the account has unread text above the limit, and at the end
   */
  #read(listeners: Listeners, filter: FeedFilter, from: EventCursor, end: AbortSignal): Promise<Page | null> {
    const { scope } = listeners;
    const read = async (): Promise<Page | null> => {
      if (end.aborted || listeners.unread >= MAX_UNREAD) return null;
      const started = performance.now();
      const { items, end: next, hasMore } = await this.feed.newer(scope, filter, from, listeners.pageSize);
      const shown = items.map((item) => `id: ${item.cursor}\ndata: ${JSON.stringify(item)}\n\n`).join('');
      const text = items.length > 0 ? shown : passed(from, next);
      const each = Math.max(text.length / Math.max(items.length, 1), 1);
      listeners.pageSize = Math.min(Math.max(Math.floor(PAGE_LENGTH / each), 1), MAX_EVENTS);
      listeners.unread += text.length;
      // The pause is inside the account's turn, so its other streams wait as well.
      const pause = PAUSE * (performance.now() - started);
      if (hasMore) await delay(pause, undefined, { signal: end }).catch(() => undefined);
      return { text, end: next, hasMore };
    };
    const refusal = (): Error => serviceUnavailable('Too many streams are waiting; retry with backoff.');
    return this.#reading.pass(read, refusal, scope.accountId);
  }

  /** @returns whether there may be new events; false after `ms` without any */
  #news(listeners: Listeners, cursor: EventCursor, ms: number, end: AbortSignal): Promise<boolean> {
    if (end.aborted || (listeners.newest !== null && isBehind(cursor, listeners.newest))) return Promise.resolve(true);
    return new Promise((resolve) => {
      const done = (isNews: boolean): void => {
        clearTimeout(timer);
        end.removeEventListener('abort', wake);
        listeners.wakes.delete(wake);
        resolve(isNews);
      };
      const wake = (): void => done(true);
      const timer = setTimeout(() => done(false), ms);
      end.addEventListener('abort', wake);
      listeners.wakes.add(wake);
    });
  }

  async #look(): Promise<void> {
    if (this.#listeners.size === 0) return;
    const scopes = [...this.#listeners.values()].map(({ scope }) => scope);
    for (const { accountId, mode, xid, id } of await this.events.newest(scopes)) {
      const listeners = this.#listeners.get(`${accountId} ${mode}`);
      if (!listeners || (listeners.newest?.id === id && listeners.newest.xid === xid)) continue;
      listeners.newest = { xid, id };
      for (const wake of [...listeners.wakes]) wake();
    }
  }
}

/** Moves the reader's cursor over events that it did not ask for, so that a new connection does not pass them again. */
function passed(from: EventCursor, end: EventCursor): string {
  return isBehind(from, end) ? `id: ${cursorText(end)}\n\n` : '';
}
