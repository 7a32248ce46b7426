import { describe, expect, it } from '@jest/globals';
import { awaitsMorning, payoutNote } from '../../dashboard/src/payout-words.js';
import type { PayoutBody } from '../../src/payouts/dto/payout.body.js';

function waiting(sendAfter: string, approval?: PayoutBody['approval']): PayoutBody {
  return { status: 'pending', currency: 'BRL', send_after: sendAfter, ...(approval && { approval }) } as PayoutBody;
}
const noteOf = (payout: PayoutBody): string | null => payoutNote(payout, (pt) => pt, 'pt-BR');

describe('the note of a payout', () => {
  it('names the limit of the night while the payout waits for 06:00 in São Paulo', () => {
    const payout = waiting('2999-07-01T09:00:00.000Z');
    expect([awaitsMorning(payout), noteOf(payout)]).toEqual([true, 'aguarda as 6h: limite da noite']);
  });

  it('names the end of another wait', () => {
    const payout = waiting('2999-07-01T09:00:00.001Z');
    expect([awaitsMorning(payout), noteOf(payout)]).toEqual([false, expect.stringContaining('sai a partir de')]);
  });

  it('does not name the night when the morning has come, or a person has to approve', () => {
    const late = waiting('2020-07-01T09:00:00.000Z');
    const unapproved = waiting('2999-07-01T09:00:00.000Z', { status: 'waiting' });
    expect([late, unapproved].map((payout) => awaitsMorning(payout))).toEqual([false, false]);
    expect(noteOf(unapproved)).toBe('aguarda a aprovação de outra pessoa');
  });
});
