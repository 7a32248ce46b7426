import { type QueryKey, useInfiniteQuery, type UseInfiniteQueryResult, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { call, type Query, withQuery } from './api.js';
import { Icon } from './icons.js';
import { useLanguage } from './language.js';
import { Button, type Column, Empty, Failure, Loading, Table, type Tabled } from './ui.js';

interface Page<R> {
  readonly data: readonly R[];
  readonly next_cursor?: string | null;
}

/** Pages without rows that are skipped before the person is asked whether to go on. */
const MAX_EMPTY_PAGES = 10;

/** Loads the rows of a list page by page, each after the last row of the previous page. */
export function usePages<R>(
  queryKey: QueryKey,
  path: string,
  query: Query,
  options: { enabled?: boolean; refetchInterval?: number } = {},
): UseInfiniteQueryResult<R[]> {
  return useInfiniteQuery({
    queryKey,
    queryFn: async ({ pageParam }) => {
      const ask = (after?: string): Promise<Page<R>> =>
        call('GET', withQuery(path, { ...query, starting_after: after }));
      let page = await ask(pageParam);
      for (let skipped = 0; skipped < MAX_EMPTY_PAGES; skipped++) {
        if (page.data.length > 0 || page.next_cursor == null) break;
        page = await ask(page.next_cursor);
      }
      return page;
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    select: ({ pages }) => pages.flatMap(({ data }) => data),
    ...options,
  });
}

interface Asked {
  readonly error: unknown;
  readonly isPending: boolean;
  readonly refetch: () => unknown;
  readonly hasNextPage?: boolean;
  readonly isFetchingNextPage?: boolean;
  readonly fetchNextPage?: () => unknown;
}

/**
 * Shows the state of a list: an error, loading, nothing found, or its rows and a button for more.
 * @param rows undefined until there is an answer
 * @param children content below `empty`
 */
export function Listing<R>({
  list,
  rows,
  empty,
  older,
  children,
  ...table
}: Omit<Tabled<R>, 'rows'> & {
  list: Asked;
  rows: readonly R[] | undefined;
  empty?: string;
  older?: string;
  children?: ReactNode;
}): ReactNode {
  const { t } = useLanguage();
  return (
    <>
      {list.error != null && <Failure error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Loading shape="list" />}
      {rows?.length === 0 && list.hasNextPage !== true && empty !== undefined && (
        <Empty title={empty}>{children}</Empty>
      )}
      {rows && rows.length > 0 && <Table {...table} rows={rows} />}
      {list.hasNextPage && (
        <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage?.()}>
          {older ?? t('Mais antigos', 'Older ones')}
        </Button>
      )}
    </>
  );
}

/** Returns a function that reloads shown data after a change. @param queryKey first parts of the keys */
export function useRefresh(...queryKey: readonly string[]): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey });
}

/** A list that this browser keeps. @param first its content until somebody changes it */
export function useKept<T extends readonly unknown[]>(key: string, first: T): [kept: T, keep: (next: T) => void] {
  const [kept, setKept] = useState<T>(() => {
    try {
      const found: unknown = JSON.parse(localStorage.getItem(key) ?? 'null');
      return Array.isArray(found) ? (found as unknown as T) : first;
    } catch {
      return first;
    }
  });
  const keep = (next: T): void => {
    localStorage.setItem(key, JSON.stringify(next));
    setKept(next);
  };
  return [kept, keep];
}

/** A column that people can show and hide. */
export type NamedColumn<R> = Column<R> & { readonly id: string };

/**
 * The columns that a person chose, which this browser keeps, and the control that chooses them.
 * @param key name of the list in the storage of the browser
 * @param columns the first one is always shown
 * @param first ids of the columns that are shown until somebody chooses
 */
export function useColumns<R>(
  key: string,
  columns: readonly NamedColumn<R>[],
  first: readonly string[],
): [columns: readonly NamedColumn<R>[], choice: ReactNode] {
  const { t } = useLanguage();
  const [shown, keep] = useKept<readonly string[]>(key, first);
  const show = (id: string, isShown: boolean): void =>
    keep(isShown ? [...shown, id] : shown.filter((one) => one !== id));
  const choice = (
    <Disclosure
      name={
        <>
          <Icon name="columns-3" /> {t('Colunas', 'Columns')}
        </>
      }
    >
      {columns.slice(1).map(({ id, name }) => (
        <label key={id}>
          <input type="checkbox" checked={shown.includes(id)} onChange={(event) => show(id, event.target.checked)} />{' '}
          {name}
        </label>
      ))}
    </Disclosure>
  );
  return [columns.filter(({ id }, index) => index === 0 || shown.includes(id)), choice];
}

/** A button that opens a small box below it; a click elsewhere and Esc close it. */
export function Disclosure({ name, children }: { name: ReactNode; children: ReactNode }): ReactNode {
  const box = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event): void => {
      const isOutside =
        event instanceof KeyboardEvent ? event.key === 'Escape' : !box.current?.contains(event.target as Node);
      if (!isOutside || !box.current?.open) return;
      box.current.open = false;
      if (event instanceof KeyboardEvent) box.current.querySelector('summary')?.focus();
    };
    document.addEventListener('pointerdown', close);
    document.addEventListener('keydown', close);
    return () => {
      document.removeEventListener('pointerdown', close);
      document.removeEventListener('keydown', close);
    };
  }, []);
  return (
    <details className="disclosure" ref={box}>
      <summary className="button">{name}</summary>
      <div className="popup checks">{children}</div>
    </details>
  );
}
