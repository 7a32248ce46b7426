import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import jsqr from 'jsqr';
import { hasError, isDynamicPix, parsePix } from 'pix-utils';
import { PNG } from 'pngjs';
import Stripe from 'stripe';
import { parseBrCode } from '../../../src/brazil/index.js';
import { type Config, CONFIG } from '../../../src/core/config/index.js';
import { LiveStory } from '../../support/live-story.js';
import { WebhookReceiver } from '../../support/receiver.js';
import { TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

// The package is CommonJS: at run time the import is the function its types call `default`.
const jsQR = jsqr as unknown as typeof jsqr.default;

describe('the main job with a live key', () => {
  const service = TestService.forSpec();
  let story: LiveStory;
  const receiver = WebhookReceiver.forSpec();
  let secret: string;

  beforeAll(async () => {
    // As on the embedded default, where live webhooks may stay on this machine.
    Object.assign(service.runtime.app.get<Config>(CONFIG), { databaseUrl: undefined });
    story = await LiveStory.start(service, { fee_bps: '150', fee_fixed: '10' });
    const registered = await service.call<{ secret: string }>('POST', '/v1/webhooks/endpoints', {
      key: story.key,
      body: { url: receiver.url, events: ['*', 'payment.completed'] },
    });
    secret = registered.body.secret;
  });
  afterEach(() => story.expectSameBooks());
  afterAll(async () => {
    // A static QR has no charge: its txid has 1 to 25 characters (Manual do BR Code), the document's schema 26 to 35.
    await story.stop([/\/txid must match pattern/]);
  });

  it('a charge made at the PSP is shown, paid, confirmed there, credited and announced with a signature', async () => {
    const charge = await story.charge({
      amount: 10_000,
      expires_in: 600,
      customer: { name: 'Maria da Silva', document: '529.982.247-25' },
    });
    const raw = charge.id.slice(3);
    const cob = story.bank.state().cobs.find(({ txid }) => txid === charge.pix.txid);
    expect(cob).toMatchObject({
      status: 'ATIVA',
      chave: story.live.pixKey,
      valor: { original: '100.00' },
      devedor: { cpf: '52998224725', nome: 'Maria da Silva' },
    });
    // Expiry at the PSP: the rest of the ten minutes at the time of the call.
    expect(cob?.calendario.expiracao).toBeGreaterThan(580);
    expect(cob?.calendario.expiracao).toBeLessThanOrEqual(600);

    // The code is the PSP's, leads to its charge, and a parser that is not ours accepts it.
    const location = cob?.location ?? 'none';
    expect(charge.pix.br_code).toBe(cob?.pixCopiaECola);
    expect(parseBrCode(charge.pix.br_code)).toMatchObject({ kind: 'dynamic', location });
    const parsed = parsePix(charge.pix.br_code);
    if (hasError(parsed) || !isDynamicPix(parsed)) throw new Error('pix-utils refuses the code');
    expect(parsed.url).toBe(location);

    const page = await service.call('GET', `/checkout/${raw}`);
    expect([page.status, page.text.includes(charge.pix.br_code)]).toEqual([200, true]);
    const png = await fetch(`${service.url}/checkout/${raw}/qr.png`);
    const image = PNG.sync.read(Buffer.from(await png.arrayBuffer()));
    expect(jsQR(new Uint8ClampedArray(image.data), image.width, image.height)?.data).toBe(charge.pix.br_code);

    const asked = story.asked('pix.get');
    const { endToEndId } = story.pay(charge);
    const paid = await story.becomes(charge, 'paid');
    expect(paid.settlement).toMatchObject({ end_to_end_id: endToEndId });
    expect(story.asked('pix.get')).toBeGreaterThan(asked);
    expect((await service.call('GET', `/checkout/${raw}/status`)).body).toMatchObject({ status: 'paid' });
    // 1.5 % of 10 000 and 10 fixed: 160.
    expect(await story.balance()).toEqual({ available: 9_840, pending: 0, retained: 0 });

    const [told] = await receiver.waitForType('charge.paid');
    if (!told) throw new Error('unreachable');
    const event = new Stripe('sk_test_unused').webhooks.constructEvent(
      told.rawBody,
      String(told.headers['x-service-signature']),
      secret,
    );
    const payment = { paid_at: expect.any(String), amount: 10_000, fee: 160, net_amount: 9_840, method: 'pix' };
    expect([event.type, told.body['data']]).toEqual(['charge.paid', { object: paid, payment }]);
    await receiver.waitForType('payment.completed');
    expect(receiver.ofType('charge.created')).toHaveLength(1);
  });

  it('a payment made with POST /v1/payments gets its code from the PSP, and its status at the PSP can be read', async () => {
    const at = <T>(id: string, path = '') => service.call<T>('GET', `/v1/payments/${id}${path}`, { key: story.key });
    const { status, body } = await service.call<{ id: string; status: string }>('POST', '/v1/payments', {
      key: story.key,
      body: { amount: 4990, paymentMethods: ['PIX'], idempotencyKey: randomUUID() },
    });
    expect([status, body.status]).toEqual([201, 'WAITING_PAYMENT']);
    const code = await waitFor('the code', async () => {
      const { body: payment } = await at<{ pixCopyPaste: string | null }>(body.id);
      return payment.pixCopyPaste;
    });
    const cob = story.bank.state().cobs.find(({ pixCopiaECola }) => pixCopiaECola === code);
    const open = await at<Record<string, unknown>>(body.id, '/provider-status');
    expect(open.body).toMatchObject({
      localStatus: 'WAITING_PAYMENT',
      provider: story.live.acquirer,
      providerTransactionId: cob?.txid,
      providerStatus: 'ATIVA',
      rawResponse: { txid: cob?.txid, valor: { original: '49.90' } },
    });
    story.bank.pay({ txid: cob?.txid ?? '' });
    await waitFor('the payment', async () => (await at<{ status: string }>(body.id)).body.status === 'PAID');
    const closed = await at<Record<string, unknown>>(body.id, '/provider-status');
    expect(closed.body).toMatchObject({ localStatus: 'PAID', providerStatus: 'CONCLUIDA' });
    // The payer's identity stays with the PSP.
    expect(closed.text).not.toContain('12345678909');
    expect(closed.text).not.toContain(story.live.pixKey);
    expect((await at<{ error: { code: string } }>(body.id, '/receipt')).body.error.code).toBe('RECEIPT_NOT_AVAILABLE');
  });

  it('the provider-status of an unreachable PSP is a 503 without a guess', async () => {
    const charge = await story.charge();
    story.bank.addFault({ operation: 'cob.get', fault: { kind: 'throttle', retryAfterSeconds: 3600 } });
    const answer = await service.call<{ error: { code: string } }>('GET', `/v1/payments/${charge.id}/provider-status`, {
      key: story.key,
    });
    expect([answer.status, answer.body.error.code]).toEqual([503, 'provider_unavailable']);
  });

  it.each<[string, { txid?: string; payer?: null }]>([
    ['without txid', {}],
    ['with a txid that nobody here has', { txid: 'ffffffffffffffffffffffffff' }],
    ['with the short txid of a static QR', { txid: 'CAIXA7' }],
    ['without payer', { payer: null }],
  ])('a Pix straight to the key %s is shown to operators, and credited to nobody', async (_, how) => {
    const before = await story.balance();
    const { endToEndId } = story.bank.pay({ key: story.live.pixKey, amount: 711, ...how });
    await story.sweepStatement();
    const { token } = await service.operator();
    const unmatched = await waitFor('the Pix', async () => {
      const { body } = await service.call<{ data: Record<string, unknown>[] }>('GET', '/v1/operations/unmatched', {
        token,
      });
      return body.data.find((pix) => pix['end_to_end_id'] === endToEndId);
    });
    expect(unmatched).toMatchObject({ amount: 711, txid: how.txid ?? null });
    expect(await story.balance()).toEqual(before);
  });
});
