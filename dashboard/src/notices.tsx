import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import type { NoticesBody } from '../../src/auth/dto/notices.dto.js';
import type { EndpointListBody } from '../../src/webhooks/dto/endpoint.body.js';
import type { EventBody, EventListBody } from '../../src/webhooks/dto/event.body.js';
import { call, door, withQuery } from './api.js';
import { type Language, money, type Translate } from './format.js';
import { Icon } from './icons.js';
import { useLanguage } from './language.js';
import { type Mode, useSession } from './session.js';
import { toast } from './toast.js';

type Kind = NoticesBody['dashboard'][number];
type Heard = (event: EventBody) => void;

/** A notice as a person reads it. */
export interface Notice {
  readonly id: string;
  readonly kind: Kind;
  readonly text: string;
  /** The page of its subject, below the mode. */
  readonly path: string;
  readonly at: string;
  readonly isGood: boolean;
}

/** Sales and other notices in the list of the bell. */
const [MAX_SALES, MAX_OTHERS] = [8, 20];
const MAX_LISTED = MAX_SALES + MAX_OTHERS;
const BELL = 'bell';
const TYPES: Readonly<Record<Kind, readonly string[]>> = {
  // Sales of every method have this event; `charge.paid` is of Pix only.
  paid: ['payment.completed'],
  dispute: ['med_case.created', 'med.resolved'],
  webhook: [],
  payout: ['payout.paid', 'payout.failed'],
  approval: ['payout.created'],
};

const loadList = (): Promise<typeof import('./notice-list.js')> => import('./notice-list.js');
const NoticeList = lazy(loadList);

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

