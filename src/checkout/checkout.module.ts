import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/index.js';
import { workers } from '../core/work/index.js';
import { PaymentLinksModule } from '../payment-links/index.js';
import { TransactionsModule } from '../transactions/index.js';
import { CheckoutController } from './checkout.controller.js';
import { CheckoutService } from './checkout.service.js';
import { PayController } from './pay.controller.js';
import { ReceiptProcessor } from './receipt.processor.js';

/** Pages that a payer opens: public, and imported by no module. A payment link's page makes charges. */
@Module({
  imports: [AccountsModule, PaymentLinksModule, TransactionsModule],
  controllers: [CheckoutController, PayController],
  providers: [CheckoutService, ...workers(ReceiptProcessor)],
})
export class CheckoutModule {}
