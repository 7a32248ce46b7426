import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SandboxAcquirer } from '../../src/acquirers/index.js';
import { expectLedgerCoherent } from '../support/coherence.js';
import { Reached } from '../support/money-model/branches.js';
import { firstMonday } from '../support/money-model/payouts.js';
import { tellAgain, tellStory } from '../support/money-model/story.js';
import type { Step } from '../support/money-model/walk.js';
import { trial } from '../support/scale.js';
import { TestClock, TestService } from '../support/service.js';

/** `MODEL_OPERATIONS=100000 npm test -- test/stress/money-model` runs more, and PROPERTY_SEED=random runs others. */
const OPERATIONS = Number(process.env['MODEL_OPERATIONS'] ?? trial(15_000, 5_000));
const OF_A_STORY = 40;
/** Stories in one database. With more, checking the books would take longer than running the stories. */
const STORIES_OF_A_BOOK = 25;
/** Stories between two checks of the books. A difference from the model shows at its own step in any case. */
const STORIES_OF_A_CHECK = 5;
/** In cents. Low enough that some entries are below the limit one by one, but above it together. */
const CORRECTION_LIMIT = 700;
const seedText = process.env['PROPERTY_SEED'] ?? '20261121';
const SEED = seedText === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(seedText);

let service: TestService;
/** The bank's fee for each payment and return in the current story. The sandbox by itself charges nothing. */
let bankFee = 0;

function haveCharged(bank: SandboxAcquirer): void {
  const getPix = bank.getPix.bind(bank);
  const getPayment = bank.orders.getPayment.bind(bank.orders);
  const charged = <T extends object>(told: T | null): T | null => told && { ...told, fee: bankFee };
  bank.getPix = async (reference) => charged(await getPix(reference));
  bank.orders.getPayment = async (reference) => charged(await getPayment(reference));
  const getReturn = bank.getReturn.bind(bank);
  bank.getReturn = async (name) => {
    const state = await getReturn(name);
    return state.kind === 'returned' ? { ...state, fee: bankFee } : state;
  };
}

/** Removes steps from a story as long as service and model still differ. Each try has a new merchant. */
async function shortest(
  steps: readonly Step[],
  differs: (steps: readonly Step[]) => Promise<boolean>,
): Promise<Step[]> {
  let known = [...steps];
  for (let size = Math.ceil(known.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = known.length - size; at > -size; at -= size) {
      const without = known.toSpliced(Math.max(0, at), size + Math.min(0, at));
      if (without.length > 0 && (await differs(without))) known = without;
    }
  }
  return known;
}

describe('a model of the money that shares no code with the service', () => {
  const begin = async (): Promise<void> => {
    // No background work runs, and the clock stands still between steps. Events are kept until all books are checked.
    const env = { ROLE: 'api', RETENTION_DAYS: '3660', CORRECTION_LIMIT: String(CORRECTION_LIMIT) };
    const clock = new TestClock().stand();
    clock.offsetMs = firstMonday(clock.now()).getTime() - clock.now().getTime();
    service = await TestService.start({ clock, env });
    haveCharged(service.get(SandboxAcquirer));
  };
  const beginAnew = async (): Promise<void> => {
    await service.stop();
    await begin();
  };

  beforeAll(begin);
  afterAll(() => service.stop());

  // The number of operations ends the test, and no time limit: a slow machine takes longer.
  it(
    'agrees with it on every answer, sale, refund, dispute, payout and balance, on each branch of each rule',
    async () => {
      const reached = new Reached();
      const beganAt = performance.now();
      let done = 0;
      for (let story = 0; done < OPERATIONS; story++) {
        const seed = SEED + story;
        const { told, terms, purse, error } = await tellStory(
          service,
          seed,
          { steps: OF_A_STORY, correctionLimit: CORRECTION_LIMIT, reached },
          (fee) => (bankFee = fee),
        );
        done += told.length;
        if (error !== null) {
          process.stderr.write(`A difference after ${String(done)} operations, in the story of seed ${String(seed)}\n`);
          await beginAnew();
          const differs = async (steps: readonly Step[]): Promise<boolean> => {
            const isDifferent = await tellAgain(service, steps, { terms, purse, reached: new Reached() });
            // Wrong books would fail the check of every later try.
            if (isDifferent) await beginAnew();
            return isDifferent;
          };
          const steps = await shortest(told, differs);
          process.stderr.write(
            `${JSON.stringify({ terms, purse })}\n${steps.map((one) => JSON.stringify(one)).join('\n')}\n`,
          );
          throw error instanceof Error ? error : new Error('A step threw something else', { cause: error });
        }
        if (story % STORIES_OF_A_CHECK === STORIES_OF_A_CHECK - 1) await expectLedgerCoherent(service.database.url);
        if (story % STORIES_OF_A_BOOK === STORIES_OF_A_BOOK - 1) await beginAnew();
      }
      await expectLedgerCoherent(service.database.url);
      const seconds = (performance.now() - beganAt) / 1000;
      process.stderr.write(
        `${String(done)} operations, ${(done / seconds).toFixed(1)} a second\n${reached.toString()}\n`,
      );
      expect(reached.missing).toEqual([]);
    },
    2 ** 31 - 1,
  );
});
