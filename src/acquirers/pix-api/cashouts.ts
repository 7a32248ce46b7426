/** Refunds by cashout: a new Pix to the payer's key, sent by the desk of the connection. */
import { normalizePixKey } from '../../brazil/index.js';
import type { Amount } from '../../core/money/index.js';
import type { ReturnFailure, ReturnRequest, ReturnState } from '../acquirer.port.js';
import type { PayoutAnswer, PayoutOrder, PayoutRefusal, PayoutState } from '../payout-desk.port.js';

/** The payout that makes the refund, under the refund's own id. @returns null without a Pix key that can receive it */
export function cashoutOrder({ accountId, returnId, amount, destination }: ReturnRequest): PayoutOrder | null {
  const key = destination === null ? null : normalizePixKey(destination);
  if (!key) return null;
  const taxId = key.kind === 'cpf' || key.kind === 'cnpj' ? key.key : null;
  const target = { type: 'pix_key', key: key.key, taxId } as const;
  return { accountId, sendId: returnId, amount, target, ownTaxId: null, description: null };
}

export function cashoutAnswer(answer: PayoutAnswer): ReturnState {
  return answer.kind === 'refused' ? { kind: 'failed', reason: FAILURES[answer.reason] } : { kind: 'in_progress' };
}

export function cashoutState(state: PayoutState, amount: Amount): ReturnState {
  switch (state.kind) {
    case 'not_found':
      return { kind: 'not_found' };
    case 'unknown':
    case 'processing':
      return { kind: 'in_progress' };
    case 'failed':
      return { kind: 'failed', reason: FAILURES[state.reason] };
    case 'paid': {
      const returned = state.returns.reduce((sum, one) => sum + one.amount, 0);
      // The payer's bank has sent all of it back before anybody looked.
      if (returned === amount) return { kind: 'failed', reason: 'destination_invalid' };
      return { kind: 'returned', bankReference: state.endToEndId, fee: state.fee };
    }
  }
}

const FAILURES: Readonly<Record<PayoutRefusal, ReturnFailure>> = {
  destination_invalid: 'destination_invalid',
  destination_mismatch: 'destination_invalid',
  insufficient_funds: 'insufficient_funds',
  limit_exceeded: 'refused',
  rejected_by_receiver: 'refused',
  refused: 'refused',
};
