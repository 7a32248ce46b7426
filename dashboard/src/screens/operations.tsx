import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { AccountBody } from '../../../src/operations/dto/account.body.js';
import type { FraudHitBody } from '../../../src/operations/dto/fraud-hit.body.js';
import type { MedReviewBody, MedWaitingBody } from '../../../src/operations/dto/med-review.body.js';
import type { ReturnedBody } from '../../../src/operations/dto/returned.body.js';
import type { ReviewBody, UnmatchedPixBody, UnreadableBody } from '../../../src/operations/dto/review.body.js';
import type { WorkBody } from '../../../src/operations/dto/work.body.js';
import { useQueryText } from '../address.js';
import { call, withQuery } from '../api.js';
import { ActionDialog } from '../dialog.js';
import { money } from '../format.js';
import { useLanguage } from '../language.js';
import { useSession } from '../session.js';
import {
  Button,
  Choice,
  type Column,
  Empty,
  Failure,
  Id,
  Input,
  Loading,
  Money,
  Page,
  Status,
  Table,
  Time,
} from '../ui.js';
import { medReviewColumns } from './med-reviews.js';

interface Listed<R> {
  readonly data: R[];
  readonly next_cursor?: string | null;
}

/** Every queue that a person decides about, and what is stuck. */
export function Operations(): ReactNode {
  const { t } = useLanguage();
  const { role, second_factor_required: isKeptOut } = useSession();
  const { queue = 'reviews' } = useQueryText();
  const navigate = useNavigate();
  const queues: Readonly<Record<string, readonly [string, ReactNode]>> = {
    reviews: [t('Pagamentos retidos', 'Held payments'), <Reviews key="reviews" />],
    med: [t('Disputas a decidir', 'Disputes to decide'), <MedReviews key="med" />],
    'med-waiting': [t('Disputas sem venda', 'Disputes without a sale'), <MedWaiting key="waiting" />],
    unmatched: [t('Pix sem cobrança', 'Unmatched Pix'), <Unmatched key="unmatched" />],
    returned: [t('Pix devolvidos', 'Returned Pix'), <Returned key="returned" />],
    unreadable: [t('O que não se pôde ler', 'What could not be read'), <Unreadable key="unreadable" />],
    work: [t('Trabalho atrasado', 'Overdue work'), <Overdue key="work" />],
    fraud: [t('Antifraude', 'Fraud guard'), <FraudHits key="fraud" />],
    accounts: [t('Contas', 'Accounts'), <Accounts key="accounts" />],
  };
  if (role !== 'OPERATOR') {
    return (
      <Page title={t('Operação', 'Operations')}>
        <Empty title={t('Isto é só para quem opera o serviço.', 'This is only for those who run the service.')} />
      </Page>
    );
  }
  const shown = queues[queue] ?? queues['reviews'];
  return (
    <Page title={t('Operação', 'Operations')}>
      {isKeptOut && (
        <p role="note">{t('Configure o segundo fator em “Configurações”.', 'Set a second factor under “Settings”.')}</p>
      )}
      <div className="filters">
        <Choice
          label={t('Fila', 'Queue')}
          value={queue}
          onChange={(event) => void navigate({ to: '.', search: { queue: event.target.value } as never })}
          options={Object.entries(queues).map(([name, [title]]) => [name, title] as const)}
        />
      </div>
      {shown?.[1]}
    </Page>
  );
}

function List<R>({
  name,
  path,
  query = {},
  columns,
  keyOf,
  empty,
}: {
  name: string;
  path: string;
  query?: Readonly<Record<string, string>>;
  columns: readonly Column<R>[];
  keyOf: (row: R) => string;
  empty: string;
}): ReactNode {
  const { t } = useLanguage();
  const list = useInfiniteQuery({
    queryKey: ['operations', path, query],
    queryFn: ({ pageParam }) =>
      call<Listed<R>>('GET', withQuery(`/v1/operations/${path}`, { ...query, starting_after: pageParam })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    refetchInterval: 10_000,
  });
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <>
      {list.error && <Failure error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {list.data && rows.length === 0 && <Empty title={empty} />}
      {rows.length > 0 && <Table label={name} rows={rows} keyOf={keyOf} columns={columns} />}
      {list.hasNextPage && (
        <Button isDisabled={list.isFetchingNextPage} onPress={() => void list.fetchNextPage()}>
          {t('Mais antigos', 'Older ones')}
        </Button>
      )}
    </>
  );
}

function useRefresh(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: ['operations'] });
}

