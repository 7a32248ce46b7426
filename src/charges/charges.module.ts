import { Module } from '@nestjs/common';
import { FraudModule } from '../fraud/index.js';
import { OutboxModule } from '../outbox/index.js';
import { TransactionsModule } from '../transactions/index.js';
import { ChargeEvents } from './charge.events.js';
import { ChargesController } from './charges.controller.js';
import { ChargesService } from './charges.service.js';

@Module({
  imports: [FraudModule, OutboxModule, TransactionsModule],
  controllers: [ChargesController],
  providers: [ChargeEvents, ChargesService],
  exports: [ChargesService],
})
export class ChargesModule {}
