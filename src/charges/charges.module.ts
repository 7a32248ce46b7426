import { Module } from '@nestjs/common';
import { FraudModule } from '../fraud/index.js';
import { OutboxModule } from '../outbox/index.js';
import { TransactionsModule } from '../transactions/index.js';
import { ChargeEvents } from './charge.events.js';
import { ChargesController } from './charges.controller.js';
import { ChargeList } from './charge-list.service.js';
import { ChargesRepository } from './charges.repository.js';
import { ChargesService } from './charges.service.js';

@Module({
  imports: [FraudModule, OutboxModule, TransactionsModule],
  controllers: [ChargesController],
  providers: [ChargeEvents, ChargeList, ChargesRepository, ChargesService],
  exports: [ChargesService],
})
export class ChargesModule {}
