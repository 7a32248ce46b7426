import { Injectable } from '@nestjs/common';
import { columnsOf, insertInto, read, Reader, type Tx, updateOf, write, writeRow } from '../core/database/index.js';
import type { IdCursorFilter } from '../core/http/index.js';
import { idRange } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import { COUNT_LIMIT, type CurrencyTotal, totalsOf } from '../core/totals.js';
import { OPEN, type Transaction } from '../transactions/index.js';
import { linkStatusSql, type LinkStatus } from './payment-link.js';
import { PaymentLink, PaymentLinkCharge, PaymentLinkEntity } from './payment-link.entity.js';

const COLUMNS = columnsOf(PaymentLink, 'l');
const OWN = 'l.account_id = $1 AND l.mode = $2';
const INSERT = insertInto('payment_links.insert', PaymentLinkEntity, { without: ['paidCount', 'paidAmount'] });
const INSERT_CHARGE = insertInto('payment_links.insert_charge', PaymentLinkCharge);
const FIND = read('payment_links.find', `SELECT ${COLUMNS} FROM payment_links l WHERE ${OWN} AND l.id = $3`);
const FIND_ANY = read('payment_links.find_any', `SELECT ${COLUMNS} FROM payment_links l WHERE l.id = $1`);
const FIND_PUBLIC = read('payment_links.find_public', `SELECT ${COLUMNS} FROM payment_links l WHERE l.short_id = $1`);
const PICTURE = read(
  'payment_links.picture',
  `SELECT l.picture_type AS type, l.picture AS bytes FROM payment_links l WHERE l.short_id = $1 AND l.picture IS NOT NULL`,
);
/** SQL for a page of links: $3 the last one of the page before, $7 the present. */
const listed = (columns: string): string => `SELECT ${columns} FROM payment_links l WHERE ${OWN}
     AND l.id < coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AND l.id >= $4::uuid AND l.id <= $5::uuid
     AND ($6::text IS NULL OR $6 = ${linkStatusSql('$7')})
   ORDER BY l.id DESC LIMIT $8`;
const LIST = read('payment_links.list', listed(COLUMNS));
const TOTALS = totalsOf({ ...LIST, text: listed(`'BRL' AS currency, l.paid_amount AS amount`) });
const LOCK = write(
  'payment_links.lock',
  `SELECT ${COLUMNS} FROM payment_links l WHERE ${OWN} AND l.id = $3 FOR NO KEY UPDATE`,
);
const CHANGE = updateOf('payment_links.change', PaymentLinkEntity, {
  first: 2,
  after: 'WHERE id = $1',
  without: [
    ...(['id', 'accountId', 'mode', 'shortId', 'createdAt'] as const),
    ...(['pictureType', 'picture', 'paidCount', 'paidAmount', 'endedAt'] as const),
  ],
});
const SET_PICTURE = write(
  'payment_links.set_picture',
  'UPDATE payment_links SET picture_type = $2, picture = $3 WHERE id = $1',
);
const END = write(
  'payment_links.end',
  `UPDATE payment_links l SET ended_at = $4, updated_at = $4 WHERE ${OWN} AND l.id = $3 AND l.ended_at IS NULL
   RETURNING ${COLUMNS}`,
);
/** A payment waits here for the one before it, and then sees its count. */
const TAKE = write(
  'payment_links.take',
  `UPDATE payment_links l SET paid_count = l.paid_count + 1, paid_amount = l.paid_amount + $2
   FROM payment_link_charges c
   WHERE c.transaction_id = $1 AND l.id = c.link_id AND l.ended_at IS NULL
     AND (l.max_payments IS NULL OR l.paid_count < l.max_payments)
   RETURNING l.id, l.paid_count = l.max_payments AS "isFull"`,
);
const IS_CHARGE = read('payment_links.is_charge', 'SELECT 1 FROM payment_link_charges WHERE transaction_id = $1');
const OPEN_CHARGES = read(
  'payment_links.open_charges',
  `SELECT t.id FROM payment_link_charges c JOIN transactions t ON t.id = c.transaction_id
   WHERE c.link_id = $1 AND c.transaction_id > $2 AND t.expires_at > $3 AND (${OPEN} OR t.status = 'PENDING')
   ORDER BY c.transaction_id LIMIT $4`,
);

