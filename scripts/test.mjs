// Everything the tests need: a build (some of them start the real service), a PostgreSQL of their own with a migrated
// template that each spec file copies, and Jest with ES modules. Arguments go to Jest: npm test -- test/e2e
import './build-if-needed.mjs';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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

const jest = spawn(
  process.execPath,
  ['--experimental-vm-modules', '--no-warnings', join(root, 'node_modules/jest/bin/jest.js'), ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit', env: { ...process.env, TEST_POSTGRES_URL: postgres.url, LOG_LEVEL: 'silent' } },
);
process.on('SIGINT', () => undefined); // Jest hears it too; wait for it and clean up
const code = await new Promise((resolve) => jest.on('exit', (status) => resolve(status ?? 1)));
await postgres.stop();
rmSync(dataDir, { recursive: true, force: true });
process.exit(code);
