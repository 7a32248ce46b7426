import { expect } from '@jest/globals';
import { expectLedgerCoherent } from '../coherence.js';
import type { TestService } from '../service.js';
import type { Reached } from './branches.js';
import { type Expected, MoneyModel, type Terms } from './model.js';
import { DAY_MS, dayOf } from './payouts.js';
import { PayoutStory } from './payout-story.js';
import type { PayoutStep } from './payout-walk.js';
import type { CorrectionModel, Lost, SaleModel } from './sale.js';
import { Dice } from './dice.js';
import { drawTerms, type Step, Walk } from './walk.js';
import { MoneyWorld, PAYER, type SaleState, SHORTEST_SECONDS, STRANGER } from './world.js';

/** Time after which the service may give up a refund's lost call. */
const WAIT_MS = 8 * 60_000;
/** Below an hour: unpaid sales, which expire after an hour, must not expire within a day of a story. */
const MAX_WAITED_MS = 4 * WAIT_MS;

/** Story of one merchant. Runs each step on the service and on the model, and compares them. */
export class Story {
  readonly steps: Step[] = [];
  readonly #entries: CorrectionModel[] = [];
  readonly #payouts: PayoutStory;
  /** Waits on the current day in milliseconds */
  #waitedMs = 0;

  private constructor(
    private readonly service: TestService,
    private readonly world: MoneyWorld,
    readonly model: MoneyModel,
  ) {
    const mayWait = (ms: number): boolean => {
      if (this.#waitedMs + ms > MAX_WAITED_MS) return false;
      this.#waitedMs += ms;
      return true;
    };
    this.#payouts = new PayoutStory(service, world.payouts, model.payouts, mayWait);
  }

  static async begin(service: TestService, terms: Terms, purse: number, reached: Reached): Promise<Story> {
    // At midnight in São Paulo money is released, which no step expects. No story begins in the two hours before it.
    const now = service.clock.now().getTime();
    const begins = dayOf(now) + terms.beginsAt * 60_000;
    service.clock.offsetMs += begins - now + (begins < now ? DAY_MS : 0);
    const world = await MoneyWorld.begin(service, terms, purse);
    return new Story(service, world, new MoneyModel(terms, purse, reached));
  }

  /** Index of the sale in the last step that concerned a sale */
  get last(): number {
    const step = this.steps.findLast((one): one is Step & { sale: number } => 'sale' in one);
    return step?.sale ?? Math.max(0, this.model.sales.length - 1);
  }

  /**
   * Runs one step on both sides. Expects that the balance and the step's sale then agree with the model.
   * @returns false if the step is not possible
   */
  async tell(step: Step): Promise<boolean> {
    if (!this.#canHappen(step)) return false;
    this.steps.push(step);
    this.world.tick();
    await this.#happen(step);
    expect(await this.world.balance()).toEqual(this.model.balance);
    if (step.do === 'payout') await this.#expectPayout(step.step);
    else await this.#expectSale('sale' in step ? step.sale : this.model.sales.length - 1);
    if (step.do === 'refund both') await this.#expectSale(step.other);
    return true;
  }

  /** Finishes all pending work, and compares all books with the model. */
  async end(): Promise<void> {
    this.service.clock.offsetMs += WAIT_MS;
    for (const [at, sale] of this.model.sales.entries()) {
      while (sale.refunds.some((refund) => this.model.canEnd(sale, refund))) {
        for (const [refund, one] of sale.refunds.entries()) {
          if (this.model.canEnd(sale, one)) await this.#work(at, refund);
        }
      }
    }
    await this.world.settleReturns();
    await this.#payouts.end();
    expect(await this.world.balance()).toEqual(this.model.balance);
    for (const [at, sale] of this.model.sales.entries()) {
      await this.#expectSale(at);
      expect(await this.world.backsOf(at)).toEqual([...sale.backs].sort());
    }
    const { heldByBank, chargedByBank } = this.model;
    expect(await this.world.atTheBank()).toEqual({ there: heldByBank, here: heldByBank, charged: chargedByBank });
    expect(await this.world.books()).toEqual(this.model.books);
  }

  /** Whether the step is possible. In a shortened story, earlier steps that made its refund or case may be missing. */
  #canHappen(step: Step): boolean {
    if (step.do === 'payout') return this.#payouts.canHappen(step.step);
    if (!('sale' in step)) return true;
    const sale = this.model.sales[step.sale];
    if (!sale) return false;
    switch (step.do) {
      case 'review':
        return sale.isHeldForReview;
      case 'work':
        return sale.refunds[step.refund] !== undefined;
      case 'ask often':
        return sale.refunds[step.refund]?.status === 'IN_PROGRESS' && this.#waitedMs + WAIT_MS <= MAX_WAITED_MS;
      case 'refund both':
        return this.model.sales[step.other]?.isPaid === true && sale.isPaid;
      case 'dispute':
        return sale.isPaid;
      case 'rule':
        return sale.cases.length > 0;
      case 'restate': {
        const medCase = sale.cases[step.medCase];
        return medCase !== undefined && medCase.reported !== step.amount;
      }
      case 'answer':
        return sale.cases[step.medCase]?.isVisible === true;
      case 'decide':
        return sale.cases[step.medCase]?.review != null;
      case 'enter':
        return sale.isPaid;
      case 'decide entry':
        return sale.corrections[step.entry]?.status === 'waiting';
      case 'pay':
      case 'end':
      case 'cancel':
      case 'refund':
        return true;
    }
  }

  async #happen(step: Step): Promise<void> {
    const { world, model } = this;
    const sale = ('sale' in step ? model.sales[step.sale] : undefined) as SaleModel;
    switch (step.do) {
      case 'create':
        await world.create(step);
        return model.create(step);
      case 'pay': {
        const document = { right: PAYER, other: STRANGER, unknown: null }[step.payer];
        const reference = world.newReference();
        const pay = { event: 'pay', amount: step.amount, payer_document: document, end_to_end_id: reference };
        await world.happens(step.sale, pay);
        if (step.isAgain) await world.happens(step.sale, pay);
        return model.pay(sale, step.amount, step.payer);
      }
      case 'pay at the end': {
        const made = await this.#short(step.amount);
        this.service.clock.offsetMs += SHORTEST_SECONDS * 1_000 + step.late;
        const pay = { event: 'pay', payer_document: PAYER, end_to_end_id: world.newReference() };
        await world.happens(model.sales.length - 1, pay);
        // A payment at the very moment of the expiry is in time.
        return step.late <= 0 ? model.payInTheEnd(made) : model.comesLate(made);
      }
      case 'told late': {
        const made = await this.#short(step.amount);
        await world.toldLate(model.sales.length - 1, step.amount);
        return model.payInTheEnd(made, true);
      }
      case 'end':
        await world.happens(step.sale, { event: step.event });
        return model.end(sale, step.event === 'expire' ? 'EXPIRED' : 'REFUSED');
      case 'cancel':
        return expectAnswer(await world.cancel(step.sale), model.cancel(sale));
      case 'review':
        await world.review(step.sale, step.decision);
        return model.decideReview(sale, step.decision);
      case 'refund': {
        const key = `refund-${world.newReference()}`;
        const expected = model.refund(sale, step);
        expectAnswer(await world.refund(step.sale, step, key), expected);
        if (step.isAgain) expectAnswer(await world.refund(step.sale, step, key), expected);
        return;
      }
      case 'refund both':
        return this.#refundBoth(step.sale, step.other);
      case 'work':
        return this.#work(step.sale, step.refund, step.fails, step.lost);
      case 'ask often':
        if (step.isLong) {
          this.#waitedMs += WAIT_MS;
          this.service.clock.offsetMs += WAIT_MS;
        }
        for (let time = 0; time < step.times; time++) await this.#work(step.sale, step.refund);
        return;
      case 'dispute': {
        const { kind, amount } = step;
        await world.happens(step.sale, kind === 'med' ? { event: 'med_open', amount } : { event: kind });
        return model.dispute(sale, kind, amount);
      }
      case 'rule': {
        const { result } = step;
        await world.happens(
          step.sale,
          result === 'withdrawn' ? { event: 'med_withdraw' } : { event: 'med_rule', result },
        );
        return model.rule(sale, result === 'agreed' ? 'lost' : 'won');
      }
      case 'restate': {
        const medCase = sale.cases[step.medCase];
        if (!medCase) return;
        await world.restate(step.sale, step.medCase, step.amount);
        return model.restate(sale, medCase, step.amount);
      }
      case 'answer': {
        const medCase = sale.cases[step.medCase];
        if (!medCase) return;
        const expected = step.answer === 'appeal' ? model.appeal(medCase) : model.accept(sale, medCase);
        return expectAnswer(await world.answer(step.sale, step.medCase, step.answer), expected);
      }
      case 'decide': {
        const medCase = sale.cases[step.medCase];
        if (!medCase) return;
        const expected =
          step.decision === 'dismiss' ? model.dismiss(medCase) : model.approve(sale, medCase, step.amount);
        return expectAnswer(await world.decide(step.sale, step.medCase, step.decision, step.amount), expected);
      }
      case 'enter': {
        const { kind, borneBy, amount } = step;
        const named = step.named === null ? null : (sale.refunds[step.named] ?? null);
        const expected = model.enter(sale, { kind, borneBy, amount, named }, this.service.clock.now().getTime());
        if (expected === 200) this.#entries.push(sale.corrections.at(-1) as CorrectionModel);
        return expectAnswer(await world.enter(step.sale, { kind, borneBy, amount }, named && step.named), expected);
      }
      case 'decide entry': {
        const entry = sale.corrections[step.entry] as CorrectionModel;
        const { decision, isOwn } = step;
        const expected =
          decision === 'reject'
            ? model.rejectEntry(entry)
            : isOwn
              ? model.approveOwnEntry()
              : model.approveEntry(sale, entry);
        return expectAnswer(await world.decideEntry(this.#entries.indexOf(entry), decision, isOwn), expected);
      }
      case 'next day':
        this.#waitedMs = 0;
        await world.nextDay(nextDayAt(this.service.clock.now().getTime(), step.minute));
        model.nextDay();
        return this.#payouts.runSchedule();
      case 'payout':
        return this.#payouts.happen(step.step);
    }
  }

  async #short(amount: number): Promise<SaleModel> {
    const sale = { method: 'PIX', amount, isLocked: false } as const;
    await this.world.create(sale, SHORTEST_SECONDS);
    this.model.create(sale);
    return this.model.sales.at(-1) as SaleModel;
  }

  /** Refunds two sales at once when the available money covers either of them, but not both. */
  async #refundBoth(first: number, second: number): Promise<void> {
    const whole = { amount: null, strategy: null, passFee: false };
    const answers = await Promise.all(
      [first, second].map(async (at) => ({ at, told: await this.world.refund(at, whole) })),
    );
    // The order of the two is known only if one was refused: then the accepted one came first.
    answers.sort((a, b) => Number(b.told === 201) - Number(a.told === 201));
    for (const { at, told } of answers) expectAnswer(told, this.model.refund(this.model.sales[at] as SaleModel, whole));
    this.model.bothRefunded(answers.some(({ told }) => told === 201));
  }

