import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv, type ValidateFunction } from 'ajv';
import { closed, type Documented, readDocument, type ResponseDoc } from '../support/openapi.js';
import { type Answer, type ChargeAnswer, type Merchant, TestService } from '../support/service.js';

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
