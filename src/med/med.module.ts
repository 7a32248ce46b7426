import { Module } from '@nestjs/common';
import { AcquirersModule } from '../acquirers/index.js';
import { OutboxModule } from '../outbox/index.js';
import { TransactionsModule } from '../transactions/index.js';
import { WalletsModule } from '../wallets/index.js';
import { MedCaseListsRepository } from './med-case-lists.repository.js';
import { InfractionsController, MedCasesController } from './med-cases.controller.js';
import { MedCasesRepository } from './med-cases.repository.js';
import { MedCasesService } from './med-cases.service.js';
import { MedDeadlines } from './med-deadlines.js';
import { MedDesk } from './med-desk.js';
import { MedDisputesService } from './med-disputes.service.js';
import { MedMoves } from './med-moves.js';
import { MedPublicEvents } from './med-public-events.js';

@Module({
  imports: [AcquirersModule, OutboxModule, TransactionsModule, WalletsModule],
  controllers: [InfractionsController, MedCasesController],
  providers: [
    MedCaseListsRepository,
    MedCasesRepository,
    MedCasesService,
    MedDeadlines,
    MedDesk,
    MedDisputesService,
    MedMoves,
    MedPublicEvents,
  ],
  exports: [MedCasesService, MedDeadlines, MedDesk, MedDisputesService],
})
export class MedModule {}
