import { Injectable } from '@nestjs/common';
import { type Account, type AccountEntity, AccountsService, type Role, SecondFactor } from '../accounts/index.js';
import { AcquirersService, type PayoutTarget } from '../acquirers/index.js';
import { type Actor, AuditTrail } from '../audit/index.js';
import { Clock } from '../core/clock.js';
import { fingerprintOf } from '../core/crypto/index.js';
import { Database, type Tx } from '../core/database/index.js';
import { ApiError, business, conflict, type Draft, forbidden, notFound } from '../core/errors/index.js';
import { IdempotencyService, type IdempotentAnswer } from '../core/idempotency/index.js';
import { newId } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import { WorkService } from '../core/work/index.js';
import { FraudGuard } from '../fraud/index.js';
import { OutboxService } from '../outbox/index.js';
import { WalletsService } from '../wallets/index.js';
import type { PayoutBody } from './dto/payout.body.js';
import type { CreatePayoutDto } from './dto/payout.dto.js';
import type { PayoutDestination } from './payout-destination.entity.js';
import { PayoutDestinationsRepository } from './payout-destinations.repository.js';
import type { Payout } from './payout.entity.js';
import { payoutBody, payoutSnapshot } from './payout.serializer.js';
import { PayoutTargets } from './payout-targets.service.js';
import { moneyOf, PayoutTransitions } from './payout-transitions.service.js';
import { payoutEvent } from './payouts.events.js';
import { NEW_PAYOUT, type PayoutFilter, PayoutsRepository, type WholePayout } from './payouts.repository.js';
import { beginningOf, exceededLimit, periodsOf, type PayoutRules, rulesOf } from './payouts.rules.js';
import { isOwn, readTarget, shownTarget } from './targets.js';

/** The same amount to the same receiver within this time looks like an accident. */
const DUPLICATE_MS = 10 * 60_000;

/** The account and the person that ask for a payout. */
export interface PayoutCaller {
  readonly scope: Scope;
  readonly account: Account;
  /** The person, or who issued the API key; null if nobody knows. */
  readonly personId: string | null;
  readonly actor: Actor;
}

