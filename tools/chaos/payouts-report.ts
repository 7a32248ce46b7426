import { columns } from '../harness/columns.js';
import { injected } from './live-pix-report.js';
import type { PayoutsResult } from './payouts-storm.js';

/** Shown in full below the table. */
const MAX_VIOLATIONS = 20;

export function payoutsReport(seed: number, description: string, result: PayoutsResult): string {
  const { plan, unknown, cameBack, violations, statuses, held } = result;
  const seconds = (value: number | null): string => (value === null ? 'never' : `after ${value.toFixed(0)} s`);
  const rows: [string, string][] = [
    ['payouts', String(plan.payouts.length)],
    ...injected(result),
    ['killed', [...result.kills].map(([role, times]) => `${role} × ${String(times)}`).join(', ') || 'none'],
    ["merchants' requests sent again", String(result.repetitions)],
    ['', ''],
    ['sent exactly once', `${String(result.sentOnce)} sends at the bank`],
    ['ended as', listOf(statuses)],
    ['unknown when the faults ended', `${String(unknown.before)}; none ${seconds(unknown.seconds)}`],
    ['in review at the bank', String(unknown.inReview)],
    [
      'came back late',
      `${String(cameBack.returned)}, revoked ${String(cameBack.revoked)}; booked ${seconds(cameBack.seconds)}`,
    ],
    ['cents that the bank holds', `${String(held.atBank)}, and ${String(held.here)} by clearing`],
    ['reconcile', `${String(result.reconciled)} merchants`],
    ['seconds under load', result.loadSeconds.toFixed(1)],
  ];
  const verdict =
    violations.length > 0
      ? [
          `WRONG: ${String(violations.length)} things that must not be. Repeat with --only payouts --seed ${String(seed)} --payouts ${String(plan.payouts.length)}.`,
          ...violations.slice(0, MAX_VIOLATIONS).map((violation) => `  ${violation}`),
        ].join('\n')
      : 'No payout was sent twice or lost; nothing is unknown, the ledger is coherent, clearing is what the bank holds.';
  return `\nseed ${String(seed)}\n${description}\n\n${columns(rows)}\n\n${verdict}\n`;
}

function listOf(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${String(count)}`)
    .join(', ');
}
