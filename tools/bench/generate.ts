import { createHash } from 'node:crypto';
import type { ClientBase } from 'pg';
import { encodeBrCode } from '../../src/brazil/index.js';

export interface Generation {
  /** An account in test mode without payments. */
  readonly accountId: string;
  readonly count: number;
  /** Payments are created in even steps from `from` to `to`. */
  readonly from: Date;
  readonly to: Date;
}

const BATCH = 50_000;

/** Fees of an account with 99 basis points. */
const FEE = 'round(amount * 0.0099)::bigint';

/**
 * Draws the outcome of payments $5 to $6 (exclusive) of $2 in all. Seven in ten are paid, some of them refunded; the
 * rest ends unpaid. If there is no time left to pay, the payment waits. An id contains the time of creation.
 */
const MAKE = `
  CREATE TEMPORARY TABLE made ON COMMIT DROP AS
  WITH drawn AS MATERIALIZED (
    SELECT number, random() AS fate, random() AS wait, random() AS back, random() AS who,
      (1 + floor(random() * random() * 50000))::bigint AS amount, replace(gen_random_uuid()::text, '-', '') AS noise,
      date_trunc('milliseconds', $3::timestamptz + ($4::timestamptz - $3) * (number::float8 / $2)) AS created_at
    FROM generate_series($5::integer, $6::integer - 1) AS number
  ), timed AS (
    SELECT *, created_at + interval '1 hour' AS expires_at,
      date_trunc('milliseconds', created_at + interval '1 second' * least(3500, 4 - 200 * ln(1 - wait))) AS ends_at
    FROM drawn
  )
  SELECT pg_temp.id_at(created_at, noise) AS id, pg_temp.id_at(ends_at, reverse(noise)) AS refund_id,
    'E00000000' || to_char(ends_at AT TIME ZONE 'UTC', 'YYYYMMDDHH24MI') || right(noise, 11) AS end_to_end_id,
    md5(noise) AS txid, noise, created_at, ends_at, amount, ${FEE} AS fee,
    CASE WHEN ends_at > $4 OR (fate >= 0.72 AND expires_at > $4) THEN 'WAITING_PAYMENT' WHEN fate < 0.7 THEN 'PAID'
      WHEN fate < 0.72 THEN 'REFUNDED' WHEN fate < 0.92 THEN 'EXPIRED' WHEN fate < 0.97 THEN 'CANCELLED'
      ELSE 'REFUSED' END AS status,
    CASE WHEN ends_at > $4 THEN 0 WHEN fate < 0.68 THEN 0 WHEN fate < 0.7 THEN amount / 2 WHEN fate < 0.72 THEN amount
      ELSE 0 END AS refunded,
    CASE WHEN expires_at > $4 THEN $4::timestamptz + interval '1 day' ELSE expires_at END AS expires_at,
    CASE WHEN back < 0.9 THEN ARRAY['PIX'] ELSE ARRAY['PIX', 'CREDIT_CARD'] END AS methods,
    (ARRAY['52998224725', '11144477735', '39053344705', NULL])[1 + floor(who * 4)::integer] AS document,
    'Cliente ' || floor(who * 5000) AS name
  FROM timed`;

/** $1 account, $2 BR Code. */
const TRANSACTIONS = `
  INSERT INTO transactions (id, account_id, mode, status, amount, currency, payment_methods, paid_with, customer_name,
    customer_document, metadata, acquirer, txid, br_code, expires_at, end_to_end_id, provider_fee, platform_fee,
    net_amount, paid_at, failure, created_at, updated_at, refunds_amount)
  SELECT id, $1, 'test', status, amount, 'BRL', methods, CASE WHEN paid THEN 'PIX' END, name, document,
    jsonb_build_object('order_id', txid), 'sandbox', txid, $2, expires_at, CASE WHEN paid THEN end_to_end_id END,
    CASE WHEN paid THEN 0 END, CASE WHEN paid THEN fee END, CASE WHEN paid THEN amount - fee END,
    CASE WHEN paid THEN ends_at END,
    CASE WHEN NOT paid AND status <> 'WAITING_PAYMENT' THEN jsonb_build_object('reason', 'The charge ended without payment.',
      'providerErrorCode', lower(status), 'at', to_char(ends_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) END,
    created_at, CASE status WHEN 'WAITING_PAYMENT' THEN created_at ELSE ends_at END, refunded
  FROM (SELECT *, status IN ('PAID', 'REFUNDED') AS paid FROM made) m ORDER BY id`;

