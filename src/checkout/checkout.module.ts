import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/index.js';
import { workers } from '../core/work/index.js';
import { TransactionsModule } from '../transactions/index.js';
import { CheckoutController } from './checkout.controller.js';
import { CheckoutService } from './checkout.service.js';
import { ReceiptProcessor } from './receipt.processor.js';

/** The page a payer opens: public, read-only, and imported by no module. */
@Module({
  imports: [AccountsModule, TransactionsModule],
  controllers: [CheckoutController],
  providers: [CheckoutService, ...workers(ReceiptProcessor)],
})
export class CheckoutModule {}
