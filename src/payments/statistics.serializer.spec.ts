import { describe, expect, it } from '@jest/globals';
import type { Figure } from '../transactions/index.js';
import { metricsBody, statsBody } from './statistics.serializer.js';

const DAYS = ['2026-11-19', '2026-11-20', '2026-11-21'];

function aFigure(changes: Partial<Figure>): Figure {
  return { kind: 'day', day: null, currency: 'BRL', key: 'PAID', count: 1, amount: 100, ...changes };
}

const paid = (changes: Partial<Figure>): Figure => aFigure({ kind: 'paid', key: 'PIX', ...changes });
const wait = (key: string, count: number, amount: number, currency = 'BRL'): Figure =>
  aFigure({ kind: 'wait', key, count, amount, currency });

describe('stats', () => {
  it('have the documented keys in their order', () => {
    const body = statsBody({
      days: DAYS,
      figures: [aFigure({}), paid({}), aFigure({ day: '2026-11-21', key: '' }), paid({ day: '2026-11-21', key: '' })],
    });
    expect(JSON.stringify(body)).toBe(
      '{"totalTransactions":1,"paidTransactions":1,"todayTransactions":1,"successRate":100,' +
        '"volumeByCurrency":[{"currency":"BRL","volume":100,"count":1}],"todayVolumeByCurrency":{"BRL":100},' +
        '"dailyVolume":[{"date":"2026-11-19","currencies":{}},{"date":"2026-11-20","currencies":{}},{"date":"2026-11-21","currencies":{"BRL":100}}],' +
        '"methodBreakdown":[{"method":"PIX","volume":100,"count":1}]}',
    );
  });

  it.each([
    [1, 3, 33],
    [2, 3, 67],
    [1, 200, 1],
    [1, 201, 0],
    [0, 5, 0],
    [5, 5, 100],
  ])('show %d paid of %d payments as %d per cent', (some, all, rate) => {
    const figures = [aFigure({ count: some }), aFigure({ key: 'EXPIRED', count: all - some }), paid({ count: some })];
    expect(statsBody({ days: DAYS, figures }).successRate).toBe(rate);
    expect(metricsBody({ days: DAYS, figures }, 2, null).funnel.conversionRate).toBe(rate);
  });

  it('read each figure equally often for twenty currencies and for two thousand', () => {
    let reads = 0;
    const counted = (figure: Figure): Figure =>
      new Proxy(figure, { get: (target, name): unknown => (reads++, Reflect.get(target, name)) });
    const readsOfEach = (currencies: number): number => {
      const figures = Array.from({ length: currencies }, (_, n) => {
        const one = { currency: `X${n}` };
        return [aFigure(one), paid(one), aFigure({ ...one, day: '2026-11-21' }), paid({ ...one, day: '2026-11-21' })];
      }).flat();
      reads = 0;
      statsBody({ days: DAYS, figures: figures.map(counted) });
      metricsBody({ days: DAYS, figures: figures.map(counted) }, 2, null);
      return reads / figures.length;
    };
    expect(readsOfEach(2_000)).toBe(readsOfEach(20));
  });

  it('leave out a currency or a method whose payments were all undone', () => {
    const body = statsBody({
      days: DAYS,
      figures: [paid({ count: 0, amount: 0, currency: 'EUR', key: 'CREDIT_CARD' })],
    });
    expect([body.volumeByCurrency, body.methodBreakdown]).toEqual([[], []]);
  });
});

describe('metrics', () => {
  it('have the documented keys in their order', () => {
    const body = metricsBody(
      { days: DAYS, figures: [aFigure({}), aFigure({ kind: 'offered', key: 'PIX' })] },
      2,
      'BRL',
    );
    expect(JSON.stringify(body)).toBe(
      '{"days":2,"currency":"BRL","from":"2026-11-19","to":"2026-11-21","timezone":"America/Sao_Paulo",' +
        '"funnel":{"created":1,"pending":0,"paid":0,"failed":0,"expired":0,"cancelled":0,"refunded":0,"disputed":0,"conversionRate":0},' +
        '"volume":{"created":100,"paid":0,"refunded":0,"disputed":0,"averageTicket":0},' +
        '"timeToPay":{"p50Seconds":null,"p90Seconds":null},' +
        '"dailyVolume":[{"date":"2026-11-19","created":0,"paid":0,"volume":0},{"date":"2026-11-20","created":0,"paid":0,"volume":0},{"date":"2026-11-21","created":0,"paid":0,"volume":0}],' +
        '"methodBreakdown":[{"method":"PIX","created":1,"paid":0,"conversionRate":0,"volume":0,"count":0}]}',
    );
  });

  it('give the mean of the class that contains a percentile, in any order of the classes', () => {
    const of = (...figures: Figure[]): unknown => metricsBody({ days: DAYS, figures }, 2, null).timeToPay;
    expect(of(wait('9', 1, 9))).toEqual({ p50Seconds: 9, p90Seconds: 9 });
    expect(of(wait('100', 5, 520), wait('9', 5, 45))).toEqual({ p50Seconds: 9, p90Seconds: 104 });
    expect(of(wait('9', 4, 36), wait('100', 6, 630))).toEqual({ p50Seconds: 105, p90Seconds: 105 });
    // Two currencies share one class.
    expect(of(wait('100', 1, 100), wait('100', 1, 109, 'EUR'), wait('20', 1, 20))).toEqual({
      p50Seconds: 105,
      p90Seconds: 105,
    });
  });

  it('round the average half up, by currency', () => {
    const figures = [paid({ count: 2, amount: 5 }), paid({ currency: 'EUR', key: 'MBWAY', count: 3, amount: 4 })];
    expect(metricsBody({ days: DAYS, figures }, 2, null).volume.averageTicket).toEqual({ BRL: 3, EUR: 1 });
  });
});
