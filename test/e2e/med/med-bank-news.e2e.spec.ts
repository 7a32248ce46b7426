import { describe, expect, it } from '@jest/globals';
import { answerCase, casesOf } from '../../support/med.js';
import { MedWorld } from '../../support/med-world.js';

interface WaitingAnswer {
  reference: string;
  payment: string;
}

describe('news of the bank about a dispute', () => {
  const world = MedWorld.forSpec();

  describe('with another amount', () => {
    it('waits with the ruling until an operator has looked at the case', async () => {
      const paid = await world.told.paid(world.key);
      const dispute = world.told.bank.change(await world.told.disputed(paid), { amount: 60 });
      await world.told.tell(dispute);
      const ruled = world.told.bank.rule(dispute, 'agreed');
      await world.told.tell(ruled);
      await world.expectBalance(0, 100);
      const waiting = await world.waiting('?review=amount_mismatch&limit=1');
      expect(waiting).toMatchObject({ visible: true, reported_amount: 60, held_amount: 100, bank_result: 'agreed' });
      expect((await world.decide(waiting.id, 'approve', { amount: 101 })).status).toBe(400);
      expect((await world.decide(waiting.id, 'approve')).status).toBe(200);
      await world.expectBalance(0, 0);
      expect(await world.outcomes(paid.id)).toEqual([[100, 'closed', 'closed_without_refund']]);
      // More was lost than the bank has taken: the case waits for another review.
      expect(await world.waiting('?review=contradiction&limit=1')).toMatchObject({ id: waiting.id, lost_amount: 100 });
    });

    it('can be appealed, but not accepted, before an operator has looked at the case', async () => {
      const paid = await world.told.paid(world.key);
      const dispute = await world.told.disputed(paid);
      const [open] = await casesOf(world.service, world.key, paid.id);
      const accept = (): ReturnType<typeof answerCase<{ error: { code: string; message: string } }>> =>
        answerCase(world.service, world.key, open?.id ?? '', 'accept');
      const changed = world.told.bank.change(dispute, { amount: 40 });
      await world.told.tell(changed);
      const refused = await accept();
      expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_request']);
      expect(refused.body.error.message).toContain('`metadata.med.amountMismatch`');
      await world.expectBalance(0, 100);
      expect(await world.waiting()).toMatchObject({ id: open?.id, review: 'amount_mismatch', reported_amount: 40 });
      expect(await world.metadataOf(paid.id)).toMatchObject({ amountMismatch: true });
      expect((await world.decide(open?.id ?? '', 'approve', { amount: 40 })).status).toBe(200);
      expect(await world.metadataOf(paid.id)).toMatchObject({ amountMismatch: false });
      expect((await accept()).status).toBe(200);
      await world.expectBalance(60, 0);
      expect(await world.outcomes(paid.id)).toEqual([[40, 'accepted', 'lost']]);
      await world.told.ruled(changed, 'agreed');
      expect((await world.decide(open?.id ?? '', 'approve')).status).toBe(409);

      const other = await world.told.paid(world.key);
      await world.told.tell(world.told.bank.change(await world.told.disputed(other), { amount: 40 }));
      const [doubted] = await casesOf(world.service, world.key, other.id);
      expect((await answerCase(world.service, world.key, doubted?.id ?? '', 'appeal')).status).toBe(200);
      expect(await world.waiting()).toMatchObject({ id: doubted?.id, review: 'amount_mismatch' });
    });

    it('counts as news even under an unchanged time of the bank', async () => {
      const paid = await world.told.paid(world.key);
      const dispute = await world.told.disputed(paid);
      await world.told.tell(world.told.bank.change(dispute, { amount: 40, updatedAt: dispute.updatedAt }));
      expect(await world.waiting()).toMatchObject({ review: 'amount_mismatch', reported_amount: 40, held_amount: 100 });
    });

    it('loses only the amount that the operator has approved', async () => {
      const paid = await world.told.paid(world.key);
      const changed = world.told.bank.change(await world.told.disputed(paid), { amount: 60 });
      await world.told.tell(changed);
      const { id } = await world.waiting('?review=amount_mismatch&limit=1');
      const approved = await world.decide(id, 'approve', { amount: 60 });
      expect([approved.status, approved.body]).toEqual([
        200,
        expect.objectContaining({ review: null, held_amount: 60, case: expect.objectContaining({ amount: 60 }) }),
      ]);
      await world.expectBalance(40, 60);
      expect(await world.metadataOf(paid.id)).toMatchObject({ amountMismatch: false });
      // The bank claims more again, up to what is left.
      await world.told.tell(world.told.bank.change(changed, { amount: 80 }));
      expect((await world.decide(id, 'approve', { amount: 80 })).body).toMatchObject({ held_amount: 80 });
      await world.expectBalance(20, 80);
      await world.told.ruled(world.told.bank.disputes.get(changed.reference) ?? changed, 'agreed');
      await world.expectBalance(20, 0);
      expect(await world.outcomes(paid.id)).toEqual([[80, 'closed', 'closed_without_refund']]);
      expect(await world.statusOf(paid.id)).toBe('paid');
    });

    it('frees money that the bank no longer claims for a younger case, even when it is ruled at once', async () => {
      const paid = await world.told.paid(world.key);
      const older = await world.told.disputed(paid);
      const younger = await world.told.disputed(paid);
      const changed = world.told.bank.change(older, { amount: 60 });
      await world.told.tell(world.told.bank.rule(changed, 'agreed'));
      const { id } = await world.waiting('?review=amount_mismatch&limit=1');
      expect((await world.decide(id, 'approve', { amount: 60 })).body).toMatchObject({ lost_amount: 60 });
      await world.expectBalance(0, 40);
      await world.told.ruled(younger, 'disagreed');
      await world.expectBalance(40, 0);
      expect(await world.statusOf(paid.id)).toBe('paid');
    });

    it('needs no review when the bank changes the amount back', async () => {
      const paid = await world.told.paid(world.key);
      const changed = world.told.bank.change(await world.told.disputed(paid), { amount: 60 });
      await world.told.tell(changed);
      const right = world.told.bank.change(changed, { amount: 100 });
      await world.told.tell(right);
      await world.told.ruled(right, 'disagreed');
      await world.expectBalance(100, 0);
    });

    it.each([false, true])(
      'opens a case when the amount becomes that of the charge, dismissed before: %s',
      async (isDismissed) => {
        const paid = await world.told.paid(world.key);
        const dispute = await world.told.disputed(paid, { amount: 2500 });
        if (isDismissed) await world.decide((await world.waiting()).id, 'dismiss');
        const responseDeadline = new Date('2099-01-01T00:00:00.000Z');
        const right = world.told.bank.change(dispute, { amount: 100, reason: 'It was not me.', responseDeadline });
        await world.told.tell(right);
        await world.expectBalance(0, 100);
        expect(await world.statusOf(paid.id)).toBe('disputed');
        expect(await casesOf(world.service, world.key, paid.id)).toEqual([
          expect.objectContaining({
            status: 'open',
            amount: 100,
            reason: 'It was not me.',
            response_deadline: '2099-01-01T00:00:00.000Z',
            closed_at: null,
          }),
        ]);
        await world.told.ruled(right, 'disagreed');
        await world.expectBalance(100, 0);
        expect(await world.statusOf(paid.id)).toBe('paid');
      },
    );
  });

  it('withdraws a ruling that waits for an operator, so that nothing waits', async () => {
    const paid = await world.told.paid(world.key);
    const dispute = await world.told.disputed(paid);
    const [open] = await casesOf(world.service, world.key, paid.id);
    // Simulates MED_AUTO_RULINGS=false.
    const ruled = world.told.bank.rule(dispute, 'agreed');
    await world.service.sql(
      `UPDATE med_cases SET review = 'ruling', bank_status = 'closed', bank_result = 'agreed', bank_updated_at = $2 WHERE id = $1`,
      [open?.id.slice(4), ruled.updatedAt],
    );
    await world.told.tell(world.told.bank.change(ruled, { status: 'delivered', result: null, closedAt: null }));
    expect((await world.decide(open?.id ?? '', 'approve')).status).toBe(409);
    await world.expectBalance(0, 100);
    expect(await world.outcomes(paid.id)).toEqual([[100, 'open', null]]);
  });

  describe('that arrives out of order', () => {
    it('may contain the ruling before the opening', async () => {
      const paid = await world.told.paid(world.key);
      const opened = world.told.bank.dispute(paid.pix);
      const ruled = world.told.bank.rule(opened, 'agreed');
      await world.told.tell(ruled);
      await world.expectBalance(0, 0);
      expect(await world.outcomes(paid.id)).toEqual([[100, 'closed', 'closed_without_refund']]);
      // The bank's current answer is older than the one that was applied.
      world.told.bank.disputes.set(opened.reference, opened);
      await world.told.tell(opened);
      expect(await world.outcomes(paid.id)).toEqual([[100, 'closed', 'closed_without_refund']]);
    });

    it('keeps a dispute that comes before its payment until that is settled', async () => {
      const paid = await world.told.received(world.key);
      const dispute = world.told.bank.dispute(paid.pix);
      const notification = await world.told.hint('dispute', dispute.reference);
      for (let attempt = 0; attempt < 45; attempt++) await world.told.process(notification);
      expect(
        await world.service.sql('SELECT status FROM acquirer_notifications WHERE id = $1', [notification]),
      ).toEqual([{ status: 'pending' }]);
      await world.told.settle(paid.pix);
      await world.expectBalance(100, 0);
      await world.told.process(notification);
      await world.expectBalance(0, 100);
    });

    it('shows operators a dispute of a payment under review, which is processed at once after the decision', async () => {
      for (const decision of ['accept', 'return', 'cancel'] as const) {
        await world.merchant({ payer_lock: 'true' });
        const lock = { customer: { name: 'Maria da Silva' }, expected_payer_tax_id: '52998224725' };
        const { body: charge } = await world.service.createCharge(world.key, { amount: 100, ...lock });
        const pix = world.told.bank.receive(
          { txid: charge.pix.txid ?? '', amount: 100 },
          { settledAt: world.service.clock.now(), payerDocument: null },
        );
        await world.told.settle(pix);
        expect(await world.statusOf(charge.id)).toBe('processing');
        const dispute = world.told.bank.dispute(pix, decision === 'accept' ? {} : { paymentReference: null });
        const notification = await world.told.hint('dispute', dispute.reference);
        for (let attempt = 0; attempt < 10; attempt++) await world.told.process(notification);
        const waiting = async (): Promise<WaitingAnswer[]> =>
          (
            await world.service.call<{ data: WaitingAnswer[] }>('GET', '/v1/operations/med/waiting', {
              token: world.token,
            })
          ).body.data;
        expect(await waiting()).toMatchObject([
          { reference: dispute.reference, payment: 'held', amount: 100, type: 'med', bank_status: 'created' },
        ]);
        const dueAt = async (): Promise<number> => {
          const [row] = await world.service.sql<{ next_attempt_at: Date }>(
            'SELECT next_attempt_at FROM acquirer_notifications WHERE id = $1',
            [notification],
          );
          return row?.next_attempt_at.getTime() ?? 0;
        };
        expect(await dueAt()).toBeGreaterThan(world.service.clock.now().getTime() + 60_000);
        if (decision === 'cancel') {
          await world.service.call('POST', `/v1/payments/${charge.id.slice(3)}/cancel`, { key: world.key });
        } else {
          const [review] = await world.service.sql<{ id: string }>(
            `SELECT id FROM settlements WHERE transaction_id = $1`,
            [charge.id.slice(3)],
          );
          const path = `/v1/operations/reviews/${review?.id ?? ''}/${decision}`;
          expect((await world.service.call('POST', path, { token: world.token })).status).toBe(200);
        }
        expect(await dueAt()).toBeLessThanOrEqual(world.service.clock.now().getTime());
        await world.told.process(notification);
        expect(await waiting()).toEqual([]);
        if (decision === 'accept') await world.expectBalance(0, 100);
        else expect(await world.waiting()).toMatchObject({ review: 'not_disputable', case: { charge_id: charge.id } });
      }
    });

    it('shows operators a dispute of a stray or unknown payment', async () => {
      const settledAt = world.service.clock.now();
      const stray = world.told.bank.receive({ txid: 'nobody', amount: 70 }, { settledAt });
      await world.told.settle(stray);
      const disputes = [stray, { ...stray, endToEndId: 'E00000000202611211230neverSeen001' }].map((pix) =>
        world.told.bank.dispute(pix),
      );
      for (const dispute of disputes) await world.told.tell(dispute);
      const { body } = await world.service.call<{ data: WaitingAnswer[] }>(
        'GET',
        '/v1/operations/med/waiting?limit=2',
        { token: world.token },
      );
      expect(body.data.map(({ reference, payment }) => [reference, payment]).reverse()).toEqual([
        [disputes[0]?.reference, 'unmatched'],
        [disputes[1]?.reference, 'unknown'],
      ]);
    });

    it.each(['told of again', 'asked about again'] as const)(
      'ignores an older version with the same time that arrives after the change (%s)',
      async (how) => {
        const { told } = world;
        const paid = await told.paid(world.key);
        const dispute = await told.disputed(paid);
        const getDispute = told.bank.getDispute.bind(told.bank);
        let [release, hasRead] = [(): void => undefined, (): void => undefined];
        const gate = new Promise<void>((resolve) => (release = resolve));
        const read = new Promise<void>((resolve) => (hasRead = resolve));
        told.bank.getDispute = async (reference) => {
          told.bank.getDispute = getDispute;
          const before = await getDispute(reference);
          hasRead();
          await gate;
          return before;
        };
        const id = await told.hint('dispute', dispute.reference);
        const slow = told.process(id);
        await read;
        const lowered = told.bank.change(dispute, { amount: 40, updatedAt: dispute.updatedAt });
        await (how === 'told of again' ? told.tell(lowered) : told.process(id));
        release();
        await slow;
        expect(await world.waiting()).toMatchObject({ review: 'amount_mismatch', reported_amount: 40 });
        const [open] = await casesOf(world.service, world.key, paid.id);
        expect((await answerCase(world.service, world.key, open?.id ?? '', 'accept')).status).toBe(400);
        await world.expectBalance(0, 100);
        // Nothing is left to be queried.
        expect(
          await world.service.sql('SELECT status FROM acquirer_notifications WHERE reference = $1', [
            dispute.reference,
          ]),
        ).toEqual([{ status: 'applied' }]);
      },
    );

    it('queries the bank again for a change that comes while the previous one is applied', async () => {
      const paid = await world.told.paid(world.key);
      const dispute = world.told.bank.dispute(paid.pix);
      const notification = await world.told.hint('dispute', dispute.reference);
      const { bank } = world.told;
      const ask = bank.getDispute.bind(bank);
      // The ruling arrives between the bank's answer and its application: that answer is outdated.
      bank.getDispute = async (reference) => {
        const answer = await ask(reference);
        bank.getDispute = ask;
        bank.rule(dispute, 'disagreed');
        await world.told.hint('dispute', reference);
        return answer;
      };
      await world.told.process(notification);
      expect(await world.outcomes(paid.id)).toEqual([]);
      await world.told.process(notification);
      await world.expectBalance(100, 0);
      expect(await world.outcomes(paid.id)).toEqual([[100, 'closed', 'refunded_to_merchant']]);
    });
  });
});
