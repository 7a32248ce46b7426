import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { expectLedgerCoherent } from '../support/coherence.js';
import { ToldBank } from '../support/med-bank.js';
import { answerCase, balance, casesOf, eventsAbout, medQueue } from '../support/med.js';
import { requestRefund } from '../support/refunds.js';
import { TestService } from '../support/service.js';

/** What an accountant expects of disputes. Nothing runs by itself: each step is taken by the test. */
describe('the money of a dispute', () => {
  let service: TestService;
  let told: ToldBank;
  let key: string;

  beforeAll(async () => {
    service = await TestService.start({ env: { ROLE: 'api' } });
  });
  beforeEach(async () => {
    told = new ToldBank(service);
    key = (await service.merchant()).testKey;
  });
  afterEach(() => expectLedgerCoherent(service.database.url));
  afterAll(() => service.stop());

  const expectBalance = async (available: number, retained: number, pending = 0): Promise<void> =>
    expect(await balance(service, key)).toEqual({ available, pending, retained });
  const statusOf = async (id: string): Promise<string> => (await service.getCharge(key, id)).body.status;
  const outcomes = async (id: string): Promise<unknown[]> =>
    (await casesOf(service, key, id)).map((medCase) => [medCase.amount, medCase.status, medCase.money_outcome]);

  it('is held in full, fees or not: the balance goes below zero', async () => {
    key = (await service.merchant({ fee_bps: '100', fee_fixed: '20' })).testKey;
    const paid = await told.paid(key, 1000);
    await expectBalance(970, 0);
    const dispute = await told.disputed(paid);
    await expectBalance(-30, 1000);
    await told.ruled(dispute, 'disagreed');
    await expectBalance(970, 0);
  });

  it('is held from what is available, while its own money is pending', async () => {
    key = (await service.merchant({ release_days: '2' })).testKey;
    const paid = await told.paid(key);
    await expectBalance(0, 0, 100);
    const dispute = await told.disputed(paid);
    await expectBalance(-100, 100, 100);
    await told.ruled(dispute, null);
    await expectBalance(0, 0, 100);
  });

  it('is held after the money has left the wallet', async () => {
    key = (await service.merchant({ fee_fixed: '60' })).testKey;
    const [first, second] = [await told.paid(key), await told.paid(key)];
    await told.refund(key, second, 80);
    await told.finish();
    await expectBalance(0, 0);
    const dispute = await told.disputed(first);
    await expectBalance(-100, 100);
    await told.ruled(dispute, 'agreed');
    await expectBalance(-100, 0);
    expect(await outcomes(first.id)).toEqual([[100, 'closed', 'closed_without_refund']]);
  });

  it('of a partly refunded payment is what refunds have left', async () => {
    const paid = await told.paid(key);
    await told.refund(key, paid, 40);
    await told.finish();
    await expectBalance(60, 0);
    const dispute = await told.disputed(paid);
    await expectBalance(0, 60);
    await told.ruled(dispute, 'agreed');
    await expectBalance(0, 0);
    expect(await outcomes(paid.id)).toEqual([[100, 'closed', 'closed_without_refund']]);
    expect(await statusOf(paid.id)).toBe('disputed');
  });

  it('leaves a refund on its way alone: it arrives, and the payment is paid again when the dispute is won', async () => {
    const paid = await told.paid(key);
    const refundId = await told.refund(key, paid, 60);
    await told.step(refundId);
    const dispute = await told.disputed(paid);
    await expectBalance(0, 40);
    await told.finish();
    await expectBalance(0, 40);
    await told.ruled(dispute, 'disagreed');
    await expectBalance(40, 0);
    expect(await statusOf(paid.id)).toBe('paid');
    expect((await requestRefund(service, key, paid.id, { amount: 41 })).status).toBe(400);
    await told.refund(key, paid, 40);
    await told.finish();
    expect(await statusOf(paid.id)).toBe('refunded');
  });

  it('of a refund of all of it: nothing is held, and the payment is refunded however the dispute ends', async () => {
    for (const result of ['disagreed', 'agreed'] as const) {
      const paid = await told.paid(key);
      await told.step(await told.refund(key, paid, 100));
      const dispute = await told.disputed(paid);
      await expectBalance(0, 0);
      await told.finish();
      expect(await statusOf(paid.id)).toBe('disputed');
      await told.ruled(dispute, result);
      expect(await statusOf(paid.id)).toBe('refunded');
      await expectBalance(0, 0);
    }
  });

  it('holds what a refund gives back that fails while the dispute is open, and no other', async () => {
    const paid = await told.paid(key);
    const refundId = await told.refund(key, paid, 60);
    told.bank.returnFault = () => 'refused unheard';
    await told.step(refundId);
    const dispute = await told.disputed(paid);
    await expectBalance(0, 40);
    told.bank.returnFault = () => null;
    await told.finish();
    await expectBalance(0, 100);
    await told.ruled(dispute, 'disagreed');
    await expectBalance(100, 0);
    // Not disputed any more: what fails now is the merchant's.
    told.bank.returnFault = () => 'refused';
    await told.refund(key, paid, 100);
    await expectBalance(0, 0);
    await told.finish();
    await expectBalance(100, 0);
  });

  it('stops a refund that has not been sent, and holds its money', async () => {
    const paid = await told.paid(key);
    await told.refund(key, paid, 100);
    await told.disputed(paid);
    await expectBalance(0, 0);
    await told.finish();
    await expectBalance(0, 100);
    expect(told.bank.returns.size).toBe(0);
  });

  describe('of two on one charge', () => {
    it('is held once; when the first is withdrawn, it is held for the second', async () => {
      const paid = await told.paid(key);
      const [first, second] = [await told.disputed(paid), await told.disputed(paid)];
      await expectBalance(0, 100);
      await told.ruled(first, null);
      await expectBalance(0, 100);
      expect(await statusOf(paid.id)).toBe('disputed');
      await told.ruled(second, 'disagreed');
      await expectBalance(100, 0);
      expect(await statusOf(paid.id)).toBe('paid');
      expect(await eventsAbout(service, paid.id)).toEqual([
        'transaction.created',
        'transaction.paid',
        'transaction.disputed',
        'transaction.dispute_won',
      ]);
    });

    it('is gone with the first that is lost; winning the second brings nothing back', async () => {
      const paid = await told.paid(key);
      const [first, second] = [await told.disputed(paid), await told.disputed(paid)];
      await told.ruled(first, 'agreed');
      await expectBalance(0, 0);
      await told.ruled(second, 'disagreed');
      await expectBalance(0, 0);
      expect(await statusOf(paid.id)).toBe('disputed');
      expect(await outcomes(paid.id)).toEqual([
        [100, 'closed', 'closed_without_refund'],
        [100, 'closed', 'refunded_to_merchant'],
      ]);
    });

    it('may come one after the other', async () => {
      const paid = await told.paid(key);
      await told.ruled(await told.disputed(paid), null);
      await expectBalance(100, 0);
      await told.disputed(paid);
      await expectBalance(0, 100);
      expect(await statusOf(paid.id)).toBe('disputed');
    });
  });

  it('that an operator sets right: a lost part leaves the rest paid and refundable', async () => {
    const { token } = await service.operator();
    const paid = await told.paid(key);
    const dispute = await told.disputed(paid, { amount: 2500 });
    await expectBalance(100, 0);
    const [waiting] = await medQueue(service, token, '?limit=1');
    const approve = (amount?: number): Promise<{ status: number }> =>
      service.call('POST', `/v1/operations/med/${waiting?.id}/approve`, {
        token,
        body: amount === undefined ? {} : { amount },
      });
    expect((await approve()).status).toBe(400);
    expect((await approve(30)).status).toBe(200);
    await expectBalance(70, 30);
    await told.ruled(dispute, 'agreed');
    await expectBalance(70, 0);
    expect(await statusOf(paid.id)).toBe('paid');
    expect(await outcomes(paid.id)).toEqual([[30, 'closed', 'closed_without_refund']]);
    const tooMuch = await requestRefund(service, key, paid.id, { amount: 71 });
    expect([tooMuch.status, tooMuch.body.error.code]).toEqual([400, 'refund_amount_exceeds_remaining']);
    await told.refund(key, paid, 70);
    await told.finish();
    await expectBalance(0, 0);
  });

  it.each(['refunded', 'returned'])(
    'of a payment that was %s: nothing is held, an operator looks at it',
    async (how) => {
      const paid = await told.received(key);
      if (how === 'returned') service.clock.advance(4_000);
      const pix = how === 'returned' ? { ...paid.pix, settledAt: service.clock.now() } : paid.pix;
      told.bank.pix.set(pix.endToEndId, pix);
      await told.settle(pix);
      if (how === 'refunded') {
        await told.refund(key, paid, 100);
        await told.finish();
      }
      const { token } = await service.operator();
      const status = await statusOf(paid.id);
      await told.disputed(paid);
      await expectBalance(0, 0);
      expect(await casesOf(service, key, paid.id)).toEqual([]);
      expect((await service.getCharge(key, paid.id)).body.metadata['med']).toBeUndefined();
      const [waiting] = await medQueue(service, token, '?review=not_disputable&limit=1');
      expect(waiting?.case.charge_id).toBe(paid.id);
      expect(
        (await service.call('POST', `/v1/operations/med/${waiting?.id}/approve`, { token, body: {} })).status,
      ).toBe(200);
      expect(await outcomes(paid.id)).toEqual([[100, 'open', null]]);
      expect(await statusOf(paid.id)).toBe(status);
      await expectBalance(0, 0);
    },
  );

  describe('about a second payment of the charge, which was sent back', () => {
    it.each([100, 50])(
      'of %i: nothing of the first is touched, not even when an operator approves it',
      async (amount) => {
        const { token } = await service.operator();
        const paid = await told.paid(key);
        const second = told.bank.receive(
          { txid: paid.pix.txid ?? '', amount },
          { settledAt: service.clock.now(), payerDocument: '52998224725' },
        );
        await told.settle(second);
        await expectBalance(100, 0);
        const dispute = await told.disputed({ id: paid.id, pix: second });
        expect((await service.getCharge(key, paid.id)).body.metadata['med']).toBeUndefined();
        const [waiting] = await medQueue(service, token, '?limit=1');
        expect(waiting).toMatchObject({ review: 'not_disputable', case: { charge_id: paid.id } });
        const path = `/v1/operations/med/${waiting?.id}/approve`;
        expect((await service.call('POST', path, { token, body: {} })).status).toBe(200);
        await expectBalance(100, 0);
        expect(await outcomes(paid.id)).toEqual([[amount, 'open', null]]);
        const { status, metadata } = (await service.getCharge(key, paid.id)).body;
        expect([status, metadata['med']]).toEqual([
          'paid',
          expect.objectContaining({ referenceId: second.endToEndId, amountMismatch: false }),
        ]);
        // What was credited can be refunded, and disputed by its own payer.
        await told.refund(key, paid, 40);
        await told.finish();
        await told.disputed(paid);
        await expectBalance(0, 60);
        await told.ruled(dispute, 'agreed');
        await expectBalance(0, 60);
        expect(await statusOf(paid.id)).toBe('disputed');
      },
    );
  });

  describe('with a refund that comes to its end after the ruling', () => {
    it('leaves what a failed one gives back with the merchant, and the payment is paid', async () => {
      const paid = await told.paid(key);
      told.bank.returnFault = () => 'refused unheard';
      await told.step(await told.refund(key, paid, 40));
      const dispute = await told.disputed(paid);
      await expectBalance(0, 60);
      await told.ruled(dispute, 'agreed');
      await expectBalance(0, 0);
      expect(await statusOf(paid.id)).toBe('disputed');
      told.bank.returnFault = () => null;
      await told.finish();
      await expectBalance(40, 0);
      expect(await statusOf(paid.id)).toBe('paid');
    });

    it('sends one that had not been sent before it', async () => {
      const paid = await told.paid(key);
      await told.refund(key, paid, 40);
      await told.ruled(await told.disputed(paid), 'agreed');
      await expectBalance(0, 0);
      await told.finish();
      await expectBalance(0, 0);
      expect(told.bank.returnsOf(paid.pix.endToEndId).map(({ amount }) => amount)).toEqual([40]);
      expect(await statusOf(paid.id)).toBe('disputed');
    });
  });

  it('with nothing left to hold: an operator looks at it, and it ends without a trace on the charge', async () => {
    const { token } = await service.operator();
    const waiting = async (): Promise<string> => {
      const [found] = await medQueue(service, token, '?limit=1');
      return found?.id ?? '';
    };
    const approve = (id: string, body: object): Promise<{ status: number }> =>
      service.call('POST', `/v1/operations/med/${id}/approve`, { token, body });
    const paid = await told.paid(key);
    const first = await told.disputed(paid, { amount: 30 });
    await approve(await waiting(), {});
    await told.ruled(first, 'agreed');
    await told.refund(key, paid, 70);
    await told.finish();
    await expectBalance(0, 0);
    expect(await statusOf(paid.id)).toBe('paid');
    const second = await told.disputed(paid);
    expect(await medQueue(service, token, '?review=not_disputable&limit=1')).toEqual([
      expect.objectContaining({ case: expect.objectContaining({ charge_id: paid.id }) }),
    ]);
    expect(await statusOf(paid.id)).toBe('paid');
    expect((await approve(await waiting(), {})).status).toBe(200);
    expect(await statusOf(paid.id)).toBe('paid');
    await told.ruled(second, null);
    expect(await statusOf(paid.id)).toBe('paid');
    await expectBalance(0, 0);
  });

  describe('whose amount the bank changes', () => {
    it('is not ruled before an operator has looked at it', async () => {
      const { token } = await service.operator();
      const paid = await told.paid(key);
      const dispute = told.bank.change(await told.disputed(paid), { amount: 60 });
      await told.tell(dispute);
      const ruled = told.bank.rule(dispute, 'agreed');
      await told.tell(ruled);
      await expectBalance(0, 100);
      const [waiting] = await medQueue(service, token, '?review=amount_mismatch&limit=1');
      expect(waiting).toMatchObject({ visible: true, reported_amount: 60, held_amount: 100, bank_result: 'agreed' });
      const path = `/v1/operations/med/${waiting?.id}/approve`;
      expect((await service.call('POST', path, { token, body: { amount: 60 } })).status).toBe(400);
      expect((await service.call('POST', path, { token, body: {} })).status).toBe(200);
      await expectBalance(0, 0);
      expect(await outcomes(paid.id)).toEqual([[100, 'closed', 'closed_without_refund']]);
    });

    it('goes on by itself when the bank changes it back', async () => {
      const paid = await told.paid(key);
      const changed = told.bank.change(await told.disputed(paid), { amount: 60 });
      await told.tell(changed);
      const right = told.bank.change(changed, { amount: 100 });
      await told.tell(right);
      await told.ruled(right, 'disagreed');
      await expectBalance(100, 0);
    });

    it.each([false, true])('to the charge’s is opened, dismissed before or not (%s)', async (isDismissed) => {
      const { token } = await service.operator();
      const paid = await told.paid(key);
      const dispute = await told.disputed(paid, { amount: 2500 });
      if (isDismissed) {
        const [waiting] = await medQueue(service, token, '?limit=1');
        await service.call('POST', `/v1/operations/med/${waiting?.id}/dismiss`, { token });
      }
      const responseDeadline = new Date('2099-01-01T00:00:00.000Z');
      const right = told.bank.change(dispute, { amount: 100, reason: 'It was not me.', responseDeadline });
      await told.tell(right);
      await expectBalance(0, 100);
      expect(await statusOf(paid.id)).toBe('disputed');
      expect(await casesOf(service, key, paid.id)).toEqual([
        expect.objectContaining({
          status: 'open',
          amount: 100,
          reason: 'It was not me.',
          response_deadline: '2099-01-01T00:00:00.000Z',
          closed_at: null,
        }),
      ]);
      await told.ruled(right, 'disagreed');
      await expectBalance(100, 0);
      expect(await statusOf(paid.id)).toBe('paid');
    });
  });

  describe('told out of order', () => {
    it('a ruling before its opening', async () => {
      const paid = await told.paid(key);
      const opened = told.bank.dispute(paid.pix);
      const ruled = told.bank.rule(opened, 'agreed');
      await told.tell(ruled);
      await expectBalance(0, 0);
      expect(await outcomes(paid.id)).toEqual([[100, 'closed', 'closed_without_refund']]);
      // What the bank answers now is older than what was applied.
      told.bank.disputes.set(opened.reference, opened);
      await told.tell(opened);
      expect(await outcomes(paid.id)).toEqual([[100, 'closed', 'closed_without_refund']]);
    });

    it('a dispute before its payment: kept until it is settled', async () => {
      const paid = await told.received(key);
      const dispute = told.bank.dispute(paid.pix);
      const notification = await told.hint('dispute', dispute.reference);
      for (let attempt = 0; attempt < 45; attempt++) await told.process(notification);
      expect(await service.sql('SELECT status FROM acquirer_notifications WHERE id = $1', [notification])).toEqual([
        { status: 'pending' },
      ]);
      await told.settle(paid.pix);
      await expectBalance(100, 0);
      await told.process(notification);
      await expectBalance(0, 100);
    });

    it('a change while the one before is being applied: asked for once more', async () => {
      const paid = await told.paid(key);
      const dispute = told.bank.dispute(paid.pix);
      const notification = await told.hint('dispute', dispute.reference);
      const { bank } = told;
      const ask = bank.getDispute.bind(bank);
      // The ruling is told between the bank's answer and the end of its application.
      bank.getDispute = async (reference) => {
        const answer = await ask(reference);
        bank.getDispute = ask;
        bank.rule(dispute, 'disagreed');
        await told.hint('dispute', reference);
        return answer;
      };
      await told.process(notification);
      await expectBalance(0, 100);
      await told.process(notification);
      await expectBalance(100, 0);
      expect(await outcomes(paid.id)).toEqual([[100, 'closed', 'refunded_to_merchant']]);
    });

    it('a ruling against what the merchant has accepted: an operator looks at it', async () => {
      const { token } = await service.operator();
      const paid = await told.paid(key);
      const dispute = await told.disputed(paid);
      const [open] = await casesOf(service, key, paid.id);
      await answerCase(service, key, open?.id ?? '', 'accept');
      await told.ruled(dispute, 'disagreed');
      await expectBalance(0, 0);
      expect(await outcomes(paid.id)).toEqual([[100, 'accepted', 'lost']]);
      const [waiting] = await medQueue(service, token, '?review=contradiction&limit=1');
      expect(waiting?.id).toBe(open?.id);
      const path = `/v1/operations/med/${waiting?.id}`;
      expect((await service.call('POST', `${path}/approve`, { token, body: {} })).status).toBe(409);
      expect((await service.call('POST', `${path}/dismiss`, { token })).status).toBe(200);
    });
  });

  describe('at once', () => {
    const ROUNDS = 8;

    it('a dispute and a refund', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        key = (await service.merchant()).testKey;
        const paid = await told.paid(key);
        const dispute = told.bank.dispute(paid.pix);
        const notification = await told.hint('dispute', dispute.reference);
        await Promise.all([told.process(notification), requestRefund(service, key, paid.id)]);
        await told.finish();
        await expectBalance(0, 100);
        expect(told.bank.returns.size).toBe(0);
      }
    });

    it('a ruling, and a refund that is sent or fails', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        key = (await service.merchant()).testKey;
        const paid = await told.paid(key);
        const refundId = await told.refund(key, paid, 40);
        if (round % 2 === 0) {
          told.bank.returnFault = () => 'refused unheard';
          await told.step(refundId);
          told.bank.returnFault = () => null;
        }
        const dispute = await told.disputed(paid);
        await expectBalance(0, 60);
        await Promise.all([told.ruled(dispute, 'agreed'), told.step(refundId)]);
        await told.finish();
        // What the refund gives back was held and lost with the rest, or came after the ruling and is the merchant's.
        const { available, retained } = await balance(service, key);
        expect([0, 40]).toContain(available);
        expect([retained, await statusOf(paid.id)]).toEqual([0, available === 40 ? 'paid' : 'disputed']);
        if (told.bank.returnsOf(paid.pix.endToEndId).length > 0) expect(available).toBe(0);
      }
    });

    it('one dispute told many times: one case', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        key = (await service.merchant()).testKey;
        const paid = await told.paid(key);
        const dispute = told.bank.dispute(paid.pix);
        const notification = await told.hint('dispute', dispute.reference);
        await Promise.all(Array.from({ length: 8 }, () => told.process(notification)));
        await expectBalance(0, 100);
        expect(await outcomes(paid.id)).toEqual([[100, 'open', null]]);
      }
    });

    it('two disputes of one charge: held once', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        key = (await service.merchant()).testKey;
        const paid = await told.paid(key);
        await Promise.all([told.disputed(paid), told.disputed(paid)]);
        await expectBalance(0, 100);
        expect(await outcomes(paid.id)).toEqual([
          [100, 'open', null],
          [100, 'open', null],
        ]);
      }
    });

    it('a ruling and the acceptance: one of them', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        key = (await service.merchant()).testKey;
        const paid = await told.paid(key);
        const dispute = await told.disputed(paid);
        const [open] = await casesOf(service, key, paid.id);
        const [accepted] = await Promise.all([
          answerCase(service, key, open?.id ?? '', 'accept'),
          told.ruled(dispute, 'disagreed'),
        ]);
        const [[, status] = []] = (await outcomes(paid.id)) as unknown[][];
        expect([accepted.status, status]).toEqual(accepted.status === 200 ? [200, 'accepted'] : [400, 'closed']);
        await expectBalance(accepted.status === 200 ? 0 : 100, 0);
      }
    });

    it('a dispute and the settlement of its payment', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        key = (await service.merchant()).testKey;
        const paid = await told.received(key);
        const dispute = told.bank.dispute(paid.pix);
        const notification = await told.hint('dispute', dispute.reference);
        await Promise.all([told.settle(paid.pix), told.process(notification)]);
        await told.process(notification);
        await expectBalance(0, 100);
        expect(await statusOf(paid.id)).toBe('disputed');
      }
    });
  });
});
