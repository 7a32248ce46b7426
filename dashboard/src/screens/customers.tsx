import type { ReactNode } from 'react';
import type { CustomerBody } from '../../../src/customers/dto/customer.body.js';
import { door } from '../api.js';
import { customerName, shownTaxId, totalOf } from '../customer-words.js';
import { textOf } from '../forms.js';
import { useLanguage } from '../language.js';
import { isOneOf, isText, ListBar, useFilters, useTotals, SearchField } from '../list-bar.js';
import { Listing, usePages } from '../lists.js';
import { useMode } from '../session.js';
import { Button, Choice, Link, Page, Time } from '../ui.js';

/** Filters that the service accepts, or it would refuse the list. */
const RULES = {
  query: (text: string) => text.trim().length >= 2 && isText(text),
  order: isOneOf(['most_bought']),
};

/** Customers, the last payer or who bought most first. */
export function Customers(): ReactNode {
  const { t, language } = useLanguage();
  const mode = useMode();
  const [filters, change, isFiltered] = useFilters(RULES);
  const { query, order } = filters;
  const totals = useTotals([mode, 'customers'], door(mode, '/customers'), { query });
  const list = usePages<CustomerBody>([mode, 'customers', filters], door(mode, '/customers'), {
    query,
    order,
    limit: 50,
  });
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
        <Choice
          label={t('Ordem', 'Order')}
          value={order}
          onChange={({ target }) => change({ order: target.value })}
          options={[
            ['', t('Última compra', 'Last purchase')],
            ['most_bought', t('Quem mais comprou', 'Most bought')],
          ]}
        />
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
        count={{ one: t('cliente', 'customer'), several: t('clientes', 'customers') }}
        totals={totals}
        exported={{ type: 'customers', filters: { query } }}
      />
      <Listing
        list={list}
        rows={list.data}
        label={t('Clientes', 'Customers')}
        empty={
          query !== ''
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
        {query === '' && (
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
