import { parseArgs } from 'node:util';
import { inOwnDirectory } from '../harness/run.js';
import { runAgainst, runEveryday } from './everyday.js';
import { runLists } from './lists.js';
import { runPeers } from './peers/peers.js';
import type { Plan } from './turns.js';

const EVERYDAY: Plan = { rounds: 8, seconds: 0.7 };
const AGAINST: Plan = { rounds: 12, seconds: 1 };
const QUICK: Plan = { rounds: 3, seconds: 0.5 };
const LISTS: Plan = { rounds: 4, seconds: 0.3 };

const USAGE = `npm run bench [-- [--against checkout | --lists [--payments n] | --peers directory] [--quick]]

Starts the service on the embedded default in a directory of its own and measures it; about three minutes, with
--quick two. --against measures the same in turn with another checkout that is built, as of the last release. --lists
measures lists and statistics of an account with a thousand payments against one with a million (--payments), which it
generates first: some minutes, and 3 GB of disk. --peers measures creates and payments in turn with two shops, Medusa
and Vendure, which it installs into the directory first: some minutes, and 1 GB of disk. Nothing else should be running
on the machine. Figures that miss their target are marked and do not make it fail.
`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      against: { type: 'string' },
      lists: { type: 'boolean', default: false },
      payments: { type: 'string', default: '1000000' },
      peers: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  const plan = (usual: Plan): Plan => (values.quick ? QUICK : usual);
  await inOwnDirectory('bench', async (run) => {
    const report =
      values.against !== undefined
        ? runAgainst(plan(AGAINST), values.against, run)
        : values.peers !== undefined
          ? runPeers(plan(AGAINST), values.peers, run)
          : values.lists
            ? runLists(LISTS, Number(values.payments), run)
            : runEveryday(plan(EVERYDAY), values.quick ? 1 : 3, run);
    process.stdout.write(await report);
  });
}

main().catch((error: unknown) => {
  process.stderr.write(
    `\nThe benchmark could not be finished.\n${error instanceof Error ? error.message : String(error)}\n`,
  );
  process.exitCode = 1;
});
