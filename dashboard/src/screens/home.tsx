import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { MedCaseListBody } from '../../../src/med/desk/dto/med-case.body.js';
import type { PeriodBody, SummaryBody } from '../../../src/payments/dto/statistics.body.js';
import type { PayoutListBody } from '../../../src/payouts/dto/payout.body.js';
import type { BalanceBody } from '../../../src/wallets/dto/wallet.body.js';
import type { EndpointListBody } from '../../../src/webhooks/dto/endpoint.body.js';
import { call, door, withQuery } from '../api.js';
import { Chart } from '../chart.js';
import { day, money, shortMoney, timeFormat } from '../format.js';
import { useLanguage } from '../language.js';
import { useMayAct, useMode } from '../session.js';
import { Card, Facts, Failure, Link, Loading, Money, Page } from '../ui.js';
import { balanceFacts } from './balance-facts.js';
import { Attention, Endpoints } from './home-attention.js';
import { Coming } from './home-coming.js';

const WINDOWS = [7, 30, 90] as const;
/** With the period before: two years. */
const MAX_DAYS = 366;
/** Where this browser keeps the kind of days that the chart counts. */
const COUNT = 'recebe.days';
/** Points of the chart are in one day of São Paulo, whatever the hour here. */
const noon = (date: string): string => `${date}T12:00:00-03:00`;

