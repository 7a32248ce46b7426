/** Rules for every desk: when a payout that a PSP shows is believed, and how its list is read. */
import type { Amount } from '../../../core/money/index.js';
import type {
  ListedPayout,
  PayoutAnswer,
  PayoutHint,
  PayoutOrder,
  PayoutReturn,
  SentPayout,
  UnreadablePayout,
} from '../../payout-desk.port.js';
import type { DeskOperation } from '../profile.js';
import { readWindows } from '../statement.js';
import { isSameKey } from '../translation.js';
import type { DeskPsp } from './desk.js';

/** A payout as its PSP shows it. */
export interface ShownPayout {
  /** Null: the PSP names no id of ours. */
  readonly sendId: string | null;
  readonly endToEndId: string | null;
  /** The payer's key; null: not shown. */
  readonly pixKey: string | null;
  /** Cents; null: not readable. */
  readonly amount: Amount | null;
  /** The status in the PSP's own words, for the hint in the inbox. */
  readonly status: string;
  /** Null: not readable. */
  readonly state: 'processing' | 'review' | 'paid' | 'failed' | null;
  readonly requestedAt: Date | null;
  readonly paidAt: Date | null;
  readonly returns: readonly PayoutReturn[];
  /** How many returns cannot be read. */
  readonly unreadReturns: number;
}

type KnownState = ListedPayout['state'];

function stateOf(psp: DeskPsp, shown: ShownPayout, amount: Amount): KnownState | null {
  const { state, endToEndId, paidAt, requestedAt, returns } = shown;
  switch (state) {
    case null:
      return null;
    case 'failed':
      return { kind: 'failed', reason: 'refused' };
    case 'paid': {
      const at = paidAt ?? requestedAt ?? psp.now;
      return { kind: 'paid', endToEndId, at, fee: psp.fee(amount, at), returns };
    }
    case 'processing':
    case 'review':
      return { kind: 'processing', reason: state === 'review' ? 'review' : 'sent', endToEndId };
  }
}

/**
 * The state of a payout, if the answer is about the queried id, amount and key. A return that cannot be read is left
 * out: the payout was paid all the same.
 */
export function believedState(
  psp: DeskPsp,
  operation: DeskOperation,
  shown: ShownPayout,
  { sendId, amount }: SentPayout,
): KnownState | { readonly kind: 'unknown' } {
  const isOther = shown.sendId !== sendId;
  const isOtherKey = shown.pixKey !== null && !isSameKey(shown.pixKey, psp.pixKey);
  const returned = shown.returns.reduce((sum, one) => sum + one.amount, 0);
  const isOtherAmount = shown.amount !== amount || returned > amount;
  const state = stateOf(psp, shown, amount);
  if (shown.unreadReturns > 0) psp.answers.odd(operation, 'field', { sendId, paths: ['returns'] });
  if (!isOther && !isOtherKey && !isOtherAmount && state) return state;
  const what = isOther ? 'other_id' : isOtherKey ? 'other_key' : isOtherAmount ? 'other_amount' : 'malformed';
  psp.answers.odd(operation, what, { sendId });
  return { kind: 'unknown' };
}

/** The meaning of a payout in the answer to a send. */
export function believedAnswer(psp: DeskPsp, shown: ShownPayout, order: PayoutOrder): PayoutAnswer {
  const state = believedState(psp, 'payout.send', shown, order);
  switch (state.kind) {
    case 'unknown':
      return state;
    case 'failed':
      return { kind: 'refused', reason: state.reason };
    case 'processing':
    case 'paid':
      return { kind: 'accepted', endToEndId: state.endToEndId };
  }
}

/**
 * Reads a list that has the form of API Pix's list.
 * @param path of the list @param read one entry
 */
export async function* readList(
  psp: DeskPsp,
  path: string,
  read: (entry: unknown) => ShownPayout,
  from: Date,
  to: Date,
): AsyncGenerator<ListedPayout | UnreadablePayout> {
  const operation = 'payout.list';
  const pages = readWindows(
    {
      operation,
      longestWindow: psp.longestWindow,
      page: async (query) => {
        const answer = await psp.call({ operation, method: 'GET', path, query });
        const isBare = answer.kind === 'ok' && Array.isArray(answer.body);
        return isBare ? { kind: 'ok', body: { pix: answer.body } } : answer;
      },
      bodyOf: (answer) => psp.answers.body(operation, answer),
    },
    { from, to },
    psp.now,
  );
  for await (const entries of pages) {
    for (const entry of entries) {
      const shown = read(entry);
      // The list covers the holder, who may have several keys.
      if (shown.pixKey !== null && !isSameKey(shown.pixKey, psp.pixKey)) continue;
      const listed = listedPayout(psp, shown);
      // Windows are rounded to seconds.
      if (listed.at >= from && listed.at < to) yield listed;
    }
  }
}

function listedPayout(psp: DeskPsp, shown: ShownPayout): ListedPayout | UnreadablePayout {
  const { sendId, endToEndId, amount, returns, unreadReturns } = shown;
  const change = returns.length > 0 ? `${shown.status}.${returns.length}` : shown.status;
  const hint = sendId === null ? null : payoutHint(sendId, change);
  const common = { sendId, endToEndId, at: shown.requestedAt ?? shown.paidAt ?? psp.now, hint };
  const state = amount === null ? null : stateOf(psp, shown, amount);
  if (state && amount !== null && unreadReturns === 0) return { ...common, amount, state };
  psp.answers.odd('payout.list', 'malformed', { sendId, endToEndId });
  return { ...common, amount: null, state: { kind: 'unknown' } };
}

export function payoutHint(sendId: string, change: string): PayoutHint {
  return { kind: 'payout', reference: `${sendId}/${change}` };
}
