import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { call } from '../api.js';
import type { Refused } from '../failures.js';
import { passwordOf, textOf } from '../forms.js';
import { useLanguage } from '../language.js';
import { Button, Failure, Input, Link } from '../ui.js';

/** A page of one form, for who is not logged in. */
function Door({
  title,
  button,
  done,
  send,
  refused,
  children,
}: {
  title: string;
  button: string;
  done: string;
  refused?: Refused;
  send: (form: FormData) => Promise<unknown>;
  children: ReactNode;
}): ReactNode {
  const { t } = useLanguage();
  const [state, setState] = useState<'asks' | 'sends' | 'done'>('asks');
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    document.title = `${title} · Recebe`;
  }, [title]);
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setState('sends');
    setError(null);
    try {
      await send(form);
      setState('done');
    } catch (failure) {
      setError(failure);
      setState('asks');
    }
  };
  return (
    <main className="door">
      <form onSubmit={(event) => void submit(event)}>
        <p className="brand">Recebe</p>
        <h1>{title}</h1>
        {state === 'done' ? <p role="status">{done}</p> : children}
        {error !== null && <Failure error={error} refused={refused} />}
        {state !== 'done' && (
          <Button tone="primary" type="submit" disabled={state === 'sends'}>
            {button}
          </Button>
        )}
        <p>
          <Link to="/">{t('Ir para o login', 'Go to the login')}</Link>
        </p>
      </form>
    </main>
  );
}

export function ForgotPassword(): ReactNode {
  const { t } = useLanguage();
  return (
    <Door
      title={t('Esqueci a senha', 'I forgot my password')}
      button={t('Enviar o link', 'Send the link')}
      done={t(
        'Se alguém entra com este e-mail, um link foi enviado. Ele vale por uma hora.',
        'If somebody logs in with this e-mail, a link was sent. It is good for an hour.',
      )}
      send={(form) => call('POST', '/v1/auth/forgot-password', { email: textOf(form, 'email') })}
    >
      <Input label="E-mail" name="email" type="email" autoComplete="username" required autoFocus />
    </Door>
  );
}

/** The token is behind the `#`, which a browser never sends. */
function ChoosePassword({
  path,
  title,
  done,
  refused,
}: {
  path: string;
  title: string;
  done: string;
  refused: Refused;
}): ReactNode {
  const { t } = useLanguage();
  const [token] = useState(() => location.hash.slice(1));
  useEffect(() => history.replaceState(history.state, '', location.pathname), []);
  return (
    <Door
      title={title}
      button={t('Salvar a senha', 'Save the password')}
      done={done}
      refused={refused}
      send={(form) => call('POST', path, { token: token || textOf(form, 'token'), password: passwordOf(form) })}
    >
      {token === '' && <Input label={t('Código do e-mail', 'Code from the e-mail')} name="token" required />}
      <Input
        label={t('Nova senha', 'New password')}
        hint={t(
          'Pelo menos 10 caracteres; nada óbvio, nem o seu nome ou e-mail.',
          'At least 10 characters; nothing obvious, nor your name or e-mail.',
        )}
        name="password"
        type="password"
        autoComplete="new-password"
        minLength={10}
        maxLength={256}
        required
        autoFocus
      />
    </Door>
  );
}

export function ResetPassword(): ReactNode {
  const { t } = useLanguage();
  return (
    <ChoosePassword
      path="/v1/auth/reset-password"
      title={t('Escolher uma senha nova', 'Choose a new password')}
      done={t(
        'A senha foi trocada, e todos os acessos terminaram.',
        'The password was changed, and all logins have ended.',
      )}
      refused={{
        token: t(
          'Este link não vale mais: peça outro em “Esqueci a senha”.',
          'This link is not valid any more: ask for another one by “I forgot my password”.',
        ),
      }}
    />
  );
}

export function AcceptInvitation(): ReactNode {
  const { t } = useLanguage();
  return (
    <ChoosePassword
      path="/v1/auth/accept-invitation"
      title={t('Aceitar o convite', 'Accept the invitation')}
      done={t('Pronto. Agora entre com a sua senha.', 'Done. Now log in with your password.')}
      refused={{
        token: t(
          'Este convite não vale mais: peça outro a quem o convidou.',
          'This invitation is not valid any more: ask who has invited you for another one.',
        ),
        email: t('Já existe um login com este e-mail.', 'A login with this e-mail exists already.'),
      }}
    />
  );
}
