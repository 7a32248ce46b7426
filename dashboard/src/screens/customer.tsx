import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type {
  CustomerBody,
  CustomerErasureBody,
  CustomerExportBody,
} from '../../../src/customers/dto/customer.body.js';
import type { MedCaseBody } from '../../../src/med/desk/dto/med-case.body.js';
import type { PaymentItemBody } from '../../../src/payments/dto/payment.body.js';
import { useParam } from '../address.js';
import { call, door } from '../api.js';
import { customerName, shownTaxId, totalOf } from '../customer-words.js';
import { ActionDialog } from '../dialog.js';
import { useLanguage } from '../language.js';
import { Listing, usePages, useRefresh } from '../lists.js';
import { useMode, useSession } from '../session.js';
import { ActButton, Card, Countdown, Facts, Link, Loading, Money, Page, Status, Time, Unavailable } from '../ui.js';
import { caseStatus, metadataName, saleState } from '../words.js';
import { orderOf } from './sale-name.js';

/** Shows a customer with their sales, refunds and disputes. */
export function Customer(): ReactNode {
  const { t, language } = useLanguage();
  const mode = useMode();
  const isOwner = useSession().role === 'OWNER';
  const id = useParam('id');
  const path = `/customers/${encodeURIComponent(id)}`;
  const customer = useQuery({
    queryKey: [mode, 'customer', id],
    queryFn: () => call<CustomerBody>('GET', door(mode, path)),
  });
  const sales = usePages<PaymentItemBody>(
    [mode, 'customer', id, 'sales'],
    door(mode, `${path}/payments`),
    { limit: 25 },
    { enabled: customer.data !== undefined },
  );
  const disputes = usePages<MedCaseBody>(
    [mode, 'customer', id, 'disputes'],
    door(mode, '/med/cases'),
    { customer: id, limit: 25 },
    { enabled: customer.data !== undefined },
  );
  if (customer.error && !customer.data)
    return <Unavailable error={customer.error} retry={() => void customer.refetch()} />;
  if (!customer.data) return <Loading />;
  const data = customer.data;
  const total = (name: 'sales' | 'amount_paid' | 'amount_refunded' | 'amount_disputed'): string =>
    totalOf(data, name, language);
  return (
    <Page
      title={customerName(data)}
      actions={
        isOwner && (
          <>
            <ActButton icon="download" act={() => saveExport(door(mode, `${path}/export`), data)}>
              {t('Exportar dados', 'Export data')}
            </ActButton>
            <Erase customer={data} path={path} />
          </>
        )
      }
    >
      <div className="grid wide">
        <Card title={t('Dados', 'Details')}>
          <Facts
            rows={[
              [t('Nome', 'Name'), data.name],
              [t('CPF ou CNPJ', 'Tax id'), data.tax_id !== null && shownTaxId(data.tax_id)],
              ['E-mail', data.email],
              [t('Telefone', 'Phone'), data.phone],
              [t('Primeira compra', 'First purchase'), <Time at={data.first_paid_at} />],
              [t('Última compra', 'Last purchase'), <Time at={data.last_paid_at} />],
            ]}
          />
        </Card>
        <Card title={t('Total', 'Total')}>
          <Facts
            rows={[
              [t('Compras pagas', 'Paid purchases'), total('sales')],
              [t('Pagou', 'Paid'), total('amount_paid')],
              [t('Devolvido', 'Given back'), total('amount_refunded')],
              [t('Em disputa ou perdido', 'Disputed or lost'), total('amount_disputed')],
            ]}
          />
        </Card>
      </div>
      <Card title={t('Compras', 'Purchases')}>
        <Listing
          list={sales}
          rows={sales.data}
          label={t('Compras', 'Purchases')}
          keyOf={(sale) => sale.id}
          columns={[
            {
              name: t('Paga em', 'Paid at'),
              cell: (sale) => (
                <Link to={`/${mode}/sales/${sale.id}`}>
                  <Time at={sale.paidAt} />
                </Link>
              ),
            },
            { name: t('Valor', 'Amount'), isNumber: true, cell: (sale) => <Money {...sale} /> },
            {
              name: t('Situação', 'Status'),
              cell: (sale) => <Status value={sale.status} label={saleState(sale, t)} />,
            },
            {
              name: t('Devolvido', 'Given back'),
              isNumber: true,
              cell: ({ amountRefunded, currency }) => <Money amount={amountRefunded ?? null} currency={currency} />,
            },
            { name: t('Pedido', 'Order'), cell: ({ metadata }) => orderOf(metadata) ?? '–' },
            {
              name: metadataName('description', t),
              cell: ({ metadata: { description } }) => (typeof description === 'string' ? description : '–'),
            },
          ]}
        />
      </Card>
      {(disputes.error !== null || (disputes.data?.length ?? 0) > 0) && (
        <Card title={t('Disputas', 'Disputes')}>
          <Listing
            list={disputes}
            rows={disputes.data}
            label={t('Disputas', 'Disputes')}
            older={t('Mais antigas', 'Older ones')}
            keyOf={(one) => one.id}
            columns={[
              {
                name: t('Aberta', 'Opened'),
                cell: (one) => (
                  <Link to={`/${mode}/disputes/${one.id}`}>
                    <Time at={one.opened_at} />
                  </Link>
                ),
              },
              { name: t('Valor', 'Amount'), isNumber: true, cell: (one) => <Money {...one} /> },
              {
                name: t('Situação', 'Status'),
                cell: (one) => <Status value={one.status} label={caseStatus(one.status, t)} />,
              },
              {
                name: t('Prazo', 'Deadline'),
                cell: (one) => (one.status === 'open' ? <Countdown at={one.response_deadline} /> : '–'),
              },
            ]}
          />
        </Card>
      )}
    </Page>
  );
}

