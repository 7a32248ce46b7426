import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { MedCaseListBody } from '../../../src/med/desk/dto/med-case.body.js';
import type { PaymentListBody } from '../../../src/payments/dto/payment.body.js';
import type { MetricsBody, StatsBody } from '../../../src/payments/dto/statistics.body.js';
import type { PayoutListBody } from '../../../src/payouts/dto/payout.body.js';
import type { BalanceBody } from '../../../src/wallets/dto/wallet.body.js';
import type { DeliveryStatsBody } from '../../../src/webhooks/dto/delivery.body.js';
import type { EndpointBody, EndpointListBody } from '../../../src/webhooks/dto/endpoint.body.js';
import { call, door, withQuery } from '../api.js';
import { Chart } from '../chart.js';
import { day, duration, isoDay, money, shortMoney, timeFormat } from '../format.js';
import { useLanguage } from '../language.js';
import { useMayAct, useMode } from '../session.js';
import { Card, Empty, Facts, Failure, Link, Loading, Money, Page, Status, Time } from '../ui.js';
import { balanceFacts } from './balance-facts.js';
import { EndpointHealth } from './endpoint-health.js';

const WINDOWS = [7, 30, 90] as const;
/** Endpoints without problems that are shown. */
const MAX_ENDPOINTS = 4;

