import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { LiveStory } from '../../support/live-story.js';
import { type ErrorAnswer, refundEnd, requestRefund } from '../../support/refunds.js';
import { type Answer, type Person, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const SOMEBODY_ELSE = '39053344705';

interface CorrectionAnswer extends Record<string, unknown> {
  id: string;
  status: string;
  error?: ErrorAnswer['error'];
}

interface Unmatched extends Record<string, unknown> {
  id: string;
  end_to_end_id: string;
}

describe('corrections of the books', () => {
  const service = TestService.forSpec({ env: { CORRECTION_LIMIT: '5000' } });
  const story = LiveStory.forSpec(service, { payer_lock: 'true' });
  let first: Person;
  let second: Person;

  beforeAll(async () => {
    story.bank.change({ returnDelayMs: null }); // each devolution is settled where a test says so
    [first, second] = [await service.operator(), await service.operator()];
  });
  afterEach(() => story.expectSameBooks());

  const ask = (path: string, body: Record<string, unknown> = {}, who = first): Promise<Answer<CorrectionAnswer>> =>
    service.call('POST', `/v1/operations/${path}`, {
      token: who.token,
      body: /\/(approve|reject|accept|return)$/.test(path) ? undefined : withKey(body),
    });
  const withKey = (body: Record<string, unknown>): Record<string, unknown> => ({
    reason: 'Asked for by phone',
    idempotency_key: randomUUID(),
    ...body,
  });
  const correct = (pix: Unmatched, body: Record<string, unknown>, who = first): Promise<Answer<CorrectionAnswer>> =>
    ask(`unmatched/${pix.id}/correct`, body, who);
  const wallet = (body: Record<string, unknown>, who = first): Promise<Answer<CorrectionAnswer>> =>
    ask('corrections', { account_id: story.merchant.accountId, mode: 'live', borne_by: 'merchant', ...body }, who);
  const outcome = ({ status, body }: Answer<CorrectionAnswer>): string =>
    `${status} ${body.error?.code ?? body.status}`;

  async function unmatched(endToEndId: string): Promise<Unmatched | undefined> {
    const { body } = await service.call<{ data: Unmatched[] }>('GET', '/v1/operations/unmatched?limit=100', {
      token: first.token,
    });
    return body.data.find((pix) => pix.end_to_end_id === endToEndId);
  }

  /** A payer pays straight to the key. */
  async function stray(amount: number): Promise<Unmatched> {
    const { endToEndId } = story.bank.pay({ key: story.live.pixKey, amount });
    await story.sweepStatement();
    return waitFor('the Pix at the operators', () => unmatched(endToEndId));
  }

  async function sum(bucket: string): Promise<number> {
    const [row] = await service.sql<{ amount: number }>(
      `SELECT coalesce(sum(amount), 0)::float8 AS amount FROM balances WHERE account_id = $1 AND bucket = $2`,
      [story.merchant.accountId, bucket],
    );
    return row?.amount ?? 0;
  }

  const returnOf = (endToEndId: string): Promise<string> =>
    waitFor('the devolution', async () => {
      const [row] = await service.sql<{ id: string }>(
        `SELECT return_id AS id FROM pix_returns WHERE end_to_end_id = $1 AND status = 'IN_PROGRESS'`,
        [endToEndId],
      );
      return row?.id;
    });

  const lists = async (endToEndId: string, status: string): Promise<unknown> =>
    waitFor(`the return to be ${status}`, async () => {
      const { body } = await service.call<{ data: Unmatched[] }>('GET', `/v1/operations/returned?status=${status}`, {
        token: first.token,
      });
      return body.data.find((one) => one.end_to_end_id === endToEndId);
    });

  /** Refunds all that is left of a charge. @returns the id of the devolution at the bank */
  async function refundOf(
    { charge, endToEndId }: { charge: { id: string }; endToEndId: string },
    status: 'DEVOLVIDO' | 'NAO_REALIZADO' = 'DEVOLVIDO',
  ): Promise<string> {
    const { body: refund } = await requestRefund(service, story.key, charge.id);
    const id = await waitFor('the devolution', () => {
      const pix = story.bank.state().pix.find((one) => one.endToEndId === endToEndId);
      return Promise.resolve(pix?.devolucoes?.find((one) => one.status === 'EM_PROCESSAMENTO')?.id);
    });
    story.bank.settleReturn({ endToEndId, id, status });
    const end = await refundEnd(service, story.key, refund);
    expect(end).toMatchObject({ status: status === 'DEVOLVIDO' ? 'REFUNDED' : 'FAILED' });
    return id;
  }

  /** The payee sends a part of a Pix back in the bank`s own app. */
  async function returnInApp(endToEndId: string, id: string, valor: string): Promise<void> {
    await story.live.psp.call('PUT', `/pix/${endToEndId}/devolucao/${id}`, { valor });
    story.bank.settleReturn({ endToEndId, id });
  }

  it('send a Pix without a charge back, and try again under a new id when the bank refuses', async () => {
    const pix = await stray(711);
    expect(pix).toMatchObject({ account_id: story.merchant.accountId, failure_reason: null, correction_id: null });
    const made = await correct(pix, { kind: 'return' });
    expect(outcome(made)).toBe('200 applied');
    expect(made.body).toMatchObject({ kind: 'return', amount: 711, pix_id: pix.id, borne_by: null, charge_id: null });
    expect(outcome(await correct(pix, { kind: 'write_off' }))).toBe('409 pix_not_in_suspense');
    const refused = await returnOf(pix.end_to_end_id);
    story.bank.settleReturn({ endToEndId: pix.end_to_end_id, id: refused, status: 'NAO_REALIZADO' });
    const again = await waitFor('the Pix at the operators again', () => unmatched(pix.end_to_end_id));
    expect(again).toMatchObject({ id: pix.id, reason: 'unmatched', failure_reason: expect.any(String) });

    expect(outcome(await correct(again, { kind: 'return' }))).toBe('200 applied');
    const accepted = await returnOf(pix.end_to_end_id);
    expect(accepted).not.toBe(refused);
    story.bank.settleReturn({ endToEndId: pix.end_to_end_id, id: accepted });
    expect(await lists(pix.end_to_end_id, 'returned')).toMatchObject({ charge_id: null, reason: 'unmatched' });
    expect(await unmatched(pix.end_to_end_id)).toBeUndefined();
    expect(await sum('suspense')).toBe(0);
  });

  it('assign a Pix to the charge it pays: paid, credited, announced, refunded later', async () => {
    const charge = await story.charge({ amount: 1990 });
    const before = await story.balance();
    const pix = await stray(1990);
    const made = await correct(pix, { kind: 'assign', charge_id: charge.id });
    expect(outcome(made)).toBe('200 applied');
    expect((await story.becomes(charge, 'paid')).id).toBe(charge.id);
    expect((await story.balance()).available).toBe(before.available + 1990);
    const [event] = await service.sql(`SELECT 1 FROM events WHERE subject_id = $1 AND type = 'transaction.paid'`, [
      charge.id.slice(3),
    ]);
    expect(event).toBeDefined();
    await refundOf({ charge, endToEndId: pix.end_to_end_id });
  });

  it('refuse to assign a Pix to a charge that it does not pay', async () => {
    const [pix, other] = [await stray(1500), await service.merchant()];
    const [cheap, locked] = [
      await story.charge({ amount: 1499 }),
      await story.charge({ amount: 1500, customer: { name: 'Maria' }, expected_payer_tax_id: SOMEBODY_ELSE }),
    ];
    const { charge: paid } = await story.paid({ amount: 1500 });
    const { body: theirs } = await service.createCharge(other.testKey, { amount: 1500 });
    for (const { id } of [cheap, locked, paid, theirs]) {
      expect(outcome(await correct(pix, { kind: 'assign', charge_id: id }))).toBe('409 charge_not_payable');
    }
    expect(outcome(await correct(pix, { kind: 'assign' }))).toBe('400 invalid_request');
    expect(outcome(await correct(pix, { kind: 'return', charge_id: cheap.id }))).toBe('400 invalid_request');
    expect(outcome(await correct(pix, { kind: 'write_off' }))).toBe('200 applied');
  });

  it.each([1990, 6000])(
    'assign a Pix of %s that the bank refused to send back, at once or after approval',
    async (amount) => {
      const approved = async (made: Answer<CorrectionAnswer>): Promise<string> =>
        outcome(made.body.status === 'waiting' ? await ask(`corrections/${made.body.id}/approve`, {}, second) : made);
      const [charge, pix] = [await story.charge({ amount }), await stray(amount)];
      const endToEndId = pix.end_to_end_id;
      const assign = { kind: 'assign', charge_id: charge.id };
      expect(await approved(await correct(pix, { kind: 'return' }))).toBe('200 applied');
      const id = await returnOf(endToEndId);
      expect(outcome(await correct(pix, assign))).toBe('409 pix_not_in_suspense');
      story.bank.settleReturn({ endToEndId, id, status: 'NAO_REALIZADO' });
      await waitFor('the Pix at the operators again', () => unmatched(endToEndId));
      expect(await approved(await correct(pix, assign))).toBe('200 applied');
      await story.becomes(charge, 'paid');
      expect(await unmatched(endToEndId)).toBeUndefined();
      expect(await lists(endToEndId, 'failed')).toMatchObject({ charge_id: null, reason: 'unmatched' });
      await refundOf({ charge, endToEndId });
    },
  );

  it('close a Pix that was returned in the bank`s own app, under the id of that return', async () => {
    const pix = await stray(820);
    await returnInApp(pix.end_to_end_id, 'app7', '8.20');
    expect(outcome(await correct(pix, { kind: 'returned_elsewhere' }))).toBe('400 invalid_request');
    expect(outcome(await correct(pix, { kind: 'returned_elsewhere', bank_reference: 'app7' }))).toBe('200 applied');
    expect(await unmatched(pix.end_to_end_id)).toBeUndefined();
  });

  it('book a Pix that nobody claims as revenue of the platform', async () => {
    const [pix, fees] = [await stray(30), await sum('platform_fees')];
    expect(outcome(await correct(pix, { kind: 'write_off' }))).toBe('200 applied');
    expect(await sum('platform_fees')).toBe(fees + 30);
    expect(await sum('suspense')).toBe(0);
  });

  it('need a second operator above the limit, whose decision is final', async () => {
    const pix = await stray(5001);
    const made = await correct(pix, { kind: 'write_off' });
    expect(outcome(made)).toBe('200 waiting');
    expect((await unmatched(pix.end_to_end_id))?.['correction_id']).toBe(made.body.id);
    expect(outcome(await correct(pix, { kind: 'return' }, second))).toBe('409 correction_waits');
    expect(outcome(await ask(`corrections/${made.body.id}/approve`))).toBe('409 second_operator_required');
    const rejected = await ask(`corrections/${made.body.id}/reject`);
    expect(outcome(rejected)).toBe('200 rejected');
    expect(outcome(await ask(`corrections/${made.body.id}/approve`, {}, second))).toBe(
      '409 correction_already_decided',
    );

    const wanted = await correct(pix, { kind: 'write_off' });
    const fees = await sum('platform_fees');
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => ask(`corrections/${wanted.body.id}/approve`, {}, second)),
    );
    expect(answers.map(outcome)).toEqual(answers.map(() => '200 applied'));
    expect(answers[0]?.body).toMatchObject({ decided_by: second.userId, requested_by: first.userId });
    expect(await sum('platform_fees')).toBe(fees + 5001);
    const audited = await service.sql<{ type: string; actor: string; account: string | null }>(
      `SELECT type, actor_id AS actor, account_id AS account FROM audit_events WHERE type LIKE 'correction.%' AND data ->> 'correction_id' = $1 ORDER BY id`,
      [wanted.body.id],
    );
    expect(audited).toEqual([
      { type: 'correction.requested', actor: first.userId, account: null },
      { type: 'correction.applied', actor: second.userId, account: null },
    ]);
  });

  it('need a second operator for many small corrections within a day, per operator and across currencies', async () => {
    const [hasty, other] = [await service.operator(), await service.operator()];
    const ours = { account_id: story.merchant.accountId, mode: 'live', borne_by: 'merchant' };
    const loss = (amount: number, who: Person, currency = 'BRL'): Promise<Answer<CorrectionAnswer>> =>
      ask('corrections', { ...ours, kind: 'loss', amount, currency }, who);
    // The amounts cancel out: the limit counts the sum of all movements, not the balance.
    const amounts = [1000, -1000, 1000, -1000, 1000, -1000, 1000, -1000];
    const answers = await Promise.all(amounts.map((amount) => loss(amount, hasty)));
    expect(answers.map(outcome).sort()).toEqual([
      ...Array.from({ length: 5 }, () => '200 applied'),
      ...Array.from({ length: 3 }, () => '200 waiting'),
    ]);
    expect(outcome(await loss(1, hasty))).toBe('200 waiting');
    expect(outcome(await loss(1, hasty, 'USD'))).toBe('200 waiting');
    for (const amount of [1, -1]) expect(outcome(await loss(amount, other))).toBe('200 applied');
    for (const { body } of answers) {
      if (body.status !== 'waiting') continue;
      expect(outcome(await ask(`corrections/${body.id}/approve`, {}, other))).toBe('200 applied');
    }
  });

  it('apply one of several simultaneous corrections of one Pix', async () => {
    const pix = await stray(640);
    const charge = await story.charge({ amount: 640 });
    const kinds = [{ kind: 'write_off' }, { kind: 'assign', charge_id: charge.id }];
    const answers = await Promise.all([...kinds, ...kinds, ...kinds].map((body) => correct(pix, body)));
    expect(answers.map(outcome).sort()).toEqual([
      '200 applied',
      ...Array.from({ length: 5 }, () => '409 pix_not_in_suspense'),
    ]);
  });

  it('answer a repeated key with the same correction, and refuse another correction under the key', async () => {
    const key = randomUUID();
    const fee = { kind: 'bank_fee', amount: 99, idempotency_key: key };
    const before = await story.balance();
    const answers = await Promise.all(Array.from({ length: 6 }, () => wallet(fee)));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
    expect((await story.balance()).available).toBe(before.available - 99);
    expect(outcome(await wallet({ ...fee, amount: 98 }))).toBe('409 idempotency_key_reused');
    const { body } = await service.call<{ data: Record<string, unknown>[] }>('GET', '/v1/wallets/entries?limit=1', {
      key: story.key,
    });
    expect(body.data[0]).toMatchObject({ type: 'correction', amount: -99, source: null });
  });

  describe('that come twice at once', () => {
    /** Sends six equal requests at once: all get the same answer, and one audit event is written. */
    async function expectOnce(
      send: () => Promise<Answer<CorrectionAnswer>>,
      expected: string,
      type: string,
    ): Promise<CorrectionAnswer> {
      const audited = async (): Promise<number> =>
        (await service.sql('SELECT 1 FROM audit_events WHERE type = $1', [type])).length;
      const before = await audited();
      const answers = await Promise.all(Array.from({ length: 6 }, send));
      expect(answers.map(({ status, body }) => `${status} ${body.status} ${body.id}`)).toEqual(
        answers.map(() => `200 ${expected} ${answers[0]?.body.id ?? ''}`),
      );
      expect(await audited()).toBe(before + 1);
      return answers[0]?.body as CorrectionAnswer;
    }

    it.each(
      (['return', 'assign', 'returned_elsewhere', 'write_off'] as const).flatMap((kind) =>
        ([640, 6400] as const).map((amount) => [kind, amount] as const),
      ),
    )('apply %s of a Pix of %i once under one key, or wait once', async (kind, amount) => {
      const [pix, charge] = [await stray(amount), await story.charge({ amount })];
      const body = {
        ...{ kind, idempotency_key: randomUUID() },
        ...(kind === 'assign' ? { charge_id: charge.id } : {}),
        ...(kind === 'returned_elsewhere' ? { bank_reference: 'app7' } : {}),
      };
      if (kind === 'returned_elsewhere') await returnInApp(pix.end_to_end_id, 'app7', (amount / 100).toFixed(2));
      const expected = amount > 5000 ? ['waiting', 'requested'] : ['applied', 'applied'];
      const { id } = await expectOnce(() => correct(pix, body), expected[0] ?? '', `correction.${expected[1] ?? ''}`);
      if (amount > 5000) {
        const approve = (): Promise<Answer<CorrectionAnswer>> => ask(`corrections/${id}/approve`, {}, second);
        await expectOnce(approve, 'applied', 'correction.applied');
      }
      if (kind === 'return')
        story.bank.settleReturn({ endToEndId: pix.end_to_end_id, id: await returnOf(pix.end_to_end_id) });
      if (kind === 'return') await lists(pix.end_to_end_id, 'returned');
    });

    it.each(['bank_fee', 'loss'])('enter a %s once under one key, and reject a waiting one once', async (kind) => {
      const { charge } = await story.paid({ amount: 6000 });
      const body = { kind, amount: 6000, charge_id: charge.id, idempotency_key: randomUUID() };
      const { id } = await expectOnce(() => wallet(body), 'waiting', 'correction.requested');
      await expectOnce(() => ask(`corrections/${id}/reject`), 'rejected', 'correction.rejected');
    });

    it.each([
      ['accept', 'review.accepted', 'accepted'],
      ['return', 'review.returned', 'returned'],
    ])('decide about a held payment once: %s', async (decision, type, expected) => {
      const { reviewId } = await service.heldCharge((await service.merchant({ payer_lock: 'true' })).testKey);
      await expectOnce(() => ask(`reviews/${reviewId}/${decision}`), expected, type);
    });
  });

  it('book a return in the bank`s app of a credited payment as a loss, even below zero', async () => {
    const { charge, endToEndId } = await story.paid({ amount: 2000 });
    await returnInApp(endToEndId, 'app9', '20.00');
    const before = await story.balance();
    const made = await wallet({ kind: 'loss', amount: 2000, charge_id: charge.id, bank_reference: 'app9' });
    expect(outcome(made)).toBe('200 applied');
    expect((await story.balance()).available).toBe(before.available - 2000);
    // Two operators at once, or a second one unaware of the first: a sale must not be lost twice.
    const again = await Promise.all([1, 1].map((amount) => wallet({ kind: 'loss', amount, charge_id: charge.id })));
    expect(again.map(outcome)).toEqual(['409 loss_exceeds_charge', '409 loss_exceeds_charge']);
    expect(outcome(await wallet({ kind: 'loss', amount: -500, charge_id: charge.id }))).toBe('200 applied');
    const both = await Promise.all([500, 500].map((amount) => wallet({ kind: 'loss', amount, charge_id: charge.id })));
    expect(both.map(outcome).sort()).toEqual(['200 applied', '409 loss_exceeds_charge']);
    // A waiting correction may still be rejected: it reverses nothing until it is approved.
    expect(outcome(await wallet({ kind: 'loss', amount: -2001, charge_id: charge.id }))).toBe(
      '409 loss_exceeds_charge',
    );
    const unpaid = await story.charge({ amount: 2000 });
    expect(outcome(await wallet({ kind: 'loss', amount: 5, charge_id: unpaid.id }))).toBe('400 invalid_request');
  });

  it('refuse a loss of money that a refund has taken, except a failed refund that moved at the bank', async () => {
    const paid = await story.paid({ amount: 2000 });
    const about = { kind: 'loss', amount: 500, charge_id: paid.charge.id };
    const failed = await refundOf(paid, 'NAO_REALIZADO');
    for (const amount of [500, -500]) {
      expect(outcome(await wallet({ ...about, amount, bank_reference: failed }, second))).toBe('200 applied');
    }
    const id = await refundOf(paid);
    expect(outcome(await wallet({ ...about, bank_reference: id }))).toBe('409 already_booked');
    expect(outcome(await wallet(about))).toBe('409 loss_exceeds_charge');
  });

  it('refuse a loss of money that a dispute has taken', async () => {
    const { charge, endToEndId } = await story.paid({ amount: 2000 });
    const { id } = story.bank.med({ endToEndId });
    await story.becomes(charge, 'disputed');
    story.bank.settleReturn({ endToEndId, id });
    await waitFor('the ruling', async () => {
      const [lost] = await service.sql('SELECT 1 FROM med_cases WHERE payment_reference = $1 AND lost_amount = 2000', [
        endToEndId,
      ]);
      return lost;
    });
    const about = { kind: 'loss', amount: 500, charge_id: charge.id };
    expect(outcome(await wallet({ ...about, bank_reference: id }))).toBe('409 already_booked');
    expect(outcome(await wallet(about))).toBe('409 loss_exceeds_charge');
  });

  it('enter a return once under its id, even by two operators at once, and again after it was taken back', async () => {
    const { charge, endToEndId } = await story.paid({ amount: 2000 });
    await returnInApp(endToEndId, 'app9', '5.00');
    const about = { kind: 'loss', amount: 500, charge_id: charge.id, bank_reference: 'app9' };
    const [one, other] = [await service.operator(), await service.operator()];
    const answers = await Promise.all([one, other].map((who) => wallet(about, who)));
    expect(answers.map(outcome).sort()).toEqual(['200 applied', '409 already_booked']);
    for (const amount of [-500, 500]) expect(outcome(await wallet({ ...about, amount }, one))).toBe('200 applied');
  });

  it('are compared in reconcile: a return taken back and entered again counts once, and a fee is no return', async () => {
    const { charge, endToEndId } = await story.paid({ amount: 3000 });
    await returnInApp(endToEndId, 'app9', '30.00');
    const enter = async (kind: string, amount: number): Promise<void> => {
      const about = { kind, amount, charge_id: charge.id, bank_reference: 'app9' };
      expect(outcome(await wallet(about, await service.operator()))).toBe('200 applied');
    };
    await enter('loss', 2000);
    const differs = { endToEndId, returnId: 'app9', there: { amount: 3000, state: 'returned' } };
    const here = { amount: 2000, state: 'returned' };
    // The bank's list ends some seconds before now.
    service.clock.advance(5);
    expect(await story.differences()).toMatchObject([{ kind: 'return_amount_differs', ...differs, here }]);
    await enter('loss', -2000);
    expect(await story.differences()).toMatchObject([{ kind: 'return_not_asked', ...differs, here: null }]);
    await enter('loss', 3000);
    await enter('bank_fee', 100);
    await story.expectSameBooks();
  });

  it('refuse the approval of a waiting loss when a refund has taken the money meanwhile', async () => {
    const paid = await story.paid({ amount: 6000 });
    const waiting = await wallet({ kind: 'loss', amount: 6000, charge_id: paid.charge.id });
    expect(outcome(waiting)).toBe('200 waiting');
    await refundOf(paid);
    const decided = (what: string) => ask(`corrections/${waiting.body.id}/${what}`, {}, second);
    expect(outcome(await decided('approve'))).toBe('409 loss_exceeds_charge');
    expect(outcome(await decided('reject'))).toBe('200 rejected');
  });

  it('wait for each other and not for a connection when one operator makes thirty at once', async () => {
    const busy = await service.operator();
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => wallet({ kind: 'bank_fee', amount: 1, borne_by: 'platform' }, busy)),
    );
    expect(answers.map(outcome)).toEqual(answers.map(() => '200 applied'));
  });

  it('leave the money of merchants alone for a fee of the platform, and can reverse it', async () => {
    const [before, fees] = [await story.balance(), await sum('provider_fees')];
    for (const amount of [150, -150]) {
      expect(outcome(await wallet({ kind: 'bank_fee', amount, borne_by: 'platform' }))).toBe('200 applied');
      expect(await sum('provider_fees')).toBe(amount > 0 ? fees + 150 : fees);
    }
    expect(await story.balance()).toEqual(before);
  });

  it.each([
    [{ kind: 'bank_fee', amount: 0 }, 'amount'],
    [{ kind: 'write_off', amount: 5 }, 'kind'],
    [{ kind: 'loss', amount: 5, borne_by: 'bank' }, 'borne_by'],
    [{ kind: 'loss', amount: 5, reason: '   ' }, 'reason'],
    [{ kind: 'loss', amount: 5, reason: 'Ticket 4711\n2026-11-21 approved' }, 'reason'],
    [{ kind: 'loss', amount: 5, idempotency_key: 'short' }, 'idempotency_key'],
    [{ kind: 'loss', amount: 5, currency: 'real' }, 'currency'],
    [{ kind: 'loss', amount: 5, bank_reference: 'app 9' }, 'bank_reference'],
  ])('with %j are a 400 for %s', async (body, param) => {
    const { status, body: answer } = await wallet(body);
    expect([status, answer.error?.param]).toEqual([400, param]);
  });

  it('are a 404 for an unknown account, charge or Pix, and a 400 for another account`s charge', async () => {
    const nobody = randomUUID();
    expect(outcome(await wallet({ kind: 'loss', amount: 5, account_id: nobody }))).toBe('404 not_found');
    expect(outcome(await ask(`unmatched/${nobody}/correct`, { kind: 'write_off' }))).toBe('404 not_found');
    expect(outcome(await ask(`corrections/${nobody}/approve`))).toBe('404 not_found');
    const { body } = await service.createCharge((await service.merchant()).testKey);
    expect(outcome(await wallet({ kind: 'loss', amount: 5, charge_id: body.id }))).toBe('400 invalid_request');
  });
});
