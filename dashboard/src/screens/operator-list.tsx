import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { AccountBody } from '../../../src/operations/dto/account.body.js';
import { call, withQuery } from '../api.js';
import { useLanguage } from '../language.js';
import { Button, type Column, Empty, Failure, Loading, Table } from '../ui.js';

interface Listed<R> {
  readonly data: R[];
  readonly next_cursor?: string | null;
}

/** A list of `/v1/operations`, which goes on being asked for. */
export function List<R>({
  name,
  path,
  query = {},
  columns,
  keyOf,
  empty,
}: {
  name: string;
  path: string;
  query?: Readonly<Record<string, string>>;
  columns: readonly Column<R>[];
  keyOf: (row: R) => string;
  empty: string;
}): ReactNode {
  const { t } = useLanguage();
  const list = useInfiniteQuery({
    queryKey: ['operations', path, query],
    queryFn: ({ pageParam }) =>
      call<Listed<R>>('GET', withQuery(`/v1/operations/${path}`, { ...query, starting_after: pageParam })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    refetchInterval: 10_000,
  });
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <>
      {list.error && <Failure error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Loading />}
      {list.data && rows.length === 0 && <Empty title={empty} />}
      {rows.length > 0 && <Table label={name} rows={rows} keyOf={keyOf} columns={columns} />}
      {list.hasNextPage && (
        <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t('Mais antigos', 'Older ones')}
        </Button>
      )}
    </>
  );
}

/** What to call when something was decided. */
export function useRefresh(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: ['operations'] });
}

/** An operator's lists name accounts by their ids. */
export function AccountName({ id }: { id: string }): ReactNode {
  const account = useQuery({
    queryKey: ['account', id],
    queryFn: () => call<AccountBody>('GET', `/v1/operations/accounts/${id}`),
    staleTime: 600_000,
  });
  return account.data?.name ?? id.slice(0, 13);
}
