import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  AcquirersService,
  ConfirmationService,
  InboxService,
  type PixChargeRequest,
  type PixChargeState,
  type PixIssueOutcome,
  type ReceivedPix,
  type ReturnName,
  type ReturnRequest,
  type ReturnState,
} from '../../../src/acquirers/index.js';
import { saoPauloDay } from '../../../src/brazil/index.js';
import { Database } from '../../../src/core/database/index.js';
import { WorkService } from '../../../src/core/work/index.js';
import type { ReportBody } from '../../../src/reports/dto/report.body.js';
import { ObjectStorage } from '../../../src/storage/index.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { FarBank } from '../../support/far-bank.js';
import { available, paymentIdOf, refundsOf, requestRefund } from '../../support/refunds.js';
import { TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

interface HeldAnswer {
  readonly to: 'request' | 'question';
  /** Gives the answer to the caller. */
  give(): void;
}

/** A bank that refuses one request and takes the next one under the same name; a test may hold its answers back. */
class SlowBank extends FarBank {
  /** Number of requests refused without a trace, as for lack of money at the PSP */
  refusals = 0;
  holds = false;
  readonly #held: HeldAnswer[] = [];
  readonly #issue = this.pixIssuer.issue;

  override async requestReturn(request: ReturnRequest): Promise<ReturnState> {
    const isRefused = this.refusals > 0;
    if (isRefused) this.refusals -= 1;
    const answer: ReturnState = isRefused
      ? { kind: 'failed', reason: 'insufficient_funds' }
      : await super.requestReturn(request);
    await this.#hold('request');
    return answer;
  }

  override async getPixCharge(txid: string): Promise<PixChargeState> {
    const answer = await super.getPixCharge(txid);
    await this.#hold('question');
    return answer;
  }

  async issueSlowly(request: PixChargeRequest): Promise<PixIssueOutcome> {
    const isRefused = this.refusals > 0;
    if (isRefused) this.refusals -= 1;
    const answer: PixIssueOutcome = isRefused
      ? { kind: 'refused', code: 'NEGADA', reason: 'Not now.' }
      : await this.#issue(request);
    await this.#hold('request');
    return answer;
  }

  override async getReturn(name: ReturnName): Promise<ReturnState> {
    const answer = await super.getReturn(name);
    await this.#hold('question');
    return answer;
  }

  #hold(to: HeldAnswer['to']): Promise<void> {
    return this.holds ? new Promise((give) => this.#held.push({ to, give })) : Promise.resolve();
  }

  /** Kind of the answer that is held back next */
  async heldAnswer(to: HeldAnswer['to']): Promise<HeldAnswer> {
    const held = await waitFor(`an answer to a ${to}`, () => this.#held.shift());
    expect(held.to).toBe(to);
    return held;
  }
}

describe('a run that was overtaken by another run', () => {
  const service = TestService.forSpec({ env: { ROLE: 'api' } });
  let bank: SlowBank;
  let key: string;

  beforeEach(async () => {
    bank = new SlowBank();
    Object.assign(bank.pixIssuer, { issue: bank.issueSlowly.bind(bank) });
    service.get(AcquirersService).register(bank, { servesTestMode: true });
    key = (await service.merchant()).testKey;
  });
  afterEach(() => expectLedgerCoherent(service.database.url));

  async function paid(amount: number, received = amount): Promise<{ id: string; pix: ReceivedPix }> {
    const { body } = await service.createCharge(key, { amount });
    const charge = { txid: body.pix.txid ?? '', amount: received };
    const pix = bank.receive(charge, { settledAt: service.clock.now() });
    const hint = { kind: 'pix', reference: pix.endToEndId } as const;
    const stored = service.get(Database).transaction((tx) => service.get(InboxService).store(tx, bank.name, hint));
    expect(await service.get(ConfirmationService).confirm(await stored)).toBeNull();
    return { id: paymentIdOf(body), pix };
  }

  /** Starts another run, which takes the work from the current run. */
  const run = (kind: 'acquirer' | 'refund' | 'report' | 'return', id: string): Promise<Error | null> =>
    service.get(WorkService).runNow(kind, id);

  it('does not record a refund as refused when the other run had it accepted', async () => {
    const { id, pix } = await paid(100);
    const { body: refund } = await requestRefund(service, key, id);
    bank.refusals = 1;
    bank.holds = true;
    const first = run('refund', refund.id);
    const refusal = await bank.heldAnswer('request');
    bank.holds = false;
    expect(await run('refund', refund.id)).toBeNull();
    refusal.give();
    expect(await first).toMatchObject({ name: 'LeaseLost' });
    await run('refund', refund.id);
    expect(bank.returnsOf(pix.endToEndId)).toMatchObject([{ amount: 100 }]);
    expect(await refundsOf(service, key, id)).toMatchObject([{ status: 'REFUNDED' }]);
    expect(await available(service, key)).toBe(0);
  });

  it('does not believe a refusal while the other run asks the bank again', async () => {
    const { id, pix } = await paid(100);
    const { body: refund } = await requestRefund(service, key, id);
    bank.returnFault = () => 'lost before';
    for (let attempt = 0; attempt < 11; attempt++) await run('refund', refund.id);
    bank.returnFault = () => null;
    service.clock.advance(600);
    bank.refusals = 1;
    bank.holds = true;
    const first = run('refund', refund.id);
    (await bank.heldAnswer('question')).give();
    (await bank.heldAnswer('request')).give();
    const last = await bank.heldAnswer('question');
    const second = run('refund', refund.id);
    const asked = await bank.heldAnswer('question');
    bank.holds = false;
    last.give();
    expect(await first).toMatchObject({ name: 'LeaseLost' });
    asked.give();
    expect(await second).toBeNull();
    await run('refund', refund.id);
    expect(bank.returnsOf(pix.endToEndId)).toMatchObject([{ amount: 100 }]);
    expect(await refundsOf(service, key, id)).toMatchObject([{ status: 'REFUNDED' }]);
    expect(await available(service, key)).toBe(0);
  });

  it('sends no further request to the bank', async () => {
    const { id, pix } = await paid(100);
    const { body: refund } = await requestRefund(service, key, id);
    bank.returnFault = () => 'lost before';
    await run('refund', refund.id);
    bank.returnFault = () => null;
    bank.holds = true;
    const first = run('refund', refund.id);
    const absent = await bank.heldAnswer('question');
    const second = run('refund', refund.id);
    const absentAgain = await bank.heldAnswer('question');
    bank.holds = false;
    absent.give();
    expect(await first).toMatchObject({ name: 'LeaseLost' });
    expect(bank.returnsOf(pix.endToEndId)).toEqual([]);
    absentAgain.give();
    expect(await second).toBeNull();
    expect(bank.returnsOf(pix.endToEndId)).toMatchObject([{ amount: 100 }]);
    await run('refund', refund.id);
  });

  it('does not record a charge as refused when the other run had it accepted', async () => {
    const body = { amount: 100, paymentMethods: ['PIX'], idempotencyKey: 'order-1042' };
    const { body: made } = await service.call<{ id: string }>('POST', '/v1/payments', { key, body });
    const id = made.id.replace('tx_', '');
    bank.refusals = 1;
    bank.holds = true;
    const first = run('acquirer', id);
    (await bank.heldAnswer('question')).give();
    (await bank.heldAnswer('request')).give();
    const last = await bank.heldAnswer('question');
    const second = run('acquirer', id);
    (await bank.heldAnswer('question')).give();
    const accepted = await bank.heldAnswer('request');
    bank.holds = false;
    last.give();
    expect(await first).toMatchObject({ name: 'LeaseLost' });
    accepted.give();
    expect(await second).toBeNull();
    const { body: payment } = await service.call('GET', `/v1/payments/${id}`, { key });
    expect(payment).toMatchObject({
      status: 'WAITING_PAYMENT',
      pixCopyPaste: expect.stringContaining('br.gov.bcb.pix'),
    });
  });

  it('does not record a return as refused when the other run had it accepted', async () => {
    const { pix } = await paid(100, 99);
    const find = (): Promise<{ id: string; status: string }[]> =>
      service.sql('SELECT id, status FROM pix_returns WHERE end_to_end_id = $1', [pix.endToEndId]);
    const [{ id } = { id: '' }] = await find();
    bank.refusals = 1;
    bank.holds = true;
    const first = run('return', id);
    const refusal = await bank.heldAnswer('request');
    bank.holds = false;
    expect(await run('return', id)).toBeNull();
    refusal.give();
    expect(await first).toMatchObject({ name: 'LeaseLost' });
    await run('return', id);
    expect(bank.returnsOf(pix.endToEndId)).toMatchObject([{ amount: 99 }]);
    expect(await find()).toMatchObject([{ status: 'RETURNED' }]);
  });

  it('does not record a report as failed when the other run makes it', async () => {
    const today = saoPauloDay(new Date());
    const body = { type: 'statement', format: 'csv', from: today, to: today };
    const { body: asked } = await service.call<ReportBody>('POST', '/v1/reports', { key, body });
    const id = asked.id.slice('rep_'.length);
    // Leaves a single attempt.
    await service.sql('UPDATE work SET attempts = 4 WHERE subject_id = $1', [id]);
    const storage = service.get(ObjectStorage);
    const write = storage.write.bind(storage);
    let goOn: () => void = () => undefined;
    let other: Promise<Error | null> | undefined;
    storage.write = async (_name, chunks) => {
      await new Promise<void>((isBegun) => {
        storage.write = async (...rest) => {
          isBegun();
          await new Promise<void>((resolve) => (goOn = resolve));
          return write(...rest);
        };
        other = run('report', id);
      });
      for await (const chunk of chunks) void chunk;
      throw new Error('the storage is down, from here');
    };
    expect(await run('report', id)).toMatchObject({ name: 'LeaseLost' });
    goOn();
    expect(await other).toBeNull();
    storage.write = write;
    const { body: report } = await service.call<ReportBody>('GET', `/v1/reports/${asked.id}`, { key });
    expect(report.status).toBe('ready');
    expect(await service.sql(`SELECT type FROM events WHERE type LIKE 'report.%'`)).toEqual([{ type: 'report.ready' }]);
  });
});
