import { afterAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { liveClaims, withClaim } from './claim-lock.js';
import { thisProcess } from './process-identity.js';

const directory = mkdtempSync(join(tmpdir(), 'recebe-claim-'));
afterAll(() => {
  rmSync(directory, { recursive: true });
});

describe('withClaim', () => {
  it('lets one work at a time and each of them in the end', async () => {
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      inside += 1;
      most = Math.max(most, inside);
      await turn();
      inside -= 1;
    };
    const results = await Promise.all(Array.from({ length: 12 }, () => withClaim(directory, 'server', work)));
    expect(results).toHaveLength(12);
    expect(most).toBe(1);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('gives the claim back when the work fails, and keeps names apart', async () => {
    await expect(withClaim(directory, 'server', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    const nested = withClaim(directory, 'server', () => withClaim(directory, 'other', async () => 'both'));
    expect(await nested).toBe('both');
  });

  it('ignores and removes the claim of a dead process, also when its pid lives on as another', async () => {
    const { pid, startedAt } = thisProcess();
    writeFileSync(join(directory, '.server.claim.999999999.boot-1.aa'), '');
    writeFileSync(join(directory, `.server.claim.${String(pid)}.earlier.bb`), '');
    expect(await withClaim(directory, 'server', async () => readdirSync(directory))).toHaveLength(1);
    writeFileSync(join(directory, `.server.claim.${String(pid)}.${startedAt}.cc`), '');
    expect(liveClaims(directory, 'server')).toHaveLength(1);
    await expect(withClaim(directory, 'server', async () => 'never', 0)).rejects.toThrow(
      `Process ${String(pid)} has been starting or stopping server in ${directory}`,
    );
  });
});
