import { readdirSync, readFileSync } from 'node:fs';

/** A round in which others used more than this share of the machine is measured again. */
export const UNDISTURBED = 0.08;

/** Reports the disturbance only if it matters: a reader must not attribute other work to the service. */
export function disturbedText(share: number): string {
  return share < 0.1 ? '' : ` (others: ${(share * 100).toFixed(0)} %)`;
}

interface Sample {
  /** Clock ticks of all processors since the machine started. */
  readonly total: number;
  readonly busy: number;
  readonly ours: number;
}

/**
 * Measures how much of the machine others used during a round: a neighbour's build would make the service look slow.
 * Time that a hypervisor took away counts as others' too.
 */
export class Disturbance {
  readonly #before = sample();

  /** @returns share of the machine, 0 to 1, since the constructor ran; null if the system does not report it */
  share(): number | null {
    const after = sample();
    if (this.#before === null || after === null) return null;
    const total = after.total - this.#before.total;
    if (total <= 0) return 0;
    const others = after.busy - this.#before.busy - (after.ours - this.#before.ours);
    return Math.min(1, Math.max(0, others / total));
  }
}

function sample(): Sample | null {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
    // user, nice, system, idle, iowait, irq, softirq, steal; later columns are included in the first two already
    const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number);
    const total = ticks.reduce((sum, value) => sum + value, 0);
    return { total, busy: total - (ticks[3] ?? 0) - (ticks[4] ?? 0), ours: ticksOfFamily(process.pid) };
  } catch {
    return null;
  }
}

/** Processor time of a process and all its descendants, in seconds; null if the system does not report it. */
export function familySeconds(root: number): number | null {
  try {
    return ticksOfFamily(root) / 100;
  } catch {
    return null;
  }
}

/**
 * Ticks of a process and all its descendants, living or reaped: the service and its servers are children of this one.
 */
function ticksOfFamily(root: number): number {
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        return [readProcess(Number(name))];
      } catch {
        return []; // The process ended during the scan; its parent has its time.
      }
    });
  const family = new Set([root]);
  // When process ids have wrapped round, a child's may be below its parent's, so one pass is not enough.
  for (let grown = true; grown;) {
    grown = false;
    for (const { pid, parent } of processes) {
      if (family.has(parent) && !family.has(pid)) grown = Boolean(family.add(pid));
    }
  }
  return processes.filter(({ pid }) => family.has(pid)).reduce((sum, { ticks }) => sum + ticks, 0);
}

function readProcess(pid: number): { pid: number; parent: number; ticks: number } {
  const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
  // The name in parentheses may contain anything, so fields are counted after it: the 1st is the state, the 2nd the
  // parent. User and system time are the 12th and 13th, those of reaped children the 14th and 15th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0);
  return { pid, parent: Number(fields[1]), ticks };
}
