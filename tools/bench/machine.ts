import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';

const MB = 1024 * 1024;

export function describeMachine(postgres: string, queue: string): string[] {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  return [
    `${String(cpus().length)} × ${model}, ${(totalmem() / MB / 1024).toFixed(1)} GB, ${type()} ${release()}`,
    `Node.js ${process.versions.node}, PostgreSQL ${postgres} (embedded default, fsync on), queue: ${queue}`,
  ];
}

export function loadAverage(): string {
  return `load average before the run: ${loadavg()
    .map((load) => load.toFixed(2))
    .join(', ')}`;
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

/** Processor time that another process has used so far, in seconds; null if the system does not report it. */
export function processorSeconds(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    // The second field is the name in parentheses and may contain spaces; user and system time are the 14th and 15th.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return null;
  }
}
