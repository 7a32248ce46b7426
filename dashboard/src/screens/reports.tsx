import { useQuery } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { ReportBody, ReportListBody } from '../../../src/reports/dto/report.body.js';
import { useQueryText } from '../address.js';
import { call, door } from '../api.js';
import { DateRange } from '../controls.js';
import { day, fileSize, isoDay } from '../format.js';
import { textOf } from '../forms.js';
import { useLanguage } from '../language.js';
import { linkStatus } from '../link-words.js';
import { SearchField } from '../list-bar.js';
import { Listing, useRefresh } from '../lists.js';
import { payoutStatus } from '../payout-words.js';
import { useMode } from '../session.js';
import { Button, Card, Choice, Failure, Input, Page, Status, Time } from '../ui.js';
import { bucketName, caseStatus, caseType, deliveryStatus, entryType, SALE_STATUSES, saleStatus } from '../words.js';

const DAY_MS = 86_400_000;
/** A window has at most 400 days. */
const MAX_DAYS = 399;
const REST_MS = 1_000;

const STATUS_NAMES: Readonly<Partial<Record<ReportBody['type'], typeof saleStatus>>> = {
  ...{ sales: saleStatus, disputes: caseStatus, payouts: payoutStatus },
  ...{ payment_links: linkStatus, deliveries: deliveryStatus },
};

