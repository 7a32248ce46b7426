import { describe, expect, it } from '@jest/globals';
import type { Tx } from '../core/database/index.js';
import { type DomainEvent, EventCatalog, type NewEvent, type PublicEvent } from './event-catalog.service.js';
import type { DomainEventType } from './event.entity.js';

const event = (
  name: string,
  from: string,
  family: 'canonical' | 'legacy' = 'canonical',
  description = `${name}.`,
): PublicEvent => ({
  name,
  description,
  family,
  // The set of domain events depends on the loaded modules; the catalog treats them as texts.
  from: from as DomainEventType,
  body: Object,
  present: () => ({}),
});

describe('the event catalog', () => {
  const catalog = new EventCatalog();
  catalog.register(event('charge.paid', 'transaction.paid'));
  catalog.register(event('charge.failed', 'transaction.refused'));
  catalog.register(event('charge.failed', 'transaction.cancelled', 'canonical', 'said only once'));
  catalog.register(event('payment.completed', 'transaction.paid', 'legacy'));
  catalog.register(event('payout.paid', 'payout.paid'));

  it('lists each name once, in the order of registration, with its first description', () => {
    expect(catalog.list()).toEqual([
      { event: 'charge.paid', description: 'charge.paid.', legacy: false },
      { event: 'charge.failed', description: 'charge.failed.', legacy: false },
      { event: 'payment.completed', description: 'payment.completed.', legacy: true },
      { event: 'payout.paid', description: 'payout.paid.', legacy: false },
    ]);
  });

  it('recognizes every registered name, and no other', () => {
    expect(['charge.paid', 'payment.completed', 'payout.paid'].every((name) => catalog.has(name))).toBe(true);
    expect(
      ['charge', 'charge.', 'charge.refunded', '*', '', 'constructor', 'Charge.paid'].some((name) => catalog.has(name)),
    ).toBe(false);
  });

  it('expands the star to the canonical names', () => {
    expect(catalog.canonicalNames()).toEqual(['charge.paid', 'charge.failed', 'payout.paid']);
  });

  it('finds every public event of a domain event', () => {
    const names = (type: string): string[] => catalog.publicEventsOf(type).map(({ name }) => name);
    expect(names('transaction.paid')).toEqual(['charge.paid', 'payment.completed']);
    expect(names('transaction.cancelled')).toEqual(['charge.failed']);
    expect(names('transaction.unheard_of')).toEqual([]);
    expect(names('null')).toEqual([]);
  });

  it('is empty before anything is registered', () => {
    const empty = new EventCatalog();
    expect([empty.list(), empty.canonicalNames(), empty.publicEventsOf('x')]).toEqual([[], [], []]);
  });

  it('finds the domain events that names are made from', () => {
    expect(catalog.sourcesOf((name) => name.startsWith('charge.'))).toEqual([
      'transaction.paid',
      'transaction.refused',
      'transaction.cancelled',
    ]);
    expect(catalog.sourcesOf((name) => name === 'payment.completed')).toEqual(['transaction.paid']);
    expect(catalog.sourcesOf((name) => name === 'payout.paid')).toEqual(['payout.paid']);
  });

  it('refreshes events by the source that knows their subjects, once per type, and leaves others unchanged', async () => {
    const refreshing = new EventCatalog();
    const tx = {} as Tx;
    const types = (...names: string[]): DomainEventType[] => names as unknown as DomainEventType[];
    const asked: string[][] = [];
    refreshing.registerRefresh(types('a', 'b'), async (given, events) => {
      expect(given).toBe(tx);
      asked.push(events.map(({ id }) => id));
      return events.filter(({ id }) => id !== '3').map((each) => ({ ...each, data: `now ${each.id}` as never }));
    });
    const events = ['a', 'x', 'b', 'a'].map((type, id) => ({ id: String(id), type, data: 'then' }));
    const refreshed = await refreshing.refresh(tx, events as unknown as DomainEvent[]);
    expect(refreshed.map(({ id, data }) => [id, data]).sort()).toEqual([
      ['0', 'now 0'],
      ['1', 'then'],
      ['2', 'now 2'],
    ]);
    expect(asked).toEqual([['0', '2', '3']]);
    expect(await refreshing.refresh(tx, [])).toEqual([]);
  });

  it('refreshes a type by every source that knows a part of it', async () => {
    const refreshing = new EventCatalog();
    const type = 'a' as unknown as DomainEventType;
    for (const part of ['sale', 'case'])
      refreshing.registerRefresh([type], (_tx, events) =>
        Promise.resolve(
          events.map((each) => ({ ...each, data: { ...(each.data as object), [part]: 'now' } as never })),
        ),
      );
    const event = { id: '1', type, data: { sale: 'then', case: 'then', more: 1 } } as unknown as DomainEvent;
    const [refreshed] = await refreshing.refresh({} as Tx, [event]);
    expect(refreshed?.data).toEqual({ sale: 'now', case: 'now', more: 1 });
  });

  it('takes a sample from the first source that has one, and none for a name that is not sent', () => {
    const scope = { accountId: 'a', mode: 'test' } as const;
    const now = new Date();
    const sample = (type: string): NewEvent => ({ type, ...scope }) as unknown as NewEvent;
    const types = (...names: string[]): DomainEventType[] => names as unknown as DomainEventType[];
    expect(catalog.sample('charge.failed', scope, now)).toBeNull();
    catalog.registerSample(types('transaction.cancelled', 'transaction.paid'), sample);
    expect(catalog.sample('charge.failed', scope, now)?.event.type).toBe('transaction.cancelled');
    catalog.registerSample(types('transaction.refused'), sample);
    expect(catalog.sample('charge.failed', scope, now)?.event).toEqual({ type: 'transaction.refused', ...scope });
    expect(catalog.sample('payment.completed', scope, now)?.publicEvent.family).toBe('legacy');
    expect(['payout.paid', '*', 'nothing', ''].map((name) => catalog.sample(name, scope, now))).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });
});
