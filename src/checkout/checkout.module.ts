import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/index.js';
import { TransactionsModule } from '../transactions/index.js';
import { CheckoutController } from './checkout.controller.js';
import { CheckoutService } from './checkout.service.js';

/** The page a payer opens: public, read-only, and nobody imports it. */
@Module({
  imports: [AccountsModule, TransactionsModule],
  controllers: [CheckoutController],
  providers: [CheckoutService],
})
export class CheckoutModule {}
