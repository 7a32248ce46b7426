import { type QueryKey, useInfiniteQuery, type UseInfiniteQueryResult, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { call, type Query, withQuery } from './api.js';
import { useLanguage } from './language.js';
import { Button, Empty, Failure, Loading, Table, type Tabled } from './ui.js';

interface Page<R> {
  readonly data: readonly R[];
  readonly next_cursor?: string | null;
}

/** Loads the rows of a list page by page, each after the last row of the previous page. */
export function usePages<R>(
  queryKey: QueryKey,
  path: string,
  query: Query,
  options: { enabled?: boolean; refetchInterval?: number } = {},
): UseInfiniteQueryResult<R[]> {
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => call<Page<R>>('GET', withQuery(path, { ...query, starting_after: pageParam })),
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
      {list.isPending && <Loading />}
      {rows?.length === 0 && empty !== undefined && <Empty title={empty}>{children}</Empty>}
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