function Reviews(): ReactNode {
  const { t, language } = useLanguage();
  const refresh = useRefresh();
  const decide = (review: ReviewBody, decision: 'accept' | 'return', trigger: string, text: string): ReactNode => (
    <ActionDialog
      trigger={trigger}
      tone={decision === 'accept' ? 'primary' : 'danger'}
      title={trigger}
      confirm={trigger}
      act={async () => {
        await call('POST', `/v1/operations/reviews/${review.id}/${decision}`);
        await refresh();
      }}
    >
      <p>{text}</p>
    </ActionDialog>
  );
  return (
    <List<ReviewBody>
      name={t('Pagamentos retidos', 'Held payments')}
      path="reviews"
      empty={t('Nada espera por uma decisão.', 'Nothing waits for a decision.')}
      keyOf={({ id }) => id}
      columns={[
        { name: t('Quando', 'When'), cell: (one) => <Time at={one.settled_at} /> },
        { name: t('Conta', 'Account'), cell: (one) => `${one.account.name} (${one.mode})` },
        {
          name: t('Valor', 'Amount'),
          isNumber: true,
          cell: (one) => <Money amount={one.amount} currency={one.currency} />,
        },
        { name: t('Esperado de', 'Expected of'), cell: (one) => one.expected_payer_tax_id ?? '–' },
        { name: t('Pago por', 'Paid by'), cell: (one) => one.reported_payer_tax_id ?? '–' },
        { name: t('Motivo', 'Reason'), cell: (one) => one.reason ?? '–' },
        {
          name: t('Decisão', 'Decision'),
          cell: (one) =>
            one.status === 'pending' ? (
              <div className="actions">
                {decide(
                  one,
                  'accept',
                  t('Aceitar', 'Accept'),
                  t(
                    `${money(one.amount, one.currency, language)} são creditados a ${one.account.name}.`,
                    `${money(one.amount, one.currency, language)} are credited to ${one.account.name}.`,
                  ),
                )}
                {decide(
                  one,
                  'return',
                  t('Devolver', 'Return'),
                  t(
                    `${money(one.amount, one.currency, language)} voltam para quem pagou.`,
                    `${money(one.amount, one.currency, language)} go back to who paid.`,
                  ),
                )}
              </div>
            ) : (
              one.status
            ),
        },
      ]}
    />
  );
}

function MedReviews(): ReactNode {
  const { t } = useLanguage();
  return (
    <List<MedReviewBody>
      name={t('Disputas a decidir', 'Disputes to decide')}
      path="med"
      empty={t('Nenhuma disputa espera por uma decisão.', 'No dispute waits for a decision.')}
      keyOf={({ id }) => id}
      columns={medReviewColumns(t)}
    />
  );
}

function MedWaiting(): ReactNode {
  const { t } = useLanguage();
  return (
    <List<MedWaitingBody>
      name={t('Disputas sem venda', 'Disputes without a sale')}
      path="med/waiting"
      empty={t('Nenhuma.', 'None.')}
      keyOf={({ id }) => id}
      columns={[
        { name: t('Aberta', 'Opened'), cell: (one) => <Time at={one.opened_at} /> },
        { name: t('Pagamento', 'Payment'), cell: (one) => one.payment },
        { name: t('Valor', 'Amount'), isNumber: true, cell: (one) => <Money amount={one.amount} /> },
        { name: t('Prazo', 'Deadline'), cell: (one) => <Time at={one.response_deadline} /> },
        { name: t('Referência', 'Reference'), cell: (one) => <Id value={one.payment_reference} /> },
      ]}
    />
  );
}

function Unmatched(): ReactNode {
  const { t } = useLanguage();
  return (
    <List<UnmatchedPixBody>
      name={t('Pix sem cobrança', 'Unmatched Pix')}
      path="unmatched"
      empty={t('Todo Pix tem a sua cobrança.', 'Every Pix has its charge.')}
      keyOf={({ id }) => id}
      columns={[
        { name: t('Quando', 'When'), cell: (one) => <Time at={one.settled_at} /> },
        { name: t('Valor', 'Amount'), isNumber: true, cell: (one) => <Money amount={one.amount} /> },
        { name: t('Pago por', 'Paid by'), cell: (one) => one.reported_payer_tax_id ?? '–' },
        { name: t('Motivo', 'Reason'), cell: (one) => one.reason ?? '–' },
        { name: t('Conexão', 'Connection'), cell: (one) => one.acquirer },
        { name: 'End-to-end', cell: (one) => <Id value={one.end_to_end_id} /> },
      ]}
    />
  );
}

function Returned(): ReactNode {
  const { t } = useLanguage();
  return (
    <List<ReturnedBody>
      name={t('Pix devolvidos', 'Returned Pix')}
      path="returned"
      empty={t('Nenhum.', 'None.')}
      keyOf={({ id }) => id}
      columns={[
        { name: t('Quando', 'When'), cell: (one) => <Time at={one.settled_at} /> },
        { name: t('Conta', 'Account'), cell: (one) => `${one.account.name} (${one.mode})` },
        {
          name: t('Valor', 'Amount'),
          isNumber: true,
          cell: (one) => <Money amount={one.amount} currency={one.currency} />,
        },
        { name: t('Motivo', 'Reason'), cell: (one) => one.reason },
        { name: t('Situação', 'Status'), cell: (one) => one.failure_reason ?? one.status },
        { name: 'End-to-end', cell: (one) => <Id value={one.end_to_end_id} /> },
      ]}
    />
  );
}

