import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { ApiKeyListBody } from '../../../src/api-keys/dto/api-key.body.js';
import type { AccountBody } from '../../../src/operations/dto/account.body.js';
import { call } from '../api.js';
import { ActionDialog } from '../dialog.js';
import { decimal, money, parseAmount, percent } from '../format.js';
import { textOf, useFields } from '../forms.js';
import { useLanguage } from '../language.js';
import { useRefresh } from '../lists.js';
import { Button, Choice, Empty, Failure, Field, Input, Loading, Status, Table, Time } from '../ui.js';
import { List } from './operator-list.js';

/** Merchants, for operators of the service. */
export function Accounts(): ReactNode {
  const { t, language } = useLanguage();
  const refresh = useRefresh('operations');
  const { fields, begin, field } = useFields({ name: '', email: '' });
  const [query, setQuery] = useState('');
  return (
    <>
      <div className="actions">
        <ActionDialog
          trigger={t('Nova conta', 'New account')}
          tone="primary"
          confirm={t('Criar e convidar o dono', 'Create and invite the owner')}
          isReady={fields.name !== '' && fields.email !== ''}
          opened={begin}
          act={() => call('POST', '/v1/operations/accounts', fields).then(refresh)}
          refused={{ email: t('Já existe um login com este e-mail.', 'A login with this e-mail exists already.') }}
        >
          <Input label={t('Nome', 'Name')} maxLength={120} {...field('name')} required />
          <Input label={t('E-mail do dono', 'Owner’s e-mail')} type="email" {...field('email')} required />
        </ActionDialog>
      </div>
      <form
        className="filters"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          setQuery(textOf(new FormData(event.currentTarget), 'query'));
        }}
      >
        <Input
          label={t('Buscar contas', 'Search accounts')}
          name="query"
          type="search"
          minLength={2}
          maxLength={200}
          placeholder={t('Nome, e-mail ou id', 'Name, e-mail or id')}
        />
        <Button type="submit">{t('Buscar', 'Search')}</Button>
      </form>
      <List<AccountBody>
        label={t('Contas', 'Accounts')}
        path="accounts"
        query={query === '' ? {} : { query }}
        empty={t('Nenhuma conta.', 'No accounts.')}
        keyOf={({ id }) => id}
        columns={[
          { name: t('Nome', 'Name'), cell: (one) => one.name },
          { name: 'E-mail', cell: (one) => one.contact_email },
          { name: t('Desde', 'Since'), cell: (one) => <Time at={one.created_at} /> },
          {
            name: t('Tarifa', 'Fee'),
            cell: (one) => `${percent(one.fee_bps / 10_000, language)} + ${money(one.fee_fixed, 'BRL', language)}`,
          },
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
              <div className="actions">
                <AccountSettings account={one} />
                <AccountKeys account={one} />
                <ActionDialog
                  trigger={one.suspended ? t('Reativar', 'Reactivate') : t('Suspender', 'Suspend')}
                  tone={one.suspended ? 'plain' : 'danger'}
                  title={`${one.suspended ? t('Reativar', 'Reactivate') : t('Suspender', 'Suspend')} ${one.name}`}
                  act={() =>
                    call('PATCH', `/v1/operations/accounts/${one.id}`, { suspended: !one.suspended }).then(refresh)
                  }
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
              </div>
            ),
          },
        ]}
      />
    </>
  );
}

/** The keys of an account; a leaked key is revoked here. */
function AccountKeys({ account }: { account: AccountBody }): ReactNode {
  const { t } = useLanguage();
  const [isOpen, setOpen] = useState(false);
  const keys = useQuery({
    queryKey: ['operations', 'keys', account.id],
    queryFn: () => call<ApiKeyListBody>('GET', `/v1/operations/accounts/${account.id}/api-keys`),
    enabled: isOpen,
  });
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t('Chaves', 'Keys')}</summary>
      {keys.error && <Failure error={keys.error} />}
      {keys.isLoading && <Loading />}
      {keys.data?.data.length === 0 && <Empty title={t('Nenhuma chave.', 'No keys.')} />}
      {keys.data && keys.data.data.length > 0 && (
        <Table
          label={`${t('Chaves de', 'Keys of')} ${account.name}`}
          rows={keys.data.data}
          keyOf={({ id }) => id}
          columns={[
            { name: t('Chave', 'Key'), cell: (one) => <code>{one.prefix}…</code> },
            { name: t('Nome', 'Name'), cell: (one) => one.label ?? '–' },
            { name: t('Criada', 'Created'), cell: (one) => <Time at={one.createdAt} /> },
            {
              name: t('Ações', 'Actions'),
              cell: (one) => (
                <ActionDialog
                  trigger={t('Revogar', 'Revoke')}
                  tone="danger"
                  title={`${t('Revogar a chave', 'Revoke the key')} ${one.prefix}…`}
                  act={() => call('DELETE', `/v1/operations/api-keys/${one.id}`).then(() => keys.refetch())}
                >
                  <p>
                    {t(
                      `Programas de ${account.name} com esta chave são recusados a partir de agora.`,
                      `Programs of ${account.name} with this key are refused from now on.`,
                    )}
                  </p>
                </ActionDialog>
              ),
            },
          ]}
        />
      )}
    </details>
  );
}

