import { randomUUID } from 'node:crypto';
import { AccountsService } from '../../../src/accounts/index.js';
import { ConfirmationService, SandboxAcquirer } from '../../../src/acquirers/index.js';
import { type Actor, SYSTEM } from '../../../src/audit/index.js';
import { newReturnId } from '../../../src/brazil/index.js';
import { ChargesService } from '../../../src/charges/index.js';
import { Draft } from '../../../src/core/errors/index.js';
import { WorkService } from '../../../src/core/work/index.js';
import { MedCasesService } from '../../../src/med/desk/med-cases.service.js';
import { MedDesk, versionOf } from '../../../src/med/index.js';
import { OperationsMedService } from '../../../src/operations/operations-med.service.js';
import { OperationsService } from '../../../src/operations/operations.service.js';
import { PaymentRequestsService } from '../../../src/payments/index.js';
import { SandboxService } from '../../../src/sandbox/index.js';
import { CancellationService, ExpiryService, type WalletCorrection } from '../../../src/transactions/index.js';
import { ReleasesService } from '../../../src/wallets/releases.service.js';
import type { TestService } from '../service.js';
import { outcomeOf } from './answers.js';
import type { MoneyModel, RefundRequest, Terms } from './model.js';
import { OWN_TAX_ID, PayoutWorld } from './payout-world.js';
import type { CorrectionModel, Lost, SaleModel } from './sale.js';

export const PAYER = '52998224725';
export const STRANGER = '39053344705';
/** The shortest allowed time for paying a charge. */
export const SHORTEST_SECONDS = 60;

/** The service's state of one sale, in the model's words. */
export interface SaleState {
  readonly status: string;
  readonly refunds: readonly { amount: number; status: string; reason: string | null }[];
  readonly cases: readonly Record<string, unknown>[];
  /** Status of the sale in its last event */
  readonly told: string;
  readonly losses: number;
}

/** A merchant of a service without background work. Calls the same functions as the routes do, without HTTP. */
export class MoneyWorld {
  readonly scope;
  readonly saleIds: string[] = [];
  readonly correctionIds: string[] = [];
  readonly payouts: PayoutWorld;
  readonly #first = randomUUID();
  readonly #second = randomUUID();
  readonly #actor: Actor = SYSTEM;
  #count = 0;

  private constructor(
    private readonly service: TestService,
    readonly accountId: string,
    readonly key: string,
    ownerId: string,
    private readonly account: Awaited<ReturnType<AccountsService['get']>>,
  ) {
    this.scope = { accountId, mode: 'test' } as const;
    this.payouts = new PayoutWorld(service, accountId, ownerId, account);
  }

  static async begin(service: TestService, terms: Terms, purse: number): Promise<MoneyWorld> {
    const orNone = (cents: number | null): string => (cents === null ? 'none' : String(cents));
    const { accountId, testKey, ownerId } = await service.merchant({
      fee_bps: String(terms.feeBps),
      fee_fixed: String(terms.feeFixed),
      pix_out_fee: String(terms.pixOutFee),
      release_days: String(terms.releaseDays),
      reserve_bps: String(terms.reserveBps),
      reserve_days: '2',
      payer_lock: 'true',
      fraud_mode: 'off',
      tax_id: OWN_TAX_ID,
      payout_fee: String(terms.payouts.fee),
      payouts_to: terms.payouts.to,
      payout_approval_above: orNone(terms.payouts.approvalAbove),
      payout_new_destination_hours: String(terms.payouts.newDestinationHours),
      payout_max: orNone(terms.payouts.max),
      payout_daily_max: orNone(terms.payouts.dailyMax),
      payout_night_max: orNone(terms.payouts.nightMax),
    });
    const account = await service.get(AccountsService).get(accountId);
    const world = new MoneyWorld(service, accountId, testKey, ownerId, account);
    if (purse > 0) await world.#endow(purse);
    return world;
  }

  /** Moves the clock by a millisecond, so that no two steps have the same time. */
  tick(): void {
    this.service.clock.offsetMs += 1;
  }

  async create(
    { method, amount, isLocked }: Pick<SaleModel, 'method' | 'amount' | 'isLocked'>,
    expiresIn = 3_600,
  ): Promise<void> {
    const key = this.#newKey();
    const lock = isLocked ? { expected_payer_tax_id: PAYER } : {};
    const { body } =
      method === 'PIX'
        ? await this.service
            .get(ChargesService)
            .create(
              this.scope,
              this.account,
              new Draft({ amount, expires_in: expiresIn, customer: { name: 'Maria' }, ...lock }),
              key,
            )
        : await this.service
            .get(PaymentRequestsService)
            .create(
              this.scope,
              this.account,
              new Draft({ amount, paymentMethods: ['CREDIT_CARD'], customerName: 'Maria', idempotencyKey: key }),
            );
    this.saleIds.push(body.id.replace(/^ch_/, ''));
  }