export function Home(): ReactNode {
  const { t, language } = useLanguage();
  const mode = useMode();
  const mayAct = useMayAct();
  const [days, setDays] = useState<number>(7);
  const [count, setCount] = useState(() => (localStorage.getItem(COUNT) === 'bank' ? 'bank' : 'calendar'));
  const balance = useQuery({
    queryKey: [mode, 'balance'],
    queryFn: () => call<BalanceBody>('GET', door(mode, '/wallets/balance')),
  });
  const currency = balance.data?.currency ?? 'BRL';
  const summary = useQuery({
    queryKey: [mode, 'summary', days, count, currency],
    queryFn: () => call<SummaryBody>('GET', door(mode, withQuery('/payments/summary', { days, count, currency }))),
    enabled: !balance.isPending,
    placeholderData: (last) => last,
    refetchInterval: 60_000,
  });
  const cases = useQuery({
    queryKey: [mode, 'cases', 'open'],
    queryFn: () => call<MedCaseListBody>('GET', door(mode, '/med/cases?order=deadline&limit=5')),
  });
  const endpoints = useQuery({
    queryKey: [mode, 'endpoints'],
    queryFn: () => call<EndpointListBody>('GET', door(mode, '/webhooks/endpoints')),
    refetchInterval: 15_000,
  });
  const payouts = useQuery({
    queryKey: [mode, 'payouts', 'open'],
    queryFn: async () => {
      const [pending, processing, failed] = await Promise.all(
        ['pending', 'processing', 'failed'].map((status) =>
          call<PayoutListBody>('GET', door(mode, withQuery('/payouts', { status, limit: 50 }))),
        ),
      );
      return { pending: pending?.data ?? [], processing: processing?.data ?? [], failed: failed?.data ?? [] };
    },
    refetchInterval: 15_000,
  });
  const { today, yesterday, month, lastMonth, days: points = [] } = summary.data ?? {};
  const isQuiet = month?.count === 0 && lastMonth?.count === 0 && points.every((point) => point.count === 0);
  // A window without sales does not mean an account without sales.
  const years = useQuery({
    queryKey: [mode, 'summary', 'years', currency],
    queryFn: () =>
      call<SummaryBody>(
        'GET',
        door(mode, withQuery('/payments/summary', { days: MAX_DAYS, count: 'calendar', currency })),
      ),
    enabled: isQuiet,
  });
  // All cards appear together: a single early card would push the others down. A failed one does not block the rest.
  const isPending =
    [balance, summary, cases, endpoints, payouts].some((one) => one.isPending && one.failureCount === 0) ||
    (isQuiet && years.isPending && years.failureCount === 0);
  const isEmpty = isQuiet && years.data?.days.every((one) => one.count + one.before.count === 0) === true;
  const title = t('Início', 'Home');
  const actions = mayAct && (
    <Link to={`/${mode}/sales/new`} className="button primary">
      {t('Nova cobrança', 'New charge')}
    </Link>
  );
  if (isPending)
    return (
      <Page title={title} actions={actions}>
        <Loading />
      </Page>
    );
  const text = (amount: number): string => money(amount, currency, language);
  const hour = timeFormat(language, { timeStyle: 'short', timeZone: 'America/Sao_Paulo' }).format(
    new Date(yesterday?.to ?? Date.now()),
  );
  return (
    <Page title={title} actions={actions}>
      {isEmpty && <FirstSteps />}
      <Attention cases={cases.data?.data} endpoints={endpoints.data?.data} payouts={payouts.data} />
      {[summary, cases, payouts, balance].map(({ error }, index) => error && <Failure key={index} error={error} />)}
      <div className="grid">
        {today && yesterday && (
          <Card title={t('Hoje', 'Today')}>
            <Takings
              now={today}
              before={yesterday}
              currency={currency}
              than={t(`ontem até ${hour}`, `yesterday until ${hour}`)}
            />
          </Card>
        )}
        {month && lastMonth && (
          <Card title={t('Este mês', 'This month')}>
            <Takings
              now={month}
              before={lastMonth}
              currency={currency}
              than={t(
                `mês passado até ${day(lastMonth.to, language)}`,
                `last month until ${day(lastMonth.to, language)}`,
              )}
            />
          </Card>
        )}
        <Coming payouts={payouts.data} />
      </div>
      {summary.data && !isEmpty && (
        <Card
          title={t('Recebido por dia', 'Received by day')}
          actions={
            <div className="actions">
              <select
                aria-label={t('Dias do gráfico', 'Days of the chart')}
                value={count}
                onChange={({ target }) => {
                  localStorage.setItem(COUNT, target.value);
                  setCount(target.value === 'bank' ? 'bank' : 'calendar');
                }}
              >
                <option value="calendar">{t('Dias corridos', 'Calendar days')}</option>
                <option value="bank">{t('Dias úteis', 'Bank days')}</option>
              </select>
              <div className="modes" role="group" aria-label={t('Período', 'Period')}>
                {WINDOWS.map((one) => (
                  <button key={one} type="button" aria-pressed={one === days} onClick={() => setDays(one)}>
                    {one} {t('dias', 'days')}
                  </button>
                ))}
              </div>
            </div>
          }
        >
          <p className="quiet">
            {t('No período:', 'In this period:')}{' '}
            <strong>{text(points.reduce((sum, { amount }) => sum + amount, 0))}</strong>
            {'; '}
            {t('no anterior:', 'in the one before:')} {text(points.reduce((sum, { before }) => sum + before.amount, 0))}
          </p>
          <Chart
            label={t('Recebido por dia', 'Received by day')}
            period={{ now: t('Recebido', 'Received'), before: t('Período anterior', 'Period before') }}
            text={text}
            short={(amount) => shortMoney(amount, currency, language)}
            points={points.map(({ from, to, amount, before }) => ({
              name:
                from === to ? day(noon(from), language) : `${day(noon(from), language)} – ${day(noon(to), language)}`,
              value: amount,
              before: before.amount,
            }))}
          />
        </Card>
      )}
      <div className="grid">
        <Card title={t('Saldo', 'Balance')} actions={<Link to={`/${mode}/balance`}>{t('Extrato', 'Statement')}</Link>}>
          {balance.data && <Facts rows={balanceFacts(balance.data, t)} />}
        </Card>
        <Card title="Webhooks" actions={<Link to={`/${mode}/webhooks`}>{t('Ver', 'View')}</Link>}>
          {endpoints.error && <Failure error={endpoints.error} />}
          {endpoints.data && <Endpoints endpoints={endpoints.data.data} />}
        </Card>
      </div>
    </Page>
  );
}

