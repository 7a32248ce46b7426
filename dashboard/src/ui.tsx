import { Link as RouterLink } from '@tanstack/react-router';
import { type ComponentProps, Fragment, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { ApiFailure } from './api.js';
import { detailOf, hintOf, PORTUGUESE_FIELDS, type Refused } from './failures.js';
import { dateTime, money, timeLeft } from './format.js';
import { Icon, type IconName } from './icons.js';
import { useLanguage } from './language.js';

/**
 * @param tone `primary`: the page's main action; `danger`: an action that cannot be undone
 * @param icon before the text
 * @param isPending while its work runs, the button does nothing and keeps the focus for keyboard users
 */
export function Button({
  tone = 'plain',
  icon,
  isPending = false,
  onClick,
  children,
  ...props
}: Omit<ComponentProps<'button'>, 'className'> & {
  tone?: 'plain' | 'primary' | 'danger';
  icon?: IconName;
  isPending?: boolean;
}): ReactNode {
  return (
    <button
      type="button"
      {...props}
      className={`button ${tone}`}
      aria-disabled={isPending || undefined}
      onClick={isPending ? (event) => event.preventDefault() : onClick}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
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

/** Grey shapes in the place of the content, so that nothing moves when it comes. @param shape of the content */
export function Loading({ label, shape = 'text' }: { label?: string; shape?: 'text' | 'list' | 'cards' }): ReactNode {
  const { t } = useLanguage();
  return (
    <div className={`skeleton ${shape}`} role="status">
      <span className="hidden">{label ?? t('Carregando', 'Loading')}</span>
      {Array.from({ length: { text: 3, list: 8, cards: 4 }[shape] }, (_, index) => (
        <i key={index} />
      ))}
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
      <Icon name="triangle-alert" />
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

/** Says that there is nothing, and as `children` what to do about it. */
export function Empty({
  title,
  icon = 'inbox',
  children,
}: {
  title: string;
  icon?: IconName;
  children?: ReactNode;
}): ReactNode {
  return (
    <div className="empty">
      <Icon name={icon} />
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

/** Signs of a shortened id before and after the gap. */
const HEAD = 14;
const TAIL = 6;

/**
 * An id in one line, copied by a click; a long one is shortened in its middle.
 * @param label what is copied, for a text that people need in full: a link, a code, a secret
 */
export function Id({ value, label }: { value: string; label?: string }): ReactNode {
  const { t } = useLanguage();
  const [copied, setCopied] = useState(false);
  const text = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  // An address has its host at its beginning and needs no end.
  const isWhole = label !== undefined || value.includes('/') || value.length <= HEAD + TAIL + 2;
  const shown = isWhole ? value : `${value.slice(0, HEAD)}…${value.slice(-TAIL)}`;
  return (
    <button
      type="button"
      className="id"
      title={value}
      // The accessible name contains the visible text, or speech control could not find the button by it.
      aria-label={label === undefined ? `${t('Copiar', 'Copy')} ${shown}` : `${value} ${t('copiar', 'copy')} ${label}`}
      onClick={() => {
        // A page served neither over TLS nor from this machine may not copy, so it selects the text.
        const select = (): void => {
          if (text.current) text.current.textContent = value;
          getSelection()?.selectAllChildren(text.current ?? document.body);
        };
        if (!isSecureContext) select();
        else void navigator.clipboard.writeText(value).then(() => setCopied(true), select);
      }}
    >
      <code ref={text}>{shown}</code>
      <Icon name={copied ? 'check' : 'copy'} />
      <span aria-live="polite">
        {copied ? ` ${t('copiado', 'copied')}` : label !== undefined && ` ${t('copiar', 'copy')}`}
      </span>
    </button>
  );
}

/** A URL that a line may end after each of its slashes. */
export function Url({ value }: { value: string }): ReactNode {
  return (
    <code>
      {value.split(/(?<=\/)/).map((part, n) => (
        <Fragment key={n}>
          {part}
          <wbr />
        </Fragment>
      ))}
    </code>
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

/** A screen: its title, actions and content. @param mark beside the title, such as a status */
export function Page({
  title,
  mark,
  actions,
  children,
}: {
  title: string;
  mark?: ReactNode;
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
        {mark}
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
  /** The value of the list's `sort` that sorts by this column. */
  readonly sort?: string;
  /**
   * Place in the card that a row becomes on a phone: `title` its first line, `amount` at the right of it, `none` no
   * place. Without one the first column is the title, the first number the amount, and others are lines below.
   */
  readonly card?: 'title' | 'amount' | 'none';
}

export interface Sort {
  readonly by: string;
  readonly order: 'asc' | 'desc';
}

export interface Tabled<R> {
  readonly label: string;
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[];
  readonly keyOf: (row: R) => string;
  readonly sort?: Sort;
  /** Called with the sort that a person chooses. */
  readonly onSort?: (sort: Sort) => void;
}

/** Keys that move between the rows. */
const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };

/** Classes of the cells of each column. */
function classesOf<R>(columns: readonly Column<R>[]): readonly string[] {
  const find = (place: 'title' | 'amount', other: (column: Column<R>, index: number) => boolean): number => {
    const chosen = columns.findIndex(({ card }) => card === place);
    return chosen < 0
      ? columns.findIndex((column, index) => column.card === undefined && other(column, index))
      : chosen;
  };
  const title = find('title', () => true);
  const amount = find('amount', ({ isNumber }, index) => isNumber === true && index !== title);
  return columns.map(({ isNumber, card }, index) => {
    const place = index === title ? 'card-title' : index === amount ? 'card-amount' : `card-${card ?? 'line'}`;
    return isNumber ? `number ${place}` : place;
  });
}

/**
 * Rows that scroll inside their card when they are too wide, and are cards on a phone. Arrow keys, `j` and `k` move
 * between the links of the rows, and Enter follows one.
 */
export function Table<R>({ label, columns, rows, keyOf, sort, onSort }: Tabled<R>): ReactNode {
  const { t } = useLanguage();
  const body = useRef<HTMLTableSectionElement>(null);
  const move = (event: React.KeyboardEvent): void => {
    const step = STEPS[event.key];
    const isTyped = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (step === undefined || isTyped || !body.current) return;
    const links = [...body.current.querySelectorAll<HTMLElement>('tr > :first-child a, tr > :first-child button')];
    const now = links.findIndex((link) => link.closest('tr')?.contains(document.activeElement));
    const next = links[now < 0 ? 0 : now + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  };
  /** A press anywhere on a row opens what its first link opens. */
  const open = ({ target }: React.MouseEvent): void => {
    const isOwn = !(target instanceof Element) || target.closest('a, button, input, select, label') !== null;
    if (isOwn || getSelection()?.isCollapsed === false) return;
    target.closest('tr')?.querySelector<HTMLElement>(':first-child a')?.click();
  };
  const places = classesOf(columns);
  const sortable = onSort ? columns.flatMap(({ name, sort: by }) => (by === undefined ? [] : [{ name, by }])) : [];
  /** A second press turns the order around. */
  const press = (by: string): void =>
    onSort?.({ by, order: sort?.by === by && sort.order === 'desc' ? 'asc' : 'desc' });
  // A phone shows rows as blocks, which are a table to screen readers by their roles alone.
  return (
    <div className="scroll" tabIndex={0} role="group" aria-label={label} onKeyDown={move}>
      {sortable.length > 0 && (
        <div className="sort">
          <Choice
            label={t('Ordenar por', 'Sort by')}
            value={sort === undefined ? '' : `${sort.by} ${sort.order}`}
            options={sortable.flatMap(({ name, by }) => [
              [`${by} desc`, `${name} ↓`] as const,
              [`${by} asc`, `${name} ↑`] as const,
            ])}
            onChange={({ target }) => {
              const [by = '', order] = target.value.split(' ');
              onSort?.({ by, order: order === 'asc' ? 'asc' : 'desc' });
            }}
          />
        </div>
      )}
      <table role="table">
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ name, isNumber, sort: by }) => {
              const order = by !== undefined && sort?.by === by ? sort.order : undefined;
              return (
                <th
                  key={name}
                  scope="col"
                  role="columnheader"
                  className={isNumber ? 'number' : undefined}
                  {...(order === undefined ? {} : { 'aria-sort': order === 'asc' ? 'ascending' : 'descending' })}
                >
                  {by === undefined || !onSort ? (
                    name
                  ) : (
                    <button type="button" className="sorts" onClick={() => press(by)}>
                      {name}
                      <Icon
                        name={order === undefined ? 'arrow-up-down' : order === 'asc' ? 'arrow-up' : 'arrow-down'}
                      />
                    </button>
                  )}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody ref={body} role="rowgroup" onClick={open}>
          {rows.map((row) => (
            <tr key={keyOf(row)} role="row">
              {columns.map(({ name, cell }, index) => (
                <td key={name} role="cell" className={places[index]} data-label={name}>
                  <div className="value">{cell(row)}</div>
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
