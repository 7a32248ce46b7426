import { afterAll, describe, expect, it, jest } from '@jest/globals';
import { Random } from '../../tools/harness/random.js';
import { BuiltProcess } from '../support/process.js';
import { scaled, trial } from '../support/scale.js';

const RUNS = trial(2, 1);
const LIMIT_MS = (RUNS + 1) * 300_000;

jest.setTimeout(LIMIT_MS + 20_000);

/** A minute and a half of processor time: with FULL=1 only. */
scaled(describe, describe.skip)(`npm run chaos -- --only live-pix --quick --runs ${String(RUNS)}`, () => {
  let chaos: BuiltProcess | undefined;

  // In order, so that it stops the servers it has started.
  afterAll(() => chaos?.kill('SIGTERM'));

  it('the service credits each payment once, refunds once and holds what the bank holds, while the PSP fails and it dies', async () => {
    const { seed } = Random.seeded();
    const args = ['--only', 'live-pix', '--quick', '--seed', String(seed), '--runs', String(RUNS)];
    chaos = new BuiltProcess('dist/tools/chaos/main.js', args, {});
    const { code, stdout, stderr } = await chaos.finished(LIMIT_MS);
    const told = `seed ${String(seed)}\n${stdout}${stderr}`;
    expect({ code, told }).toEqual({ code: 0, told });
    const lines = [
      /^payments credited exactly once +40 of 40$/gm,
      /^killed +worker × 1/gm,
      /^unknown after the sweeper +nothing /gm,
      /^cents that the bank holds +(\d+), and \1 by clearing$/gm,
      /^reconcile +\d{4}-\d{2}-\d{2}: exit code 0/gm,
    ];
    for (const line of lines) expect([line, stdout.match(line)?.length]).toEqual([line, RUNS]);
  });
});
