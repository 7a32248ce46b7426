import { Injectable } from '@nestjs/common';
import { AccountsService } from '../../accounts/index.js';
import { type Actor, AuditTrail } from '../../audit/index.js';
import { Database } from '../../core/database/index.js';
import { FIRST_ID } from '../../core/ids.js';
import {
  type Customer,
  CustomerDataRepository,
  type CustomerTransaction,
  type Erased,
  type Waits,
} from './customer-data.repository.js';

const BATCH = 500;

export interface Erasure {
  readonly erased: Erased;
  /** Transactions that still need the person's data, with the reason. */
  readonly waiting: { readonly id: string; readonly waits: Waits }[];
}

/** Exports and erases an account's data about one of its customers, in both modes, for requests under the LGPD. */
@Injectable()
export class CustomerDataService {
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

  /** Returns the oldest first. @throws ApiError 404 for an account that does not exist */
  async export(accountId: string, who: Customer, actor: Actor): Promise<CustomerTransaction[]> {
    await this.accounts.get(accountId);
    const all: CustomerTransaction[] = [];
    for (;;) {
      const page = await this.repository.find(accountId, who, all.at(-1)?.id ?? FIRST_ID, BATCH);
      all.push(...page);
      if (page.length < BATCH) break;
    }
    await this.database.transaction((tx) => {
      this.audit.record(tx, actor, 'customer.exported', accountId, { data: { transactions: all.length } });
      return Promise.resolve();
    });
    return all;
  }

  /**
   * Blanks a person in transactions and in all copies of them. The books stay: amounts, dates, statuses, ledger and
   * end-to-end ids. A transaction that still needs the data stays as it is, for a later call to erase.
   * @throws ApiError 404 for an account that does not exist
   */
  async erase(accountId: string, who: Customer, withMetadata: boolean, actor: Actor): Promise<Erasure> {
    await this.accounts.get(accountId);
    const erased: Erased = {};
    const waiting: Erasure['waiting'] = [];
    for (let after: string | null = FIRST_ID; after !== null;) {
      const from: string = after;
      const batch = await this.database.transaction(async (tx) => {
        const ids = await this.repository.lock(tx, accountId, who, from, BATCH);
        const states = await this.repository.waiting(tx, ids);
        const free = states.filter(({ waits }) => waits === null).map(({ id }) => id);
        const counts = await this.repository.erase(tx, free, withMetadata);
        const held = states.flatMap(({ id, waits }) => (waits === null ? [] : [{ id, waits }]));
        if (ids.length > 0 || from === FIRST_ID) {
          const data = { erased: counts, waiting: held.length };
          this.audit.record(tx, actor, 'customer.erased', accountId, { data });
        }
        return { ids, counts, held };
      });
      for (const [table, count] of Object.entries(batch.counts)) erased[table] = (erased[table] ?? 0) + count;
      waiting.push(...batch.held);
      after = batch.ids.length < BATCH ? null : (batch.ids.at(-1) ?? null);
    }
    await this.#whenErased?.(accountId);
    return { erased, waiting };
  }
}
