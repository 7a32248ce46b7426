import { isDeepStrictEqual } from 'node:util';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type AccountEntity, AccountsService } from '../accounts/index.js';
import type { Actor } from '../audit/index.js';
import { Clock } from '../core/clock.js';
import { Database, type Tx } from '../core/database/index.js';
import { business, forbidden } from '../core/errors/index.js';
import { WorkService } from '../core/work/index.js';
import { PayoutDestinationsRepository } from './payout-destinations.repository.js';
import { PayoutMails } from './payout-mails.service.js';
import { occurrencesOf } from './payout-occurrences.js';
import { raisedBounds } from './payouts.rules.js';
import { ScheduledPayouts } from './scheduled-payouts.service.js';

/** Answers 422 of operations that set a schedule, by their code. */
export const SCHEDULE_REFUSALS = {
  destination_not_found: 'The schedule needs a saved payout destination of the account.',
  destination_not_allowed: 'A Pix code has an amount of its own: schedule a key or an account.',
};

/** Schedules by which accounts have payouts made (docs/payouts.md#by-schedule). */
@Injectable()
export class PayoutSchedules implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly destinations: PayoutDestinationsRepository,
    private readonly scheduled: ScheduledPayouts,
    private readonly mails: PayoutMails,
    private readonly work: WorkService,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.accounts.whenSettingsChange(assertNotRaised);
    this.accounts.whenSettingsChange((tx, before, after, actor) => this.#changed(tx, before, after, actor));
  }

  /**
   * Makes the payout of the last occurrence that has come, once; earlier missed ones are given up. Holds the account's
   * lock, so that runs at the same time and changes of the schedule wait for each other.
   * @returns the next occurrence; null: the account has no schedule
   */
  async run(accountId: string): Promise<Date | null> {
    return this.database.transaction(async (tx) => {
      const account = await this.accounts.lock(tx, accountId);
      const { payoutSchedule: schedule, payoutScheduleAfter: after } = account;
      if (schedule === null || after === null) return null;
      const { due, next } = occurrencesOf(schedule, after, this.clock.now());
      if (due === null) return next;
      this.accounts.setPayoutScheduleAfter(tx, accountId, due);
      if (!account.suspended) await this.scheduled.make(tx, account, schedule, due);
      return next;
    });
  }

  /** @throws ApiError 422 */
  async #changed(tx: Tx, before: AccountEntity, after: AccountEntity, actor: Actor): Promise<void> {
    const { id, payoutSchedule: schedule } = after;
    if (isDeepStrictEqual(schedule, before.payoutSchedule)) return;
    const now = this.clock.now();
    const wanted = schedule ?? before.payoutSchedule;
    const destination = wanted && (await this.destinations.findAny(tx, wanted.destination));
    if (schedule !== null) {
      if (destination?.accountId !== id || destination.deletedAt !== null) {
        throw business('destination_not_found', SCHEDULE_REFUSALS.destination_not_found);
      }
      if (destination.type === 'br_code') {
        throw business('destination_not_allowed', SCHEDULE_REFUSALS.destination_not_allowed);
      }
      this.accounts.beginPayoutSchedule(tx, id, now, actor.type === 'member' ? actor.id : null);
    }
    // Without a schedule the run ends the work.
    this.work.add(tx, 'payout_schedule', id, schedule === null ? now : occurrencesOf(schedule, now, now).next);
    if (destination !== null) await this.mails.scheduleChanged(tx, destination, schedule);
  }
}

/** Lets OWNERs lower the bounds of payouts, but not raise them: their login may be stolen. @throws ApiError 403 */
async function assertNotRaised(_tx: Tx, before: AccountEntity, after: AccountEntity, actor: Actor): Promise<void> {
  const raised = actor.type === 'member' ? raisedBounds(before, after) : [];
  if (raised.length === 0) return;
  throw forbidden(
    `You can only lower ${raised.join(', ')}. Ask the operator of the service to raise or remove a limit.`,
  );
}
