import * as z from 'zod';
import { isTxid } from '../../brazil/index.js';
import type { NotificationHint } from '../acquirer.port.js';
import type { Desk } from './desks/desk.js';
import { isShallow } from './json-shape.js';
import { bonus, list, word } from './messages.js';
import { isE2eId, isReturnName, returnHint } from './translation.js';

/** The parts of a callback that name an object to query. Amounts and people may be made up and are not read. */
const entry = z.object({
  endToEndId: z.string().refine(isE2eId),
  txid: z.unknown().optional(),
  devolucoes: bonus(list),
});
const returned = z.object({
  id: z.string().refine(isReturnName),
  status: word.pipe(z.string().regex(/^[A-Z_]{1,40}$/)),
  natureza: bonus(word),
});

/** More values than a batch of a thousand Pix has: parsing them would take the processor from other requests. */
const MAX_VALUES = 50_000;
/** Maximum size of a batch; no real PSP sends more at once. */
const MAX_ENTRIES = 1_000;
const MAX_HINTS = 2_000;

export interface Callback {
  readonly hints: readonly NotificationHint[];
  /** Entries that name no object to query. */
  readonly skipped: number;
}

/**
 * Reads the hints of a callback, and counts entries that could not be read. The body is an object with `pix`, or the
 * bare list. Both forms are accepted from every PSP, because a profile may be out of date. Each object is named once,
 * even if the body repeats it.
 * @param desk of the PSP, which reads the entries about payouts
 */
export function readCallbackBody(body: unknown, desk: Desk | null = null): Callback {
  const pix = Array.isArray(body) ? body : (body as { pix?: unknown } | null)?.pix;
  // PSPs test a URL with a call that has no Pix in it.
  const entries = list.safeParse(pix).data;
  if (!entries) return { hints: [], skipped: pix == null ? 0 : 1 };
  const hints = new Map<string, NotificationHint>();
  let skipped = Math.max(entries.length - MAX_ENTRIES, 0);
  const add = (hint: NotificationHint): void => {
    if (hints.size < MAX_HINTS) hints.set(`${hint.kind} ${hint.reference}`, hint);
    else skipped += 1;
  };
  for (const candidate of entries.slice(0, MAX_ENTRIES)) {
    const sent = desk?.hintsOf(candidate) ?? null;
    if (sent) {
      for (const hint of sent) add(hint);
      if (sent.length === 0) skipped += 1;
      continue;
    }
    const pix = entry.safeParse(candidate);
    if (!pix.success) {
      skipped += 1;
      continue;
    }
    const { endToEndId, txid, devolucoes } = pix.data;
    const paid = typeof txid === 'string' && isTxid(txid) ? txid : null;
    add({ kind: 'pix', reference: endToEndId, ...(paid === null ? {} : { txid: paid }) });
    for (const each of devolucoes ?? []) {
      const known = returned.safeParse(each);
      if (known.success) add(returnHint(endToEndId, known.data, paid));
      else skipped += 1;
    }
  }
  return { hints: [...hints.values()], skipped };
}

/** Whether the body has no more values and levels than a PSP needs to send. */
export function isReadable(body: Buffer): boolean {
  return isShallow(body.toString('latin1'), MAX_VALUES);
}
