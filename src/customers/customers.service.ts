import { Injectable } from '@nestjs/common';
import type { Actor } from '../audit/index.js';
import { ApiError, conflict, invalidRequest, notFound } from '../core/errors/index.js';
import { cursorFilter, cursorPage } from '../core/http/index.js';
import type { Scope } from '../core/mode.js';
import { MAX_COUNTED, type TotalsBody } from '../core/totals.js';
import { paymentItem, PaymentsService } from '../payments/index.js';
import {
  type Customer as Person,
  CustomerDataService,
  type Erasure,
  type ExportedSections,
  MedPayers,
  TransactionsService,
} from '../transactions/index.js';
import { customerBody } from './customer.serializer.js';
import { type Customer, CustomersRepository } from './customers.repository.js';
import type { CustomerBody, CustomerListBody, CustomerPaymentListBody } from './dto/customer.body.js';
import type { ListCustomerPaymentsQuery, ListCustomersQuery } from './dto/customer.dto.js';

/** Sales that are added up for each customer of a list, and for one customer. */
const MOST_IN_LIST = 1_000;
const MOST_OF_ONE = 100_000;
/** Sales whose export and erasure a request may wait for. */
const MAX_AT_ONCE = 10_000;

/** The people who paid an account's sales in one mode. Nothing is stored about them beside their sales. */
@Injectable()
export class CustomersService {
  constructor(
    private readonly customers: CustomersRepository,
    private readonly payments: PaymentsService,
    private readonly transactions: TransactionsService,
    private readonly payers: MedPayers,
    private readonly personal: CustomerDataService,
  ) {}

  /**
   * Lists who paid last first, or who bought most. With a text only customers of the newest sales that match it.
   * @throws ApiError 400 for a foreign cursor, 503 as the search of payments
   */
  async list(scope: Scope, query: ListCustomersQuery): Promise<CustomerListBody> {
    const before = await this.#cursor(scope, query.starting_after);
    const { limit } = cursorFilter(query);
    const ids = await this.#matching(scope, query);
    const isByAmount = query.order === 'most_bought';
    const found = isByAmount
      ? await this.customers.mostBought(scope, ids, before, MOST_IN_LIST, limit)
      : ids === null
        ? await this.customers.list(scope, before, MOST_IN_LIST, limit)
        : await this.customers.ofSales(scope, ids, before, MOST_IN_LIST, limit);
    const page = cursorPage(found, limit, customerBody, () => found[limit - 2]?.newestId ?? '');
    if (page.has_more || isByAmount || ids !== null) return page;
    // The page has looked at as many sales as it may, and older ones may have further customers.
    const last = await this.customers.lastLookedAt(scope, before);
    return last === null ? page : { ...page, has_more: true, next_cursor: last };
  }

  /** Counts what the list has, and sums what these customers paid. @throws ApiError 503 as the search of payments */
  async totals(scope: Scope, query: ListCustomersQuery): Promise<TotalsBody> {
    const found = await this.customers.totals(scope, await this.#matching(scope, query));
    const { customers = 0, isComplete = true } = found[0] ?? {};
    const more = !isComplete || customers > MAX_COUNTED;
    const amounts = found.map(({ currency, count, amount }) => ({ currency, count, amount }));
    return { count: Math.min(customers, MAX_COUNTED), more, amounts: more ? [] : amounts };
  }

  /** @param id any sale of the customer @throws ApiError 404 */
  async get(scope: Scope, id: string): Promise<CustomerBody> {
    return customerBody((await this.#find(scope, id)).customer);
  }

  /** @throws ApiError 400 for a foreign cursor, 404 */
  async sales(scope: Scope, id: string, query: ListCustomerPaymentsQuery): Promise<CustomerPaymentListBody> {
    const { key } = await this.#find(scope, id);
    const before = await this.#cursor(scope, query.starting_after?.replace(/^tx_/, ''));
    const { limit } = cursorFilter(query);
    const rows = await this.customers.sales(scope, key, before, limit);
    return cursorPage(
      rows,
      limit,
      (row) => paymentItem(this.payers.show(row)),
      (item) => item.id,
    );
  }

  /** Everything that the account keeps about the customer in this mode. @throws ApiError 404, 409 */
  async export(scope: Scope, id: string, actor: Actor): Promise<ExportedSections> {
    const { customer } = await this.#find(scope, id);
    const { transactions, ...sections } = await this.personal.export(
      scope.accountId,
      personOf(scope, customer),
      actor,
      MAX_AT_ONCE,
    );
    return { transactions: transactions.map(({ id, ...kept }) => ({ transaction_id: id, ...kept })), ...sections };
  }

  /** Blanks the customer in this mode. @throws ApiError 404, 409 */
  async erase(scope: Scope, id: string, withMetadata: boolean, actor: Actor): Promise<Erasure> {
    const { customer } = await this.#find(scope, id);
    const sales = customer.totals.reduce((sum, one) => sum + one.sales, 0);
    if (sales > MAX_AT_ONCE) {
      throw conflict('customer_too_large', `More than ${MAX_AT_ONCE} sales: whoever runs the service can erase them.`);
    }
    return this.personal.erase(scope.accountId, personOf(scope, customer), withMetadata, actor);
  }

  /** The sales that match the text of the query; null without one. */
  async #matching(scope: Scope, { query }: ListCustomersQuery): Promise<string[] | null> {
    return query === undefined ? null : this.payments.find(scope, query.trim());
  }

  async #find(scope: Scope, id: string): Promise<{ key: string; customer: Customer }> {
    const key = await this.customers.keyOf(scope, id);
    const customer = key === null ? null : await this.customers.byKey(scope, key, MOST_OF_ONE);
    if (key === null || !customer) throw notFound('customer');
    return { key, customer };
  }

  /** @throws ApiError 400 unless the cursor is a sale of the account */
  async #cursor(scope: Scope, id: string | undefined): Promise<string | null> {
    if (id === undefined) return null;
    await this.transactions.get(scope, id, 'payment').catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      throw invalidRequest([{ param: 'starting_after', code: 'invalid', message: 'must be a `next_cursor`' }]);
    });
    return id;
  }
}

function personOf({ mode }: Scope, { taxId, email }: Customer): Person {
  return { taxId, email: taxId === null ? email : null, phone: null, mode, isEmailAlone: true };
}
