import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { SandboxAcquirer } from '../../../src/acquirers/sandbox/sandbox.acquirer.js';
import { Database } from '../../../src/core/database/index.js';
import { Retention } from '../../../src/core/retention.js';
import { CorrectionsService, TransactionsService } from '../../../src/transactions/index.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { WebhookReceiver } from '../../support/receiver.js';
import { type Answer, type ChargeAnswer, type Merchant, type Person, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

interface ErrorAnswer extends Record<string, unknown> {
  error: { type: string; code: string; message: string; param?: string; details?: { param: string; code: string }[] };
  request_id: string;
}

const service = TestService.forSpec({ env: { CHARGE_LIST_ENABLED: 'true' } });
let merchant: Merchant;

beforeAll(async () => {
  merchant = await service.merchant();
});
afterEach(() => expectLedgerCoherent(service.database.url));

function expectError(answer: Answer<ErrorAnswer>, status: number, type: string, code: string): void {
  expect({ status: answer.status, type: answer.body.error.type, code: answer.body.error.code }).toEqual({
    status,
    type,
    code,
  });
  expect(answer.body.request_id).toBe(answer.headers.get('x-request-id'));
}

describe('idempotency', () => {
  it('50 simultaneous requests under one key get one charge, one event and equal answers; another body is a conflict', async () => {
    const key = `twins-${randomUUID()}`;
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => service.createCharge(merchant.testKey, { amount: 777 }, key)),
    );
    expect(answers.map((answer) => answer.status)).toEqual(Array.from({ length: 50 }, () => 201));
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect(answers.filter((answer) => answer.headers.get('idempotent-replayed') === null)).toHaveLength(1);
    const id = answers[0]?.body.id.slice(3);
    const [counts] = await service.sql(
      `SELECT (SELECT count(*)::int FROM transactions WHERE amount = 777) AS charges,
              (SELECT count(*)::int FROM events WHERE subject_id = $1) AS events`,
      [id],
    );
    expect(counts).toEqual({ charges: 1, events: 1 });
    const other = await service.createCharge<ErrorAnswer>(merchant.testKey, { amount: 778 }, key);
    expectError(other, 409, 'idempotency_error', 'idempotency_key_reused');
  });

  it('treats the shortcut and the general route as one operation; defaults and order of keys do not matter', async () => {
    const key = `shared-${randomUUID()}`;
    const first = await service.createCharge(
      merchant.testKey,
      { amount: 500, customer: { name: 'A', phone: '11999999999' } },
      key,
    );
    const replay = await service.call('POST', '/v1/pix/charges', {
      key: merchant.testKey,
      headers: { 'Idempotency-Key': key },
      rawBody: '{"customer":{"phone":"11999999999","name":"A"},"currency":"BRL","amount":500}',
    });
    expect(replay.status).toBe(201);
    expect(replay.headers.get('idempotent-replayed')).toBe('true');
    expect(replay.body).toEqual(first.body);
  });

  it('repeats the first answer, even after the charge was paid', async () => {
    const key = `then-${randomUUID()}`;
    const first = await service.createCharge(merchant.testKey, {}, key);
    await service.simulate(merchant.testKey, first.body.id, { event: 'pay' });
    const replay = await service.createCharge(merchant.testKey, {}, key);
    expect(replay.text).toBe(first.text);
  });

  it('separates keys of accounts and modes, and frees a key after a refusal', async () => {
    const key = `scoped-${randomUUID()}`;
    const other = await service.merchant();
    const mine = await service.createCharge(merchant.testKey, {}, key);
    const theirs = await service.createCharge(other.testKey, {}, key);
    expect(theirs.status).toBe(201);
    expect(theirs.body.id).not.toBe(mine.body.id);
    const live = await service.createCharge<ErrorAnswer>(merchant.liveKey, {}, key);
    expectError(live, 422, 'business_error', 'no_provider_configured');
    const refused = `refused-${randomUUID()}`;
    expect((await service.createCharge(merchant.testKey, { amount: 0 }, refused)).status).toBe(400);
    expect((await service.createCharge(merchant.testKey, { amount: 1 }, refused)).status).toBe(201);
  });

  it('frees a key after 24 hours', async () => {
    const key = `old-${randomUUID()}`;
    const first = await service.createCharge(merchant.testKey, {}, key);
    service.clock.advance(24 * 3600 + 1);
    const again = await service.createCharge(merchant.testKey, { amount: 5 }, key);
    expect(again.status).toBe(201);
    expect(again.body.id).not.toBe(first.body.id);
    await service.get(Retention).remove('idempotency_keys');
    const left = await service.sql('SELECT 1 FROM idempotency_keys WHERE expires_at <= $1', [service.clock.now()]);
    expect(left).toHaveLength(0);
  });

  it.each([0, 1_100, 2_500])('refuses two keys in one request, with %i headers between them', async (others) => {
    const keys = [`one-${randomUUID()}`, `two-${randomUUID()}`];
    const status = await new Promise<[number | undefined, string]>((resolve, reject) => {
      const between = Array.from({ length: others }, () => ['a', '']).flat();
      const headers = [
        ...['apikey', merchant.testKey, 'content-type', 'application/json', 'host', new URL(service.url).host],
        ...['Idempotency-Key', keys[0] ?? '', ...between, 'idempotency-key', keys[1] ?? ''],
        ...['content-length', '38', 'connection', 'close'],
      ];
      const sent = request(`${service.url}/v1/charges`, { method: 'POST', headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('end', () => resolve([response.statusCode, text]));
      });
      sent.on('error', reject);
      sent.end('{"amount":1990,"payment_method":"pix"}');
    });
    expect(status).toEqual([400, expect.stringContaining('Idempotency-Key: must be sent once')]);
  });

  it.each([
    [undefined, 'idempotency_key_required'],
    ['short', 'invalid_request'],
    ['x'.repeat(129), 'invalid_request'],
  ])('answers the key %s with a 400 %s, before it reads the body', async (key, code) => {
    const answer = await service.call<ErrorAnswer>('POST', '/v1/charges', {
      key: merchant.testKey,
      rawBody: '{not json',
      headers: key === undefined ? {} : { 'Idempotency-Key': key },
    });
    expectError(answer, 400, 'invalid_request_error', code);
  });
});

