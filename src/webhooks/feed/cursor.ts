import type { EventPosition } from '../../outbox/index.js';

/** The position of an event under one of its names in the list of events. */
export interface EventCursor extends EventPosition {
  /**
   * Number of the name under which the event is listed. A cursor behind the whole event uses a number above all of
   * them.
   */
  readonly name: number;
}

const CURSOR = /^evc_(\d{1,15})_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})_(\d{1,2})$/;

export const FIRST: EventCursor = { xid: 0, id: '00000000-0000-0000-0000-000000000000', name: 0 };
export const LAST: EventCursor = { xid: 999_999_999_999_999, id: 'ffffffff-ffff-ffff-ffff-ffffffffffff', name: 99 };

/** `evc_…`, which callers send back unchanged. */
export function cursorText({ xid, id, name }: EventCursor): string {
  return `evc_${xid}_${id.replaceAll('-', '')}_${name}`;
}

/** @returns null when the text is not a cursor */
export function parseCursor(text: string): EventCursor | null {
  const match = CURSOR.exec(text.toLowerCase());
  if (!match) return null;
  const [, xid, ...rest] = match;
  return { xid: Number(xid), id: rest.slice(0, 5).join('-'), name: Number(rest[5]) };
}

export function isBehind(cursor: EventPosition, newest: EventPosition): boolean {
  return cursor.xid < newest.xid || (cursor.xid === newest.xid && cursor.id < newest.id);
}
