import { readFileSync } from 'node:fs';

/**
 * A process that stays recognisable after its pid was given to another program: `startedAt` is an opaque token of the
 * moment it started, the same for all processes where the system does not tell (anything but Linux).
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
  const startedAt = process.platform === 'linux' ? linuxStart(pid) : signalled(pid);
  return startedAt === null ? null : { pid, startedAt };
}

export function isAlive(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.startedAt === identity.startedAt;
}

export function thisProcess(): ProcessIdentity {
  return identify(process.pid) ?? { pid: process.pid, startedAt: 'unknown' };
}

/** Ticks since boot are equal again after a reboot, hence the boot id. */
function linuxStart(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    // The second field, the program's name in parentheses, may itself hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8)}-${fields[19] ?? ''}`;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    // It is not there, or another user's and hidden from us.
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(code)) return null;
    throw error;
  }
}

function signalled(pid: number): string | null {
  try {
    process.kill(pid, 0);
    return 'unknown';
  } catch {
    return null;
  }
}
