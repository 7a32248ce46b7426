import type { Amount } from '../core/money/index.js';
import type { WalletEntryBody, WalletEntrySourceBody } from './dto/wallet-entry.body.js';
import type { BalanceAtBody, PastBalanceBody } from './dto/wallet.body.js';
import type { StatementEntryType } from './entry-types.js';
import type { WalletEntry } from './statement.repository.js';

/** Amounts in the currency's smallest unit. */
export interface PastBalance {
  readonly currency: string;
  readonly available: Amount;
  readonly pending: Amount;
  readonly retained: Amount;
}

/** Descriptions of entries, for people. */
export const ENTRY_DESCRIPTIONS: Readonly<Record<StatementEntryType, string>> = {
  sale: 'Payment received, less its fees',
  fee: 'Fee',
  release: 'Release of a payment',
  refund: 'Refund to the payer',
  refund_failed: 'Refund failed, money back',
  med_hold: 'Held for a dispute',
  med_release: 'Given back by a dispute',
  med_loss: 'Lost to a dispute',
  chargeback: 'Lost to a chargeback',
  payout: 'Payout',
  payout_failed: 'Payout failed, money back',
  payout_returned: 'Payout returned, money back',
  correction: 'Correction',
};

/** The object that an entry comes from, by the first word of the entry's cause. */
const SOURCES: Readonly<Record<string, { object: WalletEntrySourceBody['object']; prefix: string }>> = {
  charge: { object: 'payment', prefix: 'tx_' },
  release: { object: 'payment', prefix: 'tx_' },
  refund: { object: 'refund', prefix: '' },
  med: { object: 'med_case', prefix: 'med_' },
  payout: { object: 'payout', prefix: 'po_' },
};

/**
 * Returns the object that caused an entry. @returns null for causes without a public object, such as a correction by
 * hand
 */
export function sourceOf(cause: string): WalletEntrySourceBody | null {
  const [what = '', id = ''] = cause.split(':');
  const source = SOURCES[what.split('.')[0] ?? ''];
  return source ? { object: source.object, id: `${source.prefix}${id}` } : null;
}

export function walletEntryId({ entryId, line }: Pick<WalletEntry, 'entryId' | 'line'>): string {
  return `we_${entryId}_${line}`;
}

export function walletEntryBody(entry: WalletEntry): WalletEntryBody {
  return {
    id: walletEntryId(entry),
    object: 'wallet_entry',
    type: entry.type,
    bucket: entry.bucket,
    amount: entry.amount,
    balance: entry.balance,
    currency: entry.currency,
    source: sourceOf(entry.cause),
    payment_id: entry.transactionId === null ? null : `tx_${entry.transactionId}`,
    description: ENTRY_DESCRIPTIONS[entry.type],
    created_at: entry.createdAt.toISOString(),
  };
}

function pastBalance({ currency, available, pending, retained }: PastBalance): PastBalanceBody {
  return { currency, available, pending, total: available + pending, retained };
}

/** @param all null for the flat form of one currency */
export function balanceAt(at: Date, primary: PastBalance, all: readonly PastBalance[] | null): BalanceAtBody {
  return {
    at: at.toISOString(),
    ...pastBalance(primary),
    ...(all === null ? {} : { balances: all.map(pastBalance) }),
  };
}
