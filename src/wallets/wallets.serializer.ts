import type { Amount } from '../core/money/index.js';
import type { WalletBalance } from './wallets.service.js';

export interface CurrencyBalanceBody {
  currency: string;
  available: Amount;
  pending: Amount;
  total: Amount;
}

export interface MultiCurrencyBalanceBody extends CurrencyBalanceBody {
  retained: Amount;
  next_release_at: string | null;
  next_release_amount: Amount | null;
  balances: CurrencyBalanceBody[];
  primary: CurrencyBalanceBody;
}

export interface FlatBalanceBody {
  available: Amount;
  pending: Amount;
  currency: string;
  next_release_at: string | null;
  next_release_amount: Amount | null;
}

export interface WalletBody {
  currency: string;
  walletType: string;
  balance: Amount;
  pendingBalance: Amount;
}

function currencyBalance(balance: WalletBalance): CurrencyBalanceBody {
  return {
    currency: balance.currency,
    available: balance.available,
    pending: balance.pending,
    total: balance.available + balance.pending,
  };
}

export function multiCurrencyBalance(primary: WalletBalance, all: readonly WalletBalance[]): MultiCurrencyBalanceBody {
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

export function flatBalance(balance: WalletBalance): FlatBalanceBody {
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
