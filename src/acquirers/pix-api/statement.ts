import type { StatementFilter } from '../acquirer.port.js';
import { pixPage } from './messages.js';
import type { PixApiClient, PspAnswer } from './pix-api.client.js';
import { PixApiError } from './pix-api.errors.js';
import type { DeskOperation, Operation } from './profile.js';
import { minuteOf, textOf } from './translation.js';
import { byMinute, readTime } from './written-time.js';

const PAGE_SIZE = 100;
/** Some PSPs return more entries on a page than requested; beyond this they would not fit into memory. */
const MAX_PAGE_SIZE = 10 * PAGE_SIZE;
/** Maximum number of pages of a window; more means that the PSP's pages never end. */
const MAX_PAGES = 1_000;
/**
 * Length of a window. All Pix of a window are in memory together to be sorted; a window with too many is read in
 * halves.
 */
const WINDOW_HOURS = 6;
const MAX_OF_WINDOW = 20_000;
const SHORTEST_WINDOW_MS = 60_000;
/**
 * How far before the present a period must end: a PSP whose clock is behind ours refuses a period that ends in its
 * future.
 */
const BEHIND_MS = 3_000;
/** How long after the minute in its end-to-end id a Pix may be settled. */
const DELAY_MS = 5 * 60_000;

/** The latest end of a query to the PSP now, in whole seconds. */
export function listedUntil(now: Date): Date {
  return new Date(Math.floor((now.getTime() - BEHIND_MS) / 1_000) * 1_000);
}

/** A list of a PSP, in the standard's form: `inicio`, `fim` and pages. */
export interface PagedList {
  readonly operation: Operation | DeskOperation;
  /** In hours. */
  readonly longestWindow: number;
  readonly page: (query: Readonly<Record<string, string>>) => Promise<PspAnswer>;
  /** Gives the body of an answer, or throws. */
  readonly bodyOf: (answer: PspAnswer) => unknown;
}

/** Reads the PSP's list of received Pix. @param narrowed further filters of the list */
export function readStatement(
  client: PixApiClient,
  { from, to, withReturns = false }: StatementFilter,
  now: Date,
  bodyOf: PagedList['bodyOf'],
  narrowed: Readonly<Record<string, string>> = {},
): AsyncGenerator<unknown[]> {
  const longestWindow = client.profile.longestWindow.value;
  const list: PagedList = { operation: 'pix.list', longestWindow, page: (query) => client.listPix(query), bodyOf };
  return readWindows(list, { from, to }, now, {
    ...narrowed,
    ...(withReturns ? { devolucaoPresente: 'true' } : {}),
  });
}

/**
 * Reads a PSP's list, window by window, oldest window first; within a window the standard defines no order. A Pix
 * that appears on two pages, because another one arrived meanwhile, is returned once.
 * @param now ends the last window some seconds before it
 * @param narrowed further filters of the list
 */
export async function* readWindows(
  { operation, longestWindow, page: readPage, bodyOf }: PagedList,
  { from, to: until }: Pick<StatementFilter, 'from' | 'to'>,
  now: Date,
  narrowed: Readonly<Record<string, string>> = {},
): AsyncGenerator<unknown[]> {
  let windowMs = Math.min(WINDOW_HOURS, longestWindow) * 3_600_000;
  const to = new Date(Math.min(until.getTime(), listedUntil(now).getTime()));
  const seen = new Set<string>();
  let start = from.getTime();
  while (start < to.getTime()) {
    const end = Math.min(start + windowMs, to.getTime());
    const window = {
      ...narrowed,
      inicio: seconds(start, Math.floor),
      fim: seconds(end, Math.ceil),
    };
    const entries: unknown[] = [];
    const ids = new Set<unknown>();
    let isTooMuch = false;
    let pages: number | null = null;
    for (let page = 0, isLast = false; !isLast && !isTooMuch; page += 1) {
      if (page >= MAX_PAGES) throw new PixApiError('unknown', 'endless_pages', operation);
      const answer = await readPage({
        ...window,
        'paginacao.paginaAtual': String(page),
        'paginacao.itensPorPagina': String(PAGE_SIZE),
      });
      // Some PSPs answer an empty list with 404 or 204. If a page was announced, such an answer is an error.
      if (answer.kind === 'not_found' || (answer.kind === 'ok' && answer.body === null)) {
        if (page === 0 || pages === null) break;
        throw new PixApiError('unknown', 'missing_page', operation);
      }
      const read = pixPage.safeParse(bodyOf(answer));
      if (!read.success) throw new PixApiError('unknown', 'malformed_answer', operation);
      const { parametros, pix: found } = read.data;
      if (found.length > MAX_PAGE_SIZE) throw new PixApiError('unknown', 'malformed_answer', operation);
      const before = ids.size;
      for (const entry of found) ids.add(idOf(entry) || entry);
      entries.push(...found.filter((entry) => !seen.has(idOf(entry))));
      isTooMuch = entries.length > MAX_OF_WINDOW;
      pages = parametros?.paginacao?.quantidadeDePaginas ?? null;
      isLast = found.length === 0 || (pages === null ? found.length < PAGE_SIZE : page + 1 >= pages);
      // If a PSP repeats a page, it has more entries than it shows.
      if (!isLast && ids.size === before) throw new PixApiError('unknown', 'endless_pages', operation);
    }
    if (isTooMuch) {
      if (windowMs <= SHORTEST_WINDOW_MS) throw new PixApiError('unknown', 'endless_pages', operation);
      windowMs /= 2;
    } else {
      yield entries.filter((entry) => isNew(entry, seen));
      start = end;
    }
  }
}

/**
 * Whether an entry belongs to the queried period. Near its edges, which are rounded to seconds for the PSP, the PSP's
 * clock decides. Elsewhere the minute in the end-to-end id decides, as the clock may be wrong. An entry without any
 * time belongs to the period, because the PSP listed it.
 */
export function isListedFor({ from, to }: StatementFilter, entry: unknown): boolean {
  const minute = minuteOf(idOf(entry));
  const written = readTime(textOf(entry, 'horario')?.trim() ?? '');
  if (written === null) return minute === null || (minute.getTime() >= from.getTime() - DELAY_MS && minute < to);
  const at = byMinute(written, minute);
  const isNear = at.getTime() >= from.getTime() - 1_000 && at.getTime() <= to.getTime() + 1_000;
  const decisive = isNear || minute === null ? at : minute;
  return decisive >= from && decisive < to;
}

/**
 * Skips repeated entries: windows overlap by up to a second, and pages shift when Pix arrive. Entries without an id are
 * passed on; the reader refuses them.
 */
function isNew(entry: unknown, seen: Set<string>): boolean {
  const id = idOf(entry);
  if (id === '') return true;
  if (seen.has(id)) return false;
  seen.add(id);
  return true;
}

/** @returns empty for an entry without an id */
function idOf(entry: unknown): string {
  const id = (entry as { endToEndId?: unknown } | null)?.endToEndId;
  return typeof id === 'string' ? id : '';
}

/** A time without fractions, which some PSPs cannot read. The query covers a little more; the reader leaves it out. */
function seconds(ms: number, round: (value: number) => number): string {
  return new Date(round(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}
