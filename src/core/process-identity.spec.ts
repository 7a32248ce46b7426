import { describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { waitFor } from '../../test/support/wait.js';
import { identify } from './process-identity.js';

describe('process identity', () => {
  it('recognizes a living process by its start, not by its pid alone', async () => {
    const first = spawn('sleep', ['600']);
    expect(identify(process.pid)).toBe(identify(process.pid));
    await waitFor('a start', () => identify(first.pid ?? 0) !== null);
    expect(identify(first.pid ?? 0)).not.toBe(identify(process.pid));
    first.kill();
    await waitFor('an end', () => identify(first.pid ?? 0) === null);
  });

  it('counts neither an ended process nor a zombie as alive', async () => {
    // The inner process ends when the outer one has become `sleep`, which never asks how.
    const outer = spawn('sh', ['-c', 'sleep 1 & echo $!; exec sleep 600'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [line] = (await once(outer.stdout, 'data')) as [Buffer];
    const zombie = Number(line.toString());
    expect(identify(outer.pid ?? 0)).not.toBeNull();
    await waitFor('an end', () => identify(zombie) === null);
    // Still in the process table, which is what a check by signal alone would go by.
    expect(() => process.kill(zombie, 0)).not.toThrow();
    outer.kill('SIGKILL');
    await once(outer, 'exit');
    expect(identify(outer.pid ?? 0)).toBeNull();
  });
});
