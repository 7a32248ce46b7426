import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Ajv, type ValidateFunction } from 'ajv';
import { Secret, TOTP } from 'otpauth';
import { ConnectionsService } from '../../../src/acquirers/index.js';
import { SecretBox } from '../../../src/core/crypto/index.js';
import { signatureHeader } from '../../../src/webhooks/sending/signature.js';
import {
  anUpload,
  complete,
  type EvidenceAnswer,
  png,
  requestUpload,
  type TicketAnswer,
} from '../../support/evidence.js';
import { aDisputedCharge, answerCase, medQueue } from '../../support/med.js';
import { aPaymentLink, createLink, pathOf, sendForm } from '../../support/payment-links.js';
import { aFundedMerchant, aPayout, payoutOf, requestPayout, simulatePayout } from '../../support/payouts.js';
import { closed, type Documented, readDocument, type ResponseDoc } from '../../support/openapi.js';
import { type Answer, type ChargeAnswer, type Merchant, PASSWORD, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';
import { claimsOf } from '../../support/tokens.js';

/** A picture by its first bytes. */
const PICTURE = `data:image/png;base64,${Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').toString('base64')}`;

/** A schedule to a destination that no account has. */
const UNKNOWN_SCHEDULE = {
  ...{ every: 'day', at: '18:30', leave: 0, minimum: 1 },
  destination: 'pd_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12',
};

describe('answers follow the OpenAPI document', () => {
  // Both flags change answers: the list exists, and rate limits are counted and shown.
  const service = TestService.forSpec({
    env: {
      CHARGE_LIST_ENABLED: 'true',
      RATE_LIMIT: 'on',
      RATE_LIMIT_RATE: '1000',
      RATE_LIMIT_BURST: '100000',
      RATE_LIMIT_AUTH_FAILURES_PER_MINUTE: '1000',
      RATE_LIMIT_LOGIN_PER_15_MINUTES: '1000',
    },
  });
  let merchant: Merchant;
  let operations: Documented['operations'];
  let validators: Ajv;
  let charge: ChargeAnswer;
  const seen = new Set<string>();

  beforeAll(async () => {
    merchant = await service.merchant({ payer_lock: 'true', release_days: '1' });
    const documented = await readDocument(service);
    operations = documented.operations;
    validators = new Ajv({
      strict: false,
      allErrors: true,
      formats: {
        'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
        date: /^\d{4}-\d\d-\d\d$/,
        uri: (text: string) => URL.canParse(text),
        uuid: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
        binary: true,
        password: true,
      },
    });
    validators.addSchema(closed(documented.document), 'openapi');
    const created = await service.createCharge(merchant.testKey, {
      description: 'Order 1042',
      customer: {
        name: 'Maria da Silva',
        document: '529.982.247-25',
        email: 'maria@example.com',
        phone: '+5511987654321',
      },
      expected_payer_tax_id: '52998224725',
      metadata: { order: { id: 1042 } },
    });
    charge = created.body;
  });

  function documented(id: string, status: number): ResponseDoc {
    const operation = operations.find((candidate) => candidate.operation.operationId === id)?.operation;
    const response = operation?.responses[String(status)];
    if (!response) throw new Error(`${id} does not document ${status}`);
    return response;
  }

  /** Checks an answer against its documentation: status, content type, headers and body. */
  function keeps(id: string, answer: Answer<unknown>): void {
    seen.add(`${id} ${answer.status}`);
    const response = documented(id, answer.status);
    const type = (answer.headers.get('content-type') ?? '').split(';')[0] ?? '';
    const types = Object.keys(response.content ?? {}).map((known) => (known === '*/*' ? type : known));
    expect({ id, status: answer.status, types }).toEqual({
      id,
      status: answer.status,
      types: types.length === 0 && answer.text === '' ? [] : expect.arrayContaining([type]),
    });
    const missing = Object.keys(response.headers ?? {}).filter(
      (name) => !isOccasional(name, answer.status) && answer.headers.get(name) === null,
    );
    expect({ id, status: answer.status, missing }).toEqual({ id, status: answer.status, missing: [] });
    if (type !== 'application/json') return;
    const schema = response.content?.[type]?.schema ?? {};
    const local = JSON.stringify(closed(schema)).replaceAll('"#/', '"openapi#/');
    const { error } = answer.body as { error?: { code: string; type: string } };
    const example = error && (response.content?.[type]?.examples?.[error.code]?.value as { error: object } | undefined);
    if (error) expect({ id, ...error, ...example?.error }).toMatchObject({ id, code: error.code, type: error.type });
    const validate: ValidateFunction = validators.compile(JSON.parse(local) as object);
    expect({ id, status: answer.status, valid: validate(answer.body), errors: validate.errors }).toEqual({
      id,
      status: answer.status,
      valid: true,
      errors: null,
    });
  }

  /**
   * Returns whether only some answers of the status carry the header. Only replays are marked, a proof is sent on
   * request only, and a 409 has `Retry-After` only if a retry can succeed.
   */
  function isOccasional(header: string, status: number): boolean {
    return ['Idempotent-Replayed', 'X-Callback-Proof'].includes(header) || (header === 'Retry-After' && status === 409);
  }

  const key = (): string => merchant.testKey;
  const write = (body: unknown, idempotencyKey: string, path = '/v1/charges'): Promise<Answer> =>
    service.call('POST', path, { key: key(), body, headers: { 'Idempotency-Key': idempotencyKey } });

  it('when a charge is created', async () => {
    const body = { amount: 1990, payment_method: 'pix' };
    for (const [id, path] of [
      ['createCharge', '/v1/charges'],
      ['createPixCharge', '/v1/pix/charges'],
    ] as const) {
      const first = await write(body, `openapi-${id}`, path);
      keeps(id, first);
      expect(first.status).toBe(201);
      keeps(id, await write(body, `openapi-${id}`, path));
      keeps(id, await write({ ...body, amount: 1 }, `openapi-${id}`, path));
      keeps(id, await write({ amount: 0, nonsense: {}, customer: { document: 1 } }, `openapi-${id}-bad`, path));
      keeps(id, await service.call('POST', path, { key: key(), body }));
      keeps(id, await service.call('POST', path, { body }));
      const headers = { 'Idempotency-Key': `openapi-${id}-media`, 'content-type': 'text/plain' };
      keeps(id, await service.call('POST', path, { key: key(), rawBody: 'x', headers }));
      keeps(id, await write({ ...body, description: 'x'.repeat(300_000) }, `openapi-${id}-large`, path));
      keeps(
        id,
        await service.call('POST', path, {
          key: merchant.liveKey,
          body,
          headers: { 'Idempotency-Key': `openapi-${id}` },
        }),
      );
    }
  });

  it('when charges are read, in every state that a test can reach', async () => {
    const make = async (body = {}): Promise<string> =>
      (await service.createCharge(key(), { customer: { name: 'Maria' }, ...body })).body.id;
    const lock = { expected_payer_tax_id: '52998224725' };
    const simulations: [string, Record<string, unknown>][] = [
      [await make(), { event: 'pay' }],
      [await make(), { event: 'expire' }],
      [await make(), { event: 'fail' }],
      [await make(lock), { event: 'pay', payer_document: '11144477735' }],
      [await make(lock), { event: 'pay', payer_document: null }],
    ];
    for (const [id, event] of simulations) {
      keeps('simulateCharge', await service.simulate(key(), id, event));
      keeps('getCharge', await service.getCharge(key(), id));
    }
    const reads = await Promise.all(simulations.map(([id]) => service.getCharge(key(), id)));
    expect(reads.map((read) => read.body.status)).toEqual(['paid', 'expired', 'failed', 'refunded', 'processing']);

    keeps('getCharge', await service.getCharge(key(), charge.id));
    keeps('getCharge', await service.getCharge(merchant.liveKey, charge.id));
    keeps('getCharge', await service.getCharge('', charge.id));
    keeps('listCharges', await service.call('GET', '/v1/charges?limit=2', { key: key() }));
    keeps('listCharges', await service.call('GET', '/v1/charges', { key: merchant.liveKey }));
    keeps('listCharges', await service.call('GET', '/v1/charges?limit=0&page=1', { key: key() }));
    keeps('listCharges', await service.call('GET', '/v1/charges'));
  });

  it('when a charge is simulated in the sandbox', async () => {
    const simulate = (body: object, options: { key?: string; id?: string } = {}): Promise<Answer> =>
      service.call('POST', `/v1/sandbox/charges/${options.id ?? charge.id}/simulate`, {
        key: options.key ?? key(),
        body,
      });
    keeps('simulateCharge', await simulate({ event: 'explode' }));
    keeps('simulateCharge', await simulate({ event: 'pay' }, { id: 'nobody' }));
    keeps('simulateCharge', await simulate({ event: 'pay' }, { key: 'x' }));
    keeps('simulateCharge', await simulate({ event: 'pay', payer_name: 'x'.repeat(300_000) }));
    keeps(
      'simulateCharge',
      await service.call('POST', `/v1/sandbox/charges/${charge.id}/simulate`, {
        key: key(),
        rawBody: 'x',
        headers: { 'content-type': 'a/b' },
      }),
    );
  });

  it('when payments are created, in every way', async () => {
    const path = '/v1/payments';
    const body = { amount: 1990, paymentMethods: ['PIX', 'CREDIT_CARD'], idempotencyKey: 'openapi-payment' };
    const post = (changes: object, who = key()): Promise<Answer> =>
      service.call('POST', path, { key: who, body: { ...body, ...changes } });
    keeps('createPayment', await post({}));
    keeps('createPayment', await post({}));
    keeps('createPayment', await post({ amount: 5 }));
    keeps('createPayment', await post({ amount: 0, nonsense: {}, paymentMethods: ['X'] }));
    keeps('createPayment', await post({}, merchant.liveKey));
    keeps('createPayment', await service.call('POST', path, { body }));
    keeps('createPayment', await post({ customerName: 'x'.repeat(300_000) }));
    keeps(
      'createPayment',
      await service.call('POST', path, { key: key(), rawBody: 'x', headers: { 'content-type': 'text/plain' } }),
    );
  });

  it('when payments are read, worked with and simulated', async () => {
    const make = async (paymentMethods: string[], idempotencyKey: string): Promise<string> => {
      const body = { amount: 1990, paymentMethods, idempotencyKey, metadata: { phone: '+351912345678' } };
      return (await service.call<{ id: string }>('POST', '/v1/payments', { key: key(), body })).body.id;
    };
    const on = (method: string, id: string, path: string, who: string | null = key()): Promise<Answer> =>
      service.call(method, `/v1/payments/${id}${path}`, who === null ? {} : { key: who });
    const simulate = (id: string, body: object, resource = 'payments', options: object = {}): Promise<Answer> =>
      service.call('POST', `/v1/sandbox/${resource}/${id}/simulate`, { key: key(), body, ...options });

    const all = await make(['PIX', 'CREDIT_CARD', 'MBWAY', 'MULTIBANCO', 'BOLETO', 'CRYPTO'], 'openapi-all-methods');
    keeps('getReceipt', await on('GET', all, '/receipt'));
    keeps('simulatePayment', await simulate(all, { event: 'processing' }));
    const { body: payment } = await on('GET', all, '');
    keeps('getProviderStatus', await on('GET', all, '/provider-status'));
    keeps('simulatePayment', await simulate(all, { event: 'pay' }));
    for (const [path, id] of [
      ['', 'getPayment'],
      ['/receipt', 'getReceipt'],
      ['/provider-status', 'getProviderStatus'],
    ] as const) {
      keeps(id, await on('GET', all, path));
      keeps(id, await on('GET', 'nobody', path));
      keeps(id, await on('GET', all, path, null));
    }
    const card = await make(['CREDIT_CARD'], 'openapi-one-card');
    keeps('simulateCharge', await simulate(card, { event: 'pay' }, 'charges'));
    keeps('simulatePayment', await simulate(card, { event: 'nonsense' }));
    keeps('simulatePayment', await simulate('nobody', { event: 'pay' }));
    keeps('simulatePayment', await simulate(card, {}, 'payments', { key: 'x' }));
    keeps('simulatePayment', await simulate(card, { payer_name: 'x'.repeat(300_000) }));
    const plain = { body: undefined, rawBody: 'x', headers: { 'content-type': 'a/b' } };
    keeps('simulatePayment', await simulate(card, {}, 'payments', plain));

    keeps('cancelPayment', await on('POST', card, '/cancel'));
    keeps('cancelPayment', await on('POST', await make(['BOLETO'], 'openapi-cancelled'), '/cancel'));
    keeps('cancelPayment', await on('POST', 'nobody', '/cancel'));
    keeps('cancelPayment', await on('POST', card, '/cancel', null));
    const cancelWith = (rawBody: string): Promise<Answer> =>
      service.call('POST', `/v1/payments/${card}/cancel`, { key: key(), rawBody, headers: { 'content-type': 'a/b' } });
    keeps('cancelPayment', await cancelWith('x'));
    keeps('cancelPayment', await cancelWith('x'.repeat(300_000)));

    for (const query of ['', '?limit=2&page=2', '?status=PAID&sortBy=amount&sortOrder=asc', '?page=0']) {
      keeps('listPayments', await service.call('GET', `/v1/payments${query}`, { key: key() }));
    }
    keeps('listPayments', await service.call('GET', '/v1/payments'));
    for (const query of ['', '?days=2', '?days=0', '?nonsense=1']) {
      keeps('getPaymentStats', await service.call('GET', `/v1/payments/stats${query}`, { key: key() }));
    }
    keeps('getPaymentStats', await service.call('GET', '/v1/payments/stats'));
    for (const query of ['', '?days=2&currency=BRL', '?currency=USDT', '?currency=brl']) {
      keeps('getPaymentMetrics', await service.call('GET', `/v1/payments/metrics${query}`, { key: key() }));
    }
    keeps('getPaymentMetrics', await service.call('GET', '/v1/payments/metrics'));
    for (const query of ['', '?days=2&count=bank', '?days=0', '?currency=brl']) {
      keeps('getPaymentSummary', await service.call('GET', `/v1/payments/summary${query}`, { key: key() }));
    }
    keeps('getPaymentSummary', await service.call('GET', '/v1/payments/summary'));

    const at = (url: unknown): string => new URL(url as string).pathname;
    const cardPath = at(payment['cardRedirectUrl']);
    const waiting = await make(['CREDIT_CARD'], 'openapi-card-page');
    await simulate(waiting, { event: 'processing' });
    const { body: open } = await on('GET', waiting, '');
    keeps('getTestCardPage', await service.call('GET', cardPath));
    keeps('getTestBoleto', await service.call('GET', at(payment['boletoPdfUrl'])));
    keeps('refuseTestCard', await service.call('POST', `${at(open['cardRedirectUrl'])}/refuse`));
    keeps('approveTestCard', await service.call('POST', `${at(open['cardRedirectUrl'])}/approve`));
    keeps('getTestCardPage', await service.call('GET', '/sandbox/cards/nobody'));
    keeps('getTestBoleto', await service.call('GET', '/sandbox/boletos/nobody/boleto.pdf'));
    for (const answer of ['approve', 'refuse']) {
      keeps(`${answer}TestCard`, await service.call('POST', `/sandbox/cards/nobody/${answer}`));
    }
  });

  it('when payments are refunded', async () => {
    const { testKey } = await service.merchant();
    const { body: own } = await service.createCharge(testKey);
    await service.simulate(testKey, own.id, { event: 'pay' });
    const id = own.id.slice(3);
    const refund = (body: object, options: { key?: string; id?: string; rawBody?: string } = {}): Promise<Answer> =>
      service.call('POST', `/v1/payments/${options.id ?? id}/refund`, {
        key: options.key ?? testKey,
        ...(options.rawBody === undefined
          ? { body }
          : { rawBody: options.rawBody, headers: { 'content-type': 'a/b' } }),
      });
    const list = (who: string, of = id): Promise<Answer> =>
      service.call('GET', `/v1/payments/${of}/refunds`, { key: who });
    const body = { idempotencyKey: 'openapi-refund', amount: 990 };
    keeps('listPaymentRefunds', await list(testKey));
    keeps('listRefunds', await service.call('GET', '/v1/refunds', { key: testKey }));
    keeps('listRefunds', await service.call('GET', '/v1/refunds?status=x', { key: testKey }));
    keeps('listRefunds', await service.call('GET', '/v1/refunds', { key: 'x' }));
    keeps('createRefund', await refund({ ...body, reason: 'Article returned' }));
    keeps('createRefund', await refund({ ...body, reason: 'Article returned' }));
    keeps('createRefund', await refund({ ...body, amount: 1 }));
    keeps('createRefund', await refund({ idempotencyKey: 'openapi-refund-2', amount: 1, strategy: 'devolution' }));
    keeps('createRefund', await refund({ idempotencyKey: 'openapi-refund-3', amount: 1991 }));
    keeps('createRefund', await refund({ amount: 0, nonsense: {} }));
    keeps('createRefund', await refund(body, { id: 'nobody' }));
    keeps('createRefund', await refund(body, { key: 'x' }));
    keeps('createRefund', await refund({}, { rawBody: 'x' }));
    keeps('createRefund', await refund({}, { rawBody: ' '.repeat(300_000) }));
    const card = { amount: 1990, paymentMethods: ['CREDIT_CARD'], idempotencyKey: 'openapi-refunded-card' };
    const { body: byCard } = await service.call<{ id: string }>('POST', '/v1/payments', { key: testKey, body: card });
    await service.simulate(testKey, byCard.id, { event: 'pay' });
    keeps('createRefund', await refund({ idempotencyKey: 'openapi-refund-4' }, { id: byCard.id }));
    keeps('listPaymentRefunds', await list(testKey, byCard.id));
    // Every operation that shows a sale with refunds.
    const shown = {
      charge: await service.getCharge(testKey, own.id),
      card: await service.simulate(testKey, byCard.id, { event: 'refund_fail' }),
    };
    keeps('getCharge', shown.charge);
    keeps('simulateCharge', shown.card);
    expect([shown.charge.body, shown.card.body.charge]).toMatchObject([
      { amount_refunded: 991 },
      { amount_refunded: 1990 },
    ]);
    keeps('getPayment', await service.call('GET', `/v1/payments/${id}`, { key: testKey }));
    keeps('listPayments', await service.call('GET', '/v1/payments', { key: testKey }));
    // The money of this payment waits for the release.
    const { body: held } = await service.createCharge(key());
    await service.simulate(key(), held.id, { event: 'pay' });
    keeps('createRefund', await refund(body, { key: key(), id: held.id }));
    await waitFor('the refunds to end', async () => {
      const answer = await list(testKey);
      keeps('listPaymentRefunds', answer);
      return !/"(?:PENDING|IN_PROGRESS)"/.test(answer.text);
    });
    keeps('listPaymentRefunds', await list(testKey, 'nobody'));
    keeps('listPaymentRefunds', await list('x'));
  });

  it('when balances are read, with and without money', async () => {
    const paid = await service.createCharge(key());
    await service.simulate(key(), paid.body.id, { event: 'pay' });
    for (const who of [key(), merchant.liveKey]) {
      keeps('listWallets', await service.call('GET', '/v1/wallets', { key: who }));
      keeps('getBalance', await service.call('GET', '/v1/wallets/balance', { key: who }));
      keeps('getBalance', await service.call('GET', '/v1/wallets/balance?currency=USD', { key: who }));
      keeps('getBalance', await service.call('GET', '/v1/wallets/balance?at=2030-01-01', { key: who }));
      keeps('getBalance', await service.call('GET', '/v1/wallets/balance?at=2030-01-01&currency=BRL', { key: who }));
      keeps('listWalletEntries', await service.call('GET', '/v1/wallets/entries', { key: who }));
    }
    keeps('getBalance', await service.call('GET', '/v1/wallets/balance?currency=brl', { key: key() }));
    keeps('getBalance', await service.call('GET', '/v1/wallets/balance'));
    keeps('listWalletEntries', await service.call('GET', '/v1/wallets/entries?type=theft', { key: key() }));
    keeps('listWalletEntries', await service.call('GET', '/v1/wallets/entries'));
    for (const query of ['', '?currency=BRL', '?currency=brl']) {
      keeps('listReleases', await service.call('GET', `/v1/wallets/releases${query}`, { key: key() }));
    }
    keeps('listReleases', await service.call('GET', '/v1/wallets/releases'));
    keeps('listWallets', await service.call('GET', '/v1/wallets'));
  });

  it('when events are read and followed', async () => {
    for (const query of ['', '?type=*,payment.completed&limit=3', '?type=nothing', '?after=x']) {
      keeps('listEvents', await service.call('GET', `/v1/events${query}`, { key: key() }));
      keeps('streamEvents', await service.call('GET', `/v1/events/stream${query.split('&')[0]}`, { key: key() }));
    }
    const [event] = (await service.call<{ data: { id: string }[] }>('GET', '/v1/events', { key: key() })).body.data;
    for (const id of [String(event?.id), 'evt_none']) {
      keeps('resendEvent', await service.call('POST', `/v1/events/${id}/resend`, { key: key() }));
    }
    keeps('resendEvent', await service.call('POST', '/v1/events/evt_none/resend'));
    keeps('listEvents', await service.call('GET', '/v1/events'));
    keeps('streamEvents', await service.call('GET', '/v1/events/stream'));
  });

  it('when reports are requested', async () => {
    const body = { type: 'statement', format: 'csv', from: '2026-11-01', to: '2026-11-30' };
    const path = '/v1/reports';
    const asked = await service.call<{ id: string }>('POST', path, { key: key(), body });
    keeps('createReport', asked);
    for (const wrong of [
      { ...body, to: '2026-10-01' },
      { ...body, note: 'x'.repeat(300_000) },
    ]) {
      keeps('createReport', await service.call('POST', path, { key: key(), body: wrong }));
    }
    const text = { rawBody: 'x', headers: { 'content-type': 'text/plain' } };
    keeps('createReport', await service.call('POST', path, { key: key(), ...text }));
    keeps('createReport', await service.call('POST', path, { body }));
    const one = `${path}/${asked.body.id}`;
    await waitFor('the report', async () => {
      const answer = await service.call('GET', one, { key: key() });
      keeps('getReport', answer);
      return answer.body['status'] === 'ready';
    });
    keeps('getReport', await service.call('GET', one, { key: merchant.liveKey }));
    keeps('getReport', await service.call('GET', one));
    const busy = await service.merchant();
    await service.sql(
      `INSERT INTO reports (id, account_id, mode, type, format, window_from, window_to, status, created_at)
       SELECT gen_random_uuid(), $1, 'test', 'statement', 'csv', now(), now(), 'pending', now() FROM generate_series(1, 5)`,
      [busy.accountId],
    );
    keeps('createReport', await service.call('POST', path, { key: busy.testKey, body }));
    keeps('listReports', await service.call('GET', path, { key: key() }));
    keeps('listReports', await service.call('GET', `${path}?limit=0`, { key: key() }));
    keeps('listReports', await service.call('GET', path));
  });

  it('when endpoints are registered and listed', async () => {
    const path = '/v1/webhooks/endpoints';
    const url = 'https://merchant.example/hooks';
    keeps('listEndpoints', await service.call('GET', path, { key: key() }));
    keeps(
      'registerEndpoint',
      await service.call('POST', path, { key: key(), body: { url, events: ['*', 'payment.created'] } }),
    );
    keeps(
      'registerEndpoint',
      await service.call('POST', path, { key: key(), body: { url: 'nowhere', events: ['x', 1] } }),
    );
    keeps('registerEndpoint', await service.call('POST', path, { body: {} }));
    keeps(
      'registerEndpoint',
      await service.call('POST', path, { key: key(), rawBody: 'x', headers: { 'content-type': 'a/b' } }),
    );
    keeps('registerEndpoint', await service.call('POST', path, { key: key(), rawBody: ' '.repeat(300_000) }));
    keeps('listEndpoints', await service.call('GET', path, { key: key() }));
    keeps('listEndpoints', await service.call('GET', path));
    keeps('getEventCatalog', await service.call('GET', '/v1/webhooks/event-catalog'));
    for (const [event, who] of [
      ['charge.paid', { key: key() }],
      ['charge.paid', {}],
      ['charge.unheard_of', { key: key() }],
    ] as const) {
      keeps('getEventSample', await service.call('GET', `/v1/webhooks/event-catalog/${event}/sample`, who));
    }
  });

  it('when an endpoint is changed, tested and deleted, and its signatures are verified', async () => {
    const path = '/v1/webhooks/endpoints';
    const { body: endpoint } = await service.call<{ id: string; secret: string }>('POST', path, {
      key: key(),
      body: { url: 'https://merchant.example/hooks', events: ['*'] },
    });
    const calls: [string, string, string, object, object][] = [
      ['updateEndpoint', 'PATCH', `${path}/${endpoint.id}`, { events: ['charge.paid'] }, { status: 'x', secret: 'y' }],
      ['rotateEndpointSecret', 'POST', `${path}/${endpoint.id}/rotate-secret`, {}, { overlap_seconds: -1 }],
      ['testEndpoint', 'POST', `${path}/${endpoint.id}/test`, { event: 'charge.paid' }, { event: 'payout.paid' }],
      ['rotateDefaultSecret', 'POST', '/v1/webhooks/default-secret/rotate', {}, { overlap_seconds: 'x' }],
      ['verifySignature', 'POST', '/v1/webhooks/verify', { payload: '', headers: {}, secret: '' }, { payload: {} }],
    ];
    for (const [id, method, at, good, bad] of calls) {
      keeps(id, await service.call(method, at, { key: key(), body: good }));
      keeps(id, await service.call(method, at, { key: key(), body: bad }));
      keeps(id, await service.call(method, at));
      keeps(id, await service.call(method, at, { key: key(), rawBody: 'x', headers: { 'content-type': 'a/b' } }));
      keeps(id, await service.call(method, at, { key: key(), rawBody: ' '.repeat(300_000) }));
      if (at.includes(endpoint.id)) keeps(id, await service.call(method, at, { key: merchant.liveKey, body: good }));
    }
    for (const signature of [
      't=1,v1=x',
      signatureHeader('legacy', [endpoint.secret], 'x', 0),
      signatureHeader('canonical', [endpoint.secret], '{"a": 1}', 1),
      signatureHeader('canonical', [endpoint.secret], '{"a":1}', Math.floor(Date.now() / 1000)),
    ]) {
      const body = { payload: '{"a":1}', headers: { 'X-Service-Signature': signature }, secret: endpoint.secret };
      keeps('verifySignature', await service.call('POST', '/v1/webhooks/verify', { key: key(), body }));
    }
    for (const who of [merchant.liveKey, key(), '']) {
      keeps('removeEndpoint', await service.call('DELETE', `${path}/${endpoint.id}`, { key: who }));
    }
  });

  it('when deliveries are looked at, tried again and recovered', async () => {
    const register = async (events: string[]): Promise<string> => {
      const body = { url: 'https://nowhere.invalid/hooks', events };
      const path = '/v1/webhooks/endpoints';
      return (await service.call<{ id: string }>('POST', path, { key: key(), body })).body.id;
    };
    const [endpoint, deleted] = [await register(['charge.created']), await register(['payment.created'])];
    const { id } = (await service.createCharge(key(), {})).body;
    for (const who of [key(), merchant.liveKey, '']) {
      keeps('resendWebhook', await service.call('POST', `/v1/payments/${id}/resend-webhook`, { key: who }));
    }

    const path = '/v1/webhooks/deliveries';
    const list = async (query: string): Promise<{ id: string }[]> => {
      const answer = await service.call<{ data: { id: string; attempts: number }[] }>('GET', `${path}${query}`, {
        key: key(),
      });
      keeps('listDeliveries', answer);
      return answer.body.data.filter(({ attempts }) => attempts > 0);
    };
    const [tried] = await waitFor('an attempt of each', async () => {
      const all = [await list(`?endpointId=${endpoint}`), await list(`?endpointId=wh_${deleted}`)];
      return all.every((found) => found.length > 0) ? all.flat() : null;
    });
    await service.call('DELETE', `/v1/webhooks/endpoints/${deleted}`, { key: key() });
    const [cancelled] = await waitFor('the cancellation', async () => {
      const found = await list(`?endpointId=${deleted}&status=CANCELLED`);
      return found.length > 0 ? found : null;
    });
    keeps('listDeliveries', await service.call('GET', `${path}?limit=0&page=1`, { key: key() }));
    keeps('listDeliveries', await service.call('GET', path));
    keeps('getDeliveryStats', await service.call('GET', '/v1/webhooks/stats', { key: key() }));
    keeps('getDeliveryStats', await service.call('GET', '/v1/webhooks/stats'));
    for (const each of [tried, cancelled]) {
      for (const who of [key(), merchant.liveKey, '']) {
        keeps('getDelivery', await service.call('GET', `${path}/${each?.id}`, { key: who }));
        keeps('retryDelivery', await service.call('POST', `${path}/${each?.id}/retry`, { key: who }));
      }
    }

    const recover = `/v1/webhooks/endpoints/${endpoint}/recover`;
    const since = new Date(Date.now() - 60_000).toISOString();
    for (const body of [{ since }, { since, dry_run: true }, { since: 'then', dry_run: 1 }]) {
      keeps('recoverEndpoint', await service.call('POST', recover, { key: key(), body }));
    }
    keeps('recoverEndpoint', await service.call('POST', recover, { key: merchant.liveKey, body: { since } }));
    keeps('recoverEndpoint', await service.call('POST', recover));
    const headers = { 'content-type': 'a/b' };
    keeps('recoverEndpoint', await service.call('POST', recover, { key: key(), rawBody: 'x', headers }));
    keeps('recoverEndpoint', await service.call('POST', recover, { key: key(), rawBody: ' '.repeat(300_000) }));
  });

  /** A request whose body is no JSON, and a request whose body is too large */
  const unread = async (method: string, path: string, who: { token?: string }): Promise<Answer[]> => [
    await service.call(method, path, { ...who, rawBody: 'x', headers: { 'content-type': 'a/b' } }),
    await service.call(method, path, { ...who, rawBody: ' '.repeat(300_000) }),
  ];

  it('when payouts are requested, decided about and simulated', async () => {
    const paying = await aFundedMerchant(service, { payout_approval_above: 1_000, payout_new_destination_hours: 1 });
    const { testKey, accountId } = paying;
    const owner = await service.login(paying.ownerEmail);
    const [admin, member] = [await service.member(accountId, 'ADMIN'), await service.member(accountId, 'MEMBER')];
    const once = `openapi-${randomUUID()}`;
    const ask = (body: object, options: { key?: string; as?: string } = {}): Promise<Answer<unknown>> =>
      requestPayout(service, options.key ?? testKey, { ...body }, options.as);
    const raw = (path: string, rawBody: string, who: object): Promise<Answer> =>
      service.call('POST', path, {
        ...who,
        rawBody,
        headers: { 'content-type': rawBody === 'x' ? 'a/b' : 'application/json', 'Idempotency-Key': randomUUID() },
      });
    keeps('createPayout', await ask({ description: 'Withdrawal', metadata: { reference: 7 } }, { as: once }));
    keeps('createPayout', await ask({ description: 'Withdrawal', metadata: { reference: 7 } }, { as: once }));
    keeps('createPayout', await ask({}));
    keeps('createPayout', await ask({ amount: 0, nonsense: 1, destination: { type: 'x' } }));
    keeps('createPayout', await ask({ amount: 99_999_999 }));
    keeps('createPayout', await ask({}, { key: 'x' }));
    const blocking = await aFundedMerchant(service, { fraud_blocked_documents: '52998224725' });
    keeps('createPayout', await ask({}, { key: blocking.testKey }));
    for (const body of ['x', ' '.repeat(300_000)])
      keeps('createPayout', await raw('/v1/payouts', body, { key: testKey }));

    const sent = await aPayout(service, blocking.testKey, { destination: { type: 'pix_key', key: '11144477735' } });
    const on = (method: string, path: string, who: object, body?: object): Promise<Answer> =>
      service.call(method, path, { ...who, ...(body === undefined ? {} : { body }) });
    for (const event of ['pay', 'return']) {
      keeps('simulatePayout', await simulatePayout(service, blocking.testKey, sent.id, { event }));
      await payoutOf(service, blocking.testKey, sent.id, event === 'pay' ? 'paid' : 'refunded');
      keeps('getPayout', await on('GET', `/v1/payouts/${sent.id}`, { key: blocking.testKey }));
    }
    for (const id of ['nobody', sent.id]) {
      const path = `/v1/sandbox/payouts/${id}/simulate`;
      keeps('simulatePayout', await on('POST', path, { key: blocking.testKey }, { event: 'return', amount: 9_999 }));
      keeps('simulatePayout', await on('POST', path, { key: 'x' }, { event: 'pay' }));
      for (const body of ['x', ' '.repeat(300_000)]) {
        keeps('simulatePayout', await raw(path, body, { key: blocking.testKey }));
      }
    }
    for (const who of [testKey, 'x']) {
      keeps('listPayouts', await on('GET', '/v1/payouts', { key: who }));
      keeps('getPayout', await on('GET', '/v1/payouts/nobody', { key: who }));
      keeps('cancelPayout', await on('POST', '/v1/payouts/nobody/cancel', { key: who }));
    }
    keeps('cancelPayout', await on('POST', `/v1/payouts/${sent.id}/cancel`, { key: blocking.testKey }));
    const cancelled = await aPayout(service, testKey, { amount: 2_000 });
    keeps('cancelPayout', await on('POST', `/v1/payouts/${cancelled.id}/cancel`, { key: testKey }));
    for (const body of ['x', ' '.repeat(300_000)]) {
      keeps('cancelPayout', await raw(`/v1/payouts/${cancelled.id}/cancel`, body, { key: testKey }));
    }
    for (const what of ['approve', 'refuse']) {
      const waiting = await aPayout(service, testKey, { amount: 2_001, allow_duplicate: true });
      const at = (id: string): string => `/v1/dashboard/test/payouts/${id}/${what}`;
      const id = `${what}Payout`;
      keeps(id, await on('POST', at(waiting.id), { token: member.token }, {}));
      keeps(id, await on('POST', at(waiting.id), { token: admin.token }, { code: 1 }));
      keeps(id, await on('POST', at(waiting.id), { token: admin.token }, {}));
      keeps(id, await on('POST', at(cancelled.id), { token: admin.token }, {}));
      keeps(id, await on('POST', at('nobody'), { token: admin.token }, {}));
      keeps(id, await on('POST', at(waiting.id), {}, {}));
      for (const body of ['x', ' '.repeat(300_000)]) keeps(id, await raw(at(waiting.id), body, { token: admin.token }));
    }

    const path = '/v1/payout-destinations';
    const target = { type: 'pix_key', key: 'ana@example.com', tax_id: '52998224725', label: 'Main' };
    const saved = await service.call<{ id: string }>('POST', path, { key: testKey, body: target });
    keeps('savePayoutDestination', saved);
    keeps('savePayoutDestination', await on('POST', path, { key: testKey }, { type: 'pix_key' }));
    keeps('savePayoutDestination', await on('POST', path, { key: 'x' }, target));
    keeps('savePayoutDestination', await on('POST', path, { key: testKey }, { ...target, tax_id: '11144477735' }));
    for (const body of ['x', ' '.repeat(300_000)])
      keeps('savePayoutDestination', await raw(path, body, { key: testKey }));
    keeps('createPayout', await ask({ amount: 77, destination: saved.body.id }));
    const approval = (id: string): string => `/v1/dashboard/test/payout-destinations/${id}/approve`;
    const approves = 'approvePayoutDestination';
    keeps(approves, await on('POST', approval(saved.body.id), { token: owner }, {}));
    keeps(approves, await on('POST', approval(saved.body.id), { token: owner }, { code: 1 }));
    keeps(approves, await on('POST', approval(saved.body.id), { token: admin.token }, {}));
    keeps(approves, await on('POST', approval('nobody'), { token: owner }, {}));
    keeps(approves, await on('POST', approval(saved.body.id), {}, {}));
    for (const body of ['x', ' '.repeat(300_000)]) {
      keeps(approves, await raw(approval(saved.body.id), body, { token: owner }));
    }
    for (const who of [testKey, 'x']) {
      keeps('listPayoutDestinations', await on('GET', path, { key: who }));
      for (const id of [saved.body.id, 'nobody']) {
        keeps('getPayoutDestination', await on('GET', `${path}/${id}`, { key: who }));
      }
    }
    for (const body of ['x', ' '.repeat(300_000)]) {
      const call = {
        key: testKey,
        rawBody: body,
        headers: { 'content-type': body === 'x' ? 'a/b' : 'application/json' },
      };
      keeps('removePayoutDestination', await service.call('DELETE', `${path}/${saved.body.id}`, call));
    }
    for (const [id, who] of [
      [saved.body.id, testKey],
      ['nobody', testKey],
      ['nobody', 'x'],
    ]) {
      keeps('removePayoutDestination', await on('DELETE', `${path}/${id}`, { key: who }));
    }
  });

  it('when operators decide about payouts whose bank does not answer', async () => {
    const { token: operator } = await service.operator();
    const paying = await aFundedMerchant(service, { payout_new_destination_hours: 1 });
    const member = await service.member(paying.accountId, 'OWNER');
    const payout = await aPayout(service, paying.testKey);
    await simulatePayout(service, paying.testKey, payout.id, { event: 'unknown' });
    const subject = [payout.id.slice(3)];
    await service.sql('UPDATE payouts SET send_after = now() WHERE id = $1', subject);
    await service.sql('UPDATE work SET due_at = now() WHERE subject_id = $1', subject);
    await payoutOf(service, paying.testKey, payout.id, 'processing');
    await service.sql(`UPDATE payouts SET sent_at = now() - interval '10 minutes' WHERE id = $1`, subject);
    const path = '/v1/operations/payouts';
    for (const token of [operator, member.token, 'x']) {
      keeps('listOperationsPayouts', await service.call('GET', path, { token }));
    }
    const resolve = (body: object, token = operator, id = payout.id.slice(3)): Promise<Answer> =>
      service.call('POST', `${path}/${id}/resolve`, { token, body: { ...body } });
    const failed = { outcome: 'failed', reason: 'The statement of the bank does not have it.' };
    const id = 'resolveOperationsPayout';
    keeps(id, await resolve({ outcome: 'paid' }));
    keeps(id, await resolve({ ...failed, end_to_end_id: 'E00000000202611211530abcDEF12345' }));
    keeps(id, await resolve(failed, member.token));
    keeps(id, await resolve(failed, 'x'));
    keeps(id, await resolve(failed, operator, 'nobody'));
    keeps(id, await resolve(failed));
    keeps(id, await resolve(failed));
    for (const answer of await unread('POST', `${path}/${payout.id.slice(3)}/resolve`, { token: operator })) {
      keeps(id, answer);
    }
  });

  it('when people log in and out', async () => {
    const credentials = { email: merchant.ownerEmail, password: PASSWORD };
    const login = (body: object): Promise<Answer> => service.call('POST', '/v1/auth/login', { body });
    const first = await login(credentials);
    keeps('logIn', first);
    keeps('logIn', await login({ email: (await service.operator()).email, password: PASSWORD }));
    keeps('logIn', await login({ ...credentials, password: 'x' }));
    keeps('logIn', await login({}));
    for (const answer of await unread('POST', '/v1/auth/login', {})) keeps('logIn', answer);
    const token = String(first.body['access_token']);
    const forgot = '/v1/auth/forgot-password';
    for (const body of [{ email: merchant.ownerEmail }, {}]) {
      keeps('forgotPassword', await service.call('POST', forgot, { body }));
    }
    for (const answer of await unread('POST', forgot, {})) keeps('forgotPassword', answer);
    const reset = '/v1/auth/reset-password';
    const chosen = { token: await service.mailedToken(merchant.ownerEmail), password: PASSWORD };
    for (const answer of await unread('POST', reset, {})) keeps('resetPassword', answer);
    const person = await service.member(merchant.accountId, 'MEMBER');
    await personAnswers(person);
    keeps('resetPassword', await service.call('POST', reset, { body: chosen }));
    keeps('resetPassword', await service.call('POST', reset, { body: chosen }));
    const again = await service.login(merchant.ownerEmail);
    keeps('getSession', await service.call('GET', '/v1/auth/session', { token: again }));
    keeps('getSession', await service.call('GET', '/v1/auth/session'));
    const browser = { email: merchant.ownerEmail, password: PASSWORD, session: 'cookie' };
    for (const headers of [{}, { 'x-requested-with': 'dashboard' }]) {
      keeps('logIn', await service.call('POST', '/v1/auth/login', { headers, body: browser }));
    }
    keeps('logOut', await service.call('POST', '/v1/auth/logout', { token: again }));
    keeps('logOut', await service.call('POST', '/v1/auth/logout', { token }));
  });

  /** Operations on the own login: passwords, sessions, and the second factor */
  async function personAnswers({ email, token }: { email: string; token: string }): Promise<void> {
    const ask = (method: string, path: string, body?: object, who: { token?: string } = { token }): Promise<Answer> =>
      service.call(method, `/v1/auth/${path}`, { ...who, ...(body && { body }) });
    for (const body of [{}, { name: 'Ana Souza' }]) keeps('renameUser', await ask('PATCH', 'user', body));
    keeps('renameUser', await ask('PATCH', 'user', { name: 'Ana' }, {}));
    const other = await service.login(email);
    const sessions = await ask('GET', 'sessions');
    keeps('listSessions', sessions);
    keeps('listSessions', await ask('GET', 'sessions', undefined, {}));
    const ended = `sessions/${String(claimsOf(other)['jti'])}`;
    for (const who of [{}, { token }, { token }]) keeps('endSession', await ask('DELETE', ended, undefined, who));
    const NEXT = 'another good password';
    for (const body of [{}, { current_password: 'x', new_password: NEXT }]) {
      keeps('changePassword', await ask('POST', 'password', body));
    }
    keeps('changePassword', await ask('POST', 'password', { current_password: PASSWORD, new_password: NEXT }));
    keeps('changePassword', await ask('POST', 'password', {}, {}));
    keeps('confirmTotp', await ask('POST', 'totp/confirm', { code: '1' }));
    const begun = await ask('POST', 'totp', { password: NEXT });
    keeps('beginTotp', await ask('POST', 'totp', {}));
    keeps('beginTotp', begun);
    keeps('beginTotp', await ask('POST', 'totp', undefined, {}));
    const totp = new TOTP({ secret: Secret.fromBase32(String(begun.body['secret'])) });
    const code = (): string => totp.generate({ timestamp: service.clock.now().getTime() });
    for (const body of [{}, { code: 'wrong' }, { code: code() }, { code: code() }]) {
      keeps('confirmTotp', await ask('POST', 'totp/confirm', body));
    }
    keeps('confirmTotp', await ask('POST', 'totp/confirm', {}, {}));
    keeps('beginTotp', await ask('POST', 'totp', { password: NEXT }));
    for (const sent of [{}, { code: code() }]) {
      keeps('logIn', await service.call('POST', '/v1/auth/login', { body: { email, password: NEXT, ...sent } }));
    }
    service.clock.advance(30);
    for (const body of [
      {},
      { password: 'x', code: 'x' },
      { password: NEXT, code: code() },
      { password: NEXT, code: '1' },
    ]) {
      keeps('removeTotp', await ask('DELETE', 'totp', body));
    }
    keeps('removeTotp', await ask('DELETE', 'totp', {}, {}));
    for (const [method, path, operation] of [
      ['POST', 'password', 'changePassword'],
      ['PATCH', 'user', 'renameUser'],
      ['POST', 'totp', 'beginTotp'],
      ['POST', 'totp/confirm', 'confirmTotp'],
      ['DELETE', 'totp', 'removeTotp'],
    ] as const) {
      for (const answer of await unread(method, `/v1/auth/${path}`, { token })) keeps(operation, answer);
    }
  }

  it('when keys are managed', async () => {
    const token = await service.login(merchant.ownerEmail);
    const { token: member } = await service.member(merchant.accountId, 'MEMBER');
    const { token: operator } = await service.operator();
    const path = '/v1/api-keys';
    const issued = await service.call<{ id: string }>('POST', path, { token, body: { test: true, label: 'Loja' } });
    keeps('issueApiKey', issued);
    keeps('issueApiKey', await service.call('POST', path, { token }));
    keeps('issueApiKey', await service.call('POST', path, { token, body: { label: 1, test: 1 } }));
    keeps('issueApiKey', await service.call('POST', path));
    keeps('issueApiKey', await service.call('POST', path, { token: member }));
    for (const answer of await unread('POST', path, { token })) keeps('issueApiKey', answer);
    keeps('listApiKeys', await service.call('GET', path, { token: member }));
    keeps('listApiKeys', await service.call('GET', path));
    keeps('listApiKeys', await service.call('GET', path, { token: operator }));
    const rotate = `${path}/${issued.body.id}/rotate`;
    keeps('rotateApiKey', await service.call('POST', rotate, { token, body: { label: 1 } }));
    for (const answer of await unread('POST', rotate, { token })) keeps('rotateApiKey', answer);
    keeps('rotateApiKey', await service.call('POST', rotate));
    keeps('rotateApiKey', await service.call('POST', rotate, { token: member }));
    const rotated = await service.call<{ id: string }>('POST', rotate, { token });
    keeps('rotateApiKey', rotated);
    keeps('rotateApiKey', await service.call('POST', rotate, { token }));
    for (const who of [{}, { token: operator }, { token: member }]) {
      keeps('getApiKey', await service.call('GET', `${path}/${rotated.body.id}`, who));
    }
    keeps('getApiKey', await service.call('GET', `${path}/nobody`, { token }));
    const { body: other } = await service.call<{ id: string }>('POST', path, { token, body: { test: true } });
    for (const who of [{}, { token }, { token: operator }, { token: operator }]) {
      keeps('revokeOperationsApiKey', await service.call('DELETE', `/v1/operations/api-keys/${other.id}`, who));
    }
    for (const who of [{}, { token: member }, { token }, { token }]) {
      keeps('revokeApiKey', await service.call('DELETE', `${path}/${rotated.body.id}`, who));
    }
  });

  it('when members come, change and go', async () => {
    const token = await service.login(merchant.ownerEmail);
    const { token: member } = await service.member(merchant.accountId, 'MEMBER');
    for (const who of [{}, { token: member }, { token }]) {
      keeps('getAccount', await service.call('GET', '/v1/account', who));
      keeps('changeAccount', await service.call('PATCH', '/v1/account', { ...who, body: { city: 'Recife' } }));
    }
    const { token: operator } = await service.operator();
    keeps('getAccount', await service.call('GET', '/v1/account', { token: operator }));
    keeps('changeAccount', await service.call('PATCH', '/v1/account', { token, body: { fee_bps: 0 } }));
    keeps(
      'changeAccount',
      await service.call('PATCH', '/v1/account', { token, body: { payout_schedule: UNKNOWN_SCHEDULE } }),
    );
    for (const answer of await unread('PATCH', '/v1/account', { token })) keeps('changeAccount', answer);
    const path = '/v1/members';
    const email = 'guest@example.com';
    for (const who of [{}, { token: member }, { token }]) keeps('listMembers', await service.call('GET', path, who));
    const invited = await service.call<{ id: string }>('POST', path, {
      token,
      body: { email, role: 'ADMIN' },
    });
    keeps('inviteMember', invited);
    keeps('inviteMember', await service.call('POST', path, { token, body: { email, role: 'ROOT' } }));
    for (const who of [{}, { token: member }]) keeps('inviteMember', await service.call('POST', path, who));
    for (const answer of await unread('POST', path, { token })) keeps('inviteMember', answer);
    keeps('listMembers', await service.call('GET', path, { token }));

    const accept = '/v1/auth/accept-invitation';
    const body = { token: await service.mailedToken(email), password: PASSWORD };
    for (const answer of await unread('POST', accept, {})) keeps('acceptInvitation', answer);
    keeps('acceptInvitation', await service.call('POST', accept, { body }));
    keeps('acceptInvitation', await service.call('POST', accept, { body }));

    const guest = await service.member(merchant.accountId, 'ADMIN');
    const [one, owner] = [`${path}/${guest.userId}`, `${path}/${merchant.ownerId}`];
    const change = (who: { token?: string }, role = 'MEMBER', at = one): Promise<Answer> =>
      service.call('PATCH', at, { ...who, body: { role } });
    for (const who of [{}, { token: member }, { token }]) keeps('changeRole', await change(who));
    keeps('changeRole', await change({ token }, 'ROOT'));
    keeps('changeRole', await change({ token }, 'MEMBER', `${path}/nobody`));
    keeps('changeRole', await change({ token }, 'MEMBER', owner));
    for (const answer of await unread('PATCH', one, { token })) keeps('changeRole', answer);
    for (const who of [{}, { token: member }, { token }, { token }]) {
      keeps('removeMember', await service.call('DELETE', one, who));
    }
    keeps('removeMember', await service.call('DELETE', owner, { token }));
    expect(invited.status).toBe(201);
    const { accountId, ownerEmail } = await service.merchant();
    const full = await service.login(ownerEmail);
    for (let index = 0; index <= 20; index++) {
      const body = { email: `guest-${index}@${accountId}.example`, role: 'MEMBER' };
      keeps('inviteMember', await service.call('POST', path, { token: full, body }));
    }
  });

  it('when somebody reads the audit trail', async () => {
    const token = await service.login(merchant.ownerEmail);
    const { token: member } = await service.member(merchant.accountId, 'MEMBER');
    const path = '/v1/audit-events';
    for (const who of [{}, { token: member }, { token }]) {
      keeps('listAuditEvents', await service.call('GET', `${path}?limit=100`, who));
    }
    keeps('listAuditEvents', await service.call('GET', `${path}?limit=0`, { token }));
  });

  it('when somebody reads the request log', async () => {
    const token = await service.login(merchant.ownerEmail);
    const { token: operator } = await service.operator();
    const list = (query: string): Promise<Answer<{ data: unknown[] }>> =>
      service.call('GET', `/v1/request-logs?${query}`, { token });
    await waitFor('requests to be logged', async () => (await list('limit=1')).body.data.length > 0);
    keeps('listRequestLogs', await list('limit=100'));
    keeps('listRequestLogs', await list('status=none'));
    for (const who of [{}, { token: operator }]) {
      keeps('listRequestLogs', await service.call('GET', '/v1/request-logs', who));
    }
  });

  it('when the staff of the platform works', async () => {
    const { token } = await service.operator();
    const owner = await service.login(merchant.ownerEmail);
    const strangers = [{}, { token: owner }];
    const accounts = '/v1/operations/accounts';
    const account = `${accounts}/${merchant.accountId}`;
    const body = { name: 'Livraria', email: 'livraria@example.com' };
    keeps('createOperationsAccount', await service.call('POST', accounts, { token, body }));
    keeps('createOperationsAccount', await service.call('POST', accounts, { token, body: {} }));
    for (const answer of await unread('POST', accounts, { token })) keeps('createOperationsAccount', answer);
    for (const answer of await unread('PATCH', account, { token })) keeps('changeOperationsAccount', answer);
    for (const who of [...strangers, { token }]) {
      keeps('listOperationsAccounts', await service.call('GET', accounts, who));
      keeps('getOperationsAccount', await service.call('GET', account, who));
      keeps('listAccountApiKeys', await service.call('GET', `${account}/api-keys`, who));
    }
    for (const who of strangers) {
      keeps('createOperationsAccount', await service.call('POST', accounts, { ...who, body }));
      keeps('changeOperationsAccount', await service.call('PATCH', account, { ...who, body: {} }));
    }
    keeps('listOperationsAccounts', await service.call('GET', `${accounts}?limit=0`, { token }));
    keeps('getOperationsAccount', await service.call('GET', `${accounts}/nobody`, { token }));
    keeps('listAccountApiKeys', await service.call('GET', `${accounts}/nobody/api-keys`, { token }));
    const change = (changes: object, at = account): Promise<Answer> =>
      service.call('PATCH', at, { token, body: changes });
    keeps('changeOperationsAccount', await change({}, `${accounts}/nobody`));
    keeps('changeOperationsAccount', await change({ fee_bps: 'x' }));
    keeps(
      'changeOperationsAccount',
      await change({ fraud_max_amount: 5_000, fraud_blocked_documents: ['52998224725'] }),
    );
    for (const [id, path] of [
      ['createCharge', '/v1/charges'],
      ['createPixCharge', '/v1/pix/charges'],
    ] as const) {
      keeps(id, await write({ amount: 5_001, payment_method: 'pix' }, `openapi-fraud-${id}`, path));
    }
    const { body: charge } = await service.createCharge(key(), { amount: 1_000 });
    const destinationKey = '52998224725';
    for (const [id, path, body, code] of [
      ['createPayment', '/v1/payments', { paymentMethods: ['PIX'] }, 'fraud.amount_limit_exceeded'],
      ['createRefund', `/v1/payments/${charge.id}/refund`, { destinationKey }, 'fraud.document_blocked'],
    ] as const) {
      const refused = await service.call('POST', path, {
        key: key(),
        body: { ...body, amount: 5_001, idempotencyKey: `openapi-fraud-${id}` },
      });
      expect([refused.status, refused.text]).toEqual([403, expect.stringContaining(code)]);
      keeps(id, refused);
    }
    keeps('changeOperationsAccount', await change({ fraud_max_amount: null, fraud_blocked_documents: [] }));
    keeps('changeOperationsAccount', await change({ payout_schedule: UNKNOWN_SCHEDULE }));

    const held = async (): Promise<string> => (await service.heldCharge(key())).reviewId;
    const reviews = '/v1/operations/reviews';
    await held();
    for (const [id, path] of [
      ['listReviews', reviews],
      ['listUnmatched', '/v1/operations/unmatched'],
      ['listReturned', '/v1/operations/returned'],
      ['listUnreadable', '/v1/operations/unreadable'],
      ['listFraudHits', '/v1/operations/fraud-hits'],
      ['listWork', '/v1/operations/work'],
      ['listNegativeBalances', '/v1/operations/negative-balances'],
      ['listConnections', '/v1/operations/connections'],
    ] as const) {
      for (const who of [...strangers, { token }]) keeps(id, await service.call('GET', path, who));
      keeps(id, await service.call('GET', `${path}?limit=0`, { token }));
    }
    for (const who of [...strangers, { token }]) {
      keeps('listOperatorQueues', await service.call('GET', '/v1/operations/queues', who));
    }
    for (const [id, decision, otherwise] of [
      ['acceptReview', 'accept', 'return'],
      ['returnReview', 'return', 'accept'],
    ] as const) {
      const review = `${reviews}/${await held()}`;
      for (const who of [...strangers, { token }, { token }]) {
        keeps(id, await service.call('POST', `${review}/${decision}`, who));
      }
      keeps(id, await service.call('POST', `${reviews}/nobody/${decision}`, { token }));
      const decided = `${reviews}/${await held()}`;
      await service.call('POST', `${decided}/${otherwise}`, { token });
      keeps(id, await service.call('POST', `${decided}/${decision}`, { token }));
    }
  });

  it('when operators put the books right', async () => {
    const [first, second] = [await service.operator(), await service.operator()];
    const strangers = [{}, { token: await service.login(merchant.ownerEmail) }];
    const [at, media] = ['/v1/operations/corrections', { rawBody: 'x', headers: { 'content-type': 'text/plain' } }];
    const why = { reason: 'Of the month', idempotency_key: 'openapi-fee-1' };
    const fee = { kind: 'bank_fee', account_id: merchant.accountId, mode: 'test', borne_by: 'platform', ...why };
    const post = (path: string, body: object | undefined, who: object = first): Promise<Answer> =>
      service.call('POST', path, { ...who, ...(body ? { body } : {}) });
    const waiting = async (): Promise<string> => {
      const body = { ...fee, amount: 999_999, idempotency_key: randomUUID() };
      return `${at}/${(await service.call<{ id: string }>('POST', at, { token: first.token, body })).body.id}`;
    };
    for (const who of [...strangers, first]) {
      keeps('listOperationsCorrections', await service.call('GET', at, who));
      keeps('correctWallet', await post(at, { ...fee, amount: 99 }, who));
    }
    keeps('listOperationsCorrections', await service.call('GET', `${at}?status=gone`, first));
    const unknown = { account_id: randomUUID(), idempotency_key: randomUUID() };
    for (const body of [{}, { amount: 98 }, { amount: 99, ...unknown }, { reason: 'x'.repeat(300_000) }]) {
      keeps('correctWallet', await post(at, { ...fee, ...body }));
    }
    keeps('correctWallet', await service.call('POST', at, { ...first, ...media }));

    const { body: made } = await service.call<{ id: string }>('POST', '/v1/payments', {
      key: key(),
      body: { amount: 700, paymentMethods: ['BOLETO'], idempotencyKey: 'openapi-boleto' },
    });
    for (const event of ['pay', 'pay'])
      await post(`/v1/sandbox/payments/${made.id}/simulate`, { event }, { key: key() });
    const [pix] = await service.sql<{ id: string }>(
      `SELECT id FROM settlements WHERE transaction_id = $1 AND outcome = 'unmatched'`,
      [made.id],
    );
    const stray = `/v1/operations/unmatched/${pix?.id ?? ''}/correct`;
    const done = { kind: 'write_off', ...why, idempotency_key: 'openapi-write-off' };
    keeps('correctPix', await post(stray, { ...done, kind: 'return' }));
    for (const who of [...strangers, first]) keeps('correctPix', await post(stray, done, who));
    keeps('correctPix', await post('/v1/operations/unmatched/nobody/correct', done));
    keeps('correctPix', await post(stray, { kind: 'assign', ...why }));
    keeps('correctPix', await post(stray, { ...done, reason: 'x'.repeat(300_000) }));
    keeps('correctPix', await service.call('POST', stray, { ...first, ...media }));

    const [approved, rejected] = [await waiting(), await waiting()];
    for (const who of [...strangers, first, second]) {
      keeps('approveOperationsCorrection', await post(`${approved}/approve`, undefined, who));
      keeps('rejectOperationsCorrection', await post(`${rejected}/reject`, undefined, who));
    }
    keeps('approveOperationsCorrection', await post(`${at}/nobody/approve`, undefined));
    keeps('rejectOperationsCorrection', await post(`${at}/nobody/reject`, undefined));
    keeps('rejectOperationsCorrection', await post(`${approved}/reject`, undefined));
  });

  it('when MED cases are read, answered and decided', async () => {
    const { testKey } = await service.merchant();
    const token = (await service.operator()).token;
    const post = (path: string, body?: object, who: object = { key: testKey }): Promise<Answer> =>
      service.call('POST', path, { ...who, ...(body ? { body } : {}) });
    const media = { rawBody: 'x', headers: { 'content-type': 'text/plain' } };
    const large = { reason: 'x'.repeat(300_000) };
    for (const [name, path] of [
      ['MedCase', '/v1/med/cases'],
      ['Infraction', '/v1/infractions'],
    ] as const) {
      const { medCase } = await aDisputedCharge(service, testKey);
      const { medCase: other } = await aDisputedCharge(service, testKey);
      for (const query of ['', '?limit=1', '?status=won']) {
        keeps(`list${name}s`, await service.call('GET', `${path}${query}`, { key: testKey }));
      }
      keeps(`list${name}s`, await service.call('GET', path));
      for (const who of [{ key: testKey }, { key: key() }, {}]) {
        keeps(`get${name}`, await service.call('GET', `${path}/${medCase.id}`, who));
        keeps(`appeal${name}`, await post(`${path}/${medCase.id}/appeal`, { reason: 'It was delivered.' }, who));
        keeps(`accept${name}`, await post(`${path}/${other.id}/accept`, undefined, who));
      }
      keeps(`appeal${name}`, await post(`${path}/${medCase.id}/appeal`, { reason: 'It was delivered.' }));
      keeps(`appeal${name}`, await post(`${path}/${medCase.id}/appeal`, large));
      keeps(`appeal${name}`, await service.call('POST', `${path}/${medCase.id}/appeal`, { key: testKey, ...media }));
      keeps(`accept${name}`, await post(`${path}/${other.id}/accept`));
    }
    const desk = '/v1/operations/med';
    const review = async (): Promise<{ id: string; version: string }> => {
      const { body } = await service.createCharge(testKey);
      for (const event of [{ event: 'pay' }, { event: 'med_open', amount: 1 }])
        await service.simulate(testKey, body.id, event);
      const [waiting] = await medQueue(service, token, '?limit=1');
      return { id: waiting?.id ?? '', version: waiting?.version ?? '' };
    };
    const open = (await aDisputedCharge(service, testKey)).medCase.id;
    const { id: waiting, version } = await review();
    const account = `${desk}/accounts/${merchant.accountId}`;
    const notify = (at: string, body: object, who: object = { token }): Promise<Answer> =>
      service.call('PATCH', at, { ...who, body });
    const strangers = [{}, { token: await service.login(merchant.ownerEmail) }];
    for (const who of [...strangers, { token }]) {
      keeps('listOperationsMed', await service.call('GET', desk, who));
      keeps('listWaitingMedCases', await service.call('GET', `${desk}/waiting`, who));
      keeps('getOperationsMed', await service.call('GET', `${desk}/${waiting}`, who));
      keeps('approveOperationsMed', await post(`${desk}/${waiting}/approve`, { version }, who));
      keeps('requestMoreEvidence', await post(`${desk}/${open}/request-evidence`, undefined, who));
      keeps('setMedNotifications', await notify(account, { outcome_notifications: true }, who));
    }
    const { id: dismissed, version: seen } = await review();
    for (const who of [...strangers, { token }, { token }])
      keeps('dismissOperationsMed', await post(`${desk}/${dismissed}/dismiss`, { version: seen }, who));
    keeps('dismissOperationsMed', await post(`${desk}/${dismissed}/dismiss`, {}, { token }));
    keeps('listOperationsMed', await service.call('GET', `${desk}?review=x`, { token }));
    keeps('listWaitingMedCases', await service.call('GET', `${desk}/waiting?limit=x`, { token }));
    keeps('getOperationsMed', await service.call('GET', `${desk}/nobody`, { token }));
    keeps('approveOperationsMed', await post(`${desk}/${waiting}/approve`, { version }, { token }));
    keeps('approveOperationsMed', await post(`${desk}/${waiting}/approve`, { amount: 0 }, { token }));
    keeps('approveOperationsMed', await post(`${desk}/nobody/approve`, { version }, { token }));
    keeps('dismissOperationsMed', await post(`${desk}/nobody/dismiss`, { version }, { token }));
    keeps('requestMoreEvidence', await post(`${desk}/nobody/request-evidence`, undefined, { token }));
    keeps('requestMoreEvidence', await post(`${desk}/${dismissed}/request-evidence`, undefined, { token }));
    keeps('setMedNotifications', await notify(account, {}));
    keeps('setMedNotifications', await notify(`${desk}/accounts/nobody`, { outcome_notifications: true }));
    for (const [id, method, path] of [
      ['approveOperationsMed', 'POST', `${desk}/${waiting}/approve`],
      ['dismissOperationsMed', 'POST', `${desk}/${waiting}/dismiss`],
      ['setMedNotifications', 'PATCH', account],
    ] as const) {
      keeps(id, await service.call(method, path, { token, ...media }));
      keeps(id, await service.call(method, path, { token, body: large }));
    }
  });

  it('when evidence is attached and downloaded', async () => {
    const { testKey } = await service.merchant();
    const { medCase } = await aDisputedCharge(service, testKey);
    const { medCase: full } = await aDisputedCharge(service, testKey);
    await service.sql(
      `INSERT INTO med_evidence (id, account_id, mode, case_id, file_name, file_size, mime_type, uploaded_by, status, created_at,
         expires_at)
       SELECT gen_random_uuid(), account_id, mode, id, 'a', 1, 'image/png', 'merchant', 'waiting', now(), now() + interval '1 hour'
       FROM med_cases, generate_series(1, 100) WHERE id = $1`,
      [full.id.slice(4)],
    );
    const file = { file_name: 'receipt.png', file_size: 1000, mime_type: 'image/png' };
    const post = (path: string, who: object, body?: object): Promise<Answer> =>
      service.call('POST', path, { ...who, ...(body ? { body } : {}) });
    const waiting = (await requestUpload(service, testKey, medCase.id)).body.id;
    for (const [name, path] of [
      ['Evidence', '/v1/med/cases'],
      ['InfractionsEvidence', '/v1/infractions'],
    ] as const) {
      const own = `${path}/${medCase.id}/evidence`;
      const id = await anUpload(service, testKey, medCase.id);
      for (const who of [{ key: testKey }, { key: key() }, {}]) {
        keeps(`request${name}`, await post(own, who, file));
        keeps(`complete${name}`, await post(`${own}/${id}/complete`, who));
        keeps(`list${name}`, await service.call('GET', own, who));
      }
      keeps(`request${name}`, await post(own, { key: testKey }, { ...file, file_size: 0 }));
      keeps(`request${name}`, await post(own, { key: testKey }, { file_name: 'x'.repeat(300_000) }));
      keeps(
        `request${name}`,
        await post(own, { key: testKey, rawBody: 'x', headers: { 'content-type': 'text/plain' } }),
      );
      keeps(`request${name}`, await post(`${path}/${full.id}/evidence`, { key: testKey }, file));
      keeps(`complete${name}`, await post(`${own}/${waiting}/complete`, { key: testKey }));
      keeps(`complete${name}`, await post(`${own}/${waiting}/complete`, { key: testKey }, { force: true }));
      for (const who of [{}, { key: key() }, { key: testKey }]) {
        keeps(`remove${name}`, await service.call('DELETE', `${own}/${id}`, who));
      }
      const { medCase: answered } = await aDisputedCharge(service, testKey);
      const used = await anUpload(service, testKey, answered.id);
      await complete(service, testKey, answered.id, used);
      await answerCase(service, testKey, answered.id, 'appeal');
      keeps(`remove${name}`, await service.call('DELETE', `${path}/${answered.id}/evidence/${used}`, { key: testKey }));
    }
    const { token } = await service.operator();
    const desk = `/v1/operations/med/${medCase.id}/evidence`;
    for (const who of [{ token }, { token: await service.login(merchant.ownerEmail) }, {}])
      keeps('listOperationsMedEvidence', await service.call('GET', desk, who));
    keeps('listOperationsMedEvidence', await service.call('GET', '/v1/operations/med/nobody/evidence', { token }));

    const { body: ticket } = await requestUpload<TicketAnswer>(service, testKey, medCase.id);
    const local = (url: string): string => url.slice(new URL(url).origin.length);
    const put = (url: string, headers: Record<string, string> = {}): Promise<Answer> =>
      service.call('PUT', local(url), { rawBody: png(1000), headers: { 'content-type': 'image/png', ...headers } });
    keeps('uploadFile', await put(ticket.upload_url));
    keeps('uploadFile', await put(ticket.upload_url, { apikey: testKey }));
    keeps('uploadFile', await put(`${ticket.upload_url}x`));
    const { body: evidence } = await complete<EvidenceAnswer>(service, testKey, medCase.id, ticket.id);
    keeps('uploadFile', await put(ticket.upload_url));
    keeps('downloadFile', await service.call('GET', local(evidence.view_url)));
    keeps('downloadFile', await service.call('GET', `${local(evidence.view_url)}x`));
    service.clock.advance(901);
    keeps('uploadFile', await put(ticket.upload_url));
    keeps('downloadFile', await service.call('GET', local(evidence.view_url)));
    service.clock.advance(-901);
  });

  it('when a PSP calls back', async () => {
    const connection = randomUUID();
    const secret = service.get(SecretBox).sign('pix-callback', connection);
    const caller = { inbound: { mtls: false, addresses: null }, oldestSecret: 1, newestSecret: 1 };
    jest
      .spyOn(service.get(ConnectionsService), 'callerOf')
      .mockImplementation(async (id) => (id === connection ? caller : null));
    for (const [suffix, name] of [
      ['', ''],
      ['/pix', 'Pix'],
    ] as const) {
      for (const path of [connection, randomUUID()].map((id) => `/callbacks/pix/${id}/${secret}${suffix}`)) {
        keeps(`receive${name}Callback`, await service.call('POST', path, { body: { pix: [] } }));
        keeps(`receive${name}Callback`, await service.call('POST', path, { rawBody: 'x'.repeat(1_100_000) }));
        keeps(`test${name}Callback`, await service.call('GET', path));
      }
    }
  });

  it('when an API key is used from an address that it does not allow, or a foreign page writes', async () => {
    const owner = await service.login(merchant.ownerEmail);
    const body = { test: true, allowed_ips: ['203.0.113.7'] };
    const fenced = (await service.call<{ apiKey: string }>('POST', '/v1/api-keys', { token: owner, body })).body.apiKey;
    const login = { email: merchant.ownerEmail, password: PASSWORD, session: 'cookie' };
    const headers = { 'X-Requested-With': 'dashboard' };
    const { headers: answered } = await service.call('POST', '/v1/auth/login', { body: login, headers });
    const cookie = answered.get('set-cookie')?.split(';')[0] ?? '';
    for (const { method, path, operation } of operations.filter((candidate) => candidate.path.startsWith('/v1/'))) {
      const isForKeys = operation.security?.some((scheme) => 'apikey' in scheme) === true;
      const isPersonsWrite = operation.security?.some((scheme) => 'dashboard' in scheme) === true && method !== 'GET';
      if (!isForKeys && !isPersonsWrite) continue;
      const at = path.replace('{mode}', 'test').replaceAll(/\{\w+\}/g, 'nobody');
      const answer = await service.call(method, at, isForKeys ? { key: fenced } : { headers: { cookie } });
      const { code } = (answer.body as { error: { code: string } }).error;
      expect([operation.operationId, code]).toEqual([
        operation.operationId,
        isForKeys ? 'ip_not_allowed' : 'foreign_page',
      ]);
      keeps(operation.operationId, answer);
    }
  });

  it('when a query has an unknown field or an operation ignores a body', async () => {
    const [{ token: operator }, owner] = [await service.operator(), await service.login(merchant.ownerEmail)];
    for (const { method, path, operation } of operations.filter((candidate) => candidate.path.startsWith('/v1/'))) {
      const isForKeys = (operation.security ?? []).some((scheme) => 'apikey' in scheme);
      const token = path.startsWith('/v1/operations/') ? operator : owner;
      const who = isForKeys ? { key: key() } : { token };
      const at = path.replace('{mode}', 'test').replaceAll(/\{\w+\}/g, 'nobody');
      const isBodiless = method !== 'GET' && operation.requestBody === undefined;
      const answers = [
        await service.call(method, `${at}?unread=1`, who),
        ...(isBodiless ? await unread(method, at, who) : []),
      ];
      expect([method, path, ...answers.map(({ status }) => status)]).toEqual([
        ...[method, path, 400],
        ...(isBodiless ? [415, 413] : []),
      ]);
      for (const answer of answers) keeps(operation.operationId, answer);
    }
  });

  it('when payers and operators open pages', async () => {
    const raw = charge.id.slice(3);
    for (const id of [raw, 'nobody']) {
      keeps('getCheckoutPage', await service.call('GET', `/checkout/${id}`));
      keeps('getCheckoutReceipt', await service.call('GET', `/checkout/${id}/receipt`));
      keeps('getCheckoutLogo', await service.call('GET', `/checkout/${id}/logo`));
      keeps('getCheckoutStatus', await service.call('GET', `/checkout/${id}/status`));
      keeps('getCheckoutQr', await service.call('GET', `/checkout/${id}/qr.png`));
    }
    const brand = await service.merchant({
      logo: `data:image/png;base64,${Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').toString('base64')}`,
    });
    const sold = await service.createCharge(brand.testKey);
    await service.simulate(brand.testKey, sold.body.id, { event: 'pay' });
    keeps('getCheckoutReceipt', await service.call('GET', `/checkout/${sold.body.id}/receipt`));
    keeps('getCheckoutLogo', await service.call('GET', `/checkout/${sold.body.id}/logo`));
    keeps('getLiveness', await service.call('GET', '/health/live'));
    keeps('getReadiness', await service.call('GET', '/health/ready'));
    keeps('getMetrics', await service.call('GET', '/metrics'));
  });

  it('when payment links are created, changed, ended and paid', async () => {
    const { testKey } = merchant;
    const path = '/v1/payment-links';
    const on = (method: string, action: string, body?: object, who: string = testKey): Promise<Answer> =>
      service.call(method, `${path}${action}`, { key: who, ...(body === undefined ? {} : { body }) });
    const raw = (method: string, action: string, rawBody: string): Promise<Answer> =>
      service.call(method, `${path}${action}`, {
        ...{ key: testKey, rawBody },
        headers: { 'content-type': rawBody === 'x' ? 'a/b' : 'application/json', 'Idempotency-Key': randomUUID() },
      });
    const once = randomUUID();
    const full = {
      ...{ description: 'Half a kilo', ask: ['name'], question: 'Whole?', metadata: { a: 1 }, max_payments: 5 },
      ...{ expires_at: '2099-12-31', return_url: 'https://shop.example/', picture: PICTURE },
    };
    const id = 'createPaymentLink';
    const link = await createLink(service, testKey, full, once);
    for (const body of [full, {}]) keeps(id, await createLink(service, testKey, body, once));
    keeps(id, link);
    keeps(id, await createLink(service, testKey, { amount: 0 }));
    keeps(id, await createLink(service, 'x'));
    for (const body of ['x', ' '.repeat(300_000)]) {
      keeps(id, await raw('POST', '', body));
      keeps('changePaymentLink', await raw('PATCH', `/${link.body.id}`, body));
      keeps('endPaymentLink', await raw('POST', `/${link.body.id}/end`, body));
    }
    for (const who of [testKey, 'x']) {
      keeps('listPaymentLinks', await on('GET', '', undefined, who));
      for (const one of [link.body.id, 'nobody']) {
        keeps('getPaymentLink', await on('GET', `/${one}`, undefined, who));
        keeps('changePaymentLink', await on('PATCH', `/${one}`, { question: null, picture: null }, who));
      }
    }
    keeps('listPaymentLinks', await on('GET', '?limit=0'));
    keeps('changePaymentLink', await on('PATCH', `/${link.body.id}`, { amount: 0 }));

    const refusing = await service.merchant({ fraud_max_amount: '1' });
    const pages = [pathOf(link.body), '/pay/nobody'];
    const refused = pathOf(await aPaymentLink(service, refusing.testKey, { picture: PICTURE }));
    const ofLive = pathOf((await createLink(service, merchant.liveKey)).body);
    for (const page of [...pages, refused]) {
      keeps('getPayPage', await service.call('GET', page));
      for (const [what, action] of [
        ...([
          ['Poster', '/print'],
          ['QrPng', '/qr.png'],
          ['QrSvg', '/qr.svg'],
        ] as const),
        ...([
          ['Picture', '/picture'],
          ['Logo', '/logo'],
        ] as const),
      ]) {
        keeps(`getPay${what}`, await service.call('GET', `${page}${action}`));
      }
    }
    const branded = await service.merchant({ logo: PICTURE });
    keeps('getPayLogo', await service.call('GET', `${pathOf(await aPaymentLink(service, branded.testKey))}/logo`));
    const fields = { visit: 'v'.repeat(22), name: 'Maria' };
    for (const page of [...pages, refused, ofLive]) keeps('payByLink', await sendForm(service, page, fields));
    keeps('payByLink', await sendForm(service, pages[0] ?? '', {}));
    keeps('endPaymentLink', await on('POST', `/${link.body.id}/end`));
    keeps('endPaymentLink', await on('POST', '/nobody/end'));
    keeps('endPaymentLink', await on('POST', `/nobody/end`, undefined, 'x'));
    keeps('endPaymentLink', await on('POST', `/${link.body.id}/end`, { a: 1 }));
    keeps('changePaymentLink', await on('PATCH', `/${link.body.id}`, {}));
    keeps('getPayPage', await service.call('GET', pages[0] ?? ''));
    keeps('payByLink', await sendForm(service, pages[0] ?? '', fields));
  });

  it('when customers are listed, read, exported and erased', async () => {
    const { testKey } = merchant;
    const owner = await service.login(merchant.ownerEmail);
    const admin = (await service.member(merchant.accountId, 'ADMIN')).token;
    const sale = await service.createCharge(testKey, { customer: { name: 'Rosa', email: 'rosa@example.com' } });
    await service.simulate(testKey, sale.body.id, { event: 'pay' });
    const path = '/v1/customers';
    const own = `/cus_${sale.body.id.slice(3)}`;
    for (const key of [testKey, 'x']) {
      for (const query of ['', '?query=rosa', '?limit=0', `?starting_after=${randomUUID()}`]) {
        keeps('listCustomers', await service.call('GET', `${path}${query}`, { key }));
      }
      for (const one of [own, '/nobody']) {
        keeps('getCustomer', await service.call('GET', `${path}${one}`, { key }));
        for (const query of ['', '?limit=0']) {
          keeps('listCustomerPayments', await service.call('GET', `${path}${one}/payments${query}`, { key }));
        }
        for (const action of ['export', 'erase']) {
          keeps(`${action}Customer`, await service.call('POST', `${path}${one}/${action}`, { key }));
        }
      }
    }
    const door = `/v1/dashboard/test/customers${own}`;
    for (const token of [admin, owner]) {
      keeps('exportCustomer', await service.call('POST', `${door}/export`, { token }));
      if (token === admin) keeps('eraseCustomer', await service.call('POST', `${door}/erase`, { token, body: {} }));
      keeps('eraseCustomer', await service.call('POST', `${door}/erase`, { token, body: { metadata: 1 } }));
    }
    for (const rawBody of ['x', ' '.repeat(300_000)]) {
      const headers = { 'content-type': rawBody === 'x' ? 'a/b' : 'application/json' };
      for (const action of ['export', 'erase']) {
        keeps(`${action}Customer`, await service.call('POST', `${door}/${action}`, { token: owner, rawBody, headers }));
      }
    }
    keeps('eraseCustomer', await service.call('POST', `${door}/erase`, { token: owner, body: {} }));
  });

  it('when lists are counted', async () => {
    for (const [id, path] of [
      ['countPayments', '/v1/payments/totals'],
      ['countPayouts', '/v1/payouts/totals'],
      ['countWalletEntries', '/v1/wallets/entries/totals'],
      ['countMedCases', '/v1/med/cases/totals'],
      ['countInfractions', '/v1/infractions/totals'],
      ['countCustomers', '/v1/customers/totals'],
      ['countPaymentLinks', '/v1/payment-links/totals'],
    ] as const) {
      for (const key of [merchant.testKey, 'x']) keeps(id, await service.call('GET', path, { key }));
    }
  });

  it('when notes about a sale are written, listed and deleted', async () => {
    const token = await service.login(merchant.ownerEmail);
    const reader = (await service.member(merchant.accountId, 'MEMBER')).token;
    const sale = (await service.createCharge(merchant.testKey)).body.id.slice(3);
    const notes = (id: string): string => `/v1/dashboard/test/payments/${id}/notes`;
    const note = await service.call<{ id: string }>('POST', notes(sale), { token, body: { text: 'Ligou.' } });
    keeps('addNote', note);
    for (const [id, who] of [
      [randomUUID(), token],
      [sale, reader],
      [sale, 'x'],
    ] as const) {
      keeps('addNote', await service.call('POST', notes(id), { token: who, body: { text: 'Ligou.' } }));
    }
    keeps('addNote', await service.call('POST', notes(sale), { token, body: {} }));
    for (const rawBody of ['x', ' '.repeat(300_000)]) {
      const headers = { 'content-type': rawBody === 'x' ? 'a/b' : 'application/json' };
      keeps('addNote', await service.call('POST', notes(sale), { token, rawBody, headers }));
      keeps('changeNotices', await service.call('PATCH', '/v1/auth/notices', { token, rawBody, headers }));
    }
    for (const [id, who] of [
      [sale, token],
      [randomUUID(), token],
      [sale, 'x'],
    ] as const) {
      keeps('listNotes', await service.call('GET', notes(id), { token: who }));
    }
    for (const who of ['x', reader, token, token]) {
      keeps('deleteNote', await service.call('DELETE', `${notes(sale)}/${note.body.id}`, { token: who }));
    }
  });

  it('when a person chooses notices', async () => {
    const path = '/v1/auth/notices';
    const { token: operator } = await service.operator();
    for (const token of [await service.login(merchant.ownerEmail), 'x', operator]) {
      keeps('getNotices', await service.call('GET', path, { token }));
      keeps('changeNotices', await service.call('PATCH', path, { token, body: { mail: ['dispute'] } }));
    }
  });

  it('for every documented answer, except those that need a failure', () => {
    const rest = operations.flatMap(({ operation }) =>
      Object.keys(operation.responses)
        .map((status) => `${operation.operationId} ${status}`)
        .filter((answer) => !seen.has(answer) && !/ (?:429|500|503)$/.test(answer)),
    );
    expect(rest.sort()).toEqual([
      // Sent only above 10 000 sales.
      'eraseCustomer 409',
      'exportCustomer 409',
      // Sent only when the flag is off.
      'listCharges 404',
      // Sent only in production, to operators without a second factor.
      'listSessions 403',
      // Sent only while a twin under the same key is at work for ten seconds.
      'payByLink 409',
      // Sent only with 100 endpoints.
      'registerEndpoint 422',
    ]);
  });
});
