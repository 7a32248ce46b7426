import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, type ProcessIdentity, thisProcess, writePrivate } from './core/embedded/index.js';

/** What a running service leaves in its `$DATA_DIR` for the programs beside it. */
interface Notice {
  readonly base_url: string;
  readonly process: ProcessIdentity;
}

const pathIn = (dataDir: string): string => join(dataDir, 'service.json');

function read(dataDir: string): Notice | null {
  try {
    return JSON.parse(readFileSync(pathIn(dataDir), 'utf8')) as Notice;
  } catch {
    return null;
  }
}

/** Says where this process serves the API. Of several on one directory the last one is found. */
export function announceService(dataDir: string, baseUrl: string): void {
  // Where everything comes from the environment there may be no directory, and then there is nothing to find it by.
  if (!existsSync(dataDir)) return;
  const notice: Notice = { base_url: baseUrl, process: thisProcess() };
  writePrivate(pathIn(dataDir), `${JSON.stringify(notice)}\n`);
}

export function withdrawService(dataDir: string): void {
  if (read(dataDir)?.process.pid === process.pid) rmSync(pathIn(dataDir), { force: true });
}

/** @returns null when none runs: the notice of one that was killed counts for nothing */
export function runningServiceUrl(dataDir: string): string | null {
  const notice = read(dataDir);
  return notice !== null && isAlive(notice.process) ? notice.base_url : null;
}