export function Home(): ReactNode {
  const { t, language } = useLanguage();
  const mode = useMode();
  const mayAct = useMayAct();
  const [days, setDays] = useState<number>(7);
  const stats = useQuery({
    queryKey: [mode, 'stats'],
    queryFn: () => call<StatsBody>('GET', door(mode, withQuery('/payments/stats', { days: 7, basis: 'paid' }))),
  });
  const balance = useQuery({
    queryKey: [mode, 'balance'],
    queryFn: () => call<BalanceBody>('GET', door(mode, '/wallets/balance')),
  });
  const currency = balance.data?.currency ?? 'BRL';
  const metrics = useQuery({
    queryKey: [mode, 'metrics', days, currency],
    queryFn: () =>
      call<MetricsBody>('GET', door(mode, withQuery('/payments/metrics', { days, currency, basis: 'paid' }))),
  });
  // Four weeks and today, independent of the window shown below.
  const weeks = useQuery({
    queryKey: [mode, 'metrics', 'weeks', currency],
    queryFn: () =>
      call<MetricsBody>('GET', door(mode, withQuery('/payments/metrics', { days: 21, currency, basis: 'paid' }))),
    staleTime: 600_000,
  });
  const cases = useQuery({
    queryKey: [mode, 'cases', 'open'],
    queryFn: () => call<MedCaseListBody>('GET', door(mode, '/med/cases?order=deadline&limit=5')),
  });
  const hooks = useQuery({
    queryKey: [mode, 'webhooks', 'stats'],
    queryFn: () => call<DeliveryStatsBody>('GET', door(mode, '/webhooks/stats')),
  });
  const endpoints = useQuery({
    queryKey: [mode, 'endpoints'],
    queryFn: () => call<EndpointListBody>('GET', door(mode, '/webhooks/endpoints')),
    refetchInterval: 15_000,
  });
  const waiting = useQuery({
    queryKey: [mode, 'payouts', 'waiting'],
    queryFn: () => call<PayoutListBody>('GET', door(mode, '/payouts?status=pending&limit=100')),
    refetchInterval: 15_000,
  });
  const approvals = waiting.data?.data.filter(({ approval }) => approval !== undefined).length ?? 0;
  // A window without sales does not mean an account without sales.
  const any = useQuery({
    queryKey: [mode, 'sales', 'any'],
    queryFn: () => call<PaymentListBody>('GET', door(mode, '/payments?limit=1')),
    enabled: metrics.data?.funnel.created === 0,
  });
  // All cards appear together: a single early card would push the others down. A failed one does not block the rest.
  const isPending = [stats, weeks, balance, cases, hooks, endpoints, waiting].some(
    (one) => one.isPending && one.failureCount === 0,
  );
  const isEmpty = any.data?.total === 0;
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
  return (
    <Page title={title} actions={actions}>
      {isEmpty && mayAct && (
        <Card title={t('Primeiros passos', 'First steps')}>
          <ol className="steps">
            {mode === 'live' && (
              <li>
                {t(
                  'Peça a quem opera o serviço que ligue a conta ao seu banco: antes disso não há cobranças em produção.',
                  'Ask whoever runs the service to connect the account to your bank: there are no live charges before that.',
                )}
              </li>
            )}
            <li>
              <Link to={`/${mode}/sales/new`}>{t('Crie a primeira cobrança', 'Create the first charge')}</Link>
              {mode === 'test' && ` ${t('e pague-a aqui mesmo, com um botão.', 'and pay it right here, by a button.')}`}
            </li>
            <li>
              <Link to={`/${mode}/developers`}>{t('Emita uma chave da API', 'Issue an API key')}</Link>
            </li>
            <li>
              <Link to={`/${mode}/webhooks`}>{t('Registre um webhook', 'Register a webhook')}</Link>
            </li>
          </ol>
        </Card>
      )}
      {approvals > 0 && (
        <p role="note">
          <Link to={`/${mode}/payouts`} search={{ status: 'pending' }}>
            {approvals === 1
              ? t('1 saque espera a aprovação de outra pessoa', '1 payout waits for another person’s approval')
              : t(
                  `${String(approvals)} saques esperam a aprovação de outra pessoa`,
                  `${String(approvals)} payouts wait for another person’s approval`,
                )}
          </Link>
        </p>
      )}
      <div className="grid">
        <Card title={t('Hoje', 'Today')}>
          {stats.error && <Failure error={stats.error} />}
          {stats.data && (
            <>
              <p className="figure">
                {Object.entries(stats.data.todayVolumeByCurrency).length === 0
                  ? money(0, 'BRL', language)
                  : Object.entries(stats.data.todayVolumeByCurrency).map(([currency, amount]) => (
                      <Money key={currency} amount={Number(amount)} currency={currency} />
                    ))}
              </p>
              <p className="quiet">{t('recebido hoje, até agora', 'received today, up to now')}</p>
              {weeks.data && <Usual metrics={weeks.data} />}
            </>
          )}
        </Card>
        <Card title={t('Saldo', 'Balance')} actions={<Link to={`/${mode}/balance`}>{t('Extrato', 'Statement')}</Link>}>
          {balance.error && <Failure error={balance.error} />}
          {balance.data && <Facts rows={balanceFacts(balance.data, t)} />}
        </Card>
        <Card
          title={t('Disputas abertas', 'Open disputes')}
          actions={<Link to={`/${mode}/disputes`}>{t('Todas', 'All')}</Link>}
        >
          {cases.error && <Failure error={cases.error} />}
          {cases.data?.data.length === 0 && <Empty title={t('Nenhuma.', 'None.')} />}
          <ul className="bare">
            {cases.data?.data.map((one) => (
              <li key={one.id}>
                <Link to={`/${mode}/disputes/${one.id}`}>
                  <Money amount={one.amount} currency={one.currency} />
                </Link>{' '}
                {t('até', 'until')} <Time at={one.response_deadline} />
              </li>
            ))}
          </ul>
        </Card>
        <Card title="Webhooks" actions={<Link to={`/${mode}/webhooks`}>{t('Ver', 'See')}</Link>}>
          {hooks.error && <Failure error={hooks.error} />}
          {hooks.data && (
            <Facts
              rows={[
                [t('Entregues', 'Delivered'), String(hooks.data.DELIVERED)],
                [t('A caminho', 'On their way'), String(hooks.data.PENDING + hooks.data.PROCESSING)],
                [
                  t('Falharam', 'Failed'),
                  hooks.data.FAILED === 0 ? (
                    '0'
                  ) : (
                    <Link to={`/${mode}/webhooks`} search={{ status: 'FAILED' }}>
                      {String(hooks.data.FAILED)}
                    </Link>
                  ),
                ],
              ]}
            />
          )}
          <Endpoints endpoints={endpoints.data?.data ?? []} />
        </Card>
      </div>
      <Card
        title={t('Movimento', 'Volume')}
        actions={
          <div className="modes" role="group" aria-label={t('Período', 'Period')}>
            {WINDOWS.map((one) => (
              <button key={one} type="button" aria-pressed={one === days} onClick={() => setDays(one)}>
                {one} {t('dias úteis', 'business days')}
              </button>
            ))}
          </div>
        }
      >
        {metrics.error && <Failure error={metrics.error} />}
        {metrics.isPending && <Loading />}
        {metrics.data && (
          <>
            <Chart
              label={t('Recebido por dia', 'Received by day')}
              period={{ now: t('Recebido', 'Received') }}
              text={(amount) => money(amount, metrics.data.currency ?? 'BRL', language)}
              short={(amount) => shortMoney(amount, metrics.data.currency ?? 'BRL', language)}
              points={metrics.data.dailyVolume.map(({ date, volume }) => ({
                name: day(`${date}T12:00:00-03:00`, language),
                value: typeof volume === 'number' ? volume : Number(Object.values(volume ?? {})[0] ?? 0),
              }))}
            />
            <Facts
              rows={[
                [t('Criadas', 'Created'), String(metrics.data.funnel.created)],
                [t('Pagas', 'Paid'), String(metrics.data.funnel.paid)],
                [t('Conversão', 'Conversion'), `${String(metrics.data.funnel.conversionRate)} %`],
                [t('Reembolsadas', 'Refunded'), String(metrics.data.funnel.refunded)],
                [t('Em disputa', 'Disputed'), String(metrics.data.funnel.disputed)],
                [
                  t('Metade paga em até', 'Half are paid within'),
                  metrics.data.timeToPay.p50Seconds === null ? '–' : duration(metrics.data.timeToPay.p50Seconds),
                ],
              ]}
            />
          </>
        )}
      </Card>
    </Page>
  );
}

