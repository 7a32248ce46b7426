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
      ['charges_create', '/v1/charges'],
      ['charges_createPix', '/v1/pix/charges'],
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
      keeps('sandbox_simulate', await service.simulate(key(), id, event));
      keeps('charges_get', await service.getCharge(key(), id));
    }
    const reads = await Promise.all(simulations.map(([id]) => service.getCharge(key(), id)));
    expect(reads.map((read) => read.body.status)).toEqual(['paid', 'expired', 'failed', 'refunded', 'processing']);

    keeps('charges_get', await service.getCharge(key(), charge.id));
    keeps('charges_get', await service.getCharge(merchant.liveKey, charge.id));
    keeps('charges_get', await service.getCharge('', charge.id));
    keeps('charges_list', await service.call('GET', '/v1/charges?limit=2', { key: key() }));
    keeps('charges_list', await service.call('GET', '/v1/charges', { key: merchant.liveKey }));
    keeps('charges_list', await service.call('GET', '/v1/charges?limit=0&page=1', { key: key() }));
    keeps('charges_list', await service.call('GET', '/v1/charges'));
  });

  it('when a charge is simulated in the sandbox', async () => {
    const simulate = (body: object, options: { key?: string; id?: string } = {}): Promise<Answer> =>
      service.call('POST', `/v1/sandbox/charges/${options.id ?? charge.id}/simulate`, {
        key: options.key ?? key(),
        body,
      });
    keeps('sandbox_simulate', await simulate({ event: 'explode' }));
    keeps('sandbox_simulate', await simulate({ event: 'pay' }, { id: 'nobody' }));
    keeps('sandbox_simulate', await simulate({ event: 'pay' }, { key: 'x' }));
    keeps('sandbox_simulate', await simulate({ event: 'pay', payer_name: 'x'.repeat(300_000) }));
    keeps(
      'sandbox_simulate',
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
    keeps('payments_create', await post({}));
    keeps('payments_create', await post({}));
    keeps('payments_create', await post({ amount: 5 }));
    keeps('payments_create', await post({ amount: 0, nonsense: {}, paymentMethods: ['X'] }));
    keeps('payments_create', await post({}, merchant.liveKey));
    keeps('payments_create', await service.call('POST', path, { body }));
    keeps('payments_create', await post({ customerName: 'x'.repeat(300_000) }));
    keeps(
      'payments_create',
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
    keeps('payments_receipt', await on('GET', all, '/receipt'));
    keeps('sandbox_simulatePayment', await simulate(all, { event: 'processing' }));
    const { body: payment } = await on('GET', all, '');
    keeps('payments_providerStatus', await on('GET', all, '/provider-status'));
    keeps('sandbox_simulatePayment', await simulate(all, { event: 'pay' }));
    for (const [path, id] of [
      ['', 'payments_get'],
      ['/receipt', 'payments_receipt'],
      ['/provider-status', 'payments_providerStatus'],
    ] as const) {
      keeps(id, await on('GET', all, path));
      keeps(id, await on('GET', 'nobody', path));
      keeps(id, await on('GET', all, path, null));
    }
    const card = await make(['CREDIT_CARD'], 'openapi-one-card');
    keeps('sandbox_simulate', await simulate(card, { event: 'pay' }, 'charges'));
    keeps('sandbox_simulatePayment', await simulate(card, { event: 'nonsense' }));
    keeps('sandbox_simulatePayment', await simulate('nobody', { event: 'pay' }));
    keeps('sandbox_simulatePayment', await simulate(card, {}, 'payments', { key: 'x' }));
    keeps('sandbox_simulatePayment', await simulate(card, { payer_name: 'x'.repeat(300_000) }));
    const plain = { body: undefined, rawBody: 'x', headers: { 'content-type': 'a/b' } };
    keeps('sandbox_simulatePayment', await simulate(card, {}, 'payments', plain));

    keeps('payments_cancel', await on('POST', card, '/cancel'));
    keeps('payments_cancel', await on('POST', await make(['BOLETO'], 'openapi-cancelled'), '/cancel'));
    keeps('payments_cancel', await on('POST', 'nobody', '/cancel'));
    keeps('payments_cancel', await on('POST', card, '/cancel', null));
    const cancelWith = (rawBody: string): Promise<Answer> =>
      service.call('POST', `/v1/payments/${card}/cancel`, { key: key(), rawBody, headers: { 'content-type': 'a/b' } });
    keeps('payments_cancel', await cancelWith('x'));
    keeps('payments_cancel', await cancelWith('x'.repeat(300_000)));

    for (const query of ['', '?limit=2&page=2', '?status=PAID&sortBy=amount&sortOrder=asc', '?page=0']) {
      keeps('payments_list', await service.call('GET', `/v1/payments${query}`, { key: key() }));
    }
    keeps('payments_list', await service.call('GET', '/v1/payments'));
    for (const query of ['', '?days=2', '?days=0', '?nonsense=1']) {
      keeps('statistics_stats', await service.call('GET', `/v1/payments/stats${query}`, { key: key() }));
    }
    keeps('statistics_stats', await service.call('GET', '/v1/payments/stats'));
    for (const query of ['', '?days=2&currency=BRL', '?currency=USDT', '?currency=brl']) {
      keeps('statistics_metrics', await service.call('GET', `/v1/payments/metrics${query}`, { key: key() }));
    }
    keeps('statistics_metrics', await service.call('GET', '/v1/payments/metrics'));
    for (const query of ['', '?days=2&count=bank', '?days=0', '?currency=brl']) {
      keeps('statistics_summary', await service.call('GET', `/v1/payments/summary${query}`, { key: key() }));
    }
    keeps('statistics_summary', await service.call('GET', '/v1/payments/summary'));

    const at = (url: unknown): string => new URL(url as string).pathname;
    const cardPath = at(payment['cardRedirectUrl']);
    const waiting = await make(['CREDIT_CARD'], 'openapi-card-page');
    await simulate(waiting, { event: 'processing' });
    const { body: open } = await on('GET', waiting, '');
    keeps('sandboxpages_card', await service.call('GET', cardPath));
    keeps('sandboxpages_boleto', await service.call('GET', at(payment['boletoPdfUrl'])));
    keeps('sandboxpages_refuse', await service.call('POST', `${at(open['cardRedirectUrl'])}/refuse`));
    keeps('sandboxpages_approve', await service.call('POST', `${at(open['cardRedirectUrl'])}/approve`));
    keeps('sandboxpages_card', await service.call('GET', '/sandbox/cards/nobody'));
    keeps('sandboxpages_boleto', await service.call('GET', '/sandbox/boletos/nobody/boleto.pdf'));
    for (const answer of ['approve', 'refuse']) {
      keeps(`sandboxpages_${answer}`, await service.call('POST', `/sandbox/cards/nobody/${answer}`));
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
    keeps('refunds_list', await list(testKey));
    keeps('refunds_listAll', await service.call('GET', '/v1/refunds', { key: testKey }));
    keeps('refunds_listAll', await service.call('GET', '/v1/refunds?status=x', { key: testKey }));
    keeps('refunds_listAll', await service.call('GET', '/v1/refunds', { key: 'x' }));
    keeps('refunds_create', await refund({ ...body, reason: 'Article returned' }));
    keeps('refunds_create', await refund({ ...body, reason: 'Article returned' }));
    keeps('refunds_create', await refund({ ...body, amount: 1 }));
    keeps('refunds_create', await refund({ idempotencyKey: 'openapi-refund-2', amount: 1, strategy: 'devolution' }));
    keeps('refunds_create', await refund({ idempotencyKey: 'openapi-refund-3', amount: 1991 }));
    keeps('refunds_create', await refund({ amount: 0, nonsense: {} }));
    keeps('refunds_create', await refund(body, { id: 'nobody' }));
    keeps('refunds_create', await refund(body, { key: 'x' }));
    keeps('refunds_create', await refund({}, { rawBody: 'x' }));
    keeps('refunds_create', await refund({}, { rawBody: ' '.repeat(300_000) }));
    const card = { amount: 1990, paymentMethods: ['CREDIT_CARD'], idempotencyKey: 'openapi-refunded-card' };
    const { body: byCard } = await service.call<{ id: string }>('POST', '/v1/payments', { key: testKey, body: card });
    await service.simulate(testKey, byCard.id, { event: 'pay' });
    keeps('refunds_create', await refund({ idempotencyKey: 'openapi-refund-4' }, { id: byCard.id }));
    keeps('refunds_list', await list(testKey, byCard.id));
    // Every operation that shows a sale with refunds.
    const shown = {
      charge: await service.getCharge(testKey, own.id),
      card: await service.simulate(testKey, byCard.id, { event: 'refund_fail' }),
    };
    keeps('charges_get', shown.charge);
    keeps('sandbox_simulate', shown.card);
    expect([shown.charge.body, shown.card.body.charge]).toMatchObject([
      { amount_refunded: 991 },
      { amount_refunded: 1990 },
    ]);
    keeps('payments_get', await service.call('GET', `/v1/payments/${id}`, { key: testKey }));
    keeps('payments_list', await service.call('GET', '/v1/payments', { key: testKey }));
    // The money of this payment waits for the release.
    const { body: held } = await service.createCharge(key());
    await service.simulate(key(), held.id, { event: 'pay' });
    keeps('refunds_create', await refund(body, { key: key(), id: held.id }));
    await waitFor('the refunds to end', async () => {
      const answer = await list(testKey);
      keeps('refunds_list', answer);
      return !/"(?:PENDING|IN_PROGRESS)"/.test(answer.text);
    });
    keeps('refunds_list', await list(testKey, 'nobody'));
    keeps('refunds_list', await list('x'));
  });

  it('when balances are read, with and without money', async () => {
    const paid = await service.createCharge(key());
    await service.simulate(key(), paid.body.id, { event: 'pay' });
    for (const who of [key(), merchant.liveKey]) {
      keeps('wallets_list', await service.call('GET', '/v1/wallets', { key: who }));
      keeps('wallets_balance', await service.call('GET', '/v1/wallets/balance', { key: who }));
      keeps('wallets_balance', await service.call('GET', '/v1/wallets/balance?currency=USD', { key: who }));
      keeps('wallets_balance', await service.call('GET', '/v1/wallets/balance?at=2030-01-01', { key: who }));
      keeps(
        'wallets_balance',
        await service.call('GET', '/v1/wallets/balance?at=2030-01-01&currency=BRL', { key: who }),
      );
      keeps('wallets_entries', await service.call('GET', '/v1/wallets/entries', { key: who }));
    }
    keeps('wallets_balance', await service.call('GET', '/v1/wallets/balance?currency=brl', { key: key() }));
    keeps('wallets_balance', await service.call('GET', '/v1/wallets/balance'));
    keeps('wallets_entries', await service.call('GET', '/v1/wallets/entries?type=theft', { key: key() }));
    keeps('wallets_entries', await service.call('GET', '/v1/wallets/entries'));
    for (const query of ['', '?currency=BRL', '?currency=brl']) {
      keeps('wallets_releases', await service.call('GET', `/v1/wallets/releases${query}`, { key: key() }));
    }
    keeps('wallets_releases', await service.call('GET', '/v1/wallets/releases'));
    keeps('wallets_list', await service.call('GET', '/v1/wallets'));
  });

  it('when events are read and followed', async () => {
    for (const query of ['', '?type=*,payment.completed&limit=3', '?type=nothing', '?after=x']) {
      keeps('events_list', await service.call('GET', `/v1/events${query}`, { key: key() }));
      keeps('events_stream', await service.call('GET', `/v1/events/stream${query.split('&')[0]}`, { key: key() }));
    }
    keeps('events_list', await service.call('GET', '/v1/events'));
    keeps('events_stream', await service.call('GET', '/v1/events/stream'));
  });

  it('when reports are requested', async () => {
    const body = { type: 'statement', format: 'csv', from: '2026-11-01', to: '2026-11-30' };
    const path = '/v1/reports';
    const asked = await service.call<{ id: string }>('POST', path, { key: key(), body });
    keeps('reports_create', asked);
    for (const wrong of [
      { ...body, to: '2026-10-01' },
      { ...body, note: 'x'.repeat(300_000) },
    ]) {
      keeps('reports_create', await service.call('POST', path, { key: key(), body: wrong }));
    }
    const text = { rawBody: 'x', headers: { 'content-type': 'text/plain' } };
    keeps('reports_create', await service.call('POST', path, { key: key(), ...text }));
    keeps('reports_create', await service.call('POST', path, { body }));
    const one = `${path}/${asked.body.id}`;
    await waitFor('the report', async () => {
      const answer = await service.call('GET', one, { key: key() });
      keeps('reports_get', answer);
      return answer.body['status'] === 'ready';
    });
    keeps('reports_get', await service.call('GET', one, { key: merchant.liveKey }));
    keeps('reports_get', await service.call('GET', one));
    const busy = await service.merchant();
    await service.sql(
      `INSERT INTO reports (id, account_id, mode, type, format, window_from, window_to, status, created_at)
       SELECT gen_random_uuid(), $1, 'test', 'statement', 'csv', now(), now(), 'pending', now() FROM generate_series(1, 5)`,
      [busy.accountId],
    );
    keeps('reports_create', await service.call('POST', path, { key: busy.testKey, body }));
    keeps('reports_list', await service.call('GET', path, { key: key() }));
    keeps('reports_list', await service.call('GET', `${path}?limit=0`, { key: key() }));
    keeps('reports_list', await service.call('GET', path));
  });

  it('when endpoints are registered and listed', async () => {
    const path = '/v1/webhooks/endpoints';
    const url = 'https://merchant.example/hooks';
    keeps('endpoints_list', await service.call('GET', path, { key: key() }));
    keeps(
      'endpoints_register',
      await service.call('POST', path, { key: key(), body: { url, events: ['*', 'payment.created'] } }),
    );
    keeps(
      'endpoints_register',
      await service.call('POST', path, { key: key(), body: { url: 'nowhere', events: ['x', 1] } }),
    );
    keeps('endpoints_register', await service.call('POST', path, { body: {} }));
    keeps(
      'endpoints_register',
      await service.call('POST', path, { key: key(), rawBody: 'x', headers: { 'content-type': 'a/b' } }),
    );
    keeps('endpoints_register', await service.call('POST', path, { key: key(), rawBody: ' '.repeat(300_000) }));
    keeps('endpoints_list', await service.call('GET', path, { key: key() }));
    keeps('endpoints_list', await service.call('GET', path));
    keeps('endpoints_eventCatalog', await service.call('GET', '/v1/webhooks/event-catalog'));
    for (const [event, who] of [
      ['charge.paid', { key: key() }],
      ['charge.paid', {}],
      ['charge.unheard_of', { key: key() }],
    ] as const) {
      keeps('endpoints_eventSample', await service.call('GET', `/v1/webhooks/event-catalog/${event}/sample`, who));
    }
  });

  it('when an endpoint is changed, tested and deleted, and its signatures are verified', async () => {
    const path = '/v1/webhooks/endpoints';
    const { body: endpoint } = await service.call<{ id: string; secret: string }>('POST', path, {
      key: key(),
      body: { url: 'https://merchant.example/hooks', events: ['*'] },
    });
    const calls: [string, string, string, object, object][] = [
      [
        'endpoints_update',
        'PATCH',
        `${path}/${endpoint.id}`,
        { events: ['charge.paid'] },
        { status: 'x', secret: 'y' },
      ],
      ['endpoints_rotateSecret', 'POST', `${path}/${endpoint.id}/rotate-secret`, {}, { overlap_seconds: -1 }],
      ['endpoints_test', 'POST', `${path}/${endpoint.id}/test`, { event: 'charge.paid' }, { event: 'payout.paid' }],
      ['signing_rotateDefault', 'POST', '/v1/webhooks/default-secret/rotate', {}, { overlap_seconds: 'x' }],
      ['signing_verify', 'POST', '/v1/webhooks/verify', { payload: '', headers: {}, secret: '' }, { payload: {} }],
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
      keeps('signing_verify', await service.call('POST', '/v1/webhooks/verify', { key: key(), body }));
    }
    for (const who of [merchant.liveKey, key(), '']) {
      keeps('endpoints_remove', await service.call('DELETE', `${path}/${endpoint.id}`, { key: who }));
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
      keeps('payments_resendWebhook', await service.call('POST', `/v1/payments/${id}/resend-webhook`, { key: who }));
    }

    const path = '/v1/webhooks/deliveries';
    const list = async (query: string): Promise<{ id: string }[]> => {
      const answer = await service.call<{ data: { id: string; attempts: number }[] }>('GET', `${path}${query}`, {
        key: key(),
      });
      keeps('deliveries_list', answer);
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
    keeps('deliveries_list', await service.call('GET', `${path}?limit=0&page=1`, { key: key() }));
    keeps('deliveries_list', await service.call('GET', path));
    keeps('deliveries_stats', await service.call('GET', '/v1/webhooks/stats', { key: key() }));
    keeps('deliveries_stats', await service.call('GET', '/v1/webhooks/stats'));
    for (const each of [tried, cancelled]) {
      for (const who of [key(), merchant.liveKey, '']) {
        keeps('deliveries_get', await service.call('GET', `${path}/${each?.id}`, { key: who }));
        keeps('deliveries_retry', await service.call('POST', `${path}/${each?.id}/retry`, { key: who }));
      }
    }

    const recover = `/v1/webhooks/endpoints/${endpoint}/recover`;
    const since = new Date(Date.now() - 60_000).toISOString();
    for (const body of [{ since }, { since, dry_run: true }, { since: 'then', dry_run: 1 }]) {
      keeps('deliveries_recover', await service.call('POST', recover, { key: key(), body }));
    }
    keeps('deliveries_recover', await service.call('POST', recover, { key: merchant.liveKey, body: { since } }));
    keeps('deliveries_recover', await service.call('POST', recover));
    const headers = { 'content-type': 'a/b' };
    keeps('deliveries_recover', await service.call('POST', recover, { key: key(), rawBody: 'x', headers }));
    keeps('deliveries_recover', await service.call('POST', recover, { key: key(), rawBody: ' '.repeat(300_000) }));
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
    keeps('payouts_create', await ask({ description: 'Withdrawal', metadata: { reference: 7 } }, { as: once }));
    keeps('payouts_create', await ask({ description: 'Withdrawal', metadata: { reference: 7 } }, { as: once }));
    keeps('payouts_create', await ask({}));
    keeps('payouts_create', await ask({ amount: 0, nonsense: 1, destination: { type: 'x' } }));
    keeps('payouts_create', await ask({ amount: 99_999_999 }));
    keeps('payouts_create', await ask({}, { key: 'x' }));
    const blocking = await aFundedMerchant(service, { fraud_blocked_documents: '52998224725' });
    keeps('payouts_create', await ask({}, { key: blocking.testKey }));
    for (const body of ['x', ' '.repeat(300_000)])
      keeps('payouts_create', await raw('/v1/payouts', body, { key: testKey }));

    const sent = await aPayout(service, blocking.testKey, { destination: { type: 'pix_key', key: '11144477735' } });
    const on = (method: string, path: string, who: object, body?: object): Promise<Answer> =>
      service.call(method, path, { ...who, ...(body === undefined ? {} : { body }) });
    for (const event of ['pay', 'return']) {
      keeps('sandboxpayouts_simulate', await simulatePayout(service, blocking.testKey, sent.id, { event }));
      await payoutOf(service, blocking.testKey, sent.id, event === 'pay' ? 'paid' : 'refunded');
      keeps('payouts_get', await on('GET', `/v1/payouts/${sent.id}`, { key: blocking.testKey }));
    }
    for (const id of ['nobody', sent.id]) {
      const path = `/v1/sandbox/payouts/${id}/simulate`;
      keeps(
        'sandboxpayouts_simulate',
        await on('POST', path, { key: blocking.testKey }, { event: 'return', amount: 9_999 }),
      );
      keeps('sandboxpayouts_simulate', await on('POST', path, { key: 'x' }, { event: 'pay' }));
      for (const body of ['x', ' '.repeat(300_000)]) {
        keeps('sandboxpayouts_simulate', await raw(path, body, { key: blocking.testKey }));
      }
    }
    for (const who of [testKey, 'x']) {
      keeps('payouts_list', await on('GET', '/v1/payouts', { key: who }));
      keeps('payouts_get', await on('GET', '/v1/payouts/nobody', { key: who }));
      keeps('payouts_cancel', await on('POST', '/v1/payouts/nobody/cancel', { key: who }));
    }
    keeps('payouts_cancel', await on('POST', `/v1/payouts/${sent.id}/cancel`, { key: blocking.testKey }));
    const cancelled = await aPayout(service, testKey, { amount: 2_000 });
    keeps('payouts_cancel', await on('POST', `/v1/payouts/${cancelled.id}/cancel`, { key: testKey }));
    for (const body of ['x', ' '.repeat(300_000)]) {
      keeps('payouts_cancel', await raw(`/v1/payouts/${cancelled.id}/cancel`, body, { key: testKey }));
    }
    for (const what of ['approve', 'refuse']) {
      const waiting = await aPayout(service, testKey, { amount: 2_001, allow_duplicate: true });
      const at = (id: string): string => `/v1/dashboard/test/payouts/${id}/${what}`;
      const id = `payouts_${what}`;
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
    keeps('payoutdestinations_save', saved);
    keeps('payoutdestinations_save', await on('POST', path, { key: testKey }, { type: 'pix_key' }));
    keeps('payoutdestinations_save', await on('POST', path, { key: 'x' }, target));
    keeps('payoutdestinations_save', await on('POST', path, { key: testKey }, { ...target, tax_id: '11144477735' }));
    for (const body of ['x', ' '.repeat(300_000)])
      keeps('payoutdestinations_save', await raw(path, body, { key: testKey }));
    keeps('payouts_create', await ask({ amount: 77, destination: saved.body.id }));
    const approval = (id: string): string => `/v1/dashboard/test/payout-destinations/${id}/approve`;
    const approves = 'payoutdestinations_approve';
    keeps(approves, await on('POST', approval(saved.body.id), { token: owner }, {}));
    keeps(approves, await on('POST', approval(saved.body.id), { token: owner }, { code: 1 }));
    keeps(approves, await on('POST', approval(saved.body.id), { token: admin.token }, {}));
    keeps(approves, await on('POST', approval('nobody'), { token: owner }, {}));
    keeps(approves, await on('POST', approval(saved.body.id), {}, {}));
    for (const body of ['x', ' '.repeat(300_000)]) {
      keeps(approves, await raw(approval(saved.body.id), body, { token: owner }));
    }
    for (const who of [testKey, 'x']) {
      keeps('payoutdestinations_list', await on('GET', path, { key: who }));
      for (const id of [saved.body.id, 'nobody']) {
        keeps('payoutdestinations_get', await on('GET', `${path}/${id}`, { key: who }));
      }
    }
    for (const body of ['x', ' '.repeat(300_000)]) {
      const call = {
        key: testKey,
        rawBody: body,
        headers: { 'content-type': body === 'x' ? 'a/b' : 'application/json' },
      };
      keeps('payoutdestinations_remove', await service.call('DELETE', `${path}/${saved.body.id}`, call));
    }
    for (const [id, who] of [
      [saved.body.id, testKey],
      ['nobody', testKey],
      ['nobody', 'x'],
    ]) {
      keeps('payoutdestinations_remove', await on('DELETE', `${path}/${id}`, { key: who }));
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
      keeps('operationspayouts_list', await service.call('GET', path, { token }));
    }
    const resolve = (body: object, token = operator, id = payout.id.slice(3)): Promise<Answer> =>
      service.call('POST', `${path}/${id}/resolve`, { token, body: { ...body } });
    const failed = { outcome: 'failed', reason: 'The statement of the bank does not have it.' };
    const id = 'operationspayouts_resolve';
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
    keeps('auth_login', first);
    keeps('auth_login', await login({ email: (await service.operator()).email, password: PASSWORD }));
    keeps('auth_login', await login({ ...credentials, password: 'x' }));
    keeps('auth_login', await login({}));
    for (const answer of await unread('POST', '/v1/auth/login', {})) keeps('auth_login', answer);
    const token = String(first.body['access_token']);
    const forgot = '/v1/auth/forgot-password';
    for (const body of [{ email: merchant.ownerEmail }, {}]) {
      keeps('auth_forgotPassword', await service.call('POST', forgot, { body }));
    }
    for (const answer of await unread('POST', forgot, {})) keeps('auth_forgotPassword', answer);
    const reset = '/v1/auth/reset-password';
    const chosen = { token: await service.mailedToken(merchant.ownerEmail), password: PASSWORD };
    for (const answer of await unread('POST', reset, {})) keeps('auth_resetPassword', answer);
    const person = await service.member(merchant.accountId, 'MEMBER');
    await personAnswers(person);
    keeps('auth_resetPassword', await service.call('POST', reset, { body: chosen }));
    keeps('auth_resetPassword', await service.call('POST', reset, { body: chosen }));
    const again = await service.login(merchant.ownerEmail);
    keeps('person_currentSession', await service.call('GET', '/v1/auth/session', { token: again }));
    keeps('person_currentSession', await service.call('GET', '/v1/auth/session'));
    const browser = { email: merchant.ownerEmail, password: PASSWORD, session: 'cookie' };
    for (const headers of [{}, { 'x-requested-with': 'dashboard' }]) {
      keeps('auth_login', await service.call('POST', '/v1/auth/login', { headers, body: browser }));
    }
    keeps('auth_logout', await service.call('POST', '/v1/auth/logout', { token: again }));
    keeps('auth_logout', await service.call('POST', '/v1/auth/logout', { token }));
  });

  /** Operations on the own login: passwords, sessions, and the second factor */
  async function personAnswers({ email, token }: { email: string; token: string }): Promise<void> {
    const ask = (method: string, path: string, body?: object, who: { token?: string } = { token }): Promise<Answer> =>
      service.call(method, `/v1/auth/${path}`, { ...who, ...(body && { body }) });
    for (const body of [{}, { name: 'Ana Souza' }]) keeps('person_rename', await ask('PATCH', 'user', body));
    keeps('person_rename', await ask('PATCH', 'user', { name: 'Ana' }, {}));
    const other = await service.login(email);
    const sessions = await ask('GET', 'sessions');
    keeps('person_listSessions', sessions);
    keeps('person_listSessions', await ask('GET', 'sessions', undefined, {}));
    const ended = `sessions/${String(claimsOf(other)['jti'])}`;
    for (const who of [{}, { token }, { token }])
      keeps('person_endSession', await ask('DELETE', ended, undefined, who));
    const NEXT = 'another good password';
    for (const body of [{}, { current_password: 'x', new_password: NEXT }]) {
      keeps('person_changePassword', await ask('POST', 'password', body));
    }
    keeps('person_changePassword', await ask('POST', 'password', { current_password: PASSWORD, new_password: NEXT }));
    keeps('person_changePassword', await ask('POST', 'password', {}, {}));
    keeps('person_confirmTotp', await ask('POST', 'totp/confirm', { code: '1' }));
    const begun = await ask('POST', 'totp', { password: NEXT });
    keeps('person_beginTotp', await ask('POST', 'totp', {}));
    keeps('person_beginTotp', begun);
    keeps('person_beginTotp', await ask('POST', 'totp', undefined, {}));
    const totp = new TOTP({ secret: Secret.fromBase32(String(begun.body['secret'])) });
    const code = (): string => totp.generate({ timestamp: service.clock.now().getTime() });
    for (const body of [{}, { code: 'wrong' }, { code: code() }, { code: code() }]) {
      keeps('person_confirmTotp', await ask('POST', 'totp/confirm', body));
    }
    keeps('person_confirmTotp', await ask('POST', 'totp/confirm', {}, {}));
    keeps('person_beginTotp', await ask('POST', 'totp', { password: NEXT }));
    for (const sent of [{}, { code: code() }]) {
      keeps('auth_login', await service.call('POST', '/v1/auth/login', { body: { email, password: NEXT, ...sent } }));
    }
    service.clock.advance(30);
    for (const body of [
      {},
      { password: 'x', code: 'x' },
      { password: NEXT, code: code() },
      { password: NEXT, code: '1' },
    ]) {
      keeps('person_removeTotp', await ask('DELETE', 'totp', body));
    }
    keeps('person_removeTotp', await ask('DELETE', 'totp', {}, {}));
    for (const [method, path, operation] of [
      ['POST', 'password', 'person_changePassword'],
      ['PATCH', 'user', 'person_rename'],
      ['POST', 'totp', 'person_beginTotp'],
      ['POST', 'totp/confirm', 'person_confirmTotp'],
      ['DELETE', 'totp', 'person_removeTotp'],
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
    keeps('apikeys_issue', issued);
    keeps('apikeys_issue', await service.call('POST', path, { token }));
    keeps('apikeys_issue', await service.call('POST', path, { token, body: { label: 1, test: 1 } }));
    keeps('apikeys_issue', await service.call('POST', path));
    keeps('apikeys_issue', await service.call('POST', path, { token: member }));
    for (const answer of await unread('POST', path, { token })) keeps('apikeys_issue', answer);
    keeps('apikeys_list', await service.call('GET', path, { token: member }));
    keeps('apikeys_list', await service.call('GET', path));
    keeps('apikeys_list', await service.call('GET', path, { token: operator }));
    const rotate = `${path}/${issued.body.id}/rotate`;
    keeps('apikeys_rotate', await service.call('POST', rotate, { token, body: { label: 1 } }));
    for (const answer of await unread('POST', rotate, { token })) keeps('apikeys_rotate', answer);
    keeps('apikeys_rotate', await service.call('POST', rotate));
    keeps('apikeys_rotate', await service.call('POST', rotate, { token: member }));
    const rotated = await service.call<{ id: string }>('POST', rotate, { token });
    keeps('apikeys_rotate', rotated);
    keeps('apikeys_rotate', await service.call('POST', rotate, { token }));
    for (const who of [{}, { token: operator }, { token: member }]) {
      keeps('apikeys_get', await service.call('GET', `${path}/${rotated.body.id}`, who));
    }
    keeps('apikeys_get', await service.call('GET', `${path}/nobody`, { token }));
    const { body: other } = await service.call<{ id: string }>('POST', path, { token, body: { test: true } });
    for (const who of [{}, { token }, { token: operator }, { token: operator }]) {
      keeps('operationsapikeys_revoke', await service.call('DELETE', `/v1/operations/api-keys/${other.id}`, who));
    }
    for (const who of [{}, { token: member }, { token }, { token }]) {
      keeps('apikeys_revoke', await service.call('DELETE', `${path}/${rotated.body.id}`, who));
    }
  });

  it('when members come, change and go', async () => {
    const token = await service.login(merchant.ownerEmail);
    const { token: member } = await service.member(merchant.accountId, 'MEMBER');
    for (const who of [{}, { token: member }, { token }]) {
      keeps('account_get', await service.call('GET', '/v1/account', who));
      keeps('account_change', await service.call('PATCH', '/v1/account', { ...who, body: { city: 'Recife' } }));
    }
    const { token: operator } = await service.operator();
    keeps('account_get', await service.call('GET', '/v1/account', { token: operator }));
    keeps('account_change', await service.call('PATCH', '/v1/account', { token, body: { fee_bps: 0 } }));
    for (const answer of await unread('PATCH', '/v1/account', { token })) keeps('account_change', answer);
    const path = '/v1/members';
    const email = 'guest@example.com';
    for (const who of [{}, { token: member }, { token }]) keeps('members_list', await service.call('GET', path, who));
    const invited = await service.call<{ id: string }>('POST', path, {
      token,
      body: { email, role: 'ADMIN' },
    });
    keeps('members_invite', invited);
    keeps('members_invite', await service.call('POST', path, { token, body: { email, role: 'ROOT' } }));
    for (const who of [{}, { token: member }]) keeps('members_invite', await service.call('POST', path, who));
    for (const answer of await unread('POST', path, { token })) keeps('members_invite', answer);
    keeps('members_list', await service.call('GET', path, { token }));

    const accept = '/v1/auth/accept-invitation';
    const body = { token: await service.mailedToken(email), password: PASSWORD };
    for (const answer of await unread('POST', accept, {})) keeps('auth_acceptInvitation', answer);
    keeps('auth_acceptInvitation', await service.call('POST', accept, { body }));
    keeps('auth_acceptInvitation', await service.call('POST', accept, { body }));

    const guest = await service.member(merchant.accountId, 'ADMIN');
    const [one, owner] = [`${path}/${guest.userId}`, `${path}/${merchant.ownerId}`];
    const change = (who: { token?: string }, role = 'MEMBER', at = one): Promise<Answer> =>
      service.call('PATCH', at, { ...who, body: { role } });
    for (const who of [{}, { token: member }, { token }]) keeps('members_changeRole', await change(who));
    keeps('members_changeRole', await change({ token }, 'ROOT'));
    keeps('members_changeRole', await change({ token }, 'MEMBER', `${path}/nobody`));
    keeps('members_changeRole', await change({ token }, 'MEMBER', owner));
    for (const answer of await unread('PATCH', one, { token })) keeps('members_changeRole', answer);
    for (const who of [{}, { token: member }, { token }, { token }]) {
      keeps('members_remove', await service.call('DELETE', one, who));
    }
    keeps('members_remove', await service.call('DELETE', owner, { token }));
    expect(invited.status).toBe(201);
    const { accountId, ownerEmail } = await service.merchant();
    const full = await service.login(ownerEmail);
    for (let index = 0; index <= 20; index++) {
      const body = { email: `guest-${index}@${accountId}.example`, role: 'MEMBER' };
      keeps('members_invite', await service.call('POST', path, { token: full, body }));
    }
  });

  it('when somebody reads the audit trail', async () => {
    const token = await service.login(merchant.ownerEmail);
    const { token: member } = await service.member(merchant.accountId, 'MEMBER');
    const path = '/v1/audit-events';
    for (const who of [{}, { token: member }, { token }]) {
      keeps('auditevents_list', await service.call('GET', `${path}?limit=100`, who));
    }
    keeps('auditevents_list', await service.call('GET', `${path}?limit=0`, { token }));
  });

  it('when somebody reads the request log', async () => {
    const token = await service.login(merchant.ownerEmail);
    const { token: operator } = await service.operator();
    const list = (query: string): Promise<Answer<{ data: unknown[] }>> =>
      service.call('GET', `/v1/request-logs?${query}`, { token });
    await waitFor('requests to be logged', async () => (await list('limit=1')).body.data.length > 0);
    keeps('requestlogs_list', await list('limit=100'));
    keeps('requestlogs_list', await list('status=none'));
    for (const who of [{}, { token: operator }]) {
      keeps('requestlogs_list', await service.call('GET', '/v1/request-logs', who));
    }
  });

  it('when the staff of the platform works', async () => {
    const { token } = await service.operator();
    const owner = await service.login(merchant.ownerEmail);
    const strangers = [{}, { token: owner }];
    const accounts = '/v1/operations/accounts';
    const account = `${accounts}/${merchant.accountId}`;
    const body = { name: 'Livraria', email: 'livraria@example.com' };
    keeps('operationsaccounts_create', await service.call('POST', accounts, { token, body }));
    keeps('operationsaccounts_create', await service.call('POST', accounts, { token, body: {} }));
    for (const answer of await unread('POST', accounts, { token })) keeps('operationsaccounts_create', answer);
    for (const answer of await unread('PATCH', account, { token })) keeps('operationsaccounts_change', answer);
    for (const who of [...strangers, { token }]) {
      keeps('operationsaccounts_list', await service.call('GET', accounts, who));
      keeps('operationsaccounts_get', await service.call('GET', account, who));
      keeps('operationsaccounts_listKeys', await service.call('GET', `${account}/api-keys`, who));
    }
    for (const who of strangers) {
      keeps('operationsaccounts_create', await service.call('POST', accounts, { ...who, body }));
      keeps('operationsaccounts_change', await service.call('PATCH', account, { ...who, body: {} }));
    }
    keeps('operationsaccounts_list', await service.call('GET', `${accounts}?limit=0`, { token }));
    keeps('operationsaccounts_get', await service.call('GET', `${accounts}/nobody`, { token }));
    keeps('operationsaccounts_listKeys', await service.call('GET', `${accounts}/nobody/api-keys`, { token }));
    const change = (changes: object, at = account): Promise<Answer> =>
      service.call('PATCH', at, { token, body: changes });
    keeps('operationsaccounts_change', await change({}, `${accounts}/nobody`));
    keeps('operationsaccounts_change', await change({ fee_bps: 'x' }));
    keeps(
      'operationsaccounts_change',
      await change({ fraud_max_amount: 5_000, fraud_blocked_documents: ['52998224725'] }),
    );
    for (const [id, path] of [
      ['charges_create', '/v1/charges'],
      ['charges_createPix', '/v1/pix/charges'],
    ] as const) {
      keeps(id, await write({ amount: 5_001, payment_method: 'pix' }, `openapi-fraud-${id}`, path));
    }
    const { body: charge } = await service.createCharge(key(), { amount: 1_000 });
    const destinationKey = '52998224725';
    for (const [id, path, body, code] of [
      ['payments_create', '/v1/payments', { paymentMethods: ['PIX'] }, 'fraud.amount_limit_exceeded'],
      ['refunds_create', `/v1/payments/${charge.id}/refund`, { destinationKey }, 'fraud.document_blocked'],
    ] as const) {
      const refused = await service.call('POST', path, {
        key: key(),
        body: { ...body, amount: 5_001, idempotencyKey: `openapi-fraud-${id}` },
      });
      expect([refused.status, refused.text]).toEqual([403, expect.stringContaining(code)]);
      keeps(id, refused);
    }
    keeps('operationsaccounts_change', await change({ fraud_max_amount: null, fraud_blocked_documents: [] }));

    const held = async (): Promise<string> => (await service.heldCharge(key())).reviewId;
    const reviews = '/v1/operations/reviews';
    await held();
    for (const [id, path] of [
      ['operations_listReviews', reviews],
      ['operations_listUnmatched', '/v1/operations/unmatched'],
      ['operations_listReturned', '/v1/operations/returned'],
      ['operations_listUnreadable', '/v1/operations/unreadable'],
      ['operations_listFraudHits', '/v1/operations/fraud-hits'],
      ['operations_listWork', '/v1/operations/work'],
      ['operations_listNegativeBalances', '/v1/operations/negative-balances'],
      ['operations_listConnections', '/v1/operations/connections'],
    ] as const) {
      for (const who of [...strangers, { token }]) keeps(id, await service.call('GET', path, who));
      keeps(id, await service.call('GET', `${path}?limit=0`, { token }));
    }
    for (const who of [...strangers, { token }]) {
      keeps('operations_listQueues', await service.call('GET', '/v1/operations/queues', who));
    }
    for (const [id, decision, otherwise] of [
      ['operations_accept', 'accept', 'return'],
      ['operations_return', 'return', 'accept'],
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
      keeps('operationscorrections_list', await service.call('GET', at, who));
      keeps('operationscorrections_correctWallet', await post(at, { ...fee, amount: 99 }, who));
    }
    keeps('operationscorrections_list', await service.call('GET', `${at}?status=gone`, first));
    const unknown = { account_id: randomUUID(), idempotency_key: randomUUID() };
    for (const body of [{}, { amount: 98 }, { amount: 99, ...unknown }, { reason: 'x'.repeat(300_000) }]) {
      keeps('operationscorrections_correctWallet', await post(at, { ...fee, ...body }));
    }
    keeps('operationscorrections_correctWallet', await service.call('POST', at, { ...first, ...media }));

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
    keeps('operationscorrections_correctPix', await post(stray, { ...done, kind: 'return' }));
    for (const who of [...strangers, first]) keeps('operationscorrections_correctPix', await post(stray, done, who));
    keeps('operationscorrections_correctPix', await post('/v1/operations/unmatched/nobody/correct', done));
    keeps('operationscorrections_correctPix', await post(stray, { kind: 'assign', ...why }));
    keeps('operationscorrections_correctPix', await post(stray, { ...done, reason: 'x'.repeat(300_000) }));
    keeps('operationscorrections_correctPix', await service.call('POST', stray, { ...first, ...media }));

    const [approved, rejected] = [await waiting(), await waiting()];
    for (const who of [...strangers, first, second]) {
      keeps('operationscorrections_approve', await post(`${approved}/approve`, undefined, who));
      keeps('operationscorrections_reject', await post(`${rejected}/reject`, undefined, who));
    }
    keeps('operationscorrections_approve', await post(`${at}/nobody/approve`, undefined));
    keeps('operationscorrections_reject', await post(`${at}/nobody/reject`, undefined));
    keeps('operationscorrections_reject', await post(`${approved}/reject`, undefined));
  });

  it('when MED cases are read, answered and decided', async () => {
    const { testKey } = await service.merchant();
    const token = (await service.operator()).token;
    const post = (path: string, body?: object, who: object = { key: testKey }): Promise<Answer> =>
      service.call('POST', path, { ...who, ...(body ? { body } : {}) });
    const media = { rawBody: 'x', headers: { 'content-type': 'text/plain' } };
    const large = { reason: 'x'.repeat(300_000) };
    for (const [name, path] of [
      ['medcases', '/v1/med/cases'],
      ['infractions', '/v1/infractions'],
    ] as const) {
      const { medCase } = await aDisputedCharge(service, testKey);
      const { medCase: other } = await aDisputedCharge(service, testKey);
      for (const query of ['', '?limit=1', '?status=won']) {
        keeps(`${name}_list`, await service.call('GET', `${path}${query}`, { key: testKey }));
      }
      keeps(`${name}_list`, await service.call('GET', path));
      for (const who of [{ key: testKey }, { key: key() }, {}]) {
        keeps(`${name}_get`, await service.call('GET', `${path}/${medCase.id}`, who));
        keeps(`${name}_appeal`, await post(`${path}/${medCase.id}/appeal`, { reason: 'It was delivered.' }, who));
        keeps(`${name}_accept`, await post(`${path}/${other.id}/accept`, undefined, who));
      }
      keeps(`${name}_appeal`, await post(`${path}/${medCase.id}/appeal`, { reason: 'It was delivered.' }));
      keeps(`${name}_appeal`, await post(`${path}/${medCase.id}/appeal`, large));
      keeps(`${name}_appeal`, await service.call('POST', `${path}/${medCase.id}/appeal`, { key: testKey, ...media }));
      keeps(`${name}_accept`, await post(`${path}/${other.id}/accept`));
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
      keeps('operationsmed_list', await service.call('GET', desk, who));
      keeps('operationsmed_listWaiting', await service.call('GET', `${desk}/waiting`, who));
      keeps('operationsmed_get', await service.call('GET', `${desk}/${waiting}`, who));
      keeps('operationsmed_approve', await post(`${desk}/${waiting}/approve`, { version }, who));
      keeps('operationsmed_requestEvidence', await post(`${desk}/${open}/request-evidence`, undefined, who));
      keeps('operationsmed_notifications', await notify(account, { outcome_notifications: true }, who));
    }
    const { id: dismissed, version: seen } = await review();
    for (const who of [...strangers, { token }, { token }])
      keeps('operationsmed_dismiss', await post(`${desk}/${dismissed}/dismiss`, { version: seen }, who));
    keeps('operationsmed_dismiss', await post(`${desk}/${dismissed}/dismiss`, {}, { token }));
    keeps('operationsmed_list', await service.call('GET', `${desk}?review=x`, { token }));
    keeps('operationsmed_listWaiting', await service.call('GET', `${desk}/waiting?limit=x`, { token }));
    keeps('operationsmed_get', await service.call('GET', `${desk}/nobody`, { token }));
    keeps('operationsmed_approve', await post(`${desk}/${waiting}/approve`, { version }, { token }));
    keeps('operationsmed_approve', await post(`${desk}/${waiting}/approve`, { amount: 0 }, { token }));
    keeps('operationsmed_approve', await post(`${desk}/nobody/approve`, { version }, { token }));
    keeps('operationsmed_dismiss', await post(`${desk}/nobody/dismiss`, { version }, { token }));
    keeps('operationsmed_requestEvidence', await post(`${desk}/nobody/request-evidence`, undefined, { token }));
    keeps('operationsmed_requestEvidence', await post(`${desk}/${dismissed}/request-evidence`, undefined, { token }));
    keeps('operationsmed_notifications', await notify(account, {}));
    keeps('operationsmed_notifications', await notify(`${desk}/accounts/nobody`, { outcome_notifications: true }));
    for (const [id, method, path] of [
      ['operationsmed_approve', 'POST', `${desk}/${waiting}/approve`],
      ['operationsmed_dismiss', 'POST', `${desk}/${waiting}/dismiss`],
      ['operationsmed_notifications', 'PATCH', account],
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
      ['evidence', '/v1/med/cases'],
      ['infractionsevidence', '/v1/infractions'],
    ] as const) {
      const own = `${path}/${medCase.id}/evidence`;
      const id = await anUpload(service, testKey, medCase.id);
      for (const who of [{ key: testKey }, { key: key() }, {}]) {
        keeps(`${name}_request`, await post(own, who, file));
        keeps(`${name}_complete`, await post(`${own}/${id}/complete`, who));
        keeps(`${name}_list`, await service.call('GET', own, who));
      }
      keeps(`${name}_request`, await post(own, { key: testKey }, { ...file, file_size: 0 }));
      keeps(`${name}_request`, await post(own, { key: testKey }, { file_name: 'x'.repeat(300_000) }));
      keeps(
        `${name}_request`,
        await post(own, { key: testKey, rawBody: 'x', headers: { 'content-type': 'text/plain' } }),
      );
      keeps(`${name}_request`, await post(`${path}/${full.id}/evidence`, { key: testKey }, file));
      keeps(`${name}_complete`, await post(`${own}/${waiting}/complete`, { key: testKey }));
      keeps(`${name}_complete`, await post(`${own}/${waiting}/complete`, { key: testKey }, { force: true }));
      for (const who of [{}, { key: key() }, { key: testKey }]) {
        keeps(`${name}_remove`, await service.call('DELETE', `${own}/${id}`, who));
      }
      const { medCase: answered } = await aDisputedCharge(service, testKey);
      const used = await anUpload(service, testKey, answered.id);
      await complete(service, testKey, answered.id, used);
      await answerCase(service, testKey, answered.id, 'appeal');
      keeps(
        `${name}_remove`,
        await service.call('DELETE', `${path}/${answered.id}/evidence/${used}`, { key: testKey }),
      );
    }
    const { token } = await service.operator();
    const desk = `/v1/operations/med/${medCase.id}/evidence`;
    for (const who of [{ token }, { token: await service.login(merchant.ownerEmail) }, {}])
      keeps('operationsmedevidence_list', await service.call('GET', desk, who));
    keeps('operationsmedevidence_list', await service.call('GET', '/v1/operations/med/nobody/evidence', { token }));

    const { body: ticket } = await requestUpload<TicketAnswer>(service, testKey, medCase.id);
    const local = (url: string): string => url.slice(new URL(url).origin.length);
    const put = (url: string, headers: Record<string, string> = {}): Promise<Answer> =>
      service.call('PUT', local(url), { rawBody: png(1000), headers: { 'content-type': 'image/png', ...headers } });
    keeps('storage_upload', await put(ticket.upload_url));
    keeps('storage_upload', await put(ticket.upload_url, { apikey: testKey }));
    keeps('storage_upload', await put(`${ticket.upload_url}x`));
    const { body: evidence } = await complete<EvidenceAnswer>(service, testKey, medCase.id, ticket.id);
    keeps('storage_upload', await put(ticket.upload_url));
    keeps('storage_download', await service.call('GET', local(evidence.view_url)));
    keeps('storage_download', await service.call('GET', `${local(evidence.view_url)}x`));
    service.clock.advance(901);
    keeps('storage_upload', await put(ticket.upload_url));
    keeps('storage_download', await service.call('GET', local(evidence.view_url)));
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
        keeps(`callbacks_receive${name}`, await service.call('POST', path, { body: { pix: [] } }));
        keeps(`callbacks_receive${name}`, await service.call('POST', path, { rawBody: 'x'.repeat(1_100_000) }));
        keeps(`callbacks_test${name}`, await service.call('GET', path));
      }
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
      keeps('checkout_page', await service.call('GET', `/checkout/${id}`));
      keeps('checkout_receipt', await service.call('GET', `/checkout/${id}/receipt`));
      keeps('checkout_logo', await service.call('GET', `/checkout/${id}/logo`));
      keeps('checkout_status', await service.call('GET', `/checkout/${id}/status`));
      keeps('checkout_qr', await service.call('GET', `/checkout/${id}/qr.png`));
    }
    const brand = await service.merchant({
      logo: `data:image/png;base64,${Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').toString('base64')}`,
    });
    const sold = await service.createCharge(brand.testKey);
    await service.simulate(brand.testKey, sold.body.id, { event: 'pay' });
    keeps('checkout_receipt', await service.call('GET', `/checkout/${sold.body.id}/receipt`));
    keeps('checkout_logo', await service.call('GET', `/checkout/${sold.body.id}/logo`));
    keeps('health_live', await service.call('GET', '/health/live'));
    keeps('health_ready', await service.call('GET', '/health/ready'));
    keeps('health_show', await service.call('GET', '/metrics'));
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
    const id = 'paymentlinks_create';
    const link = await createLink(service, testKey, full, once);
    for (const body of [full, {}]) keeps(id, await createLink(service, testKey, body, once));
    keeps(id, link);
    keeps(id, await createLink(service, testKey, { amount: 0 }));
    keeps(id, await createLink(service, 'x'));
    for (const body of ['x', ' '.repeat(300_000)]) {
      keeps(id, await raw('POST', '', body));
      keeps('paymentlinks_change', await raw('PATCH', `/${link.body.id}`, body));
      keeps('paymentlinks_end', await raw('POST', `/${link.body.id}/end`, body));
    }
    for (const who of [testKey, 'x']) {
      keeps('paymentlinks_list', await on('GET', '', undefined, who));
      for (const one of [link.body.id, 'nobody']) {
        keeps('paymentlinks_get', await on('GET', `/${one}`, undefined, who));
        keeps('paymentlinks_change', await on('PATCH', `/${one}`, { question: null, picture: null }, who));
      }
    }
    keeps('paymentlinks_list', await on('GET', '?limit=0'));
    keeps('paymentlinks_change', await on('PATCH', `/${link.body.id}`, { amount: 0 }));

    const refusing = await service.merchant({ fraud_max_amount: '1' });
    const pages = [pathOf(link.body), '/pay/nobody'];
    const refused = pathOf(await aPaymentLink(service, refusing.testKey, { picture: PICTURE }));
    const ofLive = pathOf((await createLink(service, merchant.liveKey)).body);
    for (const page of [...pages, refused]) {
      keeps('pay_page', await service.call('GET', page));
      for (const [what, action] of [
        ...([
          ['poster', '/print'],
          ['qrPng', '/qr.png'],
          ['qrSvg', '/qr.svg'],
        ] as const),
        ...([
          ['picture', '/picture'],
          ['logo', '/logo'],
        ] as const),
      ]) {
        keeps(`pay_${what}`, await service.call('GET', `${page}${action}`));
      }
    }
    const branded = await service.merchant({ logo: PICTURE });
    keeps('pay_logo', await service.call('GET', `${pathOf(await aPaymentLink(service, branded.testKey))}/logo`));
    const fields = { visit: 'v'.repeat(22), name: 'Maria' };
    for (const page of [...pages, refused, ofLive]) keeps('pay_pay', await sendForm(service, page, fields));
    keeps('pay_pay', await sendForm(service, pages[0] ?? '', {}));
    keeps('paymentlinks_end', await on('POST', `/${link.body.id}/end`));
    keeps('paymentlinks_end', await on('POST', '/nobody/end'));
    keeps('paymentlinks_end', await on('POST', `/nobody/end`, undefined, 'x'));
    keeps('paymentlinks_end', await on('POST', `/${link.body.id}/end`, { a: 1 }));
    keeps('paymentlinks_change', await on('PATCH', `/${link.body.id}`, {}));
    keeps('pay_page', await service.call('GET', pages[0] ?? ''));
    keeps('pay_pay', await sendForm(service, pages[0] ?? '', fields));
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
        keeps('customers_list', await service.call('GET', `${path}${query}`, { key }));
      }
      for (const one of [own, '/nobody']) {
        keeps('customers_get', await service.call('GET', `${path}${one}`, { key }));
        for (const query of ['', '?limit=0']) {
          keeps('customers_sales', await service.call('GET', `${path}${one}/payments${query}`, { key }));
        }
        for (const action of ['export', 'erase']) {
          keeps(`customers_${action}`, await service.call('POST', `${path}${one}/${action}`, { key }));
        }
      }
    }
    const door = `/v1/dashboard/test/customers${own}`;
    for (const token of [admin, owner]) {
      keeps('customers_export', await service.call('POST', `${door}/export`, { token }));
      if (token === admin) keeps('customers_erase', await service.call('POST', `${door}/erase`, { token, body: {} }));
      keeps('customers_erase', await service.call('POST', `${door}/erase`, { token, body: { metadata: 1 } }));
    }
    for (const rawBody of ['x', ' '.repeat(300_000)]) {
      const headers = { 'content-type': rawBody === 'x' ? 'a/b' : 'application/json' };
      for (const action of ['export', 'erase']) {
        keeps(
          `customers_${action}`,
          await service.call('POST', `${door}/${action}`, { token: owner, rawBody, headers }),
        );
      }
    }
    keeps('customers_erase', await service.call('POST', `${door}/erase`, { token: owner, body: {} }));
  });

  it('when lists are counted', async () => {
    for (const [id, path] of [
      ['payments_totals', '/v1/payments/totals'],
      ['payouts_totals', '/v1/payouts/totals'],
      ['wallets_totals', '/v1/wallets/entries/totals'],
      ['medcases_totals', '/v1/med/cases/totals'],
      ['infractions_totals', '/v1/infractions/totals'],
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
    keeps('notes_add', note);
    for (const [id, who] of [
      [randomUUID(), token],
      [sale, reader],
      [sale, 'x'],
    ] as const) {
      keeps('notes_add', await service.call('POST', notes(id), { token: who, body: { text: 'Ligou.' } }));
    }
    keeps('notes_add', await service.call('POST', notes(sale), { token, body: {} }));
    for (const rawBody of ['x', ' '.repeat(300_000)]) {
      const headers = { 'content-type': rawBody === 'x' ? 'a/b' : 'application/json' };
      keeps('notes_add', await service.call('POST', notes(sale), { token, rawBody, headers }));
      keeps('notices_change', await service.call('PATCH', '/v1/auth/notices', { token, rawBody, headers }));
    }
    for (const [id, who] of [
      [sale, token],
      [randomUUID(), token],
      [sale, 'x'],
    ] as const) {
      keeps('notes_list', await service.call('GET', notes(id), { token: who }));
    }
    for (const who of ['x', reader, token, token]) {
      keeps('notes_delete', await service.call('DELETE', `${notes(sale)}/${note.body.id}`, { token: who }));
    }
  });

  it('when a person chooses notices', async () => {
    const path = '/v1/auth/notices';
    const { token: operator } = await service.operator();
    for (const token of [await service.login(merchant.ownerEmail), 'x', operator]) {
      keeps('notices_get', await service.call('GET', path, { token }));
      keeps('notices_change', await service.call('PATCH', path, { token, body: { mail: ['dispute'] } }));
    }
  });

  it('for every documented answer, except those that need a failure', () => {
    const rest = operations.flatMap(({ operation }) =>
      Object.keys(operation.responses)
        .map((status) => `${operation.operationId} ${status}`)
        .filter((answer) => !seen.has(answer) && !/ (?:429|500|503)$/.test(answer)),
    );
    expect(rest.sort()).toEqual([
      // Sent only when the flag is off.
      'charges_list 404',
      // Sent only above 10 000 sales.
      'customers_erase 409',
      'customers_export 409',
      // Sent only with 100 endpoints.
      'endpoints_register 422',
      // Sent only while a twin under the same key is at work for ten seconds.
      'pay_pay 409',
      // Sent only in production, to operators without a second factor.
      'person_changePassword 403',
      'person_endSession 403',
      'person_listSessions 403',
      'person_removeTotp 403',
      'person_rename 403',
    ]);
  });
});
