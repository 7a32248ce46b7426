import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { getPixPayloadInfo } from '@brazilian-utils/brazilian-utils';
import jsqr from 'jsqr';
import { hasError, isDynamicPix, parsePix } from 'pix-utils';
import { PNG } from 'pngjs';
import Stripe from 'stripe';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { WebhookReceiver } from '../../support/receiver.js';
import { type Merchant, TestService } from '../../support/service.js';

// The package is CommonJS: at run time the import is the function its types call `default`.
const jsQR = jsqr as unknown as typeof jsqr.default;

describe('the main job: a Pix charge is created, paid, credited and announced', () => {
  const service = TestService.forSpec();
  const receiver = WebhookReceiver.forSpec();
  let merchant: Merchant;

  afterEach(() => expectLedgerCoherent(service.database.url));

  it('works from the creation of the charge to the signed webhook', async () => {
    merchant = await service.merchant({ fee_bps: '150', fee_fixed: '10' });
    const { testKey: key } = merchant;
    const registered = await service.call<{ id: string; secret: string; status: string }>(
      'POST',
      '/v1/webhooks/endpoints',
      {
        key,
        body: { url: receiver.url, events: ['*', 'payment.created', 'payment.completed', 'payment.status_changed'] },
      },
    );
    expect(registered.status).toBe(201);
    expect(registered.body.secret).toMatch(/^[0-9a-f]{64}$/);

    const created = await service.createCharge(key, {
      amount: 10_000,
      description: 'Pedido 42',
      customer: { name: 'Maria da Silva', document: '529.982.247-25', email: 'maria@example.com' },
      metadata: { order: 42, _internal: true, ['__proto__']: { x: 1 }, med: 'x', failure: 'x' },
    });
    expect(created.status).toBe(201);
    const charge = created.body;
    const raw = charge.id.slice(3);
    expect(charge).toEqual({
      id: expect.stringMatching(/^ch_[0-9a-f-]{36}$/),
      object: 'charge',
      amount: 10_000,
      currency: 'BRL',
      status: 'pending',
      payment_method: 'pix',
      customer: { name: 'Maria da Silva', document: '52998224725', email: 'maria@example.com' },
      pix: {
        br_code: expect.stringMatching(/^000201/),
        qr_code_url: `https://pay.example.com/checkout/${raw}/qr.png`,
        expires_at: expect.stringMatching(/Z$/),
        txid: expect.stringMatching(/^[a-zA-Z0-9]{26,35}$/),
      },
      checkout_url: `https://pay.example.com/checkout/${raw}`,
      settlement: {},
      metadata: { order: 42, description: 'Pedido 42' },
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(new Date(charge.pix.expires_at).getTime() - new Date(charge.created_at).getTime()).toBe(3_600_000);
    expect(created.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
    expect(created.headers.get('x-api-version')).toBe('2026-11-01');

    // The QR code, read by a reader that is not ours, is the BR Code, and parsers that are not ours accept it.
    const png = await fetch(`${service.url}/checkout/${raw}/qr.png`);
    expect(png.headers.get('content-type')).toBe('image/png');
    const image = PNG.sync.read(Buffer.from(await png.arrayBuffer()));
    expect(jsQR(new Uint8ClampedArray(image.data), image.width, image.height)?.data).toBe(charge.pix.br_code);
    const parsed = parsePix(charge.pix.br_code);
    if (hasError(parsed) || !isDynamicPix(parsed)) throw new Error('pix-utils refuses the code');
    expect(getPixPayloadInfo(charge.pix.br_code)).toMatchObject({ url: parsed.url, pointOfInitiation: 'dynamic' });

    const paid = await service.simulate(key, charge.id, { event: 'pay' });
    expect(paid.status).toBe(200);
    expect(paid.body).toMatchObject({
      object: 'sandbox_event',
      event: 'pay',
      charge: { id: charge.id, status: 'paid' },
    });
    expect(paid.body.charge.settlement.end_to_end_id).toMatch(/^E[A-Za-z0-9]{31}$/);
    expect((await service.getCharge(key, raw)).body).toEqual(paid.body.charge);

    // 1.5 % of 10 000 and 10 fixed: 160.
    expect((await service.call('GET', '/v1/wallets/balance', { key })).body).toEqual({
      available: 9_840,
      pending: 0,
      total: 9_840,
      retained: 0,
      currency: 'BRL',
      next_release_at: null,
      next_release_amount: null,
      balances: [{ currency: 'BRL', available: 9_840, pending: 0, total: 9_840 }],
      primary: { currency: 'BRL', available: 9_840, pending: 0, total: 9_840 },
    });
    expect((await service.call('GET', '/v1/wallets/balance?currency=BRL', { key })).body).toEqual({
      available: 9_840,
      pending: 0,
      currency: 'BRL',
      next_release_at: null,
      next_release_amount: null,
    });
    expect((await service.call('GET', '/v1/wallets', { key })).body).toEqual([
      { currency: 'BRL', walletType: 'OPERATIONAL', balance: 9_840, pendingBalance: 0 },
    ]);

    const [created1] = await receiver.waitForType('charge.created');
    const [paid1] = await receiver.waitForType('charge.paid');
    const [completed] = await receiver.waitForType('payment.completed');
    await receiver.waitForType('payment.created');
    await receiver.waitForType('payment.status_changed');
    if (!created1 || !paid1 || !completed) throw new Error('unreachable');
    expect(created1.body).toMatchObject({ type: 'charge.created', data: { object: charge } });
    expect(paid1.body).toEqual({
      id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      object: 'event',
      api_version: '2026-11-01',
      type: 'charge.paid',
      created_at: expect.any(String),
      sequence: 2,
      data: {
        object: paid.body.charge,
        payment: { paid_at: expect.any(String), amount: 10_000, fee: 160, net_amount: 9_840, method: 'pix' },
      },
    });
    expect(completed.body).toEqual({
      event: 'payment.completed',
      data: {
        transactionId: `tx_${raw}`,
        paymentId: raw,
        amount: 10_000,
        status: 'PAID',
        previousStatus: 'WAITING_PAYMENT',
        paidWith: 'PIX',
        providerFee: 0,
        platformFee: 160,
        netAmount: 9_840,
        occurredAt: expect.any(String),
        sequence: 2,
      },
    });

    // The canonical signature is of a scheme that others verify; the legacy one is a plain HMAC.
    const { secret } = registered.body;
    const stripe = new Stripe('sk_test_unused');
    expect(
      stripe.webhooks.constructEvent(paid1.rawBody, String(paid1.headers['x-service-signature']), secret).type,
    ).toBe('charge.paid');
    expect(() =>
      stripe.webhooks.constructEvent(`${paid1.rawBody} `, String(paid1.headers['x-service-signature']), secret),
    ).toThrow(/signature/i);
    expect(completed.headers['x-service-signature']).toBe(
      `sha256=${createHmac('sha256', secret).update(completed.rawBody).digest('hex')}`,
    );
    expect(paid1.headers['x-service-delivery-id']).toMatch(/^wd_[0-9a-f-]{36}$/);
    expect(receiver.ofType('charge.paid')).toHaveLength(1);
  });
});
