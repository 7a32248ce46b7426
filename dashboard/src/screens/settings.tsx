import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { type ComponentProps, type ReactNode, useState } from 'react';
import type { MerchantAccountBody } from '../../../src/accounts/dto/merchant-account.js';
import type { RecoveryCodesBody, SessionListBody, TotpBody } from '../../../src/auth/dto/login.body.js';
import { call } from '../api.js';
import { ActionDialog } from '../dialog.js';
import { decimal, parseAmount } from '../format.js';
import { useFields } from '../forms.js';
import { useLanguage } from '../language.js';
import { Listing, useRefresh } from '../lists.js';
import { useNotices } from '../notices.js';
import { SESSION, useSession } from '../session.js';
import { Button, Card, Facts, Failure, Id, Input, Loading, Money, Page, Time } from '../ui.js';
import { Notices } from './settings-notices.js';

export function Settings(): ReactNode {
  const { t } = useLanguage();
  const title = t('Configurações', 'Settings');
  const isOperator = useSession().role === 'OPERATOR';
  // All cards appear together: a late one would push the others down.
  const isPending = [useAccount(!isOperator), useNotices()].some((one) => one.isPending && one.failureCount === 0);
  if (!isOperator && isPending)
    return (
      <Page title={title}>
        <Loading />
      </Page>
    );
  return (
    <Page title={title}>
      {!isOperator && (
        <>
          <Account />
          <PayoutLimits />
        </>
      )}
      <Profile />
      <Password />
      <SecondFactor />
      {!isOperator && <Notices />}
      <Sessions />
    </Page>
  );
}

function useAccount(enabled = true): UseQueryResult<MerchantAccountBody> {
  return useQuery({
    queryKey: ['account'],
    queryFn: () => call<MerchantAccountBody>('GET', '/v1/account'),
    enabled,
  });
}

const LOGO_BYTES = 16 * 1024;
const LOGO_TYPES = ['image/png', 'image/jpeg', 'image/webp'];
const ACCENT = '#0b6b60';

function dataUrlOf(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(new Error(file.name));
    reader.readAsDataURL(file);
  });
}

