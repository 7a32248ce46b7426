import type { DomainEventType } from './event.entity.js';

type Fields = Readonly<Record<string, unknown>>;

/** Rules for stored events, which the context that makes the events declares when it is loaded. */
export interface EventRules {
  /** Object within an event's data whose `fields` are sealed. Each field has its value for readers without the key. */
  readonly sealed: { readonly within: string; readonly fields: Fields };
  /** Events that are kept past their retention, since they may be resent. */
  readonly kept: readonly DomainEventType[];
}

const declared: EventRules[] = [];

export function declareEventRules(rules: EventRules): void {
  declared.push(rules);
}

/** @throws Error if no context has declared the rules: events would keep personal data in clear text */
function eventRules(): readonly EventRules[] {
  if (declared.length === 0) throw new Error('No context has declared the rules for its events');
  return declared;
}

export function keptEvents(): DomainEventType[] {
  return eventRules().flatMap(({ kept }) => kept);
}

/**
 * Separates the fields that are stored sealed.
 * @returns `data` without them, and `personal` with them; null if the event has no object that contains such fields
 */
export function splitPersonal(data: object): { data: object; personal: Fields | null } {
  const found = sealedPart(data);
  if (!found) return { data, personal: null };
  const { within, fields, part } = found;
  const isSealed = ([name]: [string, unknown]): boolean => Object.hasOwn(fields, name);
  const entries = Object.entries(part);
  return {
    data: { ...data, [within]: Object.fromEntries(entries.filter((entry) => !isSealed(entry))) },
    personal: Object.fromEntries(entries.filter(isSealed)),
  };
}

/** Joins the parts that `splitPersonal` has split. @param personal null: for readers without the key */
export function joinPersonal<D extends object>(data: D, personal: Fields | null): D {
  const found = sealedPart(data);
  if (!found) return data;
  const { within, fields, part } = found;
  return { ...data, [within]: { ...part, ...(personal ?? fields) } };
}

function sealedPart(data: object): (EventRules['sealed'] & { readonly part: Fields }) | null {
  for (const { sealed } of eventRules()) {
    const part = (data as Record<string, Fields | undefined>)[sealed.within];
    if (part) return { ...sealed, part };
  }
  return null;
}
