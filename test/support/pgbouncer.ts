import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../../tools/harness/free-port.js';
import { isHere, pathOf } from './needs.js';
import { waitFor } from './wait.js';

function versionOf(program: string): number {
  const said = spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout;
  return Number(/PgBouncer 1\.(\d+)/.exec(said)?.[1]);
}

/** Since 1.21 a client's prepared statements follow it to whichever connection it gets. */
export const keepsPreparedStatements = isHere('pgbouncer') && versionOf(pathOf('pgbouncer')) >= 21;

/** A PgBouncer that gives each transaction one of few connections. */
export class PgBouncer {
  readonly #directory = mkdtempSync(join(tmpdir(), 'recebe-pgbouncer-'));
  #process: ChildProcess | null = null;
  #url = '';

  /** @param behind the address of the database, with user and password */
  constructor(private readonly behind: string) {
    chmodSync(this.#directory, 0o755);
  }

  /** URL of the database through the pooler */
  get url(): string {
    return this.#url;
  }

  async start(connections: number): Promise<void> {
    const port = await freePort();
    const database = new URL(this.behind);
    const users = join(this.#directory, 'users.txt');
    const settings = join(this.#directory, 'pgbouncer.ini');
    writeFileSync(users, `"${database.username}" "${decodeURIComponent(database.password)}"\n`);
    writeFileSync(
      settings,
      [
        '[databases]',
        `* = host=${database.hostname} port=${database.port}`,
        '[pgbouncer]',
        'listen_addr = 127.0.0.1',
        `listen_port = ${String(port)}`,
        'unix_socket_dir =',
        'auth_type = plain',
        `auth_file = ${users}`,
        'pool_mode = transaction',
        `default_pool_size = ${String(connections)}`,
        'max_client_conn = 200',
        ...(keepsPreparedStatements
          ? [
              'max_prepared_statements = 500',
              'ignore_startup_parameters = lock_timeout, statement_timeout, idle_in_transaction_session_timeout',
            ]
          : []),
        '',
      ].join('\n'),
    );
    // PgBouncer does not run as root.
    const asAnother = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
    this.#process = spawn(pathOf('pgbouncer'), ['-q', ...asAnother, settings], { cwd: '/', stdio: 'ignore' });
    database.port = String(port);
    this.#url = database.href;
    await waitFor('PgBouncer to answer', async () => {
      const client = new pg.Client({ connectionString: this.#url });
      try {
        await client.connect();
        await client.query('SELECT 1');
        return true;
      } catch {
        return false;
      } finally {
        await client.end();
      }
    });
  }

  async stop(): Promise<void> {
    const stopped = this.#process;
    this.#process = null;
    if (stopped === null || stopped.exitCode !== null) return;
    const ended = new Promise((resolve) => stopped.once('exit', resolve));
    stopped.kill('SIGKILL');
    await ended;
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
