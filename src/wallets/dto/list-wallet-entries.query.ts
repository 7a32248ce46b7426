import { Matches } from 'class-validator';
import { CursorQuery, IsIdOf, OptionalEnum, OptionalField, ReadsIds } from '../../core/http/index.js';
import { ENTRY_TYPES, type StatementEntryType } from '../entry-types.js';
import { MERCHANT_BUCKETS, type MerchantBucket } from '../statement.repository.js';
import { CURRENCY_FORM, IsCurrencyCode } from './balance.query.js';

const ENTRY_ID = /^we_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}_[1-9]$/;

export class ListWalletEntriesQuery extends CursorQuery {
  @OptionalField({
    description: 'A `we_…` id: the previous page’s `next_cursor`.',
    pattern: '^we_[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}_[1-9]$',
  })
  @ReadsIds()
  @Matches(ENTRY_ID, { message: 'must be the id of a wallet entry' })
  starting_after?: string;

  @OptionalField({ description: 'Only this currency.', ...CURRENCY_FORM, example: 'BRL' })
  @IsCurrencyCode()
  currency?: string;

  @OptionalEnum('Only this part of the wallet.', MERCHANT_BUCKETS)
  bucket?: MerchantBucket;

  @OptionalEnum('Only what was moved by this.', ENTRY_TYPES)
  type?: StatementEntryType;

  @OptionalField({
    description:
      'Only what follows from this payment, its refunds and disputes among it; or from this refund, case or payout.',
    example: 'tx_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12',
  })
  @IsIdOf('the id of a payment, refund, MED case or payout', 'ch_', 'tx_', 'med_', 'po_')
  source?: string;
}
