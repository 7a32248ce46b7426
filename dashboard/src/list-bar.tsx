import { keepPreviousData, type QueryKey, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { ReportBody } from '../../src/reports/dto/report.body.js';
import { useQueryText } from './address.js';
import { call, door, type Query, withQuery } from './api.js';
import { Menu } from './controls.js';
import { isoDay } from './format.js';
import { textOf } from './forms.js';
import { Icon } from './icons.js';
import { useLanguage } from './language.js';
import { Disclosure, useKept } from './lists.js';
import { useMode, useSession } from './session.js';
import { toast } from './toast.js';
import { Button, Input, Money } from './ui.js';

/** Filters of a list: empty texts for those that are not set. */
export type Filters<N extends string> = Readonly<Record<N, string>>;

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Rules for the values of filters in the address. */
export const isDay = (value: string): boolean => DAY.test(value) && !Number.isNaN(Date.parse(value));
export const isOneOf =
  (values: readonly string[]) =>
  (value: string): boolean =>
    values.includes(value);
export const isPage = (value: string): boolean => /^[1-9]\d{0,8}$/.test(value);
export const isText = (value: string): boolean => value.length <= 200;

/** The place in a list, which is neither a filter nor part of a view. */
const PLACES = ['page', 'offset'];

/**
 * The filters of a list, kept in the address: back and forward work, and a link shows a colleague the same list.
 * Values that break their rule are ignored.
 */
export function useFilters<N extends string>(
  rules: Readonly<Record<N, (value: string) => boolean>>,
): [filters: Filters<N>, change: (changes: Partial<Filters<N>>) => void, isFiltered: boolean] {
  const search = useQueryText();
  const navigate = useNavigate();
  const names = Object.keys(rules) as N[];
  const filters = Object.fromEntries(
    names.map((name) => {
      const value = search[name] ?? '';
      return [name, rules[name](value) ? value : ''];
    }),
  ) as Filters<N>;
  /** A changed filter shows the first page. */
  const change = (changes: Partial<Filters<N>>): void => {
    const next = Object.entries<string>({
      ...filters,
      ...Object.fromEntries(PLACES.map((name) => [name, ''])),
      ...(changes as Record<string, string>),
    }).filter(([, value]) => value !== '');
    void navigate({ to: '.', search: Object.fromEntries(next) as never });
  };
  return [filters, change, names.some((name) => filters[name] !== '' && !PLACES.includes(name))];
}

/** The field of a text to search for, of the lengths that the service takes. */
export function SearchField({ query, placeholder }: { query: string | undefined; placeholder?: string }): ReactNode {
  const { t } = useLanguage();
  return (
    <Input
      label={t('Buscar', 'Search')}
      name="query"
      type="search"
      minLength={2}
      maxLength={200}
      defaultValue={query}
      placeholder={placeholder}
    />
  );
}

/** Count and sums of a list, by the same filters as its rows (`…/totals`). */
interface ListTotals {
  readonly count: number;
  readonly more: boolean;
  readonly amounts: readonly {
    readonly currency: string;
    readonly amount: number;
    /** The paid ones, which are summed instead, where a list has others too. */
    readonly paid?: { readonly count: number; readonly amount: number };
  }[];
}

/** Loads the count and sums of a list. @param path of the list, without `/totals` */
export function useTotals(queryKey: QueryKey, path: string, query: Query): ListTotals | undefined {
  return useQuery({
    queryKey: [...queryKey, 'totals', query],
    queryFn: () => call<ListTotals>('GET', withQuery(`${path}/totals`, query)),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  }).data;
}

/** A report with the rows of a list. */
export interface Export {
  readonly type: ReportBody['type'];
  /** Days; without them the report covers as much as a file may. */
  readonly from?: string;
  readonly to?: string;
  readonly filters?: Readonly<Record<string, string>>;
}

const DAY_MS = 86_400_000;
const MAX_DAYS = 399;
const POLL_MS = 1_000;

/** Makes a file of the list for a spreadsheet in the person's language, and downloads it when it is ready. */
function ExportMenu({ type, from = '', to = '', filters = {} }: Export): ReactNode {
  const { t, language } = useLanguage();
  const mode = useMode();
  const navigate = useNavigate();
  const [isBusy, setBusy] = useState(false);
  const last = to === '' ? isoDay(new Date()) : to;
  const first = from === '' ? isoDay(new Date(Date.parse(`${last}T12:00:00Z`) - MAX_DAYS * DAY_MS)) : from;
  const set = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== ''));
  const make = async (format: string): Promise<void> => {
    if (isBusy) return;
    setBusy(true);
    try {
      let report = await call<ReportBody>('POST', door(mode, '/reports'), {
        ...{ type, format, from: first, to: last },
        ...(language === 'pt-BR' ? { locale: language } : {}),
        ...(Object.keys(set).length === 0 ? {} : { filters: set }),
      });
      while (['pending', 'processing'].includes(report.status)) {
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
        report = await call<ReportBody>('GET', door(mode, `/reports/${report.id}`));
      }
      if (report.download_url === null) throw new Error(report.status);
      location.assign(report.download_url);
      toast(t(`Arquivo com ${String(report.rows)} linhas pronto.`, `File of ${String(report.rows)} rows is ready.`));
    } catch {
      toast(t('O arquivo não foi gerado. Veja em Relatórios.', 'The file was not made. Look at Reports.'), {
        tone: 'bad',
      });
    } finally {
      setBusy(false);
    }
  };
  return (
    <Menu
      label={t('Exportar', 'Export')}
      items={[
        { name: 'Excel (xlsx)', icon: 'file-spreadsheet', isDisabled: isBusy, act: () => void make('xlsx') },
        { name: t('CSV para Excel', 'CSV'), icon: 'download', isDisabled: isBusy, act: () => void make('csv') },
        {
          name: t('Outro período ou formato', 'Other period or format'),
          icon: 'settings',
          act: () => void navigate({ to: `/${mode}/reports`, search: { type, from, to, ...set } as never }),
        },
      ]}
    >
      <Icon name="download" />
      {isBusy ? t('Gerando…', 'Making…') : t('Exportar', 'Export')}
    </Menu>
  );
}

