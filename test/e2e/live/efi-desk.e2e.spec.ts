import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  AcquirersService,
  callbackUrl,
  type Configured,
  ConnectionsService,
  LiveAcquirersService,
  type ListedPayout,
  type PayoutDesk,
  type PayoutOrder,
  type PayoutState,
  type UnreadablePayout,
} from '../../../src/acquirers/index.js';
import type { Finding } from '../../../src/acquirers/pix-api/finding.js';
import { newReturnId } from '../../../src/brazil/index.js';
import { SecretBox } from '../../../src/core/crypto/index.js';
import { Database } from '../../../src/core/database/index.js';
import { DEFAULT_MERCHANT } from '../../../tools/psp-simulator/simulator.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { goLive } from '../../support/live-acquirer.js';
import { aPayout, CNPJ, liveMoney, payoutOf } from '../../support/payouts.js';
import { PspUnderTest } from '../../support/psp-client.js';
import { type RefundItem, refundEnd, refundsOf, requestRefund } from '../../support/refunds.js';
import { type ChargeAnswer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const KEY = DEFAULT_MERCHANT.pixKeys[0] ?? '';
const RECEIVER = 'francisco@example.com';
const OWNER = '12345678909';
const OPENING = 100_000;

describe('a connection to Efí', () => {
  const service = TestService.forSpec();
  let merchant: Merchant;
  let psp: PspUnderTest;
  let configured: Configured;
  let desk: PayoutDesk;

  beforeAll(async () => {
    merchant = await service.merchant({
      ...{ release_days: '0', tax_id: CNPJ, payouts_to: 'anyone', payout_new_destination_hours: '0' },
      payout_night_max: '1000000',
    });
    psp = await PspUnderTest.start({
      now: () => service.clock.now(),
      merchants: [{ ...DEFAULT_MERCHANT, openingBalance: OPENING }],
      settings: { sends: { delayMs: null }, callbacks: { retryDelaysMs: [] } },
    });
    configured = await goLive(service, psp.simulator, merchant.accountId, {
      psp: 'efi',
      baseUrl: psp.simulator.efiUrl,
    });
    desk = service.get(AcquirersService).get(configured.acquirer).payouts!;
    const url = callbackUrl(service.url, service.get(SecretBox), configured.id);
    expect((await psp.call('PUT', `/webhook/${KEY}`, { webhookUrl: url })).status).toBe(200);
    psp.simulator.addKey({ key: RECEIVER, owner: { document: OWNER, name: 'Francisco da Silva' } });
  });
  beforeEach(() => void psp.simulator.change({ sends: { delayMs: null, form: 'documented' } }));
  afterEach(() => expectLedgerCoherent(service.database.url));
  afterAll(() => psp.stop());

  function order(own: Partial<PayoutOrder> = {}): PayoutOrder {
    return {
      accountId: merchant.accountId,
      sendId: newReturnId(),
      amount: 1234,
      target: { type: 'pix_key', key: RECEIVER, taxId: OWNER },
      ownTaxId: null,
      description: 'Repasse',
      ...own,
    };
  }
  const sends = (sendId: string): { idEnvio?: string; status: string; valor: string }[] =>
    psp.simulator.state().sends.filter(({ idEnvio }) => idEnvio === sendId);
  /** Configures the connection again. */
  const renew = (changes: { clientId?: string; clientSecret?: string } = {}): Promise<Configured> =>
    goLive(service, psp.simulator, merchant.accountId, { psp: 'efi', baseUrl: psp.simulator.efiUrl, ...changes });
  const looked = async (one: PayoutOrder): Promise<PayoutState['kind']> => (await desk.lookUp(one)).kind;

  describe('a send', () => {
    it.each(['documented', 'sdk'] as const)('arrives, in the %s form of answers', async (form) => {
      psp.simulator.change({ sends: { form } });
      const one = order();
      const sent = await desk.send(one);
      expect(sent).toEqual({ kind: 'accepted', endToEndId: expect.stringMatching(/^E/) });
      expect(await desk.lookUp(one)).toMatchObject({ kind: 'processing', reason: 'sent' });
      psp.simulator.settleSend({ idEnvio: one.sendId });
      expect(await desk.lookUp(one)).toEqual({
        kind: 'paid',
        endToEndId: sent.kind === 'accepted' ? sent.endToEndId : null,
        at: expect.any(Date),
        fee: 0,
        returns: [],
      });
    });

    it.each<[string, Partial<PayoutOrder>]>([
      [
        'a bank account',
        {
          target: {
            type: 'bank_account',
            ispb: '09089356',
            branch: '1',
            number: '123453',
            accountType: 'savings',
            name: 'Francisco da Silva',
            taxId: OWNER,
          },
        },
      ],
      ['the own tax id', { target: { type: 'pix_key', key: KEY, taxId: null }, ownTaxId: '11222333000181' }],
    ])('goes to %s', async (_, own) => {
      const one = order(own);
      psp.simulator.addKey({ key: KEY, owner: { document: '11222333000181', name: 'Loja' } });
      expect(await desk.send(one)).toMatchObject({ kind: 'accepted' });
      psp.simulator.settleSend({ idEnvio: one.sendId });
      expect(await looked(one)).toBe('paid');
    });

    it('is made once, whatever is repeated', async () => {
      const one = order();
      expect(await desk.send(one)).toMatchObject({ kind: 'accepted' });
      expect(await desk.send(one)).toEqual({ kind: 'unknown' });
      expect(await desk.send({ ...one, amount: 99 })).toEqual({ kind: 'unknown' });
      expect(sends(one.sendId)).toMatchObject([{ valor: '12.34' }]);
      psp.simulator.settleSend({ idEnvio: one.sendId });
      // The paid amount is not this order's.
      expect(await desk.lookUp({ ...one, amount: 99 })).toEqual({ kind: 'unknown' });
    });

    it.each([
      ['after', true, 'processing'],
      ['before', false, 'not_found'],
    ] as const)('is made once when its answer is lost %s the effect', async (_, effect, found) => {
      const one = order();
      psp.simulator.addFault({ operation: 'send.put', fault: { kind: 'timeout', effect }, times: 1 });
      expect(await desk.send(one)).toEqual({ kind: 'unknown' });
      expect(await looked(one)).toBe(found);
      await desk.send(one);
      expect(sends(one.sendId)).toHaveLength(1);
    });

    it.each([
      ['an id in use', { kind: 'refuse', error: 'id_envio_duplicado' }, { kind: 'unknown' }],
      ['an error of the application', { kind: 'refuse', error: 'erro_aplicacao' }, { kind: 'unknown' }],
      ['a refusal', { kind: 'refuse', error: 'pagamento_negado' }, { kind: 'refused', reason: 'refused' }],
      ['no key look-ups left', { kind: 'refuse', error: 'balde_fichas_vazio' }, { kind: 'not_now' }],
    ] as const)('has its outcome after %s', async (_, fault, expected) => {
      const one = order();
      psp.simulator.addFault({ operation: 'send.put', fault, times: 1 });
      expect(await desk.send(one)).toMatchObject(expected);
      expect(sends(one.sendId)).toHaveLength(0);
    });

    it('is refused for another tax id, and for a key that does not exist', async () => {
      const stranger = order({ target: { type: 'pix_key', key: RECEIVER, taxId: '52998224725' } });
      expect(await desk.send(stranger)).toEqual({ kind: 'refused', reason: 'destination_mismatch' });
      psp.simulator.addKey({ key: 'nobody@example.com', owner: null });
      const nobody = order({ target: { type: 'pix_key', key: 'nobody@example.com', taxId: null } });
      expect(await desk.send(nobody)).toEqual({ kind: 'refused', reason: 'destination_invalid' });
      expect(await looked(nobody)).toBe('not_found');
    });
  });

  it('shows a long examination, whatever its end', async () => {
    const one = order();
    await desk.send(one);
    psp.simulator.reviewSend({ idEnvio: one.sendId, ms: null });
    service.clock.advance(180);
    expect(await desk.lookUp(one)).toMatchObject({ kind: 'processing', reason: 'review' });
    psp.simulator.settleSend({ idEnvio: one.sendId, status: 'NAO_REALIZADO' });
    expect(await desk.lookUp(one)).toEqual({ kind: 'failed', reason: 'refused' });
  });

  it('shows two partial returns, and a paid send that has failed after all', async () => {
    const one = order({ amount: 1000 });
    await desk.send(one);
    psp.simulator.settleSend({ idEnvio: one.sendId });
    psp.simulator.returnSend({ idEnvio: one.sendId, amount: 300 });
    psp.simulator.returnSend({ idEnvio: one.sendId, amount: 250 });
    const state = await desk.lookUp(one);
    expect(state).toMatchObject({ kind: 'paid', returns: [{ amount: 300 }, { amount: 250 }] });
    expect(new Set(state.kind === 'paid' ? state.returns.map(({ returnId }) => returnId) : []).size).toBe(2);
    const revoked = order();
    await desk.send(revoked);
    psp.simulator.settleSend({ idEnvio: revoked.sendId });
    psp.simulator.settleSend({ idEnvio: revoked.sendId, status: 'NAO_REALIZADO' });
    expect(await looked(revoked)).toBe('failed');
  });

  it('lists its sends, those of the app among them, and reports the balance with its blocks', async () => {
    const from = service.clock.now();
    const paid = order({ amount: 777 });
    await desk.send(paid);
    psp.simulator.settleSend({ idEnvio: paid.sendId });
    psp.simulator.returnSend({ idEnvio: paid.sendId, amount: 77 });
    const open = order();
    await desk.send(open);
    psp.simulator.sendInApp({ amount: 500, key: RECEIVER });
    service.clock.advance(10);
    const listed: (ListedPayout | UnreadablePayout)[] = [];
    for await (const one of desk.list!(from, service.clock.now())) listed.push(one);
    expect(listed).toMatchObject([
      {
        sendId: paid.sendId,
        amount: 777,
        state: { kind: 'paid', returns: [{ amount: 77 }] },
        hint: { kind: 'payout', reference: `${paid.sendId}/REALIZADO.1` },
      },
      { sendId: open.sendId, amount: 1234, state: { kind: 'processing' } },
      { sendId: null, amount: 500, hint: null },
    ]);
    psp.simulator.block({ judicial: 150, med: 50 });
    const [there] = psp.simulator.state().balances;
    expect(await desk.balance!()).toEqual({ available: there?.available, blocked: { judicial: 150, med: 50 } });
    psp.simulator.block({ judicial: 0, med: 0 });
  });

  it('stores what callbacks report as hints, and each change once', async () => {
    const one = order();
    const sent = await desk.send(one);
    psp.simulator.settleSend({ idEnvio: one.sendId });
    const hints = (): Promise<{ reference: string }[]> =>
      service.sql(
        `SELECT reference FROM acquirer_notifications WHERE acquirer = $1 AND kind = 'payout' AND reference LIKE $2
         ORDER BY reference`,
        [configured.acquirer, `${one.sendId}/%`],
      );
    await waitFor('the hint', async () => (await hints()).length === 1);
    psp.simulator.announce({ endToEndId: sent.kind === 'accepted' ? (sent.endToEndId ?? '') : '', times: 2 });
    psp.simulator.returnSend({ idEnvio: one.sendId, amount: 100 });
    await waitFor('the hint of the return', async () => (await hints()).length === 2);
    expect((await hints()).map(({ reference }) => reference)).toEqual([
      expect.stringMatching(/\/D[A-Za-z0-9]{31}$/),
      `${one.sendId}/REALIZADO`,
    ]);
    // Entries about sends are not taken for Pix that were received.
    const pix = await service.sql(
      `SELECT 1 FROM acquirer_notifications WHERE acquirer = $1 AND kind = 'pix' AND reference = $2`,
      [configured.acquirer, sent.kind === 'accepted' ? sent.endToEndId : ''],
    );
    expect(pix).toEqual([]);
  });

  it('passes its check', async () => {
    const found: Finding[] = [];
    const options = { baseUrl: service.url, registration: 'never' } as const;
    for await (const one of service.get(LiveAcquirersService).check(merchant.accountId, options)) found.push(one);
    expect(found.slice(-2)).toMatchObject([
      { step: 'webhook', ok: true },
      { step: 'payouts', ok: true },
    ]);
  });

  describe('payouts of one connection', () => {
    afterEach(() => void service.clock.go());

    it('are sent one after the other, each when the one before has ended, without waiting for a pause', async () => {
      psp.simulator.change({ sends: { delayMs: 50 } });
      await liveMoney(service, merchant.accountId, 10_000);
      // From here on no pause of a work ends.
      service.clock.stand();
      const to = { type: 'pix_key', key: RECEIVER, tax_id: OWNER };
      const payouts = await Promise.all(
        Array.from({ length: 5 }, () =>
          aPayout(service, merchant.liveKey, { amount: 700, destination: to, allow_duplicate: true }),
        ),
      );
      for (const { id } of payouts) await payoutOf(service, merchant.liveKey, id, 'paid');
      const made = payouts.map(({ id }) => sends(id.slice(3).replaceAll('-', '')));
      expect(made.map(({ length }) => length)).toEqual([1, 1, 1, 1, 1]);
    });
  });

  describe('a payout that is under way', () => {
    it('keeps the client id of the connection until it has ended, and lets its secret be renewed', async () => {
      await liveMoney(service, merchant.accountId, 2_000);
      const destination = { type: 'pix_key', key: RECEIVER, tax_id: OWNER };
      const { id } = await aPayout(service, merchant.liveKey, { amount: 1_900, destination });
      const idEnvio = id.replace('po_', '').replaceAll('-', '');
      await waitFor('the send', () => sends(idEnvio).length === 1);
      await expect(renew({ clientId: 'another' })).rejects.toMatchObject({ status: 409, code: 'payouts_under_way' });
      expect(await renew({ clientSecret: 'renewed-secret' })).toMatchObject({ id: configured.id, renewed: true });
      expect(await renew()).toMatchObject({ id: configured.id, renewed: true });
      psp.simulator.settleSend({ idEnvio });
      await payoutOf(service, merchant.liveKey, id, 'paid');
      expect(await renew({ clientId: 'another' })).toMatchObject({ id: configured.id, renewed: true });
      // The clock stands still: the client of the last send is a moment old, and is not used.
      const one = order();
      expect(await desk.send(one)).toMatchObject({ kind: 'not_now' });
      await renew();
      expect(await desk.send(one)).toMatchObject({ kind: 'accepted' });
    });

    it('is sent once a change of its connection has been committed', async () => {
      const one = order();
      let commit = (): void => undefined;
      const committed = new Promise<void>((resolve) => (commit = resolve));
      let isLocked = false;
      const change = service.get(Database).transaction(async (tx) => {
        await service.get(ConnectionsService).lock(tx, configured.id);
        isLocked = true;
        await committed;
      });
      await waitFor('the lock', () => isLocked);
      const answer = desk.send(one);
      await delay(300);
      expect(sends(one.sendId)).toEqual([]);
      commit();
      await change;
      expect(await answer).toMatchObject({ kind: 'accepted' });
    });
  });

  describe('refunds by cashout', () => {
    async function paid(): Promise<ChargeAnswer> {
      const { body } = await service.createCharge(merchant.liveKey, { amount: 5000 });
      psp.simulator.pay({ txid: body.pix.txid ?? '' });
      await waitFor(
        'the payment',
        async () => (await service.getCharge(merchant.liveKey, body.id)).body.status === 'paid',
      );
      return body;
    }
    async function atTheBank(refund: { id: string }): Promise<string> {
      const sendId = refund.id.replaceAll('-', '');
      await waitFor('the send', () => sends(sendId).length === 1);
      return sendId;
    }
    const ended = (refund: RefundItem): Promise<RefundItem> => refundEnd(service, merchant.liveKey, refund);
    async function refunded(charge: ChargeAnswer, body: Record<string, unknown> = {}): Promise<RefundItem> {
      const asked = await requestRefund(service, merchant.liveKey, charge.id, body);
      expect([asked.status, asked.body.status]).toEqual([201, 'PENDING']);
      const [item] = (await refundsOf(service, merchant.liveKey, charge.id)).filter(({ id }) => id === asked.body.id);
      if (!item) throw new Error('There is no such refund');
      return item;
    }

    it('go to the payer without a strategy, once', async () => {
      const refund = await refunded(await paid(), { amount: 1500 });
      expect(refund.strategy).toBe('cashout');
      const sendId = await atTheBank(refund);
      psp.simulator.settleSend({ idEnvio: sendId });
      expect(await ended(refund)).toMatchObject({ status: 'REFUNDED', amount: 1500, returnId: null });
      expect(sends(sendId)).toMatchObject([{ valor: '15.00', status: 'REALIZADO' }]);
    });

    it('are known when a callback reports them, and end by it', async () => {
      const refund = await refunded(await paid(), { amount: 1600 });
      const sendId = await atTheBank(refund);
      psp.simulator.settleSend({ idEnvio: sendId });
      expect(await ended(refund)).toMatchObject({ status: 'REFUNDED' });
      const reports = (): Promise<{ status: string; last_error: string | null }[]> =>
        service.sql(
          `SELECT status, last_error FROM acquirer_notifications
           WHERE kind = 'payout' AND reference LIKE $1`,
          [`${sendId}/%`],
        );
      await waitFor('the report to be handled', async () =>
        (await reports()).some(({ status }) => status !== 'pending'),
      );
      expect(await reports()).toEqual([{ status: 'applied', last_error: null }]);
    });

    it('pay once when the first answer is lost, and to the key that was given', async () => {
      psp.simulator.addFault({ operation: 'send.put', fault: { kind: 'timeout', effect: true }, times: 1 });
      const refund = await refunded(await paid(), { destinationKey: RECEIVER });
      const sendId = await atTheBank(refund);
      psp.simulator.settleSend({ idEnvio: sendId });
      expect(await ended(refund)).toMatchObject({ status: 'REFUNDED', strategy: 'cashout' });
      expect(sends(sendId)).toHaveLength(1);
    });

    it('are made after all when the first request was lost', async () => {
      psp.simulator.addFault({ operation: 'send.put', fault: { kind: 'timeout', effect: false }, times: 1 });
      const refund = await refunded(await paid());
      psp.simulator.settleSend({ idEnvio: await atTheBank(refund) });
      expect(await ended(refund)).toMatchObject({ status: 'REFUNDED' });
    });

    it('have failed when the bank refuses them, and a devolution may follow', async () => {
      const charge = await paid();
      psp.simulator.addFault({ operation: 'send.put', fault: { kind: 'refuse', error: 'pagamento_negado' }, times: 1 });
      expect(await ended(await refunded(charge))).toMatchObject({ status: 'FAILED', failureReason: 'refused' });
      psp.simulator.change({ returnDelayMs: 10 });
      const devolution = await refunded(charge, { strategy: 'devolution' });
      expect(await ended(devolution)).toMatchObject({ status: 'REFUNDED', strategy: 'devolution' });
    });

    it('keep the client id of the connection until they have ended', async () => {
      const refund = await refunded(await paid(), { amount: 1700 });
      const sendId = await atTheBank(refund);
      await expect(renew({ clientId: 'another' })).rejects.toMatchObject({ status: 409, code: 'payouts_under_way' });
      psp.simulator.settleSend({ idEnvio: sendId });
      expect(await ended(refund)).toMatchObject({ status: 'REFUNDED' });
      expect(await renew({ clientId: 'another' })).toMatchObject({ renewed: true });
      await renew();
    });
  });
});
