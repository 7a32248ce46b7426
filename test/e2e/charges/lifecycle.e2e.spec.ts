import { afterEach, describe, expect, it } from '@jest/globals';
import { ExpiryService } from '../../../src/transactions/index.js';
import { ReleasesService } from '../../../src/wallets/index.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { allReturned } from '../../support/refunds.js';
import { type ChargeAnswer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const OTHER_CPF = '11144477735';
const CPF = '52998224725';

async function balance(service: TestService, key: string): Promise<Record<string, unknown>> {
  return (await service.call('GET', '/v1/wallets/balance', { key })).body;
}

describe('the life of a charge', () => {
  const service = TestService.forSpec();

  afterEach(async () => {
    await allReturned(service);
    await expectLedgerCoherent(service.database.url);
  });

  async function charge(merchant: Merchant, body: Record<string, unknown> = {}): Promise<ChargeAnswer> {
    const answer = await service.createCharge(merchant.testKey, body);
    expect(answer.status).toBe(201);
    return answer.body;
  }

  function settlementsOf(id: string): Promise<Record<string, unknown>[]> {
    return service.sql(
      `SELECT s.outcome, s.reason, r.status AS return_status, r.amount::int AS return_amount FROM settlements s
       LEFT JOIN pix_returns r ON r.end_to_end_id = s.end_to_end_id WHERE s.transaction_id = $1 ORDER BY s.id`,
      [id.slice(3)],
    );
  }

  const SHOWN = { amount: 1990, at: expect.stringMatching(/Z$/), end_to_end_id: expect.stringMatching(/^E/) };

  /** Waits until all are back with their payers, as the charge shows the merchant. */
  async function returnsOf(merchant: Merchant, id: string, count = 1): Promise<Record<string, unknown>[]> {
    const path = `/v1/payments/${id}`;
    const returns = await waitFor('the returns on the charge', async () => {
      const { body } = await service.getCharge(merchant.testKey, id);
      const shown = body['returns'] as Record<string, unknown>[] | undefined;
      return shown?.length === count && shown;
    });
    const asPayment = returns.map(({ end_to_end_id: endToEndId, ...rest }) => ({ ...rest, endToEndId }));
    const { body: payment } = await service.call('GET', path, { key: merchant.testKey });
    const { body: list } = await service.call<{ data: Record<string, unknown>[] }>('GET', '/v1/payments', {
      key: merchant.testKey,
    });
    const item = list.data.find((each) => each['id'] === `tx_${id.slice(3)}`);
    expect([payment['returns'], item?.['returns']]).toEqual([asPayment, asPayment]);
    return returns;
  }

  function eventsOf(id: string): Promise<{ type: string }[]> {
    return service.sql('SELECT type FROM events WHERE subject_id = $1 ORDER BY id', [id.slice(3)]);
  }

  describe('with wrong, late and double Pix, which never change the balance and go back', () => {
    it.each([
      ['less', 1989],
      ['more', 1991],
    ])('leaves the charge pending and payable after a Pix of %s than the amount', async (_name, amount) => {
      const merchant = await service.merchant();
      const { id } = await charge(merchant);
      const answer = await service.simulate(merchant.testKey, id, { event: 'pay', amount });
      expect(answer.body.charge).toMatchObject({ status: 'pending', settlement: {} });
      expect(await settlementsOf(id)).toEqual([
        { outcome: 'returned', reason: 'wrong_amount', return_status: expect.any(String), return_amount: amount },
      ]);
      expect(await returnsOf(merchant, id)).toEqual([{ ...SHOWN, amount, reason: 'wrong_amount' }]);
      expect(await balance(service, merchant.testKey)).toMatchObject({ available: 0, total: 0 });
      const paid = await service.simulate(merchant.testKey, id, { event: 'pay' });
      expect(paid.body.charge.status).toBe('paid');
      expect(await balance(service, merchant.testKey)).toMatchObject({ available: 1990 });
    });

    it('sends a second Pix for a paid charge back', async () => {
      const merchant = await service.merchant();
      const { id } = await charge(merchant);
      const first = await service.simulate(merchant.testKey, id, { event: 'pay' });
      const second = await service.simulate(merchant.testKey, id, { event: 'pay' });
      expect(first.body.charge).not.toHaveProperty('returns');
      const { returns: _gone, ...again } = second.body.charge;
      expect(again).toEqual(first.body.charge);
      await returnsOf(merchant, id);
      await service.simulate(merchant.testKey, id, { event: 'pay', amount: 5 });
      expect(await returnsOf(merchant, id, 2)).toEqual([
        { ...SHOWN, reason: 'duplicate' },
        { ...SHOWN, reason: 'duplicate', amount: 5 },
      ]);
      expect(await settlementsOf(id)).toMatchObject([
        { outcome: 'credited', reason: null, return_status: null },
        { outcome: 'returned', reason: 'duplicate' },
        { outcome: 'returned', reason: 'duplicate' },
      ]);
      expect(await balance(service, merchant.testKey)).toMatchObject({ available: 1990 });
    });

    it('ignores a repeated end-to-end id, even on another charge', async () => {
      const merchant = await service.merchant();
      const [a, b] = [await charge(merchant), await charge(merchant)];
      const pay = { event: 'pay', end_to_end_id: 'E00000000202611211530onlyOnce001' };
      await service.simulate(merchant.testKey, a.id, pay);
      await service.simulate(merchant.testKey, a.id, pay);
      const foreign = await service.simulate(merchant.testKey, b.id, pay);
      expect(foreign.body.charge.status).toBe('pending');
      expect(await settlementsOf(a.id)).toHaveLength(1);
      expect(await settlementsOf(b.id)).toHaveLength(0);
      expect(await balance(service, merchant.testKey)).toMatchObject({ available: 1990 });
    });

    it.each([
      ['expire', 'expired', 'late', 'expired'],
      ['fail', 'failed', 'charge_closed', 'refused'],
    ])('sends a Pix back that comes after %s', async (event, status, reason, code) => {
      const merchant = await service.merchant();
      const { id, pix, created_at } = await charge(merchant, { expires_in: 900 });
      const ended = await service.simulate(merchant.testKey, id, { event });
      expect(ended.body.charge.status).toBe(status);
      expect(ended.body.charge.metadata.failure).toEqual({
        reason: expect.any(String),
        providerErrorCode: code,
        ttlSeconds: 900,
        at: expect.stringMatching(/Z$/),
      });
      expect(new Date(pix.expires_at).getTime() - new Date(created_at).getTime()).toBe(900_000);
      const paid = await service.simulate(merchant.testKey, id, { event: 'pay' });
      const { returns: _gone, ...after } = paid.body.charge;
      expect(after).toEqual(ended.body.charge);
      expect(await returnsOf(merchant, id)).toEqual([{ ...SHOWN, reason }]);
      expect(await settlementsOf(id)).toMatchObject([{ outcome: 'returned', reason }]);
      expect(await balance(service, merchant.testKey)).toMatchObject({ available: 0 });
    });

    it('ignores expire and fail for a paid charge', async () => {
      const merchant = await service.merchant();
      const { id } = await charge(merchant);
      await service.simulate(merchant.testKey, id, { event: 'pay' });
      for (const event of ['expire', 'fail']) {
        expect((await service.simulate(merchant.testKey, id, { event })).body.charge.status).toBe('paid');
      }
      expect(await eventsOf(id)).toEqual([{ type: 'transaction.created' }, { type: 'transaction.paid' }]);
    });
  });

  describe('with an expiry', () => {
    it('shows the expiry exactly, and writes it once with any number of sweepers', async () => {
      const merchant = await service.merchant();
      const { id } = await charge(merchant, { expires_in: 60 });
      const expiry = service.get(ExpiryService);
      service.clock.advance(59);
      expect((await service.getCharge(merchant.testKey, id)).body.status).toBe('pending');
      service.clock.advance(2);
      const atOnce = (await service.getCharge(merchant.testKey, id)).body;
      expect(atOnce).toMatchObject({
        status: 'expired',
        metadata: { failure: { providerErrorCode: 'expired', ttlSeconds: 60, at: atOnce.pix.expires_at } },
      });
      await Promise.all(Array.from({ length: 4 }, () => expiry.expireDue()));
      await waitFor('the event of the expiry', async () => (await eventsOf(id)).length === 2);
      expect(await eventsOf(id)).toEqual([{ type: 'transaction.created' }, { type: 'transaction.expired' }]);
      expect((await service.getCharge(merchant.testKey, id)).body).toEqual(atOnce);
    });

    it('treats a Pix that settles after the expiry as late, even before the sweeper came', async () => {
      const merchant = await service.merchant();
      const { id } = await charge(merchant, { expires_in: 60 });
      service.clock.advance(61);
      const answer = await service.simulate(merchant.testKey, id, { event: 'pay' });
      expect(answer.body.charge.status).toBe('expired');
      expect(await settlementsOf(id)).toMatchObject([{ outcome: 'returned', reason: 'late' }]);
      expect((await eventsOf(id)).filter((event) => event.type === 'transaction.expired')).toHaveLength(1);
    });
  });

  describe('with a payer lock', () => {
    const locked = { expected_payer_tax_id: CPF, customer: { name: 'Maria' } };

    it('ignores the lock where the account does not have it', async () => {
      const merchant = await service.merchant();
      const created = await charge(merchant, locked);
      expect(created).not.toHaveProperty('expected_payer_tax_id');
      const paid = await service.simulate(merchant.testKey, created.id, { event: 'pay', payer_document: OTHER_CPF });
      expect(paid.body.charge.status).toBe('paid');
    });

    it('credits the expected payer', async () => {
      const merchant = await service.merchant({ payer_lock: 'true' });
      const created = await charge(merchant, { ...locked, expected_payer_tax_id: '529.982.247-25' });
      expect(created['expected_payer_tax_id']).toBe(CPF);
      const paid = await service.simulate(merchant.testKey, created.id, { event: 'pay', payer_document: CPF });
      expect(paid.body.charge.status).toBe('paid');
      expect(await balance(service, merchant.testKey)).toMatchObject({ available: 1990 });
    });

    it('sends the money of another payer back: refunded, no credit, no charge event', async () => {
      const merchant = await service.merchant({ payer_lock: 'true' });
      const { id } = await charge(merchant, locked);
      const answer = await service.simulate(merchant.testKey, id, { event: 'pay', payer_document: OTHER_CPF });
      expect(answer.body.charge).toMatchObject({ status: 'refunded', settlement: {} });
      // The contract shows such a charge as refunded: the return is its outcome and is not listed beside it.
      await waitFor('the return', async () => (await settlementsOf(id))[0]?.['return_status'] === 'RETURNED');
      expect((await service.getCharge(merchant.testKey, id)).body).toEqual(answer.body.charge);
      expect(await settlementsOf(id)).toMatchObject([{ outcome: 'returned', reason: 'payer_mismatch' }]);
      expect(await eventsOf(id)).toEqual([{ type: 'transaction.created' }, { type: 'transaction.returned' }]);
      expect(await balance(service, merchant.testKey)).toMatchObject({ available: 0 });
    });

    it('holds the money of a payer that the bank does not name: processing, no credit', async () => {
      const merchant = await service.merchant({ payer_lock: 'true' });
      const { id } = await charge(merchant, locked);
      const answer = await service.simulate(merchant.testKey, id, { event: 'pay', payer_document: null });
      expect(answer.body.charge).toMatchObject({ status: 'processing', settlement: {} });
      expect(await settlementsOf(id)).toMatchObject([
        { outcome: 'review', reason: 'payer_unknown', return_status: null },
      ]);
      expect(await balance(service, merchant.testKey)).toMatchObject({ available: 0, pending: 0 });
      // Only an operator may end it now: otherwise nobody would return the payer's money.
      for (const event of ['expire', 'fail']) {
        expect((await service.simulate(merchant.testKey, id, { event })).body.charge.status).toBe('processing');
      }
      expect(await eventsOf(id)).toEqual([{ type: 'transaction.created' }, { type: 'transaction.held' }]);
    });

    it.each([
      [{ expected_payer_tax_id: CPF }, 'customer.name'],
      [{ expected_payer_tax_id: CPF, customer: { name: '   ' } }, 'customer.name'],
      [{ customer: { phone: '-- ()' } }, 'customer.phone'],
      [{ expected_payer_tax_id: '52998224724', customer: { name: 'M' } }, 'expected_payer_tax_id'],
      [{ expected_payer_tax_id: CPF, customer: { name: 'M', document: OTHER_CPF } }, 'expected_payer_tax_id'],
      [{ expected_payer_taxid: CPF }, 'expected_payer_taxid'],
    ])('answers %j with a 400', async (body, param) => {
      const merchant = await service.merchant({ payer_lock: 'true' });
      const answer = await service.createCharge<{ error: { details: { param: string }[] } }>(merchant.testKey, body);
      expect(answer.status).toBe(400);
      expect(answer.body.error.details.map((detail) => detail.param)).toContain(param);
    });

    it.each([
      [{ amount: 0, expected_payer_tax_id: CPF }, ['amount', 'customer.name']],
      [
        { expected_payer_tax_id: CPF, customer: { document: '1', email: 'x' }, expires_in: 1, y: 1 },
        ['expires_in', 'customer.document', 'customer.email', 'customer.name', 'y'],
      ],
      [
        { expected_payer_tax_id: CPF, customer: { name: 1, document: OTHER_CPF }, metadata: 'x' },
        ['customer.name', 'expected_payer_tax_id', 'metadata'],
      ],
      [{ expected_payer_tax_id: CPF, customer: 'M' }, ['customer']],
    ])('answers %j with a 400 that names %j', async (body, params) => {
      const merchant = await service.merchant({ payer_lock: 'true' });
      const answer = await service.createCharge<{ error: { details: { param: string }[] } }>(merchant.testKey, body);
      expect(answer.status).toBe(400);
      expect([...new Set(answer.body.error.details.map((detail) => detail.param))]).toEqual(params);
    });
  });

  it('stores the document that the bank reported nowhere in clear', async () => {
    const merchant = await service.merchant({ payer_lock: 'true' });
    const { id } = await charge(merchant, { expected_payer_tax_id: CPF, customer: { name: 'Maria' } });
    const secretPayer = '12345678909';
    await service.simulate(merchant.testKey, id, {
      event: 'pay',
      payer_document: secretPayer,
      payer_name: 'Zé Ninguém',
    });
    const tables = await service.sql<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
    );
    for (const { name } of tables) {
      const hits = await service.sql(
        `SELECT 1 FROM "${name}" t WHERE t::text LIKE '%${secretPayer}%' OR t::text LIKE '%Ninguém%'`,
      );
      expect({ table: name, hits: hits.length }).toEqual({ table: name, hits: 0 });
    }
  });

  it('keeps money pending until its day and releases it once', async () => {
    const merchant = await service.merchant({ release_days: '2', fee_bps: '1000' });
    const key = merchant.testKey;
    const [first, second] = [await charge(merchant, { amount: 1000 }), await charge(merchant, { amount: 500 })];
    await service.simulate(key, first.id, { event: 'pay' });
    await service.simulate(key, second.id, { event: 'pay' });
    const held = await balance(service, key);
    expect(held).toMatchObject({ available: 0, pending: 1350, total: 1350, next_release_amount: 1350 });
    // 00:00 in São Paulo is 03:00 UTC.
    expect(held['next_release_at']).toMatch(/T03:00:00\.000Z$/);
    const releases = service.get(ReleasesService);
    await releases.run();
    expect(await balance(service, key)).toMatchObject({ available: 0, pending: 1350 });
    service.clock.advance(3 * 86_400);
    await Promise.all(Array.from({ length: 4 }, () => releases.run()));
    await waitFor('the release', async () => (await balance(service, key))['available'] === 1350);
    expect(await balance(service, key)).toMatchObject({
      available: 1350,
      pending: 0,
      total: 1350,
      next_release_at: null,
      next_release_amount: null,
    });
  });
});
