export type { BookedPix, BookedReturn } from './books.repository.js';
export { BooksService } from './books.service.js';
export { CancellationService } from './cancellation.service.js';
export { CreationService } from './creation.service.js';
export { type Disputed, DisputesService } from './disputes.service.js';
export { ExpiryService } from './expiry.service.js';
export { type FigureKind, TransactionChangeEntity, TransactionFigureEntity } from './figures.entity.js';
export type { Figure, FigureDifference } from './figures.repository.js';
export { FiguresService, type WindowFigures } from './figures.service.js';
export { InquiriesService } from './inquiries.service.js';
export { type NewPayment, PaymentCreationService } from './payment-creation.service.js';
export type { NewPixTransaction } from './pix-draft.js';
export { MedPayers } from './med-payers.js';
export type { Refund, RefundFailure, RefundOrder, RefundSnapshot } from './refund.js';
export { RefundEntity } from './refunds.entity.js';
export type { RefundEventData, RefundEventType } from './refunds.events.js';
export { REFUND_STATUSES, type RefundStatus } from './refunds.machine.js';
export { type DisputeClaims, RefundMoves } from './refunds.moves.js';
export { RefundsService } from './refunds.service.js';
export { ReturnsService } from './returns.service.js';
export {
  type Decided,
  type ReturnedPix,
  type Review,
  ReviewsService,
  type UnmatchedPix,
  type UnreadableNews,
} from './reviews.service.js';
export {
  RETURN_REASONS,
  RETURN_STATUSES,
  type ReturnReason,
  type ReturnStatus,
  SHOWN_RETURNS,
} from './settlement.rules.js';
export { SettlementService } from './settlement.service.js';
export { type AcquirerStatus, PAYMENT_METHODS, type PaymentMethod } from '../acquirers/index.js';
export { PixReturnEntity, SettlementEntity, TransactionEntity } from './transaction.entity.js';
export type { TransactionEventData, TransactionEventType } from './transaction.events.js';
export * from './transaction.js';
export { SORT_FIELDS, type SortField } from './transaction-pages.repository.js';
export { TransactionPagesService } from './transaction-pages.service.js';
export { TRANSACTION_STATUSES, type TransactionStatus } from './transactions.machine.js';
export type { TransactionFilter } from './transactions.repository.js';
export { TransactionsModule } from './transactions.module.js';
export { TransactionsService } from './transactions.service.js';
