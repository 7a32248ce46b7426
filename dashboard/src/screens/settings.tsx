import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { RecoveryCodesBody, SessionListBody, TotpBody } from '../../../src/auth/dto/login.body.js';
import { call } from '../api.js';
import { useLanguage } from '../language.js';
import { SESSION, useSession } from '../session.js';
import { ActionDialog, Button, Card, Failure, Id, Input, Loading, Page, Table, Time } from '../ui.js';

export function Settings(): ReactNode {
  const { t } = useLanguage();
  return (
    <Page title={t('Meu acesso', 'My login')}>
      <Password />
      <SecondFactor />
      <Sessions />
    </Page>
  );
}

function Password(): ReactNode {
  const { t } = useLanguage();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  return (
    <Card title={t('Senha', 'Password')}>
      <ActionDialog
        trigger={t('Trocar a senha', 'Change the password')}
        title={t('Trocar a senha', 'Change the password')}
        confirm={t('Trocar', 'Change')}
        isReady={current !== '' && next.length >= 10}
        act={async () => {
          await call('POST', '/v1/auth/password', { current_password: current, new_password: next });
          setCurrent('');
          setNext('');
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
          act={async () => {
            await call('DELETE', '/v1/auth/totp', { password, code });
            setPassword('');
            setCode('');
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
              <Button onPress={() => void client.invalidateQueries({ queryKey: SESSION })}>
                {t('Guardei os códigos', 'I kept the codes')}
              </Button>
            </>
          }
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
                  'Abra o link no telefone, ou escreva o segredo no aplicativo de códigos:',
                  'Open the link on your phone, or type the secret into the app of codes:',
                )}
              </p>
              <p>
                <a href={totp.uri}>{t('Abrir no aplicativo', 'Open in the app')}</a>
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
                    onPress={() =>
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
