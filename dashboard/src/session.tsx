import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, use, useEffect, useState } from 'react';
import type { CurrentSessionBody } from '../../src/auth/dto/login.body.js';
import { useParam } from './address.js';
import { ApiFailure, call, loginEnded } from './api.js';
import { useLanguage } from './language.js';
import { LoginScreen } from './screens/login.js';
import { Failure, Loading } from './ui.js';

export type Mode = 'test' | 'live';

export function isMode(text: string): text is Mode {
  return text === 'test' || text === 'live';
}

const Context = createContext<CurrentSessionBody | null>(null);
export const SESSION = ['session'] as const;

/** Shows its content to a logged-in person. Everybody else gets the login first, and then the requested page. */
export function Session({ children }: { children: ReactNode }): ReactNode {
  const { t } = useLanguage();
  const client = useQueryClient();
  const [wasEnded, setWasEnded] = useState(false);
  const session = useQuery({
    queryKey: SESSION,
    queryFn: () => call<CurrentSessionBody>('GET', '/v1/auth/session'),
    retry: (count, error) => count < 3 && !(error instanceof ApiFailure && error.status === 401),
    staleTime: Infinity,
  });
  useEffect(() => {
    // Data loaded by the last session must not be shown to the next person.
    const end = (): void => {
      if (client.getQueryData(SESSION) === undefined || client.getQueryState(SESSION)?.status === 'error') return;
      setWasEnded(true);
      client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION[0] });
      void client.resetQueries({ queryKey: SESSION });
    };
    loginEnded.addEventListener('ended', end);
    return () => loginEnded.removeEventListener('ended', end);
  }, [client]);
  useIdleEnd(session.data !== undefined);
  if (session.data) return <Context value={session.data}>{children}</Context>;
  if (session.error instanceof ApiFailure && session.error.status === 401)
    return <LoginScreen wasEnded={wasEnded} loggedIn={() => setWasEnded(false)} />;
  if (session.error) return <Failure error={session.error} retry={() => void session.refetch()} />;
  return <Loading label={t('Carregando', 'Loading')} />;
}

/** Matches the time after which the service ends an unused session. */
const IDLE_MS = 3_600_000;
const LOOK_MS = 30_000;
/** Time of the last activity, in any tab. */
const USED = 'recebe.used';

/** Ends an abandoned session: requests that an open page makes by itself do not count as activity. */
function useIdleEnd(isLoggedIn: boolean): void {
  useEffect(() => {
    if (!isLoggedIn) return;
    let kept = 0;
    const use = (): void => {
      if (Date.now() - kept < LOOK_MS) return;
      kept = Date.now();
      localStorage.setItem(USED, String(kept));
    };
    const look = (): void => {
      if (Date.now() - Number(localStorage.getItem(USED)) < IDLE_MS) return;
      const end = (): boolean => loginEnded.dispatchEvent(new Event('ended'));
      void call('POST', '/v1/auth/logout').then(end, end);
    };
    use();
    const timer = setInterval(look, LOOK_MS);
    const inputs = ['pointerdown', 'keydown'] as const;
    for (const input of inputs) addEventListener(input, use);
    return () => {
      clearInterval(timer);
      for (const input of inputs) removeEventListener(input, use);
    };
  }, [isLoggedIn]);
}

export function useSession(): CurrentSessionBody {
  const session = use(Context);
  if (!session) throw new Error('Outside of <Session>');
  return session;
}

/** Whether the role may change data, not only read it. */
export function useMayAct(): boolean {
  return ['OWNER', 'ADMIN'].includes(useSession().role);
}

const MODE = 'recebe.mode';

/** The mode that this tab showed last, or else another tab's: account pages have no mode in their address. */
export function lastMode(): Mode {
  return (sessionStorage.getItem(MODE) ?? localStorage.getItem(MODE)) === 'live' ? 'live' : 'test';
}

export function keepMode(mode: Mode): void {
  sessionStorage.setItem(MODE, mode);
  localStorage.setItem(MODE, mode);
}

export function useMode(): Mode {
  const mode = useParam('mode');
  if (mode === '') return lastMode();
  return mode === 'live' ? 'live' : 'test';
}
