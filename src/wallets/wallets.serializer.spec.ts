import { describe, expect, it } from '@jest/globals';
import { flatBalance, multiCurrencyBalance, walletItem } from './wallets.serializer.js';
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
  it('over all currencies have these keys and values', () => {
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

  it('of one currency have these, with null for what is not scheduled', () => {
    expect(flatBalance(usd)).toStrictEqual({
      available: 1,
      pending: 0,
      currency: 'USD',
      next_release_at: null,
      next_release_amount: null,
    });
    expect(flatBalance(brl)).toMatchObject({ next_release_at: '2026-11-22T03:00:00.000Z', next_release_amount: 200 });
  });

  it('as wallets have these', () => {
    expect(walletItem(brl)).toStrictEqual({
      currency: 'BRL',
      walletType: 'OPERATIONAL',
      balance: -50,
      pendingBalance: 300,
    });
  });
});
