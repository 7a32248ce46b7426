import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';

/** JSON text. Bodies are put together as text, so that they can hold what JSON.stringify never writes: `1e400`, `__proto__`, a key twice. */
type Json = string;

export class FuzzRequest {
  constructor(
    readonly bytes: Buffer,
    /** Undefined: the header is not sent. */
    readonly contentType: string | undefined,
  ) {}

  /** Shows bytes as text in the report of a failure. */
  [fc.toStringMethod](): string {
    return `${String(this.contentType)}: ${this.bytes.toString('utf8').slice(0, 300)}`;
  }
}

/**
 * Verdict of a model on a request: `either` where the contract leaves the decision open (valid e-mails, for example).
 */
export type Verdict = 'valid' | 'invalid' | 'either';

/** Fields of a body, each with texts that are right. */
export type Fields = Readonly<Record<string, fc.Arbitrary<Json>>>;

export const text = (arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<Json> =>
  arbitrary.map((value) => JSON.stringify(value));

export function objectText(pairs: readonly (readonly [string, Json])[]): Json {
  return `{${pairs.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`;
}

/** Characters that have broken somebody: NUL, lone surrogates, marks, joiners, right-to-left, quotes of every language. */
const ODD_UNITS = [
  ...[
    '\u0000',
    '\ud800',
    '\udfff',
    '\u0001',
    '\u001b',
    '\u007f',
    '\u0085',
    '\u200b',
    '\u200d',
    '\u202e',
    '\u2028',
    '\ufeff',
  ],
  ...[
    '\ufe0f',
    '\ufffd',
    '\uffff',
    '\u0301',
    'é',
    'ß',
    'ſ',
    'İ',
    '🧉',
    '👩‍👩‍👧',
    '漢',
    'ن',
    "'",
    '"',
    '\\',
    '$',
    '%',
    '`',
    '<',
    '\n',
    ' ',
    'a',
    '0',
  ],
];
const oddText = fc.array(fc.constantFrom(...ODD_UNITS), { maxLength: 12 }).map((units) => units.join(''));

const ODD_KEYS = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', 'toJSON', 'then', 'length'],
  ...['', '_internal', 'med', 'failure', 'id', 'Amount', 'amount ', 'a.b', '$ne', '0', '\u0000', '\ud800', '🧉'],
];
const oddKey = fc.oneof(fc.constantFrom(...ODD_KEYS), fc.string({ maxLength: 6 }));

const ODD_NUMBERS = [
  ...['0', '-0', '-1', '1.5', '1.0', '1e3', '1E+2', '1e400', '-1e400', '1e-400', '60', '59', '86400', '86401', '1e21'],
  ...['999999999999', '1000000000000', '9007199254740993', '99999999999999999999', '0.1', '-99999999999'],
];

/** Any JSON value, mostly small, often hostile. */
export const junk: fc.Arbitrary<Json> = fc.letrec<{ value: Json; object: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('null', 'true', 'false', '""', '[]', '{}', '"100"', '"BRL"', '"pix"', '[null]', '{"length":1}'),
    fc.constantFrom(...ODD_NUMBERS),
    text(oddText),
    text(fc.string()),
    text(fc.integer()),
    text(fc.double()),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    tie('object'),
  ),
  object: fc.array(fc.tuple(oddKey, tie('value')), { maxLength: 4 }).map(objectText),
})).value;

