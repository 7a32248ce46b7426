import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/index.js';
import { AuditModule } from '../audit/index.js';
import { ChargesModule } from '../charges/index.js';
import { workers } from '../core/work/index.js';
import { TransactionsModule } from '../transactions/index.js';
import { PaymentLinkLimit } from './payment-link-limit.service.js';
import { PaymentLinkProcessor } from './payment-link.processor.js';
import { PaymentLinkVisitLimits } from './payment-link-visit-limits.service.js';
import { PaymentLinkVisits } from './payment-link-visits.service.js';
import { PaymentLinksController } from './payment-links.controller.js';
import { PaymentLinksRepository } from './payment-links.repository.js';
import { PaymentLinksService } from './payment-links.service.js';

/** Pages on which payers make charges of a merchant. Module `checkout` shows them. */
@Module({
  imports: [AccountsModule, AuditModule, ChargesModule, TransactionsModule],
  controllers: [PaymentLinksController],
  providers: [
    PaymentLinkLimit,
    PaymentLinkVisitLimits,
    PaymentLinkVisits,
    PaymentLinksRepository,
    PaymentLinksService,
    ...workers(PaymentLinkProcessor),
  ],
  exports: [PaymentLinkVisits],
})
export class PaymentLinksModule {}
