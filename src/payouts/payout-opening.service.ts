import { Injectable } from '@nestjs/common';
import type { Account, AccountEntity } from '../accounts/index.js';
import { AcquirersService, type PayoutTarget } from '../acquirers/index.js';
import { type Actor, AuditTrail } from '../audit/index.js';
import { Clock } from '../core/clock.js';
import type { Tx } from '../core/database/index.js';
import { type ApiError, business, conflict } from '../core/errors/index.js';
import { newId } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import { WalletsService } from '../wallets/index.js';
import type { PayoutDestination } from './payout-destination.entity.js';
import type { Payout } from './payout.entity.js';
import { PayoutTargets } from './payout-targets.service.js';
import { PayoutTransitions } from './payout-transitions.service.js';
import { NEW_PAYOUT, PayoutsRepository, type WholePayout } from './payouts.repository.js';
import {
  exceededLimit,
  type LimitLeft,
  periodsOf,
  type PayoutRules,
  rulesOf,
  startOf,
  tightestLimit,
} from './payouts.rules.js';
import { isOwn, shownTarget } from './targets.js';

/** A second payout of the same amount to the same receiver within this time looks like an accident. */
const DUPLICATE_MS = 10 * 60_000;

/** Account and person that ask for a payout. */
export interface PayoutCaller<A = Account> {
  readonly scope: Scope;
  readonly account: A;
  /** The person, or who issued the API key; null if nobody knows. */
  readonly personId: string | null;
  readonly actor: Actor;
}

/** A payout to make, with its receiver. */
export interface NewPayout {
  readonly amount: Amount;
  readonly target: PayoutTarget;
  /** The saved destination; null: the receiver was sent with the payout. */
  readonly destination: PayoutDestination | null;
  readonly description: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly allowsDuplicate: boolean;
  /** Null: a request makes it. */
  readonly occurrence: Date | null;
}

/** Opens payouts: compares the rules under the wallet's lock, and sets the money aside. */
@Injectable()
export class PayoutOpening {
  constructor(
    private readonly payouts: PayoutsRepository,
    private readonly targets: PayoutTargets,
    private readonly transitions: PayoutTransitions,
    private readonly acquirers: AcquirersService,
    private readonly wallets: WalletsService,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /** @returns id and time of a new payout */
  newIdAndTime(): { readonly id: string; readonly now: Date } {
    const now = this.clock.now();
    return { id: newId(now), now };
  }

  /**
   * Locks the wallet, and compares its money with the limits.
   * @returns the cents that a payout could take of the balance, and the limit that allows the least of them
   */
  async headroom(
    tx: Tx,
    scope: Scope,
    account: AccountEntity,
    { targetHash }: PayoutDestination,
  ): Promise<{ readonly available: Amount; readonly limit: LimitLeft | null }> {
    const available = (await this.wallets.lockAvailable(tx, scope, 'BRL')) - account.payoutFee;
    const now = this.clock.now();
    const { day, night } = periodsOf(now);
    const sent = await this.payouts.openingFacts(tx, scope, { targetHash, amount: 0, repeatedSince: now, day, night });
    return { available, limit: tightestLimit(rulesOf(account, scope.mode), sent, night !== null) };
  }

  /**
   * Writes a new payout under the lock of its wallet, and has it sent once that is committed.
   * @throws ApiError 409 `likely_duplicate`; 422 `no_provider_configured`, `PAYOUT_NOT_SUPPORTED`,
   *   `account_tax_id_missing`, `destination_not_allowed`, `payout_limit_exceeded`, `insufficient_balance`
   */
  async open(
    tx: Tx,
    { id, now }: { readonly id: string; readonly now: Date },
    caller: PayoutCaller<AccountEntity>,
    input: NewPayout,
  ): Promise<WholePayout> {
    const { scope, account, personId, actor } = caller;
    const { amount, target, destination } = input;
    const rules = rulesOf(account, scope.mode);
    const acquirer = this.acquirers.for(scope.mode, account);
    const can = acquirer.payouts?.capabilities;
    if (can?.targets.includes(target.type) !== true) {
      throw business('PAYOUT_NOT_SUPPORTED', `The account's connection cannot send to a ${target.type}.`);
    }
    if (target.type === 'bank_account' && !can.accountTypes.includes(target.accountType)) {
      const message = `The account's connection cannot send to a ${target.accountType} account: use a Pix key of it.`;
      throw business('PAYOUT_NOT_SUPPORTED', message);
    }
    assertAllowed(target, account, scope, rules);
    const targetHash = destination?.targetHash ?? this.targets.hashOf(target);
    const available = await this.wallets.lockAvailable(tx, scope, 'BRL');
    const { day, night } = periodsOf(now);
    const repeatedSince = new Date(now.getTime() - DUPLICATE_MS);
    const facts = await this.payouts.openingFacts(tx, scope, { targetHash, amount, repeatedSince, day, night });
    if (facts.duplicate !== null && !input.allowsDuplicate) throw likelyDuplicate(facts.duplicate);
    const exceeded = exceededLimit(amount, rules, facts, night !== null);
    if (exceeded) {
      throw business(
        'payout_limit_exceeded',
        `The amount is above ${exceeded.name} of the account, which has ${exceeded.left} cents left.`,
      );
    }
    if (available < amount + account.payoutFee) {
      throw business(
        'insufficient_balance',
        'The available balance does not cover the payout and its fee; pending and retained money cannot be used for it.',
      );
    }
    const { needsApproval, sendAfter, isNew } = startOf(amount, rules, facts, now);
    const payout: Payout = {
      ...NEW_PAYOUT,
      id,
      ...scope,
      acquirer: acquirer.name,
      amount,
      fee: account.payoutFee,
      currency: 'BRL',
      status: needsApproval ? 'AWAITING' : 'QUEUED',
      destinationId: destination?.id ?? null,
      shown: shownTarget(target),
      targetSealed: this.targets.seal(target, 'payout', id),
      targetHash,
      taxIdHash: target.taxId === null ? null : this.targets.taxIdHash(target.taxId),
      isOwn: isOwn(target.taxId, account.taxId),
      description: input.description,
      metadata: input.metadata,
      requestedBy: personId,
      occurrence: input.occurrence,
      needsApproval,
      sendAfter,
      providerFee: 0,
      amountReturned: 0,
      createdAt: now,
      updatedAt: now,
    };
    this.payouts.insert(tx, payout);
    this.audit.record(tx, actor, 'payout.requested', scope.accountId, {
      data: { mode: scope.mode, payout_id: id, amount },
    });
    const whole = { ...payout, returns: [] };
    await this.transitions.opened(tx, whole, isNew);
    return whole;
  }
}

/** @throws ApiError 422 */
function assertAllowed(target: PayoutTarget, account: AccountEntity, { mode }: Scope, rules: PayoutRules): void {
  if (mode === 'live' && account.taxId === null) {
    throw business(
      'account_tax_id_missing',
      'The account has no tax id, by which its own bank accounts are known. An operator sets it.',
    );
  }
  if (rules.to === 'own' && !isOwn(target.taxId, account.taxId)) {
    throw business(
      'destination_not_allowed',
      'Payouts go to bank accounts of the merchant only: the tax id of this destination is another one, or not known.',
    );
  }
}

function likelyDuplicate(id: string): ApiError {
  return conflict(
    'likely_duplicate',
    `po_${id} has the same amount and destination and was requested within ten minutes. Send allow_duplicate: true to pay again.`,
  );
}
