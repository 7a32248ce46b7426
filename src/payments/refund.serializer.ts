import type { Refund } from '../transactions/index.js';
import type { RefundBody, RefundItemBody, RefundListBody } from './dto/refund.body.js';

export function refundBody(refund: Refund): RefundBody {
  return {
    id: refund.id,
    transactionId: refund.transactionId,
    amount: refund.amount,
    currency: refund.currency,
    status: refund.status,
    reason: refund.reason,
    createdAt: refund.createdAt.toISOString(),
  };
}

/** Source: docs/contract.md#refunds. */
export function refundItem(refund: Refund): RefundItemBody {
  return {
    ...refundBody(refund),
    strategy: refund.way === 'card' ? null : refund.way,
    endToEndId: endToEndIdOf(refund),
    returnId: refund.way === 'devolution' ? refund.bankReference : null,
    failureReason: refund.failureReason,
    updatedAt: refund.updatedAt.toISOString(),
  };
}

export function refundList(refunds: readonly Refund[]): RefundListBody {
  return { data: refunds.map(refundItem), total: refunds.length };
}

/** A devolution travels under the id of the Pix it returns, a cashout under one of its own. */
function endToEndIdOf(refund: Refund): string | null {
  switch (refund.way) {
    case 'devolution':
      return refund.paymentReference;
    case 'cashout':
      return refund.bankReference;
    case 'card':
      return null;
  }
}
