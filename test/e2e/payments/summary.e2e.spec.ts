import { beforeAll, describe, expect, it } from '@jest/globals';
import type { SummaryBody } from '../../../src/payments/dto/statistics.body.js';
import { StatisticsService } from '../../../src/transactions/index.js';
import { aPaidCharge, paymentIdOf, requestRefund } from '../../support/refunds.js';
import { type Merchant, TestService } from '../../support/service.js';

describe('the comparison of what was received', () => {
  /** Runs without workers: figures are folded only when a test says so. */
  const service = TestService.forSpec({ env: { ROLE: 'api' } });
  let merchant: Merchant;

  const setTime = (at: string): void => service.clock.advance((Date.parse(at) - service.clock.now().getTime()) / 1000);
  const summary = async (query = '', key = merchant.testKey): Promise<SummaryBody> =>
    (await service.call<SummaryBody>('GET', `/v1/payments/summary${query}`, { key })).body;

  beforeAll(async () => {
    merchant = await service.merchant();
    const sales: [at: string, amount: number][] = [
      ['2026-12-31T12:00:00Z', 1000],
      ['2027-01-06T14:00:00Z', 2000],
      ['2027-01-07T16:00:00Z', 9000], // the last month, after this hour
      ['2027-02-06T13:00:00Z', 300],
      ['2027-02-06T18:00:00Z', 5000], // yesterday, after this hour
      ['2027-02-07T14:00:00Z', 700],
    ];
    for (const [at, amount] of sales) {
      setTime(at);
      await aPaidCharge(service, merchant.testKey, amount);
    }
    setTime('2027-02-07T15:00:00Z');
  });

  it.each(['waiting', 'folded'])('ends yesterday at the same hour when changes are %s', async (state) => {
    if (state === 'folded') await service.get(StatisticsService).fold();
    const { today, yesterday, month, lastMonth } = await summary();
    expect(today).toMatchObject({
      ...{ from: '2027-02-07T03:00:00.000Z', to: expect.stringMatching(/^2027-02-07T15:00:0/) },
      ...{ count: 1, amount: 700, averageTicket: 700, created: 1, createdPaid: 1, conversionRate: 100 },
    });
    expect(yesterday).toMatchObject({
      ...{ from: '2027-02-06T03:00:00.000Z', to: expect.stringMatching(/^2027-02-06T15:00:0/) },
      ...{ count: 1, amount: 300, created: 1 },
    });
    expect(month).toMatchObject({ from: '2027-02-01T03:00:00.000Z', count: 3, amount: 6000, averageTicket: 2000 });
    expect(lastMonth).toMatchObject({
      ...{ from: '2027-01-01T03:00:00.000Z', to: expect.stringMatching(/^2027-01-07T15:00:0/) },
      ...{ count: 1, amount: 2000 },
    });
  });

  it('lists calendar days with those before', async () => {
    const { days } = await summary('?days=2');
    expect(days.map(({ from, to, amount, before }) => [from, to, amount, before.from, before.amount])).toEqual([
      ['2027-02-06', '2027-02-06', 5300, '2027-02-04', 0],
      ['2027-02-07', '2027-02-07', 700, '2027-02-05', 0],
    ]);
  });

  it('adds a weekend to the bank day before it', async () => {
    const { days } = await summary('?days=2&count=bank');
    expect(days).toEqual([
      {
        ...{ from: '2027-02-04', to: '2027-02-04', count: 0, amount: 0 },
        before: { from: '2027-02-02', to: '2027-02-02', count: 0, amount: 0 },
      },
      {
        ...{ from: '2027-02-05', to: '2027-02-07', count: 3, amount: 6000 },
        before: { from: '2027-02-03', to: '2027-02-03', count: 0, amount: 0 },
      },
    ]);
  });

  it('counts refunds on the day on which they are requested', async () => {
    const { id } = await aPaidCharge(service, merchant.testKey, 900);
    await requestRefund(service, merchant.testKey, paymentIdOf({ id }), { amount: 400 });
    const { today, yesterday, month } = await summary();
    expect(today).toMatchObject({ count: 2, amount: 1600, refundCount: 1, refunded: 400 });
    expect([yesterday.refundCount, month.refunded]).toEqual([0, 400]);
  });

  it('shows nothing of another account, mode or currency', async () => {
    const other = await service.merchant();
    for (const one of [
      await summary('', other.testKey),
      await summary('', merchant.liveKey),
      await summary('?currency=USDT'),
    ])
      expect([one.month.count, one.month.created, one.month.refundCount]).toEqual([0, 0, 0]);
  });
});
