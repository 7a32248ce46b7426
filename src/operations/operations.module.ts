import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/index.js';
import { AuditModule } from '../audit/index.js';
import { FraudModule } from '../fraud/index.js';
import { TransactionsModule } from '../transactions/index.js';
import { OperationsAccountsController } from './operations-accounts.controller.js';
import { OperationsController } from './operations.controller.js';
import { OperationsService } from './operations.service.js';

@Module({
  imports: [AccountsModule, AuditModule, FraudModule, TransactionsModule],
  controllers: [OperationsAccountsController, OperationsController],
  providers: [OperationsService],
})
export class OperationsModule {}
