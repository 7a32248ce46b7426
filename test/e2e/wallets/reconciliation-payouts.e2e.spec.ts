import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { callbackUrl, type Configured, LiveAcquirersService } from '../../../src/acquirers/index.js';
import { SYSTEM } from '../../../src/audit/index.js';
import { saoPauloDay } from '../../../src/brazil/index.js';
import { SecretBox } from '../../../src/core/crypto/index.js';
import { Database } from '../../../src/core/database/index.js';
import { FeeComparisons, type Reconciliation, ReconciliationService } from '../../../src/reconciliation/index.js';
import { CorrectionsService } from '../../../src/transactions/index.js';
import { DEFAULT_MERCHANT } from '../../../tools/psp-simulator/simulator.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { goLive } from '../../support/live-acquirer.js';
import { aPayout, CPF, OTHER_CPF, payoutOf, readPayout } from '../../support/payouts.js';
import { PspUnderTest } from '../../support/psp-client.js';
import { refundEnd, requestRefund } from '../../support/refunds.js';
import { type ChargeAnswer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const KEY = DEFAULT_MERCHANT.pixKeys[0] ?? '';
const OPENING = 100_000;
const TO_OTHER = { type: 'pix_key', key: OTHER_CPF } as const;

describe('sends and balance of a PSP against our books', () => {
  const service = TestService.forSpec();
  let merchant: Merchant;
  let psp: PspUnderTest;
  let configured: Configured;

  beforeAll(async () => {
    const settings = { release_days: '0', tax_id: CPF, payouts_to: 'anyone', payout_new_destination_hours: '0' };
    merchant = await service.merchant({ ...settings, payout_night_max: '1000000' });
    psp = await PspUnderTest.start({
      now: () => service.clock.now(),
      merchants: [{ ...DEFAULT_MERCHANT, openingBalance: OPENING }],
      settings: { sends: { delayMs: 0, returnCallback: 'none' }, callbacks: { retryDelaysMs: [] }, returnDelayMs: 10 },
    });
    configured = await goLive(service, psp.simulator, merchant.accountId, {
      psp: 'efi',
      baseUrl: psp.simulator.efiUrl,
    });
    const fee = { operation: 'payout', bps: 0, fixed: 30, minimum: 0, maximum: null } as const;
    const validFrom = saoPauloDay(service.clock.now());
    await service.get(LiveAcquirersService).setFee(merchant.accountId, null, { ...fee, validFrom }, SYSTEM);
    const url = callbackUrl(service.url, service.get(SecretBox), configured.id);
    expect((await psp.call('PUT', `/webhook/${KEY}`, { webhookUrl: url })).status).toBe(200);
    psp.simulator.addKey({ key: OTHER_CPF, owner: { document: OTHER_CPF, name: 'Ana Souza' } });
    // The opening balance is money that the books do not know.
    await enter(-OPENING, null);
  });
  // Each test has a day of its own.
  beforeEach(() => service.clock.advance(2 * 86_400));
  afterEach(async () => {
    psp.simulator.change({ sends: { delayMs: 0 } });
    await expectLedgerCoherent(service.database.url);
  });
  afterAll(() => psp.stop());

  /** Enters a loss; negative: money that the bank has found. */
  async function enter(amount: number, bankReference: string | null): Promise<void> {
    const corrections = service.get(CorrectionsService);
    await service.get(Database).transaction(async (tx) => {
      const loss = { kind: 'loss', amount, borneBy: 'merchant', currency: 'BRL', mode: 'live' } as const;
      const why = { reason: 'Found in the bank’s app', idempotencyKey: randomUUID(), bankReference };
      const scope = { accountId: merchant.accountId, transactionId: null, acquirer: null, invoiceMonth: null };
      const { correction } = await corrections.request(tx, { ...loss, ...why, ...scope }, randomUUID());
      if (correction.status === 'waiting') await corrections.approve(tx, correction.id, randomUUID());
    });
  }

  async function compared(areFeesDebited = false): Promise<Reconciliation> {
    // The PSP's list ends some seconds before now.
    service.clock.advance(5);
    const day = saoPauloDay(service.clock.now());
    const result = await service.get(ReconciliationService).compare(merchant.accountId, day, areFeesDebited);
    expect(result.notCompared).toEqual([]);
    return result;
  }
  const kinds = ({ acquirers }: Reconciliation): string[] =>
    acquirers.flatMap(({ differences, payouts }) =>
      [...differences, ...(payouts?.differences ?? [])].map(({ kind }) => kind),
    );
  async function expectAgreement(): Promise<Reconciliation> {
    const result = await compared();
    expect([kinds(result), result.balance?.difference]).toEqual([[], 0]);
    return result;
  }

  const send = (amount: number): ReturnType<typeof aPayout> =>
    aPayout(service, merchant.liveKey, { amount, destination: TO_OTHER, allow_duplicate: true });
  const sendIdOf = ({ id }: { id: string }): string => id.slice(3).replaceAll('-', '');
  async function paidPayout(amount: number): ReturnType<typeof aPayout> {
    const { id } = await send(amount);
    return payoutOf(service, merchant.liveKey, id, 'paid');
  }
  async function paidCharge(): Promise<ChargeAnswer> {
    const { body } = await service.createCharge(merchant.liveKey, { amount: 5_000 });
    psp.simulator.pay({ txid: body.pix.txid ?? '' });
    await waitFor(
      'the payment',
      async () => (await service.getCharge(merchant.liveKey, body.id)).body.status === 'paid',
    );
    return body;
  }
  const readLists = (): Promise<unknown> =>
    service.sql('UPDATE acquirer_statements SET next_due_at = now(), resume_at = NULL WHERE acquirer = $1', [
      configured.acquirer,
    ]);

  it('count the fees of payouts and cashouts, which a PSP may take out of the balance', async () => {
    psp.simulator.change({ sends: { feeCents: 30 } });
    const charge = await paidCharge();
    await paidPayout(1_000);
    const { body: refund } = await requestRefund(service, merchant.liveKey, charge.id, { amount: 900 });
    await refundEnd(service, merchant.liveKey, refund);
    expect((await compared()).balance).toMatchObject({ here: { fees: 60 }, difference: -60 });
    expect((await compared(true)).balance?.difference).toBe(0);
    const month = saoPauloDay(service.clock.now()).slice(0, 7);
    const { operations, difference } = await service.get(FeeComparisons).compare(merchant.accountId, null, month, 60);
    expect(operations.find(({ operation }) => operation === 'payout')).toMatchObject({ fee: 60 });
    expect(difference).toBe(0);
    psp.simulator.change({ sends: { feeCents: 0 } });
    psp.simulator.move({ amount: 60 });
  }, 60_000);

  it('agree after payments, payouts, refunds of both ways and blocks, to the cent', async () => {
    const [cashout, devolution] = [await paidCharge(), await paidCharge()];
    await paidPayout(1_234);
    for (const [charge, strategy] of [
      [cashout, 'cashout'],
      [devolution, 'devolution'],
    ] as const) {
      const { body } = await requestRefund(service, merchant.liveKey, charge.id, { amount: 1_500, strategy });
      expect(await refundEnd(service, merchant.liveKey, body)).toMatchObject({ status: 'REFUNDED' });
    }
    psp.simulator.block({ judicial: 150, med: 50 });
    const { acquirers, balance } = await expectAgreement();
    psp.simulator.block({ judicial: 0, med: 0 });
    expect(acquirers[0]?.payouts).toMatchObject({
      there: { count: 2, amount: 2_734, returned: 0 },
      here: { count: 2, amount: 2_734, returned: 0 },
    });
    expect(balance?.there.blocked).toEqual({ judicial: 150, med: 50 });
    psp.simulator.move({ amount: -1 });
    expect((await compared()).balance?.difference).toBe(-1);
    psp.simulator.move({ amount: 1 });
  }, 60_000);

  it('agree while a payout and a cashout are under way', async () => {
    const charge = await paidCharge();
    psp.simulator.change({ sends: { delayMs: null } });
    const payout = await send(700);
    await waitFor('the send', () => psp.simulator.state().sends.some(({ idEnvio }) => idEnvio === sendIdOf(payout)));
    const { body: refund } = await requestRefund(service, merchant.liveKey, charge.id, { amount: 800 });
    const cashout = refund.id.replaceAll('-', '');
    await waitFor('the cashout', () => psp.simulator.state().sends.some(({ idEnvio }) => idEnvio === cashout));
    const { balance } = await expectAgreement();
    expect(balance?.here.underWay).toBe(1_500);
    psp.simulator.settleSend({ idEnvio: sendIdOf(payout), status: 'NAO_REALIZADO' });
    psp.simulator.settleSend({ idEnvio: cashout });
    await payoutOf(service, merchant.liveKey, payout.id, 'failed');
    await refundEnd(service, merchant.liveKey, refund);
    await expectAgreement();
  }, 60_000);

  it('name a return whose callback was lost until the list has repaired it', async () => {
    const payout = await paidPayout(1_000);
    psp.simulator.returnSend({ idEnvio: sendIdOf(payout), amount: 300 });
    const before = await compared();
    expect(kinds(before)).toEqual(['payout_return_unknown']);
    expect(before.balance?.difference).toBe(300);
    await readLists();
    await waitFor(
      'the return',
      async () => (await readPayout(service, merchant.liveKey, payout.id)).amount_returned === 300,
    );
    await expectAgreement();
    // Ten days later another part comes back, and the daily list of the last thirty days finds it.
    service.clock.advance(10 * 86_400);
    psp.simulator.returnSend({ idEnvio: sendIdOf(payout), amount: 700 });
    await readLists();
    await payoutOf(service, merchant.liveKey, payout.id, 'refunded');
    expect((await compared()).balance?.difference).toBe(0);
  }, 60_000);

  it('name a payout that the bank has taken back until the list has repaired it', async () => {
    const payout = await paidPayout(1_000);
    psp.simulator.addFault({ operation: 'callback.send', fault: { kind: 'lose' }, times: 1 });
    psp.simulator.settleSend({ idEnvio: sendIdOf(payout), status: 'NAO_REALIZADO' });
    expect(kinds(await compared())).toEqual(['payout_state_differs']);
    await readLists();
    await payoutOf(service, merchant.liveKey, payout.id, 'failed');
    await expectAgreement();
  }, 60_000);

  it('name a send of the app, until an operator has entered it', async () => {
    psp.simulator.sendInApp({ amount: 500, key: OTHER_CPF });
    const result = await compared();
    expect(result.balance?.difference).toBe(-500);
    const [found] = result.acquirers[0]?.payouts?.differences ?? [];
    expect(found).toMatchObject({
      kind: 'payout_unknown_here',
      sendId: null,
      subject: null,
      here: null,
      there: { amount: 500, state: 'paid' },
    });
    await enter(500, found?.endToEndId ?? '');
    await expectAgreement();
  }, 60_000);

  it('name a cashout that came back, until an operator has entered it', async () => {
    const charge = await paidCharge();
    const { body: refund } = await requestRefund(service, merchant.liveKey, charge.id, { amount: 900 });
    await refundEnd(service, merchant.liveKey, refund);
    psp.simulator.returnSend({ idEnvio: refund.id.replaceAll('-', ''), amount: 900 });
    const result = await compared();
    expect(result.balance?.difference).toBe(900);
    const [found] = result.acquirers[0]?.payouts?.differences ?? [];
    expect(found).toMatchObject({ kind: 'payout_return_unknown', subject: { subject: 'refund', id: refund.id } });
    await enter(-900, found?.returnId ?? '');
    await expectAgreement();
  }, 60_000);
});
