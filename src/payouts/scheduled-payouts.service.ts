import { Injectable } from '@nestjs/common';
import { type AccountEntity, AccountsService, type PayoutSchedule } from '../accounts/index.js';
import { SYSTEM } from '../audit/index.js';
import type { Tx } from '../core/database/index.js';
import { ApiError } from '../core/errors/index.js';
import { PayoutDestinationsRepository } from './payout-destinations.repository.js';
import { PayoutMails } from './payout-mails.service.js';
import { PayoutOpening } from './payout-opening.service.js';
import { PayoutTargets } from './payout-targets.service.js';
import type { NotSent } from './payout-words.js';
import { PayoutsRepository } from './payouts.repository.js';

/** Refusals of a payout that its merchant or the operator can end. Any other error repeats the run. */
const REFUSALS: readonly NotSent[] = [
  'PAYOUT_NOT_SUPPORTED',
  'account_tax_id_missing',
  'destination_not_allowed',
  'no_provider_configured',
];

/** Makes the payouts of schedules. */
@Injectable()
export class ScheduledPayouts {
  constructor(
    private readonly accounts: AccountsService,
    private readonly payouts: PayoutsRepository,
    private readonly destinations: PayoutDestinationsRepository,
    private readonly targets: PayoutTargets,
    private readonly opening: PayoutOpening,
    private readonly mails: PayoutMails,
  ) {}

  /**
   * Makes the payout of an occurrence, unless there is one. Sends what the limits allow, and writes to the OWNERs when
   * that is less than the schedule says.
   * @param account as locked by `tx`
   */
  async make(tx: Tx, account: AccountEntity, schedule: PayoutSchedule, occurrence: Date): Promise<void> {
    const { id: accountId } = account;
    if (await this.payouts.hasOccurrence(tx, accountId, occurrence)) return;
    const destination = await this.destinations.findAny(tx, schedule.destination);
    if (!destination) throw new Error(`The schedule of ${accountId} has a destination that was never saved`);
    const { mode } = destination;
    const scope = { accountId, mode };
    const refuse = (reason: NotSent): Promise<void> => this.mails.notSent(tx, scope, occurrence, reason);
    const target = destination.deletedAt === null ? this.targets.openDestination(destination) : null;
    if (!target) return refuse('destination_gone');
    const { available, limit } = await this.opening.headroom(tx, scope, account, destination);
    const wanted = available - schedule.leave;
    const least = Math.max(schedule.minimum, 1);
    if (wanted < least) return;
    const amount = Math.min(wanted, limit?.left ?? wanted);
    if (limit !== null && amount < least) return refuse(limit.name);
    if (await this.#isBlocked(tx, account, target.taxId)) return refuse('document_blocked');
    try {
      const payout = await this.opening.open(
        tx,
        this.opening.newIdAndTime(),
        // A member who set the schedule counts as the requester, and so cannot approve its payouts.
        { scope, account, personId: account.payoutScheduleBy, actor: SYSTEM },
        {
          ...{ amount, target, destination, occurrence },
          ...{ description: null, metadata: {}, allowsDuplicate: true },
        },
      );
      if (limit !== null && amount < wanted) await this.mails.limited(tx, payout, wanted, limit.name);
    } catch (error) {
      // The refusals come before anything is written.
      const reason = REFUSALS.find((code) => error instanceof ApiError && error.code === code);
      if (reason === undefined) throw error;
      await refuse(reason);
    }
  }

  /** The block list holds for schedules as for requests. */
  async #isBlocked(tx: Tx, account: AccountEntity, taxId: string | null): Promise<boolean> {
    if (taxId === null || account.fraudMode !== 'enforce' || !account.blocksDocuments) return false;
    return this.accounts.blocksDocument(account.id, taxId, tx);
  }
}
