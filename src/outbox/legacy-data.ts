import type { Amount } from '../core/money/index.js';

/** `data` that all legacy events share: docs/contract.md#legacy-envelope. */
export interface LegacyData {
  transactionId: string;
  amount: Amount;
  status: string;
  previousStatus: string | null;
  paidWith?: string;
  providerFee?: Amount;
  platformFee?: Amount;
  netAmount?: Amount;
  occurredAt: string;
}

/** Money that moved, as a legacy event shows it. Null: not known. */
export interface LegacySubject {
  readonly transactionId: string;
  readonly amount: Amount;
  readonly status: string;
  readonly previousStatus: string | null;
  readonly paidWith: string | null;
  readonly providerFee: Amount | null;
  readonly platformFee: Amount | null;
  readonly netAmount: Amount | null;
}

/** Serializes the shared fields. Method and fees are shown in PAID and APPROVED only. */
export function legacyData(subject: LegacySubject, occurredAt: Date): LegacyData {
  const { transactionId, amount, status, previousStatus, paidWith, providerFee, platformFee, netAmount } = subject;
  const isPaid = status === 'PAID' || status === 'APPROVED';
  return {
    transactionId,
    amount,
    status,
    previousStatus,
    ...(isPaid && paidWith !== null ? { paidWith } : {}),
    ...(isPaid && providerFee !== null ? { providerFee } : {}),
    ...(isPaid && platformFee !== null ? { platformFee } : {}),
    ...(isPaid && netAmount !== null ? { netAmount } : {}),
    occurredAt: occurredAt.toISOString(),
  };
}
