import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';

const MB = 1024 * 1024;

export function describeMachine(postgres: string, queue: string): string[] {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  const load = loadavg().map((value) => value.toFixed(2));
  return [
    `${String(cpus().length)} × ${model}, ${(totalmem() / MB / 1024).toFixed(1)} GB, ${type()} ${release()}`,
    `Node.js ${process.versions.node}, PostgreSQL ${postgres} (embedded default, fsync on), queue: ${queue}`,
    `load average: ${load.join(', ')}`,
    '',
  ];
}

/** Memory of another process in MB; `peakMb` is null if the system does not report it. */
export function residentMemory(pid: number): { nowMb: number; peakMb: number | null } {
  try {
    const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
    const kb = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]);
    return { nowMb: kb('VmRSS') / 1024, peakMb: kb('VmHWM') / 1024 };
  } catch {
    const kb = Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }));
    return { nowMb: kb / 1024, peakMb: null };
  }
}

/** Processor time that processes have used so far, in seconds; null if the system does not report it. */
export function processorSeconds(...pids: readonly number[]): number | null {
  try {
    return pids.map((pid) => readProcess(pid)).reduce((sum, { own }) => sum + own, 0) / 100;
  } catch {
    return null;
  }
}

/** Processor time of a PostgreSQL, living and ended children included; otherwise as above. */
export function postgresSeconds(postmaster: number): number | null {
  const all = existsSync('/proc') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : [];
  const family = all.flatMap((name) => {
    try {
      const process = readProcess(Number(name));
      return process.pid === postmaster || process.parent === postmaster ? [process] : [];
    } catch {
      return []; // The process ended during the scan. The parent counts that time.
    }
  });
  return family.length === 0 ? null : family.reduce((sum, { own, reaped }) => sum + own + reaped, 0) / 100;
}

/** Times are clock ticks, 100 a second. */
function readProcess(pid: number): { pid: number; parent: number; own: number; reaped: number } {
  const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
  // The name in parentheses may contain anything, so fields are counted after it: the 1st is the state, the 2nd the
  // parent. User and system time are the 12th and 13th, those of reaped children the 14th and 15th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system, reapedUser, reapedSystem] = [11, 12, 13, 14].map((index) => Number(fields[index]));
  const sum = (one = 0, other = 0): number => one + other;
  return { pid, parent: Number(fields[1]), own: sum(user, system), reaped: sum(reapedUser, reapedSystem) };
}
