import type { NegativeBalance, NegativeFilter } from '../wallets/index.js';
import type { NegativeBalanceBody } from './dto/negative-balance.body.js';
import type { OperatorQueue } from '../core/operator-queues.js';
import type { OperatorQueueBody } from './dto/queue.body.js';
import { type AccountEntity, merchantAccountBody, settingsBody } from '../accounts/index.js';
import type { LiveConnection } from '../acquirers/index.js';
import { type WorkItem, workItemBody } from '../core/work/index.js';
import type { FraudHit } from '../fraud/index.js';
import { type MedCase, medCaseBody, type MedWaiting, versionOf } from '../med/index.js';
import { payoutBody, payoutSnapshot, sendIdOf, type WholePayout } from '../payouts/index.js';
import type { Correction, ReturnedPix, Review, UnmatchedPix, UnreadableNews } from '../transactions/index.js';
import type { AccountBody } from './dto/account.body.js';
import type { CorrectionBody } from './dto/correction.body.js';
import type { ConnectionBody, FeeBody } from './dto/connection.body.js';
import type { FraudHitBody } from './dto/fraud-hit.body.js';
import type { MedReviewBody, MedWaitingBody } from './dto/med-review.body.js';
import type { ReturnedBody, ShownReturnStatus } from './dto/returned.body.js';
import type { ReviewBody, UnmatchedPixBody, UnreadableBody } from './dto/review.body.js';
import type { UncertainPayoutBody } from './dto/uncertain-payout.body.js';
import type { WorkBody } from './dto/work.body.js';

const STATUS = { review: 'pending', credited: 'accepted', returned: 'returned' } as const;

export function accountBody(account: AccountEntity): AccountBody {
  return { ...merchantAccountBody(account), ...settingsBody(account) };
}

function feeBody({ operation, validFrom, bps, fixed, minimum, maximum }: LiveConnection['fees'][number]): FeeBody {
  return { operation, valid_from: validFrom, bps, fixed, minimum, maximum };
}

export function connectionBody(connection: LiveConnection): ConnectionBody {
  return {
    id: connection.id,
    object: 'connection',
    account_id: connection.accountId,
    psp: connection.profile,
    pix_key: connection.pixKey,
    in_use: connection.live,
    fees: connection.fees.map(feeBody),
    certificate_expires_at: connection.certificate?.expiresAt.toISOString() ?? null,
    webhook_registered_at: connection.webhookRegisteredAt?.toISOString() ?? null,
    created_at: connection.createdAt.toISOString(),
    updated_at: connection.updatedAt.toISOString(),
  };
}

export function reviewBody(review: Review): ReviewBody {
  return {
    id: review.id,
    object: 'review',
    status: STATUS[review.outcome],
    account: { id: review.account.id, name: review.account.name },
    mode: review.mode,
    charge_id: `ch_${review.transactionId}`,
    amount: review.amount,
    currency: review.currency,
    expected_payer_tax_id: review.expectedPayerTaxId,
    reported_payer_tax_id: review.maskedPayer,
    reason: review.reason,
    acquirer: review.acquirer,
    end_to_end_id: review.endToEndId,
    settled_at: review.settledAt.toISOString(),
    created_at: review.createdAt.toISOString(),
    reviewed_at: review.reviewedAt?.toISOString() ?? null,
    reviewed_by: review.reviewedBy,
  };
}

export function unmatchedPixBody(pix: UnmatchedPix): UnmatchedPixBody {
  return {
    id: pix.id,
    object: 'unmatched_pix',
    amount: pix.amount,
    acquirer: pix.acquirer,
    end_to_end_id: pix.endToEndId,
    txid: pix.txid,
    account_id: pix.accountId,
    charge_id: pix.transactionId === null ? null : `ch_${pix.transactionId}`,
    reason: pix.reason,
    failure_reason: pix.failureReason,
    correction_id: pix.correctionId,
    reported_payer_tax_id: pix.maskedPayer,
    settled_at: pix.settledAt.toISOString(),
    created_at: pix.createdAt.toISOString(),
  };
}

export function returnedBody(pix: ReturnedPix): ReturnedBody {
  return {
    id: pix.id,
    object: 'returned_payment',
    status: pix.status.toLowerCase() as ShownReturnStatus,
    account: { id: pix.account.id, name: pix.account.name },
    mode: pix.mode,
    charge_id: pix.transactionId === null ? null : `ch_${pix.transactionId}`,
    amount: pix.amount,
    currency: pix.currency,
    reason: pix.reason,
    method: pix.method,
    reported_payer_tax_id: pix.maskedPayer,
    acquirer: pix.acquirer,
    end_to_end_id: pix.endToEndId,
    return_id: pix.returnId,
    failure_reason: pix.failureReason,
    settled_at: pix.settledAt.toISOString(),
    created_at: pix.createdAt.toISOString(),
    returned_at: pix.status === 'RETURNED' ? pix.updatedAt.toISOString() : null,
  };
}

