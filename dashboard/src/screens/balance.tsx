import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { BalanceBody, ReleaseListBody } from '../../../src/wallets/dto/wallet.body.js';
import type { WalletEntryBody } from '../../../src/wallets/dto/wallet-entry.body.js';
import { ENTRY_TYPES } from '../../../src/wallets/entry-types.js';
import { call, door } from '../api.js';
import { DateRange } from '../controls.js';
import { money, timeFormat } from '../format.js';
import { useLanguage } from '../language.js';
import { isDay, isOneOf, ListBar, useFilters, useTotals } from '../list-bar.js';
import { Listing, usePages } from '../lists.js';
import { useDestinations } from '../payout-destinations.js';
import { scheduleSentence, useScheduledAccount } from '../schedule.js';
import { useMayAct, useMode } from '../session.js';
import { Card, Choice, Facts, Failure, Link, Loading, Money, Page, Table, Time } from '../ui.js';
import { bucketName, entryType } from '../words.js';
import { balanceFacts, reaisOf } from './balance-facts.js';
import { SaleName, useSales } from './sale-name.js';

/** Excludes a type that no entry has yet. */
const TYPES = ENTRY_TYPES.filter((type) => type !== 'fee');

const RULES = {
  bucket: isOneOf(['available', 'pending', 'retained']),
  currency: (text: string) => /^[A-Z]{3}$/.test(text),
  type: isOneOf(TYPES),
  created_after: isDay,
  created_before: isDay,
};

/** Explains the balance: every line with the balance after it, and a link to its cause. */
export function Balance(): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  const [filters, change, isFiltered] = useFilters(RULES);
  const { bucket, currency, type, created_after: from, created_before: to } = filters;
  const balance = useQuery({
    queryKey: [mode, 'balance'],
    queryFn: () => call<BalanceBody>('GET', door(mode, '/wallets/balance')),
    refetchInterval: 10_000,
  });
  const releases = useQuery({
    queryKey: [mode, 'releases'],
    queryFn: () => call<ReleaseListBody>('GET', door(mode, '/wallets/releases')),
  });
  const statement = door(mode, '/wallets/entries');
  const entries = usePages<WalletEntryBody>([mode, 'entries', filters], statement, { ...filters, limit: 50 });
  const totals = useTotals([mode, 'entries'], statement, filters);
  const saleOf = useSales((entries.data ?? []).map(saleIdOf));
  // The content above the statement loads first, so that nothing shifts down later.
  if (balance.isPending || releases.isPending)
    return (
      <Page title={t('Saldo', 'Balance')}>
        <Loading />
      </Page>
    );
  const others = (balance.data?.balances ?? []).filter(({ currency }) => currency !== balance.data?.currency);
  const currencies = (balance.data?.balances ?? []).map(({ currency }) => currency);
  const cause = (entry: WalletEntryBody): ReactNode => {
    const { source } = entry;
    if (source === null) return '–';
    const sale = saleIdOf(entry);
    if (sale !== null)
      return (
        <>
          <SaleName id={sale} sale={saleOf(sale)} isWhole />
          {source.object === 'med_case' && (
            <span className="note">
              <Link to={`/${mode}/disputes/${source.id}`}>{t('ver a disputa', 'see the dispute')}</Link>
            </span>
          )}
        </>
      );
    if (source.object === 'med_case')
      return <Link to={`/${mode}/disputes/${source.id}`}>{t('disputa', 'dispute')}</Link>;
    return <Link to={`/${mode}/payouts/${source.id}`}>{t('saque', 'payout')}</Link>;
  };
  return (
    <Page title={t('Saldo', 'Balance')}>
      <Card title={t('Agora', 'Now')}>
        {balance.error && <Failure error={balance.error} />}
        {balance.data && (
          <Facts
            rows={[
              ...balanceFacts(balance.data, t, (amount) => <Link to={`/${mode}/disputes`}>{amount}</Link>),
              ...others.map(
                ({ currency, available, pending }) =>
                  [
                    `${t('Disponível', 'Available')} + ${t('a liberar', 'pending')}, ${currency}`,
                    <>
                      <Money amount={available} currency={currency} /> + <Money amount={pending} currency={currency} />
                    </>,
                  ] as const,
              ),
            ]}
          />
        )}
      </Card>
      {balance.data && <ToTheBank balance={balance.data} />}
      {releases.error && <Failure error={releases.error} />}
      {releases.data && releases.data.data.length > 0 && <Releases list={releases.data} />}
      <div className="filters">
        <Choice
          label={t('Saldo', 'Balance')}
          value={filters.bucket}
          onChange={({ target }) => change({ bucket: target.value })}
          options={[
            ['', t('Todos', 'All')],
            ...['available', 'pending', 'retained'].map((bucket) => [bucket, bucketName(bucket, t)] as const),
          ]}
        />
        {currencies.length > 1 && (
          <Choice
            label={t('Moeda', 'Currency')}
            value={filters.currency}
            onChange={({ target }) => change({ currency: target.value })}
            options={[['', t('Todas', 'All')], ...currencies.map((currency) => [currency, currency] as const)]}
          />
        )}
        <Choice
          label={t('Tipo', 'Type')}
          value={filters.type}
          onChange={({ target }) => change({ type: target.value })}
          options={[['', t('Todos', 'All')], ...TYPES.map((type) => [type, entryType(type, t)] as const)]}
        />
        <DateRange
          label={t('Período', 'Period')}
          value={{ from, to }}
          onChange={(days) => change({ created_after: days.from, created_before: days.to })}
        />
      </div>
      <ListBar
        name="balance"
        filters={filters}
        change={change}
        count={{ one: t('lançamento', 'entry'), several: t('lançamentos', 'entries') }}
        totals={totals}
        exported={{ type: 'statement', from, to, filters: { bucket, currency, type } }}
      />
      <Listing
        list={entries}
        rows={entries.data}
        label={t('Extrato', 'Statement')}
        empty={t('Nenhum lançamento.', 'No entries.')}
        keyOf={({ id }) => id}
        columns={[
          { name: t('Quando', 'When'), cell: ({ created_at: at }) => <Time at={at} /> },
          { name: t('Tipo', 'Type'), cell: ({ type }) => entryType(type, t) },
          { name: t('Valor', 'Amount'), isNumber: true, cell: (one) => <Money {...one} /> },
          { name: t('Saldo', 'Balance'), cell: ({ bucket }) => bucketName(bucket, t) },
          {
            name: t('Saldo depois', 'Balance after'),
            isNumber: true,
            cell: (one) => <Money {...one} amount={one.balance} />,
          },
          { name: t('Origem', 'Origin'), cell: cause },
        ]}
      >
        {!isFiltered && (
          <p>
            {t('O extrato começa com a primeira venda paga.', 'The statement begins with the first sale that is paid.')}
          </p>
        )}
      </Listing>
    </Page>
  );
}

