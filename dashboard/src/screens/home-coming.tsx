import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ReleaseListBody } from '../../../src/wallets/dto/wallet.body.js';
import { call, door } from '../api.js';
import { timeFormat } from '../format.js';
import { useLanguage } from '../language.js';
import { useDestinations } from '../payout-destinations.js';
import { payoutNote } from '../payout-words.js';
import { useScheduledAccount } from '../schedule.js';
import { useMode } from '../session.js';
import { Card, Failure, Link, Money, Time } from '../ui.js';
import type { OpenPayouts } from './home-attention.js';

/** Days of releases that are shown. */
const MAX_DAYS = 4;
/** Payouts under way that are shown. */
const MAX_PAYOUTS = 3;

/** The money that comes: releases to the balance by day, payouts under way, and the next one of the schedule. */
export function Coming({ payouts }: { payouts: OpenPayouts | undefined }): ReactNode {
  const { t, language } = useLanguage();
  const mode = useMode();
  const releases = useQuery({
    queryKey: [mode, 'releases'],
    queryFn: () => call<ReleaseListBody>('GET', door(mode, '/wallets/releases')),
    staleTime: 60_000,
  });
  const account = useScheduledAccount();
  const { destinations } = useDestinations();
  const schedule = account.data?.payout_schedule ?? null;
  const isScheduled = destinations.some(({ id }) => id === schedule?.destination);
  const nextAt = isScheduled ? account.data?.payout_schedule_next_at : null;
  const days = releases.data?.data ?? [];
  const under = [
    ...(payouts?.processing ?? []),
    ...(payouts?.pending ?? []).filter((one) => one.approval === undefined),
  ];
  const dayName = timeFormat(language, { weekday: 'short', day: '2-digit', month: 'short', timeZone: 'UTC' });
  return (
    <Card title={t('A receber', 'Coming in')} actions={<Link to={`/${mode}/balance`}>{t('Ver', 'View')}</Link>}>
      {releases.error && <Failure error={releases.error} />}
      <h3>{t('Para o saldo', 'To the balance')}</h3>
      {releases.data && days.length === 0 && (
        <p className="quiet">{t('Nada a liberar: tudo já está disponível.', 'Nothing pending: all is available.')}</p>
      )}
      <ul className="bare coming">
        {days.slice(0, MAX_DAYS).map((one) => (
          <li key={`${one.date} ${one.currency}`}>
            <span>{dayName.format(new Date(one.date))}</span> <Money {...one} />
          </li>
        ))}
      </ul>
      {days.length > MAX_DAYS && (
        <p className="quiet">
          {t(`e mais ${String(days.length - MAX_DAYS)} dias`, `and ${String(days.length - MAX_DAYS)} more days`)}
        </p>
      )}
      <h3>{t('Para o banco', 'To the bank')}</h3>
      {under.length === 0 && nextAt == null && (
        <p className="quiet">
          {t('Nenhum saque a caminho.', 'No payout under way.')}{' '}
          <Link to={`/${mode}/payouts/schedule`}>{t('Programar saques', 'Schedule payouts')}</Link>
        </p>
      )}
      <ul className="bare coming">
        {under.slice(0, MAX_PAYOUTS).map((one) => (
          <li key={one.id}>
            <span>
              <Link to={`/${mode}/payouts/${one.id}`}>{t('Saque', 'Payout')}</Link>{' '}
              <span className="note">{payoutNote(one, t, language)}</span>
            </span>{' '}
            <Money {...one} />
          </li>
        ))}
        {nextAt != null && (
          <li>
            <Link to={`/${mode}/payouts/schedule`}>{t('Próximo saque programado', 'Next scheduled payout')}</Link>{' '}
            <Time at={nextAt} />
          </li>
        )}
      </ul>
    </Card>
  );
}
