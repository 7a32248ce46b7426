import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/index.js';
import { AcquirersModule } from '../acquirers/index.js';
import { AuditModule } from '../audit/index.js';
import { AuthModule } from '../auth/index.js';
import { workers } from '../core/work/index.js';
import { FraudModule } from '../fraud/index.js';
import { OutboxModule } from '../outbox/index.js';
import { TransactionsModule } from '../transactions/index.js';
import { WalletsModule } from '../wallets/index.js';
import { PayoutApprovals } from './payout-approvals.service.js';
import { PayoutDecisions } from './payout-decisions.service.js';
import { PayoutDestinationsController } from './payout-destinations.controller.js';
import { PayoutDestinationsRepository } from './payout-destinations.repository.js';
import { PayoutDestinationsService } from './payout-destinations.service.js';
import { PayoutListener } from './payout-listener.service.js';
import { PayoutMails } from './payout-mails.service.js';
import { PayoutOpening } from './payout-opening.service.js';
import { PayoutPersonalDataRepository } from './payout-personal-data.repository.js';
import { PayoutPersonalData } from './payout-personal-data.service.js';
import { PayoutProcessor } from './payout.processor.js';
import { PayoutRecorder } from './payout-recorder.service.js';
import { PayoutRequests } from './payout-requests.service.js';
import { PayoutScheduleProcessor } from './payout-schedule.processor.js';
import { PayoutSchedules } from './payout-schedules.service.js';
import { PayoutTargets } from './payout-targets.service.js';
import { PayoutTransitions } from './payout-transitions.service.js';
import { PayoutsController } from './payouts.controller.js';
import { PayoutEvents } from './payouts.events.js';
import { PayoutsRepository } from './payouts.repository.js';
import { PayoutsService } from './payouts.service.js';
import { ScheduledPayouts } from './scheduled-payouts.service.js';

@Module({
  imports: [
    AccountsModule,
    AcquirersModule,
    AuditModule,
    AuthModule,
    FraudModule,
    OutboxModule,
    TransactionsModule,
    WalletsModule,
  ],
  controllers: [PayoutsController, PayoutDestinationsController],
  providers: [
    PayoutApprovals,
    PayoutDecisions,
    PayoutDestinationsRepository,
    PayoutDestinationsService,
    PayoutEvents,
    PayoutListener,
    PayoutMails,
    PayoutOpening,
    PayoutPersonalData,
    PayoutPersonalDataRepository,
    PayoutRecorder,
    PayoutRequests,
    PayoutSchedules,
    PayoutTargets,
    PayoutTransitions,
    PayoutsRepository,
    PayoutsService,
    ScheduledPayouts,
    ...workers(PayoutProcessor, PayoutScheduleProcessor),
  ],
  exports: [PayoutDecisions, PayoutsService],
})
export class PayoutsModule {}
