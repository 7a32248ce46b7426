import { ApiProperty } from '@nestjs/swagger';
import { CursorListOf } from '../../core/http/index.js';
import {
  MED_CASE_STATUSES,
  MED_CASE_TYPES,
  type MedCaseStatus,
  type MedCaseType,
  MONEY_OUTCOMES,
  type MoneyOutcome,
} from '../med-cases.machine.js';

const ID = '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12';
const TIME = { format: 'date-time', example: '2026-11-21T12:00:00.000Z' };
const LATER = { format: 'date-time', example: '2026-11-28T12:00:00.000Z' };

export class MedCaseBody {
  @ApiProperty({ description: '`med_<uuid>`.', example: `med_${ID}` }) id!: string;
  @ApiProperty({ description: 'Kind of object.', enum: ['med_case'] }) object!: 'med_case';
  @ApiProperty({ description: '`med`: of a Pix; the others are of cards.', enum: MED_CASE_TYPES }) type!: MedCaseType;
  @ApiProperty({
    description:
      '`accepted`, `rejected` and `closed` are final; `closed` alone does not mean won: read `money_outcome`.',
    enum: MED_CASE_STATUSES,
  })
  status!: MedCaseStatus;
  @ApiProperty({ description: 'Disputed amount, smallest unit.', type: 'integer', example: 1990 }) amount!: number;
  @ApiProperty({ description: 'ISO 4217.', example: 'BRL' }) currency!: string;
  @ApiProperty({ description: 'The disputed charge.', example: `ch_${ID}` }) charge_id!: string;
  @ApiProperty({ description: 'What the payer claims.', type: String, nullable: true, example: 'Not my payment.' })
  reason!: string | null;
  @ApiProperty({ description: 'Null when it was not informed.', type: String, nullable: true, ...LATER })
  response_deadline!: string | null;
  @ApiProperty({ description: 'When the platform asked for evidence.', type: String, nullable: true, ...TIME })
  evidence_requested_at!: string | null;
  @ApiProperty({ description: 'As you sent it.', type: String, nullable: true, example: 'The goods were delivered.' })
  appeal_reason!: string | null;
  @ApiProperty({ description: 'When you appealed.', type: String, nullable: true, ...TIME })
  appealed_at!: string | null;
  @ApiProperty({ description: 'Evidence whose upload was confirmed.', type: 'integer', example: 0 })
  evidence_count!: number;
  @ApiProperty({
    description:
      '`refunded_to_merchant`: what was held is back in the balance; `lost`: ended as accepted or rejected; `closed_without_refund`: ended without an answer of yours. Null until it is over.',
    enum: [...MONEY_OUTCOMES, null],
    nullable: true,
  })
  money_outcome!: MoneyOutcome | null;
  @ApiProperty({ description: 'By the payer’s bank, UTC.', ...TIME }) opened_at!: string;
  @ApiProperty({ description: 'When it ended, UTC.', type: String, nullable: true, ...LATER })
  closed_at!: string | null;
  @ApiProperty({ description: 'UTC.', ...TIME }) created_at!: string;
  @ApiProperty({ description: 'UTC.', ...TIME }) updated_at!: string;
}

export class MedCaseListBody extends CursorListOf(MedCaseBody, `med_${ID}`) {}
