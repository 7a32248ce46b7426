import { parseArgs } from 'node:util';
import { type AgainstPlan, runAgainst } from './against.js';
import { inOwnDirectory } from '../harness/run.js';
import { type Plan, runBenchmark } from './benchmark.js';
import { type HeldPlan, runHeldBenchmark } from './held.js';
import { type GrowthPlan, runGrowthBenchmark } from './growth.js';
import { type ListPlan, runListBenchmark } from './lists.js';
import { runPeers } from './peers/peers.js';

const FULL: Plan = { starts: 3, pairs: 8, roundSeconds: 0.7, warmUpCharges: 10_000, webhooks: 1_000 };
const QUICK: Plan = { starts: 1, pairs: 3, roundSeconds: 0.5, warmUpCharges: 10_000, webhooks: 150 };

const AGAINST: AgainstPlan = { rounds: 12, roundSeconds: 1 };
const LISTS: ListPlan = { small: 1_000, large: 1_000_000, requests: 200 };

const GROWTH: GrowthPlan = { ...AGAINST, small: 1_000, large: 10_000_000, requests: 100, backlog: 5_000 };
const HELD: HeldPlan = { payments: 180_000, roundPayments: 3_000, backlog: 5_000 };

const USAGE = `npm run bench [-- --quick | --lists [--payments n] | --growth [--payments n] | --held [--payments n] |
  --against checkout | --peers directory]

Starts the service on the embedded default in a directory of its own and measures it; about three minutes, with
--quick one. --lists measures lists and statistics instead, of an account with a thousand payments against one with a
million (--payments), which it generates first: some minutes, and 3 GB of disk. --growth measures everything beside a
database of ten million payments (--payments) with entries, events and deliveries: 80 minutes, and 60 GB. --held measures
payments and their webhooks beside a snapshot that is held open for 180 000 payments. --against measures creates and
payments in turn with another checkout that is built, as of the last release. --peers measures them in turn with two
shops, Medusa and Vendure, which it installs into the directory first: some minutes, and 1 GB of disk. Nothing else
should be running on the machine. Figures that miss their target are marked and do not make it fail.
`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean' },
      lists: { type: 'boolean' },
      growth: { type: 'boolean' },
      held: { type: 'boolean' },
      payments: { type: 'string' },
      against: { type: 'string' },
      peers: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) {
    process.stdout.write(USAGE);
    return;
  }
  await inOwnDirectory('bench', async ({ directory, cleanup, progress }) => {
    const run = (): Promise<string> => {
      if (values.against !== undefined) return runAgainst(AGAINST, values.against, directory, cleanup, progress);
      if (values.peers !== undefined) return runPeers(AGAINST, values.peers, directory, cleanup, progress);
      if (values.growth === true) {
        const plan = { ...GROWTH, large: Number(values.payments ?? GROWTH.large) };
        return runGrowthBenchmark(plan, directory, cleanup, progress);
      }
      if (values.held === true) {
        const plan = { ...HELD, payments: Number(values.payments ?? HELD.payments) };
        return runHeldBenchmark(plan, directory, cleanup, progress);
      }
      if (values.lists !== true) return runBenchmark(values.quick ? QUICK : FULL, directory, cleanup, progress);
      const plan = { ...LISTS, large: Number(values.payments ?? LISTS.large) };
      return runListBenchmark(plan, directory, cleanup, progress);
    };
    process.stdout.write(await run());
  });
}

main().catch((error: unknown) => {
  process.stderr.write(
    `\nThe benchmark could not be finished.\n${error instanceof Error ? error.message : String(error)}\n`,
  );
  process.exitCode = 1;
});
