import { randomUUID } from 'node:crypto';
import { describe, expect, it, jest } from '@jest/globals';
import type { Dispute } from '../../../src/acquirers/index.js';
import { MedDisputesService } from '../../../src/med/cases/med-disputes.service.js';
import { eventsAbout } from '../../support/med.js';
import type { Paid } from '../../support/med-bank.js';
import { MedWorld } from '../../support/med-world.js';
import { type ErrorAnswer, requestRefund } from '../../support/refunds.js';
import type { Answer } from '../../support/service.js';

/** Refunds, disputes and losses of one sale, in each order. */
describe('a loss that an operator enters beside refunds and disputes of the same sale', () => {
  const world = MedWorld.forSpec();

  async function lose(paid: Paid, amount: number): Promise<Answer<{ id: string } & Partial<ErrorAnswer>>> {
    const [sale] = await world.service.sql<{ account: string }>(
      'SELECT account_id AS account FROM transactions WHERE id = $1',
      [paid.id.slice(3)],
    );
    const about = { account_id: sale?.account, mode: 'test', charge_id: paid.id, reason: 'As the bank says' };
    return world.service.call('POST', '/v1/operations/corrections', {
      token: world.token,
      body: { ...about, kind: 'loss', borne_by: 'merchant', amount, idempotency_key: randomUUID() },
    });
  }

  const outcomeOf = ({ status, body }: Answer<Partial<ErrorAnswer>>): string =>
    `${status} ${body.error?.code ?? ''}`.trim();

  async function expectClearing(expected: number): Promise<void> {
    const [row] = await world.service.sql<{ amount: number }>(
      `SELECT coalesce(sum(b.amount), 0)::float8 AS amount FROM balances b JOIN transactions t USING (account_id)
       WHERE b.bucket = 'clearing' AND t.id = (SELECT max(id::text)::uuid FROM transactions)`,
    );
    expect(row?.amount).toBe(expected);
  }

  /** Held and lost amounts of each case, oldest first */
  const held = (paid: Paid): Promise<unknown[]> =>
    world.service.sql(
      'SELECT held_amount::int AS held, lost_amount::int AS lost FROM med_cases WHERE transaction_id = $1 ORDER BY id',
      [paid.id.slice(3)],
    );

  it('is refused for money that a dispute holds, which the ruling then takes once', async () => {
    const paid = await world.told.paid(world.key, 1000);
    const dispute = await world.told.disputed(paid);
    expect(outcomeOf(await lose(paid, 1))).toBe('409 loss_exceeds_charge');
    await world.told.ruled(dispute, 'agreed');
    expect(outcomeOf(await lose(paid, 1))).toBe('409 loss_exceeds_charge');
    await world.expectBalance(0, 0);
    await expectClearing(0);
  });

  it('is accepted for money that a partial dispute has left, and no cent more', async () => {
    const paid = await world.told.paid(world.key, 1000);
    const dispute = await world.told.disputed(paid, { amount: 600 });
    await world.decide((await world.waiting()).id, 'approve');
    expect(outcomeOf(await lose(paid, 401))).toBe('409 loss_exceeds_charge');
    expect(outcomeOf(await lose(paid, 400))).toBe('200');
    await world.expectBalance(0, 600);
    await world.told.ruled(dispute, 'agreed');
    await world.expectBalance(0, 0);
    await expectClearing(0);
    expect(await world.statusOf(paid.id)).toBe('disputed');
  });

  it('leaves a later dispute the rest, and the ruling takes no more', async () => {
    const paid = await world.told.paid(world.key, 1000);
    expect(outcomeOf(await lose(paid, 700))).toBe('200');
    const dispute = await world.told.disputed(paid);
    await world.expectBalance(0, 300);
    await world.told.ruled(dispute, 'agreed');
    await world.expectBalance(0, 0);
    expect(await held(paid)).toEqual([{ held: 0, lost: 300 }]);
    await expectClearing(0);
  });

  it('leaves a later dispute nothing when it has taken all: the case waits for an operator and takes nothing', async () => {
    const paid = await world.told.paid(world.key, 1000);
    expect(outcomeOf(await lose(paid, 1000))).toBe('200');
    const dispute = await world.told.disputed(paid);
    const { id, review } = await world.waiting();
    expect(review).toBe('not_disputable');
    expect((await world.decide(id, 'approve')).status).toBe(200);
    await world.told.ruled(dispute, 'agreed');
    expect(await held(paid)).toEqual([{ held: 0, lost: 0 }]);
    await world.expectBalance(0, 0);
    await expectClearing(0);
    expect(await world.statusOf(paid.id)).toBe('paid');
  });

  it('leaves a refund only the rest of the payment', async () => {
    const paid = await world.told.paid(world.key, 1000);
    await world.told.paid(world.key, 1000); // so that the balance would hold a larger refund
    expect(outcomeOf(await lose(paid, 700))).toBe('200');
    for (const strategy of ['devolution', 'cashout']) {
      const refused = await requestRefund(world.service, world.key, paid.id, { amount: 301, strategy });
      expect(outcomeOf(refused)).toBe('400 refund_amount_exceeds_remaining');
    }
    const rest = await requestRefund(world.service, world.key, paid.id);
    expect(rest.body.amount).toBe(300);
    await world.told.finish();
    expect(await world.statusOf(paid.id)).toBe('paid');
  });

  it.each(['devolution', 'cashout'])(
    'is refused for money that a %s gives back, until that has failed',
    async (way) => {
      const paid = await world.told.paid(world.key, 1000);
      world.told.bank.returnFault = () => 'refused';
      await world.told.refund(world.key, paid, 600, way);
      expect(outcomeOf(await lose(paid, 401))).toBe('409 loss_exceeds_charge');
      await world.told.finish();
      expect(outcomeOf(await lose(paid, 1000))).toBe('200');
      await world.expectBalance(0, 0);
      await expectClearing(0);
    },
  );

  it('is refused for money that a cashout has given back, while a dispute still holds all of the payment', async () => {
    const paid = await world.told.paid(world.key, 1000);
    await world.told.refund(world.key, paid, 600, 'cashout');
    await world.told.finish();
    expect(outcomeOf(await lose(paid, 401))).toBe('409 loss_exceeds_charge');
    expect(outcomeOf(await lose(paid, 100))).toBe('200');
    await world.told.disputed(paid);
    await world.expectBalance(-600, 900);
    expect(outcomeOf(await lose(paid, 1))).toBe('409 loss_exceeds_charge');
  });

  it('gives its money to an open case when it is taken back', async () => {
    const paid = await world.told.paid(world.key, 1000);
    expect(outcomeOf(await lose(paid, 700))).toBe('200');
    const dispute = await world.told.disputed(paid);
    await world.expectBalance(0, 300);
    expect(outcomeOf(await lose(paid, -200))).toBe('200');
    await world.expectBalance(0, 500);
    await world.told.ruled(dispute, 'disagreed');
    await world.expectBalance(500, 0);
    expect(await world.statusOf(paid.id)).toBe('paid');
  });

  describe('when it had left an approved case nothing to hold, and is taken back', () => {
    /** A sale of 1000 that a loss has taken, and an approved case of `claim`, which holds nothing. */
    async function withoutMoney(claim: number): Promise<{ paid: Paid; dispute: Dispute; id: string }> {
      const paid = await world.told.paid(world.key, 1000);
      expect(outcomeOf(await lose(paid, 1000))).toBe('200');
      const dispute = await world.told.disputed(paid, { amount: claim });
      const { id } = await world.waiting();
      expect((await world.decide(id, 'approve')).body).toMatchObject({ review: null, visible: true, held_amount: 0 });
      expect(await world.statusOf(paid.id)).toBe('paid');
      return { paid, dispute, id };
    }

    /** The bank claims `amount` now, and an operator approves that. */
    async function restated({ dispute, id }: { dispute: Dispute; id: string }, amount: number): Promise<void> {
      await world.told.tell(world.told.bank.change(dispute, { amount }));
      expect((await world.decide(id, 'approve', { amount })).body).toMatchObject({ review: null });
    }

    async function expectHeld(paid: Paid, amount: number): Promise<void> {
      expect(await held(paid)).toEqual([{ held: amount, lost: 0 }]);
      await world.expectBalance(1000 - amount, amount);
      expect(await world.statusOf(paid.id)).toBe('disputed');
      const refused = await requestRefund(world.service, world.key, paid.id, { amount: 400 });
      expect(outcomeOf(refused)).toBe('400 charge_disputed');
    }

    it('holds the money for the case and disputes the charge, which cannot be refunded', async () => {
      const { paid, dispute, id } = await withoutMoney(1000);
      expect(outcomeOf(await lose(paid, -1000))).toBe('200');
      await expectHeld(paid, 1000);
      expect(await eventsAbout(world.service, paid.id)).toEqual([
        ...['transaction.created', 'transaction.paid', 'transaction.disputed'],
      ]);
      expect(await world.metadataOf(paid.id)).toMatchObject({ status: 'created', amountMismatch: false });
      await world.told.ruled(dispute, 'agreed');
      await world.expectBalance(0, 0);
      await expectClearing(0);
      expect(await world.outcomes(paid.id)).toEqual([[1000, 'closed', 'closed_without_refund']]);
      expect(await world.statusOf(paid.id)).toBe('disputed');
      expect((await world.service.call('GET', `/v1/operations/med/${id}`, { token: world.token })).body).toMatchObject({
        review: null,
        lost_amount: 1000,
      });
    });

    it('holds a part that is taken back, and gives it back when the case is won', async () => {
      const { paid, dispute } = await withoutMoney(1000);
      expect(outcomeOf(await lose(paid, -400))).toBe('200');
      expect(await held(paid)).toEqual([{ held: 400, lost: 0 }]);
      expect(await world.statusOf(paid.id)).toBe('disputed');
      await world.told.ruled(dispute, 'disagreed');
      await world.expectBalance(400, 0);
      expect(await world.statusOf(paid.id)).toBe('paid');
    });

    it('holds the amount to which the bank had lowered its claim before', async () => {
      const { paid, ...known } = await withoutMoney(1000);
      await restated(known, 600);
      expect(await world.statusOf(paid.id)).toBe('paid');
      expect(outcomeOf(await lose(paid, -1000))).toBe('200');
      await expectHeld(paid, 600);
    });

    it('keeps the charge disputed when the bank lowers or raises its claim afterwards', async () => {
      for (const [claim, other] of [
        [1000, 600],
        [600, 1000],
      ] as const) {
        const { paid, ...known } = await withoutMoney(claim);
        expect(outcomeOf(await lose(paid, -1000))).toBe('200');
        await restated(known, other);
        await expectHeld(paid, other);
        await world.merchant();
      }
    });

    it.each(['restated claim', 'loss of a cent that is taken back'])(
      'disputes the charge by a %s when nothing was held as the loss came back',
      async (how) => {
        const { paid, ...known } = await withoutMoney(1000);
        // Earlier versions held nothing for a charge that was still paid.
        const freed = jest.spyOn(world.service.get(MedDisputesService), 'freed').mockResolvedValueOnce();
        expect(outcomeOf(await lose(paid, -1000))).toBe('200');
        freed.mockRestore();
        await world.expectBalance(1000, 0);
        if (how === 'restated claim') {
          await restated(known, 600);
        } else {
          expect(outcomeOf(await lose(paid, 1))).toBe('200');
          expect(outcomeOf(await lose(paid, -1))).toBe('200');
        }
        await expectHeld(paid, how === 'restated claim' ? 600 : 1000);
      },
    );
  });

  it('asks an operator to review a lost case when it is taken back and the bank took the money with the case', async () => {
    const paid = await world.told.paid(world.key, 1000);
    expect(outcomeOf(await lose(paid, 700))).toBe('200');
    await world.told.ruled(await world.told.disputed(paid), 'agreed');
    expect(await world.statusOf(paid.id)).toBe('disputed');
    expect(outcomeOf(await lose(paid, -700))).toBe('200');
    await world.expectBalance(700, 0);
    expect(await world.statusOf(paid.id)).toBe('paid');
    const { id } = await world.waiting('?review=contradiction&limit=1');
    await world.decide(id, 'approve');
    expect(await held(paid)).toEqual([{ held: 0, lost: 1000 }]);
    await world.expectBalance(0, 0);
    await expectClearing(0);
  });

  it('stops an unsent cashout when a loss and a dispute have taken its money', async () => {
    const paid = await world.told.paid(world.key, 1000);
    await world.told.refund(world.key, paid, 400, 'cashout');
    expect(outcomeOf(await lose(paid, 400))).toBe('200');
    const dispute = await world.told.disputed(paid, { amount: 500 });
    await world.decide((await world.waiting()).id, 'approve');
    await world.told.ruled(dispute, 'agreed');
    expect(await world.statusOf(paid.id)).toBe('paid');
    await world.told.finish();
    expect(world.told.bank.returns.size).toBe(0);
    await world.expectBalance(100, 0);
  });

  it('is refused by the database beyond the rest of the payment, whatever code writes it', async () => {
    const paid = await world.told.paid(world.key, 1000);
    expect(outcomeOf(await lose(paid, 400))).toBe('200');
    const id = paid.id.slice(3);
    for (const set of [
      'losses_amount = losses_amount + 601',
      'losses_amount = -1',
      'refunds_amount = 601',
      'refunds_amount = 601, cashouts_amount = 601',
      'disputed_amount = 601',
    ]) {
      const more = world.service.sql(`UPDATE transactions SET ${set} WHERE id = $1`, [id]);
      await expect(more).rejects.toThrow('transactions_left');
    }
    const other = world.service.sql('UPDATE transactions SET losses_amount = 399 WHERE id = $1', [id]);
    await expect(other).rejects.toThrow('not what it says');
  });
});
