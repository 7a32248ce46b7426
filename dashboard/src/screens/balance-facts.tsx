import type { ComponentProps, ReactNode } from 'react';
import type { BalanceBody } from '../../../src/wallets/dto/wallet.body.js';
import type { Translate } from '../language.js';
import { type Facts, Money, Time } from '../ui.js';

/** Available and pending money. @param held renders the amount that disputes hold, for instance as a link */
export function balanceFacts(
  { currency, ...balance }: BalanceBody,
  t: Translate,
  held = (amount: ReactNode): ReactNode => amount,
): ComponentProps<typeof Facts>['rows'] {
  const shown = (amount: number | null): ReactNode => <Money amount={amount} currency={currency} />;
  return [
    [t('Disponível', 'Available'), shown(balance.available)],
    [t('A liberar', 'Pending'), shown(balance.pending)],
    [t('Retido por disputas', 'Held for disputes'), balance.retained !== undefined && held(shown(balance.retained))],
    [
      t('Próxima liberação', 'Next release'),
      balance.next_release_at !== null && (
        <>
          {shown(balance.next_release_amount)} {t('em', 'on')} <Time at={balance.next_release_at} />
        </>
      ),
    ],
  ];
}

/** Available cents in reais, in which payouts are made. */
export function reaisOf({ balances, currency, available }: BalanceBody): number {
  if (currency === 'BRL') return available;
  return balances?.find((one) => one.currency === 'BRL')?.available ?? 0;
}
