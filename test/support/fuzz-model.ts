import fc from 'fast-check';
import { all, type Fields, isClean, junk, levelsOf, text, type Verdict, validObject } from './fuzz.js';

export type Body = Record<string, unknown>;

const MAX_AMOUNT = 999_999_999_999;
const EVENT_NAMES = [
  '*',
  'charge.created',
  'charge.paid',
  'charge.expired',
  'payment.created',
  'payment.status_changed',
];

// ---- The model: written from the contract, not from the code. null is not the same as leaving a field out,
// except where the field says what it means.

const isGiven = (value: unknown): boolean => value !== undefined;
const nullable = (value: unknown, rule: (given: unknown) => Verdict | boolean): Verdict | boolean =>
  value === null || optional(value, rule);
const optional = (value: unknown, rule: (given: unknown) => Verdict | boolean): Verdict | boolean =>
  !isGiven(value) || rule(value);
/** Rule of a field that only describes: null and blanks count as left out. For an object, so does an empty list. */
const descriptive = (value: unknown, rule: (given: unknown) => Verdict | boolean): Verdict | boolean =>
  saysNothing(value) || optional(value, rule);
export const saysNothing = (value: unknown): boolean =>
  value === null || (typeof value === 'string' && value.replace(UNSEEN_ENDS, '') === '');
const describing = (value: unknown, rule: (given: unknown) => Verdict | boolean): Verdict | boolean =>
  (Array.isArray(value) && value.length === 0) || descriptive(value, rule);
export const onlyKeys = (body: object, ...keys: string[]): boolean =>
  Object.keys(body).every((key) => keys.includes(key));
const isAmount = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_AMOUNT;
export const isPlainObject = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const UNSEEN = '[\\p{Z}\\p{Cc}\\p{Cf}\\p{Default_Ignorable_Code_Point}\\u2800]+';
const UNSEEN_ENDS = new RegExp(`^${UNSEEN}|${UNSEEN}$`, 'gu');

/**
 * Counts characters as people do, with at least `min` from the first visible one to the last. The model leaves open
 * how a variation selector counts.
 */
function textVerdict(value: unknown, min: number, max: number): Verdict {
  if (typeof value !== 'string') return 'invalid';
  const lengthOf = (text: string): number => [...text].length;
  const withoutSelectors = (text: string): string => text.replace(/[\ufe0e\ufe0f]/g, '');
  const seen = value.replace(UNSEEN_ENDS, '');
  if (lengthOf(seen) < min || lengthOf(withoutSelectors(value)) > max) return 'invalid';
  return lengthOf(withoutSelectors(seen)) >= min && lengthOf(value) <= max ? 'valid' : 'either';
}

/** Modulo 11 with the weights of the Receita Federal; characters are worth their ASCII code less 48. */
function taxIdOf(value: unknown): string | null {
  if (typeof value !== 'string' || !/^[0-9A-Za-z.\-/\s]*$/.test(value)) return null;
  const bare = value.replace(/[.\-/\s]/g, '').toUpperCase();
  const weights: Record<number, number[]> = {
    11: [11, 10, 9, 8, 7, 6, 5, 4, 3, 2],
    14: [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2],
  };
  const row = weights[bare.length];
  if (!row || !(bare.length === 11 ? /^\d+$/ : /^[0-9A-Z]{12}\d\d$/).test(bare)) return null;
  if (bare.length === 11 ? new Set(bare).size === 1 : /^0+$/.test(bare)) return null;
  const digit = (length: number): number => {
    const used = row.slice(row.length - length);
    const rest = used.reduce((sum, weight, index) => sum + weight * (bare.charCodeAt(index) - 48), 0) % 11;
    return rest < 2 ? 0 : 11 - rest;
  };
  const right = `${digit(bare.length - 2)}${digit(bare.length - 1)}`;
  return bare.endsWith(right) ? bare : null;
}

const isTaxId = (value: unknown): Verdict =>
  taxIdOf(value) === null ? 'invalid' : String(value).length > 40 ? 'either' : 'valid';

function emailVerdict(value: unknown): Verdict {
  if (typeof value !== 'string' || !value.includes('@') || value.length > 254) return 'invalid';
  return /^[a-z0-9]{1,30}@[a-z0-9]{1,30}\.(?:com|br|example)$/.test(value) ? 'valid' : 'either';
}