  async #work(at: number, refund: number, fails = false, lost: Lost | null = null): Promise<void> {
    const sale = this.model.sales[at] as SaleModel;
    const wanted = sale.refunds[refund];
    if (!wanted) return;
    const isCalled = this.model.isCalled(sale, wanted);
    // `refund_fail` refuses the next refund that reaches the bank. Set it only if this run's call reaches it.
    const willFail = fails && isCalled && lost !== 'before';
    expect(await this.world.work(at, refund, willFail, lost)).toBe(isCalled ? 1 : 0);
    this.model.work(sale, wanted, { fails: willFail, lost, at: this.service.clock.now().getTime() });
  }

  /** Compares the payout of the step, or the last one. */
  async #expectPayout(step: PayoutStep): Promise<void> {
    await this.#payouts.expectPayout('payout' in step ? step.payout : this.model.payouts.all.length - 1);
  }

  async #expectSale(at: number): Promise<void> {
    const sale = this.model.sales[at];
    if (sale) expect(await this.world.stateOf(at)).toEqual(stateOf(sale));
  }
}

/** The minute of the day after the day of `now` */
function nextDayAt(now: number, minute: number): number {
  return dayOf(now) + DAY_MS + minute * 60_000;
}

function expectAnswer(told: number | string, expected: Expected): void {
  expect(told).toBe(expected);
}

