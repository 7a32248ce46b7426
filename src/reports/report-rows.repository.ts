import { Injectable } from '@nestjs/common';
import { Reader, type ReadStatement, read } from '../core/database/index.js';
import { idBound } from '../core/ids.js';
import type { Amount } from '../core/money/index.js';
import type { PayoutStatus, ShownTarget } from '../payouts/index.js';
import type { Metadata } from '../transactions/index.js';
import { type Bucket, type StatementEntryType, MERCHANT_BUCKETS, type WalletEntry } from '../wallets/index.js';
import { type ReportOrder, SALE_BASES, type SaleFilters } from './report.entity.js';

export interface StatementRow extends WalletEntry {
  readonly endToEndId: string | null;
  readonly metadata: Metadata | null;
}

export interface SaleRow {
  readonly id: string;
  readonly status: string;
  readonly method: string | null;
  readonly currency: string;
  readonly amount: Amount;
  readonly providerFee: Amount | null;
  readonly platformFee: Amount | null;
  readonly netAmount: Amount | null;
  readonly refunded: Amount;
  readonly disputed: Amount;
  readonly endToEndId: string | null;
  readonly txid: string | null;
  readonly customerName: string | null;
  readonly customerDocument: string | null;
  readonly customerEmail: string | null;
  readonly metadata: Metadata;
  readonly createdAt: Date;
  /** Null for an unpaid sale. */
  readonly paidAt: Date | null;
}

