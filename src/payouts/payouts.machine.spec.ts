import { describe, expect, it } from '@jest/globals';
import {
  nextPayoutStatus,
  PAYOUT_MOVES,
  PAYOUT_STATUSES,
  type PayoutStatus,
  type PayoutTrigger,
} from './payouts.machine.js';

/** Written by hand: the status after each trigger, for each earlier status. */
const TABLE: Readonly<Record<PayoutStatus, Partial<Record<PayoutTrigger, PayoutStatus>>>> = {
  AWAITING: { approved: 'QUEUED', disapproved: 'CANCELLED', cancelled: 'CANCELLED' },
  QUEUED: { sent: 'SENDING', stopped: 'FAILED', cancelled: 'CANCELLED' },
  SENDING: { put_back: 'QUEUED', paid: 'PAID', refused: 'FAILED' },
  PAID: { revoked: 'FAILED', returned: 'REFUNDED' },
  FAILED: {},
  CANCELLED: {},
  REFUNDED: {},
};

describe('the state machine of payouts', () => {
  const triggers = Object.keys(PAYOUT_MOVES) as PayoutTrigger[];

  it.each(PAYOUT_STATUSES.flatMap((from) => triggers.map((trigger) => ({ from, trigger }))))(
    'moves from $from by $trigger only as the table says',
    ({ from, trigger }) => {
      expect(nextPayoutStatus(from, trigger)).toBe(TABLE[from][trigger] ?? null);
    },
  );
});
