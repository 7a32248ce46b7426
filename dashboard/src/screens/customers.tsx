import type { ReactNode } from 'react';
import type { CustomerBody } from '../../../src/customers/dto/customer.body.js';
import { door } from '../api.js';
import { customerName, shownTaxId, totalOf } from '../customer-words.js';
import { textOf } from '../forms.js';
import { useLanguage } from '../language.js';
import { isText, ListBar, useFilters, SearchField } from '../list-bar.js';
import { Listing, usePages } from '../lists.js';
import { useMode } from '../session.js';
import { Button, Link, Page, Time } from '../ui.js';

/** A filter that the service accepts, or it would refuse the list. */
const RULES = { query: (text: string) => text.trim().length >= 2 && isText(text) };

/** Customers, the last payer first. */
export function Customers(): ReactNode {
  const { t, language } = useLanguage();
  const mode = useMode();
  const [filters, change, isFiltered] = useFilters(RULES);
  const { query } = filters;
  const list = usePages<CustomerBody>([mode, 'customers', query], door(mode, '/customers'), { query, limit: 50 });
  return (
    <Page title={t('Clientes', 'Customers')}>
      <form
        key={query}
        className="filters"
        onSubmit={(event) => {
          event.preventDefault();
          change({ query: textOf(new FormData(event.currentTarget), 'query') });
        }}
      >
        <SearchField query={query} placeholder={t('Nome, CPF, CNPJ ou e-mail', 'Name, tax id or e-mail')} />
        <Button type="submit">{t('Buscar', 'Search')}</Button>
        {isFiltered && (
          <Link to={`/${mode}/customers`} className="button">
            {t('Limpar', 'Clear')}
          </Link>
        )}
      </form>
      <ListBar
        name="customers"
        filters={filters}
        change={change}
        count={{
          one: t('cliente', 'customer'),
          several: t('clientes', 'customers'),
          exact: list.hasNextPage ? undefined : list.data?.length,
        }}
      />
      <Listing
        list={list}
        rows={list.data}
        label={t('Clientes', 'Customers')}
        empty={
          isFiltered
            ? t('Nenhum cliente encontrado.', 'No customer found.')
            : t('Ainda não há clientes.', 'There are no customers yet.')
        }
        keyOf={({ id }) => id}
        columns={[
          {
            name: t('Cliente', 'Customer'),
            cell: (one) => (
              <>
                <Link to={`/${mode}/customers/${one.id}`}>{customerName(one)}</Link>
                {one.name !== null && one.email !== null && <span className="note">{one.email}</span>}
              </>
            ),
          },
          { name: t('CPF ou CNPJ', 'Tax id'), cell: ({ tax_id }) => (tax_id === null ? '–' : shownTaxId(tax_id)) },
          { name: t('Compras', 'Purchases'), isNumber: true, cell: (one) => totalOf(one, 'sales', language) },
          {
            name: t('Pagou', 'Paid'),
            isNumber: true,
            card: 'amount',
            cell: (one) => totalOf(one, 'amount_paid', language),
          },
          {
            name: t('Devolvido', 'Given back'),
            isNumber: true,
            cell: (one) => totalOf(one, 'amount_refunded', language),
          },
          {
            name: t('Em disputa', 'Disputed'),
            isNumber: true,
            cell: (one) => totalOf(one, 'amount_disputed', language),
          },
          { name: t('Última compra', 'Last purchase'), cell: ({ last_paid_at }) => <Time at={last_paid_at} /> },
        ]}
      >
        {!isFiltered && (
          <p>
            {t(
              'Quem paga uma venda com CPF, CNPJ ou e-mail aparece aqui.',
              'Everybody who pays a sale with a tax id or e-mail appears here.',
            )}
          </p>
        )}
      </Listing>
    </Page>
  );
}
