import { businessDayWindow } from '../../src/brazil/index.js';
import { PAYMENT_METHODS, type TransactionStatus } from '../../src/transactions/index.js';
import type { TestService } from './service.js';

interface Row {
  status: TransactionStatus;
  amount: number;
  currency: string;
  payment_methods: string[];
  paid_with: string | null;
  paid_at: Date | null;
  created_at: Date;
  expires_at: Date | null;
  expected_payer_tax_id: string | null;
  refunded: number;
}

const DAY = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/Sao_Paulo', dateStyle: 'short' });

type Amounts = Record<string, number>;

/** Expected `stats` and `metrics`, computed the slow way from every transaction and refund of an account. */
export class NaiveFigures {
  readonly days: readonly string[];
  readonly #rows: readonly (Row & { day: string })[];

  private constructor(
    rows: readonly Row[],
    now: Date,
    readonly businessDays: number,
    readonly currency: string | null,
  ) {
    this.days = businessDayWindow(DAY.format(now), businessDays);
    this.#rows = rows
      .map((row) => ({
        ...row,
        day: DAY.format(row.created_at),
        status: isOverdue(row, now) ? ('EXPIRED' as const) : row.status,
      }))
      .filter((row) => this.days.includes(row.day) && (currency === null || row.currency === currency));
  }

  static async of(
    service: TestService,
    scope: { accountId: string; mode: 'test' | 'live' },
    businessDays: number,
    currency: string | null = null,
  ): Promise<NaiveFigures> {
    const now = service.clock.now();
    const rows = await service.sql<Row>(
      `SELECT status, amount::float8 AS amount, currency, payment_methods, paid_with, paid_at, created_at, expires_at, expected_payer_tax_id,
         (SELECT coalesce(sum(r.amount), 0)::float8 FROM refunds r WHERE r.transaction_id = t.id AND r.status = 'REFUNDED') AS refunded
       FROM transactions t WHERE account_id = $1 AND mode = $2`,
      [scope.accountId, scope.mode],
    );
    return new NaiveFigures(rows, now, businessDays, currency);
  }

  stats(): Record<string, unknown> {
    const paid = this.#rows.filter(({ paid_at }) => paid_at !== null);
    const today = this.days.at(-1);
    const volumes = this.#amounts(paid);
    return {
      totalTransactions: this.#rows.length,
      paidTransactions: paid.length,
      todayTransactions: this.#rows.filter(({ day }) => day === today).length,
      successRate: percent(paid.length, this.#rows.length),
      volumeByCurrency: Object.entries(volumes).map(([currency, volume]) => ({
        currency,
        volume,
        count: paid.filter((row) => row.currency === currency).length,
      })),
      todayVolumeByCurrency: this.#amounts(paid.filter(({ day }) => day === today)),
      dailyVolume: this.days
        .slice(-366)
        .map((date) => ({ date, currencies: this.#amounts(paid.filter(({ day }) => day === date)) })),
      methodBreakdown: PAYMENT_METHODS.map((method) => ({
        method,
        own: paid.filter((row) => row.paid_with === method),
      }))
        .filter(({ own }) => own.length > 0)
        .map(({ method, own }) => ({ method, volume: sum(own.map(({ amount }) => amount)), count: own.length })),
    };
  }

  /** All but `timeToPay`, which is not exact. */
  metrics(): Record<string, unknown> {
    const paid = this.#rows.filter(({ paid_at }) => paid_at !== null);
    const having = (...statuses: string[]): Row[] => this.#rows.filter(({ status }) => statuses.includes(status));
    const tickets = Object.entries(this.#amounts(paid)).map(([currency, volume]): [string, number] => [
      currency,
      Math.round(volume / paid.filter((row) => row.currency === currency).length),
    ]);
    return {
      days: this.businessDays,
      currency: this.currency,
      from: this.days[0],
      to: this.days.at(-1),
      timezone: 'America/Sao_Paulo',
      funnel: {
        created: this.#rows.length,
        pending: having('PENDING', 'WAITING_PAYMENT', 'PROCESSING').length,
        paid: paid.length,
        failed: having('REFUSED').length,
        expired: having('EXPIRED').length,
        cancelled: having('CANCELLED').length,
        refunded: having('REFUNDED').length,
        disputed: having('DISPUTE', 'CHARGEBACK').length,
        conversionRate: percent(paid.length, this.#rows.length),
      },
      volume: {
        created: this.#volume(this.#rows),
        paid: this.#volume(paid),
        refunded: this.#volume(
          this.#rows.filter(({ refunded }) => refunded > 0).map((row) => ({ ...row, amount: row.refunded })),
        ),
        disputed: this.#volume(having('DISPUTE', 'CHARGEBACK')),
        averageTicket: this.currency === null ? Object.fromEntries(tickets) : (tickets[0]?.[1] ?? 0),
      },
      dailyVolume: this.days.map((date) => {
        const own = paid.filter(({ day }) => day === date);
        return {
          date,
          created: this.#rows.filter(({ day }) => day === date).length,
          paid: own.length,
          volume: this.#volume(own),
        };
      }),
      methodBreakdown: PAYMENT_METHODS.map((method) => ({
        method,
        offered: this.#rows.filter((row) => row.payment_methods.includes(method)),
        own: paid.filter((row) => row.paid_with === method),
      }))
        .filter(({ offered }) => offered.length > 0)
        .map(({ method, offered, own }) => ({
          method,
          created: offered.length,
          paid: own.length,
          conversionRate: percent(own.length, offered.length),
          volume: this.#volume(own),
          count: own.length,
        })),
    };
  }

  /** Seconds from creation to payment, by nearest rank; null of nothing. */
  timeToPay(share: number): number | null {
    const waits = this.#rows
      .flatMap(({ paid_at, created_at }) =>
        paid_at === null ? [] : [Math.max(0, Math.floor((paid_at.getTime() - created_at.getTime()) / 1000))],
      )
      .sort((a, b) => a - b);
    return waits[Math.ceil(share * waits.length) - 1] ?? null;
  }

  #amounts(rows: readonly Row[]): Amounts {
    const currencies = [...new Set(rows.map(({ currency }) => currency))].sort();
    return Object.fromEntries(
      currencies.map((currency) => [
        currency,
        sum(rows.filter((row) => row.currency === currency).map(({ amount }) => amount)),
      ]),
    );
  }

  #volume(rows: readonly Row[]): number | Amounts {
    return this.currency === null ? this.#amounts(rows) : sum(rows.map(({ amount }) => amount));
  }
}

/** docs/contract.md#expiry: what waits for its payer, or for a card's bank, but not for an operator. */
function isOverdue(row: Row, now: Date): boolean {
  const waits = row.status === 'WAITING_PAYMENT' || (row.status === 'PROCESSING' && row.expected_payer_tax_id === null);
  return waits && row.expires_at !== null && row.expires_at <= now;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function percent(part: number, of: number): number {
  return of === 0 ? 0 : Math.round((part / of) * 100);
}
