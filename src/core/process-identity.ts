import { readFileSync } from 'node:fs';

/**
 * An opaque token of the process that has this pid, by which it stays recognisable after the pid was given to another
 * program; null when there is none, or only a zombie. Where the system does not tell (anything but
 * Linux) all processes have the same one.
 *
 * @throws when it cannot be looked at, as with no descriptor left: the process may still run
 */
export function identify(pid: number): string | null {
  try {
    if (process.platform === 'linux') return linuxStart(pid);
    process.kill(pid, 0);
    return 'unknown';
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    // It is not there, or another user's and hidden from us.
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(code)) return null;
    throw error;
  }
}

/** Ticks since boot are equal again after a reboot, hence the boot id. */
function linuxStart(pid: number): string | null {
  const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
  // The second field, the program's name in parentheses, may itself hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return null;
  return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8)}-${fields[19] ?? ''}`;
}
