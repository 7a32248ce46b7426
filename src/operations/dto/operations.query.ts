import { Matches } from 'class-validator';
import {
  IdCursorQuery,
  IsIdOf,
  LimitQuery,
  OptionalEnum,
  OptionalField,
  OptionalText,
  ReadsIds,
} from '../../core/http/index.js';
import type { Mode } from '../../core/mode.js';
import { RETURN_REASONS, type ReturnReason } from '../../transactions/index.js';
import { SHOWN_RETURN_STATUSES, type ShownReturnStatus } from './returned.body.js';

export class ListReviewsQuery extends IdCursorQuery {
  @OptionalEnum('Only this mode.', ['test', 'live'])
  mode?: Mode;
}

export class ListAccountsQuery extends IdCursorQuery {
  @OptionalText(
    'Only accounts with this id, or with this in their name or e-mail. Capitals do not count.',
    2,
    200,
    'padaria',
  )
  query?: string;
}

export class ListNegativeBalancesQuery extends LimitQuery {
  @OptionalField({ description: 'The previous page’s `next_cursor`.' })
  @ReadsIds()
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
  @OptionalEnum('Only this mode.', ['test', 'live'])
  mode?: Mode;

  @OptionalEnum('Only what goes back for this reason.', RETURN_REASONS)
  reason?: ReturnReason;

  @OptionalEnum('Only returns in this state.', SHOWN_RETURN_STATUSES)
  status?: ShownReturnStatus;
}
