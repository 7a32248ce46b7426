import { describe, expect, it } from '@jest/globals';
import { answerCase, balance, casesOf } from '../../support/med.js';
import { MedWorld } from '../../support/med-world.js';
import { requestRefund } from '../../support/refunds.js';

/** Races run on the real PostgreSQL. */
describe('a MED in a race', () => {
  const world = MedWorld.forSpec();

  const ROUNDS = 8;

  it('a dispute and a refund at once hold the money and send no refund', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await world.merchant();
      const paid = await world.told.paid(world.key);
      const dispute = world.told.bank.dispute(paid.pix);
      const notification = await world.told.hint('dispute', dispute.reference);
      await Promise.all([world.told.process(notification), requestRefund(world.service, world.key, paid.id)]);
      await world.told.finish();
      await world.expectBalance(0, 100);
      expect(world.told.bank.returns.size).toBe(0);
    }
  });

  it('a ruling beside a refund that is sent or fails leaves the money lost, or the failed refund available', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await world.merchant();
      const paid = await world.told.paid(world.key);
      const refundId = await world.told.refund(world.key, paid, 40);
      if (round % 2 === 0) {
        world.told.bank.returnFault = () => 'refused unheard';
        await world.told.step(refundId);
        world.told.bank.returnFault = () => null;
      }
      const dispute = await world.told.disputed(paid);
      await world.expectBalance(0, 60);
      await Promise.all([world.told.ruled(dispute, 'agreed'), world.told.step(refundId)]);
      await world.told.finish();
      // The money of the refund was held and lost with the rest, or came after the ruling and is the merchant's.
      const { available, retained } = await balance(world.service, world.key);
      expect([0, 40]).toContain(available);
      expect([retained, await world.statusOf(paid.id)]).toEqual([0, available === 40 ? 'paid' : 'disputed']);
      if (world.told.bank.returnsOf(paid.pix.endToEndId).length > 0) expect(available).toBe(0);
    }
  });

  it('many notifications of one dispute at once open one case', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await world.merchant();
      const paid = await world.told.paid(world.key);
      const dispute = world.told.bank.dispute(paid.pix);
      const notification = await world.told.hint('dispute', dispute.reference);
      await Promise.all(Array.from({ length: 8 }, () => world.told.process(notification)));
      await world.expectBalance(0, 100);
      expect(await world.outcomes(paid.id)).toEqual([[100, 'open', null]]);
    }
  });

  it('two disputes of one charge at once hold the money once', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await world.merchant();
      const paid = await world.told.paid(world.key);
      await Promise.all([world.told.disputed(paid), world.told.disputed(paid)]);
      await world.expectBalance(0, 100);
      expect(await world.outcomes(paid.id)).toEqual([
        [100, 'open', null],
        [100, 'open', null],
      ]);
    }
  });

  it('exactly one of a ruling and an acceptance at once wins', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await world.merchant();
      const paid = await world.told.paid(world.key);
      const dispute = await world.told.disputed(paid);
      const [open] = await casesOf(world.service, world.key, paid.id);
      const [accepted] = await Promise.all([
        answerCase(world.service, world.key, open?.id ?? '', 'accept'),
        world.told.ruled(dispute, 'disagreed'),
      ]);
      const [[, status] = []] = (await world.outcomes(paid.id)) as unknown[][];
      expect([accepted.status, status]).toEqual(accepted.status === 200 ? [200, 'accepted'] : [400, 'closed']);
      await world.expectBalance(accepted.status === 200 ? 0 : 100, 0);
    }
  });

  it('a dispute at the moment of the settlement of its payment holds the money', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await world.merchant();
      const paid = await world.told.received(world.key);
      const dispute = world.told.bank.dispute(paid.pix);
      const notification = await world.told.hint('dispute', dispute.reference);
      await Promise.all([world.told.settle(paid.pix), world.told.process(notification)]);
      await world.told.process(notification);
      await world.expectBalance(0, 100);
      expect(await world.statusOf(paid.id)).toBe('disputed');
    }
  });
});
