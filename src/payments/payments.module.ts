import { Module } from '@nestjs/common';
import { OutboxModule } from '../outbox/index.js';
import { PaymentEvents } from './payment.events.js';

@Module({ imports: [OutboxModule], providers: [PaymentEvents] })
export class PaymentsModule {}
