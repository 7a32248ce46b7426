import { Injectable } from '@nestjs/common';
import { read, Reader } from '../core/database/index.js';
import { idBound } from '../core/ids.js';
import type { Amount } from '../core/money/index.js';
import { payoutIdOf, RESEND_MS, sendIdOf } from '../payouts/index.js';

/** Money that we sent: a payout, or a refund by cashout. */
export interface BookedPayout {
  readonly subject: 'payout' | 'refund';
  /** Id of the payout or refund. */
  readonly id: string;
  readonly acquirer: string;
  readonly sendId: string;
  readonly endToEndId: string | null;
  /** Cents. */
  readonly amount: Amount;
  /** `in_progress`: the money is set aside; `failed`: the merchant has it again. */
  readonly state: 'in_progress' | 'paid' | 'failed';
  readonly sentAt: Date;
  /** The PSP accepted the send before this time, if it did. */
  readonly acceptedBefore: Date;
  readonly returns: readonly BookedPayoutReturn[];
}

export interface BookedPayoutReturn {
  readonly returnId: string;
  readonly amount: Amount;
}

/** Money of an account at its PSPs by the ledger, in cents. */
export interface Held {
  /** Bucket `clearing`. */
  readonly held: Amount;
  /** Bucket `provider_fees`. */
  readonly fees: Amount;
  /** Returns of received Pix that were requested and have no end yet. */
  readonly returning: Amount;
}

export interface ChargedPayouts {
  readonly count: number;
  readonly amount: Amount;
  readonly fee: Amount;
}

type Row = Omit<BookedPayout, 'sendId'>;

/** Time from the first call of a send within which its last call ends. */
const LAST_CALL = `interval '${(RESEND_MS + 10 * 60_000) / 60_000} minutes'`;
const PAYOUT = `'payout' AS subject, p.id, p.acquirer, p.end_to_end_id AS "endToEndId", p.amount,
     CASE WHEN p.status IN ('PAID', 'REFUNDED') THEN 'paid' WHEN p.status IN ('FAILED', 'CANCELLED') THEN 'failed'
       ELSE 'in_progress' END AS state,
     coalesce(p.sent_at, p.created_at) AS "sentAt",
     coalesce(p.sent_at, p.created_at) + ${LAST_CALL} AS "acceptedBefore",
     coalesce((SELECT jsonb_agg(jsonb_build_object('returnId', b.return_id, 'amount', b.amount) ORDER BY b.return_id)
       FROM payout_returns b WHERE b.payout_id = p.id), '[]') AS returns`;
const CASHOUT = `'refund', r.id, r.acquirer, r.bank_reference, r.amount,
     CASE r.status WHEN 'REFUNDED' THEN 'paid' WHEN 'FAILED' THEN 'failed' ELSE 'in_progress' END,
     r.created_at, greatest(r.updated_at, r.created_at + ${LAST_CALL}), '[]'::jsonb`;

