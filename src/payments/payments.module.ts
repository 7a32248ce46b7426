import { Module } from '@nestjs/common';
import { OutboxModule } from '../outbox/index.js';
import { TransactionsModule } from '../transactions/index.js';
import { PaymentEvents } from './payment.events.js';
import { PaymentsController } from './payments.controller.js';
import { PaymentsService } from './payments.service.js';

@Module({
  imports: [OutboxModule, TransactionsModule],
  controllers: [PaymentsController],
  providers: [PaymentEvents, PaymentsService],
})
export class PaymentsModule {}
