import { describe, expect, it } from '@jest/globals';
import type { Dispute } from '../../../src/acquirers/index.js';
import { answerCase, casesOf, eventsAbout, medQueue, type MedReviewAnswer } from '../../support/med.js';
import type { Paid } from '../../support/med-bank.js';
import { MedWorld } from '../../support/med-world.js';

/** A case that has ended, after which the bank moved the money differently. */
describe('a bank that changes its ruling', () => {
  const world = MedWorld.forSpec();

  const entries = async ({ id }: Paid): Promise<unknown[]> =>
    (
      await world.service.sql<{ cause: string }>(
        `SELECT cause FROM journal_entries WHERE transaction_id = $1 AND cause LIKE 'med.corrected:%' ORDER BY id`,
        [id.slice(3)],
      )
    ).map(({ cause }) => cause);

  /** Rules otherwise than before. @returns the dispute as it is now */
  async function ruledOtherwise(dispute: Dispute, result: 'agreed' | 'disagreed'): Promise<Dispute> {
    const known = world.told.bank.disputes.get(dispute.reference) ?? dispute;
    await world.told.ruled(known, result);
    return world.told.bank.disputes.get(dispute.reference) ?? known;
  }

  const contradicted = (): Promise<MedReviewAnswer> => world.waiting('?review=contradiction&limit=1');

  it.each(['disagreed', null] as const)('takes money that was released (%s), and corrects it once', async (first) => {
    const paid = await world.told.paid(world.key);
    const dispute = await world.told.disputed(paid);
    await world.told.ruled(dispute, first);
    await world.expectBalance(100, 0);
    const ruled = await ruledOtherwise(dispute, 'agreed');
    const [known] = await world.service.sql<{ applied_at: Date }>(
      'SELECT applied_at FROM med_cases WHERE reference = $1',
      [dispute.reference],
    );
    // No money moves before an operator has reviewed the case.
    await world.expectBalance(100, 0);
    const { id } = await contradicted();
    expect((await world.decide(id, 'approve', { amount: 50 })).status).toBe(400);
    const approved = await world.decide(id, 'approve');
    expect([approved.status, approved.body]).toEqual([
      200,
      expect.objectContaining({ review: null, held_amount: 0, lost_amount: 100 }),
    ]);
    await world.expectBalance(0, 0);
    expect(await world.outcomes(paid.id)).toEqual([[100, 'closed', 'closed_without_refund']]);
    expect(await world.statusOf(paid.id)).toBe('disputed');
    expect(await entries(paid)).toEqual([`med.corrected:${id.slice(4)}:${known?.applied_at.toISOString()}`]);
    expect((await world.decide(id, 'approve')).status).toBe(409);
    await world.told.tell(ruled);
    await world.expectBalance(0, 0);
    expect((await eventsAbout(world.service, id)).slice(-2)).toEqual(['med_case.moved', 'med_case.corrected']);
    const [mail] = await world.service.sql<{ subject: string }>(
      `SELECT subject FROM emails WHERE subject LIKE 'TESTE: MED corrigido%' ORDER BY created_at DESC LIMIT 1`,
    );
    expect(mail?.subject).toBe('TESTE: MED corrigido: valor perdido / MED corrected: money lost');
  });

  it.each(['accepted', 'ruled', 'ruled in spite of an appeal'])('gives back money that was lost: %s', async (how) => {
    const paid = await world.told.paid(world.key);
    const dispute = await world.told.disputed(paid);
    const [open] = await casesOf(world.service, world.key, paid.id);
    if (how !== 'ruled') {
      await answerCase(world.service, world.key, open?.id ?? '', how === 'accepted' ? 'accept' : 'appeal');
    }
    if (how !== 'accepted') await world.told.ruled(dispute, 'agreed');
    await world.expectBalance(0, 0);
    await ruledOtherwise(dispute, 'disagreed');
    expect((await world.decide((await contradicted()).id, 'approve')).status).toBe(200);
    await world.expectBalance(100, 0);
    expect(await world.outcomes(paid.id)).toEqual([[100, 'closed', 'refunded_to_merchant']]);
    expect(await world.statusOf(paid.id)).toBe('paid');
    // The payment can be refunded again.
    await world.told.refund(world.key, paid, 100);
    await world.told.finish();
    expect(await world.statusOf(paid.id)).toBe('refunded');
  });

  it('can change it several times, each change with an entry of its own', async () => {
    const paid = await world.told.paid(world.key);
    const dispute = await world.told.disputed(paid);
    await world.told.ruled(dispute, 'agreed');
    for (const result of ['disagreed', 'agreed', 'disagreed'] as const) {
      await ruledOtherwise(dispute, result);
      expect((await world.decide((await contradicted()).id, 'approve')).status).toBe(200);
      await world.expectBalance(result === 'agreed' ? 0 : 100, 0);
    }
    expect(await entries(paid)).toHaveLength(3);
    expect(await world.statusOf(paid.id)).toBe('paid');
  });

  it('can take back a contradiction, which stops waiting; a dismissed contradiction can be approved after all', async () => {
    const paid = await world.told.paid(world.key);
    const dispute = await world.told.disputed(paid);
    await world.told.ruled(dispute, 'disagreed');
    await ruledOtherwise(dispute, 'agreed');
    const { id } = await contradicted();
    await ruledOtherwise(dispute, 'disagreed');
    expect((await world.decide(id, 'approve')).status).toBe(409);
    await ruledOtherwise(dispute, 'agreed');
    expect((await world.decide(id, 'dismiss')).status).toBe(200);
    await world.expectBalance(100, 0);
    expect((await world.decide(id, 'approve')).status).toBe(200);
    await world.expectBalance(0, 0);
  });

  it('takes money that has left the wallet below zero, and never refunded money', async () => {
    const [paid, other] = [await world.told.paid(world.key), await world.told.paid(world.key)];
    const dispute = await world.told.disputed(paid);
    await world.told.ruled(dispute, 'disagreed');
    await world.told.refund(world.key, paid, 40);
    await world.told.refund(world.key, other, 100);
    await world.told.finish();
    await world.expectBalance(60, 0);
    await ruledOtherwise(dispute, 'agreed');
    expect((await world.decide((await contradicted()).id, 'approve')).body).toMatchObject({ lost_amount: 60 });
    await world.expectBalance(0, 0);
    expect(await world.statusOf(paid.id)).toBe('disputed');
  });

  it('takes money that a younger case holds, and holds money it gives back for that case', async () => {
    const paid = await world.told.paid(world.key);
    const dispute = await world.told.disputed(paid);
    await world.told.ruled(dispute, 'disagreed');
    const younger = await world.told.disputed(paid);
    await world.expectBalance(0, 100);
    await ruledOtherwise(dispute, 'agreed');
    expect((await world.decide((await contradicted()).id, 'approve')).status).toBe(200);
    await world.expectBalance(0, 0);
    await ruledOtherwise(dispute, 'disagreed');
    expect((await world.decide((await contradicted()).id, 'approve')).status).toBe(200);
    await world.expectBalance(0, 100);
    await world.told.ruled(younger, 'disagreed');
    await world.expectBalance(100, 0);
    expect(await world.statusOf(paid.id)).toBe('paid');
  });

  it('takes the money that the youngest case holds, and leaves an older case its own', async () => {
    const paid = await world.told.paid(world.key);
    const held = (): Promise<unknown[]> =>
      world.service.sql(
        'SELECT held_amount::int AS held, lost_amount::int AS lost FROM med_cases WHERE transaction_id = $1 ORDER BY id',
        [paid.id.slice(3)],
      );
    const first = await world.told.disputed(paid, { amount: 40 });
    await world.decide((await world.waiting()).id, 'dismiss');
    for (const amount of [60, 40]) {
      await world.told.disputed(paid, { amount });
      await world.decide((await world.waiting()).id, 'approve');
    }
    expect(await held()).toEqual([0, 60, 40].map((amount) => ({ held: amount, lost: 0 })));
    await world.told.ruled(first, 'agreed');
    const { id } = await contradicted();
    // The first approval opens the case and finds nothing to hold; the second one takes what the bank has taken.
    for (let approvals = 0; approvals < 2; approvals++) expect((await world.decide(id, 'approve')).status).toBe(200);
    expect(await held()).toEqual([
      { held: 0, lost: 40 },
      { held: 60, lost: 0 },
      { held: 0, lost: 0 },
    ]);
    await world.expectBalance(0, 60);
  });

  it('gives back money that a younger case could not hold: the charge is disputed again', async () => {
    const paid = await world.told.paid(world.key);
    const dispute = await world.told.disputed(paid, { amount: 2500 });
    await world.decide((await world.waiting()).id, 'approve', { amount: 30 });
    await world.told.ruled(dispute, 'agreed');
    await world.told.refund(world.key, paid, 70);
    await world.told.finish();
    const younger = await world.told.disputed(paid);
    expect((await world.decide((await world.waiting('?review=not_disputable&limit=1')).id, 'approve')).status).toBe(
      200,
    );
    await world.expectBalance(0, 0);
    expect(await world.statusOf(paid.id)).toBe('paid');
    await ruledOtherwise(dispute, 'disagreed');
    expect((await world.decide((await contradicted()).id, 'approve')).status).toBe(200);
    await world.expectBalance(0, 30);
    expect(await world.statusOf(paid.id)).toBe('disputed');
    await world.told.ruled(younger, 'disagreed');
    await world.expectBalance(30, 0);
    expect(await world.statusOf(paid.id)).toBe('paid');
  });

  it('takes the balance below zero for a payment whose fee left nothing', async () => {
    await world.merchant({ fee_fixed: '60' });
    const paid = await world.told.paid(world.key);
    const dispute = await world.told.disputed(paid);
    await world.told.ruled(dispute, null);
    await world.expectBalance(40, 0);
    await ruledOtherwise(dispute, 'agreed');
    await world.decide((await contradicted()).id, 'approve');
    await world.expectBalance(-60, 0);
  });

  describe('names another amount than was lost', () => {
    type Step = 'accept' | 'change' | 'rule' | 'change and rule';
    const ORDERS: readonly (readonly Step[])[] = [
      ['accept', 'change', 'rule'],
      ['accept', 'rule', 'change'],
      ['accept', 'change and rule'],
      ['change', 'accept', 'rule'],
      ['change', 'rule', 'accept'],
      ['change and rule', 'accept'],
      ['rule', 'accept', 'change'],
      ['rule', 'change', 'accept'],
    ];
    const WAITS = {
      'a check of it between': ['approve', { amount: 40 }],
      'a check at the end': null,
      'a check that leaves it as it was': ['approve', {}],
      'a dismissal': ['dismiss', {}],
    } as const;

    /** Plays the steps on a charge of 100: the bank claims all and then 40. */
    async function happensTo(steps: readonly Step[], between: (id: string) => Promise<unknown>): Promise<Paid> {
      const paid = await world.told.paid(world.key);
      let dispute = await world.told.disputed(paid);
      const [open] = await casesOf(world.service, world.key, paid.id);
      const { bank } = world.told;
      for (const step of steps) {
        if (step === 'accept') {
          await answerCase(world.service, world.key, open?.id ?? '', 'accept');
        } else {
          if (step !== 'rule') dispute = bank.change(dispute, { amount: 40 });
          if (step !== 'change') dispute = bank.rule(dispute, 'agreed');
          await world.told.tell(dispute);
        }
        await between(open?.id ?? '');
      }
      return paid;
    }

    const reviewOf = async (id: string): Promise<MedReviewAnswer> =>
      (await world.service.call<MedReviewAnswer>('GET', `/v1/operations/med/${id}`, { token: world.token })).body;

    it.each(ORDERS.flatMap((steps) => (Object.keys(WAITS) as (keyof typeof WAITS)[]).map((how) => ({ steps, how }))))(
      'waits for an operator after $steps, with $how; then all but 40 is the merchant’s again',
      async ({ steps, how }) => {
        const answer = WAITS[how];
        let id = '';
        const paid = await happensTo(steps, async (caseId) => {
          id = caseId;
          const { review } = await reviewOf(id);
          if (answer !== null && review === 'amount_mismatch') {
            expect((await world.decide(id, answer[0], answer[1])).status).toBe(200);
          }
        });
        const before = await reviewOf(id);
        // Every wrong amount must be waiting for an operator.
        if (before.lost_amount !== 40) expect(before.review).toMatch(/^(amount_mismatch|contradiction)$/);
        if (before.review !== null) {
          const amount = before.review === 'amount_mismatch' ? { amount: 40 } : {};
          expect((await world.decide(id, 'approve', amount)).status).toBe(200);
        }
        expect(await reviewOf(id)).toMatchObject({ review: null, held_amount: 0, lost_amount: 40 });
        await world.expectBalance(60, 0);
        const [[amount, status, outcome] = []] = (await world.outcomes(paid.id)) as [unknown[]];
        expect([amount, [status, outcome]]).toEqual([
          40,
          status === 'accepted' ? ['accepted', 'lost'] : ['closed', 'closed_without_refund'],
        ]);
        expect(await world.statusOf(paid.id)).toBe('paid');
        expect((await world.decide(id, 'approve')).status).toBe(409);
      },
    );

    it('sends the current loss in the event, and mails the returned amount', async () => {
      let id = '';
      await happensTo(['accept', 'change and rule'], async (caseId) => (id = caseId));
      expect(await contradicted()).toMatchObject({ id, reported_amount: 40, lost_amount: 100 });
      await world.decide(id, 'approve');
      expect((await eventsAbout(world.service, id)).slice(-2)).toEqual(['med_case.moved', 'med_case.corrected']);
      const [event] = await world.service.sql<{ data: { resolution: Record<string, unknown> } }>(
        `SELECT data FROM events WHERE type = 'med_case.corrected' AND subject_id = $1`,
        [id.slice(4)],
      );
      expect(event?.data.resolution).toMatchObject({ money_outcome: 'lost', amount: 40 });
      const [mail] = await world.service.sql<{ subject: string; text_body: string }>(
        `SELECT subject, text_body FROM emails WHERE subject LIKE 'TESTE: MED corrigido%' ORDER BY created_at DESC LIMIT 1`,
      );
      expect(mail?.subject).toBe('TESTE: MED corrigido: valor devolvido a você / MED corrected: money returned to you');
      expect(mail?.text_body).toContain('0,60');
    });

    it('can be dismissed, and approved after all', async () => {
      let id = '';
      await happensTo(['accept', 'change and rule'], async (caseId) => (id = caseId));
      expect((await world.decide(id, 'dismiss')).body).toMatchObject({ review: null, lost_amount: 100 });
      await world.expectBalance(0, 0);
      expect((await world.decide(id, 'approve')).body).toMatchObject({ lost_amount: 40 });
      await world.expectBalance(60, 0);
    });

    it('takes more when the bank has taken more, even from a younger case, each time once', async () => {
      const paid = await world.told.paid(world.key);
      const lowered = world.told.bank.change(await world.told.disputed(paid), { amount: 40 });
      await world.told.tell(lowered);
      const { id } = await world.waiting();
      await world.decide(id, 'approve', { amount: 40 });
      await world.told.disputed(paid);
      const ruled = world.told.bank.rule(lowered, 'agreed');
      await world.told.tell(ruled);
      await world.expectBalance(0, 60);
      // All changes carry the same time of the bank.
      for (const [amount, held] of [
        [100, 0],
        [70, 30],
        [90, 10],
      ] as const) {
        await world.told.tell(world.told.bank.change(ruled, { amount, updatedAt: ruled.updatedAt }));
        expect(await contradicted()).toMatchObject({ id, reported_amount: amount });
        expect((await world.decide(id, 'approve')).body).toMatchObject({ lost_amount: amount });
        await world.expectBalance(0, held);
        expect(await world.statusOf(paid.id)).toBe('disputed');
      }
      expect(await entries(paid)).toHaveLength(3);
    });

    it('takes no more of released money than the bank now claims', async () => {
      const paid = await world.told.paid(world.key);
      const dispute = await world.told.disputed(paid);
      await world.told.ruled(dispute, 'disagreed');
      const changed = world.told.bank.change(dispute, { amount: 40, updatedAt: new Date(Date.now() + 60_000) });
      await world.told.tell(world.told.bank.rule(changed, 'agreed'));
      expect((await world.decide((await contradicted()).id, 'approve')).body).toMatchObject({ lost_amount: 40 });
      await world.expectBalance(60, 0);
      expect(await world.outcomes(paid.id)).toEqual([[40, 'closed', 'closed_without_refund']]);
    });
  });

  describe('rules on a dismissed case that the merchant has never seen', () => {
    /** Makes a case of a charge of 100. @returns the dismissed case, which holds nothing and waits for nobody */
    async function dismissed(paid: Paid, amount: number): Promise<{ id: string; dispute: Dispute }> {
      const dispute = await world.told.disputed(paid, { amount });
      const { id, review } = await world.waiting();
      expect(review).toBe('amount_mismatch');
      expect((await world.decide(id, 'dismiss')).body).toMatchObject({ review: null, visible: false });
      return { id, dispute };
    }

    async function partlyRefunded(): Promise<Paid> {
      const paid = await world.told.paid(world.key);
      await world.told.refund(world.key, paid, 60);
      await world.told.finish();
      return paid;
    }

    const waits = async (id: string): Promise<boolean> =>
      (await medQueue(world.service, world.token)).some((review) => review.id === id);

    it('takes money that a refund had left, once an operator has looked at it', async () => {
      const paid = await partlyRefunded();
      const { id, dispute } = await dismissed(paid, 40);
      const ruled = await ruledOtherwise(dispute, 'agreed');
      // The merchant sees no change until then.
      await world.expectBalance(40, 0);
      expect(await world.outcomes(paid.id)).toEqual([]);
      expect([await world.statusOf(paid.id), await world.metadataOf(paid.id)]).toEqual(['paid', undefined]);
      expect(await contradicted()).toMatchObject({ id, visible: false, reported_amount: 40, bank_result: 'agreed' });
      const approved = await world.decide(id, 'approve');
      expect([approved.status, approved.body]).toEqual([
        200,
        expect.objectContaining({ review: null, visible: true, held_amount: 0, lost_amount: 40 }),
      ]);
      await world.expectBalance(0, 0);
      expect(await world.outcomes(paid.id)).toEqual([[40, 'closed', 'closed_without_refund']]);
      expect(await world.statusOf(paid.id)).toBe('disputed');
      expect(await world.metadataOf(paid.id)).toMatchObject({ result: 'agreed', amountMismatch: false });
      expect(await eventsAbout(world.service, id)).toEqual(['med_case.opened', 'med_case.moved', 'med_case.resolved']);
      expect((await world.decide(id, 'approve')).status).toBe(409);
      await world.told.tell(ruled);
      expect(await waits(id)).toBe(false);
      // From then on the case behaves like any other.
      await ruledOtherwise(dispute, 'disagreed');
      expect((await world.decide((await contradicted()).id, 'approve')).status).toBe(200);
      await world.expectBalance(40, 0);
      expect(await world.statusOf(paid.id)).toBe('paid');
    });

    it('takes at most the rest of the charge', async () => {
      const paid = await partlyRefunded();
      const { id, dispute } = await dismissed(paid, 2500);
      await ruledOtherwise(dispute, 'agreed');
      expect((await world.decide(id, 'approve')).status).toBe(400);
      expect((await world.decide(id, 'approve', { amount: 100 })).body).toMatchObject({ lost_amount: 40 });
      await world.expectBalance(0, 0);
      expect(await world.statusOf(paid.id)).toBe('disputed');
    });

    it('takes money that has left the wallet below zero, and leaves the charge the rest', async () => {
      await world.merchant({ fee_fixed: '60' });
      const paid = await world.told.paid(world.key);
      const { id, dispute } = await dismissed(paid, 70);
      await ruledOtherwise(dispute, 'agreed');
      await world.expectBalance(40, 0);
      expect((await world.decide(id, 'approve')).body).toMatchObject({ lost_amount: 70 });
      await world.expectBalance(-30, 0);
      expect(await world.statusOf(paid.id)).toBe('paid');
    });

    it('can be dismissed again, which is recorded, and approved after all', async () => {
      const { id, dispute } = await dismissed(await partlyRefunded(), 40);
      await ruledOtherwise(dispute, 'agreed');
      expect((await world.decide(id, 'dismiss')).body).toMatchObject({ review: null, visible: false });
      expect(await waits(id)).toBe(false);
      expect((await world.decide(id, 'dismiss')).status).toBe(409);
      await world.expectBalance(40, 0);
      expect((await world.decide(id, 'approve')).status).toBe(200);
      await world.expectBalance(0, 0);
      const audited = await world.service.sql<{ type: string; data: Record<string, unknown> }>(
        `SELECT type, data FROM audit_events WHERE data ->> 'case_id' = $1 ORDER BY created_at, id`,
        [id.slice(4)],
      );
      expect(audited.map(({ type, data }) => [type, data['review'], data['bank_result'], data['status']])).toEqual([
        ['med_case.dismissed', 'amount_mismatch', null, 'closed'],
        ['med_case.dismissed', 'contradiction', 'agreed', 'closed'],
        ['med_case.approved', null, 'agreed', 'closed'],
      ]);
    });

    it('stops waiting when the bank takes the ruling back, and never waits for a ruling that leaves the money', async () => {
      const paid = await partlyRefunded();
      const { id, dispute } = await dismissed(paid, 40);
      for (const result of ['disagreed', 'agreed', 'disagreed'] as const) {
        await ruledOtherwise(dispute, result);
        expect(await waits(id)).toBe(result === 'agreed');
      }
      await world.told.ruled(world.told.bank.disputes.get(dispute.reference) ?? dispute, null);
      expect(await waits(id)).toBe(false);
      expect((await world.decide(id, 'approve')).status).toBe(409);
      await world.expectBalance(40, 0);
      expect(await world.outcomes(paid.id)).toEqual([]);
    });
  });
});
