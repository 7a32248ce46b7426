import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Returns an opaque token of the process that has this pid: its start, by which the process stays recognisable after the
 * pid was given to another program. Null if there is none, or only a zombie. On Windows all processes have the same one.
 *
 * @throws if the process cannot be looked at, as with no descriptor left: it may still run
 */
export function identify(pid: number): string | null {
  try {
    if (process.platform === 'linux') return linuxStart(pid);
    process.kill(pid, 0);
    return process.platform === 'win32' ? 'unknown' : startByPs(pid);
  } catch (error) {
    const { code = '', status } = error as NodeJS.ErrnoException & { status?: number };
    // The process is not there, or another user's and hidden from us.
    if (status === 1 || ['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(code)) return null;
    throw error;
  }
}

function startByPs(pid: number): string {
  const env = { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' };
  return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', env, stdio: 'pipe' }).trim();
}

/** Ticks since boot are equal again after a reboot, hence the boot id. */
function linuxStart(pid: number): string | null {
  const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
  // The second field, the program's name in parentheses, may itself hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return null;
  return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8)}-${fields[19] ?? ''}`;
}
