import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { PaymentListBody } from '../../src/payments/dto/payment.body.js';
import { call, door, type Query, withQuery } from './api.js';

/** Pages of a list of sales that lie side by side, as they were when the list was seen. */
interface Walk {
  readonly mode: string;
  /** Filters, order and size of a page. */
  readonly query: Query;
  readonly firstPage: number;
  readonly lastPage: number;
  readonly pages: number;
  readonly ids: readonly string[];
}

const KEY = 'recebe.walk';

/** The bare id: lists have `tx_…`. */
function bare(id: string): string {
  return id.replace(/^(?:ch|tx)_/, '');
}

function keep(walk: Walk): void {
  sessionStorage.setItem(KEY, JSON.stringify(walk));
}

function kept(mode: string): Walk | null {
  try {
    const walk = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as Walk | null;
    return walk?.mode === mode ? walk : null;
  } catch {
    return null;
  }
}

/** Remembers a shown page of a list of sales, for the way from one sale to the next. @param list undefined: not loaded */
export function useWalk(mode: string, query: Query, list: PaymentListBody | undefined): void {
  const text = JSON.stringify(query);
  useEffect(() => {
    if (!list) return;
    keep({
      ...{ mode, query: JSON.parse(text) as Query, firstPage: list.page, lastPage: list.page },
      ...{ pages: Math.max(1, Math.ceil(list.total / list.limit)), ids: list.data.map(({ id }) => bare(id)) },
    });
  }, [mode, text, list]);
}

interface Neighbours {
  readonly previous: string | null;
  readonly next: string | null;
  /** Query of the list that the sale was found in. */
  readonly list: Readonly<Record<string, string | undefined>>;
}

/** Returns the sales before and after one in the list that a person came from; null for a sale that is not in it. */
export function useNeighbours(mode: string, id: string): Neighbours | null {
  const [walk, setWalk] = useState(() => kept(mode));
  const index = walk?.ids.indexOf(id) ?? -1;
  const page =
    walk === null || index < 0
      ? null
      : index === walk.ids.length - 1 && walk.lastPage < walk.pages
        ? walk.lastPage + 1
        : index === 0 && walk.firstPage > 1
          ? walk.firstPage - 1
          : null;
  useEffect(() => {
    if (walk === null || page === null) return;
    let isGone = false;
    const load = async (): Promise<void> => {
      const { data } = await call<PaymentListBody>('GET', door(mode, withQuery('/payments', { ...walk.query, page })));
      if (isGone) return;
      // A sale that is made meanwhile moves the others to later pages.
      const ids = data.map((one) => bare(one.id)).filter((one) => !walk.ids.includes(one));
      const grown =
        page > walk.lastPage
          ? { ...walk, lastPage: page, ids: [...walk.ids, ...ids] }
          : { ...walk, firstPage: page, ids: [...ids, ...walk.ids] };
      keep(grown);
      setWalk(grown);
    };
    load().catch(() => undefined);
    return () => {
      isGone = true;
    };
  }, [mode, walk, page]);
  if (walk === null || index < 0) return null;
  const list = Object.entries({ ...walk.query, page: walk.firstPage > 1 ? walk.firstPage : undefined });
  return {
    previous: walk.ids[index - 1] ?? null,
    next: walk.ids[index + 1] ?? null,
    list: Object.fromEntries(
      list.flatMap(([name, value]) => (name === 'limit' || value == null ? [] : [[name, String(value)]])),
    ),
  };
}

/** Goes to the next sale by `j` and to the one before by `k`. */
export function useWalkKeys(mode: string, neighbours: Neighbours | null): void {
  const navigate = useNavigate();
  const { previous = null, next = null } = neighbours ?? {};
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const id = { j: next, k: previous }[event.key] ?? null;
      const isTyped = event.target instanceof Element && event.target.closest('input, textarea, select, [role=menu]');
      // A list inside the page has handled the key.
      if (id === null || isTyped || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (document.querySelector('dialog[open]')) return;
      void navigate({ to: `/${mode}/sales/${id}` });
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [mode, previous, next, navigate]);
}
