import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { PaymentDetailBody } from '../../../src/payments/dto/payment.body.js';
import { ORDER_KEYS } from '../../../src/transactions/order-keys.js';
import { call, door } from '../api.js';
import { useMode } from '../session.js';
import { Link } from '../ui.js';

/** The order number, by the names that shops use. */
export function orderOf(metadata: Readonly<Record<string, unknown>>): string | null {
  const found = ORDER_KEYS.map((key) => metadata[key]).find(
    (one) => typeof one === 'string' || typeof one === 'number',
  );
  return found === undefined ? null : String(found);
}

/** Shows the customer and order of a sale in a list, with a link to the sale. @param id with or without `ch_` */
export function SaleName({ id }: { id: string }): ReactNode {
  const mode = useMode();
  const plain = id.replace(/^(ch|tx)_/, '');
  const sale = useQuery({
    // The key does not begin with the mode: events of other sales must not reload every name.
    queryKey: ['sale name', mode, plain],
    queryFn: () => call<PaymentDetailBody>('GET', door(mode, `/payments/${plain}`)),
    staleTime: 600_000,
  });
  const names = sale.data ? [sale.data.customerName ?? sale.data.customerEmail, orderOf(sale.data.metadata)] : [];
  return (
    <Link to={`/${mode}/sales/${plain}`}>{names.filter((one) => one !== null).join(' · ') || plain.slice(0, 13)}</Link>
  );
}