export interface RefundRow {
  readonly id: string;
  readonly transactionId: string;
  readonly status: string;
  readonly currency: string;
  readonly amount: Amount;
  readonly fee: Amount;
  readonly way: string | null;
  readonly reason: string | null;
  readonly failureReason: string | null;
  readonly bankReference: string | null;
  readonly metadata: Metadata;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface DisputeRow {
  readonly id: string;
  readonly transactionId: string;
  readonly type: string;
  readonly status: string;
  readonly moneyOutcome: string | null;
  readonly currency: string;
  readonly amount: Amount;
  readonly held: Amount;
  readonly lost: Amount;
  readonly reason: string | null;
  readonly paymentReference: string;
  readonly metadata: Metadata;
  readonly responseDeadline: Date | null;
  readonly createdAt: Date;
  readonly closedAt: Date | null;
}

export interface PayoutRow {
  readonly id: string;
  readonly status: PayoutStatus;
  readonly currency: string;
  readonly amount: Amount;
  readonly fee: Amount;
  readonly amountReturned: Amount;
  readonly destinationId: string | null;
  readonly shown: ShownTarget;
  /** Null: not paid. */
  readonly endToEndId: string | null;
  readonly failure: string | null;
  readonly description: string | null;
  /** With the description, as in answers. */
  readonly metadata: Metadata;
  readonly createdAt: Date;
  readonly paidAt: Date | null;
}

/** An entry of the merchant's books with all of its lines, including the service's side. */
export interface EntryRow {
  readonly id: string;
  readonly type: StatementEntryType;
  readonly cause: string;
  readonly currency: string;
  readonly createdAt: Date;
  readonly lines: Readonly<Partial<Record<Bucket, Amount>>>;
}

/** Part of a wallet's statement: each bucket is an account of its own. */
export interface StatementPart {
  readonly currency: string;
  readonly bucket: (typeof MERCHANT_BUCKETS)[number];
}

/** SQL for the rows of a report and for their number. */
interface Source {
  readonly rows: ReadStatement;
  readonly count: ReadStatement;
}

interface Parts {
  readonly columns: string;
  readonly table: string;
  /** Joins for displayed columns; the number of rows does not depend on them. */
  readonly joins?: string;
  readonly where: string;
  readonly order: string;
}

function source(name: string, { columns, table, joins = '', where, order }: Parts): Source {
  return {
    rows: read(`reports.${name}`, `SELECT ${columns} FROM ${table} ${joins} WHERE ${where} ORDER BY ${order}`, true),
    count: read(`reports.${name}_count`, `SELECT count(*) AS rows FROM ${table} WHERE ${where}`, true),
  };
}

const BUCKETS = `'${MERCHANT_BUCKETS.join(`', '`)}'`;
const PAYOUT_METADATA = `CASE WHEN p.description IS NULL THEN p.metadata
     ELSE p.metadata || jsonb_build_object('description', p.description) END`;
const PAYOUT_END_TO_END_ID = 'CASE WHEN p.paid_at IS NOT NULL THEN p.end_to_end_id END';
/** A value of the payout that caused an entry, else of the sale. Looked up by row: few lines are of payouts. */
const ofCause = (ofPayout: string, ofSale: string): string =>
  `CASE WHEN e.cause LIKE 'payout.%'
     THEN (SELECT ${ofPayout} FROM payouts p WHERE p.id = split_part(e.cause, ':', 2)::uuid) ELSE ${ofSale} END`;
/** $1, $2 scope; $3 currency; $4, $5 the window, both included; $6 bucket. */
const STATEMENT = source('statement', {
  columns: `l.entry_id AS "entryId", l.line, e.type, e.cause, e.transaction_id AS "transactionId", l.currency, l.bucket, l.amount,
     l.balance_after AS balance, l.created_at AS "createdAt", ${ofCause(PAYOUT_END_TO_END_ID, 't.end_to_end_id')} AS "endToEndId",
     ${ofCause(`(${PAYOUT_METADATA})::json`, 't.metadata')} AS metadata`,
  table: 'journal_lines l',
  joins: 'JOIN journal_entries e ON e.id = l.entry_id LEFT JOIN transactions t ON t.id = e.transaction_id',
  where: `l.account_id = $1 AND l.mode = $2 AND l.currency = $3 AND l.created_at BETWEEN $4 AND $5
     AND l.bucket = $6 AND l.bucket IN (${BUCKETS})`,
  order: 'l.created_at, l.number, l.line',
});

/**
 * Finds entry numbers through the lines, which are indexed by time: before the first entry of the window, and after the
 * last one.
 */
const edge = (comparison: string, order: string): string =>
  `SELECT x.number FROM unnest(ARRAY[${BUCKETS}]) b CROSS JOIN LATERAL (
     SELECT l.number FROM journal_lines l WHERE l.account_id = $1 AND l.mode = $2 AND l.currency = $3 AND l.bucket = b
       AND l.bucket IN (${BUCKETS}) AND l.created_at ${comparison} ORDER BY l.created_at ${order}, l.number ${order} LIMIT 1) x`;
const JOURNAL = source('journal', {
  columns: `e.id, e.type, e.cause, e.currency, e.created_at AS "createdAt",
     (SELECT json_object_agg(l.bucket, l.amount) FROM journal_lines l WHERE l.entry_id = e.id) AS lines`,
  table: 'journal_entries e',
  // Excludes entries of the platform alone: a Pix that is no payment, a fee or a correction that the merchant does not
  // bear.
  where: `e.account_id = $1 AND e.mode = $2 AND e.currency = $3 AND e.created_at BETWEEN $4 AND $5
     AND e.type NOT IN ('suspense', 'provider_fee') AND (e.type <> 'correction'
       OR EXISTS (SELECT FROM journal_lines l WHERE l.entry_id = e.id AND l.bucket IN (${BUCKETS})))
     AND e.number > coalesce((SELECT max(number) FROM (${edge('< $4', 'DESC')}) f), 0)
     AND e.number < coalesce((SELECT min(number) FROM (${edge('> $5', 'ASC')}) t), 9223372036854775807)`,
  order: 'e.number',
});

/** The search uses exactly the expression of the index `transactions_search_idx`. */
const IS_FOUND = `transaction_terms(t.account_id, t.mode, t.id, t.txid, t.end_to_end_id, t.customer_email, t.customer_document,
  t.customer_name, t.metadata::jsonb) @@ transaction_search($1, $2, $6, '{}', '{}')`;

/**
 * Sorted by the time of payment, or by id, which follows the time of creation. Each combination has its own query;
 * otherwise the planner could not choose an index. $3, $4 the window; $5 status; $6 the search text.
 */
const sales = (basis: SaleFilters['basis'], byStatus: boolean, bySearch: boolean): Source =>
  source(`sales_${basis}${byStatus ? '_status' : ''}${bySearch ? '_search' : ''}`, {
    columns: `t.id, t.status, t.paid_with AS method, t.currency, t.amount, t.provider_fee AS "providerFee",
     t.platform_fee AS "platformFee", t.net_amount AS "netAmount", t.refunds_amount AS refunded,
     t.disputed_amount AS disputed, t.end_to_end_id AS "endToEndId", t.txid, t.customer_name AS "customerName",
     t.customer_document AS "customerDocument", t.customer_email AS "customerEmail", t.metadata,
     t.created_at AS "createdAt", t.paid_at AS "paidAt"`,
    table: 'transactions t',
    where: `t.account_id = $1 AND t.mode = $2 AND t.${basis === 'paid' ? 'paid_at' : 'id'} BETWEEN $3 AND $4
      AND ${byStatus ? 't.status = $5' : '$5::text IS NULL'}
      AND ${bySearch ? IS_FOUND : '$6::text IS NULL'}`,
    order: basis === 'paid' ? 't.paid_at, t.id' : 't.id',
  });
const EITHER = [false, true];
const SALES = new Map(
  SALE_BASES.flatMap((basis) =>
    EITHER.flatMap((byStatus) =>
      EITHER.map((bySearch) => [[basis, byStatus, bySearch].join(), sales(basis, byStatus, bySearch)] as const),
    ),
  ),
);
const REFUNDS = source('refunds', {
  columns: `r.id, r.transaction_id AS "transactionId", r.status, r.currency, r.amount, r.fee, r.way, r.reason,
     r.failure_reason AS "failureReason", r.bank_reference AS "bankReference", t.metadata, r.created_at AS "createdAt",
     r.updated_at AS "updatedAt"`,
  table: 'refunds r',
  joins: 'JOIN transactions t ON t.id = r.transaction_id',
  where: 'r.account_id = $1 AND r.mode = $2 AND r.id BETWEEN $3 AND $4',
  order: 'r.id',
});
const DISPUTES = source('disputes', {
  columns: `c.id, c.transaction_id AS "transactionId", c.type, c.status, c.money_outcome AS "moneyOutcome", c.currency, c.amount,
     c.held_amount AS held, c.lost_amount AS lost, c.reason, c.payment_reference AS "paymentReference", t.metadata,
     c.response_deadline AS "responseDeadline", c.created_at AS "createdAt", c.closed_at AS "closedAt"`,
  table: 'med_cases c',
  joins: 'JOIN transactions t ON t.id = c.transaction_id',
  where: 'c.account_id = $1 AND c.mode = $2 AND c.visible AND c.created_at BETWEEN $3 AND $4',
  order: 'c.created_at, c.id',
});

const PAYOUTS = source('payouts', {
  columns: `p.id, p.status, p.currency, p.amount, p.fee, p.amount_returned AS "amountReturned",
     p.destination_id AS "destinationId", p.shown, ${PAYOUT_END_TO_END_ID} AS "endToEndId", p.failure, p.description,
     ${PAYOUT_METADATA} AS metadata, p.created_at AS "createdAt", p.paid_at AS "paidAt"`,
  table: 'payouts p',
  where: 'p.account_id = $1 AND p.mode = $2 AND p.id BETWEEN $3 AND $4',
  order: 'p.id',
});

const PARTS = read(
  'reports.parts',
  `SELECT currency, bucket FROM balances WHERE account_id = $1 AND mode = $2 AND bucket IN (${BUCKETS})
   ORDER BY currency, array_position(ARRAY[${BUCKETS}], bucket)`,
);

/**
 * All SQL for report rows, from any table. Rows are read in the order of an index, so any number of them can be
 * streamed.
 */
@Injectable()
export class ReportRowsRepository {
  constructor(private readonly reader: Reader) {}

