import { parseArgs } from 'node:util';
import { POSTMASTER_ENDS } from '../harness/crashing-postgres.js';
import { Random } from '../harness/random.js';
import { inOwnDirectory, type Run } from '../harness/run.js';
import { planOf } from './live-pix-plan.js';
import { livePixReport } from './live-pix-report.js';
import { LivePixStorm } from './live-pix-storm.js';
import { payoutsPlanOf } from './payouts-plan.js';
import { payoutsReport } from './payouts-report.js';
import { PayoutsStorm } from './payouts-storm.js';
import { webhookReport } from './webhook-report.js';
import { WebhookStorm } from './webhook-storm.js';

const GOOD_ENDPOINTS = 16;
const DEAD_ENDPOINTS = 4;
const EVENTS = 10_000;
const PAYMENTS = 500;
const QUICK_PAYMENTS = 40;
const PAYOUTS = 10_000;
const QUICK_PAYOUTS = 60;

const STORMS = ['webhooks', 'live-pix', 'payouts'] as const;
type Storm = (typeof STORMS)[number];

const USAGE = `npm run chaos [-- --only ${STORMS.join('|')} --events ${String(EVENTS)} --payments ${String(PAYMENTS)} --payouts ${String(PAYOUTS)} --quick --seed N --runs N]

webhooks   Announces that many charges to ${String(GOOD_ENDPOINTS + DEAD_ENDPOINTS)} webhook endpoints of which ${String(DEAD_ENDPOINTS)} are dead, first undisturbed,
           then while worker processes, Redis and PostgreSQL (by ${POSTMASTER_ENDS.join(', ')}) are killed, and counts what
           arrived. Some three minutes. Fails when a webhook was lost, or came twice without a crash, or when a service
           process ended by itself.
live-pix   Makes that many live payments at a PSP (psp-simulator, over mTLS) of which a fifth of the answers and callbacks
           goes wrong in every way, and refunds some, while the service is killed; then looks at both sides' books.
           PostgreSQL is killed too. Some three minutes; --quick: ${String(QUICK_PAYMENTS)} payments, one kill, and nothing that has to be waited for. Fails when a
           payment was not credited exactly once, a refund was lost or made twice, something stayed unknown, or the
           ledger or the reconciliation is not right, or the bank holds another sum than clearing says.
payouts    Makes that many live payouts over Efí's endpoints of the psp-simulator, of which a fifth of the answers and
           callbacks goes wrong, while API, worker, PostgreSQL and Redis are killed; then reviews end, and payouts come
           back or are revoked. --quick: ${String(QUICK_PAYOUTS)} payouts, two kills. Fails when a payout was sent twice or lost, or is
           unknown a minute after the faults ended, or the ledger is not right, or the bank holds another sum.

Several runs go on with the seeds after the first one.
`;

interface Options {
  readonly storms: readonly Storm[];
  readonly events: number;
  readonly payments: number;
  readonly payouts: number;
  readonly quick: boolean;
  readonly seeds: readonly number[];
}

/** Null: the usage text must be shown. */
function readOptions(): Options | null {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      events: { type: 'string', default: String(EVENTS) },
      payments: { type: 'string' },
      payouts: { type: 'string' },
      quick: { type: 'boolean', default: false },
      seed: { type: 'string' },
      runs: { type: 'string', default: '1' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const storms = STORMS.filter((storm) => values.only === undefined || values.only === storm);
  const events = Number(values.events);
  const payments = Number(values.payments ?? (values.quick ? QUICK_PAYMENTS : PAYMENTS));
  const payouts = Number(values.payouts ?? (values.quick ? QUICK_PAYOUTS : PAYOUTS));
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
  const runs = Number(values.runs);
  const areNumbers = [events, payments, payouts].every((value) => Number.isSafeInteger(value) && value >= 10);
  if (values.help === true) return null;
  if (storms.length === 0 || !areNumbers || !Number.isSafeInteger(seed) || !Number.isSafeInteger(runs) || runs < 1) {
    process.exitCode = 2;
    return null;
  }
  return {
    storms,
    events,
    payments,
    payouts,
    quick: values.quick,
    seeds: Array.from({ length: runs }, (_, run) => seed + run),
  };
}

async function webhooks({ events }: Options, seed: number, { directory, cleanup, progress }: Run): Promise<void> {
  progress(`seed ${String(seed)}: starting PostgreSQL, Redis, one API and two worker processes`);
  const plan = { events, goodEndpoints: GOOD_ENDPOINTS, deadEndpoints: DEAD_ENDPOINTS };
  const storm = await WebhookStorm.open(plan, new Random(seed), directory, cleanup);
  progress(`${String(events)} events, undisturbed`);
  const calm = await storm.round(events, false, progress);
  progress(`${String(events)} events, with crashes`);
  const rough = await storm.round(events, true, progress);
  process.stdout.write(webhookReport(seed, storm.description, calm, rough, storm.died));
  if (calm.lost + rough.lost + calm.repeated + storm.died.length > 0) process.exitCode = 1;
}

async function livePix({ payments, quick }: Options, seed: number, run: Run): Promise<void> {
  run.progress(`seed ${String(seed)}: starting PostgreSQL, Redis, the PSP, one API and one worker process`);
  const random = new Random(seed);
  const storm = await LivePixStorm.open(planOf(payments, quick, random), random, run);
  const result = await storm.rage(run.progress);
  process.stdout.write(livePixReport(seed, storm.description, result));
  if (result.violations.length > 0) process.exitCode = 1;
}

async function payoutsStorm({ payouts, quick }: Options, seed: number, run: Run): Promise<void> {
  run.progress(`seed ${String(seed)}: starting PostgreSQL, Redis, the PSP, one API and one worker process`);
  const random = new Random(seed);
  const storm = await PayoutsStorm.open(payoutsPlanOf(payouts, quick, random), random, run);
  const result = await storm.rage(run.progress);
  process.stdout.write(payoutsReport(seed, storm.description, result));
  if (result.violations.length > 0) process.exitCode = 1;
}

const RAGE: Readonly<Record<Storm, typeof webhooks>> = { webhooks, 'live-pix': livePix, payouts: payoutsStorm };

async function main(): Promise<void> {
  const options = readOptions();
  if (!options) {
    process.stdout.write(USAGE);
    return;
  }
  // Runs one storm after the other, each with its own servers.
  for (const seed of options.seeds) {
    for (const storm of options.storms) {
      await inOwnDirectory('chaos', (run) => RAGE[storm](options, seed, run));
    }
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`\nThe run could not be finished.\n${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
