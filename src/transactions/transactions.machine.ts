/** Source: docs/contract.md#transaction-status. */
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

/** Events that move a transaction. */
export type Trigger =
  /** The acquirer accepted the charge. */
  | 'issued'
  /**
   * The charge was not made. The acquirer refused it, could not be reached or reports later that it does not exist, or
   * the charge expired before it was made. The merchant's request was refused (422), or had no answer (503).
   */
  | 'not_issued'
  /** A payment that is not a card settles. */
  | 'settled'
  /** A card payment settles. */
  | 'approved'
  /** The cardholder is being authenticated. */
  | 'authenticating'
  /** Payer lock: another person has paid; the money goes back. */
  | 'settled_by_other_payer'
  /** Payer lock: the bank did not say who paid; held for an operator. */
  | 'settled_by_unknown_payer'
  /** An operator accepts held money. */
  | 'review_accepted'
  /** An operator sends held money back. */
  | 'review_returned'
  /** The merchant's refunds have returned all of it to the payer. */
  | 'refunded'
  /** The time for paying is over (`ExpiryService` describes who writes that), or the sandbox is asked to expire it. */
  | 'expired'
  /** The acquirer, or the issuer of the card, declines: this ends the sale, with every method that it offered. */
  | 'refused'
  /** The merchant cancels it, or the acquirer has removed it. */
  | 'cancelled'
  /** The issuer of the card opens a chargeback: the money is held, and the ruling says whether it is lost. */
  | 'charged_back'
  /** The cardholder does not recognise the payment. */
  | 'card_disputed'
  /** The payer's bank opens a MED: a Pix is disputed. */
  | 'disputed'
  /** No dispute of the Pix is open any more, and disputes have not taken all of it. */
  | 'dispute_won'
  /** No dispute of the card payment is open any more, and disputes have not taken all of it. */
  | 'card_dispute_won';

export interface Move {
  readonly from: readonly TransactionStatus[];
  readonly to: TransactionStatus;
}

/**
 * The legal moves. A live Pix of the charge routes is made PENDING, everything else WAITING_PAYMENT. EXPIRED,
 * CANCELLED, REFUSED and REFUNDED are ends.
 *
 * PROCESSING has two meanings: a card is in flight, or the charge is held (`isHeld`), because it has a payer lock and
 * the bank did not name the payer. A charge with a payer lock takes Pix only, so both never meet.
 *
 * This table does not distinguish the two, and a held charge may move less than its row here says. A held charge is
 * never settled (`decideSettlement`) and never expires (`isOpen`, and `OPEN` in transactions.repository.ts). Its
 * acquirer cannot end it (`endCharge` in settlement-listener.service.ts). An operator accepts it or sends it back, or
 * the merchant cancels it and its money goes back.
 *
 * Sources: docs/contract.md#transaction-status and docs/contract.md#settlement.
 */
export const MOVES: Readonly<Record<Trigger, Move>> = {
  issued: { from: ['PENDING'], to: 'WAITING_PAYMENT' },
  not_issued: { from: ['PENDING'], to: 'REFUSED' },
  // A payment never meets PENDING: a paid charge was issued, so `issued` is written first, with its event. From
  // PROCESSING, either the card in flight settles, or another method of the payment does.
  settled: { from: ['WAITING_PAYMENT', 'PROCESSING'], to: 'PAID' },
  approved: { from: ['WAITING_PAYMENT', 'PROCESSING'], to: 'APPROVED' },
  authenticating: { from: ['WAITING_PAYMENT'], to: 'PROCESSING' },
  settled_by_other_payer: { from: ['WAITING_PAYMENT'], to: 'REFUNDED' },
  settled_by_unknown_payer: { from: ['WAITING_PAYMENT'], to: 'PROCESSING' },
  review_accepted: { from: ['PROCESSING'], to: 'PAID' },
  review_returned: { from: ['PROCESSING'], to: 'REFUNDED' },
  refunded: { from: ['PAID', 'APPROVED'], to: 'REFUNDED' },
  expired: { from: ['WAITING_PAYMENT', 'PROCESSING'], to: 'EXPIRED' },
  refused: { from: ['WAITING_PAYMENT', 'PROCESSING'], to: 'REFUSED' },
  cancelled: { from: ['PENDING', 'WAITING_PAYMENT', 'PROCESSING'], to: 'CANCELLED' },
  charged_back: { from: ['APPROVED', 'DISPUTE'], to: 'CHARGEBACK' },
  card_disputed: { from: ['APPROVED'], to: 'DISPUTE' },
  disputed: { from: ['PAID'], to: 'DISPUTE' },
  dispute_won: { from: ['DISPUTE'], to: 'PAID' },
  card_dispute_won: { from: ['CHARGEBACK', 'DISPUTE'], to: 'APPROVED' },
};

/**
 * Returns the status after `trigger`, or null when it cannot happen to a transaction in `from`. `TransactionMoves.move`
 * then changes nothing and returns null, which its callers take for "it was moved meanwhile".
 */
export function nextStatus(from: TransactionStatus, trigger: Trigger): TransactionStatus | null {
  const move = MOVES[trigger];
  return move.from.includes(from) ? move.to : null;
}
