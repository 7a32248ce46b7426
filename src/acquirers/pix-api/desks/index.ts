import type { Desk } from './desk.js';
import { efi } from './efi/index.js';

/** The payout desks, by the name of their PSP's profile. A profile without an entry cannot send money. */
export const DESKS: Readonly<Record<string, Desk>> = { efi };

/** @param name null: of a PSP that cannot send money @returns null when there is none */
export function findDesk(name: string | null): Desk | null {
  return name !== null && Object.hasOwn(DESKS, name) ? (DESKS[name] ?? null) : null;
}
