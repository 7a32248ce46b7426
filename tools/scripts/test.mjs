// Provides everything the tests need: a build (some start the real service), and a PostgreSQL with a migrated template
// that each spec file copies. Jest runs the parallel specs first, then those that must run alone. Arguments go to Jest:
// npm test -- test/e2e. Without a path, long specs and those that run alone are left out, unless FULL=1.
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism, freemem, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { buildIfNeeded } from './build.mjs';
import { countResults, failureLines, skippedLines, withSecondRun } from './test-results.mjs';

const root = join(import.meta.dirname, '../..');
/** Converts a path to an import URL: blanks and special characters would otherwise be misread. */
const urlOf = (path) => pathToFileURL(join(root, path)).href;
if (!(await buildIfNeeded())) process.exit(1);
const { startPostgres } = await import(urlOf('dist/src/local-servers/index.js'));
const { migrate } = await import(urlOf('dist/src/core/database/index.js'));
const { MIGRATIONS } = await import(urlOf('dist/migrations/index.js'));

const args = process.argv.slice(2);
const isEverything = process.env.FULL === '1' || args.some((arg) => !arg.startsWith('-'));
const print = (line) => process.stdout.write(`${line}\n`);
/**
 * Two workers for each processor, as specs often wait. More than eight would need more connections than the server
 * below allows.
 */
const WORKERS = Math.min(8, 2 * availableParallelism());

/**
 * Keeps short-lived files in memory if there is enough of it: copying the database takes 12 ms, on a disk up to half a
 * second. Linux has such a directory, but in containers it is small.
 */
const MEMORY = '/dev/shm';
const PLENTY = 6 * 1024 ** 3;

function isRoomy(path) {
  const { bavail, bsize } = existsSync(path) ? statfsSync(path) : { bavail: 0, bsize: 0 };
  return bavail * bsize >= PLENTY && freemem() >= PLENTY;
}

const dataDir = mkdtempSync(join(isRoomy(MEMORY) ? MEMORY : tmpdir(), 'recebe-test-'));
const temporary = join(dataDir, 'tmp');
mkdirSync(temporary, { mode: 0o1777 });
const lateFailures = join(dataDir, 'late-failures');
let interrupted = false;
let jest;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    interrupted = true;
    jest?.kill(signal);
  });
}

/**
 * Runs one project of jest.config.js. @returns whether Jest succeeded, its files or null without results, and late
 * failures
 */
async function run(project, workers, postgres, only = args) {
  if (interrupted) return { isWhole: false, files: null, late: [] };
  const outputFile = join(dataDir, `${project}.json`);
  const inBand = args.some((arg) => ['-i', '--runInBand'].includes(arg) || /^(-w|--maxWorkers)/.test(arg));
  const own = ['--selectProjects', project, ...(inBand ? [] : ['--maxWorkers', String(workers)])];
  jest = spawn(
    process.execPath,
    [
      ...['--import', urlOf('test/runner/register.mjs'), '--no-warnings', '--max-semi-space-size=64'],
      ...[join(root, 'node_modules/jest/bin/jest.js'), ...own, '--passWithNoTests', ...only],
    ],
    {
      cwd: root,
      stdio: ['inherit', 'ignore', 'inherit'], // what a person reads is on standard error
      env: {
        ...process.env,
        ...{ TEST_POSTGRES_URL: postgres.url, TEST_SERVICE_URL: postgres.serviceUrl, TMPDIR: temporary },
        ...{ TEST_RESULTS: outputFile, TEST_LATE_FAILURES: lateFailures, LOG_LEVEL: 'silent' },
        ...(isEverything ? {} : { TEST_LEAVE_OUT_LONG: '1' }),
      },
    },
  );
  const code = await new Promise((resolve) => jest.on('exit', (status) => resolve(status ?? 1)));
  // Without results something has stopped Jest, even if its exit code is 0.
  const files = existsSync(outputFile) ? JSON.parse(readFileSync(outputFile, 'utf8')) : null;
  const late = existsSync(lateFailures) ? readFileSync(lateFailures, 'utf8').trim().split('\n') : [];
  for (const path of [outputFile, lateFailures]) rmSync(path, { force: true });
  return { isWhole: code === 0 && files !== null, files, late: late.map((line) => JSON.parse(line)) };
}

async function runTwice(project, workers, postgres) {
  const first = await run(project, workers, postgres);
  return withSecondRun(first, (names) => run(project, 1, postgres, ['--runTestsByPath', ...names]));
}

/** Specs make thousands of connections: hashes the same password again with the server's `scram_iterations`. */
async function cheapenLogins(url) {
  const { username, password } = new URL(url);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`ALTER ROLE ${client.escapeIdentifier(username)} PASSWORD ${client.escapeLiteral(password)}`);
  await client.end();
}

async function runAll() {
  // As root, PostgreSQL runs as another user, who needs access.
  chmodSync(dataDir, 0o755);
  chmodSync(temporary, 0o1777);
  // Durability off: a test database that is lost is made again, and fsync would dominate the time.
  const off = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];
  const settings = [...off, 'max_connections=300', 'scram_iterations=1'];
  const postgres = await startPostgres({ dataDir, databaseName: 'recebe_template', settings });
  try {
    await cheapenLogins(postgres.url);
    await migrate(postgres.url, MIGRATIONS, postgres.serviceUrl);
    const parallel = await runTwice('parallel', WORKERS, postgres);
    return isEverything ? [parallel, await runTwice('alone', 1, postgres)] : [parallel];
  } finally {
    await postgres.stop();
  }
}

const startedAt = Date.now();
try {
  const runs = await runAll();
  const files = runs.flatMap((one) => one.files ?? []);
  const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`.padStart(8);
  if (files.length > 10) {
    const slowest = files.map(({ name, durationMs }) => [durationMs, relative(root, name)]);
    slowest.sort(([a], [b]) => b - a);
    print('\nThe slowest ten files:');
    for (const [ms, name] of slowest.slice(0, 10)) print(`${seconds(ms)}  ${name}`);
  }
  for (const name of runs.flatMap((one) => one.passedAlone ?? [])) {
    print(`\nFailed and then passed by itself: ${relative(root, name)}`);
  }
  for (const { spec, text } of runs.flatMap((one) => one.late)) {
    print(`\nA failure after the end of ${relative(root, spec)}: ${text}`);
  }
  for (const line of failureLines(root, files)) print(line);
  if (!isEverything) {
    print(
      '\nLeft out: long trials, and what measures time and memory on an idle machine. FULL=1 npm test runs all of it.',
    );
  }
  const skips = skippedLines(files);
  if (skips.length > 0) print(`\n${skips.join('\n')}`);
  if (files.every((file) => file.assertionResults.length === 0)) print('\nNo test was run: is the path right?');
  const { passed, failed, skipped } = countResults(runs);
  print(`\n${files.length} files in${seconds(Date.now() - startedAt)}`);
  print(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  process.exitCode = failed > 0 ? 1 : 0;
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