/** A person who decides about a payout. */
export interface Decider {
  readonly userId: string;
  readonly role: Role;
  /** One-time code of the second factor; null: none was sent. */
  readonly code: string | null;
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

/** Takes merchants' requests for payouts; PayoutProcessor carries them out. */
@Injectable()
export class PayoutsService {
  constructor(
    private readonly database: Database,
    private readonly idempotency: IdempotencyService,
    private readonly payouts: PayoutsRepository,
    private readonly destinations: PayoutDestinationsRepository,
    private readonly targets: PayoutTargets,
    private readonly transitions: PayoutTransitions,
    private readonly accounts: AccountsService,
    private readonly acquirers: AcquirersService,
    private readonly wallets: WalletsService,
    private readonly fraud: FraudGuard,
    private readonly secondFactor: SecondFactor,
    private readonly work: WorkService,
    private readonly outbox: OutboxService,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /**
   * Accepts a payout: its money is set aside, and the PSP is called later. A refused request leaves its key free.
   * @throws ApiError 400 with every violation; 403 `fraud.document_blocked`, `fraud.velocity_exceeded`; 409 (idempotency),
   *   `likely_duplicate`; 422 `destination_not_found` and what `#open` throws
   */
  async create(
    caller: PayoutCaller,
    draft: Draft<CreatePayoutDto>,
    key: string,
  ): Promise<IdempotentAnswer<PayoutBody>> {
    const { scope, account } = caller;
    const { destination: sent, amount: sentAmount = null } = draft.sound;
    const read = typeof sent === 'object' ? readTarget(sent, 'destination', sentAmount) : null;
    const dto = draft.accept([...(read?.violations ?? [])]);
    const saved = typeof dto.destination === 'string' ? await this.#saved(scope, dto.destination) : null;
    const target = saved === null ? read?.target : this.targets.openDestination(saved);
    if (!target) throw new Error('A receiver without violations was not read');
    const { amount, description = null, metadata = {}, allow_duplicate: allowsDuplicate = false } = dto;
    const input = { amount, target, description, metadata };
    const request = {
      ...scope,
      operation: 'payouts.create',
      key,
      fingerprint: fingerprintOf({ ...input, destinationId: saved?.id ?? null }),
      permanent: true,
    };
    const begun = await this.idempotency.begin<PayoutBody>(request);
    if (begun.kind === 'replay') return begun.answer;
    const { claim } = begun;
    if (begun.kind === 'resume') return { status: 201, body: await this.get(scope, begun.resourceId), replayed: true };
    try {
      const { taxId } = target;
      const asked = { operation: 'payout', amount, document: taxId, destination: taxId, request } as const;
      claim.admission = await this.fraud.check(scope, account, asked);
      const details = await this.accounts.details(scope.accountId);
      return await this.database.transaction(async (tx) => {
        const now = this.clock.now();
        const id = newId(now);
        claim.take(tx, id, null);
        const payout = await this.open(
          tx,
          { id, now },
          { ...caller, account: details },
          { ...input, destination: saved, allowsDuplicate, occurrence: null },
        );
        const answer = { status: 201, body: payoutBody(payoutSnapshot(payout)) };
        claim.complete(tx, answer);
        return { ...answer, replayed: false };
      });
    } catch (error) {
      throw await this.idempotency.failed(error, claim);
    }
  }

  /**
   * Writes a new payout under the lock of its wallet, and has it sent once that is committed.
   * @throws ApiError 409 `likely_duplicate`; 422 `no_provider_configured`, `PAYOUT_NOT_SUPPORTED`,
   *   `account_tax_id_missing`, `destination_not_allowed`, `payout_limit_exceeded`, `insufficient_balance`
   */
  async open(
    tx: Tx,
    { id, now }: { readonly id: string; readonly now: Date },
    caller: Omit<PayoutCaller, 'account'> & { readonly account: AccountEntity },
    input: NewPayout,
  ): Promise<WholePayout> {
    const { scope, account, personId, actor } = caller;
    const { amount, target, destination } = input;
    const rules = rulesOf(account, scope.mode);
    const acquirer = this.acquirers.for(scope.mode, account);
    if (acquirer.payouts?.capabilities.targets.includes(target.type) !== true) {
      throw business('PAYOUT_NOT_SUPPORTED', `The account's connection cannot send to a ${target.type}.`);
    }
    assertAllowed(target, account, scope, rules);
    const targetHash = destination?.targetHash ?? this.targets.hashOf(target);
    const available = await this.wallets.lockAvailable(tx, scope, 'BRL');
    const { day, night } = periodsOf(now);
    const repeatedSince = new Date(now.getTime() - DUPLICATE_MS);
    const standing = await this.payouts.standing(tx, scope, { targetHash, amount, repeatedSince, day, night });
    if (standing.duplicate !== null && !input.allowsDuplicate) throw likelyDuplicate(standing.duplicate);
    const exceeded = exceededLimit(amount, rules, standing, night !== null);
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
    const isApproved = destination !== null && destination.approvedAt !== null;
    const { needsApproval, sendAfter } = beginningOf(amount, rules, { ...standing, isApproved }, now);
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
    if (!needsApproval) this.work.add(tx, 'payout', id, sendAfter);
    this.audit.record(tx, actor, 'payout.requested', scope.accountId, {
      data: { mode: scope.mode, payout_id: id, amount },
    });
    const whole = { ...payout, returns: [] };
    this.outbox.record(tx, [payoutEvent('payout.requested', whole, null)]);
    this.wallets.reservePayout(tx, moneyOf(whole));
    return whole;
  }

  /** @throws ApiError 404 */
  async get(scope: Scope, id: string): Promise<PayoutBody> {
    return payoutBody(payoutSnapshot(await this.#find(scope, id)));
  }

  /** Newest first. */
  list(scope: Scope, filter: PayoutFilter): Promise<WholePayout[]> {
    return this.payouts.list(scope, filter);
  }

  /** Cancels a payout before it is sent. Repeating is allowed. @throws ApiError 404; 409 `payout_not_cancellable` */
  async cancel(scope: Scope, id: string, actor: Actor): Promise<PayoutBody> {
    const payout = await this.#find(scope, id);
    if (payout.status === 'CANCELLED') return payoutBody(payoutSnapshot(payout));
    const cancelled = await this.database.transaction(async (tx) => {
      const moved = await this.transitions.fail(tx, payout, 'cancelled', 'cancelled');
      if (moved) this.#record(tx, actor, 'payout.cancelled', moved);
      return moved;
    });
    const now = cancelled ?? (await this.#find(scope, id));
    if (now.status === 'CANCELLED') return payoutBody(payoutSnapshot(now));
    throw conflict('payout_not_cancellable', 'The payout was given to the bank: it cannot be cancelled any more.');
  }

  /**
   * A second person approves a payout that waits for it. An OWNER's approval ends the wait for a new destination too.
   * Repeating is allowed.
   * @throws ApiError 400 for a missing or wrong code; 403 `approval_not_allowed`; 404; 409 `payout_not_waiting`
   */
  async approve(scope: Scope, id: string, decider: Decider): Promise<PayoutBody> {
    const approved = await this.database.transaction(async (tx) => {
      const payout = await this.#decide(tx, scope, id, decider);
      const now = this.clock.now();
      const { userId, role } = decider;
      const isWaiting = payout.status === 'QUEUED' && payout.sendAfter > now;
      if (payout.status !== 'AWAITING' && !(isWaiting && role === 'OWNER' && payout.approvedBy === null)) {
        if (payout.approvedBy !== null && payout.status !== 'CANCELLED') return payout;
        throw conflict(
          'payout_not_waiting',
          isWaiting
            ? 'The payout waits for its new destination: an OWNER may end that wait.'
            : 'The payout does not wait for an approval.',
        );
      }
      const sendAfter = role === 'OWNER' || payout.sendAfter <= now ? now : payout.sendAfter;
      const moved =
        payout.status === 'AWAITING'
          ? await this.transitions.move(tx, payout, 'approved', { approvedBy: userId, sendAfter })
          : await this.payouts.releaseWait(tx, id, userId, now);
      if (!moved) throw new Error(`The payout ${id} was moved under its lock`);
      this.work.add(tx, 'payout', id, sendAfter);
      this.#record(tx, decider.actor, 'payout.approved', moved);
      return moved;
    });
    return payoutBody(payoutSnapshot(approved));
  }

  /** A second person refuses a payout that waits for approval. @throws ApiError as `approve` */
  async refuse(scope: Scope, id: string, decider: Decider): Promise<PayoutBody> {
    const refused = await this.database.transaction(async (tx) => {
      const payout = await this.#decide(tx, scope, id, decider);
      if (payout.status === 'CANCELLED' && payout.failure === 'approval_refused') return payout;
      const moved = await this.transitions.fail(tx, payout, 'disapproved', 'approval_refused');
      if (!moved) throw conflict('payout_not_waiting', 'The payout does not wait for an approval.');
      this.#record(tx, decider.actor, 'payout.disapproved', moved);
      return moved;
    });
    return payoutBody(payoutSnapshot(refused));
  }

  /** Locks a payout for a decision by somebody who did not ask for it. */
  async #decide(tx: Tx, scope: Scope, id: string, { userId, code }: Decider): Promise<WholePayout> {
    await this.secondFactor.prove(tx, userId, code);
    const payout = await this.payouts.lock(tx, id);
    if (payout?.accountId !== scope.accountId || payout.mode !== scope.mode) throw notFound('payout');
    const { destinationId } = payout;
    const destination = destinationId === null ? null : await this.destinations.findAny(tx, destinationId);
    if (payout.requestedBy === userId || destination?.approvedBy === userId) {
      throw forbidden(
        'Another person has to decide: you asked for this payout, issued its API key or approved its destination.',
        'approval_not_allowed',
      );
    }
    return payout;
  }

  #record(
    tx: Tx,
    actor: Actor,
    type: Parameters<AuditTrail['record']>[2],
    { id, accountId, mode, amount }: Payout,
  ): void {
    this.audit.record(tx, actor, type, accountId, { data: { mode, payout_id: id, amount } });
  }

  async #find(scope: Scope, id: string): Promise<WholePayout> {
    const payout = await this.payouts.find(scope, id);
    if (!payout) throw notFound('payout');
    return payout;
  }

  async #saved(scope: Scope, sent: string): Promise<PayoutDestination> {
    const destination = await this.destinations.find(scope, sent.replace(/^pd_/, '').toLowerCase());
    if (!destination) throw business('destination_not_found', 'No such payout destination; list them or save one.');
    return destination;
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
