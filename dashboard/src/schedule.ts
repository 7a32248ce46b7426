import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { MerchantAccountBody } from '../../src/accounts/dto/merchant-account.js';
import type { OwnAccountBody } from '../../src/team/dto/own-account.body.js';
import type { PayoutDestinationBody } from '../../src/payouts/dto/payout-destination.body.js';
import { call } from './api.js';
import { type Language, money, type Translate } from './format.js';
import { destinationName } from './payout-words.js';

export type Schedule = NonNullable<MerchantAccountBody['payout_schedule']>;

/** The account with its schedule of payouts. */
export function useScheduledAccount(): UseQueryResult<OwnAccountBody> {
  return useQuery({ queryKey: ['account'], queryFn: () => call<OwnAccountBody>('GET', '/v1/account') });
}

/** Bank days as a schedule counts them. */
export function weekdays(t: Translate): readonly (readonly [string, string])[] {
  return [
    ['1', t('segunda-feira', 'Monday')],
    ['2', t('terça-feira', 'Tuesday')],
    ['3', t('quarta-feira', 'Wednesday')],
    ['4', t('quinta-feira', 'Thursday')],
    ['5', t('sexta-feira', 'Friday')],
  ];
}

/** The schedule as a sentence. @param destination undefined: it belongs to the other mode, or was deleted */
export function scheduleSentence(
  { every, on, at, leave, minimum }: Schedule,
  destination: PayoutDestinationBody | undefined,
  t: Translate,
  language: Language,
): string {
  const text = (cents: number): string => money(cents, 'BRL', language);
  const weekday = weekdays(t).find(([value]) => value === String(on))?.[1] ?? '';
  const when = {
    day: t(`Todo dia útil às ${at}`, `Every bank day at ${at}`),
    week: t(`Toda ${weekday} às ${at}`, `Every ${weekday} at ${at}`),
    month: t(`Todo dia ${String(on)} do mês às ${at}`, `On day ${String(on)} of each month at ${at}`),
  }[every];
  const what =
    leave > 0
      ? t(`o que passar de ${text(leave)} no saldo disponível`, `what is available above ${text(leave)}`)
      : t('todo o saldo disponível', 'the whole available balance');
  const whom =
    destination === undefined
      ? t('um destino do outro modo, ou que foi excluído', 'a destination of the other mode, or a deleted one')
      : destinationName(destination, t);
  const least = minimum > 0 ? t(`, se for pelo menos ${text(minimum)}`, `, if it is at least ${text(minimum)}`) : '';
  return t(`${when}, ${what} vai para ${whom}${least}.`, `${when}, ${what} goes to ${whom}${least}.`);
}
