import { formatTaxId } from '../../brazil/index.js';
import type { Amount } from '../../core/money/index.js';
import { publicPayoutStatus, type ShownTarget } from '../../payouts/index.js';
import { isPublicKey, type Metadata, publicMetadata } from '../../transactions/index.js';
import { ENTRY_DESCRIPTIONS, sourceOf, walletEntryId } from '../../wallets/index.js';
import type {
  CustomerRow,
  DeliveryRow,
  DisputeRow,
  PaymentLinkRow,
  PayoutRow,
  RefundRow,
  SaleRow,
  StatementRow,
} from '../report-rows.repository.js';
import type { ReportLocale, ReportType } from '../report.entity.js';
import type { ClosingRow } from './closing.js';
import {
  BUCKET_WORDS,
  CLOSING_WORDS,
  DESCRIPTION_WORDS,
  DESTINATION_WORDS,
  DISPUTE_STATUS_WORDS,
  DISPUTE_TYPE_WORDS,
  ENTRY_TYPE_WORDS,
  HEADING_WORDS,
  METHOD_WORDS,
  MONEY_OUTCOME_WORDS,
  PAYOUT_FAILURE_WORDS,
  PAYOUT_STATUS_WORDS,
  REFUND_FAILURE_WORDS,
  REFUND_STATUS_WORDS,
  SALE_STATUS_WORDS,
  STRATEGY_WORDS,
  DELIVERY_STATUS_WORDS,
  LINK_STATUS_WORDS,
  type Words,
} from './words.js';

/** A column of a file. The formats write its value by its kind. */
export type Column<R> = TextColumn<R> | MoneyColumn<R> | CountColumn<R> | TimeColumn<R>;

/** A text comes from outside and must not run as a formula. */
export interface TextColumn<R> {
  readonly kind: 'text' | 'tax_id';
  /** Portuguese words for the values of the service. */
  readonly words?: Words;
  of(row: R): string | null;
}

/** Amounts in the smallest unit of the row's currency. */
interface MoneyColumn<R> {
  readonly kind: 'money';
  of(row: R): Amount | null;
}

interface CountColumn<R> {
  readonly kind: 'count';
  of(row: R): number | null;
}

/** Instants, or their days in São Paulo. */
interface TimeColumn<R> {
  readonly kind: 'time' | 'day';
  of(row: R): Date | null;
}

/** Fields that rows of every report have. */
export interface Common {
  readonly currency: string;
  readonly createdAt: Date;
  readonly metadata: Metadata | null;
}

function text<R>(of: (row: R) => string | null): Column<R> {
  return { kind: 'text', of };
}

/** A column of the service's own values, which have words. */
function word<R>(words: Words, of: (row: R) => string | null): Column<R> {
  return { kind: 'text', words, of };
}

/** A column of CPF and CNPJ. */
function taxId<R>(of: (row: R) => string | null): Column<R> {
  return { kind: 'tax_id', of };
}

function money<R>(of: (row: R) => Amount | null): Column<R> {
  return { kind: 'money', of };
}

function count<R>(of: (row: R) => number | null): Column<R> {
  return { kind: 'count', of };
}

function time<R>(of: (row: R) => Date | null): Column<R> {
  return { kind: 'time', of };
}

function day<R>(of: (row: R) => Date): Column<R> {
  return { kind: 'day', of };
}

const METADATA = text<Common>((row) => {
  const metadata = row.metadata === null ? {} : publicMetadata(row.metadata);
  return Object.keys(metadata).length === 0 ? null : JSON.stringify(metadata);
});

const DESCRIPTIONS: Words = Object.fromEntries(
  Object.entries(ENTRY_DESCRIPTIONS).map(([type, text]) => [text, DESCRIPTION_WORDS[type] ?? text]),
);

const STATEMENT = {
  day: day((row) => row.createdAt),
  created_at: time((row) => row.createdAt),
  currency: text((row) => row.currency),
  bucket: word(BUCKET_WORDS, (row) => row.bucket),
  type: word(ENTRY_TYPE_WORDS, (row) => row.type),
  amount: money((row) => row.amount),
  balance: money((row) => row.balance),
  description: word(DESCRIPTIONS, (row) => ENTRY_DESCRIPTIONS[row.type]),
  source: text((row) => sourceOf(row.cause)?.id ?? null),
  payment: text((row) => (row.transactionId === null ? null : `tx_${row.transactionId}`)),
  end_to_end_id: text((row) => row.endToEndId),
  metadata: METADATA,
  id: text(walletEntryId),
} satisfies Record<string, Column<StatementRow>>;

