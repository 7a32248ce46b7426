import { Injectable } from '@nestjs/common';
import { read, Reader, type ReadStatement, valuesOfFields } from '../../core/database/index.js';
import { idBound } from '../../core/ids.js';
import type { Scope } from '../../core/mode.js';
import type { TransactionStatus } from '../transactions.machine.js';
import { type Grain, type Piece, whole } from './span.js';

export type SortOrder = 'asc' | 'desc';

/**
 * Parameters: $1, $2 scope; $3 status or null; $4 rows to skip. Grain, from and to of months, days and hours are $5 to
 * $7. Start, first id and end id of the rest pieces are $8 to $10.
 */
const locate = (order: SortOrder): ReadStatement =>
  read(
    `transaction_figures.locate_${order}`,
    `WITH pieces AS (
       SELECT * FROM unnest($5::text[], $6::timestamptz[], $7::timestamptz[]) AS p (grain, since, until)
     ), parts AS (
       SELECT grain, bucket, sum(n)::bigint AS count FROM (
         -- OFFSET 0: piece by piece by the index, never all figures of the account to be joined with the pieces.
         SELECT p.grain, f.bucket, f.key AS status, f.count AS n FROM pieces p, LATERAL (
           SELECT bucket, key, count FROM transaction_figures WHERE account_id = $1 AND mode = $2 AND kind = p.grain
             AND bucket >= p.since AND bucket < p.until OFFSET 0) f
         UNION ALL
         SELECT p.grain, date_trunc(p.grain, c.created_at, 'America/Sao_Paulo'), v.status, v.n
         FROM transaction_changes c JOIN pieces p ON c.created_at >= p.since AND c.created_at < p.until,
           LATERAL (VALUES (c.to_status, 1), (c.from_status, -1)) AS v (status, n)
         WHERE c.account_id = $1 AND c.mode = $2 AND v.status IS NOT NULL
       ) counted WHERE $3::text IS NULL OR status = $3 GROUP BY 1, 2
       UNION ALL
       SELECT 'rest', r.since, (SELECT count(*) FROM transactions t WHERE t.account_id = $1 AND t.mode = $2
         AND t.id >= r.from_id AND t.id < r.to_id AND ($3::text IS NULL OR t.status = $3))
       FROM unnest($8::timestamptz[], $9::uuid[], $10::uuid[]) AS r (since, from_id, to_id)
     ), running AS (
       SELECT grain, bucket, count, sum(count) OVER (ORDER BY bucket ${order} ROWS UNBOUNDED PRECEDING) AS upto FROM parts
     )
     SELECT (SELECT sum(count)::bigint FROM parts) AS total, p.grain, p.bucket, p.before
     FROM (SELECT 1) AS one LEFT JOIN LATERAL (
       SELECT grain, bucket, (upto - count)::bigint AS before FROM running WHERE upto > $4::bigint ORDER BY upto LIMIT 1
     ) AS p ON true`,
  );
const LOCATE: Readonly<Record<SortOrder, ReadStatement>> = { asc: locate('asc'), desc: locate('desc') };

/** The piece that has the wanted row, or one of its months, days or hours. `before` counts the rows that precede it. */
export interface Part extends Piece {
  readonly before: number;
}

/** Counts of transactions, by which a page of a list is found at a cost that does not grow with its number. */
@Injectable()
export class TransactionPlaces {
  constructor(private readonly reader: Reader) {}

  /**
   * Counts the transactions in these pieces of time, and finds the piece with the row that follows `offset` others.
   * Reads in one statement, so a change is seen either folded or waiting, and counts once.
   */
  async locate(
    scope: Scope,
    status: TransactionStatus | null,
    pieces: readonly Piece[],
    order: SortOrder,
    offset: number,
  ): Promise<{ total: number; part: Part | null }> {
    const counted = pieces.filter(({ grain }) => grain !== 'rest');
    const rests = pieces.filter(({ grain }) => grain === 'rest');
    const [row] = await this.reader.query<{
      total: number | null;
      grain: Grain | null;
      bucket: Date | null;
      before: number | null;
    }>(LOCATE[order], [
      ...[scope.accountId, scope.mode, status, offset],
      ...valuesOfFields(counted, 'grain', 'from', 'to'),
      ...[rests.map(({ from }) => from), rests.map(({ from }) => idBound(from, 'min'))],
      rests.map(({ to }) => idBound(to, 'min')),
    ]);
    const total = row?.total ?? 0;
    if (!row?.grain || !row.bucket || row.before === null) return { total, part: null };
    const { grain, bucket: from, before } = row;
    const to =
      grain === 'rest' ? rests.find((rest) => rest.from.getTime() === from.getTime())?.to : whole(grain, from).to;
    return { total, part: { grain, from, to: to ?? from, before } };
  }
}
