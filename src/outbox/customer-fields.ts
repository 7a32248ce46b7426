/** Fields of `data.transaction` that tell who pays, and the merchant's own words about the sale: where nobody is told of. */
export const NO_CUSTOMER = {
  customerName: null,
  customerDocument: null,
  customerEmail: null,
  customerPhone: null,
  expectedPayerTaxId: null,
  metadata: {},
};
const CUSTOMER_FIELDS = new Set(Object.keys(NO_CUSTOMER));

interface EventData {
  readonly transaction?: Readonly<Record<string, unknown>>;
}

/** @returns the data without what `customer` has; null where the event tells of no transaction */
export function splitCustomer(data: object): { data: object; customer: object | null } {
  const { transaction } = data as EventData;
  if (!transaction) return { data, customer: null };
  const fields = Object.entries(transaction);
  const rest = fields.filter(([name]) => !CUSTOMER_FIELDS.has(name));
  return {
    data: { ...data, transaction: Object.fromEntries(rest) },
    customer: Object.fromEntries(fields.filter(([name]) => CUSTOMER_FIELDS.has(name))),
  };
}

export function joinCustomer<D extends object>(data: D, customer: object): D {
  return { ...data, transaction: { ...(data as EventData).transaction, ...customer } };
}
