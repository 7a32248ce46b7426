import { type DynamicModule, Module, type OnModuleInit } from '@nestjs/common';
import { AccountsModule } from '../accounts/index.js';
import { AuditModule } from '../audit/index.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { OutboxModule, Relay } from '../outbox/index.js';
import { DefaultSecretsService } from './endpoints/default-secrets.service.js';
import { DeliveriesController } from './log/deliveries.controller.js';
import { DeliveriesRepository } from './log/deliveries.repository.js';
import { DeliveryBuilder } from './sending/delivery-builder.service.js';
import { DeliveryLogRepository } from './log/delivery-log.repository.js';
import { DeliveryLogService } from './log/delivery-log.service.js';
import { DeliveryQueue } from './sending/delivery-queue.service.js';
import { DeliveryQueueRepository } from './sending/delivery-queue.repository.js';
import { DeliveryWriter } from './sending/delivery-writer.service.js';
import { Dispatcher } from './sending/dispatcher.service.js';
import { EventFeed } from './feed/event-feed.service.js';
import { EventsController } from './feed/events.controller.js';
import { EventStreams } from './feed/event-stream.service.js';
import { EndpointCheck } from './endpoints/endpoint-check.service.js';
import { EndpointHealthRepository } from './endpoints/endpoint-health.repository.js';
import { EndpointsController } from './endpoints/endpoints.controller.js';
import { EndpointsRepository } from './endpoints/endpoints.repository.js';
import { EndpointsService } from './endpoints/endpoints.service.js';
import { DeliveriesProcessor } from './sending/deliveries.processor.js';
import { OutcomesService } from './sending/outcomes.service.js';
import { Recorder } from './sending/recorder.service.js';
import { RecoveryRepository } from './log/recovery.repository.js';
import { RecoveryService } from './log/recovery.service.js';
import { SamplesService } from './log/samples.service.js';
import { Sender } from './sending/sender.service.js';
import { SigningController } from './verify/signing.controller.js';
import { SecretsRepository } from './endpoints/secrets.repository.js';
import { VerificationService } from './verify/verification.service.js';
import { WebhookClient } from './sending/webhook-client.service.js';

@Module({
  imports: [AccountsModule, AuditModule, OutboxModule],
  controllers: [DeliveriesController, EndpointsController, EventsController, SigningController],
  providers: [
    DefaultSecretsService,
    DeliveriesRepository,
    DeliveryBuilder,
    DeliveryLogRepository,
    DeliveryLogService,
    DeliveryQueue,
    DeliveryQueueRepository,
    DeliveryWriter,
    Dispatcher,
    EndpointCheck,
    EndpointHealthRepository,
    EndpointsRepository,
    EndpointsService,
    EventFeed,
    EventStreams,
    OutcomesService,
    Recorder,
    RecoveryRepository,
    RecoveryService,
    SamplesService,
    SecretsRepository,
    Sender,
    VerificationService,
    { provide: WebhookClient, useFactory: (config: Config) => new WebhookClient(config), inject: [CONFIG] },
  ],
  exports: [EndpointsService],
})
export class WebhooksModule implements OnModuleInit {
  /** @param takesJobs whether this process takes jobs from Redis */
  static with(takesJobs: boolean): DynamicModule {
    return { module: WebhooksModule, providers: takesJobs ? [DeliveriesProcessor] : [] };
  }

  constructor(
    private readonly relay: Relay,
    private readonly builder: DeliveryBuilder,
  ) {}

  /** Registers before the workers start at bootstrap: an event that is relayed without its consumer would be lost. */
  onModuleInit(): void {
    this.relay.setConsumer(this.builder);
  }
}