/** Nested deeper than any reader likes, in objects or in lists. */
export const nested: fc.Arbitrary<Json> = fc
  .tuple(fc.constantFrom(1, 2, 4, 5, 6, 7, 18, 19, 20, 21, 22, 500, 40_000), fc.boolean())
  .map(([depth, inLists]) =>
    inLists ? `${'['.repeat(depth)}${']'.repeat(depth)}` : `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
  );

/** An object that has the `required` fields and some of the others, right ones. */
export function validObject(fields: Fields, required: readonly string[]): fc.Arbitrary<Json> {
  return fc
    .record(fields as Record<string, fc.Arbitrary<Json>>, { requiredKeys: [...required] })
    .chain((body) => fc.shuffledSubarray(Object.entries(body), { minLength: Object.keys(body).length }))
    .map(objectText);
}

/** Like `validObject`, with one thing or several changed: a field wrong, missing, twice, misspelt, or one too many. */
export function mutatedObject(fields: Fields, required: readonly string[]): fc.Arbitrary<Json> {
  const names = Object.keys(fields);
  const wrong = fc.tuple(fc.constantFrom(...names), fc.oneof(junk, nested));
  const foreign = fc.tuple(oddKey, junk);
  const swapped = fc
    .tuple(fc.constantFrom(...names), fc.constantFrom(...names))
    .chain(([name, other]) => fc.tuple(fc.constant(name), fields[other] ?? junk));
  return fc
    .tuple(
      fc.record(fields as Record<string, fc.Arbitrary<Json>>, { requiredKeys: [...required] }),
      fc.subarray(names, { maxLength: 2 }),
      fc.array(fc.oneof(wrong, wrong, foreign, swapped), { maxLength: 2 }),
    )
    .map(([body, dropped, added]) =>
      objectText([
        // In its place (only another change can put it there twice): a field that is there twice is refused, whatever it holds.
        ...Object.entries(body).filter(([name]) => !dropped.includes(name) && !added.some(([other]) => other === name)),
        ...added,
      ]),
    );
}

/** Removes, doubles or replaces one character or byte of a text. */
function damaged(body: fc.Arbitrary<Json>): fc.Arbitrary<Buffer> {
  const spot = fc.record({ body, at: fc.nat(), with: fc.nat({ max: 255 }), how: fc.constantFrom('cut', 'put', 'end') });
  return spot.map(({ body: json, at, with: byte, how }) => {
    const bytes = Buffer.from(json);
    const index = bytes.length === 0 ? 0 : at % bytes.length;
    const rest = how === 'end' ? Buffer.alloc(0) : bytes.subarray(index + (how === 'cut' ? 1 : 0));
    return Buffer.concat([bytes.subarray(0, index), how === 'put' ? Buffer.from([byte]) : Buffer.alloc(0), rest]);
  });
}

export const MAX_BODY_BYTES = 64 * 1024;

/** Every kind of request that can be made out of a body's fields. */
export function requests(fields: Fields, required: readonly string[]): fc.Arbitrary<FuzzRequest> {
  const valid = validObject(fields, required);
  const mutated = mutatedObject(fields, required);
  const oversized = fc
    .tuple(valid, fc.constantFrom(MAX_BODY_BYTES, MAX_BODY_BYTES + 1, 2 * MAX_BODY_BYTES))
    .map(([json, size]) => Buffer.from(`${json}${' '.repeat(Math.max(0, size - Buffer.byteLength(json)))}`));
  const bytes = fc.oneof(
    { arbitrary: valid.map((json) => Buffer.from(json)), weight: 50 },
    { arbitrary: mutated.map((json) => Buffer.from(json)), weight: 60 },
    { arbitrary: fc.oneof(junk, nested).map((json) => Buffer.from(json)), weight: 10 },
    { arbitrary: damaged(fc.oneof(valid, mutated)), weight: 15 },
    { arbitrary: fc.uint8Array({ maxLength: 64 }).map((array) => Buffer.from(array)), weight: 5 },
    { arbitrary: oversized, weight: 1 },
  );
  const contentType = fc.oneof(
    { arbitrary: fc.constantFrom('application/json', 'application/json; charset=utf-8'), weight: 20 },
    {
      arbitrary: fc.constantFrom(
        undefined,
        'application/JSON;charset="UTF-8"',
        'application/json; charset=utf8;',
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        'application/json; charset=utf-16',
        'application/jsonp',
        'application/xml',
        ';',
        '*/*',
      ),
      weight: 1,
    },
  );
  return fc.tuple(bytes, contentType).map(([body, type]) => new FuzzRequest(body, type));
}

/** How a request is answered before anybody looks at its fields, and the parsed body of one that gets further. */
export function readBody(
  request: FuzzRequest,
): { refusal: number } | { body: Record<string, unknown>; isExact: boolean } {
  const { bytes, contentType } = request;
  if (bytes.length > MAX_BODY_BYTES) return { refusal: 413 };
  if (bytes.length === 0) return { body: {}, isExact: true };
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const isUtf8Json =
    type.trim() === 'application/json' &&
    parameters.every((parameter) => /^(?:charset="?utf-?8"?)?$/.test(parameter.replaceAll(' ', '')));
  if (!isUtf8Json) return { refusal: 415 };
  if (!isUtf8(bytes)) return { refusal: 400 };
  try {
    const json = bytes.toString('utf8').replace(/^\ufeff/, '');
    const body: unknown = JSON.parse(json);
    // As every key of metadata that begins with "_": it is dropped.
    const metadata = (body as { metadata?: unknown } | null)?.metadata;
    if (typeof metadata === 'object' && metadata !== null) Reflect.deleteProperty(metadata, '__proto__');
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return { refusal: 400 };
    return { body: body as Record<string, unknown>, isExact: isExact(json) };
  } catch {
    return { refusal: 400 };
  }
}

/**
 * Whether parsing keeps all that a JSON text says: one value of each key, every digit of a number. Not as the service
 * does it, but by taking out of the text what was parsed, token by token.
 */
function isExact(json: string): boolean {
  const objects: (Set<string> | null)[] = [];
  let last = '';
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[-\d][\d.eE+-]*|[^\s]/g)) {
    if (token === '{' || token === '[') objects.push(token === '{' ? new Set() : null);
    else if (token === '}' || token === ']') objects.pop();
    else if (token === ':') {
      const key = JSON.parse(last) as string;
      const keys = objects.at(-1);
      if (keys?.has(key)) return false;
      keys?.add(key);
    } else if (/^[-\d]/.test(token) && !isSameNumber(token)) return false;
    last = token;
  }
  return true;
}

/** Compares numbers exactly: scales both to integers with the same power of ten. */
function isSameNumber(token: string): boolean {
  const value = Number(token);
  if (!Number.isFinite(value)) return false;
  const scaled = (text: string): [bigint, number] => {
    const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
    const [whole = '', fraction = ''] = mantissa.split('.');
    return [BigInt(`${whole}${fraction}`.replace('-', '')), Number(exponent) - fraction.length];
  };
  const [one, oneExponent] = scaled(token);
  const [other, otherExponent] = scaled(String(value));
  if (one === 0n || other === 0n) return one === other;
  const shift = oneExponent - otherExponent;
  if (Math.abs(shift) > 2_000) return false;
  return shift >= 0 ? one * 10n ** BigInt(shift) === other : one === other * 10n ** BigInt(-shift);
}

/** Whether every text and key of a value can be stored, and no key is `__proto__`. */
export function isClean(value: unknown): boolean {
  // Level by level and not by recursion: a value may be nested 40 000 deep.
  for (let level = [value]; level.length > 0;) {
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item === 'string' && (item.includes('\u0000') || !item.isWellFormed())) return false;
      if (typeof item !== 'object' || item === null) continue;
      for (const [key, inner] of Object.entries(item)) {
        if (key === '__proto__' || key.includes('\u0000') || !key.isWellFormed()) return false;
        next.push(inner);
      }
    }
    level = next;
  }
  return true;
}

/** Levels of objects and lists: `{}` has one. */
export function levelsOf(value: unknown): number {
  let levels = 0;
  for (let level = [value]; ; levels++) {
    const containers = level.filter((item): item is object => typeof item === 'object' && item !== null);
    if (containers.length === 0) return levels;
    level = containers.flatMap((container) => Object.values(container) as unknown[]);
  }
}

/** Worst of several verdicts. */
export function all(...verdicts: readonly (Verdict | boolean)[]): Verdict {
  if (verdicts.some((verdict) => verdict === 'invalid' || verdict === false)) return 'invalid';
  return verdicts.includes('either') ? 'either' : 'valid';
}
