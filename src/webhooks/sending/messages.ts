import { groupBy } from '../../core/group-by.js';
import type { Scope } from '../../core/mode.js';
import type { DomainEvent, EventCatalog, PublicEvent } from '../../outbox/index.js';
import type { Message } from '../log/deliveries.repository.js';
import { type DirectEndpoint, directEndpoint } from '../endpoints/direct-endpoint.js';
import type { SubscribedEndpoint } from '../endpoints/endpoints.repository.js';
import { envelope } from './envelope.js';
import { isSubscribed } from '../endpoints/subscription.js';

/** A name under which a domain event can be sent. */
export interface Candidate {
  readonly event: DomainEvent;
  readonly publicEvent: PublicEvent;
  /** Receiver that replaces the account's endpoints. */
  readonly direct: DirectEndpoint | null;
}

export function candidatesOf(events: readonly DomainEvent[], catalog: EventCatalog, again = false): Candidate[] {
  return events.flatMap((event) =>
    catalog.publicEventsOf(event.type, again).map((publicEvent): Candidate => {
      const url = publicEvent.destination?.(event) ?? null;
      return { event, publicEvent, direct: url === null ? null : directEndpoint(event, url) };
    }),
  );
}

/** Returns each account and mode of the candidates once. */
export function scopesOf(candidates: readonly Candidate[]): Scope[] {
  const scopes = new Map<string, Scope>();
  for (const { event } of candidates) scopes.set(keyOf(event), { accountId: event.accountId, mode: event.mode });
  return [...scopes.values()];
}

/**
 * Makes one delivery for each endpoint and name. A payload is built once for each (event, name), and only when an
 * endpoint of the event's account and mode is subscribed.
 * @param manual requested by hand, see Message: events of one subject, see `EventConsumer.replay`
 */
export function buildMessages(
  candidates: readonly Candidate[],
  endpoints: readonly SubscribedEndpoint[],
  canonicalNames: ReadonlySet<string>,
  manual: boolean,
  nextId: () => string,
): Message[] {
  const byScope = groupBy(endpoints, keyOf);
  /** The event that an endpoint gets on request, for each endpoint and family or alias. */
  const toldBy = new Map<string, string>();
  return candidates.flatMap((candidate): Message[] => {
    const { event, publicEvent, direct } = candidate;
    const subscribed: readonly { id: string }[] = direct
      ? [direct]
      : (byScope.get(keyOf(event)) ?? []).filter((endpoint) =>
          isSubscribed(endpoint.events, publicEvent.name, canonicalNames),
        );
    const receivers = manual
      ? subscribed.filter(({ id }) => (toldBy.get(`${id} ${voiceOf(publicEvent)}`) ?? event.id) === event.id)
      : subscribed;
    if (receivers.length === 0) return [];
    const payload = payloadOf(candidate);
    if (payload === null) return [];
    for (const { id } of receivers) toldBy.set(`${id} ${voiceOf(publicEvent)}`, event.id);
    return [messageOf(event, publicEvent.name, payload, receivers, manual, nextId)];
  });
}

/** The family of a name, or the alias itself: in each, a receiver gets one event of a resend. */
export function voiceOf({ isAlias, name, family }: PublicEvent): string {
  return isAlias === true ? name : family;
}

/** Makes the message of an event under one name, for each of `receivers`. */
export function messageOf(
  { id: eventId, accountId, mode, subjectId }: Pick<DomainEvent, 'id' | 'accountId' | 'mode' | 'subjectId'>,
  eventType: string,
  payload: string,
  receivers: readonly { readonly id: string }[],
  manual: boolean,
  nextId: () => string,
): Message {
  return {
    ...{ id: nextId(), accountId, mode, eventId, eventType, subjectId, manual, payload },
    deliveries: receivers.map((endpoint) => ({ id: nextId(), endpointId: endpoint.id })),
  };
}

/** The body to send; null when the event does not concern the name. */
export function payloadOf({ event, publicEvent }: Pick<Candidate, 'event' | 'publicEvent'>): string | null {
  const content = publicEvent.present(event);
  if (content === null) return null;
  return JSON.stringify(envelope(publicEvent.family, event, publicEvent.name, content, publicEvent.beside?.(event)));
}

function keyOf(scope: Scope): string {
  return `${scope.accountId} ${scope.mode}`;
}
