import { IdCursorQuery, OptionalEnum } from '../../core/http/index.js';
import { REFUND_STATUSES, type RefundStatus } from '../../transactions/index.js';

export class ListRefundsQuery extends IdCursorQuery {
  @OptionalEnum('Only refunds of this status.', REFUND_STATUSES)
  status?: RefundStatus;
}
