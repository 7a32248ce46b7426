import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { codeOf } from './embedded.errors.js';

/**
 * A process that stays recognisable after its pid was given to another program: `startedAt` is an opaque token of the
 * moment it started (letters, digits and dashes, so that it can be part of a file name).
 */
export interface ProcessIdentity {
  pid: number;
  startedAt: string;
}

/**
 * The living process with this pid; null when there is none, or only a zombie nobody has reaped.
 * @throws when it cannot be looked at, as with no descriptor left: who is not seen then has not ended
 */
export function identify(pid: number): ProcessIdentity | null {
  const startedAt = process.platform === 'linux' ? linuxStart(pid) : psStart(pid);
  return startedAt === null ? null : { pid, startedAt: startedAt.replace(/[^A-Za-z0-9]+/g, '-') };
}

export function isAlive(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.startedAt === identity.startedAt;
}

/** The same for who was seen alive a moment ago and asks often: where a look would start a program, by signal only. */
export function isStillAlive(identity: ProcessIdentity): boolean {
  if (process.platform === 'linux') return isAlive(identity);
  try {
    process.kill(identity.pid, 0);
    return true;
  } catch (error) {
    // Somebody else's, as a server that root has started under another user.
    return codeOf(error) === 'EPERM';
  }
}

export function thisProcess(): ProcessIdentity {
  return identify(process.pid) ?? { pid: process.pid, startedAt: 'unknown' };
}

/** Program and arguments of a living process, separated by spaces; null when it is gone or a zombie. @throws as above */
export function commandOf(pid: number): string | null {
  if (identify(pid) === null) return null;
  if (process.platform !== 'linux') return ps('command=', pid);
  return (
    readProc(`${String(pid)}/cmdline`)
      ?.replaceAll('\0', ' ')
      .trim() ?? null
  );
}

/** Ticks since boot are equal again after a reboot, hence the boot id. */
function linuxStart(pid: number): string | null {
  const stat = readProc(`${String(pid)}/stat`);
  if (stat === null) return null;
  // The second field, the program's name in parentheses, may itself hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return null;
  boot ??= readProc('sys/kernel/random/boot_id')?.trim().slice(0, 8) ?? 'boot';
  return `${boot}-${fields[19] ?? ''}`;
}

let boot: string | null = null;

/** Null when it is not there, or another user's and hidden from us. */
function readProc(path: string): string | null {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(codeOf(error))) return null;
    throw error;
  }
}

function psStart(pid: number): string | null {
  const line = ps('stat=,lstart=', pid);
  if (line === null || line.startsWith('Z')) return null;
  return line.slice(line.indexOf(' ') + 1).trim();
}

function ps(format: string, pid: number): string | null {
  const { status, stdout, error } = spawnSync('ps', ['-ww', '-o', format, '-p', String(pid)], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  if (error) throw error;
  return status === 0 ? stdout.trim() || null : null;
}
