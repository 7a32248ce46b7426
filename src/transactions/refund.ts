import type { RefundStrategy, RefundWay, ReturnFailure } from '../acquirers/index.js';
import type { Mode } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import type { RefundStatus } from './refunds.machine.js';

/** Why a refund failed: the acquirer's reason, or ours for not calling it. */
export type RefundFailure = ReturnFailure | 'charge_disputed';

/** Money of a paid transaction on its way back to the payer. Amounts in the smallest unit. */
export interface Refund {
  readonly id: string;
  readonly accountId: string;
  readonly mode: Mode;
  readonly transactionId: string;
  readonly acquirer: string;
  /** What the acquirer knows the payment by: the end-to-end id of a Pix. */
  readonly paymentReference: string;
  readonly way: RefundWay;
  readonly amount: Amount;
  /** The Pix-out fee that the merchant bears, on top of the amount. */
  readonly fee: Amount;
  readonly currency: string;
  readonly reason: string | null;
  /** The Pix key of a cashout that names one; null: the payer's document. */
  readonly destinationSealed: Buffer | null;
  readonly status: RefundStatus;
  /** How often the acquirer was asked about it. */
  /** What the payer's bank shows: a devolution's rtrId, a cashout's end-to-end id. */
  readonly bankReference: string | null;
  readonly failureReason: RefundFailure | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Whose return it is: of the refund from whose id it was made, if it is one at all. */
export function refundIdOf(returnId: string): string | null {
  const parts = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(returnId)?.slice(1);
  return parts?.join('-') ?? null;
}

/** What a merchant asks for. */
export interface RefundOrder {
  /** Null: all that is left. */
  readonly amount: Amount | null;
  readonly reason: string | null;
  /** Null: cashout where it is possible, else devolution. */
  readonly strategy: RefundStrategy | null;
  /** The merchant bears the fee of a Pix-out. */
  readonly passFee: boolean;
  /** A normalized Pix key; null: the payer's document. */
  readonly destinationKey: string | null;
}

/** A refund as an event carries it. */
export interface RefundSnapshot {
  readonly id: string;
  readonly amount: Amount;
  readonly status: RefundStatus;
  readonly reason: string | null;
  readonly failureReason: RefundFailure | null;
}

export function toRefundSnapshot(refund: Refund): RefundSnapshot {
  const { id, amount, status, reason, failureReason } = refund;
  return { id, amount, status, reason, failureReason };
}
