import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/index.js';
import { AuditModule } from '../audit/index.js';
import { workers } from '../core/work/index.js';
import { FraudModule } from '../fraud/index.js';
import { OutboxModule } from '../outbox/index.js';
import { TransactionsModule } from '../transactions/index.js';
import { NotesController } from './notes.controller.js';
import { NotesRepository } from './notes.repository.js';
import { NotesService } from './notes.service.js';
import { PaidMailProcessor } from './paid-mail.processor.js';
import { PaymentEvents } from './payment.events.js';
import { PaymentPages } from './payment-pages.service.js';
import { StatisticsController } from './statistics.controller.js';
import { PaymentsController } from './payments.controller.js';
import { PaymentRequestsService } from './payment-requests.service.js';
import { PaymentsRepository } from './payments.repository.js';
import { PaymentsService } from './payments.service.js';
import { RefundsController } from './refunds.controller.js';

@Module({
  imports: [AccountsModule, AuditModule, FraudModule, OutboxModule, TransactionsModule],
  controllers: [StatisticsController, PaymentsController, RefundsController, NotesController],
  providers: [
    NotesRepository,
    NotesService,
    PaymentEvents,
    PaymentPages,
    PaymentRequestsService,
    PaymentsRepository,
    PaymentsService,
    ...workers(PaidMailProcessor),
  ],
  exports: [PaymentRequestsService, PaymentsService],
})
export class PaymentsModule {}
