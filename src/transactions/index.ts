export type { BookedPix, BookedReturn } from './settlement/internal-records.repository.js';
export { InternalRecordsRepository } from './settlement/internal-records.repository.js';
export { CancellationService } from './creation/cancellation.service.js';
export {
  BEARERS,
  type Bearer,
  CORRECTION_KINDS,
  CORRECTION_STATUSES,
  type CorrectionStatus,
  SUSPENSE_CORRECTIONS,
  WALLET_CORRECTIONS,
} from './corrections/correction.entity.js';
export {
  type Correction,
  type CorrectionDecided,
  CorrectionsService,
  type SuspenseCorrection,
  type WalletCorrection,
} from './corrections/corrections.service.js';
export { CreationService } from './creation/creation.service.js';
export type { Customer } from './customer-data/customer-data.repository.js';
export { customerKey } from './customer-data/customer-key.js';
export {
  type CustomerDataHolder,
  CustomerDataService,
  type Erasure,
  erasureOf,
  type ExportedSections,
  type Waiting,
} from './customer-data/customer-data.service.js';
export { declareErasedKind, type ErasedKind, type Eraser } from './customer-data/erasure.js';
export { type Disputed, DisputesService } from './disputes/disputes.service.js';
export { ExpiryService } from './expiry/expiry.service.js';
// Nothing else imports the entities, by which the ORM knows the tables.
import './statistics/transaction-figure.entity.js';
import './statistics/transaction-change.entity.js';
export type { FigureKind } from './statistics/transaction-figure.entity.js';
export type { Figure, FigureDifference, PeriodSums } from './statistics/statistics.repository.js';
export { type SortOrder, TransactionPlaces } from './statistics/places.repository.js';
export { FINER, piecesOf, type Span, spanOf } from './statistics/span.js';
export { StatisticsService, type WindowFigures } from './statistics/statistics.service.js';
export { type Summary, SummaryService } from './statistics/summary.service.js';
export { InquiriesService } from './creation/inquiries.service.js';
export { type NewPayment, PaymentCreationService } from './creation/payment-creation.service.js';
export type { NewPixTransaction } from './creation/pix-draft.js';
export { type PaymentLimit, PaymentLimits } from './settlement/payment-limits.service.js';
export { PixIssueService } from './creation/pix-issue.service.js';
export { MedPayers } from './disputes/med-payers.service.js';
export type { Refund, RefundOrder } from './refunds/refund.js';
export type { RefundEventData, RefundEventType } from './refunds/refunds.events.js';
export { REFUND_STATUSES, type RefundStatus } from './refunds/refunds.machine.js';
export { type DisputeClaims, RefundTransitions } from './refunds/refund-transitions.service.js';
export { ORDER_KEYS } from './order-keys.js';
export { type RefundCaller, RefundsService } from './refunds/refunds.service.js';
export {
  type ReturnedPix,
  type Review,
  ReviewsService,
  type UnmatchedPix,
  type UnreadableNews,
} from './reviews/reviews.service.js';
export {
  RETURN_REASONS,
  RETURN_STATUSES,
  type ReturnReason,
  type ReturnStatus,
  SHOWN_RETURNS,
} from './returns/pix-return.entity.js';
export { TEST_RECEIPTS } from './settlement/receipts.service.js';
export { SettlementListener } from './settlement/settlement-listener.service.js';
export { SettlementService } from './settlement/settlement.service.js';
export { isPaidWithCard, METHOD_RULES } from './payment-methods.js';
export { type AcquirerStatus, PAYMENT_METHODS, type PaymentMethod } from '../acquirers/index.js';
export type {
  DisputeCase,
  DisputeEventData,
  TransactionEventData,
  TransactionEventType,
} from './transaction.events.js';
export { type Taken, takeableOf } from './taken.js';
export * from './transaction.js';
export { sampleTransactionEvent } from './transaction-samples.service.js';
export { TRANSACTION_STATUSES, type TransactionStatus } from './transactions.machine.js';
export { OPEN, TRANSACTION_COLUMNS } from './transactions.repository.js';
export { TransactionsModule } from './transactions.module.js';
export { TransactionsService } from './transactions.service.js';
