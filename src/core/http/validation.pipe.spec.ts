import { describe, expect, it } from '@jest/globals';
import type { ArgumentMetadata } from '@nestjs/common';
import { IsArray, IsDefined, IsIn, IsInt, IsOptional, IsString, Max, Min } from 'class-validator';
import { ApiError } from '../errors/index.js';
import { Nested } from './nested.decorator.js';
import { ValidationPipe } from './validation.pipe.js';

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

  /** Has no rule: it is the code's own and not a field that may be sent. */
  internal = 'mine';
}

const PROTOTYPE_KEYS = [
  ...['constructor', 'prototype', 'toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf', 'propertyIsEnumerable'],
  ...['toLocaleString', '__defineGetter__', '__defineSetter__', '__lookupGetter__', 'then', 'length', 'name'],
];

const pipe = new ValidationPipe();

async function run(value: unknown, metadata: ArgumentMetadata = { type: 'body', metatype: Order }): Promise<unknown> {
  return pipe.transform(value, metadata);
}

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

const json = (text: string): unknown => JSON.parse(text);

describe('the validation of a body', () => {
  it('gives an instance of the DTO, of its parts too, with the values as they came', async () => {
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

  it('takes null for an optional field that is left out', async () => {
    await expect(run({ amount: 1, method: null, customer: null })).resolves.toMatchObject({
      amount: 1,
      customer: null,
    });
  });

  it('converts nothing', async () => {
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

  it('says of a missing field only that it is required', async () => {
    expect(await violationsOf({})).toEqual(['amount: required']);
    expect(await violationsOf(undefined)).toEqual(['amount: required']);
    expect(await violationsOf({ amount: null })).toEqual(['amount: required']);
  });

  it('says the same thing of a field only once', async () => {
    expect(await violationsOf({ amount: 1, limit: 'x' })).toEqual(['limit: invalid']);
    await expect(run({ amount: 1, limit: 0 })).rejects.toMatchObject({ message: 'limit: must be 1 to 9' });
  });

  it.each([[1], ['text'], [true], [[]], [[{}]]])('refuses %j where an object belongs', async (customer) => {
    expect(await violationsOf({ amount: 1, customer })).toContain('customer: invalid');
  });

  it('does not take the fields of the DTO that have no rule', async () => {
    expect(await violationsOf({ amount: 1, internal: 'forged' })).toEqual(['internal: unknown_field']);
  });

  it.each(PROTOTYPE_KEYS.flatMap((key) => ['1', 'null', '{}', '"x"', '[]'].map((value) => ({ key, value }))))(
    'calls $key unknown, whatever it holds: $value',
    async ({ key, value }) => {
      expect(await violationsOf(json(`{"amount":1,"${key}":${value}}`))).toEqual([`${key}: unknown_field`]);
      if (key === 'name') return; // which a customer has
      expect(await violationsOf(json(`{"amount":1,"customer":{"${key}":${value}}}`))).toEqual([
        `customer.${key}: unknown_field`,
      ]);
    },
  );

  it('keeps the same keys inside a free-form value', async () => {
    const tags = json('[{"constructor":null,"toString":1,"hasOwnProperty":{}}]');
    await expect(run({ amount: 1, tags })).resolves.toMatchObject({ tags });
  });

  it('refuses __proto__ at every level and lets nobody reach a prototype', async () => {
    for (const text of [
      '{"amount":1,"__proto__":{"amount":5}}',
      '{"amount":1,"customer":{"__proto__":{"name":"x"}}}',
      '{"amount":1,"tags":[{"__proto__":{"polluted":true}}]}',
    ]) {
      expect((await violationsOf(json(text)))[0]).toMatch(/__proto__: invalid_key$/);
    }
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it('names broken characters beside the other violations', async () => {
    expect(await violationsOf(json('{"amount":0,"customer":{"name":"\\ud800"}}'))).toEqual([
      'amount: invalid',
      'customer.name: invalid_characters',
    ]);
  });

  it('names at most 50 unknown fields, each cut to 200 characters', async () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_unused, index) => [`k${index}`, 1]));
    expect(await violationsOf({ amount: 1, ...many })).toHaveLength(50);
    expect(await violationsOf({ amount: 1, ['y'.repeat(1_000)]: 1 })).toEqual([`${'y'.repeat(200)}: unknown_field`]);
  });

  it('looks at queries too, and at nothing else', async () => {
    await expect(run({ amuont: '1' }, { type: 'query', metatype: Order })).rejects.toBeInstanceOf(ApiError);
    await expect(run('x', { type: 'param', metatype: String })).resolves.toBe('x');
    await expect(run('x', { type: 'custom', metatype: Order })).resolves.toBe('x');
    await expect(run({ any: 1 }, { type: 'body' })).resolves.toEqual({ any: 1 });
  });
});