/** Failing and disabled endpoints first, all of them. */
function Endpoints({ endpoints }: { endpoints: readonly EndpointBody[] }): ReactNode {
  const { t } = useLanguage();
  const ranked = endpoints.map((endpoint) => {
    const rank = endpoint.status === 'ACTIVE' ? (endpoint.failingSince === undefined ? 2 : 0) : 1;
    return { endpoint, rank };
  });
  const troubled = [0, 1].flatMap((rank) => ranked.filter((one) => one.rank === rank));
  const others = ranked.filter(({ rank }) => rank === 2);
  const shown = [...troubled, ...others.slice(0, MAX_ENDPOINTS)];
  const left = others.length - MAX_ENDPOINTS;
  return (
    <>
      {shown.map(({ endpoint }) => (
        <p key={endpoint.id} className="written">
          {endpoint.url}{' '}
          {endpoint.status === 'ACTIVE' ? (
            <EndpointHealth endpoint={endpoint} />
          ) : (
            <Status value="CANCELLED" label={t('Desligado', 'Off')} />
          )}
        </p>
      ))}
      {left > 0 && (
        <p className="quiet">{t(`e mais ${String(left)} sem falhas`, `and ${String(left)} more without failures`)}</p>
      )}
    </>
  );
}

/** Average of the last four days with the same weekday. */
function Usual({ metrics }: { metrics: MetricsBody }): ReactNode {
  const { t, language } = useLanguage();
  const today = isoDay(new Date());
  const weekday = (date: string): number => new Date(`${date}T12:00:00Z`).getUTCDay();
  const same = metrics.dailyVolume
    .filter(({ date }) => date !== today && weekday(date) === weekday(today))
    .slice(-4)
    .map(({ volume }) => (typeof volume === 'number' ? volume : Number(Object.values(volume ?? {})[0] ?? 0)));
  if (same.length === 0) return null;
  const average = Math.round(same.reduce((sum, one) => sum + one, 0) / same.length);
  const name = timeFormat(language, { weekday: 'long', timeZone: 'UTC' }).format(new Date(`${today}T12:00:00Z`));
  return (
    <p className="quiet">
      {t(`${name}, média das últimas ${String(same.length)}:`, `${name}, average of the last ${String(same.length)}:`)}{' '}
      <Money amount={average} currency={metrics.currency ?? 'BRL'} />
    </p>
  );
}
