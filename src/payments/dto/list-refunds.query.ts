import { IsIn } from 'class-validator';
import { IdCursorQuery, OptionalField } from '../../core/http/index.js';
import { REFUND_STATUSES, type RefundStatus } from '../../transactions/index.js';

export class ListRefundsQuery extends IdCursorQuery {
  @OptionalField({ description: 'Only refunds of this status.', enum: REFUND_STATUSES })
  @IsIn(REFUND_STATUSES, { message: `must be one of ${REFUND_STATUSES.join(', ')}` })
  status?: RefundStatus;
}
