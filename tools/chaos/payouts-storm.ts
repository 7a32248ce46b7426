import { setTimeout as delay } from 'node:timers/promises';
import { newReturnId, normalizeTaxId, saoPauloDay } from '../../src/brazil/index.js';
import { brokenPromises } from '../../src/reconciliation/coherence.js';
import type { Random } from '../harness/random.js';
import type { Progress, Run } from '../harness/run.js';
import { InsistentClient, Refused } from './insistent-client.js';
import { bookedPayouts, bookedWallets, judgePayouts, type PayoutsVerdict } from './payouts-judge.js';
import type { PayoutsPlan, PlannedPayout, Receiver } from './payouts-plan.js';
import { CNPJ, fund, openPayoutsStage, type PayoutMerchant } from './payouts-stage.js';
import type { ServiceStage } from './service-stage.js';

/** Open payouts of a merchant, as the bank takes one at a time. */
const WINDOW = 3;
const LOOK_MS = 400;
const TICK_MS = 15_000;
/** Impatient merchants send every so many requests twice at once. */
const TWINS_EVERY = 9;
/** How long after the end of the faults nothing may be unknown. */
const KNOWN_MS = 60_000;
/** How long payouts may still wait for their turn. */
const END_MS = 240_000;
const RECONCILED = 2;
/** CPFs of receivers. */
const CPFS = ['52998224725', '11144477735', '12345678909'].map((cpf) => normalizeTaxId(cpf) ?? '');

export interface PayoutsResult extends PayoutsVerdict {
  readonly plan: PayoutsPlan;
  readonly requests: Readonly<Record<string, number>>;
  readonly callbacks: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly kills: ReadonlyMap<string, number>;
  readonly repetitions: number;
  readonly loadSeconds: number;
  /** Unknown payouts when the faults ended, and seconds until there was none; null: still some after a minute. */
  readonly unknown: { readonly before: number; readonly seconds: number | null; readonly inReview: number };
  readonly cameBack: { readonly returned: number; readonly revoked: number; readonly seconds: number | null };
  readonly reconciled: number;
}

/** Payouts at a bank with faults, while service, PostgreSQL and Redis die again and again. */
export class PayoutsStorm {
  readonly #client: InsistentClient;
  readonly #answered: string[] = [];
  readonly #kills = new Map<string, number>();
  #requested = 0;
  #ended = 0;

  private constructor(
    private readonly plan: PayoutsPlan,
    private readonly random: Random,
    private readonly stage: ServiceStage,
    private readonly merchants: readonly PayoutMerchant[],
    run: Run,
  ) {
    this.#client = new InsistentClient(stage.serviceUrl, 2 * merchants.length, run.cleanup);
  }

  static async open(plan: PayoutsPlan, random: Random, run: Run): Promise<PayoutsStorm> {
    const { stage, merchants } = await openPayoutsStage(plan.merchants, random, run);
    return new PayoutsStorm(plan, random, stage, merchants, run);
  }

  get description(): string {
    const merchants = `${String(this.merchants.length)} merchants, each with a connection to Efí's endpoints`;
    return `${merchants} of the PSP simulator (a process of its own, mTLS)\n${this.stage.description}`;
  }