export interface LinkFilter extends IdCursorFilter {
  /** Null: all. */
  readonly status: LinkStatus | null;
}

@Injectable()
export class PaymentLinksRepository {
  constructor(private readonly reader: Reader) {}

  insert(tx: Tx, link: PaymentLinkEntity): void {
    writeRow(tx, INSERT, link);
  }

  insertCharge(tx: Tx, { id, accountId, mode }: Transaction, linkId: string): void {
    writeRow(tx, INSERT_CHARGE, { transactionId: id, linkId, accountId, mode });
  }

  async find(scope: Scope, id: string): Promise<PaymentLink | null> {
    return this.reader.first<PaymentLink>(FIND, [scope.accountId, scope.mode, id]);
  }

  /** Across accounts, for workers. */
  async findAny(id: string): Promise<PaymentLink | null> {
    return this.reader.first<PaymentLink>(FIND_ANY, [id]);
  }

  /** Across accounts, for the public page, whose address is the credential. */
  async findPublic(shortId: string): Promise<PaymentLink | null> {
    return this.reader.first<PaymentLink>(FIND_PUBLIC, [shortId]);
  }

  async picture(shortId: string): Promise<{ readonly type: string; readonly bytes: Buffer } | null> {
    return this.reader.first(PICTURE, [shortId]);
  }

  /** Newest first. */
  async list(scope: Scope, filter: LinkFilter, now: Date): Promise<PaymentLink[]> {
    return this.reader.query(LIST, listValues(scope, filter, now));
  }

  /** Counts what the list has, at most `COUNT_LIMIT`, and sums what was paid. */
  async totals(scope: Scope, filter: LinkFilter, now: Date): Promise<CurrencyTotal[]> {
    return this.reader.query(TOTALS, listValues(scope, { ...filter, before: null, limit: COUNT_LIMIT }, now));
  }

  async lock(tx: Tx, scope: Scope, id: string): Promise<PaymentLink | null> {
    return tx.first<PaymentLink>(LOCK, [scope.accountId, scope.mode, id]);
  }

  change(tx: Tx, link: PaymentLink): void {
    tx.defer(CHANGE, [link.id, ...CHANGE.valuesOf(link)]);
  }

  setPicture(tx: Tx, id: string, type: string | null, picture: Buffer | null): void {
    tx.defer(SET_PICTURE, [id, type, picture]);
  }

  /** @returns null when it was ended before, or there is none */
  async end(tx: Tx, scope: Scope, id: string, at: Date): Promise<PaymentLink | null> {
    return tx.first<PaymentLink>(END, [scope.accountId, scope.mode, id, at]);
  }

  /** Counts a payment of a charge. Locks the link. @returns null when the link takes no more, or it is no link's charge */
  async take(tx: Tx, transactionId: string, amount: Amount): Promise<{ id: string; isFull: boolean | null } | null> {
    return tx.first<{ id: string; isFull: boolean | null }>(TAKE, [transactionId, amount]);
  }

  async isCharge(tx: Tx, transactionId: string): Promise<boolean> {
    return (await tx.query(IS_CHARGE, [transactionId])).length > 0;
  }

  /** Lists charges that may still be paid, in the order of their ids. @param after the last id of the page before */
  async openCharges(linkId: string, after: string, now: Date, limit: number): Promise<string[]> {
    const rows = await this.reader.query<{ id: string }>(OPEN_CHARGES, [linkId, after, now, limit]);
    return rows.map(({ id }) => id);
  }
}

function listValues({ accountId, mode }: Scope, filter: LinkFilter, now: Date): unknown[] {
  const { before, createdFrom, createdTo, status, limit } = filter;
  return [accountId, mode, before, ...idRange(createdFrom, createdTo), status, now, limit];
}
