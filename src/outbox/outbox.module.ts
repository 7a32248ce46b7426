import { Module } from '@nestjs/common';
import { processors } from '../core/queue/index.js';
import { EventCatalog } from './event-catalog.service.js';
import { WakeProcessor } from './wake.processor.js';
import { OutboxRepository } from './outbox.repository.js';
import { OutboxService } from './outbox.service.js';
import { Relay } from './relay.service.js';

@Module({
  providers: [EventCatalog, OutboxRepository, OutboxService, Relay, ...processors(WakeProcessor)],
  exports: [EventCatalog, OutboxRepository, OutboxService, Relay],
})
export class OutboxModule {}
