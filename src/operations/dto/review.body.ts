import { ApiProperty } from '@nestjs/swagger';
import { CursorListOf, EnumOf, Integer, NullableText, NullableTime, Text, Time } from '../../core/http/index.js';
import type { Mode } from '../../core/mode.js';

const ID = '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12';

export class ReviewAccountBody {
  @Text('Id of the account.', '019aa0f0-0000-7000-8000-000000000001') id!: string;
  @Text('Name of the merchant.', 'Padaria São João') name!: string;
}

export class ReviewBody {
  @Text('Id of the review.', ID) id!: string;
  @EnumOf('Kind of object.', ['review']) object!: string;
  @EnumOf('`pending` until an operator has decided.', ['pending', 'accepted', 'returned'])
  status!: 'pending' | 'accepted' | 'returned';
  @ApiProperty({ description: 'Whose charge was paid.', type: ReviewAccountBody }) account!: ReviewAccountBody;
  @EnumOf('World it belongs to.', ['test', 'live']) mode!: Mode;
  @Text('The charge.', `ch_${ID}`) charge_id!: string;
  @Integer('Smallest unit.', 1990) amount!: number;
  @Text('ISO 4217.', 'BRL') currency!: string;
  @NullableText('Who may pay.', '52998224725') expected_payer_tax_id!: string | null;
  @NullableText('Who paid, masked; null when the bank did not say.', '***.982.247-**')
  reported_payer_tax_id!: string | null;
  @NullableText('Why it is held.', 'payer_unknown') reason!: string | null;
  @Text('Who holds the money.', 'sandbox') acquirer!: string;
  @Text('Of the Pix.', 'E00000000202611211530abcDEF12345') end_to_end_id!: string;
  @Time('When it was paid, UTC.') settled_at!: string;
  @Time('Since when it is held, UTC.') created_at!: string;
  @NullableTime('When it was decided, UTC.') reviewed_at!: string | null;
  @NullableText('Id of the operator who decided.', ID) reviewed_by!: string | null;
}

export class ReviewListBody extends CursorListOf(ReviewBody) {}

export class UnmatchedPixBody {
  @Text('Id of the entry.', ID) id!: string;
  @EnumOf('Kind of object.', ['unmatched_pix']) object!: string;
  @Integer('Cents.', 1990) amount!: number;
  @Text('Who holds the money.', 'sandbox') acquirer!: string;
  @Text('Of the Pix.', 'E00000000202611211530abcDEF12345') end_to_end_id!: string;
  @NullableText('What it claims to pay; null for a Pix without.', '7d9f0335b1d24c9f8a6e5c3b2a190f8e')
  txid!: string | null;
  @NullableText(
    'The charge that it did not pay, where it could not go back to its payer by itself; null when it matches no charge.',
    `ch_${ID}`,
  )
  charge_id!: string | null;
  @NullableText('Why it did not pay the charge; null when there is none.', 'late') reason!: string | null;
  @NullableText('Who paid, masked; null when the bank did not say.', '***.982.247-**')
  reported_payer_tax_id!: string | null;
  @NullableText('Whose money the acquirer keeps; null when no account has the connection.', ID)
  account_id!: string | null;
  @NullableText('Why the bank has refused to send it back; null where it has not.', 'AC03')
  failure_reason!: string | null;
  @NullableText('The correction of it that waits for a second operator.', ID) correction_id!: string | null;
  @Time('When it was paid, UTC.') settled_at!: string;
  @Time('When it was recorded, UTC.') created_at!: string;
}

export class UnmatchedPixListBody extends CursorListOf(UnmatchedPixBody) {}

export class UnreadableBody {
  @Text('Id of the entry.', ID) id!: string;
  @EnumOf('Kind of object.', ['unreadable']) object!: string;
  @EnumOf('What it is.', ['pix', 'charge', 'payment', 'order', 'dispute', 'return']) kind!: string;
  @Text('Who has it.', 'pix-api:019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12') acquirer!: string;
  @Text(
    'What the acquirer is asked by: of a Pix its end-to-end id, of a charge its txid, of a dispute `<end-to-end id>/<return id>`. A charge is here when it, or what has paid it, cannot be read; it does not expire before that can be.',
    'E00000000202611211530abcDEF12345',
  )
  reference!: string;
  @Time('When it was first seen that it cannot be read, UTC.') unreadable_since!: string;
  @Time('When the service was first told of it, UTC.') created_at!: string;
}

export class UnreadableListBody extends CursorListOf(UnreadableBody) {}
