import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { PaymentDetailBody } from '../../../src/payments/dto/payment.body.js';
import { ORDER_KEYS } from '../../../src/transactions/order-keys.js';
import { call, door } from '../api.js';
import { useLanguage } from '../language.js';
import { useMode } from '../session.js';
import { Link } from '../ui.js';
import { methodName } from '../words.js';

/** The order number, by the names that shops use. */
export function orderOf(metadata: Readonly<Record<string, unknown>>): string | null {
  const found = ORDER_KEYS.map((key) => metadata[key]).find(
    (one) => typeof one === 'string' || typeof one === 'number',
  );
  return found === undefined ? null : String(found);
}

/** The description that the payer sees. */
function descriptionOf({ description }: Readonly<Record<string, unknown>>): string | null {
  return typeof description === 'string' ? description : null;
}

/**
 * Shows the customer and order of a sale in a list, with a link to the sale.
 * @param id with or without `ch_`
 * @param isWhole with the description and the method in a second line
 */
export function SaleName({ id, isWhole = false }: { id: string; isWhole?: boolean }): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  const plain = id.replace(/^(ch|tx)_/, '');
  const sale = useQuery({
    // The key does not begin with the mode: events of other sales must not reload every name.
    queryKey: ['sale name', mode, plain],
    queryFn: () => call<PaymentDetailBody>('GET', door(mode, `/payments/${plain}`)),
    staleTime: 600_000,
  });
  const names = sale.data ? [sale.data.customerName ?? sale.data.customerEmail, orderOf(sale.data.metadata)] : [];
  const line = (parts: readonly (string | null)[]): string =>
    parts.filter((part) => part !== null && part !== '').join(' · ');
  const details = sale.data
    ? line([descriptionOf(sale.data.metadata), sale.data.paidWith === null ? null : methodName(sale.data.paidWith, t)])
    : '';
  return (
    <>
      <Link to={`/${mode}/sales/${plain}`}>{line(names) || plain.slice(0, 13)}</Link>
      {isWhole && details !== '' && <span className="note">{details}</span>}
    </>
  );
}
