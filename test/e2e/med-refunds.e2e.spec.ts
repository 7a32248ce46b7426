import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { answerCase, casesOf } from '../support/med.js';
import { MedWorld } from '../support/med-world.js';
import { requestRefund } from '../support/refunds.js';

/** What an accountant expects of both. */
describe('a dispute and refunds of the same payment', () => {
  let world: MedWorld;

  beforeAll(async () => {
    world = await MedWorld.start();
  });
  beforeEach(() => world.begin());
  afterEach(() => world.end());
  afterAll(() => world.service.stop());

  it('of a partly refunded payment is what refunds have left', async () => {
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

  it('leaves a refund on its way alone: it arrives, and the payment is paid again when the dispute is won', async () => {
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

  it('of a refund of all of it: nothing is held, and the payment is refunded however the dispute ends', async () => {
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

  it('holds what a refund gives back that fails while the dispute is open, and no other', async () => {
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
    // Not disputed any more: what fails now is the merchant's.
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

  it('of all that a lost part has left: a second dispute meanwhile, withdrawn or not, leaves it paid', async () => {
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

  describe('with a refund that comes to its end after the ruling', () => {
    it('leaves what a failed one gives back with the merchant, and the payment is paid', async () => {
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
      'waits for an operator when the bank has taken what a refund that failed %s the ruling has brought back',
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

    it('corrects a loss again when another refund fails, also of a payment that is paid', async () => {
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

    it('leaves nothing to be moved when the merchant has refunded since what waits', async () => {
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

    it('sends one that had not been sent before it', async () => {
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
});
