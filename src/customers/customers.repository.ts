import { Injectable } from '@nestjs/common';
import { read, Reader } from '../core/database/index.js';
import type { Scope } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import type { CurrencyTotal } from '../core/totals.js';
import { customerKey, type Transaction, TRANSACTION_COLUMNS } from '../transactions/index.js';

/** Sales that a page of the list looks at: they take 0.2 s at most. */
export const LOOKED_AT = 10_000;

/** Newest sales of an account that are added up to count customers, and to list who bought most. */
const ADDED_UP = 100_000;

const OWN = (row: string): string => `${row}.account_id = $1 AND ${row}.mode = $2 AND ${row}.paid_at IS NOT NULL`;
const NEWEST = 'ORDER BY n.paid_at DESC, n.id DESC';
/** A scalar and no join: it is one look into the index for each sale, whatever the planner expects. */
const NEWEST_OF = (key: string): string =>
  `(SELECT n.id FROM transactions n WHERE ${OWN('n')} AND ${customerKey('n')} = ${key} ${NEWEST} LIMIT 1)`;
/** Sales strictly older than the sale `id`; all of them if it is null. */
const OLDER = (row: string, id: string): string =>
  `(${row}.paid_at, ${row}.id) < (
     coalesce((SELECT c.paid_at FROM transactions c WHERE c.id = ${id}), 'infinity'),
     coalesce(${id}, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid))`;

/** $3 limits the sales that are added up for each customer. `page` has a row for each customer's newest sale. */
const customers = (page: string, order = 'p.paid_at DESC, p.id DESC'): string => `
  WITH page AS MATERIALIZED (${page})
  SELECT f.id, f.paid_at AS "firstPaidAt", p.id AS "newestId", p.paid_at AS "lastPaidAt",
    t.customer_name AS name, coalesce(t.customer_document, t.expected_payer_tax_id) AS "taxId",
    t.customer_email AS email, t.customer_phone AS phone, s.totals, s.number < $3 AS "isComplete"
  FROM page p JOIN transactions t ON t.id = p.id
  CROSS JOIN LATERAL (
    SELECT n.id, n.paid_at FROM transactions n WHERE ${OWN('n')} AND ${customerKey('n')} = p.key
    ORDER BY n.paid_at, n.id LIMIT 1) f
  CROSS JOIN LATERAL (
    SELECT sum(c.number) AS number, jsonb_agg(jsonb_build_object('currency', c.currency, 'sales', c.number,
      'paid', c.paid, 'refunded', c.refunded, 'disputed', c.disputed) ORDER BY c.currency) AS totals
    FROM (
      SELECT r.currency, count(*) AS number, sum(r.amount) AS paid, sum(r.refunds_amount) AS refunded,
        sum(r.disputed_amount) AS disputed
      FROM (
        SELECT n.currency, n.amount, n.refunds_amount, n.disputed_amount FROM transactions n
        WHERE ${OWN('n')} AND ${customerKey('n')} = p.key ${NEWEST} LIMIT $3) r
      GROUP BY r.currency) c) s
  ORDER BY ${order}`;

const LIST = read(
  'customers.list',
  customers(`SELECT w.id, w.paid_at, w.key FROM (
      SELECT n.id, n.paid_at, ${customerKey('n')} AS key FROM transactions n WHERE ${OWN('n')} AND ${OLDER('n', '$4::uuid')}
      ${NEWEST} LIMIT ${LOOKED_AT}) w
    WHERE w.key IS NOT NULL AND w.id = ${NEWEST_OF('w.key')}
    ORDER BY w.paid_at DESC, w.id DESC LIMIT $5`),
);
const LAST_LOOKED_AT = read(
  'customers.last_looked_at',
  `SELECT n.id FROM transactions n WHERE ${OWN('n')} AND ${OLDER('n', '$3::uuid')}
   ${NEWEST} OFFSET ${LOOKED_AT - 1} LIMIT 1`,
);
const OF_SALES = read(
  'customers.of_sales',
  customers(`SELECT n.id, n.paid_at, k.key FROM (
      SELECT DISTINCT ${customerKey('s')} AS key FROM transactions s WHERE ${OWN('s')} AND s.id = ANY ($4::uuid[])) k
    JOIN transactions n ON n.id = ${NEWEST_OF('k.key')}
    WHERE k.key IS NOT NULL AND ${OLDER('n', '$5::uuid')} ${NEWEST} LIMIT $6`),
);
/** $n: sales whose customers alone count; null: all. */
const ofCustomers = (row: string, ids: string): string =>
  `(${ids}::uuid[] IS NULL OR ${row}.key IN (
     SELECT ${customerKey('s')} FROM transactions s WHERE ${OWN('s')} AND s.id = ANY (${ids})))`;
const SALES_WITH_KEYS = `SELECT n.id, n.paid_at, n.currency, n.amount, ${customerKey('n')} AS key
  FROM transactions n WHERE ${OWN('n')} ${NEWEST} LIMIT ${ADDED_UP}`;
