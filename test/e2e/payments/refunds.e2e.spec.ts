import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { WebhookReceiver } from '../../support/receiver.js';
import {
  aPaidCharge,
  available,
  openRefunds,
  paymentIdOf,
  refundEnd,
  type RefundOrError,
  refundsOf,
  requestRefund,
} from '../../support/refunds.js';
import { type Answer, type Merchant, TestService } from '../../support/service.js';
import { RefundsRepository } from '../../../src/transactions/refunds/refunds.repository.js';
import { waitFor } from '../../support/wait.js';

const REFUND_KEYS = ['amount', 'createdAt', 'currency', 'id', 'reason', 'status', 'transactionId'];
const ITEM_KEYS = [...REFUND_KEYS, 'endToEndId', 'failureReason', 'returnId', 'strategy', 'updatedAt'].sort();
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('refunds', () => {
  const service = TestService.forSpec();
  const receiver = WebhookReceiver.forSpec();
  let merchant: Merchant;
  let key: string;

  beforeEach(async () => {
    receiver.received.length = 0;
    merchant = await service.merchant();
    key = merchant.testKey;
  });
  afterEach(async () => {
    await waitFor('all refunds to end', async () => (await openRefunds(service)) === 0);
    await expectLedgerCoherent(service.database.url);
  });

  const subscribe = (): Promise<Answer> =>
    service.call('POST', '/v1/webhooks/endpoints', {
      key,
      body: { url: receiver.url, events: ['*', 'payment.completed', 'payment.refunded', 'payment.status_changed'] },
    });
  const codeOf = ({ status, body }: Answer<RefundOrError>): string => `${status} ${body.error?.code}`;
  const dataOf = (type: string): Record<string, unknown>[] =>
    receiver.ofType(type).map(({ body }) => body['data'] as Record<string, unknown>);

  it('record the refunded amount in the audit trail, even when another refund came in between', async () => {
    const id = paymentIdOf(await aPaidCharge(service, key, 1990));
    const refunds = service.get(RefundsRepository);
    const remaining = refunds.remaining.bind(refunds);
    // A second refund of a part comes after the remainder was read.
    jest.spyOn(refunds, 'remaining').mockImplementationOnce(async (...of) => {
      const rest = await remaining(...of);
      await requestRefund(service, key, id, { idempotencyKey: 'part-of-it', amount: 990 });
      return rest;
    });
    const { body } = await requestRefund(service, key, id, { idempotencyKey: 'all-of-it' });
    expect(body.amount).toBe(1000);
    const entries = await service.sql<{ amount: number }>(
      `SELECT (data ->> 'amount')::int AS amount FROM audit_events
       WHERE type = 'refund.requested' AND data ->> 'transaction_id' = $1 ORDER BY id`,
      [id],
    );
    expect(entries).toEqual([{ amount: 990 }, { amount: 1000 }]);
  });

  it('report every step to the merchant: a part, then the rest', async () => {
    await subscribe();
    const charge = await aPaidCharge(service, key, 1990);
    const id = paymentIdOf(charge);
    /** Refund fields of the charge, the payment and its item in the list */
    const shown = async (): Promise<unknown[]> => {
      const { body: payment } = await service.call('GET', `/v1/payments/${id}`, { key });
      const { body: list } = await service.call<{ data: Record<string, unknown>[] }>('GET', '/v1/payments', { key });
      const { body: read } = await service.getCharge(key, charge.id);
      const item = list.data.find((one) => one['id'] === `tx_${id}`);
      return [read['amount_refunded'], payment['amountRefunded'], item?.['amountRefunded']];
    };
    expect(await shown()).toEqual([undefined, undefined, undefined]);

    const part = await requestRefund(service, key, id, { amount: 990, reason: 'Article returned' });
    expect(part.status).toBe(201);
    expect(Object.keys(part.body).sort()).toEqual(REFUND_KEYS);
    expect(part.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      transactionId: id,
      amount: 990,
      currency: 'BRL',
      status: 'PENDING',
      reason: 'Article returned',
      createdAt: expect.stringMatching(ISO),
    });
    expect(await shown()).toEqual([990, 990, 990]);
    // The money is set aside at once, before the acquirer receives the refund.
    expect(await available(service, key)).toBe(1000);

    const done = await refundEnd(service, key, part.body);
    expect(Object.keys(done).sort()).toEqual(ITEM_KEYS);
    expect(done).toEqual({
      ...part.body,
      status: 'REFUNDED',
      strategy: 'cashout',
      endToEndId: expect.stringMatching(/^E\d{20}[A-Za-z0-9]{11}$/),
      returnId: null,
      failureReason: null,
      updatedAt: expect.stringMatching(ISO),
    });
    expect(done.endToEndId).not.toBe(charge.settlement.end_to_end_id);
    expect((await service.getCharge(key, charge.id)).body.status).toBe('paid');

    const rest = await requestRefund(service, key, `tx_${id}`);
    expect(rest.body).toMatchObject({ amount: 1000, reason: null, transactionId: id });
    await refundEnd(service, key, rest.body);
    expect((await service.getCharge(key, charge.id)).body.status).toBe('refunded');
    expect(await shown()).toEqual([1990, 1990, 1990]);
    expect(await available(service, key)).toBe(0);
    expect((await refundsOf(service, key, `ch_${id}`)).map((refund) => refund.id)).toEqual([
      rest.body.id,
      part.body.id,
    ]);

    await receiver.waitForType('payment.refunded', 4);
    await receiver.waitForType('payment.status_changed', 2);
    const told = dataOf('payment.refunded').sort((a, b) =>
      String(a['occurredAt']) < String(b['occurredAt']) ? -1 : 1,
    );
    const common = { transactionId: `tx_${id}`, paymentId: id, amount: 1990, occurredAt: expect.stringMatching(ISO) };
    const fees = { paidWith: 'PIX', providerFee: 0, platformFee: 0, netAmount: 1990 };
    const ofPart = { refundId: part.body.id, refundAmount: 990, refundReason: 'Article returned' };
    const ofRest = { refundId: rest.body.id, refundAmount: 1000, refundReason: null };
    const steps = [
      { sequence: 3, status: 'PAID', refundStatus: 'IN_PROGRESS', ...fees, ...ofPart },
      { sequence: 4, status: 'PAID', refundStatus: 'REFUNDED', ...fees, ...ofPart },
      { sequence: 5, status: 'PAID', refundStatus: 'IN_PROGRESS', ...fees, ...ofRest },
      // Number 6 is the transaction’s own change, sent as payment.status_changed.
      { sequence: 7, status: 'REFUNDED', refundStatus: 'REFUNDED', ...ofRest },
    ];
    expect(told).toEqual(
      steps.map((step) => ({ ...common, ...step, previousStatus: 'PAID', refundFailureReason: null })),
    );
    expect(dataOf('payment.status_changed').map(({ previousStatus, status }) => [previousStatus, status])).toEqual([
      ['WAITING_PAYMENT', 'PAID'],
      ['PAID', 'REFUNDED'],
    ]);
    const [ofFirst, ofSecond] = await receiver.waitForType('charge.refunded', 2).then(() =>
      receiver
        .ofType('charge.refunded')
        .map(({ body }) => body)
        .sort((a, b) => Number(a['sequence']) - Number(b['sequence'])),
    );
    const { body: charged } = await service.getCharge(key, charge.id);
    const refund = { object: 'refund', currency: 'BRL', status: 'REFUNDED' };
    expect(ofFirst).toMatchObject({ object: 'event', sequence: 4 });
    expect(ofFirst?.['data']).toEqual({
      object: { ...charge, status: 'paid', amount_refunded: 990 },
      refund: { ...refund, id: part.body.id, amount: 990, reason: 'Article returned' },
      amount_refunded: 990,
    });
    expect(ofSecond).toMatchObject({ object: 'event', sequence: 7 });
    expect(ofSecond?.['data']).toEqual({
      object: charged,
      refund: { ...refund, id: rest.body.id, amount: 1000, reason: null },
      amount_refunded: 1990,
    });
    // Each event once, and none for a refund on its way.
    const canonical = receiver.received.filter(({ body }) => body['object'] === 'event');
    expect(canonical.map(({ body }) => body['type']).sort()).toEqual([
      'charge.created',
      'charge.paid',
      'charge.refunded',
      'charge.refunded',
    ]);
  });

  it('lower the sum of the sale when one of them fails, and remove it when the last one fails', async () => {
    const charge = await aPaidCharge(service, key, 1990);
    const id = paymentIdOf(charge);
    const refund = async (amount: number): Promise<void> => {
      const { body } = await requestRefund(service, key, id, { amount });
      await refundEnd(service, key, body);
    };
    const keysOfCharge = Object.keys(charge);
    await service.simulate(key, charge.id, { event: 'refund_fail' });
    await refund(500);
    const { body: unchanged } = await service.getCharge(key, charge.id);
    expect(Object.keys(unchanged)).toEqual(keysOfCharge);
    expect((await service.call('GET', `/v1/payments/${id}`, { key })).body).not.toHaveProperty('amountRefunded');
    await refund(300);
    await refund(200);
    // A simulation answers with the same charge.
    const armed = await service.simulate(key, charge.id, { event: 'refund_fail' });
    expect(armed.body.charge).toHaveProperty('amount_refunded', 500);
    await refund(1490);
    expect((await service.getCharge(key, charge.id)).body).toMatchObject({ status: 'paid', amount_refunded: 500 });
  });

  it('never show more than was paid when they come at once, and leave failed ones out of the sum', async () => {
    const charge = await aPaidCharge(service, key, 1000);
    const id = paymentIdOf(charge);
    await service.simulate(key, charge.id, { event: 'refund_fail' });
    const asked = await Promise.all(Array.from({ length: 8 }, () => requestRefund(service, key, id, { amount: 300 })));
    const accepted = asked.filter(({ status }) => status === 201).map(({ body }) => body);
    expect(accepted).toHaveLength(3);
    const ends = await Promise.all(accepted.map((body) => refundEnd(service, key, body)));
    expect(ends.map(({ status }) => status).sort()).toEqual(['FAILED', 'REFUNDED', 'REFUNDED']);
    expect((await service.getCharge(key, charge.id)).body).toHaveProperty('amount_refunded', 600);
  });

  it('end within seconds', async () => {
    const id = paymentIdOf(await aPaidCharge(service, key));
    service.clock.stand();
    try {
      const { body } = await requestRefund(service, key, id);
      await waitFor('the first call to end', async () => {
        const rows = await service.sql(
          'SELECT 1 FROM work WHERE subject_id = $1 AND attempts = 1 AND leased_until IS NULL',
          [body.id],
        );
        return rows.length === 1;
      });
      expect(await refundsOf(service, key, id)).toMatchObject([{ status: 'IN_PROGRESS' }]);
      service.clock.advance(1);
      expect(await refundEnd(service, key, body)).toMatchObject({ status: 'REFUNDED' });
    } finally {
      service.clock.go();
    }
  });

  it('give the money back when they fail, report it, and leave the payment as it was', async () => {
    await subscribe();
    const charge = await aPaidCharge(service, key);
    const id = paymentIdOf(charge);
    const armed = await service.simulate(key, charge.id, { event: 'refund_fail' });
    expect([armed.status, armed.body.charge.status]).toEqual([200, 'paid']);
    const { body } = await requestRefund(service, key, id);
    expect(await available(service, key)).toBe(0);
    expect(await refundEnd(service, key, body)).toMatchObject({
      status: 'FAILED',
      failureReason: 'refused',
      endToEndId: null,
    });
    expect(await available(service, key)).toBe(100);
    expect((await service.getCharge(key, charge.id)).body.status).toBe('paid');
    await receiver.waitForType('payment.refunded', 2);
    expect(dataOf('payment.refunded').at(-1)).toMatchObject({
      refundStatus: 'FAILED',
      refundFailureReason: 'refused',
      status: 'PAID',
      previousStatus: 'PAID',
    });
    expect(receiver.ofType('charge.refunded')).toEqual([]);
    // Only the next refund fails.
    const again = await requestRefund(service, key, id);
    expect((await refundEnd(service, key, again.body)).status).toBe('REFUNDED');
  });

  describe('strategies', () => {
    it('a devolution goes under the end-to-end id of the Pix', async () => {
      const charge = await aPaidCharge(service, key);
      const { body } = await requestRefund(service, key, paymentIdOf(charge), { strategy: 'devolution' });
      expect(await refundEnd(service, key, body)).toMatchObject({
        strategy: 'devolution',
        endToEndId: charge.settlement.end_to_end_id,
        returnId: expect.stringMatching(/^D\d{20}[A-Za-z0-9]{11}$/),
      });
    });

    it('a refund is a devolution when the bank did not report who paid, unless a key gives the destination', async () => {
      const { body: charge } = await service.createCharge(key, { amount: 100 });
      await service.simulate(key, charge.id, { event: 'pay', payer_document: null });
      const id = paymentIdOf(charge);
      const refused = await requestRefund(service, key, id, { amount: 1, strategy: 'cashout' });
      expect(codeOf(refused)).toBe('422 REFUND_STRATEGY_NOT_SUPPORTED');
      const { body } = await requestRefund(service, key, id, { amount: 1 });
      expect((await refundEnd(service, key, body)).strategy).toBe('devolution');
      const keyed = await requestRefund(service, key, id, { amount: 1, destinationKey: 'maria@example.com' });
      expect((await refundEnd(service, key, keyed.body)).strategy).toBe('cashout');
    });

    it('a Pix-out charges the merchant its fee only on request, and returns it when the refund fails', async () => {
      key = (await service.merchant({ pix_out_fee: '25' })).testKey;
      const charge = await aPaidCharge(service, key, 100);
      const refund = async (body: Record<string, unknown>): Promise<string> => {
        const answer = await requestRefund(service, key, paymentIdOf(charge), { amount: 10, ...body });
        return (await refundEnd(service, key, answer.body)).status;
      };
      expect([await refund({}), await available(service, key)]).toEqual(['REFUNDED', 90]);
      const passed = { passFeeToTenant: true };
      expect([await refund(passed), await available(service, key)]).toEqual(['REFUNDED', 55]);
      const devolution = { ...passed, strategy: 'devolution' };
      expect([await refund(devolution), await available(service, key)]).toEqual(['REFUNDED', 45]);
      await service.simulate(key, charge.id, { event: 'refund_fail' });
      expect([await refund(passed), await available(service, key)]).toEqual(['FAILED', 45]);
      // The balance must cover the fee too: 21 and 25 are 46.
      const tooMuch = await requestRefund(service, key, paymentIdOf(charge), { amount: 21, ...passed });
      expect(codeOf(tooMuch)).toBe('422 insufficient_balance');
      expect([await refund({ amount: 20, ...passed }), await available(service, key)]).toEqual(['REFUNDED', 0]);
    });
  });

  describe('by other methods', () => {
    const pay = async (method: string): Promise<{ id: string; status: string }> => {
      const { body } = await service.call<{ id: string }>('POST', '/v1/payments', {
        key,
        body: {
          amount: 100,
          paymentMethods: [method],
          idempotencyKey: randomUUID(),
          metadata: { phone: '+351912345678' },
        },
      });
      const path = `/v1/sandbox/payments/${body.id}/simulate`;
      const paid = await service.call<{ payment: { id: string; status: string } }>('POST', path, {
        key,
        body: { event: 'pay' },
      });
      return { id: body.id, status: paid.body.payment.status };
    };

    it('go to the card in parts, until the payment is REFUNDED', async () => {
      const { id, status } = await pay('CREDIT_CARD');
      expect(status).toBe('APPROVED');
      for (const body of [
        { strategy: 'cashout' },
        { passFeeToTenant: true },
        { destinationKey: 'maria@example.com' },
      ]) {
        const refused = await requestRefund(service, key, id, body);
        expect(codeOf(refused)).toBe('400 invalid_request');
        expect(refused.body.error.details?.map(({ param }) => param)).toEqual(Object.keys(body));
      }
      const part = await requestRefund(service, key, id, { amount: 40 });
      expect(await refundEnd(service, key, part.body)).toMatchObject({
        status: 'REFUNDED',
        strategy: null,
        endToEndId: null,
        returnId: null,
      });
      const payment = async (): Promise<unknown> =>
        (await service.call<{ status: string }>('GET', `/v1/payments/${id}`, { key })).body.status;
      expect(await payment()).toBe('APPROVED');
      const rest = await requestRefund(service, key, id);
      expect((await refundEnd(service, key, rest.body)).amount).toBe(60);
      expect(await payment()).toBe('REFUNDED');
    });

    it.each(['chargeback', 'dispute'])('are refused for a card payment with a %s', async (event) => {
      const { id } = await pay('CREDIT_CARD');
      await service.call('POST', `/v1/sandbox/payments/${id}/simulate`, { key, body: { event } });
      const refused = await requestRefund(service, key, id);
      expect(codeOf(refused)).toBe('400 charge_disputed');
      expect(refused.body.error.type).toBe('invalid_request_error');
    });

    it.each(['MBWAY', 'MULTIBANCO', 'BOLETO', 'CRYPTO'])('are impossible for %s', async (method) => {
      const { id, status } = await pay(method);
      expect(status).toBe('PAID');
      const refused = await requestRefund(service, key, id);
      expect(codeOf(refused)).toBe('422 REFUND_NOT_SUPPORTED');
      expect(refused.body.error.type).toBe('business_error');
    });
  });

  it('are debited in full, whatever fees the payment had', async () => {
    key = (await service.merchant({ fee_bps: '1000' })).testKey;
    const charge = await aPaidCharge(service, key, 100);
    expect(await available(service, key)).toBe(90);
    expect(codeOf(await requestRefund(service, key, paymentIdOf(charge)))).toBe('422 insufficient_balance');
    await aPaidCharge(service, key, 100);
    const { body } = await requestRefund(service, key, paymentIdOf(charge));
    expect([(await refundEnd(service, key, body)).status, await available(service, key)]).toEqual(['REFUNDED', 80]);
  });

  it('need available money: pending money does not count', async () => {
    key = (await service.merchant({ release_days: '2' })).testKey;
    const { body: charge } = await service.createCharge(key, { amount: 100 });
    await service.simulate(key, charge.id, { event: 'pay' });
    const refused = await requestRefund(service, key, paymentIdOf(charge));
    expect(codeOf(refused)).toBe('422 insufficient_balance');
    expect(refused.body.error.type).toBe('business_error');
    expect(await refundsOf(service, key, paymentIdOf(charge))).toEqual([]);
  });

  describe('bad input', () => {
    let id: string;
    beforeEach(async () => {
      id = paymentIdOf(await aPaidCharge(service, key));
    });

    const BAD: readonly [Record<string, unknown>, string[]][] = [
      [{ idempotencyKey: undefined }, ['idempotencyKey']],
      [{ idempotencyKey: 'short' }, ['idempotencyKey']],
      [{ idempotencyKey: 'x'.repeat(129) }, ['idempotencyKey']],
      [{ idempotencyKey: 'schlüssel-1234' }, ['idempotencyKey']],
      [{ idempotencyKey: 12345678 }, ['idempotencyKey']],
      [{ amount: 0 }, ['amount']],
      [{ amount: -1 }, ['amount']],
      [{ amount: 1.5 }, ['amount']],
      [{ amount: '100' }, ['amount']],
      [{ amount: 1_000_000_000_000 }, ['amount']],
      [{ reason: 'x'.repeat(501) }, ['reason']],
      [{ reason: 5 }, ['reason']],
      [{ strategy: 'pix' }, ['strategy']],
      [{ strategy: 'CASHOUT' }, ['strategy']],
      [{ passFeeToTenant: 'true' }, ['passFeeToTenant']],
      [{ destinationKey: '12345678900' }, ['destinationKey']],
      [{ destinationKey: '11987654321' }, ['destinationKey']],
      [{ destinationKey: '' }, ['destinationKey']],
      [{ destinationKey: 'x'.repeat(101) }, ['destinationKey']],
      [{ strategy: 'devolution', destinationKey: 'maria@example.com' }, ['destinationKey']],
      [{ pass_fee_to_tenant: true }, ['pass_fee_to_tenant']],
      [{ amount: 0, strategy: 'x', destination: 'y' }, ['amount', 'destination', 'strategy']],
    ];

    it('names every bad field of a body, and changes nothing', async () => {
      for (const [body, params] of BAD) {
        const answer = await requestRefund(service, key, id, body);
        const named = [...new Set(answer.body.error.details?.map(({ param }) => param))].sort();
        expect({ body, code: codeOf(answer), named }).toEqual({ body, code: '400 invalid_request', named: params });
      }
      expect(await refundsOf(service, key, id)).toEqual([]);
      expect(await available(service, key)).toBe(100);
    });

    it('refuses more than is left, counting refunds on their way', async () => {
      expect(codeOf(await requestRefund(service, key, id, { amount: 101 }))).toBe(
        '400 refund_amount_exceeds_remaining',
      );
      const { body } = await requestRefund(service, key, id, { amount: 60 });
      const refused = await requestRefund(service, key, id, { amount: 41 });
      expect(codeOf(refused)).toBe('400 refund_amount_exceeds_remaining');
      expect(refused.body.error).toMatchObject({ type: 'invalid_request_error', param: 'amount' });
      expect((await requestRefund(service, key, id, { amount: 40 })).status).toBe(201);
      expect(codeOf(await requestRefund(service, key, id))).toBe('400 refund_amount_exceeds_remaining');
      await refundEnd(service, key, body);
      await waitFor('all of it to be back', async () => {
        return (await service.getCharge(key, `ch_${id}`)).body.status === 'refunded';
      });
      expect(codeOf(await requestRefund(service, key, id))).toBe('400 payment_not_refundable');
    });

    it.each([
      ['waits', null],
      ['has expired', 'expire'],
      ['was refused', 'fail'],
    ])('refuses a refund of a charge that %s', async (_name, event) => {
      const { body: charge } = await service.createCharge(key, { amount: 100 });
      if (event) await service.simulate(key, charge.id, { event });
      const answer = await requestRefund(service, key, paymentIdOf(charge));
      expect(codeOf(answer)).toBe('400 payment_not_refundable');
      expect(answer.body.error.type).toBe('invalid_request_error');
      expect(await refundsOf(service, key, paymentIdOf(charge))).toEqual([]);
    });
  });

  it('are listed over all payments, by page, status and time, of this account and mode only', async () => {
    const own = await service.merchant();
    const ids: string[] = [];
    for (let n = 1; n <= 3; n++) {
      const payment = paymentIdOf(await aPaidCharge(service, own.testKey, 100));
      const refund = await requestRefund(service, own.testKey, payment, { amount: n });
      await refundEnd(service, own.testKey, refund.body);
      ids.unshift(refund.body.id);
    }
    const page = async (query: string, as = own.testKey): Promise<[string[], boolean, string | null]> => {
      const { body } = await service.call<{ data: { id: string }[]; has_more: boolean; next_cursor: string | null }>(
        'GET',
        `/v1/refunds?${query}`,
        { key: as },
      );
      return [body.data.map(({ id }) => id), body.has_more, body.next_cursor];
    };
    expect(await page('')).toEqual([ids, false, null]);
    expect(await page('limit=2')).toEqual([ids.slice(0, 2), true, ids[1]]);
    expect(await page(`limit=2&starting_after=${ids[1]}`)).toEqual([ids.slice(2), false, null]);
    expect(await page('status=REFUNDED')).toEqual([ids, false, null]);
    expect(await page('status=FAILED')).toEqual([[], false, null]);
    expect(await page('created_before=2020-01-01')).toEqual([[], false, null]);
    expect(await page('created_after=2020-01-01')).toEqual([ids, false, null]);
    for (const other of [own.liveKey, (await service.merchant()).testKey]) {
      expect(await page('', other)).toEqual([[], false, null]);
    }
    for (const bad of ['status=DONE', 'limit=0', 'starting_after=x', 'page=1', 'created_after=yesterday']) {
      const { status } = await service.call('GET', `/v1/refunds?${bad}`, { key: own.testKey });
      expect([bad, status]).toEqual([bad, 400]);
    }
  });

  describe('the idempotency key', () => {
    it('returns the original refund permanently, whatever its state', async () => {
      const id = paymentIdOf(await aPaidCharge(service, key));
      const body = { idempotencyKey: `forever-${randomUUID()}`, amount: 30, destinationKey: '529.982.247-25' };
      const first = await requestRefund(service, key, id, body);
      expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([201, null]);
      await refundEnd(service, key, first.body);
      service.clock.advance(30 * 86_400);
      // Bodies equal to the first one, written in another way.
      for (const twin of [body, { ...body, destinationKey: '52998224725', passFeeToTenant: false }]) {
        const again = await requestRefund(service, key, id, twin);
        expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
        expect(again.text).toBe(first.text);
      }
      expect(await refundsOf(service, key, id)).toHaveLength(1);
      expect(await available(service, key)).toBe(70);
    });

    it('belongs to one body of one payment', async () => {
      const [id, other] = [await aPaidCharge(service, key), await aPaidCharge(service, key)].map(paymentIdOf) as [
        string,
        string,
      ];
      const idempotencyKey = `once-${randomUUID()}`;
      expect((await requestRefund(service, key, id, { idempotencyKey, amount: 30 })).status).toBe(201);
      for (const [payment, body] of [
        [id, { amount: 31 }],
        [id, {}],
        [id, { amount: 30, reason: 'x' }],
        [id, { amount: 30, strategy: 'cashout' }],
        [other, { amount: 30 }],
      ] as const) {
        const answer = await requestRefund(service, key, payment, { idempotencyKey, ...body });
        expect(codeOf(answer)).toBe('409 idempotency_key_reused');
      }
      expect(await refundsOf(service, key, other)).toEqual([]);
      expect(await available(service, key)).toBe(170);
    });

    it('belongs to one payment even after its request was erased with the customer', async () => {
      const id = paymentIdOf(await aPaidCharge(service, key));
      const other = paymentIdOf(await aPaidCharge(service, key));
      const body = { idempotencyKey: `once-${randomUUID()}`, amount: 30 };
      const first = await requestRefund(service, key, id, body);
      await refundEnd(service, key, first.body);
      for (const column of ['fingerprint', 'response_body']) {
        await service.sql(`UPDATE idempotency_keys SET ${column} = $2 WHERE key = $1`, [
          body.idempotencyKey,
          column === 'fingerprint' ? Buffer.alloc(0) : null,
        ]);
        expect(codeOf(await requestRefund(service, key, other, body))).toBe('409 idempotency_key_reused');
        const again = await requestRefund(service, key, id, body);
        expect([again.status, again.text]).toEqual([201, first.text]);
      }
    });

    it('is free again after a refusal', async () => {
      const id = paymentIdOf(await aPaidCharge(service, key));
      const idempotencyKey = `free-${randomUUID()}`;
      expect((await requestRefund(service, key, id, { idempotencyKey, amount: 101 })).status).toBe(400);
      expect((await requestRefund(service, key, id, { idempotencyKey, amount: 100 })).status).toBe(201);
    });

    it('makes one refund and one answer for 20 simultaneous requests', async () => {
      const id = paymentIdOf(await aPaidCharge(service, key));
      const idempotencyKey = `twins-${randomUUID()}`;
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => requestRefund(service, key, id, { idempotencyKey, amount: 10 })),
      );
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1);
      expect(await refundsOf(service, key, id)).toHaveLength(1);
      expect(await available(service, key)).toBe(90);
    });
  });

  it('belong to their account and mode', async () => {
    const charge = await aPaidCharge(service, key);
    const id = paymentIdOf(charge);
    const stranger = await service.merchant();
    const idempotencyKey = `shared-${randomUUID()}`;
    const { body } = await requestRefund(service, key, id, { idempotencyKey, amount: 10 });
    for (const foreign of [stranger.testKey, merchant.liveKey, stranger.liveKey]) {
      const refused = await requestRefund(service, foreign, id, { idempotencyKey, amount: 10 });
      expect(codeOf(refused)).toBe('404 not_found');
      const list = await service.call<RefundOrError>('GET', `/v1/payments/${id}/refunds`, { key: foreign });
      expect(codeOf(list)).toBe('404 not_found');
      expect(list.text).not.toContain(body.id);
    }
    // The key has a meaning only inside its account.
    const own = await aPaidCharge(service, stranger.testKey);
    const theirs = await requestRefund(service, stranger.testKey, paymentIdOf(own), { idempotencyKey, amount: 10 });
    expect(theirs.status).toBe(201);
    expect(theirs.body.id).not.toBe(body.id);
    expect(await available(service, key)).toBe(90);
  });

  it.each(['nobody', '00000000-0000-7000-8000-000000000000', 'rf_x', '%00'])(
    'get 404 for the unknown id %s',
    async (id) => {
      expect(codeOf(await requestRefund(service, key, id))).toBe('404 not_found');
      expect((await service.call('GET', `/v1/payments/${id}/refunds`, { key })).status).toBe(404);
    },
  );
});
