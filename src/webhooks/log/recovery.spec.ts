import { describe, expect, it } from '@jest/globals';
import { type DomainEvent, EventCatalog, type EventFamily, type PublicEvent } from '../../outbox/index.js';
import { type FailedDelivery, isMadeUpFor, type Known, tellingOf } from './recovery.js';

const event = (id: string, type: string, sequence: number): DomainEvent =>
  ({
    id,
    type,
    sequence,
    accountId: 'a',
    mode: 'test',
    subjectId: 's',
    data: {},
    occurredAt: new Date(0),
  }) as unknown as DomainEvent;

const created = event('01', 'thing.created', 1);
const paid = event('02', 'thing.paid', 2);
const expired = event('03', 'thing.expired', 2);

/** `own`: names that go to the object's own URL. `unconcerned`: names that its events do not concern. */
function catalogWith({ own = '', unconcerned = '' } = {}): EventCatalog {
  const catalog = new EventCatalog();
  const names: [string, EventFamily, string][] = [
    ['thing.created', 'canonical', 'charge.created'],
    ['thing.paid', 'canonical', 'charge.paid'],
    ['thing.expired', 'canonical', 'charge.expired'],
    ['thing.created', 'legacy', 'payment.created'],
    ['thing.paid', 'legacy', 'payment.completed'],
    ['thing.expired', 'legacy', 'payment.failed'],
    ['thing.expired', 'legacy', 'payment.expired'],
  ];
  for (const [from, family, name] of names) {
    catalog.register({
      name,
      family,
      description: name,
      from,
      destination: () => (name === own ? 'https://own.example/' : null),
      present: () => (name === unconcerned ? null : {}),
    } as unknown as PublicEvent);
  }
  return catalog;
}

const delivery = ({ id: eventId }: DomainEvent, eventType: string, second = 5): FailedDelivery => ({
  id: `d${eventId}`,
  eventId,
  eventType,
  subjectId: 's',
  createdAt: new Date(second * 1000),
});

describe('the event that a recovery sends', () => {
  const nameOf = (
    history: DomainEvent[],
    subscribed: string[],
    failed: FailedDelivery[],
    catalog = catalogWith(),
  ): string | null => tellingOf(history, subscribed, failed, catalog)?.candidate.publicEvent.name ?? null;

  it('is the last event, even if another one failed', () => {
    expect(nameOf([paid, created], ['*'], [delivery(created, 'charge.created')])).toBe('charge.paid');
    expect(nameOf([created], ['*'], [delivery(created, 'charge.created')])).toBe('charge.created');
  });

  it('is the last event that the endpoint is subscribed to', () => {
    expect(nameOf([paid, created], ['charge.created'], [])).toBe('charge.created');
    expect(nameOf([paid, created], ['payment.completed', 'charge.created'], [])).toBe('payment.completed');
    expect(nameOf([paid, created], ['charge.expired'], [])).toBeNull();
    expect(nameOf([], ['*'], [])).toBeNull();
  });

  it('has the name of the failed delivery, or else the first subscribed name', () => {
    const all = ['payment.expired', 'payment.failed', 'charge.expired'];
    expect(nameOf([expired, created], all, [])).toBe('charge.expired');
    expect(nameOf([expired, created], all, [delivery(expired, 'payment.expired')])).toBe('payment.expired');
    expect(nameOf([expired, created], all, [delivery(created, 'payment.created')])).toBe('charge.expired');
  });

  it('is no event for a payment’s own URL, and none that does not concern the endpoint', () => {
    const subscribed = ['charge.created', 'payment.completed'];
    expect(nameOf([paid, created], subscribed, [], catalogWith({ own: 'payment.completed' }))).toBe('charge.created');
    expect(nameOf([paid, created], subscribed, [], catalogWith({ unconcerned: 'payment.completed' }))).toBe(
      'charge.created',
    );
  });

  it('has the body of the last event under the subscribed name', () => {
    const telling = tellingOf([paid, created], ['payment.completed'], [], catalogWith());
    expect(JSON.parse(telling?.payload ?? '')).toEqual({ event: 'payment.completed', data: { sequence: 2 } });
  });
});

describe('a failed delivery counts as made up for', () => {
  const failedPaid = delivery(paid, 'charge.paid');
  const failedCreated = delivery(created, 'charge.created');
  const known = (names: string[], second?: number): Known => ({
    names,
    askedAt: second === undefined ? null : new Date(second * 1000),
  });

  it.each<[string, FailedDelivery, Known, boolean]>([
    ['not when nobody was told', failedPaid, known([]), false],
    ['not by another name of the same transition', failedPaid, known(['payment.completed']), false],
    ['by the same name', failedPaid, known(['payment.completed', 'charge.paid']), true],
    ['by what was asked for since, under any name', failedPaid, known([], 6), true],
    ['not by what was asked for before, or with it', failedPaid, known([], 5), false],
    ['when the charge has gone on and that is known', failedCreated, known(['payment.completed']), true],
    ['when the charge has gone on and was asked for since', failedCreated, known([], 6), true],
    ['not when the charge has gone on and nobody was told', failedCreated, known([]), false],
  ])('%s', (_what, failed, what, expected) => {
    expect(isMadeUpFor(failed, paid, what)).toBe(expected);
  });
});