/** How payers see the account, and where it is written to. */
function Account(): ReactNode {
  const { t } = useLanguage();
  const isOwner = useSession().role === 'OWNER';
  const refresh = useRefresh('account');
  const refreshSession = useRefresh(...SESSION);
  const account = useAccount();
  const [draft, setDraft] = useState<Partial<MerchantAccountBody>>({});
  const [refused, setRefused] = useState<string | null>(null);
  if (account.error) return <Failure error={account.error} retry={() => void account.refetch()} />;
  if (!account.data) return <Loading />;
  const shown = { ...account.data, ...draft };
  const change = (changes: Partial<MerchantAccountBody>): void => setDraft({ ...draft, ...changes });
  const field = (name: 'name' | 'contact_email' | 'city'): Pick<ComponentProps<'input'>, 'value' | 'onChange'> => ({
    value: shown[name],
    onChange: (event) => change({ [name]: event.target.value }),
  });
  const takeLogo = async (file: File | undefined): Promise<void> => {
    setRefused(null);
    if (!file) return;
    if (!LOGO_TYPES.includes(file.type) || file.size > LOGO_BYTES) {
      setRefused(
        t('O logotipo é um PNG, JPEG ou WebP de no máximo 16 KB.', 'The logo is a PNG, JPEG or WebP of at most 16 KB.'),
      );
      return;
    }
    change({ logo: await dataUrlOf(file) });
  };
  return (
    <Card title={t('Conta', 'Account')}>
      <Facts
        rows={[
          [t('Nome', 'Name'), account.data.name],
          [t('E-mail da conta', 'Account’s e-mail'), account.data.contact_email],
          [t('Cidade no Pix', 'City in the Pix'), account.data.city],
          [
            t('No checkout', 'At the checkout'),
            <>
              {account.data.logo !== null && (
                <img className="logo" src={account.data.logo} alt={t('Logotipo', 'Logo')} />
              )}{' '}
              <code>{account.data.accent ?? ACCENT}</code>
            </>,
          ],
          [
            t('Recibos aos pagadores', 'Receipts to payers'),
            account.data.payer_receipts ? t('Sim, por e-mail', 'Yes, by mail') : t('Não', 'No'),
          ],
          [
            t('Fechamento do mês', 'Closing of the month'),
            account.data.monthly_closing
              ? t('Aos donos, no primeiro dia útil', 'To the owners, on the first bank day')
              : t('Não', 'No'),
          ],
        ]}
      />
      {isOwner && (
        <ActionDialog
          trigger={t('Editar', 'Edit')}
          title={t('Editar a conta', 'Edit the account')}
          confirm={t('Salvar', 'Save')}
          isReady={Object.keys(draft).length > 0}
          opened={() => {
            setDraft({});
            setRefused(null);
          }}
          act={() => call('PATCH', '/v1/account', draft).then(() => Promise.all([refresh(), refreshSession()]))}
        >
          <Input label={t('Nome', 'Name')} maxLength={120} {...field('name')} />
          <Input
            label={t('E-mail da conta', 'Account’s e-mail')}
            hint={t('Para disputas e avisos.', 'For disputes and notices.')}
            type="email"
            maxLength={254}
            {...field('contact_email')}
          />
          <Input label={t('Cidade no Pix', 'City in the Pix')} maxLength={60} {...field('city')} />
          <Input
            label={t('Cor do checkout', 'Colour of the checkout')}
            hint={t('Escura o bastante para se ver no branco.', 'Dark enough to be seen on white.')}
            type="color"
            value={shown.accent ?? ACCENT}
            onChange={(event) => change({ accent: event.target.value })}
          />
          <Input
            label={t('Logotipo do checkout', 'Logo of the checkout')}
            hint={t('PNG, JPEG ou WebP, até 16 KB.', 'PNG, JPEG or WebP, up to 16 KB.')}
            type="file"
            accept={LOGO_TYPES.join(',')}
            onChange={(event) => void takeLogo(event.target.files?.[0])}
          />
          {refused !== null && <p role="alert">{refused}</p>}
          {shown.logo !== null && (
            <p>
              <img className="logo" src={shown.logo} alt={t('Logotipo', 'Logo')} />{' '}
              <Button onClick={() => change({ logo: null })}>{t('Sem logotipo', 'No logo')}</Button>
            </p>
          )}
          <label>
            <input
              type="checkbox"
              checked={shown.payer_receipts}
              onChange={(event) => change({ payer_receipts: event.target.checked })}
            />{' '}
            {t('Enviar recibo a quem paga', 'Send receipts to payers')}
          </label>
          <label>
            <input
              type="checkbox"
              checked={shown.monthly_closing}
              onChange={(event) => change({ monthly_closing: event.target.checked })}
            />{' '}
            {t('Enviar o fechamento do mês aos donos', 'Send the closing of each month to the owners')}
          </label>
        </ActionDialog>
      )}
    </Card>
  );
}

const LIMITS = ['payout_approval_above', 'payout_max', 'payout_daily_max', 'payout_night_max'] as const;

