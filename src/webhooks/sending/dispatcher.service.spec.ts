import { describe, expect, it, jest } from '@jest/globals';
import { withFakeTimers } from '../../../test/support/fake-timers.js';
import { readConfig } from '../../core/config/index.js';
import type { Logger } from '../../core/log/index.js';
import { Metrics } from '../../core/metrics/index.js';
import { Poller, type PollTask } from '../../core/queue/index.js';
import type { DeliveryQueue } from './delivery-queue.service.js';
import type { ClaimedDelivery } from './delivery-queue.repository.js';
import type { Receiver } from './endpoint-slots.js';
import { Dispatcher } from './dispatcher.service.js';
import type { Recorder } from './recorder.service.js';
import type { Sender, SentAttempt } from './sender.service.js';

/** Returns a dispatcher that gets only the given claims, and a record of its calls. */
function setup(claims: (readonly ClaimedDelivery[])[], send: (delivery: ClaimedDelivery) => Promise<SentAttempt>) {
  const noop = (): void => undefined;
  const logger: Logger = { debug: noop, info: noop, warn: noop, error: noop };
  const poller = new Poller({ logger });
  const tasks = new Map<string, PollTask>();
  poller.every = (name, _intervalMs, task) => void tasks.set(name, task);
  const [recorded, handedBack, told]: [string[], string[], string[]] = [[], [], []];
  const queue = {
    claim: () => Promise.resolve(claims.shift() ?? []),
    handBack: (deliveries: readonly ClaimedDelivery[]) =>
      Promise.resolve(void handedBack.push(...deliveries.map(({ id }) => id))),
    tell: (receivers: readonly Receiver[]) => {
      told.push(...receivers.map(({ endpointId }) => endpointId));
      return Promise.resolve(false);
    },
  } as unknown as DeliveryQueue;
  const recorder = {
    record: ({ id }: ClaimedDelivery) => Promise.resolve(void recorded.push(id)),
    close: () => void recorded.push('closed'),
  } as unknown as Recorder;
  const config = readConfig({ WEBHOOK_TIMEOUT_MS: String(TIMEOUT_MS) });
  const dispatcher = new Dispatcher(config, queue, { send } as Sender, recorder, poller, new Metrics(), logger);
  dispatcher.onApplicationBootstrap();
  const claim = async (endpointId = 'endpoint'): Promise<void> => {
    dispatcher.wake([{ endpointId, accountId: 'account' }]);
    await turns();
    await tasks.get('webhooks.claim')?.();
  };
  return { dispatcher, claim, tidy: () => tasks.get('webhooks.hand_back')?.(), recorded, handedBack, told };
}

const TIMEOUT_MS = 1_500;
/** Time for the record of a post, beyond its time limit */
const MARGIN_MS = 1_000;
const deliveryOf = (id: string, endpointId = 'endpoint'): ClaimedDelivery =>
  ({ id, endpoint: { id: endpointId, accountId: 'account' } }) as ClaimedDelivery;
const turns = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10));

describe('the dispatcher waits at shutdown for as long as a post may take, and no longer', () => {
  withFakeTimers();

  it('waits as long as a post and its record may take, and no longer', async () => {
    const { dispatcher, claim, recorded } = setup(
      [[deliveryOf('late', 'one'), deliveryOf('never', 'other')]],
      ({ id }) => {
        return new Promise((resolve) => {
          if (id === 'late') setTimeout(() => resolve({ statusCode: 200 } as SentAttempt), TIMEOUT_MS);
        });
      },
    );
    const claiming = claim();
    await jest.advanceTimersByTimeAsync(10);
    await claiming;

    dispatcher.onModuleDestroy();
    const shutdown = dispatcher.onApplicationShutdown();
    await jest.advanceTimersByTimeAsync(TIMEOUT_MS + MARGIN_MS - 1);
    expect(recorded).toEqual(['late']);
    // Includes one more turn of the event loop.
    await jest.advanceTimersByTimeAsync(2);
    await shutdown;
    expect(recorded).toEqual(['late', 'closed']);
  });
});

it('the dispatcher looks at once for new deliveries, and wakes other workers by a job', async () => {
  const { claim, told, recorded } = setup([[deliveryOf('first')]], () =>
    Promise.resolve({ statusCode: 200 } as SentAttempt),
  );
  await claim();
  await turns();
  expect([told, recorded]).toEqual([['endpoint'], ['first']]);
});

it('the dispatcher takes jobs only while it has room', async () => {
  const answers: (() => void)[] = [];
  const ids = Array.from({ length: 300 }, (_, n) => String(n));
  const { dispatcher, claim } = setup(
    [ids.map((id) => deliveryOf(id, id))],
    () => new Promise((resolve) => answers.push(() => resolve({ statusCode: 200 } as SentAttempt))),
  );
  await claim();

  let taken = false;
  const taking = dispatcher.take({ endpointId: 'theirs', accountId: 'account' }).then(() => (taken = true));
  await turns();
  expect(taken).toBe(false);
  for (const answer of answers) answer();
  await taking;
  expect(taken).toBe(true);
});

describe('a delivery claimed ahead for an endpoint that answers at once', () => {
  /** After a first answered delivery, three may be under way and more are claimed ahead. */
  async function start() {
    const answers = new Map<string, (statusCode: number) => void>();
    const made = setup(
      [[deliveryOf('first')], ['1', '2', '3', '4', '5'].map((id) => deliveryOf(id))],
      ({ id }) => new Promise((resolve) => answers.set(id, (statusCode) => resolve({ statusCode } as SentAttempt))),
    );
    const answer = async (id: string, statusCode: number): Promise<void> => {
      answers.get(id)?.(statusCode);
      await turns();
    };
    await made.claim();
    await answer('first', 200);
    await made.claim();
    expect([...answers.keys()]).toEqual(['first', '1', '2', '3']);
    return { ...made, answer, sent: () => [...answers.keys()].slice(1) };
  }

  it('is sent as soon as the others are answered', async () => {
    const { answer, sent, recorded, handedBack } = await start();
    await answer('2', 200);
    expect(sent()).toEqual(['1', '2', '3', '4', '5']); // each success allows one more at a time
    for (const id of ['1', '3', '4', '5']) await answer(id, 200);
    expect(recorded).toEqual(['first', '2', '1', '3', '4', '5']);
    expect(handedBack).toEqual([]);
  });

  it('is handed back unsent when one of the others fails', async () => {
    const { answer, sent, handedBack } = await start();
    await answer('1', 500);
    expect([sent(), handedBack]).toEqual([
      ['1', '2', '3'],
      ['4', '5'],
    ]);
    await answer('2', 200);
    expect(sent()).toEqual(['1', '2', '3']);
  });

  it('is handed back when no answer comes', async () => {
    const { tidy, sent, handedBack } = await start();
    const now = performance.now();
    const clock = jest.spyOn(performance, 'now').mockReturnValue(now + 1_100);
    await tidy();
    clock.mockRestore();
    expect([sent(), handedBack]).toEqual([
      ['1', '2', '3'],
      ['4', '5'],
    ]);
  });

  it('is handed back at a shutdown, which waits for the others', async () => {
    const { dispatcher, answer, sent, recorded, handedBack } = await start();
    dispatcher.onModuleDestroy();
    const shutdown = dispatcher.onApplicationShutdown();
    for (const id of ['1', '2', '3']) await answer(id, 200);
    await shutdown;
    expect([sent(), handedBack]).toEqual([
      ['1', '2', '3'],
      ['4', '5'],
    ]);
    expect(recorded).toEqual(['first', '1', '2', '3', 'closed']);
  });
});
