import type { DomainEventType } from './event.entity.js';

type Fields = Readonly<Record<string, unknown>>;

/** Rules for stored events, which the context that makes the events declares when it is loaded. */
export interface EventRules {
  /** Object within an event's data whose `fields` are sealed. Each field has its value for readers without the key. */
  readonly sealed: { readonly within: string; readonly fields: Fields };
  /** Events that are kept past their retention, since they may be resent. */
  readonly kept: readonly DomainEventType[];
}

let declared: EventRules | null = null;

export function declareEventRules(rules: EventRules): void {
  declared = rules;
}

/** @throws Error if no context has declared the rules: events would keep personal data in clear text */
export function eventRules(): EventRules {
  if (!declared) throw new Error('No context has declared the rules for its events');
  return declared;
}

/**
 * Separates the fields that are stored sealed.
 * @returns `data` without them, and `personal` with them; null if the event has no object that contains such fields
 */
export function splitPersonal(data: object): { data: object; personal: Fields | null } {
  const { within, fields } = eventRules().sealed;
  const part = (data as Record<string, Fields | undefined>)[within];
  if (!part) return { data, personal: null };
  const isSealed = ([name]: [string, unknown]): boolean => Object.hasOwn(fields, name);
  const entries = Object.entries(part);
  return {
    data: { ...data, [within]: Object.fromEntries(entries.filter((entry) => !isSealed(entry))) },
    personal: Object.fromEntries(entries.filter(isSealed)),
  };
}

/** Joins what `splitPersonal` has split. */
export function joinPersonal<D extends object>(data: D, personal: Fields): D {
  const { within } = eventRules().sealed;
  return { ...data, [within]: { ...(data as Record<string, Fields | undefined>)[within], ...personal } };
}
