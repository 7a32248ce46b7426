import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Poller } from '../../core/queue/index.js';
import type { OutboxRepository } from '../../outbox/index.js';
import { FIRST } from './cursor.js';
import type { EventFeed, FeedFilter, FeedPage } from './event-feed.service.js';
import { EventStreams } from './event-stream.service.js';

const SCOPE = { accountId: 'a', mode: 'test' } as const;
const NOTHING: FeedPage = { items: [], end: FIRST, hasMore: false };

describe('a stream on which nothing happens', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('has a comment every 15 seconds and ends after a minute', async () => {
    const feed = { newer: () => Promise.resolve(NOTHING), end: () => Promise.resolve(FIRST) };
    const streams = new EventStreams({} as OutboxRepository, feed as unknown as EventFeed, {} as Poller);
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
    const streams = new EventStreams({} as OutboxRepository, feed as unknown as EventFeed, {} as Poller);
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
    const streams = new EventStreams({} as OutboxRepository, feed as unknown as EventFeed, {} as Poller);
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
