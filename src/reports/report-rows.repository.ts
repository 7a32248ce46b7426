import { Injectable } from '@nestjs/common';
import { Reader, type ReadStatement, read } from '../core/database/index.js';
import { idBound } from '../core/ids.js';
import type { Amount } from '../core/money/index.js';
import { linkStatusSql } from '../payment-links/index.js';
import { payoutStatusesOf, type PayoutStatus, PUBLIC_PAYOUT_STATUSES, type ShownTarget } from '../payouts/index.js';
import { customerKey, type Metadata } from '../transactions/index.js';
import { type Bucket, type StatementEntryType, MERCHANT_BUCKETS, type WalletEntry } from '../wallets/index.js';
import { type ReportOrder, SALE_BASES, type SaleBasis } from './report.entity.js';

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

/** Sums of a customer in one currency, with their newest name and addresses. */
export interface CustomerRow {
  /** The first sale that the customer paid. */
  readonly id: string;
  readonly name: string | null;
  readonly taxId: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly currency: string;
  readonly sales: number;
  readonly paid: Amount;
  readonly refunded: Amount;
  readonly disputed: Amount;
  readonly firstPaidAt: Date;
  /** The time of the last payment. */
  readonly createdAt: Date;
  readonly metadata: null;
}

export interface PaymentLinkRow {
  readonly id: string;
  readonly status: string;
  readonly name: string;
  readonly description: string | null;
  readonly currency: string;
  readonly amount: Amount | null;
  readonly amountMin: Amount | null;
  readonly amountMax: Amount | null;
  readonly maxPayments: number | null;
  readonly paidCount: number;
  readonly paidAmount: Amount;
  readonly expiresAt: Date | null;
  readonly endedAt: Date | null;
  readonly metadata: Metadata;
  readonly createdAt: Date;
}

