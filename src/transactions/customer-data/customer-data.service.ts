import { Injectable } from '@nestjs/common';
import { AccountsService } from '../../accounts/index.js';
import { type Actor, AuditTrail } from '../../audit/index.js';
import { Database } from '../../core/database/index.js';
import { conflict } from '../../core/errors/index.js';
import { FIRST_ID } from '../../core/ids.js';
import {
  type Customer,
  CustomerDataRepository,
  type CustomerTransaction,
  type Waits,
} from './customer-data.repository.js';
import type { Erased, ErasedKind, Eraser } from './erasure.js';

const BATCH = 500;

/** An object that still needs the person's data, with the reason. */
export interface Waiting {
  readonly kind: 'transaction' | 'payout';
  readonly id: string;
  readonly waits: Waits | 'open_payout';
}

export interface Erasure {
  readonly erased: Erased;
  readonly waiting: readonly Waiting[];
}

/** Rows about a person by their section, such as `payouts`. */
export type ExportedSections = Readonly<Record<string, readonly object[]>>;

/** Data about a person that another module holds. */
export interface CustomerDataHolder {
  /** Returns the oldest first. */
  export(accountId: string, who: Customer): Promise<ExportedSections>;
  /** Erases and audits as `CustomerDataService.erase` does. */
  erase(accountId: string, who: Customer, withMetadata: boolean, actor: Actor): Promise<Erasure>;
}

/** Exports and erases an account's data about one of its customers, for requests under the LGPD. */
@Injectable()
export class CustomerDataService {
  readonly #holders: CustomerDataHolder[] = [];
  #whenErased: ((accountId: string) => Promise<void>) | null = null;

  constructor(
    private readonly repository: CustomerDataRepository,
    private readonly accounts: AccountsService,
    private readonly audit: AuditTrail,
    private readonly database: Database,
  ) {}

  /**
   * Registers a function that makes another module forget a customer after each erasure. Call it before the application
   * starts.
   */
  whenErased(forget: (accountId: string) => Promise<void>): void {
    this.#whenErased = forget;
  }

  /** Registers another module that holds data about customers. Call it before the application starts. */
  addHolder(holder: CustomerDataHolder): void {
    this.#holders.push(holder);
  }

  /** Returns the eraser of a kind that `declareErasedKind` has declared. */
  eraser(kind: ErasedKind): Eraser {
    return this.repository.eraser(kind);
  }

  /**
   * Returns the oldest first.
   * @param most most sales that are exported
   * @throws ApiError 404 for an account that does not exist, 409 `customer_too_large`
   */
  async export(
    accountId: string,
    who: Customer,
    actor: Actor,
    most = Infinity,
  ): Promise<{ readonly transactions: readonly CustomerTransaction[] } & ExportedSections> {
    await this.accounts.get(accountId);
    const transactions: CustomerTransaction[] = [];
    for (;;) {
      const page = await this.repository.find(accountId, who, transactions.at(-1)?.id ?? FIRST_ID, BATCH);
      transactions.push(...page);
      if (transactions.length > most) {
        throw conflict('customer_too_large', `More than ${most} sales: whoever runs the service can export them.`);
      }
      if (page.length < BATCH) break;
    }
    let all = { transactions };
    for (const holder of this.#holders) all = { ...all, ...(await holder.export(accountId, who)) };
    await this.database.transaction((tx) => {
      const data = Object.fromEntries(Object.entries(all).map(([section, rows]) => [section, rows.length]));
      this.audit.record(tx, actor, 'customer.exported', accountId, { data });
      return Promise.resolve();
    });
    return all;
  }

  /**
   * Blanks a person in transactions and payouts, and in all copies of them. The books stay: amounts, dates, statuses,
   * ledger and end-to-end ids. An object that still needs the data stays as it is, for a later call to erase.
   * @throws ApiError 404 for an account that does not exist
   */
  async erase(accountId: string, who: Customer, withMetadata: boolean, actor: Actor): Promise<Erasure> {
    await this.accounts.get(accountId);
    const parts = [await this.#eraseSales(accountId, who, withMetadata, actor)];
    for (const holder of this.#holders) parts.push(await holder.erase(accountId, who, withMetadata, actor));
    await this.#whenErased?.(accountId);
    return erasureOf(parts);
  }

  async #eraseSales(accountId: string, who: Customer, withMetadata: boolean, actor: Actor): Promise<Erasure> {
    const batches: Erasure[] = [];
    for (let after: string | null = FIRST_ID; after !== null;) {
      const from: string = after;
      const { ids, ...batch } = await this.database.transaction(async (tx) => {
        const ids = await this.repository.lock(tx, accountId, who, from, BATCH);
        const states = await this.repository.waiting(tx, ids);
        const free = states.filter(({ waits }) => waits === null).map(({ id }) => id);
        const erased = await this.repository.erase(tx, free, withMetadata);
        const waiting = states.flatMap(({ id, waits }) =>
          waits === null ? [] : [{ kind: 'transaction' as const, id, waits }],
        );
        if (ids.length > 0 || from === FIRST_ID) {
          const data = { erased, waiting: waiting.length };
          this.audit.record(tx, actor, 'customer.erased', accountId, { data });
        }
        return { ids, erased, waiting };
      });
      batches.push(batch);
      after = ids.length < BATCH ? null : (ids.at(-1) ?? null);
    }
    return erasureOf(batches);
  }
}

/** Adds erasures up. */
export function erasureOf(parts: readonly Erasure[]): Erasure {
  const erased: Erased = {};
  for (const part of parts) {
    for (const [table, count] of Object.entries(part.erased)) erased[table] = (erased[table] ?? 0) + count;
  }
  return { erased, waiting: parts.flatMap(({ waiting }) => waiting) };
}
