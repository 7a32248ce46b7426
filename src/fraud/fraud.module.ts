import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/index.js';
import { FraudGuard } from './fraud-guard.service.js';
import { FraudHits } from './fraud-hits.service.js';
import { FraudHitsRepository } from './fraud-hits.repository.js';

@Module({
  imports: [AccountsModule],
  providers: [FraudGuard, FraudHits, FraudHitsRepository],
  exports: [FraudGuard, FraudHits],
})
export class FraudModule {}
