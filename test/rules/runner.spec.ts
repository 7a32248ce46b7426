import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { countResults, skippedLines, withSecondRun } from '../../tools/scripts/test-results.mjs';
import { countsOf, figuresOf, tableOf, TRIALS } from '../../tools/scripts/trial-figures.mjs';
import { ROOT } from './source-files.js';

const GLOBALS = `import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';\n`;
const GOOD = `it('passes', () => expect(1).toBe(1));`;

/** Each is a spec file of its own; a file of its name that begins with "good" must pass, every other must fail. */
const FILES: Readonly<Record<string, string>> = {
  good: GOOD,
  'good-each': `it.each([1, 2])('%s', (n) => expect(n).toBeGreaterThan(0));`,
  assertion: `it('fails', () => expect(1).toBe(2));`,
  slow: `it('never ends', () => new Promise(() => undefined), 50);`,
  'before-all': `beforeAll(() => { throw new Error('before'); }); ${GOOD}`,
  'after-all': `afterAll(() => { throw new Error('after'); }); ${GOOD}`,
  rejection: `it('rejects beside it', async () => { void Promise.reject(new Error('unheard')); await new Promise((r) => setTimeout(r, 50)); });`,
  syntax: `it('is no TypeScript', () => { expect(1).toBe(1 });`,
  missing: `import './not-there.js'; ${GOOD}`,
  throwing: `throw new Error('at load');`,
  empty: ``,
  circular: `it('throws an error that contains itself', () => { const error = new Error('x'); error.error = error; throw error; });`,
  'module-mock': `jest.unstable_mockModule('node:fs', () => ({})); ${GOOD}`,
};

/** As the specs' own, for files elsewhere. */
const CONFIG = `import config from '${pathToFileURL(join(ROOT, 'jest.config.js')).href}';
const { projects, ...all } = config;
const { displayName, testPathIgnorePatterns, ...parallel } = projects[0];
export default { ...all, ...parallel, rootDir: ${JSON.stringify(ROOT)}, roots: [import.meta.dirname],
  testSequencer: import.meta.dirname + '/sequencer.cjs' };`;

const SEQUENCER = `module.exports = class {
  sort(tests) { return [...tests].sort((a, b) => (a.path < b.path ? -1 : 1)); }
  cacheResults() {}
};`;

interface Run {
  readonly code: number | null;
  readonly late: string;
  readonly passed: Readonly<Record<string, boolean>>;
}

describe('the runner of the specs', () => {
  let directory: string;

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'recebe-runner-'));
    writeFileSync(join(directory, 'jest.config.mjs'), CONFIG);
    writeFileSync(join(directory, 'sequencer.cjs'), SEQUENCER);
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  /** Runs spec files of this text, in this order in one worker. */
  async function run(files: Readonly<Record<string, string>>): Promise<Run> {
    for (const old of readdirSync(directory)) if (old.endsWith('.spec.ts')) rmSync(join(directory, old));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, `${name}.spec.ts`), GLOBALS + text);
    const output = join(directory, 'results.json');
    const late = join(directory, 'late-failures');
    rmSync(output, { force: true });
    rmSync(late, { force: true });
    const child = spawn(
      process.execPath,
      [
        ...['--import', './test/runner/register.mjs', '--no-warnings', 'node_modules/jest/bin/jest.js'],
        ...['--config', join(directory, 'jest.config.mjs'), '--maxWorkers', '1'],
      ],
      { stdio: 'ignore', env: { ...process.env, TEST_RESULTS: output, TEST_LATE_FAILURES: late } },
    );
    const [code] = (await once(child, 'exit')) as [number | null];
    const results = existsSync(output)
      ? (JSON.parse(readFileSync(output, 'utf8')) as { name: string; status: string }[])
      : [];
    return {
      code,
      late: existsSync(late) ? readFileSync(late, 'utf8') : '',
      passed: Object.fromEntries(
        results.map(({ name, status }) => [name.slice(directory.length + 1, -'.spec.ts'.length), status === 'passed']),
      ),
    };
  }

  it('passes a right spec, and fails every other', async () => {
    const { code, passed } = await run(FILES);
    expect(passed).toEqual(Object.fromEntries(Object.keys(FILES).map((name) => [name, name.startsWith('good')])));
    expect(code).toBe(1);
    expect(await run({ good: GOOD })).toMatchObject({ code: 0, passed: { good: true } });
  });

  it('fails when a spec ends the process', async () => {
    const { code, passed } = await run({ exit: `it('exits', () => process.exit(0));` });
    expect({ code, passed: passed['exit'] ?? false }).toEqual({ code: 1, passed: false });
  });

  it('reports a failure after the end of its spec file', async () => {
    const { code, late } = await run({
      // Again and again: Jest itself hears what fails while it puts the first file away.
      'a-late': `it('ends too early', () => void setInterval(() => { throw new Error('too late'); }, 300).unref());`,
      'b-next': `import { existsSync } from 'node:fs';
        beforeAll(async () => {
          const isTold = () => existsSync(process.env['TEST_LATE_FAILURES']);
          for (let n = 0; n < 100 && !isTold(); n++) await new Promise((resolve) => setTimeout(resolve, 100));
        });
        ${GOOD}`,
    });
    // As a failure of the file that is running by then, or else in the list of late ones.
    expect(code === 1 || late.includes('too late')).toBe(true);
  });

  it('leaves no setting of one spec file to the next', async () => {
    const { passed } = await run({
      'a-first': `jest.setTimeout(60_000); jest.retryTimes(3); process.env['RUNNER_SPEC'] = 'x'; jest.useFakeTimers();
        jest.spyOn(Math, 'random').mockReturnValue(7); ${GOOD}`,
      'b-next': `it('is as if alone', () => {
          expect(process.env['RUNNER_SPEC']).toBeUndefined();
          expect(Math.random()).toBeLessThan(1);
        });
        it('has the real time', () => new Promise((resolve) => setTimeout(resolve, 10)));`,
      'c-retried': `let times = 0; it('is not tried again', () => { times += 1; expect(times).toBe(2); });`,
    });
    expect(passed).toEqual({ 'a-first': true, 'b-next': true, 'c-retried': false });
  });
});

