import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { AccountBody } from '../../../src/operations/dto/account.body.js';
import { call } from '../api.js';
import { useLanguage } from '../language.js';
import { Listing, usePages } from '../lists.js';
import type { Tabled } from '../ui.js';
import { modeName } from '../words.js';

/** A list of `/v1/operations`, with its name and columns. */
export interface Queue<R> extends Omit<Tabled<R>, 'rows'> {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly empty: string;
}

/** The list is polled. */
export function List<R>({ path, query = {}, ...queue }: Queue<R>): ReactNode {
  const list = usePages<R>(['operations', path, query], `/v1/operations/${path}`, query, { refetchInterval: 10_000 });
  return <Listing list={list} rows={list.data} {...queue} />;
}

/** Operators' lists identify accounts by id. */
export function AccountName({ id, mode }: { id: string; mode?: string }): ReactNode {
  const account = useQuery({
    queryKey: ['account', id],
    queryFn: () => call<AccountBody>('GET', `/v1/operations/accounts/${id}`),
    staleTime: 600_000,
  });
  const { t } = useLanguage();
  return (account.data?.name ?? id.slice(0, 13)) + (mode === undefined ? '' : ` (${modeName(mode, t)})`);
}
