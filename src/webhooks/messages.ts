import type { Scope } from '../core/mode.js';
import type { DomainEvent, EventCatalog, PublicEvent } from '../outbox/index.js';
import type { Message } from './deliveries.repository.js';
import type { SubscribedEndpoint } from './endpoints.repository.js';
import { envelope } from './envelope.js';
import { isSubscribed } from './subscription.js';

/** A name that a domain event can be sent under. */
export interface Candidate {
  readonly event: DomainEvent;
  readonly publicEvent: PublicEvent;
}

export function candidatesOf(events: readonly DomainEvent[], catalog: EventCatalog): Candidate[] {
  return events.flatMap((event) =>
    catalog.publicEventsOf(event.type).map((publicEvent): Candidate => ({ event, publicEvent })),
  );
}

/** Each account and mode of the candidates once. */
export function scopesOf(candidates: readonly Candidate[]): Scope[] {
  const scopes = new Map<string, Scope>();
  for (const { event } of candidates) scopes.set(keyOf(event), { accountId: event.accountId, mode: event.mode });
  return [...scopes.values()];
}

/**
 * Who gets what: one delivery for each endpoint and name. A payload is built once for each (event, name), and only when
 * somebody of the event's account and mode is subscribed.
 */
export function buildMessages(
  candidates: readonly Candidate[],
  endpoints: readonly SubscribedEndpoint[],
  canonicalNames: ReadonlySet<string>,
  nextId: () => string,
): Message[] {
  const byScope = new Map<string, SubscribedEndpoint[]>();
  for (const endpoint of endpoints) {
    const sameScope = byScope.get(keyOf(endpoint));
    if (sameScope) sameScope.push(endpoint);
    else byScope.set(keyOf(endpoint), [endpoint]);
  }
  return candidates.flatMap(({ event, publicEvent }): Message[] => {
    const receivers = (byScope.get(keyOf(event)) ?? []).filter((endpoint) =>
      isSubscribed(endpoint.events, publicEvent.name, canonicalNames),
    );
    if (receivers.length === 0) return [];
    const content = publicEvent.present(event);
    if (content === null) return [];
    return [
      {
        accountId: event.accountId,
        mode: event.mode,
        eventId: event.id,
        eventType: publicEvent.name,
        payload: JSON.stringify(envelope(publicEvent.family, event, publicEvent.name, content)),
        deliveries: receivers.map((endpoint) => ({ id: nextId(), endpointId: endpoint.id })),
      },
    ];
  });
}

function keyOf(scope: Scope): string {
  return `${scope.accountId} ${scope.mode}`;
}
