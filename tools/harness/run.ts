import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cleanup } from './cleanup.js';

/** Reports the current step on stderr. */
export type Progress = (line: string) => void;

/** Resources of a program that starts servers. */
export interface Run {
  /** A directory for this run, removed afterwards. */
  readonly directory: string;
  readonly cleanup: Cleanup;
  readonly progress: Progress;
}

/**
 * Runs the program and cleans up at its end, after a failure, and when a person interrupts it.
 * @param name name of the program, as in `recebe-<name>-…`
 */
export async function inOwnDirectory(name: string, work: (run: Run) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), `recebe-${name}-`));
  const cleanup = new Cleanup();
  const leave = async (): Promise<void> => {
    await cleanup.run();
    rmSync(directory, { recursive: true, force: true });
  };
  const interrupted = (): void => {
    process.stderr.write('\nStopping the servers…\n');
    void leave().finally(() => process.exit(130));
  };
  process.once('SIGINT', interrupted);
  process.once('SIGTERM', interrupted);

  const started = performance.now();
  const progress = (line: string): void => {
    process.stderr.write(`${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s  ${line}\n`);
  };
  try {
    await work({ directory, cleanup, progress });
  } finally {
    await leave();
  }
}
