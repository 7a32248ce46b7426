import { ApiProperty } from '@nestjs/swagger';
import { IsInt, Matches, Max, Min, NotEquals } from 'class-validator';
import {
  CursorListOf,
  EnumOf,
  Integer,
  IsIdOf,
  IsOneLine,
  NullableText,
  NullableTime,
  OptionalEnum,
  OptionalField,
  OptionalText,
  ReadsIds,
  RequiredEnum,
  RequiredField,
  RequiredText,
  Text,
  Time,
} from '../../core/http/index.js';
import { IsIdempotencyKey } from '../../core/idempotency/index.js';
import type { Mode } from '../../core/mode.js';
import { MAX_AMOUNT } from '../../core/money/index.js';
import {
  BEARERS,
  type Bearer,
  CORRECTION_KINDS,
  CORRECTION_STATUSES,
  type CorrectionStatus,
  SUSPENSE_CORRECTIONS,
  WALLET_CORRECTIONS,
} from '../../transactions/index.js';
import { OfAccountQuery } from './operations.query.js';

const ID = '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12';
const AMOUNT = { message: `must be an integer from -${MAX_AMOUNT} to ${MAX_AMOUNT}, and not 0` };

export class ListCorrectionsQuery extends OfAccountQuery {
  @OptionalEnum('Only those in this state.', CORRECTION_STATUSES)
  status?: CorrectionStatus;
}

class CorrectionDto {
  @RequiredText('For whoever reads the books later.', 5, 500, 'The bank’s fee of November, ticket 4711')
  @IsOneLine()
  reason!: string;

  @RequiredField({
    description: '8 to 128 printable ASCII characters, new for each correction: the same again is the same correction.',
    example: 'unmatched-2026-11-21-1',
  })
  @IsIdempotencyKey(8)
  idempotency_key!: string;

  @OptionalField({
    description:
      'Of a return that was made in the bank’s own app: its id at the bank (`devolucoes[].id`), by which `reconcile` knows it. Required with `returned_elsewhere`.',
    example: 'D7f9c0335b1d24c9f8a6e5c3b2a190f8e',
  })
  @Matches(/^[!-.0-~]{1,100}$/, { message: 'must have 1 to 100 printable characters, without blanks and slashes' })
  bank_reference?: string;

  @OptionalField({ description: 'The charge that is meant. Required with `assign`.', example: `ch_${ID}` })
  @IsIdOf('the id of a charge', 'ch_', 'tx_')
  charge_id?: string;
}

/** Body of `POST /v1/operations/unmatched/{id}/correct`. */
export class CorrectPixDto extends CorrectionDto {
  @RequiredEnum(
    '`return`: it is sent back to its payer, again where the bank has refused that; `assign`: it pays the charge `charge_id`, which waits for exactly this; `returned_elsewhere`: it was sent back in the bank’s own app; `write_off`: nobody wants it, and the platform keeps it.',
    SUSPENSE_CORRECTIONS,
  )
  kind!: (typeof SUSPENSE_CORRECTIONS)[number];
}

/** Body of `POST /v1/operations/corrections`. */
export class CorrectWalletDto extends CorrectionDto {
  @RequiredEnum(
    '`bank_fee`: the bank has charged it; `loss`: the bank holds that much less for the account.',
    WALLET_CORRECTIONS,
  )
  kind!: (typeof WALLET_CORRECTIONS)[number];

  @Text('Id of the account.', ID)
  @IsIdOf('the id of an account')
  account_id!: string;

  @RequiredEnum('World it belongs to.', ['test', 'live'])
  mode!: Mode;

  @OptionalField({ description: 'ISO 4217.', default: 'BRL', example: 'BRL' })
  @Matches(/^[A-Z]{3,5}$/, { message: 'must be a currency, as BRL' })
  currency?: string;

  @Integer('Smallest unit; below zero: a fee or a loss that came back.', 190)
  @IsInt(AMOUNT)
  @Min(-MAX_AMOUNT, AMOUNT)
  @Max(MAX_AMOUNT, AMOUNT)
  @NotEquals(0, AMOUNT)
  amount!: number;

  @RequiredEnum(
    'Who pays it: the merchant, from the available balance, which may go below zero, or the platform.',
    BEARERS,
  )
  borne_by!: Bearer;

  @OptionalField({
    description:
      'The month of the acquirer’s invoice that has this fee: `reconcile --fees` of the month counts it. With `bank_fee` of live mode and BRL only, and together with `acquirer`.',
    example: '2026-11',
  })
  @Matches(/^[0-9]{4}-(0[1-9]|1[0-2])$/, { message: 'must be a month: YYYY-MM' })
  invoice_month?: string;

  @ReadsIds()
  @OptionalText('Whose invoice it is: a connection of the account.', 1, 100, `pix-api:${ID}`)
  acquirer?: string;
}

export class CorrectionBody {
  @Text('Id of the correction.', ID) id!: string;
  @EnumOf('Kind of object.', ['correction']) object!: string;
  @EnumOf('What is put right.', CORRECTION_KINDS) kind!: string;
  @EnumOf('`waiting`: above the limit of `CORRECTION_LIMIT`, a second operator has to approve it.', CORRECTION_STATUSES)
  status!: string;
  @Text('Id of the account.', ID) account_id!: string;
  @EnumOf('World it belongs to.', ['test', 'live']) mode!: Mode;
  @Integer('Smallest unit.', 1990) amount!: number;
  @Text('ISO 4217.', 'BRL') currency!: string;
  @ApiProperty({
    description: 'Who pays it; null of a Pix in suspense.',
    type: String,
    nullable: true,
    enum: [...BEARERS, null],
  })
  borne_by!: string | null;
  @NullableText('The Pix that it is about, as in `GET /v1/operations/unmatched`; null: none.', ID)
  pix_id!: string | null;
  @NullableText('The charge that it is about.', `ch_${ID}`) charge_id!: string | null;
  @NullableText('Id of a return that was made at the bank.', 'D7f9c0335b1d24c9f8a6e5c3b2a190f8e')
  bank_reference!: string | null;
  @NullableText('Whose invoice has the fee; null: none is named.', `pix-api:${ID}`) acquirer!: string | null;
  @NullableText('The month of that invoice.', '2026-11') invoice_month!: string | null;
  @Text('For whoever reads the books later.', 'Asked for by phone') reason!: string;
  @Text('Id of the operator who asked for it.', ID) requested_by!: string;
  @NullableText('Id of the operator who decided.', ID) decided_by!: string | null;
  @Time('When it was asked for, UTC.') created_at!: string;
  @NullableTime('When it was decided, UTC.') decided_at!: string | null;
}

export class CorrectionListBody extends CursorListOf(CorrectionBody) {}
