export type { StatementEntryType } from './entry-types.js';
export { type BrokenLink, LedgerChainService } from './ledger-chain.service.js';
export { type Bucket, LedgerService, type Posting } from './ledger.service.js';
export { MERCHANT_BUCKETS, type MerchantBucket, type WalletEntry } from './statement.repository.js';
export { ENTRY_DESCRIPTIONS, sourceOf, walletEntryId } from './statement.serializer.js';
export { StatementService } from './statement.service.js';
export { ReleasesService } from './releases.service.js';
export {
  BalanceEntity,
  JournalEntryEntity,
  JournalHashEntity,
  JournalLineEntity,
  ReleaseEntity,
} from './wallet.entity.js';
export type { NegativeBalance, NegativeFilter } from './wallets.repository.js';
export { WalletsModule } from './wallets.module.js';
export { type CreditedSettlement, type DisputeMove, type RefundMoney, WalletsService } from './wallets.service.js';
