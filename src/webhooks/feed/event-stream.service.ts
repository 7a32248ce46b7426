import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { type Config, CONFIG } from '../../core/config/index.js';
import { ApiError, serviceUnavailable } from '../../core/errors/index.js';
import { answerTokensOf } from '../../core/http/index.js';
import type { Scope } from '../../core/mode.js';
import { Poller } from '../../core/queue/index.js';
import { RateLimiter } from '../../core/rate-limit/index.js';
import { Turnstile } from '../../core/turnstile.js';
import { type EventPosition, OutboxRepository } from '../../outbox/index.js';
import { type EventCursor, isBehind } from './cursor.js';
import { EventFeed, type FeedFilter, type FeedPage } from './event-feed.service.js';

const LOOK_MS = 250;
/** Proxies close a connection on which nothing comes; ours do after a minute. */
const COMMENT_MS = 15_000;
/** Who has lost their key or their login since hears nothing longer than that: a stream ends, and is asked for again. */
const STREAM_MS = 60_000;
const RECONNECT_MS = 500;
const PAGE = 50;
/** Streams of one account and mode at a time, in one process. */
const OF_ONE = 50;
/** Pages that are read at a time for all streams: one of each account. */
const READ_AT_A_TIME = 8;
const MOST_WAITING = 2_000;
const HISTORY_TOKENS = 5;
/** Between two looks whether there are tokens again. */
const TOKENS_AGAIN_MS = 100;

interface Listeners {
  readonly scope: Scope;
  newest: EventPosition | null;
  count: number;
  readonly wakes: Set<() => void>;
}

/**
 * Server-sent events. One question for all open streams, four times a second, tells which accounts have news; nothing is
 * asked while there are none.
 */
@Injectable()
export class EventStreams implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #listeners = new Map<string, Listeners>();
  readonly #closing = new AbortController();
  readonly #reading = new Turnstile(READ_AT_A_TIME, MOST_WAITING, 1);

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly limiter: RateLimiter,
    private readonly events: OutboxRepository,
    private readonly feed: EventFeed,
    private readonly poller: Poller,
  ) {}

  onApplicationBootstrap(): void {
    this.poller.every('webhooks.streams', LOOK_MS, () => this.#look());
  }

  /** The server waits for what is under way. */
  onModuleDestroy(): void {
    this.#closing.abort();
  }

  /**
   * @param from after which event; null for what happens from now on
   * @param gone ends the stream, and must come at last
   * @returns the text of the stream, as it comes
   * @throws ApiError 400 as `EventFeed.newer`, 429 where the account has too many
   */
  async open(
    scope: Scope,
    filter: FeedFilter,
    from: EventCursor | null,
    gone: AbortSignal,
  ): Promise<AsyncGenerator<string>> {
    const listeners = this.#join(scope, gone);
    if (from) await this.feed.newer(scope, filter, from, 1);
    const start = from ?? (await this.feed.end(scope));
    return this.#stream(listeners, filter, start, AbortSignal.any([gone, this.#closing.signal]));
  }

  #join(scope: Scope, gone: AbortSignal): Listeners {
    const key = `${scope.accountId} ${scope.mode}`;
    const listeners = this.#listeners.get(key) ?? { scope, newest: null, count: 0, wakes: new Set() };
    if (listeners.count >= OF_ONE) {
      throw new ApiError(
        429,
        'rate_limit_error',
        'too_many_streams',
        `${OF_ONE} streams of this account and mode are open: close one of them.`,
        { headers: { 'Retry-After': String(STREAM_MS / 1000) } },
      );
    }
    // Whoever hung up while the question was on its way leaves no second time.
    if (gone.aborted) return listeners;
    this.#listeners.set(key, listeners);
    listeners.count++;
    gone.addEventListener('abort', () => {
      listeners.count--;
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
      const page = await this.#read(listeners.scope, filter, cursor);
      cursor = page.end;
      const text = page.items.map((item) => `id: ${item.cursor}\ndata: ${JSON.stringify(item)}\n\n`).join('');
      if (text !== '') yield text;
      const left = endsAt - performance.now();
      if (left <= 0) return;
      if (page.hasMore) {
        await this.#pay(listeners.scope, text, end);
        continue;
      }
      if (!(await this.#news(listeners, cursor, Math.min(left, COMMENT_MS), end))) yield ': nothing new\n\n';
    }
  }

  #read(scope: Scope, filter: FeedFilter, from: EventCursor): Promise<FeedPage> {
    const refusal = (): Error => serviceUnavailable('Too many streams are waiting; retry with backoff.');
    return this.#reading.pass(() => this.feed.newer(scope, filter, from, PAGE), refusal, scope.accountId);
  }

  /** What happened before costs as a dear page of the list; a stream that has no tokens left waits for them. */
  async #pay({ accountId, mode }: Scope, text: string, end: AbortSignal): Promise<void> {
    const { enabled, rate, burst } = this.config.rateLimit;
    if (!enabled) return;
    const cost = Math.min(HISTORY_TOKENS + answerTokensOf(text.length), burst);
    for (;;) {
      const { allowed } = await this.limiter.take(`events:${accountId}:${mode}`, { rate, burst }, cost);
      if (allowed || end.aborted) return;
      // The stream ends when its caller has gone, which is no error.
      await delay(TOKENS_AGAIN_MS, undefined, { signal: end }).catch(() => undefined);
    }
  }

  /** @returns whether there may be some; false after `ms` without */
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