describe('races for a charge', () => {
  it('200 concurrent duplicate notifications of one Pix credit it once', async () => {
    const racer = await service.merchant();
    const { body } = await service.createCharge(racer.testKey);
    const answers = await Promise.all(
      Array.from({ length: 200 }, () =>
        service.simulate(racer.testKey, body.id, { event: 'pay', end_to_end_id: 'E00000000202611211200raceRACE123' }),
      ),
    );
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
    expect((await service.getCharge(racer.testKey, body.id)).body.status).toBe('paid');
    const wallet = await service.call('GET', '/v1/wallets/balance', { key: racer.testKey });
    expect(wallet.body).toMatchObject({ available: 1990 });
  });

  it('different Pix for one charge at once: one is credited, the others are sent back', async () => {
    const racer = await service.merchant();
    const { body } = await service.createCharge(racer.testKey);
    await Promise.all(Array.from({ length: 20 }, () => service.simulate(racer.testKey, body.id, { event: 'pay' })));
    const outcomes = await service.sql(
      'SELECT outcome, count(*)::int AS count FROM settlements WHERE transaction_id = $1 GROUP BY 1 ORDER BY 1',
      [body.id.slice(3)],
    );
    expect(outcomes).toEqual([
      { outcome: 'credited', count: 1 },
      { outcome: 'returned', count: 19 },
    ]);
  });

  it('pay, expire and fail at once: one of them wins, and the ledger follows it', async () => {
    for (let round = 0; round < 10; round++) {
      const racer = await service.merchant();
      const { body } = await service.createCharge(racer.testKey);
      await Promise.all(
        ['pay', 'expire', 'fail', 'pay'].map((event) => service.simulate(racer.testKey, body.id, { event })),
      );
      const { status } = (await service.getCharge(racer.testKey, body.id)).body;
      const wallet = await service.call('GET', '/v1/wallets/balance', { key: racer.testKey });
      expect(wallet.body).toMatchObject({ available: status === 'paid' ? 1990 : 0 });
    }
  });

  it('40 charges of one wallet paid at once are all credited', async () => {
    const racer = await service.merchant({ fee_bps: '333' });
    const charges = await Promise.all(
      Array.from({ length: 40 }, (_, index) => service.createCharge(racer.testKey, { amount: 100 + index })),
    );
    await Promise.all(charges.map(({ body }) => service.simulate(racer.testKey, body.id, { event: 'pay' })));
    const expected = charges.reduce(
      (sum, { body }) => sum + body.amount - Math.floor((body.amount * 333 + 5000) / 10_000),
      0,
    );
    const wallet = await service.call('GET', '/v1/wallets/balance', { key: racer.testKey });
    expect(wallet.body).toMatchObject({ available: expected });
  });
});

describe('isolation of accounts and modes', () => {
  it('shows charges, simulations, wallets and endpoints neither to another account nor in the other mode', async () => {
    const [owner, stranger] = [await service.merchant(), await service.merchant()];
    const receiver = await WebhookReceiver.start();
    const { body: charge } = await service.createCharge(owner.testKey);
    await service.simulate(owner.testKey, charge.id, { event: 'pay' });
    await service.call('POST', '/v1/webhooks/endpoints', {
      key: owner.testKey,
      body: { url: receiver.url, events: ['charge.paid'] },
    });
    for (const key of [stranger.testKey, stranger.liveKey, owner.liveKey]) {
      for (const id of [charge.id, charge.id.slice(3)]) {
        expectError(
          await service.call<ErrorAnswer>('GET', `/v1/charges/${id}`, { key }),
          404,
          'not_found_error',
          'not_found',
        );
        const simulated = await service.call<ErrorAnswer>('POST', `/v1/sandbox/charges/${id}/simulate`, {
          key,
          body: { event: 'expire' },
        });
        expectError(simulated, 404, 'not_found_error', 'not_found');
      }
      expect((await service.call('GET', '/v1/charges', { key })).body).toEqual({
        object: 'list',
        data: [],
        has_more: false,
        next_cursor: null,
      });
      expect((await service.call('GET', '/v1/wallets/balance', { key })).body).toMatchObject({
        available: 0,
        total: 0,
      });
      expect((await service.call('GET', '/v1/wallets', { key })).body).toEqual([
        { currency: 'BRL', walletType: 'OPERATIONAL', balance: 0, pendingBalance: 0 },
      ]);
      expect((await service.call('GET', '/v1/webhooks/endpoints', { key })).body).toEqual({ data: [] });
    }
    // A stranger's event must not reach the owner's endpoint.
    const foreign = await service.createCharge(stranger.testKey);
    await service.simulate(stranger.testKey, foreign.body.id, { event: 'pay' });
    const mine = await service.createCharge(owner.testKey);
    await service.simulate(owner.testKey, mine.body.id, { event: 'pay' });
    const [webhook] = await receiver.waitForType('charge.paid');
    expect(webhook?.body).toMatchObject({ data: { object: { id: mine.body.id } } });
    expect(receiver.received).toHaveLength(1);
    await receiver.stop();
  });
});

