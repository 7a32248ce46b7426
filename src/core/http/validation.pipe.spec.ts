import { describe, expect, it } from '@jest/globals';
import type { ArgumentMetadata } from '@nestjs/common';
import { IsArray, IsDefined, IsIn, IsInt, IsString, Max, Min } from 'class-validator';
import { ApiError } from '../errors/index.js';
import { type JsonBody, parseBody } from './body.js';
import { Nested } from './nested.decorator.js';
import { ValidationPipe } from './validation.pipe.js';
import { IsNullable, IsOptional } from './validators.js';

class Address {
  @IsDefined({ message: 'is required' })
  @IsString({ message: 'must be a text' })
  street!: string;
}

class Customer {
  @IsOptional()
  @IsString({ message: 'must be a text' })
  name?: string;

  @IsOptional()
  @Nested(() => Address)
  address?: Address;
}

class Base {
  @IsDefined({ message: 'is required' })
  @IsInt({ message: 'must be an integer' })
  @Min(1, { message: 'must be at least 1' })
  @Max(9, { message: 'must be at most 9' })
  amount!: number;
}

class Order extends Base {
  @IsOptional()
  @IsIn(['pix'], { message: 'must be pix' })
  method?: string;

  @IsOptional()
  @Nested(() => Customer)
  customer?: Customer;

  @IsOptional()
  @IsArray({ message: 'must be a list' })
  tags?: unknown[];

  @IsOptional()
  @IsInt({ message: 'must be 1 to 9' })
  @Min(1, { message: 'must be 1 to 9' })
  @Max(9, { message: 'must be 1 to 9' })
  limit?: number;

  @IsNullable()
  @IsString({ message: 'must be a text' })
  deadline?: string | null;

  /** Has no rule: it is the code's own and not a field that may be sent. */
  internal = 'mine';
}

const PROTOTYPE_KEYS = [
  ...['constructor', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf', 'propertyIsEnumerable'],
  ...['toLocaleString', '__defineGetter__', '__defineSetter__', '__lookupGetter__', 'then', 'length', 'name'],
];

const pipe = new ValidationPipe();

async function run(value: unknown, metadata: ArgumentMetadata = { type: 'body', metatype: Order }): Promise<unknown> {
  const isBody = metadata.type === 'body' && metadata.metatype !== undefined;
  return pipe.transform(
    isBody ? bodyOf(typeof value === 'string' ? value : JSON.stringify(value ?? {})) : value,
    metadata,
  );
}

const bodyOf = (text: string): JsonBody => parseBody(Buffer.from(text), 'application/json');

/** `param: code` of each violation. */
async function violationsOf(value: unknown): Promise<string[]> {
  const error: unknown = await run(value).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApiError)) throw new Error(`expected a refusal, got ${String(error)}`);
  expect(error).toMatchObject({ status: 400, type: 'invalid_request_error', code: 'invalid_request' });
  expect(error.param).toBe(error.details?.[0]?.param);
  return (error.details ?? []).map(({ param, code }) => `${param}: ${code}`);
}

