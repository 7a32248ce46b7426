import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/index.js';
import { AcquirersModule } from '../acquirers/index.js';
import { ApiKeysModule } from '../api-keys/index.js';
import { AuditModule } from '../audit/index.js';
import { FraudModule } from '../fraud/index.js';
import { MedModule } from '../med/index.js';
import { PayoutsModule } from '../payouts/index.js';
import { TransactionsModule } from '../transactions/index.js';
import { WalletsModule } from '../wallets/index.js';
import { NegativeBalances } from './negative-balances.service.js';
import { OperationsAccountsController } from './operations-accounts.controller.js';
import { OperationsApiKeysController } from './operations-api-keys.controller.js';
import { OperationsCorrectionsController } from './operations-corrections.controller.js';
import { OperationsController } from './operations.controller.js';
import { OperationsMedController } from './operations-med.controller.js';
import { OperationsMedEvidenceController } from './operations-med-evidence.controller.js';
import { OperationsMedService } from './operations-med.service.js';
import { OperationsService } from './operations.service.js';
import { OperationsPayoutsController } from './operations-payouts.controller.js';
import { OperatorAlertsRepository } from './operator-alerts.repository.js';
import { OperatorAlerts } from './operator-alerts.service.js';
import { OperatorQueueWatch } from './operator-queue-watch.service.js';

@Module({
  imports: [
    AccountsModule,
    AcquirersModule,
    ApiKeysModule,
    AuditModule,
    FraudModule,
    MedModule,
    PayoutsModule,
    TransactionsModule,
    WalletsModule,
  ],
  controllers: [
    OperationsAccountsController,
    OperationsApiKeysController,
    OperationsController,
    OperationsCorrectionsController,
    OperationsMedController,
    OperationsMedEvidenceController,
    OperationsPayoutsController,
  ],
  providers: [
    NegativeBalances,
    OperationsMedService,
    OperationsService,
    OperatorAlerts,
    OperatorAlertsRepository,
    OperatorQueueWatch,
  ],
})
export class OperationsModule {}