describe('the second run of `npm test`', () => {
  const test = (status: string, fullName = 'a test') => ({ status, fullName, failureMessages: [] });
  const file = (name: string, ...statuses: string[]) => ({
    ...{ name, message: '', durationMs: 1, assertionResults: statuses.map((status) => test(status)) },
    status: statuses.includes('failed') || statuses.length === 0 ? 'failed' : 'passed',
  });
  const good = file('/good', 'passed', 'passed');
  const bad = file('/bad', 'passed', 'failed');
  const repaired = file('/bad', 'passed', 'passed');
  const late = (spec: string) => ({ spec, text: 'Error: too late' });
  const run = (files: unknown[] | null, ...failures: unknown[]) => ({
    ...{ files, late: failures, isWhole: files !== null && !files.includes(bad) },
  });
  const many = Array.from({ length: 6 }, (_, index) => file(`/bad-${index}`, 'failed'));

  it.each([
    ['one file that passes then', run([good, bad]), run([repaired]), [4, 0], ['/bad']],
    ['one file that fails again', run([good, bad]), run([bad]), [3, 1], []],
    [
      'a file that passes then beside one that fails again',
      run([bad, file('/always', 'failed')]),
      run([repaired, file('/always', 'failed')]),
      ...[[2, 1], ['/bad']],
    ],
    ['a file without a test that passes then', run([good, file('/bad')]), run([repaired]), [4, 0], ['/bad']],
    [
      'a failure after the end of a file, that does not come again',
      run([good], late('/good')),
      run([good]),
      [2, 0],
      ['/good'],
    ],
    [
      'a failure after the end of a file, that comes again',
      run([good], late('/good')),
      run([good], late('/good')),
      [2, 1],
      [],
    ],
    ['a second run without results', run([good, bad]), run(null), [3, 1], []],
    ['more files than chance explains', run([good, ...many]), run(null), [2, 6], []],
    ['a failure before the first file', run([good], late('before')), run(null), [2, 1], []],
    ['no results at all', run(null), run(null), [0, 1], []],
  ])('counts %s', async (_, first, second, counts, passedAlone) => {
    const whole = (await withSecondRun(first, () => Promise.resolve(second))) as { passedAlone?: string[] };
    const { passed, failed } = countResults([whole]) as { passed: number; failed: number };
    expect([[passed, failed], whole.passedAlone ?? []]).toEqual([counts, passedAlone]);
  });

  it('names tests that were skipped because a program is missing, and does not fail for them', () => {
    const skipped = {
      ...good,
      assertionResults: [test('pending', 'x [skipped: no Redis] y'), test('pending', 'todo')],
    };
    expect(skippedLines([skipped])).toEqual(['Skipped 1: no Redis']);
    expect(countResults([run([skipped])])).toEqual({ passed: 0, failed: 0, skipped: 2 });
  });
});

describe('the long trials', () => {
  it('run specs that exist, and include each spec that calls `trial`', () => {
    const specs = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.spec.ts'))
      .filter((name) => /\btrial\(/.test(readFileSync(join(ROOT, 'test', name), 'utf8')))
      .map((name) => `test/${name}`);
    const named = Object.values(TRIALS as Record<string, { specs: string[] }>).flatMap((one) => one.specs);
    const isRun = (spec: string): boolean => named.some((path) => spec.startsWith(`${path}.`));
    expect(specs.filter((spec) => spec !== 'test/rules/runner.spec.ts' && !isRun(spec))).toEqual([]);
    expect(named.filter((path) => !specs.some((spec) => spec.startsWith(`${path}.`)))).toEqual([]);
  });

  it('are described by the lines that their specs print', () => {
    const output =
      '\u001b[1min-process queue, STRESS_SEED=1: 500 charges, 9 kills, 160 s\u001b[0m\n3 passed, 0 failed, 1 skipped\n';
    expect(figuresOf('crash', output)).toBe('in-process queue, 500 charges, 9 kills, 160 s');
    expect(countsOf(output)).toEqual({ passed: 3, failed: 0, skipped: 1 });
    expect(countsOf('it was killed')).toEqual({ passed: 0, failed: 0, skipped: 0 });
    const row = { name: 'crash', what: 'kills', result: 'passed', figures: 'a | b', seconds: 161 };
    expect(tableOf([row], 'abc1234').split('\n')).toEqual([
      '| Trial   | What it repeats | Result | Figures | Time  | Commit  |',
      '| ------- | --------------- | ------ | ------- | ----- | ------- |',
      '| `crash` | kills           | passed | a \\| b  | 161 s | abc1234 |',
    ]);
  });
});
