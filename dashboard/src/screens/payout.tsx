import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { AuditEventType } from '../../../src/audit/audit-event.entity.js';
import type { PayoutBody } from '../../../src/payouts/dto/payout.body.js';
import type { AuditEventBody, AuditEventListBody } from '../../../src/team/dto/audit-event.body.js';
import type { WalletEntryListBody } from '../../../src/wallets/dto/wallet-entry.body.js';
import type { EventListBody } from '../../../src/webhooks/dto/event.body.js';
import { useParam } from '../address.js';
import { call, door, unlessMissing, withQuery } from '../api.js';
import { Menu } from '../controls.js';
import { ActionDialog } from '../dialog.js';
import { money } from '../format.js';
import { useLanguage } from '../language.js';
import { useRefresh } from '../lists.js';
import { useDestinations } from '../payout-destinations.js';
import {
  awaitsMorning,
  payoutFailure,
  payoutNote,
  payoutStatus,
  receiverFacts,
  receiverLine,
  returnCode,
} from '../payout-words.js';
import { useMayAct, useMode, useSession } from '../session.js';
import {
  ActButton,
  Card,
  Facts,
  Failure,
  Id,
  Input,
  Link,
  Loading,
  Money,
  Page,
  Status,
  Table,
  Time,
  Unavailable,
} from '../ui.js';
import { entryType, metadataName } from '../words.js';

const ENDED = ['failed', 'cancelled', 'refunded'];

