import * as z from 'zod';
import { isReturnId, isTxid } from '../../brazil/index.js';
import type { NotificationHint } from '../acquirer.port.js';
import { isE2eId, returnHint } from './translation.js';

/** The parts of a callback that say what to ask about. Its amounts and people are hearsay and are not read. */
const entry = z.object({
  endToEndId: z.string().refine(isE2eId),
  txid: z.unknown().optional(),
  devolucoes: z.array(z.unknown()).nullish(),
});
const returned = z.object({
  id: z.string().refine(isReturnId),
  status: z.string().regex(/^[A-Z_]{1,40}$/),
  natureza: z.string().max(60).nullish(),
});

/** More than a batch of a thousand Pix has: reading it would take the processor from everybody. */
const MAX_DEPTH = 20;
const MAX_VALUES = 50_000;
/** A callback holds a batch; a PSP that sends more than this at once is none. */
const MAX_ENTRIES = 1_000;
const MAX_HINTS = 2_000;

export interface Callback {
  readonly hints: readonly NotificationHint[];
  /** Entries that name nothing that could be asked for. */
  readonly skipped: number;
}

/**
 * What a PSP's callback hints at, with what of it was not read. The body is an object with `pix`, or the bare list: both
 * are read of every PSP, for the profile's may be out of date. Each thing is named once, however often the body does.
 */
export function readCallbackBody(body: unknown): Callback {
  const entries = Array.isArray(body) ? body : (body as { pix?: unknown } | null)?.pix;
  // The call by which a PSP tries a URL out has no Pix in it.
  if (!Array.isArray(entries)) return { hints: [], skipped: entries == null ? 0 : 1 };
  const hints = new Map<string, NotificationHint>();
  let skipped = Math.max(entries.length - MAX_ENTRIES, 0);
  const add = (hint: NotificationHint): void => {
    if (hints.size < MAX_HINTS) hints.set(`${hint.kind} ${hint.reference}`, hint);
    else skipped += 1;
  };
  for (const candidate of entries.slice(0, MAX_ENTRIES)) {
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
      if (known.success) add(returnHint(endToEndId, { ...known.data, natureza: known.data.natureza ?? null }, paid));
      else skipped += 1;
    }
  }
  return { hints: [...hints.values()], skipped };
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);

/** Whether JSON has no more values and levels than a PSP has reason to send; its texts are not looked into. */
export function isReadable(body: Buffer): boolean {
  let [depth, values, isText] = [0, 0, false];
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at] ?? 0;
    if (isText) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) isText = true;
    else if (OPENING.has(byte)) depth += 1;
    else if (CLOSING.has(byte)) depth -= 1;
    else if (byte === COMMA) values += 1;
    if (depth > MAX_DEPTH || values > MAX_VALUES) return false;
  }
  return true;
}
