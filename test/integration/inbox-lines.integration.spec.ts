import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  AcquirersService,
  InboxDispatcher,
  InboxService,
  type NotificationHint,
  type ReceivedPix,
} from '../../src/acquirers/index.js';
import { newEndToEndId } from '../../src/brazil/index.js';
import { Database } from '../../src/core/database/index.js';
import { JobQueues } from '../../src/core/queue/index.js';
import { expectLedgerCoherent } from '../support/coherence.js';
import { FarBank } from '../support/far-bank.js';
import { describeWith } from '../support/needs.js';
import { startRedis, type TestRedis } from '../support/redis.js';
import { TestService } from '../support/service.js';
import { waitFor } from '../support/wait.js';

/** A bank that answers questions about Pix only when a test lets it. */
class SlowBank extends FarBank {
  readonly asked: string[] = [];
  isHeld = false;
  readonly #held: (() => void)[] = [];

  override async getPix(endToEndId: string): Promise<ReceivedPix | null> {
    this.asked.push(endToEndId);
    if (this.isHeld) await new Promise<void>((go) => this.#held.push(go));
    return super.getPix(endToEndId);
  }

  answer(): void {
    this.isHeld = false;
    for (const go of this.#held.splice(0)) go();
  }
}

const forged = (count: number): NotificationHint[] =>
  Array.from({ length: count }, () => ({ kind: 'pix', reference: newEndToEndId('12345678', new Date()) }));

describe('the hints of an inbox', () => {
  const service = TestService.forSpec({ env: { RATE_LIMIT: 'on' } });
  const banks: SlowBank[] = [];

  beforeEach(async () => {
    await service.sql('TRUNCATE acquirer_notifications');
  });
  afterEach(async () => {
    for (const bank of banks.splice(0)) bank.answer();
    await expectLedgerCoherent(service.database.url);
  });

  function aBank(): SlowBank {
    const bank = new SlowBank(`bank-${randomUUID()}`);
    service.get(AcquirersService).register(bank, { servesTestMode: true });
    banks.push(bank);
    return bank;
  }
  const tell = (bank: FarBank, hints: NotificationHint[]): Promise<number> =>
    service.get(Database).transaction((tx) => service.get(InboxService).queueUnconfirmed(tx, bank.name, hints));
  const list = (bank: FarBank, hints: NotificationHint[]): Promise<void> =>
    service.get(Database).transaction((tx) => service.get(InboxService).queueAll(tx, bank.name, hints));

  /** A charge that was paid at the bank. */
  async function paid(bank: FarBank): Promise<{ hint: NotificationHint; isCredited: () => Promise<boolean> }> {
    const { testKey } = await service.merchant();
    const { body } = await service.createCharge(testKey);
    const txid = body.pix.txid ?? '';
    const { endToEndId } = bank.receive({ txid, amount: body.amount }, { settledAt: service.clock.now() });
    const isCredited = async (): Promise<boolean> => (await service.getCharge(testKey, body.id)).body.status === 'paid';
    return { hint: { kind: 'pix', reference: endToEndId, txid }, isCredited };
  }

  it('are queried a few at a time while unconfirmed; the list of that bank and other banks do not wait', async () => {
    const other = aBank();
    const told = await paid(other);
    const bank = aBank();
    const listed = await paid(bank);
    bank.isHeld = true;
    await tell(bank, forged(1_500));
    await waitFor('the first questions', () => bank.asked.length > 0);
    await tell(other, [told.hint]);
    await waitFor('the Pix of the other bank', told.isCredited);
    expect(bank.asked).toHaveLength(2);
    await list(bank, [listed.hint]);
    await waitFor('the question about the list', () => bank.asked.includes(listed.hint.reference));
    expect(bank.asked).toHaveLength(3);
    bank.answer();
    await waitFor('the Pix of the list', listed.isCredited);
  });

  it('are queried more at a time for a bank that confirms them', async () => {
    const bank = aBank();
    for (let n = 0; n < 5; n++) {
      const { hint, isCredited } = await paid(bank);
      await tell(bank, [hint]);
      await waitFor('the Pix', isCredited);
    }
    bank.isHeld = true;
    bank.asked.length = 0;
    await tell(bank, forged(20));
    await waitFor('six questions', () => bank.asked.length === 6);
  });

  it('are postponed all at once, without an attempt, when the allowance of vain queries is used up', async () => {
    const bank = aBank();
    await tell(bank, forged(1_000));
    const waiting = (): Promise<{ untried: number; due: number; asked: number }[]> =>
      service.sql(
        `SELECT count(*) FILTER (WHERE attempts = 0)::int AS untried, count(*) FILTER (WHERE attempts > 0)::int AS asked,
           count(*) FILTER (WHERE attempts = 0 AND next_attempt_at < $2)::int AS due
         FROM acquirer_notifications WHERE acquirer = $1 AND status = 'pending'`,
        [bank.name, new Date(service.clock.now().getTime() + 30_000)],
      );
    await waitFor('the rest to be put off', async () => (await waiting())[0]?.due === 0);
    expect(bank.asked.length).toBeLessThanOrEqual(120);
    const [{ untried, asked } = { untried: 0, asked: 0 }] = await waiting();
    expect(untried + asked).toBe(1_000);
    expect(untried).toBeGreaterThanOrEqual(880);
  });

  it('are stored up to a limit of unconfirmed reports per minute and in all, without limit for the list', async () => {
    const bank = aBank();
    const pending = async (): Promise<number> =>
      (await service.sql('SELECT 1 FROM acquirer_notifications WHERE acquirer = $1', [bank.name])).length;
    expect(await tell(bank, forged(1_500))).toBe(0);
    expect(await tell(bank, forged(1_500))).toBe(1_000);
    expect(await tell(bank, forged(10))).toBe(10);
    expect(await pending()).toBe(2_000);
    for (let minute = 0; minute < 3; minute++) {
      await service.sql(`UPDATE acquirer_notifications SET received_at = received_at - interval '61 seconds'`);
      await tell(bank, forged(2_000));
    }
    expect(await pending()).toBe(5_000);
    await list(bank, forged(1_000));
    expect(await pending()).toBe(6_000);
    expect(await tell(aBank(), forged(5))).toBe(0);
  });
});

describeWith('redis')('a process without workers', () => {
  let redis: TestRedis;
  let service: TestService;

  beforeAll(async () => {
    redis = await startRedis();
    service = await TestService.start({ env: { ROLE: 'api', REDIS_URL: redis.url } });
  });
  afterAll(async () => {
    await service.stop();
    await redis.stop();
  });

  it('adds one job for any number of hints, and a worker confirms all of them', async () => {
    const bank = new SlowBank(`bank-${randomUUID()}`);
    service.get(AcquirersService).register(bank, { servesTestMode: false });
    const inbox = service.get(InboxService);
    const jobs = (): Promise<number> => service.get(JobQueues).waiting();
    for (let n = 0; n < 20; n++) {
      await service.get(Database).transaction((tx) => inbox.queueAll(tx, bank.name, forged(10)));
      await service.get(Database).transaction((tx) => inbox.queueUnconfirmed(tx, bank.name, forged(10)));
    }
    await waitFor('the job', async () => (await jobs()) > 0);
    await delay(300);
    expect(await jobs()).toBe(1);
    await waitFor('all questions', async () => {
      await service.get(InboxDispatcher).sweep();
      return new Set(bank.asked).size === 400;
    });
  });
});