function customerVerdict(value: unknown): Verdict {
  if (!isPlainObject(value)) return 'invalid';
  return all(
    onlyKeys(value, 'name', 'document', 'email', 'phone'),
    descriptive(value['name'], (name) => textVerdict(name, 1, 200)),
    descriptive(value['document'], isTaxId),
    descriptive(value['email'], emailVerdict),
    descriptive(value['phone'], (phone) => typeof phone === 'string' && /^[+0-9() .-]{5,32}$/.test(phone)),
  );
}

export function chargeVerdict(body: Body, methodIsRequired: boolean): Verdict {
  const customer = isPlainObject(body['customer']) ? body['customer'] : {};
  const lock = body['expected_payer_tax_id'];
  const document = saysNothing(customer['document']) ? undefined : customer['document'];
  return all(
    onlyKeys(
      body,
      ...[
        'amount',
        'currency',
        'payment_method',
        'description',
        'expires_in',
        'customer',
        'expected_payer_tax_id',
        'metadata',
      ],
    ),
    isClean(body),
    isAmount(body['amount']),
    optional(body['currency'], (currency) => currency === 'BRL'),
    isGiven(body['payment_method']) ? body['payment_method'] === 'pix' : !methodIsRequired,
    descriptive(body['description'], (description) => textVerdict(description, 0, 500)),
    optional(body['expires_in'], (seconds) => Number.isInteger(seconds) && Number(seconds) >= 60),
    describing(body['customer'], customerVerdict),
    optional(lock, (value) =>
      all(
        isTaxId(value),
        isGiven(customer['name']) && !saysNothing(customer['name']),
        !isGiven(document) || taxIdOf(document) === taxIdOf(value),
      ),
    ),
    describing(
      body['metadata'],
      (value) => isPlainObject(value) && levelsOf(value) <= 5 && Buffer.byteLength(JSON.stringify(value)) <= 16_384,
    ),
  );
}

export function endpointVerdict(body: Body): Verdict {
  const { url, events } = body;
  if (typeof url !== 'string' || !/^https?:\/\/[^\s\p{Cc}]+$/iu.test(url) || url.length > 2048) return 'invalid';
  return all(
    onlyKeys(body, 'url', 'events'),
    isClean(body),
    /^https?:\/\/[a-z]{3,20}\.example(?::8\d{3})?\/[a-z0-9]*$/.test(url) ? 'valid' : 'either',
    Array.isArray(events) && events.length >= 1 && events.length <= 100,
    Array.isArray(events) && events.every((name) => EVENT_NAMES.includes(name as string)),
  );
}

export function endpointChangeVerdict(body: Body): Verdict {
  const { url = 'https://merchant.example/', events = ['*'], status } = body;
  return all(
    onlyKeys(body, 'url', 'events', 'status'),
    endpointVerdict({ url, events }),
    isClean(body),
    status === undefined || status === 'ACTIVE' || status === 'INACTIVE',
  );
}

export function verifyVerdict(body: Body): Verdict {
  const { headers } = body;
  const isText = (value: unknown): boolean => typeof value === 'string';
  return all(
    onlyKeys(body, 'payload', 'headers', 'secret'),
    isClean(body),
    isText(body['payload']) && Buffer.byteLength(String(body['payload'])) <= 65_536,
    textVerdict(body['secret'], 0, 1_000),
    isPlainObject(headers) &&
      Object.values(headers).every((value) => isText(value) || (Array.isArray(value) && value.every(isText))),
  );
}

export function simulateVerdict(body: Body): Verdict {
  const { event } = body;
  return all(
    onlyKeys(body, 'event', 'method', 'payer_document', 'payer_name', 'amount', 'end_to_end_id', 'reason', 'result'),
    isClean(body),
    // The request does not show whether the charge has something to dispute or to rule on.
    ['med_open', 'med_rule', 'med_withdraw'].includes(event as string)
      ? 'either'
      : ['pay', 'expire', 'fail', 'refund_fail'].includes(event as string),
    // The charges of the test can be paid by no other method.
    optional(body['method'], (method) =>
      event === 'med_open' ? method === 'scam' : method === 'PIX' || (method === 'BOLETO' && event !== 'pay'),
    ),
    event === 'med_rule'
      ? ['agreed', 'disagreed'].includes(body['result'] as string)
      : optional(body['result'], (result) => ['agreed', 'disagreed'].includes(result as string)),
    descriptive(body['reason'], (reason) => textVerdict(reason, 0, 500)),
    nullable(body['payer_document'], isTaxId),
    descriptive(body['payer_name'], (name) => textVerdict(name, 0, 200)),
    optional(body['amount'], isAmount),
    optional(body['end_to_end_id'], endToEndIdVerdict),
  );
}

