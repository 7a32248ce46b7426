import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/index.js';
import { AcquirersModule } from '../acquirers/index.js';
import { OutboxModule } from '../outbox/index.js';
import { WalletsModule } from '../wallets/index.js';
import { CreationService } from './creation.service.js';
import { ReturnsService } from './returns.service.js';
import { SettlementService } from './settlement.service.js';
import { SettlementsRepository } from './settlements.repository.js';
import { TransactionRefresh } from './transaction-refresh.js';
import { TransactionSamples } from './transaction-samples.js';
import { TransactionsRepository } from './transactions.repository.js';
import { TransactionsService } from './transactions.service.js';

@Module({
  imports: [AccountsModule, AcquirersModule, OutboxModule, WalletsModule],
  providers: [
    CreationService,
    ReturnsService,
    SettlementService,
    SettlementsRepository,
    TransactionRefresh,
    TransactionSamples,
    TransactionsRepository,
    TransactionsService,
  ],
  exports: [CreationService, ReturnsService, SettlementService, TransactionsService],
})
export class TransactionsModule {}
