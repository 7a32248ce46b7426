import type { ShownReturn, WholePayout } from './payouts.repository.js';
import type { PayoutBody } from './dto/payout.body.js';
import type { PayoutDestinationBody } from './dto/payout-destination.body.js';
import type { PayoutDestination } from './payout-destination.entity.js';
import { publicPayoutStatus } from './payout-status.js';

/** The part of a payout that answers and events are made of, as JSON. */
export type PayoutSnapshot = Pick<
  WholePayout,
  | 'id'
  | 'amount'
  | 'fee'
  | 'currency'
  | 'status'
  | 'destinationId'
  | 'shown'
  | 'description'
  | 'metadata'
  | 'needsApproval'
  | 'processingReason'
  | 'endToEndId'
  | 'failure'
  | 'amountReturned'
> & {
  readonly returns: readonly ShownReturn[];
  readonly sendAfter: string;
  readonly paidAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
};

export function payoutSnapshot(p: WholePayout): PayoutSnapshot {
  return {
    id: p.id,
    amount: p.amount,
    fee: p.fee,
    currency: p.currency,
    status: p.status,
    destinationId: p.destinationId,
    shown: p.shown,
    description: p.description,
    metadata: p.metadata,
    needsApproval: p.needsApproval,
    processingReason: p.processingReason,
    endToEndId: p.endToEndId,
    failure: p.failure,
    amountReturned: p.amountReturned,
    returns: p.returns,
    sendAfter: p.sendAfter.toISOString(),
    paidAt: p.paidAt?.toISOString() ?? null,
    createdAt: p.createdAt.toISOString(),
    updatedAt: p.updatedAt.toISOString(),
  };
}

/** The public payout: the same in the API and in webhooks. An allow-list: only the fields here leave. */
export function payoutBody(p: PayoutSnapshot): PayoutBody {
  const status = publicPayoutStatus(p.status);
  return {
    id: `po_${p.id}`,
    object: 'payout',
    amount: p.amount,
    currency: p.currency,
    status,
    payment_method: 'pix',
    fee: p.fee,
    destination: { ...(p.destinationId === null ? {} : { id: `pd_${p.destinationId}` }), ...p.shown },
    settlement: p.paidAt === null || p.endToEndId === null ? {} : { end_to_end_id: p.endToEndId },
    metadata: { ...p.metadata, ...(p.description === null ? {} : { description: p.description }) },
    created_at: p.createdAt,
    ...(status === 'pending' && p.sendAfter > p.createdAt ? { send_after: p.sendAfter } : {}),
    ...(p.status === 'AWAITING' ? { approval: { status: 'waiting' } } : {}),
    ...(p.processingReason === null ? {} : { processing_reason: p.processingReason }),
    ...(p.failure === null ? {} : { failure: { reason: p.failure, at: p.updatedAt } }),
    ...(p.amountReturned === 0 ? {} : { amount_returned: p.amountReturned, returns: [...p.returns] }),
  };
}

export function payoutDestinationBody(d: PayoutDestination): PayoutDestinationBody {
  return {
    id: `pd_${d.id}`,
    object: 'payout_destination',
    ...d.shown,
    ...(d.label === null ? {} : { label: d.label }),
    approved_at: d.approvedAt?.toISOString() ?? null,
    created_at: d.createdAt.toISOString(),
  };
}
