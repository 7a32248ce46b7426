import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  AcquirersService,
  InboxService,
  type PayoutAnswer,
  type PayoutDesk,
  type PayoutState,
  SandboxAcquirer,
} from '../../../src/acquirers/index.js';
import { encodeBrCode } from '../../../src/brazil/index.js';
import { Database } from '../../../src/core/database/index.js';
import { LeaseLost, WorkService } from '../../../src/core/work/index.js';
import { PayoutProcessor } from '../../../src/payouts/payout.processor.js';
import { CorrectionsService } from '../../../src/transactions/index.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import {
  aFundedMerchant,
  aPayout,
  CNPJ,
  CPF,
  liveMoney,
  OTHER_CPF,
  payoutOf,
  readPayout,
  requestPayout,
  wallet,
} from '../../support/payouts.js';
import { type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const HOUR_S = 3_600;
const STEP_S = 10;
const STEPS = 240;

/** A bank that answers as a test says. */
class ScriptedDesk implements PayoutDesk {
  readonly capabilities = {
    targets: ['pix_key', 'bank_account'],
    accountTypes: ['checking'],
    maxUnderWay: null,
    isNotFoundFinal: false,
    quietMs: 90 * 60_000,
  } as const;
  readonly list = null;
  readonly balance = null;
  sends = 0;
  onSend: () => Promise<PayoutAnswer> = async () => ({ kind: 'unknown' });
  onLookUp: () => Promise<PayoutState> = async () => ({ kind: 'not_found' });

  send(): Promise<PayoutAnswer> {
    this.sends += 1;
    return this.onSend();
  }

  lookUp(): Promise<PayoutState> {
    return this.onLookUp();
  }
}

describe('payouts in trouble', () => {
  const service = TestService.forSpec();
  let merchant: Merchant;
  let desk: ScriptedDesk;
  let bank = 0;

  beforeEach(async () => {
    desk = new ScriptedDesk();
    merchant = await liveMerchant();
  });
  afterEach(async () => {
    service.clock.go();
    await expectLedgerCoherent(service.database.url);
  });

  /** A merchant with live money whose bank is the scripted desk. */
  async function liveMerchant(settings: Record<string, string> = {}): Promise<Merchant> {
    const made = await service.merchant({
      ...{ tax_id: CNPJ, payouts_to: 'anyone', payout_new_destination_hours: '0', payout_night_max: '1000000' },
      ...{ fraud_mode: 'off', ...settings },
    });
    bank += 1;
    const name = `scripted-${String(bank)}`;
    const acquirer: unknown = Object.create(service.get(SandboxAcquirer), {
      name: { value: name },
      payouts: { value: desk },
    });
    service.get(AcquirersService).register(acquirer as SandboxAcquirer, { servesTestMode: false });
    await service.sql('UPDATE accounts SET live_acquirer = $2 WHERE id = $1', [made.accountId, name]);
    await liveMoney(service, made.accountId, 10_000);
    return made;
  }
  const row = async ({ id }: { id: string }): Promise<{ status: string; sent_at: Date | null }> => {
    const [found] = await service.sql<{ status: string; sent_at: Date | null }>(
      'SELECT status, sent_at FROM payouts WHERE id = $1',
      [id.slice(3)],
    );
    if (!found) throw new Error('There is no such payout');
    return found;
  };
  const run = (id: string, prolong: () => Promise<void> = async () => undefined): Promise<unknown> =>
    service.get(PayoutProcessor).run({ subjectId: id.slice(3), attempt: 1, prolong });

  it.each([
    ['checking', 201, undefined],
    ['savings', 422, 'PAYOUT_NOT_SUPPORTED'],
    ['payment', 422, 'PAYOUT_NOT_SUPPORTED'],
  ])('to a %s account are answered with %i by a desk that pays checking accounts', async (type, status, code) => {
    const destination = {
      ...{ type: 'bank_account', ispb: '00000000', branch: '0001', number: '12345-6', account_type: type },
      ...{ name: 'Padaria', tax_id: CNPJ },
    };
    desk.onSend = async () => ({ kind: 'refused', reason: 'refused' });
    const answer = await requestPayout(service, merchant.liveKey, { destination });
    expect([answer.status, answer.body.error?.code]).toEqual([status, code]);
    if (status === 201) await payoutOf(service, merchant.liveKey, answer.body.id, 'failed');
    expect(await wallet(service, merchant.accountId, 'live')).toMatchObject({ available: 10_000 });
    expect(desk.sends).toBe(status === 201 ? 1 : 0);
  });

  it('are not counted as sent when the run loses its lease before the call', async () => {
    const waiting = await liveMerchant({ payout_new_destination_hours: '24' });
    const { id } = await aPayout(service, waiting.liveKey, { amount: 600 });
    await service.sql(`UPDATE payouts SET send_after = now() - interval '1 second' WHERE id = $1`, [id.slice(3)]);
    await expect(run(id, () => Promise.reject(new LeaseLost('taken')))).rejects.toThrow(LeaseLost);
    expect([await row({ id }), desk.sends]).toEqual([{ status: 'QUEUED', sent_at: null }, 0]);
    desk.onSend = async () => ({ kind: 'refused', reason: 'insufficient_funds' });
    await run(id);
    expect((await readPayout(service, waiting.liveKey, id)).status).toBe('failed');
    expect((await wallet(service, waiting.accountId, 'live'))['available']).toBe(10_000);
  });

  it('are stopped when the account may no longer pay others while they wait', async () => {
    const waiting = await liveMerchant({ payout_new_destination_hours: '1' });
    const { id } = await aPayout(service, waiting.liveKey, { amount: 600 });
    await service.sql(`UPDATE accounts SET payouts_to = 'own' WHERE id = $1`, [waiting.accountId]);
    service.clock.advance(HOUR_S + 1);
    expect(await payoutOf(service, waiting.liveKey, id, 'failed')).toMatchObject({
      failure: { reason: 'destination_not_allowed' },
    });
    expect(desk.sends).toBe(0);
  });

  it('are tried at growing pauses while their bank turns calls away, and shown to operators', async () => {
    desk.onSend = async () => ({ kind: 'not_now', retryAfterMs: 1_000 });
    service.clock.stand();
    const { id } = await aPayout(service, merchant.liveKey, { amount: 600 });
    await waitFor('the first call', () => desk.sends === 1);
    for (let step = 0; step < STEPS; step++) {
      service.clock.advance(STEP_S);
      await service.get(WorkService).sweep();
      await waitFor('the run', async () => (await row({ id })).status === 'QUEUED');
    }
    // Each pause is a quarter of the wait: calls are as many as the logarithm of the time, not as the steps.
    expect(desk.sends).toBeGreaterThan(8);
    expect(desk.sends).toBeLessThan(STEPS / 4);
    const operator = await service.operator();
    const { body } = await service.call<{ data: { payout: { id: string; status: string } }[] }>(
      'GET',
      '/v1/operations/payouts',
      { token: operator.token },
    );
    expect(body.data.map(({ payout }) => [payout.id, payout.status])).toContainEqual([id, 'pending']);
  });

  it('take few places of the process while their bank does not answer', async () => {
    let [active, most, answers] = [0, 0, 0];
    const silence = async (): Promise<{ kind: 'unknown' }> => {
      active += 1;
      most = Math.max(most, active);
      await delay(200);
      active -= 1;
      answers += 1;
      return { kind: 'unknown' };
    };
    [desk.onSend, desk.onLookUp] = [silence, silence];
    for (let each = 0; each < 24; each++) await aPayout(service, merchant.liveKey, { amount: 10 + each });
    await waitFor('the bank to count as silent', () => answers >= 24 && active <= 2);
    most = 0;
    const enough = answers + 12;
    await waitFor('further calls', () => answers >= enough, 60_000);
    expect(most).toBeLessThanOrEqual(2);
  }, 90_000);

  it('have a return booked whose report came before the bank showed it', async () => {
    const own = await aFundedMerchant(service);
    const payout = await aPayout(service, own.testKey, { amount: 1_000 });
    await payoutOf(service, own.testKey, payout.id, 'paid');
    const sendId = payout.id.slice(3).replaceAll('-', '');
    const hint = { kind: 'payout', reference: `${sendId}/REALIZADO.1` } as const;
    const report = (): Promise<unknown> =>
      service.get(Database).transaction((tx) => service.get(InboxService).queueAll(tx, 'sandbox', [hint]));
    const isApplied = async (): Promise<boolean> => {
      const rows = await service.sql<{ status: string }>(
        'SELECT status FROM acquirer_notifications WHERE reference = $1',
        [hint.reference],
      );
      return rows[0]?.status === 'applied';
    };
    await report();
    await waitFor('the early report', isApplied);
    const part = { id: `D00000000202611281200${'0'.repeat(11)}1`, amount: 400, at: service.clock.now().toISOString() };
    await service.sql('UPDATE sandbox_payouts SET returns = $2 WHERE send_id = $1', [sendId, JSON.stringify([part])]);
    await report();
    await waitFor('the return', async () => {
      return (await readPayout(service, own.testKey, payout.id)).amount_returned === 400;
    });
    expect((await wallet(service, own.accountId))['available']).toBe(9_400);
  });

  it('have a return booked once when an operator entered it before its report', async () => {
    const own = await aFundedMerchant(service);
    const payout = await aPayout(service, own.testKey, { amount: 1_000 });
    await payoutOf(service, own.testKey, payout.id, 'paid');
    const sendId = payout.id.slice(3).replaceAll('-', '');
    const part = (last: string, amount: number): { id: string; amount: number; at: string } => ({
      ...{ id: `D00000000202611281200${last.padStart(12, '0')}`, amount },
      at: service.clock.now().toISOString(),
    });
    const parts = [part('1', 400), part('2', 100)];
    await service.get(Database).transaction(async (tx) => {
      const corrections = service.get(CorrectionsService);
      const { correction } = await corrections.request(
        tx,
        {
          ...{ kind: 'loss', amount: -400, borneBy: 'merchant', currency: 'BRL', mode: 'test' },
          ...{ accountId: own.accountId, transactionId: null, acquirer: null, invoiceMonth: null },
          ...{ reason: 'The bank shows the return', idempotencyKey: sendId, bankReference: parts[0]?.id ?? null },
        },
        randomUUID(),
      );
      if (correction.status === 'waiting') await corrections.approve(tx, correction.id, randomUUID());
    });
    await service.sql('UPDATE sandbox_payouts SET returns = $2 WHERE send_id = $1', [sendId, JSON.stringify(parts)]);
    const hint = { kind: 'payout', reference: `${sendId}/REALIZADO.2` } as const;
    await service.get(Database).transaction((tx) => service.get(InboxService).queueAll(tx, 'sandbox', [hint]));
    await waitFor('the second return', async () => {
      return ((await readPayout(service, own.testKey, payout.id)).amount_returned ?? 0) > 0;
    });
    expect((await readPayout(service, own.testKey, payout.id)).amount_returned).toBe(100);
    expect((await wallet(service, own.accountId))['available']).toBe(9_500);
  });

  it.each([
    ['100', 201],
    ['700', 400],
  ])('are refused when a saved code asks for another amount: %s → %i', async (amount, status) => {
    const own = await aFundedMerchant(service);
    const code = { kind: 'static', key: CPF, amount: 100, merchantName: 'Loja', merchantCity: 'SAO PAULO' } as const;
    const { body: saved } = await service.call<{ id: string }>('POST', '/v1/payout-destinations', {
      key: own.testKey,
      body: { type: 'br_code', br_code: encodeBrCode(code) },
    });
    const answer = await requestPayout(service, own.testKey, { amount: Number(amount), destination: saved.id });
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer.body.error.param).toBe('amount');
  });

  it('cannot be approved by the person who approved their receiver under another name', async () => {
    const own = await aFundedMerchant(service, { payout_approval_above: 0 });
    const owner = await service.login(own.ownerEmail);
    const { body: saved } = await service.call<{ id: string }>('POST', '/v1/payout-destinations', {
      key: own.testKey,
      body: { type: 'pix_key', key: CPF },
    });
    const at = (path: string): Promise<{ status: number }> =>
      service.call('POST', `/v1/dashboard/test${path}/approve`, { token: owner, body: {} });
    expect((await at(`/payout-destinations/${saved.id}`)).status).toBe(200);
    const inline = await aPayout(service, own.testKey, { amount: 500, destination: { type: 'pix_key', key: CPF } });
    expect((await at(`/payouts/${inline.id}`)).status).toBe(403);
  });

  it('cannot go to a destination whose key is saved again with another tax id', async () => {
    const own = await aFundedMerchant(service);
    const save = (tax_id: string): Promise<{ status: number }> =>
      service.call('POST', '/v1/payout-destinations', {
        key: own.testKey,
        body: { type: 'pix_key', key: 'ana@example.com', tax_id },
      });
    expect((await save(CPF)).status).toBe(201);
    expect((await save(CPF)).status).toBe(201);
    expect((await save(OTHER_CPF)).status).toBe(409);
  });
});