function Unreadable(): ReactNode {
  const { t } = useLanguage();
  return (
    <List<UnreadableBody>
      name={t('O que não se pôde ler', 'What could not be read')}
      path="unreadable"
      empty={t('Tudo o que chegou foi lido.', 'All that came was read.')}
      keyOf={({ id }) => id}
      columns={[
        { name: t('Desde', 'Since'), cell: (one) => <Time at={one.unreadable_since} /> },
        { name: t('O quê', 'What'), cell: (one) => one.kind },
        { name: t('Conexão', 'Connection'), cell: (one) => one.acquirer },
        { name: t('Referência', 'Reference'), cell: (one) => <Id value={one.reference} /> },
      ]}
    />
  );
}

function Overdue(): ReactNode {
  const { t } = useLanguage();
  return (
    <List<WorkBody>
      name={t('Trabalho atrasado', 'Overdue work')}
      path="work"
      empty={t('Nada está atrasado.', 'Nothing is overdue.')}
      keyOf={(one) => `${one.kind} ${one.subject_id}`}
      columns={[
        { name: t('Devia ter sido', 'Was due'), cell: (one) => <Time at={one.due_at} /> },
        { name: t('O quê', 'What'), cell: (one) => one.kind },
        { name: t('Tentativas', 'Attempts'), isNumber: true, cell: (one) => String(one.attempts) },
        { name: t('Último erro', 'Last error'), cell: (one) => one.last_error ?? '–' },
        { name: t('De', 'Of'), cell: (one) => <Id value={one.subject_id} /> },
      ]}
    />
  );
}

function FraudHits(): ReactNode {
  const { t } = useLanguage();
  return (
    <List<FraudHitBody>
      name={t('Antifraude', 'Fraud guard')}
      path="fraud-hits"
      empty={t('Nada foi recusado.', 'Nothing was refused.')}
      keyOf={({ id }) => id}
      columns={[
        { name: t('Quando', 'When'), cell: (one) => <Time at={one.created_at} /> },
        { name: t('Regra', 'Rule'), cell: (one) => <code>{one.code}</code> },
        { name: t('Operação', 'Operation'), cell: (one) => one.operation },
        { name: t('Valor', 'Amount'), isNumber: true, cell: (one) => <Money amount={one.amount} /> },
        { name: t('Documento', 'Document'), cell: (one) => one.document ?? '–' },
        {
          name: t('Recusada', 'Refused'),
          cell: (one) => (one.enforced ? t('sim', 'yes') : t('só anotada', 'only noted')),
        },
      ]}
    />
  );
}

function Accounts(): ReactNode {
  const { t } = useLanguage();
  const refresh = useRefresh();
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  return (
    <>
      <div className="actions">
        <ActionDialog
          trigger={t('Nova conta', 'New account')}
          tone="primary"
          title={t('Nova conta', 'New account')}
          confirm={t('Criar e convidar o dono', 'Create and invite the owner')}
          isReady={name !== '' && email !== ''}
          act={async () => {
            await call('POST', '/v1/operations/accounts', { name, email });
            setName('');
            setEmail('');
            await refresh();
          }}
        >
          <Input
            label={t('Nome', 'Name')}
            maxLength={100}
            value={name}
            onChange={(event) => setName(event.target.value)}
            required
          />
          <Input
            label={t('E-mail do dono', 'Owner’s e-mail')}
            type="email"
            value={email}
            onChange={(event) => setEmail(event.target.value)}
            required
          />
        </ActionDialog>
      </div>
      <List<AccountBody>
        name={t('Contas', 'Accounts')}
        path="accounts"
        empty={t('Nenhuma conta.', 'No accounts.')}
        keyOf={({ id }) => id}
        columns={[
          { name: t('Nome', 'Name'), cell: (one) => one.name },
          { name: 'E-mail', cell: (one) => one.contact_email },
          { name: t('Desde', 'Since'), cell: (one) => <Time at={one.created_at} /> },
          { name: t('Tarifa', 'Fee'), cell: (one) => `${String(one.fee_bps / 100)} % + ${String(one.fee_fixed)} c` },
          {
            name: t('Situação', 'Status'),
            cell: (one) => (
              <Status
                value={one.suspended ? 'FAILED' : 'ACTIVE'}
                label={one.suspended ? t('Suspensa', 'Suspended') : t('Ativa', 'Active')}
              />
            ),
          },
          {
            name: t('Ações', 'Actions'),
            cell: (one) => (
              <ActionDialog
                trigger={one.suspended ? t('Reativar', 'Reactivate') : t('Suspender', 'Suspend')}
                tone={one.suspended ? 'plain' : 'danger'}
                title={`${one.suspended ? t('Reativar', 'Reactivate') : t('Suspender', 'Suspend')} ${one.name}`}
                confirm={one.suspended ? t('Reativar', 'Reactivate') : t('Suspender', 'Suspend')}
                act={async () => {
                  await call('PATCH', `/v1/operations/accounts/${one.id}`, { suspended: !one.suspended });
                  await refresh();
                }}
              >
                <p>
                  {one.suspended
                    ? t('As chaves da conta voltam a valer.', 'The keys of the account work again.')
                    : t(
                        'As chaves da conta são recusadas; o que já começou continua.',
                        'The keys of the account are refused; what was begun goes on.',
                      )}
                </p>
              </ActionDialog>
            ),
          },
        ]}
      />
    </>
  );
}
