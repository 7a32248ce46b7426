import { describe, expect, it } from '@jest/globals';
import { answerCase, casesOf, mailsTo } from '../../support/med.js';
import { MedWorld } from '../../support/med-world.js';
import { refundsOf, requestRefund } from '../../support/refunds.js';

/** Rules an accountant expects of disputes and refunds together */
describe('a dispute and refunds of the same payment', () => {
  const world = MedWorld.forSpec();

  it('holds the part of a payment that refunds have left', async () => {
    const paid = await world.told.paid(world.key);
    await world.told.refund(world.key, paid, 40);
    await world.told.finish();
    await world.expectBalance(60, 0);
    const dispute = await world.told.disputed(paid);
    await world.expectBalance(0, 60);
    await world.told.ruled(dispute, 'agreed');
    await world.expectBalance(0, 0);
    expect(await world.outcomes(paid.id)).toEqual([[100, 'closed', 'closed_without_refund']]);
    expect(await world.statusOf(paid.id)).toBe('disputed');
  });

  it('lets a refund on its way arrive, and the payment is paid again when the dispute is won', async () => {
    const paid = await world.told.paid(world.key);
    const refundId = await world.told.refund(world.key, paid, 60);
    await world.told.step(refundId);
    const dispute = await world.told.disputed(paid);
    await world.expectBalance(0, 40);
    await world.told.finish();
    await world.expectBalance(0, 40);
    await world.told.ruled(dispute, 'disagreed');
    await world.expectBalance(40, 0);
    expect(await world.statusOf(paid.id)).toBe('paid');
    expect((await requestRefund(world.service, world.key, paid.id, { amount: 41 })).status).toBe(400);
    await world.told.refund(world.key, paid, 40);
    await world.told.finish();
    expect(await world.statusOf(paid.id)).toBe('refunded');
  });

  it('holds nothing after a full refund, and leaves the payment refunded however the dispute ends', async () => {
    for (const result of ['disagreed', 'agreed'] as const) {
      const paid = await world.told.paid(world.key);
      await world.told.step(await world.told.refund(world.key, paid, 100));
      const dispute = await world.told.disputed(paid);
      await world.expectBalance(0, 0);
      await world.told.finish();
      expect(await world.statusOf(paid.id)).toBe('disputed');
      await world.told.ruled(dispute, result);
      expect(await world.statusOf(paid.id)).toBe('refunded');
      await world.expectBalance(0, 0);
    }
  });

  it('holds only the money that a failed refund gives back during the dispute', async () => {
    const paid = await world.told.paid(world.key);
    const refundId = await world.told.refund(world.key, paid, 60);
    world.told.bank.returnFault = () => 'refused unheard';
    await world.told.step(refundId);
    const dispute = await world.told.disputed(paid);
    await world.expectBalance(0, 40);
    world.told.bank.returnFault = () => null;
    await world.told.finish();
    await world.expectBalance(0, 100);
    await world.told.ruled(dispute, 'disagreed');
    await world.expectBalance(100, 0);
    // No longer disputed: money of a failed refund is now the merchant's.
    world.told.bank.returnFault = () => 'refused';
    await world.told.refund(world.key, paid, 100);
    await world.expectBalance(0, 0);
    await world.told.finish();
    await world.expectBalance(100, 0);
  });

  it('stops a refund that has not been sent, and holds its money', async () => {
    const paid = await world.told.paid(world.key);
    await world.told.refund(world.key, paid, 100);
    await world.told.disputed(paid);
    await world.expectBalance(0, 0);
    await world.told.finish();
    await world.expectBalance(0, 100);
    expect(world.told.bank.returns.size).toBe(0);
  });

  it('leaves a payment paid when its rest after a lost part is refunded, even with a second dispute meanwhile', async () => {
    for (const result of [null, 'agreed'] as const) {
      const paid = await world.told.paid(world.key);
      const first = await world.told.disputed(paid, { amount: 30 });
      await world.decide((await world.waiting()).id, 'approve');
      await world.told.ruled(first, 'agreed');
      const refundId = await world.told.refund(world.key, paid, 70);
      await world.told.step(refundId);
      const second = await world.told.disputed(paid);
      expect(await world.statusOf(paid.id)).toBe('disputed');
      await world.told.ruled(second, result);
      expect(await world.statusOf(paid.id)).toBe('paid');
      await world.told.finish();
      expect(await world.statusOf(paid.id)).toBe('paid');
      await world.expectBalance(0, 0);
    }
  });

  describe('with a refund that ends after the ruling', () => {
    it('leaves the money of a failed refund with the merchant, and the payment is paid', async () => {
      const paid = await world.told.paid(world.key);
      world.told.bank.returnFault = () => 'refused unheard';
      await world.told.step(await world.told.refund(world.key, paid, 40));
      const dispute = await world.told.disputed(paid);
      await world.expectBalance(0, 60);
      await world.told.ruled(dispute, 'agreed');
      await world.expectBalance(0, 0);
      expect(await world.statusOf(paid.id)).toBe('disputed');
      world.told.bank.returnFault = () => null;
      await world.told.finish();
      await world.expectBalance(40, 0);
      expect(await world.statusOf(paid.id)).toBe('paid');
    });

    it.each(['before', 'after'] as const)(
      'waits for an operator when the bank took money of a refund that failed %s the ruling',
      async (when) => {
        const paid = await world.told.paid(world.key);
        world.told.bank.returnFault = () => 'refused unheard';
        await world.told.step(await world.told.refund(world.key, paid, 30));
        const dispute = await world.told.disputed(paid);
        const [open] = await casesOf(world.service, world.key, paid.id);
        const id = open?.id ?? '';
        expect((await answerCase(world.service, world.key, id, 'accept')).status).toBe(200);
        if (when === 'before') await world.told.finish();
        await world.told.ruled(dispute, 'agreed');
        if (when === 'after') {
          expect((await world.decide(id, 'approve')).status).toBe(409);
          await world.told.finish();
        }
        await world.expectBalance(30, 0);
        expect(await world.waiting('?review=contradiction&limit=1')).toMatchObject({ id, lost_amount: 70 });
        expect((await world.decide(id, 'approve')).body).toMatchObject({ review: null, lost_amount: 100 });
        await world.expectBalance(0, 0);
        expect(await world.statusOf(paid.id)).toBe('disputed');
        expect((await world.decide(id, 'approve')).status).toBe(409);
      },
    );

    it('corrects a loss again when another refund fails, also for a paid payment', async () => {
      const paid = await world.told.paid(world.key);
      const dispute = world.told.bank.change(await world.told.disputed(paid), { amount: 20 });
      await world.told.tell(dispute);
      const { id } = await world.waiting();
      await world.decide(id, 'approve', { amount: 20 });
      expect((await answerCase(world.service, world.key, id, 'accept')).status).toBe(200);
      world.told.bank.returnFault = () => 'refused unheard';
      await world.told.step(await world.told.refund(world.key, paid, 30));
      await world.told.tell(world.told.bank.rule(world.told.bank.change(dispute, { amount: 100 }), 'agreed'));
      expect((await world.decide(id, 'approve')).body).toMatchObject({ lost_amount: 70 });
      await world.told.finish();
      expect(await world.waiting('?review=contradiction&limit=1')).toMatchObject({ id, lost_amount: 70 });
      expect((await world.decide(id, 'approve')).body).toMatchObject({ lost_amount: 100 });
      await world.expectBalance(0, 0);
    });

    it('moves no money when the merchant has refunded it meanwhile', async () => {
      const paid = await world.told.paid(world.key);
      world.told.bank.returnFault = () => 'refused unheard';
      await world.told.step(await world.told.refund(world.key, paid, 30));
      const dispute = await world.told.disputed(paid);
      await world.told.ruled(dispute, 'agreed');
      await world.told.finish();
      const { id } = await world.waiting('?review=contradiction&limit=1');
      world.told.bank.returnFault = () => null;
      await world.told.refund(world.key, paid, 30);
      const approved = await world.decide(id, 'approve');
      expect([approved.status, approved.body]).toEqual([
        200,
        expect.objectContaining({ review: null, lost_amount: 70 }),
      ]);
      await world.told.finish();
      await world.expectBalance(0, 0);
    });

    it('sends a refund that was not sent before the ruling', async () => {
      const paid = await world.told.paid(world.key);
      await world.told.refund(world.key, paid, 40);
      await world.told.ruled(await world.told.disputed(paid), 'agreed');
      await world.expectBalance(0, 0);
      await world.told.finish();
      await world.expectBalance(0, 0);
      expect(world.told.bank.returnsOf(paid.pix.endToEndId).map(({ amount }) => amount)).toEqual([40]);
      expect(await world.statusOf(paid.id)).toBe('disputed');
    });
  });

  describe('with a cashout, which is a new Pix, so that the bank can still take the first one', () => {
    const cashout = (paid: { id: string }, amount: number): Promise<string> =>
      world.told.refund(world.key, paid as Parameters<typeof world.told.refund>[1], amount, 'cashout');

    it.each([
      ['agreed', -40, 'disputed'],
      ['disagreed', 60, 'paid'],
    ] as const)('holds all of a partly refunded payment; ruling %s', async (result, left, status) => {
      const paid = await world.told.paid(world.key);
      await cashout(paid, 40);
      await world.told.finish();
      const dispute = await world.told.disputed(paid);
      await world.expectBalance(-40, 100);
      await world.told.ruled(dispute, result);
      await world.expectBalance(left, 0);
      expect(await world.statusOf(paid.id)).toBe(status);
      const answer = await requestRefund(world.service, world.key, paid.id, { amount: 61 });
      expect(answer.body.error.code).toBe(result === 'agreed' ? 'charge_disputed' : 'refund_amount_exceeds_remaining');
    });

    it.each([
      ['agreed', -100, 'closed_without_refund'],
      ['disagreed', 0, 'refunded_to_merchant'],
      [null, 0, 'refunded_to_merchant'],
    ] as const)('holds all of a refunded payment, which stays refunded; ruling %s', async (result, left, outcome) => {
      const paid = await world.told.paid(world.key);
      await cashout(paid, 100);
      await world.told.finish();
      expect(await world.statusOf(paid.id)).toBe('refunded');
      const dispute = await world.told.disputed(paid);
      await world.expectBalance(-100, 100);
      expect(await world.statusOf(paid.id)).toBe('refunded');
      expect(await world.outcomes(paid.id)).toEqual([[100, 'open', null]]);
      await world.told.ruled(dispute, result);
      await world.expectBalance(left, 0);
      expect(await world.outcomes(paid.id)).toEqual([[100, 'closed', outcome]]);
      expect(await world.statusOf(paid.id)).toBe('refunded');
    });

    it('holds all of the payment beside a refund on its way, whether that arrives or fails', async () => {
      for (const fault of [null, 'refused unheard'] as const) {
        const paid = await world.told.paid(world.key);
        world.told.bank.returnFault = () => fault;
        await world.told.step(await cashout(paid, 60));
        const dispute = await world.told.disputed(paid);
        await world.expectBalance(-60, 100);
        world.told.bank.returnFault = () => null;
        await world.told.finish();
        const left = fault === null ? 40 : 100;
        await world.expectBalance(left - 100, 100);
        await world.told.ruled(dispute, 'disagreed');
        await world.expectBalance(left, 0);
        expect(await world.statusOf(paid.id)).toBe('paid');
        await world.told.refund(world.key, paid, left);
        await world.told.finish();
        await world.expectBalance(0, 0);
        expect(await world.statusOf(paid.id)).toBe('refunded');
      }
    });

    it('stops a refund that has not been sent', async () => {
      const paid = await world.told.paid(world.key);
      await cashout(paid, 100);
      await world.told.disputed(paid);
      await world.expectBalance(-100, 100);
      await world.told.finish();
      await world.expectBalance(0, 100);
      expect(world.told.bank.returns.size).toBe(0);
    });

    it('stops an unsent refund when a dispute has taken its money and the payment is paid again', async () => {
      const paid = await world.told.paid(world.key, 1000);
      const refundId = await cashout(paid, 1000);
      const dispute = await world.told.disputed(paid, { amount: 600 });
      await world.decide((await world.waiting()).id, 'approve');
      await world.told.ruled(dispute, 'agreed');
      expect(await world.statusOf(paid.id)).toBe('paid');
      await world.told.step(refundId);
      const [refund] = await refundsOf(world.service, world.key, paid.id.slice(3));
      expect(refund).toMatchObject({ status: 'FAILED', failureReason: 'charge_disputed' });
      expect(world.told.bank.returns.size).toBe(0);
      await world.expectBalance(400, 0);
    });

    it('leaves nothing to refund where dispute and cashout have taken more than was paid', async () => {
      const paid = await world.told.paid(world.key);
      await cashout(paid, 40);
      await world.told.finish();
      const dispute = await world.told.disputed(paid, { amount: 80 });
      await world.decide((await world.waiting()).id, 'approve');
      await world.told.ruled(dispute, 'agreed');
      await world.expectBalance(-20, 0);
      expect(await world.statusOf(paid.id)).toBe('paid');
      for (const body of [{}, { amount: 1 }]) {
        const refused = await requestRefund(world.service, world.key, paid.id, body);
        expect([refused.status, refused.body.error.code]).toEqual([400, 'refund_amount_exceeds_remaining']);
      }
    });

    it('counts devolutions and disputes together, in the database too', async () => {
      const paid = await world.told.paid(world.key);
      await cashout(paid, 30);
      await world.told.refund(world.key, paid, 20);
      await world.told.finish();
      await world.told.disputed(paid);
      await world.expectBalance(-30, 80);
      const more = world.service.sql('UPDATE transactions SET disputed_amount = disputed_amount + 1 WHERE id = $1', [
        paid.id.slice(3),
      ]);
      await expect(more).rejects.toThrow('transactions_disputed_amount_check');
    });

    it('tells the merchant that the bank does not count the refund, and shows the proof', async () => {
      const { ownerEmail, testKey } = await world.service.merchant();
      world.key = testKey;
      const paid = await world.told.paid(world.key);
      await cashout(paid, 40);
      await world.told.finish();
      await world.told.disputed(paid);
      const [mail] = await mailsTo(world.service, ownerEmail, 1);
      expect(mail?.text_body).toMatch(/já devolveu R\$\s0,40 por um novo Pix/);
    });
  });
});