/** How the money reaches the merchant's bank, and the next step for that. */
function ToTheBank({ balance }: { balance: BalanceBody }): ReactNode {
  const { t, language } = useLanguage();
  const mode = useMode();
  const mayAct = useMayAct();
  const cents = reaisOf(balance);
  const schedule = useScheduledAccount().data?.payout_schedule ?? null;
  const scheduled = useDestinations().destinations.find(({ id }) => id === schedule?.destination);
  const available = money(cents, 'BRL', language);
  const at = balance.next_release_at;
  return (
    <Card
      title={t('Como este dinheiro chega ao seu banco', 'How this money gets to your bank')}
      actions={<Link to={`/${mode}/payouts`}>{t('Saques', 'Payouts')}</Link>}
    >
      <p>
        {t(
          'Por um saque: o saldo disponível vai por Pix para a conta do seu banco, em segundos e a qualquer hora.',
          'By a payout: the available balance goes to your bank account by Pix, within seconds and at any hour.',
        )}
        {balance.pending > 0 &&
          ` ${t('O que está a liberar fica disponível nas datas do calendário.', 'Pending money becomes available on the days of the calendar.')}`}
        {(balance.retained ?? 0) > 0 &&
          ` ${t('O que está retido espera o fim da disputa.', 'Held money waits for the end of the dispute.')}`}
      </p>
      {schedule !== null && scheduled !== undefined && (
        <p>
          <Link to={`/${mode}/payouts/schedule`}>{t('Programado:', 'Scheduled:')}</Link>{' '}
          {scheduleSentence(schedule, scheduled, t, language)}
        </p>
      )}
      <p>
        <strong>{t('Próximo passo:', 'Next step:')}</strong>{' '}
        {cents <= 0 ? (
          at === null ? (
            t('receber uma venda; agora não há saldo para sacar.', 'receive a sale; nothing can be paid out now.')
          ) : (
            <>
              {t('esperar a próxima liberação, em', 'wait for the next release, on')} <Time at={at} />.
            </>
          )
        ) : mayAct ? (
          <>
            <Link to={`/${mode}/payouts/new`}>{t(`sacar ${available}`, `pay out ${available}`)}</Link>{' '}
            {scheduled === undefined ? (
              <>
                {t('ou', 'or')}{' '}
                <Link to={`/${mode}/payouts/schedule`}>{t('programar saques', 'schedule payouts')}</Link>.
              </>
            ) : (
              t('agora, ou esperar o saque programado.', 'now, or wait for the scheduled payout.')
            )}
          </>
        ) : (
          t(
            `peça a um dono ou administrador da conta que saque ${available}.`,
            `ask an owner or administrator of the account to pay out ${available}.`,
          )
        )}
      </p>
    </Card>
  );
}

/** Pending amounts by the day they become available. */
function Releases({ list }: { list: ReleaseListBody }): ReactNode {
  const { t, language } = useLanguage();
  const dayName = timeFormat(language, { weekday: 'short', day: '2-digit', month: 'short', timeZone: 'UTC' });
  return (
    <Card title={t('Calendário de liberações', 'Calendar of releases')}>
      <Table
        label={t('Calendário de liberações', 'Calendar of releases')}
        rows={list.data}
        keyOf={({ date, currency }) => date + currency}
        columns={[
          { name: t('Dia', 'Day'), cell: ({ date }) => dayName.format(new Date(date)) },
          { name: t('Vendas', 'Sales'), isNumber: true, cell: ({ count }) => String(count) },
          { name: t('Valor', 'Amount'), isNumber: true, card: 'amount', cell: (one) => <Money {...one} /> },
          {
            name: t('Da reserva', 'Of the reserve'),
            isNumber: true,
            cell: (one) => <Money {...one} amount={one.reserve} />,
          },
        ]}
      />
    </Card>
  );
}

/** The sale that a line of the statement is about. */
function saleIdOf({ source, payment_id: paymentId }: WalletEntryBody): string | null {
  return paymentId ?? (source?.object === 'payment' ? source.id : null);
}