/** Limits of payouts, which an OWNER can only lower: whoever has stolen a login gains nothing. */
function PayoutLimits(): ReactNode {
  const { t, language } = useLanguage();
  const isOwner = useSession().role === 'OWNER';
  const refresh = useRefresh('account');
  const { data } = useAccount();
  const textOf = (cents: number | null | undefined): string => (cents == null ? '' : decimal(cents, language));
  const { fields, begin, field } = useFields({
    payout_approval_above: textOf(data?.payout_approval_above),
    payout_max: textOf(data?.payout_max),
    payout_daily_max: textOf(data?.payout_daily_max),
    payout_night_max: textOf(data?.payout_night_max),
  });
  if (!data) return null;
  const centsOf = (typed: string): number | null => (/^0+(?:[.,]0+)?$/.test(typed) ? 0 : parseAmount(typed, language));
  const changed = LIMITS.filter((name) => fields[name].trim() !== textOf(data[name]));
  const changes = Object.fromEntries(changed.map((name) => [name, centsOf(fields[name].trim())]));
  const labels = {
    payout_approval_above: t('Aprovação acima de', 'Approval above'),
    payout_max: t('Limite por saque', 'Limit of a payout'),
    payout_daily_max: t('Limite por dia', 'Limit a day'),
    payout_night_max: t('Limite por noite (20h às 6h)', 'Limit a night (20:00 to 06:00)'),
  };
  return (
    <Card title={t('Saques', 'Payouts')}>
      <Facts
        rows={LIMITS.map((name) => {
          const none =
            name === 'payout_approval_above' ? t('Sem aprovação', 'No approval') : t('O padrão', 'The default');
          const cents = data[name];
          return [labels[name], cents === null ? none : <Money amount={cents} currency="BRL" />] as const;
        })}
      />
      {isOwner && (
        <ActionDialog
          trigger={t('Reduzir os limites', 'Lower the limits')}
          confirm={t('Salvar', 'Save')}
          isReady={changed.length > 0 && Object.values(changes).every((cents) => cents !== null)}
          opened={begin}
          act={() => call('PATCH', '/v1/account', changes).then(refresh)}
        >
          <p>
            {t(
              'Valem para os próximos saques. Aqui os limites só diminuem: para aumentar ou remover um deles, fale com o suporte.',
              'They hold for the next payouts. Limits can only be lowered here: to raise or remove one, contact support.',
            )}
          </p>
          {LIMITS.map((name) => (
            <Input key={name} label={labels[name]} inputMode="decimal" {...field(name)} />
          ))}
        </ActionDialog>
      )}
    </Card>
  );
}

function Profile(): ReactNode {
  const { t } = useLanguage();
  const { user } = useSession();
  const refresh = useRefresh(...SESSION);
  const { fields, begin, field } = useFields({ name: user.name });
  const name = fields.name.trim();
  return (
    <Card title={t('Você', 'You')}>
      <Facts
        rows={[
          [t('Nome', 'Name'), user.name],
          ['E-mail', user.email],
        ]}
      />
      <ActionDialog
        trigger={t('Editar o nome', 'Edit the name')}
        confirm={t('Salvar', 'Save')}
        isReady={name !== '' && name !== user.name}
        opened={begin}
        act={() => call('PATCH', '/v1/auth/user', { name }).then(refresh)}
      >
        <Input label={t('Nome', 'Name')} autoComplete="name" maxLength={120} {...field('name')} />
      </ActionDialog>
    </Card>
  );
}

function Password(): ReactNode {
  const { t } = useLanguage();
  const refresh = useRefresh('sessions');
  const { fields, begin, field } = useFields({ current_password: '', new_password: '' });
  return (
    <Card title={t('Senha', 'Password')}>
      <ActionDialog
        trigger={t('Trocar a senha', 'Change the password')}
        confirm={t('Trocar', 'Change')}
        isReady={fields.current_password !== '' && fields.new_password.length >= 10}
        opened={begin}
        act={() => call('POST', '/v1/auth/password', fields).then(refresh)}
        refused={{ current_password: t('A senha atual não confere.', 'The present password is wrong.') }}
        done={
          <p role="status">
            {t('Senha alterada. Suas outras sessões foram encerradas.', 'Changed. Your other logins have ended.')}
          </p>
        }
      >
        <Input
          label={t('Senha atual', 'Present password')}
          type="password"
          autoComplete="current-password"
          {...field('current_password')}
        />
        <Input
          label={t('Nova senha', 'New password')}
          hint={t('Pelo menos 10 caracteres.', 'At least 10 characters.')}
          type="password"
          autoComplete="new-password"
          {...field('new_password')}
        />
      </ActionDialog>
    </Card>
  );
}

