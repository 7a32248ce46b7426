import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, Matches } from 'class-validator';
import {
  CursorListOf,
  EnumOf,
  Integer,
  IsAmount,
  NullableText,
  NullableTime,
  OptionalEnum,
  OptionalField,
  RequiredField,
  Text,
  Time,
} from '../../core/http/index.js';

import type { Mode } from '../../core/mode.js';
import { MED_CASE_TYPES, MedCaseBody, type MedReview } from '../../med/index.js';
import { ListReviewsQuery } from './operations.query.js';

const REVIEWS = [
  ...(['amount_mismatch', 'not_disputable', 'ruling', 'ruling_dismissed', 'contradiction'] as const),
] as const satisfies MedReview[];
const ID = '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12';

export class ListMedReviewsQuery extends ListReviewsQuery {
  @OptionalEnum('Only cases that wait for this reason.', REVIEWS)
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
  @IsAmount()
  amount?: number;
}

/** Body of `PATCH /v1/operations/med/accounts/{id}`. */
export class MedNotificationsDto {
  @RequiredField({ description: 'Whether the account is told by webhook how its cases end.', example: false })
  @IsBoolean({ message: 'must be true or false' })
  outcome_notifications!: boolean;
}

export class MedNotificationsBody {
  @Text('Id of the account.', ID) account_id!: string;
  @EnumOf('Kind of object.', ['med_notifications']) object!: string;
  @ApiProperty({ description: 'Whether the account is told by webhook how its cases end.', example: false })
  outcome_notifications!: boolean;
}

export class MedReviewBody {
  @Text('Id of the case.', `med_${ID}`) id!: string;
  @EnumOf('Kind of object.', ['med_review']) object!: string;
  @Text(
    'Send it with a decision. Another one as soon as the bank or the merchant has said something else.',
    '6f1ed002ab559585',
  )
  version!: string;
  @ApiProperty({
    description:
      'Why it waits. `amount_mismatch`: another amount than the charge’s, or the bank has changed it; `not_disputable`: nothing of the charge is left with the merchant, or it was another payment; `ruling`: to be applied; `contradiction`: the bank rules otherwise, or about another amount, than the case has ended, or has taken the money of one that was dismissed. Null: it does not wait.',
    enum: [...REVIEWS, null],
    nullable: true,
  })
  review!: MedReview | null;
  @Text('Whose charge.', ID) account_id!: string;
  @EnumOf('World it belongs to.', ['test', 'live']) mode!: Mode;
  @ApiProperty({ description: 'Whether the merchant sees the case.', example: false }) visible!: boolean;
  @Integer('As the bank reports it, smallest unit.', 2500) reported_amount!: number;
  @Integer('What is held of it now.', 0) held_amount!: number;
  @Integer('What of it is gone for good.', 0) lost_amount!: number;
  @Text('Who reports it.', 'sandbox') acquirer!: string;
  @Text('The bank’s own id of it.', '5f1c3f7e-5d36-4b7e-9a54-8f7b1d2c3e4f') reference!: string;
  @EnumOf('With the bank.', ['created', 'delivered', 'closed', 'canceled']) bank_status!: string;
  @ApiProperty({ description: 'The bank’s ruling.', enum: ['agreed', 'disagreed', null], nullable: true })
  bank_result!: string | null;
  @NullableTime('When it was decided, UTC.') reviewed_at!: string | null;
  @NullableText('Id of the operator who decided.', ID) reviewed_by!: string | null;
  @ApiProperty({ description: 'The case as the merchant sees it, or would.', type: MedCaseBody })
  case!: MedCaseBody;
}

export class MedReviewListBody extends CursorListOf(MedReviewBody) {}

export class MedWaitingBody {
  @Text('Id of the notification.', ID) id!: string;
  @EnumOf('Kind of object.', ['med_waiting']) object!: string;
  @EnumOf(
    'What it waits for. `held`: its payment is under review (`/v1/operations/reviews`); `unmatched`: it matches no charge (`/v1/operations/unmatched`); `unknown`: it has not arrived here.',
    ['held', 'unmatched', 'unknown'],
  )
  payment!: 'held' | 'unmatched' | 'unknown';
  @Text('End-to-end id or txid of the payment.', 'E00000000202611211230abcDEF12345') payment_reference!: string;
  @Text('Who reports it.', 'sandbox') acquirer!: string;
  @Text('The bank’s own id of it.', '5f1c3f7e-5d36-4b7e-9a54-8f7b1d2c3e4f') reference!: string;
  @EnumOf('Kind of dispute.', MED_CASE_TYPES) type!: string;
  @Integer('What is claimed, smallest unit.', 1990) amount!: number;
  @EnumOf('With the bank.', ['created', 'delivered', 'closed', 'canceled']) bank_status!: string;
  @NullableTime('Until when to answer, UTC.', '2026-11-28T12:00:00.000Z') response_deadline!: string | null;
  @Time('When the payer opened it, UTC.') opened_at!: string;
  @Time('When the service was first told of it, UTC.', '2026-11-21T12:00:01.000Z') created_at!: string;
}

export class MedWaitingListBody extends CursorListOf(MedWaitingBody) {}
