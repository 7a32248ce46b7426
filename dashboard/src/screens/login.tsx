import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { ApiFailure, call } from '../api.js';
import { hintOf } from '../failures.js';
import { passwordOf, textOf } from '../forms.js';
import { useLanguage } from '../language.js';
import { SESSION } from '../session.js';
import { Button, Input, Link } from '../ui.js';

/** @param wasEnded whether a session has just ended here */
export function LoginScreen({ wasEnded, loggedIn }: { wasEnded: boolean; loggedIn: () => void }): ReactNode {
  const { t, language, setLanguage } = useLanguage();
  const client = useQueryClient();
  const [needsCode, setNeedsCode] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    document.title = `${t('Entrar', 'Log in')} · Recebe`;
  }, [t]);
  const tell = (failure: unknown): string => {
    const code = failure instanceof ApiFailure ? failure.code : '';
    if (code === 'invalid_credentials') return t('E-mail ou senha incorretos.', 'Wrong e-mail or password.');
    if (code === 'totp_invalid') return t('Código incorreto ou já usado.', 'The code is wrong or was used already.');
    if (code === 'rate_limited')
      return t('Muitas tentativas. Aguarde alguns minutos.', 'Too many attempts. Wait a few minutes.');
    return hintOf(failure instanceof ApiFailure ? failure : null, t);
  };
  const logIn = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const code = textOf(form, 'code');
    setBusy(true);
    setProblem(null);
    try {
      await call('POST', '/v1/auth/login', {
        email: textOf(form, 'email'),
        password: passwordOf(form),
        session: 'cookie',
        ...(code === '' ? {} : { code }),
      });
      loggedIn();
      await client.resetQueries({ queryKey: SESSION });
    } catch (failure) {
      if (failure instanceof ApiFailure && failure.code === 'totp_required') setNeedsCode(true);
      else setProblem(tell(failure));
    } finally {
      setBusy(false);
    }
  };
  return (
    <main className="door">
      <form onSubmit={(event) => void logIn(event)}>
        <p className="brand">Recebe</p>
        <h1>{t('Entrar', 'Log in')}</h1>
        {wasEnded && (
          <p role="status">
            {t(
              'O seu acesso terminou, aqui ou em outro lugar. Entre de novo, e você volta para esta página.',
              'Your login has ended, here or elsewhere. Log in again, and you are back at this page.',
            )}
          </p>
        )}
        <Input label={t('E-mail', 'E-mail')} name="email" type="email" autoComplete="username" required autoFocus />
        <Input
          label={t('Senha', 'Password')}
          name="password"
          type="password"
          autoComplete="current-password"
          required
        />
        {needsCode && (
          <Input
            label={t('Código do aplicativo', 'Code from the app')}
            hint={t('Ou um dos códigos de recuperação.', 'Or one of the recovery codes.')}
            name="code"
            autoComplete="one-time-code"
            required
            autoFocus
          />
        )}
        {problem !== null && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        <Button tone="primary" type="submit" disabled={isBusy}>
          {isBusy ? t('Entrando…', 'Logging in…') : t('Entrar', 'Log in')}
        </Button>
        <p>
          <Link to="/forgot-password">{t('Esqueci a senha', 'I forgot my password')}</Link>
        </p>
        <p>
          <Button onClick={() => setLanguage(language === 'en' ? 'pt-BR' : 'en')}>
            {language === 'en' ? 'Português' : 'English'}
          </Button>
        </p>
      </form>
    </main>
  );
}
