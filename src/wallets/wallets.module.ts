import { Module } from '@nestjs/common';
import { LedgerService } from './ledger.service.js';
import { WalletsController } from './wallets.controller.js';
import { WalletsRepository } from './wallets.repository.js';
import { WalletsService } from './wallets.service.js';

@Module({
  controllers: [WalletsController],
  providers: [WalletsRepository, LedgerService, WalletsService],
  exports: [LedgerService, WalletsService],
})
export class WalletsModule {}
