import { ApiProperty } from '@nestjs/swagger';
import { CursorListOf, EnumOf, Integer, NullableText, NullableTime, Text, Time } from '../../core/http/index.js';
import type { Mode } from '../../core/mode.js';
import { PAYMENT_METHODS, RETURN_REASONS, RETURN_STATUSES, type ReturnStatus } from '../../transactions/index.js';
import { ReviewAccountBody } from './review.body.js';

const ID = '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12';

export type ShownReturnStatus = Lowercase<ReturnStatus>;

export const SHOWN_RETURN_STATUSES = RETURN_STATUSES.map((status) => status.toLowerCase() as ShownReturnStatus);

export class ReturnedBody {
  @Text('Id of the return.', ID) id!: string;
  @EnumOf('Kind of object.', ['returned_payment']) object!: string;
  @EnumOf(
    '`returned` once the bank has sent it back, which is when the merchant sees it; `failed`: the bank has refused that, and the money is still here.',
    SHOWN_RETURN_STATUSES,
  )
  status!: ShownReturnStatus;
  @ApiProperty({ description: 'Whose charge it was meant for.', type: ReviewAccountBody }) account!: ReviewAccountBody;
  @EnumOf('World it belongs to.', ['test', 'live']) mode!: Mode;
  @NullableText('The charge that it did not pay; null: it matches none.', `ch_${ID}`) charge_id!: string | null;
  @Integer('What arrived and goes back, smallest unit.', 1990) amount!: number;
  @Text('ISO 4217.', 'BRL') currency!: string;
  @EnumOf('Why it goes back.', RETURN_REASONS) reason!: string;
  @EnumOf('How it was paid.', PAYMENT_METHODS) method!: string;
  @NullableText('Who paid, masked; null when not known.', '***.982.247-**') reported_payer_tax_id!: string | null;
  @Text('Who holds the money.', 'sandbox') acquirer!: string;
  @Text('Of the Pix; of another method what the acquirer knows it by.', 'E00000000202611211530abcDEF12345')
  end_to_end_id!: string;
  @Text('Under which the acquirer was asked for the return.', 'D7f9c0335b1d24c9f8a6e5c3b2a190f8e') return_id!: string;
  @NullableText('Why the bank refused it; null otherwise.', null) failure_reason!: string | null;
  @Time('When it was paid, UTC.') settled_at!: string;
  @Time('Since when it goes back, UTC.') created_at!: string;
  @NullableTime('When it had gone back, UTC; null until then.') returned_at!: string | null;
}

export class ReturnedListBody extends CursorListOf(ReturnedBody) {}
