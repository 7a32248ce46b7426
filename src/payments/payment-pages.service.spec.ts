import { describe, expect, it } from '@jest/globals';
import { Clock } from '../core/clock.js';
import type { Database, Tx } from '../core/database/index.js';
import type { ExpiryService, TransactionPlaces, TransactionsService } from '../transactions/index.js';
import { type PageQuery, PaymentPages } from './payment-pages.service.js';
import type { PaymentsRepository } from './payments.repository.js';

const SCOPE = { accountId: '019aa0f0-0000-7000-8000-000000000001', mode: 'test' } as const;
const BY_EMAIL: PageQuery = {
  page: 3,
  limit: 100,
  status: null,
  from: null,
  to: null,
  sortBy: 'customerEmail',
  sortOrder: 'asc',
  search: null,
};

/** Builds a service with `total` payments, whose sorting takes as long as `sort`. */
function pagesOf(total: number, sort: () => Promise<never[]>): PaymentPages {
  const payments: Partial<PaymentsRepository> = { sorted: sort };
  const places: Partial<TransactionPlaces> = { locate: async () => ({ total, part: null }) };
  const database: Partial<Database> = { transaction: (work) => work({} as Tx) };
  return new PaymentPages(
    database as Database,
    payments as PaymentsRepository,
    places as TransactionPlaces,
    {} as TransactionsService,
    {} as ExpiryService,
    new Clock(),
  );
}

const refusal = (message: RegExp): unknown =>
  expect.objectContaining({ status: 503, code: 'service_unavailable', message: expect.stringMatching(message) });

describe('a list sorted by a field without an index', () => {
  it('answers 503 with advice to narrow the dates when sorting takes too long', async () => {
    const pages = pagesOf(1_000_000, () => Promise.reject(Object.assign(new Error('canceled'), { code: '57014' })));
    await expect(pages.page(SCOPE, BY_EMAIL)).rejects.toEqual(
      refusal(/^Sorting took too long: narrow startDate and endDate .* 1000000 payments/),
    );
  });

  it('sorts two large lists at once, lets six wait, refuses the ninth, and sorts small ones freely', async () => {
    const finish: (() => void)[] = [];
    const sort = (): Promise<never[]> => new Promise((resolve) => finish.push(() => resolve([])));
    const pages = pagesOf(20_001, sort);
    const other = { ...SCOPE, accountId: 'another' };
    const lists = Array.from({ length: 8 }, (_, index) => pages.page(index % 2 === 0 ? SCOPE : other, BY_EMAIL));
    await expect(pages.page(SCOPE, BY_EMAIL)).rejects.toEqual(refusal(/^Too many large lists .* narrow startDate/));
    expect(finish).toHaveLength(2);
    for (let done = 0; done < lists.length; done++) {
      finish[done]?.();
      await lists[done];
    }
    expect(finish).toHaveLength(8);

    const small = pagesOf(20_000, sort);
    const many = Array.from({ length: 20 }, () => small.page(SCOPE, BY_EMAIL));
    await new Promise((resolve) => setImmediate(resolve));
    expect(finish).toHaveLength(28);
    for (const end of finish) end();
    await Promise.all(many);
  });

  it('answers a page past its end without sorting', async () => {
    const pages = pagesOf(200, () => Promise.reject(new Error('sorted')));
    expect(await pages.page(SCOPE, BY_EMAIL)).toEqual({ transactions: [], total: 200 });
  });

  it('throws any other error unchanged', async () => {
    const pages = pagesOf(1_000_000, () => Promise.reject(new Error('socket hang up')));
    await expect(pages.page(SCOPE, BY_EMAIL)).rejects.toThrow('socket hang up');
  });
});
