// The long trials, and the table that tools/scripts/trials.mjs prints of them.
import { stripVTControlCharacters } from 'node:util';

/** Specs that repeat a trial. `figures` matches the lines that a spec prints about its run. */
export const TRIALS = {
  'money-model': {
    specs: ['test/stress/money-model'],
    what: '15 000 operations against a model of the money',
    figures: /^\d+ operations, .+$/gm,
  },
  refunds: {
    specs: ['test/stress/refunds'],
    what: '500 sequences of refunds, cancellations and disputes by 20 workers',
    figures: /^STRESS_SEED=\d+: (\d+ sequences in \d+ s)/gm,
  },
  crash: {
    specs: ['test/stress/crash'],
    what: '500 charges while the service is killed, without Redis and with it',
    figures: /^((?:in-process queue|Redis), STRESS_SEED=.+)$/gm,
  },
  'refund-crash': {
    specs: ['test/stress/refund-crash'],
    what: 'refunds while the service is killed between two steps',
  },
  'postgres-outage': {
    specs: ['test/stress/postgres-outage'],
    what: 'PostgreSQL ended twice in each of three ways, under load',
    figures: /^SIG\w+ × \d+: \d+ charges$/gm,
  },
  'fail-over': {
    specs: ['test/stress/fail-over'],
    what: 'six fail-overs to a synchronous replica, under load',
    figures: /^fail-over × .+$/gm,
  },
  'redis-loss': {
    specs: ['test/stress/redis-loss'],
    what: '150 charges while Redis is lost',
  },
  'live-pix': {
    specs: ['test/stress/live-pix'],
    what: 'two chaos runs of 40 live payments while the PSP fails',
  },
  payouts: {
    specs: ['test/stress/payouts-storm'],
    what: '10 000 payouts while the bank fails and every process is killed',
    figures: /^payouts \d+: .+$/gm,
  },
  'large-report': {
    specs: ['test/stress/large-report'],
    what: 'a report of 50 000 rows',
    figures: /^\d+ rows in .+$/gm,
  },
  statistics: {
    specs: ['test/stress/statistics'],
    what: '400 random steps against figures that are counted naively',
  },
  'worst-bodies': {
    specs: ['test/stress/worst-bodies'],
    what: 'the slowest body of every write route, and health checks beside it',
  },
  listener: {
    specs: ['test/stress/listener'],
    what: '10 000 events to `recebe listen` through 20 cuts and a kill of the service',
    figures: /^listener: .+$/gm,
  },
  fuzz: {
    specs: ['test/e2e/http/fuzz'],
    what: '80 batches of random requests for each route',
  },
  'login-time': {
    specs: ['test/e2e/auth/login-time'],
    what: '200 pairs of logins, with a known and an unknown address',
  },
  'psp-faults': {
    specs: ['test/e2e/live/live-faults'],
    what: 'every fault of a PSP at every kind of call',
  },
  'key-storm': {
    specs: ['test/e2e/auth/api-keys'],
    what: '250 rounds of requests while a key is revoked',
  },
  accessibility: {
    specs: ['test/e2e/dashboard/dashboard.e2e'],
    what: 'every page at every width, in both languages and colour schemes',
    figures: /^dashboard: .+$/gm,
  },
};

/** @returns what the figures lines of this trial say, without the seed */
export function figuresOf(name, output) {
  const { figures } = TRIALS[name];
  if (figures === undefined) return '';
  const lines = [...stripVTControlCharacters(output).matchAll(figures)].map(([line, part]) => part ?? line);
  return lines.map((line) => line.replace(/ ?STRESS_SEED=\d+:/, '')).join('; ');
}

/** @returns the counts of the last line of `npm test`; all are 0 if it is missing */
export function countsOf(output) {
  const last = [...output.matchAll(/^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/gm)].at(-1) ?? [];
  const [passed, failed, skipped] = last.slice(1).map((count) => Number(count ?? 0));
  return { passed: passed ?? 0, failed: failed ?? 0, skipped: skipped ?? 0 };
}

/** @returns a table in Markdown, as docs/figures.md has it */
export function tableOf(rows, commit) {
  const cells = [
    ['Trial', 'What it repeats', 'Result', 'Figures', 'Time', 'Commit'],
    ...rows.map(({ name, what, result, figures, seconds }) => [
      `\`${name}\``,
      what,
      result,
      figures.replaceAll('|', '\\|'),
      `${seconds} s`,
      commit,
    ]),
  ];
  const widths = cells[0].map((_, column) => Math.max(3, ...cells.map((row) => row[column].length)));
  const line = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  return [
    line(cells[0]),
    `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`,
    ...cells.slice(1).map(line),
  ].join('\n');
}
