import { Injectable } from '@nestjs/common';
import { SecretBox } from '../../core/crypto/index.js';
import { read, Reader, write, type Tx } from '../../core/database/index.js';
import type { Mode } from '../../core/mode.js';
import { withoutCustomer } from './without-customer.js';

/** A person is found by any of these; null: not asked for. The tax id is normalized, the phone its digits only. */
export interface Customer {
  readonly taxId: string | null;
  readonly email: string | null;
  readonly phone: string | null;
}

/** Amounts in the smallest unit, times in ISO 8601. */
export interface CustomerTransaction {
  readonly id: string;
  readonly mode: Mode;
  readonly status: string;
  readonly amount: number;
  readonly currency: string;
  readonly customer_name: string | null;
  readonly customer_document: string | null;
  readonly customer_email: string | null;
  readonly customer_phone: string | null;
  readonly customer_id: string | null;
  readonly expected_payer_tax_id: string | null;
  readonly metadata: object;
  readonly end_to_end_id: string | null;
  readonly created_at: Date;
  readonly paid_at: Date | null;
  readonly refunds: readonly string[];
  readonly med_cases: readonly string[];
}

/** Why a transaction cannot be erased yet. */
export type Waits = 'open_charge' | 'open_refund' | 'open_med_case' | 'open_review' | 'open_delivery' | 'open_request';

/** Changes of rows, by table. */
export type Erased = Record<string, number>;

const MINE = `t.account_id = $1 AND t.id > $5 AND (t.customer_document = $2 OR t.expected_payer_tax_id = $2
     OR lower(t.customer_email) = lower($3) OR regexp_replace(t.customer_phone, '[^0-9]', '', 'g') = $4)
   ORDER BY t.id LIMIT $6`;
const FIND = read(
  'customer_data.find',
  `SELECT t.id, t.mode, t.status, t.amount, t.currency, t.customer_name, t.customer_document, t.customer_email,
     t.customer_phone, t.customer_ref AS customer_id, t.expected_payer_tax_id, t.metadata, t.end_to_end_id, t.created_at,
     t.paid_at, ARRAY(SELECT r.id::text FROM refunds r WHERE r.transaction_id = t.id ORDER BY r.id) AS refunds,
     ARRAY(SELECT c.id::text FROM med_cases c WHERE c.transaction_id = t.id AND c.visible ORDER BY c.id) AS med_cases
   FROM transactions t WHERE ${MINE}`,
);
/** Locks in the order in which settlements lock transactions that are paid together. */
const LOCK = write(
  'customer_data.lock',
  `WITH mine AS MATERIALIZED (SELECT t.id FROM transactions t WHERE ${MINE})
   SELECT t.id FROM transactions t JOIN mine USING (id) ORDER BY t.txid FOR UPDATE OF t`,
);

/** What events and deliveries may be about of the transactions of $1: they themselves and their cases. */
const SUBJECTS = `SELECT unnest($1::uuid[]) UNION ALL SELECT id FROM med_cases WHERE transaction_id = ANY ($1::uuid[])`;

/** Why locked transactions still need the person's data, the most telling reason first. */
const WAITING = read(
  'customer_data.waiting',
  `SELECT t.id, CASE
     WHEN t.status IN ('PENDING', 'WAITING_PAYMENT', 'PROCESSING') THEN
       CASE WHEN EXISTS (SELECT 1 FROM settlements s WHERE s.transaction_id = t.id AND s.outcome = 'review')
       THEN 'open_review' ELSE 'open_charge' END
     WHEN EXISTS (SELECT 1 FROM refunds r WHERE r.transaction_id = t.id AND r.status IN ('PENDING', 'IN_PROGRESS'))
       OR EXISTS (SELECT 1 FROM pix_returns p WHERE p.transaction_id = t.id AND p.status IN ('PENDING', 'IN_PROGRESS'))
       THEN 'open_refund'
     WHEN EXISTS (SELECT 1 FROM med_cases c WHERE c.transaction_id = t.id
       AND (c.status IN ('open', 'appealed') OR c.review IS NOT NULL)) THEN 'open_med_case'
     WHEN EXISTS (SELECT 1 FROM (SELECT t.id UNION ALL SELECT c.id FROM med_cases c WHERE c.transaction_id = t.id) s
       WHERE EXISTS (SELECT 1 FROM events e WHERE e.subject_id = s.id AND e.status = 'pending')
         OR EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.account_id = t.account_id
           AND d.subject_id = s.id AND d.status IN ('PENDING', 'PROCESSING'))) THEN 'open_delivery'
     WHEN EXISTS (SELECT 1 FROM idempotency_keys k WHERE k.account_id = t.account_id AND k.resource_id = t.id
       AND k.response_status IS NULL) THEN 'open_request'
     END AS waits
   FROM transactions t WHERE t.id = ANY ($1::uuid[])`,
);