/** The last event of each payment, delivered long ago. */
const EVENTS = `
  INSERT INTO events (id, account_id, mode, sequence, type, subject_id, data, occurred_at, status, next_attempt_at)
  SELECT pg_temp.id_at(t.updated_at, md5('event' || noise)), t.account_id, t.mode, 1, 'transaction.' || CASE t.status WHEN 'WAITING_PAYMENT' THEN 'created'
      ELSE lower(t.status) END, t.id,
    jsonb_build_object('previousStatus', CASE t.status WHEN 'WAITING_PAYMENT' THEN NULL WHEN 'REFUNDED' THEN 'PAID'
      ELSE 'WAITING_PAYMENT' END, 'transaction', jsonb_build_object('id', t.id, 'accountId', t.account_id, 'mode', t.mode,
      'status', t.status, 'amount', t.amount, 'currency', t.currency, 'paymentMethods', t.payment_methods,
      'paidWith', t.paid_with, 'customerName', t.customer_name, 'customerDocument', t.customer_document,
      'metadata', t.metadata, 'txid', t.txid, 'endToEndId', t.end_to_end_id, 'netAmount', t.net_amount,
      'paidAt', t.paid_at, 'createdAt', t.created_at)), t.updated_at, 'done', t.updated_at
  FROM made m JOIN transactions t ON t.id = m.id`;

const SETTLEMENTS = `
  INSERT INTO settlements (id, account_id, mode, transaction_id, acquirer, end_to_end_id, txid, amount, outcome,
    settled_at, created_at, namespace)
  SELECT pg_temp.id_at(ends_at, md5('settlement' || noise)), $1, 'test', id, 'sandbox', end_to_end_id, txid, amount, 'credited', ends_at, ends_at, $1
  FROM made WHERE status IN ('PAID', 'REFUNDED')`;

const REFUNDS = `
  INSERT INTO refunds (id, account_id, mode, transaction_id, acquirer, payment_reference, way, amount, fee, currency,
    status, bank_reference, created_at, updated_at)
  SELECT refund_id, $1, 'test', id, 'sandbox', end_to_end_id, 'devolution', refunded, 0, 'BRL', 'REFUNDED',
    'D' || substr(end_to_end_id, 2), ends_at, ends_at
  FROM made WHERE refunded > 0`;
const REFUND_EVENTS = `
  INSERT INTO events (id, account_id, mode, sequence, type, subject_id, data, occurred_at, status, next_attempt_at)
  SELECT pg_temp.id_at(ends_at, md5(type || noise)), $1, 'test', number, 'refund.' || type, id, jsonb_build_object('refund', jsonb_build_object('id',
    refund_id, 'amount', refunded)), ends_at, 'done', ends_at
  FROM made, (VALUES (2, 'sent'), (3, 'returned')) AS e (number, type) WHERE refunded > 0`;
const SANDBOX = `
  WITH pix AS (
    INSERT INTO sandbox_pix (holder_id, end_to_end_id, txid, amount, payer_sealed, settled_at)
    SELECT $1, end_to_end_id, txid, amount, '', ends_at FROM made WHERE refunded > 0)
  INSERT INTO sandbox_returns (holder_id, end_to_end_id, return_id, amount, requested_at, bank_reference)
  SELECT $1, end_to_end_id, replace(refund_id::text, '-', ''), refunded, ends_at, 'D' || substr(end_to_end_id, 2)
  FROM made WHERE refunded > 0`;

