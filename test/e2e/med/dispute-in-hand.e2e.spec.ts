import { describe, expect, it, jest } from '@jest/globals';
import { InboxDispatcher, InboxService } from '../../../src/acquirers/index.js';
import { Database } from '../../../src/core/database/index.js';
import type { Paid } from '../../support/med-bank.js';
import { MedWorld } from '../../support/med-world.js';
import { refundsOf, requestRefund } from '../../support/refunds.js';
import { waitFor } from '../../support/wait.js';

describe('a dispute between its report and its case', () => {
  const world = MedWorld.forSpec();

  /** The bank disputes a payment, and its report is stored. @returns the id of the stored report */
  async function reported({ pix }: Paid, isUnconfirmed = false): Promise<string> {
    const { reference } = world.told.bank.dispute(pix);
    const hint = { kind: 'dispute', reference, txid: pix.txid } as const;
    const [id] = await world.service
      .get(Database)
      .transaction((tx) => world.service.get(InboxService).storeAll(tx, world.told.bank.name, [hint]));
    await world.service.sql('UPDATE acquirer_notifications SET is_hearsay = $2 WHERE id = $1', [id, isUnconfirmed]);
    return id ?? '';
  }

  /** Asks the bank, which does not answer. */
  async function failing(id: string): Promise<void> {
    const getDispute = jest.spyOn(world.told.bank, 'getDispute').mockRejectedValueOnce(new Error('timed out'));
    await world.told.process(id);
    getDispute.mockRestore();
  }

  /** Puts the question off, as a flood of forged callbacks does. */
  async function putOff(): Promise<void> {
    await world.service.get(InboxService).putOffUnconfirmed(world.told.bank.name);
  }

  const refund = async ({ id }: Paid): Promise<string> => {
    const { status, body } = await requestRefund(world.service, world.key, id, { amount: 40 });
    return `${status} ${status === 201 ? '' : body.error.code}`.trim();
  };

  async function secondsLeft(notificationId: string): Promise<number> {
    const [row] = await world.service.sql<{ at: Date }>(
      'SELECT next_attempt_at AS at FROM acquirer_notifications WHERE id = $1',
      [notificationId],
    );
    return ((row?.at.getTime() ?? 0) - world.service.clock.now().getTime()) / 1000;
  }

  it.each([false, true])(
    'refuses a refund of the payment, also when only a callback has reported the dispute (%s)',
    async (only) => {
      const [paid, other] = [await world.told.paid(world.key), await world.told.paid(world.key)];
      const id = await reported(paid, only);
      expect(await refund(paid)).toBe('400 charge_disputed');
      expect(await refund(other)).toBe('201');
      await world.told.process(id);
      expect(await world.statusOf(paid.id)).toBe('disputed');
      await world.told.finish();
    },
  );

  it('delays no refund when the bank does not know the dispute that a callback reports', async () => {
    const paid = await world.told.paid(world.key);
    const id = await reported(paid, true);
    world.told.bank.disputes.clear();
    await world.told.process(id);
    expect(await refund(paid)).toBe('201');
    await world.told.finish();
  });

  it('keeps the bank’s answer that it does not know a dispute when the next query fails', async () => {
    const paid = await world.told.paid(world.key);
    const id = await reported(paid, true);
    world.told.bank.disputes.clear();
    await world.told.process(id);
    await failing(id);
    expect(await refund(paid)).toBe('201');
    await world.told.finish();
  });

  it.each([
    ['every question fails', failing],
    ['its questions are put off', putOff],
  ])('refuses refunds for ten minutes after a callback while %s', async (_, unanswered) => {
    const paid = await world.told.paid(world.key);
    const id = await reported(paid, true);
    for (let minute = 0; minute < 9; minute++) {
      await unanswered(id);
      world.service.clock.advance(60);
    }
    expect(await refund(paid)).toBe('400 charge_disputed');
    world.service.clock.advance(60);
    expect(await refund(paid)).toBe('201');
    await world.told.finish();
  });

  it('refuses refunds longer when the list of the bank reports the dispute', async () => {
    const paid = await world.told.paid(world.key);
    const id = await reported(paid);
    await failing(id);
    world.service.clock.advance(660);
    expect(await refund(paid)).toBe('400 charge_disputed');
    await world.told.process(id);
    await world.expectBalance(0, 100);
  });

  it('refuses refunds again when a callback repeats a report that was set aside', async () => {
    const paid = await world.told.paid(world.key);
    const id = await reported(paid, true);
    await world.service.sql(
      `UPDATE acquirer_notifications SET status = 'ignored', attempts = 40, last_error = 'the acquirer does not know it'
       WHERE id = $1`,
      [id],
    );
    world.service.clock.advance(660);
    expect(await refund(paid)).toBe('201');
    const [row] = await world.service.sql<{ reference: string; txid: string }>(
      'SELECT reference, txid FROM acquirer_notifications WHERE id = $1',
      [id],
    );
    if (!row) throw new Error('The report is gone');
    await world.service
      .get(Database)
      .transaction((tx) =>
        world.service.get(InboxService).queueUnconfirmed(tx, world.told.bank.name, [{ kind: 'dispute', ...row }]),
      );
    expect(await refund(paid)).toBe('400 charge_disputed');
    await world.told.process(id);
    await world.told.finish();
  });

  it('keeps an earlier accepted refund from being sent', async () => {
    const paid = await world.told.paid(world.key);
    const refundId = await world.told.refund(world.key, paid, 100);
    const id = await reported(paid);
    await world.told.step(refundId);
    expect(world.told.bank.requests.size).toBe(0);
    await world.told.process(id);
    await world.told.step(refundId);
    expect(await refundsOf(world.service, world.key, paid.id.slice(3))).toMatchObject([
      { status: 'FAILED', failureReason: 'charge_disputed' },
    ]);
    await world.expectBalance(0, 100);
  });

  it('is processed some seconds after its process has died, and the late answer of a slow process is not applied', async () => {
    const paid = await world.told.paid(world.key);
    const id = await reported(paid);
    const { bank } = world.told;
    let answer = (): void => undefined;
    const slow = new Promise<void>((resolve) => (answer = resolve));
    const getDispute = jest.spyOn(bank, 'getDispute').mockImplementationOnce(async (reference) => {
      const known = bank.disputes.get(reference) ?? null;
      await slow;
      return known;
    });
    const inHand = world.told.process(id);
    await waitFor('the question', () => Promise.resolve(getDispute.mock.calls.length === 1));
    expect(await secondsLeft(id)).toBeLessThanOrEqual(5);
    // A process that goes on asking keeps its lease.
    world.service.clock.advance(4);
    await waitFor('the lease to be prolonged', async () => (await secondsLeft(id)) > 3);
    expect(await refund(paid)).toBe('400 charge_disputed');
    world.service.clock.advance(6);
    await world.service.get(InboxDispatcher).sweep();
    await world.told.process(id);
    await world.expectBalance(0, 100);
    answer();
    await inHand;
    await world.expectBalance(0, 100);
    expect(await world.outcomes(paid.id)).toEqual([[100, 'open', null]]);
  });
});
