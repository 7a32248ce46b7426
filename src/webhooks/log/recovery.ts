import type { DomainEvent, EventCatalog } from '../../outbox/index.js';
import { type Candidate, candidatesOf, payloadOf } from '../sending/messages.js';
import { isSubscribed } from '../endpoints/subscription.js';

/** A delivery that ended FAILED or CANCELLED, as far as it matters for what its endpoint does not know. */
export interface FailedDelivery {
  readonly id: string;
  readonly subjectId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly createdAt: Date;
}

/** What an endpoint should be told of a charge by now, under one of its names. */
export interface Telling {
  readonly candidate: Candidate;
  readonly payload: string;
}

/**
 * The last event of a charge that concerns the endpoint. Of its names, one that failed; else the first that the
 * endpoint is subscribed to.
 * @param history events of the charge, the last one first, as the charge is now
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

/** The older family says less. */
function canonicalFirst(one: Candidate, other: Candidate): number {
  return Number(one.publicEvent.family === 'legacy') - Number(other.publicEvent.family === 'legacy');
}

/** What is known of an endpoint and a charge, besides what failed. */
export interface Known {
  /** When the last delivery was made that was asked for and did not fail: it told the charge as it was by then. */
  readonly askedAt: Date | null;
  /** Names under which the charge's last event arrived, or may still arrive. */
  readonly names: readonly string[];
}

/**
 * Whether the endpoint got, or is about to get, what a failed delivery would have told it: by a later one that was
 * asked for; the last event under the same name; and what is older is settled by the last event.
 */
export function isMadeUpFor(failed: FailedDelivery, last: Pick<DomainEvent, 'id'>, known: Known): boolean {
  if (known.askedAt !== null && known.askedAt > failed.createdAt) return true;
  return failed.eventId === last.id ? known.names.includes(failed.eventType) : known.names.length > 0;
}
