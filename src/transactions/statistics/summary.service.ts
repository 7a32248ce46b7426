import { Injectable } from '@nestjs/common';
import { DateTime } from 'luxon';
import {
  businessDayWindow,
  type Day,
  isBankBusinessDay,
  plusDays,
  SAO_PAULO,
  saoPauloDay,
  saoPauloDayBounds,
} from '../../brazil/index.js';
import { Clock } from '../../core/clock.js';
import type { Scope } from '../../core/mode.js';
import type { Amount } from '../../core/money/index.js';
import { type PeriodSums, StatisticsRepository } from './statistics.repository.js';

interface DayRun {
  readonly from: Day;
  readonly to: Day;
  readonly count: number;
  readonly amount: Amount;
}

/** A day, or a bank day with the days without banks that follow it. */
export interface SummaryPoint extends DayRun {
  readonly before: DayRun;
}

export interface Summary {
  readonly today: PeriodSums;
  readonly yesterday: PeriodSums;
  readonly month: PeriodSums;
  readonly lastMonth: PeriodSums;
  readonly points: readonly SummaryPoint[];
}

type DaySums = Pick<PeriodSums, 'count' | 'amount' | 'created' | 'createdPaid'>;

const NOTHING: DaySums = { count: 0, amount: 0, created: 0, createdPaid: 0 };
const KINDS = ['day', 'paid', 'settled'] as const;

/** Compares what was received now with what was received before, up to the same hour and day. */
@Injectable()
export class SummaryService {
  constructor(
    private readonly statistics: StatisticsRepository,
    private readonly clock: Clock,
  ) {}

  /** @param length number of points @param isBankDays whether points are bank days instead of calendar days */
  async read(scope: Scope, currency: string, length: number, isBankDays: boolean): Promise<Summary> {
    const now = this.clock.now();
    const local = DateTime.fromJSDate(now, { zone: SAO_PAULO });
    const today = saoPauloDay(now);
    const lastMonth = local.minus({ months: 1 });
    const periods = {
      today: { from: local.startOf('day'), to: local },
      yesterday: { from: local.minus({ days: 1 }).startOf('day'), to: local.minus({ days: 1 }) },
      month: { from: local.startOf('month'), to: local },
      lastMonth: { from: lastMonth.startOf('month'), to: lastMonth },
    };
    const points = runsOf(today, length, isBankDays);
    const before = runsOf(plusDays(points[0]?.from ?? today, -1), length, isBankDays);
    const first = [before[0]?.from ?? today, saoPauloDay(periods.lastMonth.from.toJSDate())].reduce((a, b) =>
      a < b ? a : b,
    );
    const bounds = { from: saoPauloDayBounds(first).from, to: saoPauloDayBounds(today).to };
    const spans = Object.values(periods).map(({ from, to }) => {
      const span = { from: from.toJSDate(), to: to.toJSDate() };
      // The figures of today end now by themselves. Earlier days end at the same hour, which is counted row by row.
      const isPast = to < local;
      const rest = { from: isPast ? to.startOf('day').toJSDate() : span.to, to: span.to };
      return { ...span, rest, until: isPast ? saoPauloDay(span.to) : plusDays(today, 1) };
    });
    const [figures, sums] = await Promise.all([
      this.statistics.read(scope, bounds, now, { kinds: KINDS, daily: KINDS, currency }),
      this.statistics.sums(scope, currency, spans),
    ]);
    const days = new Map<Day, DaySums>();
    for (const { kind, day, count, amount } of figures) {
      if (day === null) continue;
      const own = days.get(day) ?? NOTHING;
      if (kind === 'day') days.set(day, { ...own, created: count });
      else if (kind === 'paid') days.set(day, { ...own, createdPaid: count });
      else days.set(day, { ...own, count, amount });
    }
    const wholeDays = (from: Day, until: Day): DaySums =>
      [...days].filter(([day]) => day >= from && day < until).reduce((sum, [, own]) => added(sum, own), NOTHING);
    const [todaySums, yesterdaySums, monthSums, lastMonthSums] = spans.map(({ from, to, until }, index) => {
      const { refundCount, refunded, ...own } = sums[index] ?? { ...NOTHING, refundCount: 0, refunded: 0 };
      return { from, to, ...added(wholeDays(saoPauloDay(from), until), own), refundCount, refunded };
    }) as [PeriodSums, PeriodSums, PeriodSums, PeriodSums];
    const run = ({ from, to }: Pick<DayRun, 'from' | 'to'>): DayRun => {
      const { count, amount } = wholeDays(from, plusDays(to, 1));
      return { from, to, count, amount };
    };
    return {
      ...{ today: todaySums, yesterday: yesterdaySums, month: monthSums, lastMonth: lastMonthSums },
      points: points.map((point, index) => ({ ...run(point), before: run(before[index] ?? point) })),
    };
  }
}

function added(a: DaySums, b: DaySums): DaySums {
  return {
    count: a.count + b.count,
    amount: a.amount + b.amount,
    created: a.created + b.created,
    createdPaid: a.createdPaid + b.createdPaid,
  };
}

/** Returns that many runs of days, the oldest first; the last one ends with `today`. */
function runsOf(today: Day, length: number, isBankDays: boolean): Pick<DayRun, 'from' | 'to'>[] {
  if (!isBankDays) {
    return Array.from({ length }, (_, index) => {
      const day = plusDays(today, index + 1 - length);
      return { from: day, to: day };
    });
  }
  const days = businessDayWindow(today, length);
  const starts = days.filter((day) => isBankBusinessDay(day));
  return starts.map((from, index) => {
    const next = starts[index + 1];
    return { from, to: next === undefined ? today : plusDays(next, -1) };
  });
}
