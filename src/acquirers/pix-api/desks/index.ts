import type { Desk } from './desk.js';
import { efi } from './efi/index.js';

/** The payout desks, by the name of their PSP's profile. A profile without an entry cannot send money. */
export const DESKS: Readonly<Record<string, Desk>> = { efi };

/** @returns null for a PSP without a desk */
export function findDesk(profile: string): Desk | null {
  return Object.hasOwn(DESKS, profile) ? (DESKS[profile] ?? null) : null;
}
