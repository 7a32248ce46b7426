import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cleanup } from '../harness/cleanup.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../src/core/embedded/index.js';

const START_LIMIT_MS = 20_000;

/**
 * A PostgreSQL that can crash and come back under one address: the embedded one takes a new port at each start, as
 * other programs may have taken the old one, so a forwarder stands before it.
 */
export class CrashingPostgres {
  readonly #connections = new Set<Socket>();
  readonly #forwarder: Server;

  private constructor(
    private readonly dataDir: string,
    private server: EmbeddedPostgres,
  ) {
    this.#forwarder = createServer((client) => this.#forward(client));
  }

  static async start(directory: string, cleanup: Cleanup): Promise<CrashingPostgres> {
    const dataDir = mkdtempSync(join(directory, 'postgres-'));
    const postgres = new CrashingPostgres(dataDir, await startEmbeddedPostgres({ dataDir }));
    cleanup.add(() => postgres.#stop());
    postgres.#forwarder.listen(0, '127.0.0.1');
    await once(postgres.#forwarder, 'listening');
    return postgres;
  }

  get url(): string {
    const url = new URL(this.server.url);
    url.port = String((this.#forwarder.address() as AddressInfo).port);
    return url.href;
  }

  /** SIGKILL to the postmaster: its children follow, every connection breaks, and the next start recovers from the log. */
  async crash(): Promise<void> {
    const pid = Number(readFileSync(join(this.dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
    process.kill(pid, 'SIGKILL');
    for (const connection of this.#connections) connection.destroy();
    while (isAlive(pid)) await delay(10);
    this.server = await startEmbeddedPostgres({ dataDir: this.dataDir });
  }

  #forward(client: Socket): void {
    const server = connect(Number(new URL(this.server.url).port), '127.0.0.1');
    for (const socket of [client, server]) {
      this.#connections.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#connections.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.pipe(server).pipe(client);
  }

  async #stop(): Promise<void> {
    for (const connection of this.#connections) connection.destroy();
    this.#forwarder.close();
    await this.server.stop();
  }
}

/** A Redis without a disk: after a crash it comes back on the same port, empty. */
export class CrashingRedis {
  #child: ChildProcess | null = null;

  private constructor(
    private readonly program: string,
    private readonly port: number,
    private readonly directory: string,
  ) {}

  /** @returns null where neither `redis-server` nor `valkey-server` is installed */
  static async start(directory: string, cleanup: Cleanup): Promise<CrashingRedis | null> {
    for (const program of ['redis-server', 'valkey-server']) {
      const redis = new CrashingRedis(program, await freePort(), mkdtempSync(join(directory, 'redis-')));
      if (!(await redis.#launch())) continue;
      cleanup.add(() => redis.#kill());
      return redis;
    }
    return null;
  }

  get url(): string {
    return `redis://127.0.0.1:${String(this.port)}`;
  }

  async crash(): Promise<void> {
    await this.#kill();
    if (!(await this.#launch())) throw new Error('Redis did not start again');
  }

  /** @returns false when the program is not installed */
  async #launch(): Promise<boolean> {
    const settings = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--dir', this.directory];
    const child = spawn(this.program, settings, { stdio: 'ignore' });
    const failed = await Promise.race([once(child, 'error').then(() => true), once(child, 'spawn').then(() => false)]);
    if (failed) return false;
    this.#child = child;
    await accepting(this.port);
    return true;
  }

  async #kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function accepting(port: number): Promise<void> {
  const deadline = performance.now() + START_LIMIT_MS;
  while (performance.now() < deadline) {
    const socket = connect(port, '127.0.0.1');
    const open = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (open) return;
    await delay(20);
  }
  throw new Error(`Nothing listens on port ${String(port)}`);
}
