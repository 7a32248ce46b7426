import { Injectable } from '@nestjs/common';
import { AccountsService } from '../accounts/index.js';
import {
  AcquirersService,
  Bulkhead,
  type PayoutAnswer,
  type PayoutDesk,
  type PayoutDeskCapabilities,
  type PayoutOrder,
  type PayoutRefusal,
  type PayoutState,
  type SentPayout,
} from '../acquirers/index.js';
import { newReturnId } from '../brazil/index.js';
import { Clock } from '../core/clock.js';
import { Database } from '../core/database/index.js';
import type { Prolong, Work, WorkAnswer, Worker } from '../core/work/index.js';
import { HeardDesk } from './heard-desk.js';
import type { ProcessingReason } from './payout.entity.js';
import { PayoutTargets } from './payout-targets.service.js';
import { PayoutTransitions } from './payout-transitions.service.js';
import { PayoutsRepository, type WholePayout } from './payouts.repository.js';
import { rulesOf } from './payouts.rules.js';

/** A lost call is made again under its name for this long. Afterwards the payout is only looked up. */
export const RESEND_MS = 60 * 60_000;
/** Refusals that hold for every call of a payout to a key or an account. */
const ABOUT_RECEIVER: readonly PayoutRefusal[] = ['destination_invalid', 'destination_mismatch'];
/** Pause while an operator decides, or while the account is suspended. */
const IDLE_MS = 10 * 60_000;
/** Pause while the PSP answers nobody and enough payouts wait for its answer. */
const SILENT_MS = 15_000;

/** Time after the first call from which "not found" says that no money was sent and none will be. */
export function notFoundFinalAfterMs({ quietMs }: Pick<PayoutDeskCapabilities, 'quietMs'>): number {
  return RESEND_MS + quietMs;
}

/** Name of a payout at its PSP: the same at every attempt and in every process. */
export function sendIdOf(payoutId: string): string {
  return newReturnId(payoutId);
}

/** Carries payouts out: intent, call, outcome. docs/design/payouts.md lists the cases, which a model checks. */
@Injectable()
export class PayoutProcessor implements Worker {
  readonly kind = 'payout';
  readonly concurrency = 16;
  readonly backoff = [500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000];
  /** Longer than two calls, as a dynamic code is read before it is paid. */
  readonly leaseMs = 55_000;
  readonly #bulkhead = new Bulkhead();

  constructor(
    private readonly database: Database,
    private readonly payouts: PayoutsRepository,
    private readonly transitions: PayoutTransitions,
    private readonly targets: PayoutTargets,
    private readonly acquirers: AcquirersService,
    private readonly accounts: AccountsService,
    private readonly clock: Clock,
  ) {}

  /**
   * Takes a payout one step further. May run any number of times for the same payout, also at once. Every call to the
   * PSP has the same name, and every outcome is written once.
   */
  async run({ subjectId, prolong }: Work): Promise<WorkAnswer> {
    const payout = await this.payouts.findAny(subjectId);
    if (payout?.status !== 'QUEUED' && payout?.status !== 'SENDING' && payout?.status !== 'PAID') return 'done';
    const { acquirer } = payout;
    const desk = this.acquirers.get(acquirer).payouts;
    if (!desk) return this.#withoutDesk(payout);
    if (!this.#bulkhead.enter(acquirer)) return this.#in(SILENT_MS);
    const heard = new HeardDesk(desk);
    try {
      if (payout.status === 'PAID') return await this.#lookAgain(payout, heard, prolong);
      const isNew = payout.status === 'QUEUED';
      const answer = isNew ? await this.#begin(payout, heard, prolong) : await this.#continue(payout, heard, prolong);
      if (answer === 'done') await this.#wakeNext(acquirer, desk);
      return answer;
    } finally {
      this.#bulkhead.leave(acquirer, heard.isHeard);
    }
  }

  async #withoutDesk(payout: WholePayout): Promise<WorkAnswer> {
    if (payout.status !== 'QUEUED') {
      throw new Error(`The payout ${payout.id} was sent, and its connection has no desk any more`);
    }
    await this.database.transaction((tx) => this.transitions.fail(tx, payout, 'stopped', 'not_supported'));
    return 'done';
  }

