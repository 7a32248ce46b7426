import { setTimeout as delay } from 'node:timers/promises';

/** Who hears of a server that ended by itself. */
export interface KeepLog {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface KeptServer {
  name: string;
  /** Asked twice a second; throws when that cannot be known now. */
  isRunning(): boolean;
  startAgain(): Promise<void>;
}

/** How often it is looked at. */
const LOOK_MS = 500;
/** Before it is started again: lets a shutdown of everything be known. */
const FIRST_PAUSE_MS = 300;
/** The same for one that has ended soon after its last start, and after that many starts that failed. */
const PAUSES_MS = [1_000, 2_000, 5_000, 10_000, 30_000] as const;
/** One that has run this long did not end for the reason of its last start. */
const STEADY_MS = 60_000;

/** Starts a server again whenever it has ended, for ever, until `signal` says that it may end. Never rejects. */
export async function keepRunning(server: KeptServer, log: KeepLog, signal: AbortSignal): Promise<void> {
  let failures = 0;
  let triedAt = -Infinity;
  while (!signal.aborted) {
    if (!hasEnded(server)) {
      await pause(LOOK_MS, signal);
      continue;
    }
    await pause(Date.now() - triedAt > STEADY_MS ? FIRST_PAUSE_MS : pauseAfter(failures), signal);
    if (signal.aborted) return;
    try {
      await server.startAgain();
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      const reason = error instanceof Error ? error.message : String(error);
      const seconds = String(pauseAfter(failures) / 1000);
      log.error(
        { server: server.name, failures, reason },
        `${server.name} cannot be started again; the next attempt follows in ${seconds} s`,
      );
    }
    triedAt = Date.now();
  }
}

/** What cannot be looked at, as when the process has no descriptor left, is taken to run on. */
function hasEnded(server: KeptServer): boolean {
  try {
    return !server.isRunning();
  } catch {
    return false;
  }
}

function pauseAfter(failures: number): number {
  return PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)] ?? 0;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal, ref: false }).catch(() => undefined);
}
