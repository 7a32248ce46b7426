import { describe, expect, it } from '@jest/globals';
import { EventCatalog, type DomainEventType, type PublicEvent } from './event-catalog.js';

const event = (
  name: string,
  from: string | null,
  family: 'canonical' | 'legacy' = 'canonical',
  description = `${name}.`,
): PublicEvent => ({
  name,
  description,
  family,
  // Which domain events exist depends on the modules that were loaded; the catalog treats them as texts.
  from: from as DomainEventType | null,
  present: () => ({}),
});

describe('the event catalog', () => {
  const catalog = new EventCatalog();
  catalog.register(event('charge.paid', 'transaction.paid'));
  catalog.register(event('charge.failed', 'transaction.refused'));
  catalog.register(event('charge.failed', 'transaction.cancelled', 'canonical', 'said only once'));
  catalog.register(event('payment.completed', 'transaction.paid', 'legacy'));
  catalog.register(event('payout.paid', null));

  it('lists each name once, in the order of registration, with its first description', () => {
    expect(catalog.list()).toEqual([
      { event: 'charge.paid', description: 'charge.paid.', legacy: false },
      { event: 'charge.failed', description: 'charge.failed.', legacy: false },
      { event: 'payment.completed', description: 'payment.completed.', legacy: true },
      { event: 'payout.paid', description: 'payout.paid.', legacy: false },
    ]);
  });

  it('knows a name whatever it is made from, and no other', () => {
    expect(['charge.paid', 'payment.completed', 'payout.paid'].every((name) => catalog.has(name))).toBe(true);
    expect(
      ['charge', 'charge.', 'charge.refunded', '*', '', 'constructor', 'Charge.paid'].some((name) => catalog.has(name)),
    ).toBe(false);
  });

  it('lets the star stand for the canonical names', () => {
    expect(catalog.canonicalNames()).toEqual(['charge.paid', 'charge.failed', 'payout.paid']);
  });

  it('finds every public event of a domain event', () => {
    const names = (type: string): string[] => catalog.publicEventsOf(type).map(({ name }) => name);
    expect(names('transaction.paid')).toEqual(['charge.paid', 'payment.completed']);
    expect(names('transaction.cancelled')).toEqual(['charge.failed']);
    expect(names('transaction.unheard_of')).toEqual([]);
    expect(names('null')).toEqual([]);
  });

  it('is empty before anybody has registered', () => {
    const empty = new EventCatalog();
    expect([empty.list(), empty.canonicalNames(), empty.publicEventsOf('x')]).toEqual([[], [], []]);
  });
});
