import { randomUUID } from 'node:crypto';
import { AccountsService } from '../../../src/accounts/index.js';
import { ConfirmationService, SandboxAcquirer } from '../../../src/acquirers/index.js';
import { SYSTEM } from '../../../src/audit/index.js';
import { Draft } from '../../../src/core/errors/index.js';
import { WorkService } from '../../../src/core/work/index.js';
import { PayoutDecisions, PayoutsService, sendIdOf } from '../../../src/payouts/index.js';
import { PayoutApprovals } from '../../../src/payouts/payout-approvals.service.js';
import { PayoutDestinationsService } from '../../../src/payouts/payout-destinations.service.js';
import { PayoutRequests } from '../../../src/payouts/payout-requests.service.js';
import { PayoutSchedules } from '../../../src/payouts/payout-schedules.service.js';
import { StatementService } from '../../../src/wallets/statement.service.js';
import { outcomeOf } from './answers.js';
import { CNPJ, CPF, OTHER_BRANCH, OTHER_CPF } from '../payouts.js';
import { PASSWORD, type TestService } from '../service.js';
import { type BankEvent, type Call, type PayoutRequest, type Person, type ScheduleModel } from './payouts.js';

/** Tax id of the merchant */
export const OWN_TAX_ID = CNPJ;

const RECEIVERS = [
  { type: 'pix_key', key: CNPJ },
  {
    ...{ type: 'bank_account', ispb: '00000000', branch: '0001', number: '1234567', account_type: 'checking' },
    ...{ name: 'Padaria São João Ltda', tax_id: OTHER_BRANCH },
  },
  { type: 'pix_key', key: CPF },
  { type: 'pix_key', key: 'ana@example.com', tax_id: OTHER_CPF },
] as const;

/** The service's state of one payout, as its merchant sees it. */
export interface PayoutState {
  readonly status: string;
  readonly isWaiting: boolean;
  /** Milliseconds; null: sent at once, or sent */
  readonly sendAfter: number | null;
  readonly processing: string | null;
  readonly failure: string | null;
  readonly amountReturned: number;
  readonly returns: readonly number[];
  readonly isScheduled: boolean;
  readonly events: readonly unknown[];
  readonly lines: readonly (readonly [string, number])[];
}

/** The payouts of a merchant. Calls the same functions as the routes do, without HTTP. */
export class PayoutWorld {
  readonly ids: string[] = [];
  /** Id of the destination that was saved last for each receiver */
  readonly #destinations: string[] = [];
  readonly #people = new Map<Person, Promise<string>>();
  readonly #scope;

  constructor(
    private readonly service: TestService,
    private readonly accountId: string,
    ownerId: string,
    private readonly account: Awaited<ReturnType<AccountsService['get']>>,
  ) {
    this.#scope = { accountId, mode: 'test' } as const;
    this.#people.set('owner', Promise.resolve(ownerId));
  }

