import { entityOf, personalColumnsOf } from '../core/database/index.js';

interface EventData {
  readonly transaction?: Readonly<Record<string, unknown>>;
}

/** The empty customer, made when it is first needed: no entity of transactions is known to this room. */
let noCustomer: Readonly<Record<string, unknown>> | undefined;

/** Fields of `data.transaction` about its payer, with the merchant's own words, as they are without a payer. */
export function emptyCustomer(): Readonly<Record<string, unknown>> {
  if (noCustomer) return noCustomer;
  const transactions = entityOf('transactions');
  // Without it events would keep their customers in clear text.
  if (transactions === undefined) throw new Error('The entity of transactions is not loaded');
  const personal = personalColumnsOf(transactions).filter(
    ({ erased, path }) => erased !== 'never' && path.length === 0,
  );
  noCustomer = Object.fromEntries(personal.map(({ property, empty }) => [property, empty]));
  return noCustomer;
}

/** @returns the data without what `customer` has; null where the event tells of no transaction */
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
