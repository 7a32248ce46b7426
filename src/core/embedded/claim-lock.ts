import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedServerError } from './embedded.errors.js';
import { isAlive, type ProcessIdentity, thisProcess } from './process-identity.js';

/**
 * Runs `work` while no other process (and no other caller in this one) holds the same name in `directory`.
 *
 * Each contender puts down a claim file of its own and then looks for others: of two, at least the one that looks
 * second sees the other and steps back, so both can never go on. One shared lock file would need "its owner is dead,
 * remove it", and between the look and the removal a third process may have made it anew. Here only the file of a dead
 * process is ever removed, and its name, made of pid and start time, never comes back.
 *
 * @throws EmbeddedServerError when the name is still taken after `timeoutMs` milliseconds.
 */
export async function withClaim<T>(
  directory: string,
  name: string,
  work: () => Promise<T>,
  timeoutMs = 180_000,
): Promise<T> {
  const { pid, startedAt } = thisProcess();
  const file = `${prefixOf(name)}${String(pid)}.${startedAt}.${randomBytes(4).toString('hex')}`;
  const path = join(directory, file);
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    writeFileSync(path, '', { mode: 0o600 });
    try {
      const rival = liveClaims(directory, name).find((claim) => claim.file !== file);
      if (!rival) return await work();
      if (Date.now() > deadline) {
        throw new EmbeddedServerError(
          `Process ${String(rival.process.pid)} has been starting or stopping ${name} in ${directory} for ` +
            `${String(Math.round(timeoutMs / 1000))} s. End it and start again.`,
        );
      }
    } finally {
      rmSync(path, { force: true });
    }
    await delay(20 + Math.random() * 80);
  }
}

/** Claims of living processes; those of dead ones are removed on the way. */
export function liveClaims(directory: string, name: string): { file: string; process: ProcessIdentity }[] {
  const prefix = prefixOf(name);
  return readdirSync(directory)
    .filter((file) => file.startsWith(prefix))
    .flatMap((file) => {
      const [pid, startedAt] = file.slice(prefix.length).split('.');
      const process = { pid: Number(pid), startedAt: startedAt ?? '' };
      if (isAlive(process)) return [{ file, process }];
      rmSync(join(directory, file), { force: true });
      return [];
    });
}

function prefixOf(name: string): string {
  return `.${name}.claim.`;
}
