export { type DomainEvents, type DomainEventType, EventEntity } from './event.entity.js';
export * from './event-catalog.service.js';
export { declareEventRules } from './event-rules.js';
export { LegacyData, legacyData } from './legacy-data.js';
export { OutboxModule } from './outbox.module.js';
export { type EventPosition, OutboxRepository } from './outbox.repository.js';
export { OutboxService } from './outbox.service.js';
export { type EventConsumer, Relay } from './relay.service.js';
export { RESENT } from './resends.js';