const POSTED = `
  CREATE TEMPORARY TABLE posted ON COMMIT DROP AS
  SELECT pg_temp.id_at(ends_at, md5(cause)) AS entry_id, cause, type, id AS transaction_id, lines, b.entries + row_number() OVER (ORDER BY ends_at, n) AS number,
    greatest(b.updated_at, ends_at) AS created_at
  FROM (
    SELECT 1 AS n, 'charge.paid:' || id AS cause, 'sale' AS type, id, ends_at,
      jsonb_build_object('clearing', -amount, 'available', amount - fee, 'platform_fees', fee) AS lines
    FROM made WHERE status IN ('PAID', 'REFUNDED')
    UNION ALL SELECT 2, 'refund.reserved:' || refund_id, 'refund', id, ends_at,
      jsonb_build_object('available', -refunded, 'reserved', refunded) FROM made WHERE refunded > 0
    UNION ALL SELECT 3, 'refund.paid:' || refund_id, 'refund', id, ends_at,
      jsonb_build_object('reserved', -refunded, 'clearing', refunded) FROM made WHERE refunded > 0
  ) p, LATERAL (
    SELECT coalesce(max(entries), 0) AS entries, max(updated_at) AS updated_at FROM balances
    WHERE account_id = $1 AND mode = 'test' AND currency = 'BRL' AND bucket = 'available') b`;
const ENTRIES = `
  WITH entries AS (
    INSERT INTO journal_entries (id, account_id, mode, currency, cause, type, transaction_id, number, created_at)
    SELECT entry_id, $1, 'test', 'BRL', cause, type, transaction_id, number, created_at FROM posted
  ), lines AS (
    INSERT INTO journal_lines (entry_id, line, account_id, mode, currency, bucket, amount, number, created_at, balance_after)
    SELECT entry_id, row_number() OVER (PARTITION BY entry_id), $1, 'test', 'BRL', l.bucket, l.amount, number, created_at,
      coalesce(b.amount, 0) + sum(l.amount) OVER (PARTITION BY l.bucket ORDER BY number)
    FROM posted CROSS JOIN LATERAL (SELECT key AS bucket, value::bigint AS amount FROM jsonb_each_text(lines)) l
    LEFT JOIN balances b ON (b.account_id, b.mode, b.currency, b.bucket) = ($1, 'test', 'BRL', l.bucket)
    WHERE l.amount <> 0
    RETURNING bucket, amount, created_at
  )
  INSERT INTO balances AS b (account_id, mode, currency, bucket, amount, entries, updated_at)
  SELECT $1, 'test', 'BRL', bucket, sum(amount), CASE bucket WHEN 'available' THEN (SELECT count(*) FROM posted) ELSE 0 END,
    max(created_at) FROM lines GROUP BY bucket
  ON CONFLICT (account_id, mode, currency, bucket) DO UPDATE SET amount = b.amount + excluded.amount,
    entries = b.entries + excluded.entries, updated_at = greatest(b.updated_at, excluded.updated_at)`;

const ID_AT = `
  CREATE OR REPLACE FUNCTION pg_temp.id_at(at timestamptz, noise text) RETURNS uuid LANGUAGE sql AS $$
    SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || substr(noise, 1, 3) || 'a' ||
      substr(noise, 4, 15))::uuid
  $$`;

/**
 * Writes payments as if they had been made, paid and refunded in the past: transactions with settlements, journal,
 * balances, refunds and events. Triggers and the folding worker produce the figures.
 * @param progress called with the number of written payments
 */
export async function generate(
  client: ClientBase,
  { accountId, count, from, to }: Generation,
  progress: (written: number) => void = () => undefined,
): Promise<void> {
  const brCode = encodeBrCode({
    kind: 'dynamic',
    location: `pay.example.com/pix/${createHash('md5').update(accountId).digest('hex')}`,
    merchantName: 'Padaria',
    merchantCity: 'SAO PAULO',
  });
  await client.query(ID_AT);
  for (let first = 0; first < count; first += BATCH) {
    const end = Math.min(count, first + BATCH);
    await client.query('BEGIN');
    // CREATE TABLE AS takes no parameters.
    const values = [count, from.toISOString(), to.toISOString(), first, end].map(String);
    await client.query(
      MAKE.replaceAll(/\$([2-6])/g, (_, n: string) => client.escapeLiteral(values[Number(n) - 2] ?? '')),
    );
    await client.query(TRANSACTIONS, [accountId, brCode]);
    await client.query(EVENTS);
    for (const sql of [SETTLEMENTS, REFUNDS, REFUND_EVENTS, SANDBOX]) await client.query(sql, [accountId]);
    await client.query(POSTED.replaceAll('$1', client.escapeLiteral(accountId)));
    await client.query(ENTRIES, [accountId]);
    await client.query('COMMIT');
    progress(end);
  }
}
