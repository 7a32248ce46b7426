import { Injectable } from '@nestjs/common';
import { read, Reader, type Tx, valuesOfFields, write } from '../../core/database/index.js';
import { idBound } from '../../core/ids.js';
import type { Mode, Scope } from '../../core/mode.js';
import type { Amount } from '../../core/money/index.js';
import { LowWaterMark, type Margins } from '../../core/queue/index.js';
import { piecesOf, type Span } from './span.js';
import { OPEN } from '../transactions.repository.js';
import type { FigureKind } from './transaction-figure.entity.js';

/** Payments and refunds of one currency in a period. */
export interface PeriodSums extends Span {
  /** Payments received in the period. */
  readonly count: number;
  readonly amount: Amount;
  /** Payments created in the period, and how many of them were ever paid. */
  readonly created: number;
  readonly createdPaid: number;
  /** Refunds requested in the period, without failed ones. */
  readonly refundCount: number;
  readonly refunded: Amount;
}

export interface Figure {
  readonly kind: FigureKind;
  /** A day of São Paulo, `YYYY-MM-DD`; null for the whole window. */
  readonly day: string | null;
  readonly currency: string;
  /**
   * A status, a method, or the lower bound of a class of waits in seconds. Empty for the figures of a day over all
   * keys.
   */
  readonly key: string;
  readonly count: number;
  readonly amount: number;
}

export interface FigureDifference extends Omit<Figure, 'day'> {
  readonly accountId: string;
  readonly mode: Mode;
  readonly bucket: Date;
  /** Count by the transactions themselves; `count` and `amount` are the stored figures. */
  readonly actualCount: number;
  readonly actualAmount: number;
}

/**
 * Lower bounds of the classes of waiting times, in seconds: every second up to 20, then each about ten per cent higher.
 */
const WAITS = [0];
for (let step = 1; step < 40 * 86_400; step = Math.max(step + 1, Math.floor(step * 1.1))) WAITS.push(step);
const WAIT_STEPS = `'{${WAITS.join(',')}}'::integer[]`;

/**
 * Expands a row `c` of `transaction_changes` to the figures that it adds, as rows `f`. OFFSET 0 makes PostgreSQL
 * compute the shared terms once for each change instead of once for each row.
 */
const ADDS = `LATERAL (
    SELECT date_trunc('month', c.created_at, 'America/Sao_Paulo') AS month,
      date_trunc('day', c.created_at, 'America/Sao_Paulo') AS day,
      date_trunc('hour', c.created_at, 'America/Sao_Paulo') AS hour,
      date_trunc('day', c.paid_at, 'America/Sao_Paulo') AS paid_day,
      CASE WHEN c.paid_at IS NOT NULL THEN greatest(0, floor(extract(epoch FROM c.paid_at - c.created_at)))::integer
        END AS seconds OFFSET 0
  ) b, LATERAL (SELECT (${WAIT_STEPS})[width_bucket(b.seconds, ${WAIT_STEPS})]::text AS wait OFFSET 0) w, LATERAL (
    SELECT * FROM (VALUES
      ('month', b.month, c.to_status, 1, 0), ('month', b.month, c.from_status, -1, 0),
      ('day', b.day, c.to_status, 1, c.amount), ('day', b.day, c.from_status, -1, -c.amount),
      ('hour', b.hour, c.to_status, 1, 0), ('hour', b.hour, c.from_status, -1, 0),
      ('paid', b.day, CASE WHEN c.paid_at IS NOT NULL THEN c.paid_with END, 1, c.amount),
      ('settled', b.paid_day, CASE WHEN c.paid_at IS NOT NULL THEN c.paid_with END, 1, c.amount),
      ('refunded', b.day, CASE WHEN c.refund_id IS NOT NULL THEN 'all' END, 1, c.amount),
      ('wait', b.day, w.wait, 1, b.seconds), ('wait_month', b.month, w.wait, 1, b.seconds)
    ) v (kind, bucket, key, count, amount) WHERE key IS NOT NULL
    UNION ALL SELECT 'offered', b.day, unnest(c.payment_methods), 1, 0
  ) f`;

/** How far change numbers may be out of order: a transaction may commit after others with higher numbers. */
const NUMBERS: Margins = { least: 10_000, most: 1_000_000 };