/** Judges an end-to-end id. The model leaves open whether the minute in an id of the right form exists. */
function endToEndIdVerdict(id: unknown): Verdict {
  if (typeof id !== 'string' || !/^[A-Za-z0-9]{1,64}$/.test(id)) return 'invalid';
  return /^E\d{8}20261121(?:[01]\d|2[0-3])[0-5]\d[A-Za-z0-9]{11}$/.test(id) ? 'valid' : 'either';
}

function pixKeyVerdict(value: unknown): Verdict {
  if (typeof value !== 'string') return 'invalid';
  if (taxIdOf(value) !== null) return value.length > 40 ? 'either' : 'valid';
  if (/^[a-z0-9]{1,30}@[a-z0-9]{1,30}\.(?:com|br|example)$/.test(value)) return 'valid';
  if (/^\+55[1-9]{2}9\d{8}$/.test(value)) return 'valid';
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(value)) return 'valid';
  return /@|^\s*\+|-/.test(value) ? 'either' : 'invalid';
}

const PAYMENT_METHODS = ['PIX', 'CREDIT_CARD', 'MBWAY', 'MULTIBANCO', 'BOLETO', 'CRYPTO'];

function documentVerdict(value: unknown): Verdict {
  if (typeof value !== 'string' || !/^[\x20-\x7e]{1,32}$/.test(value) || value !== value.trim()) return 'invalid';
  return /^[0-9A-Za-z]+$/.test(value) || taxIdOf(value) !== null ? 'valid' : 'either';
}