  /** Simulates an event at the sandbox bank, which the service applies at once. */
  happens(sale: number, event: Record<string, unknown>): Promise<void> {
    return this.service.get(SandboxService).simulatePayment(this.scope, this.#id(sale), event as never);
  }

  /** The bank receives a Pix in time and reports it after the expiry. */
  async toldLate(sale: number, amount: number): Promise<void> {
    const [charge] = await this.service.sql<{ txid: string }>('SELECT txid FROM transactions WHERE id = $1', [
      this.#id(sale),
    ]);
    const payer = { document: PAYER, name: null };
    const pix = {
      accountId: this.accountId,
      txid: charge?.txid ?? '',
      reference: this.newReference(),
      method: 'PIX',
      amount,
      payer,
    } as const;
    const news = await this.service.get(SandboxAcquirer).orders.receivePayment(pix);
    this.service.clock.offsetMs += SHORTEST_SECONDS * 1_000;
    const failure = await this.service.get(ConfirmationService).confirm(news);
    if (failure !== null) throw failure as Error;
  }

  cancel(sale: number): Promise<number | string> {
    return outcomeOf(this.service.get(CancellationService).cancel(this.scope, this.#id(sale)), 200);
  }

  async review(sale: number, decision: 'accept' | 'return'): Promise<void> {
    const [held] = await this.service.sql<{ id: string }>(
      `SELECT id FROM settlements WHERE transaction_id = $1 AND outcome = 'review'`,
      [this.#id(sale)],
    );
    const operations = this.service.get(OperationsService);
    const decide = decision === 'accept' ? 'acceptReview' : 'returnReview';
    await operations[decide](held?.id ?? '', this.#first, this.#actor);
    // The money may be due for release already, since days may have passed since it arrived.
    await this.#release();
  }

  /** @param key idempotency key; a repeated key is a repeated request */
  refund(sale: number, { amount, strategy, passFee }: RefundRequest, key = this.#newKey()): Promise<number | string> {
    const caller = { account: this.account, actor: this.#actor };
    const refund = this.service.get(PaymentRequestsService).refund(this.scope, caller, this.#id(sale), {
      ...(amount === null ? {} : { amount }),
      ...(strategy === null ? {} : { strategy }),
      ...{ passFeeToTenant: passFee, idempotencyKey: key },
    });
    return outcomeOf(refund, 201);
  }

  /**
   * Runs the worker once for a refund, 0.5 s later: a refund at the bank has then arrived.
   * @param fails whether the bank refuses the refund @param lost when the worker's call is lost; null: not
   * @returns the number of calls that the worker made
   */
  async work(sale: number, refund: number, fails: boolean, lost: Lost | null): Promise<number> {
    const id = await this.#refundId(sale, refund);
    if (fails) await this.happens(sale, { event: 'refund_fail' });
    this.service.clock.offsetMs += 500;
    const bank = this.service.get(SandboxAcquirer);
    const requestReturn = bank.requestReturn.bind(bank);
    let calls = 0;
    bank.requestReturn = async (request) => {
      calls += 1;
      if (lost === 'before') throw new Error('The call was lost');
      const state = await requestReturn(request);
      if (lost === 'after') throw new Error('The answer was lost');
      return state;
    };
    try {
      const failure = await this.service.get(WorkService).runNow('refund', id);
      if (failure !== null) throw failure;
    } finally {
      bank.requestReturn = requestReturn;
    }
    return calls;
  }

  /** The bank changes the amount of a dispute, and reports it. */
  async restate(sale: number, medCase: number, amount: number): Promise<void> {
    const [dispute] = await this.service.sql<{ reference: string; txid: string }>(
      `UPDATE sandbox_disputes d SET amount = $2, updated_at = $3 FROM med_cases c
       WHERE c.id = $1 AND d.reference = c.reference RETURNING d.reference, d.txid`,
      [await this.#caseId(sale, medCase), amount, this.service.clock.now()],
    );
    if (!dispute) throw new Error(`The bank has no dispute of case ${String(medCase)}`);
    const confirmations = this.service.get(ConfirmationService);
    const [failure] = await confirmations.confirmNow('sandbox', [{ kind: 'dispute', ...dispute }]);
    if (failure != null) throw failure as Error;
  }

  async answer(sale: number, medCase: number, answer: 'appeal' | 'accept'): Promise<number | string> {
    const cases = this.service.get(MedCasesService);
    const id = await this.#caseId(sale, medCase);
    return outcomeOf(
      answer === 'appeal'
        ? cases.appeal(this.scope, id, 'The goods were delivered.', this.#actor)
        : cases.accept(this.scope, id, this.#actor),
      200,
    );
  }

  async decide(
    sale: number,
    medCase: number,
    decision: 'approve' | 'dismiss',
    amount: number | null,
  ): Promise<number | string> {
    const id = await this.#caseId(sale, medCase);
    const version = versionOf(await this.service.get(MedDesk).find(id));
    const seen = { version, operatorId: this.#first };
    const desk = this.service.get(OperationsMedService);
    return outcomeOf(
      decision === 'approve' ? desk.approve(id, amount, seen, this.#actor) : desk.dismiss(id, seen, this.#actor),
      200,
    );
  }

  /**
   * Enters a correction, and appends its id to `correctionIds`.
   * @param named index of the refund under whose id at the bank it is entered; null: without an id
   */
  async enter(
    sale: number,
    what: Pick<CorrectionModel, 'kind' | 'borneBy' | 'amount'>,
    named: number | null,
  ): Promise<number | string> {
    const bankReference = named === null ? null : newReturnId(await this.#refundId(sale, named));
    const entered = this.#correct({ ...what, bankReference, transactionId: this.#id(sale) }, this.#first);
    return outcomeOf(
      entered.then((id) => this.correctionIds.push(id)),
      200,
    );
  }

  decideEntry(correction: number, decision: 'approve' | 'reject', isOwn: boolean): Promise<number | string> {
    const id = this.correctionIds[correction] ?? '';
    const who = isOwn ? this.#first : this.#second;
    return outcomeOf(this.service.get(OperationsService).decideCorrection(decision, id, who, this.#actor), 200);
  }

  /** The next day comes: due money is released, and unpaid charges expire. @param at time in milliseconds */
  async nextDay(at: number): Promise<void> {
    this.service.clock.offsetMs += at - this.service.clock.now().getTime();
    await this.#release();
    await this.service.get(ExpiryService).expireDueOf(this.scope);
  }

  /** Runs the worker until all returns have reached their payers. */
  async settleReturns(): Promise<void> {
    for (let round = 0; round < 5; round++) {
      this.service.clock.offsetMs += 500;
      const due = await this.service.sql<{ id: string }>(
        `SELECT subject_id AS id FROM work w JOIN pix_returns p ON p.id::text = w.subject_id::text
         WHERE w.kind = 'return' AND p.account_id = $1`,
        [this.accountId],
      );
      if (due.length === 0) return;
      for (const { id } of due) await this.service.get(WorkService).runNow('return', id);
    }
    throw new Error('Returns did not come to their end');
  }

  balance(): Promise<MoneyModel['balance']> {
    return this.#buckets(['available', 'pending', 'retained', 'reserved']);
  }

  /** The buckets that the merchant does not see */
  books(): Promise<MoneyModel['books']> {
    return this.#buckets(['suspense', 'clearing', 'platform_fees', 'provider_fees']);
  }

  async #buckets<B extends string>(buckets: readonly B[]): Promise<Record<B, number>> {
    const rows = await this.service.sql<{ bucket: string; amount: number }>(
      `SELECT bucket, amount::float8 AS amount FROM balances WHERE account_id = $1 AND mode = 'test'`,
      [this.accountId],
    );
    const of = (bucket: B): number => rows.find((row) => row.bucket === bucket)?.amount ?? 0;
    return Object.fromEntries(buckets.map((bucket) => [bucket, of(bucket)])) as Record<B, number>;
  }

  async stateOf(sale: number): Promise<SaleState> {
    const [row] = await this.service.sql<{ state: SaleState }>(STATE, [this.#id(sale)]);
    if (!row) throw new Error(`There is no sale ${String(sale)}`);
    return row.state;
  }

  async backsOf(sale: number): Promise<string[]> {
    const rows = await this.service.sql<{ reason: string }>(
      'SELECT reason FROM pix_returns WHERE transaction_id = $1',
      [this.#id(sale)],
    );
    return rows.map(({ reason }) => reason).sort();
  }

  /** Reads the money at the bank, by the bank's books and by ours, without disputes; and the bank's fees. */
  async atTheBank(): Promise<{ there: number; here: number; charged: number }> {
    const [held] = await this.service.sql<{ there: number; here: number; charged: number }>(AT_THE_BANK, [
      this.accountId,
    ]);
    if (!held) throw new Error('The bank says nothing');
    return held;
  }

  newReference(): string {
    return `E00000000202611211530${this.accountId.slice(-5)}${String(++this.#count).padStart(6, '0')}`;
  }

  async #release(): Promise<void> {
    while (await this.service.get(ReleasesService).run());
  }

  /** Gives the merchant money that belongs to no sale, by an approved correction. */
  async #endow(amount: number): Promise<void> {
    const loss = {
      kind: 'loss',
      borneBy: 'merchant',
      amount: -amount,
      bankReference: null,
      transactionId: null,
    } as const;
    const id = await this.#correct(loss, randomUUID());
    await this.service.get(OperationsService).decideCorrection('approve', id, randomUUID(), this.#actor);
  }

  async #correct(
    what: Pick<WalletCorrection, 'kind' | 'borneBy' | 'amount' | 'bankReference' | 'transactionId'>,
    operatorId: string,
  ): Promise<string> {
    const about = { ...this.scope, currency: 'BRL', acquirer: null, invoiceMonth: null };
    const wanted = { ...about, ...what, reason: 'As the bank says', idempotencyKey: this.#newKey() };
    return (await this.service.get(OperationsService).correct(wanted, operatorId, this.#actor)).id;
  }

  async #refundId(sale: number, refund: number): Promise<string> {
    const [found] = await this.service.sql<{ id: string }>(
      'SELECT id FROM refunds WHERE transaction_id = $1 ORDER BY id OFFSET $2 LIMIT 1',
      [this.#id(sale), refund],
    );
    return found?.id ?? '';
  }

  async #caseId(sale: number, medCase: number): Promise<string> {
    const [found] = await this.service.sql<{ id: string }>(
      'SELECT id FROM med_cases WHERE transaction_id = $1 ORDER BY id OFFSET $2 LIMIT 1',
      [this.#id(sale), medCase],
    );
    return found?.id ?? '';
  }

  #newKey(): string {
    return `model-${this.accountId}-${String(++this.#count)}`;
  }

  #id(sale: number): string {
    return this.saleIds[sale] ?? '';
  }
}

const LAST_EVENT = `(SELECT v.data FROM events v WHERE v.subject_id = c.id AND v.type IN ('med_case.opened', 'med_case.moved')
  ORDER BY v.sequence DESC LIMIT 1) -> 'case'`;
/** Reads the state of a sale. The last event about a case's end is `med_case.resolved` or `med_case.corrected`. */
const STATE = `SELECT json_build_object(
  'status', t.status,
  'losses', t.losses_amount,
  'refunds', coalesce((
    SELECT json_agg(json_build_object('amount', r.amount, 'status', r.status, 'reason', r.failure_reason) ORDER BY r.id)
    FROM refunds r WHERE r.transaction_id = t.id), '[]'),
  'cases', coalesce((
    SELECT json_agg(json_build_object('kind', c.type, 'status', c.status, 'amount', c.amount, 'outcome', c.money_outcome,
      'held', c.held_amount, 'lost', c.lost_amount, 'isVisible', c.visible, 'reported', c.reported_amount, 'review', c.review,
      'toldStatus', ${LAST_EVENT} ->> 'status', 'toldOutcome', ${LAST_EVENT} ->> 'money_outcome',
      'told', (SELECT (v.data -> 'resolution' ->> 'amount')::bigint FROM events v
        WHERE v.subject_id = c.id AND v.type IN ('med_case.resolved', 'med_case.corrected')
        ORDER BY v.sequence DESC LIMIT 1)) ORDER BY c.id)
    FROM med_cases c WHERE c.transaction_id = t.id), '[]'),
  'told', (SELECT v.data -> 'transaction' ->> 'status' FROM events v
    WHERE v.subject_id = t.id AND v.type LIKE 'transaction.%' ORDER BY v.sequence DESC LIMIT 1)) AS state
  FROM transactions t WHERE t.id = $1`;

const AT_THE_BANK = `SELECT
  (coalesce((SELECT sum(amount) FROM sandbox_pix WHERE holder_id = $1), 0)
    - coalesce((SELECT sum(amount) FROM sandbox_returns WHERE holder_id = $1 AND NOT fails), 0)
    - coalesce((SELECT sum(b.amount - (SELECT coalesce(sum((r ->> 'amount')::bigint), 0) FROM jsonb_array_elements(b.returns) r))
        FROM sandbox_payouts b
        WHERE b.holder_id = $1 AND b.requested_at IS NOT NULL AND b.state IN ('auto', 'paid')), 0))::float8 AS there,
  coalesce((SELECT -sum(l.amount) FROM journal_lines l JOIN journal_entries e ON e.id = l.entry_id
    WHERE l.account_id = $1 AND l.bucket = 'clearing' AND e.cause NOT LIKE ALL (ARRAY['med.%', 'correction:%'])), 0)::float8 AS here,
  coalesce((SELECT sum(amount) FROM balances WHERE account_id = $1 AND bucket = 'provider_fees'), 0)::float8 AS charged`;
