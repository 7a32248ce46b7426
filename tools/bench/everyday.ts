import { mkdtempSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Run } from '../harness/run.js';
import { ServiceProcess } from '../harness/service-process.js';
import { Bare } from './bare.js';
import { HttpLoad } from './http-load.js';
import { describeMachine, residentMemory } from './machine.js';
import type { Merchant } from './merchants.js';
import { type Line, table, told } from './report.js';
import { createCharge, expectCoherent, HERE, openCharges, Service } from './service.js';
import type { Operation } from './stats.js';
import { type Plan, sideOf, takeTurns } from './turns.js';
import { WORKLOADS } from './workloads.js';

const WARM_UP_CHARGES = 10_000;

/**
 * Measures starts, memory and the workloads: creates and payments in turn with bare `pg` clients.
 * @param starts number of starts on an empty directory, each followed by another start
 * @returns the report
 * @throws Error when an answer was wrong
 */
export async function runEveryday(plan: Plan, starts: number, run: Run): Promise<string> {
  const { directory, cleanup, progress } = run;
  const { service, lines: startLines } = await measureStarts(starts, run);
  const machine = describeMachine(service.postgresVersion, service.process.queue);
  progress('recording the statements of a create and of a payment');
  const bare = await Bare.beside(service, directory, cleanup);
  progress(`warming up with ${String(WARM_UP_CHARGES)} charges`);
  const load = new HttpLoad(service.url, 16);
  const create = (worker: number, merchant: Merchant): Operation => createCharge(load, worker, merchant);
  await openCharges(service.database, service.merchants, WARM_UP_CHARGES, create);
  await load.close();
  const lines = [...startLines, memoryLine(`memory after ${String(WARM_UP_CHARGES)} charges`, service)];
  for (const work of WORKLOADS) {
    progress(work.name);
    const sides = [sideOf('service', service, work)];
    if (work.bare !== undefined) sides.push(bare.side(work, work.bare));
    if (work.beside !== undefined) sides.push(sideOf(work.beside.name, service, work.beside));
    lines.push(...(await takeTurns(work.name, sides, plan, work.target)));
  }
  lines.push(memoryLine('memory at the end', service));
  await expectCoherent(service.database, bare.database);
  return [
    ...machine,
    table(lines),
    '',
    'Queries and round trips, counted between the service and PostgreSQL (BEGIN and COMMIT are no queries; statements',
    'joined by + travel together). The bare clients repeat these statements:',
    ...bare.recordings.create.describe('a create'),
    ...bare.recordings.pay.describe('a payment, from simulate to its answer'),
    '',
  ].join('\n');
}

/**
 * Measures the workloads of this build in turn with another checkout's, each as a service with a database of its own.
 * @param other path of a checkout that is built, with its node_modules
 * @throws Error when the other one is not built, or an answer was wrong
 */
export async function runAgainst(plan: Plan, other: string, { directory, cleanup, progress }: Run): Promise<string> {
  const here = await Service.start(HERE, directory, cleanup);
  const there = await Service.start(join(resolve(other), 'dist'), directory, cleanup);
  const machine = describeMachine(here.postgresVersion, here.process.queue);
  const lines: Line[] = [];
  for (const work of WORKLOADS) {
    progress(`${work.name}, in turn with ${other}`);
    const sides = [sideOf('here', here, work), sideOf('there', there, work)];
    lines.push(...(await takeTurns(work.name, sides, plan)));
  }
  for (const [name, { process }] of Object.entries({ here, there })) {
    lines.push(told(`memory at the end, ${name}`, `${residentMemory(process.pid).nowMb.toFixed(0)} MB`));
  }
  await expectCoherent(here.database, there.database);
  const title = `here against ${other}, ${String(plan.rounds)} rounds of each; ratio: median (least to most)`;
  return [...machine, title, '', table(lines), ''].join('\n');
}

/** Starts the service in new directories, and again in each; the last service stays up. */
async function measureStarts(times: number, run: Run): Promise<{ service: Service; lines: Line[] }> {
  const seconds: { first: number[]; second: number[] } = { first: [], second: [] };
  for (let turn = 1; ; turn++) {
    run.progress(`start ${String(turn)} of ${String(times)}: on an empty directory, and again`);
    const dataDir = mkdtempSync(join(run.directory, 'data-'));
    const first = await ServiceProcess.start(dataDir, run.cleanup);
    await first.stop();
    const second = await ServiceProcess.start(dataDir, run.cleanup);
    seconds.first.push(first.startMs / 1000);
    seconds.second.push(second.startMs / 1000);
    if (turn < times) {
      await second.stop();
      continue;
    }
    const text = (values: readonly number[]): string => `${values.map((value) => value.toFixed(2)).join(', ')} s`;
    const target = { text: 'under 3 s', met: Math.max(...seconds.second) < 3 };
    const again = { figure: '  second start', measured: text(seconds.second), target };
    const lines = [told('start to ready, first start', text(seconds.first)), again];
    return { service: await Service.of(second, dataDir, HERE, run.cleanup), lines };
  }
}

function memoryLine(figure: string, { process }: Service): Line {
  const { nowMb, peakMb } = residentMemory(process.pid);
  const peak = peakMb === null ? '' : `, peak ${peakMb.toFixed(0)} MB`;
  return { figure, measured: `${nowMb.toFixed(0)} MB${peak}`, target: { text: 'under 250 MB', met: nowMb < 250 } };
}
