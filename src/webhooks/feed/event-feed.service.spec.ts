import { describe, expect, it } from '@jest/globals';
import { Clock } from '../../core/clock.js';
import type { Database } from '../../core/database/index.js';
import type { Logger } from '../../core/log/index.js';
import type { DomainEvent, EventCatalog, OutboxRepository, OutboxService } from '../../outbox/index.js';
import { EventFeed } from './event-feed.service.js';

const SCOPE = { accountId: 'a', mode: 'test' } as const;
const ALL = 3_000;

/**
 * Makes a feed of `ALL` events. Every event is read, but only those that `concerns` accepts are shown: a boleto, for
 * example, has the domain event but no `charge.created`.
 * @returns `reads`: the number of events in each read
 */
function feedOf(concerns: (id: number) => boolean): { feed: EventFeed; reads: number[] } {
  const reads: number[] = [];
  const idOf = (number: number): string => String(number).padStart(5, '0');
  const events = {
    traces: (_scope: unknown, _direction: unknown, from: { id: string }, size: number) => {
      const first = /^\d{5}$/.test(from.id) ? Number(from.id) : 0;
      const numbers = Array.from({ length: Math.min(size, ALL - first) }, (_, index) => first + index + 1);
      return Promise.resolve(
        numbers.map((number) => ({
          id: idOf(number),
          xid: number,
          type: 'transaction.created',
          occurredAt: new Date(),
        })),
      );
    },
    byIds: (ids: readonly string[]) => {
      reads.push(ids.length);
      return Promise.resolve(ids.map((id) => ({ id, type: 'transaction.created', occurredAt: new Date() })));
    },
    isForeign: () => Promise.resolve(false),
  };
  const present = ({ id }: DomainEvent): object | null => (concerns(Number(id)) ? { object: { id } } : null);
  const catalog = {
    has: () => true,
    canonicalNames: () => ['charge.created'],
    sourcesOf: () => ['transaction.created'],
    publicEventsOf: () => [{ name: 'charge.created', family: 'canonical', present }],
  };
  const feed = new EventFeed(
    {} as Database,
    events as unknown as OutboxRepository,
    catalog as unknown as EventCatalog,
    {} as OutboxService,
    new Clock(),
    {} as Logger,
  );
  return { feed, reads };
}

describe('a page of events when most events do not match', () => {
  it('reads a few bodies at a time, and ends after some hundred events', async () => {
    const { feed, reads } = feedOf(() => false);
    const page = await feed.newer(SCOPE, feed.filter('charge.created'), { xid: 0, id: '', name: 0 }, 100);
    expect([page.items, page.hasMore]).toEqual([[], true]);
    expect(Math.max(...reads)).toBe(20);
    expect(reads.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(170);
  });

  it('lists every matching event once over all pages, without a gap', async () => {
    const { feed } = feedOf((id) => id % 97 === 0);
    const found: unknown[] = [];
    let from = { xid: 0, id: '', name: 0 };
    for (let pages = 0; pages < 100; pages++) {
      const { items, end, hasMore } = await feed.newer(SCOPE, feed.filter('charge.created'), from, 3);
      found.push(...items.map((item) => Number(/"object":{"id":"(\d{5})"/.exec(JSON.stringify(item))?.[1])));
      from = end;
      if (!hasMore) break;
    }
    expect(found).toEqual(Array.from({ length: Math.floor(ALL / 97) }, (_, index) => (index + 1) * 97));
  });
});