  async rage(progress: Progress): Promise<PayoutsResult> {
    const { payouts, faults: rules } = this.plan;
    const { psp } = this.stage;
    const ofOne = Math.ceil(payouts.length / this.merchants.length);
    // The money never runs short: a refusal for that is another test.
    const funds = ofOne * 21_000;
    progress(`${String(this.merchants.length)} merchants receive their money`);
    await fund({ psp, rows: (sql) => this.stage.rows(sql) }, this.#client, this.merchants, funds);
    await psp.addFaults(rules);
    progress(`${String(payouts.length)} payouts`);
    const began = performance.now();
    await this.#load(progress);
    const loadSeconds = (performance.now() - began) / 1000;
    const { faults, traffic, callbacks } = await psp.state();
    await psp.clearFaults();
    progress('the bad day is over; waiting for unknown payouts');
    const unknown = await this.#known(progress);
    await this.#endReviews(progress);
    const cameBack = await this.#comeBack(progress);
    const verdict = await this.#verdict(funds, progress);
    const violations = [
      ...verdict.violations,
      ...(unknown.seconds === null ? ['payouts are still unknown a minute after the faults ended'] : []),
      ...(cameBack.seconds === null ? ['returns or revocations are not booked'] : []),
    ];
    return {
      ...verdict,
      violations,
      plan: this.plan,
      requests: traffic.requests,
      callbacks: callbacks.length,
      faults: faults.made,
      kills: this.#kills,
      repetitions: this.#client.repetitions,
      loadSeconds,
      unknown,
      cameBack,
    };
  }

  /** Each merchant requests payouts, a few at a time, while the victims die. Resolves when all are requested. */
  async #load(progress: Progress): Promise<void> {
    const { payouts } = this.plan;
    const open = new Map<string, number>();
    let isOver = false;
    const look = async (): Promise<void> => {
      for (; !isOver; await delay(LOOK_MS)) {
        const rows = await this.#rows<{ account_id: string; open: number; ended: number }>(
          `SELECT account_id, count(*) FILTER (WHERE status IN ('QUEUED', 'SENDING'))::int AS open,
             count(*) FILTER (WHERE status NOT IN ('QUEUED', 'SENDING'))::int AS ended FROM payouts GROUP BY 1`,
        );
        for (const row of rows) open.set(row.account_id, row.open);
        this.#ended = rows.reduce((all, { ended }) => all + ended, 0);
      }
    };
    const request = async (merchant: PayoutMerchant, index: number): Promise<void> => {
      for (let next = index; next < payouts.length; next += this.merchants.length) {
        while ((open.get(merchant.accountId) ?? 0) >= WINDOW) await delay(LOOK_MS / 2);
        await this.#request(merchant, payouts[next] as PlannedPayout);
        open.set(merchant.accountId, (open.get(merchant.accountId) ?? 0) + 1);
        this.#requested += 1;
      }
    };
    const ticker = setInterval(() => progress(this.#soFar()), TICK_MS);
    const looking = look();
    try {
      await Promise.all([...this.merchants.map(request), this.#crashes(progress)]);
    } finally {
      clearInterval(ticker);
      isOver = true;
      await looking;
    }
  }

  async #request({ apiKey }: PayoutMerchant, planned: PlannedPayout): Promise<void> {
    const { number, amount, receiver, isCancelled } = planned;
    const post = {
      path: '/v1/payouts',
      apiKey,
      body: JSON.stringify({ amount, destination: destinationOf(receiver, number), allow_duplicate: true }),
      idempotencyKey: `payout-${String(number)}`,
    };
    const create = async (): Promise<string> => ((await this.#client.post(post)) as { id: string }).id;
    const [id, twin] = number % TWINS_EVERY === 0 ? await Promise.all([create(), create()]) : [await create()];
    if (twin !== undefined && twin !== id) throw new Error(`Payout ${String(number)} was made twice`);
    this.#answered[number] = id.slice(3);
    if (!isCancelled) return;
    try {
      await this.#client.post({ path: `/v1/payouts/${id}/cancel`, apiKey, body: '{}' });
    } catch (error) {
      if (!(error instanceof Refused && error.message.includes('payout_not_cancellable'))) throw error;
    }
  }

  /** Spreads kills over the load by its progress. */
  async #crashes(progress: Progress): Promise<void> {
    const { payouts, kills, victims: choices } = this.plan;
    const share = payouts.length / (kills + 1);
    for (let kill = 1; kill <= kills; kill++) {
      const at = Math.floor(share * kill - this.random.next() * share * 0.8);
      while (this.#requested < at) await delay(5);
      await delay(this.random.between(0, 15));
      const victims = choices[(kill - 1) % choices.length] ?? [];
      progress(`killing ${victims.join(' and ')} (${this.#soFar()})`);
      await this.stage.crash(victims);
      for (const victim of victims) this.#kills.set(victim, (this.#kills.get(victim) ?? 0) + 1);
    }
  }

  /** Waits until the end of each payout that was at the bank when the faults ended is known. */
  async #known(progress: Progress): Promise<PayoutsResult['unknown']> {
    const began = performance.now();
    const sent = (await bookedPayouts(this.stage)).filter(({ status }) => status === 'SENDING').map(({ id }) => id);
    let before: number | null = null;
    for (;;) {
      const { sends } = await this.stage.psp.state();
      const atBank = new Map(sends.map(({ idEnvio, status }) => [idEnvio, status]));
      const isReviewed = ({ id }: { id: string }): boolean => atBank.get(newReturnId(id)) === 'EM_PROCESSAMENTO';
      const open = (await bookedPayouts(this.stage)).filter(
        ({ id, status }) => status === 'SENDING' && sent.includes(id),
      );
      const unknown = open.filter((payout) => !isReviewed(payout));
      before ??= unknown.length;
      const seconds = (performance.now() - began) / 1000;
      if (unknown.length === 0) return { before, seconds, inReview: open.length };
      if (performance.now() - began > KNOWN_MS) {
        progress(`still unknown: ${JSON.stringify(unknown.slice(0, 5))}`);
        return { before, seconds: null, inReview: open.length - unknown.length };
      }
      await delay(500);
    }
  }

  /** The bank ends its reviews, one half paid. Waits until no payout is open. */
  async #endReviews(progress: Progress): Promise<void> {
    progress('the bank ends its reviews');
    const deadline = performance.now() + END_MS;
    for (;;) {
      const { sends } = await this.stage.psp.state();
      const before = Date.now() - 30_000;
      const reviewed = sends.filter(
        ({ status, horario }) => status === 'EM_PROCESSAMENTO' && Date.parse(horario.solicitacao) < before,
      );
      for (const [index, { idEnvio = '' }] of reviewed.entries()) {
        await this.stage.psp.settleSend({ idEnvio, status: index % 2 === 0 ? 'REALIZADO' : 'NAO_REALIZADO' });
      }
      const open = (await bookedPayouts(this.stage)).filter(({ status }) => ['QUEUED', 'SENDING'].includes(status));
      if (open.length === 0) return;
      // The judge reports payouts that are still open.
      if (performance.now() > deadline) return;
      await delay(1_000);
    }
  }

  /** Paid sends come back whole or in parts, or are revoked, after everything else. */
  async #comeBack(progress: Progress): Promise<PayoutsResult['cameBack']> {
    const { psp } = this.stage;
    await psp.addFaults(this.plan.lateFaults);
    const paid = new Set(
      (await bookedPayouts(this.stage)).filter(({ status }) => status === 'PAID').map(({ id }) => id),
    );
    const chosen = this.plan.payouts.filter(
      ({ number, aftermath }) => aftermath !== null && paid.has(this.#answered[number] ?? ''),
    );
    const began = performance.now();
    for (const { number, amount, aftermath } of chosen) {
      const idEnvio = newReturnId(this.#answered[number] ?? '');
      if (aftermath === 'revoke') await psp.settleSend({ idEnvio, status: 'NAO_REALIZADO' });
      if (aftermath === 'return') await psp.returnSend({ idEnvio, amount });
      if (aftermath === 'parts') {
        await psp.returnSend({ idEnvio, amount: Math.floor(amount / 3) });
        // In half of them the rest stays with the receiver.
        await psp.returnSend({ idEnvio, amount: number % 2 === 0 ? amount - Math.floor(amount / 3) : 1 });
      }
    }
    const revoked = chosen.filter(({ aftermath }) => aftermath === 'revoke').length;
    const returned = chosen.length - revoked;
    progress(`${String(returned)} payouts came back, ${String(revoked)} are revoked`);
    for (;;) {
      const booked = new Map((await bookedPayouts(this.stage)).map((payout) => [payout.id, payout]));
      const missing = chosen.filter(({ number, aftermath }) => {
        const payout = booked.get(this.#answered[number] ?? '');
        return aftermath === 'revoke'
          ? payout?.status !== 'FAILED'
          : payout?.returns !== (aftermath === 'parts' ? 2 : 1);
      });
      const seconds = (performance.now() - began) / 1000;
      if (missing.length === 0) return { returned, revoked, seconds };
      if (performance.now() - began > 2 * KNOWN_MS) return { returned, revoked, seconds: null };
      await delay(500);
    }
  }

  async #verdict(funds: number, progress: Progress): Promise<PayoutsVerdict & Pick<PayoutsResult, 'reconciled'>> {
    progress('comparing both sides');
    const here = { payouts: await bookedPayouts(this.stage), wallets: await bookedWallets(this.stage) };
    const bank = await this.stage.psp.state();
    const verdict = judgePayouts(this.plan.payouts, this.#answered, bank, here, this.merchants, funds);
    const broken = await brokenPromises((sql) => this.stage.rows(sql));
    const failures: string[] = [];
    const reconciled = this.merchants.slice(0, RECONCILED);
    for (const { accountId } of reconciled) {
      const day = saoPauloDay(new Date());
      const { code, stderr } = await this.stage.cli('reconcile', '--account', accountId, '--day', day);
      if (code !== 0) failures.push(`reconcile: ${stderr.trim()}`);
    }
    const violations = [
      ...verdict.violations,
      ...failures,
      ...this.stage.died.map((how) => `a service process ended by itself: ${how}`),
      ...Object.keys(broken).map((name) => `the ledger: it is not so that ${name}`),
    ];
    return { ...verdict, violations, reconciled: reconciled.length };
  }

  /** Queries again while PostgreSQL is down. */
  async #rows<R extends object>(sql: string): Promise<R[]> {
    for (;;) {
      try {
        return await this.stage.rows<R>(sql);
      } catch {
        await delay(LOOK_MS);
      }
    }
  }

  #soFar(): string {
    return `${String(this.#requested)} payouts requested, ${String(this.#ended)} ended`;
  }
}

function destinationOf(receiver: Receiver, number: number): object {
  const cpf = CPFS[number % CPFS.length] ?? '';
  switch (receiver) {
    case 'key':
      return { type: 'pix_key', key: cpf };
    case 'own':
      return { type: 'pix_key', key: CNPJ };
    case 'account':
      return {
        ...{ type: 'bank_account', ispb: '00000000', branch: '0001', number: '12345-6', account_type: 'checking' },
        ...{ name: 'Maria Recebedora', tax_id: cpf },
      };
  }
}