  /** @param key idempotency key; a repeated key is a repeated request @returns the answer, and the id of the payout */
  async request(
    { amount, to, isSaved, allowsDuplicate }: PayoutRequest,
    key: string,
  ): Promise<{ answer: number | string; id: string | null }> {
    const destination = isSaved ? `pd_${this.#destinations[to] ?? ''}` : (RECEIVERS[to] as Record<string, unknown>);
    const draft = new Draft({ amount, destination, allow_duplicate: allowsDuplicate });
    const caller = { ...(await this.#caller()), account: this.account };
    let id: string | null = null;
    const made = this.service.get(PayoutRequests).create(caller, draft, key);
    const answer = await outcomeOf(
      made.then(({ body }) => (id = body.id.replace(/^po_/, ''))),
      201,
    );
    return { answer, id };
  }

  async save(to: number): Promise<void> {
    const draft = new Draft({ ...RECEIVERS[to] } as never);
    this.#destinations[to] = (await this.service.get(PayoutDestinationsService).save(await this.#caller(), draft)).id;
  }

  async approveDestination(to: number): Promise<void> {
    await this.service
      .get(PayoutApprovals)
      .approveDestination(this.#scope, this.#idOf(to), await this.#decider('owner'));
  }

  async removeDestination(to: number): Promise<void> {
    await this.service.get(PayoutDestinationsService).remove(this.#scope, this.#idOf(to), SYSTEM);
  }

  async decide(payout: number, decision: 'approve' | 'refuse', by: Person): Promise<number | string> {
    const decider = await this.#decider(by);
    return outcomeOf(this.service.get(PayoutApprovals)[decision](this.#scope, this.#id(payout), decider), 200);
  }

  cancel(payout: number): Promise<number | string> {
    return outcomeOf(this.service.get(PayoutsService).cancel(this.#scope, this.#id(payout), SYSTEM), 200);
  }

  resolve(payout: number, outcome: 'paid' | 'failed'): Promise<number | string> {
    const decision = { outcome, endToEndId: null, failure: null, reason: 'As the bank says' };
    return outcomeOf(this.service.get(PayoutDecisions).resolve(this.#id(payout), decision, SYSTEM), 200);
  }

  /** Simulates an event at the sandbox bank. Nothing reads the report in the inbox: `report` makes another one. */
  happens(payout: number, event: BankEvent, amount: number, part: number | null): Promise<number | string> {
    const { payouts } = this.service.get(SandboxAcquirer);
    return outcomeOf(payouts.simulate(this.#name(payout), event, amount, part), 200);
  }

  /** The bank reports that something has happened, and the service looks the payout up. */
  async report(payout: number): Promise<void> {
    const reference = `${this.#name(payout).sendId}/${randomUUID()}`;
    const [failure] = await this.service
      .get(ConfirmationService)
      .confirmNow('sandbox', [{ kind: 'payout', reference }]);
    if (failure != null) throw failure as Error;
  }

  /** Runs the worker once. @param call answer of the bank if the run calls it @returns the number of calls */
  async work(payout: number, call: Call): Promise<number> {
    const { payouts } = this.service.get(SandboxAcquirer);
    const send = payouts.send.bind(payouts);
    let calls = 0;
    payouts.send = async (order) => {
      calls += 1;
      if (call === 'refused') return { kind: 'refused', reason: 'refused' };
      if (call === 'invalid') return { kind: 'refused', reason: 'destination_invalid' };
      if (call === 'not now') return { kind: 'not_now', retryAfterMs: 5_000 };
      if (call === 'lost before') return { kind: 'unknown' };
      const answer = await send(order);
      return call === 'lost after' ? { kind: 'unknown' } : answer;
    };
    try {
      const failure = await this.service.get(WorkService).runNow('payout', this.#id(payout));
      if (failure !== null) throw failure;
    } finally {
      payouts.send = send;
    }
    return calls;
  }

  async schedule(schedule: Pick<ScheduleModel, 'to' | 'leave' | 'minimum' | 'minute'>): Promise<void> {
    const { to, leave, minimum, minute } = schedule;
    const at = [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, '0')).join(':');
    const payoutSchedule = { every: 'day', on: null, at, destination: this.#idOf(to), leave, minimum } as const;
    await this.service.get(AccountsService).change(this.accountId, { payoutSchedule }, SYSTEM);
  }

  /** Runs the schedule twice at once. @returns the number of payouts that it made */
  async runSchedule(): Promise<number> {
    const schedules = this.service.get(PayoutSchedules);
    await Promise.all([schedules.run(this.accountId), schedules.run(this.accountId)]);
    const made = await this.service.sql<{ id: string }>(
      'SELECT id FROM payouts WHERE account_id = $1 AND NOT id = ANY ($2::uuid[]) ORDER BY id',
      [this.accountId, this.ids],
    );
    this.ids.push(...made.map(({ id }) => id));
    return made.length;
  }

  async stateOf(payout: number): Promise<PayoutState> {
    const id = this.#id(payout);
    const [body, { data: lines }, [found]] = await Promise.all([
      this.service.get(PayoutsService).get(this.#scope, id),
      this.service.get(StatementService).list(this.#scope, { source: `po_${id}`, limit: 100 }),
      this.service.sql<{ events: unknown[]; scheduled: boolean }>(STATE, [id]),
    ]);
    return {
      status: body.status,
      isWaiting: body.approval?.status === 'waiting',
      sendAfter: body.send_after === undefined ? null : new Date(body.send_after).getTime(),
      processing: body.processing_reason ?? null,
      failure: body.failure?.reason ?? null,
      amountReturned: body.amount_returned ?? 0,
      returns: (body.returns ?? []).map(({ amount }) => amount),
      isScheduled: found?.scheduled === true,
      events: found?.events ?? [],
      lines: lines.map(({ type, amount }) => [type, amount] as const).reverse(),
    };
  }

  async #caller(): Promise<{ scope: { accountId: string; mode: 'test' }; personId: string; actor: typeof SYSTEM }> {
    return { scope: this.#scope, personId: await this.#person('asker'), actor: SYSTEM };
  }

  async #decider(by: Person): Promise<{ userId: string; role: 'OWNER' | 'ADMIN'; code: null; actor: typeof SYSTEM }> {
    return { userId: await this.#person(by), role: by === 'owner' ? 'OWNER' : 'ADMIN', code: null, actor: SYSTEM };
  }

  /** Adds the person as a member of the account when the first step needs them. */
  #person(who: Person): Promise<string> {
    const known = this.#people.get(who);
    if (known) return known;
    const member = { email: `${who}-${this.accountId}@example.com`, password: PASSWORD, role: 'ADMIN' } as const;
    const added = this.service.get(AccountsService).addMember(this.accountId, member, SYSTEM);
    const userId = added.then((user) => user.userId);
    this.#people.set(who, userId);
    return userId;
  }

  #name(payout: number): { accountId: string; sendId: string } {
    return { accountId: this.accountId, sendId: sendIdOf(this.#id(payout)) };
  }

  #idOf(to: number): string {
    return this.#destinations[to] ?? '';
  }

  #id(payout: number): string {
    return this.ids[payout] ?? '';
  }
}

const STATE = `SELECT p.occurrence IS NOT NULL AS scheduled, (
    SELECT json_agg(json_build_array(v.type, v.data -> 'payout' ->> 'status', v.data ->> 'previousStatus',
      (v.data -> 'return' ->> 'amount')::bigint) ORDER BY v.sequence)
    FROM events v WHERE v.subject_id = p.id) AS events
  FROM payouts p WHERE p.id = $1`;
