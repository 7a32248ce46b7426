import { join } from 'node:path';
import { BuiltProcess } from './built-process.js';
import type { Cleanup } from './cleanup.js';

/** As `npm start`. */
const NODE_OPTIONS = ['--max-old-space-size=512', '--max-semi-space-size=8'];

interface Banner {
  readonly url: string;
  readonly queue: string;
}

/** The real service as `npm start` runs it, in a process of its own, its log going to a file. */
export class ServiceProcess {
  private constructor(private readonly built: BuiltProcess<Banner>) {}

  /** @throws Error with the service's own words when it does not start */
  static async start(dataDir: string, cleanup: Cleanup, env: Record<string, string> = {}): Promise<ServiceProcess> {
    const program = {
      script: 'bundle/main.js',
      nodeOptions: NODE_OPTIONS,
      env: { DATA_DIR: dataDir, PORT: '0', RATE_LIMIT: 'off', DEMO_FILL: 'false', ...env },
      logPath: join(dataDir, '..', `${dataDir.split('/').at(-1) ?? 'service'}.log`),
      ready: readBanner,
    };
    return new ServiceProcess(await BuiltProcess.start(program, cleanup));
  }

  get pid(): number {
    return this.built.pid;
  }

  get url(): string {
    return this.built.said.url;
  }

  get queue(): string {
    return this.built.said.queue;
  }

  /** How it ended, if that was not requested. */
  get died(): string | null {
    return this.built.died;
  }

  /** Milliseconds from the start of the process to its banner. */
  get startMs(): number {
    return this.built.startMs;
  }

  stop(): Promise<void> {
    return this.built.stop();
  }

  /** Kills the process as in a crash. Resolves when it is gone. */
  kill(): Promise<void> {
    return this.built.kill();
  }
}

function readBanner(output: string): Banner | null {
  const url = /^ {2}(?:API|Health) +(\S+?)(?:\/health\/ready)?$/m.exec(output)?.[1];
  if (url === undefined || !output.includes('Queue')) return null;
  return { url: url.replace('localhost', '127.0.0.1'), queue: /^ {2}Queue +(.+)$/m.exec(output)?.[1] ?? '' };
}
