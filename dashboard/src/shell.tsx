import { useQueryClient } from '@tanstack/react-query';
import { Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { call, reach } from './api.js';
import { Icon, type IconName } from './icons.js';
import { useLanguage } from './language.js';
import { useLive } from './live.js';
import { Bell, useEventToasts } from './notices.js';
import { type Mode, SESSION, useMode, useSession } from './session.js';
import { Toasts } from './toast.js';
import { Button, Link } from './ui.js';
import { roleName } from './words.js';

/**
 * The navigation, the top bar with search and mode, and the screen of the address. A phone has the navigation at its
 * bottom: four places, and the others in a sheet.
 */
export function Shell(): ReactNode {
  const { t, language, setLanguage } = useLanguage();
  const session = useSession();
  const mode = useMode();
  const { pathname } = useLocation();
  const isOperator = session.role === 'OPERATOR';
  useLive(isOperator ? null : mode, useEventToasts(mode));
  const [isOpen, setOpen] = useState(false);
  const menu = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const close = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return;
      setOpen(false);
      menu.current?.focus();
    };
    document.addEventListener('keydown', close);
    return () => document.removeEventListener('keydown', close);
  }, [isOpen]);
  const client = useQueryClient();
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  // Moving the focus tells screen readers that the page has changed.
  useEffect(() => {
    setOpen(false);
    if (first.current) first.current = false;
    else main.current?.focus();
  }, [pathname]);
  const logOut = async (): Promise<void> => {
    await call('POST', '/v1/auth/logout');
    client.clear();
    await client.resetQueries({ queryKey: SESSION });
    location.assign('/dashboard/');
  };
  const places: readonly (readonly [to: string, name: string, icon: IconName])[] = isOperator
    ? [
        ['/operations', t('Operação', 'Operations'), 'gauge'],
        ['/settings', t('Configurações', 'Settings'), 'settings'],
      ]
    : [
        [`/${mode}`, t('Início', 'Home'), 'house'],
        [`/${mode}/sales`, t('Vendas', 'Sales'), 'shopping-bag'],
        [`/${mode}/balance`, t('Saldo', 'Balance'), 'wallet'],
        [`/${mode}/payouts`, t('Saques', 'Payouts'), 'landmark'],
        [`/${mode}/links`, t('Links de pagamento', 'Payment links'), 'link'],
        [`/${mode}/customers`, t('Clientes', 'Customers'), 'user'],
        [`/${mode}/reports`, t('Relatórios', 'Reports'), 'file-spreadsheet'],
        [`/${mode}/disputes`, t('Disputas', 'Disputes'), 'shield-alert'],
        [`/${mode}/webhooks`, 'Webhooks', 'webhook'],
        [`/${mode}/developers`, t('Desenvolvedores', 'Developers'), 'code-xml'],
        ...(session.role === 'MEMBER' ? [] : [['/team', t('Equipe', 'Team'), 'users'] as const]),
        ['/settings', t('Configurações', 'Settings'), 'settings'],
      ];
  const current = (to: string): 'page' | undefined => {
    const path = pathname.replace(/^\/dashboard/, '').replace(/\/$/, '');
    return path === to || (to !== `/${mode}` && path.startsWith(`${to}/`)) ? 'page' : undefined;
  };
  return (
    <div className={isOperator ? 'shell' : `shell ${mode}`}>
      <a className="skip" href="#main">
        {t('Ir para o conteúdo', 'Skip to the content')}
      </a>
      <nav aria-label={t('Principal', 'Main')} className={isOpen ? 'bar open' : 'bar'}>
        <p className="brand">Recebe</p>
        <ul>
          {places.map(([to, name, icon]) => (
            <li key={to} aria-current={current(to)}>
              <Link to={to}>
                <Icon name={icon} />
                <span>{name}</span>
              </Link>
            </li>
          ))}
        </ul>
        <button ref={menu} type="button" className="opener" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Icon name={isOpen ? 'x' : 'menu'} />
          <span>{t('Menu', 'Menu')}</span>
        </button>
        <div className="who">
          <p>
            <strong>{session.account?.name ?? t('Operador', 'Operator')}</strong>
            <br />
            {session.user.email} · {roleName(session.role, t)}
          </p>
          <div className="actions">
            <Button icon="languages" onClick={() => setLanguage(language === 'en' ? 'pt-BR' : 'en')}>
              {language === 'en' ? 'Português' : 'English'}
            </Button>
            <Button icon="log-out" onClick={() => void logOut()}>
              {t('Sair', 'Log out')}
            </Button>
          </div>
        </div>
      </nav>
      <div className="column">
        {!isOperator && (
          <div className="top" role="search">
            <Search mode={mode} />
            <ModeSwitch mode={mode} />
            <Bell mode={mode} />
          </div>
        )}
        <Away />
        <main id="main" ref={main} tabIndex={-1}>
          <Outlet />
        </main>
      </div>
      <Toasts />
    </div>
  );
}

/** While the service is unreachable, the shown data may be outdated. */
function Away(): ReactNode {
  const { t } = useLanguage();
  const isAway = useSyncExternalStore(reach.watch, reach.isAway);
  return (
    <p className={isAway ? 'away' : 'hidden'} role="status">
      {isAway &&
        t(
          'O serviço não responde. O que está na tela pode ter mudado; a página continua tentando.',
          'The service does not answer. What is shown may have changed; the page goes on trying.',
        )}
    </p>
  );
}

function ModeSwitch({ mode }: { mode: Mode }): ReactNode {
  const { t } = useLanguage();
  const { pathname } = useLocation();
  const names = { test: t('Teste', 'Test'), live: t('Produção', 'Live') };
  // Leads to the same list in the other mode; a sale or a case exists in one mode only.
  const list = /^(?:\/dashboard)?\/(?:test|live)\/([a-z]+)/.exec(pathname)?.[1];
  return (
    <div className="modes" role="group" aria-label={t('Modo', 'Mode')}>
      {(['test', 'live'] as const).map((one) => (
        <span key={one} aria-current={one === mode ? 'true' : undefined}>
          <Link to={list === undefined ? `/${one}` : `/${one}/${list}`}>
            <Icon name={one === 'test' ? 'flask-conical' : 'radio'} />
            {names[one]}
          </Link>
        </span>
      ))}
    </div>
  );
}

/** Search by id, order number, txid, end-to-end id, name, e-mail or document; `/` moves the focus here. */
function Search({ mode }: { mode: Mode }): ReactNode {
  const { t } = useLanguage();
  const navigate = useNavigate();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement)
        return;
      event.preventDefault();
      // A list's own search comes first.
      (document.querySelector<HTMLElement>('main [type=search]') ?? field.current)?.focus();
    };
    document.addEventListener('keydown', focus);
    return () => document.removeEventListener('keydown', focus);
  }, []);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const query = field.current?.value.trim() ?? '';
        if (query !== '') void navigate({ to: `/${mode}/sales`, search: { query } as never });
      }}
    >
      <Icon name="search" />
      <input
        ref={field}
        type="search"
        maxLength={200}
        aria-label={t('Buscar vendas', 'Search sales')}
        placeholder={t('Nome, documento, e-mail, pedido ou id', 'Name, document, e-mail, order or id')}
      />
    </form>
  );
}
