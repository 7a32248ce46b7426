import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { isValidBoleto } from '@brazilian-utils/brazilian-utils';
import jsqr from 'jsqr';
import { PNG } from 'pngjs';
import { WorkService } from '../../../src/core/work/index.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { textsOf } from '../../support/pdf.js';
import { WebhookReceiver } from '../../support/receiver.js';
import { allReturned } from '../../support/refunds.js';
import { type Answer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const decode = jsqr.default;

/** Source: docs/contract.md#creating-a-payment. */
const CREATE_KEYS = [
  ...['id', 'status', 'amount', 'currency', 'paymentMethods', 'customerName', 'customerDocument', 'customerEmail'],
  ...['metadata', 'createdAt'],
];
const READ_KEYS = [
  ...CREATE_KEYS,
  ...['paidWith', 'pixQrCode', 'pixCopyPaste', 'pixExpiresAt', 'cardRedirectUrl', 'mbEntity', 'mbReference'],
  ...['mbExpiresAt', 'boletoBarcode', 'boletoLine', 'boletoPdfUrl', 'boletoExpiresAt', 'cryptoAddress'],
  ...['cryptoAmount', 'cryptoNetwork', 'cryptoCurrency', 'providerFee', 'platformFee', 'netAmount', 'paidAt'],
];
const METHOD_KEYS = READ_KEYS.filter((key) => /^(?:pix|card|mb|boleto|crypto)/.test(key));

type Body = Record<string, unknown> & { id: string; status: string; metadata: Record<string, unknown> };
interface Refusal extends Record<string, unknown> {
  error: { type: string; code: string; param?: string; details?: { param: string; code: string }[] };
}

describe('payments', () => {
  const service = TestService.forSpec();
  const receiver = WebhookReceiver.forSpec();
  let merchant: Merchant;

  beforeAll(async () => {
    merchant = await service.merchant({ fee_bps: '150', fee_fixed: '10' });
    await service.call('POST', '/v1/webhooks/endpoints', {
      key: merchant.testKey,
      body: {
        url: receiver.url,
        events: [
          '*',
          'payment.created',
          'payment.completed',
          'payment.failed',
          'payment.expired',
          'payment.status_changed',
        ],
      },
    });
  });
  afterEach(async () => {
    await allReturned(service, () => service.get(WorkService).sweep());
    await expectLedgerCoherent(service.database.url);
  });

  function post<T = Body>(body: Record<string, unknown>, key = merchant.testKey): Promise<Answer<T>> {
    return service.call<T>('POST', '/v1/payments', {
      key,
      body: { amount: 1990, idempotencyKey: `spec-${randomUUID()}`, ...body },
    });
  }

  async function create(paymentMethods: string[], body: Record<string, unknown> = {}): Promise<Body> {
    const answer = await post({ paymentMethods, ...body });
    expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 201 });
    return answer.body;
  }

  function read(id: string, key = merchant.testKey): Promise<Answer<Body>> {
    return service.call<Body>('GET', `/v1/payments/${id}`, { key });
  }

  /** Waits until the acquirer has created what the payer needs. */
  function finalised(id: string): Promise<Body> {
    return waitFor('the payment to be finalised', async () => {
      const [row] = await service.sql<{ due: boolean }>(
        'SELECT EXISTS (SELECT 1 FROM work WHERE subject_id = $1) AS due',
        [id],
      );
      return row?.due === false ? (await read(id)).body : null;
    });
  }

  async function simulate(id: string, body: Record<string, unknown>): Promise<Body> {
    const answer = await service.call<{ object: string; event: string; payment: Body }>(
      'POST',
      `/v1/sandbox/payments/${id}/simulate`,
      { key: merchant.testKey, body },
    );
    expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 200 });
    expect(Object.keys(answer.body)).toEqual(['object', 'event', 'payment']);
    return answer.body.payment;
  }

  function webhooks(id: string): { type: string; data: Record<string, unknown> }[] {
    return receiver.received
      .map(({ headers, body }) => ({
        type: String(headers['x-service-event-type']),
        data: (body['data'] ?? {}) as Record<string, unknown>,
      }))
      .filter(
        ({ data }) => data['paymentId'] === id || (data['object'] as { id?: string } | undefined)?.id === `ch_${id}`,
      );
  }

  async function expectWebhooks(id: string, types: string[]): Promise<void> {
    const seen = (): string[] =>
      webhooks(id)
        .map(({ type }) => type)
        .sort();
    await waitFor(`webhooks ${types.join()} (have ${seen().join()})`, () => seen().length >= types.length);
    expect(seen()).toEqual([...types].sort());
  }

  /** A card is PROCESSING before its bank has decided. */
  const twice = (type: string): string[] => [type, type];

  async function available(currency: string, key = merchant.testKey): Promise<unknown> {
    return (await service.call('GET', `/v1/wallets/balance?currency=${currency}`, { key })).body['available'];
  }

  it('are limited to fifty currencies per account and mode, since each balance answer lists all of them', async () => {
    const { testKey: key, liveKey } = await service.merchant();
    const make = (currency: string, by = key, again = ''): Promise<Answer<{ error?: { code: string } }>> =>
      service.call('POST', '/v1/payments', {
        key: by,
        body: { amount: 100, currency, paymentMethods: ['CREDIT_CARD'], idempotencyKey: `in-${currency}${again}` },
      });
    for (let n = 0; n < 50; n++) expect((await make(`X${n + 100}`)).status).toBe(201);
    const one = await make('X150');
    expect([one.status, one.body.error?.code]).toEqual([422, 'currency_limit_reached']);
    // Known currencies go on, and repeated requests get their first answer.
    for (const again of ['', '-2']) expect((await make('X100', key, again)).status).toBe(201);
    expect((await make('BRL')).status).toBe(201);
    expect((await make('X150', liveKey)).body.error?.code).not.toBe('currency_limit_reached');
  });

  it('stay within fifty currencies when requests come at once', async () => {
    const { testKey: key } = await service.merchant();
    const answers = await Promise.all(
      Array.from({ length: 80 }, (_, n) =>
        service.call('POST', '/v1/payments', {
          key,
          body: {
            amount: 100,
            currency: `Y${n + 100}`,
            paymentMethods: ['CREDIT_CARD'],
            idempotencyKey: `at-once-${n}`,
          },
        }),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect([statuses.filter((one) => one === 201).length, statuses.filter((one) => one === 422).length]).toEqual([
      50, 30,
    ]);
  });

  describe('by each method', () => {
    it('PIX makes a payment that is a charge too', async () => {
      const created = await create(['PIX'], {
        amount: 10_000,
        customerId: 'user-42',
        customerName: 'Maria da Silva',
        customerDocument: '529.982.247-25',
        customerEmail: 'maria@example.com',
        metadata: { order: 42, med: 1, failure: 2, _own: 3 },
      });
      expect(created).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        status: 'WAITING_PAYMENT',
        amount: 10_000,
        currency: 'BRL',
        paymentMethods: ['PIX'],
        customerName: 'Maria da Silva',
        customerDocument: '52998224725',
        customerEmail: 'maria@example.com',
        metadata: { order: 42 },
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      });
      expect(Object.keys(created)).toEqual(CREATE_KEYS);
      const payment = await finalised(created.id);
      expect(Object.keys(payment).sort()).toEqual([...READ_KEYS].sort());
      expect(payment).toMatchObject({ ...created, paidWith: null, providerFee: null, netAmount: null, paidAt: null });
      expect(payment['pixCopyPaste']).toMatch(/^000201/);
      const png = PNG.sync.read(
        Buffer.from(String(payment['pixQrCode']).replace(/^data:image\/png;base64,/, ''), 'base64'),
      );
      expect(decode(new Uint8ClampedArray(png.data), png.width, png.height)?.data).toBe(payment['pixCopyPaste']);
      const expiry = new Date(String(payment['pixExpiresAt'])).getTime();
      expect(expiry - new Date(String(created['createdAt'])).getTime()).toBe(3_600_000);
      const others = METHOD_KEYS.filter((key) => !key.startsWith('pix'));
      expect(others.map((key) => payment[key])).toEqual(others.map(() => null));

      const { body: charge } = await service.getCharge(merchant.testKey, created.id);
      expect(charge).toMatchObject({
        id: `ch_${created.id}`,
        status: 'pending',
        pix: { br_code: payment['pixCopyPaste'] },
        metadata: { order: 42 },
      });
      const paid = await simulate(created.id, { event: 'pay' });
      expect(paid).toMatchObject({
        status: 'PAID',
        paidWith: 'PIX',
        providerFee: 0,
        platformFee: 160,
        netAmount: 9_840,
        paidAt: expect.stringMatching(/Z$/),
      });
      expect((await service.getCharge(merchant.testKey, created.id)).body.settlement.end_to_end_id).toMatch(/^E/);
      const types = ['payment.created', 'charge.created', 'payment.completed', 'charge.paid', 'payment.status_changed'];
      await expectWebhooks(created.id, types);
      const byType = (type: string): Record<string, unknown> =>
        webhooks(created.id).find((w) => w.type === type)?.data ?? {};
      expect(byType('payment.created')).toMatchObject({
        transactionId: `tx_${created.id}`,
        customerId: 'user-42',
        status: 'WAITING_PAYMENT',
        previousStatus: null,
      });
      expect(byType('payment.completed')).toMatchObject({
        customerId: 'user-42',
        amount: 10_000,
        status: 'PAID',
        previousStatus: 'WAITING_PAYMENT',
        paidWith: 'PIX',
        providerFee: 0,
        platformFee: 160,
        netAmount: 9_840,
      });
      expect(Object.keys(byType('payment.created'))).not.toContain('netAmount');
      expect(byType('charge.created')['object']).toMatchObject({ pix: { br_code: payment['pixCopyPaste'] } });
    });

    it('CREDIT_CARD goes through PROCESSING to APPROVED, on the page the payer is sent to', async () => {
      const { id } = await create(['CREDIT_CARD'], {
        currency: 'EUR',
        metadata: { returnUrl: 'https://merchant.example/谢谢?order=1' },
      });
      const payment = await finalised(id);
      expect(METHOD_KEYS.filter((key) => payment[key] !== null)).toEqual(['cardRedirectUrl']);
      const path = new URL(String(payment['cardRedirectUrl'])).pathname;
      expect(payment['cardRedirectUrl']).toBe(`https://pay.example.com${path}`);
      const page = await service.call('GET', path);
      expect(page.status).toBe(200);
      expect(page.text).toContain('EUR 19,90');
      expect(page.text).toContain('Padaria São João');
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect((await read(id)).body.status).toBe('WAITING_PAYMENT');

      const approved = await service.call('POST', `${path}/approve`, {
        rawBody: '',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
      expect([approved.status, approved.headers.get('location')]).toEqual([
        303,
        'https://merchant.example/%E8%B0%A2%E8%B0%A2?order=1',
      ]);
      expect((await read(id)).body).toMatchObject({ status: 'APPROVED', paidWith: 'CREDIT_CARD' });
      // A second answer of either kind changes nothing.
      await service.call('POST', `${path}/refuse`, { rawBody: '' });
      await service.call('POST', `${path}/approve`, { rawBody: '' });
      expect((await read(id)).body.status).toBe('APPROVED');
      expect((await service.call('GET', path)).text).toContain('Pagamento aprovado.');
      expect((await service.getCharge(merchant.testKey, id)).status).toBe(404);
      const checkout = await service.call('GET', `/checkout/${id}`);
      expect([checkout.status, checkout.text.includes('data-status="paid"')]).toEqual([200, true]);
      expect((await service.call('GET', path, { headers: { 'accept-language': 'en' } })).text).toContain('Test card');
      await expectWebhooks(id, ['payment.created', 'payment.completed', ...twice('payment.status_changed')]);
      expect(webhooks(id).find(({ type }) => type === 'payment.completed')?.data).toMatchObject({
        status: 'APPROVED',
        previousStatus: 'PROCESSING',
        paidWith: 'CREDIT_CARD',
      });
      expect(await service.sql('SELECT type FROM events WHERE subject_id = $1 ORDER BY id', [id])).toEqual([
        { type: 'transaction.created' },
        { type: 'transaction.processing' },
        { type: 'transaction.paid' },
      ]);
      expect(await available('EUR')).toBeGreaterThan(0);
    });

    it('CREDIT_CARD is refused on its page and by simulation', async () => {
      const { id } = await create(['CREDIT_CARD']);
      const path = new URL(String((await finalised(id))['cardRedirectUrl'])).pathname;
      const refused = await service.call('POST', `${path}/refuse`, { rawBody: '' });
      expect([refused.status, refused.headers.get('location')]).toEqual([303, `/checkout/${id}`]);
      expect((await read(id)).body).toMatchObject({ status: 'REFUSED', paidWith: null, paidAt: null });
      await expectWebhooks(id, ['payment.created', 'payment.failed', ...twice('payment.status_changed')]);
      expect(webhooks(id).find(({ type }) => type === 'payment.failed')?.data).toEqual({
        transactionId: `tx_${id}`,
        paymentId: id,
        amount: 1990,
        status: 'REFUSED',
        previousStatus: 'PROCESSING',
        sequence: 3,
        occurredAt: expect.any(String),
      });
      const other = await create(['CREDIT_CARD']);
      expect((await simulate(other.id, { event: 'processing' })).status).toBe('PROCESSING');
      expect((await simulate(other.id, { event: 'fail' })).status).toBe('REFUSED');
    });

    it.each([
      ['chargeback', 'CHARGEBACK'],
      ['dispute', 'DISPUTE'],
    ])('CREDIT_CARD can get a %s after it was paid', async (event, status) => {
      const { id } = await create(['CREDIT_CARD']);
      expect((await simulate(id, { event: 'pay' })).status).toBe('APPROVED');
      expect((await simulate(id, { event })).status).toBe(status);
      expect((await simulate(id, { event })).status).toBe(status);
      await expectWebhooks(id, [
        ...['payment.created', 'payment.completed', ...twice('payment.status_changed')],
        ...['payment.failed', 'payment.status_changed'],
      ]);
      const failed = webhooks(id).find(({ type }) => type === 'payment.failed')?.data ?? {};
      expect(failed).toMatchObject({ status, previousStatus: 'APPROVED' });
      // Only PAID and APPROVED have fees.
      for (const key of ['paidWith', 'providerFee', 'platformFee', 'netAmount']) expect(failed).not.toHaveProperty(key);
    });

    it('CREDIT_CARD can turn a dispute into a chargeback, and no status goes back', async () => {
      const { id } = await create(['CREDIT_CARD']);
      await simulate(id, { event: 'pay' });
      await simulate(id, { event: 'dispute' });
      expect((await simulate(id, { event: 'chargeback' })).status).toBe('CHARGEBACK');
      expect((await simulate(id, { event: 'dispute' })).status).toBe('CHARGEBACK');
    });

    it('MBWAY has no code or address, and can be paid', async () => {
      const { id } = await create(['MBWAY'], { currency: 'EUR', metadata: { phone: '+351912345678' } });
      const payment = await finalised(id);
      expect(METHOD_KEYS.filter((key) => payment[key] !== null)).toEqual([]);
      expect(await simulate(id, { event: 'pay' })).toMatchObject({ status: 'PAID', paidWith: 'MBWAY' });
    });

    it('MULTIBANCO gets a reference whose check digits hold', async () => {
      const { id } = await create(['MULTIBANCO'], { amount: 2586, currency: 'EUR' });
      const payment = await finalised(id);
      expect(METHOD_KEYS.filter((key) => payment[key] !== null)).toEqual(['mbEntity', 'mbReference', 'mbExpiresAt']);
      const { mbEntity, mbReference } = payment as unknown as { mbEntity: string; mbReference: string };
      expect([mbEntity, mbReference]).toEqual([expect.stringMatching(/^\d{5}$/), expect.stringMatching(/^\d{9}$/)]);
      const number = BigInt(`${mbEntity}${mbReference.slice(0, 7)}00002586${mbReference.slice(7)}`);
      expect(number % 97n).toBe(1n);
      expect(await simulate(id, { event: 'pay' })).toMatchObject({ status: 'PAID', paidWith: 'MULTIBANCO' });
    });

    it('BOLETO gets a bar code, a line and a sheet', async () => {
      const { id, ...created } = await create(['BOLETO'], {
        amount: 123_456,
        customerName: 'Maria da Silva',
        customerDocument: '52998224725',
      });
      const payment = await finalised(id);
      expect(METHOD_KEYS.filter((key) => payment[key] !== null)).toEqual([
        ...['boletoBarcode', 'boletoLine', 'boletoPdfUrl', 'boletoExpiresAt'],
      ]);
      expect(payment['boletoBarcode']).toMatch(/^9999\d{5}0000123456\d{25}$/);
      expect(payment['boletoLine']).toMatch(/^\d{47}$/);
      expect(isValidBoleto(String(payment['boletoLine']))).toBe(true);
      // The third day after the creation, to its end in São Paulo.
      const expiresAt = new Date(String(payment['boletoExpiresAt']));
      expect(expiresAt.toISOString()).toMatch(/T03:00:00\.000Z$/);
      const days = (expiresAt.getTime() - new Date(String(created['createdAt'])).getTime()) / 86_400_000;
      expect(days).toBeGreaterThan(3);
      expect(days).toBeLessThanOrEqual(4);
      const response = await fetch(`${service.url}${new URL(String(payment['boletoPdfUrl'])).pathname}`);
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/pdf']);
      const texts = textsOf(Buffer.from(await response.arrayBuffer()));
      expect(texts).toEqual(
        expect.arrayContaining(['R$ 1.234,56', 'Padaria São João', 'Maria da Silva', '***.982.247-**']),
      );
      expect(texts.map((text) => text.replace(/[. ]/g, ''))).toContain(payment['boletoLine']);
      expect(await simulate(id, { event: 'pay' })).toMatchObject({ status: 'PAID', paidWith: 'BOLETO' });
    });

    it.each([
      ['USDT', /^T[1-9A-HJ-NP-Za-km-z]{33}$/, 'TRON_TESTNET', 'USDT', 19.9],
      ['BRL', /^T[1-9A-HJ-NP-Za-km-z]{33}$/, 'TRON_TESTNET', 'USDT', 3.62],
      ['BTC', /^tb1q[02-9ac-hj-np-z]{38}$/, 'BITCOIN_TESTNET', 'BTC', 0.0000199],
    ])('CRYPTO for %s gets an address, a network and an amount', async (currency, address, network, crypto, amount) => {
      const { id } = await create(['CRYPTO'], { currency });
      const payment = await finalised(id);
      expect(payment).toMatchObject({
        cryptoAddress: expect.stringMatching(address),
        cryptoAmount: amount,
        cryptoNetwork: network,
        cryptoCurrency: crypto,
      });
      const before = Number(await available(currency));
      expect(await simulate(id, { event: 'pay' })).toMatchObject({
        status: 'PAID',
        paidWith: 'CRYPTO',
        netAmount: 1950,
      });
      expect(Number(await available(currency)) - before).toBe(1950);
    });

    it('several methods can be offered: the payer uses one, and a later payment by another goes back', async () => {
      const { id } = await create(['PIX', 'CREDIT_CARD', 'BOLETO', 'PIX']);
      const payment = await finalised(id);
      expect(payment['paymentMethods']).toEqual(['PIX', 'CREDIT_CARD', 'BOLETO']);
      expect(METHOD_KEYS.filter((key) => payment[key] !== null)).toEqual([
        ...['pixQrCode', 'pixCopyPaste', 'pixExpiresAt', 'cardRedirectUrl'],
        ...['boletoBarcode', 'boletoLine', 'boletoPdfUrl', 'boletoExpiresAt'],
      ]);
      expect(payment['pixExpiresAt']).toBe(payment['boletoExpiresAt']);
      // A card in flight does not keep the payer from using Pix.
      expect((await simulate(id, { event: 'processing' })).status).toBe('PROCESSING');
      expect(await simulate(id, { event: 'pay', method: 'PIX' })).toMatchObject({ status: 'PAID', paidWith: 'PIX' });
      for (const method of ['CREDIT_CARD', 'BOLETO', 'PIX']) {
        expect((await simulate(id, { event: 'pay', method })).status).toBe('PAID');
      }
      expect(
        await service.sql(
          `SELECT s.method, s.outcome, s.reason, r.way FROM settlements s
           LEFT JOIN pix_returns r ON r.end_to_end_id = s.end_to_end_id WHERE s.transaction_id = $1 ORDER BY s.id`,
          [id],
        ),
      ).toEqual([
        { method: 'PIX', outcome: 'credited', reason: null, way: null },
        { method: 'CREDIT_CARD', outcome: 'returned', reason: 'duplicate', way: 'card' },
        // A boleto cannot be returned: operators handle it.
        { method: 'BOLETO', outcome: 'unmatched', reason: 'duplicate', way: null },
        { method: 'PIX', outcome: 'returned', reason: 'duplicate', way: 'devolution' },
      ]);
      expect((await service.getCharge(merchant.testKey, id)).body.settlement).toHaveProperty('end_to_end_id');
    });

    it.each(['expire', 'fail'])('a payment of any method can %s', async (event) => {
      const status = event === 'expire' ? 'EXPIRED' : 'REFUSED';
      for (const method of ['PIX', 'CREDIT_CARD', 'MBWAY', 'MULTIBANCO', 'BOLETO', 'CRYPTO']) {
        const { id } = await create([method], { metadata: { phone: '+351912345678' } });
        expect({ method, status: (await simulate(id, { event })).status }).toEqual({ method, status });
        // Money that comes later changes nothing.
        expect((await simulate(id, { event: 'pay' })).status).toBe(status);
        const [row] = await service.sql<{ outcome: string }>(
          'SELECT outcome FROM settlements WHERE transaction_id = $1',
          [id],
        );
        expect(row?.outcome).toBe(['PIX', 'CREDIT_CARD'].includes(method) ? 'returned' : 'unmatched');
      }
    });

    it('a wrong amount does not pay, whatever the method', async () => {
      const { id } = await create(['CREDIT_CARD']);
      expect((await simulate(id, { event: 'pay', amount: 1989 })).status).toBe('PROCESSING');
      expect((await simulate(id, { event: 'pay' })).status).toBe('APPROVED');
    });

    it('a repeated notification of one payment changes nothing', async () => {
      const { id } = await create(['BOLETO']);
      const pay = { event: 'pay', end_to_end_id: `boleto${Date.now()}` };
      const first = await simulate(id, pay);
      expect(await simulate(id, pay)).toEqual(first);
      const rows = await service.sql('SELECT 1 FROM settlements WHERE transaction_id = $1', [id]);
      expect(rows).toHaveLength(1);
    });

    it.each([
      [{ paymentMethods: ['MULTIBANCO'], amount: 100_000_000 }, 'amount_too_large'],
      [{ paymentMethods: ['BOLETO'], amount: 10_000_000_000 }, 'amount_too_large'],
      [{ paymentMethods: ['CRYPTO'], currency: 'XYZ' }, 'currency_not_supported'],
    ])('a payment is refused by the acquirer: %j', async (body, code) => {
      const { body: created } = await post(body);
      await waitFor('the refusal', async () => (await read(created.id)).body.status === 'REFUSED');
      const [row] = await service.sql<{ failure: Record<string, unknown> }>(
        'SELECT failure FROM transactions WHERE id = $1',
        [created.id],
      );
      expect(row?.failure).toMatchObject({ providerErrorCode: code });
      await expectWebhooks(created.id, ['payment.created', 'payment.failed', 'payment.status_changed']);
    });

    it('a method that the acquirer refuses leaves the others usable', async () => {
      const { id } = await create(['MULTIBANCO', 'CREDIT_CARD'], { amount: 100_000_000 });
      const payment = await finalised(id);
      expect(payment.status).toBe('WAITING_PAYMENT');
      expect(METHOD_KEYS.filter((key) => payment[key] !== null)).toEqual(['cardRedirectUrl']);
    });
  });

  it('are finalised once by the sweeper when their job was lost', async () => {
    const { id } = await create(['PIX', 'MULTIBANCO']);
    const first = await finalised(id);
    // As if the process had died between the commit and the job.
    // As one statement: the service's own sweeper may be there at once.
    await service.sql(
      `WITH lost AS (DELETE FROM events WHERE subject_id = $1 AND type = 'transaction.issued'),
         work AS (INSERT INTO work (kind, subject_id, due_at) VALUES ('acquirer', $1, now()))
       UPDATE transactions SET br_code = NULL, artefacts = NULL WHERE id = $1`,
      [id],
    );
    const work = service.get(WorkService);
    await Promise.all([work.sweep(), work.runNow('acquirer', id), work.runNow('acquirer', id), work.sweep()]);
    expect(await finalised(id)).toEqual(first);
    const events = await service.sql(`SELECT type FROM events WHERE subject_id = $1 ORDER BY type`, [id]);
    expect(events).toEqual([{ type: 'transaction.created' }, { type: 'transaction.issued' }]);
  });

  describe('idempotency', () => {
    const body = { paymentMethods: ['PIX'], customerName: 'Maria' };

    it('gives simultaneous requests one payment and one answer, and keeps the first body permanently', async () => {
      const idempotencyKey = `twin-${randomUUID()}`;
      const answers = await Promise.all(Array.from({ length: 10 }, () => post({ ...body, idempotencyKey })));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      const replayed = answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true');
      expect(replayed).toHaveLength(9);
      const rows = await service.sql(`SELECT 1 FROM transactions WHERE customer_name = 'Maria' AND id = $1`, [
        answers[0]?.body.id,
      ]);
      expect(rows).toHaveLength(1);
      const [key] = await service.sql('SELECT expires_at FROM idempotency_keys WHERE key = $1', [idempotencyKey]);
      expect(key).toEqual({ expires_at: null });
      const other = await post<Refusal>({ ...body, idempotencyKey, amount: 5 });
      expect([other.status, other.body.error.code]).toEqual([409, 'idempotency_key_reused']);
    });

    it.each([1, 7, 8, 128])('accepts a key of %i characters', async (length) => {
      const idempotencyKey = randomUUID().repeat(4).slice(0, length);
      const first = await post({ ...body, idempotencyKey });
      const again = await post({ ...body, idempotencyKey });
      expect([first.status, again.status]).toEqual([201, 201]);
      expect(again.body).toEqual(first.body);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
    });

    it('treats omitted defaults as the same request, frees the key of a refusal, and separates charges from payments', async () => {
      const idempotencyKey = `default-${randomUUID()}`;
      expect((await post({ paymentMethods: ['PIX'], idempotencyKey, currency: 'EUR' })).status).toBe(400);
      const first = await post({ paymentMethods: ['PIX'], idempotencyKey });
      const again = await post({
        paymentMethods: ['PIX', 'PIX'],
        currency: 'BRL',
        metadata: { _x: 1 },
        idempotencyKey,
      });
      expect(again.text).toBe(first.text);
      const charge = await service.createCharge(merchant.testKey, {}, idempotencyKey);
      expect(charge.body.id).not.toBe(`ch_${first.body.id}`);
      const stranger = await service.merchant();
      expect((await post({ paymentMethods: ['PIX'], idempotencyKey }, stranger.testKey)).body.id).not.toBe(
        first.body.id,
      );
    });
  });

  describe('bad input', () => {
    it.each([
      [{}, ['paymentMethods']],
      [{ paymentMethods: [] }, ['paymentMethods']],
      [{ paymentMethods: ['CASH'] }, ['paymentMethods']],
      [{ paymentMethods: 'PIX' }, ['paymentMethods']],
      [{ paymentMethods: ['PIX'], amount: 0 }, ['amount']],
      [{ paymentMethods: ['PIX'], amount: 1.5 }, ['amount']],
      [{ paymentMethods: ['PIX'], amount: '100' }, ['amount']],
      [{ paymentMethods: ['PIX'], amount: 1_000_000_000_000 }, ['amount']],
      [{ paymentMethods: ['CREDIT_CARD'], currency: 'EU' }, ['currency']],
      [{ paymentMethods: ['CREDIT_CARD'], currency: 'ABCDEFGHI' }, ['currency']],
      [{ paymentMethods: ['CREDIT_CARD'], currency: 'eur' }, ['currency']],
      [{ paymentMethods: ['PIX'], currency: 'EUR' }, ['currency']],
      [{ paymentMethods: ['BOLETO'], currency: 'USD' }, ['currency']],
      [{ paymentMethods: ['PIX'], idempotencyKey: '' }, ['idempotencyKey']],
      [{ paymentMethods: ['PIX'], idempotencyKey: 'x'.repeat(129) }, ['idempotencyKey']],
      [{ paymentMethods: ['PIX'], idempotencyKey: null }, ['idempotencyKey']],
      [{ paymentMethods: ['PIX'], customerEmail: 'not-an-email' }, ['customerEmail']],
      [{ paymentMethods: ['PIX'], customerEmail: 'a..b@example.com' }, ['customerEmail']],
      [{ paymentMethods: ['PIX'], customerEmail: 'a@b@example.com' }, ['customerEmail']],
      [{ paymentMethods: ['PIX'], customerDocument: '529.982.247-24' }, ['customerDocument']],
      [{ paymentMethods: ['PIX'], customerDocument: 'x'.repeat(33) }, ['customerDocument']],
      [{ paymentMethods: ['PIX'], webhookUrl: 'ftp://example.com' }, ['webhookUrl']],
      [{ paymentMethods: ['PIX'], webhookUrl: 'https://user:pw@example.com' }, ['webhookUrl']],
      [{ paymentMethods: ['PIX'], webhookUrl: 'http://169.254.169.254/latest' }, ['webhookUrl']],
      [{ paymentMethods: ['PIX'], webhookUrl: 'http://[fd00:ec2::254]/' }, ['webhookUrl']],
      [{ paymentMethods: ['PIX'], webhookUrl: 'https://metadata.google.internal/' }, ['webhookUrl']],
      [{ paymentMethods: ['PIX'], webhookUrl: 'http://0.0.0.0/hook' }, ['webhookUrl']],
      [{ paymentMethods: ['PIX'], webhookUrl: 'http://224.0.0.1/hook' }, ['webhookUrl']],
      [{ paymentMethods: ['PIX'], webhookUrl: 'https://merchant.example:6379/' }, ['webhookUrl']],
      [{ paymentMethods: ['PIX'], webhookUrl: `https://merchant.example/${'x'.repeat(2048)}` }, ['webhookUrl']],
      [{ paymentMethods: ['PIX'], webhookUrl: 42 }, ['webhookUrl']],
      [{ paymentMethods: ['PIX'], metadata: [1] }, ['metadata']],
      [{ paymentMethods: ['MBWAY'] }, ['metadata.phone']],
      [{ paymentMethods: ['MBWAY'], metadata: { phone: '912345678' } }, ['metadata.phone']],
      [{ paymentMethods: ['MBWAY'], metadata: { phone: '+0912345678' } }, ['metadata.phone']],
      [{ paymentMethods: ['MBWAY'], metadata: { phone: 912 } }, ['metadata.phone']],
      [{ paymentMethods: ['CREDIT_CARD'], metadata: { returnUrl: 'javascript:alert(1)' } }, ['metadata.returnUrl']],
      [{ paymentMethods: ['PIX'], payment_methods: ['PIX'] }, ['payment_methods']],
      [{ paymentMethods: ['PIX', 'MBWAY'], currency: 'EUR', amount: 7 }, ['currency', 'metadata.phone']],
      [{ paymentMethods: ['X'], amount: -1, customerEmail: '@' }, ['amount', 'customerEmail', 'paymentMethods']],
      [{ paymentMethods: ['PIX'], amount: 0, webhookUrl: 'ftp://example.com' }, ['amount', 'webhookUrl']],
      [{ paymentMethods: 'PIX', webhookUrl: 'http://0.0.0.0/hook', x: 1 }, ['paymentMethods', 'webhookUrl', 'x']],
      [
        {
          paymentMethods: ['PIX', 'MBWAY', 'CREDIT_CARD'],
          currency: 'EUR',
          customerId: 1,
          metadata: { returnUrl: 1 },
        },
        ['currency', 'customerId', 'metadata.phone', 'metadata.returnUrl'],
      ],
      // A missing phone cannot be reported when metadata is no object.
      [{ paymentMethods: ['MBWAY'], metadata: [1], amount: 0 }, ['amount', 'metadata']],
    ])('%j is a 400 that names %j', async (body, params) => {
      const answer = await post<Refusal>(body);
      expect(answer.status).toBe(400);
      expect(answer.body.error).toMatchObject({ type: 'invalid_request_error', code: 'invalid_request' });
      expect([...new Set(answer.body.error.details?.map(({ param }) => param))].sort()).toEqual(params);
    });

    it.each([
      [{ customerEmail: '"quoted local"@example.com' }, {}],
      [{ customerEmail: "o'brien+tag@sub.example.com" }, {}],
      [{ customerEmail: 'user@[192.168.0.1]' }, {}],
      [{ customerDocument: 'PT123456789' }, {}],
      [{ customerDocument: '123456789' }, {}],
      [{ customerDocument: '12345678901' }, {}],
      [{ customerDocument: '12.abc.345/01de-35' }, { customerDocument: '12ABC34501DE35' }],
      [{ currency: 'EUR', paymentMethods: ['MBWAY'], metadata: { phone: '+351912345678' } }, {}],
      [{ currency: 'USDTTRC2', paymentMethods: ['CREDIT_CARD'] }, {}],
    ])('%j is accepted', async (body, changes) => {
      const answer = await post({ paymentMethods: ['PIX'], ...body });
      expect({ status: answer.status, body: answer.body }).toMatchObject({
        status: 201,
        body: { ...body, ...changes },
      });
    });

    it('a live key without an acquirer is refused, and nothing of the request is stored', async () => {
      const idempotencyKey = `live-${randomUUID()}`;
      const answer = await post<Refusal>({ paymentMethods: ['PIX'], idempotencyKey }, merchant.liveKey);
      expect([answer.status, answer.body.error.code]).toEqual([422, 'no_provider_configured']);
      expect(await service.sql('SELECT 1 FROM idempotency_keys WHERE key = $1', [idempotencyKey])).toEqual([]);
      const insecure = await post<Refusal>(
        { paymentMethods: ['PIX'], webhookUrl: 'http://merchant.example/hook' },
        merchant.liveKey,
      );
      expect([insecure.status, insecure.body.error.param]).toEqual([400, 'webhookUrl']);
      for (const webhookUrl of ['https://127.0.0.1/hook', 'https://10.0.0.1/hook', 'https://localhost/hook']) {
        const inside = await post<Refusal>({ paymentMethods: ['PIX'], webhookUrl }, merchant.liveKey);
        expect([inside.status, inside.body.error.param]).toEqual([400, 'webhookUrl']);
        expect((await post({ paymentMethods: ['PIX'], webhookUrl })).status).toBe(201);
      }
    });

    it('an impossible event is a 400 and changes nothing', async () => {
      const { id } = await create(['BOLETO']);
      for (const body of [
        { event: 'chargeback' },
        { event: 'dispute' },
        { event: 'processing' },
        { event: 'pay', method: 'PIX' },
      ]) {
        const answer = await service.call('POST', `/v1/sandbox/payments/${id}/simulate`, {
          key: merchant.testKey,
          body,
        });
        expect({ body, status: answer.status }).toEqual({ body, status: 400 });
      }
      expect((await read(id)).body.status).toBe('WAITING_PAYMENT');
    });
  });

  it('can be simulated on the route of charges, whatever the method', async () => {
    const { id } = await create(['CREDIT_CARD']);
    const answer = await service.simulate(merchant.testKey, `tx_${id}`, { event: 'pay' });
    expect(answer.body).toMatchObject({
      object: 'sandbox_event',
      event: 'pay',
      charge: { id: `ch_${id}`, object: 'charge', status: 'paid', payment_method: 'credit_card' },
    });
  });

  it('are seen by their own account and mode only, under every form of their id', async () => {
    const { id } = await create(['PIX', 'CREDIT_CARD']);
    await finalised(id);
    const stranger = await service.merchant();
    for (const form of [id, `tx_${id}`, `ch_${id}`]) {
      expect((await read(form)).body.id).toBe(id);
      for (const key of [stranger.testKey, merchant.liveKey, stranger.liveKey]) {
        for (const [method, path] of [
          ['GET', ''],
          ['GET', '/provider-status'],
          ['GET', '/receipt'],
          ['POST', '/cancel'],
        ] as const) {
          const answer = await service.call<Refusal>(method, `/v1/payments/${form}${path}`, { key });
          expect([path, answer.status, answer.body.error.code]).toEqual([path, 404, 'not_found']);
        }
        const simulated = await service.call('POST', `/v1/sandbox/payments/${form}/simulate`, {
          key,
          body: { event: 'pay' },
        });
        expect(simulated.status).toBe(404);
      }
    }
    for (const form of ['nonsense', `wh_${id}`, `${id}x`, randomUUID()]) {
      expect({ form, status: (await read(form)).status }).toEqual({ form, status: 404 });
    }
    expect((await read(id)).body.status).toBe('WAITING_PAYMENT');
    for (const key of [stranger.testKey, merchant.liveKey]) {
      expect((await service.call('GET', '/v1/payments', { key })).body).toEqual({
        data: [],
        total: 0,
        page: 1,
        limit: 20,
      });
    }
  });

  it('have pages of the sandbox bank that open only with their full address', async () => {
    const { id } = await create(['MULTIBANCO']);
    await finalised(id);
    const [row] = await service.sql<{ txid: string }>('SELECT txid FROM transactions WHERE id = $1', [id]);
    for (const path of [
      `cards/${row?.txid}`,
      `boletos/${row?.txid}/boleto.pdf`,
      `cards/${id}`,
      `cards/${'A'.repeat(26)}`,
    ]) {
      expect({ path, status: (await service.call('GET', `/sandbox/${path}`)).status }).toEqual({ path, status: 404 });
    }
    expect((await service.call('POST', `/sandbox/cards/${row?.txid}/approve`)).status).toBe(404);
  });

  it('keep the wallets of every currency apart', async () => {
    const rich = await service.merchant({ fee_bps: '1000' });
    const pay = async (currency: string, amount: number): Promise<void> => {
      const { body } = await post({ paymentMethods: ['CREDIT_CARD'], currency, amount }, rich.testKey);
      const paid = await service.call('POST', `/v1/sandbox/payments/${body.id}/simulate`, {
        key: rich.testKey,
        body: { event: 'pay' },
      });
      expect(paid.status).toBe(200);
    };
    await pay('EUR', 1000);
    await pay('USD', 2000);
    await pay('USDT', 3000);
    await pay('USD', 500);
    const { body } = await service.call('GET', '/v1/wallets/balance', { key: rich.testKey });
    expect(body).toMatchObject({
      available: 0,
      currency: 'BRL',
      balances: [
        { currency: 'BRL', available: 0, pending: 0, total: 0 },
        { currency: 'EUR', available: 900, pending: 0, total: 900 },
        { currency: 'USD', available: 2250, pending: 0, total: 2250 },
        { currency: 'USDT', available: 2700, pending: 0, total: 2700 },
      ],
      primary: { currency: 'BRL', available: 0, pending: 0, total: 0 },
    });
    expect((await service.call('GET', '/v1/wallets', { key: rich.testKey })).body).toEqual([
      { currency: 'BRL', walletType: 'OPERATIONAL', balance: 0, pendingBalance: 0 },
      { currency: 'EUR', walletType: 'OPERATIONAL', balance: 900, pendingBalance: 0 },
      { currency: 'USD', walletType: 'OPERATIONAL', balance: 2250, pendingBalance: 0 },
      { currency: 'USDT', walletType: 'OPERATIONAL', balance: 2700, pendingBalance: 0 },
    ]);
    expect((await service.call('GET', '/v1/wallets/balance?currency=USD', { key: rich.testKey })).body).toEqual({
      available: 2250,
      pending: 0,
      currency: 'USD',
      next_release_at: null,
      next_release_amount: null,
    });
    expect((await service.call('GET', '/v1/wallets', { key: rich.liveKey })).body).toEqual([
      { currency: 'BRL', walletType: 'OPERATIONAL', balance: 0, pendingBalance: 0 },
    ]);
  });
});
