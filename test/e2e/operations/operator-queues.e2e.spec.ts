import { beforeAll, describe, expect, it } from '@jest/globals';
import { OperatorQueueWatch } from '../../../src/operations/index.js';
import { LiveStory } from '../../support/live-story.js';
import { aDisputedCharge, happens } from '../../support/med.js';
import { type Merchant, type Person, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const HOUR = 3_600;

interface Queue {
  object: string;
  name: string;
  waiting: number;
  oldest_at: string | null;
}

describe('queues of operators', () => {
  const service = TestService.forSpec({ env: { MED_AUTO_RULINGS: 'false', CORRECTION_LIMIT: '0' } });
  const story = LiveStory.forSpec(service);
  let locked: Merchant;
  let people: Person[];

  beforeAll(async () => {
    locked = await service.merchant({ payer_lock: 'true' });
    people = [await service.operator(), await service.operator()];
  });

  const queues = async (): Promise<Queue[]> =>
    (await service.call<{ data: Queue[] }>('GET', '/v1/operations/queues', { token: people[0]?.token ?? '' })).body
      .data;
  const waiting = async (): Promise<Record<string, number>> =>
    Object.fromEntries((await queues()).map((queue) => [queue.name, queue.waiting]));
  const mails = (): Promise<{ recipient: string; text_body: string }[]> =>
    service.sql(`SELECT recipient, text_body FROM emails WHERE subject LIKE 'Há o que decidir%' ORDER BY recipient`);
  const sweep = (): Promise<void[]> => Promise.all([1, 2, 3].map(() => service.get(OperatorQueueWatch).sweep()));

  it('are all listed and empty at first', async () => {
    expect(await queues()).toEqual(
      [
        'reviews',
        'med',
        'med_waiting',
        'unmatched',
        'corrections',
        'negative_balances',
        'payouts',
        'unreadable',
        'work',
      ].map((name) => ({
        object: 'operator_queue',
        name,
        waiting: 0,
        oldest_at: null,
      })),
    );
    await sweep();
    expect(await mails()).toEqual([]);
  });

  it('are counted, each with the time of its oldest item', async () => {
    const before = service.clock.now().getTime();
    await service.heldCharge(locked.testKey);
    await service.heldCharge(locked.testKey);
    const { charge, medCase } = await aDisputedCharge(service, locked.testKey);
    await happens(service, locked.testKey, charge.id, { event: 'med_rule', result: 'agreed' });
    story.bank.pay({ key: story.live.pixKey, amount: 700 });
    await story.sweepStatement();
    await waitFor('the Pix', async () => (await waiting())['unmatched'] === 1 || null);
    const fee = { kind: 'bank_fee', account_id: locked.accountId, mode: 'live', amount: 5, borne_by: 'platform' };
    const { status } = await service.call('POST', '/v1/operations/corrections', {
      token: people[0]?.token ?? '',
      body: { ...fee, reason: 'Invoice', idempotency_key: 'invoice-2026-11' },
    });
    expect(status).toBe(200);
    await service.sql(
      `INSERT INTO work (kind, subject_id, due_at, last_error, failing_since)
       VALUES ('evidence', gen_random_uuid(), $1::timestamptz + interval '1 day', 'broken', $1)`,
      [new Date(before)],
    );
    expect(await waiting()).toEqual({
      ...{
        reviews: 2,
        med: 1,
        med_waiting: 0,
        unmatched: 1,
        corrections: 1,
        negative_balances: 0,
        payouts: 0,
        unreadable: 0,
        work: 1,
      },
    });
    for (const { waiting: count, oldest_at: at } of await queues()) {
      expect(at === null).toBe(count === 0);
      if (at !== null) expect(Math.abs(Date.parse(at) - before)).toBeLessThan(60_000);
    }
    const { text } = await service.call('GET', '/metrics');
    expect(text).toContain('recebe_operator_queue_waiting{queue="reviews"} 2');
    expect(text).toMatch(/recebe_operator_queue_age_seconds\{queue="unmatched"\} \d/);
    expect(medCase.id).toMatch(/^med_/);
  });

  it('are reported by one mail to each operator after four hours, once a day per queue', async () => {
    service.clock.advance(4 * HOUR - 120);
    await sweep();
    expect(await mails()).toEqual([]);
    service.clock.advance(180);
    await sweep();
    const first = await mails();
    expect(first.map(({ recipient }) => recipient)).toEqual(people.map(({ email }) => email).sort());
    for (const { text_body: text } of first) {
      for (const line of ['Pagamentos retidos: 2 (4 h)', 'Unmatched Pix: 1 (4 h)', 'Overdue work: 1 (4 h)']) {
        expect(text).toContain(line);
      }
      expect(text).not.toContain('What could not be read');
      expect(text).toContain('/dashboard/operations');
    }
    service.clock.advance(23 * HOUR);
    await sweep();
    expect(await mails()).toHaveLength(2);
    service.clock.advance(HOUR);
    await sweep();
    expect(await mails()).toHaveLength(4);
  });
});