export function Reports(): ReactNode {
  const { t, language } = useLanguage();
  const mode = useMode();
  const refresh = useRefresh(mode, 'reports');
  // Filters of the list from which the person came.
  const asked = useQueryText();
  const [type, setType] = useState(asked.type ?? 'statement');
  // A list without a start date covers everything: the report covers as much as a file may.
  const days = asked.type === undefined ? 30 : MAX_DAYS;
  const [period, setPeriod] = useState({
    from: asked.from || isoDay(new Date(Date.now() - days * DAY_MS)),
    to: asked.to || isoDay(new Date()),
  });
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const list = useQuery({
    queryKey: [mode, 'reports'],
    queryFn: () => call<ReportListBody>('GET', door(mode, '/reports?limit=25')),
    refetchInterval: ({ state }) =>
      state.data?.data.some(({ status }) => ['pending', 'processing'].includes(status)) ? 1_000 : false,
  });
  const types: readonly (readonly [string, string])[] = [
    ['statement', t('Extrato', 'Statement')],
    ['sales', t('Vendas', 'Sales')],
    ['refunds', t('Reembolsos', 'Refunds')],
    ['disputes', t('Disputas', 'Disputes')],
    ['payouts', t('Saques', 'Payouts')],
    ['closing', t('Fechamento do mês', 'Monthly closing')],
    ['customers', t('Clientes', 'Customers')],
    ['payment_links', t('Links de pagamento', 'Payment links')],
    ['deliveries', t('Entregas de webhooks', 'Webhook deliveries')],
  ];
  const statuses: Readonly<Record<string, string>> = {
    pending: t('Na fila', 'Waiting'),
    processing: t('Sendo feito', 'Being made'),
    ready: t('Pronto', 'Ready'),
    failed: t('Falhou', 'Failed'),
    expired: t('Removido', 'Removed'),
  };
  // The fields below have the filters of sales; of other lists they are taken as they are.
  const listFilters =
    type === asked.type && type !== 'sales'
      ? Object.entries(asked).filter(([name]) => !['type', 'from', 'to'].includes(name))
      : [];
  const isPortuguese = language === 'pt-BR';
  // Format and locale: a spreadsheet is in the language of its reader, a CSV without locale is for programs.
  const isClosing = type === 'closing';
  const formats: readonly (readonly [string, string])[] = [
    ...(isClosing ? [['pdf', 'PDF'] as const] : []),
    [isPortuguese ? 'xlsx pt-BR' : 'xlsx', 'Excel (xlsx)'],
    ...(isPortuguese && !isClosing ? [['csv pt-BR', 'CSV para Excel'] as const] : []),
    ...(isClosing ? [] : [['csv', t('CSV para programas', 'CSV')] as const]),
    ...(type === 'statement'
      ? [
          ['ofx', 'OFX'] as const,
          ['journal', t('Diário (hledger, ledger, beancount)', 'Journal (hledger, ledger, beancount)')] as const,
        ]
      : []),
  ];
  const create = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setError(null);
    try {
      const written = ['basis', 'status', 'query'].map((name) => [name, textOf(form, name)] as const);
      const given = (type === 'sales' ? written : listFilters).filter(([, value]) => value !== '');
      const [format, locale] = textOf(form, 'format').split(' ');
      await call('POST', door(mode, '/reports'), {
        ...{ type, format },
        ...(isClosing ? monthOf(textOf(form, 'month')) : period),
        ...(locale === undefined ? {} : { locale }),
        ...(['csv', 'xlsx'].includes(format ?? '') && given.length > 0 ? { filters: Object.fromEntries(given) } : {}),
      });
      await refresh();
    } catch (failure) {
      setError(failure);
    } finally {
      // A double click must order only one file.
      setTimeout(() => setBusy(false), REST_MS);
    }
  };
  /** The link is made on request and is valid for an hour. */
  const download = async ({ id }: ReportBody): Promise<void> => {
    try {
      const { download_url: url } = await call<ReportBody>('GET', door(mode, `/reports/${id}`));
      if (url !== null) location.assign(url);
    } catch (failure) {
      setError(failure);
    }
  };
  const name = (report: ReportBody): string => {
    const { status, query, type, bucket, currency } = report.filters ?? {};
    const filtered = [
      status == null ? null : (STATUS_NAMES[report.type]?.(status, t) ?? status),
      type == null ? null : report.type === 'statement' ? entryType(type, t) : caseType(type, t),
      ...[bucket == null ? null : bucketName(bucket, t), currency, query],
    ].filter((one) => one != null);
    return [types.find(([one]) => one === report.type)?.[1] ?? report.type, ...filtered].join(' · ');
  };
  return (
    <Page title={t('Relatórios', 'Reports')}>
      <Card title={t('Novo arquivo', 'New file')}>
        <form className="filters" onSubmit={(event) => void create(event)}>
          <Choice
            label={t('Tipo', 'Type')}
            name="type"
            value={type}
            onChange={(event) => setType(event.target.value)}
            options={types}
          />
          <Choice label={t('Formato', 'Format')} name="format" options={formats} />
          {isClosing ? (
            <Input
              label={t('Mês', 'Month')}
              name="month"
              type="month"
              required
              min="2020-01"
              defaultValue={isoDay(new Date(Date.now() - 30 * DAY_MS)).slice(0, 7)}
            />
          ) : (
            <DateRange label={t('Período', 'Period')} value={period} onChange={setPeriod} />
          )}
          {type === 'sales' && (
            <>
              <Choice
                label={t('Vendas', 'Sales')}
                name="basis"
                defaultValue={asked.basis ?? 'paid'}
                options={[
                  ['paid', t('pagas no período', 'paid in the period')],
                  ['created', t('criadas no período', 'created in the period')],
                ]}
              />
              <Choice
                label={t('Situação', 'Status')}
                name="status"
                defaultValue={asked.status ?? ''}
                options={[
                  ['', t('Todas', 'All')],
                  ...SALE_STATUSES.map((status) => [status, saleStatus(status, t)] as const),
                ]}
              />
              <SearchField query={asked.query} />
            </>
          )}
          {listFilters.length > 0 && (
            <p role="note">{t('Com os filtros da lista.', 'With the filters of the list.')}</p>
          )}
          <Button tone="primary" type="submit" disabled={isBusy || (!isClosing && period.from === '')}>
            {t('Gerar relatório', 'Make report')}
          </Button>
        </form>
        {error !== null && <Failure error={error} />}
      </Card>
      <Listing
        list={list}
        rows={list.data?.data}
        label={t('Arquivos', 'Files')}
        empty={t('Nenhum arquivo ainda.', 'No files yet.')}
        keyOf={({ id }) => id}
        columns={[
          { name: t('Criado', 'Created'), cell: (report) => <Time at={report.created_at} /> },
          { name: t('Tipo', 'Type'), cell: (report) => `${name(report)} (${report.format})` },
          {
            name: t('Período', 'Period'),
            cell: ({ from, to }) => `${day(from, language)} – ${day(to, language)}`,
          },
          {
            name: t('Situação', 'Status'),
            cell: (report) => <Status value={report.status} label={statuses[report.status] ?? report.status} />,
          },
          {
            name: t('Andamento', 'Progress'),
            cell: (report) =>
              ['pending', 'processing'].includes(report.status) ? (
                <progress value={report.progress} max={1} aria-label={t('Andamento', 'Progress')} />
              ) : (
                `${String(report.rows)} ${t('linhas', 'rows')}`
              ),
          },
          {
            name: t('Arquivo', 'File'),
            cell: (report) =>
              report.status === 'ready' ? (
                <Button onClick={() => void download(report)}>
                  {`${t('Baixar', 'Download')} (${fileSize(report.size ?? 0)})`}
                </Button>
              ) : (
                '–'
              ),
          },
        ]}
      />
    </Page>
  );
}

/** The first and last day of a month like `2026-11`. */
function monthOf(month: string): { from: string; to: string } {
  const [year = 0, number = 1] = month.split('-').map(Number);
  const last = new Date(Date.UTC(year, number, 0)).getUTCDate();
  return { from: `${month}-01`, to: `${month}-${String(last)}` };
}