describe('the list of charges by cursor', () => {
  let lister: Merchant;
  const ids: string[] = [];

  beforeAll(async () => {
    lister = await service.merchant();
    for (let index = 0; index < 7; index++) {
      const document = index % 2 === 0 ? '52998224725' : '11144477735';
      const { body } = await service.createCharge(lister.testKey, { amount: 100 + index, customer: { document } });
      ids.unshift(body.id);
    }
    await service.simulate(lister.testKey, ids[0] ?? '', { event: 'pay' });
  });

  async function list(
    query: string,
  ): Promise<Answer<{ data: ChargeAnswer[]; has_more: boolean; next_cursor: string }>> {
    return service.call('GET', `/v1/charges${query}`, { key: lister.testKey });
  }

  it('pages newest first without gaps or repetitions', async () => {
    const seen: string[] = [];
    let cursor = '';
    for (let page = 0; page < 4; page++) {
      const answer = await list(`?limit=2${cursor}`);
      seen.push(...answer.body.data.map((charge) => charge.id));
      expect(answer.body.has_more).toBe(page < 3);
      cursor = `&starting_after=${answer.body.next_cursor}`;
    }
    expect(seen).toEqual(ids);
  });

  it('filters by status, customer and time', async () => {
    expect((await list('?status=paid')).body.data.map((charge) => charge.id)).toEqual([ids[0]]);
    expect((await list('?status=pending')).body.data).toHaveLength(6);
    expect((await list('?customer_id=529.982.247-25')).body.data).toHaveLength(4);
    const all = (await list('')).body.data;
    const third = all[2]?.created_at ?? '';
    expect((await list(`?created_after=${third}`)).body.data.every((charge) => charge.created_at >= third)).toBe(true);
    expect((await list(`?created_before=${third}`)).body.data.every((charge) => charge.created_at <= third)).toBe(true);
    const bounded = await list(`?created_after=${third}&created_before=${third}`);
    expect(bounded.body.data.map((charge) => charge.id)).toContain(ids[2]);
  });

  it.each([
    'limit=0',
    'limit=101',
    'limit=x',
    'status=PAID',
    'created_after=yesterday',
    'created_after=2026-W01-1',
    'created_after=20260101T000000Z',
    'created_before=2026-13-01',
    'created_before=2026-01-01T00:00',
    'page=2',
    'offset=3',
    'starting_after=ch_1',
    `starting_after=ch_${randomUUID()}`,
  ])('answers %s with a 400', async (query) => {
    expectError(
      (await list(`?${query}`)) as unknown as Answer<ErrorAnswer>,
      400,
      'invalid_request_error',
      'invalid_request',
    );
  });

  it('answers 503 while the database is away, and does not blame the cursor or the provider', async () => {
    const away = Object.assign(new Error('terminating connection'), { code: '57P01' });
    const charges = jest.spyOn(service.get(TransactionsService), 'get').mockRejectedValueOnce(away);
    const bank = jest.spyOn(service.get(SandboxAcquirer), 'getStatus').mockRejectedValueOnce(away);
    const answers = [
      await list(`?starting_after=${ids[0] ?? ''}`),
      await service.call('GET', `/v1/payments/${ids[0] ?? ''}/provider-status`, { key: lister.testKey }),
    ];
    expect([charges.mock.calls.length, bank.mock.calls.length]).toEqual([1, 1]);
    for (const answer of answers) {
      expectError(answer as unknown as Answer<ErrorAnswer>, 503, 'api_error', 'service_unavailable');
    }
    charges.mockRestore();
    bank.mockRestore();
  });

  it('is a 404 unless it is switched on, whatever a caller with a key sends', async () => {
    const plain = await TestService.start({ database: service.database, env: { RATE_LIMIT: 'on' } });
    try {
      for (const query of [
        '',
        '?limit=1',
        '?limit=0',
        '?page=2',
        '?created_after=x',
        '?starting_after=ch_1',
        '?a=%00',
      ]) {
        for (const key of [lister.testKey, lister.liveKey]) {
          const answer = await plain.call<ErrorAnswer>('GET', `/v1/charges${query}`, { key });
          expectError(answer, 404, 'not_found_error', 'not_found');
          // The request counts like any other: the rate limit comes first.
          expect(answer.headers.get('ratelimit-remaining')).not.toBeNull();
        }
        for (const key of [undefined, 'ak_test_nobody']) {
          const stranger = await plain.call<ErrorAnswer>(
            'GET',
            `/v1/charges${query}`,
            key === undefined ? {} : { key },
          );
          expectError(stranger, 401, 'authentication_error', 'unauthorized');
        }
      }
    } finally {
      await plain.stop();
    }
  });
});