  /** Parts of the statement for every wallet of the account; each wallet has `available`. */
  async parts({ accountId, mode }: ReportOrder): Promise<StatementPart[]> {
    return this.reader.query<StatementPart & Record<string, unknown>>(PARTS, [accountId, mode]);
  }

  /** Lines part by part, each part in the order of its commits. */
  statement(order: ReportOrder, parts: readonly StatementPart[]): Rows<StatementRow> {
    return this.#rows(
      STATEMENT,
      parts.map(({ currency, bucket }) => [...walletOf(order, currency), bucket]),
    );
  }

  /** Entries wallet by wallet, each wallet in the order of its commits. */
  journal(order: ReportOrder, currencies: readonly string[]): Rows<EntryRow> {
    return this.#rows(
      JOURNAL,
      currencies.map((currency) => walletOf(order, currency)),
    );
  }

  /** Sales in the order of their payment or creation. */
  sales({ accountId, mode, from, to, filters }: ReportOrder): Rows<SaleRow> {
    const { basis, status, query } = filters ?? { basis: 'paid', status: null, query: null };
    const wanted = SALES.get([basis, status !== null, query !== null].join());
    if (!wanted) throw new Error('There is a statement for each combination of filters');
    const window = basis === 'paid' ? [from, to] : [idBound(from, 'min'), idBound(to, 'max')];
    return this.#rows(wanted, [[accountId, mode, ...window, status, query]]);
  }

  /** Refunds in the order of their creation, like `disputes` and `payouts`. */
  refunds({ accountId, mode, from, to }: ReportOrder): Rows<RefundRow> {
    return this.#rows(REFUNDS, [[accountId, mode, idBound(from, 'min'), idBound(to, 'max')]]);
  }

  disputes({ accountId, mode, from, to }: ReportOrder): Rows<DisputeRow> {
    return this.#rows(DISPUTES, [[accountId, mode, from, to]]);
  }

  payouts({ accountId, mode, from, to }: ReportOrder): Rows<PayoutRow> {
    return this.#rows(PAYOUTS, [[accountId, mode, idBound(from, 'min'), idBound(to, 'max')]]);
  }

  #rows<R>({ rows, count }: Source, lists: readonly (readonly unknown[])[]): Rows<R> {
    return {
      batches: () => this.reader.stream<R & Record<string, unknown>>(rows, lists),
      count: async () => {
        let total = 0;
        for (const values of lists) {
          const [row] = await this.reader.query<{ rows: number }>(count, values);
          total += row?.rows ?? 0;
        }
        return total;
      },
    };
  }
}

/** Rows of one snapshot, read in batches, and their number, counted a moment before or after. */
export interface Rows<R> {
  batches(): AsyncIterable<R[]>;
  count(): Promise<number>;
}

function walletOf({ accountId, mode, from, to }: ReportOrder, currency: string): unknown[] {
  return [accountId, mode, currency, from, to];
}
