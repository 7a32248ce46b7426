import { Module, type OnModuleInit } from '@nestjs/common';
import { EventCatalog, OutboxModule, Relay } from '../outbox/index.js';
import { DeliveriesRepository } from './deliveries.repository.js';
import { DeliveriesService } from './deliveries.service.js';
import { DeliveriesSweeper } from './deliveries.sweeper.js';
import { DeliveryBuilder } from './delivery-builder.js';
import { DeliveryJobs } from './delivery-jobs.js';
import { EndpointsController } from './endpoints.controller.js';
import { EndpointsRepository } from './endpoints.repository.js';
import { EndpointsService } from './endpoints.service.js';
import { DeliverProcessor } from './jobs/deliver.processor.js';
import { registerReservedEvents } from './reserved-events.js';
import { Sender } from './sender.js';
import { WebhookClient } from './webhook-client.js';

@Module({
  imports: [OutboxModule],
  controllers: [EndpointsController],
  providers: [
    DeliveriesRepository,
    DeliveriesService,
    DeliveriesSweeper,
    DeliverProcessor,
    DeliveryBuilder,
    DeliveryJobs,
    EndpointsRepository,
    EndpointsService,
    Sender,
    { provide: WebhookClient, useFactory: () => new WebhookClient() },
  ],
  exports: [EndpointsService],
})
export class WebhooksModule implements OnModuleInit {
  constructor(
    private readonly relay: Relay,
    private readonly builder: DeliveryBuilder,
    private readonly catalog: EventCatalog,
  ) {}

  /** Before the workers start at bootstrap: an event relayed without its consumer would be gone. */
  onModuleInit(): void {
    registerReservedEvents(this.catalog);
    this.relay.setConsumer(this.builder);
  }
}
