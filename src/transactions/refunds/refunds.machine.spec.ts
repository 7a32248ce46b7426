import { describe, expect, it } from '@jest/globals';
import { REFUND_MOVES, REFUND_STATUSES, type RefundStatus, type RefundTrigger } from './refunds.machine.js';

/** Written by hand from the contract: the status after each trigger, for each earlier status. */
const TABLE: Readonly<Record<RefundStatus, Partial<Record<RefundTrigger, RefundStatus>>>> = {
  PENDING: { sent: 'IN_PROGRESS', stopped: 'FAILED' },
  IN_PROGRESS: { returned: 'REFUNDED', refused: 'FAILED' },
  REFUNDED: {},
  FAILED: {},
};

describe('the state machine of refunds', () => {
  const triggers = Object.keys(REFUND_MOVES) as RefundTrigger[];

  it('knows exactly the statuses of the contract', () => {
    expect([...REFUND_STATUSES].sort()).toEqual(Object.keys(TABLE).sort());
  });

  it.each(REFUND_STATUSES.flatMap((from) => triggers.map((trigger) => ({ from, trigger }))))(
    'moves from $from by $trigger only as the table says',
    ({ from, trigger }) => {
      const move = REFUND_MOVES[trigger];
      expect(move.from === from ? move.to : undefined).toBe(TABLE[from][trigger]);
    },
  );
});
