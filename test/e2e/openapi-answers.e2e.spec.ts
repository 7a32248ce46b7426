import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv, type ValidateFunction } from 'ajv';
import { signatureHeader } from '../../src/webhooks/signature.js';
import { closed, type Documented, readDocument, type ResponseDoc } from '../support/openapi.js';
import { type Answer, type ChargeAnswer, type Merchant, TestService } from '../support/service.js';
import { waitFor } from '../support/wait.js';

describe('what the OpenAPI document says is kept', () => {
  let service: TestService;
  let merchant: Merchant;
  let operations: Documented['operations'];
  let validators: Ajv;
  let charge: ChargeAnswer;
  const seen = new Set<string>();

  beforeAll(async () => {
    // Both flags change answers: the list exists, and the limits are counted and told.
    service = await TestService.start({
      env: { CHARGE_LIST_ENABLED: 'true', RATE_LIMIT: 'on', RATE_LIMIT_RATE: '1000', RATE_LIMIT_BURST: '100000' },
    });
    merchant = await service.merchant({ payer_lock: 'true', release_days: '1' });
    const documented = await readDocument(service);
    operations = documented.operations;
    validators = new Ajv({
      strict: false,
      allErrors: true,
      formats: {
        'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
        uri: (text: string) => URL.canParse(text),
        binary: true,
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

  afterAll(() => service.stop());

  function documented(id: string, status: number): ResponseDoc {
    const operation = operations.find((candidate) => candidate.operation.operationId === id)?.operation;
    const response = operation?.responses[String(status)];
    if (!response) throw new Error(`${id} does not document ${status}`);
    return response;
  }

  /** Holds an answer against what is written of it: status, content type, headers and body. */
  function keeps(id: string, answer: Answer<unknown>): void {
    seen.add(`${id} ${answer.status}`);
    const response = documented(id, answer.status);
    const type = (answer.headers.get('content-type') ?? '').split(';')[0] ?? '';
    expect({ id, status: answer.status, types: Object.keys(response.content ?? {}) }).toEqual({
      id,
      status: answer.status,
      types: expect.arrayContaining([type]),
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

  /** Replays say that they are, and of two kinds of 409 one will pass by waiting. */
  function isOccasional(header: string, status: number): boolean {
    return header === 'Idempotent-Replayed' || (header === 'Retry-After' && status === 409);
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

  it('when charges are read, in every state that a test can bring them to', async () => {
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

  it('when something is simulated', async () => {
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

  it('when balances are read, with money and without', async () => {
    const paid = await service.createCharge(key());
    await service.simulate(key(), paid.body.id, { event: 'pay' });
    for (const who of [key(), merchant.liveKey]) {
      keeps('wallets_list', await service.call('GET', '/v1/wallets', { key: who }));
      keeps('wallets_balance', await service.call('GET', '/v1/wallets/balance', { key: who }));
      keeps('wallets_balance', await service.call('GET', '/v1/wallets/balance?currency=USD', { key: who }));
    }
    keeps('wallets_balance', await service.call('GET', '/v1/wallets/balance?currency=brl', { key: key() }));
    keeps('wallets_balance', await service.call('GET', '/v1/wallets/balance'));
    keeps('wallets_list', await service.call('GET', '/v1/wallets'));
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

  it('on the pages for payers and for operators', async () => {
    const raw = charge.id.slice(3);
    for (const id of [raw, 'nobody']) {
      keeps('checkout_page', await service.call('GET', `/checkout/${id}`));
      keeps('checkout_status', await service.call('GET', `/checkout/${id}/status`));
      keeps('checkout_qr', await service.call('GET', `/checkout/${id}/qr.png`));
    }
    keeps('health_live', await service.call('GET', '/health/live'));
    keeps('health_ready', await service.call('GET', '/health/ready'));
    keeps('health_show', await service.call('GET', '/metrics'));
  });

  it('for every documented answer that can be had without breaking something', () => {
    const rest = operations.flatMap(({ operation }) =>
      Object.keys(operation.responses)
        .map((status) => `${operation.operationId} ${status}`)
        .filter((answer) => !seen.has(answer) && !/ (?:429|500|503)$/.test(answer)),
    );
    expect(rest.sort()).toEqual([
      // Only when the flag is off.
      'charges_list 404',
      // Only with 100 endpoints.
      'endpoints_register 422',
    ]);
  });
});
