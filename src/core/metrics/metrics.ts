import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Figures of /metrics. Labels are routes, names and outcomes: never ids, so that their number stays bounded. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();

  readonly httpSeconds = new Histogram({
    name: 'recebe_http_request_duration_seconds',
    help: 'Time from a request to its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [this.registry],
  });

  readonly deliveries = new Counter({
    name: 'recebe_webhook_attempts_total',
    help: 'Webhook attempts by what became of them.',
    labelNames: ['outcome'],
    registers: [this.registry],
  });

  readonly fraudHits = new Counter({
    name: 'recebe_fraud_hits_total',
    help: 'What the fraud guard refused (enforced), or would have refused (not enforced), by its code.',
    labelNames: ['code', 'enforced'],
    registers: [this.registry],
  });

  readonly payouts = new Counter({
    name: 'recebe_payouts_total',
    help: 'Payouts by the status that they reached: each one counts under every status on its way.',
    labelNames: ['mode', 'method', 'status'],
    registers: [this.registry],
  });

  readonly payoutCents = new Counter({
    name: 'recebe_payouts_cents_total',
    help: 'Amounts of the payouts that recebe_payouts_total counts, in cents.',
    labelNames: ['mode', 'method', 'status'],
    registers: [this.registry],
  });

  readonly callbacks = new Counter({
    name: 'recebe_acquirer_callbacks_total',
    help: 'What acquirers posted, by what became of it: stored, repeated, empty, wrong_secret, not_allowed, limited, too_large; later read, partly_read or unreadable.',
    labelNames: ['outcome'],
    registers: [this.registry],
  });

  readonly notifications = new Counter({
    name: 'recebe_acquirer_notifications_total',
    help: 'What acquirers told of, at each time they were asked about it: applied, early, unknown (they do not know it), open (a charge that is not paid), unreadable (they have it, and their answer cannot be read), failed, ignored (given up).',
    labelNames: ['kind', 'outcome'],
    registers: [this.registry],
  });

  readonly statements = new Counter({
    name: 'recebe_acquirer_statements_total',
    help: "Windows of acquirers' own lists that were read, or could not be.",
    labelNames: ['list', 'outcome'],
    registers: [this.registry],
  });

  readonly statementOddities = new Counter({
    name: 'recebe_acquirer_statement_oddities_total',
    help: "What an acquirer's own list says against the books: an operator has to look.",
    labelNames: ['what'],
    registers: [this.registry],
  });

  readonly rowsDropped = new Counter({
    name: 'recebe_rows_dropped_total',
    help: 'Rows of request logs and the like that were lost: the database was away for too long, or refused them.',
    labelNames: ['table'],
    registers: [this.registry],
  });

  readonly acquirerSeconds = new Histogram({
    name: 'recebe_acquirer_request_duration_seconds',
    help: 'Time of a call to a PSP, repetitions included, by what was asked and what came of it.',
    labelNames: ['operation', 'outcome'],
    buckets: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25],
    registers: [this.registry],
  });

  readonly acquirerOddAnswers = new Counter({
    name: 'recebe_acquirer_odd_answers_total',
    help: 'Answers of a PSP that were not believed: not what was asked for, of another key, malformed.',
    labelNames: ['operation', 'what'],
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  /** Adds a figure that is read at each scrape. */
  gauge(name: string, help: string, read: () => Promise<number> | number): void {
    const gauge = new Gauge({
      name,
      help,
      registers: [this.registry],
      collect: async () => {
        // If the database is down, the other figures must still be shown.
        gauge.set(await Promise.resolve(read()).catch(() => Number.NaN));
      },
    });
  }

  /** Adds a gauge for each value of a label, read at each scrape; none while they cannot be read. */
  gaugeBy(name: string, help: string, label: string, read: () => Promise<ReadonlyMap<string, number>>): void {
    const gauge = new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [this.registry],
      collect: async () => {
        const values = await read().catch(() => new Map<string, number>());
        gauge.reset();
        for (const [value, figure] of values) gauge.set({ [label]: value }, figure);
      },
    });
  }
}
