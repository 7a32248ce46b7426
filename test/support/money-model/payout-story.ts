import { expect } from '@jest/globals';
import type { TestService } from '../service.js';
import {
  type BankEvent,
  type Call,
  nextEdge,
  type PayoutRequest,
  type PayoutModel,
  type PayoutsModel,
  REPEATED_MS,
  returned,
  type SavedModel,
  type ScheduleModel,
} from './payouts.js';
import type { PayoutStep } from './payout-walk.js';
import type { PayoutState, PayoutWorld } from './payout-world.js';

/** Longest wait for the edge of day and night */
const MAX_WAIT_MS = REPEATED_MS;
/** The longest time that a payout needs at the bank */
const AT_BANK_MS = 1_000;

/** Runs the steps of payouts on the service and on the model, and compares them. */
export class PayoutStory {
  #keys = 0;

  constructor(
    private readonly service: TestService,
    private readonly world: PayoutWorld,
    private readonly model: PayoutsModel,
    /** Takes a wait out of the time that a story has. @returns false if it has less */
    private readonly mayWait: (ms: number) => boolean,
  ) {}

  get #now(): number {
    return this.service.clock.now().getTime();
  }

  /** Whether the step is possible. In a shortened story, an earlier step that made its payout may be missing. */
  canHappen(step: PayoutStep): boolean {
    const { model } = this;
    const payout = 'payout' in step ? model.all[step.payout] : undefined;
    if ('payout' in step && !payout) return false;
    switch (step.do) {
      case 'receiver':
        return step.what === 'save' || model.saved[step.to]?.isDeleted === false;
      case 'schedule':
        return model.saved[step.to]?.isDeleted === false;
      case 'bank':
        return payout !== undefined && this.#canHappen(payout, step.event);
      case 'work':
        return payout?.status === 'QUEUED' || payout?.status === 'SENDING';
      case 'resolve':
        // An operator says what is true: the bank cannot have paid a payout that never reached it.
        return payout?.status !== 'SENDING' || step.outcome === 'failed' || payout.bank.requestedAt !== null;
      case 'request':
      case 'request both':
      case 'decide':
      case 'cancel':
      case 'report':
      case 'run schedule':
        return true;
    }
  }

  /** The books do not survive a bank that pays a payout after it has failed, or revokes one that came back. */
  #canHappen({ status, amount, bank }: PayoutModel, event: BankEvent): boolean {
    if (status === 'FAILED' || status === 'CANCELLED') return false;
    return event !== 'fail' || bank.returns.reduce((all, one) => all + one, 0) < amount;
  }

  async happen(step: PayoutStep): Promise<void> {
    const { world, model } = this;
    const payout = ('payout' in step ? model.all[step.payout] : undefined) as PayoutModel;
    switch (step.do) {
      case 'request': {
        if (step.moment) this.#waitFor(step.moment, step);
        if (step.isSaved && model.saved[step.to] === null) await this.#save(step.to);
        const key = this.#newKey();
        const expected = model.request(step, this.#now);
        const { answer, id } = await world.request(step, key);
        expect(answer).toBe(expected);
        if (id !== null) world.ids.push(id);
        if (step.isAgain) expect(await world.request(step, key)).toEqual({ answer, id });
        return;
      }
      case 'request both':
        return this.#requestBoth(step);
      case 'receiver':
        if (step.what === 'save') return this.#save(step.to);
        if (step.what === 'approve') {
          await world.approveDestination(step.to);
          return model.approveDestination(step.to, this.#now);
        }
        await world.removeDestination(step.to);
        (model.saved[step.to] as SavedModel).isDeleted = true;
        return;
      case 'decide': {
        const { decision, by } = step;
        const expected = decision === 'approve' ? model.approve(payout, by, this.#now) : model.refuse(payout, by);
        return void expect(await world.decide(step.payout, decision, by)).toBe(expected);
      }
      case 'cancel':
        return void expect(await world.cancel(step.payout)).toBe(model.cancel(payout));
      case 'bank': {
        const { event, part } = step;
        const expected = model.happens(payout, event, part, this.#now);
        expect(await world.happens(step.payout, event, payout.amount, part)).toBe(expected);
        if (step.isTold) await this.#report(step.payout, payout);
        return;
      }
      case 'report':
        return this.#report(step.payout, payout);
      case 'work':
        this.service.clock.offsetMs += step.ms;
        return this.#work(step.payout, step.call);
      case 'resolve':
        if (payout.status === 'SENDING' && payout.bank.requestedAt !== null) {
          const event = step.outcome === 'paid' ? 'pay' : 'fail';
          expect(await world.happens(step.payout, event, payout.amount, null)).toBe(200);
          model.happens(payout, event, null, this.#now);
        }
        return void expect(await world.resolve(step.payout, step.outcome)).toBe(
          model.resolve(payout, step.outcome, this.#now),
        );
      case 'schedule': {
        const { to, leave, minimum, minute } = step;
        const saved = model.saved[to] as SavedModel;
        const { schedule } = model;
        const isSame =
          schedule?.saved === saved &&
          (['leave', 'minimum', 'minute'] as const).every((field) => schedule[field] === step[field]);
        if (!isSame) model.schedule = { to, saved, leave, minimum, minute, after: this.#now } satisfies ScheduleModel;
        return world.schedule(step);
      }
      case 'run schedule':
        return this.runSchedule();
    }
  }

  /** Runs the schedule, which makes at most one payout. */
  async runSchedule(): Promise<void> {
    const before = this.model.all.length;
    this.model.runSchedule(this.#now);
    expect(await this.world.runSchedule()).toBe(this.model.all.length - before);
    if (this.model.all.length > before) await this.expectPayout(before);
  }

  /** Has the bank end all payouts that it has, and the service look them up. */
  async end(): Promise<void> {
    const { model } = this;
    for (const [at, payout] of model.all.entries()) {
      const { bank } = payout;
      const isSent = payout.status === 'SENDING' || payout.status === 'PAID';
      if (isSent && (bank.state === 'unknown' || bank.state === 'review')) {
        expect(await this.world.happens(at, 'resolve', payout.amount, null)).toBe(200);
        model.happens(payout, 'resolve', null, this.#now);
      }
    }
    for (let round = 0; round < 3; round++) {
      this.service.clock.offsetMs += AT_BANK_MS;
      for (const [at, payout] of model.all.entries()) {
        if (payout.status === 'PAID') await this.#report(at, payout);
        else if (payout.status === 'SENDING' || payout.status === 'QUEUED') await this.#work(at, 'arrives');
      }
    }
    for (const at of model.all.keys()) await this.expectPayout(at);
  }

  async expectPayout(at: number): Promise<void> {
    const payout = this.model.all[at];
    if (payout) expect(await this.world.stateOf(at)).toEqual(stateOf(payout));
  }

  async #save(to: number): Promise<void> {
    await this.world.save(to);
    this.model.save(to);
  }

  async #report(at: number, payout: PayoutModel): Promise<void> {
    await this.world.report(at);
    this.model.run(payout, 'arrives', this.#now);
  }

  async #work(at: number, call: Call): Promise<void> {
    const payout = this.model.all[at] as PayoutModel;
    const isCalled = this.model.isCalled(payout, this.#now);
    expect(await this.world.work(at, call)).toBe(isCalled ? 1 : 0);
    this.model.run(payout, call, this.#now);
  }

  /** Moves the clock to the edge of day and night, or to ten minutes after the same payout. */
  #waitFor({ what, late }: { what: 'edge' | 'repetition'; late: number }, { amount, to }: PayoutRequest): void {
    const same = this.model.all.findLast((one) => one.to === to && one.amount === amount);
    const target = what === 'edge' ? nextEdge(this.#now) : (same?.madeAt ?? 0) + REPEATED_MS;
    const wait = target + late - this.#now;
    if (wait > 0 && wait <= MAX_WAIT_MS && this.mayWait(wait)) this.service.clock.offsetMs += wait;
  }

  /** Two payouts are requested at once. */
  async #requestBoth({ amount, to, other }: PayoutStep & { do: 'request both' }): Promise<void> {
    const both = [to, other].map((one) => ({ amount, to: one, isSaved: false, allowsDuplicate: true }));
    const answers = await Promise.all(
      both.map(async (asked) => ({ asked, ...(await this.world.request(asked, this.#newKey())) })),
    );
    // The order of the two is known only if one was refused: then the accepted one came first.
    answers.sort((a, b) => Number(b.answer === 201) - Number(a.answer === 201));
    for (const { asked, answer, id } of answers) {
      expect(answer).toBe(this.model.request(asked, this.#now));
      if (id !== null) this.world.ids.push(id);
    }
    this.model.bothRequested(answers.filter(({ answer }) => answer === 201).length === 1);
  }

  #newKey(): string {
    return `payout-${String(++this.#keys)}`;
  }
}

const PUBLIC = {
  AWAITING: 'pending',
  QUEUED: 'pending',
  SENDING: 'processing',
  PAID: 'paid',
  FAILED: 'failed',
  CANCELLED: 'cancelled',
  REFUNDED: 'refunded',
} as const;

function stateOf(payout: PayoutModel): PayoutState {
  const { status, sendAfter, madeAt, processing, failure, returns, isScheduled, events, lines } = payout;
  const isPending = PUBLIC[status] === 'pending';
  return {
    status: PUBLIC[status],
    isWaiting: status === 'AWAITING',
    sendAfter: isPending && sendAfter > madeAt ? sendAfter : null,
    ...{ processing, failure, amountReturned: returned(payout), returns, isScheduled, events, lines },
  };
}