export function correctionBody(correction: Correction): CorrectionBody {
  return {
    id: correction.id,
    object: 'correction',
    kind: correction.kind,
    status: correction.status,
    account_id: correction.accountId,
    mode: correction.mode,
    amount: correction.amount,
    currency: correction.currency,
    borne_by: correction.borneBy,
    pix_id: correction.settlementId,
    charge_id: correction.transactionId === null ? null : `ch_${correction.transactionId}`,
    bank_reference: correction.bankReference,
    acquirer: correction.acquirer,
    invoice_month: correction.invoiceMonth,
    reason: correction.reason,
    requested_by: correction.requestedBy,
    decided_by: correction.decidedBy,
    created_at: correction.createdAt.toISOString(),
    decided_at: correction.decidedAt?.toISOString() ?? null,
  };
}

export function unreadableBody(news: UnreadableNews): UnreadableBody {
  return {
    id: news.id,
    object: 'unreadable',
    kind: news.kind,
    acquirer: news.acquirer,
    reference: news.reference,
    unreadable_since: news.unreadableSince.toISOString(),
    created_at: news.receivedAt.toISOString(),
  };
}

export function fraudHitBody(hit: FraudHit): FraudHitBody {
  return {
    id: hit.id,
    object: 'fraud_hit',
    account_id: hit.accountId,
    mode: hit.mode,
    code: hit.code,
    enforced: hit.enforced,
    operation: hit.operation,
    amount: hit.amount,
    document: hit.maskedDocument,
    created_at: hit.createdAt.toISOString(),
  };
}

export function medReviewBody(medCase: MedCase): MedReviewBody {
  return {
    id: `med_${medCase.id}`,
    object: 'med_review',
    version: versionOf(medCase),
    review: medCase.review,
    account_id: medCase.accountId,
    mode: medCase.mode,
    visible: medCase.visible,
    reported_amount: medCase.reportedAmount,
    held_amount: medCase.heldAmount,
    lost_amount: medCase.lostAmount,
    acquirer: medCase.acquirer,
    reference: medCase.reference,
    bank_status: medCase.bank.status,
    bank_result: medCase.bank.result,
    reviewed_at: medCase.reviewedAt?.toISOString() ?? null,
    reviewed_by: medCase.reviewedBy,
    case: medCaseBody(medCase),
  };
}

export function medWaitingBody(dispute: MedWaiting): MedWaitingBody {
  return {
    id: dispute.id,
    object: 'med_waiting',
    payment: dispute.payment,
    payment_reference: dispute.awaits,
    acquirer: dispute.acquirer,
    reference: dispute.reference,
    type: dispute.type,
    amount: dispute.amount,
    bank_status: dispute.status,
    response_deadline: dispute.responseDeadline?.toISOString() ?? null,
    opened_at: dispute.openedAt.toISOString(),
    created_at: dispute.receivedAt.toISOString(),
  };
}

export function workBody(work: WorkItem): WorkBody {
  return { object: 'work', ...workItemBody(work) };
}

export function operatorQueueBody({ name, waiting, since }: OperatorQueue): OperatorQueueBody {
  return { object: 'operator_queue', name, waiting, oldest_at: since?.toISOString() ?? null };
}

/** The end of a page: by age, then by wallet. */
export function negativeBalanceCursor({ negative_since, account_id, mode, currency }: NegativeBalanceBody): string {
  return [Date.parse(negative_since), account_id, mode, currency].join('_');
}

/** The wallet that a cursor names. */
export function negativeBalanceOf(cursor: string): NonNullable<NegativeFilter['after']> {
  const [since = '', accountId = '', mode = '', currency = ''] = cursor.split('_');
  return { negativeSince: new Date(Number(since)), accountId, mode: mode === 'live' ? 'live' : 'test', currency };
}

export function negativeBalanceBody(balance: NegativeBalance): NegativeBalanceBody {
  return {
    object: 'negative_balance',
    account_id: balance.accountId,
    mode: balance.mode,
    currency: balance.currency,
    available: balance.available,
    negative_since: balance.negativeSince.toISOString(),
    next_notice_at: balance.nextNoticeAt?.toISOString() ?? null,
  };
}

export function uncertainPayoutBody(payout: WholePayout): UncertainPayoutBody {
  return {
    id: payout.id,
    object: 'uncertain_payout',
    account_id: payout.accountId,
    mode: payout.mode,
    acquirer: payout.acquirer,
    send_id: sendIdOf(payout.id),
    sent_at: payout.sentAt?.toISOString() ?? null,
    payout: payoutBody(payoutSnapshot(payout)),
  };
}
