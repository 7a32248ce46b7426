import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { PaymentItemBody, PaymentListBody } from '../../../src/payments/dto/payment.body.js';
import { call, door, withQuery } from '../api.js';
import { DateRange } from '../controls.js';
import { textOf } from '../forms.js';
import { useLanguage } from '../language.js';
import { isDay, isOneOf, isPage, isText, ListBar, useFilters, useTotals, SearchField } from '../list-bar.js';
import { type NamedColumn, useColumns } from '../lists.js';
import { useWalk } from '../neighbours.js';
import { useMayAct, useMode } from '../session.js';
import { Button, Choice, Empty, Failure, Id, Link, Loading, Money, Page, Status, Table, Time } from '../ui.js';
import { methodName, SALE_STATUSES, saleState, saleStatus } from '../words.js';
import { orderOf } from './sale-name.js';

const SORTS = ['createdAt', 'amount', 'status', 'customerName', 'paidAt'];

/** Filters that the service accepts, or it would refuse the list. */
const RULES = {
  query: (text: string) => text.trim().length >= 2 && isText(text),
  status: isOneOf(SALE_STATUSES),
  startDate: isDay,
  endDate: isDay,
  sortBy: isOneOf(SORTS),
  sortOrder: isOneOf(['asc', 'desc']),
  page: isPage,
};
const LIMIT = 25;

/** Where this browser keeps the chosen columns. */
const SHOWN = 'recebe.columns';
const FIRST_SHOWN = ['when', 'amount', 'status', 'customer', 'method', 'net', 'order'];