/** A customer of several currencies has the place of the greatest sum. $4 the last customer of the page before. */
const MOST_BOUGHT = read(
  'customers.most_bought',
  customers(
    `WITH sums AS (
       SELECT w.key, w.currency, sum(w.amount) AS bought FROM (${SALES_WITH_KEYS}) w
       WHERE w.key IS NOT NULL AND ${ofCustomers('w', '$5')} GROUP BY w.key, w.currency),
     ranked AS (SELECT key, max(bought) AS bought FROM sums GROUP BY key),
     places AS (
       SELECT r.key, r.bought FROM ranked r WHERE $4::uuid IS NULL OR (-r.bought, r.key) > (
         SELECT -c.bought, c.key FROM ranked c
         WHERE c.key = (SELECT ${customerKey('s')} FROM transactions s WHERE ${OWN('s')} AND s.id = $4))
       ORDER BY r.bought DESC, r.key LIMIT $6)
     SELECT n.id, n.paid_at, o.key, o.bought FROM places o JOIN transactions n ON n.id = ${NEWEST_OF('o.key')}`,
    'p.bought DESC, p.key',
  ),
);
const TOTALS = read(
  'customers.totals',
  `WITH sales AS MATERIALIZED (${SALES_WITH_KEYS}),
   own AS (SELECT * FROM sales w WHERE w.key IS NOT NULL AND ${ofCustomers('w', '$3')})
   SELECT currency, count(DISTINCT key)::int AS count, sum(amount)::bigint AS amount,
     (SELECT count(DISTINCT key)::int FROM own) AS customers,
     (SELECT count(*) FROM sales) < ${ADDED_UP} AS "isComplete"
   FROM own GROUP BY currency ORDER BY currency`,
);
const KEY_OF = read(
  'customers.key_of',
  `SELECT ${customerKey('t')} AS key FROM transactions t WHERE t.account_id = $1 AND t.mode = $2 AND t.id = $3`,
);
const BY_KEY = read(
  'customers.by_key',
  customers(`SELECT n.id, n.paid_at, ${customerKey('n')} AS key FROM transactions n WHERE ${OWN('n')} AND ${customerKey('n')} = $4
    ${NEWEST} LIMIT 1`),
);
const SALES = read(
  'customers.sales',
  `SELECT ${TRANSACTION_COLUMNS} FROM transactions t WHERE ${OWN('t')} AND ${customerKey('t')} = $3
     AND ${OLDER('t', '$4::uuid')} ORDER BY t.paid_at DESC, t.id DESC LIMIT $5`,
);

/** Sums of the sales of a customer in one currency. */
export interface CustomerTotals {
  readonly currency: string;
  readonly sales: number;
  readonly paid: Amount;
  readonly refunded: Amount;
  readonly disputed: Amount;
}

/** Somebody who has paid, by tax id or else by e-mail, with the entries of the newest sale. */
export interface Customer {
  /** The first sale that was paid. */
  readonly id: string;
  readonly firstPaidAt: Date;
  /** The sale that was paid last. */
  readonly newestId: string;
  readonly lastPaidAt: Date;
  readonly name: string | null;
  readonly taxId: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly totals: readonly CustomerTotals[];
  /** False: so many sales were added up that there may be more. */
  readonly isComplete: boolean;
}

/** Customers who paid in one currency, beside the number of all. */
export interface CustomersTotal extends CurrencyTotal {
  readonly customers: number;
  /** False: there are older sales that were not added up. */
  readonly isComplete: boolean;
}

type Row = Customer & Record<string, unknown>;

/** The reading SQL about customers, over the table of `transactions`. */
@Injectable()
export class CustomersRepository {
  constructor(private readonly reader: Reader) {}

  /**
   * Lists who paid last. A page looks at `LOOKED_AT` sales, so it may have fewer customers than there are.
   * @param before newest sale of the last customer of the page before
   * @param most sales that are added up for each customer
   */
  async list({ accountId, mode }: Scope, before: string | null, most: number, limit: number): Promise<Customer[]> {
    return this.reader.query<Row>(LIST, [accountId, mode, most, before, limit]);
  }

  /** The last sale that a page looks at; null: there are no more sales. */
  async lastLookedAt({ accountId, mode }: Scope, before: string | null): Promise<string | null> {
    return (await this.reader.first<{ id: string }>(LAST_LOOKED_AT, [accountId, mode, before]))?.id ?? null;
  }

  /** Lists the customers of some sales as `list` does. */
  async ofSales(
    { accountId, mode }: Scope,
    ids: readonly string[],
    before: string | null,
    most: number,
    limit: number,
  ): Promise<Customer[]> {
    return this.reader.query<Row>(OF_SALES, [accountId, mode, most, ids, before, limit]);
  }

  /**
   * Lists who bought most first, by the newest `ADDED_UP` sales of the account.
   * @param ids sales whose customers are listed; null: all customers
   * @param before any sale of the last customer of the page before
   */
  async mostBought(
    { accountId, mode }: Scope,
    ids: readonly string[] | null,
    before: string | null,
    most: number,
    limit: number,
  ): Promise<Customer[]> {
    return this.reader.query<Row>(MOST_BOUGHT, [accountId, mode, most, before, ids, limit]);
  }

  /** Counts customers and sums what they paid, by the newest `ADDED_UP` sales. @param ids as in `mostBought` */
  async totals({ accountId, mode }: Scope, ids: readonly string[] | null): Promise<CustomersTotal[]> {
    return this.reader.query<CustomersTotal & Record<string, unknown>>(TOTALS, [accountId, mode, ids]);
  }

  /** The key of a sale's customer; null without one. */
  async keyOf({ accountId, mode }: Scope, id: string): Promise<string | null> {
    return (await this.reader.first<{ key: string | null }>(KEY_OF, [accountId, mode, id]))?.key ?? null;
  }

  async byKey({ accountId, mode }: Scope, key: string, most: number): Promise<Customer | null> {
    return this.reader.first<Row>(BY_KEY, [accountId, mode, most, key]);
  }

  /** Sales that the customer paid, the newest payment first. */
  async sales({ accountId, mode }: Scope, key: string, before: string | null, limit: number): Promise<Transaction[]> {
    return this.reader.query(SALES, [accountId, mode, key, before, limit]);
  }
}
