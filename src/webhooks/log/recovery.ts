import type { DomainEvent, EventCatalog } from '../../outbox/index.js';
import { type Candidate, candidatesOf, payloadOf } from '../sending/messages.js';
import { isSubscribed } from '../endpoints/subscription.js';

/** A delivery that ended FAILED or CANCELLED: the fields that decide whether its endpoint missed something. */
export interface FailedDelivery {
  readonly id: string;
  readonly subjectId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly createdAt: Date;
}

/** The event that brings an endpoint up to date on a charge, under one of its names. */
export interface Telling {
  readonly candidate: Candidate;
  readonly payload: string;
}

/**
 * The last event of a charge that concerns the endpoint. Prefers a name that failed; otherwise the first name that the
 * endpoint is subscribed to.
 * @param history events of the charge in its current state, the last one first
 */
export function tellingOf(
  history: readonly DomainEvent[],
  subscribed: readonly string[],
  failed: readonly Pick<FailedDelivery, 'eventId' | 'eventType'>[],
  catalog: EventCatalog,
): Telling | null {
  const canonicalNames = new Set(catalog.canonicalNames());
  for (const event of history) {
    const candidates = candidatesOf([event], catalog).filter(
      ({ publicEvent, direct }) => direct === null && isSubscribed(subscribed, publicEvent.name, canonicalNames),
    );
    const hasFailed = ({ publicEvent }: Candidate): boolean =>
      failed.some((delivery) => delivery.eventId === event.id && delivery.eventType === publicEvent.name);
    const preferred = [
      ...candidates.filter(hasFailed).sort(canonicalFirst),
      ...candidates.filter((candidate) => !hasFailed(candidate)).sort(canonicalFirst),
    ];
    for (const candidate of preferred) {
      const payload = payloadOf(candidate);
      if (payload !== null) return { candidate, payload };
    }
  }
  return null;
}

/** Sorts the canonical family first: the legacy family carries less information. */
function canonicalFirst(one: Candidate, other: Candidate): number {
  return Number(one.publicEvent.family === 'legacy') - Number(other.publicEvent.family === 'legacy');
}

/** Later deliveries about a charge to an endpoint, besides the failed ones. */
export interface Known {
  /** When the latest manual delivery that did not fail was created; it sent the charge's state of that time. */
  readonly askedAt: Date | null;
  /** Names under which the charge's last event arrived, or may still arrive. */
  readonly names: readonly string[];
}

/**
 * Whether the endpoint got, or is about to get, the content of a failed delivery from another one. A later manual
 * delivery makes up for it. A failed last event needs the same name; an older event is made up for by the last event
 * under any name.
 */
export function isMadeUpFor(failed: FailedDelivery, last: Pick<DomainEvent, 'id'>, known: Known): boolean {
  if (known.askedAt !== null && known.askedAt > failed.createdAt) return true;
  return failed.eventId === last.id ? known.names.includes(failed.eventType) : known.names.length > 0;
}
