import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { type OpenApiDocument, type Operation, readDocument, type Schema } from '../../support/openapi.js';
import { type Merchant, TestService } from '../../support/service.js';

type Body = Record<string, unknown>;

describe('the OpenAPI document and the service agree', () => {
  const service = TestService.forSpec({ env: { CHARGE_LIST_ENABLED: 'true' } });
  let merchant: Merchant;
  let owner: string;
  let charge: string;
  let document: OpenApiDocument;
  const ajv = new Ajv({ strict: false, validateFormats: false });

  beforeAll(async () => {
    ({ document } = await readDocument(service));
    ajv.addSchema({ $id: 'api', components: document.components });
    merchant = await service.merchant({ payer_lock: 'true', fraud_mode: 'off' });
    owner = await service.login(merchant.ownerEmail);
    const { body } = await service.createCharge(merchant.testKey, { amount: 10_000 });
    await service.simulate(merchant.testKey, body.id, { event: 'pay' });
    charge = body.id.slice(3);
  });

  function operation(route: string): Operation {
    const [method = '', path = ''] = route.split(' ');
    const found = document.paths[path]?.[method.toLowerCase()];
    if (!found) throw new Error(`${route} is not documented`);
    return found;
  }

  const accepts = (schema: Schema | undefined, value: unknown): boolean => {
    const text = JSON.stringify(schema ?? {}).replaceAll('"#/components', '"api#/components');
    return ajv.validate(JSON.parse(text) as object, value);
  };

  const BODIES: Record<string, () => Body> = {
    'POST /v1/charges': () => ({ amount: 100, payment_method: 'pix', customer: { name: 'Maria' } }),
    'POST /v1/payments': () => ({ amount: 100, paymentMethods: ['MULTIBANCO'], idempotencyKey: randomUUID() }),
    'POST /v1/payments/{id}/refund': () => ({ amount: 1, idempotencyKey: randomUUID() }),
    'POST /v1/sandbox/charges/{id}/simulate': () => ({ event: 'pay' }),
    'POST /v1/webhooks/endpoints': () => ({ url: 'https://merchant.example/', events: ['charge.paid'] }),
    'POST /v1/reports': () => ({ type: 'statement', format: 'csv', from: '2026-11-01', to: '2026-11-02' }),
    'POST /v1/api-keys': () => ({ test: true }),
  };

  const TAX_IDS = {
    good: ['52998224725', '529.982.247-25', '12abc34501de35'],
    bad: ['', 'x', '5299822472', '529_982_247_25', 7],
  };
  const FIELDS: [route: string, field: string, good: unknown[], bad: unknown[]][] = [
    ['POST /v1/charges', 'expected_payer_tax_id', TAX_IDS.good, [...TAX_IDS.bad, null]],
    ['POST /v1/charges', 'customer.document', [...TAX_IDS.good, '', null], ['529_982_247_25', 7]],
    ['POST /v1/charges', 'customer.email', ['maria@example.com', '', ' ', null], ['maria', 7, []]],
    ['POST /v1/charges', 'description', ['x', '', null], [7, [], 'x'.repeat(501)]],
    ['POST /v1/payments', 'currency', ['BRL', 'EUR', 'USDTTRC2'], ['eur', 'E-R', '', null, 'ABCDEFGHI']],
    ['POST /v1/payments', 'customerEmail', ['maria@example.com', '"a@b"@example.com', '', null], ['maria', 7, []]],
    ['POST /v1/payments', 'customerDocument', ['PT123456789', 'ES-X 1', '', null], ['é', 'x'.repeat(33), 7]],
    ['POST /v1/payments', 'customerName', ['Maria', '', null], [7, 'x'.repeat(201)]],
    [
      'POST /v1/payments/{id}/refund',
      'destinationKey',
      ['52998224725', 'a@b.br', '+5511987654321', '+55 (11) 98765-4321', '019AA0F0-7D5C-7C3E-9B1A-2F4D6C8E0A12'],
      ['', 'abc', '+5511', 'a b', null, 7],
    ],
    ['POST /v1/payments/{id}/refund', 'reason', ['x', '', null], [7, 'x'.repeat(501)]],
    ['POST /v1/sandbox/charges/{id}/simulate', 'payer_document', [...TAX_IDS.good, null], TAX_IDS.bad],
    [
      'POST /v1/sandbox/charges/{id}/simulate',
      'end_to_end_id',
      ['E00000000202611211530abcDEF12345'],
      ['', 'E_', 'x'.repeat(65), null, 7],
    ],
    [
      'POST /v1/webhooks/endpoints',
      'events',
      [['*'], ['med_case.created', 'charge.paid']],
      [[], [''], ['charge'], [7], ['Charge.Paid'], null],
    ],
    [
      'POST /v1/reports',
      'columns',
      [['day', 'amount'], ['metadata.order id'], [`metadata.${'k'.repeat(100)}`]],
      [[], [''], ['no-such'], ['metadata.'], [`metadata.${'k'.repeat(101)}`], [7], null],
    ],
    [
      'POST /v1/api-keys',
      'allowed_ips',
      [[], ['203.0.113.7', '2001:DB8::/32']],
      [[''], ['localhost'], ['1.2.3.4/x'], [7], null],
    ],
    ['POST /v1/api-keys', 'label', ['x', '', null], [7, 'x'.repeat(65)]],
  ];
  const cases = FIELDS.flatMap(([route, field, good, bad]) => [
    ...good.map((value) => ({ route, field, value, isRight: true })),
    ...bad.map((value) => ({ route, field, value, isRight: false })),
  ]);

  it.each(cases)('on $route with $field $value: accepted is $isRight', async ({ route, field, value, isRight }) => {
    const [method = '', path = ''] = route.split(' ');
    const [name = '', inner] = field.split('.');
    const made = BODIES[route]?.() ?? {};
    const body = { ...made, [name]: inner === undefined ? value : { ...(made[name] as Body), [inner]: value } };
    const answer = await service.call(method, path.replace('{id}', charge), {
      ...(path === '/v1/api-keys' ? { token: owner } : { key: merchant.testKey }),
      headers: { 'Idempotency-Key': randomUUID() },
      body,
    });
    const schema = operation(route).requestBody?.content['application/json']?.schema;
    expect({ service: answer.status < 400, document: accepts(schema, body) }).toEqual({
      service: isRight,
      document: isRight,
    });
  });

  const id = '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12';
  const FILTERS: [route: string, name: string, good: string[], bad: string[]][] = [
    ['GET /v1/wallets/entries', 'starting_after', [], ['', id, `we_${id}`]],
    ['GET /v1/wallets/entries', 'source', [id, `ch_${id}`, `med_${id.toUpperCase()}`], ['', 'x', `wh_${id}`]],
    ['GET /v1/wallets/entries', 'currency', ['BRL'], ['brl', '']],
    ['GET /v1/wallets/balance', 'currency', ['BRL'], ['brl', '']],
    ['GET /v1/events', 'starting_after', [`evc_812_${id.replaceAll('-', '').toUpperCase()}_1`], ['', 'x', id]],
    ['GET /v1/events', 'subject', [id, `rep_${id}`], ['x', `wh_${id}`]],
    ['GET /v1/webhooks/deliveries', 'endpointId', [id, `wh_${id.toUpperCase()}`], ['x', `ch_${id}`]],
    ['GET /v1/med/cases', 'charge_id', [id, `ch_${id}`], ['x', `med_${id}`]],
    ['GET /v1/payments/metrics', 'currency', ['BRL'], ['brl']],
    ['GET /v1/payments/summary', 'currency', ['BRL'], ['brl']],
    ['GET /v1/payments/summary', 'count', ['bank'], ['weeks']],
  ];
  const filters = FILTERS.flatMap(([route, name, good, bad]) => [
    ...good.map((value) => ({ route, name, value, isRight: true })),
    ...bad.map((value) => ({ route, name, value, isRight: false })),
  ]);

  it.each(filters)('on $route?$name=$value: accepted is $isRight', async ({ route, name, value, isRight }) => {
    const path = `${route.split(' ')[1]}?${new URLSearchParams({ [name]: value }).toString()}`;
    const answer = await service.call('GET', path, { key: merchant.testKey });
    const parameter = operation(route).parameters?.find((candidate) => candidate.name === name);
    expect({ service: answer.status < 400, document: accepts(parameter?.schema, value) }).toEqual({
      service: isRight,
      document: isRight,
    });
  });
});