/** Settings that are whole numbers. */
const NUMBERS = [
  'fee_bps',
  'fee_fixed',
  'pix_out_fee',
  'release_days',
  'reserve_bps',
  'reserve_days',
  'negative_notice_days',
  'default_expires_in',
  'fraud_velocity',
] as const;

const SWITCHES = ['payer_lock', 'med_outcome_notifications'] as const;

function AccountSettings({ account }: { account: AccountBody }): ReactNode {
  const { t, language } = useLanguage();
  const refresh = useRefresh('operations');
  const [changed, setChanged] = useState<Partial<AccountBody>>({});
  const [ticket, setTicket] = useState('');
  const most = ticket.trim() === '' ? null : parseAmount(ticket, language);
  const shown = { ...account, ...changed };
  const names: Readonly<Record<(typeof NUMBERS)[number], string>> = {
    fee_bps: t('Tarifa, em centésimos de por cento', 'Fee, in hundredths of a percent'),
    fee_fixed: t('Tarifa fixa, em centavos', 'Fixed fee, in cents'),
    pix_out_fee: t('Tarifa por Pix enviado, em centavos', 'Fee per Pix-out, in cents'),
    default_expires_in: t(
      'Segundos que uma cobrança espera, se o pedido não diz',
      'Seconds a charge waits, unless it says',
    ),
    fraud_velocity: t('Cobranças por minuto para um documento', 'Charges a minute for one document'),
    release_days: t('Dias até o dinheiro estar disponível', 'Days until money is available'),
    reserve_bps: t(
      'Reserva de cada venda, em centésimos de por cento',
      'Reserve of each sale, in hundredths of a percent',
    ),
    reserve_days: t('Dias até a reserva estar disponível', 'Days until the reserve is available'),
    negative_notice_days: t('Dias entre avisos de saldo negativo', 'Days between notices of a negative balance'),
  };
  const switches: Readonly<Record<(typeof SWITCHES)[number], string>> = {
    payer_lock: t('Só o pagador informado pode pagar', 'Only the named payer may pay'),
    med_outcome_notifications: t('Webhooks avisam o resultado das disputas', 'Webhooks report the outcome of disputes'),
  };
  return (
    <ActionDialog
      trigger={t('Configurar', 'Settings')}
      title={`${t('Configurar', 'Settings of')} ${account.name}`}
      confirm={t('Salvar', 'Save')}
      isReady={Object.keys(changed).length > 0 && (ticket.trim() === '' || most !== null)}
      opened={() => {
        setChanged({});
        setTicket(account.fraud_max_amount === null ? '' : decimal(account.fraud_max_amount, language));
      }}
      act={async () => {
        const documents = changed.fraud_blocked_documents?.map((one) => one.trim()).filter((one) => one !== '');
        await call('PATCH', `/v1/operations/accounts/${account.id}`, {
          ...changed,
          ...(documents === undefined ? {} : { fraud_blocked_documents: documents }),
        });
        await refresh();
      }}
    >
      {NUMBERS.map((name) => (
        <Input
          key={name}
          label={names[name]}
          type="number"
          min={0}
          value={shown[name]}
          onChange={(event) => setChanged({ ...changed, [name]: Number(event.target.value) })}
        />
      ))}
      <Input
        label={t('Cidade no Pix', 'City in the Pix')}
        maxLength={60}
        value={shown.city}
        onChange={(event) => setChanged({ ...changed, city: event.target.value })}
      />
      <Input
        label={t('Valor máximo de uma cobrança', 'Maximum ticket')}
        hint={t('Vazio: sem limite.', 'Empty: none.')}
        inputMode="decimal"
        value={ticket}
        onChange={(event) => {
          setTicket(event.target.value);
          setChanged({ ...changed, fraud_max_amount: parseAmount(event.target.value, language) });
        }}
      />
      <Field
        label={t('CPFs e CNPJs bloqueados', 'Blocked CPFs and CNPJs')}
        hint={t('Um por linha.', 'One on each line.')}
      >
        {(named) => (
          <textarea
            {...named}
            rows={3}
            value={shown.fraud_blocked_documents.join('\n')}
            onChange={(event) =>
              setChanged({
                ...changed,
                fraud_blocked_documents: event.target.value === '' ? [] : event.target.value.split(/[\n,;]/),
              })
            }
          />
        )}
      </Field>
      <Choice
        label={t('Antifraude', 'Fraud guard')}
        value={shown.fraud_mode}
        onChange={(event) => setChanged({ ...changed, fraud_mode: event.target.value as AccountBody['fraud_mode'] })}
        options={[
          ['off', t('desligado', 'off')],
          ['shadow', t('só anota', 'only notes')],
          ['enforce', t('recusa', 'refuses')],
        ]}
      />
      {SWITCHES.map((name) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={shown[name]}
            onChange={(event) => setChanged({ ...changed, [name]: event.target.checked })}
          />{' '}
          {switches[name]}
        </label>
      ))}
    </ActionDialog>
  );
}
