import { describe, expect, it } from '@jest/globals';
import { ApiError, type Violation } from './api-error.js';
import { Draft } from './draft.js';

interface Order {
  amount: number;
  customer?: { name?: string };
  url?: string;
}

const invalid = (param: string): Violation => ({ param, code: 'invalid', message: 'is wrong' });
const unknown = (param: string): Violation => ({ param, code: 'unknown_field', message: 'is not a known field' });

const whole: Order = { amount: 1, url: 'https://x.example/' };

function draft(ofFields: Violation[], ofBody: Violation[] = []): Draft<Order> {
  return new Draft<Order>(whole, { sound: {}, fields: ['amount', 'customer', 'url'], ofFields, ofBody, unnamed: 0 });
}

function namedBy(work: () => unknown): string[] {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError) return (error.details ?? []).map(({ param }) => param);
    throw error;
  }
  throw new Error('was accepted');
}

describe('a draft', () => {
  it('returns the whole request when no rule is broken', () => {
    expect(draft([]).accept([])).toBe(whole);
    expect(new Draft(whole).accept()).toBe(whole);
    expect(new Draft(whole).sound).toBe(whole);
  });

  it.each([
    ['the DTO', [invalid('amount')], [], []],
    ['the body', [], [unknown('amuont')], []],
    ['the service', [], [], [invalid('amount')]],
  ])('is refused for a violation that %s found', (_who, ofFields, ofBody, more) => {
    expect(() => draft(ofFields, ofBody).accept(more)).toThrow(ApiError);
  });

  it('names every violation in one answer: fields in the order of the DTO, then the body', () => {
    const one = draft([invalid('amount'), invalid('url')], [unknown('amuont')]);
    const more = [invalid('other'), invalid('customer.name')];
    expect(namedBy(() => one.accept(more))).toEqual(['other', 'amount', 'customer.name', 'url', 'amuont']);
    expect(one.refusal(more)).toMatchObject({ status: 400, code: 'invalid_request', param: 'other' });
  });

  it('ignores further violations of a refused field and of its parts', () => {
    const more = [invalid('url'), invalid('customer.name'), invalid('customer.document')];
    expect(namedBy(() => draft([invalid('customer.name')]).accept(more))).toEqual([
      'customer.name',
      'customer.document',
      'url',
    ]);
    expect(namedBy(() => draft([invalid('customer'), invalid('url')]).accept(more))).toEqual(['customer', 'url']);
    expect(namedBy(() => draft([invalid('custom')]).accept(more))).toContain('customer.name');
  });
});
