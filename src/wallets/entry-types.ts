/** What moved money: the types of a merchant's statement (docs/contract.md#statement). */
export const ENTRY_TYPES = [
  ...['sale', 'fee', 'release', 'refund', 'refund_failed', 'med_hold', 'med_release', 'med_loss', 'chargeback'],
  ...['payout', 'payout_failed', 'payout_returned', 'correction'],
] as const;
export type EntryType = (typeof ENTRY_TYPES)[number];
