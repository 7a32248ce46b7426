import { Module } from '@nestjs/common';
import { EventCatalog } from './event-catalog.service.js';
import { OutboxRepository } from './outbox.repository.js';
import { OutboxService } from './outbox.service.js';
import { Relay } from './relay.service.js';

@Module({
  providers: [EventCatalog, OutboxRepository, OutboxService, Relay],
  exports: [EventCatalog, OutboxRepository, OutboxService, Relay],
})
export class OutboxModule {}
