import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { aPaymentLink } from '../../support/payment-links.js';
import { type Merchant, TestService } from '../../support/service.js';

interface Totals {
  count: number;
  more: boolean;
  amounts: { currency: string; count: number; amount: number }[];
}
type Items = { data: { amount: number; currency: string; paidAt: string | null }[] };

const ZULEICA = { customerName: 'Zuleica Prado', customerEmail: 'zu@example.com', customerDocument: '52998224725' };

describe('totals of lists', () => {
  const service = TestService.forSpec();
  let merchant: Merchant;
  let other: Merchant;
  const read = async <T>(path: string, key: string): Promise<T> => (await service.call<T>('GET', path, { key })).body;

  beforeAll(async () => {
    [merchant, other] = [await service.merchant(), await service.merchant()];
    for (const [index, currency] of ['BRL', 'BRL', 'EUR'].entries()) {
      const { body } = await service.call<{ id: string }>('POST', '/v1/payments', {
        key: merchant.testKey,
        body: {
          ...{ amount: 1000 * (index + 1), currency, paymentMethods: ['CREDIT_CARD'], idempotencyKey: randomUUID() },
          ...(index === 1 ? ZULEICA : { customerName: 'Maria Souza', customerEmail: 'zu@example.com' }),
        },
      });
      if (index > 0)
        await service.call('POST', `/v1/sandbox/payments/${body.id}/simulate`, {
          key: merchant.testKey,
          body: { event: 'pay' },
        });
    }
    // The customer of two currencies, who counts once.
    const { body: sale } = await service.createCharge(merchant.testKey, {
      amount: 700,
      customer: { name: 'Maria Souza', email: 'ZU@example.com' },
    });
    await service.simulate(merchant.testKey, sale.id, { event: 'pay' });
    const [first] = [await aPaymentLink(service, merchant.testKey), await aPaymentLink(service, merchant.testKey)];
    const pay = `UPDATE payment_links SET paid_count = 2, paid_amount = 10000 WHERE id = $1`;
    await service.sql(pay, [first.id.slice(3)]);
    const ended = await aPaymentLink(service, merchant.testKey, { amount: 900 });
    await service.call('POST', `/v1/payment-links/${ended.id}/end`, { key: merchant.testKey });
  }, 120_000);

  it.each(['', 'status=PAID', 'query=zuleica', 'startDate=2099-01-01', 'sortBy=amount&page=7&limit=1'])(
    'counts and sums the payments that the list has with "%s"',
    async (filter) => {
      const list = await read<Items>(`/v1/payments?${filter.replace('page=7&limit=1', 'limit=100')}`, merchant.testKey);
      const totals = await read<Totals>(`/v1/payments/totals?${filter}`, merchant.testKey);
      const amounts = ['BRL', 'EUR'].flatMap((currency) => {
        const own = list.data.filter((one) => one.currency === currency);
        const sums = (some: Items['data']): object => ({
          count: some.length,
          amount: some.reduce((sum, { amount }) => sum + amount, 0),
        });
        const paid = sums(own.filter(({ paidAt }) => paidAt !== null));
        return own.length === 0 ? [] : [{ currency, ...sums(own), paid }];
      });
      expect(totals).toEqual({ count: list.data.length, more: false, amounts });
    },
  );

  it('lists and counts payments by their ids, in that order, and none of another account', async () => {
    const { data } = await read<{ data: { id: string }[] }>('/v1/payments?sortOrder=asc', merchant.testKey);
    const [first = '', second = ''] = data.map(({ id }) => id);
    const ids = [second.replace('tx_', 'ch_').toUpperCase().replace('CH_', 'ch_'), randomUUID(), first].join(',');
    const list = await read<{ data: { id: string }[] }>(`/v1/payments?ids=${ids}&status=EXPIRED`, merchant.testKey);
    expect(list.data.map(({ id }) => id)).toEqual([second, first]);
    expect(await read<Totals>(`/v1/payments/totals?ids=${ids}`, merchant.testKey)).toMatchObject({ count: 2 });
    expect((await read<Items>(`/v1/payments?ids=${ids}`, other.testKey)).data).toEqual([]);
    for (const wrong of ['', 'nobody', Array.from({ length: 101 }, () => first).join(',')]) {
      const answer = await service.call('GET', `/v1/payments?ids=${wrong}`, { key: merchant.testKey });
      expect([wrong.slice(0, 6), answer.status]).toEqual([wrong.slice(0, 6), 400]);
    }
  });

  it('counts the entries of one type as the statement lists them', async () => {
    const filter = 'type=sale&currency=EUR';
    const { data } = await read<Items>(`/v1/wallets/entries?${filter}`, merchant.testKey);
    expect(data.length).toBeGreaterThan(0);
    expect(await read<Totals>(`/v1/wallets/entries/totals?${filter}`, merchant.testKey)).toEqual({
      count: data.length,
      more: false,
      amounts: [{ currency: 'EUR', count: data.length, amount: data.reduce((sum, { amount }) => sum + amount, 0) }],
    });
  });

  it.each(['', 'status=active', 'status=ended'])(
    'counts the links of "%s" and sums what they were paid',
    async (filter) => {
      const { data } = await read<{ data: { paid_amount: number }[] }>(`/v1/payment-links?${filter}`, merchant.testKey);
      expect(data.length).toBeGreaterThan(0);
      expect(await read<Totals>(`/v1/payment-links/totals?${filter}`, merchant.testKey)).toEqual({
        count: data.length,
        more: false,
        amounts: [{ currency: 'BRL', count: data.length, amount: data.reduce((sum, one) => sum + one.paid_amount, 0) }],
      });
    },
  );

  it.each(['', 'query=zuleica', 'query=nobody', 'order=most_bought&limit=1'])(
    'counts the customers of "%s" once, and sums what they paid in each currency',
    async (filter) => {
      type Sums = { totals: { currency: string; amount_paid: number }[] };
      const { data } = await read<{ data: Sums[] }>(`/v1/customers?${filter.replace(/order.*/, '')}`, merchant.testKey);
      const amounts = ['BRL', 'EUR'].flatMap((currency) => {
        const own = data.flatMap(({ totals }) => totals.filter((one) => one.currency === currency));
        const amount = own.reduce((sum, one) => sum + one.amount_paid, 0);
        return own.length === 0 ? [] : [{ currency, count: own.length, amount }];
      });
      expect(await read<Totals>(`/v1/customers/totals?${filter}`, merchant.testKey)).toEqual({
        count: data.length,
        more: false,
        amounts,
      });
    },
  );

  it.each([
    ...['/v1/payments', '/v1/wallets/entries', '/v1/payouts', '/v1/med/cases', '/v1/payment-links'],
    '/v1/customers',
  ])('shows nothing of %s to another account or mode', async (path) => {
    const none = { count: 0, more: false, amounts: [] };
    expect(await read<Totals>(`${path}/totals`, other.testKey)).toEqual(none);
    expect(await read<Totals>(`${path}/totals`, merchant.liveKey)).toEqual(none);
  });
});
