import { Link as RouterLink } from '@tanstack/react-router';
import { type ComponentProps, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { ApiFailure } from './api.js';
import { detailOf, hintOf, PORTUGUESE_FIELDS, type Refused } from './failures.js';
import { dateTime, money, timeLeft } from './format.js';
import { useLanguage } from './language.js';

/**
 * @param tone `primary`: the page's main action; `danger`: an action that cannot be undone
 * @param isPending while its work runs, the button does nothing and keeps the focus for keyboard users
 */
export function Button({
  tone = 'plain',
  isPending = false,
  onClick,
  ...props
}: Omit<ComponentProps<'button'>, 'className'> & {
  tone?: 'plain' | 'primary' | 'danger';
  isPending?: boolean;
}): ReactNode {
  return (
    <button
      type="button"
      {...props}
      className={`button ${tone}`}
      aria-disabled={isPending || undefined}
      onClick={isPending ? (event) => event.preventDefault() : onClick}
    />
  );
}

/** How long a button stays disabled after its work: a double click counts once. */
export const REST_MS = 700;

/** A button that acts at once, is disabled until the work is done, and explains a failure. */
export function ActButton({
  act,
  ...props
}: Omit<ComponentProps<typeof Button>, 'onClick' | 'isPending'> & {
  act: () => Promise<unknown>;
}): ReactNode {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const press = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      await act();
    } catch (failure) {
      setError(failure);
    } finally {
      setTimeout(() => setBusy(false), REST_MS);
    }
  };
  return (
    <>
      <Button {...props} isPending={isBusy} onClick={() => void press()} />
      {error !== null && <Failure error={error} />}
    </>
  );
}

export function Loading({ label }: { label?: string }): ReactNode {
  const { t } = useLanguage();
  return (
    <div className="skeleton" role="status">
      <span className="hidden">{label ?? t('Carregando', 'Loading')}</span>
      <i />
      <i />
      <i />
    </div>
  );
}

/** Advice about an error, with the details that support needs. */
export function Failure({
  error,
  retry,
  refused,
}: {
  error: unknown;
  retry?: () => void;
  refused?: Refused | undefined;
}): ReactNode {
  const { t, language } = useLanguage();
  const failure = error instanceof ApiFailure ? error : null;
  return (
    <div className="failure" role="alert">
      <p>
        <strong>{hintOf(failure, t, refused)}</strong>
      </p>
      {failure?.details.map((detail) => (
        <p key={detail.param}>
          {(language === 'pt-BR' && PORTUGUESE_FIELDS[detail.param]) || <code>{detail.param}</code>}{' '}
          {detailOf(detail, t)}
        </p>
      ))}
      {failure?.requestId && (
        <p className="quiet">
          {t('Para o suporte:', 'For support:')} <code>{failure.requestId}</code>
        </p>
      )}
      {retry && <Button onClick={retry}>{t('Tentar de novo', 'Try again')}</Button>}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }): ReactNode {
  return (
    <div className="empty">
      <p>
        <strong>{title}</strong>
      </p>
      {children}
    </div>
  );
}

/** The parameter names match the fields of a row, so a row can be spread into it. */
export function Money({ amount, currency = 'BRL' }: { amount: number | null; currency?: string }): ReactNode {
  const { language } = useLanguage();
  return amount === null ? (
    <span className="quiet">–</span>
  ) : (
    <span className="number">{money(amount, currency, language)}</span>
  );
}

/** Time in São Paulo, with the exact instant on hover. */
export function Time({ at }: { at: string | null }): ReactNode {
  const { language } = useLanguage();
  if (at === null) return <span className="quiet">–</span>;
  return (
    <time dateTime={at} title={at}>
      {dateTime(at, language)}
    </time>
  );
}

/** The time left until then. */
export function Countdown({ at }: { at: string | null }): ReactNode {
  const { t } = useLanguage();
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000);
    return () => clearInterval(timer);
  }, []);
  if (at === null) return '–';
  const left = timeLeft(at, now);
  return (
    <>
      <strong>{left === null ? t('vencido', 'over') : t(`faltam ${left}`, `${left} left`)}</strong> (<Time at={at} />)
    </>
  );
}

