import { join, resolve } from 'node:path';
import type { Run } from '../../harness/run.js';
import { describeMachine, residentMemory } from '../machine.js';
import { type Line, table, told } from '../report.js';
import { expectCoherent, HERE, Service } from '../service.js';
import { type Plan, sideOf, takeTurns } from '../turns.js';
import { WORKLOADS } from '../workloads.js';
import { startMedusa } from './medusa.js';
import { startVendure } from './vendure.js';

/** Node.js compiles frequently run code. At a few dozen requests a second this takes more than one warm-up round. */
const WARM_UPS = 8;
const PEERS = { medusa: startMedusa, vendure: startVendure };

/**
 * Measures the service in turn with other systems, one after another, so that no third system runs beside them. Each
 * has a new database of the same PostgreSQL with the same settings.
 * @param path of a directory outside the project for the peers' packages; missing ones are installed
 * @throws Error when a peer could not be installed or started, or an answer was wrong
 */
export async function runPeers(plan: Plan, path: string, { directory, cleanup, progress }: Run): Promise<string> {
  const service = await Service.start(HERE, directory, cleanup);
  const machine = describeMachine(service.postgresVersion, service.process.queue);
  const lines: Line[] = [];
  for (const [name, start] of Object.entries(PEERS)) {
    progress(`${name}: installed where it is not, filled and started`);
    const peer = await start(join(resolve(path), name), directory, cleanup);
    for (const work of peer.works) {
      progress(`${work.name}, in turn with ${work.beside}`);
      const ours = WORKLOADS.find((one) => one.name === work.beside);
      if (!ours) throw new Error(`Nothing is called ${work.beside}`);
      const sides = [sideOf('Recebe', service, ours), sideOf(work.name, peer, work)];
      lines.push(...(await takeTurns(work.beside, sides, { ...plan, warmUps: WARM_UPS })));
    }
    lines.push(memoryLine('Recebe', [service.process.pid]), memoryLine(peer.name, peer.pids));
    await peer.stop();
  }
  await expectCoherent(service.database);
  const title = `Recebe beside its peers, ${String(plan.rounds)} rounds of each; ratio: median (least to most)`;
  return [...machine, title, '', table(lines), ''].join('\n');
}

function memoryLine(name: string, pids: readonly number[]): Line {
  const mb = pids.reduce((sum, pid) => sum + residentMemory(pid).nowMb, 0);
  return told(`memory of Node.js, ${name}, processes: ${String(pids.length)}`, `${mb.toFixed(0)} MB`);
}
