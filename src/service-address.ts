import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivate } from './core/private-files.js';
import { identify } from './core/process-identity.js';

/** What a running service leaves in its `$DATA_DIR` for the programs beside it, in a file of its own. */
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
    return null; // withdrawn a moment ago
  }
}

/** The notice of one that was killed stays behind. */
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

/** Says where this process serves the API. */
export function announceService(dataDir: string, baseUrl: string): void {
  // Where everything comes from the environment there may be no directory, and then there is nothing to find it by.
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
 * Of several on one directory the one that started last.
 * @returns null when none runs: the notice of one that was killed counts for nothing
 */
export function runningServiceUrl(dataDir: string): string | null {
  const [last] = notices(dataDir)
    .map(({ notice }) => notice)
    .filter(isAlive)
    .sort((one, other) => other.announced_at.localeCompare(one.announced_at));
  return last?.base_url ?? null;
}
