import { Module } from '@nestjs/common';
import { BalanceChecksRepository } from './balance-checks.repository.js';
import { BalanceChecksService } from './balance-checks.service.js';
import { LedgerChainRepository } from './ledger-chain.repository.js';
import { LedgerChainService } from './ledger-chain.service.js';
import { LedgerService } from './ledger.service.js';
import { ReleasesRepository } from './releases.repository.js';
import { ReleasesService } from './releases.service.js';
import { StatementRepository } from './statement.repository.js';
import { StatementService } from './statement.service.js';
import { WalletsController } from './wallets.controller.js';
import { WalletsRepository } from './wallets.repository.js';
import { WalletsService } from './wallets.service.js';

@Module({
  controllers: [WalletsController],
  providers: [
    ...[WalletsRepository, ReleasesRepository, StatementRepository, LedgerChainRepository],
    ...[BalanceChecksRepository, BalanceChecksService],
    ...[LedgerService, LedgerChainService, WalletsService, ReleasesService, StatementService],
  ],
  exports: [BalanceChecksService, LedgerService, LedgerChainService, WalletsService, ReleasesService, StatementService],
})
export class WalletsModule {}