/** The takings of a period, and each figure that explains the difference to the period before. */
function Takings({
  now,
  before,
  than,
  currency,
}: {
  now: PeriodBody;
  before: PeriodBody;
  than: string;
  currency: string;
}): ReactNode {
  const { t, language } = useLanguage();
  const text = (amount: number): string => money(amount, currency, language);
  const change = before.amount === 0 ? null : Math.round((100 * (now.amount - before.amount)) / before.amount);
  const row = (name: string, show: (period: PeriodBody) => string): [string, ReactNode] => [
    name,
    <>
      {show(now)}{' '}
      <span className="quiet">
        {t('antes', 'before')} {show(before)}
      </span>
    </>,
  ];
  const more = now.count - before.count;
  const sales = `${String(Math.abs(more))} ${Math.abs(more) === 1 ? t('venda', 'sale') : t('vendas', 'sales')}`;
  return (
    <>
      <p className="figure">
        <Money amount={now.amount} currency={currency} />
      </p>
      <p className="quiet">
        {than}: <Money amount={before.amount} currency={currency} />
        {change !== null && (
          <>
            {' '}
            <span className={`status ${change < 0 ? 'bad' : 'good'}`}>
              {change > 0 && '+'}
              {String(change).replace('-', '−')} %
            </span>
          </>
        )}
        {more !== 0 && ` · ${sales} ${more > 0 ? t('a mais', 'more') : t('a menos', 'fewer')}`}
      </p>
      <Facts
        rows={[
          row(t('Vendas pagas', 'Paid sales'), (one) => String(one.count)),
          row(t('Valor médio', 'Average sale'), (one) => text(one.averageTicket)),
          row(t('Cobranças criadas', 'Charges created'), (one) => String(one.created)),
          row(t('Pagas das criadas', 'Paid of created'), (one) => `${String(one.conversionRate)} %`),
          row(t('Reembolsos', 'Refunds'), (one) => (one.refundCount === 0 ? '0' : text(one.refunded))),
          [
            t('Depois dos reembolsos', 'After refunds'),
            now.refundCount > 0 && <Money amount={now.amount - now.refunded} currency={currency} />,
          ],
        ]}
      />
    </>
  );
}

function FirstSteps(): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  const mayAct = useMayAct();
  return (
    <Card title={t('Primeiros passos', 'First steps')}>
      <p>
        <strong>
          {mayAct
            ? t('Nenhuma venda ainda: crie seu primeiro link.', 'No sales yet: create your first link.')
            : t('Nenhuma venda ainda.', 'No sales yet.')}
        </strong>{' '}
        {t(
          'Um link de pagamento vende sem programa: mande por WhatsApp e receba por Pix.',
          'A payment link sells without a program: send it by WhatsApp and receive by Pix.',
        )}
      </p>
      {mayAct && (
        <>
          <p className="actions">
            <Link to={`/${mode}/links`} className="button primary">
              {t('Criar link de pagamento', 'Create a payment link')}
            </Link>
          </p>
          <ul className="steps">
            {mode === 'live' && (
              <li>
                {t(
                  'Peça a quem opera o serviço que ligue a conta ao seu banco: antes disso não há cobranças em produção.',
                  'Ask whoever runs the service to connect the account to your bank: there are no live charges before that.',
                )}
              </li>
            )}
            <li>
              <Link to={`/${mode}/sales/new`}>{t('Crie uma cobrança', 'Create a charge')}</Link>
              {mode === 'test' && ` ${t('e pague-a aqui mesmo, com um botão.', 'and pay it right here, by a button.')}`}
            </li>
            <li>
              <Link to={`/${mode}/developers`}>{t('Crie uma chave da API', 'Create an API key')}</Link> {t('e', 'and')}{' '}
              <Link to={`/${mode}/webhooks`}>{t('registre um webhook', 'register a webhook')}</Link>
              {t(', se você tem um programa.', ', if you have a program.')}
            </li>
          </ul>
        </>
      )}
    </Card>
  );
}
