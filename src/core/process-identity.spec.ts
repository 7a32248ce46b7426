import { describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { until } from './embedded/embedded.fixture.js';
import { identify, isAlive, thisProcess } from './process-identity.js';

describe('process identity', () => {
  it('knows a living process by its start, not by its pid alone', () => {
    const self = thisProcess();
    expect(self.startedAt).toMatch(/^[A-Za-z0-9-]+$/);
    expect(isAlive(self)).toBe(true);
    expect(isAlive({ ...self, startedAt: 'another' })).toBe(false);
  });

  it('counts neither an ended process nor a zombie as alive', async () => {
    // The inner process ends when the outer one has become `sleep`, which never asks how.
    const outer = spawn('sh', ['-c', 'sleep 1 & echo $!; exec sleep 600'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [line] = (await once(outer.stdout, 'data')) as [Buffer];
    const zombie = Number(line.toString());
    const living = identify(outer.pid ?? 0);
    expect(living).not.toBeNull();
    await until(() => identify(zombie) === null);
    // Still in the process table, which is what a check by signal alone would go by.
    expect(() => process.kill(zombie, 0)).not.toThrow();
    outer.kill('SIGKILL');
    await once(outer, 'exit');
    expect(living && isAlive(living)).toBe(false);
  });
});
