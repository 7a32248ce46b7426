import { type FormEvent, type ReactNode, useState } from 'react';
import type { PayoutDestinationBody } from '../../../src/payouts/dto/payout-destination.body.js';
import { call } from '../api.js';
import { ActionDialog } from '../dialog.js';
import { decimal, parseAmount } from '../format.js';
import { useFields } from '../forms.js';
import { useLanguage } from '../language.js';
import { useRefresh } from '../lists.js';
import { useDestinations } from '../payout-destinations.js';
import { destinationName } from '../payout-words.js';
import { type Schedule, scheduleSentence, useScheduledAccount, weekdays } from '../schedule.js';
import { useMode, useSession } from '../session.js';
import { Button, Card, Choice, Empty, Failure, Input, Link, Loading, Page } from '../ui.js';
import { NewDestination } from './payout-destinations.js';

const DAYS_OF_MONTH = Array.from({ length: 31 }, (_, index) => index + 1);

/** Payouts that the service makes by itself. */
export function PayoutSchedule(): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  const isOwner = useSession().role === 'OWNER';
  const account = useScheduledAccount();
  const { query: saved, destinations: all } = useDestinations();
  // A Pix code has an amount of its own.
  const destinations = all.filter(({ type }) => type !== 'br_code');
  const failed = [account, saved].find(({ error, data }) => error !== null && data === undefined);
  return (
    <Page
      title={t('Saques programados', 'Scheduled payouts')}
      actions={
        <Link to={`/${mode}/payouts`} className="button">
          {t('Saques', 'Payouts')}
        </Link>
      }
    >
      {failed && <Failure error={failed.error} retry={() => void failed.refetch()} />}
      {!failed && !(account.data && saved.data) && <Loading />}
      {account.data && saved.data && (
        <>
          <Current schedule={account.data.payout_schedule} destinations={destinations} />
          {!isOwner && (
            <p role="note">
              {t('Só um dono da conta muda a programação.', 'Only an owner of the account changes the schedule.')}
            </p>
          )}
          {isOwner && destinations.length === 0 && (
            <Empty title={t('Antes, salve um destino.', 'First, save a destination.')}>
              <NewDestination />
            </Empty>
          )}
          {isOwner && destinations.length > 0 && (
            <Form
              // A saved schedule starts the form anew.
              key={JSON.stringify(account.data.payout_schedule)}
              schedule={account.data.payout_schedule}
              destinations={destinations}
            />
          )}
        </>
      )}
    </Page>
  );
}

function Current({
  schedule,
  destinations,
}: {
  schedule: Schedule | null;
  destinations: readonly PayoutDestinationBody[];
}): ReactNode {
  const { t, language } = useLanguage();
  const isOwner = useSession().role === 'OWNER';
  const refresh = useRefresh('account');
  const destination = destinations.find(({ id }) => id === schedule?.destination);
  return (
    <Card title={t('Agora', 'Now')}>
      <p aria-live="polite">
        {schedule === null
          ? t(
              'Nenhum saque programado: cada saque é pedido por alguém da conta ou pela API.',
              'No payouts are scheduled: somebody of the account, or the API, requests each.',
            )
          : scheduleSentence(schedule, destination, t, language)}
      </p>
      {schedule !== null && isOwner && (
        <div className="actions">
          <ActionDialog
            trigger={t('Desativar', 'Turn off')}
            tone="danger"
            title={t('Desativar os saques programados', 'Turn off scheduled payouts')}
            act={() => call('PATCH', '/v1/account', { payout_schedule: null }).then(refresh)}
          >
            <p>
              {t(
                'Nenhum outro saque sai sozinho. Os que já foram pedidos continuam.',
                'No other payout is made by itself. Those already requested go on.',
              )}
            </p>
          </ActionDialog>
        </div>
      )}
    </Card>
  );
}