/**
 * The line between the filters of a list and its rows: count and sum, saved views, columns, export and the keys.
 * @param name of the list, for its views
 * @param count words for one and for several rows, and how many rows there are if the list itself knows
 */
export function ListBar<N extends string>({
  name,
  filters,
  change,
  count: { one, several, exact },
  totals,
  exported,
  children,
}: {
  name: string;
  filters: Filters<N>;
  change: (changes: Partial<Filters<N>>) => void;
  count: { readonly one: string; readonly several: string; readonly exact?: number | undefined };
  totals?: ListTotals | undefined;
  exported?: Export;
  children?: ReactNode;
}): ReactNode {
  const { t, language } = useLanguage();
  const count = exact ?? totals?.count;
  const isOver = totals?.more === true && exact === undefined;
  return (
    <div className="list-bar">
      <p role="status">
        {count !== undefined && (
          <strong>
            {isOver && `${t('mais de', 'more than')} `}
            {count.toLocaleString(language)} {count === 1 ? one : several}
          </strong>
        )}
        {totals?.more === false &&
          totals.amounts.map(({ currency, amount, paid }) => (
            <span key={currency}>
              {' · '}
              {paid &&
                `${paid.count.toLocaleString(language)} ${paid.count === 1 ? t('paga', 'paid') : t('pagas', 'paid')}: `}
              <Money amount={paid?.amount ?? amount} currency={currency} />
            </span>
          ))}
      </p>
      <div className="actions">
        <Views name={name} filters={filters} change={change} />
        {children}
        {exported && <ExportMenu {...exported} />}
        <Keys />
      </div>
    </div>
  );
}

interface View {
  readonly name: string;
  readonly filters: Readonly<Record<string, string>>;
}

