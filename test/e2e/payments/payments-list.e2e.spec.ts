import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { StatisticsService } from '../../../src/transactions/index.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { type Answer, type Merchant, TestService } from '../../support/service.js';
import { Random } from '../../../tools/harness/random.js';

/** Source: docs/contract.md#payment-list. */
const ITEM_KEYS = [
  ...['id', 'status', 'amount', 'currency', 'paymentMethods', 'customerName', 'customerDocument', 'customerEmail'],
  ...['metadata', 'createdAt', 'paidWith', 'providerFee', 'platformFee', 'netAmount', 'paidAt'],
];
type Item = Record<string, unknown> & { id: string; createdAt: string; status: string };
interface List extends Record<string, unknown> {
  data: Item[];
  total: number;
  page: number;
  limit: number;
}
type Query = Record<string, string | number>;
interface Refusal extends Record<string, unknown> {
  error: { code: string; details?: { param: string }[] };
}

const HOUR = 3600;
const DAY = 86_400;
const COUNT = 320;

describe('GET /v1/payments', () => {
  const random = Random.seeded();
  const service = TestService.forSpec();
  let merchant: Merchant;
  /** All payments, oldest first, as read one by one */
  let all: Item[] = [];

  beforeAll(async () => {
    merchant = await service.merchant({ fee_bps: '200', default_expires_in: '86400' });
    // Ten days, most of them in a few busy hours, some to the very millisecond of a day's or an hour's beginning.
    const times: number[] = [];
    const now = Math.floor(service.clock.now().getTime() / 1000);
    const midnight = Math.floor((now - 3 * HOUR) / DAY) * DAY + 3 * HOUR;
    for (let index = 0; index < COUNT; index++) {
      const day = midnight - random.between(1, 10) * DAY;
      const kind = random.between(0, 9);
      if (kind === 0) times.push(day);
      else if (kind === 1) times.push(day + random.between(0, 23) * HOUR);
      else if (kind < 7) times.push(day + 12 * HOUR + random.between(0, 3599));
      else times.push(day + random.between(0, DAY - 1));
    }
    times.sort((a, b) => a - b);
    const ids: string[] = [];
    for (const time of times) {
      // Without the periodic tasks that `advance` would run, hundreds of times.
      service.clock.offsetMs += time * 1000 - service.clock.now().getTime();
      const { body } = await service.call<Item>('POST', '/v1/payments', {
        key: merchant.testKey,
        body: {
          amount: random.between(1, 40) * 100,
          currency: ['EUR', 'USD'][random.between(0, 1)],
          paymentMethods: ['CREDIT_CARD', 'CRYPTO'].slice(random.between(0, 1)),
          ...(random.between(0, 2) === 0 ? {} : { customerName: `Customer ${random.between(1, 9)}` }),
          ...(random.between(0, 2) === 0 ? {} : { customerEmail: `c${random.between(1, 9)}@example.com` }),
          metadata: random.between(0, 1) === 0 ? {} : { order: random.between(1, 5) },
          idempotencyKey: randomUUID(),
        },
      });
      ids.push(body.id);
      const event = ['pay', 'pay', 'pay', 'fail', 'processing', null][random.between(0, 5)];
      if (event == null) continue;
      const method = (body['paymentMethods'] as string[])[0];
      const wanted = event === 'processing' && method !== 'CREDIT_CARD' ? 'expire' : event;
      await service.call('POST', `/v1/sandbox/payments/${body.id}/simulate`, {
        key: merchant.testKey,
        body: { event: wanted },
      });
    }
    service.clock.advance(now - service.clock.now().getTime() / 1000);
    all = await Promise.all(
      ids.map(async (id) => (await service.call<Item>('GET', `/v1/payments/${id}`, { key: merchant.testKey })).body),
    );
  }, 240_000);
  afterEach(() => expectLedgerCoherent(service.database.url));

  function list<T = List>(query: Query = {}, key = merchant.testKey): Promise<Answer<T>> {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) search.set(name, String(value));
    return service.call<T>('GET', `/v1/payments?${search.toString()}`, { key });
  }

  const time = (item: Item): number => new Date(item.createdAt).getTime();

  /** A day spans all of it in São Paulo, which is three hours behind UTC. */
  function bound(date: string, untilItsEnd: number): number {
    return date.length > 10 ? Date.parse(date) : Date.parse(`${date}T03:00:00Z`) + untilItsEnd;
  }

  /** Works out the expected list from all payments. */
  function expected(query: Query): { ids: string[]; total: number } {
    const matching = all.filter(
      (item) =>
        (query['status'] === undefined || item.status === query['status']) &&
        (query['startDate'] === undefined || time(item) >= bound(String(query['startDate']), 0)) &&
        (query['endDate'] === undefined || time(item) <= bound(String(query['endDate']), DAY * 1000 - 1)),
    );
    const sign = query['sortOrder'] === 'asc' ? 1 : -1;
    const field = String(query['sortBy'] ?? 'createdAt');
    const compare = (a: unknown, b: unknown): number => {
      if (a === b) return 0;
      if (a === null || b === null) return a === null ? sign : -sign; // nulls last in both
      if (typeof a === 'number' && typeof b === 'number') return a - b;
      return (a as string) < (b as string) ? -1 : 1;
    };
    const byId = (a: Item, b: Item): number => compare(a.id, b.id);
    const sorted = [...matching].sort((a, b) => {
      const first = field === 'createdAt' || field === 'id' ? 0 : compare(a[field], b[field]);
      return sign * (first === 0 ? byId(a, b) : first);
    });
    const page = Number(query['page'] ?? 1);
    const limit = Number(query['limit'] ?? 20);
    return { ids: sorted.slice((page - 1) * limit, page * limit).map(({ id }) => `tx_${id}`), total: matching.length };
  }

  async function expectRight(query: Query): Promise<void> {
    const { status, body } = await list(query);
    expect({ query, status }).toEqual({ query, status: 200 });
    const { ids, total } = expected(query);
    expect({ query, total: body.total, ids: body.data.map(({ id }) => id) }).toEqual({ query, total, ids });
  }

  it('returns twenty items with exactly the documented keys, newest first', async () => {
    const { body } = await list();
    expect(Object.keys(body)).toEqual(['data', 'total', 'page', 'limit']);
    expect(body).toMatchObject({ total: COUNT, page: 1, limit: 20 });
    expect(body.data).toHaveLength(20);
    for (const item of body.data) {
      expect(Object.keys(item)).toEqual(ITEM_KEYS);
      const { id, ...rest } = item;
      expect(all.find((payment) => `tx_${payment.id}` === id)).toMatchObject(rest);
    }
    await expectRight({});
  });

  it('pages through everything once, in both orders, whatever the size of a page, folded or not', async () => {
    for (const limit of [1, 7, 33, 100]) {
      for (const sortOrder of ['asc', 'desc']) {
        const pages =
          limit === 1
            ? [1, 2, 200, 202, 210, COUNT - 1, COUNT]
            : Array.from({ length: Math.ceil(COUNT / limit) }, (_, index) => index + 1);
        for (const page of pages) await expectRight({ limit, sortOrder, page });
      }
    }
    while (await service.get(StatisticsService).fold());
    for (const sortOrder of ['asc', 'desc']) {
      for (let page = 1; page <= Math.ceil(COUNT / 13); page++) await expectRight({ limit: 13, sortOrder, page });
    }
  });

  it('is empty past the end, with the total still right', async () => {
    for (const page of [5, 17, 1000, 9_999_999_999]) {
      const { body } = await list({ limit: 100, page });
      expect(body).toMatchObject({ data: [], total: COUNT, page, limit: 100 });
    }
  });

  it('filters by status, by time to the millisecond, and by both, on every page', async () => {
    const statuses = [...new Set(all.map(({ status }) => status))];
    expect(statuses.length).toBeGreaterThan(3);
    for (let round = 0; round < 150; round++) {
      const [a, b] = [all[random.between(0, COUNT - 1)], all[random.between(0, COUNT - 1)]].map((item) =>
        time(item as Item),
      );
      const [from = 0, to = 0] = [Math.min(a ?? 0, b ?? 0), Math.max(a ?? 0, b ?? 0)];
      const at = (ms: number): string =>
        new Date(ms + random.between(-1, 1) * (random.between(0, 1) === 0 ? 1 : HOUR * 1000)).toISOString();
      await expectRight({
        ...(random.between(0, 2) === 0 ? {} : { status: statuses[random.between(0, statuses.length - 1)] ?? '' }),
        ...(random.between(0, 2) === 0 ? {} : { startDate: at(from) }),
        ...(random.between(0, 2) === 0 ? {} : { endDate: at(to) }),
        ...(random.between(0, 1) === 0 ? {} : { sortOrder: 'asc' }),
        limit: [1, 3, 10][random.between(0, 2)] ?? 1,
        page: random.between(1, 300),
      });
    }
    // A span of nothing, one moment, and days as dates.
    const moment = (all[100] as Item).createdAt;
    await expectRight({ startDate: moment, endDate: moment });
    await expectRight({ startDate: '2030-01-01', endDate: '2020-01-01' });
    for (const index of [50, 51, 150, 250]) {
      const day = (all[index] as Item).createdAt.slice(0, 10);
      for (const query of [{ startDate: day }, { endDate: day }, { startDate: day, endDate: day }]) {
        await expectRight({ ...query, limit: 100 });
      }
    }
  }, 120_000);

  it.each(ITEM_KEYS.filter((key) => key !== 'metadata' && key !== 'paymentMethods'))(
    'sorts by %s, nulls last, with the id to break ties',
    async (sortBy) => {
      for (const sortOrder of ['asc', 'desc']) {
        for (const page of [1, 2, 5]) await expectRight({ sortBy, sortOrder, page, limit: 30 });
        await expectRight({ sortBy, sortOrder, status: 'APPROVED', limit: 10, page: 2 });
      }
    },
  );

  it.each(['metadata', 'paymentMethods'])('sorts by %s, with equal values together', async (sortBy) => {
    const seen: string[] = [];
    for (let page = 1; page <= 4; page++) {
      const { body } = await list({ sortBy, limit: 100, page });
      seen.push(...body.data.map((item) => JSON.stringify(item[sortBy])));
    }
    expect(seen).toHaveLength(COUNT);
    const runs = seen.filter((value, index) => value !== seen[index - 1]);
    expect(runs).toHaveLength(new Set(seen).size);
  });

  it('counts a status as it is now, before the sweeper has written it', async () => {
    const other = await service.merchant({ default_expires_in: '60' });
    for (let index = 0; index < 3; index++) {
      await service.createCharge(other.testKey, { expires_in: 60 });
    }
    expect((await list({ status: 'WAITING_PAYMENT' }, other.testKey)).body.total).toBe(3);
    service.clock.advance(61);
    expect((await list({ status: 'WAITING_PAYMENT' }, other.testKey)).body).toMatchObject({ total: 0, data: [] });
    const { body } = await list({ status: 'EXPIRED' }, other.testKey);
    expect([body.total, body.data.map(({ status }) => status)]).toEqual([3, ['EXPIRED', 'EXPIRED', 'EXPIRED']]);
    service.clock.advance(-61);
  });

  it('shows payments of the key’s account and mode only', async () => {
    const stranger = await service.merchant();
    for (const key of [stranger.testKey, merchant.liveKey]) {
      for (const query of [{}, { page: 15 }, { status: 'APPROVED' }, { sortBy: 'amount' }]) {
        expect((await list(query, key)).body).toMatchObject({ data: [], total: 0 });
      }
    }
  });

  it.each([
    [{ page: 0 }, 'page'],
    [{ page: -1 }, 'page'],
    [{ page: 1.5 }, 'page'],
    [{ page: 'x' }, 'page'],
    [{ page: 99_999_999_999 }, 'page'],
    [{ limit: 0 }, 'limit'],
    [{ limit: 101 }, 'limit'],
    [{ limit: '' }, 'limit'],
    [{ status: 'paid' }, 'status'],
    [{ status: 'NOPE' }, 'status'],
    [{ startDate: 'yesterday' }, 'startDate'],
    [{ endDate: '2026-02-31T00:00:00' }, 'endDate'],
    [{ sortBy: 'id; DROP TABLE transactions' }, 'sortBy'],
    [{ sortBy: 'pixCopyPaste' }, 'sortBy'],
    [{ sortBy: 'constructor' }, 'sortBy'],
    [{ sortOrder: 'up' }, 'sortOrder'],
    [{ offset: 5 }, 'offset'],
  ])('answers %j with a 400 that names %s', async (query, param) => {
    const answer = await list<Refusal>(query);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
    expect(answer.body.error.details?.map((detail) => detail.param)).toContain(param);
  });
});