/** Monospace text, copied by a click. */
export function Id({ value, label }: { value: string; label?: string }): ReactNode {
  const { t } = useLanguage();
  const [copied, setCopied] = useState(false);
  const text = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <button
      type="button"
      className="id"
      // The accessible name contains the visible text, or speech control could not find the button by it.
      aria-label={label === undefined ? `${t('Copiar', 'Copy')} ${value}` : `${value} ${t('copiar', 'copy')} ${label}`}
      onClick={() => {
        // A page served neither over TLS nor from this machine may not copy, so it selects the text.
        const select = (): void => getSelection()?.selectAllChildren(text.current ?? document.body);
        if (!isSecureContext) select();
        else void navigator.clipboard.writeText(value).then(() => setCopied(true), select);
      }}
    >
      <code ref={text}>{value}</code>
      <span aria-live="polite">
        {copied ? ` ${t('copiado', 'copied')}` : label !== undefined && ` ${t('copiar', 'copy')}`}
      </span>
    </button>
  );
}

type Tone = 'good' | 'bad' | 'wait' | 'quiet';

const TONES: Readonly<Record<string, Tone>> = {
  ...{
    PAID: 'good',
    APPROVED: 'good',
    DELIVERED: 'good',
    ACTIVE: 'good',
    SUCCEEDED: 'good',
    active: 'good',
    ready: 'good',
    won: 'good',
    paid: 'good',
  },
  ...{ FAILED: 'bad', DISPUTE: 'bad', CHARGEBACK: 'bad', failed: 'bad', open: 'bad', lost: 'bad', accepted: 'quiet' },
  ...{ PENDING: 'wait', PROCESSING: 'wait', pending: 'wait', processing: 'wait', writing: 'wait', invited: 'wait' },
  ...{ under_review: 'wait', appealed: 'wait', in_review: 'wait', evidence_requested: 'bad' },
};

/** Shows the status as a word, never by colour alone. */
export function Status({ value, label }: { value: string; label?: string }): ReactNode {
  return <span className={`status ${TONES[value] ?? 'quiet'}`}>{label ?? value}</span>;
}

/** @param search query of the address */
export function Link({
  to,
  search,
  children,
  className,
}: {
  to: string;
  search?: Readonly<Record<string, string | undefined>>;
  children: ReactNode;
  className?: string;
}): ReactNode {
  return (
    <RouterLink
      to={to}
      {...(search === undefined ? {} : { search: search as never })}
      {...(className === undefined ? {} : { className })}
    >
      {children}
    </RouterLink>
  );
}

