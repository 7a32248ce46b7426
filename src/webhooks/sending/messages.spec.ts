import { describe, expect, it } from '@jest/globals';
import type { Mode } from '../../core/mode.js';
import { type DomainEvent, EventCatalog, type EventFamily, type PublicEvent } from '../../outbox/index.js';
import { directEndpoint } from '../endpoints/direct-endpoint.js';
import type { SubscribedEndpoint } from '../endpoints/endpoints.repository.js';
import { buildMessages, candidatesOf, scopesOf } from './messages.js';
import { isSubscribable, isSubscribed } from '../endpoints/subscription.js';

const occurredAt = new Date('2026-11-03T12:00:00.000Z');

function domainEvent(id: string, accountId: string, mode: Mode, type = 'thing.ended'): DomainEvent {
  return { id, accountId, mode, type, subjectId: 's', sequence: 3, data: { id }, occurredAt } as unknown as DomainEvent;
}

/** `presented` collects the names whose payload was built, in order. */
function catalogWith(presented: string[], skip: (name: string) => boolean = () => false): EventCatalog {
  const catalog = new EventCatalog();
  const names: [string, EventFamily][] = [
    ['charge.expired', 'canonical'],
    ['payment.failed', 'legacy'],
    ['payment.expired', 'legacy'],
  ];
  for (const [name, family] of names) {
    const present = (event: DomainEvent): object | null => {
      presented.push(name);
      return skip(name) ? null : { of: event.id };
    };
    catalog.register({ name, family, description: name, from: 'thing.ended', present } as unknown as PublicEvent);
  }
  return catalog;
}

function endpoint(id: string, events: string[], accountId = 'a', mode: Mode = 'test'): SubscribedEndpoint {
  return { id, accountId, mode, events };
}

function build(events: DomainEvent[], endpoints: SubscribedEndpoint[], catalog: EventCatalog, manual = false) {
  let count = 0;
  const canonical = new Set(catalog.canonicalNames());
  return buildMessages(candidatesOf(events, catalog), endpoints, canonical, manual, () => `d${++count}`);
}

