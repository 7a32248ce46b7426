import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LiveStory } from '../../support/live-story.js';
import { caseOf } from '../../support/med.js';
import { type RefundItem, refundEnd, refundsOf, requestRefund } from '../../support/refunds.js';
import { type Answer, type ChargeAnswer, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

/** Document of the payer whom the simulated bank names by default */
const PAYER = '12345678909';

describe('live money that goes back', () => {
  const service = TestService.forSpec();
  const story = LiveStory.forSpec(service, { payer_lock: 'true' });

  beforeEach(() => {
    story.bank.change({ returnDelayMs: null, returnOutcome: 'DEVOLVIDO' });
  });
  afterEach(() => story.expectSameBooks());

  async function refundOf(charge: ChargeAnswer, body: Record<string, unknown> = {}): Promise<RefundItem> {
    const asked = await requestRefund(service, story.key, charge.id, body);
    expect([asked.status, asked.body.status]).toEqual([201, 'PENDING']);
    return waitFor('the refund to be at the bank', async () => {
      const refunds = await refundsOf(service, story.key, charge.id);
      return refunds.find(({ id, status }) => id === asked.body.id && status === 'IN_PROGRESS');
    });
  }

  /** Waits until the bank has the return, and settles it. */
  async function settle(endToEndId: string, refund: RefundItem, how: object = {}): Promise<RefundItem> {
    const id = refund.id.replaceAll('-', '');
    await waitFor('the devolution', () => story.returned(endToEndId).some((one) => one.endsWith('EM_PROCESSAMENTO')));
    story.bank.settleReturn({ endToEndId, id, ...how });
    return refundEnd(service, story.key, refund);
  }

  it('a refund is a devolution: PENDING, IN_PROGRESS at the bank, then REFUNDED; in part, then the rest', async () => {
    const { charge, endToEndId } = await story.paid({ amount: 5000 });
    const before = await story.balance();
    const part = await refundOf(charge, { amount: 1250 });
    expect(part).toMatchObject({ strategy: 'devolution', endToEndId });
    expect((await story.balance()).available).toBe(before.available - 1250);
    expect(await settle(endToEndId, part)).toMatchObject({ status: 'REFUNDED', returnId: expect.stringMatching(/^D/) });
    expect((await story.becomes(charge, 'paid')).amount).toBe(5000);
    const rest = await refundOf(charge);
    expect(rest.amount).toBe(3750);
    expect(await settle(endToEndId, rest)).toMatchObject({ status: 'REFUNDED' });
    await story.becomes(charge, 'refunded');
    expect(story.returned(endToEndId)).toEqual(['12.50 DEVOLVIDO', '37.50 DEVOLVIDO']);
    expect((await story.balance()).available).toBe(before.available - 5000);
  });

  it('a refund that the bank could not carry out has FAILED, its money is available, and another may follow', async () => {
    const { charge, endToEndId } = await story.paid();
    const before = await story.balance();
    const refund = await refundOf(charge);
    const failed = await settle(endToEndId, refund, { status: 'NAO_REALIZADO', reason: 'Saldo insuficiente.' });
    expect(failed).toMatchObject({ status: 'FAILED', failureReason: 'insufficient_funds' });
    expect(await story.balance()).toEqual(before);
    expect(await settle(endToEndId, await refundOf(charge))).toMatchObject({ status: 'REFUNDED' });
    await story.becomes(charge, 'refunded');
    expect(story.returned(endToEndId)).toEqual(['19.90 NAO_REALIZADO', '19.90 DEVOLVIDO']);
  });

  it('a refund has FAILED when the bank refuses it because the money was returned in its own app', async () => {
    const { charge, endToEndId } = await story.paid();
    await story.live.psp.call('PUT', `/pix/${endToEndId}/devolucao/app1`, { valor: '19.90' });
    const { body } = await requestRefund(service, story.key, charge.id);
    expect(await refundEnd(service, story.key, body)).toMatchObject({
      status: 'FAILED',
      failureReason: 'amount_exceeded',
    });
    // The return in the app fails too, so our books need no return.
    story.bank.settleReturn({ endToEndId, id: 'app1', status: 'NAO_REALIZADO' });
  });

  it('a refund whose request and answer are lost is looked up and sent once', async () => {
    const { charge, endToEndId } = await story.paid();
    story.bank.addFault({ operation: 'return.put', fault: { kind: 'timeout', effect: true } });
    const { body } = await requestRefund(service, story.key, charge.id);
    const refund = (await refundsOf(service, story.key, charge.id))[0];
    if (!refund) throw new Error('there is no refund');
    expect(await settle(endToEndId, refund)).toMatchObject({ id: body.id, status: 'REFUNDED' });
    expect(story.returned(endToEndId)).toEqual(['19.90 DEVOLVIDO']);
  });

  const locked = (): Promise<ChargeAnswer> =>
    story.charge({ customer: { name: 'Maria' }, expected_payer_tax_id: PAYER });

  it('a payer lock credits the right payer, and sends the money of another payer back', async () => {
    const [right, wrong] = [await locked(), await locked()];
    const before = await story.balance();
    story.pay(right);
    await story.becomes(right, 'paid');
    story.bank.change({ returnDelayMs: 20 });
    const { endToEndId } = story.pay(wrong, { payer: { document: '52998224725', name: 'Outro Pagador' } });
    await story.becomes(wrong, 'refunded');
    await waitFor('the return', () => story.returned(endToEndId).join() === '19.90 DEVOLVIDO');
    await waitFor('the return in our books', async () => {
      const rows = await service.sql(`SELECT 1 FROM pix_returns WHERE end_to_end_id = $1 AND status = 'RETURNED'`, [
        endToEndId,
      ]);
      return rows.length === 1;
    });
    expect((await story.balance()).available).toBe(before.available + 1990);
  });

  it('the return of a double Pix is shown to operators in every state, and to the merchant once the bank has carried it out', async () => {
    const { token } = await service.operator();
    const { charge } = await story.paid();
    const { endToEndId } = story.pay(charge, { force: true });
    const listed = async (status: string): Promise<Record<string, unknown> | undefined> => {
      const path = `/v1/operations/returned?status=${status}&account_id=${story.merchant.accountId}&mode=live`;
      const { body } = await service.call<{ data: Record<string, unknown>[] }>('GET', path, { token });
      return body.data.find((each) => each['end_to_end_id'] === endToEndId);
    };
    await waitFor('the bank to have it', () => story.returned(endToEndId).join() === '19.90 EM_PROCESSAMENTO');
    const going = await waitFor('it to be under way in our books', () => listed('in_progress'));
    expect(going).toMatchObject({ charge_id: charge.id, reason: 'duplicate', amount: 1990, returned_at: null });
    expect((await service.getCharge(story.key, charge.id)).body).toEqual(charge);
    const id = story.bank.state().pix.find((pix) => pix.endToEndId === endToEndId)?.devolucoes?.[0]?.id ?? '';
    story.bank.settleReturn({ endToEndId, id });
    const gone = await waitFor('it to have gone back', () => listed('returned'));
    expect(gone).toEqual({ ...going, status: 'returned', returned_at: expect.stringMatching(/Z$/) });
    expect((await service.getCharge(story.key, charge.id)).body).toEqual({
      ...charge,
      returns: [{ amount: 1990, reason: 'duplicate', end_to_end_id: endToEndId, at: gone['returned_at'] }],
    });
  });

  async function review(charge: ChargeAnswer, token: string): Promise<{ id: string }> {
    return waitFor('the review', async () => {
      const { body } = await service.call<{ data: { id: string; charge_id: string }[] }>(
        'GET',
        '/v1/operations/reviews',
        {
          token,
        },
      );
      return body.data.find(({ charge_id }) => charge_id === charge.id);
    });
  }

  it('a payer lock holds the money when the bank does not say who paid, until an operator accepts or returns it', async () => {
    const { token } = await service.operator();
    const decide = async (charge: ChargeAnswer, decision: 'accept' | 'return'): Promise<Answer> => {
      const { id } = await review(charge, token);
      return service.call('POST', `/v1/operations/reviews/${id}/${decision}`, { token });
    };
    const [accepted, refused] = [await locked(), await locked()];
    const before = await story.balance();
    story.pay(accepted, { payer: null });
    const { endToEndId } = story.pay(refused, { payer: null });
    await story.becomes(accepted, 'processing');
    await story.becomes(refused, 'processing');
    expect(await story.balance()).toEqual(before);
    expect((await decide(accepted, 'accept')).status).toBe(200);
    await story.becomes(accepted, 'paid');
    expect((await story.balance()).available).toBe(before.available + 1990);
    story.bank.change({ returnDelayMs: 20 });
    expect((await decide(refused, 'return')).status).toBe(200);
    await story.becomes(refused, 'refunded');
    await waitFor('the return', () => story.returned(endToEndId).join() === '19.90 DEVOLVIDO');
    await waitFor('our books', async () => {
      const rows = await service.sql(`SELECT 1 FROM pix_returns WHERE status <> 'RETURNED'`);
      return rows.length === 0;
    });
    expect((await story.balance()).available).toBe(before.available + 1990);
  });

  it.each([
    ['DEVOLVIDO', 'closed_without_refund', 'disputed', 0],
    ['NAO_REALIZADO', 'refunded_to_merchant', 'paid', 1990],
  ] as const)('a return by the MED opens a case and holds the money; %s: %s', async (status, outcome, ends, kept) => {
    const start = await story.balance();
    const { charge, endToEndId } = await story.paid();
    const { id } = story.bank.med({ endToEndId, reason: 'Relato de golpe' });
    await story.becomes(charge, 'disputed');
    expect(await caseOf(service, story.key, charge.id)).toMatchObject({ status: 'open', amount: 1990, type: 'med' });
    expect(await story.balance()).toEqual({ ...start, retained: start.retained + 1990 });
    story.bank.settleReturn({ endToEndId, id, status });
    const closed = await waitFor('the ruling', async () => {
      const found = await caseOf(service, story.key, charge.id);
      return found.closed_at !== null && found;
    });
    expect([closed.status, closed.money_outcome]).toEqual(['closed', outcome]);
    await story.becomes(charge, ends);
    expect(await story.balance()).toEqual({ ...start, available: start.available + kept });
  });

  it('an unreported MED is found in the bank`s list', async () => {
    const { charge, endToEndId } = await story.paid();
    story.bank.addFault({ operation: 'callback', fault: { kind: 'lose' }, times: 2 });
    const { id } = story.bank.med({ endToEndId, nature: 'MED_OPERACIONAL' });
    await story.sweepStatement();
    await story.becomes(charge, 'disputed');
    story.bank.settleReturn({ endToEndId, id });
    await story.sweepStatement();
    await waitFor('the ruling', async () => (await caseOf(service, story.key, charge.id)).closed_at);
  });
});