function stateOf(sale: SaleModel): SaleState {
  const lost = sale.corrections.filter(({ kind, status }) => kind === 'loss' && status === 'applied');
  return {
    status: sale.status,
    told: sale.status,
    losses: lost.reduce((total, { amount }) => total + amount, 0),
    refunds: sale.refunds.map(({ amount, status, reason }) => ({ amount, status, reason })),
    cases: sale.cases.map(({ kind, status, amount, outcome, held, lost: gone, isVisible, reported, review, told }) => ({
      ...{ kind, status, amount, outcome, held, lost: gone, isVisible, reported, review },
      ...{ toldStatus: isVisible ? status : null, toldOutcome: isVisible ? outcome : null, told },
    })),
  };
}

/** Runs a random story. @returns its steps, and as `error` the difference from the model; null if all agrees */
export async function tellStory(
  service: TestService,
  seed: number,
  { steps, correctionLimit, reached }: { steps: number; correctionLimit: number; reached: Reached },
  useBankFee: (fee: number) => void,
): Promise<{ told: readonly Step[]; terms: Terms; purse: number; error: unknown }> {
  const dice = new Dice(seed);
  const { terms, purse, mood } = drawTerms(dice, correctionLimit);
  useBankFee(terms.bankFee);
  const story = await Story.begin(service, terms, purse, reached);
  const walk = new Walk(story.model, dice, mood);
  try {
    for (let step = 0; step < steps; step++) await story.tell(walk.next(story.last, service.clock.now().getTime()));
    await story.end();
    return { told: story.steps, terms, purse, error: null };
  } catch (error) {
    return { told: story.steps, terms, purse, error };
  }
}

/** Runs known steps again. @returns whether they differ from the model, or leave incoherent books */
export async function tellAgain(
  service: TestService,
  steps: readonly Step[],
  { terms, purse, reached }: { terms: Terms; purse: number; reached: Reached },
): Promise<boolean> {
  const story = await Story.begin(service, terms, purse, reached);
  try {
    for (const step of steps) await story.tell(step);
    await story.end();
    await expectLedgerCoherent(service.database.url);
    return false;
  } catch {
    return true;
  }
}
