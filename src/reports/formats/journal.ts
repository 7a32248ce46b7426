import { saoPauloDay, saoPauloDayBounds, saoPauloLocal } from '../../brazil/index.js';
import type { Mode } from '../../core/mode.js';
import { type Amount, decimalText } from '../../core/money/index.js';
import {
  type Bucket,
  ENTRY_DESCRIPTIONS,
  type StatementEntryType,
  type MerchantBucket,
  sourceOf,
} from '../../wallets/index.js';
import type { EntryRow, StatementPart } from '../report-rows.repository.js';
import type { ReportOrder } from '../report.entity.js';

/**
 * Plain-text accounting that hledger, ledger and beancount all read: quoted texts, and accounts in beancount's
 * spelling. To the other two programs, beancount's dated directives `open` and `balance` are empty transactions.
 */

const OWN: Readonly<Record<MerchantBucket, string>> = {
  available: 'Assets:$:Available',
  pending: 'Assets:$:Pending',
  retained: 'Assets:$:Retained',
};

/** Source or destination of the money, as the merchant's books name it. Money set aside for a refund counts as gone. */
const OTHER_SIDE: Readonly<Record<StatementEntryType, string>> = {
  sale: 'Income:$:Sales',
  fee: 'Expenses:$:Fees:Platform',
  release: 'Income:$:Sales',
  refund: 'Income:$:Refunds',
  refund_failed: 'Income:$:Refunds',
  med_hold: 'Income:$:Disputes',
  med_release: 'Income:$:Disputes',
  med_loss: 'Income:$:Disputes',
  chargeback: 'Income:$:Disputes',
  correction: 'Income:$:Corrections',
  payout: 'Assets:$:Payouts',
  payout_failed: 'Assets:$:Payouts',
  payout_returned: 'Assets:$:Payouts',
};
const FEES: Partial<Readonly<Record<Bucket, string>>> = {
  platform_fees: 'Expenses:$:Fees:Platform',
  provider_fees: 'Expenses:$:Fees:Acquirer',
};
const OPENING = 'Equity:$:Opening';

function accountOf(bucket: Bucket, type: StatementEntryType, mode: Mode): string {
  return spelled((OWN as Partial<Record<Bucket, string>>)[bucket] ?? FEES[bucket] ?? OTHER_SIDE[type], mode);
}

function spelled(account: string, mode: Mode): string {
  return account.replace('$', mode === 'live' ? 'Recebe' : 'RecebeTest');
}

/**
 * Spells a currency code with letters only: ledger, hledger and beancount each spell a code with digits differently.
 * `A1B` becomes `DIGITSAZBB`: a `Z` precedes a letter from A (0) to J (9). The result is longer than any code, so it
 * cannot equal one.
 */
export function commodityOf(currency: string): string {
  if (!/\d/.test(currency)) return currency;
  const letterOf = (character: string): string =>
    character === 'Z' ? 'ZZ' : /\d/.test(character) ? `Z${'ABCDEFGHIJ'.charAt(Number(character))}` : character;
  return `DIGITS${[...currency].map(letterOf).join('')}`;
}

function sum(amount: Amount, currency: string): string {
  return `${decimalText(amount, currency)} ${commodityOf(currency)}`;
}

function posting(account: string, amount: Amount, currency: string): string {
  return `  ${account}  ${sum(amount, currency)}\n`;
}

/** @param opening amount of each part before the window */
export function journalBegin(
  { accountId, mode, from, to }: ReportOrder,
  opening: readonly (StatementPart & { readonly amount: Amount })[],
): string {
  const day = saoPauloDay(from);
  const names = [...Object.values(OWN), ...Object.values(OTHER_SIDE), ...Object.values(FEES), OPENING];
  const accounts = [...new Set(names.map((name) => spelled(name, mode)))].sort();
  const nonzero = opening.filter(({ amount }) => amount !== 0);
  const currencies = [...new Set(nonzero.map(({ currency }) => currency))];
  return [
    `; Recebe, account ${accountId}, ${mode} mode, from ${from.toISOString()} to ${to.toISOString()}\n`,
    '; For hledger, ledger and beancount.\n',
    ...accounts.map((account) => `${day} open ${account}\n`),
    ...currencies.flatMap((currency) => {
      const parts = nonzero.filter((part) => part.currency === currency);
      const total = parts.reduce((sum, { amount }) => sum + amount, 0);
      return [
        `\n${day} * "Opening balance"\n`,
        ...parts.map(({ bucket, amount }) => posting(spelled(OWN[bucket], mode), amount, currency)),
        total === 0 ? '' : posting(spelled(OPENING, mode), -total, currency),
      ];
    }),
  ].join('');
}

/** @returns '' for an entry that moves money only inside one account of the merchant */
export function journalEntry({ mode }: ReportOrder, { id, type, cause, currency, createdAt, lines }: EntryRow): string {
  const amounts = new Map<string, Amount>();
  for (const [bucket, amount] of Object.entries(lines) as [Bucket, Amount][]) {
    const account = accountOf(bucket, type, mode);
    amounts.set(account, (amounts.get(account) ?? 0) + amount);
  }
  const postings = [...amounts].filter(([, amount]) => amount !== 0);
  if (postings.length === 0) return '';
  const source = sourceOf(cause);
  const [day, time] = saoPauloLocal(createdAt).split('T');
  return [
    `\n${day} * "${ENTRY_DESCRIPTIONS[type]}"\n  ; entry: ${id}\n  ; time: ${time}\n`,
    source === null ? '' : `  ; source: ${source.id}\n`,
    ...postings.map(([account, amount]) => posting(account, amount, currency)),
  ].join('');
}

/** Amounts of each part after the window, which beancount checks. */
export function journalEnd(
  { mode, to }: ReportOrder,
  closing: readonly (StatementPart & { readonly amount: Amount })[],
): string {
  const next = saoPauloDay(saoPauloDayBounds(saoPauloDay(to)).to);
  const lines = closing.map(
    ({ bucket, currency, amount }) => `${next} balance ${spelled(OWN[bucket], mode)}  ${sum(amount, currency)}\n`,
  );
  return `\n${lines.join('')}`;
}
