import { keepPreviousData, useQueries } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { PaymentItemBody, PaymentListBody } from '../../../src/payments/dto/payment.body.js';
import { ORDER_KEYS } from '../../../src/transactions/order-keys.js';
import { call, door, withQuery } from '../api.js';
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

/** Sales of rows that load together. */
const AT_ONCE = 100;
const plainId = (id: string): string => id.replace(/^(ch|tx)_/, '');

/** Loads the sales that rows are about, many with one request. @param ids with or without `ch_` */
export function useSales(ids: readonly (string | null)[]): (id: string) => PaymentItemBody | undefined {
  const mode = useMode();
  const wanted = [...new Set(ids.flatMap((id) => (id === null ? [] : [plainId(id)])))];
  const parts = Array.from({ length: Math.ceil(wanted.length / AT_ONCE) }, (_, n) =>
    wanted.slice(n * AT_ONCE, (n + 1) * AT_ONCE).join(','),
  );
  const lists = useQueries({
    queries: parts.map((part) => ({
      // The key does not begin with the mode: events of other sales must not reload every name.
      queryKey: ['sale names', mode, part],
      queryFn: () => call<PaymentListBody>('GET', door(mode, withQuery('/payments', { ids: part, limit: AT_ONCE }))),
      placeholderData: keepPreviousData,
      staleTime: 600_000,
    })),
  });
  const sales = new Map(lists.flatMap(({ data }) => data?.data ?? []).map((sale) => [plainId(sale.id), sale]));
  return (id) => sales.get(plainId(id));
}

/**
 * Shows the customer and order of a sale in a list, with a link to the sale.
 * @param id with or without `ch_`
 * @param sale undefined while it loads
 * @param isWhole with the description and the method in a second line
 */
export function SaleName({
  id,
  sale,
  isWhole = false,
}: {
  id: string;
  sale: PaymentItemBody | undefined;
  isWhole?: boolean;
}): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  const line = (parts: readonly (string | null)[]): string =>
    parts.filter((part) => part !== null && part !== '').join(' · ');
  const names = sale ? [sale.customerName ?? sale.customerEmail, orderOf(sale.metadata)] : [];
  const details = sale
    ? line([descriptionOf(sale.metadata), sale.paidWith === null ? null : methodName(sale.paidWith, t)])
    : '';
  return (
    <>
      <Link to={`/${mode}/sales/${plainId(id)}`}>{line(names) || plainId(id).slice(0, 13)}</Link>
      {isWhole && details !== '' && <span className="note">{details}</span>}
    </>
  );
}
