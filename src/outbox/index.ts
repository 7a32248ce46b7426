export type { DomainEvents, DomainEventType } from './event.entity.js';
export * from './event-catalog.service.js';
export { OutboxModule } from './outbox.module.js';
export { type EventPosition, OutboxRepository } from './outbox.repository.js';
export { OutboxService } from './outbox.service.js';
export { type EventConsumer, Relay } from './relay.service.js';
