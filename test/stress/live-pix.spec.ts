import { afterAll, describe, expect, it, jest } from '@jest/globals';
import { Random } from '../../tools/harness/random.js';
import { BuiltProcess } from '../support/process.js';
import { scaled } from '../support/scale.js';

const LIMIT_MS = 180_000;

jest.setTimeout(LIMIT_MS + 20_000);

/** Half a minute of processor time: with FULL=1 only. */
scaled(describe, describe.skip)('npm run chaos -- --only live-pix --quick', () => {
  let chaos: BuiltProcess | undefined;

  // In order, so that it stops the servers it has started.
  afterAll(() => chaos?.kill('SIGTERM'));

  it('credits each payment once and makes each refund once, while the PSP fails and the service dies', async () => {
    const { seed } = Random.seeded();
    const args = ['--only', 'live-pix', '--quick', '--seed', String(seed)];
    chaos = new BuiltProcess('dist/tools/chaos/main.js', args, {});
    const { code, stdout, stderr } = await chaos.finished(LIMIT_MS);
    const told = `seed ${String(seed)}\n${stdout}${stderr}`;
    expect({ code, told }).toEqual({ code: 0, told });
    expect(stdout).toMatch(/^payments credited exactly once +40 of 40$/m);
    expect(stdout).toMatch(/^killed +worker × 1/m);
    expect(stdout).toMatch(/^unknown after the sweeper +nothing /m);
    expect(stdout).toMatch(/^reconcile +\d{4}-\d{2}-\d{2}: exit code 0/m);
  });
});
