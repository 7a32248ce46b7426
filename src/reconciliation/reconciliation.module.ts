import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/index.js';
import { AcquirersModule } from '../acquirers/index.js';
import { MedModule } from '../med/index.js';
import { TransactionsModule } from '../transactions/index.js';
import { StatementSweep } from './statement-sweep.service.js';
import { CoherenceService } from './coherence.service.js';
import { FeeComparisons } from './fee-comparison.service.js';
import { HoldingsRepository } from './holdings.repository.js';
import { PayoutComparisons } from './payout-comparison.service.js';
import { PayoutListReader } from './payout-list-reader.service.js';
import { PayoutRecordsRepository } from './payout-records.repository.js';
import { ReconciliationService } from './reconciliation.service.js';
import { StatementReader } from './statement-reader.service.js';
import { StatementsRepository } from './statements.repository.js';
import { StatementsService } from './statements.service.js';

@Module({
  imports: [AccountsModule, AcquirersModule, MedModule, TransactionsModule],
  providers: [
    CoherenceService,
    FeeComparisons,
    HoldingsRepository,
    PayoutComparisons,
    PayoutListReader,
    PayoutRecordsRepository,
    ReconciliationService,
    StatementReader,
    StatementsRepository,
    StatementSweep,
    StatementsService,
  ],
  exports: [CoherenceService, FeeComparisons, ReconciliationService, StatementsService],
})
export class ReconciliationModule {}
