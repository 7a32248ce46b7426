import { PickType } from '@nestjs/swagger';
import { IsIn, Matches } from 'class-validator';
import { CursorQuery, IdCursorQuery, IsIdOf, IsText, OptionalField } from '../../core/http/index.js';
import type { Mode } from '../../core/mode.js';
import { RETURN_REASONS, type ReturnReason } from '../../transactions/index.js';
import { SHOWN_RETURN_STATUSES, type ShownReturnStatus } from './returned.body.js';

export class ListReviewsQuery extends IdCursorQuery {
  @OptionalField({ description: 'Only this mode.', enum: ['test', 'live'] })
  @IsIn(['test', 'live'], { message: 'must be test or live' })
  mode?: Mode;
}

export class ListAccountsQuery extends IdCursorQuery {
  @OptionalField({
    description: 'Only accounts with this id, or with this in their name or e-mail. Capitals do not count.',
    minLength: 2,
    maxLength: 200,
    example: 'padaria',
  })
  @IsText(2, 200)
  query?: string;
}

export class LimitQuery extends PickType(CursorQuery, ['limit']) {}

export class ListNegativeBalancesQuery extends LimitQuery {
  @OptionalField({ description: 'The previous page’s `next_cursor`.' })
  @Matches(/^\d{1,13}_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}_(?:test|live)_[A-Z0-9]{1,10}$/, {
    message: 'must be a next_cursor of this list',
  })
  starting_after?: string;

  @OptionalField({ description: 'Only this account.', example: '019aa0f0-0000-7000-8000-000000000001' })
  @IsIdOf('the id of an account')
  account_id?: string;
}

export class ListWorkQuery extends LimitQuery {
  @OptionalField({ description: 'Only this kind.', example: 'refund' })
  @Matches(/^[a-z_]{1,50}$/, { message: 'must be a kind of work, as `refund`' })
  kind?: string;
}

export class OfAccountQuery extends IdCursorQuery {
  @OptionalField({ description: 'Only this account.', example: '019aa0f0-0000-7000-8000-000000000001' })
  @IsIdOf('the id of an account')
  account_id?: string;
}

export class ListReturnedQuery extends OfAccountQuery {
  @OptionalField({ description: 'Only this mode.', enum: ['test', 'live'] })
  @IsIn(['test', 'live'], { message: 'must be test or live' })
  mode?: Mode;

  @OptionalField({ description: 'Only what goes back for this reason.', enum: RETURN_REASONS })
  @IsIn(RETURN_REASONS, { message: `must be one of ${RETURN_REASONS.join(', ')}` })
  reason?: ReturnReason;

  @OptionalField({ description: 'Only returns in this state.', enum: SHOWN_RETURN_STATUSES })
  @IsIn(SHOWN_RETURN_STATUSES, { message: `must be one of ${SHOWN_RETURN_STATUSES.join(', ')}` })
  status?: ShownReturnStatus;
}