/**
 * Folds changes into figures; each change is folded by one worker, however many run. Remembering the last number seen
 * would lose changes, because numbers commit out of order. A change has no due time, so `claimDue` does not fit.
 * Figures are upserted in sorted order, so two workers cannot deadlock.
 */
const FOLD = write(
  'transaction_figures.fold',
  `WITH taken AS (
     DELETE FROM transaction_changes WHERE number = ANY (ARRAY(
       SELECT number FROM transaction_changes WHERE number >= $2 ORDER BY number LIMIT $1 FOR UPDATE SKIP LOCKED))
     RETURNING *
   ), folded AS (
     INSERT INTO transaction_figures AS t (account_id, mode, kind, bucket, currency, key, count, amount)
     SELECT c.account_id, c.mode, f.kind, f.bucket, c.currency, f.key, sum(f.count), sum(f.amount)
     FROM taken c, ${ADDS} GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6
     ON CONFLICT (account_id, mode, kind, bucket, currency, key)
     DO UPDATE SET count = t.count + excluded.count, amount = t.amount + excluded.amount
   )
   SELECT count(*) AS taken, min(number) AS lowest, max(number) AS highest FROM taken`,
);

/**
 * Parameters: $1, $2 scope; $3 kinds; $4, $5 from and to. Outer bounds are $6, $7; $8 now; $9 currency or null. Kinds to
 * return by day too are $10. Reads in one statement, so a change is seen either folded or waiting, and counts once.
 */
const READ = read(
  'transaction_figures.read',
  `WITH wanted AS (
     SELECT * FROM unnest($3::text[], $4::timestamptz[], $5::timestamptz[]) AS w (kind, since, until)
   ), parts AS (
     -- OFFSET 0: piece by piece by the index, never all figures of the account to be joined with what is wanted.
     SELECT f.* FROM wanted w, LATERAL (
       SELECT kind, bucket, currency, key, count, amount FROM transaction_figures
       WHERE account_id = $1 AND mode = $2 AND kind = w.kind AND bucket >= w.since AND bucket < w.until OFFSET 0) f
     UNION ALL
     SELECT f.kind, f.bucket, c.currency, f.key, f.count, f.amount FROM transaction_changes c, ${ADDS}
     JOIN wanted ON f.kind = wanted.kind AND f.bucket >= since AND f.bucket < until
     WHERE c.account_id = $1 AND c.mode = $2
       AND (c.created_at >= $6 AND c.created_at < $7 OR c.paid_at >= $6 AND c.paid_at < $7)
     UNION ALL
     -- Past their expiry and not yet written as such.
     SELECT 'day', date_trunc('day', t.created_at, 'America/Sao_Paulo'), t.currency, v.key, v.n, v.n * t.amount
     FROM transactions t, LATERAL (VALUES (t.status, -1), ('EXPIRED', 1)) AS v (key, n)
     WHERE ${OPEN} AND t.expires_at <= $8 AND t.account_id = $1 AND t.mode = $2
       AND t.created_at >= $6 AND t.created_at < $7
   )
   SELECT kind, (bucket AT TIME ZONE 'America/Sao_Paulo')::date::text AS day, currency, coalesce(key, '') AS key,
     sum(count)::bigint AS count, sum(amount)::text AS amount
   FROM parts WHERE $9::text IS NULL OR currency = $9
   GROUP BY GROUPING SETS ((kind, currency, key), (kind, currency, bucket))
   HAVING grouping(bucket) = 1 OR kind = ANY ($10)
   ORDER BY kind, day, currency, key`,
);

/**
 * Sums of periods, row by row. Parameters: $1 to $3 scope and currency. Times and ids of the counted rests are
 * $4 to $7. Ids of the whole periods are $8, $9, whose refunds are counted.
 */
