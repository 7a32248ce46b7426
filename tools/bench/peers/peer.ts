import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { startPostgres } from '../../../src/local-servers/index.js';
import { BuiltProcess, runToEnd } from '../../harness/built-process.js';
import type { Cleanup } from '../../harness/cleanup.js';
import { freePort } from '../../harness/free-port.js';
import { processorSeconds } from '../machine.js';
import type { System, Workload } from '../turns.js';

/** A running system for comparison, on a new database of its own. */
export interface Peer extends System {
  readonly name: string;
  /** Ids of all its Node.js processes. */
  readonly pids: readonly number[];
  readonly works: readonly PeerWork[];
  stop(): Promise<void>;
}

export interface PeerWork extends Workload<System> {
  /** Name of the service's workload that takes turns with it. */
  readonly beside: string;
}

export function peerOf(name: string, url: string, processes: readonly BuiltProcess<true>[], works: PeerWork[]): Peer {
  const pids = processes.map(({ pid }) => pid);
  return {
    ...{ name, url, pids, works },
    processors: () => ({ node: processorSeconds(...pids), postgres: null }),
    settle: async () => undefined,
    stop: async () => {
      for (const process of processes.toReversed()) await process.stop();
    },
  };
}

/** Directories and database of an installed peer. */
export class Ground {
  private constructor(
    private readonly directory: string,
    /** The directory for files of this run. */
    readonly runDirectory: string,
    readonly port: number,
    private readonly databaseUrl: string,
    private readonly cleanup: Cleanup,
  ) {}

  /**
   * Installs packages into `directory` unless they are there already, copies `files` of this directory beside them, and
   * starts a new PostgreSQL.
   * @param dependencies exact versions by their names
   * @throws Error with npm's words when they could not be installed
   */
  static async prepare(
    directory: string,
    dependencies: Readonly<Record<string, string>>,
    files: readonly string[],
    runDirectory: string,
    cleanup: Cleanup,
  ): Promise<Ground> {
    mkdirSync(directory, { recursive: true });
    const manifest = JSON.stringify({ private: true, type: 'module', dependencies }, null, 2);
    // Written when npm is done: an interrupted installation starts again.
    const installed = join(directory, 'installed.json');
    if (!existsSync(installed) || readFileSync(installed, 'utf8') !== manifest) {
      writeFileSync(join(directory, 'package.json'), manifest);
      // The measured work needs no install script of any package.
      const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund'];
      const { status, error, stderr } = spawnSync('npm', args, { cwd: directory, encoding: 'utf8' });
      if (status !== 0) throw new Error(`npm install in ${directory} failed:\n${error?.message ?? stderr}`);
      writeFileSync(installed, manifest);
    }
    for (const file of files)
      copyFileSync(join(import.meta.dirname, file), join(directory, file.split('/').at(-1) ?? ''));
    const dataDir = mkdtempSync(join(runDirectory, 'peer-'));
    const postgres = await startPostgres({ dataDir, databaseName: 'peer' });
    cleanup.add(() => postgres.stop());
    return new Ground(resolve(directory), dataDir, await freePort(), postgres.url, cleanup);
  }

  get url(): string {
    return `http://127.0.0.1:${String(this.port)}`;
  }

  /** @param script below the peer's directory @throws Error with the script's output when it fails */
  async run(script: string, ...args: string[]): Promise<void> {
    const { code, stdout, stderr } = await runToEnd(join(this.directory, script), args, this.#env, this.directory);
    if (code !== 0) throw new Error(`${[script, ...args].join(' ')} failed:\n${stdout}${stderr}`);
  }

  /** @param ready text in its output once it is ready */
  start(script: string, args: readonly string[], ready: string): Promise<BuiltProcess<true>> {
    const program = {
      ...{ script: join(this.directory, script), args, env: this.#env, cwd: this.directory },
      logPath: join(this.runDirectory, `${args.join('-')}.log`),
      ready: (output: string) => (output.includes(ready) ? (true as const) : null),
    };
    return BuiltProcess.start(program, this.cleanup);
  }

  get #env(): Record<string, string> {
    return {
      ...{ NODE_ENV: 'production', DATABASE_URL: this.databaseUrl, PORT: String(this.port) },
      // A line for each request would cost Medusa time; neither peer may report this run to its makers.
      ...{ LOG_LEVEL: 'info', MEDUSA_DISABLE_TELEMETRY: 'true', VENDURE_DISABLE_TELEMETRY: 'true' },
    };
  }
}
