import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The pid of the PostgreSQL of a data directory, perhaps one that has ended; null if there is none. */
export function postgresPid(dataDir: string): number | null {
  return firstNumber(join(dataDir, 'postgres', 'postmaster.pid'));
}

export function redisPid(dataDir: string): number | null {
  return firstNumber(join(dataDir, 'redis', 'redis.pid'));
}

/** The owner's URL of the PostgreSQL that runs on a data directory, also of one that a killed service has left. */
export function ownerUrl(dataDir: string): string {
  const password = readFileSync(join(dataDir, 'postgres.password'), 'utf8').trim();
  const port = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[3] ?? '';
  return `postgres://recebe:${password}@127.0.0.1:${port}/recebe`;
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // In a container without an init, no process reaps orphans: a zombie counts as ended.
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${String(pid)}/stat`, 'utf8'));
  } catch {
    return process.platform !== 'linux';
  }
}

/** The command of a process, with its arguments; empty if there is no such process. */
export function commandOf(pid: number): string {
  const options = ['-ww', '-o', 'command=', '-p', String(pid)];
  if (process.platform !== 'linux') return spawnSync('ps', options, { encoding: 'utf8' }).stdout;
  // Not every Linux has `ps`.
  try {
    return readFileSync(`/proc/${String(pid)}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

function firstNumber(path: string): number | null {
  try {
    return Number(readFileSync(path, 'utf8').split('\n', 1)[0]);
  } catch {
    return null;
  }
}
