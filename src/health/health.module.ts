import { Module } from '@nestjs/common';
import { OutboxModule } from '../outbox/index.js';
import { StorageModule } from '../storage/index.js';
import { WalletsModule } from '../wallets/index.js';
import { Gauges } from './gauges.service.js';
import { HealthController } from './health.controller.js';
import { LedgerChecks } from './ledger-checks.service.js';

@Module({
  imports: [OutboxModule, StorageModule, WalletsModule],
  controllers: [HealthController],
  providers: [Gauges, LedgerChecks],
})
export class HealthModule {}