const SUMS = read(
  'transactions.sums',
  `SELECT s.count, s.amount::text, c.created, c.created_paid AS "createdPaid", r.count AS "refundCount",
     r.amount::text AS refunded
   FROM unnest($4::timestamptz[], $5::timestamptz[], $6::uuid[], $7::uuid[], $8::uuid[], $9::uuid[])
     WITH ORDINALITY AS p (since, until, rest_id, rest_end, from_id, to_id, number),
   LATERAL (
     SELECT count(*) AS count, coalesce(sum(amount), 0) AS amount FROM transactions t
     WHERE account_id = $1 AND mode = $2 AND currency = $3 AND paid_at >= p.since AND paid_at < p.until) s,
   LATERAL (
     SELECT count(*) AS created, count(paid_at) AS created_paid FROM transactions t
     WHERE account_id = $1 AND mode = $2 AND currency = $3 AND id >= p.rest_id AND id < p.rest_end) c,
   LATERAL (
     SELECT count(*) AS count, coalesce(sum(amount), 0) AS amount FROM refunds
     WHERE account_id = $1 AND mode = $2 AND currency = $3 AND id >= p.from_id AND id < p.to_id
       AND status <> 'FAILED') r
   ORDER BY p.number`,
);

/** The changes that the transactions and refunds of the account $1 (null: all accounts) should have recorded. */
const ACTUAL = `
  SELECT account_id, mode, created_at, currency, amount, payment_methods, NULL AS from_status, status AS to_status,
    paid_with, paid_at, NULL::uuid AS refund_id
  FROM transactions WHERE $1::uuid IS NULL OR account_id = $1
  UNION ALL
  SELECT t.account_id, t.mode, t.created_at, t.currency, r.amount, NULL, NULL, NULL, NULL, NULL, r.id
  FROM refunds r JOIN transactions t ON t.id = r.transaction_id
  WHERE r.status = 'REFUNDED' AND ($1::uuid IS NULL OR t.account_id = $1)`;

/** Compares in one snapshot, so the result is exact while the service runs. */
const DIFFERENT = `
  kept AS (
    SELECT account_id, mode, kind, bucket, currency, key, sum(count) AS count, sum(amount) AS amount FROM (
      SELECT * FROM transaction_figures WHERE $1::uuid IS NULL OR account_id = $1
      UNION ALL
      SELECT c.account_id, c.mode, f.kind, f.bucket, c.currency, f.key, f.count, f.amount
      FROM transaction_changes c, ${ADDS} WHERE $1::uuid IS NULL OR c.account_id = $1
    ) k GROUP BY 1, 2, 3, 4, 5, 6
  ), actual AS (
    SELECT c.account_id, c.mode, f.kind, f.bucket, c.currency, f.key, sum(f.count) AS count, sum(f.amount) AS amount
    FROM (${ACTUAL}) c, ${ADDS} GROUP BY 1, 2, 3, 4, 5, 6
  ), different AS (
    SELECT account_id, mode, kind, bucket, currency, key,
      coalesce(k.count, 0)::bigint AS count, coalesce(k.amount, 0) AS amount,
      coalesce(a.count, 0)::bigint AS actual_count, coalesce(a.amount, 0) AS actual_amount
    FROM kept k FULL JOIN actual a USING (account_id, mode, kind, bucket, currency, key)
    WHERE coalesce(k.count, 0) <> coalesce(a.count, 0) OR coalesce(k.amount, 0) <> coalesce(a.amount, 0)
  )`;
const DIFFERENCE = `account_id AS "accountId", mode, kind, bucket, currency, key, count, amount,
     actual_count AS "actualCount", actual_amount AS "actualAmount"`;
const DIFFERENCES = read(
  'transaction_figures.differences',
  `WITH ${DIFFERENT} SELECT ${DIFFERENCE} FROM different ORDER BY 1, 2, 3, 4, 5, 6`,
  true,
);
/**
 * Adds only the missing difference, so nothing is overwritten. `kept` contains a change whether or not it is folded
 * meanwhile.
 */
const MEND = write(
  'transaction_figures.mend',
  `WITH ${DIFFERENT}, mended AS (
     INSERT INTO transaction_figures AS t (account_id, mode, kind, bucket, currency, key, count, amount)
     SELECT account_id, mode, kind, bucket, currency, key, actual_count - count, actual_amount - amount
     FROM different ORDER BY 1, 2, 3, 4, 5, 6
     ON CONFLICT (account_id, mode, kind, bucket, currency, key)
     DO UPDATE SET count = t.count + excluded.count, amount = t.amount + excluded.amount
   )
   SELECT ${DIFFERENCE} FROM different ORDER BY 1, 2, 3, 4, 5, 6`,
  true,
);
/**
 * Locks the figures, so that two processes that mend at once do not add the same difference twice. Folding waits,
 * reading does not.
 */
