import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { appendFileSync, chownSync, mkdirSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import type { Cleanup } from '../../tools/harness/cleanup.js';
import { freePort } from '../../tools/harness/free-port.js';
import { pathOf } from './needs.js';
import { waitFor } from './wait.js';

const LIMIT_MS = 30_000;
const USER = 'owner';

/** PostgreSQL does not run as root. */
function unprivileged(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

class PostgresServer {
  #process: ChildProcess | null = null;

  constructor(
    readonly directory: string,
    readonly port: number,
  ) {}

  get url(): string {
    return `postgres://${USER}@127.0.0.1:${this.port}/recebe`;
  }

  run(program: string, ...args: string[]): void {
    execFileSync(join(pathOf('replica'), program), args, { ...unprivileged(), cwd: '/', stdio: 'pipe' });
  }

  configure(...lines: string[]): void {
    appendFileSync(join(this.directory, 'postgresql.auto.conf'), lines.map((line) => `${line}\n`).join(''));
  }

  async start(): Promise<void> {
    this.#process = spawn(join(pathOf('replica'), 'postgres'), ['-D', this.directory], {
      ...unprivileged(),
      cwd: '/',
      stdio: 'ignore',
    });
    await this.answers();
  }

  async answers(): Promise<void> {
    await waitFor(
      'a PostgreSQL to answer',
      () => this.ask('SELECT 1', 'postgres').then(Boolean, () => false),
      LIMIT_MS,
    );
  }

  async ask(sql: string, database = 'recebe'): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ host: '127.0.0.1', port: this.port, user: USER, database });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** As a machine that is gone. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
  }
}

/** A primary with a synchronous streaming replica, and one address that leads to whichever is the primary. */
export class ReplicatedPostgres {
  #sockets = new Set<Socket>();
  #count = 0;

  private constructor(
    private readonly directory: string,
    private primary: PostgresServer,
    private replica: PostgresServer,
    private readonly proxy: Server,
    private readonly proxyPort: number,
  ) {}

  /** @param directory that everybody may enter */
  static async start(directory: string, cleanup: Cleanup): Promise<ReplicatedPostgres> {
    const primary = new PostgresServer(join(directory, 'pg-0'), await freePort());
    const owner = unprivileged();
    mkdirSync(primary.directory, { mode: 0o700 });
    if (owner) {
      chownSync(directory, owner.uid, owner.gid);
      chownSync(primary.directory, owner.uid, owner.gid);
    }
    primary.run('initdb', '-D', primary.directory, '-U', USER, '--auth=trust', '-E', 'UTF8', '--locale=C.UTF-8');
    primary.configure(
      `port = ${primary.port}`,
      "listen_addresses = '127.0.0.1'",
      `unix_socket_directories = '${directory}'`,
      'max_connections = 200',
      'shared_buffers = 64MB',
    );
    await primary.start();
    await primary.ask('CREATE DATABASE recebe', 'postgres');
    const proxyPort = await freePort();
    const proxy = createServer();
    const cluster = new ReplicatedPostgres(directory, primary, primary, proxy, proxyPort);
    cleanup.add(() => cluster.#stop());
    proxy.on('connection', (socket) => cluster.#join(socket));
    await new Promise<void>((resolve) => proxy.listen(proxyPort, '127.0.0.1', resolve));
    await cluster.#addReplica();
    return cluster;
  }

  get url(): string {
    return `postgres://${USER}@127.0.0.1:${this.proxyPort}/recebe`;
  }

  /**
   * The primary is gone, and the replica takes its place.
   * @param isHasty the address leads to the replica while it still only reads
   * @returns when the replica had become the primary, by performance.now()
   */
  async failOver(isHasty: boolean): Promise<number> {
    const gone = this.primary;
    const promoted = this.replica;
    await gone.kill();
    for (const socket of this.#sockets) socket.destroy();
    if (isHasty) this.primary = promoted;
    promoted.run('pg_ctl', 'promote', '-w', '-D', promoted.directory);
    const at = performance.now();
    this.primary = promoted;
    rmSync(gone.directory, { recursive: true, force: true });
    return at;
  }

  /** A new replica in place of the primary that is gone; from then on no commit is confirmed that it does not have. */
  async addReplica(): Promise<void> {
    await this.#addReplica();
  }

  async #addReplica(): Promise<void> {
    const { primary } = this;
    this.#count += 1;
    const replica = new PostgresServer(join(this.directory, `pg-${this.#count}`), await freePort());
    const source = `host=127.0.0.1 port=${primary.port} user=${USER}`;
    replica.run('pg_basebackup', '-D', replica.directory, '-R', '-X', 'stream', '-c', 'fast', '-d', source);
    replica.configure(`port = ${replica.port}`, "synchronous_standby_names = ''");
    await replica.start();
    this.replica = replica;
    await primary.ask(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
    await primary.ask('SELECT pg_reload_conf()');
    await waitFor(
      'the replica to be synchronous',
      async () => {
        const rows = await primary.ask(`SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'`);
        return rows.length === 1;
      },
      LIMIT_MS,
    );
  }

  #join(client: Socket): void {
    const server = connect(this.primary.port, '127.0.0.1');
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }

  async #stop(): Promise<void> {
    await new Promise((resolve) => {
      this.proxy.close(resolve);
      for (const socket of this.#sockets) socket.destroy();
    });
    await this.primary.kill();
    await this.replica.kill();
  }
}
