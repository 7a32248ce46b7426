import { setTimeout as delay } from 'node:timers/promises';
import { brokenPromises } from '../../src/reconciliation/coherence.js';
import type { Random } from '../harness/random.js';
import type { Progress, Run } from '../harness/run.js';
import { newCharge } from '../bench/requests.js';
import { saoPauloDay } from '../../src/brazil/index.js';
import { InsistentClient } from './insistent-client.js';
import { Line } from './line.js';
import { BankDesk } from './live-pix-bank.js';
import { bookedHere } from './live-pix-books.js';
import { type Answered, judge, type Verdict } from './live-pix-judge.js';
import type { LivePixPlan, PlannedPayment } from './live-pix-plan.js';
import { settle, type Settling } from './live-pix-settling.js';
import { type LivePixStage, openLivePixStage } from './live-pix-stage.js';

/** Many clients, because a request under way at a kill blocks its client until the lease of its key ends (40 s). */
const MERCHANT_CLIENTS = 32;
/** Number of payers; each pays about ten charges a second. */
const PAYERS = 6;
const TICK_MS = 15_000;
/** Impatient merchants send every so many requests twice at once. */
const TWINS_EVERY = 9;

export interface LivePixResult extends Verdict {
  readonly plan: LivePixPlan;
  /** Requests to the PSP by operation, and faults by `operation kind`. */
  readonly requests: Readonly<Record<string, number>>;
  readonly callbacks: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly kills: ReadonlyMap<string, number>;
  /** Number of merchants' requests that were repeated for lack of a proper answer. */
  readonly repetitions: number;
  readonly settling: Settling;
  /** Seconds until all planned requests were sent. */
  readonly loadSeconds: number;
  readonly reconciled: readonly { readonly day: string; readonly exitCode: number | null }[];
}

type Operation = 'charges' | 'payments' | 'refunds';

interface RefundOrder {
  readonly number: number;
  /** Amount in cents. */
  readonly amount: number;
}

/** Live payments at a PSP with faults, while the service dies again and again. */
export class LivePixStorm {
  readonly #client: InsistentClient;
  readonly #answered: Answered[];
  readonly #kills = new Map<string, number>();
  readonly #done: Record<Operation, number> = { charges: 0, payments: 0, refunds: 0 };

  private constructor(
    private readonly plan: LivePixPlan,
    private readonly random: Random,
    private readonly stage: LivePixStage,
    run: Run,
  ) {
    this.#client = new InsistentClient(stage.serviceUrl, MERCHANT_CLIENTS * 2, run.cleanup);
    this.#answered = plan.payments.map(() => ({ id: '', txid: '', refundIds: [] }));
  }

  static async open(plan: LivePixPlan, random: Random, run: Run): Promise<LivePixStorm> {
    return new LivePixStorm(plan, random, await openLivePixStage(random, run), run);
  }

  get description(): string {
    return this.stage.description;
  }

  async rage(progress: Progress): Promise<LivePixResult> {
    const { payments } = this.plan;
    const began = performance.now();
    const firstDay = saoPauloDay(new Date());
    const desk = new BankDesk(this.stage.psp, payments);
    await this.stage.psp.addFaults(this.plan.faults);
    progress(`${String(payments.length)} charges, their payments and refunds`);
    desk.open();
    await this.#load(progress);
    const loadSeconds = (performance.now() - began) / 1000;
    const { faults, traffic, callbacks } = await this.stage.psp.state();
    await this.stage.psp.clearFaults();
    progress('the bad day is over; waiting for what is not known yet');
    const received = payments.flatMap(({ endToEndId, secondEndToEndId }) =>
      [endToEndId, secondEndToEndId ?? []].flat(),
    );
    const settling = await settle(this.stage, received, progress);
    await desk.close();
    return {
      ...(await this.#verdict(settling, firstDay, progress)),
      plan: this.plan,
      requests: traffic.requests,
      callbacks: callbacks.length,
      faults: faults.made,
      kills: this.#kills,
      repetitions: this.#client.repetitions,
      settling,
      loadSeconds,
    };
  }

  async #create({ number, amount }: PlannedPayment): Promise<void> {
    const body = JSON.stringify({ ...(JSON.parse(newCharge()) as object), amount });
    const post = { path: '/v1/charges', apiKey: this.stage.apiKey, body, idempotencyKey: `charge-${String(number)}` };
    const create = async (): Promise<ChargeBody> => (await this.#client.post(post)) as ChargeBody;
    const [charge, twin] = number % TWINS_EVERY === 0 ? await Promise.all([create(), create()]) : [await create()];
    if (!charge || (twin && twin.id !== charge.id)) throw new Error(`Payment ${String(number)} was made twice`);
    this.#answered[number] = { id: charge.id.replace(/^ch_/, ''), txid: charge.pix.txid, refundIds: [] };
  }

  async #pay({ number, endToEndId, secondEndToEndId }: PlannedPayment): Promise<void> {
    const txid = this.#answered[number]?.txid ?? '';
    await this.stage.psp.pay({ txid, endToEndId });
    await delay(this.random.between(20, 160));
    if (secondEndToEndId !== null) await this.stage.psp.pay({ txid, endToEndId: secondEndToEndId, force: true });
  }

