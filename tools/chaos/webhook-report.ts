import { percentile } from '../bench/stats.js';
import { columns } from '../harness/columns.js';
import type { RoundResult } from './webhook-storm.js';

/** @param died exits of service processes that the test did not kill */
export function webhookReport(
  seed: number,
  description: string,
  calm: RoundResult,
  rough: RoundResult,
  died: readonly string[],
): string {
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
    ['killed', crashes],
    ['deliveries to dead endpoints so far', dead],
    ['seconds', ({ seconds }) => seconds.toFixed(1)],
  ];
  const table = [['', 'undisturbed', 'with crashes'], ...rows.map(([name, cell]) => [name, cell(calm), cell(rough)])];
  const verdict =
    died.length > 0
      ? `DEAD: ${String(died.length)} service processes ended by themselves (${died.join(', ')}). Repeat with --seed ${String(seed)}.`
      : calm.lost + rough.lost > 0
        ? `LOST: ${String(calm.lost + rough.lost)} webhooks never arrived. Repeat with --seed ${String(seed)}.`
        : calm.repeated > 0
          ? `REPEATED: ${String(calm.repeated)} webhooks came twice without a crash.`
          : 'None lost; without crashes each came exactly once. No service process ended by itself.';
  return `\nseed ${String(seed)}\n${description}\n\n${columns(table)}\n\n${verdict}\n`;
}