const SALES = {
  // Unpaid sales use the day they were created.
  day: day((row) => row.paidAt ?? row.createdAt),
  paid_at: time((row) => row.paidAt),
  payment: text((row) => `tx_${row.id}`),
  status: word(SALE_STATUS_WORDS, (row) => row.status),
  method: word(METHOD_WORDS, (row) => row.method),
  currency: text((row) => row.currency),
  amount: money((row) => row.amount),
  provider_fee: money((row) => row.providerFee),
  platform_fee: money((row) => row.platformFee),
  net_amount: money((row) => row.netAmount),
  refunded: money((row) => row.refunded),
  disputed: money((row) => row.disputed),
  end_to_end_id: text((row) => row.endToEndId),
  txid: text((row) => row.txid),
  customer_name: text((row) => row.customerName),
  customer_document: taxId((row) => row.customerDocument),
  customer_email: text((row) => row.customerEmail),
  metadata: METADATA,
  created_at: time((row) => row.createdAt),
} satisfies Record<string, Column<SaleRow>>;

const REFUNDS = {
  day: day((row) => row.createdAt),
  created_at: time((row) => row.createdAt),
  refund: text((row) => row.id),
  payment: text((row) => `tx_${row.transactionId}`),
  status: word(REFUND_STATUS_WORDS, (row) => row.status),
  currency: text((row) => row.currency),
  amount: money((row) => row.amount),
  fee: money((row) => row.fee),
  strategy: word(STRATEGY_WORDS, (row) => (row.way === 'card' ? null : row.way)),
  reason: text((row) => row.reason),
  failure_reason: word(REFUND_FAILURE_WORDS, (row) => row.failureReason),
  bank_reference: text((row) => row.bankReference),
  metadata: METADATA,
  updated_at: time((row) => row.updatedAt),
} satisfies Record<string, Column<RefundRow>>;

const DISPUTES = {
  day: day((row) => row.createdAt),
  created_at: time((row) => row.createdAt),
  dispute: text((row) => `med_${row.id}`),
  payment: text((row) => `tx_${row.transactionId}`),
  type: word(DISPUTE_TYPE_WORDS, (row) => row.type),
  status: word(DISPUTE_STATUS_WORDS, (row) => row.status),
  money_outcome: word(MONEY_OUTCOME_WORDS, (row) => row.moneyOutcome),
  currency: text((row) => row.currency),
  amount: money((row) => row.amount),
  held: money((row) => row.held),
  lost: money((row) => row.lost),
  reason: text((row) => row.reason),
  end_to_end_id: text((row) => row.paymentReference),
  metadata: METADATA,
  response_deadline: time((row) => row.responseDeadline),
  closed_at: time((row) => row.closedAt),
} satisfies Record<string, Column<DisputeRow>>;

const PAYOUTS = {
  day: day((row) => row.createdAt),
  created_at: time((row) => row.createdAt),
  payout: text((row) => `po_${row.id}`),
  status: word(PAYOUT_STATUS_WORDS, (row) => publicPayoutStatus(row.status)),
  currency: text((row) => row.currency),
  amount: money((row) => row.amount),
  fee: money((row) => row.fee),
  amount_returned: money((row) => row.amountReturned),
  destination_type: word(DESTINATION_WORDS, (row) => row.shown.type),
  destination: text((row) => destinationOf(row.shown)),
  destination_tax_id: text((row) => row.shown.tax_id),
  destination_id: text((row) => (row.destinationId === null ? null : `pd_${row.destinationId}`)),
  end_to_end_id: text((row) => row.endToEndId),
  paid_at: time((row) => row.paidAt),
  failure: word(PAYOUT_FAILURE_WORDS, (row) => row.failure),
  description: text((row) => row.description),
  metadata: METADATA,
} satisfies Record<string, Column<PayoutRow>>;

const CLOSING = {
  line: word(CLOSING_WORDS, (row) => row.line),
  currency: text((row) => row.currency),
  available: money((row) => row.available),
  pending: money((row) => row.pending),
  retained: money((row) => row.retained),
  total: money((row) => row.total),
} satisfies Record<string, Column<ClosingRow>>;

