import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Cleanup } from '../bench/cleanup.js';
import { percentile } from '../bench/stats.js';
import { Random } from './random.js';
import { type RoundResult, WebhookStorm } from './webhook-storm.js';

const GOOD_ENDPOINTS = 16;
const DEAD_ENDPOINTS = 4;
const EVENTS = 10_000;

const USAGE = `npm run chaos [-- --events ${String(EVENTS)} --seed N]

Announces that many charges to ${String(GOOD_ENDPOINTS + DEAD_ENDPOINTS)} webhook endpoints of which ${String(DEAD_ENDPOINTS)} are dead, first undisturbed, then
while worker processes, Redis and PostgreSQL are killed, and counts what arrived. Some three minutes. Fails when a
webhook was lost, or came twice without a crash.
`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      events: { type: 'string', default: String(EVENTS) },
      seed: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const events = Number(values.events);
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
  if (values.help === true || !Number.isSafeInteger(events) || events < 10 || !Number.isSafeInteger(seed)) {
    process.stdout.write(USAGE);
    process.exitCode = values.help === true ? 0 : 2;
    return;
  }
  const directory = mkdtempSync(join(tmpdir(), 'recebe-chaos-'));
  const cleanup = new Cleanup();
  const leave = async (): Promise<void> => {
    await cleanup.run();
    rmSync(directory, { recursive: true, force: true });
  };
  const interrupted = (): void => {
    process.stderr.write('\nStopping the servers…\n');
    void leave().finally(() => process.exit(130));
  };
  process.once('SIGINT', interrupted);
  process.once('SIGTERM', interrupted);

  const started = performance.now();
  const progress = (line: string): void => {
    process.stderr.write(`${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s  ${line}\n`);
  };
  try {
    progress(`seed ${String(seed)}: starting PostgreSQL, Redis, one API and two worker processes`);
    const plan = { events, goodEndpoints: GOOD_ENDPOINTS, deadEndpoints: DEAD_ENDPOINTS };
    const storm = await WebhookStorm.open(plan, new Random(seed), directory, cleanup);
    progress(`${String(events)} events, undisturbed`);
    const calm = await storm.round(events, false, progress);
    progress(`${String(events)} events, with crashes`);
    const rough = await storm.round(events, true, progress);
    process.stdout.write(report(seed, storm.description, calm, rough));
    if (calm.lost + rough.lost + calm.repeated > 0) process.exitCode = 1;
  } finally {
    await leave();
  }
}

function report(seed: number, description: string, calm: RoundResult, rough: RoundResult): string {
  const count = (value: number): string => String(value);
  const delays = ({ delays }: RoundResult): string =>
    [0.5, 0.99].map((share) => `${percentile(delays, share).toFixed(0)} ms`).join(' / ');
  const crashes = ({ crashes }: RoundResult): string =>
    [...crashes].map(([kind, times]) => `${kind} × ${String(times)}`).join(', ') || 'none';
  const dead = ({ dead }: RoundResult): string =>
    Object.entries(dead)
      .map(([status, number]) => `${String(number)} ${status}`)
      .join(', ');
  const rows: [string, (round: RoundResult) => string][] = [
    ['events', ({ events }) => count(events)],
    ['deliveries to good endpoints', ({ expected }) => count(expected)],
    ['  arrived exactly once', ({ once }) => count(once)],
    ['  arrived more than once', ({ repeated }) => count(repeated)],
    ['  lost', ({ lost }) => count(lost)],
    ['  event to arrival, p50 / p99', delays],
    ['kill -9 of', crashes],
    ['deliveries to dead endpoints so far', dead],
    ['seconds', ({ seconds }) => seconds.toFixed(1)],
  ];
  const table = [['', 'undisturbed', 'with crashes'], ...rows.map(([name, cell]) => [name, cell(calm), cell(rough)])];
  const widths = [0, 1].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const lines = table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const verdict =
    calm.lost + rough.lost > 0
      ? `LOST: ${String(calm.lost + rough.lost)} webhooks never arrived. Repeat with --seed ${String(seed)}.`
      : calm.repeated > 0
        ? `REPEATED: ${String(calm.repeated)} webhooks came twice without a crash.`
        : 'None lost; without crashes each came exactly once.';
  return `\nseed ${String(seed)}\n${description}\n\n${lines.join('\n')}\n\n${verdict}\n`;
}

main().catch((error: unknown) => {
  process.stderr.write(`\nThe run could not be finished.\n${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