function Form({
  schedule,
  destinations,
}: {
  schedule: Schedule | null;
  destinations: readonly PayoutDestinationBody[];
}): ReactNode {
  const { t, language } = useLanguage();
  const refresh = useRefresh('account');
  const amountOf = (cents: number | undefined): string =>
    cents === undefined || cents === 0 ? '' : decimal(cents, language);
  const { fields, field } = useFields({
    every: schedule?.every ?? 'day',
    weekday: schedule?.every === 'week' ? String(schedule.on) : '1',
    monthday: schedule?.every === 'month' ? String(schedule.on) : '1',
    at: schedule?.at ?? '09:00',
    destination: destinations.find(({ id }) => id === schedule?.destination)?.id ?? destinations[0]?.id ?? '',
    leave: amountOf(schedule?.leave),
    minimum: amountOf(schedule?.minimum),
  });
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const centsOf = (typed: string): number | null => (typed.trim() === '' ? 0 : parseAmount(typed, language));
  const leave = centsOf(fields.leave);
  const minimum = centsOf(fields.minimum);
  const every = fields.every as Schedule['every'];
  const on = { day: undefined, week: Number(fields.weekday), month: Number(fields.monthday) }[every];
  const destination = destinations.find(({ id }) => id === fields.destination);
  const next: Schedule | null =
    leave === null || minimum === null || !/^\d\d:\d\d$/.test(fields.at)
      ? null
      : { every, ...(on === undefined ? {} : { on }), at: fields.at, destination: fields.destination, leave, minimum };
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (isBusy || next === null) return;
    setBusy(true);
    setError(null);
    try {
      await call('PATCH', '/v1/account', { payout_schedule: next });
      await refresh();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card title={schedule === null ? t('Programar', 'Schedule') : t('Editar', 'Edit')}>
      <form className="form" onSubmit={(event) => void save(event)}>
        <Choice
          label={t('Quando', 'When')}
          {...field('every')}
          options={[
            ['day', t('Todo dia útil', 'Every bank day')],
            ['week', t('Toda semana', 'Every week')],
            ['month', t('Todo mês', 'Every month')],
          ]}
        />
        {every === 'week' && (
          <Choice label={t('Dia da semana', 'Day of the week')} {...field('weekday')} options={weekdays(t)} />
        )}
        {every === 'month' && (
          <Choice
            label={t('Dia do mês', 'Day of the month')}
            {...field('monthday')}
            options={DAYS_OF_MONTH.map((day) => [String(day), String(day)] as const)}
          />
        )}
        <Input label={t('Horário de São Paulo', 'Time of São Paulo')} type="time" required {...field('at')} />
        <Choice
          label={t('Destino', 'Destination')}
          {...field('destination')}
          options={destinations.map((one) => [one.id, destinationName(one, t)] as const)}
        />
        <Input
          label={t('Quanto fica no saldo (opcional)', 'How much stays in the balance (optional)')}
          inputMode="decimal"
          placeholder={t('0,00', '0.00')}
          hint={t('Para reembolsos dos próximos dias.', 'For refunds of the next days.')}
          {...field('leave')}
        />
        <Input
          label={t('Saque mínimo (opcional)', 'Smallest payout (optional)')}
          inputMode="decimal"
          placeholder={t('0,00', '0.00')}
          hint={t('Com menos do que isto, espera a próxima vez.', 'With less than this, it waits for the next time.')}
          {...field('minimum')}
        />
        <p className="quiet">
          {every === 'month' && Number(fields.monthday) > 28
            ? t(
                'Em mês mais curto, no último dia. Sem banco aberto, no próximo dia útil.',
                'In a shorter month, on its last day. Without open banks, on the next bank day.',
              )
            : t('Sem banco aberto, no próximo dia útil.', 'Without open banks, on the next bank day.')}
        </p>
        <p aria-live="polite">
          {next === null
            ? t('Escreva valores como 129,90.', 'Write amounts as 129.90.')
            : scheduleSentence(next, destination, t, language)}
        </p>
        {schedule !== null && !destinations.some(({ id }) => id === schedule.destination) && (
          <p role="note">
            {t(
              'A conta tem uma programação só, para teste e produção: salvar esta desliga a de agora.',
              'The account has one schedule only, for test and live: saving this one turns off the present one.',
            )}
          </p>
        )}
        {error !== null && <Failure error={error} />}
        <Button tone="primary" type="submit" disabled={next === null} isPending={isBusy}>
          {t('Salvar', 'Save')}
        </Button>
      </form>
    </Card>
  );
}
