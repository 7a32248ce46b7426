import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { SecretBox } from '../../core/crypto/index.js';
import { read, Reader, type ReadStatement, write, type Tx } from '../../core/database/index.js';
import type { Mode } from '../../core/mode.js';
import { type CopyWaits, type Erased, type ErasedKind, Eraser, exported, SALES } from './erasure.js';

/**
 * Search terms; a person matches by any of them. Null: not searched for. The tax id is normalized, the phone is digits
 * only.
 */
export interface Customer {
  readonly taxId: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  /** Null: both modes. */
  readonly mode: Mode | null;
  /** Whether the e-mail matches only sales without a tax id: several people may have given the same address. */
  readonly isEmailAlone: boolean;
}

/** A transaction with every personal column and these fields. Amounts in the smallest unit. */
export interface CustomerTransaction {
  readonly id: string;
  readonly mode: Mode;
  readonly status: string;
  readonly amount: number;
  readonly currency: string;
  readonly end_to_end_id: string | null;
  readonly created_at: Date;
  readonly paid_at: Date | null;
  readonly refunds: readonly string[];
  readonly med_cases: readonly string[];
  /** Personal columns of its refunds and of all other rows that belong to it, by table. */
  readonly related: Readonly<Record<string, readonly object[]>>;
}

/** Why a transaction cannot be erased yet. */
export type Waits = 'open_charge' | 'open_refund' | 'open_med_case' | 'open_review' | CopyWaits;

const MINE = `t.account_id = $1 AND t.id > $7 AND ($5::text IS NULL OR t.mode = $5)
   AND (t.customer_document = $2 OR t.expected_payer_tax_id = $2
     OR (lower(t.customer_email) = lower($3)
       AND NOT ($6 AND coalesce(t.customer_document, t.expected_payer_tax_id) IS NOT NULL))
     OR regexp_replace(t.customer_phone, '[^0-9]', '', 'g') = $4)
   ORDER BY t.id LIMIT $8`;
const valuesOf = (accountId: string, who: Customer, after: string, limit: number): unknown[] => [
  ...[accountId, who.taxId, who.email, who.phone, who.mode, who.isEmailAlone, after, limit],
];
/** Locks in the order in which settlements lock transactions that are paid together. */
const LOCK = write(
  'customer_data.lock',
  `WITH mine AS MATERIALIZED (SELECT t.id FROM transactions t WHERE ${MINE})
   SELECT t.id FROM transactions t JOIN mine USING (id) ORDER BY t.txid FOR UPDATE OF t`,
);

/** Finds why locked transactions still need the person's data, the most useful reason first. */
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

/** Runs the SQL about one person in sales. `@Personal` marks the columns where they are declared. */
@Injectable()
export class CustomerDataRepository {
  readonly #find: ReadStatement;
  readonly #sales: Eraser;

  constructor(
    private readonly reader: Reader,
    private readonly secrets: SecretBox,
    private readonly source: DataSource,
  ) {
    const { entityMetadatas } = source;
    this.#sales = this.eraser(SALES);
    this.#find = read(
      'customer_data.find',
      `SELECT t.id, t.mode, t.status, t.amount, t.currency, ${exported(entityMetadatas)},
         t.end_to_end_id, t.created_at, t.paid_at,
         ARRAY(SELECT r.id::text FROM refunds r WHERE r.transaction_id = t.id ORDER BY r.id) AS refunds,
         ARRAY(SELECT c.id::text FROM med_cases c WHERE c.transaction_id = t.id AND c.visible ORDER BY c.id) AS med_cases
       FROM transactions t WHERE ${MINE}`,
    );
  }

  /** Oldest first, strictly newer than `after`. */
  async find(accountId: string, who: Customer, after: string, limit: number): Promise<CustomerTransaction[]> {
    const values = valuesOf(accountId, who, after, limit);
    return this.reader.query<CustomerTransaction & Record<string, unknown>>(this.#find, values);
  }

  /** Finds transactions as `find` does and locks them until the end of `tx`. @returns the ids */
  async lock(tx: Tx, accountId: string, who: Customer, after: string, limit: number): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(LOCK, valuesOf(accountId, who, after, limit));
    return rows.map(({ id }) => id).sort();
  }

  /** @returns for each transaction why it waits; null: it can be erased */
  async waiting(tx: Tx, ids: readonly string[]): Promise<{ id: string; waits: Waits | null }[]> {
    return tx.query<{ id: string; waits: Waits | null }>(WAITING, [ids]);
  }

  /** Erases the data from transactions that are locked and wait for nothing. */
  erase(tx: Tx, ids: readonly string[], withMetadata: boolean): Promise<Erased> {
    return this.#sales.erase(tx, ids, withMetadata);
  }

  eraser(kind: ErasedKind): Eraser {
    return new Eraser(kind, this.source.entityMetadatas, this.secrets);
  }
}