export interface DeliveryRow {
  readonly id: string;
  readonly eventType: string;
  readonly status: string;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly url: string;
  readonly lastStatusCode: number | null;
  readonly lastError: string | null;
  readonly deliveredAt: Date | null;
  readonly nextAttemptAt: Date | null;
  readonly createdAt: Date;
  /** A delivery has no amounts. */
  readonly currency: string;
  readonly metadata: null;
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
const OF_ENTRY = 'JOIN journal_entries e ON e.id = l.entry_id';
/** A value of the payout that caused an entry, else of the sale. Looked up by row: few lines are of payouts. */
const ofCause = (ofPayout: string, ofSale: string): string =>
  `CASE WHEN e.cause LIKE 'payout.%'
     THEN (SELECT ${ofPayout} FROM payouts p WHERE p.id = split_part(e.cause, ':', 2)::uuid) ELSE ${ofSale} END`;
/** $1, $2 scope; $3 currency; $4, $5 the window, both included; $6 bucket; $7 type. */
const statement = (byType: boolean): Source =>
  source(byType ? 'statement_type' : 'statement', {
    columns: `l.entry_id AS "entryId", l.line, e.type, e.cause, e.transaction_id AS "transactionId", l.currency, l.bucket, l.amount,
     l.balance_after AS balance, l.created_at AS "createdAt", ${ofCause(PAYOUT_END_TO_END_ID, 't.end_to_end_id')} AS "endToEndId",
     ${ofCause(`(${PAYOUT_METADATA})::json`, 't.metadata')} AS metadata`,
    // Only the type needs the entry, so that the lines alone are counted without it.
    table: `journal_lines l${byType ? ` ${OF_ENTRY}` : ''}`,
    joins: `${byType ? '' : OF_ENTRY} LEFT JOIN transactions t ON t.id = e.transaction_id`,
    where: `l.account_id = $1 AND l.mode = $2 AND l.currency = $3 AND l.created_at BETWEEN $4 AND $5
     AND l.bucket = $6 AND l.bucket IN (${BUCKETS}) AND ${byType ? 'e.type = $7' : '$7::text IS NULL'}`,
    order: 'l.created_at, l.number, l.line',
  });
const STATEMENT = statement(false);
const STATEMENT_OF_TYPE = statement(true);

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
const isFound = (query: string): string =>
  `transaction_terms(t.account_id, t.mode, t.id, t.txid, t.end_to_end_id, t.customer_email, t.customer_document,
  t.customer_name, t.metadata::jsonb) @@ transaction_search($1, $2, ${query}, '{}', '{}')`;

/**
 * Sorted by the time of payment, or by id, which follows the time of creation. Each combination has its own query;
 * otherwise the planner could not choose an index. $3, $4 the window; $5 status; $6 the search text.
 */
const sales = (basis: SaleBasis, byStatus: boolean, bySearch: boolean): Source =>
  source(`sales_${basis}${byStatus ? '_status' : ''}${bySearch ? '_search' : ''}`, {
    columns: `t.id, t.status, t.paid_with AS method, t.currency, t.amount, t.provider_fee AS "providerFee",
     t.platform_fee AS "platformFee", t.net_amount AS "netAmount", t.refunds_amount AS refunded,
     t.disputed_amount AS disputed, t.end_to_end_id AS "endToEndId", t.txid, t.customer_name AS "customerName",
     t.customer_document AS "customerDocument", t.customer_email AS "customerEmail", t.metadata,
     t.created_at AS "createdAt", t.paid_at AS "paidAt"`,
    table: 'transactions t',
    where: `t.account_id = $1 AND t.mode = $2 AND t.${basis === 'paid' ? 'paid_at' : 'id'} BETWEEN $3 AND $4
      AND ${byStatus ? 't.status = $5' : '$5::text IS NULL'}
      AND ${bySearch ? isFound('$6') : '$6::text IS NULL'}`,
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
  where: `c.account_id = $1 AND c.mode = $2 AND c.visible AND c.created_at BETWEEN $3 AND $4
    AND ($5::text IS NULL OR c.status = $5) AND ($6::text IS NULL OR c.type = $6)`,
  order: 'c.created_at, c.id',
});

const PAYOUTS = source('payouts', {
  columns: `p.id, p.status, p.currency, p.amount, p.fee, p.amount_returned AS "amountReturned",
     p.destination_id AS "destinationId", p.shown, ${PAYOUT_END_TO_END_ID} AS "endToEndId", p.failure, p.description,
     ${PAYOUT_METADATA} AS metadata, p.created_at AS "createdAt", p.paid_at AS "paidAt"`,
  table: 'payouts p',
  where: `p.account_id = $1 AND p.mode = $2 AND p.id BETWEEN $3 AND $4
    AND ($5::text[] IS NULL OR p.status = ANY ($5)) AND ($6::uuid IS NULL OR p.destination_id = $6)`,
  order: 'p.id',
});

const PAID_BY_CUSTOMER = `t.account_id = $1 AND t.mode = $2 AND t.paid_at IS NOT NULL AND ${customerKey('t')}`;
/** A sale of the customer of `g`, by the index of customers. */
const saleOf = (order: string): string =>
  `(SELECT t.* FROM transactions t WHERE ${PAID_BY_CUSTOMER} = g.key ORDER BY t.paid_at ${order}, t.id ${order} LIMIT 1)`;
/** With a search, the customers of sales that match it, of any time. */
const customers = (bySearch: boolean): Source =>
  source(bySearch ? 'customers_search' : 'customers', {
    columns: `f.id, n.customer_name AS name, coalesce(n.customer_document, n.expected_payer_tax_id) AS "taxId",
     n.customer_email AS email, n.customer_phone AS phone, g.currency, g.sales, g.paid, g.refunded, g.disputed,
     g.first_paid_at AS "firstPaidAt", g.last_paid_at AS "createdAt", NULL AS metadata`,
    table: `(SELECT ${customerKey('t')} AS key, t.currency, count(*)::int AS sales, sum(t.amount)::bigint AS paid,
       sum(t.refunds_amount)::bigint AS refunded, sum(t.disputed_amount)::bigint AS disputed,
       min(t.paid_at) AS first_paid_at, max(t.paid_at) AS last_paid_at
     FROM transactions t WHERE ${PAID_BY_CUSTOMER} ${
       bySearch
         ? `IN (SELECT ${customerKey('t')} FROM transactions t WHERE ${PAID_BY_CUSTOMER} IS NOT NULL AND ${isFound('$5')})`
         : 'IS NOT NULL AND $5::text IS NULL'
     } AND t.paid_at BETWEEN $3 AND $4
     GROUP BY ${customerKey('t')}, t.currency) g`,
    joins: `CROSS JOIN LATERAL ${saleOf('ASC')} f CROSS JOIN LATERAL ${saleOf('DESC')} n`,
    where: 'true',
    order: 'g.last_paid_at DESC, g.key, g.currency',
  });
const CUSTOMERS = customers(false);
const CUSTOMERS_FOUND = customers(true);

/** $6 the present. */
const PAYMENT_LINKS = source('payment_links', {
  columns: `l.id, ${linkStatusSql('$6')} AS status, l.name, l.description, 'BRL' AS currency, l.amount,
     l.amount_min AS "amountMin", l.amount_max AS "amountMax", l.max_payments AS "maxPayments",
     l.paid_count AS "paidCount", l.paid_amount AS "paidAmount", l.expires_at AS "expiresAt", l.ended_at AS "endedAt",
     l.metadata, l.created_at AS "createdAt"`,
  table: 'payment_links l',
  where: `l.account_id = $1 AND l.mode = $2 AND l.id BETWEEN $3 AND $4
    AND ($5::text IS NULL OR $5 = ${linkStatusSql('$6::timestamptz')})`,
  order: 'l.id',
});

const OWN_DELIVERIES = `SELECT id FROM webhook_deliveries WHERE account_id = $1 AND mode = $2 AND id BETWEEN $3 AND $4
  AND ($5::text IS NULL OR status = $5) AND ($6::uuid IS NULL OR endpoint_id = $6)`;
const DELIVERIES = source('deliveries', {
  columns: `d.id, d.event_type AS "eventType", d.status, d.attempts, d.max_attempts AS "maxAttempts", e.url,
     d.last_status_code AS "lastStatusCode", d.last_error AS "lastError", d.delivered_at AS "deliveredAt",
     d.next_attempt_at AS "nextAttemptAt", d.created_at AS "createdAt", 'BRL' AS currency, NULL AS metadata`,
  // Each half has an index of its own, which names the account.
  table: `(${OWN_DELIVERIES} AND status = 'DELIVERED' UNION ALL ${OWN_DELIVERIES} AND status <> 'DELIVERED') x`,
  joins: 'JOIN webhook_deliveries d ON d.id = x.id JOIN webhook_endpoints e ON e.id = d.endpoint_id',
  where: 'true',
  order: 'x.id',
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
    const type = order.filters?.type ?? null;
    return this.#rows(
      type === null ? STATEMENT : STATEMENT_OF_TYPE,
      parts.map(({ currency, bucket }) => [...walletOf(order, currency), bucket, type]),
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
    const { status = null, query = null } = filters ?? {};
    const basis = filters?.basis ?? 'paid';
    const wanted = SALES.get([basis, status !== null, query !== null].join());
    if (!wanted) throw new Error('There is a statement for each combination of filters');
    const window = basis === 'paid' ? [from, to] : [idBound(from, 'min'), idBound(to, 'max')];
    return this.#rows(wanted, [[accountId, mode, ...window, status, query]]);
  }

  /** Refunds in the order of their creation, like `disputes` and `payouts`. */
  refunds(order: ReportOrder): Rows<RefundRow> {
    return this.#rows(REFUNDS, [idWindow(order)]);
  }

  disputes({ accountId, mode, from, to, filters }: ReportOrder): Rows<DisputeRow> {
    return this.#rows(DISPUTES, [[accountId, mode, from, to, filters?.status ?? null, filters?.type ?? null]]);
  }

  payouts(order: ReportOrder): Rows<PayoutRow> {
    const { status = null, destination = null } = order.filters ?? {};
    const statuses = PUBLIC_PAYOUT_STATUSES.filter((one) => one === status).flatMap(payoutStatusesOf);
    return this.#rows(PAYOUTS, [[...idWindow(order), status === null ? null : statuses, bare(destination)]]);
  }

  /** Customers who paid in the window, whoever paid last first: a row for each currency. */
  customers({ accountId, mode, from, to, filters }: ReportOrder): Rows<CustomerRow> {
    const query = filters?.query ?? null;
    return this.#rows(query === null ? CUSTOMERS : CUSTOMERS_FOUND, [[accountId, mode, from, to, query]]);
  }

  /** Links in the order of their creation, with the status of the moment when the file was ordered. */
  paymentLinks(order: ReportOrder): Rows<PaymentLinkRow> {
    return this.#rows(PAYMENT_LINKS, [[...idWindow(order), order.filters?.status ?? null, order.createdAt]]);
  }

  /** Deliveries of webhooks in the order of their creation. */
  deliveries(order: ReportOrder): Rows<DeliveryRow> {
    const { status = null, endpointId = null } = order.filters ?? {};
    return this.#rows(DELIVERIES, [[...idWindow(order), status, bare(endpointId)]]);
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

/** The scope and the window, for rows whose ids follow the time of creation. */
function idWindow({ accountId, mode, from, to }: ReportOrder): unknown[] {
  return [accountId, mode, idBound(from, 'min'), idBound(to, 'max')];
}

/** The UUID of an id with its prefix. */
function bare(id: string | null): string | null {
  return id?.replace(/^[a-z]+_/, '') ?? null;
}
