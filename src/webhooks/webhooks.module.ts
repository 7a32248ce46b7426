import { Module, type OnModuleInit } from '@nestjs/common';
import { AccountsModule } from '../accounts/index.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { processors } from '../core/queue/index.js';
import { EventCatalog, OutboxModule, Relay } from '../outbox/index.js';
import { DefaultSecretsRepository } from './default-secrets.repository.js';
import { DefaultSecretsService } from './default-secrets.service.js';
import { DeliveriesController } from './deliveries.controller.js';
import { DeliveriesRepository } from './deliveries.repository.js';
import { DeliveryBuilder } from './delivery-builder.js';
import { DeliveryLogRepository } from './delivery-log.repository.js';
import { DeliveryLogService } from './delivery-log.service.js';
import { DeliveryQueue } from './delivery-queue.js';
import { DeliveryQueueRepository } from './delivery-queue.repository.js';
import { DisablingService } from './disabling.service.js';
import { Dispatcher } from './dispatcher.js';
import { EndpointHealthRepository } from './endpoint-health.repository.js';
import { EndpointsController } from './endpoints.controller.js';
import { EndpointsRepository } from './endpoints.repository.js';
import { EndpointsService } from './endpoints.service.js';
import { DeliveriesProcessor } from './jobs/deliveries.processor.js';
import { OutcomesService } from './outcomes.service.js';
import { Recorder } from './recorder.js';
import { RecoveryRepository } from './recovery.repository.js';
import { RecoveryService } from './recovery.service.js';
import { registerReservedEvents } from './reserved-events.js';
import { SamplesService } from './samples.service.js';
import { Sender } from './sender.js';
import { SigningController } from './signing.controller.js';
import { VerificationRepository } from './verification.repository.js';
import { VerificationService } from './verification.service.js';
import { WebhookClient } from './webhook-client.js';

@Module({
  imports: [AccountsModule, OutboxModule],
  controllers: [DeliveriesController, EndpointsController, SigningController],
  providers: [
    DefaultSecretsRepository,
    DefaultSecretsService,
    DeliveriesRepository,
    DeliveryBuilder,
    DeliveryLogRepository,
    DeliveryLogService,
    DeliveryQueue,
    DeliveryQueueRepository,
    DisablingService,
    Dispatcher,
    EndpointHealthRepository,
    EndpointsRepository,
    EndpointsService,
    OutcomesService,
    Recorder,
    RecoveryRepository,
    RecoveryService,
    SamplesService,
    Sender,
    VerificationRepository,
    VerificationService,
    ...processors(DeliveriesProcessor),
    { provide: WebhookClient, useFactory: (config: Config) => new WebhookClient(config), inject: [CONFIG] },
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
