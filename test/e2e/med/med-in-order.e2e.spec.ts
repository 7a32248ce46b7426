import { describe, expect, it } from '@jest/globals';
import type { Dispute } from '../../../src/acquirers/index.js';
import { MedDeadlines } from '../../../src/med/index.js';
import { ReleasesService } from '../../../src/wallets/index.js';
import { inOrder } from '../../support/in-order.js';
import { answerCase, balance, casesOf, eventsAbout, type MedReviewAnswer } from '../../support/med.js';
import type { Paid } from '../../support/med-bank.js';
import { MedWorld } from '../../support/med-world.js';
import type { Answer } from '../../support/service.js';

const ROUNDS = 6;
const HOUR = 3_600;

/** Two requests compete for one case, in each of the two orders, on the real PostgreSQL. */
describe('competing requests about one case', () => {
  const world = MedWorld.forSpec();

  interface Opened {
    /** The merchant's. */
    key: string;
    paid: Paid;
    dispute: Dispute;
    /** `med_<uuid>` */
    id: string;
  }

  async function opened(): Promise<Opened> {
    await world.merchant();
    const paid = await world.told.paid(world.key);
    const dispute = await world.told.disputed(paid);
    const [found] = await casesOf(world.service, world.key, paid.id);
    return { key: world.key, paid, dispute, id: found?.id ?? '' };
  }

  /** Locks the row of the case, for which both requests wait. */
  const rowOf = (id: string): string => `SELECT 1 FROM med_cases WHERE id = '${id.slice(4)}' FOR UPDATE`;
  const both = <A, B>(id: string, first: () => Promise<A>, second: () => Promise<B>): Promise<readonly [A, B]> =>
    inOrder<readonly [A, B]>(world.service.database.url, rowOf(id), first, second);
  const answer = (id: string, what: 'appeal' | 'accept') => (): Promise<{ status: number }> =>
    answerCase(world.service, world.key, id, what);

  it.each([
    ['agreed', ['rejected', 'lost', 0], ['closed', 'closed_without_refund', 0]],
    ['disagreed', ['closed', 'refunded_to_merchant', 100], ['closed', 'refunded_to_merchant', 100]],
  ] as const)('an appeal and a ruling end as their order says: %s', async (result, appealedFirst, ruledFirst) => {
    const one = await opened();
    const [appealed] = await both(one.id, answer(one.id, 'appeal'), () => world.told.ruled(one.dispute, result));
    expect(appealed.status).toBe(200);
    expect(await world.outcomes(one.paid.id)).toEqual([[100, ...appealedFirst.slice(0, 2)]]);
    await world.expectBalance(appealedFirst[2], 0);

    const other = await opened();
    const [, late] = await both(other.id, () => world.told.ruled(other.dispute, result), answer(other.id, 'appeal'));
    expect(late.status).toBe(400);
    expect(await world.outcomes(other.paid.id)).toEqual([[100, ...ruledFirst.slice(0, 2)]]);
    await world.expectBalance(ruledFirst[2], 0);
    expect(await eventsAbout(world.service, other.id)).toEqual([
      'med_case.opened',
      'med_case.moved',
      'med_case.resolved',
    ]);
  });

  it.each([
    ['appeal', 'accept', ['appealed', null], 100],
    ['accept', 'appeal', ['accepted', 'lost'], 0],
  ] as const)(
    'the first of two answers succeeds and the second is refused: %s, %s',
    async (first, second, end, retained) => {
      const { id, paid } = await opened();
      const [taken, late] = await both(id, answer(id, first), answer(id, second));
      expect([taken.status, late.status]).toEqual([200, 400]);
      expect(await world.outcomes(paid.id)).toEqual([[100, ...end]]);
      await world.expectBalance(0, retained);
    },
  );

  it('a lowered claim and an acceptance lose only the claim, or show the case to an operator', async () => {
    const one = await opened();
    const lowered = world.told.bank.change(one.dispute, { amount: 40 });
    const [, refused] = await both(one.id, () => world.told.tell(lowered), answer(one.id, 'accept'));
    expect(refused.status).toBe(400);
    await world.expectBalance(0, 100);

    const other = await opened();
    const late = world.told.bank.change(other.dispute, { amount: 40 });
    const [accepted] = await both(other.id, answer(other.id, 'accept'), () => world.told.tell(late));
    expect(accepted.status).toBe(200);
    await world.expectBalance(0, 0);
    await world.told.ruled(late, 'agreed');
    expect(await world.waiting('?review=contradiction&limit=1')).toMatchObject({ id: other.id, reported_amount: 40 });
    expect((await world.decide(other.id, 'approve')).status).toBe(200);
    await world.expectBalance(60, 0);
  });

  describe('an approval', () => {
    /** Makes a waiting case, with the approval of its current version. */
    async function waiting(): Promise<Omit<Opened, 'key'> & { approve: () => Promise<Answer<MedReviewAnswer>> }> {
      await world.merchant();
      const paid = await world.told.paid(world.key);
      const dispute = await world.told.disputed(paid, { amount: 60 });
      const { id, version } = await world.waiting();
      const approve = (): Promise<Answer<MedReviewAnswer>> =>
        world.service.call('POST', `/v1/operations/med/${id}/approve`, { token: world.token, body: { version } });
      return { paid, dispute, id, approve };
    }

    it('given twice at once succeeds once', async () => {
      const { id, approve } = await waiting();
      const [first, second] = await both(id, approve, approve);
      expect([first.status, second.status]).toEqual([200, 409]);
      await world.expectBalance(40, 60);
      expect(await eventsAbout(world.service, id)).toEqual(['med_case.opened']);
    });

    it('given beside news of the bank counts for the approved version, or is refused', async () => {
      const one = await waiting();
      const changed = world.told.bank.change(one.dispute, { amount: 70 });
      const [approved] = await both(one.id, one.approve, () => world.told.tell(changed));
      expect(approved.status).toBe(200);
      await world.expectBalance(40, 60);
      expect(await world.waiting()).toMatchObject({ id: one.id, review: 'amount_mismatch', reported_amount: 70 });

      const other = await waiting();
      const right = world.told.bank.change(other.dispute, { amount: 70 });
      const [, late] = await both(other.id, () => world.told.tell(right), other.approve);
      expect([late.status, late.body]).toEqual([
        409,
        expect.objectContaining({ error: expect.objectContaining({ code: 'med_case_changed' }) }),
      ]);
      await world.expectBalance(100, 0);
    });

    it('given beside the bank’s withdrawal leaves the merchant the money, in both orders', async () => {
      for (const isFirst of [true, false]) {
        const { id, dispute, approve } = await waiting();
        const withdraw = (): Promise<void> => world.told.ruled(dispute, null);
        await (isFirst ? both(id, approve, withdraw) : both(id, withdraw, approve));
        await world.expectBalance(100, 0);
      }
    });

    it('given twice in a dismissed case whose money the bank has taken loses the money once', async () => {
      const { id, paid, dispute } = await waiting();
      await world.decide(id, 'dismiss');
      await world.told.ruled(dispute, 'agreed');
      const { version } = await world.waiting('?review=contradiction&limit=1');
      const approve = (): Promise<Answer> =>
        world.service.call('POST', `/v1/operations/med/${id}/approve`, { token: world.token, body: { version } });
      const answers = await both(id, approve, approve);
      expect(answers.map(({ status }) => status)).toEqual([200, 409]);
      await world.expectBalance(40, 0);
      expect(await world.outcomes(paid.id)).toEqual([[60, 'closed', 'closed_without_refund']]);
    });

    it('given twice about a contradiction corrects once', async () => {
      const { id, paid, dispute } = await opened();
      await world.told.ruled(dispute, 'disagreed');
      await world.told.ruled(world.told.bank.disputes.get(dispute.reference) ?? dispute, 'agreed');
      const { version } = await world.waiting('?review=contradiction&limit=1');
      const approve = (): Promise<Answer> =>
        world.service.call('POST', `/v1/operations/med/${id}/approve`, { token: world.token, body: { version } });
      const answers = await both(id, approve, approve);
      expect(answers.map(({ status }) => status)).toEqual([200, 409]);
      await world.expectBalance(0, 0);
      expect(await world.outcomes(paid.id)).toEqual([[100, 'closed', 'closed_without_refund']]);
    });
  });

  it('a notice of the deadline is not sent after an appeal', async () => {
    const first = await opened();
    const others: Opened[] = [];
    while (others.length < ROUNDS) others.push(await opened());
    world.service.clock.advance(7 * 24 * HOUR - 47 * HOUR);
    const sweep = async (): Promise<void> => {
      while (await world.service.get(MedDeadlines).sweep());
    };
    const appeal = ({ key, id }: Opened): Promise<{ status: number }> => answerCase(world.service, key, id, 'appeal');
    // The sweep skips a case that is being answered.
    await inOrder(world.service.database.url, rowOf(first.id), async () => {
      const appealing = appeal(first);
      await world.service.get(MedDeadlines).sweep();
      return appealing;
    });
    for (const one of others) {
      // The notice is due again.
      await world.service.sql(`UPDATE med_cases SET deadline_due_at = opened_at WHERE id = $1 AND status = 'open'`, [
        one.id.slice(4),
      ]);
      await Promise.all([sweep(), appeal(one)]);
    }
    await sweep();
    for (const { id } of others) {
      const events = await eventsAbout(world.service, id);
      expect(events.filter((type) => type === 'med_case.moved')).toHaveLength(1);
      expect([
        ['med_case.opened', 'med_case.moved'],
        ['med_case.opened', 'med_case.deadline_approaching', 'med_case.moved'],
      ]).toContainEqual([...new Set(events)]);
      expect(events.at(-1)).toBe('med_case.moved');
    }
    expect(await eventsAbout(world.service, first.id)).toEqual(['med_case.opened', 'med_case.moved']);
  });

  describe('the release of pending money', () => {
    it.each(['opens', 'is lost', 'is won'] as const)(
      'ends with the right balance beside a dispute that %s',
      async (what) => {
        for (let round = 0; round < ROUNDS; round++) {
          await world.merchant({ release_days: '1' });
          const paid = await world.told.paid(world.key);
          await world.expectBalance(0, 0, 100);
          const dispute = what === 'opens' ? world.told.bank.dispute(paid.pix) : await world.told.disputed(paid);
          const news =
            what === 'opens' ? dispute : world.told.bank.rule(dispute, what === 'is lost' ? 'agreed' : 'disagreed');
          world.service.clock.advance(48 * HOUR);
          await Promise.all([world.told.tell(news), world.service.get(ReleasesService).run()]);
          await world.expectBalance(what === 'is won' ? 100 : 0, what === 'opens' ? 100 : 0);
        }
      },
    );
  });

  it('a dispute by txid of a charge that was paid twice belongs to the credited payment', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await world.merchant();
      const paid = await world.told.received(world.key);
      const txid = paid.pix.txid ?? '';
      const second = world.told.bank.receive({ txid, amount: 100 }, { settledAt: world.service.clock.now() });
      const dispute = world.told.bank.dispute(paid.pix, { paymentReference: null });
      const notification = await world.told.hint('dispute', dispute.reference);
      await Promise.all([world.told.settle(paid.pix), world.told.settle(second), world.told.process(notification)]);
      await world.told.process(notification);
      expect(await balance(world.service, world.key)).toEqual({ available: 0, pending: 0, retained: 100 });
      expect(await world.outcomes(paid.id)).toEqual([[100, 'open', null]]);
      expect(await world.statusOf(paid.id)).toBe('disputed');
    }
  });

  it('a dispute by txid before the credited payment belongs to that payment', async () => {
    const paid = await world.told.received(world.key);
    const wrong = world.told.bank.receive(
      { txid: paid.pix.txid ?? '', amount: 50 },
      { settledAt: world.service.clock.now() },
    );
    await world.told.settle(wrong);
    const dispute = await world.told.disputed(paid, { paymentReference: null });
    expect(await world.outcomes(paid.id)).toEqual([]);
    expect(await world.waiting()).toMatchObject({ review: 'not_disputable' });
    await world.told.settle(paid.pix);
    await world.expectBalance(100, 0);
    const delivered = world.told.bank.change(dispute, { status: 'delivered' });
    await world.told.tell(delivered);
    await world.expectBalance(0, 100);
    expect(await world.outcomes(paid.id)).toEqual([[100, 'open', null]]);
    await world.told.ruled(delivered, 'disagreed');
    await world.expectBalance(100, 0);
  });
});