export function Payout(): ReactNode {
  const { t, language } = useLanguage();
  const mode = useMode();
  const mayAct = useMayAct();
  const me = useSession();
  const id = useParam('id').replace(/^po_/, '');
  const refresh = useRefresh(mode);
  const path = door(mode, `/payouts/po_${encodeURIComponent(id)}`);
  const key = [mode, 'payout', id];
  const payout = useQuery({
    queryKey: [...key, 'payout'],
    queryFn: () => call<PayoutBody>('GET', path),
    // No event reports some changes, such as an approval.
    refetchInterval: unlessMissing(5_000),
  });
  const { status, amount_returned: returned } = payout.data ?? {};
  const related = { enabled: payout.data !== undefined };
  const events = useQuery({
    queryKey: [...key, 'events', status],
    queryFn: () =>
      call<EventListBody>('GET', door(mode, `/events?type=payout.paid,payout.failed&subject=${id}&limit=100`)),
    ...related,
  });
  const entries = useQuery({
    queryKey: [...key, 'entries', status, returned],
    queryFn: () => call<WalletEntryListBody>('GET', door(mode, `/wallets/entries?limit=100&source=po_${id}`)),
    ...related,
  });
  const decisions = useDecisions(payout.data);
  const { labelOf } = useDestinations();
  const [isCancelling, setCancelling] = useState(false);
  const [reason, setReason] = useState('');

  if (payout.error && !payout.data) return <Unavailable error={payout.error} retry={() => void payout.refetch()} />;
  if (!payout.data) return <Loading />;
  const data = payout.data;
  const amount = money(data.amount, data.currency, language);
  const label = labelOf(data.destination.id);
  const whom = label ?? receiverLine(data.destination, t);
  const note = payoutNote(data, t, language);
  const isPending = data.status === 'pending';
  const isWaiting = isPending && data.approval !== undefined;
  // No approval ends the wait of a payout that the night's limit holds.
  const isForLater =
    isPending && data.send_after !== undefined && Date.parse(data.send_after) > Date.now() && !awaitsMorning(data);
  const isMine = decisions.some(({ type, actor }) => type === 'payout.requested' && actor.id === me.user.id);
  // A wait for a new destination is ended by an OWNER alone.
  const mayDecide =
    mayAct && (isWaiting ? !isMine : isForLater && me.role === 'OWNER' && (!isMine || me.second_factor));
  const done = (): Promise<void> => refresh();
  const failedWith = data.failure?.reason;

  return (
    <Page
      title={`${t('Saque de', 'Payout of')} ${amount}`}
      actions={
        mayAct && (
          <>
            {mayDecide && (
              <Decide
                trigger={t('Aprovar', 'Approve')}
                tone="primary"
                title={t('Aprovar o saque', 'Approve the payout')}
                act={(code) => call('POST', `${path}/approve`, code).then(done)}
              >
                <p>{t(`${amount} vão para ${whom}.`, `${amount} go to ${whom}.`)}</p>
              </Decide>
            )}
            {mayDecide && isWaiting && (
              <Decide
                trigger={t('Recusar', 'Refuse')}
                tone="danger"
                title={t('Recusar o saque', 'Refuse the payout')}
                opened={() => setReason('')}
                act={(code) =>
                  call('POST', `${path}/refuse`, { ...code, ...(reason.trim() === '' ? {} : { reason }) }).then(done)
                }
              >
                <p>
                  {t(
                    `${amount} voltam ao saldo disponível e o saque é cancelado.`,
                    `${amount} go back to the available balance, and the payout is cancelled.`,
                  )}
                </p>
                <Input
                  label={t('Motivo (opcional)', 'Reason (optional)')}
                  maxLength={140}
                  value={reason}
                  onChange={({ target: { value } }) => setReason(value)}
                />
              </Decide>
            )}
            {isPending && (
              <Menu
                label={t('Mais ações', 'More actions')}
                items={[
                  {
                    name: t('Cancelar o saque', 'Cancel the payout'),
                    tone: 'danger',
                    act: () => setCancelling(true),
                  },
                ]}
              />
            )}
            {isCancelling && (
              <ActionDialog
                startsOpen
                trigger={t('Cancelar o saque', 'Cancel the payout')}
                tone="danger"
                act={() =>
                  call('POST', `${path}/cancel`)
                    .then(done)
                    .then(() => setCancelling(false))
                }
                closed={() => setCancelling(false)}
              >
                <p>
                  {t(
                    `${money(data.amount + data.fee, data.currency, language)} voltam ao saldo disponível agora.`,
                    `${money(data.amount + data.fee, data.currency, language)} go back to the available balance now.`,
                  )}
                </p>
              </ActionDialog>
            )}
            {(data.status === 'failed' || data.status === 'cancelled') && (
              <Link
                to={`/${mode}/payouts/new`}
                search={data.destination.id === undefined ? {} : { destination: data.destination.id }}
                className="button"
              >
                {t('Fazer outro saque', 'Make another payout')}
              </Link>
            )}
          </>
        )
      }
    >
      {isWaiting && (
        <p role="note">
          {isMine
            ? t(
                'Você pediu este saque: outra pessoa, dono ou administrador, aprova ou recusa.',
                'You requested this payout: another person, owner or administrator, approves or refuses it.',
              )
            : mayAct
              ? t(
                  'Este saque espera a sua decisão ou a de outro dono ou administrador.',
                  'This payout waits for your decision, or another owner’s or administrator’s.',
                )
              : t(
                  'Um dono ou administrador aprova ou recusa este saque.',
                  'An owner or administrator approves or refuses this payout.',
                )}
        </p>
      )}
      {isForLater && (
        <p role="note">
          {t(
            'O primeiro saque para um destino novo espera um tempo. A aprovação de um dono encerra a espera; para o seu próprio saque ela pede um segundo fator.',
            'The first payout to a new destination waits for a while. The approval of an owner ends the wait; for your own payout it needs a second factor.',
          )}
        </p>
      )}
      {failedWith !== undefined && (
        <p role="note">
          {payoutFailure(failedWith, t)}{' '}
          {t('O dinheiro voltou ao saldo disponível.', 'The money is back in the available balance.')}
        </p>
      )}
      <div className="grid">
        <Card title={t('Resumo', 'Summary')}>
          <Facts
            rows={[
              [
                t('Situação', 'Status'),
                <span aria-live="polite">
                  <Status value={data.status} label={payoutStatus(data.status, t)} />
                  {note !== null && failedWith === undefined && <span className="note">{note}</span>}
                </span>,
              ],
              [t('Valor', 'Amount'), <Money {...data} />],
              [t('Tarifa', 'Fee'), <Money amount={data.fee} currency={data.currency} />],
              [
                t('Voltou', 'Came back'),
                returned !== undefined && <Money amount={returned} currency={data.currency} />,
              ],
              ...Object.entries(data.metadata).map(
                ([name, value]) =>
                  [metadataName(name, t), typeof value === 'string' ? value : JSON.stringify(value)] as const,
              ),
              ['Id', <Id value={data.id} />],
              [
                'End-to-end',
                data.settlement.end_to_end_id !== undefined && <Id value={data.settlement.end_to_end_id} />,
              ],
            ]}
          />
        </Card>
        <Card title={t('Destino', 'Destination')}>
          <Facts rows={[[t('Nome', 'Name'), label ?? false], ...receiverFacts(data.destination, t)]} />
        </Card>
        {mode === 'test' && mayAct && <Sandbox payout={data} refresh={refresh} />}
      </div>
      <Course payout={data} decisions={decisions} events={events.data ?? null} />
      {data.returns && data.returns.length > 0 && (
        <Card title={t('Devoluções', 'Returns')}>
          <Table
            label={t('Devoluções', 'Returns')}
            rows={data.returns}
            keyOf={(one) => one.return_id}
            columns={[
              { name: t('Quando', 'When'), cell: (one) => <Time at={one.at} /> },
              { name: t('Valor', 'Amount'), isNumber: true, cell: (one) => <Money {...one} /> },
              { name: t('Motivo', 'Reason'), cell: (one) => (one.reason === null ? '–' : returnCode(one.reason, t)) },
              {
                name: 'End-to-end',
                cell: (one) => (one.end_to_end_id === null ? '–' : <Id value={one.end_to_end_id} />),
              },
            ]}
          />
        </Card>
      )}
      <Card title={t('No extrato', 'In the statement')}>
        {entries.error && <Failure error={entries.error} />}
        {entries.data && (
          <Table
            label={t('No extrato', 'In the statement')}
            rows={entries.data.data}
            keyOf={(one) => one.id}
            columns={[
              { name: t('Quando', 'When'), cell: (one) => <Time at={one.created_at} /> },
              { name: t('Tipo', 'Type'), cell: (one) => entryType(one.type, t) },
              { name: t('Valor', 'Amount'), isNumber: true, cell: (one) => <Money {...one} /> },
              {
                name: t('Saldo depois', 'Balance after'),
                isNumber: true,
                cell: (one) => <Money {...one} amount={one.balance} />,
              },
            ]}
          />
        )}
      </Card>
    </Page>
  );
}