describe('dates in requests', () => {
  let operator: Person;
  let owner: string;

  beforeAll(async () => {
    operator = await service.operator();
    owner = await service.login(merchant.ownerEmail);
  });

  /** Every route that takes a date, and where. */
  const lists: [path: string, caller: 'key' | 'owner' | 'operator', from: string, to: string][] = [
    ['/v1/payments', 'key', 'startDate', 'endDate'],
    ...(['/v1/charges', '/v1/med/cases', '/v1/infractions'] as const).map(
      (path) => [path, 'key', 'created_after', 'created_before'] as [string, 'key', string, string],
    ),
    ...(['/v1/request-logs', '/v1/audit-events'] as const).map(
      (path) => [path, 'owner', 'created_after', 'created_before'] as [string, 'owner', string, string],
    ),
    ...(['accounts', 'reviews', 'unmatched', 'fraud-hits', 'med', 'med/waiting'] as const).map(
      (path) =>
        [`/v1/operations/${path}`, 'operator', 'created_after', 'created_before'] as [
          string,
          'operator',
          string,
          string,
        ],
    ),
  ];
  const NONE = [
    '2026-02-30',
    '2026-02-30T10:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T10:00:60Z',
    '2026-01-01T10:00',
  ];
  const credentials = (caller: 'key' | 'owner' | 'operator'): { key?: string; token?: string } =>
    caller === 'key' ? { key: merchant.testKey } : { token: caller === 'owner' ? owner : operator.token };

  it.each(lists)('%s accepts only dates of the calendar', async (path, caller, from, to) => {
    for (const param of [from, to]) {
      for (const date of [...NONE, '2026-01-01T10:00:00+14:01', '0000-01-01', '']) {
        const query = new URLSearchParams({ [param]: date }).toString();
        const answer = await service.call<ErrorAnswer>('GET', `${path}?${query}`, credentials(caller));
        expectError(answer, 400, 'invalid_request_error', 'invalid_request');
        expect(answer.body.error.param).toBe(param);
      }
    }
    for (const [start, end] of [
      ['0001-01-01', '9999-12-31'],
      ['0001-01-01T00:00:00+14:00', '9999-12-31T23:59:59.999999999-14:00'],
      ['2028-02-29', '2028-02-29T23:59:59.999Z'],
    ] as const) {
      const query = new URLSearchParams({ [from]: start, [to]: end }).toString();
      const answer = await service.call('GET', `${path}?${query}`, credentials(caller));
      expect([query, answer.status]).toEqual([query, 200]);
    }
  });

  it.each(NONE)('a body with %s is refused', async (date) => {
    const { body: charge } = await service.createCharge(merchant.testKey);
    await service.simulate(merchant.testKey, charge.id, { event: 'pay' });
    const deadline = await service.simulate(merchant.testKey, charge.id, {
      event: 'med_open',
      response_deadline: date,
    });
    expect([deadline.status, (deadline.body as unknown as ErrorAnswer).error.param]).toEqual([
      400,
      'response_deadline',
    ]);
    const since = await service.call<ErrorAnswer>('POST', `/v1/webhooks/endpoints/${randomUUID()}/recover`, {
      key: merchant.testKey,
      body: { since: date },
    });
    expect([since.status, since.body.error.param]).toEqual([400, 'since']);
  });

  it('a day means all of it in São Paulo: inclusive bounds include it, exclusive ones leave it out', async () => {
    const { testKey: key, accountId, ownerEmail } = await service.merchant();
    // 01:30 in UTC is 22:30 of the day before in São Paulo.
    const now = service.clock.now();
    const utc = new Date(now.getTime() + 86_400_000).toISOString().slice(0, 10);
    service.clock.advance((Date.parse(`${utc}T01:30:00Z`) - now.getTime()) / 1000);
    const day = (ahead: number): string =>
      new Date(Date.parse(utc) + (ahead - 1) * 86_400_000).toISOString().slice(0, 10);
    const { body: charge } = await service.createCharge(key);
    await service.simulate(key, charge.id, { event: 'pay' });
    await service.simulate(key, charge.id, { event: 'med_open', response_deadline: day(7) });
    const token = await service.login(ownerEmail);
    await service.call('POST', '/v1/members', { token, body: { email: `m-${accountId}@example.com`, role: 'MEMBER' } });

    const count = async (path: string, query: Record<string, string>, by: object = { key }): Promise<boolean> => {
      const { body } = await service.call<{ data: unknown[] }>(
        'GET',
        `${path}?${new URLSearchParams(query).toString()}`,
        by,
      );
      return body.data.length > 0;
    };
    const inclusive: [path: string, from: string, to: string, by: object][] = [
      ['/v1/payments', 'startDate', 'endDate', { key }],
      ['/v1/charges', 'created_after', 'created_before', { key }],
      ['/v1/audit-events', 'created_after', 'created_before', { token }],
    ];
    for (const [path, from, to, by] of inclusive) {
      // Objects made before the clock was moved belong to an earlier day.
      expect([path, await count(path, { [from]: day(0), [to]: day(0) }, by)]).toEqual([path, true]);
      expect([path, await count(path, { [from]: day(1) }, by)]).toEqual([path, false]);
      expect([path, await count(path, { [from]: day(0), [to]: `${day(0)}T23:59:59.999-03:00` }, by)]).toEqual([
        path,
        true,
      ]);
    }
    expect(await count('/v1/payments', { endDate: day(-1) })).toBe(false);
    const cases = '/v1/med/cases';
    expect(await count(cases, { created_after: day(-1), created_before: day(1) })).toBe(true);
    expect(await count(cases, { created_after: day(0) })).toBe(false);
    expect(await count(cases, { created_before: day(0) })).toBe(false);
    const { body: found } = await service.call<{ data: { response_deadline: string }[] }>('GET', cases, { key });
    expect(found.data[0]?.response_deadline).toBe(`${day(8)}T02:59:59.999Z`);
  });
});

