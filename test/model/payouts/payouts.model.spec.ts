import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { PAYOUT_MOVES } from '../../../src/payouts/index.js';
import { describeWith } from '../../support/needs.js';

const MODEL = join(import.meta.dirname, 'payouts.pml');

interface Search {
  readonly errors: number;
  readonly states: number;
  readonly output: string;
}

describeWith('spin')('the Promela model of payouts', () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'recebe-spin-'));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  /** Searches every state. @param defines for the model @param options for the compiler and the search */
  function search(defines: readonly string[], options: { compile?: string[]; run?: string[] } = {}): Search {
    const run = (program: string, args: readonly string[]): string =>
      execFileSync(program, args, { cwd: directory, encoding: 'utf8', maxBuffer: 1 << 26 });
    run('spin', ['-a', ...defines.map((define) => `-D${define}`), MODEL]);
    run('gcc', ['-O2', '-DCOLLAPSE', ...(options.compile ?? ['-DSAFETY']), '-o', 'pan', 'pan.c']);
    const output = run('./pan', ['-m100000', ...(options.run ?? [])]);
    const errors = Number(/errors: (\d+)/.exec(output)?.[1] ?? NaN);
    const states = Number(/^\s*(\d+)\s+states, stored/m.exec(output)?.[1] ?? NaN);
    return { errors, states, output };
  }

  it('has exactly the moves of the code', () => {
    const text = readFileSync(MODEL, 'utf8');
    const rows = [...text.matchAll(/:: event == (\w+) && status == (\w+) -> status = (\w+)/g)];
    const modelled = rows.map(([, trigger, from, to]) => `${from} ${trigger} ${to}`).sort();
    const coded = Object.entries(PAYOUT_MOVES).flatMap(([trigger, { from, to }]) =>
      from.map((status) => `${status} ${trigger} ${to}`),
    );
    expect(modelled).toEqual(coded.sort());
  });

  it('sends no payout twice and loses no money, whatever is lost, late, repeated, or dies', () => {
    const { errors, states, output } = search([]);
    process.stdout.write(`${states} states of payouts\n`);
    expect([errors, output.includes('max search depth too small')]).toEqual([0, false]);
    expect(states).toBeGreaterThan(1_000_000);
  });

  it('lets no payout wait for ever once the faults end, unless the bank reviews it or an operator has to decide', () => {
    const options = { compile: ['-DNFAIR=3'], run: ['-a', '-f'] };
    const { errors, states } = search(['LIVENESS', 'WORKERS=1'], options);
    expect(errors).toBe(0);
    expect(states).toBeGreaterThan(10_000);
  });

  it.each([
    ['pays twice', 'a repetition has a new id', ['BREAK_SAME_ID', 'ONLY_PAYMENTS'], 'payments==0'],
    ['pays after the money came back', '"not found" counts at once', ['BREAK_QUIET_WINDOW'], 'reserved==2'],
    ['pays after the money came back', 'a repeated refusal counts', ['BREAK_REPEATED_REFUSAL'], 'reserved==2'],
  ])('finds that the bank %s when %s', (_harm, _fault, defines, assertion) => {
    const { errors, output } = search(defines);
    expect(errors).toBe(1);
    expect(output).toContain(`assertion violated (${assertion})`);
  });
});
