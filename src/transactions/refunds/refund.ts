import type { RefundStrategy } from '../../acquirers/index.js';
import type { Amount } from '../../core/money/index.js';
import type { RefundMoney } from '../../wallets/index.js';
import type { Refund, RefundFailure } from './refund.entity.js';
import type { RefundStatus } from './refunds.machine.js';

export type { Refund };

/** Returns the id of the refund that a return was made for; null if the return's id was not derived from a refund's. */
export function refundIdOf(returnId: string): string | null {
  const parts = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(returnId)?.slice(1);
  return parts?.join('-') ?? null;
}

/** A merchant's request for a refund. */
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

/** Returns the fields of a refund that the ledger needs. */
export function moneyOf(refund: Refund): RefundMoney {
  const { id, accountId, mode, transactionId, currency, amount, fee } = refund;
  return { refundId: id, accountId, mode, transactionId, currency, amount, fee };
}
