import { saoPauloDay } from '../brazil/index.js';
import type { BalanceBody, CurrencyBalanceBody, PlannedReleaseBody, WalletBody } from './dto/wallet.body.js';
import type { PlannedRelease } from './releases.repository.js';
import type { WalletBalance } from './wallets.service.js';

type FlatBalance = Omit<BalanceBody, 'total' | 'retained' | 'balances' | 'primary'>;

function currencyBalance(balance: WalletBalance): CurrencyBalanceBody {
  return {
    currency: balance.currency,
    available: balance.available,
    pending: balance.pending,
    total: balance.available + balance.pending,
  };
}

export function multiCurrencyBalance(primary: WalletBalance, all: readonly WalletBalance[]): Required<BalanceBody> {
  return {
    available: primary.available,
    pending: primary.pending,
    total: primary.available + primary.pending,
    retained: primary.retained,
    currency: primary.currency,
    next_release_at: primary.nextReleaseAt?.toISOString() ?? null,
    next_release_amount: primary.nextReleaseAmount,
    balances: all.map(currencyBalance),
    primary: currencyBalance(primary),
  };
}

export function flatBalance(balance: WalletBalance): FlatBalance {
  return {
    available: balance.available,
    pending: balance.pending,
    currency: balance.currency,
    next_release_at: balance.nextReleaseAt?.toISOString() ?? null,
    next_release_amount: balance.nextReleaseAmount,
  };
}

export function walletItem(balance: WalletBalance): WalletBody {
  return {
    currency: balance.currency,
    walletType: 'OPERATIONAL',
    balance: balance.available,
    pendingBalance: balance.pending,
  };
}

export function plannedRelease({ currency, releaseAt, amount, reserve, count }: PlannedRelease): PlannedReleaseBody {
  return { date: saoPauloDay(releaseAt), release_at: releaseAt.toISOString(), currency, amount, reserve, count };
}
