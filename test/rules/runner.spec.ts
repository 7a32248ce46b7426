import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
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
  'module-mock': `jest.unstable_mockModule('node:fs', () => ({})); ${GOOD}`,
};

/** As the specs' own, for files elsewhere. */
const CONFIG = `import config from '${ROOT}/jest.config.js';
const { projects, ...all } = config;
const { displayName, testPathIgnorePatterns, ...parallel } = projects[0];
export default { ...all, ...parallel, rootDir: '${ROOT}', roots: [import.meta.dirname],
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
        ...['--config', join(directory, 'jest.config.mjs'), '--maxWorkers', '1', '--json', '--outputFile', output],
      ],
      { stdio: 'ignore', env: { ...process.env, TEST_LATE_FAILURES: late } },
    );
    const [code] = (await once(child, 'exit')) as [number | null];
    const results = existsSync(output)
      ? (JSON.parse(readFileSync(output, 'utf8')) as { testResults: { name: string; status: string }[] }).testResults
      : [];
    return {
      code,
      late: existsSync(late) ? readFileSync(late, 'utf8') : '',
      passed: Object.fromEntries(
        results.map(({ name, status }) => [name.slice(directory.length + 1, -'.spec.ts'.length), status === 'passed']),
      ),
    };
  }

  it('passes what is right and fails everything else', async () => {
    const { code, passed } = await run(FILES);
    expect(passed).toEqual(Object.fromEntries(Object.keys(FILES).map((name) => [name, name.startsWith('good')])));
    expect(code).toBe(1);
    expect(await run({ good: GOOD })).toMatchObject({ code: 0, passed: { good: true } });
  });

  it('does not end well when a spec ends the process', async () => {
    const { code, passed } = await run({ exit: `it('exits', () => process.exit(0));` });
    expect({ code, passed: passed['exit'] ?? false }).toEqual({ code: 1, passed: false });
  });

  it('tells of what fails after the end of its spec file', async () => {
    const { code, late } = await run({
      'a-late': `it('ends too early', () => { setTimeout(() => { throw new Error('too late'); }, 100); });`,
      'b-next': `beforeAll(() => new Promise((resolve) => setTimeout(resolve, 400))); ${GOOD}`,
    });
    // As a failure of the file that is running by then, or else in the list of late ones.
    expect(code === 1 || late.includes('too late')).toBe(true);
  });

  it('leaves nothing that one spec file has set to the next', async () => {
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