  /** Requests a refund until the payment is there: its callback may be lost. @returns the refund's id */
  async #refund(number: number, amount: number): Promise<string> {
    const refund = await this.#client.post({
      path: `/v1/payments/${this.#answered[number]?.id ?? ''}/refund`,
      apiKey: this.stage.apiKey,
      body: JSON.stringify({ amount, idempotencyKey: `refund-${String(number)}-${String(amount)}` }),
      notYet: ['payment_not_refundable'],
    });
    return (refund as { id: string }).id;
  }

  /** Runs everything at once: created charges are paid, paid ones are refunded, and the service dies in between. */
  async #load(progress: Progress): Promise<void> {
    const toPay = new Line<PlannedPayment>();
    const toRefund = new Line<RefundOrder>();
    const charges = this.#work('charges', MERCHANT_CLIENTS, Line.of(this.plan.payments), async (payment) => {
      await this.#create(payment);
      toPay.push(payment);
    });
    const payments = this.#work('payments', PAYERS, toPay, async (payment) => {
      await this.#pay(payment);
      for (const { amount } of payment.refunds) toRefund.push({ number: payment.number, amount });
    });
    const refunds = this.#work('refunds', MERCHANT_CLIENTS, toRefund, async ({ number, amount }) => {
      this.#answered[number]?.refundIds.push(await this.#refund(number, amount));
    });
    const ticker = setInterval(() => progress(this.#soFar()), TICK_MS);
    try {
      await Promise.all([
        charges.then(() => toPay.close()),
        payments.then(() => toRefund.close()),
        refunds,
        this.#crashes(progress),
      ]);
    } finally {
      clearInterval(ticker);
    }
  }

  async #work<T>(name: Operation, clients: number, line: Line<T>, work: (item: T) => Promise<void>): Promise<void> {
    const client = async (): Promise<void> => {
      for (let item = await line.take(); item !== null; item = await line.take()) {
        await work(item);
        this.#done[name] += 1;
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
  }

  /** Spreads kills over the load by its progress, so that they hit work on a machine of any speed. */
  async #crashes(progress: Progress): Promise<void> {
    const { payments, kills, victims: choices } = this.plan;
    const total = payments.reduce((sum, { refunds }) => sum + 2 + refunds.length, 0);
    const share = total / (kills + 1);
    for (let kill = 1; kill <= kills; kill++) {
      const at = Math.floor(share * kill - this.random.next() * share * 0.8);
      while (this.#operations() < at) await delay(5);
      // A few milliseconds decide between before, inside and after a transaction.
      await delay(this.random.between(0, 15));
      const victims = choices[(kill - 1) % choices.length] ?? [];
      progress(`killing ${victims.join(' and ')} (${this.#soFar()})`);
      await this.stage.crash(victims);
      for (const victim of victims) this.#kills.set(victim, (this.#kills.get(victim) ?? 0) + 1);
    }
  }

  #soFar(): string {
    const counts = Object.entries(this.#done).map(([name, count]) => `${String(count)} ${name}`);
    return `${counts.join(', ')} so far`;
  }

  #operations(): number {
    return Object.values(this.#done).reduce((sum, count) => sum + count, 0);
  }

  async #verdict(
    settling: Settling,
    firstDay: string,
    progress: Progress,
  ): Promise<Verdict & Pick<LivePixResult, 'reconciled'>> {
    progress('comparing both sides');
    const bank = await this.stage.psp.state();
    const here = await bookedHere(this.stage);
    const verdict = judge(this.plan.payments, this.#answered, bank, here);
    const broken = await brokenPromises((sql) => this.stage.rows(sql));
    const days = [...new Set([firstDay, saoPauloDay(new Date())])];
    const runs = [];
    for (const day of days) {
      const { code, stderr } = await this.stage.cli('reconcile', '--account', this.stage.accountId, '--day', day);
      runs.push({ day, exitCode: code, stderr });
    }
    const violations = [
      ...verdict.violations,
      ...this.stage.died.map((how) => `a service process ended by itself: ${how}`),
      ...Object.entries(settling.unknown).map(([what, count]) => `${String(count)} ${what} still unknown`),
      ...Object.keys(broken).map((name) => `the ledger: it is not so that ${name}`),
      ...runs.filter(({ exitCode }) => exitCode !== 0).map(({ stderr }) => `reconcile: ${stderr.trim()}`),
    ];
    return { ...verdict, violations, reconciled: runs };
  }
}

interface ChargeBody {
  readonly id: string;
  readonly pix: { readonly txid: string };
}
