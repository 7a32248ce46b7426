import { Module } from '@nestjs/common';
import { AcquirersModule } from '../acquirers/index.js';
import { AuditModule } from '../audit/index.js';
import { workers } from '../core/work/index.js';
import { OutboxModule } from '../outbox/index.js';
import { StorageModule } from '../storage/index.js';
import { TransactionsModule } from '../transactions/index.js';
import { WalletsModule } from '../wallets/index.js';
import { EvidenceController, InfractionsEvidenceController } from './evidence.controller.js';
import { EvidenceFiles } from './evidence-files.service.js';
import { EvidenceRemoval } from './evidence-removal.service.js';
import { EvidenceRepository } from './evidence.repository.js';
import { EvidenceService } from './evidence.service.js';
import { EvidenceCleanupProcessor } from './jobs/evidence-cleanup.processor.js';
import { MedRecordsRepository } from './med-records.repository.js';
import { MedRecords } from './med-records.service.js';
import { MedCaseListsRepository } from './med-case-lists.repository.js';
import { InfractionsController, MedCasesController } from './med-cases.controller.js';
import { MedCasesRepository } from './med-cases.repository.js';
import { MedCasesService } from './med-cases.service.js';
import { MedDeadlines } from './med-deadlines.service.js';
import { MedDesk } from './med-desk.service.js';
import { MedDisputesService } from './med-disputes.service.js';
import { MedTransitions } from './med-transitions.service.js';
import { MedPublicEvents } from './med-public-events.service.js';
import { MedWaitingList } from './med-waiting.service.js';

@Module({
  imports: [AcquirersModule, AuditModule, OutboxModule, StorageModule, TransactionsModule, WalletsModule],
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
