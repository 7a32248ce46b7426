// Nothing else imports these entities, by which the ORM knows the tables.
import './balance.entity.js';
import './balance-check.entity.js';
import './balance-checkpoint.entity.js';
import './journal-entry.entity.js';
import './journal-hash.entity.js';
import './journal-line.entity.js';
export { BalanceChecksService } from './balance-checks.service.js';
export { CURRENCY_FORM, IsCurrencyCode } from './dto/balance.query.js';
export { ENTRY_TYPES, type StatementEntryType } from './entry-types.js';
export { type BrokenLink, LedgerChainService } from './ledger-chain.service.js';
export { LedgerService, type Posting } from './ledger.service.js';
export type { Bucket } from './balance.entity.js';
export { MERCHANT_BUCKETS, type MerchantBucket, type WalletEntry } from './statement.repository.js';
export { ENTRY_DESCRIPTIONS, sourceOf, walletEntryId } from './statement.serializer.js';
export { StatementService } from './statement.service.js';
export { ReleasesService } from './releases.service.js';
export type { NegativeBalance, NegativeFilter } from './wallets.repository.js';
export { WalletsModule } from './wallets.module.js';
export {
  type CreditedSettlement,
  type DisputeMove,
  type PayoutMoney,
  type RefundMoney,
  WalletsService,
} from './wallets.service.js';
