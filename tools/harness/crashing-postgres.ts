import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Postgres, startPostgres } from '../../src/local-servers/index.js';
import type { Cleanup } from './cleanup.js';

/**
 * Signals that end a postmaster. SIGKILL: its children follow, and the next start recovers from the log. SIGINT: every
 * client is disconnected. SIGTERM: new clients are refused, and connected ones may stay.
 */
export const POSTMASTER_ENDS = ['SIGINT', 'SIGKILL', 'SIGTERM'] as const;
export type PostmasterEnd = (typeof POSTMASTER_ENDS)[number];

/** A restart waits this long for clients to leave, and then ends the server as with `pg_ctl -m fast`. */
const PATIENCE_MS = 2_000;

/** A separate PostgreSQL that can end and come back under the same address. Clients know only its URL. */
export class CrashingPostgres {
  private constructor(
    private readonly dataDir: string,
    private server: Postgres,
  ) {}

  static async start(directory: string, cleanup: Cleanup): Promise<CrashingPostgres> {
    const dataDir = mkdtempSync(join(directory, 'postgres-'));
    const postgres = new CrashingPostgres(dataDir, await startPostgres({ dataDir }));
    cleanup.add(() => postgres.server.stop());
    return postgres;
  }

  get url(): string {
    return this.server.url;
  }

  /** Resolves when the server answers again. */
  async crash(signal: PostmasterEnd): Promise<void> {
    const pid = postmasterPid(this.dataDir);
    process.kill(pid, signal);
    const patientUntil = performance.now() + PATIENCE_MS;
    for (let isTold = signal !== 'SIGTERM'; isAlive(pid); await delay(10)) {
      if (isTold || performance.now() < patientUntil) continue;
      process.kill(pid, 'SIGINT');
      isTold = true;
    }
    await this.server.stop();
    this.server = await startPostgres({ dataDir: this.dataDir, port: this.server.port });
  }
}

/** @param dataDir data directory of an embedded PostgreSQL */
export function postmasterPid(dataDir: string): number {
  return Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
