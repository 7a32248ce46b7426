import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { PixApiClient } from '../../../src/acquirers/pix-api/pix-api.client.js';
import { Logger } from '../../../src/core/log/index.js';
import { JobQueues, Runs } from '../../../src/core/queue/index.js';
import { StatementSweep } from '../../../src/reconciliation/statement-sweep.service.js';
import { StatementsService } from '../../../src/reconciliation/statements.service.js';
import { ExpiryProcessor } from '../../../src/transactions/expiry/expiry.processor.js';
import { ExpiryQuestions } from '../../../src/transactions/expiry/expiry-questions.service.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { LiveStory } from '../../support/live-story.js';
import { type ChargeAnswer, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

describe('a process that asks banks about expired charges and reads their lists', () => {
  let database: TestDatabase;
  let service: TestService;
  let story: LiveStory;
  let made: ChargeAnswer;

  /** A charge that was paid in time without a callback, past its expiry. */
  beforeEach(async () => {
    database = await createTestDatabase();
    service = await TestService.start({ database, env: { ROLE: 'api' } });
    story = await LiveStory.start(service);
    made = await story.charge({ expires_in: 60 });
    story.bank.addFault({ operation: 'callback', fault: { kind: 'lose' } });
    story.pay(made);
    service.clock.advance(123);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await story.stop();
    await service.stop();
    await database.drop();
  });

  const askDue = (): Promise<unknown> => service.get(ExpiryQuestions).askDue();
  const sweep = (): Promise<unknown> => service.get(StatementSweep).sweep();
  const lists = (): Promise<unknown[]> =>
    service.sql('SELECT list, attempts, last_error FROM acquirer_statements ORDER BY list');
  const charges = (): Promise<unknown[]> =>
    service.sql('SELECT status, expiry_ask_at IS NOT NULL AS claimed FROM transactions WHERE id = $1', [
      made.id.slice(3),
    ]);

  /**
   * Holds queries of the bank back until the process has begun to end its runs, and ends the process. A run then goes on
   * as late as it may.
   */
  async function endDuring(operation: 'getCob' | 'listPix', begin: () => Promise<unknown>): Promise<void> {
    let release = (): void => undefined;
    const isEnding = new Promise<void>((resolve) => (release = resolve));
    const query = Reflect.get(PixApiClient.prototype, operation) as (...args: unknown[]) => Promise<unknown>;
    const held = jest.spyOn(PixApiClient.prototype, operation);
    held.mockImplementation(async function (this: PixApiClient, ...args: unknown[]) {
      await isEnding;
      return (await query.apply(this, args)) as never;
    });
    const end = Reflect.get(Runs.prototype, 'end');
    jest.spyOn(Runs.prototype, 'end').mockImplementation(function (this: Runs) {
      const ended = end.call(this);
      release();
      return ended;
    });
    await begin();
    await waitFor('the query', () => held.mock.calls.length > 0);
    await service.runtime.close();
  }

  it('settles a payment by a question that is under way when the process ends', async () => {
    await endDuring('getCob', askDue);
    expect(await charges()).toEqual([{ status: 'PAID', claimed: true }]);
  });

  it('reads lists to their end that are under way when the process ends', async () => {
    await endDuring('listPix', sweep);
    expect(await lists()).toEqual(
      ['late_payments', 'payments', 'returns'].map((list) => ({ list, attempts: 0, last_error: null })),
    );
  });

  it('claims no question and no list once the process is ending', async () => {
    const jobs = service.get(JobQueues);
    const release = jobs.beforeApplicationShutdown.bind(jobs);
    const released = jest.spyOn(jobs, 'beforeApplicationShutdown').mockImplementation(async () => {
      await Promise.all([askDue(), sweep()]);
      await release();
    });
    await service.runtime.close();
    expect(released).toHaveBeenCalledTimes(1);
    expect(await charges()).toEqual([{ status: 'WAITING_PAYMENT', claimed: false }]);
    expect(await lists()).toEqual([]);
  });

  it('logs a failure with the id of its charge or the name of its list', async () => {
    jest.spyOn(service.get(ExpiryProcessor), 'run').mockRejectedValue(new Error('away'));
    jest.spyOn(service.get(StatementsService), 'read').mockRejectedValue(new Error('away'));
    const logged = jest.spyOn(service.get(Logger), 'error');
    await Promise.all([askDue(), sweep()]);
    await waitFor('the failures', () => logged.mock.calls.length === 4);
    const { acquirer } = story.live;
    expect(logged.mock.calls.map(([fields]) => fields)).toEqual(
      expect.arrayContaining([
        { err: new Error('away'), task: 'transactions.expiry.ask', transactionId: made.id.slice(3) },
        ...['late_payments', 'payments', 'returns'].map((list) => ({
          ...{ err: new Error('away'), task: 'reconciliation.statements', acquirer, list },
        })),
      ]),
    );
  });
});
