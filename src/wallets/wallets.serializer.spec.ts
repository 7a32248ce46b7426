import { describe, expect, it } from '@jest/globals';
import { flatBalance, multiCurrencyBalance, plannedRelease, walletItem } from './wallets.serializer.js';
import type { WalletBalance } from './wallets.service.js';

const brl: WalletBalance = {
  currency: 'BRL',
  available: -50,
  pending: 300,
  retained: 70,
  nextReleaseAt: new Date('2026-11-22T03:00:00.000Z'),
  nextReleaseAmount: 200,
};
const usd: WalletBalance = {
  currency: 'USD',
  available: 1,
  pending: 0,
  retained: 0,
  nextReleaseAt: null,
  nextReleaseAmount: null,
};

describe('balances', () => {
  it('have exactly the documented keys and values over all currencies', () => {
    expect(multiCurrencyBalance(brl, [brl, usd])).toStrictEqual({
      available: -50,
      pending: 300,
      total: 250,
      retained: 70,
      currency: 'BRL',
      next_release_at: '2026-11-22T03:00:00.000Z',
      next_release_amount: 200,
      balances: [
        { currency: 'BRL', available: -50, pending: 300, total: 250 },
        { currency: 'USD', available: 1, pending: 0, total: 1 },
      ],
      primary: { currency: 'BRL', available: -50, pending: 300, total: 250 },
    });
  });

  it('have null for releases that are missing', () => {
    const unscheduled = { next_release_at: null, next_release_amount: null };
    expect(multiCurrencyBalance(usd, [usd])).toMatchObject(unscheduled);
  });

  it('have exactly the documented keys and values for one currency, with null for missing releases', () => {
    expect(flatBalance(usd)).toStrictEqual({
      available: 1,
      pending: 0,
      currency: 'USD',
      next_release_at: null,
      next_release_amount: null,
    });
    expect(flatBalance(brl)).toMatchObject({ next_release_at: '2026-11-22T03:00:00.000Z', next_release_amount: 200 });
  });

  it('have exactly the documented keys and values as wallets', () => {
    expect(walletItem(brl)).toStrictEqual({
      currency: 'BRL',
      walletType: 'OPERATIONAL',
      balance: -50,
      pendingBalance: 300,
    });
  });

  it('have planned releases by the day in São Paulo', () => {
    const releaseAt = new Date('2026-11-23T02:59:59.999Z');
    expect(plannedRelease({ currency: 'BRL', releaseAt, amount: 200, count: 2, reserve: 50 })).toStrictEqual({
      date: '2026-11-22',
      release_at: '2026-11-23T02:59:59.999Z',
      currency: 'BRL',
      amount: 200,
      reserve: 50,
      count: 2,
    });
  });
});