function urlVerdict(value: unknown): Verdict {
  if (typeof value !== 'string' || !/^https?:\/\//i.test(value) || value.length > 2048) return 'invalid';
  return /^https?:\/\/[a-z]{3,20}\.example\/[a-z0-9]*$/.test(value) ? 'valid' : 'either';
}

/** Judges a return URL. Plain HTTP is valid for loopback hosts only, and the model does not know which hosts are. */
function returnUrlVerdict(value: unknown): Verdict {
  const isHttp = typeof value === 'string' && /^http:/i.test(value);
  return isHttp ? (/^http:\/\/[a-z]{3,20}\.example\//.test(value) ? 'invalid' : 'either') : urlVerdict(value);
}

export function paymentVerdict(body: Body): Verdict {
  const { paymentMethods: methods, currency, metadata, idempotencyKey: key } = body;
  if (!Array.isArray(methods) || !methods.every((method) => PAYMENT_METHODS.includes(method as string)))
    return 'invalid';
  const meta = isPlainObject(metadata) ? metadata : {};
  return all(
    onlyKeys(
      body,
      ...['amount', 'currency', 'paymentMethods', 'customerId', 'customerName', 'customerDocument', 'customerEmail'],
      ...['metadata', 'webhookUrl', 'idempotencyKey'],
    ),
    isClean(body),
    isAmount(body['amount']),
    methods.length >= 1 && methods.length <= 6,
    optional(currency, (code) => typeof code === 'string' && /^[A-Z0-9]{3,8}$/.test(code)),
    !(methods.includes('PIX') || methods.includes('BOLETO')) || !isGiven(currency) || currency === 'BRL',
    descriptive(body['customerId'], (id) => textVerdict(id, 1, 128)),
    descriptive(body['customerName'], (name) => textVerdict(name, 1, 200)),
    descriptive(body['customerDocument'], documentVerdict),
    descriptive(body['customerEmail'], emailVerdict),
    describing(
      metadata,
      (value) => isPlainObject(value) && levelsOf(value) <= 5 && Buffer.byteLength(JSON.stringify(value)) <= 16_384,
    ),
    !methods.includes('MBWAY') || (typeof meta['phone'] === 'string' && /^\+[1-9]\d{6,14}$/.test(meta['phone'])),
    descriptive(meta['returnUrl'], returnUrlVerdict),
    descriptive(body['webhookUrl'], urlVerdict),
    typeof key === 'string' && /^[\x20-\x7e]{1,128}$/.test(key),
  );
}

/** Judges the body of a refund. The service may still refuse a valid one, for example for lack of money. */
export function refundVerdict(body: Body): Verdict {
  const key = body['idempotencyKey'];
  return all(
    onlyKeys(body, 'idempotencyKey', 'amount', 'reason', 'strategy', 'passFeeToTenant', 'destinationKey'),
    isClean(body),
    typeof key === 'string' && /^[\x20-\x7e]{8,128}$/.test(key),
    optional(body['amount'], isAmount),
    descriptive(body['reason'], (reason) => textVerdict(reason, 0, 500)),
    optional(body['strategy'], (strategy) => strategy === 'cashout' || strategy === 'devolution'),
    optional(body['passFeeToTenant'], (pass) => typeof pass === 'boolean'),
    optional(body['destinationKey'], (value) => all(pixKeyVerdict(value), body['strategy'] !== 'devolution')),
  );
}

// ---- Valid values for the generators.

const taxIds = [
  '529.982.247-25',
  '52998224725',
  '11144477735',
  '12.345.678/0001-95',
  '12ABC34501DE35',
  '12abc34501de35',
];
const niceText = (max: number): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constantFrom(
      'Maria da Silva',
      'Padaria São João 🧉',
      'نور',
      '漢字',
      "Robert'); DROP TABLE charges;--",
      '👩‍👩‍👧',
      'a\u0301\u202e',
    ),
    fc.string({ minLength: 1, maxLength: max, unit: 'binary' }).filter((value) => !value.includes('\u0000')),
    fc.constantFrom(max, max + 1).map((length) => '🧉'.repeat(length)),
    // Variation selectors, which some counters of characters skip.
    fc.constantFrom('x', '').map((start) => `${start}${'\ufe0f'.repeat(max * 3)}`),
  );

const amount = text(fc.oneof(fc.integer({ min: 1, max: 100_000 }), fc.constantFrom(1, MAX_AMOUNT)));

const customerFields: Fields = {
  name: text(niceText(200)),
  document: text(fc.constantFrom(...taxIds)),
  email: text(
    fc.constantFrom('maria@example.com', 'a@b.br', 'x@[127.0.0.1]', 'maria+1@example.com', 'joão@exemplo.com.br'),
  ),
  phone: text(fc.constantFrom('+5511987654321', '(11) 98765-4321')),
};

export const chargeFields: Fields = {
  amount,
  payment_method: fc.constant('"pix"'),
  currency: fc.constantFrom('"BRL"', '"BRL"', '"BRL"', '"BRL"', '"BRL"', 'null'),
  description: text(niceText(500)),
  expires_in: fc.constantFrom('60', '300', '3600', '7200', '86400', '86401', '1e21', '1e300', 'null'),
  customer: validObject(customerFields, []),
  expected_payer_tax_id: text(fc.constantFrom(...taxIds)),
  metadata: fc.oneof(
    fc
      .array(fc.tuple(fc.string({ maxLength: 8 }), junk), { maxLength: 4 })
      .map((pairs) => `{${pairs.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`),
    fc.constantFrom(
      '{}',
      '{"constructor":1}',
      '{"toString":null}',
      '{"a":{"b":{"c":{"d":{}}}}}',
      '{"a":{"b":{"c":{"d":{"e":{}}}}}}',
    ),
    fc.constantFrom(16_374, 16_376, 16_377, 17_000).map((length) => `{"x":"${'y'.repeat(length)}"}`),
  ),
};

const urls = text(
  fc.constantFrom('https://merchant.example/hook', 'http://merchant.example/', 'ftp://merchant.example/', 'https://'),
);

export const paymentFields: Fields = {
  amount,
  currency: fc.constantFrom('"BRL"', '"BRL"', '"BRL"', '"BRL"', '"EUR"', 'null'),
  paymentMethods: text(fc.subarray(PAYMENT_METHODS, { minLength: 1 })),
  customerId: text(niceText(128)),
  customerName: text(niceText(200)),
  customerDocument: text(fc.constantFrom(...taxIds, 'PT123456789', '529.982.247-24', 'ES-X 1234567')),
  customerEmail: text(fc.constantFrom('maria@example.com', '"a b"@example.com', 'x@[127.0.0.1]')),
  metadata: fc.constantFrom(
    '{"phone":"+351912345678"}',
    '{"phone":"+351912345678","returnUrl":"https://merchant.example/thanks"}',
    '{"phone":"912","returnUrl":"nowhere"}',
    '{"phone":null,"returnUrl":null,"constructor":1}',
  ),
  webhookUrl: urls,
  idempotencyKey: text(fc.uuid()),
};

export const endpointFields: Fields = {
  url: text(
    fc.oneof(
      fc.constantFrom('https://merchant.example/hooks', 'http://merchant.example:8080/', 'https://merchant.example/'),
      fc.webUrl(),
      fc.string().map((path) => `https://merchant.example/${path}`),
      fc.constantFrom(
        'http://169.254.169.254/',
        'https://user:pass@merchant.example/',
        'ftp://merchant.example/',
        'https://',
        'http://[::]/',
      ),
    ),
  ),
  events: text(fc.array(fc.constantFrom(...EVENT_NAMES), { minLength: 1, maxLength: 3 })),
};

export const endpointChangeFields: Fields = {
  ...endpointFields,
  status: fc.constantFrom('"ACTIVE"', '"INACTIVE"'),
};

const hex = fc.constantFrom('a'.repeat(64), 'A'.repeat(64), '0'.repeat(63), ` ${'f'.repeat(64)}`);
const signature = fc.oneof(
  fc.constantFrom('', ',', '=', 't=,v1=', 't=1', 'sha256=', 'v1=x,v1=y', 'sha1=x'),
  fc.tuple(fc.integer({ min: -1, max: 99_999_999_999 }), hex).map(([time, sum]) => `t=${time},v1=${sum}`),
  hex.map((sum) => `sha256=${sum}`),
  fc.string(),
);

export const verifyFields: Fields = {
  payload: fc.oneof(
    text(niceText(16_384)),
    text(junk),
    text(fc.constantFrom('{"object":"event"}', '{"event":"x"}', '[['.repeat(30_000))),
  ),
  headers: text(
    fc.record(
      {
        'X-Service-Signature': fc.oneof(signature, fc.array(signature, { maxLength: 3 })),
        'x-service-delivery-id': fc.oneof(
          fc.uuid().map((id) => `wd_${id}`),
          fc.string(),
        ),
        constructor: fc.string(),
      },
      { requiredKeys: [] },
    ),
  ),
  secret: text(fc.oneof(hex, fc.string(), niceText(1_000))),
};

export const simulateFields: Fields = {
  event: fc.constantFrom(
    ...['"pay"', '"pay"', '"pay"', '"pay"', '"pay"', '"expire"', '"fail"', '"refund_fail"'],
    ...['"med_open"', '"med_rule"', '"med_withdraw"'],
  ),
  method: fc.constantFrom('"PIX"', '"PIX"', '"PIX"', '"BOLETO"', '"scam"'),
  reason: fc.oneof(text(niceText(500)), fc.constant('null')),
  result: fc.constantFrom('"agreed"', '"disagreed"', '"disagreed"', 'null'),
  payer_document: fc.oneof(text(fc.constantFrom(...taxIds)), fc.constant('null')),
  payer_name: fc.oneof(text(niceText(200)), fc.constant('null')),
  amount: fc.oneof(fc.constant('1990'), amount),
  // Few ids, so that one is repeated at another charge.
  end_to_end_id: text(
    fc.integer({ min: 1, max: 60 }).map((number) => `E00000000202611211530${String(number).padStart(11, '0')}`),
  ),
};

export const refundFields: Fields = {
  idempotencyKey: text(fc.uuid()),
  amount: text(fc.integer({ min: 1, max: 100 })),
  reason: text(niceText(500)),
  strategy: fc.constantFrom('"cashout"', '"devolution"', 'null'),
  passFeeToTenant: fc.constantFrom('true', 'false', 'null'),
  destinationKey: text(
    fc.constantFrom(
      ...taxIds,
      ...['maria@example.com', 'Maria@Example.com', '+5511987654321', '+55 (11) 98765-4321', 'x@y'],
      ...['123e4567-e12b-12d1-a456-426655440000', '123E4567-E12B-12D1-A456-426655440000', '11987654321'],
    ),
  ),
};
