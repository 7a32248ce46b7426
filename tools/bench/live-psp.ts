import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DEFAULT_MERCHANT } from '../psp-simulator/simulator.js';
import type { Cleanup } from '../harness/cleanup.js';

const START_LIMIT_MS = 30_000;
const DIST = join(import.meta.dirname, '../..');

/** The PSP simulator, in a process of its own. */
export interface Psp {
  readonly baseUrl: string;
  readonly tokenUrl: string;
  readonly controlUrl: string;
  /** The directory of the client's certificate and secret. */
  readonly directory: string;
}

/** Delays every request by `latencyMs`. @throws Error with the process's output when it does not start */
export async function startPsp(latencyMs: number, dataDir: string, cleanup: Cleanup): Promise<Psp> {
  const directory = mkdtempSync(join(dataDir, '..', 'psp-'));
  const args = ['--port', '0', '--control-port', '0', '--latency-ms', String(latencyMs), '--directory', directory];
  const child = spawn(process.execPath, [join(DIST, 'tools/psp-simulator/main.js'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  cleanup.add(() => end(child));
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const urlOf = (name: string): string | undefined => new RegExp(`^ {2}${name} +(\\S+)$`, 'm').exec(text)?.[1];
  const deadline = performance.now() + START_LIMIT_MS;
  for (;;) {
    const [baseUrl, tokenUrl, controlUrl] = [urlOf('API'), urlOf('token'), urlOf('control')];
    if (baseUrl !== undefined && tokenUrl !== undefined && controlUrl !== undefined && text.includes('clearFaults')) {
      return { baseUrl, tokenUrl, controlUrl, directory };
    }
    if (child.exitCode !== null || performance.now() > deadline) throw new Error(`No PSP simulator:\n${text}`);
    await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** Configures the connection like an operator, while the service runs. */
export async function configure(
  { baseUrl, tokenUrl, directory }: Psp,
  accountId: string,
  dataDir: string,
): Promise<void> {
  const file = (name: string): string => join(directory, name);
  const options = {
    account: accountId,
    psp: 'standard',
    key: DEFAULT_MERCHANT.pixKeys[0] ?? '',
    'client-id': DEFAULT_MERCHANT.clientId,
    'client-secret-file': file('client-secret'),
    cert: file('client.crt'),
    'key-file': file('client.key'),
    ca: file('ca.crt'),
    'base-url': baseUrl,
    'token-url': tokenUrl,
  };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  await promisify(execFile)(process.execPath, [join(DIST, 'src', 'cli', 'main.js'), 'acquirer', 'configure', ...args], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], DATA_DIR: dataDir },
  });
}

/** How many were ever made to it. */
export async function connectionsTo({ controlUrl }: Psp): Promise<number> {
  const answer = await fetch(`${controlUrl}/state`);
  return ((await answer.json()) as { traffic: { connections: number } }).traffic.connections;
}