const LOCK = write('transaction_figures.lock', 'LOCK TABLE transaction_figures IN SHARE ROW EXCLUSIVE MODE', true);

/** Roll-ups of transactions. Sums may pass 2^53, where the nearest double is what JSON's readers take anyway. */
@Injectable()
export class StatisticsRepository {
  /** Number up to which changes were folded. */
  readonly #folded = new LowWaterMark(NUMBERS);

  constructor(private readonly reader: Reader) {}

  /** @returns how many changes were folded into the figures */
  async fold(tx: Tx, limit: number): Promise<number> {
    const from = this.#folded.next();
    const [row] = await tx.query<{ taken: number; lowest: number | null; highest: number | null }>(FOLD, [limit, from]);
    tx.afterCommit(() => this.#folded.taken(from, row?.lowest ?? null, row?.highest ?? null));
    return row?.taken ?? 0;
  }

  /**
   * Reads figures of transactions created (for `settled`: paid) within the bounds, which are whole days of São Paulo.
   * @param daily the kinds that are returned for each day too, besides for the whole
   */
  async read(
    scope: Scope,
    bounds: Span,
    now: Date,
    want: {
      readonly kinds: readonly FigureKind[];
      readonly daily: readonly FigureKind[];
      readonly currency: string | null;
    },
  ): Promise<Figure[]> {
    // Waits have so many classes that whole months are read from the monthly figures.
    const wanted = want.kinds.flatMap((kind) =>
      kind !== 'wait'
        ? [{ kind, ...bounds }]
        : piecesOf(bounds).map(({ grain, from, to }) => ({ kind: grain === 'month' ? 'wait_month' : kind, from, to })),
    );
    const rows = await this.reader.query<Omit<Figure, 'amount'> & { amount: string }>(READ, [
      ...[scope.accountId, scope.mode],
      ...valuesOfFields(wanted, 'kind', 'from', 'to'),
      ...[bounds.from, bounds.to, now, want.currency, want.daily],
    ]);
    return rows.map(({ kind, day, currency, key, count, amount }) => ({
      ...{ kind: kind === 'wait_month' ? 'wait' : kind, day, currency, key, count },
      amount: Number(amount),
    }));
  }

  /**
   * Counts payments of the rests of periods, and refunds of the whole periods, in their order.
   * @param spans `rest`: the part that is counted row by row, which should be short
   */
  async sums(
    scope: Scope,
    currency: string,
    spans: readonly (Span & { readonly rest: Span })[],
  ): Promise<Omit<PeriodSums, keyof Span>[]> {
    const rests = spans.map(({ rest }) => rest);
    const idsOf = (times: readonly Date[]): string[] => times.map((time) => idBound(time, 'min'));
    const rows = await this.reader.query<
      Omit<PeriodSums, keyof Span | 'amount' | 'refunded'> & { amount: string; refunded: string }
    >(SUMS, [
      ...[scope.accountId, scope.mode, currency],
      ...valuesOfFields(rests, 'from', 'to'),
      ...[idsOf(rests.map(({ from }) => from)), idsOf(rests.map(({ to }) => to))],
      ...[idsOf(spans.map(({ from }) => from)), idsOf(spans.map(({ to }) => to))],
    ]);
    return rows.map((row) => ({ ...row, amount: Number(row.amount), refunded: Number(row.refunded) }));
  }

  /** Lists figures that differ from the transactions. @param accountId null: all accounts */
  async differences(tx: Tx, accountId: string | null): Promise<FigureDifference[]> {
    return (await tx.query<FigureDifference>(DIFFERENCES, [accountId])).map(withSums);
  }

  /** Corrects the figures to match the transactions, also while both change. @returns the differences it corrected */
  async mend(tx: Tx, accountId: string | null): Promise<FigureDifference[]> {
    tx.defer(LOCK, []);
    return (await tx.query<FigureDifference>(MEND, [accountId])).map(withSums);
  }
}

/** Converts the sums from text: PostgreSQL returns them so because they may have any length. */
function withSums(row: FigureDifference): FigureDifference {
  return { ...row, amount: Number(row.amount), actualAmount: Number(row.actualAmount) };
}
