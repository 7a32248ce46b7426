import type { Mode } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import type { BankSide, MedCase, MedReview } from './med-case.js';
import type { MedCaseStatus, MedCaseType, MoneyOutcome } from './med-cases.machine.js';

export interface MedCaseRow {
  id: string;
  account_id: string;
  mode: Mode;
  transaction_id: string;
  acquirer: string;
  reference: string;
  payment_reference: string;
  type: MedCaseType;
  status: MedCaseStatus;
  money_outcome: MoneyOutcome | null;
  visible: boolean;
  review: MedReview | null;
  reviewed_at: Date | null;
  reviewed_by: string | null;
  amount: Amount;
  reported_amount: Amount;
  held_amount: Amount;
  lost_amount: Amount;
  currency: string;
  reason: string | null;
  response_deadline: Date | null;
  deadline_due_at: Date | null;
  evidence_requested_at: Date | null;
  appeal_reason: string | null;
  appealed_at: Date | null;
  evidence_count: number;
  opened_at: Date;
  closed_at: Date | null;
  bank_status: BankSide['status'];
  bank_result: BankSide['result'];
  method: string | null;
  payer_sealed: Buffer | null;
  bank_updated_at: Date;
  bank_closed_at: Date | null;
  applied_at: Date;
  created_at: Date;
  updated_at: Date;
}

/** The select list for `toMedCase`, of cases under the alias `c`. */
export const MED_CASE_COLUMNS = `c.id, c.account_id, c.mode, c.transaction_id, c.acquirer, c.reference, c.payment_reference,
  c.type, c.status, c.money_outcome, c.visible, c.review, c.reviewed_at, c.reviewed_by, c.amount, c.reported_amount, c.held_amount,
  c.lost_amount, c.currency, c.reason, c.response_deadline, c.deadline_due_at, c.evidence_requested_at, c.appeal_reason, c.appealed_at,
  c.evidence_count, c.opened_at, c.closed_at, c.bank_status, c.bank_result, c.method, c.payer_sealed,
  c.bank_updated_at, c.bank_closed_at, c.applied_at, c.created_at, c.updated_at`;

export function toMedCase(row: MedCaseRow): MedCase {
  return {
    id: row.id,
    accountId: row.account_id,
    mode: row.mode,
    transactionId: row.transaction_id,
    acquirer: row.acquirer,
    reference: row.reference,
    paymentReference: row.payment_reference,
    type: row.type,
    status: row.status,
    moneyOutcome: row.money_outcome,
    visible: row.visible,
    review: row.review,
    reviewedAt: row.reviewed_at,
    reviewedBy: row.reviewed_by,
    amount: row.amount,
    reportedAmount: row.reported_amount,
    heldAmount: row.held_amount,
    lostAmount: row.lost_amount,
    currency: row.currency,
    reason: row.reason,
    responseDeadline: row.response_deadline,
    deadlineDueAt: row.deadline_due_at,
    evidenceRequestedAt: row.evidence_requested_at,
    appealReason: row.appeal_reason,
    appealedAt: row.appealed_at,
    evidenceCount: row.evidence_count,
    openedAt: row.opened_at,
    closedAt: row.closed_at,
    bank: {
      status: row.bank_status,
      result: row.bank_result,
      method: row.method,
      payerSealed: row.payer_sealed,
      updatedAt: row.bank_updated_at,
      closedAt: row.bank_closed_at,
      appliedAt: row.applied_at,
    },
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
