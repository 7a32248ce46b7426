import { expect, it } from '@jest/globals';
import { readConfig } from '../core/config/index.js';
import type { Logger } from '../core/log/index.js';
import { Metrics } from '../core/metrics/index.js';
import { Poller, type PollTask } from '../core/queue/index.js';
import type { DeliveryQueue } from './delivery-queue.js';
import type { ClaimedDelivery } from './delivery-queue.repository.js';
import { Dispatcher } from './dispatcher.js';
import type { Recorder } from './recorder.js';
import type { Sender, SentAttempt } from './sender.js';

it('a shutdown waits for a post for as long as one may take, and no longer', async () => {
  const TIMEOUT_MS = 1_500;
  const noop = (): void => undefined;
  const logger: Logger = { debug: noop, info: noop, warn: noop, error: noop };
  const poller = new Poller({ logger });
  const tasks = new Map<string, PollTask>();
  poller.every = (name, _intervalMs, task) => void tasks.set(name, task);
  const endpoint = { id: 'endpoint' } as ClaimedDelivery['endpoint'];
  const claimed = ['late', 'never'].map((id) => ({ id, accountId: 'account', endpoint }) as ClaimedDelivery);
  const queue = { claim: () => Promise.resolve(claimed) } as unknown as DeliveryQueue;
  const send = ({ id }: ClaimedDelivery): Promise<SentAttempt> =>
    new Promise((resolve) => {
      if (id === 'late') setTimeout(() => resolve({ statusCode: 200 } as SentAttempt), TIMEOUT_MS);
    });
  const recorded: string[] = [];
  const recorder = {
    record: ({ id }: ClaimedDelivery) => Promise.resolve(void recorded.push(id)),
    close: () => void recorded.push('closed'),
  } as unknown as Recorder;
  const config = readConfig({ WEBHOOK_TIMEOUT_MS: String(TIMEOUT_MS) });
  const dispatcher = new Dispatcher(config, queue, { send } as Sender, recorder, poller, new Metrics(), logger);
  dispatcher.onApplicationBootstrap();
  dispatcher.wake([{ endpointId: endpoint.id, accountId: 'account' }]);
  await tasks.get('webhooks.claim')?.();

  const began = performance.now();
  dispatcher.onModuleDestroy();
  await dispatcher.onApplicationShutdown();
  const took = performance.now() - began;
  expect(recorded).toEqual(['late', 'closed']);
  expect(took).toBeGreaterThan(TIMEOUT_MS + 900);
  expect(took).toBeLessThan(TIMEOUT_MS + 5_000);
});
