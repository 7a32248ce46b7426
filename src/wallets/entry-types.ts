/** What moved a merchant's money: the types of a merchant's statement (docs/contract.md#statement). */
export const ENTRY_TYPES = [
  ...['sale', 'fee', 'release', 'refund', 'refund_failed', 'med_hold', 'med_release', 'med_loss', 'chargeback'],
  ...['payout', 'payout_failed', 'payout_returned', 'correction'],
] as const;
export type StatementEntryType = (typeof ENTRY_TYPES)[number];

/**
 * `suspense`: money that no merchant is credited with, as a Pix of a wrong amount and its way back; `provider_fee`: what the
 * acquirer charges for one and for money that goes back, which the platform bears.
 */
export type EntryType = StatementEntryType | 'suspense' | 'provider_fee';
