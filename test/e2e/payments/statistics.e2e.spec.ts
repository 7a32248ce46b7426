import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { StatisticsService } from '../../../src/transactions/index.js';
import { WorkService } from '../../../src/core/work/index.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { NaiveFigures } from '../../support/figures.js';
import { runCli } from '../../support/cli.js';
import { TEST_ENCRYPTION_KEY } from '../../support/process.js';
import { aPaidCharge, paymentIdOf, type RefundAnswer, refundEnd, requestRefund } from '../../support/refunds.js';
import { type Answer, type Merchant, TestService } from '../../support/service.js';

interface Stats extends Record<string, unknown> {
  dailyVolume: { date: string; currencies: Record<string, number> }[];
}
interface Metrics extends Record<string, unknown> {
  funnel: Record<string, number>;
  volume: Record<string, unknown>;
  timeToPay: { p50Seconds: number | null; p90Seconds: number | null };
  dailyVolume: { date: string; created: number; paid: number; volume: unknown }[];
}
interface Refusal extends Record<string, unknown> {
  error: { type: string; code: string; details?: { param: string; code: string }[] };
}

const NOTHING = { created: 0, pending: 0, paid: 0, failed: 0, expired: 0, cancelled: 0, refunded: 0, disputed: 0 };

describe('the figures of payments', () => {
  /** Runs without workers: figures are folded and charges expire only when a test says so. */
  const service = TestService.forSpec({ env: { ROLE: 'api' } });
  let merchant: Merchant;

  beforeAll(async () => {
    merchant = await service.merchant();
  });
  afterEach(() => expectLedgerCoherent(service.database.url));

  const setTime = (at: string): void => service.clock.advance((Date.parse(at) - service.clock.now().getTime()) / 1000);
  const stats = <T = Stats>(query = '', key = merchant.testKey): Promise<Answer<T>> =>
    service.call<T>('GET', `/v1/payments/stats${query}`, { key });
  const metrics = <T = Metrics>(query = '', key = merchant.testKey): Promise<Answer<T>> =>
    service.call<T>('GET', `/v1/payments/metrics${query}`, { key });

  /** A card payment in another currency; paid when `paid`. */
  async function aPayment(key: string, currency: string, amount: number, paid: boolean): Promise<string> {
    const { body } = await service.call<{ id: string }>('POST', '/v1/payments', {
      key,
      body: {
        amount,
        currency,
        paymentMethods: ['CREDIT_CARD', 'MBWAY'],
        metadata: { phone: '+351912345678' },
        idempotencyKey: randomUUID(),
      },
    });
    if (paid) {
      await service.call('POST', `/v1/sandbox/payments/${body.id}/simulate`, {
        key,
        body: { event: 'pay', method: 'CREDIT_CARD' },
      });
    }
    return body.id;
  }

  it('have a point for each day of a new account, from the first business day to today', async () => {
    setTime('2026-11-22T15:00:00Z'); // a Sunday, after the Friday of Black Consciousness
    const dates = ['2026-11-19', '2026-11-20', '2026-11-21', '2026-11-22'];
    expect((await stats('?days=1')).body).toEqual({
      totalTransactions: 0,
      paidTransactions: 0,
      todayTransactions: 0,
      successRate: 0,
      volumeByCurrency: [],
      todayVolumeByCurrency: {},
      dailyVolume: dates.map((date) => ({ date, currencies: {} })),
      methodBreakdown: [],
    });
    expect((await metrics('?days=1')).body).toEqual({
      days: 1,
      currency: null,
      from: '2026-11-19',
      to: '2026-11-22',
      timezone: 'America/Sao_Paulo',
      funnel: { ...NOTHING, conversionRate: 0 },
      volume: { created: {}, paid: {}, refunded: {}, disputed: {}, averageTicket: {} },
      timeToPay: { p50Seconds: null, p90Seconds: null },
      dailyVolume: dates.map((date) => ({ date, created: 0, paid: 0, volume: {} })),
      methodBreakdown: [],
    });
    expect((await metrics('?days=1&currency=USDT')).body).toMatchObject({
      currency: 'USDT',
      volume: { created: 0, paid: 0, refunded: 0, disputed: 0, averageTicket: 0 },
      dailyVolume: dates.map((date) => ({ date, created: 0, paid: 0, volume: 0 })),
    });
  });

  it('count two currencies, refunds and a dispute correctly', async () => {
    setTime('2026-11-24T15:00:00Z');
    const { accountId, testKey: key } = await service.merchant();
    const paid = await aPaidCharge(service, key, 1_000);
    await aPaidCharge(service, key, 2_001);
    const cancelled = (await service.createCharge(key, { amount: 300 })).body.id;
    await service.call('POST', `/v1/payments/${cancelled}/cancel`, { key });
    await service.simulate(key, (await service.createCharge(key, { amount: 400 })).body.id, { event: 'fail' });
    await service.simulate(key, (await service.createCharge(key, { amount: 500 })).body.id, { event: 'expire' });
    await service.createCharge(key, { amount: 600 });
    await aPayment(key, 'EUR', 700, true);
    await aPayment(key, 'EUR', 800, false);
    const disputed = await aPayment(key, 'EUR', 900, true);
    await service.call('POST', `/v1/sandbox/payments/${disputed}/simulate`, { key, body: { event: 'chargeback' } });
    // Refunds one payment in part, and another one entirely in two refunds.
    const full = await aPaidCharge(service, key, 50);
    const refunds = await Promise.all([
      requestRefund(service, key, paymentIdOf(paid), { amount: 999, strategy: 'devolution' }),
      requestRefund(service, key, paymentIdOf(full), { amount: 20, strategy: 'devolution' }),
      requestRefund(service, key, paymentIdOf(full), { amount: 30, strategy: 'devolution' }),
    ]);
    setTime('2026-11-25T15:00:00Z');
    for (const { body } of refunds) {
      await service.get(StatisticsService).fold();
      await finishRefund(key, body);
    }

    const expected = {
      days: 2,
      currency: null,
      from: '2026-11-24',
      to: '2026-11-25',
      timezone: 'America/Sao_Paulo',
      funnel: {
        ...{ created: 10, pending: 0, paid: 5, failed: 1, expired: 3, cancelled: 1, refunded: 1, disputed: 1 },
        conversionRate: 50,
      },
      volume: {
        created: { BRL: 4_851, EUR: 2_400 },
        paid: { BRL: 3_051, EUR: 1_600 },
        refunded: { BRL: 1_049 },
        disputed: { EUR: 900 },
        averageTicket: { BRL: 1_017, EUR: 800 },
      },
      timeToPay: { p50Seconds: 0, p90Seconds: 0 },
      dailyVolume: [
        { date: '2026-11-24', created: 10, paid: 5, volume: { BRL: 3_051, EUR: 1_600 } },
        { date: '2026-11-25', created: 0, paid: 0, volume: {} },
      ],
      methodBreakdown: [
        { method: 'PIX', created: 7, paid: 3, conversionRate: 43, volume: { BRL: 3_051 }, count: 3 },
        { method: 'CREDIT_CARD', created: 3, paid: 2, conversionRate: 67, volume: { EUR: 1_600 }, count: 2 },
        { method: 'MBWAY', created: 3, paid: 0, conversionRate: 0, volume: {}, count: 0 },
      ],
    };
    expect((await metrics('?days=2', key)).body).toEqual(expected);
    while (await service.get(StatisticsService).fold());
    const answer = await metrics('?days=2', key);
    expect(answer.body).toEqual(expected);
    expect(answer.text).toBe(JSON.stringify(expected));
    expect((await metrics('?days=2&currency=EUR', key)).body).toEqual({
      ...expected,
      currency: 'EUR',
      funnel: { ...NOTHING, created: 3, expired: 1, paid: 2, disputed: 1, conversionRate: 67 },
      volume: { created: 2_400, paid: 1_600, refunded: 0, disputed: 900, averageTicket: 800 },
      dailyVolume: [
        { date: '2026-11-24', created: 3, paid: 2, volume: 1_600 },
        { date: '2026-11-25', created: 0, paid: 0, volume: 0 },
      ],
      methodBreakdown: [
        { method: 'CREDIT_CARD', created: 3, paid: 2, conversionRate: 67, volume: 1_600, count: 2 },
        { method: 'MBWAY', created: 3, paid: 0, conversionRate: 0, volume: 0, count: 0 },
      ],
    });
    const expectedStats = {
      totalTransactions: 10,
      paidTransactions: 5,
      todayTransactions: 0,
      successRate: 50,
      volumeByCurrency: [
        { currency: 'BRL', volume: 3_051, count: 3 },
        { currency: 'EUR', volume: 1_600, count: 2 },
      ],
      todayVolumeByCurrency: {},
      dailyVolume: [
        { date: '2026-11-24', currencies: { BRL: 3_051, EUR: 1_600 } },
        { date: '2026-11-25', currencies: {} },
      ],
      methodBreakdown: [
        { method: 'PIX', volume: 3_051, count: 3 },
        { method: 'CREDIT_CARD', volume: 1_600, count: 2 },
      ],
    };
    const given = await stats('?days=2', key);
    expect(given.text).toBe(JSON.stringify(expectedStats));
    // The slow calculation agrees.
    const naive = await NaiveFigures.of(service, { accountId, mode: 'test' }, 2);
    expect(naive.stats()).toEqual(expectedStats);
    expect({ ...naive.metrics(), timeToPay: expected.timeToPay }).toEqual(expected);
  });

  async function finishRefund(key: string, refund: RefundAnswer): Promise<void> {
    for (let step = 0; step < 5; step++) {
      await service.get(WorkService).runNow('refund', refund.id);
      service.clock.advance(5);
    }
    expect(await refundEnd(service, key, refund)).toMatchObject({ status: 'REFUNDED' });
  }

  it('change at midnight of São Paulo, and count a later payment for the day of its creation', async () => {
    const { testKey: key } = await service.merchant();
    setTime('2026-11-25T02:59:30Z');
    const first = (await service.createCharge(key, { amount: 100 })).body.id;
    await aPaidCharge(service, key, 10);
    expect((await stats('?days=1', key)).body).toMatchObject({
      todayTransactions: 2,
      todayVolumeByCurrency: { BRL: 10 },
    });
    setTime('2026-11-25T03:00:10Z');
    await service.simulate(key, first, { event: 'pay' });
    await aPaidCharge(service, key, 1);
    expect((await stats('?days=1', key)).body).toMatchObject({
      ...{ totalTransactions: 1, paidTransactions: 1, todayTransactions: 1, todayVolumeByCurrency: { BRL: 1 } },
      dailyVolume: [{ date: '2026-11-25', currencies: { BRL: 1 } }],
    });
    expect((await stats('?days=2', key)).body).toMatchObject({
      ...{ totalTransactions: 3, paidTransactions: 3, todayTransactions: 1, todayVolumeByCurrency: { BRL: 1 } },
      dailyVolume: [
        { date: '2026-11-24', currencies: { BRL: 110 } },
        { date: '2026-11-25', currencies: { BRL: 1 } },
      ],
    });
    const { timeToPay } = (await metrics('?days=2', key)).body;
    expect([timeToPay.p50Seconds, timeToPay.p90Seconds]).toEqual([0, expect.closeTo(40, -1)]);

    // Counts by day of payment, before and after the figures are folded.
    for (let folded = 0; folded < 2; folded++) {
      expect((await stats('?days=1&basis=paid', key)).body).toMatchObject({
        ...{ totalTransactions: 1, paidTransactions: 2, todayTransactions: 1, successRate: 100 },
        ...{ volumeByCurrency: [{ currency: 'BRL', volume: 101, count: 2 }], todayVolumeByCurrency: { BRL: 101 } },
        dailyVolume: [{ date: '2026-11-25', currencies: { BRL: 101 } }],
        methodBreakdown: [{ method: 'PIX', volume: 101, count: 2 }],
      });
      expect((await metrics('?days=2&basis=paid&currency=BRL', key)).body).toMatchObject({
        ...{ funnel: { created: 3, paid: 3 }, volume: { created: 111, paid: 111, averageTicket: 37 } },
        dailyVolume: [
          { date: '2026-11-24', created: 2, paid: 1, volume: 10 },
          { date: '2026-11-25', created: 1, paid: 2, volume: 101 },
        ],
        methodBreakdown: [{ method: 'PIX', created: 3, paid: 3, conversionRate: 100, volume: 111 }],
      });
      expect((await stats('?days=2&basis=created', key)).body).toEqual((await stats('?days=2', key)).body);
      while (await service.get(StatisticsService).fold());
    }
  });

  it('count charges as expired to the second, before a sweeper has written it', async () => {
    const { testKey: key } = await service.merchant();
    setTime('2026-11-25T15:00:00Z');
    await service.createCharge(key, { amount: 100, expires_in: 60 });
    await service.createCharge(key, { amount: 100, expires_in: 3_600 });
    const funnel = async (): Promise<unknown> => (await metrics('?days=1', key)).body.funnel;
    setTime('2026-11-25T15:00:55Z');
    expect(await funnel()).toMatchObject({ created: 2, pending: 2, expired: 0 });
    for (let folded = 0; folded < 2; folded++) {
      setTime('2026-11-25T15:01:10Z');
      expect(await funnel()).toMatchObject({ created: 2, pending: 1, expired: 1 });
      while (await service.get(StatisticsService).fold());
    }
    expect(await service.sql(`SELECT 1 FROM transactions WHERE status = 'EXPIRED' AND amount = 100`)).toEqual([]);
  });

  it('have at most 366 points in stats, and as many as there are days in metrics', async () => {
    setTime('2026-11-25T15:00:00Z');
    const long = (await stats('?days=3660')).body.dailyVolume;
    expect(long).toHaveLength(366);
    expect([long[0]?.date, long.at(-1)?.date]).toEqual(['2025-11-25', '2026-11-25']);
    const all = (await metrics('?days=3660')).body;
    expect(all['from']).toBe('2012-04-27');
    expect(all.dailyVolume).toHaveLength(5_326);
    expect((await stats('')).body).toEqual((await stats('?days=7')).body);
    expect((await metrics('')).body).toMatchObject({ days: 7, from: '2026-11-16' });
  });

  it.each([
    ...['0', '3661', '-1', '1.5', '7d', 'abc', '', '07', '1e3', '9'.repeat(30)].map((days) => [`days=${days}`, 'days']),
    ...['currency=BRL', 'day=7', 'days=7&days=8', 'basis=refunded'].map((query) => [
      query,
      query.includes('currency') ? 'currency' : query.split('=')[0],
    ]),
  ])('stats?%s is a 400 that names %s', async (query, param) => {
    const { status, body } = await stats<Refusal>(`?${String(query)}`);
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(body.error.details?.map((detail) => detail.param)).toEqual([param]);
  });

  it.each([
    'days=0',
    'days=3661',
    'days=abc',
    'currency=brl',
    'currency=BR',
    'currency=TOOLONGAA',
    'currency=',
    'limit=5',
  ])('metrics?%s is a 400', async (query) => {
    const { status, body } = await metrics<Refusal>(`?${query}`);
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(body.error.details?.map((detail) => detail.param)).toEqual([query.split('=')[0]]);
  });

  it('show the account and the mode of the key only', async () => {
    const { testKey, liveKey } = await service.merchant();
    const stranger = await service.merchant();
    await aPaidCharge(service, testKey, 100);
    for (let folded = 0; folded < 2; folded++) {
      expect((await stats('', testKey)).body).toMatchObject({ totalTransactions: 1, paidTransactions: 1 });
      for (const key of [liveKey, stranger.testKey, stranger.liveKey]) {
        expect((await stats('', key)).body).toMatchObject({
          totalTransactions: 0,
          volumeByCurrency: [],
          methodBreakdown: [],
        });
        expect((await metrics('', key)).body).toMatchObject({ funnel: NOTHING, timeToPay: { p50Seconds: null } });
      }
      while (await service.get(StatisticsService).fold());
    }
  });

  it('are checked and rebuilt from the command line', async () => {
    const { accountId, testKey } = await service.merchant();
    await aPaidCharge(service, testKey, 100);
    while (await service.get(StatisticsService).fold());
    const env = { DATABASE_URL: service.database.url, ENCRYPTION_KEY: TEST_ENCRYPTION_KEY };
    const run = (...args: string[]) => runCli(['statistics', ...args], env);
    const good = await run('check');
    expect({ code: good.code, output: JSON.parse(good.stdout) as unknown, stderr: good.stderr }).toEqual({
      ...{ code: 0, output: { differences: [] }, stderr: '' },
    });
    await service.sql(`UPDATE transaction_figures SET amount = 90 WHERE account_id = $1 AND kind = 'paid'`, [
      accountId,
    ]);
    const found = [
      {
        ...{ account_id: accountId, mode: 'test', kind: 'paid', from: expect.stringMatching(/T03:00:00\.000Z$/) },
        ...{ currency: 'BRL', key: 'PIX', kept: { count: 1, amount: 90 }, actual: { count: 1, amount: 100 } },
      },
    ];
    const bad = await run('check', '--account', accountId);
    expect({ code: bad.code, output: JSON.parse(bad.stdout) as unknown }).toEqual({
      code: 1,
      output: { differences: found },
    });
    const mended = await run('rebuild', '--account', accountId);
    expect({ code: mended.code, output: JSON.parse(mended.stdout) as unknown }).toEqual({
      ...{ code: 0, output: { rebuilt: true, differences: found } },
    });
    expect(await service.get(StatisticsService).check(null)).toEqual([]);
    expect((await run('check', '--account', 'nobody')).code).toBe(2);
  });
});
