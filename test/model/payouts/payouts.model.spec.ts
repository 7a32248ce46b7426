import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { PAYOUT_MOVES } from '../../../src/payouts/index.js';
import { describeWith, pathOf } from '../../support/needs.js';

const MODEL = 'payouts.pml';
const TEXT = readFileSync(join(import.meta.dirname, MODEL), 'utf8');

/** Moves as `status trigger status`, sorted. */
const CODED = Object.entries(PAYOUT_MOVES)
  .flatMap(([trigger, { from, to }]) => from.map((status) => `${status} ${trigger} ${to}`))
  .sort();

/** Spin numbers the names of an mtype from the last one, which is 1. */
const STATUSES = (/mtype:Status = \{ ([^}]+) \}/.exec(TEXT)?.[1] ?? '').split(', ').reverse();
const statusOf = (number = ''): string => STATUSES[Number(number) - 1] ?? `status ${number}`;

interface Search {
  readonly errors: number;
  readonly states: number;
  readonly output: string;
}

describeWith('spin')('the Promela model of payouts', () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'recebe-spin-'));
    copyFileSync(join(import.meta.dirname, MODEL), join(directory, MODEL));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  const run = (program: string, args: readonly string[]): string =>
    execFileSync(program, args, { cwd: directory, encoding: 'utf8', maxBuffer: 2 ** 26 });
  const options = (defines: readonly string[]): string[] => defines.map((define) => `-D${define}`);

  /** Searches every state, or up to the first error. @param optimization worth its seconds where states are many */
  function search(defines: readonly string[], optimization: '-O0' | '-O2'): Search {
    // Finds cycles too, under weak fairness.
    const isLiveness = defines.includes('LIVENESS');
    run(pathOf('spin'), ['-a', ...options(defines), MODEL]);
    run('gcc', [optimization, '-DMEMLIM=1000', isLiveness ? '-DNFAIR=3' : '-DSAFETY', '-o', 'pan', 'pan.c']);
    const output = run('./pan', ['-m100000', '-w22', ...(isLiveness ? ['-a', '-f'] : [])]);
    expect(output).not.toMatch(/max search depth too small|out of memory|memory limit/);
    const errors = Number(/errors: (\d+)/.exec(output)?.[1] ?? NaN);
    const states = Number(/^\s*(\d+)\s+states, stored/m.exec(output)?.[1] ?? NaN);
    return { errors, states, output };
  }

  it('has exactly the moves of the code', () => {
    const rows = TEXT.matchAll(/:: event == (\w+) && status == (\w+) -> status = (\w+)/g);
    const modelled = [...rows].map(([, trigger, from, to]) => `${from} ${trigger} ${to}`);
    expect(modelled.sort()).toEqual(CODED);
  });

  it('sends no payout twice and loses no money, whatever is lost, late, repeated, or dies; makes every move', () => {
    const { errors, states, output } = search(['REPORT_MOVES'], '-O2');
    process.stdout.write(`${states} states of payouts\n`);
    expect(errors).toBe(0);
    expect(states).toBeGreaterThan(1_000_000);
    const made = [...output.matchAll(/^move (\w+) (\d+) (\d+)$/gm)].map(
      ([, trigger, from, to]) => `${statusOf(from)} ${trigger} ${statusOf(to)}`,
    );
    expect([...new Set(made)].sort()).toEqual(CODED);
  });

  it('lets no payout wait for ever once the faults end, unless the bank reviews it or an operator has to decide', () => {
    const { errors, states } = search(['LIVENESS', 'MAX_LATE=1', 'WORKERS=1'], '-O2');
    process.stdout.write(`${states} states of payouts that end\n`);
    expect(errors).toBe(0);
    expect(states).toBeGreaterThan(10_000);
  });

  it('finds a payout that waits for ever when lost calls are repeated without an end', () => {
    const { errors, output } = search(['LIVENESS', 'WORKERS=1', 'BREAK_LAST_CALL'], '-O0');
    expect(errors).toBe(1);
    expect(output).toContain('acceptance cycle');
  });

  it.each([
    ['pays twice', 'a repetition has a new id', ['BREAK_SAME_ID', 'ONLY_PAYMENTS']],
    ['keeps money that came back', '"not found" counts at once', ['BREAK_QUIET_WINDOW']],
    ['keeps money that came back', 'the age counts from the end of the look-up', ['BREAK_AGE_AT_LOOK_UP']],
    ['keeps money that came back', 'a repeated refusal counts', ['BREAK_REPEATED_REFUSAL']],
    ['keeps money that came back', 'the receiver changes between two calls', ['BREAK_SAME_RECEIVER']],
    ['keeps money that came back', 'an overtaken run ends the payout', ['BREAK_LEASE']],
    ['keeps money that came back', 'an operator ends it while calls are made', ['BREAK_OPERATOR_WAITS']],
    ['has not paid what we call paid', 'work ends although another run moved the payout', ['BREAK_MOVED_MEANWHILE']],
    ['has returned less than we booked', 'a return is booked twice', ['BREAK_RETURN_ID']],
  ])('finds that the bank %s when %s', (_harm, _fault, defines) => {
    expect(search(defines, '-O0').errors).toBe(1);
  });
});