/** A dialog for a decision, with the one-time code of people who log in with one. */
export function Decide({
  act,
  opened,
  children,
  ...dialog
}: {
  trigger: string;
  tone?: 'primary' | 'danger';
  title: string;
  act: (body: { code?: string }) => Promise<unknown>;
  opened?: () => void;
  children: ReactNode;
}): ReactNode {
  const { t } = useLanguage();
  const { second_factor: needsCode } = useSession();
  const [code, setCode] = useState('');
  return (
    <ActionDialog
      {...dialog}
      isReady={!needsCode || code.trim() !== ''}
      opened={() => {
        setCode('');
        opened?.();
      }}
      act={() => act(needsCode ? { code: code.trim() } : {})}
      refused={{
        code: t(
          'O código está errado ou já foi usado: espere o aplicativo mostrar o próximo.',
          'The code is wrong or was used already: wait until the app shows the next one.',
        ),
      }}
    >
      {children}
      {needsCode && (
        <Input
          label={t('Código do aplicativo', 'Code of the app')}
          autoComplete="one-time-code"
          maxLength={40}
          value={code}
          onChange={({ target: { value } }) => setCode(value)}
        />
      )}
    </ActionDialog>
  );
}

/** The people behind the payout, as far as the newest events of the audit trail tell. MEMBERs do not see it. */
function useDecisions(payout: PayoutBody | undefined): readonly AuditEventBody[] {
  const mayAct = useMayAct();
  const reason = payout?.failure?.reason;
  const types: readonly AuditEventType[] = [
    'payout.requested',
    ...(payout?.approval === undefined ? (['payout.approved'] as const) : []),
    ...(reason === 'approval_refused' ? (['payout.disapproved'] as const) : []),
    ...(reason === 'cancelled' ? (['payout.cancelled'] as const) : []),
  ];
  const list = useQuery({
    queryKey: ['audit', 'payout', payout?.id, payout?.status, types],
    queryFn: async () => {
      const pages = await Promise.all(
        types.map((type) => call<AuditEventListBody>('GET', withQuery('/v1/audit-events', { type, limit: 100 }))),
      );
      return pages.flatMap(({ data }) => data).filter(({ data }) => `po_${String(data['payout_id'])}` === payout?.id);
    },
    enabled: mayAct && payout !== undefined,
  });
  return list.data ?? [];
}

/** The minute in which the bank began a Pix, which its end-to-end id names in UTC. */
function sentAt(endToEndId: string | undefined): string | null {
  const [, year = '', month = '', day = '', hour = '', minute = ''] =
    /^E\d{8}(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)/.exec(endToEndId ?? '') ?? [];
  return year === '' ? null : `${year}-${month}-${day}T${hour}:${minute}:00.000Z`;
}

