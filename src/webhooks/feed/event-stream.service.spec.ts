import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Config } from '../../core/config/index.js';
import type { Poller } from '../../core/queue/index.js';
import { MemoryRateLimiter } from '../../core/rate-limit/memory-rate-limiter.js';
import type { OutboxRepository } from '../../outbox/index.js';
import { FIRST } from './cursor.js';
import type { EventFeed, FeedFilter, FeedPage } from './event-feed.service.js';
import { EventStreams } from './event-stream.service.js';

const SCOPE = { accountId: 'a', mode: 'test' } as const;
const NOTHING: FeedPage = { items: [], end: FIRST, hasMore: false };

/** With a bucket of 20 tokens, of which 10 come back in a second. */
function streamsOf(feed: Pick<EventFeed, 'newer' | 'end'>): EventStreams {
  const config = { rateLimit: { enabled: true, rate: 10, burst: 20 } } as Config;
  const limiter = new MemoryRateLimiter({ maxKeys: 10 });
  return new EventStreams(config, limiter, {} as OutboxRepository, feed as EventFeed, {} as Poller);
}

describe('a stream on which nothing happens', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('has a comment every 15 seconds and ends after a minute', async () => {
    const feed = { newer: () => Promise.resolve(NOTHING), end: () => Promise.resolve(FIRST) };
    const streams = streamsOf(feed);
    const gone = new AbortController();
    const text = await streams.open(SCOPE, {} as FeedFilter, null, gone.signal);
    const lines: [number, string][] = [];
    const start = Date.now();
    const reading = (async () => {
      for await (const line of text) lines.push([Date.now() - start, line.trim()]);
    })();
    await jest.advanceTimersByTimeAsync(60_000);
    await reading;
    expect(lines).toEqual([
      [0, 'retry: 500'],
      [15_000, ': nothing new'],
      [30_000, ': nothing new'],
      [45_000, ': nothing new'],
      [60_000, ': nothing new'],
    ]);
    gone.abort();
  });

  it('ends at once when nobody reads it any more', async () => {
    const feed = { newer: () => Promise.resolve(NOTHING), end: () => Promise.resolve(FIRST) };
    const streams = streamsOf(feed);
    const gone = new AbortController();
    const text = await streams.open(SCOPE, {} as FeedFilter, null, gone.signal);
    await text.next();
    const next = text.next();
    await jest.advanceTimersByTimeAsync(100);
    gone.abort();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it('holds no place for whoever hung up before it began', async () => {
    const feed = { newer: () => Promise.resolve(NOTHING), end: () => Promise.resolve(FIRST) };
    const streams = streamsOf(feed);
    for (let index = 0; index < 60; index++) {
      const text = await streams.open(SCOPE, {} as FeedFilter, null, AbortSignal.abort());
      expect(await text.next()).toMatchObject({ done: false });
      expect(await text.next()).toEqual({ done: true, value: undefined });
    }
    const open = Array.from({ length: 51 }, () => new AbortController());
    const answers = await Promise.allSettled(
      open.map(({ signal }) => streams.open(SCOPE, {} as FeedFilter, null, signal)),
    );
    expect(answers.map(({ status }) => status).filter((status) => status === 'rejected')).toHaveLength(1);
    expect(answers.at(-1)).toMatchObject({ reason: { code: 'too_many_streams' } });
  });
});

describe('streams that read what happened before', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('are read one page at a time, and wait for tokens as the list would refuse', async () => {
    let reading = 0;
    let most = 0;
    let pages = 0;
    const newer = async (): Promise<FeedPage> => {
      most = Math.max(most, ++reading);
      await new Promise((resolve) => void setTimeout(resolve, 10));
      reading--;
      pages++;
      return { items: [], end: FIRST, hasMore: true };
    };
    const streams = streamsOf({ newer, end: () => Promise.resolve(FIRST) });
    const gone = new AbortController();
    const texts = await Promise.all(
      Array.from({ length: 20 }, () => streams.open(SCOPE, {} as FeedFilter, null, gone.signal)),
    );
    const readings = texts.map(async (text) => {
      for await (const line of text) expect(line).toBe('retry: 500\n\n');
    });
    await jest.advanceTimersByTimeAsync(10_000);
    expect(most).toBe(1);
    // A page costs 5 tokens: 4 from the full bucket, 2 a second, and one of each stream that waits to pay.
    expect(pages).toBeGreaterThanOrEqual(20);
    expect(pages).toBeLessThanOrEqual(4 + 20 + 20);
    gone.abort();
    await jest.advanceTimersByTimeAsync(1_000);
    await Promise.all(readings);
  });
});