function SecondFactor(): ReactNode {
  const { t } = useLanguage();
  const { second_factor: isSet, second_factor_required: isRequired } = useSession();
  const refresh = useRefresh(...SESSION);
  const { fields, set, begin, field } = useFields({ password: '', code: '' });
  const { password, code } = fields;
  const [totp, setTotp] = useState<TotpBody | null>(null);
  const [codes, setCodes] = useState<readonly string[]>([]);
  const refused = {
    password: t('A senha não confere.', 'The password is wrong.'),
    code: t(
      'O código está errado ou já foi usado: espere o aplicativo mostrar o próximo.',
      'The code is wrong or was used already: wait until the app shows the next one.',
    ),
  };
  const passwordInput = (
    <Input label={t('Senha', 'Password')} type="password" autoComplete="current-password" {...field('password')} />
  );
  return (
    <Card title={t('Segundo fator', 'Second factor')}>
      {isRequired && (
        <p role="note">
          {t('Antes de tudo o mais, configure o segundo fator.', 'Before anything else, set a second factor.')}
        </p>
      )}
      <p>
        {isSet
          ? t('O seu acesso pede também um código do aplicativo.', 'Your login also asks for a code of an app.')
          : t('Com ele, uma senha roubada não basta.', 'With it, a stolen password is not enough.')}
      </p>
      {isSet ? (
        <ActionDialog
          trigger={t('Remover', 'Remove')}
          tone="danger"
          title={t('Remover o segundo fator', 'Remove the second factor')}
          opened={begin}
          act={() => call('DELETE', '/v1/auth/totp', fields).then(refresh)}
          refused={refused}
        >
          {passwordInput}
          <Input label={t('Código do aplicativo', 'Code of the app')} autoComplete="one-time-code" {...field('code')} />
        </ActionDialog>
      ) : (
        <ActionDialog
          trigger={t('Configurar', 'Set up')}
          title={t('Configurar o segundo fator', 'Set up the second factor')}
          confirm={totp === null ? t('Continuar', 'Go on') : t('Confirmar', 'Confirm')}
          opened={() => {
            begin();
            setTotp(null);
          }}
          act={async () => {
            if (totp === null) {
              setTotp(await call<TotpBody>('POST', '/v1/auth/totp', { password }));
              set({ password: '' });
              return 'stays';
            }
            const made = await call<RecoveryCodesBody>('POST', '/v1/auth/totp/confirm', { code });
            setCodes(made.recovery_codes);
            set({ code: '' });
            setTotp(null);
            return undefined;
          }}
          done={
            <>
              <p>
                <strong>
                  {t(
                    'Guarde estes códigos: cada um vale uma vez, se o aplicativo se perder.',
                    'Keep these codes: each works once, if the app is lost.',
                  )}
                </strong>
              </p>
              <pre tabIndex={0}>{codes.join('\n')}</pre>
            </>
          }
          closed={refresh}
          refused={refused}
        >
          {totp === null ? (
            passwordInput
          ) : (
            <>
              <p>
                {t(
                  'Leia este código com o aplicativo de códigos, ou escreva o segredo nele:',
                  'Scan this code with the app of codes, or type the secret into it:',
                )}
              </p>
              <p>
                <img className="qr" src={totp.qr} alt={t('QR code do segredo', 'QR code of the secret')} />
              </p>
              <p>
                <a href={totp.uri}>{t('Abrir no aplicativo deste aparelho', 'Open in the app of this device')}</a>
              </p>
              <Id value={totp.secret} label={t('o segredo', 'the secret')} />
              <Input
                label={t('Código que o aplicativo mostra', 'Code that the app shows')}
                autoComplete="one-time-code"
                {...field('code')}
              />
            </>
          )}
        </ActionDialog>
      )}
    </Card>
  );
}

function Sessions(): ReactNode {
  const { t } = useLanguage();
  const refresh = useRefresh('sessions');
  const list = useQuery({ queryKey: ['sessions'], queryFn: () => call<SessionListBody>('GET', '/v1/auth/sessions') });
  return (
    <Card title={t('Sessões ativas', 'Active sessions')}>
      <Listing
        list={list}
        rows={list.data?.data}
        label={t('Acessos', 'Logins')}
        keyOf={({ id }) => id}
        columns={[
          { name: t('Desde', 'Since'), cell: (one) => <Time at={one.created_at} /> },
          { name: t('De onde', 'From where'), cell: (one) => one.ip ?? '–' },
          { name: t('Programa', 'Program'), cell: (one) => one.user_agent ?? '–' },
          {
            name: t('Ações', 'Actions'),
            cell: (one) =>
              one.current ? (
                t('este', 'this one')
              ) : (
                <Button onClick={() => void call('DELETE', `/v1/auth/sessions/${one.id}`).then(refresh)}>
                  {t('Terminar', 'End')}
                </Button>
              ),
          },
        ]}
      />
    </Card>
  );
}
