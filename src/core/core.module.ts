import { BullModule } from '@nestjs/bull';
import { type DynamicModule, Global, Module, type Provider } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { Clock } from './clock.js';
import { type Config, CONFIG } from './config/index.js';
import { SecretBox } from './crypto/index.js';
import { Database, Reader } from './database/index.js';
import { Drain } from './drain.js';
import { HashKeys, HashKeysRepository } from './hash-keys/index.js';
import { IdempotencyRepository, IdempotencyService } from './idempotency/index.js';
import { Logger } from './log/index.js';
import {
  createMailTransport,
  EmailsRepository,
  MailDelivery,
  Mailer,
  MailProcessor,
  MailTransport,
} from './mail/index.js';
import { Metrics } from './metrics/index.js';
import { OperatorQueues } from './operator-queues.js';
import { JobQueues, Poller, QueueRedis, QUEUES, WakeProcessor } from './queue/index.js';
import { RateLimiter } from './rate-limit/index.js';
import { EncryptionKeysRepository, ResealingRepository, ResealingService } from './resealing/index.js';
import { Retention } from './retention.js';
import { WorkRepository, WorkService, workers } from './work/index.js';

/** Resources opened before the application is made and closed after it. */
export interface CoreResources {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly drain: Drain;
  readonly dataSource: DataSource;
  readonly secrets: SecretBox;
  /** Null without Redis. */
  readonly queueRedis: QueueRedis | null;
  readonly limiter: RateLimiter;
  readonly poller: Poller;
  readonly clock: Clock;
  /** Providers seen by every module: replacements for the defaults of optional dependencies. */
  readonly providers: readonly Provider[];
}

/** Whether this process takes jobs from Redis. BullModule starts each processor that it finds. */
export function takesJobs({ config, queueRedis }: CoreResources): boolean {
  return config.runsWorkers && queueRedis !== null;
}

@Global()
@Module({})
export class CoreModule {
  static with(resources: CoreResources): DynamicModule {
    const providers: Provider[] = [
      { provide: CONFIG, useValue: resources.config },
      { provide: Logger, useValue: resources.logger },
      { provide: Metrics, useValue: resources.metrics },
      { provide: Drain, useValue: resources.drain },
      { provide: DataSource, useValue: resources.dataSource },
      { provide: SecretBox, useValue: resources.secrets },
      { provide: QueueRedis, useValue: resources.queueRedis },
      JobQueues,
      ...(takesJobs(resources) ? [WakeProcessor] : []),
      { provide: RateLimiter, useValue: resources.limiter },
      { provide: Poller, useValue: resources.poller },
      { provide: Clock, useValue: resources.clock },
      {
        provide: Database,
        inject: [DataSource, CONFIG],
        useFactory: (dataSource: DataSource, { databaseGroup }: Config) => new Database(dataSource, databaseGroup),
      },
      Reader,
      OperatorQueues,
      Retention,
      EncryptionKeysRepository,
      ResealingRepository,
      ResealingService,
      { provide: MailTransport, useFactory: createMailTransport, inject: [CONFIG] },
      EmailsRepository,
      MailDelivery,
      Mailer,
      HashKeysRepository,
      HashKeys,
      IdempotencyRepository,
      IdempotencyService,
      WorkRepository,
      WorkService,
      ...workers(MailProcessor),
      ...resources.providers, // last: each takes the place of one above
    ];
    const queues = QUEUES.map((name) => ({ name }));
    const { queueRedis } = resources;
    const bull = queueRedis ? [BullModule.forRoot(queueRedis.options), BullModule.registerQueue(...queues)] : [];
    return { module: CoreModule, imports: [...bull, DiscoveryModule], providers, exports: providers };
  }
}
