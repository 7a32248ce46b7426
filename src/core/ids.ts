import { v7 } from 'uuid';
import { notFound } from './errors/index.js';
import { uniqueBytes } from './random.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** An id before all others, where a walk through a table begins. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** A clock that is further behind was set back. */
const LONGEST_BEHIND_MS = 60_000;
/** The last id of the latest millisecond. */
let last = { msecs: 0, seq: 0 };
/** The last id of an earlier millisecond. After a clock was set back by seconds, all ids are made there for as long. */
let lastBehind = { msecs: 0, seq: 0 };

/**
 * A UUIDv7 whose time is `now` to the millisecond: created_at and the id's order agree, so the primary key serves
 * lists by creation time and no second index is needed. Ids that a process makes within its latest millisecond rise, and
 * so do ids that follow each other within an earlier one.
 */
export function newId(now: Date): string {
  const msecs = now.getTime();
  const random = uniqueBytes(16);
  const before = msecs === last.msecs ? last : lastBehind;
  const seq = msecs === before.msecs ? before.seq + 1 : random.readUInt32BE(0) >>> 1;
  if (msecs >= last.msecs || msecs < last.msecs - LONGEST_BEHIND_MS) last = { msecs, seq };
  else lastBehind = { msecs, seq };
  return v7({ msecs, seq, random });
}

/**
 * Bounds for "created at or after/before" on a UUIDv7 column.
 * @returns the smallest (`min`) or largest (`max`) UUIDv7 of that millisecond
 */
export function idBound(at: Date, side: 'min' | 'max'): string {
  const time = Math.max(0, at.getTime()).toString(16).padStart(12, '0').slice(-12);
  const rest = side === 'min' ? '7000-8000-000000000000' : '7fff-bfff-ffffffffffff';
  return `${time.slice(0, 8)}-${time.slice(8)}-${rest}`;
}

/** The bounds of a list, by `idBound`; either may be open. */
export function idRange(from: Date | null, to: Date | null): [min: string, max: string] {
  return [
    from === null ? FIRST_ID : idBound(from, 'min'),
    to === null ? 'ffffffff-ffff-ffff-ffff-ffffffffffff' : idBound(to, 'max'),
  ];
}

/** The millisecond in which a UUIDv7 was made. */
export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}

/** `evt_<32 hex>` from the event's UUID. */
export function eventId(id: string): string {
  return `evt_${id.replaceAll('-', '')}`;
}

/** The UUID behind `evt_<32 hex>`, or the bare `<uuid>`; null for every other text. */
export function eventUuid(text: string): string | null {
  const bare = text.toLowerCase();
  if (isUuid(bare)) return bare;
  const match = /^evt_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(bare);
  return match && match.slice(1).join('-');
}

/** Whether it is a UUID in the only form that we write. */
export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}

/** The text with its UUIDs in small letters, as we write them: callers may send capitals (docs/contract.md#ids). */
export function withSmallUuids(text: string): string {
  const isCapital = (part: string): boolean => UUID.test(part.toLowerCase());
  // Prefixes, cursors and lists of ids put these signs beside one.
  return text
    .split(/([_:,])/)
    .map((part) => (isCapital(part) ? part.toLowerCase() : part))
    .join('');
}

/**
 * Takes every form of an id its route accepts (docs/contract.md#ids) and gives the UUID.
 * @throws ApiError 404: a malformed id is as an unknown one, so a caller cannot tell the two apart
 */
export function parseId(value: string, prefixes: readonly string[], what: string): string {
  const prefix = prefixes.find((candidate) => value.startsWith(candidate)) ?? '';
  const bare = withSmallUuids(value.slice(prefix.length));
  if (!isUuid(bare)) throw notFound(what);
  return bare;
}
