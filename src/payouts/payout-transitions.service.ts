import { Injectable } from '@nestjs/common';
import type { PayoutReturn, PayoutState } from '../acquirers/index.js';
import { Clock } from '../core/clock.js';
import type { Tx } from '../core/database/index.js';
import { Logger } from '../core/log/index.js';
import type { Scope } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import { WorkService } from '../core/work/index.js';
import { type PayoutMoney, WalletsService } from '../wallets/index.js';
import type { PayoutFailure } from './payout.entity.js';
import { PayoutMails } from './payout-mails.service.js';
import { PayoutRecorder } from './payout-recorder.service.js';
import { PAYOUT_EVENT_OF } from './payouts.events.js';
import type { PayoutTrigger } from './payouts.machine.js';
import { type PayoutFacts, PayoutsRepository, type WholePayout } from './payouts.repository.js';
import { periodsOf } from './payouts.rules.js';

/** Makes the changes of a payout, each with its money and its event in one commit. Locks the payout, then the balances. */
@Injectable()
export class PayoutTransitions {
  constructor(
    private readonly payouts: PayoutsRepository,
    private readonly wallets: WalletsService,
    private readonly recorder: PayoutRecorder,
    private readonly work: WorkService,
    private readonly mails: PayoutMails,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /**
   * Records a new payout, sets its money aside and has it sent. Call it last: it locks the balances.
   * @param isNew whether its receiver never had money from this account
   */
  async opened(tx: Tx, payout: WholePayout, isNew: boolean): Promise<void> {
    await this.mails.opened(tx, payout, isNew);
    if (payout.status === 'QUEUED') this.work.add(tx, 'payout', payout.id, payout.sendAfter);
    this.recorder.record(tx, 'payout.requested', payout, null);
    this.wallets.reservePayout(tx, moneyOf(payout));
  }

  /**
   * Has an AWAITING payout sent. An OWNER's approval also ends the wait of a QUEUED payout for its new destination.
   * @returns null when the payout does not wait for this person
   */
  async approve(tx: Tx, payout: WholePayout, by: string, isOwner: boolean): Promise<WholePayout | null> {
    const now = this.clock.now();
    const sendAfter = isOwner || payout.sendAfter <= now ? now : payout.sendAfter;
    // No approval ends the wait of a payout that was put off for the night.
    const { night, morning } = periodsOf(now);
    const isPutOff = night !== null && payout.sendAfter.getTime() === morning.getTime();
    const isWaiting = payout.status === 'QUEUED' && payout.sendAfter > now && !isPutOff;
    if (payout.status !== 'AWAITING' && !(isWaiting && isOwner)) return null;
    const moved = isWaiting
      ? await this.payouts.releaseWait(tx, payout.id, by, now)
      : await this.move(tx, payout, 'approved', { approvedBy: by, sendAfter });
    if (!moved) return null;
    this.work.add(tx, 'payout', payout.id, sendAfter);
    await this.mails.decided(tx, moved, by, true);
    return moved;
  }

  /** Ends the wait of payouts for a new destination that an OWNER has approved. Call it after the destination is locked. */
  async releaseWaits(tx: Tx, scope: Scope, targetHash: Buffer): Promise<void> {
    const now = this.clock.now();
    for (const id of await this.payouts.releaseWaits(tx, scope, targetHash, now)) this.work.add(tx, 'payout', id, now);
  }

  /** Ends an AWAITING payout. The money is available again. */
  async disapprove(tx: Tx, payout: WholePayout, by: string): Promise<WholePayout | null> {
    const moved = await this.move(tx, payout, 'disapproved', { failure: 'approval_refused' });
    if (!moved) return null;
    await this.mails.decided(tx, moved, by, false);
    this.wallets.releasePayout(tx, moneyOf(moved));
    return moved;
  }

  /**
   * Writes the intent, before the PSP is called. A payout that the night's limit does not allow is put off.
   * @param limits `maxUnderWay`: how many sends the PSP takes at once. Null: any number, or any amount
   * @returns the morning of a payout that was put off; null when the PSP takes no further send now, or another run has
   *   begun this one
   */
  async send(
    tx: Tx,
    payout: WholePayout,
    { nightMax, maxUnderWay }: { readonly nightMax: Amount | null; readonly maxUnderWay: number | null },
  ): Promise<WholePayout | Date | null> {
    // The decision and `sent_at` have the same time: each night counts the payouts that it let through.
    const now = this.clock.now();
    const { night, morning } = periodsOf(now);
    if (night !== null && nightMax !== null) {
      const sent = await this.payouts.lockAndSumSince(tx, payout, night);
      if (sent + payout.amount > nightMax) {
        this.payouts.putOff(tx, payout.id, morning, now);
        return morning;
      }
    }
    if (maxUnderWay !== null) {
      const underWay = await this.payouts.lockAndCountUnderWay(tx, payout.acquirer);
      if (underWay >= maxUnderWay) return null;
    }
    return this.move(tx, payout, 'sent', {}, now);
  }

  /** Has the connection's payout that has waited longest sent now. */
  async wakeNext(tx: Tx, acquirer: string): Promise<void> {
    const now = this.clock.now();
    const next = await this.payouts.nextQueued(tx, acquirer, now);
    if (next !== null) this.work.add(tx, 'payout', next, now);
  }

  /** Puts a payout back whose call was turned away whole. */
  async putBack(tx: Tx, payout: WholePayout): Promise<void> {
    await this.move(tx, payout, 'put_back');
  }

  /** Ends a payout that reached no receiver. The money is available again. */
  async fail(
    tx: Tx,
    payout: WholePayout,
    trigger: 'cancelled' | 'stopped' | 'refused',
    failure: PayoutFailure,
  ): Promise<WholePayout | null> {
    const moved = await this.move(tx, payout, trigger, { failure });
    if (!moved) return null;
    if (trigger !== 'cancelled') await this.mails.failed(tx, moved);
    this.wallets.releasePayout(tx, moneyOf(moved));
    return moved;
  }

  /** Records that the receiver has the money. */
  async pay(
    tx: Tx,
    payout: WholePayout,
    { endToEndId, at, fee }: Pick<Extract<PayoutState, { kind: 'paid' }>, 'endToEndId' | 'at' | 'fee'>,
  ): Promise<WholePayout | null> {
    const moved = await this.move(tx, payout, 'paid', { endToEndId, providerFee: fee, paidAt: at });
    if (!moved) return null;
    this.wallets.payPayout(tx, moneyOf(moved));
    this.wallets.chargeFee(tx, moved.id, { ...moneyOf(moved), transactionId: null, amount: fee });
    return moved;
  }

  /** Records that the bank has taken back its word of a paid payout. */
  async revoke(tx: Tx, payout: WholePayout): Promise<void> {
    const moved = await this.move(tx, payout, 'revoked', { failure: 'revoked_by_bank' });
    if (!moved) return;
    await this.mails.failed(tx, moved);
    this.wallets.reversePayout(tx, moneyOf(moved), moved.amountReturned);
  }

  /**
   * Records a part that came back, once for each of the PSP's ids, unless an operator has entered it. The part that
   * completes the amount gives the fee back too.
   */
  async giveBack(tx: Tx, payout: WholePayout, returned: PayoutReturn): Promise<void> {
    const locked = await this.payouts.lock(tx, payout.id);
    if (locked?.status !== 'PAID') return;
    if (locked.returns.some(({ return_id }) => return_id === returned.returnId)) return;
    const { returnId, amount, endToEndId, reason, at } = returned;
    if (locked.amountReturned + amount > locked.amount) {
      this.logger.error({ payoutId: locked.id, returnId, amount }, 'more came back than was paid: an operator decides');
      return;
    }
    if (await this.payouts.isEntered(tx, locked, returnId)) {
      this.logger.warn({ payoutId: locked.id, returnId, amount }, 'an operator has entered this return before');
      return;
    }
    const now = this.clock.now();
    const { id: payoutId, accountId, mode } = locked;
    const row = { payoutId, returnId, accountId, mode, amount, endToEndId, reason, returnedAt: at, createdAt: now };
    if (!(await this.payouts.addReturn(tx, row))) return;
    const counted = await this.payouts.countReturn(tx, payoutId, amount, now);
    if (!counted) throw new Error(`The payout ${payoutId} was moved under its lock`);
    const shown = { amount, end_to_end_id: endToEndId, return_id: returnId, reason, at: at.toISOString() };
    this.recorder.record(tx, 'payout.returned', counted, 'PAID', shown);
    await this.mails.returned(tx, counted, amount);
    this.wallets.returnPayout(tx, moneyOf(counted), returnId, amount, counted.status === 'REFUNDED');
  }

  /** Moves a payout and records its event. @returns null when its status no longer allows the move */
  async move(
    tx: Tx,
    payout: WholePayout,
    trigger: Exclude<PayoutTrigger, 'returned'>,
    facts: PayoutFacts = {},
    at = this.clock.now(),
  ): Promise<WholePayout | null> {
    const locked = await this.payouts.lock(tx, payout.id);
    if (!locked) return null;
    const moved = await this.payouts.move(tx, payout.id, trigger, at, facts);
    if (!moved) return null;
    this.recorder.record(tx, PAYOUT_EVENT_OF[trigger], moved, locked.status);
    return moved;
  }
}

export function moneyOf({ id: payoutId, accountId, mode, currency, amount, fee }: WholePayout): PayoutMoney {
  return { payoutId, accountId, mode, currency, amount, fee };
}
