import { SAO_PAULO } from '../brazil/index.js';
import { groupBy } from '../core/group-by.js';
import type { Amount } from '../core/money/index.js';
import {
  type Figure,
  type FigureKind,
  PAYMENT_METHODS,
  type PeriodSums,
  type Summary,
  type TransactionStatus,
  type WindowFigures,
} from '../transactions/index.js';
import type { Basis } from './dto/statistics.query.js';
import type {
  AmountsByCurrency,
  MetricsBody,
  PeriodBody,
  StatsBody,
  SummaryBody,
  TimeToPayBody,
  Volume,
} from './dto/statistics.body.js';

/** Days of `dailyVolume`: docs/contract.md#statistics. */
const MAX_POINTS = 366;

const PENDING: readonly TransactionStatus[] = ['PENDING', 'WAITING_PAYMENT', 'PROCESSING'];
const DISPUTED: readonly TransactionStatus[] = ['CHARGEBACK', 'DISPUTE'];

/** The figure of paid sales, by the day that they count for. */
const PAID: Readonly<Record<Basis, 'paid' | 'settled'>> = { created: 'paid', paid: 'settled' };

export const STATS_FIGURES = { kinds: ['day', 'paid', 'settled'], daily: ['day', 'paid', 'settled'] } as const;

export function statsBody({ days, figures }: WindowFigures, basis: Basis = 'created'): StatsBody {
  const created = whole(figures, 'day');
  const paidBy = PAID[basis];
  const paid = whole(figures, paidBy);
  const today = days.at(-1) ?? '';
  const daily = byDay(figures);
  return {
    totalTransactions: count(created),
    paidTransactions: count(paid),
    todayTransactions: count(daily.get(today)?.day ?? []),
    successRate: percent(count(whole(figures, 'paid')), count(created)),
    volumeByCurrency: byCurrency(paid).map(([currency, own]) => ({ currency, volume: amount(own), count: count(own) })),
    todayVolumeByCurrency: amounts(daily.get(today)?.[paidBy] ?? []),
    dailyVolume: days
      .slice(-MAX_POINTS)
      .map((date) => ({ date, currencies: amounts(daily.get(date)?.[paidBy] ?? []) })),
    methodBreakdown: PAYMENT_METHODS.flatMap((method) => {
      const own = paid.filter((figure) => figure.key === method);
      return own.length === 0 ? [] : [{ method, volume: amount(own), count: count(own) }];
    }),
  };
}

export const METRICS_FIGURES = {
  kinds: ['day', 'offered', 'paid', 'settled', 'refunded', 'wait'],
  daily: ['day', 'paid', 'settled'],
} as const;

/** @param businessDays, currency as requested */
export function metricsBody(
  { days, figures }: WindowFigures,
  businessDays: number,
  currency: string | null,
  basis: Basis = 'created',
): MetricsBody {
  const created = whole(figures, 'day');
  const of = (...statuses: readonly TransactionStatus[]): Figure[] =>
    created.filter(({ key }) => statuses.some((status) => status === key));
  const ofCreated = whole(figures, 'paid');
  const paidBy = PAID[basis];
  const paid = whole(figures, paidBy);
  const offered = whole(figures, 'offered');
  const volume = (of: readonly Figure[]): Volume => (currency === null ? amounts(of) : amount(of));
  const daily = byDay(figures);
  return {
    days: businessDays,
    currency,
    from: days[0] ?? '',
    to: days.at(-1) ?? '',
    timezone: SAO_PAULO,
    funnel: {
      created: count(created),
      pending: count(of(...PENDING)),
      paid: count(ofCreated),
      failed: count(of('REFUSED')),
      expired: count(of('EXPIRED')),
      cancelled: count(of('CANCELLED')),
      refunded: count(of('REFUNDED')),
      disputed: count(of(...DISPUTED)),
      conversionRate: percent(count(ofCreated), count(created)),
    },
    volume: {
      created: volume(created),
      paid: volume(paid),
      refunded: volume(whole(figures, 'refunded')),
      disputed: volume(of(...DISPUTED)),
      averageTicket:
        currency === null
          ? Object.fromEntries(byCurrency(paid).map(([code, own]) => [code, average(own)]))
          : average(paid),
    },
    timeToPay: timeToPay(whole(figures, 'wait')),
    dailyVolume: days.map((date) => {
      const { day = [], [paidBy]: paidOfDay = [] } = daily.get(date) ?? {};
      return { date, created: count(day), paid: count(paidOfDay), volume: volume(paidOfDay) };
    }),
    methodBreakdown: PAYMENT_METHODS.flatMap((method) => {
      const made = count(offered.filter((figure) => figure.key === method));
      const own = paid.filter((figure) => figure.key === method);
      if (made === 0 && own.length === 0) return [];
      const paidCount = count(own);
      return [
        {
          method,
          created: made,
          paid: paidCount,
          conversionRate: percent(count(ofCreated.filter((figure) => figure.key === method)), made),
          volume: volume(own),
          count: paidCount,
        },
      ];
    }),
  };
}