describe('bad input and the error envelope', () => {
  it('lists all violations at once', async () => {
    const answer = await service.createCharge<ErrorAnswer>(merchant.testKey, {
      amount: 12.5,
      currency: 'USD',
      payment_method: 'card',
      description: 'x'.repeat(501),
      expires_in: 59,
      customer: { document: '1', email: 'nobody', extra: 1 },
      metadata: [1],
      foo: 1,
    });
    expectError(answer, 400, 'invalid_request_error', 'invalid_request');
    expect([...new Set(answer.body.error.details?.map((detail) => detail.param))].sort()).toEqual([
      'amount',
      'currency',
      'customer.document',
      'customer.email',
      'customer.extra',
      'description',
      'expires_in',
      'foo',
      'metadata',
      'payment_method',
    ]);
  });

  it.each(['é@example.com', 'maria@exa mple.com', 'Maria <maria@example.com>', 'maria@example.com, b@example.com'])(
    '%s is refused as an e-mail, since it would get no receipt',
    async (email) => {
      const charge = await service.createCharge<ErrorAnswer>(merchant.testKey, { customer: { email } });
      expectError(charge, 400, 'invalid_request_error', 'invalid_request');
      expect(charge.body.error.param).toBe('customer.email');
      const body = { amount: 100, paymentMethods: ['PIX'], idempotencyKey: randomUUID(), customerEmail: email };
      const payment = await service.call<ErrorAnswer>('POST', '/v1/payments', { key: merchant.testKey, body });
      expectError(payment, 400, 'invalid_request_error', 'invalid_request');
      expect(payment.body.error.param).toBe('customerEmail');
    },
  );

  it.each([
    ['0', 0],
    ['negative', -1],
    ['text', '100'],
    ['fraction', 0.1],
    ['too large', 1_000_000_000_000],
    ['beyond 2^53', 2 ** 60],
    ['null', null],
    ['true', true],
    ['missing', undefined],
  ])('an amount is refused when it is %s', async (_name, amount) => {
    const answer = await service.createCharge<ErrorAnswer>(merchant.testKey, { amount });
    expectError(answer, 400, 'invalid_request_error', 'invalid_request');
    expect(answer.body.error.param).toBe('amount');
  });

  it('the largest amount and the longest window are accepted; a larger window is capped', async () => {
    const answer = await service.createCharge(merchant.testKey, { amount: 999_999_999_999, expires_in: 1_000_000 });
    expect(answer.status).toBe(201);
    const { created_at, pix } = answer.body;
    expect(new Date(pix.expires_at).getTime() - new Date(created_at).getTime()).toBe(86_400_000);
  });

  const json = { 'Idempotency-Key': 'bad-input-key' };
  it.each<[string, { rawBody: string | Buffer; headers?: Record<string, string> }, number, string]>([
    ['malformed JSON', { rawBody: '{"amount":' }, 400, 'invalid_request'],
    ['an array', { rawBody: '[]' }, 400, 'invalid_request'],
    ['a text', { rawBody: '"x"' }, 400, 'invalid_request'],
    ['null', { rawBody: 'null' }, 400, 'invalid_request'],
    ['nothing', { rawBody: '' }, 400, 'invalid_request'],
    [
      'broken UTF-8',
      { rawBody: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]) },
      400,
      'invalid_request',
    ],
    ['XML', { rawBody: '<a/>', headers: { 'content-type': 'application/xml' } }, 415, 'unsupported_media_type'],
    [
      'a form',
      { rawBody: 'a=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      415,
      'unsupported_media_type',
    ],
    ['a broken content type', { rawBody: '{}', headers: { 'content-type': ';;' } }, 415, 'unsupported_media_type'],
    ['a body over 64 KiB', { rawBody: `{"a":"${'x'.repeat(70_000)}"}` }, 413, 'payload_too_large'],
    ['__proto__', { rawBody: '{"amount":1,"payment_method":"pix","__proto__":{"x":1}}' }, 400, 'invalid_request'],
    [
      '__proto__ deeper in metadata',
      { rawBody: '{"amount":1,"payment_method":"pix","metadata":{"a":{"__proto__":1}}}' },
      400,
      'invalid_request',
    ],
    [
      'constructor as an object',
      { rawBody: '{"amount":{"constructor":1},"payment_method":"pix"}' },
      400,
      'invalid_request',
    ],
    [
      'a NUL byte',
      { rawBody: '{"amount":1,"payment_method":"pix","description":"a\\u0000b"}' },
      400,
      'invalid_request',
    ],
    [
      'a lone surrogate',
      { rawBody: '{"amount":1,"payment_method":"pix","metadata":{"a":"\\ud800"}}' },
      400,
      'invalid_request',
    ],
    [
      'one for an e-mail address',
      { rawBody: '{"amount":1,"payment_method":"pix","customer":{"email":"\\ud800"}}' },
      400,
      'invalid_request',
    ],
    [
      'one in an e-mail address',
      { rawBody: '{"amount":1,"payment_method":"pix","customer":{"email":"a\\udc00@x.example"}}' },
      400,
      'invalid_request',
    ],
    [
      'deep nesting',
      { rawBody: `{"amount":1,"payment_method":"pix","metadata":${'{"a":'.repeat(6)}1${'}'.repeat(6)}}` },
      400,
      'invalid_request',
    ],
    ['nesting to the sky', { rawBody: `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}` }, 400, 'invalid_request'],
    [
      'a description of 500 letters and 500 blanks',
      { rawBody: `{"amount":1,"payment_method":"pix","description":"${'x'.repeat(500)}${' '.repeat(500)}"}` },
      400,
      'invalid_request',
    ],
    [
      'metadata over 16 KiB',
      { rawBody: `{"amount":1,"payment_method":"pix","metadata":{"a":"${'x'.repeat(17_000)}"}}` },
      400,
      'invalid_request',
    ],
    [
      'metadata of 501 values',
      { rawBody: `{"amount":1,"payment_method":"pix","metadata":{"a":[${'{},'.repeat(499)}{}]}}` },
      400,
      'invalid_request',
    ],
  ])('a request is refused for: %s', async (_name, request, status, code) => {
    const before = await service.sql('SELECT count(*)::int AS n FROM transactions');
    const answer = await service.call<ErrorAnswer>('POST', '/v1/charges', {
      key: merchant.testKey,
      ...request,
      headers: { ...json, ...request.headers },
    });
    expectError(answer, status, 'invalid_request_error', code);
    expect(await service.sql('SELECT count(*)::int AS n FROM transactions')).toEqual(before);
  });

  it('metadata with names of JavaScript built-ins is stored unchanged', async () => {
    const metadata = {
      constructor: { x: 1 },
      toString: 'a',
      hasOwnProperty: null,
      then: 1,
      length: [1, { valueOf: 2 }],
    };
    const answer = await service.createCharge(merchant.testKey, { metadata, customer: { name: '日本 🎉 عربى' } });
    expect(answer.status).toBe(201);
    expect(answer.body.metadata).toEqual(metadata);
    expect((await service.getCharge(merchant.testKey, answer.body.id)).body.metadata).toEqual(metadata);
  });

  it.each([
    'ch_',
    'x',
    `ch_${'0'.repeat(36)}`,
    'CH_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12',
    '%00',
    'a'.repeat(500),
    '..%2f..',
    `ch_${randomUUID()}`,
    'tx_x',
  ])('the id %s gets a 404', async (id) => {
    expectError(
      await service.call<ErrorAnswer>('GET', `/v1/charges/${id}`, { key: merchant.testKey }),
      404,
      'not_found_error',
      'not_found',
    );
  });

  it('an unknown route or a malformed address gets the error envelope', async () => {
    expectError(await service.call<ErrorAnswer>('GET', '/v1/nothing'), 404, 'not_found_error', 'not_found');
    expectError(await service.call<ErrorAnswer>('DELETE', '/v1/charges'), 404, 'not_found_error', 'not_found');
    const bad = await service.call<ErrorAnswer>('GET', '/v1/charges/%zz');
    expect(bad.status).toBeLessThan(500);
    expect(bad.body.request_id).toBe(bad.headers.get('x-request-id'));
  });

  it('a live key cannot simulate, and a wrong event gets the list of the right ones', async () => {
    const { body } = await service.createCharge(merchant.testKey);
    const answer = await service.call<ErrorAnswer>('POST', `/v1/sandbox/charges/${body.id}/simulate`, {
      key: merchant.testKey,
      body: { event: 'explode' },
    });
    expectError(answer, 400, 'invalid_request_error', 'invalid_request');
    expect(answer.body.error.message).toContain('pay, expire, fail');
  });
});

