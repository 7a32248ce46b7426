import { randomInt } from 'node:crypto';
import type { PaymentLink } from './payment-link.entity.js';

/** Letters and digits without 0, O, I and l, which people confuse. */
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
/** 70 bits: nobody finds a link by trying. */
const SHORT_ID_LENGTH = 12;

export const LINK_ID_PREFIXES = ['pl_'];

/** `ended`: by the merchant. `full`: paid as often as allowed. */
export const CLOSED_REASONS = ['ended', 'full', 'expired'] as const;
export type ClosedReason = (typeof CLOSED_REASONS)[number];

export const LINK_STATUSES = ['active', 'ended'] as const;
export type LinkStatus = (typeof LINK_STATUSES)[number];

export function newShortId(): string {
  return Array.from({ length: SHORT_ID_LENGTH }, () => BASE58.charAt(randomInt(BASE58.length))).join('');
}

/** Returns why a link takes no more payments; null: it does. `linkStatusSql` has the same rule. */
export function closedReason(
  { endedAt, maxPayments, paidCount, expiresAt }: PaymentLink,
  now: Date,
): ClosedReason | null {
  if (endedAt !== null) return 'ended';
  if (maxPayments !== null && paidCount >= maxPayments) return 'full';
  return expiresAt !== null && expiresAt <= now ? 'expired' : null;
}

/** SQL for the status of the link `l`. @param now its parameter for the present */
export function linkStatusSql(now: string): string {
  return `CASE WHEN l.ended_at IS NOT NULL OR l.paid_count >= l.max_payments OR l.expires_at <= ${now}
       THEN 'ended' ELSE 'active' END`;
}
