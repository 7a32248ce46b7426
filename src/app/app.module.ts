import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { AccountsModule } from '../accounts/index.js';
import { AcquirersModule } from '../acquirers/index.js';
import { ApiKeysModule } from '../api-keys/index.js';
import { AuthModule } from '../auth/index.js';
import { ChargesModule } from '../charges/index.js';
import { CheckoutModule } from '../checkout/index.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { CoreModule, type CoreResources, takesJobs } from '../core/core.module.js';
import { BodyInterceptor, ErrorFilter, RequestIdInterceptor, ValidationPipe } from '../core/http/index.js';
import { IdempotencyInterceptor } from '../core/idempotency/index.js';
import { Logger } from '../core/log/index.js';
import { CustomersModule } from '../customers/index.js';
import { FraudModule } from '../fraud/index.js';
import { HealthModule } from '../health/index.js';
import { MedModule } from '../med/index.js';
import { OperationsModule } from '../operations/index.js';
import { OutboxModule } from '../outbox/index.js';
import { PaymentLinksModule } from '../payment-links/index.js';
import { PaymentsModule } from '../payments/index.js';
import { PayoutsModule } from '../payouts/index.js';
import { ReconciliationModule } from '../reconciliation/index.js';
import { ReportsModule } from '../reports/index.js';
import { RequestLogsModule } from '../request-logs/index.js';
import { SandboxModule } from '../sandbox/index.js';
import { StorageModule } from '../storage/index.js';
import { TeamModule } from '../team/index.js';
import { TransactionsModule } from '../transactions/index.js';
import { WalletsModule } from '../wallets/index.js';
import { WebhooksModule } from '../webhooks/index.js';

@Module({})
export class AppModule {
  static with(resources: CoreResources): DynamicModule {
    return {
      module: AppModule,
      imports: [
        CoreModule.with(resources),
        AuthModule,
        AccountsModule,
        ApiKeysModule,
        OutboxModule,
        WalletsModule,
        AcquirersModule,
        FraudModule,
        StorageModule,
        TransactionsModule,
        ReconciliationModule,
        ChargesModule,
        PaymentsModule,
        CustomersModule,
        PaymentLinksModule,
        MedModule,
        PayoutsModule,
        ReportsModule,
        WebhooksModule.with(takesJobs(resources)),
        SandboxModule,
        CheckoutModule,
        TeamModule,
        RequestLogsModule,
        OperationsModule,
        HealthModule,
      ],
      providers: [
        {
          provide: APP_FILTER,
          useFactory: (logger: Logger, { chargeListEnabled }: Config) =>
            new ErrorFilter(logger, chargeListEnabled ? [] : ['GET /v1/charges']),
          inject: [Logger, CONFIG],
        },
        // The order matters: a write without its key is refused before its body is validated.
        { provide: APP_INTERCEPTOR, useClass: RequestIdInterceptor },
        { provide: APP_INTERCEPTOR, useClass: IdempotencyInterceptor },
        { provide: APP_INTERCEPTOR, useClass: BodyInterceptor },
        { provide: APP_PIPE, useClass: ValidationPipe },
      ],
    };
  }
}
