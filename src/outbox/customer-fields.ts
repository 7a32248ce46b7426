import { entityOf, personalColumnsOf } from '../core/database/index.js';

interface EventData {
  readonly transaction?: Readonly<Record<string, unknown>>;
}

/** The empty customer, made when first needed: this room does not import the entity of transactions. */
let noCustomer: Readonly<Record<string, unknown>> | undefined;

/**
 * Returns the fields of `data.transaction` about its payer, with the merchant's own words, as they are without a payer.
 */
export function emptyCustomer(): Readonly<Record<string, unknown>> {
  if (noCustomer) return noCustomer;
  const transactions = entityOf('transactions');
  // Without the entity, events would keep their customers in clear text.
  if (transactions === undefined) throw new Error('The entity of transactions is not loaded');
  const personal = personalColumnsOf(transactions).filter(
    ({ erased, path }) => erased !== 'never' && path.length === 0,
  );
  noCustomer = Object.fromEntries(personal.map(({ property, empty }) => [property, empty]));
  return noCustomer;
}

/** @returns the data without the fields of `customer`; `customer` is null if the event has no transaction */
export function splitCustomer(data: object): { data: object; customer: object | null } {
  const { transaction } = data as EventData;
  if (!transaction) return { data, customer: null };
  const isCustomer = ([name]: [string, unknown]): boolean => Object.hasOwn(emptyCustomer(), name);
  const fields = Object.entries(transaction);
  return {
    data: { ...data, transaction: Object.fromEntries(fields.filter((field) => !isCustomer(field))) },
    customer: Object.fromEntries(fields.filter(isCustomer)),
  };
}

export function joinCustomer<D extends object>(data: D, customer: object): D {
  return { ...data, transaction: { ...(data as EventData).transaction, ...customer } };
}