/** A screen: its title, actions and content. */
export function Page({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
}): ReactNode {
  useEffect(() => {
    document.title = `${title} · Recebe`;
  }, [title]);
  return (
    <>
      <header className="page">
        <h1>{title}</h1>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

/** An address of a missing object, or of another account's. */
export function Missing(): ReactNode {
  const { t } = useLanguage();
  return (
    <Page title={t('Página não encontrada', 'Page not found')}>
      <Empty title={t('Não há nada neste endereço.', 'There is nothing at this address.')}>
        <p>
          <Link to="/">{t('Ir para o início', 'Go to the home page')}</Link>
        </p>
      </Empty>
    </Page>
  );
}

/** Explains to an operator that the page belongs to an account, which operators do not have. */
export function NoAccount(): ReactNode {
  const { t } = useLanguage();
  return (
    <Page title={t('Página de uma conta', 'Page of an account')}>
      <Empty
        title={t(
          'Isto é de uma conta, e operadores não têm conta.',
          'This is of an account, and operators have no account.',
        )}
      >
        <p>
          <Link to="/operations">{t('Ir para a operação', 'Go to operations')}</Link>
        </p>
      </Empty>
    </Page>
  );
}

/** Explains why the subject of a page is not shown. */
export function Unavailable({ error, retry }: { error: unknown; retry: () => void }): ReactNode {
  return error instanceof ApiFailure && error.status === 404 ? <Missing /> : <Failure error={error} retry={retry} />;
}

export function Card({
  title,
  children,
  actions,
}: {
  title?: string;
  children: ReactNode;
  actions?: ReactNode;
}): ReactNode {
  const id = useId();
  return (
    <section className="card" {...(title === undefined ? {} : { 'aria-labelledby': id })}>
      {title !== undefined && (
        <header>
          <h2 id={id}>{title}</h2>
          {actions}
        </header>
      )}
      {children}
    </section>
  );
}

export interface Column<R> {
  readonly name: string;
  readonly cell: (row: R) => ReactNode;
  readonly isNumber?: boolean;
}

export interface Tabled<R> {
  readonly label: string;
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[];
  readonly keyOf: (row: R) => string;
}

/**
 * Rows that scroll inside their card when they are too wide; on a phone each row is a card. Arrow keys move between the links of the rows, and Enter
 * follows one.
 */
export function Table<R>({ label, columns, rows, keyOf }: Tabled<R>): ReactNode {
  const body = useRef<HTMLTableSectionElement>(null);
  const move = (event: React.KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined || !body.current) return;
    const links = [...body.current.querySelectorAll<HTMLElement>('tr > :first-child a, tr > :first-child button')];
    const now = links.findIndex((link) => link.closest('tr')?.contains(document.activeElement));
    const next = links[now + step];
    if (now < 0 || !next) return;
    event.preventDefault();
    next.focus();
  };
  return (
    <div className="scroll" tabIndex={0} role="group" aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map(({ name, isNumber }) => (
              <th key={name} scope="col" className={isNumber ? 'number' : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body} onKeyDown={move}>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ name, cell, isNumber }) => (
                <td key={name} className={isNumber ? 'number' : undefined} data-label={name}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Terms with their values; entries with `null` or `false` are left out. */
export function Facts({ rows }: { rows: readonly (readonly [string, ReactNode])[] }): ReactNode {
  return (
    <dl className="facts">
      {rows
        .filter(([, what]) => what !== null && what !== false)
        .map(([term, what]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{what}</dd>
          </div>
        ))}
    </dl>
  );
}

export function Field({
  label,
  hint,
  children,
}: {
  label: string;
  hint?: string;
  children: (attributes: { id: string; 'aria-describedby'?: string }) => ReactNode;
}): ReactNode {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, ...(hint === undefined ? {} : { 'aria-describedby': `${id}-hint` }) })}
      {hint !== undefined && (
        <p className="quiet" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

export function Input({
  label,
  hint,
  ...attributes
}: { label: string; hint?: string } & React.InputHTMLAttributes<HTMLInputElement>): ReactNode {
  return (
    <Field label={label} {...(hint === undefined ? {} : { hint })}>
      {(named) => <input {...attributes} {...named} />}
    </Field>
  );
}

export function Choice({
  label,
  options,
  ...attributes
}: {
  label: string;
  options: readonly (readonly [value: string, name: string])[];
} & React.SelectHTMLAttributes<HTMLSelectElement>): ReactNode {
  return (
    <Field label={label}>
      {(named) => (
        <select {...attributes} {...named}>
          {options.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Numbers by day as bars, and as a table for people who cannot see them. */
export function Bars({
  label,
  days,
}: {
  label: string;
  days: readonly { readonly name: string; readonly value: number; readonly text: string }[];
}): ReactNode {
  const most = Math.max(1, ...days.map(({ value }) => value));
  return (
    <figure className="bars">
      <svg viewBox={`0 0 ${String(days.length * 10)} 60`} preserveAspectRatio="none" aria-hidden="true">
        {days.map(({ name, value, text }, index) => {
          const height = Math.max(value > 0 ? 1 : 0, (value / most) * 58);
          return (
            <rect key={name} x={index * 10 + 1} y={60 - height} width={8} height={height}>
              <title>{`${name}: ${text}`}</title>
            </rect>
          );
        })}
      </svg>
      <details>
        <summary>{label}</summary>
        <ul>
          {days.map(({ name, text }) => (
            <li key={name}>
              {name} <span className="number">{text}</span>
            </li>
          ))}
        </ul>
      </details>
    </figure>
  );
}
