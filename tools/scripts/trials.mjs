// Runs the long trials in full, one by one, and prints their figures as a table. CI runs the same specs at small counts.
// `npm run trials -- --only money-model` runs one of them.
import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { countsOf, figuresOf, TRIALS, tableOf } from './trial-figures.mjs';

const root = join(import.meta.dirname, '../..');
const names = Object.keys(TRIALS);
const { values } = parseArgs({ options: { only: { type: 'string', multiple: true, default: [] } } });
const unknown = values.only.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`Unknown trial: ${unknown.join(', ')}. There are ${names.join(', ')}.\n`);
  process.exit(2);
}

const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

/** @returns the short hash, with a plus sign if a file was changed after the commit */
function commitOf() {
  try {
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--untracked-files=no') ? '+' : '');
  } catch {
    return 'unknown';
  }
}

let interrupted = false;
let child;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    interrupted = true;
    child?.kill(signal);
  });
}

/** Runs the specs of one trial and shows their output. @returns a row of the table */
async function run(name) {
  const begun = performance.now();
  child = spawn(process.execPath, [join(root, 'tools/scripts/test.mjs'), ...TRIALS[name].specs], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, FULL: '1', TRIALS: '1' },
  });
  let output = '';
  for (const [stream, shown] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
      shown.write(text);
    });
  }
  const code = await new Promise((resolve) => child.on('close', (status) => resolve(status ?? 1)));
  const seconds = Math.round((performance.now() - begun) / 1000);
  const { passed, skipped } = countsOf(output);
  // A trial that was skipped, as its program is not here, has proved nothing.
  const result = code !== 0 ? 'failed' : passed === 0 || skipped > 0 ? 'skipped' : 'passed';
  return { name, what: TRIALS[name].what, result, figures: figuresOf(name, output), seconds };
}

const commit = commitOf();
const rows = [];
for (const name of values.only.length > 0 ? names.filter((one) => values.only.includes(one)) : names) {
  if (interrupted) break;
  rows.push(await run(name));
}
process.stdout.write(`\n${tableOf(rows, commit)}\n`);
process.exitCode = interrupted || rows.some(({ result }) => result !== 'passed') ? 1 : 0;
