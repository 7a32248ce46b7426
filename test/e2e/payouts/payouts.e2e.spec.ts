import { randomUUID } from 'node:crypto';
import { beforeEach, afterEach, describe, expect, it } from '@jest/globals';
import { expectLedgerCoherent } from '../../support/coherence.js';
import {
  aFundedMerchant,
  aPayout,
  CPF,
  OTHER_CPF,
  payoutOf,
  type PayoutOrError,
  readPayout,
  requestPayout,
  simulatePayout,
  TO_CPF,
  wallet,
} from '../../support/payouts.js';
import { WebhookReceiver } from '../../support/receiver.js';
import { type Answer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const KEYS = [
  ...['amount', 'created_at', 'currency', 'destination', 'fee', 'id', 'metadata', 'object', 'payment_method'],
  ...['settlement', 'status'],
];
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('payouts of test money', () => {
  const service = TestService.forSpec();
  const receiver = WebhookReceiver.forSpec();
  let merchant: Merchant;
  let key: string;

  beforeEach(async () => {
    receiver.received.length = 0;
    merchant = await aFundedMerchant(service);
    key = merchant.testKey;
  });
  afterEach(async () => {
    expect(await service.sql('SELECT kind, last_error FROM work WHERE last_error IS NOT NULL')).toEqual([]);
    await expectLedgerCoherent(service.database.url);
  });

  const subscribe = (): Promise<Answer> =>
    service.call('POST', '/v1/webhooks/endpoints', {
      key,
      body: {
        url: receiver.url,
        events: [
          ...['payout.created', 'payout.paid', 'payout.failed', 'withdrawal.created', 'withdrawal.completed'],
          ...['withdrawal.failed', 'withdrawal.status_changed'],
        ],
      },
    });
  const codeOf = ({ status, body }: Answer<PayoutOrError>): string => `${status} ${body.error?.code}`;
  const namesOf = (): string[] => receiver.received.map(({ body }) => String(body['type'] ?? body['event'])).sort();

  it.each([
    ['a key with an underscore', { _fee: 1, reference: '7' }, { reference: '7' }],
    ['the keys med and failure', { med: { status: 'open' }, failure: 'x' }, {}],
    ['a nested key, which stays', { order: { _id: 7, med: 1 } }, { order: { _id: 7, med: 1 } }],
  ])('store metadata without the reserved keys of the service: %s', async (_what, metadata, stored) => {
    const payout = await aPayout(service, key, { metadata });
    expect(payout.metadata).toEqual(stored);
    const rows = await service.sql('SELECT metadata FROM payouts WHERE account_id = $1', [merchant.accountId]);
    expect(rows).toEqual([{ metadata: stored }]);
  });

  it('are paid after a second: exact fields, exact events, exact money', async () => {
    await subscribe();
    const { status, body: created } = await requestPayout(service, key, {
      description: 'Retirada',
      metadata: { reference: '7' },
    });
    expect(status).toBe(201);
    expect(Object.keys(created).sort()).toEqual(KEYS);
    expect(created).toMatchObject({
      id: expect.stringMatching(/^po_[0-9a-f-]{36}$/),
      object: 'payout',
      amount: 500,
      currency: 'BRL',
      status: 'pending',
      payment_method: 'pix',
      fee: 0,
      destination: { type: 'pix_key', key: '***.982.247-**', key_type: 'cpf', tax_id: '***.982.247-**' },
      settlement: {},
      metadata: { reference: '7', description: 'Retirada' },
      created_at: expect.stringMatching(ISO),
    });
    expect(await wallet(service, merchant.accountId)).toMatchObject({ available: 9_500 });
    const paid = await payoutOf(service, key, created.id, 'paid');
    expect(Object.keys(paid).sort()).toEqual(KEYS);
    expect(paid.settlement).toEqual({ end_to_end_id: expect.stringMatching(/^E[0-9A-Za-z]{31}$/) });
    expect(await wallet(service, merchant.accountId)).toMatchObject({
      available: 9_500,
      reserved: 0,
      clearing: -9_500,
    });
    await waitFor('the events', () => receiver.received.length >= 6);
    expect(namesOf()).toEqual([
      ...['payout.created', 'payout.paid', 'withdrawal.completed', 'withdrawal.created'],
      ...['withdrawal.status_changed', 'withdrawal.status_changed'],
    ]);
    const [event] = receiver.ofType('payout.paid');
    expect(event?.body['data']).toEqual({ object: paid });
    expect(receiver.ofType('withdrawal.completed')[0]?.body['data']).toEqual({
      transactionId: created.id,
      withdrawalId: created.id.slice(3),
      amount: 500,
      paidWith: 'PIX',
      providerFee: 0,
      platformFee: 0,
      netAmount: 500,
      fee: 0,
      currency: 'BRL',
      status: 'PAID',
      previousStatus: 'SENDING',
      sequence: 3,
      endToEndId: paid.settlement.end_to_end_id,
      occurredAt: expect.stringMatching(ISO),
    });
  });

  it.each([
    ['unknown', 'unknown'],
    ['review', 'review'],
  ])('stay processing while the answer is %s, and end as the bank then says', async (event, reason) => {
    const { testKey } = await aFundedMerchant(service, { payout_new_destination_hours: 1 });
    const payout = await aPayout(service, testKey);
    await simulatePayout(service, testKey, payout.id, { event });
    service.clock.advance(3_601);
    await waitFor('the payout to say so', async () => {
      const now = await readPayout(service, testKey, payout.id);
      return now.status === 'processing' && now.processing_reason === reason;
    });
    await simulatePayout(service, testKey, payout.id, { event: 'resolve' });
    await payoutOf(service, testKey, payout.id, 'paid');
  });

  it('give the money back when the bank refuses them, and say why', async () => {
    const slow = await aFundedMerchant(service, { payout_new_destination_hours: 1 });
    merchant = slow;
    key = slow.testKey;
    await subscribe();
    const payout = await aPayout(service, key);
    await simulatePayout(service, key, payout.id, { event: 'fail' });
    service.clock.advance(3_601);
    const failed = await payoutOf(service, key, payout.id, 'failed');
    expect(failed.failure).toEqual({ reason: 'rejected_by_receiver', at: expect.stringMatching(ISO) });
    expect(await wallet(service, merchant.accountId)).toMatchObject({ available: 10_000, reserved: 0 });
    await waitFor('the event', () => receiver.ofType('payout.failed').length === 1);
    expect(receiver.ofType('payout.failed')[0]?.body['data']).toEqual({ object: failed, failure: failed.failure });
  });

  it('refuse events of the sandbox that cannot happen to them, and change nothing', async () => {
    const ended = async (status: string, event?: string): Promise<[string, string]> => {
      const { id } = await aPayout(service, key, { allow_duplicate: true });
      await payoutOf(service, key, id, 'paid');
      if (event !== undefined) await simulatePayout(service, key, id, { event });
      await payoutOf(service, key, id, status);
      return [status, id];
    };
    const payouts = [await ended('paid'), await ended('refunded', 'return'), await ended('failed', 'fail')];
    const waiting = await aFundedMerchant(service, { payout_new_destination_hours: 1 });
    const { id: cancelled } = await aPayout(service, waiting.testKey);
    await service.call('POST', `/v1/payouts/${cancelled}/cancel`, { key: waiting.testKey });
    const ids: Readonly<Record<string, string>> = Object.fromEntries(payouts);
    const cases = [
      ...['unknown', 'review'].map((event) => ({ status: 'paid', body: { event }, param: 'event' })),
      { status: 'paid', body: { event: 'fail', amount: 5 }, param: 'amount' },
      { status: 'paid', body: { event: 'pay', amount: 5 }, param: 'amount' },
      ...['refunded', 'failed', 'cancelled'].flatMap((status) =>
        ['pay', 'fail', 'return', 'unknown', 'review', 'resolve'].map((event) => ({
          ...{ status, body: { event }, param: 'event' },
        })),
      ),
    ];
    for (const { status, body, param } of cases) {
      const [of, id] = status === 'cancelled' ? [waiting.testKey, cancelled] : [key, ids[status] ?? ''];
      const answer = await simulatePayout(service, of, id, body);
      expect([status, body, answer.status, answer.body.error?.param]).toEqual([status, body, 400, param]);
      expect((await readPayout(service, of, id)).status).toBe(status);
    }
  });

  it('come back in parts, each by its own entry, and are refunded once all is back', async () => {
    await subscribe();
    const payout = await aPayout(service, key);
    await payoutOf(service, key, payout.id, 'paid');
    await simulatePayout(service, key, payout.id, { event: 'return', amount: 200 });
    await waitFor('the part', async () => (await readPayout(service, key, payout.id)).amount_returned === 200);
    const partly = await readPayout(service, key, payout.id);
    expect(partly).toMatchObject({ status: 'paid', returns: [{ amount: 200, reason: 'AC03' }] });
    expect((await simulatePayout(service, key, payout.id, { event: 'return', amount: 301 })).status).toBe(400);
    await simulatePayout(service, key, payout.id, { event: 'return' });
    const refunded = await payoutOf(service, key, payout.id, 'refunded');
    expect(refunded).toMatchObject({ amount_returned: 500, returns: [{ amount: 200 }, { amount: 300 }] });
    expect(await wallet(service, merchant.accountId)).toMatchObject({ available: 10_000, clearing: -10_000 });
    const { body: entries } = await service.call<{ data: { type: string; amount: number; source: object }[] }>(
      'GET',
      `/v1/wallets/entries?source=${payout.id}`,
      { key },
    );
    expect(entries.data.map(({ type, amount }) => `${type} ${amount}`)).toEqual([
      'payout_returned 300',
      'payout_returned 200',
      'payout -500',
    ]);
    expect(entries.data[0]?.source).toEqual({ object: 'payout', id: payout.id });
    await waitFor('the events', () => receiver.ofType('payout.failed').length === 2);
    expect(
      receiver
        .ofType('payout.failed')
        .map(({ body }) => (body['data'] as { return: { amount: number } }).return.amount)
        .sort(),
    ).toEqual([200, 300]);
    expect(receiver.ofType('withdrawal.failed')).toHaveLength(2);
  });

  it('give the fee back once, and only when the whole amount has come back', async () => {
    const other = await aFundedMerchant(service, { payout_fee: 50 });
    const payout = await aPayout(service, other.testKey);
    await payoutOf(service, other.testKey, payout.id, 'paid');
    await simulatePayout(service, other.testKey, payout.id, { event: 'return', amount: 200 });
    await waitFor(
      'the part',
      async () => (await readPayout(service, other.testKey, payout.id)).amount_returned === 200,
    );
    expect(await wallet(service, other.accountId)).toMatchObject({ available: 9_650, platform_fees: 50 });
    // The bank repeats what came back: nothing is booked twice.
    for (let times = 0; times < 3; times++) {
      await simulatePayout(service, other.testKey, payout.id, {
        event: 'return',
        ...(times === 0 ? {} : { amount: 1 }),
      });
    }
    const back = await payoutOf(service, other.testKey, payout.id, 'refunded');
    expect(back).toMatchObject({ amount: 500, fee: 50, amount_returned: 500 });
    expect(await wallet(service, other.accountId)).toMatchObject({ available: 10_000, platform_fees: 0 });
    const { body: entries } = await service.call<{ data: { type: string; amount: number }[] }>(
      'GET',
      `/v1/wallets/entries?source=${payout.id}`,
      { key: other.testKey },
    );
    expect(entries.data.map(({ type, amount }) => `${type} ${amount}`)).toEqual([
      ...['payout_returned 50', 'payout_returned 300', 'payout_returned 200', 'payout -550'],
    ]);
  });

  it('that were paid fail when the bank takes its word back: amount and fee come back', async () => {
    const other = await aFundedMerchant(service, { payout_fee: 50 });
    const payout = await aPayout(service, other.testKey);
    expect(payout.fee).toBe(50);
    await payoutOf(service, other.testKey, payout.id, 'paid');
    expect(await wallet(service, other.accountId)).toMatchObject({ available: 9_450, platform_fees: 50 });
    await simulatePayout(service, other.testKey, payout.id, { event: 'fail' });
    const failed = await payoutOf(service, other.testKey, payout.id, 'failed');
    expect(failed.failure?.reason).toBe('revoked_by_bank');
    expect(await wallet(service, other.accountId)).toMatchObject({ available: 10_000, platform_fees: 0 });
  });

  it('are one for one key, however often and however long after; another body under the key is refused', async () => {
    const idempotencyKey = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => requestPayout(service, key, { amount: 700 }, idempotencyKey)),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
    expect(codeOf(await requestPayout(service, key, { amount: 701 }, idempotencyKey))).toBe(
      '409 idempotency_key_reused',
    );
    expect(await wallet(service, merchant.accountId)).toMatchObject({ available: 9_300 });
    service.clock.advance(40 * 86_400);
    const again = await requestPayout(service, key, { amount: 700 }, idempotencyKey);
    expect([again.status, again.headers.get('idempotent-replayed'), again.body.id]).toEqual([
      201,
      'true',
      answers[0]?.body.id,
    ]);
  });

  it('look like an accident when amount and receiver repeat within ten minutes', async () => {
    const first = await aPayout(service, key);
    const twice = await requestPayout(service, key);
    expect(codeOf(twice)).toBe('409 likely_duplicate');
    expect(twice.body.error.message).toContain(first.id);
    expect((await requestPayout(service, key, { allow_duplicate: true })).status).toBe(201);
    expect((await requestPayout(service, key, { amount: 501 })).status).toBe(201);
    expect((await requestPayout(service, key, { destination: { type: 'pix_key', key: OTHER_CPF } })).status).toBe(201);
    service.clock.advance(601);
    expect((await requestPayout(service, key)).status).toBe(201);
  });

  it('are cancelled while nothing was sent, and not afterwards', async () => {
    const slow = await aFundedMerchant(service, { payout_new_destination_hours: 24 });
    const payout = await aPayout(service, slow.testKey);
    expect(payout.send_after).toMatch(ISO);
    const cancel = (id: string, by: string): Promise<Answer<PayoutOrError>> =>
      service.call<PayoutOrError>('POST', `/v1/payouts/${id}/cancel`, { key: by });
    const { status, body } = await cancel(payout.id, slow.testKey);
    expect([status, body.status, body.failure?.reason]).toEqual([200, 'cancelled', 'cancelled']);
    expect((await cancel(payout.id, slow.testKey)).status).toBe(200);
    expect(await wallet(service, slow.accountId)).toMatchObject({ available: 10_000, reserved: 0 });
    const sent = await aPayout(service, key);
    await payoutOf(service, key, sent.id, 'paid');
    expect(codeOf(await cancel(sent.id, key))).toBe('409 payout_not_cancellable');
  });

  it('wait for a destination that was never paid before, and no longer once it was', async () => {
    const slow = await aFundedMerchant(service, { payout_new_destination_hours: 1 });
    const first = await aPayout(service, slow.testKey);
    expect(first.send_after).toBeDefined();
    service.clock.advance(3_601);
    await payoutOf(service, slow.testKey, first.id, 'paid');
    const second = await aPayout(service, slow.testKey);
    expect(second.send_after).toBeUndefined();
    await payoutOf(service, slow.testKey, second.id, 'paid');
  });

  it.each([
    ['a key of no kind', { destination: { type: 'pix_key', key: '11 98765' } }, 'destination.key'],
    ['a CPF with wrong check digits', { destination: { type: 'pix_key', key: '52998224724' } }, 'destination.key'],
    ['an e-mail key without its owner', { destination: { type: 'pix_key', key: 'a@b.com' } }, 'destination.tax_id'],
    ['an owner other than the key', { destination: { ...TO_CPF, tax_id: OTHER_CPF } }, 'destination.tax_id'],
    ['a code that is no Pix code', { destination: { type: 'br_code', br_code: '000201' } }, 'destination.br_code'],
    ['fields of another type', { destination: { ...TO_CPF, ispb: '00000000' } }, 'destination.ispb'],
    ['an unknown field', { destination: { ...TO_CPF, nome: 'Ana' } }, 'destination.nome'],
    ['an unknown type', { destination: { type: 'paypal' } }, 'destination.type'],
    ['no destination', { destination: undefined }, 'destination'],
    ['a text that is no id', { destination: 'my account' }, 'destination'],
    ['an amount of nothing', { amount: 0 }, 'amount'],
    ['reais with a comma', { amount: '19,90' }, 'amount'],
    ['another currency', { currency: 'EUR' }, 'currency'],
    [
      'an account without its holder',
      {
        destination: {
          ...{ type: 'bank_account', ispb: '00000000', branch: '0001', number: '12345-6' },
          ...{ account_type: 'checking', tax_id: CPF },
        },
      },
      'destination.name',
    ],
  ])('refuse %s, and set nothing aside', async (_what, body, param) => {
    const answer = await requestPayout(service, key, body);
    expect([answer.status, answer.body.error.details?.map((detail) => detail.param)]).toEqual([400, [param]]);
    expect(await wallet(service, merchant.accountId)).toMatchObject({ available: 10_000 });
  });

  it('refuse more than is available, and a destination that does not exist', async () => {
    expect(codeOf(await requestPayout(service, key, { amount: 10_001 }))).toBe('422 insufficient_balance');
    expect(codeOf(await requestPayout(service, key, { destination: `pd_${randomUUID()}` }))).toBe(
      '422 destination_not_found',
    );
    expect(await wallet(service, merchant.accountId)).toMatchObject({ available: 10_000 });
  });

  it.each([
    ['own', CPF, '422 destination_not_allowed'],
    ['own', OTHER_CPF, '201 undefined'],
    ['anyone', CPF, '201 undefined'],
  ])('go to %s: %s', async (to, cpf, expected) => {
    const own = await aFundedMerchant(service, { payouts_to: to, tax_id: OTHER_CPF });
    expect(codeOf(await requestPayout(service, own.testKey, { destination: { type: 'pix_key', key: cpf } }))).toBe(
      expected,
    );
  });

  it('stay within the limits of the account', async () => {
    const limited = await aFundedMerchant(service, { payout_max: 600, payout_daily_max: 1_000 });
    expect(codeOf(await requestPayout(service, limited.testKey, { amount: 601 }))).toBe('422 payout_limit_exceeded');
    expect(codeOf(await requestPayout(service, limited.testKey, { amount: 600 }))).toBe('201 undefined');
    expect(codeOf(await requestPayout(service, limited.testKey, { amount: 401 }))).toBe('422 payout_limit_exceeded');
    expect(codeOf(await requestPayout(service, limited.testKey, { amount: 400 }))).toBe('201 undefined');
    service.clock.advance(86_400);
    expect(codeOf(await requestPayout(service, limited.testKey, { amount: 600 }))).toBe('201 undefined');
  });

  it('are listed by cursor, status and destination, and seen by nobody else', async () => {
    const ids: string[] = [];
    for (const amount of [100, 200, 300]) ids.unshift((await aPayout(service, key, { amount })).id);
    const list = (query: string, by = key): Promise<Answer<{ data: { id: string }[]; next_cursor: string | null }>> =>
      service.call('GET', `/v1/payouts${query}`, { key: by });
    const page = await list('?limit=2');
    expect(page.body.data.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect((await list(`?starting_after=${page.body.next_cursor}`)).body.data.map(({ id }) => id)).toEqual(
      ids.slice(2),
    );
    for (const id of ids) await payoutOf(service, key, id, 'paid');
    expect((await list('?status=paid')).body.data).toHaveLength(3);
    expect((await list('?status=pending')).body.data).toHaveLength(0);
    const stranger = await service.merchant();
    expect((await list('', stranger.testKey)).body.data).toEqual([]);
    for (const by of [stranger.testKey, merchant.liveKey]) {
      expect((await service.call('GET', `/v1/payouts/${ids[0]}`, { key: by })).status).toBe(404);
      expect((await service.call('POST', `/v1/payouts/${ids[0]}/cancel`, { key: by })).status).toBe(404);
    }
  });
});
