import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { NoticesBody } from '../../src/auth/dto/notices.dto.js';
import type { EventBody } from '../../src/webhooks/dto/event.body.js';
import { call } from './api.js';
import { money } from './format.js';
import { useLanguage } from './language.js';
import { type Mode, useSession } from './session.js';
import { toast } from './toast.js';

type Kind = NoticesBody['dashboard'][number];
type Heard = (event: EventBody) => void;

/** The notices that the person has chosen; operators have none. */
export function useNotices(): UseQueryResult<NoticesBody> {
  const isMember = useSession().role !== 'OPERATOR';
  return useQuery({
    queryKey: ['notices'],
    queryFn: () => call<NoticesBody>('GET', '/v1/auth/notices'),
    enabled: isMember,
    staleTime: 60_000,
  });
}

/** Makes a function that shows a live event as a toast, if the person wants that notice. */
export function useEventToasts(mode: Mode): Heard {
  const { t, language } = useLanguage();
  const navigate = useNavigate();
  const chosen = useNotices().data?.dashboard ?? [];
  const show: Heard = ({ type, data }) => {
    const { object: subject = data } = data as { readonly object?: object };
    const { id = '', amount = 0, currency = 'BRL', approval } = subject as Partial<Record<string, never>>;
    const value = money(amount, currency, language);
    const notices: Readonly<Record<string, readonly [Kind, string, string]>> = {
      'charge.paid': ['paid', t(`Venda paga: ${value}`, `Sale paid: ${value}`), `sales/${id}`],
      'med_case.created': ['dispute', t(`Nova disputa: ${value}`, `New dispute: ${value}`), `disputes/${id}`],
      'payout.paid': ['payout', t(`Saque pago: ${value}`, `Payout paid: ${value}`), `payouts/${id}`],
      'payout.failed': [
        'payout',
        t(`Saque não realizado ou devolvido: ${value}`, `Payout failed or came back: ${value}`),
        `payouts/${id}`,
      ],
      ...(approval === undefined
        ? {}
        : {
            'payout.created': [
              'approval',
              t(`Saque aguarda aprovação: ${value}`, `Payout waits for approval: ${value}`),
              `payouts/${id}`,
            ],
          }),
    };
    const found = notices[type];
    if (found === undefined || !chosen.includes(found[0])) return;
    const [kind, text, path] = found;
    toast(text, {
      tone: kind === 'paid' || type === 'payout.paid' ? 'good' : 'bad',
      action: { name: t('Ver', 'View'), act: () => void navigate({ to: `/${mode}/${path}` }) },
    });
  };
  // The stream stays open while the choice or the language changes.
  const latest = useRef(show);
  useEffect(() => {
    latest.current = show;
  });
  return useRef<Heard>((event) => latest.current(event)).current;
}
