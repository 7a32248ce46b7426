import type { ReactNode } from 'react';
import type { PayoutBody } from '../../../src/payouts/dto/payout.body.js';
import { door } from '../api.js';
import { DateRange } from '../controls.js';
import { useLanguage } from '../language.js';
import { isDay, isOneOf, ListBar, useFilters, useTotals } from '../list-bar.js';
import { Listing, usePages } from '../lists.js';
import { useDestinations } from '../payout-destinations.js';
import { PAYOUT_STATUSES, payoutNote, payoutStatus, receiverLine } from '../payout-words.js';
import { scheduleSentence, useScheduledAccount } from '../schedule.js';
import { useMayAct, useMode } from '../session.js';
import { Choice, Link, Money, Page, Status, Time } from '../ui.js';

const RULES = { status: isOneOf(PAYOUT_STATUSES), created_after: isDay, created_before: isDay };

/** Payouts, newest first, with what each waits for. */
export function Payouts(): ReactNode {
  const { t, language } = useLanguage();
  const mode = useMode();
  const mayAct = useMayAct();
  const [filters, change, isFiltered] = useFilters(RULES);
  const { status, created_after: from, created_before: to } = filters;
  const totals = useTotals([mode, 'payouts'], door(mode, '/payouts'), filters);
  const { destinations, labelOf } = useDestinations();
  const schedule = useScheduledAccount().data?.payout_schedule ?? null;
  const scheduled = destinations.find(({ id }) => id === schedule?.destination);
  const list = usePages<PayoutBody>(
    [mode, 'payouts', filters],
    door(mode, '/payouts'),
    { ...filters, limit: 50 },
    { refetchInterval: 10_000 },
  );
  return (
    <Page
      title={t('Saques', 'Payouts')}
      actions={
        <>
          <Link to={`/${mode}/payouts/destinations`} className="button">
            {t('Destinos', 'Destinations')}
          </Link>
          <Link to={`/${mode}/payouts/schedule`} className="button">
            {t('Programação', 'Schedule')}
          </Link>
          {mayAct && (
            <Link to={`/${mode}/payouts/new`} className="button primary">
              {t('Novo saque', 'New payout')}
            </Link>
          )}
        </>
      }
    >
      {schedule !== null && scheduled !== undefined && (
        <p role="note">{scheduleSentence(schedule, scheduled, t, language)}</p>
      )}
      <div className="filters">
        <Choice
          label={t('Situação', 'Status')}
          value={status}
          onChange={(event) => change({ status: event.target.value })}
          options={[['', t('Todas', 'All')], ...PAYOUT_STATUSES.map((one) => [one, payoutStatus(one, t)] as const)]}
        />
        <DateRange
          label={t('Criados', 'Created')}
          value={{ from, to }}
          onChange={(days) => change({ created_after: days.from, created_before: days.to })}
        />
      </div>
      <ListBar
        name="payouts"
        filters={filters}
        change={change}
        count={{ one: t('saque', 'payout'), several: t('saques', 'payouts') }}
        totals={totals}
        exported={{ type: 'payouts', from, to, filters: { status } }}
      />
      <Listing
        list={list}
        rows={list.data}
        label={t('Saques', 'Payouts')}
        empty={
          isFiltered
            ? t('Nenhum saque com estes filtros.', 'No payout matches these filters.')
            : t('Ainda não há saques.', 'There are no payouts yet.')
        }
        keyOf={({ id }) => id}
        columns={[
          {
            name: t('Quando', 'When'),
            cell: (one) => (
              <Link to={`/${mode}/payouts/${one.id}`}>
                <Time at={one.created_at} />
              </Link>
            ),
          },
          { name: t('Valor', 'Amount'), isNumber: true, cell: (one) => <Money {...one} /> },
          {
            name: t('Situação', 'Status'),
            cell: (one) => {
              const note = payoutNote(one, t, language);
              return (
                <>
                  <Status value={one.status} label={payoutStatus(one.status, t)} />
                  {note !== null && <span className="note">{note}</span>}
                </>
              );
            },
          },
          {
            name: t('Para', 'To'),
            cell: ({ destination }) => {
              const label = labelOf(destination.id);
              return (
                <>
                  {label}
                  <span className={label === null ? undefined : 'note'}>{receiverLine(destination, t)}</span>
                </>
              );
            },
          },
        ]}
      >
        {!isFiltered && (
          <p>
            {t(
              'Um saque leva o saldo disponível para uma conta bancária por Pix, em segundos.',
              'A payout takes the available balance to a bank account by Pix, within seconds.',
            )}{' '}
            {mayAct && (
              <Link to={`/${mode}/payouts/new`}>{t('Fazer o primeiro saque.', 'Make the first payout.')}</Link>
            )}
          </p>
        )}
      </Listing>
    </Page>
  );
}
