import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cleanup } from '../../harness/cleanup.js';
import { Ground, type Peer, peerOf } from './peer.js';

const VERSION = '2.21.2';
const CLI = 'node_modules/@medusajs/cli/cli.js';
/** Each session is the first of its collection: before a second one Medusa deletes the first. */
const COLLECTIONS = 10_000;

/**
 * Starts Medusa in its setup without Redis: events, locks and workflows in the memory of one process.
 * @param directory the directory where it is installed
 */
export async function startMedusa(directory: string, runDirectory: string, cleanup: Cleanup): Promise<Peer> {
  const dependencies = { '@medusajs/cli': VERSION, '@medusajs/framework': VERSION, '@medusajs/medusa': VERSION };
  const files = ['medusa/medusa-config.js', 'medusa/fill.js'];
  const ground = await Ground.prepare(directory, dependencies, files, runDirectory, cleanup);
  await ground.run(CLI, 'db:migrate', '--execute-all-links', '--skip-scripts');
  const made = join(ground.runDirectory, 'made.json');
  await ground.run(CLI, 'exec', './fill.js', made, String(COLLECTIONS));
  const { key, collections } = JSON.parse(readFileSync(made, 'utf8')) as { key: string; collections: string[] };
  const server = await ground.start(CLI, ['start', '-H', '127.0.0.1'], 'Server is ready on port');
  const headers = { 'x-publishable-api-key': key };
  const body = JSON.stringify({ provider_id: 'pp_system_default' });
  return peerOf(
    `Medusa ${VERSION}`,
    ground.url,
    [server],
    [
      {
        name: 'Medusa, payment session',
        beside: 'charges created, 16 connections',
        connections: 16,
        prepare: async (_system, load) => (worker) => {
          const collection = collections.pop();
          if (collection === undefined) return null;
          const path = `/store/payment-collections/${collection}/payment-sessions`;
          return () =>
            load.send(worker, 'POST', path, headers, body, 200, (answer) => answer.includes('"status":"pending"'));
        },
      },
    ],
  );
}
