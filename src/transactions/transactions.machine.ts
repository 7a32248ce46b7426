/** Source: interface.md, "Transaction status". */
export const TRANSACTION_STATUSES = [
  'PENDING',
  'WAITING_PAYMENT',
  'PROCESSING',
  'PAID',
  'APPROVED',
  'REFUSED',
  'CANCELLED',
  'EXPIRED',
  'REFUNDED',
  'CHARGEBACK',
  'DISPUTE',
] as const;

export type TransactionStatus = (typeof TRANSACTION_STATUSES)[number];

/** What can happen to a transaction. */
export type Trigger =
  /** The acquirer accepted the charge. */
  | 'issued'
  /** The acquirer turned the charge away before it existed; the merchant's request was refused too. */
  | 'not_issued'
  /** A payment that is not a card settles. */
  | 'settled'
  /** Payer lock: the payer is somebody else; the money goes back. */
  | 'settled_by_other_payer'
  /** Payer lock: the bank did not say who paid; held for an operator. */
  | 'settled_by_unknown_payer'
  | 'expired'
  | 'refused'
  | 'cancelled';

export interface Move {
  readonly from: readonly TransactionStatus[];
  readonly to: TransactionStatus;
}

/** The legal moves. Source: interface.md, "transitions that are stated", and decisions §3.7–3.10. */
export const MOVES: Readonly<Record<Trigger, Move>> = {
  issued: { from: ['PENDING'], to: 'WAITING_PAYMENT' },
  not_issued: { from: ['PENDING'], to: 'REFUSED' },
  // Not from PENDING: what happens to a charge proves that it was issued, and that is written first, with its event.
  settled: { from: ['WAITING_PAYMENT'], to: 'PAID' },
  settled_by_other_payer: { from: ['WAITING_PAYMENT'], to: 'REFUNDED' },
  settled_by_unknown_payer: { from: ['WAITING_PAYMENT'], to: 'PROCESSING' },
  expired: { from: ['WAITING_PAYMENT'], to: 'EXPIRED' },
  refused: { from: ['WAITING_PAYMENT'], to: 'REFUSED' },
  cancelled: { from: ['PENDING', 'WAITING_PAYMENT', 'PROCESSING'], to: 'CANCELLED' },
};

/** The status after `trigger`, or null when it cannot happen to a transaction in `from`. */
export function nextStatus(from: TransactionStatus, trigger: Trigger): TransactionStatus | null {
  const move = MOVES[trigger];
  return move.from.includes(from) ? move.to : null;
}
