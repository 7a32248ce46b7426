/** Types of entries in a merchant's statement (docs/contract.md#statement). */
export const ENTRY_TYPES = [
  ...['sale', 'fee', 'release', 'refund', 'refund_failed', 'med_hold', 'med_release', 'med_loss', 'chargeback'],
  ...['payout', 'payout_failed', 'payout_returned', 'correction'],
] as const;
export type StatementEntryType = (typeof ENTRY_TYPES)[number];

/**
 * - `suspense`: money that no merchant is credited with, such as a Pix of a wrong amount, and its return.
 * - `provider_fee`: the acquirer's fees for such money and for returns, which the platform bears.
 */
export type EntryType = StatementEntryType | 'suspense' | 'provider_fee';