/** Filters that a person saved under a name, which this browser keeps for that person. */
function Views<N extends string>({
  name,
  filters,
  change,
}: {
  name: string;
  filters: Filters<N>;
  change: (changes: Partial<Filters<N>>) => void;
}): ReactNode {
  const { t } = useLanguage();
  const key = `recebe.views.${useSession().user.id}.${name}`;
  const [views, keep] = useKept<readonly View[]>(key, []);
  const none = Object.fromEntries(Object.keys(filters).map((filter) => [filter, '']));
  const set = Object.fromEntries(
    Object.entries<string>(filters).filter(([filter, value]) => value !== '' && !PLACES.includes(filter)),
  );
  return (
    <Disclosure
      name={
        <>
          <Icon name="funnel" /> {t('Visões', 'Views')}
        </>
      }
    >
      {views.map((view) => (
        <div key={view.name} className="view">
          <button
            type="button"
            className="quiet-button"
            onClick={() => change({ ...none, ...view.filters } as Partial<Filters<N>>)}
          >
            {view.name}
          </button>
          <button
            type="button"
            className="icon-button"
            aria-label={t(`Excluir a visão ${view.name}`, `Delete the view ${view.name}`)}
            onClick={() => keep(views.filter((other) => other !== view))}
          >
            <Icon name="x" />
          </button>
        </div>
      ))}
      {Object.keys(set).length === 0 ? (
        <p className="quiet">
          {t('Filtre a lista para salvar uma visão dela.', 'Filter the list to save a view of it.')}
        </p>
      ) : (
        <form
          className="view"
          onSubmit={(event) => {
            event.preventDefault();
            const called = textOf(new FormData(event.currentTarget), 'view').trim();
            if (called === '') return;
            keep([...views.filter((view) => view.name !== called), { name: called, filters: set }]);
            event.currentTarget.reset();
          }}
        >
          <input name="view" required maxLength={40} aria-label={t('Nome da visão', 'Name of the view')} />
          <Button type="submit">{t('Salvar', 'Save')}</Button>
        </form>
      )}
    </Disclosure>
  );
}

/** Elements and layers that use the keys themselves. */
const TYPED = 'input, textarea, select, [contenteditable], [role=spinbutton], [role=menu], [role=listbox]';
const LAYERS = 'dialog[open], [role=dialog], [role=menu], [role=listbox]';

/** Returns whether a layer is seen above the page; a hidden one stays in the document. */
function isCovered(): boolean {
  return [...document.querySelectorAll(LAYERS)].some((layer) => layer.checkVisibility());
}

/** Keys of a list: j and k move between rows, Enter opens one, / goes to the search, ? shows the keys. */
function Keys(): ReactNode {
  const { t } = useLanguage();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const { key, target } = event;
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if ((target instanceof Element && target.closest(TYPED) !== null) || isCovered()) return;
      if (key === '?') dialog.current?.showModal();
      else if (key === 'j' || key === 'k') {
        // A page's list is its last table. Within it, the table itself moves.
        const first = [...document.querySelectorAll('main table')]
          .at(-1)
          ?.querySelector<HTMLElement>('tbody a, tbody button');
        first?.focus();
      } else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  const keys: readonly (readonly [string, string])[] = [
    ['j', t('próxima linha', 'next row')],
    ['k', t('linha anterior', 'previous row')],
    ['Enter', t('abrir a linha', 'open the row')],
    ['/', t('buscar', 'search')],
    ['?', t('mostrar estas teclas', 'show these keys')],
  ];
  return (
    <>
      <button
        type="button"
        className="icon-button keys"
        aria-label={t('Teclas da lista', 'Keys of the list')}
        onClick={() => dialog.current?.showModal()}
      >
        <kbd>?</kbd>
      </button>
      <dialog ref={dialog} aria-label={t('Teclas da lista', 'Keys of the list')} closedby="any">
        <h2>{t('Teclas da lista', 'Keys of the list')}</h2>
        <dl className="facts">
          {keys.map(([key, what]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <div className="actions">
          <Button onClick={() => dialog.current?.close()}>{t('Fechar', 'Close')}</Button>
        </div>
      </dialog>
    </>
  );
}
