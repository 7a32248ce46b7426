import { Injectable } from '@nestjs/common';
import { newEndToEndId, newRtrId } from '../../brazil/index.js';
import { Clock } from '../../core/clock.js';
import { Database, read, Reader, columnsOf, type Tx, write } from '../../core/database/index.js';
import { badRequest } from '../../core/errors/index.js';
import type { Amount } from '../../core/money/index.js';
import { InboxService } from '../inbox.service.js';
import {
  BANK_ACCOUNT_TYPES,
  type PayoutAnswer,
  type PayoutDesk,
  type PayoutName,
  type PayoutOrder,
  type PayoutState,
} from '../payout-desk.port.js';
import { SandboxPayoutEntity, type SandboxPayoutReturn } from './sandbox-payout.entity.js';

/** Events that a test forces on a payout: docs/sandbox.md. */
export const SANDBOX_PAYOUT_EVENTS = ['pay', 'fail', 'return', 'unknown', 'review', 'resolve'] as const;
export type SandboxPayoutEvent = (typeof SANDBOX_PAYOUT_EVENTS)[number];

/** How long a payout is processed. */
const PAID_MS = 1_000;
/** An ISPB that no bank has. */
const ISPB = '00000000';

const COLUMNS = columnsOf(SandboxPayoutEntity, 'b');
/** A repeated name is the payout that exists. A wish for the payout, made before, stays. */
const REQUEST = write(
  'sandbox.request_payout',
  `INSERT INTO sandbox_payouts AS b (holder_id, send_id, amount, end_to_end_id, requested_at) VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (holder_id, send_id) DO UPDATE SET amount = coalesce(b.amount, excluded.amount),
     end_to_end_id = coalesce(b.end_to_end_id, excluded.end_to_end_id),
     requested_at = coalesce(b.requested_at, excluded.requested_at)
   RETURNING ${COLUMNS}`,
);
const FIND = read(
  'sandbox.find_payout',
  `SELECT ${COLUMNS} FROM sandbox_payouts b WHERE b.holder_id = $1 AND b.send_id = $2`,
);
const LOCK = write(
  'sandbox.lock_payout',
  `INSERT INTO sandbox_payouts AS b (holder_id, send_id) VALUES ($1, $2)
   ON CONFLICT (holder_id, send_id) DO UPDATE SET send_id = excluded.send_id RETURNING ${COLUMNS}`,
);
const CHANGE = write(
  'sandbox.change_payout',
  'UPDATE sandbox_payouts SET state = $3, paid_at = $4, returns = $5 WHERE holder_id = $1 AND send_id = $2',
);

/** The sandbox bank's desk for payouts. Tests force how a payout ends. */
@Injectable()
export class SandboxPayouts implements PayoutDesk {
  readonly capabilities: PayoutDesk['capabilities'] = {
    targets: ['pix_key', 'br_code', 'bank_account'],
    accountTypes: BANK_ACCOUNT_TYPES,
    maxUnderWay: null,
    isNotFoundFinal: true,
    quietMs: 0,
  };
  readonly list = null;
  readonly balance = null;

  constructor(
    private readonly database: Database,
    private readonly reader: Reader,
    private readonly inbox: InboxService,
    private readonly clock: Clock,
  ) {}

  async send({ accountId, sendId, amount }: PayoutOrder): Promise<PayoutAnswer> {
    const now = this.clock.now();
    const row = await this.database.transaction((tx) =>
      tx.first<SandboxPayoutEntity>(REQUEST, [accountId, sendId, amount, newEndToEndId(ISPB, now), now]),
    );
    if (!row || row.state === 'unknown') return { kind: 'unknown' };
    return { kind: 'accepted', endToEndId: row.endToEndId };
  }

  async lookUp({ accountId, sendId }: PayoutName): Promise<PayoutState> {
    const row = await this.reader.first<SandboxPayoutEntity>(FIND, [accountId, sendId]);
    if (!row?.requestedAt) return { kind: 'not_found' };
    const { state, endToEndId, returns } = row;
    if (state === 'unknown') return { kind: 'unknown' };
    if (state === 'failed') return { kind: 'failed', reason: 'rejected_by_receiver' };
    if (state === 'review') return { kind: 'processing', reason: 'review', endToEndId };
    const at = row.paidAt ?? new Date(row.requestedAt.getTime() + PAID_MS);
    if (at > this.clock.now()) return { kind: 'processing', reason: 'sent', endToEndId };
    return {
      kind: 'paid',
      endToEndId,
      at,
      fee: 0,
      returns: returns.map(({ id, amount, at: returnedAt }) => ({
        returnId: id,
        endToEndId: id,
        amount,
        reason: 'AC03',
        at: new Date(returnedAt),
      })),
    };
  }

  /**
   * Makes an event happen, also before the payout was sent. The inbox reports it, like everything else.
   * @param amount of the payout @param part for `return`: default all that is left
   * @throws ApiError 400 for a return of more than is left, and of a payout that is not paid
   */
  async simulate(name: PayoutName, event: SandboxPayoutEvent, amount: Amount, part: Amount | null): Promise<void> {
    const now = this.clock.now();
    await this.database.transaction(async (tx) => {
      const row = await this.#lock(tx, name);
      const returns = event === 'return' ? [...row.returns, newReturn(row, amount, part, now)] : row.returns;
      const state = STATE_AFTER[event] ?? row.state;
      const paidAt = event === 'pay' || event === 'resolve' || event === 'return' ? (row.paidAt ?? now) : row.paidAt;
      tx.defer(CHANGE, [name.accountId, name.sendId, state, paidAt, JSON.stringify(returns)]);
      if (row.requestedAt === null) return;
      const what = `${event}.${now.getTime()}`;
      await this.inbox.queueAll(tx, 'sandbox', [{ kind: 'payout', reference: `${name.sendId}/${what}` }]);
    });
  }

  async #lock(tx: Tx, { accountId, sendId }: PayoutName): Promise<SandboxPayoutEntity> {
    const row = await tx.first<SandboxPayoutEntity>(LOCK, [accountId, sendId]);
    if (!row) throw new Error('An upsert gave no row');
    return row;
  }
}

const STATE_AFTER: Readonly<Partial<Record<SandboxPayoutEvent, SandboxPayoutEntity['state']>>> = {
  pay: 'paid',
  resolve: 'paid',
  fail: 'failed',
  unknown: 'unknown',
  review: 'review',
};

function newReturn(row: SandboxPayoutEntity, amount: Amount, part: Amount | null, now: Date): SandboxPayoutReturn {
  const left = amount - row.returns.reduce((sum, returned) => sum + returned.amount, 0);
  const isPaid =
    row.requestedAt !== null &&
    (row.state === 'paid' || (row.state === 'auto' && row.requestedAt.getTime() + PAID_MS <= now.getTime()));
  if (!isPaid) throw badRequest('invalid_request', 'Only a payout that was paid can come back.', 'event');
  const returned = part ?? left;
  if (left === 0 || returned > left) {
    throw badRequest('invalid_request', `must be at most ${left}, which has not come back yet`, 'amount');
  }
  return { id: newRtrId(ISPB, now), amount: returned, at: now.toISOString() };
}
