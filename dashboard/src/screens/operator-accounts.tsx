import { type ReactNode, useState } from 'react';
import type { AccountBody } from '../../../src/operations/dto/account.body.js';
import { call } from '../api.js';
import { ActionDialog } from '../dialog.js';
import { money, percent } from '../format.js';
import { useLanguage } from '../language.js';
import { Choice, Input, Status, Time } from '../ui.js';
import { List, useRefresh } from './operator-list.js';

/** Merchants, for those who run the service. */
export function Accounts(): ReactNode {
  const { t, language } = useLanguage();
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
              </div>
            ),
          },
        ]}
      />
    </>
  );
}

/** Whole numbers, as the service takes them. */
const NUMBERS = [
  'fee_bps',
  'fee_fixed',
  'release_days',
  'reserve_bps',
  'reserve_days',
  'negative_notice_days',
] as const;

function AccountSettings({ account }: { account: AccountBody }): ReactNode {
  const { t } = useLanguage();
  const refresh = useRefresh();
  const [changed, setChanged] = useState<Partial<AccountBody>>({});
  const shown = { ...account, ...changed };
  const names: Readonly<Record<(typeof NUMBERS)[number], string>> = {
    fee_bps: t('Tarifa, em centésimos de por cento', 'Fee, in hundredths of a percent'),
    fee_fixed: t('Tarifa fixa, em centavos', 'Fixed fee, in cents'),
    release_days: t('Dias até o dinheiro estar disponível', 'Days until money is available'),
    reserve_bps: t(
      'Reserva de cada venda, em centésimos de por cento',
      'Reserve of each sale, in hundredths of a percent',
    ),
    reserve_days: t('Dias até a reserva estar disponível', 'Days until the reserve is available'),
    negative_notice_days: t('Dias entre avisos de saldo negativo', 'Days between notices of a negative balance'),
  };
  return (
    <ActionDialog
      trigger={t('Configurar', 'Settings')}
      title={`${t('Configurar', 'Settings of')} ${account.name}`}
      confirm={t('Salvar', 'Save')}
      isReady={Object.keys(changed).length > 0}
      opened={() => setChanged({})}
      act={async () => {
        await call('PATCH', `/v1/operations/accounts/${account.id}`, changed);
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
      <label>
        <input
          type="checkbox"
          checked={shown.payer_lock}
          onChange={(event) => setChanged({ ...changed, payer_lock: event.target.checked })}
        />{' '}
        {t('Só quem deve pode pagar (payer lock)', 'Only who owes may pay (payer lock)')}
      </label>
    </ActionDialog>
  );
}
