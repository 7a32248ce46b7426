import { afterAll, describe, expect, it, jest } from '@jest/globals';
import { Random } from '../../tools/harness/random.js';
import { BuiltProcess } from '../support/process.js';
import { scaled, trial } from '../support/scale.js';

const PAYOUTS = trial(10_000, 1_000);
const LIMIT_MS = trial(5_400_000, 900_000);

jest.setTimeout(LIMIT_MS + 20_000);

/** Some minutes of processor time: with FULL=1 only. */
scaled(describe, describe.skip)(`npm run chaos -- --only payouts --payouts ${String(PAYOUTS)}`, () => {
  let chaos: BuiltProcess | undefined;

  // In order, so that it stops the servers it has started.
  afterAll(() => chaos?.kill('SIGTERM'));

  it('the service sends each payout once or gives it back, while the bank fails and every process is killed', async () => {
    const { seed } = Random.seeded();
    const args = ['--only', 'payouts', '--payouts', String(PAYOUTS), '--seed', String(seed)];
    chaos = new BuiltProcess('dist/tools/chaos/main.js', args, {});
    const { code, stdout, stderr } = await chaos.finished(LIMIT_MS);
    const told = `seed ${String(seed)}\n${stdout}${stderr}`;
    expect({ code, told }).toEqual({ code: 0, told });
    for (const victim of ['worker', 'API', 'Redis', 'PostgreSQL (SIGKILL)']) {
      expect(stdout).toContain(`${victim} × `);
    }
    expect(stdout).toMatch(/^unknown when the faults ended +\d+; none after \d+ s$/m);
    expect(stdout).toMatch(/^cents that the bank holds +(\d+), and \1 by clearing$/m);
    expect(stdout).toMatch(/^sent exactly once +[1-9]\d+ sends at the bank$/m);
    process.stderr.write(`${outcomeOf(stdout)}\n`);
  });
});

/** @returns the lines about the outcome, as one */
function outcomeOf(report: string): string {
  const line = (name: string): string => new RegExp(`^${name} +(.+)$`, 'm').exec(report)?.[1] ?? '';
  return `payouts ${line('payouts')}: sent once ${line('sent exactly once')}; killed ${line('killed')}; ended as ${line('ended as')}`;
}
