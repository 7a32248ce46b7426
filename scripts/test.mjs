// Everything the tests need: a build (some of them start the real service), a PostgreSQL of their own with a migrated
// template that each spec file copies, and Jest. Arguments go to Jest: npm test -- test/e2e
import './build-if-needed.mjs';
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');
const { startEmbeddedPostgres } = await import(join(root, 'dist/src/core/embedded/index.js'));
const { migrate } = await import(join(root, 'dist/src/core/database/index.js'));
const { MIGRATIONS } = await import(join(root, 'dist/migrations/index.js'));

const dataDir = mkdtempSync(join(tmpdir(), 'recebe-test-'));
chmodSync(dataDir, 0o755); // as root PostgreSQL runs as another user, who must get in
// Durability off: a test database that is lost is made again, and fsync would dominate the time.
const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' };
const postgres = await startEmbeddedPostgres({ dataDir, databaseName: 'recebe_template', settings });
await migrate(postgres.url, MIGRATIONS);

/** Runs one project of jest.config.js. @returns its exit code, and its results or null where it wrote none */
async function run(project, workers) {
  const outputFile = join(dataDir, `${project}.json`);
  const own = ['--selectProjects', project, '--maxWorkers', workers, '--passWithNoTests', '--outputFile', outputFile];
  const jest = spawn(
    process.execPath,
    [
      ...['--import', join(root, 'test/runner/register.mjs'), '--no-warnings'],
      ...[join(root, 'node_modules/jest/bin/jest.js'), '--json', ...own, ...process.argv.slice(2)],
    ],
    {
      cwd: root,
      stdio: ['inherit', 'ignore', 'inherit'], // what a person reads is on standard error, the JSON in the file
      env: { ...process.env, TEST_POSTGRES_URL: postgres.url, LOG_LEVEL: 'silent' },
    },
  );
  const code = await new Promise((resolve) => jest.on('exit', (status) => resolve(status ?? 1)));
  let results = null;
  try {
    results = JSON.parse(readFileSync(outputFile, 'utf8'));
  } catch {
    // Jest ended before it had any; its exit code says so.
  }
  return { code, results };
}

const print = (line) => process.stdout.write(`${line}\n`);
process.on('SIGINT', () => undefined); // Jest hears it too; wait for it and clean up
const startedAt = Date.now();
const runs = [await run('parallel', String(Math.max(2, availableParallelism()))), await run('alone', '1')];
await postgres.stop();
rmSync(dataDir, { recursive: true, force: true });

const results = runs.flatMap((one) => one.results ?? []);
const sum = (key) => results.reduce((total, one) => total + one[key], 0);
const files = results.flatMap((one) => one.testResults);
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`.padStart(8);
if (files.length > 10) {
  const slowest = files.map(({ name, startTime, endTime }) => [endTime - startTime, relative(root, name)]);
  slowest.sort(([a], [b]) => b - a);
  print('\nThe slowest ten files:');
  for (const [ms, name] of slowest.slice(0, 10)) print(`${seconds(ms)}  ${name}`);
}
const broken = runs.some(({ code }) => code !== 0);
// A file that could not be loaded has no failed test, but it failed.
const failed = Math.max(sum('numFailedTests') + sum('numRuntimeErrorTestSuites'), broken ? 1 : 0);
const skipped = sum('numPendingTests');
print(`\n${files.length} files in${seconds(Date.now() - startedAt)}`);
print(`${sum('numPassedTests')} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exit(broken ? 1 : 0);
