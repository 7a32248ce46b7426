import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, jest } from '@jest/globals';
import { withFakeTimers } from '../../../test/support/fake-timers.js';
import { Drain } from '../../core/drain.js';
import type { Logger } from '../../core/log/index.js';
import { Poller } from '../../core/queue/index.js';
import type { OutboxRepository } from '../../outbox/index.js';
import type { EventBody } from '../dto/event.body.js';
import type { Scope } from '../../core/mode.js';
import { type EventCursor, FIRST } from './cursor.js';
import type { EventFeed, FeedFilter, FeedPage } from './event-feed.service.js';
import { EventStreams } from './event-stream.service.js';

const SCOPE = { accountId: 'a', mode: 'test' } as const;
const NOTHING: FeedPage = { items: [], end: FIRST, hasMore: false };

function streamsOf(feed: Pick<EventFeed, 'newer' | 'end'>): EventStreams {
  return new EventStreams({} as OutboxRepository, feed as EventFeed, {} as Poller, new Drain());
}

describe('a stream on which nothing happens', () => {
  withFakeTimers();

  it('has a comment every 15 seconds and ends after a minute', async () => {
    const feed = { newer: () => Promise.resolve(NOTHING), end: () => Promise.resolve(FIRST) };
    const streams = streamsOf(feed);
    const gone = new AbortController();
    const text = await streams.open(SCOPE, null, {} as FeedFilter, null, gone.signal);
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

  it('ends at once when its reader has hung up', async () => {
    const feed = { newer: () => Promise.resolve(NOTHING), end: () => Promise.resolve(FIRST) };
    const streams = streamsOf(feed);
    const gone = new AbortController();
    const text = await streams.open(SCOPE, null, {} as FeedFilter, null, gone.signal);
    await text.next();
    const next = text.next();
    await jest.advanceTimersByTimeAsync(100);
    gone.abort();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it('keeps no place for a reader that hung up before it began', async () => {
    const feed = { newer: () => Promise.resolve(NOTHING), end: () => Promise.resolve(FIRST) };
    const streams = streamsOf(feed);
    for (let index = 0; index < 60; index++) {
      const text = await streams.open(SCOPE, null, {} as FeedFilter, null, AbortSignal.abort());
      expect(await text.next()).toMatchObject({ done: false });
      expect(await text.next()).toEqual({ done: true, value: undefined });
    }
    const open = Array.from({ length: 51 }, () => new AbortController());
    const answers = await Promise.allSettled(
      open.map(({ signal }) => streams.open(SCOPE, null, {} as FeedFilter, null, signal)),
    );
    expect(answers.map(({ status }) => status).filter((status) => status === 'rejected')).toHaveLength(1);
    expect(answers.at(-1)).toMatchObject({ reason: { code: 'too_many_streams' } });
  });

  it('leaves places for other persons, and frees the places of streams that end', async () => {
    const feed = { newer: () => Promise.resolve(NOTHING), end: () => Promise.resolve(FIRST) };
    const streams = streamsOf(feed);
    const open = Array.from({ length: 11 }, () => new AbortController());
    const answers = await Promise.allSettled(
      open.map(({ signal }) => streams.open(SCOPE, 'ana', {} as FeedFilter, null, signal)),
    );
    expect(answers.map(({ status }) => status)).toEqual([...Array<string>(10).fill('fulfilled'), 'rejected']);
    for (const who of ['bia', null])
      await streams.open(SCOPE, who, {} as FeedFilter, null, new AbortController().signal);
    open[0]?.abort();
    await streams.open(SCOPE, 'ana', {} as FeedFilter, null, new AbortController().signal);
  });
});

describe('a stream on which an event happens', () => {
  withFakeTimers();

  it('has it 275 ms later at most', async () => {
    const logger = { error: () => undefined } as unknown as Logger;
    const poller = new Poller({ logger });
    const event = { cursor: 'evc_2' } as unknown as EventBody;
    const end: EventCursor = { ...FIRST, xid: FIRST.xid + 1, id: 'b' };
    let news: FeedPage = NOTHING;
    const newest = () => Promise.resolve(news === NOTHING ? [] : [{ ...SCOPE, ...end }]);
    const feed = { newer: () => Promise.resolve(news), end: () => Promise.resolve(FIRST) };
    const streams = new EventStreams(
      { newest } as unknown as OutboxRepository,
      feed as unknown as EventFeed,
      poller,
      new Drain(),
    );
    streams.onApplicationBootstrap();
    const gone = new AbortController();
    const text = await streams.open(SCOPE, null, {} as FeedFilter, null, gone.signal);
    await text.next();
    const lines: string[] = [];
    const reading = text.next().then(({ value }) => lines.push(String(value)));
    await jest.advanceTimersByTimeAsync(1_000);
    expect(lines).toEqual([]);
    news = { items: [event], end, hasMore: false };
    await jest.advanceTimersByTimeAsync(275);
    expect(lines).toEqual(['id: evc_2\ndata: {"cursor":"evc_2"}\n\n']);
    await reading;
    gone.abort();
    await poller.stop();
  });
});

describe('streams that read past events', () => {
  withFakeTimers();
  const item = (size: number): EventBody => ({ cursor: 'evc_1', note: 'n'.repeat(size) }) as unknown as EventBody;

  it('read one page of an account at a time, for at most a quarter of the time', async () => {
    let [reading, most, pages] = [0, 0, 0];
    const newer = async (): Promise<FeedPage> => {
      most = Math.max(most, ++reading);
      await delay(10);
      pages++;
      reading--;
      return { items: [], end: FIRST, hasMore: true };
    };
    const streams = streamsOf({ newer, end: () => Promise.resolve(FIRST) });
    const gone = new AbortController();
    const texts = await Promise.all(
      Array.from({ length: 20 }, () => streams.open(SCOPE, null, {} as FeedFilter, null, gone.signal)),
    );
    const readings = texts.map(async (text) => {
      for await (const line of text) expect(line).toBe('retry: 500\n\n');
    });
    await jest.advanceTimersByTimeAsync(1_000);
    // Each page of 10 ms is followed by a pause of 30 ms.
    expect([pages, most]).toEqual([25, 1]);
    gone.abort();
    // The page that is being read ends.
    await jest.advanceTimersByTimeAsync(10);
    await Promise.all(readings);
  });

  it('keep at most a megabyte for readers of an account that do not read', async () => {
    let pages = 0;
    const newer = (_scope: Scope, _filter: FeedFilter, _from: EventCursor, limit: number): Promise<FeedPage> => {
      pages++;
      return Promise.resolve({ items: Array.from({ length: limit }, () => item(30_000)), end: FIRST, hasMore: true });
    };
    const streams = streamsOf({ newer, end: () => Promise.resolve(FIRST) });
    const gone = new AbortController();
    const texts = await Promise.all(
      Array.from({ length: 50 }, () => streams.open(SCOPE, null, {} as FeedFilter, null, gone.signal)),
    );
    let length = 0;
    let read: (() => void) | undefined;
    const slow = texts.map(async (text) => {
      await text.next();
      const page = await text.next();
      length += page.done === true ? 0 : page.value.length;
      await new Promise<void>((resolve) => (read = resolve));
      return text;
    });
    await jest.advanceTimersByTimeAsync(500);
    // The first page is of five events, all later ones of two.
    expect(length).toBeGreaterThan(500_000);
    expect(length).toBeLessThan(1_200_000);
    const before = pages;
    await jest.advanceTimersByTimeAsync(300);
    expect(pages).toBe(before);
    read?.();
    await Promise.race(slow).then((text) => text.return(undefined));
    await jest.advanceTimersByTimeAsync(300);
    expect(pages).toBeGreaterThan(before);
    gone.abort();
  });
});
