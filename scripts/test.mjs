// Everything the tests need: a build (some of them start the real service), a PostgreSQL of their own with a migrated
// template that each spec file copies, and Jest, first with the specs that run in parallel, then with those that must
// be alone. Arguments go to Jest: npm test -- test/e2e
import './build-if-needed.mjs';
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');
const { startEmbeddedPostgres } = await import(join(root, 'dist/src/core/embedded/index.js'));
const { migrate } = await import(join(root, 'dist/src/core/database/index.js'));
const { MIGRATIONS } = await import(join(root, 'dist/migrations/index.js'));

const args = process.argv.slice(2);
const print = (line) => process.stdout.write(`${line}\n`);
/** One more than processors, as specs wait a good deal; more than eight would need more connections than the server below allows. */
const WORKERS = Math.min(8, availableParallelism() + 1);

const dataDir = mkdtempSync(join(tmpdir(), 'recebe-test-'));
const lateFailures = join(dataDir, 'late-failures');
let interrupted = false;
let jest;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    interrupted = true;
    jest?.kill(signal);
  });
}

/** Runs one project of jest.config.js. @returns whether it passed, and its results or null where it wrote none */
async function run(project, workers, databaseUrl) {
  if (interrupted) return { passed: false, results: null };
  const outputFile = join(dataDir, `${project}.json`);
  const inBand = args.some((arg) => ['-i', '--runInBand'].includes(arg) || /^(-w|--maxWorkers)/.test(arg));
  const own = ['--selectProjects', project, ...(inBand ? [] : ['--maxWorkers', String(workers)])];
  jest = spawn(
    process.execPath,
    [
      ...['--import', join(root, 'test/runner/register.mjs'), '--no-warnings'],
      ...[join(root, 'node_modules/jest/bin/jest.js'), ...own, '--passWithNoTests', '--json', '--outputFile'],
      ...[outputFile, ...args],
    ],
    {
      cwd: root,
      stdio: ['inherit', 'ignore', 'inherit'], // what a person reads is on standard error, the JSON in the file
      env: { ...process.env, TEST_POSTGRES_URL: databaseUrl, TEST_LATE_FAILURES: lateFailures, LOG_LEVEL: 'silent' },
    },
  );
  const code = await new Promise((resolve) => jest.on('exit', (status) => resolve(status ?? 1)));
  // Without results Jest was ended by something, even where its exit code is 0.
  const results = existsSync(outputFile) ? JSON.parse(readFileSync(outputFile, 'utf8')) : null;
  return { passed: code === 0 && results !== null, results };
}

async function runAll() {
  chmodSync(dataDir, 0o755); // as root PostgreSQL runs as another user, who must get in
  // Durability off: a test database that is lost is made again, and fsync would dominate the time.
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' };
  const postgres = await startEmbeddedPostgres({ dataDir, databaseName: 'recebe_template', settings });
  try {
    await migrate(postgres.url, MIGRATIONS);
    return [await run('parallel', WORKERS, postgres.url), await run('alone', 1, postgres.url)];
  } finally {
    await postgres.stop();
  }
}

const startedAt = Date.now();
try {
  const runs = await runAll();
  const late = existsSync(lateFailures) ? readFileSync(lateFailures, 'utf8').trim().split('\n') : [];
  const results = runs.flatMap((one) => one.results ?? []);
  const files = results.flatMap((one) => one.testResults);
  const sum = (key) => results.reduce((total, one) => total + one[key], 0);
  const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`.padStart(8);
  if (files.length > 10) {
    const slowest = files.map(({ name, startTime, endTime }) => [endTime - startTime, relative(root, name)]);
    slowest.sort(([a], [b]) => b - a);
    print('\nThe slowest ten files:');
    for (const [ms, name] of slowest.slice(0, 10)) print(`${seconds(ms)}  ${name}`);
  }
  for (const failure of late) print(`\nA failure after the end of ${JSON.parse(failure)}`);
  const passed = sum('numPassedTests');
  const skipped = sum('numPendingTests');
  if (passed === 0) print('\nNo test was run: is the path right?');
  // A file that could not be loaded has no failed test, but it failed.
  const counted = sum('numFailedTests') + sum('numRuntimeErrorTestSuites') + late.length;
  const failed = Math.max(counted, passed > 0 && runs.every((one) => one.passed) ? 0 : 1);
  print(`\n${files.length} files in${seconds(Date.now() - startedAt)}`);
  print(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  process.exitCode = failed > 0 ? 1 : 0;
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
