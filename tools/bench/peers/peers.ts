import { join, resolve } from 'node:path';
import type { Cleanup } from '../../harness/cleanup.js';
import type { Progress } from '../../harness/run.js';
import { type AgainstPlan, compare, HERE, type Measured, Side, WORKS } from '../against.js';
import { HttpLoad } from '../http-load.js';
import { processorSeconds, residentMemory } from '../machine.js';
import { type Line, table, told } from '../report.js';
import { expectCoherent } from '../stage.js';
import { startMedusa } from './medusa.js';
import type { Peer, PeerWork } from './peer.js';
import { startVendure } from './vendure.js';

/**
 * Node.js compiles frequently run code. At a few dozen requests a second this takes more than the single warm-up round
 * of `compare`.
 */
const WARM_UP_ROUNDS = 8;
const PEERS = { medusa: startMedusa, vendure: startVendure };
/** The service's work that is compared with the peers' work. */
const OURS = { 'charges created': 'charges created, 16 connections', 'charges paid': 'charges paid, 100 wallets, 16' };

/**
 * Measures the service alternately with other systems, one after another, so that no third system runs beside them.
 * Each has a new database of the same PostgreSQL with the same settings.
 * @param path of a directory outside the project for the peers' packages; missing ones are installed
 * @throws Error when a peer could not be installed or started, or an answer was wrong
 */
export async function runPeers(
  plan: AgainstPlan,
  path: string,
  directory: string,
  cleanup: Cleanup,
  progress: Progress,
): Promise<string> {
  const ours = await Side.start(HERE, directory, cleanup);
  const lines: Line[] = [];
  const names: string[] = [];
  for (const [name, start] of Object.entries(PEERS)) {
    progress(`${name}: installed where it is not, filled and started`);
    const peer = await start(join(resolve(path), name), directory, cleanup);
    names.push(peer.name);
    for (const work of peer.works) {
      progress(`${work.name}, in turn with ${work.beside}`);
      const our = WORKS.find((one) => one.name.startsWith(OURS[work.beside]));
      if (!our) throw new Error(`Nothing is called ${OURS[work.beside]}`);
      const theirs = { measure: () => measure(peer, work, our.connections, plan.roundSeconds) };
      for (let round = 0; round < WARM_UP_ROUNDS; round++) {
        for (const side of [ours, theirs]) await side.measure(our, plan.roundSeconds);
      }
      lines.push(...(await compare(our, { Recebe: ours, [work.name]: theirs }, plan)).lines);
    }
    lines.push(...memory(ours, peer));
    await peer.stop();
  }
  await expectCoherent([ours.database]);
  return [`Recebe beside ${names.join(' and ')}, ${String(plan.rounds)} rounds of each`, '', table(lines), ''].join(
    '\n',
  );
}

async function measure(peer: Peer, work: PeerWork, connections: number, seconds: number): Promise<Measured> {
  await work.prepare();
  const load = new HttpLoad(peer.url, connections);
  await load.open();
  try {
    const before = nodeMs(peer);
    const round = await work.round(load, connections, seconds);
    if (round.count === 0) throw new Error(`${work.name}: no answer was right, the first: ${round.firstRefusal ?? ''}`);
    const after = nodeMs(peer);
    return { round, nodeMs: before === null || after === null ? null : after - before, postgresMs: null };
  } finally {
    await load.close();
  }
}

/** Processor time of all processes of a peer; null if the system does not report it. */
function nodeMs({ pids }: Peer): number | null {
  const seconds = pids.map((pid) => processorSeconds(pid));
  return seconds.includes(null) ? null : seconds.reduce<number>((sum, value) => sum + (value ?? 0), 0) * 1000;
}

function memory(ours: Side, peer: Peer): Line[] {
  const of = (pids: readonly number[]): number => pids.reduce((sum, pid) => sum + residentMemory(pid).nowMb, 0);
  const [our, theirs] = [of([ours.service.pid]), of(peer.pids)];
  return [
    told('resident memory of Node.js', `${our.toFixed(0)} MB`),
    told(
      `  ${peer.name}, ${peer.pids.length === 1 ? 'one process' : `${String(peer.pids.length)} processes`}`,
      `${theirs.toFixed(0)} MB`,
    ),
    told(`  Recebe / ${peer.name}`, (our / theirs).toFixed(2)),
  ];
}
