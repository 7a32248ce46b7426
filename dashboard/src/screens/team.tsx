import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { AuditEventBody } from '../../../src/team/dto/audit-event.body.js';
import type { MemberListBody } from '../../../src/team/dto/member.body.js';
import type { AuditEventType } from '../../../src/audit/audit-event.entity.js';
import { call } from '../api.js';
import { ActionDialog } from '../dialog.js';
import { useFields } from '../forms.js';
import { type Translate, useLanguage } from '../language.js';
import { Listing, usePages } from '../lists.js';
import { useMayAct, useSession } from '../session.js';
import { Card, Choice, Empty, Input, Link, NoAccount, Page, Status, Time } from '../ui.js';

/** Shown only to roles that may read it. */
export function Team(): ReactNode {
  const { t } = useLanguage();
  const { role } = useSession();
  if (role === 'OPERATOR') return <NoAccount />;
  if (role !== 'MEMBER') return <People />;
  return (
    <Page title={t('Equipe', 'Team')}>
      <Empty
        title={t('Só OWNER e ADMIN veem a equipe da conta.', 'Only OWNER and ADMIN see the team of the account.')}
      />
    </Page>
  );
}

function People(): ReactNode {
  const { t } = useLanguage();
  const mayAct = useMayAct();
  const me = useSession();
  const client = useQueryClient();
  const { fields, set, begin, field } = useFields({ email: '', name: '', role: 'MEMBER' });
  const { email, name, role } = fields;
  const members = useQuery({ queryKey: ['members'], queryFn: () => call<MemberListBody>('GET', '/v1/members') });
  const refresh = (): Promise<void> =>
    client.invalidateQueries({ predicate: ({ queryKey: [first] }) => first === 'members' || first === 'audit' });
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
            opened={begin}
            act={() => call('POST', '/v1/members', { email, role, ...(name === '' ? {} : { name }) }).then(refresh)}
            refused={{
              email: t(
                'O e-mail não é válido ou já é de alguém da equipe.',
                'The e-mail is not valid, or is that of a member already.',
              ),
            }}
          >
            <Input label="E-mail" type="email" required {...field('email')} />
            <Input label={t('Nome (opcional)', 'Name (optional)')} maxLength={100} {...field('name')} />
            <Choice label={t('Papel', 'Role')} options={roles} {...field('role')} />
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
      <Listing
        list={members}
        rows={members.data?.data}
        label={t('Pessoas', 'People')}
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
              mayAct && one.id !== me.user.id && (one.role !== 'OWNER' || me.role === 'OWNER') ? (
                <div className="actions">
                  {!one.invitation && (
                    <ActionDialog
                      trigger={t('Papel', 'Role')}
                      title={`${t('Papel de', 'Role of')} ${one.name}`}
                      confirm={t('Salvar', 'Save')}
                      opened={() => set({ role: one.role })}
                      act={() => call('PATCH', `/v1/members/${one.id}`, { role }).then(refresh)}
                    >
                      <Choice label={t('Papel', 'Role')} options={roles} {...field('role')} />
                    </ActionDialog>
                  )}
                  <ActionDialog
                    trigger={t('Remover', 'Remove')}
                    tone="danger"
                    title={`${t('Remover', 'Remove')} ${one.email}`}
                    act={() => call('DELETE', `/v1/members/${one.id}`).then(refresh)}
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
      <Audit />
    </Page>
  );
}

function Audit(): ReactNode {
  const { t } = useLanguage();
  const list = usePages<AuditEventBody>(['audit'], '/v1/audit-events', { limit: 25 });
  return (
    <Card title={t('Quem fez o quê', 'Who did what')}>
      <Listing
        list={list}
        rows={list.data}
        label={t('Quem fez o quê', 'Who did what')}
        empty={t('Ainda nada.', 'Nothing yet.')}
        keyOf={({ id }) => id}
        columns={[
          { name: t('Quando', 'When'), cell: (one) => <Time at={one.created_at} /> },
          { name: t('O quê', 'What'), cell: (one) => auditEvent(one.type, t) },
          { name: t('De quê', 'Of what'), cell: (one) => <Subject event={one} /> },
          { name: t('Quem', 'Who'), cell: (one) => one.actor.email ?? one.api_key_fingerprint ?? one.actor.type },
          { name: t('De onde', 'From where'), cell: (one) => one.ip ?? '–' },
        ]}
      />
    </Card>
  );
}

/** The subject of an audit event: a person, a role, a sale, a dispute, or the changed settings. */
function Subject({ event: { type, data } }: { event: AuditEventBody }): ReactNode {
  const members = useQuery({ queryKey: ['members'], queryFn: () => call<MemberListBody>('GET', '/v1/members') });
  const text = (name: string): string | null => (typeof data[name] === 'string' ? data[name] : null);
  const person = members.data?.data.find(({ id }) => id === (text('user_id') ?? text('invitation_id')))?.email;
  const sale = text('transaction_id') ?? (type.startsWith('payment.') ? text('id') : null);
  const medCase = text('case_id');
  const payout = text('payout_id');
  const mode = text('mode') ?? 'test';
  const said = [
    person,
    text('role'),
    text('from') === null ? null : `${text('from') ?? ''} → ${text('to') ?? ''}`,
    typeof data['changes'] === 'object' ? Object.keys(data['changes'] ?? {}).join(', ') : null,
  ].filter((one) => one !== null && one !== undefined);
  return (
    <>
      {said.join(' · ')}
      {sale !== null && (
        <Link to={`/${mode}/sales/${sale.replace(/^(ch|tx)_/, '')}`}>{sale.replace(/^(ch|tx)_/, '').slice(0, 13)}</Link>
      )}
      {medCase !== null && (
        <Link to={`/${mode}/disputes/med_${medCase.replace(/^med_/, '')}`}>{medCase.slice(0, 13)}</Link>
      )}
      {payout !== null && <Link to={`/${mode}/payouts/po_${payout}`}>{payout.slice(0, 13)}</Link>}
      {said.length === 0 && sale === null && medCase === null && payout === null && '–'}
    </>
  );
}

