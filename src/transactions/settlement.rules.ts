import type { ReceivedPix } from '../acquirers/index.js';
import type { Transaction } from './transaction.js';
import type { Trigger } from './transactions.machine.js';

export type ReturnReason = 'wrong_amount' | 'late' | 'duplicate' | 'charge_closed' | 'payer_mismatch';

export interface SettlementDecision {
  readonly outcome: 'credited' | 'returned' | 'review';
  readonly reason: ReturnReason | 'payer_unknown' | null;
  /** The move of the transaction, or null when it stays as it is. */
  readonly trigger: Trigger | null;
}

const back = (reason: ReturnReason, trigger: Trigger | null = null): SettlementDecision => ({
  outcome: 'returned',
  reason,
  trigger,
});

/**
 * What becomes of a Pix that the acquirer confirmed. Sources: interface.md "transitions that are stated", decisions
 * §3.8–3.10.
 *
 * Whether it was in time is decided by the bank's own time of settlement, so a notification that reaches us late does
 * not cost the merchant a payment; but once the charge has been announced as expired it stays so.
 */
export function decideSettlement(transaction: Transaction, pix: ReceivedPix): SettlementDecision {
  switch (transaction.status) {
    case 'WAITING_PAYMENT':
      break;
    case 'PENDING':
      throw new Error('A charge that was paid was issued: that move comes first');
    case 'EXPIRED':
      return back('late');
    case 'CANCELLED':
    case 'REFUSED':
      return back('charge_closed');
    case 'PROCESSING':
    case 'PAID':
    case 'APPROVED':
    case 'REFUNDED':
    case 'CHARGEBACK':
    case 'DISPUTE':
      return back('duplicate');
  }
  if (transaction.expiresAt !== null && pix.settledAt.getTime() >= transaction.expiresAt.getTime()) {
    return back('late', 'expired');
  }
  if (pix.amount !== transaction.amount) return back('wrong_amount');
  if (transaction.expectedPayerTaxId !== null && pix.payerDocument === null) {
    return { outcome: 'review', reason: 'payer_unknown', trigger: 'settled_by_unknown_payer' };
  }
  if (transaction.expectedPayerTaxId !== null && pix.payerDocument !== transaction.expectedPayerTaxId) {
    return back('payer_mismatch', 'settled_by_other_payer');
  }
  return { outcome: 'credited', reason: null, trigger: 'settled' };
}
