import type { LivePixStage } from './live-pix-stage.js';

/** A transaction of the merchant, with what was made of money that came for it. */
export interface BookedPayment {
  readonly id: string;
  readonly txid: string;
  readonly status: string;
  readonly amount: number;
  /** Of the Pix that was credited. */
  readonly end_to_end_id: string | null;
  /** Settlements that were credited, and entries of them in the ledger with their sum. */
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

/** A Pix that went back by itself. */
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
  /** Cents that the merchant has. */
  readonly available: number;
  /** Cents that the bank holds, as the books have it: what `clearing` of all live wallets says. */
  readonly clearing: number;
}

/** Everything the service has written about the merchant. */
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
