import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/index.js';
import { AcquirersModule } from '../acquirers/index.js';
import { AuditModule } from '../audit/index.js';
import { workers } from '../core/work/index.js';
import { OutboxModule } from '../outbox/index.js';
import { StorageModule } from '../storage/index.js';
import { TransactionsModule } from '../transactions/index.js';
import { WalletsModule } from '../wallets/index.js';
import { EvidenceController, InfractionsEvidenceController } from './evidence/evidence.controller.js';
import { EvidenceFiles } from './evidence/evidence-files.service.js';
import { EvidenceRemoval } from './evidence/evidence-removal.service.js';
import { EvidenceRepository } from './evidence/evidence.repository.js';
import { EvidenceService } from './evidence/evidence.service.js';
import { EvidenceCleanupProcessor } from './evidence/evidence-cleanup.processor.js';
import { MedRecordsRepository } from './cases/med-records.repository.js';
import { MedRecords } from './cases/med-records.service.js';
import { MedCaseListsRepository } from './desk/med-case-lists.repository.js';
import { InfractionsController, MedCasesController } from './desk/med-cases.controller.js';
import { MedCasesRepository } from './cases/med-cases.repository.js';
import { MedCasesService } from './desk/med-cases.service.js';
import { MedDeadlines } from './cases/med-deadlines.service.js';
import { MedDesk } from './desk/med-desk.service.js';
import { MedDisputesService } from './cases/med-disputes.service.js';
import { MedTransitions } from './cases/med-transitions.service.js';
import { MedPublicEvents } from './cases/med-public-events.service.js';
import { MedWaitingList } from './cases/med-waiting.service.js';

@Module({
  imports: [
    AccountsModule,
    AcquirersModule,
    AuditModule,
    OutboxModule,
    StorageModule,
    TransactionsModule,
    WalletsModule,
  ],
  controllers: [EvidenceController, InfractionsController, InfractionsEvidenceController, MedCasesController],
  providers: [
    EvidenceFiles,
    EvidenceRemoval,
    EvidenceRepository,
    EvidenceService,
    MedRecords,
    MedRecordsRepository,
    MedCaseListsRepository,
    MedCasesRepository,
    MedCasesService,
    MedDeadlines,
    MedDesk,
    MedDisputesService,
    MedTransitions,
    MedPublicEvents,
    MedWaitingList,
    ...workers(EvidenceCleanupProcessor),
  ],
  exports: [EvidenceService, MedRecords, MedCasesService, MedDeadlines, MedDesk, MedDisputesService, MedWaitingList],
})
export class MedModule {}