/** @returns null for an event that is no notice */
function noticeOf({ id: key, type, data, created_at: at }: EventBody, t: Translate, language: Language): Notice | null {
  const { object: subject = data } = data as { readonly object?: object };
  const about = subject as Partial<Record<string, never>>;
  const { id = '', paymentId, paidWith, amount = 0, currency = 'BRL', approval } = about;
  const value = money(amount, currency, language);
  // The event names no currency: other methods may take another one.
  const paid = ['PIX', 'BOLETO'].includes(String(paidWith)) ? `: ${value}` : '';
  const texts: Readonly<Record<string, readonly [Kind, string, string]>> = {
    'payment.completed': ['paid', t(`Venda paga${paid}`, `Sale paid${paid}`), `sales/${String(paymentId)}`],
    'med_case.created': ['dispute', t(`Nova disputa: ${value}`, `New dispute: ${value}`), `disputes/${id}`],
    'med.resolved': ['dispute', t(`Disputa decidida: ${value}`, `Dispute decided: ${value}`), `disputes/${id}`],
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
  const found = texts[type];
  if (found === undefined) return null;
  const [kind, text, path] = found;
  return { id: key, kind, text, path, at, isGood: kind === 'paid' || type === 'payout.paid' };
}

/** Makes a function that adds a live event to the bell and shows it as a toast, if the person wants that notice. */
export function useEventToasts(mode: Mode): Heard {
  const { t, language } = useLanguage();
  const navigate = useNavigate();
  const client = useQueryClient();
  const chosen = useNotices().data?.dashboard ?? [];
  const show: Heard = (event) => {
    const notice = noticeOf(event, t, language);
    if (notice === null || !chosen.includes(notice.kind)) return;
    // A request for each event would cost a busy shop one every second.
    client.setQueriesData<EventBody[]>({ queryKey: [BELL, mode] }, (list) =>
      list?.every(({ id }) => id !== event.id) ? [event, ...list].slice(0, MAX_LISTED) : list,
    );
    toast(notice.text, {
      tone: notice.isGood ? 'good' : 'bad',
      action: { name: t('Ver', 'View'), act: () => void navigate({ to: `/${mode}/${notice.path}` }) },
    });
  };
  // The stream stays open while the choice or the language changes.
  const latest = useRef(show);
  useEffect(() => {
    latest.current = show;
  });
  return useRef<Heard>((event) => latest.current(event)).current;
}

/** The latest notices that the person wants to see, newest first. */
function useLatest(mode: Mode, chosen: readonly Kind[]): readonly Notice[] {
  const { t, language } = useLanguage();
  const type = chosen.flatMap((kind) => TYPES[kind]).join(',');
  const events = useQuery({
    queryKey: [BELL, mode, type],
    // Sales are many: they have a list of their own, so that they do not push out a dispute or a payout.
    queryFn: async () => {
      const list = async (types: readonly string[], limit: number): Promise<EventListBody['data']> => {
        if (types.length === 0) return [];
        const path = withQuery('/events', { type: types.join(','), limit });
        return (await call<EventListBody>('GET', door(mode, path))).data;
      };
      const isPaid = (kind: Kind): boolean => kind === 'paid';
      const lists = await Promise.all([
        list(
          chosen.filter(isPaid).flatMap((kind) => TYPES[kind]),
          MAX_SALES,
        ),
        list(
          chosen.filter((kind) => !isPaid(kind)).flatMap((kind) => TYPES[kind]),
          MAX_OTHERS,
        ),
      ]);
      return lists.flat().sort((one, other) => other.created_at.localeCompare(one.created_at));
    },
    enabled: type !== '',
    // The stream brings no events of the time in which it was cut.
    refetchInterval: 60_000,
  });
  const endpoints = useQuery({
    queryKey: [mode, 'endpoints'],
    queryFn: () => call<EndpointListBody>('GET', door(mode, '/webhooks/endpoints')),
    enabled: chosen.includes('webhook'),
    refetchInterval: 60_000,
  });
  const failing = (endpoints.data?.data ?? []).flatMap(({ id, url, failingSince: at }): Notice[] => {
    if (at === undefined || !chosen.includes('webhook')) return [];
    const text = t(`Endpoint falha: ${url}`, `Failing endpoint: ${url}`);
    return [{ id: `${id} ${at}`, kind: 'webhook', text, path: 'webhooks', at, isGood: false }];
  });
  const notices = (events.data ?? []).flatMap((event) => noticeOf(event, t, language) ?? []);
  return [...notices, ...failing].sort((one, other) => other.at.localeCompare(one.at)).slice(0, MAX_LISTED);
}

/** The button with the count of unread notices, which opens their list. */
export function Bell({ mode }: { mode: Mode }): ReactNode {
  const { t } = useLanguage();
  const { pathname } = useLocation();
  const client = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const chosen = useNotices().data;
  const notices = useLatest(mode, chosen?.dashboard ?? []);
  useEffect(() => setOpen(false), [pathname]);
  const read = chosen?.[`read_${mode}`] ?? '';
  const unread = chosen === undefined ? 0 : notices.filter(({ at }) => at > read).length;
  const markRead = (): void => {
    const at = notices[0]?.at;
    if (at === undefined) return;
    call<NoticesBody>('PATCH', '/v1/auth/notices', { [`read_${mode}`]: at }).then(
      (changed) => client.setQueryData(['notices'], changed),
      () => toast(t('Os avisos não foram marcados. Tente de novo.', 'Not marked. Try again.'), { tone: 'bad' }),
    );
  };
  const label =
    unread === 0
      ? t('Avisos', 'Notices')
      : t(`Avisos: ${String(unread)} ${unread === 1 ? 'não lido' : 'não lidos'}`, `Notices: ${String(unread)} unread`);
  return (
    <>
      <button
        ref={button}
        type="button"
        className="button bell"
        aria-label={label}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onPointerEnter={() => void loadList()}
        onFocus={() => void loadList()}
        onClick={() => setOpen(true)}
      >
        <Icon name="bell" />
        {unread > 0 && <span className="count">{unread}</span>}
      </button>
      {isOpen && (
        <Suspense>
          <NoticeList
            mode={mode}
            notices={notices}
            read={read}
            trigger={button}
            close={() => setOpen(false)}
            markRead={unread > 0 ? markRead : null}
          />
        </Suspense>
      )}
    </>
  );
}
