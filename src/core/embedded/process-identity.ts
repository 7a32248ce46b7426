import { execFileSync, type ExecFileSyncOptionsWithStringEncoding } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * A process that stays recognisable after its pid was given to another program: `startedAt` is an opaque token of the
 * moment it started (letters, digits and dashes, so that it can be part of a file name).
 */
export interface ProcessIdentity {
  pid: number;
  startedAt: string;
}

/** The living process with this pid; null when there is none, or only a zombie nobody has reaped. */
export function identify(pid: number): ProcessIdentity | null {
  const startedAt = process.platform === 'linux' ? linuxStart(pid) : psStart(pid);
  return startedAt === null ? null : { pid, startedAt: startedAt.replace(/[^A-Za-z0-9]+/g, '-') };
}

export function isAlive(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.startedAt === identity.startedAt;
}

export function thisProcess(): ProcessIdentity {
  return identify(process.pid) ?? { pid: process.pid, startedAt: 'unknown' };
}

/** Program and arguments of a living process, separated by spaces; null when it is gone or a zombie. */
export function commandOf(pid: number): string | null {
  if (identify(pid) === null) return null;
  if (process.platform !== 'linux') return ps('command=', pid);
  try {
    return readFileSync(`/proc/${String(pid)}/cmdline`, 'utf8')
      .replaceAll('\0', ' ')
      .trim();
  } catch {
    return null;
  }
}

/** Ticks since boot are equal again after a reboot, hence the boot id. */
function linuxStart(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    // The second field, the program's name in parentheses, may itself hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    return `${bootId()}-${fields[19] ?? ''}`;
  } catch {
    return null;
  }
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim().slice(0, 8);
  } catch {
    return 'boot';
  }
}

function psStart(pid: number): string | null {
  const line = ps('stat=,lstart=', pid);
  if (line === null || line.startsWith('Z')) return null;
  return line.slice(line.indexOf(' ') + 1).trim();
}

function ps(format: string, pid: number): string | null {
  try {
    const options: ExecFileSyncOptionsWithStringEncoding = {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'ignore'],
    };
    return execFileSync('ps', ['-ww', '-o', format, '-p', String(pid)], options).trim() || null;
  } catch {
    return null;
  }
}
