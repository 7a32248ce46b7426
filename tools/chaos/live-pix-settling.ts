import { setTimeout as delay } from 'node:timers/promises';
import type { Progress } from '../harness/run.js';
import type { LivePixStage } from './live-pix-stage.js';

/** The sweeper reads the PSP's list once a minute. */
const PASSES = 2;
const LIMIT_MS = 180_000;

/** Numbers of open items by kind; empty when there are none. */
export type Unknown = Readonly<Record<string, number>>;

/**
 * How open items were resolved after the PSP recovered. In a pass the sweeper reads the PSP's whole list (`GET /pix`).
 * The first pass begins after the faults have ended, the second after the first.
 */
export interface Settling {
  /** Seconds from the end of the faults to the end of each pass. */
  readonly passes: readonly number[];
  /** Seconds until no item was open; null: some were still open after the last pass. */
  readonly seconds: number | null;
  readonly before: Unknown;
  readonly unknown: Unknown;
}

/** @param received end-to-end ids of all Pix that the bank has booked */
export async function settle(stage: LivePixStage, received: readonly string[], progress: Progress): Promise<Settling> {
  const began = Date.now();
  const seconds = (): number => (Date.now() - began) / 1000;
  const passes: number[] = [];
  const before = await unknown(stage, received);
  let passBegan = began;
  for (let left = before; ; left = await unknown(stage, received)) {
    if (Object.keys(left).length === 0) return { passes, seconds: seconds(), before, unknown: left };
    if (passes.length === PASSES || Date.now() - began > LIMIT_MS) {
      return { passes, seconds: null, before, unknown: left };
    }
    if ((await sweptUntil(stage)) >= passBegan) {
      passes.push(seconds());
      passBegan = Date.now();
      progress(`pass ${String(passes.length)} of the sweeper is over; unknown: ${unknownText(left)}`);
      // Jobs query the Pix that the sweeper found, which takes a moment.
      await delay(2_000);
    }
    await delay(250);
  }
}

export function unknownText(left: Unknown): string {
  return (
    Object.entries(left)
      .map(([what, count]) => `${String(count)} ${what}`)
      .join(', ') || 'nothing'
  );
}

async function unknown(stage: LivePixStage, received: readonly string[]): Promise<Unknown> {
  const rows = await stage.rows<{ what: string; count: number }>(
    `SELECT what, count FROM (
       SELECT 'charges without an answer' AS what, count(*)::int AS count FROM transactions WHERE status = 'PENDING'
       UNION ALL SELECT 'Pix at the bank', count(*)::int FROM unnest($1::text[]) AS pix
         WHERE NOT EXISTS (SELECT 1 FROM settlements WHERE end_to_end_id = pix)
       UNION ALL SELECT 'refunds', count(*)::int FROM refunds WHERE status IN ('PENDING', 'IN_PROGRESS')
       UNION ALL SELECT 'returns', count(*)::int FROM pix_returns WHERE status IN ('PENDING', 'IN_PROGRESS')
       UNION ALL SELECT 'notifications', count(*)::int FROM acquirer_notifications WHERE status = 'pending'
       UNION ALL SELECT 'callbacks', count(*)::int FROM acquirer_callbacks WHERE status = 'pending') u
     WHERE count > 0`,
    [received],
  );
  return Object.fromEntries(rows.map(({ what, count }) => [what, count]));
}

/** End of the last sweep in milliseconds; 0 before the first pass. */
async function sweptUntil(stage: LivePixStage): Promise<number> {
  const [row] = await stage.rows<{ swept_until: Date | null }>(
    `SELECT swept_until FROM acquirer_statements WHERE list = 'payments'`,
  );
  return row?.swept_until?.getTime() ?? 0;
}
