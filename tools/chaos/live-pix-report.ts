import { columns } from '../harness/columns.js';
import { unknownText } from './live-pix-settling.js';
import type { LivePixResult } from './live-pix-storm.js';

/** Shown in full below the table. */
const MAX_VIOLATIONS = 20;

export function livePixReport(seed: number, description: string, result: LivePixResult): string {
  const { plan, settling, violations } = result;
  const planned = plan.payments.flatMap(({ refunds }) => refunds);
  const twice = plan.payments.filter(({ secondEndToEndId }) => secondEndToEndId !== null).length;
  const of = (count: number, all: number): string => `${String(count)} of ${String(all)}`;
  const rows: [string, string][] = [
    ['payments', String(plan.payments.length)],
    ...injected(result),
    ['killed', [...result.kills].map(([role, times]) => `${role} × ${String(times)}`).join(', ') || 'none'],
    ["merchants' requests sent again", String(result.repetitions)],
    ['', ''],
    ['payments credited exactly once', of(result.creditedOnce, plan.payments.length)],
    ['  attempts that came to nothing, here and at the bank', String(result.attemptsForNothing)],
    ['  second payments that went back by themselves', of(result.sentBack, twice)],
    ['refunds made exactly once', of(result.refundsMade, planned.filter(({ failsAtBank }) => !failsAtBank).length)],
    [
      '  failed at the bank, money given back',
      of(result.refundsFailedAtBank, planned.filter(({ failsAtBank }) => failsAtBank).length),
    ],
    ['unknown when the faults ended', unknownText(settling.before)],
    ['unknown after the sweeper', `${unknownText(settling.unknown)} (${settlingText(result)})`],
    ['cents that the bank holds', `${String(result.held.atBank)}, and ${String(result.held.here)} by clearing`],
    ['reconcile', result.reconciled.map(({ day, exitCode }) => `${day}: exit code ${String(exitCode)}`).join(', ')],
    ['seconds under load', result.loadSeconds.toFixed(1)],
  ];
  const verdict =
    violations.length > 0
      ? [
          `WRONG: ${String(violations.length)} things that must not be. Repeat with --only live-pix --seed ${String(seed)}.`,
          ...violations.slice(0, MAX_VIOLATIONS).map((violation) => `  ${violation}`),
        ].join('\n')
      : 'Each payment was credited once, each refund made once; nothing is unknown, the ledger is coherent, clearing is what the bank holds, no difference.';
  return `\nseed ${String(seed)}\n${description}\n\n${columns(rows)}\n\n${verdict}\n`;
}

/** Injected faults by kind, most frequent first, with the operations they hit. */
export function injected({
  faults,
  requests,
  callbacks,
}: Pick<LivePixResult, 'faults' | 'requests' | 'callbacks'>): [string, string][] {
  const kinds = new Map<string, [operation: string, count: number][]>();
  for (const [name, count] of Object.entries(faults)) {
    const [operation = '', ...kind] = name.split(' ');
    const text = `${kind.join(' ')}${operation === 'callback' ? ' of a callback' : ''}`;
    kinds.set(text, [...(kinds.get(text) ?? []), [operation, count]]);
  }
  const total = (hits: readonly [string, number][]): number => hits.reduce((sum, [, count]) => sum + count, 0);
  const sorted = [...kinds].sort((a, b) => total(b[1]) - total(a[1]));
  const ofCallbacks = sorted
    .filter(([kind]) => kind.endsWith('of a callback'))
    .reduce((sum, [, hits]) => sum + total(hits), 0);
  const ofRequests = sorted.reduce((sum, [, hits]) => sum + total(hits), 0) - ofCallbacks;
  const received = total(Object.entries(requests));
  const share = (part: number, all: number): string => `${((100 * part) / Math.max(all, 1)).toFixed(0)} %`;
  return [
    ['requests to the PSP', `${String(received).padEnd(5)} ${listed(Object.entries(requests))}`],
    ['  of them faulty', `${String(ofRequests)} (${share(ofRequests, received)})`],
    ['callbacks, faulty', `${String(callbacks)}, ${String(ofCallbacks)}`],
    ...sorted.map(([kind, hits]): [string, string] => [
      `  ${kind}`,
      `${String(total(hits)).padEnd(5)} ${kind.endsWith('of a callback') ? '' : listed(hits)}`.trimEnd(),
    ]),
  ];
}

function listed(counts: readonly [string, number][]): string {
  return counts.map(([name, count]) => `${name} ${String(count)}`).join(', ');
}

function settlingText({ settling: { passes, seconds } }: LivePixResult): string {
  const over = passes.map((at, index) => `pass ${String(index + 1)} ended after ${at.toFixed(0)} s`);
  const when = seconds === null ? 'not settled' : `settled after ${seconds.toFixed(0)} s`;
  return [when, ...(over.length === 0 ? ['before its first pass had ended'] : over)].join(', ');
}
