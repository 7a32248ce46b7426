import type { Customer } from './customers.repository.js';
import type { CustomerBody } from './dto/customer.body.js';

export const CUSTOMER_ID_PREFIXES = ['cus_', 'ch_', 'tx_'];

export function customerBody({ id, name, taxId, email, phone, ...customer }: Customer): CustomerBody {
  return {
    id: `cus_${id}`,
    object: 'customer',
    name,
    tax_id: taxId,
    email,
    phone,
    first_paid_at: customer.firstPaidAt.toISOString(),
    last_paid_at: customer.lastPaidAt.toISOString(),
    totals: customer.totals.map(({ currency, sales, paid, refunded, disputed }) => ({
      currency,
      sales,
      amount_paid: paid,
      amount_refunded: refunded,
      amount_disputed: disputed,
    })),
    is_complete: customer.isComplete,
  };
}