describe('the validation of a body', () => {
  it('returns an instance of the DTO and of its parts, with unchanged values', async () => {
    const sent = {
      amount: 5,
      method: 'pix',
      customer: { name: 'Maria', address: { street: 'x' } },
      tags: [1, { a: null }],
    };
    const dto = (await run(sent)) as Order;
    expect(dto).toBeInstanceOf(Order);
    expect(dto.customer).toBeInstanceOf(Customer);
    expect(dto.customer?.address).toBeInstanceOf(Address);
    expect(dto).toEqual({ ...sent, internal: 'mine' });
  });

  it('refuses null for a field that may be left out', async () => {
    expect(await violationsOf({ amount: 1, method: null, customer: null, limit: null, tags: null })).toEqual([
      'method: invalid',
      'customer: invalid',
      'tags: invalid',
      'limit: invalid',
    ]);
    expect(await violationsOf({ amount: 1, customer: { name: null, address: null } })).toEqual([
      'customer.name: invalid',
      'customer.address: invalid',
    ]);
  });

  it('accepts null where the field defines its meaning', async () => {
    await expect(run({ amount: 1, deadline: null })).resolves.toMatchObject({ deadline: null });
    expect(await violationsOf({ amount: 1, deadline: 5 })).toEqual(['deadline: invalid']);
  });

  it('converts no value to another type', async () => {
    for (const amount of ['5', 5.5, true, [5], { valueOf: 5 }, ''])
      expect(await violationsOf({ amount })).toContain('amount: invalid');
  });

  it('lists every violation at once, wherever it is', async () => {
    expect(
      await violationsOf({
        amount: 10.5,
        method: 'card',
        customer: { name: 1, address: {}, nickname: 'x' },
        tags: 'x',
        amuont: 1,
      }),
    ).toEqual([
      // The DTO's own fields come before inherited ones.
      'method: invalid',
      'customer.name: invalid',
      'customer.address.street: required',
      'tags: invalid',
      'amount: invalid',
      'amount: invalid',
      'customer.nickname: unknown_field',
      'amuont: unknown_field',
    ]);
  });

  it('reports a missing field only as required', async () => {
    expect(await violationsOf({})).toEqual(['amount: required']);
    expect(await violationsOf(undefined)).toEqual(['amount: required']);
    expect(await violationsOf({ amount: null })).toEqual(['amount: required']);
  });

  it('reports the same problem of a field only once', async () => {
    expect(await violationsOf({ amount: 1, limit: 'x' })).toEqual(['limit: invalid']);
    await expect(run({ amount: 1, limit: 0 })).rejects.toMatchObject({ message: 'limit: must be 1 to 9' });
  });

  it.each([[1], ['text'], [true], [[]], [[{}]]])('refuses %j where an object belongs', async (customer) => {
    expect(await violationsOf({ amount: 1, customer })).toEqual(['customer: invalid']);
  });

  it('refuses fields of the DTO that have no rule', async () => {
    expect(await violationsOf({ amount: 1, internal: 'forged' })).toEqual(['internal: unknown_field']);
  });

  it.each(PROTOTYPE_KEYS.flatMap((key) => ['1', 'null', '{}', '"x"', '[]'].map((value) => ({ key, value }))))(
    'reports $key as unknown, whatever its value: $value',
    async ({ key, value }) => {
      expect(await violationsOf(`{"amount":1,"${key}":${value}}`)).toEqual([`${key}: unknown_field`]);
      if (key === 'name') return; // which a customer has
      expect(await violationsOf(`{"amount":1,"customer":{"${key}":${value}}}`)).toEqual([
        `customer.${key}: unknown_field`,
      ]);
    },
  );

  it('keeps keys such as constructor inside a free-form value', async () => {
    const tags = '[{"constructor":null,"toString":1,"hasOwnProperty":{}}]';
    await expect(run(`{"amount":1,"tags":${tags}}`)).resolves.toMatchObject({ tags: JSON.parse(tags) as unknown });
  });

  it('refuses __proto__ at every level and lets nobody reach a prototype', async () => {
    for (const text of [
      '{"amount":1,"__proto__":{"amount":5}}',
      '{"amount":1,"customer":{"__proto__":{"name":"x"}}}',
      '{"amount":1,"tags":[{"__proto__":{"polluted":true}}]}',
    ]) {
      expect((await violationsOf(text))[0]).toMatch(/__proto__: invalid_key$/);
    }
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it('names broken characters together with the other violations', async () => {
    expect(await violationsOf('{"amount":0,"customer":{"name":"\\ud800"}}')).toEqual([
      'amount: invalid',
      'customer.name: invalid_characters',
    ]);
  });

  it('names at most 50 violations, cuts their paths to 200 characters, and says how many there are', async () => {
    const many = Object.fromEntries(Array.from({ length: 450 }, (_unused, index) => [`k${index}`, '\u0000']));
    expect(await violationsOf({ amount: 0, ...many })).toHaveLength(50);
    await expect(run({ amount: 0, ...many })).rejects.toMatchObject({
      message: 'The request has at least 901 problems; error.details names 50 of them.',
    });
    expect(await violationsOf({ amount: 1, ['y'.repeat(1_000)]: 1 })).toEqual([`${'y'.repeat(200)}: unknown_field`]);
  });

  it.each([
    ['a key twice', '{"amount":1,"amount":2}', 'amount: duplicate_key'],
    ['a key twice, once with an escape', '{"amount":1,"am\\u006funt":1}', 'amount: duplicate_key'],
    ['a key of a part twice', '{"amount":1,"customer":{"name":"x","name":"y"}}', 'customer.name: duplicate_key'],
    ['a number with too many digits', '{"amount":1.00000000000000000001}', 'amount: inexact_number'],
    ['one in a list', '{"amount":1,"tags":[0,{"n":9007199254740993}]}', 'tags.1.n: inexact_number'],
    ['a number that is too large', '{"amount":1,"tags":[1e400]}', 'tags.0: inexact_number'],
  ])('refuses what a parser silently changes: %s', async (_what, text, violation) => {
    expect(await violationsOf(text)).toEqual([violation]);
  });

  it('validates queries too, and leaves other parameters unchanged', async () => {
    await expect(run({ amuont: '1' }, { type: 'query', metatype: Order })).rejects.toBeInstanceOf(ApiError);
    await expect(run('x', { type: 'param', metatype: String })).resolves.toBe('x');
    await expect(run('x', { type: 'custom', metatype: Order })).resolves.toBe('x');
    await expect(run({ any: 1 }, { type: 'body' })).resolves.toEqual({ any: 1 });
  });
});