describe('authentication and request ids', () => {
  it.each([undefined, '', 'ak_test_', 'x', `ak_test_${'A'.repeat(32)}`, `ak_live_${'A'.repeat(32)}`])(
    'answers the key %s with a 401 that reveals nothing about the body',
    async (key) => {
      const answer = await service.call<ErrorAnswer>('POST', '/v1/charges', {
        ...(key === undefined ? {} : { key }),
        rawBody: `{broken ${'x'.repeat(300_000)}`,
        headers: { 'content-type': 'text/plain' },
      });
      expectError(answer, 401, 'authentication_error', 'unauthorized');
    },
  );

  it('keeps a request id of the right form, and replaces any other', async () => {
    const mine = await service.call('GET', '/v1/wallets', {
      key: merchant.testKey,
      headers: { 'X-Request-Id': 'my-request_0001' },
    });
    expect(mine.headers.get('x-request-id')).toBe('my-request_0001');
    for (const bad of ['short', 'with space in it', 'x'.repeat(129)]) {
      const answer = await service.call('GET', '/v1/nothing', { headers: { 'X-Request-Id': bad } });
      expect(answer.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
    }
  });

  it.each([
    ['a key twice', '{"amount":1990,"payment_method":"pix","amount":1}', 'amount', 'duplicate_key'],
    [
      'a key twice in metadata',
      '{"amount":1,"payment_method":"pix","metadata":{"a":{"b":1,"b":1}}}',
      'metadata.a.b',
      'duplicate_key',
    ],
    [
      'an amount with too many digits',
      '{"amount":1990.00000000000000000001,"payment_method":"pix"}',
      'amount',
      'inexact_number',
    ],
    [
      'a number in metadata',
      '{"amount":1,"payment_method":"pix","metadata":{"id":9007199254740993}}',
      'metadata.id',
      'inexact_number',
    ],
    [
      'a number too large',
      '{"amount":1,"payment_method":"pix","metadata":{"list":[0,1e400]}}',
      'metadata.list.1',
      'inexact_number',
    ],
  ])('answers %s with a 400 that names it', async (_what, rawBody, param, code) => {
    const answer = await service.call<ErrorAnswer>('POST', '/v1/charges', {
      key: merchant.testKey,
      headers: { 'Idempotency-Key': randomUUID() },
      rawBody,
    });
    expectError(answer, 400, 'invalid_request_error', 'invalid_request');
    expect(answer.body.error.details).toEqual([{ param, code, message: expect.any(String) }]);
  });

  it('refuses null where it would change money or who may pay, unlike a field that was left out', async () => {
    const locked = await service.merchant({ payer_lock: 'true' });
    const customer = { name: 'Maria da Silva' };
    // A name without a visible character is no name: the payer lock needs one.
    for (const name of ['\u200b', '\u2060', '\u00ad', '\u2800', '\u3164', '\u202e', '\u200b'.repeat(200)]) {
      const nameless = { customer: { name }, expected_payer_tax_id: '52998224725' };
      const answer = await service.createCharge<ErrorAnswer>(locked.testKey, nameless);
      expectError(answer, 400, 'invalid_request_error', 'invalid_request');
      expect(answer.body.error.param).toBe('customer.name');
    }
    const lock = await service.createCharge<ErrorAnswer>(locked.testKey, { customer, expected_payer_tax_id: null });
    expectError(lock, 400, 'invalid_request_error', 'invalid_request');
    expect(lock.body.error.param).toBe('expected_payer_tax_id');

    const charge = await service.createCharge(merchant.testKey, { amount: 1000 });
    await service.simulate(merchant.testKey, charge.body.id, { event: 'pay' });
    const path = `/v1/payments/${charge.body.id}/refund`;
    for (const field of ['amount', 'strategy', 'destinationKey', 'passFeeToTenant']) {
      const body = { idempotencyKey: randomUUID(), amount: 100, [field]: null };
      const refused = await service.call<ErrorAnswer>('POST', path, { key: merchant.testKey, body });
      expectError(refused, 400, 'invalid_request_error', 'invalid_request');
      expect(refused.body.error.param).toBe(field);
    }
    const list = await service.call(`GET`, `/v1/payments/${charge.body.id}/refunds`, { key: merchant.testKey });
    expect(list.body).toMatchObject({ data: [], total: 0 });
  });

  it('lets a balance grow to 2^53 - 1 and be read, and refuses any amount beyond', async () => {
    const rich = await service.merchant();
    const rest = Number.MAX_SAFE_INTEGER - 1990;
    const corrections = service.get(CorrectionsService);
    await service.get(Database).transaction(async (tx) => {
      const found = { kind: 'loss', amount: -rest, borneBy: 'merchant', currency: 'BRL', mode: 'test' } as const;
      const why = { reason: 'The bank has found it', idempotencyKey: randomUUID(), bankReference: null };
      const scope = { accountId: rich.accountId, transactionId: null, acquirer: null, invoiceMonth: null };
      const { correction } = await corrections.request(tx, { ...found, ...why, ...scope }, randomUUID());
      await corrections.approve(tx, correction.id, randomUUID());
    });
    const pay = async (amount: number): Promise<Answer<ErrorAnswer>> => {
      const { body } = await service.createCharge(rich.testKey, { amount });
      return service.call<ErrorAnswer>('POST', `/v1/sandbox/charges/${body.id}/simulate`, {
        key: rich.testKey,
        body: { event: 'pay' },
      });
    };
    expect((await pay(1990)).status).toBe(200);
    const refused = await pay(1);
    expectError(refused, 400, 'invalid_request_error', 'invalid_request');
    expect(refused.body.error.message).toContain('9007199254740991');
    const balance = await service.call('GET', '/v1/wallets/balance', { key: rich.testKey });
    expect(balance.body).toMatchObject({ available: Number.MAX_SAFE_INTEGER, total: Number.MAX_SAFE_INTEGER });
    const stats = await service.call('GET', '/v1/payments/stats', { key: rich.testKey });
    expect(stats.body).toMatchObject({ totalTransactions: 2, paidTransactions: 1 });
  });

  it('limits the rate per account and mode, with headers', async () => {
    const limited = await TestService.start({
      database: service.database,
      stillLimits: true,
      env: { RATE_LIMIT: 'on', RATE_LIMIT_RATE: '1', RATE_LIMIT_BURST: '3' },
    });
    const user = await limited.merchant();
    const answers: Answer<ErrorAnswer>[] = [];
    for (let index = 0; index < 5; index++)
      answers.push(await limited.call('GET', '/v1/wallets', { key: user.testKey }));
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 429, 429]);
    expect(answers[0]?.headers.get('ratelimit-limit')).toBe('3');
    expect(answers[0]?.headers.get('ratelimit-remaining')).toBe('2');
    expect(Number(answers[0]?.headers.get('ratelimit-reset'))).toBeGreaterThan(0);
    const refused = answers[4];
    if (!refused) throw new Error('unreachable');
    expectError(refused, 429, 'rate_limit_error', 'rate_limited');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await limited.call('GET', '/v1/wallets', { key: user.liveKey })).status).toBe(200);
    await limited.stop();
  });

  it('takes a token for each started 16 KiB of a body, counted from its headers', async () => {
    const limited = await TestService.start({
      database: service.database,
      stillLimits: true,
      env: { RATE_LIMIT: 'on', RATE_LIMIT_RATE: '1', RATE_LIMIT_BURST: '100' },
    });
    const { testKey: key } = await limited.merchant();
    const left = async (bytes: number): Promise<number> => {
      const rawBody = '{}'.padEnd(bytes);
      const answer = await limited.call('POST', '/v1/sandbox/charges/nobody/simulate', { key, rawBody });
      expect(answer.headers.get('cache-control')).toBe('no-store');
      return Number(answer.headers.get('ratelimit-remaining'));
    };
    expect([await left(2), await left(16_384), await left(16_385), await left(65_536)]).toEqual([99, 98, 96, 92]);
    expect(await left(200_000)).toBe(88);
    // Each hundred values in the body cost one more token once the body is read: the next request has fewer left.
    const rawBody = `{"a":[${'{},'.repeat(498)}{}]}`;
    await limited.call('POST', '/v1/sandbox/charges/nobody/simulate', { key, rawBody });
    expect(await left(2)).toBe(88 - 1 - 5 - 1);
    await limited.stop();
  });

  it('limits the bytes an account sends per day in test mode, with a kilobyte for each request beside its body', async () => {
    const limited = await TestService.start({
      database: service.database,
      stillLimits: true,
      env: { RATE_LIMIT: 'on', TEST_MODE_MB_PER_DAY: '1' },
    });
    try {
      const { testKey: key, liveKey } = await limited.merchant();
      const write = (as: string): Promise<Answer<ErrorAnswer>> =>
        limited.call('POST', '/v1/webhooks/verify', { key: as, rawBody: '{}'.padEnd(60_000) });
      const answers: Answer<ErrorAnswer>[] = [];
      for (let n = 0; n < 18; n++) answers.push(await write(key));
      // 17 times 61 024 of 1 048 576 bytes.
      expect(answers.map(({ status }) => status)).toEqual([...Array<number>(17).fill(400), 429]);
      const refused = answers[17];
      if (!refused) throw new Error('unreachable');
      expectError(refused, 429, 'rate_limit_error', 'rate_limited');
      expect(refused.body.error.message).toContain("day's data of test mode");
      // The missing budget returns within the day.
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(600);
      expect(Number(refused.headers.get('retry-after'))).toBeLessThan(5_100);
      expect((await limited.call('GET', '/v1/wallets', { key })).status).toBe(200);
      expect((await write(liveKey)).status).toBe(400);
    } finally {
      await limited.stop();
    }
  });

  it('takes a token for every five deliveries that a request makes', async () => {
    const limited = await TestService.start({
      database: service.database,
      stillLimits: true,
      env: { RATE_LIMIT: 'on', RATE_LIMIT_RATE: '1', RATE_LIMIT_BURST: '10000' },
    });
    try {
      const { testKey: key } = await limited.merchant();
      const left = async (): Promise<number> =>
        Number((await limited.call('GET', '/v1/wallets', { key })).headers.get('ratelimit-remaining'));
      const events = ['*', 'payment.created', 'payment.completed', 'payment.status_changed'];
      for (let n = 0; n < 20; n++) {
        const body = { url: `http://127.0.0.1:9/${n}`, events };
        expect((await limited.call('POST', '/v1/webhooks/endpoints', { key, body })).status).toBe(201);
      }
      const before = await left();
      await limited.createCharge(key);
      // Forty deliveries: charge.created and payment.created to each of twenty endpoints. The charge for
      // them comes a moment later: eight tokens, beside one for the create and one for each question.
      let questions = 0;
      await waitFor('the deliveries to be charged', async () => {
        questions += 1;
        return (await left()) <= before - 1 - questions - 8;
      });
    } finally {
      await limited.stop();
    }
  });

  it('limits public routes by address, also when nothing is found', async () => {
    const limited = await TestService.start({
      database: service.database,
      stillLimits: true,
      env: { RATE_LIMIT: 'on', RATE_LIMIT_PUBLIC_PER_MINUTE: '1', RATE_LIMIT_AUTH_FAILURES_PER_MINUTE: '3' },
    });
    try {
      for (const [method, path, times] of [
        ['GET', '/', 10],
        ['GET', '/health/live', 10],
        ['GET', '/storage/objects/nobody/nothing', 10],
        ['PUT', '/storage/uploads/nobody', 10],
        ['GET', '/health/ready', 20],
        ['GET', '/v1/dashboard/test/auth/session', 3],
      ] as const) {
        const begun = performance.now();
        const statuses: number[] = [];
        for (let n = 0; n <= times; n++) statuses.push((await limited.call(method, path)).status);
        expect({ path, refused: statuses.indexOf(429) }).toEqual({ path, refused: times });
        // A refused caller waits for the refusal.
        expect(performance.now() - begun).toBeGreaterThan(95);
      }
    } finally {
      await limited.stop();
    }
  });

  it('takes more tokens for large answers, for sorting and for long windows', async () => {
    const limited = await TestService.start({
      database: service.database,
      stillLimits: true,
      env: { RATE_LIMIT: 'on', RATE_LIMIT_RATE: '1', RATE_LIMIT_BURST: '100' },
    });
    try {
      const { testKey: key } = await limited.merchant();
      // An answer of 40 KB costs two tokens beyond its first 16 KiB.
      for (let n = 0; n < 3; n++) await limited.createCharge(key, { metadata: { text: 'x'.repeat(13_000) } });
      const left = async (path: string, as = key): Promise<number> => {
        const answer = await limited.call('GET', path, { key: as });
        expect(answer.status).toBe(200);
        return Number(answer.headers.get('ratelimit-remaining'));
      };
      expect(await left('/v1/payments')).toBe(96);
      expect(await left('/v1/payments?limit=1')).toBe(93);
      const { testKey: other } = await limited.merchant();
      expect(await left('/v1/payments', other)).toBe(99);
      expect(await left('/v1/payments?sortBy=createdAt&sortOrder=asc', other)).toBe(98);
      expect(await left('/v1/payments?sortBy=metadata', other)).toBe(87);
      expect(await left('/v1/payments/stats?days=3660', other)).toBe(50);
      expect(await left('/v1/payments/metrics?days=99', other)).toBe(49);
    } finally {
      await limited.stop();
    }
  });

  it('limits the rate of a live key on sandbox routes before refusing it', async () => {
    const limited = await TestService.start({
      database: service.database,
      stillLimits: true,
      env: { RATE_LIMIT: 'on', RATE_LIMIT_RATE: '1', RATE_LIMIT_BURST: '3' },
    });
    try {
      const { liveKey, testKey } = await limited.merchant();
      const answers: Answer<ErrorAnswer>[] = [];
      for (let index = 0; index < 5; index++) {
        const path = '/v1/sandbox/charges/nobody/simulate';
        answers.push(await limited.call('POST', path, { key: liveKey, body: { event: 'pay' } }));
      }
      expect(answers.map(({ status, body }) => `${status} ${body.error.code}`)).toEqual([
        ...Array<string>(3).fill('404 not_found'),
        ...Array<string>(2).fill('429 rate_limited'),
      ]);
      // This limit belongs to live mode alone.
      expect((await limited.call('GET', '/v1/wallets', { key: testKey })).status).toBe(200);
    } finally {
      await limited.stop();
    }
  });

  it('answers on health, readiness and metrics', async () => {
    expect((await service.call('GET', '/health/live')).body).toEqual({ status: 'up' });
    const ready = await service.call('GET', '/health/ready');
    expect(ready.status).toBe(200);
    expect(ready.body).toEqual({ status: 'up', database: 'up', queue: 'up', storage: 'up' });
    const metrics = await service.call('GET', '/metrics');
    expect(metrics.text).toContain('recebe_http_request_duration_seconds_bucket');
    expect(metrics.text).toContain('recebe_outbox_pending');
    expect(metrics.text).toContain('recebe_releases_overdue 0');
  });
});
