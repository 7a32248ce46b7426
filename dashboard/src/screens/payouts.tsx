import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { PayoutBody } from '../../../src/payouts/dto/payout.body.js';
import { useQueryText } from '../address.js';
import { door } from '../api.js';
import { useLanguage } from '../language.js';
import { Listing, usePages } from '../lists.js';
import { useDestinations } from '../payout-destinations.js';
import { PAYOUT_STATUSES, payoutNote, payoutStatus, receiverLine } from '../payout-words.js';
import { scheduleSentence, useScheduledAccount } from '../schedule.js';
import { useMayAct, useMode } from '../session.js';
import { Choice, Link, Money, Page, Status, Time } from '../ui.js';

/** Payouts, newest first, with what each waits for. */
export function Payouts(): ReactNode {
  const { t, language } = useLanguage();
  const mode = useMode();
  const mayAct = useMayAct();
  const { status = '' } = useQueryText();
  const navigate = useNavigate();
  const { destinations, labelOf } = useDestinations();
  const schedule = useScheduledAccount().data?.payout_schedule ?? null;
  const scheduled = destinations.find(({ id }) => id === schedule?.destination);
  const list = usePages<PayoutBody>(
    [mode, 'payouts', status],
    door(mode, '/payouts'),
    { status, limit: 50 },
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
          onChange={(event) => void navigate({ to: '.', search: { status: event.target.value || undefined } as never })}
          options={[['', t('Todas', 'All')], ...PAYOUT_STATUSES.map((one) => [one, payoutStatus(one, t)] as const)]}
        />
      </div>
      <Listing
        list={list}
        rows={list.data}
        label={t('Saques', 'Payouts')}
        empty={
          status === ''
            ? t('Ainda não há saques.', 'There are no payouts yet.')
            : t('Nenhum saque nesta situação.', 'No payout has this status.')
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
        {status === '' && (
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