/** Words for an event of the audit trail; a missing one does not compile. */
function auditEvent(type: AuditEventType, t: Translate): string {
  const words: Readonly<Record<AuditEventType, string>> = {
    'account.created': t('Conta criada', 'Account created'),
    'account.settings_changed': t('Configurações da conta', 'Account settings changed'),
    'acquirer.callback_rotated': t('Endereço de aviso do banco trocado', 'Callback address rotated'),
    'acquirer.configured': t('Banco configurado', 'Bank configured'),
    'acquirer.disconnected': t('Banco desligado', 'Bank disconnected'),
    'acquirer.fee_set': t('Tarifas do banco definidas', 'Bank fees set'),
    'api_key.issued': t('Chave emitida', 'Key issued'),
    'api_key.revoked': t('Chave revogada', 'Key revoked'),
    'api_key.rotated': t('Chave trocada', 'Key rotated'),
    'correction.applied': t('Correção feita', 'Correction made'),
    'correction.rejected': t('Correção recusada', 'Correction rejected'),
    'correction.requested': t('Correção pedida', 'Correction requested'),
    'customer.erased': t('Dados de um cliente apagados', 'Customer erased'),
    'customer.exported': t('Dados de um cliente exportados', 'Customer exported'),
    'default_secret.rotated': t('Segredo padrão trocado', 'Default secret rotated'),
    'evidence.completed': t('Prova enviada', 'Evidence sent'),
    'evidence.deleted': t('Prova removida', 'Evidence deleted'),
    'login.failed': t('Acesso recusado', 'Login failed'),
    'login.succeeded': t('Entrou', 'Logged in'),
    logout: t('Saiu', 'Logged out'),
    'med_case.accepted': t('Disputa aceita', 'Dispute accepted'),
    'med_case.appealed': t('Defesa enviada', 'Dispute appealed'),
    'med_case.approved': t('Disputa aprovada', 'Dispute approved'),
    'med_case.dismissed': t('Disputa descartada', 'Dispute dismissed'),
    'med_case.evidence_requested': t('Provas pedidas', 'Evidence requested'),
    'member.added': t('Pessoa incluída', 'Person added'),
    'member.invited': t('Pessoa convidada', 'Person invited'),
    'member.joined': t('Convite aceito', 'Invitation accepted'),
    'member.removed': t('Pessoa removida', 'Person removed'),
    'member.role_changed': t('Papel mudado', 'Role changed'),
    'operator.created': t('Operador criado', 'Operator created'),
    'operator.removed': t('Operador removido', 'Operator removed'),
    'payment.cancelled': t('Venda cancelada', 'Sale cancelled'),
    'payment.created': t('Venda criada', 'Sale created'),
    'payment.webhook_resent': t('Webhook reenviado', 'Webhook sent again'),
    'payout.approved': t('Saque aprovado', 'Payout approved'),
    'payout.cancelled': t('Saque cancelado', 'Payout cancelled'),
    'payout.disapproved': t('Saque recusado', 'Payout refused'),
    'payout.requested': t('Saque pedido', 'Payout requested'),
    'payout.resolved': t('Saque resolvido por um operador', 'Payout resolved by an operator'),
    'payout_destination.approved': t('Destino de saques aprovado', 'Payout destination approved'),
    'payout_destination.deleted': t('Destino de saques excluído', 'Payout destination deleted'),
    'payout_destination.saved': t('Destino de saques salvo', 'Payout destination saved'),
    'refund.requested': t('Reembolso pedido', 'Refund requested'),
    'report.requested': t('Relatório pedido', 'Report requested'),
    'review.accepted': t('Pagamento retido aceito', 'Held payment accepted'),
    'review.returned': t('Pagamento retido devolvido', 'Held payment returned'),
    'session.ended': t('Acesso terminado', 'Session ended'),
    'user.password_changed': t('Senha trocada', 'Password changed'),
    'user.password_forgotten': t('Senha esquecida', 'Password forgotten'),
    'user.renamed': t('Nome mudado', 'Name changed'),
    'user.totp_removed': t('Segundo fator removido', 'Second factor removed'),
    'user.totp_reset': t('Segundo fator retirado por um operador', 'Second factor reset'),
    'user.totp_set': t('Segundo fator configurado', 'Second factor set'),
    'webhook_delivery.retried': t('Entrega tentada de novo', 'Delivery tried again'),
    'webhook_endpoint.changed': t('Webhook mudado', 'Webhook changed'),
    'webhook_endpoint.deleted': t('Webhook removido', 'Webhook removed'),
    'webhook_endpoint.recovered': t('Webhook recuperado', 'Webhook recovered'),
    'webhook_endpoint.registered': t('Webhook registrado', 'Webhook registered'),
    'webhook_endpoint.secret_rotated': t('Segredo de webhook trocado', 'Webhook secret rotated'),
  };
  return words[type];
}
