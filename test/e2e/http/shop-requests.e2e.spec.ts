import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { type Answer, type Merchant, TestService } from '../../support/service.js';

type Body = Record<string, unknown>;

interface ErrorAnswer extends Body {
  error: { type: string; code: string; message: string; param?: string };
}

const BLANKS = [null, '', '   ', '\t\n', '\u200b'];

/** The body with one field set, `customer.name` within its object. */
function withField(body: Body, path: string, value: unknown): Body {
  const [name = '', inner] = path.split('.');
  if (inner === undefined) return { ...body, [name]: value };
  return { ...body, [name]: { ...(body[name] as Body | undefined), [inner]: value } };
}

describe('requests as shop systems send them', () => {
  const service = TestService.forSpec({ env: { TRUST_PROXY: '127.0.0.1, 10.0.0.0/8' } });
  let merchant: Merchant;
  let paid: string;
  let owner: string;

  beforeAll(async () => {
    merchant = await service.merchant({ payer_lock: 'true', fraud_mode: 'off' });
    const { body } = await service.createCharge(merchant.testKey, { amount: 100_000 });
    await service.simulate(merchant.testKey, body.id, { event: 'pay' });
    paid = body.id.slice(3);
    owner = await service.login(merchant.ownerEmail);
  });

  const ROUTES = {
    charge: { path: () => '/v1/charges', body: { amount: 1990, payment_method: 'pix' } },
    payment: { path: () => '/v1/payments', body: { amount: 1990, paymentMethods: ['PIX'] } },
    refund: { path: () => `/v1/payments/${paid}/refund`, body: { amount: 1 } },
    apiKey: { path: () => '/v1/api-keys', body: { test: true } },
    simulate: { path: () => `/v1/sandbox/charges/${paid}/simulate`, body: { event: 'refund_fail' } },
  } as const;
  type Route = keyof typeof ROUTES;

  function send(route: Route, fields: Body, key = randomUUID()): Promise<Answer<ErrorAnswer & Body>> {
    const body = ['payment', 'refund'].includes(route) ? { idempotencyKey: key, ...fields } : fields;
    return service.call<ErrorAnswer & Body>('POST', ROUTES[route].path(), {
      ...(route === 'apiKey' ? { token: owner } : { key: merchant.testKey }),
      headers: { 'Idempotency-Key': key },
      body,
    });
  }

  describe('with fields that only describe', () => {
    const DESCRIPTIVE: [Route, string, 'text' | 'object'][] = [
      ['charge', 'description', 'text'],
      ['charge', 'metadata', 'object'],
      ['charge', 'customer', 'object'],
      ...['name', 'document', 'email', 'phone'].map((name): [Route, string, 'text'] => [
        'charge',
        `customer.${name}`,
        'text',
      ]),
      ...['customerId', 'customerName', 'customerDocument', 'customerEmail', 'webhookUrl'].map(
        (name): [Route, string, 'text'] => ['payment', name, 'text'],
      ),
      ['payment', 'metadata', 'object'],
      ['refund', 'reason', 'text'],
      ['apiKey', 'label', 'text'],
      ['simulate', 'reason', 'text'],
      ['simulate', 'payer_name', 'text'],
    ];
    const cases = DESCRIPTIVE.flatMap(([route, field, kind]) =>
      [...BLANKS, ...(kind === 'object' ? [[]] : [])].map((value) => ({ route, field, value })),
    );

    it.each(cases)('treat $field $value on $route as if it had been left out', async ({ route, field, value }) => {
      const key = randomUUID();
      const left = await send(route, ROUTES[route].body, key);
      const empty = await send(route, withField(ROUTES[route].body, field, value), key);
      expect({ status: empty.status, error: empty.body['error'] }).toEqual({ status: left.status, error: undefined });
      if (route === 'apiKey') expect(empty.body).toMatchObject({ label: null });
      // Under one key: only the same request gets the same answer.
      else expect(empty.text).toBe(left.text);
    });

    it.each(DESCRIPTIVE.filter(([, , kind]) => kind === 'text'))(
      'to %s with a list as %s get a 400',
      async (route, field) => {
        const refused = await send(route, withField(ROUTES[route].body, field, []));
        expect([refused.status, refused.body.error.param]).toEqual([400, field]);
      },
    );

    it('keep the label of a rotated key if the new label is blank', async () => {
      const { body: issued } = await send('apiKey', { test: true, label: 'Shop' });
      const path = `/v1/api-keys/${String(issued['id'])}/rotate`;
      const rotated = await service.call('POST', path, { token: owner, body: { label: null } });
      expect(rotated.body).toMatchObject({ label: 'Shop' });
    });

    it('keep metadata.description if the description of the body is blank', async () => {
      const { body } = await send('charge', {
        ...ROUTES.charge.body,
        description: '',
        metadata: { description: 'Pedido 7' },
      });
      expect(body['metadata']).toEqual({ description: 'Pedido 7' });
    });
  });

  it.each(['charge', 'payment'] as const)('keep the order of the keys in the metadata of a %s', async (route) => {
    const metadata = { zone: 'z', orderId: 7, a: { second: 2, b: [{ y: 1, x: 2 }] }, ab: null };
    const { body } = await send(route, { ...ROUTES[route].body, metadata });
    const id = String(body['id']);
    const read = await service.call<Body>('GET', `${ROUTES[route].path()}/${id}`, { key: merchant.testKey });
    await service.simulate(merchant.testKey, id, { event: 'pay' });
    const events = await service.call<Body>('GET', `/v1/events?subject=${id}`, { key: merchant.testKey });
    for (const shown of [body, read.body]) expect(JSON.stringify(shown['metadata'])).toBe(JSON.stringify(metadata));
    expect(events.text).toContain(`"metadata":${JSON.stringify(metadata).slice(0, -1)}`);
  });

  describe('with fields that decide about money, time or a lock', () => {
    const DECISIVE: [Route, string][] = [
      ...['amount', 'currency', 'payment_method', 'expires_in', 'expected_payer_tax_id'].map(
        (name): [Route, string] => ['charge', name],
      ),
      ...['amount', 'currency', 'paymentMethods', 'idempotencyKey'].map((name): [Route, string] => ['payment', name]),
      ...['amount', 'strategy', 'passFeeToTenant', 'destinationKey', 'idempotencyKey'].map((name): [Route, string] => [
        'refund',
        name,
      ]),
      ...['test', 'allowed_ips'].map((name): [Route, string] => ['apiKey', name]),
      ...['event', 'amount', 'method', 'end_to_end_id'].map((name): [Route, string] => ['simulate', name]),
    ];
    const cases = DECISIVE.flatMap(([route, field]) => [null, '', '   '].map((value) => ({ route, field, value })));

    it.each(cases)('to $route with $field $value get a 400', async ({ route, field, value }) => {
      const lock = { customer: { name: 'Maria da Silva' } };
      const body = { ...ROUTES[route].body, ...(route === 'charge' ? lock : {}) };
      const refused = await send(route, withField(body, field, value));
      expect([refused.status, refused.body.error.param]).toEqual([400, field]);
    });

    it('with a lock need a name that is not blank', async () => {
      for (const name of BLANKS) {
        const refused = await send('charge', {
          ...ROUTES.charge.body,
          customer: { name },
          expected_payer_tax_id: '52998224725',
        });
        expect([refused.status, refused.body.error.param]).toEqual([400, 'customer.name']);
      }
    });
  });

  describe('with amounts', () => {
    const AMOUNTS = ['19.90', '"19.90"', '"19,90"', '19.999', '0', '-1', '1e15', '1e400', '1990.00000000000000000001'];
    const cases = (['charge', 'payment', 'refund'] as const).flatMap((route) =>
      [...AMOUNTS, '99999999999999999999', 'true', '{}'].map((amount) => ({ route, amount })),
    );

    it.each(cases)(
      'to $route with the amount $amount get a 400 that says how to write amounts',
      async ({ route, amount }) => {
        const rawBody = JSON.stringify({ ...ROUTES[route].body, amount: '@', idempotencyKey: randomUUID() });
        const key = route === 'charge' ? rawBody.replace(/,"idempotencyKey":"[^"]+"/, '') : rawBody;
        const answer = await service.call<ErrorAnswer>('POST', ROUTES[route].path(), {
          key: merchant.testKey,
          headers: { 'Idempotency-Key': randomUUID() },
          rawBody: key.replace('"@"', amount),
        });
        expect([answer.status, answer.body.error.param]).toEqual([400, 'amount']);
        expect(answer.body.error.message).toBe(
          'amount: must be an integer from 1 to 999999999999, in cents: R$ 19,90 is 1990',
        );
      },
    );

    it('with a number of too many digits in another field get the rule of that field', async () => {
      const answer = await service.call<ErrorAnswer>('POST', '/v1/charges', {
        key: merchant.testKey,
        headers: { 'Idempotency-Key': randomUUID() },
        rawBody: '{"amount":1,"payment_method":"pix","expires_in":3600.00000000000000000001}',
      });
      expect(answer.body.error).toMatchObject({ param: 'expires_in', message: expect.stringMatching(/seconds/) });
    });
  });

  describe('with metadata.returnUrl', () => {
    const REFUSED =
      /^metadata\.returnUrl: must (?:start with https:\/\/; http:\/\/ is for|be an absolute URL|be a text|not contain)/;
    const cases = (['charge', 'payment'] as const).flatMap((route) =>
      (
        [
          ['https://shop.example/thanks?x=1', true],
          ['http://localhost:3000/thanks', true],
          ['http://127.0.0.1/', true],
          ['http://[::1]:3000/', true],
          [null, true],
          ['', true],
          ['http://shop.example/', false],
          ['http://10.0.0.1/', false],
          ['http://localhost.shop.example/', false],
          ['javascript:alert(1)', false],
          ['shop.example', false],
          ['https://user:password@shop.example/', false],
          [7, false],
          [[], false],
        ] as [unknown, boolean][]
      ).map(([returnUrl, isTaken]) => ({ route, returnUrl, isTaken })),
    );

    it.each(cases)('to $route with $returnUrl are accepted: $isTaken', async ({ route, returnUrl, isTaken }) => {
      const answer = await send(route, { ...ROUTES[route].body, metadata: { returnUrl } });
      expect(answer.status).toBe(isTaken ? 201 : 400);
      if (!isTaken) expect(answer.body.error.message).toMatch(REFUSED);
    });
  });

  it.each([
    ...['E1', 'card1', 'E00000000202602301530abcDEF12345', 'E00000000202611212460abcDEF12345'],
    ...['D00000000202611211530abcDEF12345', 'E00000000202611211530abcDEF1234', `E${'0'.repeat(31)}`],
  ])('that simulate the end-to-end id %s, which no Pix can have, are refused by the sandbox', async (id) => {
    const { body } = await service.createCharge(merchant.testKey);
    const pay = { event: 'pay', end_to_end_id: id };
    const path = `/v1/sandbox/charges/${body.id}/simulate`;
    const answer = await service.call<ErrorAnswer>('POST', path, { key: merchant.testKey, body: pay });
    expect([answer.status, answer.body.error.param]).toEqual([400, 'end_to_end_id']);
  });

  it('that read a cancelled sale get nothing to pay', async () => {
    const { body: made } = await send('payment', { ...ROUTES.payment.body, paymentMethods: ['PIX', 'BOLETO'] });
    const path = `/v1/payments/${String(made['id'])}`;
    const cancelled = await service.call('POST', `${path}/cancel`, { key: merchant.testKey });
    const read = await service.call('GET', path, { key: merchant.testKey });
    for (const { body } of [cancelled, read]) {
      const payable = Object.entries(body).filter(
        ([name, value]) => /^(?:pix|boleto|mb|crypto|card)/.test(name) && value !== null,
      );
      expect([body['status'], payable]).toEqual(['CANCELLED', []]);
    }
    const { body: charge } = await service.getCharge(merchant.testKey, String(made['id']));
    expect(charge.pix).toMatchObject({ br_code: '' });
    expect((await service.call('GET', new URL(charge.pix.qr_code_url).pathname)).status).toBe(404);
  });

  describe('with the header Content-Type', () => {
    it.each([
      ...['application/json', 'application/json;', 'application/json; ', 'application/json;charset=utf8'],
      ...['application/json; charset=UTF-8;', 'Application/JSON; Charset="utf8"', 'application/json;;charset=utf-8'],
    ])('%j count as JSON', async (type) => {
      const answer = await service.call('POST', '/v1/charges', {
        key: merchant.testKey,
        headers: { 'Idempotency-Key': randomUUID(), 'content-type': type },
        rawBody: JSON.stringify(ROUTES.charge.body),
      });
      expect(answer.status).toBe(201);
    });

    it.each([
      ...['', ';', 'text/plain', 'application/jsonp', 'application/json; charset=utf-16', 'application/json; charset'],
      ...['application/json; charset=latin1', 'application/json, text/plain'],
    ])('%j get a 415', async (type) => {
      const answer = await service.call('POST', '/v1/charges', {
        key: merchant.testKey,
        headers: { 'Idempotency-Key': randomUUID(), 'content-type': type },
        rawBody: JSON.stringify(ROUTES.charge.body),
      });
      expect(answer.status).toBe(415);
    });
  });

  describe('with the address of a caller, for allowed_ips', () => {
    it.each([
      ['203.0.113.7', '203.0.113.7', 200],
      ['203.0.113.7', '203.0.113.7:40000', 200],
      ['203.0.113.0/24', '203.0.113.9:1', 200],
      ['203.0.113.7', '::ffff:203.0.113.7', 200],
      ['203.0.113.7', '[::ffff:203.0.113.7]:443', 200],
      ['203.0.113.7', '::ffff:cb00:7107', 200],
      ['2001:db8::/32', '2001:db8::7', 200],
      ['2001:db8::/32', '[2001:db8::7]', 200],
      ['2001:db8::/32', '[2001:db8::7]:40000', 200],
      ['2001:db8::7', '[2001:DB8:0::7]:40000', 200],
      ['203.0.113.7', '203.0.113.7:40000, 10.0.0.2:55', 200],
      ['203.0.113.7', '203.0.113.8:40000', 403],
      ['203.0.113.7', '203.0.113.7:40000, 198.51.100.2:55', 403],
      ['2001:db8::/32', '[2001:db9::7]:40000', 403],
      ['203.0.113.7', 'unknown', 403],
    ])('use a key of %s from "%s" with status %d', async (network, forwardedFor, status) => {
      const { body } = await send('apiKey', { test: true, allowed_ips: [network] });
      const answer = await service.call('GET', '/v1/wallets', {
        key: String(body['apiKey']),
        headers: { 'X-Forwarded-For': forwardedFor },
      });
      expect(answer.status).toBe(status);
    });
  });

  describe('with addresses close to a route', () => {
    const id = randomUUID();

    it.each([
      ['POST', '/v1/charges/', 'POST /v1/charges'],
      ['POST', '//v1/charges', 'POST /v1/charges'],
      ['POST', '/v1//charges', 'POST /v1/charges'],
      ['POST', '/v1/pix/charges//', 'POST /v1/pix/charges'],
      ['POST', '/charges', 'POST /v1/charges'],
      ['GET', `/v1/charges/${id}/`, 'GET /v1/charges/{id}'],
      ['GET', `/v1/payments/${id}/?x=1`, 'GET /v1/payments/{id}'],
      ['GET', '/v1/charges', 'GET /v1/payments'],
      ['GET', '/v1/charges/', 'GET /v1/payments'],
      ['PUT', '/v1/charges', 'POST /v1/charges'],
      ['POST', `/v1/charges/${id}/refund`, 'POST /v1/payments/{id}/refund'],
      ['POST', `/v1/charges/ch_${id}/refund/`, 'POST /v1/payments/{id}/refund'],
      ['GET', `/v1/charges/${id}/refunds`, 'GET /v1/payments/{id}/refunds'],
      ['POST', `/v1/charges/${id}/cancel`, 'POST /v1/payments/{id}/cancel'],
      ['GET', `/v1/charges/${id}/receipt`, 'GET /v1/payments/{id}/receipt'],
      ['GET', `/v1/payments/${id}/refund`, 'POST /v1/payments/{id}/refund'],
      ['PUT', `/v1/webhooks/endpoints/${id}`, 'PATCH /v1/webhooks/endpoints/{id}'],
      ['GET', `/v1/dashboard/test/payments/${id}/`, 'GET /v1/payments/{id}'],
    ])('%s %s get a 404 that suggests %s', async (method, path, route) => {
      const answer = await service.call<ErrorAnswer>(method, path, { key: merchant.testKey });
      expect(answer.status).toBe(404);
      expect(answer.body.error).toEqual({
        type: 'not_found_error',
        code: 'not_found',
        message: `No such route. Did you mean ${route}?`,
      });
    });

    it.each(['/', '/v2/charges', '/v1', '/v1/charges/a/b/c/d', '/wp-login.php', '/v1/dashboard'])(
      'POST %s get a 404 without a suggestion',
      async (path) => {
        const answer = await service.call<ErrorAnswer>('POST', path, { key: merchant.testKey });
        expect([answer.status, answer.body.error.message]).toEqual([404, 'No such route.']);
      },
    );
  });

  it('leave the ledger coherent', async () => {
    await expectLedgerCoherent(service.database.url);
  });
});
