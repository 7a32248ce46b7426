import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../tools/harness/free-port.js';
import { pathOf } from './needs.js';

const START_LIMIT_MS = 30_000;

export interface Prism {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Prism serving the document. The header `sl-violations` names faults of a request, and faults of Prism's own
 * answers, since the document's examples break the document. The caller must `stop()` it.
 */
export async function startPrism(document: string): Promise<Prism> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const args = ['mock', '--host', '127.0.0.1', '--port', String(port), document];
  const child = spawn(process.execPath, [pathOf('prism'), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
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
