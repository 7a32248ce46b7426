import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../tools/harness/free-port.js';

const START_LIMIT_MS = 30_000;

export interface Prism {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Whether PRISM_BIN leads to `@stoplight/prism-cli`; it has too many packages to be a dependency, so CI installs it beside
 * the project. Says so when it is not there; with REQUIRE_PRISM=1 (set in CI) it throws instead.
 */
export function prismBinary(): string | undefined {
  const { PRISM_BIN: binary, REQUIRE_PRISM: required } = process.env;
  if (binary) return binary;
  if (required === '1') throw new Error('REQUIRE_PRISM=1 but PRISM_BIN is not set');
  process.stderr.write('No Prism (PRISM_BIN): the specs against it are skipped\n');
  return undefined;
}

/**
 * Prism serving the document. What is wrong with a request it says in the header `sl-violations`; it says there too what
 * is wrong with its own answers, for the document's examples do not keep to the document. The caller must `stop()` it.
 */
export async function startPrism(binary: string, document: string): Promise<Prism> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const args = ['mock', '--host', '127.0.0.1', '--port', String(port), document];
  const child = spawn(process.execPath, [binary, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const killOnExit = (): void => void child.kill('SIGKILL');
  process.on('exit', killOnExit);
  const stop = async (): Promise<void> => {
    process.off('exit', killOnExit);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
  };
  const deadline = Date.now() + START_LIMIT_MS;
  while (!/listening on/i.test(output)) {
    if (Date.now() > deadline || child.exitCode !== null) {
      await stop();
      throw new Error(`Prism does not listen: ${output}`);
    }
    await delay(50);
  }
  return { url, stop };
}
