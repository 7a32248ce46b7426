import { describe, expect, it } from '@jest/globals';
import { casesOf, eventsAbout } from '../../support/med.js';
import { MedWorld } from '../../support/med-world.js';
import { requestRefund } from '../../support/refunds.js';

/** Rules an accountant expects of disputes */
describe('the money of a dispute', () => {
  const world = MedWorld.forSpec();

  it('is held in full, whatever the fees, so that the balance goes below zero', async () => {
    await world.merchant({ fee_bps: '100', fee_fixed: '20' });
    const paid = await world.told.paid(world.key, 1000);
    await world.expectBalance(970, 0);
    const dispute = await world.told.disputed(paid);
    await world.expectBalance(-30, 1000);
    await world.told.ruled(dispute, 'disagreed');
    await world.expectBalance(970, 0);
  });

  it('is held from the available balance while the money of the payment is pending', async () => {
    await world.merchant({ release_days: '2' });
    const paid = await world.told.paid(world.key);
    await world.expectBalance(0, 0, 100);
    const dispute = await world.told.disputed(paid);
    await world.expectBalance(-100, 100, 100);
    await world.told.ruled(dispute, null);
    await world.expectBalance(0, 0, 100);
  });

  it('is held after the money has left the wallet', async () => {
    await world.merchant({ fee_fixed: '60' });
    const [first, second] = [await world.told.paid(world.key), await world.told.paid(world.key)];
    await world.told.refund(world.key, second, 80);
    await world.told.finish();
    await world.expectBalance(0, 0);
    const dispute = await world.told.disputed(first);
    await world.expectBalance(-100, 100);
    await world.told.ruled(dispute, 'agreed');
    await world.expectBalance(-100, 0);
    expect(await world.outcomes(first.id)).toEqual([[100, 'closed', 'closed_without_refund']]);
  });

  describe('with a second dispute on the charge', () => {
    it('is held once, and held for the second dispute when the first is withdrawn', async () => {
      const paid = await world.told.paid(world.key);
      const [first, second] = [await world.told.disputed(paid), await world.told.disputed(paid)];
      await world.expectBalance(0, 100);
      await world.told.ruled(first, null);
      await world.expectBalance(0, 100);
      expect(await world.statusOf(paid.id)).toBe('disputed');
      await world.told.ruled(second, 'disagreed');
      await world.expectBalance(100, 0);
      expect(await world.statusOf(paid.id)).toBe('paid');
      expect(await eventsAbout(world.service, paid.id)).toEqual([
        'transaction.created',
        'transaction.paid',
        'transaction.disputed',
        'transaction.dispute_won',
      ]);
    });

    it('is gone with the first dispute that is lost; winning the second brings nothing back', async () => {
      const paid = await world.told.paid(world.key);
      const [first, second] = [await world.told.disputed(paid), await world.told.disputed(paid)];
      await world.told.ruled(first, 'agreed');
      await world.expectBalance(0, 0);
      await world.told.ruled(second, 'disagreed');
      await world.expectBalance(0, 0);
      expect(await world.statusOf(paid.id)).toBe('disputed');
      expect(await world.outcomes(paid.id)).toEqual([
        [100, 'closed', 'closed_without_refund'],
        [100, 'closed', 'refunded_to_merchant'],
      ]);
    });

    it('is held again when the second dispute comes after the first has ended', async () => {
      const paid = await world.told.paid(world.key);
      await world.told.ruled(await world.told.disputed(paid), null);
      await world.expectBalance(100, 0);
      await world.told.disputed(paid);
      await world.expectBalance(0, 100);
      expect(await world.statusOf(paid.id)).toBe('disputed');
    });
  });

  it('is lost in part when an operator corrects the amount: the rest stays paid and refundable', async () => {
    const paid = await world.told.paid(world.key);
    const dispute = await world.told.disputed(paid, { amount: 2500 });
    await world.expectBalance(100, 0);
    const { id } = await world.waiting();
    expect((await world.decide(id, 'approve')).status).toBe(400);
    expect((await world.decide(id, 'approve', { amount: 30 })).status).toBe(200);
    await world.expectBalance(70, 30);
    await world.told.ruled(dispute, 'agreed');
    await world.expectBalance(70, 0);
    expect(await world.statusOf(paid.id)).toBe('paid');
    expect(await world.outcomes(paid.id)).toEqual([[30, 'closed', 'closed_without_refund']]);
    const tooMuch = await requestRefund(world.service, world.key, paid.id, { amount: 71 });
    expect([tooMuch.status, tooMuch.body.error.code]).toEqual([400, 'refund_amount_exceeds_remaining']);
    await world.told.refund(world.key, paid, 70);
    await world.told.finish();
    await world.expectBalance(0, 0);
  });

  it.each(['refunded', 'returned'])(
    'is not held for a payment that was %s, and an operator reviews the case',
    async (how) => {
      const paid = await world.told.received(world.key);
      if (how === 'returned') world.service.clock.advance(4_000);
      const pix = how === 'returned' ? { ...paid.pix, settledAt: world.service.clock.now() } : paid.pix;
      world.told.bank.pix.set(pix.endToEndId, pix);
      await world.told.settle(pix);
      if (how === 'refunded') {
        await world.told.refund(world.key, paid, 100);
        await world.told.finish();
      }
      await world.operator();
      const status = await world.statusOf(paid.id);
      await world.told.disputed(paid);
      await world.expectBalance(0, 0);
      expect(await casesOf(world.service, world.key, paid.id)).toEqual([]);
      expect(await world.metadataOf(paid.id)).toBeUndefined();
      const waiting = await world.waiting('?review=not_disputable&limit=1');
      expect(waiting.case.charge_id).toBe(paid.id);
      expect((await world.decide(waiting.id, 'approve')).status).toBe(200);
      expect(await world.outcomes(paid.id)).toEqual([[100, 'open', null]]);
      expect(await world.statusOf(paid.id)).toBe(status);
      await world.expectBalance(0, 0);
    },
  );

  describe('about a second payment of the charge, which was sent back', () => {
    it.each([100, 50])(
      'leaves the first payment untouched for a dispute of %i, even when an operator approves it',
      async (amount) => {
        const paid = await world.told.paid(world.key);
        const second = world.told.bank.receive(
          { txid: paid.pix.txid ?? '', amount },
          { settledAt: world.service.clock.now(), payerDocument: '52998224725' },
        );
        await world.told.settle(second);
        await world.expectBalance(100, 0);
        const dispute = await world.told.disputed({ id: paid.id, pix: second });
        expect(await world.metadataOf(paid.id)).toBeUndefined();
        const waiting = await world.waiting();
        expect(waiting).toMatchObject({ review: 'not_disputable', case: { charge_id: paid.id } });
        expect((await world.decide(waiting.id, 'approve')).status).toBe(200);
        await world.expectBalance(100, 0);
        expect(await world.outcomes(paid.id)).toEqual([[amount, 'open', null]]);
        const { status, metadata } = (await world.service.getCharge(world.key, paid.id)).body;
        expect([status, metadata['med']]).toEqual([
          'paid',
          expect.objectContaining({ referenceId: second.endToEndId, amountMismatch: false }),
        ]);
        // The credited payment can be refunded, and disputed by its own payer.
        await world.told.refund(world.key, paid, 40);
        await world.told.finish();
        await world.told.disputed(paid);
        await world.expectBalance(0, 60);
        await world.told.ruled(dispute, 'agreed');
        await world.expectBalance(0, 60);
        expect(await world.statusOf(paid.id)).toBe('disputed');
      },
    );
  });

  it('is not held when nothing is left: the case waits for an operator and ends without a trace on the charge', async () => {
    const paid = await world.told.paid(world.key);
    const first = await world.told.disputed(paid, { amount: 30 });
    await world.decide((await world.waiting()).id, 'approve');
    await world.told.ruled(first, 'agreed');
    await world.told.refund(world.key, paid, 70);
    await world.told.finish();
    await world.expectBalance(0, 0);
    expect(await world.statusOf(paid.id)).toBe('paid');
    const second = await world.told.disputed(paid);
    const waiting = await world.waiting('?review=not_disputable&limit=1');
    expect(waiting.case.charge_id).toBe(paid.id);
    expect(await world.statusOf(paid.id)).toBe('paid');
    expect((await world.decide(waiting.id, 'approve')).status).toBe(200);
    expect(await world.statusOf(paid.id)).toBe('paid');
    await world.told.ruled(second, null);
    expect(await world.statusOf(paid.id)).toBe('paid');
    await world.expectBalance(0, 0);
  });
});