describe('buildMessages', () => {
  it('makes one delivery for each endpoint and name, with one payload for all receivers of a name', () => {
    const presented: string[] = [];
    const messages = build(
      [domainEvent('019a4c1e-8a00-7c3d-9d52-6f1b2a3c4d5e', 'a', 'test')],
      [
        endpoint('e1', ['*']),
        endpoint('e2', ['payment.failed', 'payment.expired']),
        endpoint('e3', ['payment.failed']),
      ],
      catalogWith(presented),
    );
    expect(messages.map((message) => [message.eventType, message.deliveries])).toEqual([
      ['charge.expired', [{ id: 'd2', endpointId: 'e1' }]],
      [
        'payment.failed',
        [
          { id: 'd4', endpointId: 'e2' },
          { id: 'd5', endpointId: 'e3' },
        ],
      ],
      ['payment.expired', [{ id: 'd7', endpointId: 'e2' }]],
    ]);
    expect(presented).toEqual(['charge.expired', 'payment.failed', 'payment.expired']);
    expect(messages.map((message) => JSON.parse(message.payload) as object)).toEqual([
      expect.objectContaining({ id: 'evt_019a4c1e8a007c3d9d526f1b2a3c4d5e', type: 'charge.expired', sequence: 3 }),
      { event: 'payment.failed', data: { of: '019a4c1e-8a00-7c3d-9d52-6f1b2a3c4d5e', sequence: 3 } },
      { event: 'payment.expired', data: { of: '019a4c1e-8a00-7c3d-9d52-6f1b2a3c4d5e', sequence: 3 } },
    ]);
  });

  it('keeps accounts and modes apart', () => {
    const events = [domainEvent('1', 'a', 'test'), domainEvent('2', 'a', 'live'), domainEvent('3', 'b', 'test')];
    const endpoints = [
      endpoint('at', ['charge.expired'], 'a', 'test'),
      endpoint('al', ['charge.expired'], 'a', 'live'),
      endpoint('bt', ['charge.expired'], 'b', 'test'),
    ];
    const sent = build(events, endpoints, catalogWith([])).map((message) => [
      message.eventId,
      message.accountId,
      message.mode,
      message.deliveries.map((delivery) => delivery.endpointId),
    ]);
    expect(sent).toEqual([
      ['1', 'a', 'test', ['at']],
      ['2', 'a', 'live', ['al']],
      ['3', 'b', 'test', ['bt']],
    ]);
  });

  it('builds no payload for a name without subscription', () => {
    const presented: string[] = [];
    expect(build([domainEvent('1', 'a', 'test')], [endpoint('e', ['charge.paid'])], catalogWith(presented))).toEqual(
      [],
    );
    expect(presented).toEqual([]);
  });

  it('sends nothing under a name that the event does not concern', () => {
    const catalog = catalogWith([], (name) => name === 'charge.expired');
    const messages = build([domainEvent('1', 'a', 'test')], [endpoint('e', ['*', 'payment.failed'])], catalog);
    expect(messages.map((message) => message.eventType)).toEqual(['payment.failed']);
  });

  it('sends to the address that an event names, instead of to the endpoints', () => {
    const catalog = new EventCatalog();
    const url = (event: DomainEvent): string | null => (event.id === 'own' ? 'https://own.example/hook' : null);
    for (const [name, destination] of [['charge.expired'], ['payment.failed', url]] as const) {
      const family = destination ? 'legacy' : 'canonical';
      const event = { name, family, description: name, from: 'thing.ended', destination, present: () => ({}) };
      catalog.register(event as unknown as PublicEvent);
    }
    const events = [domainEvent('own', 'a', 'test'), domainEvent('other', 'a', 'test')];
    const messages = build(events, [endpoint('e', ['*', 'payment.failed'])], catalog);
    const own = directEndpoint({ accountId: 'a', mode: 'test' }, 'https://own.example/hook').id;
    expect(
      messages.map(({ eventId, eventType, deliveries }) => [eventId, eventType, deliveries[0]?.endpointId]),
    ).toEqual([
      ['own', 'charge.expired', 'e'],
      ['own', 'payment.failed', own],
      ['other', 'charge.expired', 'e'],
      ['other', 'payment.failed', 'e'],
    ]);
    // An event that names its own address needs no subscription.
    expect(build(events, [], catalog).map(({ eventId, eventType }) => [eventId, eventType])).toEqual([
      ['own', 'payment.failed'],
    ]);
  });

  it('carries the subject of the event, and whether it was requested', () => {
    for (const manual of [true, false]) {
      const messages = build([domainEvent('1', 'a', 'test')], [endpoint('e', ['*'])], catalogWith([]), manual);
      expect(messages).toMatchObject([{ subjectId: 's', manual }]);
    }
  });

  it('a requested message reaches each endpoint once per family, by the first event it subscribes to', () => {
    const catalog = new EventCatalog();
    const names: [string, EventFamily, string, boolean?][] = [
      ['charge.refunded', 'canonical', 'thing.refunded'],
      ['payment.refunded', 'legacy', 'thing.refunded'],
      ['payment.status_changed', 'legacy', 'thing.refunded', true],
      ['charge.paid', 'canonical', 'thing.paid'],
      ['charge.settled', 'canonical', 'thing.paid'],
      ['payment.completed', 'legacy', 'thing.paid'],
      ['payment.status_changed', 'legacy', 'thing.paid', true],
    ];
    for (const [name, family, from, isAlias] of names) {
      const event = { name, family, description: name, from, present: () => ({}), ...(isAlias ? { isAlias } : {}) };
      catalog.register(event as unknown as PublicEvent);
    }
    const events = [domainEvent('2', 'a', 'test', 'thing.refunded'), domainEvent('1', 'a', 'test', 'thing.paid')];
    const endpoints = [
      endpoint('star', ['*', 'payment.completed', 'payment.status_changed']),
      endpoint('old', ['charge.paid', 'charge.settled', 'payment.refunded', 'payment.completed']),
      endpoint('other', ['charge.created']),
    ];
    const told = (manual: boolean, who: string): string[] =>
      build(events, endpoints, catalog, manual)
        .filter(({ deliveries }) => deliveries.some(({ endpointId }) => endpointId === who))
        .map(({ eventId, eventType }) => `${eventId} ${eventType}`);
    expect(told(true, 'star')).toEqual(['2 charge.refunded', '2 payment.status_changed', '1 payment.completed']);
    expect(told(true, 'old')).toEqual(['2 payment.refunded', '1 charge.paid', '1 charge.settled']);
    expect(told(true, 'other')).toEqual([]);
    expect(told(false, 'old')).toHaveLength(4);
  });

  it('has no candidates for an event without public names', () => {
    expect(candidatesOf([domainEvent('1', 'a', 'test', 'thing.unknown')], catalogWith([]))).toEqual([]);
  });

  it('returns each account and mode once', () => {
    const events = [domainEvent('1', 'a', 'test'), domainEvent('2', 'a', 'test'), domainEvent('3', 'a', 'live')];
    expect(scopesOf(candidatesOf(events, catalogWith([])))).toEqual([
      { accountId: 'a', mode: 'test' },
      { accountId: 'a', mode: 'live' },
    ]);
  });
});

describe('subscription', () => {
  const catalog = catalogWith([]);
  for (const [name, family] of [
    ['payout.paid', 'canonical'],
    ['withdrawal.created', 'legacy'],
  ] as const) {
    catalog.register({
      name,
      family,
      description: name,
      from: 'thing.ended',
      present: () => ({}),
    } as unknown as PublicEvent);
  }
  const canonical = new Set(catalog.canonicalNames());

  it('expands "*" to canonical names, those of payouts included, and to no legacy name', () => {
    for (const name of ['charge.expired', 'payout.paid']) {
      expect(isSubscribed(['*'], name, canonical)).toBe(true);
    }
    for (const name of ['payment.failed', 'withdrawal.created']) {
      expect(isSubscribed(['*'], name, canonical)).toBe(false);
      expect(isSubscribed(['*', name], name, canonical)).toBe(true);
    }
    expect(isSubscribed(['charge.paid'], 'charge.expired', canonical)).toBe(false);
  });

  it('lets merchants subscribe to "*", to names that are sent, and to nothing else', () => {
    for (const name of ['*', 'charge.expired', 'payout.paid', 'withdrawal.created']) {
      expect(isSubscribable(name, catalog)).toBe(true);
    }
    for (const name of ['', 'charge.*', 'charge.refunded', 'CHARGE.EXPIRED', '__proto__']) {
      expect(isSubscribable(name, catalog)).toBe(false);
    }
  });
});