/** Events of the payout in chronological order. */
function Course({
  payout,
  decisions,
  events,
}: {
  payout: PayoutBody;
  decisions: readonly AuditEventBody[];
  events: EventListBody | null;
}): ReactNode {
  const { t } = useLanguage();
  const by = (type: AuditEventType): string => {
    const actor = decisions.find((one) => one.type === type)?.actor;
    if (actor?.email != null) return ` ${t('por', 'by')} ${actor.email}`;
    const others: Readonly<Record<string, string>> = {
      api_key: t('pela API', 'by the API'),
      system: t('pela programação', 'by the schedule'),
    };
    const other = others[actor?.type ?? ''];
    return other === undefined ? '' : ` ${other}`;
  };
  const atOf = (type: AuditEventType): string | undefined => decisions.find((one) => one.type === type)?.created_at;
  const steps: { at: string | null; what: ReactNode }[] = [
    { at: payout.created_at, what: `${t('Pedido', 'Requested')}${by('payout.requested')}` },
  ];
  const approvedAt = atOf('payout.approved');
  if (approvedAt !== undefined)
    steps.push({ at: approvedAt, what: `${t('Aprovado', 'Approved')}${by('payout.approved')}` });
  const sent = sentAt(payout.settlement.end_to_end_id);
  // To the minute: a payout that is sent in the minute of its request or approval was sent after it.
  const releasedAt = approvedAt ?? payout.created_at;
  if (sent !== null)
    steps.push({ at: sent < releasedAt ? releasedAt : sent, what: t('Enviado pelo banco', 'Sent by the bank') });
  else if (payout.status === 'processing') steps.push({ at: null, what: t('Entregue ao banco', 'Handed to the bank') });
  const paid = events?.data.find(({ type }) => type === 'payout.paid');
  if (paid) steps.push({ at: paid.created_at, what: t('Pago: o dinheiro chegou', 'Paid: the money arrived') });
  for (const one of payout.returns ?? [])
    steps.push({
      at: one.at,
      what: (
        <>
          {t('Voltaram', 'Came back:')} <Money amount={one.amount} currency={payout.currency} />
          {one.reason !== null && `: ${returnCode(one.reason, t)}`}
        </>
      ),
    });
  if (payout.failure) {
    const { reason, at } = payout.failure;
    const why = decisions.find(({ type }) => type === 'payout.disapproved')?.data['reason'];
    const what =
      reason === 'approval_refused'
        ? `${t('Recusado', 'Refused')}${by('payout.disapproved')}${typeof why === 'string' ? `: ${why}` : ''}`
        : reason === 'cancelled'
          ? `${t('Cancelado', 'Cancelled')}${by('payout.cancelled')}`
          : `${payoutStatus(payout.status, t)}: ${payoutFailure(reason, t)}`;
    steps.push({ at, what });
  }
  const sorted = steps.toSorted((a, b) => (a.at ?? '9').localeCompare(b.at ?? '9'));
  return (
    <Card title={t('Andamento', 'Course')}>
      <ol className="timeline">
        {sorted.map(({ at, what }, index) => (
          <li key={index}>
            {at !== null && <Time at={at} />} {what}
          </li>
        ))}
      </ol>
    </Card>
  );
}

/** Buttons for what the sandbox bank can do with the payout. */
function Sandbox({ payout, refresh }: { payout: PayoutBody; refresh: () => Promise<void> }): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  if (ENDED.includes(payout.status)) return null;
  const isPaid = payout.status === 'paid';
  const acts: readonly (readonly [event: string, name: string])[] = isPaid
    ? [
        ['return', t('Devolver', 'Return')],
        ['fail', t('Informar que não pagou', 'Report as unpaid')],
      ]
    : [
        ['pay', t('Pagar', 'Pay')],
        ['fail', t('Recusar', 'Refuse')],
        ['review', t('Analisar', 'Examine')],
        ['unknown', t('Não responder', 'Not answer')],
      ];
  return (
    <Card title={t('Teste', 'Test')}>
      <p>{t('O que o banco faz:', 'What the bank does:')}</p>
      <div className="actions">
        {acts.map(([event, name]) => (
          <ActButton
            key={event}
            act={() => call('POST', door(mode, `/sandbox/payouts/${payout.id}/simulate`), { event }).then(refresh)}
          >
            {`${name} ${t('(teste)', '(test)')}`}
          </ActButton>
        ))}
      </div>
      {payout.status === 'pending' && (
        <p className="quiet">
          {t(
            'O que o banco faz vale também antes do envio.',
            'What the bank does also holds before the payout is sent.',
          )}
        </p>
      )}
    </Card>
  );
}
