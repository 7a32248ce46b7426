import { afterAll, beforeAll, expect } from '@jest/globals';
import type { PspSimulator } from '../../tools/psp-simulator/simulator.js';
import { saoPauloDay } from '../../src/brazil/index.js';
import { type Difference, ReconciliationService } from '../../src/reconciliation/index.js';
import { StatementSweep } from '../../src/reconciliation/statement-sweep.service.js';
import { expectLedgerCoherent } from './coherence.js';
import { aLivePsp, type LivePsp } from './live.js';
import { type BalanceAnswer, balance } from './med.js';
import type { ChargeAnswer, Merchant, TestService } from './service.js';
import { waitFor } from './wait.js';

type Payment = Parameters<PspSimulator['pay']>[0];
type Pix = ReturnType<PspSimulator['pay']>;

/** A merchant with a live key whose PSP is simulated and calls back, as it was told to: what stories of live money begin with. */
export class LiveStory {
  merchant!: Merchant;
  live!: LivePsp;
  #began!: Date;

  private constructor(readonly service: TestService) {}

  static async start(service: TestService, settings?: Record<string, string>): Promise<LiveStory> {
    const story = new LiveStory(service);
    await story.#begin(settings);
    return story;
  }

  /** As `TestService.forSpec`, whose service it takes. */
  static forSpec(service: TestService, settings?: Record<string, string>): LiveStory {
    const story = new LiveStory(service);
    beforeAll(() => story.#begin(settings));
    afterAll(() => story.stop());
    return story;
  }

  async #begin(settings: Record<string, string> = {}): Promise<void> {
    this.merchant = await this.service.merchant(settings);
    this.live = await aLivePsp(this.service, this.merchant.accountId);
    const { psp, pixKey, callbackUrl } = this.live;
    const { status } = await psp.call('PUT', `/webhook/${pixKey}`, { webhookUrl: callbackUrl });
    expect(status).toBe(200);
    this.#began = this.service.clock.now();
  }

  get bank(): PspSimulator {
    return this.live.psp.simulator;
  }

  get key(): string {
    return this.merchant.liveKey;
  }

  async charge(body: Record<string, unknown> = {}): Promise<ChargeAnswer> {
    const answer = await this.service.createCharge(this.key, body);
    expect([answer.status, answer.text]).toEqual([201, answer.text]);
    return answer.body;
  }

  /** A payer pays it at the bank. */
  pay({ pix }: Pick<ChargeAnswer, 'pix'>, how: Omit<Payment, 'txid'> = {}): Pix {
    return this.bank.pay({ txid: pix.txid ?? '', ...how });
  }

  /** @returns the charge with that status */
  becomes({ id }: Pick<ChargeAnswer, 'id'>, status: string): Promise<ChargeAnswer> {
    return waitFor(`${id} to be ${status}`, async () => {
      const { body } = await this.service.getCharge(this.key, id);
      return body.status === status && body;
    });
  }

  async paid(body: Record<string, unknown> = {}): Promise<{ charge: ChargeAnswer; endToEndId: string }> {
    const made = await this.charge(body);
    const { endToEndId } = this.pay(made);
    return { charge: await this.becomes(made, 'paid'), endToEndId };
  }

  /** Amount and state of each return of a Pix at the bank. */
  returned(endToEndId: string): string[] {
    const pix = this.bank.state().pix.find((one) => one.endToEndId === endToEndId);
    return (pix?.devolucoes ?? []).map(({ valor, status }) => `${valor} ${status}`);
  }

  balance(): Promise<BalanceAnswer> {
    return balance(this.service, this.key);
  }

  /** Has the bank's list read now, instead of when a minute is over. The list does not show the last seconds. */
  async sweepStatement(): Promise<void> {
    this.service.clock.advance(4);
    await this.service.sql(`UPDATE acquirer_statements SET next_due_at = now() - interval '1 day'`);
    await this.service.get(StatementSweep).sweep();
  }

  /** Calls of one operation that the bank has seen. */
  asked(operation: keyof ReturnType<PspSimulator['state']>['traffic']['requests']): number {
    return this.bank.state().traffic.requests[operation] ?? 0;
  }

  /** Differences between the bank's books of these days and ours */
  async differences(): Promise<Difference[]> {
    const days = new Set([this.#began, this.service.clock.now()].map((time) => saoPauloDay(time)));
    const found: Difference[] = [];
    for (const day of days) {
      const compared = await this.service.get(ReconciliationService).compare(this.merchant.accountId, day);
      expect(compared.notCompared).toEqual([]);
      found.push(...compared.acquirers.flatMap(({ differences }) => differences));
    }
    return found;
  }

  /** Checks that the ledger is coherent, and that the bank's books of these days equal ours. */
  async expectSameBooks(): Promise<void> {
    expect(await this.differences()).toEqual([]);
    expect(await this.#heldHere()).toBe(this.#heldThere());
    await expectLedgerCoherent(this.service.database.url);
  }

  /** Cents of the merchant that the bank has, by its books. */
  #heldThere(): number {
    const cents = ({ valor }: { readonly valor: string }): number => Math.round(Number(valor) * 100);
    const moved = this.bank
      .state()
      .pix.filter(({ chave }) => chave === this.live.pixKey)
      .flatMap((pix) => [
        cents(pix),
        ...(pix.devolucoes ?? []).filter(({ status }) => status === 'DEVOLVIDO').map((one) => -cents(one)),
      ]);
    return moved.reduce((sum, amount) => sum + amount, 0);
  }

  /** Cents of the merchant at the bank, by our ledger. */
  async #heldHere(): Promise<number> {
    const [held] = await this.service.sql<{ amount: number }>(
      `SELECT coalesce(-sum(amount), 0)::float8 AS amount FROM balances
       WHERE account_id = $1 AND mode = 'live' AND bucket = 'clearing'`,
      [this.merchant.accountId],
    );
    return held?.amount ?? 0;
  }

  /** As `PspUnderTest.stop`. */
  stop(departures: readonly RegExp[] = []): Promise<void> {
    return this.live.psp.stop(departures);
  }
}
