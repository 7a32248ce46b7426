import { Injectable } from '@nestjs/common';
import { AccountsService } from '../accounts/index.js';
import {
  AcquirersService,
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
import type { ProcessingReason } from './payout.entity.js';
import { PayoutTargets } from './payout-targets.service.js';
import { PayoutTransitions } from './payout-transitions.service.js';
import { PayoutsRepository, type WholePayout } from './payouts.repository.js';

/** A lost call is made again under its name for this long. Afterwards the payout is only looked up. */
const RESEND_MS = 60 * 60_000;
/** Refusals that hold for every call of a payout. */
const ABOUT_RECEIVER: readonly PayoutRefusal[] = ['destination_invalid', 'destination_mismatch'];
/** Pause while an operator decides, or while the account is suspended. */
const IDLE_MS = 10 * 60_000;

/** Time after the first call from which "not found" says that no money was sent and none will be. */
export function quietAfterMs({ quietMs }: Pick<PayoutDeskCapabilities, 'quietMs'>): number {
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
  readonly concurrency = 8;
  readonly backoff = [500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000];
  readonly leaseMs = 45_000;

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
    switch (payout?.status) {
      case 'QUEUED':
        return this.#sendNext(payout, await this.#begin(payout, prolong));
      case 'SENDING':
        return this.#sendNext(payout, await this.#continue(payout, prolong));
      case 'PAID':
        return this.#lookAgain(payout, prolong);
      case 'AWAITING':
      case 'CANCELLED':
      case 'FAILED':
      case 'REFUNDED':
      case undefined:
        return 'done';
    }
  }

  /** Wakes the connection's next payout when one has ended. Without it, that payout waits for the end of its pause. */
  async #sendNext({ acquirer }: WholePayout, answer: WorkAnswer): Promise<WorkAnswer> {
    const maxUnderWay = this.acquirers.get(acquirer).payouts?.capabilities.maxUnderWay ?? null;
    if (answer !== 'done' || maxUnderWay === null) return answer;
    await this.database.transaction((tx) => this.transitions.wakeNext(tx, acquirer));
    return answer;
  }

  async #begin(payout: WholePayout, prolong: Prolong): Promise<WorkAnswer> {
    const now = this.clock.now();
    if (payout.sendAfter > now) return payout.sendAfter;
    if ((await this.accounts.get(payout.accountId)).suspended) return new Date(now.getTime() + IDLE_MS);
    const desk = this.acquirers.get(payout.acquirer).payouts;
    if (!desk) {
      await this.database.transaction((tx) => this.transitions.fail(tx, payout, 'stopped', 'not_supported'));
      return 'done';
    }
    const { maxUnderWay } = desk.capabilities;
    const sending = await this.database.transaction((tx) => this.transitions.send(tx, payout, maxUnderWay));
    if (!sending) return 'again';
    await prolong();
    const answer = await desk.send(this.#order(payout));
    switch (answer.kind) {
      case 'refused':
        return this.#end(prolong, sending, answer);
      case 'not_now':
        // Under the lease: an overtaken run does not know whether another run has called since.
        await this.database.transaction(async (tx) => {
          await prolong(tx);
          await this.transitions.putBack(tx, sending, new Date(this.clock.now().getTime() + answer.retryAfterMs));
        });
        return 'again';
      case 'accepted':
      case 'unknown':
        return this.#noted(sending, answer);
    }
  }

  /** An earlier call may have reached the PSP, so the payout is looked up first. */
  async #continue(payout: WholePayout, prolong: Prolong): Promise<WorkAnswer> {
    const desk = this.#desk(payout);
    const sent = sentOf(payout);
    await prolong();
    // The answer counts for the time before it: meanwhile a hidden payout may have shown itself.
    const ageMs = this.#ageOf(payout);
    const state = await desk.lookUp(sent);
    if (state.kind !== 'not_found') return this.#record(payout, state, prolong);
    if (this.#ageOf(payout) < RESEND_MS) {
      await prolong();
      const answer = await desk.send(this.#order(payout));
      // Every call has the same receiver. Any other refusal may come from an earlier call that used the balance.
      if (answer.kind === 'refused' && ABOUT_RECEIVER.includes(answer.reason)) {
        return this.#end(prolong, payout, answer);
      }
      return this.#noted(payout, answer.kind === 'accepted' ? answer : { kind: 'unknown' });
    }
    if (ageMs < quietAfterMs(desk.capabilities)) return this.#noted(payout, { kind: 'unknown' });
    if (!desk.capabilities.isNotFoundFinal) {
      await this.#note(payout, 'operator', null);
      return new Date(this.clock.now().getTime() + IDLE_MS);
    }
    return this.#end(prolong, payout, { reason: null });
  }

  #ageOf({ sentAt, updatedAt }: WholePayout): number {
    return this.clock.now().getTime() - (sentAt ?? updatedAt).getTime();
  }

  /** A notification or the PSP's list reports that a paid payout changed. */
  async #lookAgain(payout: WholePayout, prolong: Prolong): Promise<WorkAnswer> {
    const desk = this.#desk(payout);
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
        return this.#noted(payout, state);
      case 'processing':
        await this.#note(payout, state.reason, state.endToEndId);
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
   * Ends a payout without its money. Renews the lease: an overtaken run does not know which calls the other run has had
   * accepted.
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

  async #noted(
    payout: WholePayout,
    answer: Extract<PayoutAnswer, { kind: 'accepted' | 'unknown' }>,
  ): Promise<WorkAnswer> {
    const isAccepted = answer.kind === 'accepted';
    await this.#note(payout, isAccepted ? 'sent' : 'unknown', isAccepted ? answer.endToEndId : null);
    return 'again';
  }

  async #note({ id }: WholePayout, reason: ProcessingReason, endToEndId: string | null): Promise<void> {
    await this.database.transaction(async (tx) => {
      this.payouts.note(tx, id, reason, endToEndId, this.clock.now());
    });
  }

  #desk({ id, acquirer }: WholePayout): PayoutDesk {
    const desk = this.acquirers.get(acquirer).payouts;
    if (!desk) throw new Error(`The payout ${id} was sent, and its connection has no desk any more`);
    return desk;
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
