import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivate } from './private-files.js';
import { identify } from './process-identity.js';

/** The notice that a running service leaves in its `$DATA_DIR` for other programs, in a file of its own. */
interface Notice {
  readonly base_url: string;
  readonly announced_at: string;
  readonly process: { readonly pid: number; readonly startedAt: string | null };
}

const fileOf = (pid: number): string => `service.${String(pid)}.json`;

function read(path: string): Notice | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Notice;
  } catch {
    return null; // another process has just removed the file
  }
}

/** Checks the process: a killed service leaves its notice behind. */
function isAlive({ process: { pid, startedAt } }: Notice): boolean {
  return startedAt !== null && identify(pid) === startedAt;
}

function notices(dataDir: string): { path: string; notice: Notice }[] {
  if (!existsSync(dataDir)) return [];
  return readdirSync(dataDir)
    .filter((file) => /^service\.\d+\.json$/.test(file))
    .flatMap((file) => {
      const path = join(dataDir, file);
      const notice = read(path);
      return notice === null ? [] : [{ path, notice }];
    });
}

/** Writes the address where this process serves the API. */
export function announceService(dataDir: string, baseUrl: string): void {
  // If all settings come from the environment, there may be no directory and nothing can find the service.
  if (!existsSync(dataDir)) return;
  for (const { path, notice } of notices(dataDir)) if (!isAlive(notice)) rmSync(path, { force: true });
  const { pid } = process;
  const identity = { pid, startedAt: identify(pid) };
  const notice: Notice = { base_url: baseUrl, announced_at: new Date().toISOString(), process: identity };
  writePrivate(join(dataDir, fileOf(process.pid)), `${JSON.stringify(notice)}\n`);
}

export function withdrawService(dataDir: string): void {
  rmSync(join(dataDir, fileOf(process.pid)), { force: true });
}

/**
 * Returns the URL of the service that started last on this directory.
 * @returns null when none runs: the notice of a killed service does not count
 */
export function runningServiceUrl(dataDir: string): string | null {
  const [last] = notices(dataDir)
    .map(({ notice }) => notice)
    .filter(isAlive)
    .sort((one, other) => other.announced_at.localeCompare(one.announced_at));
  return last?.base_url ?? null;
}
