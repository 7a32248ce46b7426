/** The desk that docs/development.md#adding-a-psps-payouts explains. desk.spec.ts runs it. */
import * as z from 'zod';
import { isReturnId } from '../../../../brazil/index.js';
import { amount, text, word } from '../../messages.js';
import type { DeskOperation } from '../../profile.js';
import { toCents, toDecimal } from '../../translation.js';
import type { Desk, DeskPsp } from '../desk.js';
import { believedAnswer, believedState, payoutHint, type ShownPayout } from '../shown-payout.js';

const STATES: Readonly<Record<string, ShownPayout['state']>> = { SENT: 'processing', DONE: 'paid', BACK: 'failed' };
const transfer = z.object({ id: text, value: amount, status: word });

function shown(psp: DeskPsp, operation: DeskOperation, body: unknown): ShownPayout {
  const read = psp.answers.read(operation, transfer, body, {});
  return {
    sendId: read?.id ?? null,
    endToEndId: null,
    pixKey: null,
    amount: read ? toCents(read.value) : null,
    status: read?.status ?? 'UNREADABLE',
    state: STATES[read?.status ?? ''] ?? null,
    requestedAt: null,
    paidAt: null,
    returns: [],
    unreadReturns: 0,
  };
}

/** The smallest desk, of a PSP that does not exist: it pays keys only, and has no list and no balance. */
export const example: Desk = {
  source: 'https://example.com/api/transfers',
  capabilities: {
    targets: ['pix_key'],
    accountTypes: [],
    maxUnderWay: null,
    isNotFoundFinal: true,
    quietMs: 90 * 60_000,
  },
  scopes: [{ scope: 'transfers.write', use: 'to send' }],
  needsWebhook: false,
  async send(psp, order) {
    const { sendId, target } = order;
    if (target.type !== 'pix_key') return { kind: 'refused', reason: 'destination_invalid' };
    const answer = await psp.call({
      operation: 'payout.send',
      method: 'POST',
      path: '/transfers',
      headers: { 'idempotency-key': sendId },
      body: { id: sendId, value: toDecimal(order.amount), key: target.key },
    });
    if (answer.kind === 'ok') return believedAnswer(psp, shown(psp, 'payout.send', answer.body), order);
    if (answer.kind === 'refused') psp.answers.refusal('payout.send', answer, { sendId });
    const isNoMoney = answer.kind === 'refused' && answer.problem.code === 'no_money';
    return isNoMoney ? { kind: 'refused', reason: 'insufficient_funds' } : { kind: 'unknown' };
  },
  async lookUp(psp, order) {
    const answer = await psp.call({ operation: 'payout.get', method: 'GET', path: `/transfers/${order.sendId}` });
    if (answer.kind === 'not_found' && answer.problem?.code === 'no_transfer') return { kind: 'not_found' };
    return believedState(psp, 'payout.get', shown(psp, 'payout.get', psp.answers.body('payout.get', answer)), order);
  },
  list: null,
  balance: null,
  hintsOf(entry) {
    const read = z.object({ transfer: text.refine(isReturnId), status: word }).safeParse(entry).data;
    return read ? [payoutHint(read.transfer, read.status)] : null;
  },
};
