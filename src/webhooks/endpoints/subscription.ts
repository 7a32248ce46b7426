import type { EventCatalog } from '../../outbox/index.js';

/** Stored and echoed as it was sent, expanded when an event is matched: later canonical names are included. */
export const ALL_CANONICAL = '*';

/** @param canonicalNames what `"*"` stands for */
export function isSubscribed(
  subscribed: readonly string[],
  name: string,
  canonicalNames: ReadonlySet<string>,
): boolean {
  return subscribed.includes(name) || (subscribed.includes(ALL_CANONICAL) && canonicalNames.has(name));
}

export function isSubscribable(name: string, catalog: Pick<EventCatalog, 'has'>): boolean {
  return name === ALL_CANONICAL || catalog.has(name);
}
