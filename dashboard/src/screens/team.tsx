import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { AuditEventListBody } from '../../../src/team/dto/audit-event.body.js';
import type { MemberListBody } from '../../../src/team/dto/member.body.js';
import { call, withQuery } from '../api.js';
import { useLanguage } from '../language.js';
import { useMayAct, useSession } from '../session.js';
import {
  ActionDialog,
  Button,
  Card,
  Choice,
  Empty,
  Failure,
  Input,
  Loading,
  Page,
  Status,
  Table,
  Time,
} from '../ui.js';

export function Team(): ReactNode {
  const { t } = useLanguage();
  const mayAct = useMayAct();
  const me = useSession();
  const client = useQueryClient();
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [role, setRole] = useState('MEMBER');
  const [changed, setChanged] = useState('MEMBER');
  const members = useQuery({ queryKey: ['members'], queryFn: () => call<MemberListBody>('GET', '/v1/members') });
  const refresh = (): Promise<void> => client.invalidateQueries({ queryKey: ['members'] });
  const roles: readonly (readonly [string, string])[] = [
    ['MEMBER', t('MEMBER: só lê', 'MEMBER: reads')],
    ['ADMIN', t('ADMIN: lê e age', 'ADMIN: reads and acts')],
    ...(me.role === 'OWNER' ? [['OWNER', t('OWNER: também nomeia donos', 'OWNER: also names owners')] as const] : []),
  ];
  return (
    <Page
      title={t('Equipe', 'Team')}
      actions={
        mayAct && (
          <ActionDialog
            trigger={t('Convidar', 'Invite')}
            tone="primary"
            title={t('Convidar uma pessoa', 'Invite a person')}
            confirm={t('Enviar o convite', 'Send the invitation')}
            isReady={email !== ''}
            act={async () => {
              await call('POST', '/v1/members', { email, role, ...(name === '' ? {} : { name }) });
              setEmail('');
              setName('');
              await refresh();
            }}
          >
            <Input
              label="E-mail"
              type="email"
              required
              value={email}
              onChange={(event) => setEmail(event.target.value)}
            />
            <Input
              label={t('Nome (opcional)', 'Name (optional)')}
              maxLength={100}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
            <Choice
              label={t('Papel', 'Role')}
              value={role}
              onChange={(event) => setRole(event.target.value)}
              options={roles}
            />
            <p className="quiet">
              {t(
                'O convite vai por e-mail e vale por sete dias.',
                'The invitation goes by mail and is good for seven days.',
              )}
            </p>
          </ActionDialog>
        )
      }
    >
      {members.error && <Failure error={members.error} retry={() => void members.refetch()} />}
      {members.isPending && <Loading />}
      {members.data && (
        <Table
          label={t('Pessoas', 'People')}
          rows={members.data.data}
          keyOf={({ id }) => id}
          columns={[
            { name: t('Nome', 'Name'), cell: (one) => one.name },
            { name: 'E-mail', cell: (one) => one.email },
            { name: t('Papel', 'Role'), cell: (one) => one.role },
            {
              name: t('Situação', 'Status'),
              cell: (one) => (
                <Status value={one.status} label={one.invitation ? t('Convidada', 'Invited') : t('Ativa', 'Active')} />
              ),
            },
            { name: t('Desde', 'Since'), cell: (one) => <Time at={one.created_at} /> },
            {
              name: t('Ações', 'Actions'),
              cell: (one) =>
                mayAct && one.id !== me.user.id ? (
                  <div className="actions">
                    {!one.invitation && (
                      <ActionDialog
                        trigger={t('Papel', 'Role')}
                        title={`${t('Papel de', 'Role of')} ${one.name}`}
                        confirm={t('Salvar', 'Save')}
                        act={async () => {
                          await call('PATCH', `/v1/members/${one.id}`, { role: changed });
                          await refresh();
                        }}
                      >
                        <Choice
                          label={t('Papel', 'Role')}
                          value={changed}
                          onChange={(event) => setChanged(event.target.value)}
                          options={roles}
                        />
                      </ActionDialog>
                    )}
                    <ActionDialog
                      trigger={t('Remover', 'Remove')}
                      tone="danger"
                      title={`${t('Remover', 'Remove')} ${one.email}`}
                      confirm={t('Remover', 'Remove')}
                      act={async () => {
                        await call('DELETE', `/v1/members/${one.id}`);
                        await refresh();
                      }}
                    >
                      <p>
                        {t(
                          'Os acessos desta pessoa terminam agora. As chaves que ela emitiu continuam: troque-as em Desenvolvedores.',
                          'The logins of this person end now. Keys that they issued go on: rotate them under Developers.',
                        )}
                      </p>
                    </ActionDialog>
                  </div>
                ) : (
                  '–'
                ),
            },
          ]}
        />
      )}
      <Audit />
    </Page>
  );
}

function Audit(): ReactNode {
  const { t } = useLanguage();
  const list = useInfiniteQuery({
    queryKey: ['audit'],
    queryFn: ({ pageParam }) =>
      call<AuditEventListBody>('GET', withQuery('/v1/audit-events', { limit: 25, starting_after: pageParam })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <Card title={t('Quem fez o quê', 'Who did what')}>
      {list.error && <Failure error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {list.data && rows.length === 0 && <Empty title={t('Ainda nada.', 'Nothing yet.')} />}
      {rows.length > 0 && (
        <Table
          label={t('Quem fez o quê', 'Who did what')}
          rows={rows}
          keyOf={({ id }) => id}
          columns={[
            { name: t('Quando', 'When'), cell: (one) => <Time at={one.created_at} /> },
            { name: t('O quê', 'What'), cell: (one) => <code>{one.type}</code> },
            { name: t('Quem', 'Who'), cell: (one) => one.actor.email ?? one.api_key_fingerprint ?? one.actor.type },
            { name: t('De onde', 'From where'), cell: (one) => one.ip ?? '–' },
          ]}
        />
      )}
      {list.hasNextPage && (
        <Button isDisabled={list.isFetchingNextPage} onPress={() => void list.fetchNextPage()}>
          {t('Mais antigos', 'Older ones')}
        </Button>
      )}
    </Card>
  );
}
