/** What moved a merchant's money: the types of a merchant's statement (docs/contract.md#statement). */
export const ENTRY_TYPES = [
  ...['sale', 'fee', 'release', 'refund', 'refund_failed', 'med_hold', 'med_release', 'med_loss', 'chargeback'],
  ...['payout', 'payout_failed', 'payout_returned', 'correction'],
] as const;
export type StatementEntryType = (typeof ENTRY_TYPES)[number];

/** `suspense`: money that no merchant is credited with, as a Pix of a wrong amount and its way back. */
export type EntryType = StatementEntryType | 'suspense';
