import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/index.js';
import { FraudGuard } from './fraud-guard.js';
import { FraudHits } from './fraud-hits.js';
import { FraudHitsRepository } from './fraud-hits.repository.js';

@Module({
  imports: [AccountsModule],
  providers: [FraudGuard, FraudHits, FraudHitsRepository],
  exports: [FraudGuard, FraudHits],
})
export class FraudModule {}
