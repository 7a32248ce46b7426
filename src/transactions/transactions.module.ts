import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/index.js';
import { AcquirersModule } from '../acquirers/index.js';
import { AuditModule } from '../audit/index.js';
import { workers } from '../core/work/index.js';
import { OutboxModule } from '../outbox/index.js';
import { WalletsModule } from '../wallets/index.js';
import { InternalRecordsRepository } from './settlement/internal-records.repository.js';
import { CancellationService } from './creation/cancellation.service.js';
import { CorrectionsRepository } from './corrections/corrections.repository.js';
import { CorrectionMoves } from './corrections/correction-moves.service.js';
import { CorrectionsService } from './corrections/corrections.service.js';
import { UnmatchedClaims } from './corrections/unmatched-claims.service.js';
import { CreationService } from './creation/creation.service.js';
import { CustomerDataRepository } from './customer-data/customer-data.repository.js';
import { CustomerDataService } from './customer-data/customer-data.service.js';
import { DisputesRepository } from './disputes/disputes.repository.js';
import { DisputesService } from './disputes/disputes.service.js';
import { ExpiryRepository } from './expiry/expiry.repository.js';
import { ExpiryService } from './expiry/expiry.service.js';
import { TransactionPlaces } from './statistics/places.repository.js';
import { StatisticsRepository } from './statistics/statistics.repository.js';
import { StatisticsService } from './statistics/statistics.service.js';
import { SummaryService } from './statistics/summary.service.js';
import { IssueCalls } from './creation/issue-calls.service.js';
import { InquiriesService } from './creation/inquiries.service.js';
import { AcquirerProcessor } from './creation/acquirer.processor.js';
import { ExpiryProcessor } from './expiry/expiry.processor.js';
import { ExpiryQuestions } from './expiry/expiry-questions.service.js';
import { RefundProcessor } from './refunds/refund.processor.js';
import { ReturnProcessor } from './returns/return.processor.js';
import { MedPayers } from './disputes/med-payers.service.js';
import { PixIssueService } from './creation/pix-issue.service.js';
import { PaymentCreationService } from './creation/payment-creation.service.js';
import { RefundOpening } from './refunds/refund-opening.service.js';
import { RefundTransitions } from './refunds/refund-transitions.service.js';
import { RefundsRepository } from './refunds/refunds.repository.js';
import { RefundsService } from './refunds/refunds.service.js';
import { PaymentLimits } from './settlement/payment-limits.service.js';
import { ReceiptsService } from './settlement/receipts.service.js';
import { ReturnCalls } from './returns/return-calls.service.js';
import { ReturnUpdates } from './returns/return-updates.service.js';
import { ReturnsService } from './returns/returns.service.js';
import { ReviewsRepository } from './reviews/reviews.repository.js';
import { ReviewsService } from './reviews/reviews.service.js';
import { SettlementListener } from './settlement/settlement-listener.service.js';
import { SettlementOutcomes } from './settlement/settlement-outcomes.service.js';
import { SettlementRecords } from './settlement/settlement-records.service.js';
import { SettlementService } from './settlement/settlement.service.js';
import { SettlementsRepository } from './settlement/settlements.repository.js';
import { UnmatchedService } from './reviews/unmatched.service.js';
import { TransactionMoves } from './transaction-moves.service.js';
import { TransactionRefresh } from './creation/transaction-refresh.service.js';
import { TransactionSamples } from './transaction-samples.service.js';
import { TransactionsRepository } from './transactions.repository.js';
import { TransactionsService } from './transactions.service.js';

@Module({
  imports: [AccountsModule, AcquirersModule, AuditModule, OutboxModule, WalletsModule],
  providers: [
    InternalRecordsRepository,
    CancellationService,
    CorrectionMoves,
    CorrectionsRepository,
    CorrectionsService,
    CreationService,
    CustomerDataRepository,
    CustomerDataService,
    DisputesRepository,
    DisputesService,
    ExpiryRepository,
    ExpiryService,
    StatisticsRepository,
    StatisticsService,
    SummaryService,
    InquiriesService,
    IssueCalls,
    MedPayers,
    PaymentCreationService,
    PaymentLimits,
    PixIssueService,
    ReceiptsService,
    RefundOpening,
    RefundTransitions,
    RefundsRepository,
    RefundsService,
    ReturnCalls,
    ReturnUpdates,
    ReturnsService,
    ReviewsRepository,
    ReviewsService,
    SettlementListener,
    SettlementOutcomes,
    SettlementRecords,
    SettlementService,
    SettlementsRepository,
    TransactionMoves,
    TransactionPlaces,
    TransactionRefresh,
    TransactionSamples,
    TransactionsRepository,
    TransactionsService,
    UnmatchedClaims,
    UnmatchedService,
    ExpiryProcessor,
    ExpiryQuestions,
    ...workers(AcquirerProcessor, RefundProcessor, ReturnProcessor),
  ],
  exports: [
    InternalRecordsRepository,
    CancellationService,
    CorrectionsService,
    CreationService,
    CustomerDataService,
    DisputesService,
    ExpiryService,
    StatisticsService,
    SummaryService,
    InquiriesService,
    MedPayers,
    PaymentCreationService,
    PaymentLimits,
    PixIssueService,
    RefundTransitions,
    RefundsService,
    ReturnsService,
    ReviewsService,
    SettlementListener,
    SettlementService,
    TransactionPlaces,
    TransactionsService,
  ],
})
export class TransactionsModule {}
