import type { MedCase } from '../cases/med-case.js';
import type { MedCaseBody } from './dto/med-case.body.js';

/**
 * Builds the public case, the same in the API and in webhooks. Only the charge's `metadata.med` names who opened it.
 */
export function medCaseBody(c: MedCase): MedCaseBody {
  return {
    id: `med_${c.id}`,
    object: 'med_case',
    type: c.type,
    status: c.status,
    amount: c.amount,
    currency: c.currency,
    charge_id: `ch_${c.transactionId}`,
    reason: c.reason,
    response_deadline: c.responseDeadline?.toISOString() ?? null,
    evidence_requested_at: c.evidenceRequestedAt?.toISOString() ?? null,
    appeal_reason: c.appealReason,
    appealed_at: c.appealedAt?.toISOString() ?? null,
    evidence_count: c.evidenceCount,
    money_outcome: c.moneyOutcome,
    opened_at: c.openedAt.toISOString(),
    closed_at: c.closedAt?.toISOString() ?? null,
    created_at: c.createdAt.toISOString(),
    updated_at: c.updatedAt.toISOString(),
  };
}