const BLANK = [
  [
    'transactions',
    `UPDATE transactions SET customer_name = NULL, customer_document = NULL, customer_email = NULL,
       customer_phone = NULL, expected_payer_tax_id = NULL, med = med - 'payerSealed',
       metadata = CASE WHEN $2 THEN '{}'::jsonb ELSE metadata END
     WHERE id = ANY ($1::uuid[]) RETURNING 1`,
  ],
  [
    'events',
    `UPDATE events SET data = CASE WHEN $2 THEN jsonb_set_lax(data, '{refund,reason}', NULL, false) ELSE data END
       #- '{transaction,med,payerSealed}'
     WHERE (subject_id = ANY ($1::uuid[]) AND data #> '{transaction,med,payerSealed}' IS NOT NULL)
       OR ($2 AND subject_id = ANY ($1::uuid[]) AND data #>> '{refund,reason}' IS NOT NULL)
     RETURNING 1`,
  ],
  [
    'settlements',
    `UPDATE settlements SET payer_document_sealed = NULL
     WHERE transaction_id = ANY ($1::uuid[]) AND payer_document_sealed IS NOT NULL AND $2 IS NOT NULL RETURNING 1`,
  ],
  [
    'refunds',
    `UPDATE refunds SET destination_sealed = NULL, reason = CASE WHEN $2 THEN NULL ELSE reason END
     WHERE transaction_id = ANY ($1::uuid[]) AND (destination_sealed IS NOT NULL OR $2 AND reason IS NOT NULL)
     RETURNING 1`,
  ],
  [
    'idempotency_keys',
    // A body of which all but the document is known would be found again by its hash, which nothing keeps secret.
    `UPDATE idempotency_keys SET fingerprint = ''
     WHERE $2 IS NOT NULL AND (resource_id = ANY ($1::uuid[]) OR resource_id IN
       (SELECT id FROM refunds WHERE transaction_id = ANY ($1::uuid[]))) RETURNING 1`,
  ],
  [
    'med_cases',
    `UPDATE med_cases SET payer_sealed = NULL
     WHERE transaction_id = ANY ($1::uuid[]) AND payer_sealed IS NOT NULL AND $2 IS NOT NULL RETURNING 1`,
  ],
  [
    'webhook_attempts',
    `UPDATE webhook_attempts SET response_body = NULL WHERE response_body IS NOT NULL AND $2 IS NOT NULL
       AND delivery_id IN (SELECT id FROM webhook_deliveries WHERE subject_id IN (${SUBJECTS})) RETURNING 1`,
  ],
].map(([table = '', text = '']) => ({
  table,
  statement: write(`customer_data.blank_${table}`, text.replaceAll('$2', '$2::boolean')),
}));

/** What is told or was answered about a transaction: JSON that is sealed; `context` binds it to its row. */
interface Copy {
  readonly id: string;
  readonly json: string;
  readonly context: string;
}

const COPIES = [
  {
    table: 'events',
    find: `SELECT id::text, customer_sealed AS json, 'event:' || id AS context FROM events
           WHERE subject_id IN (${SUBJECTS}) AND customer_sealed IS NOT NULL FOR UPDATE`,
    replace: `UPDATE events SET customer_sealed = $2 WHERE id = $1::uuid`,
  },
  {
    table: 'webhook_messages',
    find: `SELECT id::text, payload AS json, 'webhook_message:' || id AS context FROM webhook_messages
           WHERE id IN (SELECT message_id FROM webhook_deliveries WHERE subject_id IN (${SUBJECTS})) FOR UPDATE`,
    replace: `UPDATE webhook_messages SET payload = $2 WHERE id = $1::uuid`,
  },
  {
    table: 'idempotency_keys',
    find: `SELECT ctid::text AS id, response_body AS json,
             'idempotency:' || account_id || '/' || mode || '/' || operation || '/' || key AS context
           FROM idempotency_keys WHERE response_body IS NOT NULL AND (resource_id = ANY ($1::uuid[]) OR resource_id IN
             (SELECT id FROM refunds WHERE transaction_id = ANY ($1::uuid[]))) FOR UPDATE`,
    replace: `UPDATE idempotency_keys SET response_body = $2 WHERE ctid = $1::tid`,
  },
].map(({ table, find, replace }) => ({
  table,
  find: write(`customer_data.find_${table}`, find),
  replace: write(`customer_data.replace_${table}`, replace),
}));

/**
 * All SQL about one person, in whatever table: that nothing is left of a person is proved by one list of places.
 */
@Injectable()
export class CustomerDataRepository {
  constructor(
    private readonly reader: Reader,
    private readonly secrets: SecretBox,
  ) {}

  /** Oldest first, strictly newer than `after`. */
  async find(accountId: string, who: Customer, after: string, limit: number): Promise<CustomerTransaction[]> {
    return this.reader.query<CustomerTransaction & Record<string, unknown>>(FIND, [
      ...[accountId, who.taxId, who.email, who.phone, after, limit],
    ]);
  }

  /** Finds transactions as `find` does and locks them until the end of `tx`. @returns the ids */
  async lock(tx: Tx, accountId: string, who: Customer, after: string, limit: number): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(LOCK, [accountId, who.taxId, who.email, who.phone, after, limit]);
    return rows.map(({ id }) => id).sort();
  }

  /** @returns for each transaction why it waits; null: it can be erased */
  async waiting(tx: Tx, ids: readonly string[]): Promise<{ id: string; waits: Waits | null }[]> {
    return tx.query<{ id: string; waits: Waits | null }>(WAITING, [ids]);
  }

  /** Erases the data from transactions that are locked and wait for nothing. */
  async erase(tx: Tx, ids: readonly string[], withMetadata: boolean): Promise<Erased> {
    const erased: Erased = {};
    for (const { table, find, replace } of COPIES) {
      erased[table] = 0;
      for (const { id, json, context } of await tx.query<Copy & Record<string, unknown>>(find, [ids])) {
        const after = withoutCustomer(this.secrets.openText(json, context), withMetadata);
        if (after === null) continue;
        await tx.query(replace, [id, this.secrets.sealText(after, context)]);
        erased[table] += 1;
      }
    }
    for (const { table, statement } of BLANK) {
      erased[table] = (erased[table] ?? 0) + (await tx.query(statement, [ids, withMetadata])).length;
    }
    return erased;
  }
}
