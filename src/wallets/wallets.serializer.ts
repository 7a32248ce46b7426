import { saoPauloDay } from '../brazil/index.js';
import type { BalanceBody, CurrencyBalanceBody, PlannedReleaseBody, WalletBody } from './dto/wallet.body.js';
import type { PlannedRelease } from './releases.repository.js';
import type { WalletBalance } from './wallets.service.js';

type FlatBalance = Omit<BalanceBody, 'total' | 'retained' | 'balances' | 'primary'>;

function currencyBalance({ currency, available, pending }: WalletBalance): CurrencyBalanceBody {
  return { currency, available, pending, total: available + pending };
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

export function multiCurrencyBalance(primary: WalletBalance, all: readonly WalletBalance[]): Required<BalanceBody> {
  return {
    ...flatBalance(primary),
    total: primary.available + primary.pending,
    retained: primary.retained,
    balances: all.map(currencyBalance),
    primary: currencyBalance(primary),
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
