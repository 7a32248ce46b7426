import { Module } from '@nestjs/common';
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
    ...[WalletsRepository, ReleasesRepository, StatementRepository],
    ...[LedgerService, WalletsService, ReleasesService, StatementService],
  ],
  exports: [LedgerService, WalletsService, ReleasesService],
})
export class WalletsModule {}