export function Sales(): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  const mayAct = useMayAct();
  const [filters, change, isFiltered] = useFilters(RULES);
  const { query, status, startDate, endDate } = filters;
  const totals = useTotals([mode, 'sales'], door(mode, '/payments'), { query, status, startDate, endDate });
  const list = useQuery({
    queryKey: [mode, 'sales', filters],
    queryFn: () => call<PaymentListBody>('GET', door(mode, withQuery('/payments', { ...filters, limit: LIMIT }))),
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  });
  useWalk(mode, { ...filters, page: undefined, limit: LIMIT }, list.isPlaceholderData ? undefined : list.data);
  const columns: readonly NamedColumn<PaymentItemBody>[] = [
    {
      id: 'when',
      sort: 'createdAt',
      name: t('Quando', 'When'),
      cell: ({ id, createdAt }) => (
        <Link to={`/${mode}/sales/${id}`}>
          <Time at={createdAt} />
        </Link>
      ),
    },
    { id: 'amount', name: t('Valor', 'Amount'), isNumber: true, cell: (sale) => <Money {...sale} /> },
    {
      id: 'status',
      name: t('Situação', 'Status'),
      cell: (sale) => <Status value={sale.status} label={saleState(sale, t)} />,
    },
    {
      id: 'customer',
      name: t('Cliente', 'Customer'),
      cell: ({ id, customerName, customerEmail }) =>
        (customerName ?? customerEmail) === null ? (
          '–'
        ) : (
          <Link to={`/${mode}/sales/${id}`}>{customerName ?? customerEmail}</Link>
        ),
    },
    {
      id: 'method',
      name: t('Forma de pagamento', 'Method'),
      cell: ({ paidWith, paymentMethods }) =>
        (paidWith === null ? paymentMethods : [paidWith]).map((one) => methodName(one, t)).join(', '),
    },
    {
      id: 'net',
      name: t('Líquido', 'Net'),
      isNumber: true,
      cell: (sale) => <Money {...sale} amount={sale.netAmount} />,
    },
    { id: 'order', name: t('Pedido', 'Order'), cell: ({ metadata }) => orderOf(metadata) ?? '–' },
    { id: 'paid', name: t('Paga em', 'Paid at'), cell: ({ paidAt }) => <Time at={paidAt} /> },
    { id: 'email', name: 'E-mail', cell: ({ customerEmail }) => customerEmail ?? '–' },
    { id: 'document', name: t('Documento', 'Document'), cell: ({ customerDocument }) => customerDocument ?? '–' },
    {
      id: 'fees',
      name: t('Tarifas', 'Fees'),
      isNumber: true,
      cell: ({ providerFee, platformFee, currency }) => (
        <Money amount={providerFee === null ? null : providerFee + (platformFee ?? 0)} currency={currency} />
      ),
    },
    {
      id: 'refunded',
      name: t('Reembolsado', 'Refunded'),
      isNumber: true,
      cell: ({ amountRefunded, currency }) => <Money amount={amountRefunded ?? null} currency={currency} />,
    },
    { id: 'id', name: 'Id', cell: ({ id }) => <Id value={id} /> },
  ];
  const [shown, choice] = useColumns(SHOWN, columns, FIRST_SHOWN);
  const page = filters.page === '' ? 1 : Number(filters.page);
  const pages = Math.max(1, Math.ceil((list.data?.total ?? 0) / LIMIT));
  return (
    <Page
      title={t('Vendas', 'Sales')}
      actions={
        mayAct && (
          <Link to={`/${mode}/sales/new`} className="button primary">
            {t('Nova cobrança', 'New charge')}
          </Link>
        )
      }
    >
      <form
        key={query}
        className="filters"
        onSubmit={(event) => {
          event.preventDefault();
          change({ query: textOf(new FormData(event.currentTarget), 'query') });
        }}
      >
        <SearchField
          query={query}
          placeholder={t('Nome, documento, e-mail, pedido ou id', 'Name, document, e-mail, order or id')}
        />
        <Choice
          label={t('Situação', 'Status')}
          value={status}
          onChange={({ target }) => change({ status: target.value })}
          options={[
            ['', t('Todas', 'All')],
            ...SALE_STATUSES.map((status) => [status, saleStatus(status, t)] as const),
          ]}
        />
        <DateRange
          label={t('Criadas', 'Created')}
          value={{ from: startDate, to: endDate }}
          onChange={({ from, to }) => change({ startDate: from, endDate: to })}
        />
        <Button type="submit">{t('Filtrar', 'Filter')}</Button>
        {isFiltered && (
          <Link to={`/${mode}/sales`} className="button">
            {t('Limpar', 'Clear')}
          </Link>
        )}
      </form>
      {list.error && <Failure error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Loading shape="list" />}
      {list.data?.data.length === 0 &&
        (isFiltered ? (
          <Empty title={t('Nenhuma venda é assim.', 'No sale is like that.')}>
            <p>
              {t(
                'Confira o que foi escrito, ou o modo: vendas de teste e de produção são separadas.',
                'Look at the spelling, or the mode: test and live sales are apart.',
              )}
            </p>
          </Empty>
        ) : (
          <Empty title={t('Ainda não há vendas.', 'There are no sales yet.')}>
            {mayAct && (
              <p>
                <Link to={`/${mode}/sales/new`}>{t('Crie a primeira cobrança.', 'Create the first charge.')}</Link>
              </p>
            )}
          </Empty>
        ))}
      {list.data && list.data.data.length > 0 && (
        <>
          <ListBar
            name="sales"
            filters={filters}
            change={change}
            count={{ one: t('venda', 'sale'), several: t('vendas', 'sales'), exact: list.data.total }}
            totals={totals}
            exported={{ type: 'sales', from: startDate, to: endDate, filters: { basis: 'created', status, query } }}
          >
            {choice}
          </ListBar>
          <Table
            label={t('Vendas', 'Sales')}
            columns={shown}
            rows={list.data.data}
            keyOf={({ id }) => id}
            sort={{ by: filters.sortBy || 'createdAt', order: filters.sortOrder === 'asc' ? 'asc' : 'desc' }}
            onSort={({ by, order }) =>
              change({ sortBy: by === 'createdAt' ? '' : by, sortOrder: order === 'desc' ? '' : order })
            }
          />
          <nav className="pages" aria-label={t('Páginas', 'Pages')}>
            <Button disabled={page <= 1} onClick={() => change({ page: String(page - 1) })}>
              {t('Anterior', 'Previous')}
            </Button>
            <span>
              {page} / {pages}
            </span>
            <Button disabled={page >= pages} onClick={() => change({ page: String(page + 1) })}>
              {t('Próxima', 'Next')}
            </Button>
          </nav>
        </>
      )}
    </Page>
  );
}
