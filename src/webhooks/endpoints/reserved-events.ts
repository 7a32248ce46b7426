import type { EventCatalog, EventFamily } from '../../outbox/index.js';

/** Names of the contract that nothing in this version makes yet: merchants may subscribe to them ahead of time. */
const RESERVED: readonly { name: string; family: EventFamily; description: string }[] = [
  { name: 'payout.created', family: 'canonical', description: 'A payout was requested.' },
  { name: 'payout.paid', family: 'canonical', description: 'A payout was settled.' },
  { name: 'payout.failed', family: 'canonical', description: 'A payout failed or was rejected.' },
  { name: 'withdrawal.created', family: 'legacy', description: 'A payout was requested.' },
  { name: 'withdrawal.completed', family: 'legacy', description: 'A payout was settled.' },
  { name: 'withdrawal.failed', family: 'legacy', description: 'A payout failed or was rejected.' },
  { name: 'withdrawal.status_changed', family: 'legacy', description: 'Alias: a payout changed its status.' },
];

/** A name that some context registers with a source is left to it. */
export function registerReservedEvents(catalog: EventCatalog): void {
  for (const { name, family, description } of RESERVED) {
    if (catalog.has(name)) continue;
    catalog.register({
      name,
      family,
      description: `${description} Reserved: not sent by this version.`,
      from: null,
      present: () => null,
    });
  }
}
