import { type UseInfiniteQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { AuditEventBody } from '../../../src/team/dto/audit-event.body.js';
import type { MemberListBody } from '../../../src/team/dto/member.body.js';
import type { SettingName } from '../../../src/accounts/settings.js';
import type { ActorType, AuditEventType } from '../../../src/audit/audit-event.entity.js';
import { call } from '../api.js';
import { toast } from '../toast.js';
import { ActionDialog } from '../dialog.js';
import { useFields } from '../forms.js';
import { type Translate, useLanguage } from '../language.js';
import { Listing, usePages } from '../lists.js';
import { useMayAct, useSession } from '../session.js';
import { Card, Choice, Empty, Input, Link, NoAccount, Page, Status, Time } from '../ui.js';
import { inWords, roleName } from '../words.js';

/** Shown only to roles that may read it. */
export function Team(): ReactNode {
  const { t } = useLanguage();
  const { role } = useSession();
  if (role === 'OPERATOR') return <NoAccount />;
  if (role !== 'MEMBER') return <People />;
  return (
    <Page title={t('Equipe', 'Team')}>
      <Empty
        title={t(
          'Só donos e administradores veem a equipe da conta.',
          'Only owners and administrators see the team of the account.',
        )}
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
  const audit = usePages<AuditEventBody>(['audit'], '/v1/audit-events', { limit: 25 });
  const refresh = (): Promise<void> =>
    client.invalidateQueries({ predicate: ({ queryKey: [first] }) => first === 'members' || first === 'audit' });
  const roles: readonly (readonly [string, string])[] = [
    ['MEMBER', t('Leitura: só visualiza', 'Read only: views')],
    ['ADMIN', t('Administrador: visualiza e opera', 'Administrator: views and acts')],
    ...(me.role === 'OWNER'
      ? [['OWNER', t('Dono: também gerencia donos', 'Owner: also manages owners')] as const]
      : []),
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
            act={async () => {
              await call('POST', '/v1/members', { email, role, ...(name === '' ? {} : { name }) });
              toast(t(`Convite enviado para ${email}.`, `Invitation sent to ${email}.`));
              await refresh();
            }}
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
          { name: t('Papel', 'Role'), cell: (one) => roleName(one.role, t) },
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
      {/* Below the people, whose number is not known before. */}
      {!members.isPending && <Audit list={audit} />}
    </Page>
  );
}

function Audit({ list }: { list: UseInfiniteQueryResult<AuditEventBody[]> }): ReactNode {
  const { t } = useLanguage();
  return (
    <Card title={t('Registro de atividades', 'Activity log')}>
      <Listing
        list={list}
        rows={list.data}
        label={t('Registro de atividades', 'Activity log')}
        empty={t('Nenhum registro ainda.', 'No records yet.')}
        keyOf={({ id }) => id}
        columns={[
          { name: t('Quando', 'When'), cell: (one) => <Time at={one.created_at} /> },
          { name: t('Ação', 'Action'), cell: (one) => auditEvent(one.type, t) },
          { name: t('Alvo', 'Target'), cell: (one) => <Subject event={one} /> },
          { name: t('Quem', 'Who'), cell: (one) => actorName(one, t) },
          { name: 'IP', cell: (one) => one.ip ?? '–' },
        ]}
      />
    </Card>
  );
}

/** The subject of an audit event: a person, a role, a sale, a dispute, or the changed settings. */
function Subject({ event: { type, data } }: { event: AuditEventBody }): ReactNode {
  const { t } = useLanguage();
  const members = useQuery({ queryKey: ['members'], queryFn: () => call<MemberListBody>('GET', '/v1/members') });
  const text = (name: string): string | null => (typeof data[name] === 'string' ? data[name] : null);
  const person = members.data?.data.find(({ id }) => id === (text('user_id') ?? text('invitation_id')))?.email;
  const sale = text('transaction_id') ?? (type.startsWith('payment.') ? text('id') : null);
  const medCase = text('case_id');
  const payout = text('payout_id');
  const mode = text('mode') ?? 'test';
  const said = [
    person,
    text('role') === null ? null : roleName(text('role') ?? '', t),
    text('from') === null ? null : `${roleName(text('from') ?? '', t)} → ${roleName(text('to') ?? '', t)}`,
    typeof data['changes'] === 'object'
      ? Object.keys(data['changes'] ?? {})
          .map((name) => settingName(name, t))
          .join(', ')
      : null,
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

/** A person's e-mail, the fingerprint of a key, or the kind of actor in words. */
function actorName({ actor, api_key_fingerprint: key }: AuditEventBody, t: Translate): string {
  const words: Readonly<Record<ActorType, string>> = {
    member: t('Pessoa removida', 'Removed person'),
    operator: t('Operador', 'Operator'),
    api_key: t('Chave da API', 'API key'),
    cli: t('Operação do serviço', 'Service operations'),
    system: t('Sistema', 'System'),
    anonymous: t('Sem login', 'Not logged in'),
  };
  return actor.email ?? key ?? inWords(() => words)(actor.type, t);
}

/** Words for a changed setting of the account; a missing one does not compile. */
function settingName(name: string, t: Translate): string {
  const words: Readonly<Record<SettingName, string>> = {
    name: t('nome', 'name'),
    contact_email: t('e-mail da conta', 'account’s e-mail'),
    city: t('cidade no Pix', 'city in the Pix'),
    fee_bps: t('tarifa em %', 'fee in %'),
    fee_fixed: t('tarifa fixa', 'fixed fee'),
    pix_out_fee: t('tarifa de Pix enviado', 'fee of a Pix-out'),
    release_days: t('dias até a liberação', 'days until release'),
    reserve_bps: t('reserva em %', 'reserve in %'),
    reserve_days: t('dias da reserva', 'days of the reserve'),
    payer_lock: t('trava de pagador', 'payer lock'),
    default_expires_in: t('validade das cobranças', 'expiry of charges'),
    med_outcome_notifications: t('avisos do resultado de disputas', 'notices of dispute outcomes'),
    fraud_mode: t('modo do antifraude', 'mode of the fraud guard'),
    fraud_velocity: t('limite de cobranças por minuto', 'limit of charges a minute'),
    fraud_max_amount: t('valor máximo do antifraude', 'largest amount of the fraud guard'),
    fraud_blocked_documents: t('documentos bloqueados', 'blocked documents'),
    accent: t('cor do checkout', 'colour of the checkout'),
    logo: t('logotipo', 'logo'),
    negative_notice_days: t('avisos de saldo negativo', 'notices of a negative balance'),
    payer_receipts: t('recibos aos pagadores', 'receipts to payers'),
    tax_id: t('CPF ou CNPJ da conta', 'CPF or CNPJ of the account'),
    payout_fee: t('tarifa de saque', 'payout fee'),
    payouts_to: t('quem pode receber saques', 'receivers of payouts'),
    payout_approval_above: t('saques com aprovação', 'payouts with approval'),
    payout_new_destination_hours: t('espera para destinos novos', 'wait for new destinations'),
    payout_max: t('limite por saque', 'limit per payout'),
    payout_daily_max: t('limite de saques por dia', 'daily payout limit'),
    payout_night_max: t('limite de saques à noite', 'night payout limit'),
    payout_schedule: t('saques programados', 'scheduled payouts'),
    monthly_closing: t('fechamento mensal por e-mail', 'monthly closing by mail'),
    suspended: t('suspensão', 'suspension'),
  };
  return inWords(() => words)(name, t);
}

/** Words for an event of the audit trail; a missing one does not compile. */
function auditEvent(type: AuditEventType, t: Translate): string {
  const words: Readonly<Record<AuditEventType, string>> = {
    'account.created': t('Conta criada', 'Account created'),
    'account.settings_changed': t('Configurações da conta', 'Account settings changed'),
    'acquirer.callback_rotated': t('Endereço de avisos do banco trocado', 'Bank callback address rotated'),
    'acquirer.configured': t('Banco configurado', 'Bank configured'),
    'acquirer.disconnected': t('Banco desconectado', 'Bank disconnected'),
    'acquirer.fee_set': t('Tarifas do banco definidas', 'Bank fees set'),
    'api_key.issued': t('Chave criada', 'Key created'),
    'api_key.revoked': t('Chave revogada', 'Key revoked'),
    'api_key.rotated': t('Chave trocada', 'Key rotated'),
    'correction.applied': t('Correção aplicada', 'Correction applied'),
    'correction.rejected': t('Correção recusada', 'Correction rejected'),
    'correction.requested': t('Correção solicitada', 'Correction requested'),
    'customer.erased': t('Dados de um cliente apagados', 'Customer erased'),
    'customer.exported': t('Dados de um cliente exportados', 'Customer exported'),
    'default_secret.rotated': t('Segredo padrão trocado', 'Default secret rotated'),
    'evidence.completed': t('Prova enviada', 'Evidence uploaded'),
    'evidence.deleted': t('Prova removida', 'Evidence deleted'),
    'login.failed': t('Login recusado', 'Login failed'),
    'login.succeeded': t('Login', 'Logged in'),
    logout: t('Logout', 'Logged out'),
    'med_case.accepted': t('Disputa aceita', 'Dispute accepted'),
    'med_case.appealed': t('Defesa enviada', 'Dispute appealed'),
    'med_case.approved': t('Disputa aprovada', 'Dispute approved'),
    'med_case.dismissed': t('Disputa rejeitada', 'Dispute dismissed'),
    'med_case.evidence_requested': t('Provas solicitadas', 'Evidence requested'),
    'member.added': t('Pessoa incluída', 'Person added'),
    'member.invited': t('Pessoa convidada', 'Person invited'),
    'member.joined': t('Convite aceito', 'Invitation accepted'),
    'member.removed': t('Pessoa removida', 'Person removed'),
    'member.role_changed': t('Papel alterado', 'Role changed'),
    'operator.created': t('Operador criado', 'Operator created'),
    'operator.removed': t('Operador removido', 'Operator removed'),
    'payment.cancelled': t('Venda cancelada', 'Sale cancelled'),
    'payment.created': t('Venda criada', 'Sale created'),
    'payment.note_added': t('Nota de venda criada', 'Note on a sale created'),
    'payment.note_deleted': t('Nota de venda excluída', 'Note on a sale deleted'),
    'payment.webhook_resent': t('Webhook reenviado', 'Webhook resent'),
    'payment_link.changed': t('Link de pagamento editado', 'Payment link edited'),
    'payment_link.created': t('Link de pagamento criado', 'Payment link created'),
    'payment_link.ended': t('Link de pagamento encerrado', 'Payment link ended'),
    'payout.approved': t('Saque aprovado', 'Payout approved'),
    'payout.cancelled': t('Saque cancelado', 'Payout cancelled'),
    'payout.disapproved': t('Saque recusado', 'Payout refused'),
    'payout.requested': t('Saque solicitado', 'Payout requested'),
    'payout.resolved': t('Saque resolvido por um operador', 'Payout resolved by an operator'),
    'payout_destination.approved': t('Destino de saques aprovado', 'Payout destination approved'),
    'payout_destination.deleted': t('Destino de saques excluído', 'Payout destination deleted'),
    'payout_destination.saved': t('Destino de saques salvo', 'Payout destination saved'),
    'refund.requested': t('Reembolso solicitado', 'Refund requested'),
    'report.requested': t('Relatório solicitado', 'Report requested'),
    'review.accepted': t('Pagamento retido aceito', 'Held payment accepted'),
    'review.returned': t('Pagamento retido devolvido', 'Held payment returned'),
    'session.ended': t('Sessão encerrada', 'Session ended'),
    'user.password_changed': t('Senha alterada', 'Password changed'),
    'user.password_forgotten': t('Nova senha solicitada', 'Password reset requested'),
    'user.renamed': t('Nome alterado', 'Name changed'),
    'user.totp_removed': t('Segundo fator removido', 'Second factor removed'),
    'user.totp_reset': t('Segundo fator removido por um operador', 'Second factor reset by an operator'),
    'user.totp_set': t('Segundo fator configurado', 'Second factor set'),
    'webhook_delivery.retried': t('Entrega reenviada', 'Delivery retried'),
    'webhook_endpoint.changed': t('Endpoint editado', 'Endpoint edited'),
    'webhook_endpoint.deleted': t('Endpoint excluído', 'Endpoint deleted'),
    'webhook_endpoint.recovered': t('Entregas do endpoint reenviadas', 'Endpoint deliveries resent'),
    'webhook_endpoint.registered': t('Endpoint criado', 'Endpoint created'),
    'webhook_endpoint.secret_rotated': t('Segredo do endpoint trocado', 'Endpoint secret rotated'),
  };
  return words[type];
}
