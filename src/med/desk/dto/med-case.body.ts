import { ApiProperty } from '@nestjs/swagger';
import { CursorListOf, EnumOf, Integer, NullableText, NullableTime, Text, Time } from '../../../core/http/index.js';
import {
  MED_CASE_STATUSES,
  MED_CASE_TYPES,
  type MedCaseStatus,
  type MedCaseType,
  MONEY_OUTCOMES,
  type MoneyOutcome,
} from '../../cases/med-cases.machine.js';

const ID = '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12';

export class MedCaseBody {
  @Text('`med_<uuid>`.', `med_${ID}`) id!: string;
  @EnumOf('Kind of object.', ['med_case']) object!: 'med_case';
  @EnumOf('`med`: of a Pix; the others are of cards.', MED_CASE_TYPES) type!: MedCaseType;
  @EnumOf(
    '`accepted`, `rejected` and `closed` are final; `closed` alone does not mean won: read `money_outcome`.',
    MED_CASE_STATUSES,
  )
  status!: MedCaseStatus;
  @Integer('Disputed amount, smallest unit.', 1990) amount!: number;
  @Text('ISO 4217.', 'BRL') currency!: string;
  @Text('The disputed charge.', `ch_${ID}`) charge_id!: string;
  @NullableText('What the payer claims.', 'Not my payment.') reason!: string | null;
  @NullableTime('Null when it was not informed.', '2026-11-28T12:00:00.000Z') response_deadline!: string | null;
  @NullableTime('When the platform asked for evidence.') evidence_requested_at!: string | null;
  @NullableText('As you sent it.', 'The goods were delivered.') appeal_reason!: string | null;
  @NullableTime('When you appealed.') appealed_at!: string | null;
  @Integer('Evidence whose upload was confirmed.', 0) evidence_count!: number;
  @ApiProperty({
    description:
      '`refunded_to_merchant`: what was held is back in the balance; `lost`: ended as accepted or rejected; `closed_without_refund`: ended without an answer of yours. Null until it is over.',
    enum: [...MONEY_OUTCOMES, null],
    nullable: true,
  })
  money_outcome!: MoneyOutcome | null;
  @Time('By the payer’s bank, UTC.') opened_at!: string;
  @NullableTime('When it ended, UTC.', '2026-11-28T12:00:00.000Z') closed_at!: string | null;
  @Time('UTC.') created_at!: string;
  @Time('UTC.') updated_at!: string;
}

export class MedCaseListBody extends CursorListOf(MedCaseBody, `med_${ID}`) {}
