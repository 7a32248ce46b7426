import { Baseline1700000010000 } from './0001-baseline.js';
import { Payouts1700000020000 } from './0002-payouts.js';
import { PayoutLine1700000030000 } from './0003-payout-line.js';
import { PaymentLinks1700000040000 } from './0004-payment-links.js';
import { ReportLocale1700000050000 } from './0005-report-locale.js';
import { PayoutNightAndFee1700000060000 } from './0006-payout-night-and-fee.js';
import { Customers1700000090000 } from './0009-customers.js';
import { PaymentNotes1700000100000 } from './0010-payment-notes.js';
import { Notices1700000110000 } from './0011-notices.js';
import { ReadNotices1700000120000 } from './0012-read-notices.js';
import { WebhookSignature1700000140000 } from './0014-webhook-signature.js';

/** In the order in which they are applied. */
export const MIGRATIONS = [
  Baseline1700000010000,
  Payouts1700000020000,
  PayoutLine1700000030000,
  PaymentLinks1700000040000,
  ReportLocale1700000050000,
  PayoutNightAndFee1700000060000,
  Customers1700000090000,
  PaymentNotes1700000100000,
  Notices1700000110000,
  ReadNotices1700000120000,
  WebhookSignature1700000140000,
];