export function summaryBody({ points, ...periods }: Summary, currency: string): SummaryBody {
  return {
    currency,
    timezone: SAO_PAULO,
    today: periodBody(periods.today),
    yesterday: periodBody(periods.yesterday),
    month: periodBody(periods.month),
    lastMonth: periodBody(periods.lastMonth),
    days: [...points],
  };
}

function periodBody({ from, to, count, amount, created, createdPaid, ...refunds }: PeriodSums): PeriodBody {
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    ...{ count, amount, created, createdPaid },
    averageTicket: count === 0 ? 0 : Math.round(amount / count),
    conversionRate: percent(createdPaid, created),
    ...refunds,
  };
}

/**
 * Returns the figures of the whole window. Figures that have returned to zero, as of a status that was left again, are
 * left out.
 */
function whole(figures: readonly Figure[], kind: FigureKind): Figure[] {
  return figures.filter((figure) => figure.kind === kind && figure.day === null && figure.count !== 0);
}

function byDay(figures: readonly Figure[]): Map<string, Partial<Record<FigureKind, Figure[]>>> {
  const days = new Map<string, Partial<Record<FigureKind, Figure[]>>>();
  for (const figure of figures) {
    if (figure.day === null || figure.count === 0) continue;
    const day = days.get(figure.day) ?? {};
    (day[figure.kind] ??= []).push(figure);
    days.set(figure.day, day);
  }
  return days;
}

function count(figures: readonly Figure[]): number {
  return figures.reduce((sum, figure) => sum + figure.count, 0);
}

function amount(figures: readonly Figure[]): Amount {
  return figures.reduce((sum, figure) => sum + figure.amount, 0);
}

/** Groups in one pass, because callers decide how many currencies there are. */
function byCurrency(figures: readonly Figure[]): [string, Figure[]][] {
  return [...groupBy(figures, ({ currency }) => currency)].sort(([a], [b]) => (a < b ? -1 : 1));
}

function amounts(figures: readonly Figure[]): AmountsByCurrency {
  return Object.fromEntries(byCurrency(figures).map(([currency, own]) => [currency, amount(own)]));
}

/** Returns whole per cent, half up; 0 if the whole is 0. */
function percent(part: number, of: number): number {
  return of === 0 ? 0 : Math.round((100 * part) / of);
}

/** Returns the average in the smallest unit, half up; 0 without payments. */
function average(figures: readonly Figure[]): Amount {
  const payments = count(figures);
  return payments === 0 ? 0 : Math.round(amount(figures) / payments);
}

/**
 * Computes percentiles by nearest rank. Waits are counted in classes, so each percentile is the mean of the class with
 * its rank.
 */
function timeToPay(waits: readonly Figure[]): TimeToPayBody {
  const classes = [...groupBy(waits, ({ key }) => key)].sort(([a], [b]) => Number(a) - Number(b));
  const at = (share: number): number | null => {
    let rank = Math.ceil(share * count(waits));
    const found = classes.find(([, own]) => (rank -= count(own)) <= 0);
    return found ? average(found[1]) : null;
  };
  return { p50Seconds: at(0.5), p90Seconds: at(0.9) };
}
