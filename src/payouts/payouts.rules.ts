import type { AccountEntity } from '../accounts/index.js';
import { fromSaoPauloLocal, plusDays, saoPauloLocal } from '../brazil/index.js';
import type { Mode } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';

/** The rules of an account for its payouts. Amounts in cents; null: no limit. */
export interface PayoutRules {
  readonly to: 'own' | 'anyone';
  readonly approvalAbove: Amount | null;
  readonly newDestinationHours: number;
  readonly max: Amount | null;
  readonly dailyMax: Amount | null;
  readonly nightMax: Amount | null;
}

/** Rules of an account that has set none. Test money needs no protection. */
export const DEFAULT_RULES: Readonly<Record<Mode, PayoutRules>> = {
  test: { to: 'anyone', approvalAbove: null, newDestinationHours: 0, max: null, dailyMax: null, nightMax: null },
  live: {
    to: 'own',
    approvalAbove: null,
    newDestinationHours: 24,
    max: 5_000_000,
    dailyMax: 20_000_000,
    nightMax: 100_000,
  },
};

export function rulesOf(account: AccountEntity, mode: Mode): PayoutRules {
  const rules = DEFAULT_RULES[mode];
  return {
    to: account.payoutsTo ?? rules.to,
    approvalAbove: account.payoutApprovalAbove ?? rules.approvalAbove,
    newDestinationHours: account.payoutNewDestinationHours ?? rules.newDestinationHours,
    max: account.payoutMax ?? rules.max,
    dailyMax: account.payoutDailyMax ?? rules.dailyMax,
    nightMax: account.payoutNightMax ?? rules.nightMax,
  };
}

const BOUNDS = {
  payout_approval_above: 'approvalAbove',
  payout_max: 'max',
  payout_daily_max: 'dailyMax',
  payout_night_max: 'nightMax',
} as const;

/** @returns the settings by which an account could pay more, in either mode, than before */
export function raisedBounds(before: AccountEntity, after: AccountEntity): string[] {
  const boundOf = (account: AccountEntity, mode: Mode, rule: (typeof BOUNDS)[keyof typeof BOUNDS]): number =>
    rulesOf(account, mode)[rule] ?? Infinity;
  return Object.entries(BOUNDS)
    .filter(([, rule]) =>
      (['test', 'live'] as const).some((mode) => boundOf(after, mode, rule) > boundOf(before, mode, rule)),
    )
    .map(([name]) => name);
}

/** Hours of São Paulo in which the lower limit holds. */
const NIGHT = { from: 20, to: 6 };

/** Periods of São Paulo that a time is in. */
export interface Periods {
  /** Start of the day. */
  readonly day: Date;
  /** Start of the night; null by day. */
  readonly night: Date | null;
  /** The next end of a night. */
  readonly morning: Date;
}

export function periodsOf(at: Date): Periods {
  const local = saoPauloLocal(at);
  const hour = Number(local.slice(11, 13));
  const date = local.slice(0, 10);
  const atHour = (day: string, hours: number): Date =>
    fromSaoPauloLocal(new Date(`${day}T${String(hours).padStart(2, '0')}:00:00Z`));
  const [evening, morning] = [NIGHT.from, NIGHT.to];
  const night = hour >= evening ? atHour(date, evening) : hour < morning ? atHour(plusDays(date, -1), evening) : null;
  return { day: atHour(date, 0), night, morning: atHour(hour < morning ? date : plusDays(date, 1), morning) };
}

/** Sums of the payouts that did not fail and were not cancelled, in cents. */
export interface SentSums {
  readonly day: Amount;
  readonly night: Amount;
}

/** A limit, and the cents that it still allows. */
export interface LimitLeft {
  readonly name: 'payout_max' | 'payout_daily_max' | 'payout_night_max';
  readonly left: Amount;
}

/** @returns the limit that a payout would exceed, with its name; null: none */
export function exceededLimit(amount: Amount, rules: PayoutRules, sent: SentSums, isNight: boolean): LimitLeft | null {
  return limitsOf(rules, sent, isNight).find((limit) => amount > limit.left) ?? null;
}

/** @returns the limit that leaves the least; null: no limit holds */
export function tightestLimit(rules: PayoutRules, sent: SentSums, isNight: boolean): LimitLeft | null {
  const limits = limitsOf(rules, sent, isNight);
  return limits.reduce<LimitLeft | null>((least, limit) => (least && least.left <= limit.left ? least : limit), null);
}

function limitsOf(rules: PayoutRules, sent: SentSums, isNight: boolean): LimitLeft[] {
  const limits = [
    { name: 'payout_max', limit: rules.max, used: 0 },
    { name: 'payout_daily_max', limit: rules.dailyMax, used: sent.day },
    { name: 'payout_night_max', limit: isNight ? rules.nightMax : null, used: sent.night },
  ] as const;
  return limits.flatMap(({ name, limit, used }) => (limit === null ? [] : [{ name, left: Math.max(limit - used, 0) }]));
}

/** Facts about a receiver by which a payout waits. */
export interface KnownTarget {
  /** Whether money arrived there before. */
  readonly wasPaid: boolean;
  /** Whether it is saved, and an OWNER approved it. Holds for payouts that name the receiver inline too. */
  readonly isApproved: boolean;
}

/** @returns how a new payout begins, and when it may be sent */
export function startOf(
  amount: Amount,
  rules: PayoutRules,
  known: KnownTarget,
  now: Date,
): { readonly needsApproval: boolean; readonly sendAfter: Date; readonly isNew: boolean } {
  const isNew = !known.wasPaid && !known.isApproved;
  const waitMs = isNew ? rules.newDestinationHours * 3_600_000 : 0;
  return {
    needsApproval: rules.approvalAbove !== null && amount > rules.approvalAbove,
    sendAfter: new Date(now.getTime() + waitMs),
    isNew,
  };
}