const SENT = read(
  'payout_records.sent',
  `SELECT ${PAYOUT} FROM payouts p
   WHERE p.acquirer = $1 AND p.acquirer <> 'sandbox' AND p.sent_at >= $3 AND p.sent_at < $4
   UNION ALL
   SELECT ${CASHOUT} FROM refunds r
   WHERE r.account_id = $2 AND r.mode = 'live' AND r.id >= $5::uuid AND r.id <= $6::uuid
     AND r.acquirer = $1 AND r.way = 'cashout' AND r.created_at >= $3 AND r.created_at < $4`,
);
const KNOWN = read(
  'payout_records.known',
  `SELECT ${PAYOUT} FROM payouts p WHERE p.acquirer = $1 AND (p.id = ANY ($2::uuid[]) OR p.end_to_end_id = ANY ($3::text[]))
   UNION ALL
   SELECT ${CASHOUT} FROM refunds r
   WHERE r.acquirer = $1 AND r.way = 'cashout' AND (r.id = ANY ($2::uuid[]) OR r.bank_reference = ANY ($3::text[]))`,
);
const UNDER_WAY = read(
  'payout_records.under_way',
  `SELECT ${PAYOUT} FROM payouts p WHERE p.account_id = $1 AND p.mode = 'live' AND p.status = 'SENDING'
   UNION ALL
   SELECT ${CASHOUT} FROM refunds r
   WHERE r.account_id = $1 AND r.mode = 'live' AND r.way = 'cashout' AND r.status = 'IN_PROGRESS'`,
);
/** Losses that operators entered for ids of the bank, less what they have taken back. */
const ENTERED = read(
  'payout_records.entered',
  `SELECT c.bank_reference AS reference, sum(c.amount)::bigint AS amount FROM corrections c
   WHERE c.account_id = $1 AND c.mode = 'live' AND c.kind = 'loss' AND c.status = 'applied' AND c.bank_reference = ANY ($2::text[])
   GROUP BY 1`,
);
const HELD = read(
  'payout_records.held',
  `SELECT coalesce(-sum(b.amount) FILTER (WHERE b.bucket = 'clearing'), 0)::bigint AS held,
     coalesce(sum(b.amount) FILTER (WHERE b.bucket = 'provider_fees'), 0)::bigint AS fees,
     (SELECT coalesce(sum(r.amount), 0) FROM refunds r
       WHERE r.account_id = $1 AND r.mode = 'live' AND r.way = 'devolution' AND r.status = 'IN_PROGRESS')::bigint
     + (SELECT coalesce(sum(s.amount), 0) FROM pix_returns s
       WHERE s.account_id = $1 AND s.acquirer <> 'sandbox' AND s.way = 'devolution' AND s.status = 'IN_PROGRESS')::bigint
     AS returning
   FROM balances b WHERE b.account_id = $1 AND b.mode = 'live' AND b.currency = 'BRL'`,
);
/** Payouts by the bank's clock, cashouts by ours. A payout that its bank took back was charged all the same. */
const CHARGED = read(
  'payout_records.charged',
  `SELECT count(*)::int AS count, coalesce(sum(amount), 0)::bigint AS amount, coalesce(sum(fee), 0)::bigint AS fee FROM (
     SELECT p.amount, p.provider_fee AS fee FROM payouts p
     WHERE p.acquirer = $1 AND p.account_id = $2 AND p.paid_at >= $3 AND p.paid_at < $4
     UNION ALL
     SELECT r.amount, r.provider_fee FROM refunds r
     WHERE r.acquirer = $1 AND r.account_id = $2 AND r.way = 'cashout' AND r.status = 'REFUNDED'
       AND r.updated_at >= $3 AND r.updated_at < $4) c`,
);

/** Reads our own books of money that was sent, to compare them with the acquirer's. */
@Injectable()
export class PayoutRecordsRepository {
  constructor(private readonly reader: Reader) {}

  /** Payouts by their first call, and cashouts by their request: `from` included, `to` not. */
  async sent(acquirer: string, accountId: string, from: Date, to: Date): Promise<BookedPayout[]> {
    const rows = await this.reader.query<Row>(SENT, [
      ...[acquirer, accountId, from, to, idBound(from, 'min'), idBound(to, 'max')],
    ]);
    return rows.map(named);
  }

  /** Payouts and cashouts by either id; ids that we did not make are ignored. */
  async known(
    acquirer: string,
    sendIds: readonly string[],
    endToEndIds: readonly string[] = [],
  ): Promise<BookedPayout[]> {
    const ids = sendIds.flatMap((sendId) => payoutIdOf(sendId) ?? []);
    if (ids.length === 0 && endToEndIds.length === 0) return [];
    return (await this.reader.query<Row>(KNOWN, [acquirer, ids, endToEndIds])).map(named);
  }

  /** The account's live payouts and cashouts that have no end yet. */
  async underWay(accountId: string): Promise<BookedPayout[]> {
    return (await this.reader.query<Row>(UNDER_WAY, [accountId])).map(named);
  }

  /** The booked losses of an account by the bank's ids; negative: money that came back. */
  async entered(accountId: string, references: readonly string[]): Promise<Map<string, Amount>> {
    const rows = await this.reader.query<{ reference: string; amount: Amount }>(ENTERED, [accountId, references]);
    return new Map(rows.map(({ reference, amount }) => [reference, amount]));
  }

  async held(accountId: string): Promise<Held> {
    const [row] = await this.reader.query<Held>(HELD, [accountId]);
    if (!row) throw new Error('A query of sums gave no row');
    return row;
  }

  /** Sums the sends that the acquirer charges for: `from` included, `to` not. */
  async charged(acquirer: string, accountId: string, from: Date, to: Date): Promise<ChargedPayouts> {
    const [row] = await this.reader.query<ChargedPayouts>(CHARGED, [acquirer, accountId, from, to]);
    if (!row) throw new Error('A query of sums gave no row');
    return row;
  }
}

function named(row: Row): BookedPayout {
  return { ...row, sendId: sendIdOf(row.id) };
}
