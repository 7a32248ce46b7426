import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cleanup } from '../harness/cleanup.js';
import { freePort } from '../harness/free-port.js';

const START_LIMIT_MS = 20_000;

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
