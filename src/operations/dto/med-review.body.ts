import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsInt, Matches, Max, Min } from 'class-validator';
import { CursorListOf, OptionalField, RequiredField } from '../../core/http/index.js';

import { MAX_AMOUNT } from '../../core/money/index.js';
import type { Mode } from '../../core/mode.js';
import { MED_CASE_TYPES, MedCaseBody, type MedReview } from '../../med/index.js';
import { ListReviewsQuery } from './operations.query.js';

const REVIEWS = [
  ...(['amount_mismatch', 'not_disputable', 'ruling', 'ruling_dismissed', 'contradiction'] as const),
] as const satisfies MedReview[];
const AMOUNT = { message: `must be an integer from 1 to ${MAX_AMOUNT}` };
const ID = '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12';

export class ListMedReviewsQuery extends ListReviewsQuery {
  @OptionalField({ description: 'Only cases that wait for this reason.', enum: REVIEWS })
  @IsIn(REVIEWS, { message: `must be one of ${REVIEWS.join(', ')}` })
  review?: MedReview;
}

/** Body of `POST /v1/operations/med/{id}/dismiss`. */
export class DismissMedDto {
  @RequiredField({
    description: '`version` of the case as it was read: decided is what was looked at.',
    example: '6f1ed002ab559585',
  })
  @Matches(/^[0-9a-f]{16}$/, { message: 'must be the version of the case as it was read' })
  version!: string;
}

/** Body of `POST /v1/operations/med/{id}/approve`. */
export class ApproveMedDto extends DismissMedDto {
  @OptionalField({
    description:
      'What is really disputed, at most the charge’s amount. Default: as reported; of a case that the merchant sees, as it was.',
    type: 'integer',
    minimum: 1,
    example: 1990,
  })
  @IsInt(AMOUNT)
  @Min(1, AMOUNT)
  @Max(MAX_AMOUNT, AMOUNT)
  amount?: number;
}

/** Body of `PATCH /v1/operations/med/accounts/{id}`. */
export class MedNotificationsDto {
  @RequiredField({ description: 'Whether the account is told by webhook how its cases end.', example: false })
  @IsBoolean({ message: 'must be true or false' })
  outcome_notifications!: boolean;
}

export class MedNotificationsBody {
  @ApiProperty({ description: 'Id of the account.', example: ID }) account_id!: string;
  @ApiProperty({ description: 'Kind of object.', enum: ['med_notifications'] }) object!: string;
  @ApiProperty({ description: 'Whether the account is told by webhook how its cases end.', example: false })
  outcome_notifications!: boolean;
}

export class MedReviewBody {
  @ApiProperty({ description: 'Id of the case.', example: `med_${ID}` }) id!: string;
  @ApiProperty({ description: 'Kind of object.', enum: ['med_review'] }) object!: string;
  @ApiProperty({
    description: 'Send it with a decision. Another one as soon as the bank or the merchant has said something else.',
    example: '6f1ed002ab559585',
  })
  version!: string;
  @ApiProperty({
    description:
      'Why it waits. `amount_mismatch`: another amount than the charge’s, or the bank has changed it; `not_disputable`: nothing of the charge is left with the merchant, or it was another payment; `ruling`: to be applied; `contradiction`: the bank rules otherwise, or about another amount, than the case has ended, or has taken the money of one that was dismissed. Null: it does not wait.',
    enum: [...REVIEWS, null],
    nullable: true,
  })
  review!: MedReview | null;
  @ApiProperty({ description: 'Whose charge.', example: ID }) account_id!: string;
  @ApiProperty({ description: 'World it belongs to.', enum: ['test', 'live'] }) mode!: Mode;
  @ApiProperty({ description: 'Whether the merchant sees the case.', example: false }) visible!: boolean;
  @ApiProperty({ description: 'As the bank reports it, smallest unit.', type: 'integer', example: 2500 })
  reported_amount!: number;
  @ApiProperty({ description: 'What is held of it now.', type: 'integer', example: 0 }) held_amount!: number;
  @ApiProperty({ description: 'What of it is gone for good.', type: 'integer', example: 0 }) lost_amount!: number;
  @ApiProperty({ description: 'Who reports it.', example: 'sandbox' }) acquirer!: string;
  @ApiProperty({ description: 'The bank’s own id of it.', example: '5f1c3f7e-5d36-4b7e-9a54-8f7b1d2c3e4f' })
  reference!: string;
  @ApiProperty({ description: 'With the bank.', enum: ['created', 'delivered', 'closed', 'canceled'] })
  bank_status!: string;
  @ApiProperty({ description: 'The bank’s ruling.', enum: ['agreed', 'disagreed', null], nullable: true })
  bank_result!: string | null;
  @ApiProperty({
    description: 'When it was decided, UTC.',
    type: String,
    nullable: true,
    format: 'date-time',
    example: '2026-11-21T12:00:00.000Z',
  })
  reviewed_at!: string | null;
  @ApiProperty({ description: 'Id of the operator who decided.', type: String, nullable: true, example: ID })
  reviewed_by!: string | null;
  @ApiProperty({ description: 'The case as the merchant sees it, or would.', type: MedCaseBody })
  case!: MedCaseBody;
}

export class MedReviewListBody extends CursorListOf(MedReviewBody) {}

export class MedWaitingBody {
  @ApiProperty({ description: 'Id of the notification.', example: ID }) id!: string;
  @ApiProperty({ description: 'Kind of object.', enum: ['med_waiting'] }) object!: string;
  @ApiProperty({
    description:
      'What it waits for. `held`: its payment is under review (`/v1/operations/reviews`); `unmatched`: it matches no charge (`/v1/operations/unmatched`); `unknown`: it has not arrived here.',
    enum: ['held', 'unmatched', 'unknown'],
  })
  payment!: 'held' | 'unmatched' | 'unknown';
  @ApiProperty({ description: 'End-to-end id or txid of the payment.', example: 'E00000000202611211230abcDEF12345' })
  payment_reference!: string;
  @ApiProperty({ description: 'Who reports it.', example: 'sandbox' }) acquirer!: string;
  @ApiProperty({ description: 'The bank’s own id of it.', example: '5f1c3f7e-5d36-4b7e-9a54-8f7b1d2c3e4f' })
  reference!: string;
  @ApiProperty({ description: 'Kind of dispute.', enum: MED_CASE_TYPES }) type!: string;
  @ApiProperty({ description: 'What is claimed, smallest unit.', type: 'integer', example: 1990 }) amount!: number;
  @ApiProperty({ description: 'With the bank.', enum: ['created', 'delivered', 'closed', 'canceled'] })
  bank_status!: string;
  @ApiProperty({
    description: 'Until when to answer, UTC.',
    type: String,
    nullable: true,
    format: 'date-time',
    example: '2026-11-28T12:00:00.000Z',
  })
  response_deadline!: string | null;
  @ApiProperty({
    description: 'When the payer opened it, UTC.',
    format: 'date-time',
    example: '2026-11-21T12:00:00.000Z',
  })
  opened_at!: string;
  @ApiProperty({
    description: 'When the service was first told of it, UTC.',
    format: 'date-time',
    example: '2026-11-21T12:00:01.000Z',
  })
  created_at!: string;
}

export class MedWaitingListBody extends CursorListOf(MedWaitingBody) {}
