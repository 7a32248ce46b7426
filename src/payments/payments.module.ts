import { Module } from '@nestjs/common';
import { FraudModule } from '../fraud/index.js';
import { OutboxModule } from '../outbox/index.js';
import { TransactionsModule } from '../transactions/index.js';
import { PaymentEvents } from './payment.events.js';
import { PaymentPages } from './payment-pages.service.js';
import { StatisticsController } from './statistics.controller.js';
import { PaymentsController } from './payments.controller.js';
import { PaymentRequestsService } from './payment-requests.service.js';
import { PaymentsRepository } from './payments.repository.js';
import { PaymentsService } from './payments.service.js';
import { RefundsController } from './refunds.controller.js';

@Module({
  imports: [FraudModule, OutboxModule, TransactionsModule],
  controllers: [StatisticsController, PaymentsController, RefundsController],
  providers: [PaymentEvents, PaymentPages, PaymentRequestsService, PaymentsRepository, PaymentsService],
  exports: [PaymentRequestsService, PaymentsService],
})
export class PaymentsModule {}
