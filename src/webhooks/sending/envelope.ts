import { API_VERSION } from '../../core/api-version.js';
import { eventId } from '../../core/ids.js';
import type { DomainEvent, EventFamily } from '../../outbox/index.js';
import type { EventBody } from '../dto/event.body.js';

export interface CanonicalEnvelope {
  /** `evt_<32 hex>`: one for each business event, whatever the number of endpoints, names and retries. */
  id: string;
  object: 'event';
  api_version: string;
  type: string;
  created_at: string;
  /** Number of the event among those of one charge, from 1. Receivers use it to order events. */
  sequence: number;
  data: { object: object } & Readonly<Record<string, unknown>>;
}

export interface LegacyEnvelope {
  event: string;
  data: object & { sequence: number };
}

/** Makes the body of the webhook, byte for byte, from an item of the list of events. */
export function bodyOfItem({ cursor: _, ...canonical }: EventBody, family: EventFamily): string {
  const { type, data, sequence } = canonical;
  return JSON.stringify(family === 'canonical' ? canonical : { event: type, data: { ...data, sequence } });
}

/**
 * @param name what the merchant subscribed to, as in `charge.paid`
 * @param content `data.object` of the canonical family, `data` of the legacy one without its `sequence`
 * @param beside what else `data` of the canonical family has
 */
export function envelope(
  family: EventFamily,
  event: Pick<DomainEvent, 'id' | 'occurredAt' | 'sequence'>,
  name: string,
  content: object,
  beside: Readonly<Record<string, unknown>> = {},
): CanonicalEnvelope | LegacyEnvelope {
  switch (family) {
    case 'canonical':
      return {
        id: eventId(event.id),
        object: 'event',
        api_version: API_VERSION,
        type: name,
        created_at: event.occurredAt.toISOString(),
        sequence: event.sequence,
        data: { ...beside, object: content },
      };
    case 'legacy':
      return { event: name, data: { ...content, sequence: event.sequence } };
  }
}
