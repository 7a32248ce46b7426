import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { MerchantAccountBody } from '../../../src/accounts/dto/merchant-account.js';
import type { RecoveryCodesBody, SessionListBody, TotpBody } from '../../../src/auth/dto/login.body.js';
import { call } from '../api.js';
import { ActionDialog } from '../dialog.js';
import { useLanguage } from '../language.js';
import { SESSION, useSession } from '../session.js';
import { Button, Card, Facts, Failure, Id, Input, Loading, Page, Table, Time } from '../ui.js';

export function Settings(): ReactNode {
  const { t } = useLanguage();
  return (
    <Page title={t('Configurações', 'Settings')}>
      {useSession().role !== 'OPERATOR' && <Account />}
      <Profile />
      <Password />
      <SecondFactor />
      <Sessions />
    </Page>
  );
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
  const client = useQueryClient();
  const account = useQuery({
    queryKey: ['account'],
    queryFn: () => call<MerchantAccountBody>('GET', '/v1/account'),
  });
  const [draft, setDraft] = useState<Partial<MerchantAccountBody>>({});
  const [refused, setRefused] = useState<string | null>(null);
  if (account.error) return <Failure error={account.error} retry={() => void account.refetch()} />;
  if (!account.data) return <Loading />;
  const shown = { ...account.data, ...draft };
  const change = (changes: Partial<MerchantAccountBody>): void => setDraft({ ...draft, ...changes });
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
        ]}
      />
      {isOwner && (
        <ActionDialog
          trigger={t('Mudar', 'Change')}
          title={t('Mudar a conta', 'Change the account')}
          confirm={t('Salvar', 'Save')}
          isReady={Object.keys(draft).length > 0}
          opened={() => {
            setDraft({});
            setRefused(null);
          }}
          act={async () => {
            await call('PATCH', '/v1/account', draft);
            await Promise.all([
              client.invalidateQueries({ queryKey: ['account'] }),
              client.invalidateQueries({ queryKey: SESSION }),
            ]);
          }}
        >
          <Input
            label={t('Nome', 'Name')}
            maxLength={120}
            value={shown.name}
            onChange={(event) => change({ name: event.target.value })}
          />
          <Input
            label={t('E-mail da conta', 'Account’s e-mail')}
            hint={t('Para disputas e avisos.', 'For disputes and notices.')}
            type="email"
            maxLength={254}
            value={shown.contact_email}
            onChange={(event) => change({ contact_email: event.target.value })}
          />
          <Input
            label={t('Cidade no Pix', 'City in the Pix')}
            maxLength={60}
            value={shown.city}
            onChange={(event) => change({ city: event.target.value })}
          />
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
        </ActionDialog>
      )}
    </Card>
  );
}

function Profile(): ReactNode {
  const { t } = useLanguage();
  const { user } = useSession();
  const client = useQueryClient();
  const [name, setName] = useState('');
  return (
    <Card title={t('Você', 'You')}>
      <Facts
        rows={[
          [t('Nome', 'Name'), user.name],
          ['E-mail', user.email],
        ]}
      />
      <ActionDialog
        trigger={t('Mudar o nome', 'Change the name')}
        title={t('Mudar o nome', 'Change the name')}
        confirm={t('Salvar', 'Save')}
        isReady={name.trim() !== '' && name.trim() !== user.name}
        opened={() => setName(user.name)}
        act={async () => {
          await call('PATCH', '/v1/auth/user', { name: name.trim() });
          await client.invalidateQueries({ queryKey: SESSION });
        }}
      >
        <Input
          label={t('Nome', 'Name')}
          autoComplete="name"
          maxLength={120}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </ActionDialog>
    </Card>
  );
}

function Password(): ReactNode {
  const { t } = useLanguage();
  const client = useQueryClient();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  return (
    <Card title={t('Senha', 'Password')}>
      <ActionDialog
        trigger={t('Trocar a senha', 'Change the password')}
        title={t('Trocar a senha', 'Change the password')}
        confirm={t('Trocar', 'Change')}
        isReady={current !== '' && next.length >= 10}
        opened={() => {
          setCurrent('');
          setNext('');
        }}
        act={async () => {
          await call('POST', '/v1/auth/password', { current_password: current, new_password: next });
          await client.invalidateQueries({ queryKey: ['sessions'] });
        }}
        done={
          <p role="status">
            {t('Trocada. Os seus outros acessos terminaram.', 'Changed. Your other logins have ended.')}
          </p>
        }
      >
        <Input
          label={t('Senha de agora', 'Present password')}
          type="password"
          autoComplete="current-password"
          value={current}
          onChange={(event) => setCurrent(event.target.value)}
        />
        <Input
          label={t('Senha nova', 'New password')}
          hint={t('Pelo menos 10 caracteres.', 'At least 10 characters.')}
          type="password"
          autoComplete="new-password"
          value={next}
          onChange={(event) => setNext(event.target.value)}
        />
      </ActionDialog>
    </Card>
  );
}

function SecondFactor(): ReactNode {
  const { t } = useLanguage();
  const { second_factor: isSet, second_factor_required: isRequired } = useSession();
  const client = useQueryClient();
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [totp, setTotp] = useState<TotpBody | null>(null);
  const [codes, setCodes] = useState<readonly string[]>([]);
  const begin = (): void => {
    setPassword('');
    setCode('');
    setTotp(null);
  };
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
          confirm={t('Remover', 'Remove')}
          opened={begin}
          act={async () => {
            await call('DELETE', '/v1/auth/totp', { password, code });
            await client.invalidateQueries({ queryKey: SESSION });
          }}
        >
          <Input
            label={t('Senha', 'Password')}
            type="password"
            autoComplete="current-password"
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
          <Input
            label={t('Código do aplicativo', 'Code of the app')}
            autoComplete="one-time-code"
            value={code}
            onChange={(event) => setCode(event.target.value)}
          />
        </ActionDialog>
      ) : (
        <ActionDialog
          trigger={t('Configurar', 'Set up')}
          title={t('Configurar o segundo fator', 'Set up the second factor')}
          confirm={totp === null ? t('Continuar', 'Go on') : t('Confirmar', 'Confirm')}
          opened={begin}
          act={async () => {
            if (totp === null) {
              setTotp(await call<TotpBody>('POST', '/v1/auth/totp', { password }));
              setPassword('');
              return 'stays';
            }
            const made = await call<RecoveryCodesBody>('POST', '/v1/auth/totp/confirm', { code });
            setCodes(made.recovery_codes);
            setCode('');
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
          closed={() => void client.invalidateQueries({ queryKey: SESSION })}
        >
          {totp === null ? (
            <Input
              label={t('Senha', 'Password')}
              type="password"
              autoComplete="current-password"
              value={password}
              onChange={(event) => setPassword(event.target.value)}
            />
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
                value={code}
                onChange={(event) => setCode(event.target.value)}
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
  const client = useQueryClient();
  const list = useQuery({ queryKey: ['sessions'], queryFn: () => call<SessionListBody>('GET', '/v1/auth/sessions') });
  return (
    <Card title={t('Onde estou', 'Where I am logged in')}>
      {list.error && <Failure error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {list.data && (
        <Table
          label={t('Acessos', 'Logins')}
          rows={list.data.data}
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
                  <Button
                    onClick={() =>
                      void call('DELETE', `/v1/auth/sessions/${one.id}`).then(() =>
                        client.invalidateQueries({ queryKey: ['sessions'] }),
                      )
                    }
                  >
                    {t('Terminar', 'End')}
                  </Button>
                ),
            },
          ]}
        />
      )}
    </Card>
  );
}
