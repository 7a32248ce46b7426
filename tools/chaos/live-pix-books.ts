import type { LivePixStage } from './live-pix-stage.js';

/** A transaction of the merchant, with the bookings for the money it received. */
export interface BookedPayment {
  readonly id: string;
  readonly txid: string;
  readonly status: string;
  readonly amount: number;
  /** The end-to-end id of the credited Pix. */
  readonly end_to_end_id: string | null;
  /** Credited settlements, and their ledger entries with their sum. */
  readonly credited: number;
  readonly entries: number;
  readonly entered: number;
}

export interface BookedRefund {
  readonly id: string;
  readonly transaction_id: string;
  readonly amount: number;
  readonly status: string;
}

/** A Pix that was returned automatically. */
export interface BookedReturn {
  readonly end_to_end_id: string;
  readonly return_id: string;
  readonly amount: number;
  readonly status: string;
}

export interface Books {
  readonly payments: readonly BookedPayment[];
  readonly refunds: readonly BookedRefund[];
  readonly returns: readonly BookedReturn[];
  /** The merchant's available balance in cents. */
  readonly available: number;
  /** Cents that the bank should hold by our books: the `clearing` balance of all live wallets. */
  readonly clearing: number;
}

/** All rows of the service about the merchant. */
export async function bookedHere(stage: LivePixStage): Promise<Books> {
  const of = [stage.accountId];
  const [balance] = await stage.rows<{ amount: number }>(
    `SELECT coalesce(sum(amount), 0)::float8 AS amount FROM balances WHERE account_id = $1 AND mode = 'live' AND bucket = 'available'`,
    of,
  );
  const [clearing] = await stage.rows<{ amount: number }>(
    `SELECT coalesce(-sum(amount), 0)::float8 AS amount FROM balances WHERE mode = 'live' AND bucket = 'clearing'`,
  );
  return {
    payments: await stage.rows(
      `SELECT t.id, t.txid, t.status, t.amount::float8, t.end_to_end_id,
         (SELECT count(*)::int FROM settlements s WHERE s.transaction_id = t.id AND s.outcome = 'credited') AS credited,
         (SELECT count(*)::int FROM journal_entries e WHERE e.cause = 'charge.paid:' || t.id) AS entries,
         (SELECT coalesce(-sum(l.amount), 0)::float8 FROM journal_entries e JOIN journal_lines l ON l.entry_id = e.id
          WHERE e.cause = 'charge.paid:' || t.id AND l.bucket = 'clearing') AS entered
       FROM transactions t WHERE t.account_id = $1`,
      of,
    ),
    refunds: await stage.rows(
      `SELECT id, transaction_id, amount::float8, status FROM refunds WHERE account_id = $1`,
      of,
    ),
    returns: await stage.rows(
      `SELECT end_to_end_id, return_id, amount::float8, status FROM pix_returns WHERE account_id = $1`,
      of,
    ),
    available: balance?.amount ?? 0,
    clearing: clearing?.amount ?? 0,
  };
}