  /** Wakes the connection's next payout when one has ended. Without it, that payout waits for the end of its pause. */
  async #wakeNext(acquirer: string, { capabilities }: Pick<PayoutDesk, 'capabilities'>): Promise<void> {
    if (capabilities.maxUnderWay === null) return;
    await this.database.transaction((tx) => this.transitions.wakeNext(tx, acquirer));
  }

  #in(ms: number): Date {
    return new Date(this.clock.now().getTime() + ms);
  }

  async #begin(payout: WholePayout, desk: HeardDesk, prolong: Prolong): Promise<WorkAnswer> {
    const now = this.clock.now();
    if (payout.sendAfter > now) return payout.sendAfter;
    const account = await this.accounts.details(payout.accountId);
    if (account.suspended) return this.#in(IDLE_MS);
    const { to, nightMax } = rulesOf(account, payout.mode);
    if (to === 'own' && !payout.isOwn) {
      await this.database.transaction((tx) => this.transitions.fail(tx, payout, 'stopped', 'destination_not_allowed'));
      return 'done';
    }
    const { maxUnderWay } = desk.capabilities;
    // Under the lease: a payout that an overtaken run begins counts as called, and no call was made.
    const sending = await this.database.transaction(async (tx) => {
      await prolong(tx);
      return this.transitions.send(tx, payout, { nightMax, maxUnderWay });
    });
    if (sending instanceof Date) {
      // The connection's line goes on without this payout.
      await this.#wakeNext(payout.acquirer, desk);
      return sending;
    }
    if (!sending) return 'again';
    const answer = await desk.send(this.#order(payout));
    switch (answer.kind) {
      case 'refused':
        return this.#end(prolong, sending, answer);
      case 'not_now':
        // Under the lease: an overtaken run does not know whether another run has called since.
        await this.database.transaction(async (tx) => {
          await prolong(tx);
          await this.transitions.putBack(tx, sending);
        });
        // The pause grows with the wait: a connection that cannot send makes few events.
        return this.#in(
          Math.max(answer.retryAfterMs, Math.min((now.getTime() - payout.sendAfter.getTime()) / 4, IDLE_MS)),
        );
      case 'accepted':
      case 'unknown':
        return this.#waitForOutcome(sending, answer);
    }
  }

  /** An earlier call may have reached the PSP, so the payout is looked up first. */
  async #continue(payout: WholePayout, desk: HeardDesk, prolong: Prolong): Promise<WorkAnswer> {
    const sent = sentOf(payout);
    await prolong();
    // Measured before the look-up: a hidden payout may show itself during the call.
    const ageMs = this.#ageOf(payout);
    const state = await desk.lookUp(sent);
    if (state.kind !== 'not_found') return this.#record(payout, state, prolong);
    if (this.#ageOf(payout) < RESEND_MS) {
      await prolong();
      const answer = await desk.send(this.#order(payout));
      // Any other refusal may come from an earlier call, which used the balance or paid the code.
      if (answer.kind === 'refused' && payout.shown.type !== 'br_code' && ABOUT_RECEIVER.includes(answer.reason)) {
        return this.#end(prolong, payout, answer);
      }
      return this.#waitForOutcome(payout, answer.kind === 'accepted' ? answer : { kind: 'unknown' });
    }
    if (ageMs < notFoundFinalAfterMs(desk.capabilities)) return this.#waitForOutcome(payout, { kind: 'unknown' });
    if (!desk.capabilities.isNotFoundFinal) {
      await this.#writeReason(payout, 'operator', null);
      return this.#in(IDLE_MS);
    }
    return this.#end(prolong, payout, { reason: null });
  }

  #ageOf({ sentAt, updatedAt }: WholePayout): number {
    return this.clock.now().getTime() - (sentAt ?? updatedAt).getTime();
  }

  /** A notification or the PSP's list reports that a paid payout changed. */
  async #lookAgain(payout: WholePayout, desk: HeardDesk, prolong: Prolong): Promise<WorkAnswer> {
    await prolong();
    const state = await desk.lookUp(sentOf(payout));
    switch (state.kind) {
      case 'unknown':
        return 'again';
      case 'failed':
      case 'paid':
        return this.#record(payout, state, prolong);
      // The PSP said that it was paid. Until it says that it failed, it was.
      case 'not_found':
      case 'processing':
        return 'done';
    }
  }

  async #record(
    payout: WholePayout,
    state: Exclude<PayoutState, { kind: 'not_found' }>,
    prolong: Prolong,
  ): Promise<WorkAnswer> {
    switch (state.kind) {
      case 'unknown':
        return this.#waitForOutcome(payout, state);
      case 'processing':
        await this.#writeReason(payout, state.reason, state.endToEndId);
        return 'again';
      case 'failed':
        if (payout.status !== 'PAID') return this.#end(prolong, payout, state);
        await this.database.transaction((tx) => this.transitions.revoke(tx, payout));
        return 'done';
      case 'paid':
        if (payout.status !== 'PAID') await this.database.transaction((tx) => this.transitions.pay(tx, payout, state));
        for (const returned of state.returns) {
          await this.database.transaction((tx) => this.transitions.giveBack(tx, payout, returned));
        }
        return 'done';
    }
  }

  /**
   * Fails a payout. Renews the lease first: if it was lost, another run may have had a call accepted.
   * @returns `again` when somebody else moved the payout meanwhile
   */
  async #end(
    prolong: Prolong,
    payout: WholePayout,
    { reason }: { readonly reason: PayoutRefusal | null },
  ): Promise<WorkAnswer> {
    const moved = await this.database.transaction(async (tx) => {
      await prolong(tx);
      return this.transitions.fail(tx, payout, 'refused', reason ?? 'not_sent');
    });
    return moved === null ? 'again' : 'done';
  }

  async #waitForOutcome(
    payout: WholePayout,
    answer: Extract<PayoutAnswer, { kind: 'accepted' | 'unknown' }>,
  ): Promise<WorkAnswer> {
    const isAccepted = answer.kind === 'accepted';
    await this.#writeReason(payout, isAccepted ? 'sent' : 'unknown', isAccepted ? answer.endToEndId : null);
    return 'again';
  }

  async #writeReason({ id }: WholePayout, reason: ProcessingReason, endToEndId: string | null): Promise<void> {
    await this.database.transaction(async (tx) => {
      this.payouts.note(tx, id, reason, endToEndId, this.clock.now());
    });
  }

  /** The database keeps the receiver of a payout for as long as it may be sent. */
  #order(payout: WholePayout): PayoutOrder {
    const target = this.targets.open(payout);
    if (!target) throw new Error(`The payout ${payout.id} is not over, and its receiver was erased`);
    const { description, isOwn } = payout;
    return { ...sentOf(payout), target, ownTaxId: isOwn ? target.taxId : null, description };
  }
}

function sentOf({ id, accountId, amount }: WholePayout): SentPayout {
  return { accountId, sendId: sendIdOf(id), amount };
}