const CUSTOMERS = {
  customer: text((row) => `cus_${row.id}`),
  customer_name: text((row) => row.name),
  customer_document: taxId((row) => row.taxId),
  customer_email: text((row) => row.email),
  customer_phone: text((row) => row.phone),
  currency: text((row) => row.currency),
  sales: count((row) => row.sales),
  amount_paid: money((row) => row.paid),
  amount_refunded: money((row) => row.refunded),
  amount_disputed: money((row) => row.disputed),
  first_paid_at: time((row) => row.firstPaidAt),
  last_paid_at: time((row) => row.createdAt),
} satisfies Record<string, Column<CustomerRow>>;

const PAYMENT_LINKS = {
  day: day((row) => row.createdAt),
  created_at: time((row) => row.createdAt),
  payment_link: text((row) => `pl_${row.id}`),
  name: text((row) => row.name),
  status: word(LINK_STATUS_WORDS, (row) => row.status),
  currency: text((row) => row.currency),
  amount: money((row) => row.amount),
  amount_min: money((row) => row.amountMin),
  amount_max: money((row) => row.amountMax),
  max_payments: count((row) => row.maxPayments),
  paid_count: count((row) => row.paidCount),
  paid_amount: money((row) => row.paidAmount),
  expires_at: time((row) => row.expiresAt),
  ended_at: time((row) => row.endedAt),
  description: text((row) => row.description),
  metadata: METADATA,
} satisfies Record<string, Column<PaymentLinkRow>>;

const DELIVERIES = {
  day: day((row) => row.createdAt),
  created_at: time((row) => row.createdAt),
  delivery: text((row) => `wd_${row.id}`),
  event: text((row) => row.eventType),
  status: word(DELIVERY_STATUS_WORDS, (row) => row.status),
  attempts: count((row) => row.attempts),
  max_attempts: count((row) => row.maxAttempts),
  url: text((row) => row.url),
  last_status_code: count((row) => row.lastStatusCode),
  last_error: text((row) => row.lastError),
  delivered_at: time((row) => row.deliveredAt),
  next_attempt_at: time((row) => row.nextAttemptAt),
} satisfies Record<string, Column<DeliveryRow>>;

/** The masked key, or bank, branch and masked number; null for a code without a key. */
function destinationOf(shown: ShownTarget): string | null {
  return shown.type === 'bank_account' ? `${shown.ispb} ${shown.branch} ${shown.number}` : shown.key;
}

const COLUMNS: Readonly<Record<ReportType, Readonly<Record<string, unknown>>>> = {
  statement: STATEMENT,
  sales: SALES,
  refunds: REFUNDS,
  disputes: DISPUTES,
  payouts: PAYOUTS,
  closing: CLOSING,
  customers: CUSTOMERS,
  payment_links: PAYMENT_LINKS,
  deliveries: DELIVERIES,
};

/** A column with the value of one metadata key, as in `metadata.orderId`. */
export const METADATA_COLUMN = /^metadata\.(.{1,100})$/;

/** Column names of a report, in the file's order when the request names none. */
export function columnNames(type: ReportType): string[] {
  return Object.keys(COLUMNS[type]);
}

export function isColumn(type: ReportType, name: string): boolean {
  return Object.hasOwn(COLUMNS[type], name) || METADATA_COLUMN.test(name);
}

/** @param names column names that passed `isColumn` */
export function columnsOf<R extends Common>(type: ReportType, names: readonly string[]): Column<R>[] {
  return names.map((name) => {
    const key = METADATA_COLUMN.exec(name)?.[1];
    if (key === undefined) return COLUMNS[type][name] as Column<R>;
    const isPublic = isPublicKey(key);
    return text((row) => {
      // Reads the single key: copying the metadata would make a copy for each column of a row.
      const value = isPublic && row.metadata !== null && Object.hasOwn(row.metadata, key) ? row.metadata[key] : null;
      return typeof value === 'string' || value == null ? (value ?? null) : JSON.stringify(value);
    });
  });
}

/** The heading of a column: its name, or Portuguese words. */
export function headingOf(name: string, locale: ReportLocale | null): string {
  if (locale === null) return name;
  return HEADING_WORDS[name] ?? METADATA_COLUMN.exec(name)?.[1] ?? name;
}

/** The text of a cell: as in the API, or in Portuguese words and with the marks of a tax id. */
export function textOf<R>(column: TextColumn<R>, row: R, locale: ReportLocale | null): string | null {
  const value = column.of(row);
  if (value === null || locale === null) return value;
  if (column.kind === 'tax_id') return formatTaxId(value);
  return column.words?.[value] ?? value;
}