/** Saves everything about a customer as a file. */
async function saveExport(path: string, { id }: CustomerBody): Promise<void> {
  const all = await call<CustomerExportBody>('POST', path);
  const url = URL.createObjectURL(new Blob([JSON.stringify(all, null, 2)], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${id}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function Erase({ customer, path }: { customer: CustomerBody; path: string }): ReactNode {
  const { t, language } = useLanguage();
  const mode = useMode();
  const refresh = useRefresh(mode);
  const [withMetadata, setWithMetadata] = useState(false);
  /** Sales that still need the data; null: nothing was erased yet. */
  const [left, setLeft] = useState<number | null>(null);
  const navigate = useNavigate();
  const name = customerName(customer);
  const sales = totalOf(customer, 'sales', language);
  return (
    <ActionDialog
      trigger={t('Apagar dados', 'Erase data')}
      tone="danger"
      title={t(`Apagar os dados de ${name}`, `Erase the data of ${name}`)}
      confirm={t('Apagar para sempre', 'Erase for good')}
      opened={() => {
        setWithMetadata(false);
        setLeft(null);
      }}
      act={async () => {
        const body = { metadata: withMetadata };
        const { waiting } = await call<CustomerErasureBody>('POST', door(mode, `${path}/erase`), body);
        setLeft(waiting.length);
      }}
      done={
        <p role="status">
          {left === null || left === 0
            ? t('Os dados foram apagados.', 'The data were erased.')
            : t(
                `Apagados, menos em ${String(left)} que ainda estão abertos: apague de novo quando terminarem.`,
                `Erased, except in ${String(left)} that are still open: erase again when these are over.`,
              )}
        </p>
      }
      closed={async () => {
        if (left === null) return;
        // The address names a sale that may be erased.
        await navigate({ to: `/${mode}/customers` });
        await refresh();
      }}
    >
      <p>
        {t(
          `Nome, CPF ou CNPJ, e-mail e telefone saem das ${sales} compras e de tudo o que foi copiado delas. Valores, datas e situações ficam, como a lei pede. Não há volta.`,
          `Name, tax id, e-mail and phone go from the ${sales} purchases and from all copies of them. Amounts, dates and statuses stay, as the law asks. There is no way back.`,
        )}
      </p>
      <label>
        <input type="checkbox" checked={withMetadata} onChange={({ target }) => setWithMetadata(target.checked)} />{' '}
        {t('Apagar também o que eu escrevi nas vendas', 'Erase what I wrote into the sales too')}
      </label>
    </ActionDialog>
  );
}
