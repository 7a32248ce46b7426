import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { signatureHeader } from '../../../src/webhooks/sending/signature.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { type ReceivedWebhook, WebhookReceiver } from '../../support/receiver.js';
import { type Answer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

interface Verdict extends Record<string, unknown> {
  valid: boolean;
  reason: string | null;
  message: string;
  details: Record<string, unknown>;
}
interface Delivery extends Record<string, unknown> {
  id: string;
  status: string;
  payload: Record<string, unknown> & { data: Record<string, unknown> };
}

const ENDPOINTS = '/v1/webhooks/endpoints';

const service = TestService.forSpec({ env: { WEBHOOK_RETRY_SCHEDULE: '10,30' } });
const receiver = WebhookReceiver.forSpec();
let merchant: Merchant;
let key: string;

beforeEach(async () => {
  merchant = await service.merchant();
  key = merchant.testKey;
});
afterEach(async () => {
  receiver.reset();
  await expectLedgerCoherent(service.database.url);
});

async function register(events = ['charge.created', 'payment.created']): Promise<{ id: string; secret: string }> {
  const body = { url: receiver.url, events };
  return (await service.call<{ id: string; secret: string }>('POST', ENDPOINTS, { key, body })).body;
}

function rotate(id: string): Promise<Answer<{ secret: string }>> {
  return service.call('POST', `${ENDPOINTS}/${id}/rotate-secret`, { key });
}

async function received(): Promise<{ canonical: ReceivedWebhook; legacy: ReceivedWebhook }> {
  await service.createCharge(key, { description: 'Pão e café' });
  const [canonical] = await receiver.waitForType('charge.created');
  const [legacy] = await receiver.waitForType('payment.created');
  if (!canonical || !legacy) throw new Error('nothing came');
  // The attempts must be recorded before the verification is requested.
  await waitFor('the records', async () => {
    const rows = await service.sql<{ status: string }>('SELECT status FROM webhook_deliveries WHERE account_id = $1', [
      merchant.accountId,
    ]);
    return rows.every(({ status }) => status === 'DELIVERED');
  });
  return { canonical, legacy };
}

/** Verifies a webhook as received, with some parts changed. */
async function verify(
  webhook: ReceivedWebhook,
  secret: string,
  changes: { payload?: string; headers?: Record<string, unknown>; apiKey?: string } = {},
): Promise<Verdict> {
  const { payload = webhook.rawBody, headers = {}, apiKey = key } = changes;
  const body = { payload, headers: { ...webhook.headers, ...headers }, secret };
  const answer = await service.call<Verdict>('POST', '/v1/webhooks/verify', { key: apiKey, body });
  expect(answer.status).toBe(200);
  return answer.body;
}

const signatureOf = (webhook: ReceivedWebhook): string => String(webhook.headers['x-service-signature']);
const WITHOUT_ID = { 'x-service-delivery-id': [] };

/** Returns the names of fields with the types of their values. */
function fields(value: unknown): unknown {
  return value !== null && typeof value === 'object'
    ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, fields(inner)]))
    : typeof value;
}

describe('verifying what was received', () => {
  it('accepts the unchanged webhook in both schemes', async () => {
    const { id, secret } = await register();
    const { canonical, legacy } = await received();
    expect(await verify(canonical, secret)).toStrictEqual({
      valid: true,
      reason: null,
      message: expect.stringContaining('The signature is right.'),
      details: {
        scheme: 'canonical',
        deliveryId: canonical.headers['x-service-delivery-id'],
        endpointId: `wh_${id}`,
        secret: 'current',
        secretEndpointId: null,
        timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
        secondsOff: expect.any(Number),
        checkedAt: expect.stringMatching(/^\d{4}-.*Z$/),
        differences: [],
      },
    });
    expect(await verify(legacy, secret)).toMatchObject({
      valid: true,
      details: { scheme: 'legacy', timestamp: null, secondsOff: null, endpointId: `wh_${id}`, secret: 'current' },
    });
    expect(await verify(canonical, secret, { headers: WITHOUT_ID })).toMatchObject({
      valid: true,
      details: { deliveryId: null, endpointId: `wh_${id}`, secret: 'current' },
    });
  });

  it('finds the difference behind 25 000 line breaks before the body', async () => {
    const { secret } = await register();
    const { canonical } = await received();
    const payload = `${'\n'.repeat(25_000)}${canonical.rawBody}`;
    expect(await verify(canonical, secret, { payload })).toMatchObject({
      reason: 'body_reserialized',
      details: { differences: ['whitespace'] },
    });
  });

  it('reads headers in every form that frameworks use', async () => {
    const { secret } = await register();
    const { canonical } = await received();
    const signature = signatureOf(canonical);
    for (const headers of [
      { 'X-Service-Signature': signature },
      { 'X-SERVICE-SIGNATURE': signature },
      { HTTP_X_SERVICE_SIGNATURE: signature },
      { 'x-service-signature': [signature] },
      { x_service_signature: signature },
    ]) {
      const body = { payload: canonical.rawBody, headers, secret };
      const answer = await service.call<Verdict>('POST', '/v1/webhooks/verify', { key, body });
      expect({ headers, valid: answer.body.valid }).toEqual({ headers, valid: true });
    }
  });

  it('names the reason why a webhook is refused', async () => {
    const { id, secret } = await register();
    const other = await register(['charge.paid']);
    const { canonical, legacy } = await received();
    const signature = signatureOf(canonical);
    const body = canonical.body;
    const reason = async (...call: Parameters<typeof verify>): Promise<[string | null, Record<string, unknown>]> => {
      const verdict = await verify(...call);
      expect(verdict.valid).toBe(false);
      expect(JSON.stringify(verdict)).not.toContain(secret);
      return [verdict.reason, verdict.details];
    };
    const signed = (text: string): { headers: Record<string, string> } => ({
      headers: { 'x-service-signature': text },
    });

    expect(await reason(canonical, secret, { headers: { 'x-service-signature': [] } })).toMatchObject([
      'signature_missing',
      { endpointId: `wh_${id}`, secret: null },
    ]);
    expect(await reason(canonical, secret, signed(signature.slice(0, -2)))).toMatchObject(['malformed_signature', {}]);
    expect(await reason(canonical, secret, signed(signatureOf(legacy)))).toMatchObject([
      'wrong_scheme',
      { scheme: 'legacy' },
    ]);
    expect(await reason(legacy, secret, signed(signature))).toMatchObject(['wrong_scheme', { scheme: 'canonical' }]);
    expect(await reason(canonical, `${secret}\n`)).toMatchObject(['secret_malformed', { secret: null }]);
    expect(await reason(canonical, 'f'.repeat(64))).toMatchObject(['wrong_secret', { secret: 'unknown' }]);
    expect(await reason(canonical, other.secret)).toMatchObject([
      'wrong_secret',
      { secret: 'other_endpoint', endpointId: `wh_${id}`, secretEndpointId: `wh_${other.id}` },
    ]);
    expect(await reason(canonical, secret, { payload: JSON.stringify(body, null, 2) })).toMatchObject([
      'body_reserialized',
      { differences: ['whitespace'] },
    ]);
    const sorted = JSON.stringify(Object.fromEntries(Object.entries(body).sort(([a], [b]) => (a < b ? -1 : 1))));
    expect(await reason(canonical, secret, { payload: sorted })).toMatchObject([
      'body_reserialized',
      { differences: ['key_order'] },
    ]);
    const escaped = legacy.rawBody.replace('"payment.created"', '"payment\\u002ecreated"');
    expect(await reason(legacy, secret, { payload: `${escaped}\n` })).toMatchObject([
      'body_reserialized',
      { differences: ['trailing_newline', 'unicode_escapes'] },
    ]);
    const misread = Buffer.from(canonical.rawBody, 'utf8').toString('latin1');
    expect(await reason(canonical, secret, { payload: misread })).toMatchObject([
      'body_changed',
      { differences: ['charset'] },
    ]);
    const richer = canonical.rawBody.replace('1990', '1');
    expect(await reason(canonical, secret, { payload: richer })).toMatchObject([
      'body_changed',
      { differences: ['content'] },
    ]);
    const later = signature.replace(/^t=(\d+)/, (_text, t: string) => `t=${Number(t) + 1}`);
    expect(await reason(canonical, secret, signed(later))).toMatchObject(['timestamp_changed', { differences: [] }]);
    expect(await reason(canonical, secret, signed(signature.replace(/.{64}$/, 'a'.repeat(64))))).toMatchObject([
      'signature_changed',
      {},
    ]);
  });

  it('says by how many seconds a clock is wrong', async () => {
    const { secret } = await register();
    const { canonical } = await received();
    service.clock.advance(1000);
    const verdict = await verify(canonical, secret);
    expect(verdict).toMatchObject({ valid: false, reason: 'timestamp_out_of_tolerance' });
    expect(verdict.details['secondsOff']).toBeGreaterThanOrEqual(1000);
    expect(verdict.details['secondsOff']).toBeLessThan(1030);
    expect(verdict.message).toContain(`${String(verdict.details['secondsOff'])} s old`);
    const ahead = Math.floor(service.clock.now().getTime() / 1000) + 400;
    const headers = { 'x-service-signature': signatureHeader('canonical', [secret], canonical.rawBody, ahead) };
    const future = await verify(canonical, secret, { headers });
    expect(future).toMatchObject({ valid: false, reason: 'timestamp_out_of_tolerance' });
    expect(future.details['secondsOff']).toBeLessThanOrEqual(-390);
  });

  it('recognizes the secret from before a rotation, but no secret of a deleted endpoint', async () => {
    const { id, secret } = await register();
    const before = (await received()).canonical;
    const next = (await rotate(id)).body.secret;
    expect(await verify(before, next)).toMatchObject({
      valid: false,
      reason: 'old_secret',
      details: { secret: 'current' },
    });
    expect(await verify(before, secret)).toMatchObject({ valid: true, details: { secret: 'previous' } });
    receiver.received.length = 0;
    const after = (await received()).canonical;
    expect(await verify(after, secret)).toMatchObject({
      valid: false,
      reason: 'old_secret',
      details: { secret: 'previous' },
    });
    expect(await verify(after, next)).toMatchObject({ valid: true, details: { secret: 'current' } });
    await rotate(id);
    expect(await verify(before, secret)).toMatchObject({ valid: true, details: { secret: 'unknown' } });
    expect(await verify(after, secret)).toMatchObject({ valid: false, reason: 'wrong_secret' });
    await service.call('DELETE', `${ENDPOINTS}/${id}`, { key });
    const gone = await verify(after, 'f'.repeat(64));
    expect(gone).toMatchObject({ valid: false, reason: 'wrong_secret', details: { secret: 'unknown' } });
    expect(gone.message).toContain('deleted');
    expect(await verify(after, next)).toMatchObject({ valid: true, details: { secret: 'unknown' } });
  });

  it('recognizes the default secret, which signs webhooks to the address of a single payment', async () => {
    const path = '/v1/webhooks/default-secret/rotate';
    const first = (await service.call<{ secret: string }>('POST', path, { key })).body.secret;
    const { secret } = (await service.call<{ secret: string }>('POST', path, { key, body: { overlap_seconds: 600 } }))
      .body;
    const { id } = await register(['charge.paid']);
    const { body: charge } = await service.createCharge(key);
    await service.sql('UPDATE transactions SET webhook_url = $2 WHERE id = $1', [charge.id.slice(3), receiver.url]);
    await service.simulate(key, charge.id, { event: 'pay' });
    const [direct] = await receiver.waitForType('payment.completed');
    const [own] = await receiver.waitForType('charge.paid');
    if (!direct || !own) throw new Error('nothing came');
    expect(signatureOf(direct)).toBe(signatureHeader('legacy', [secret, first], direct.rawBody, 0));
    expect(await verify(direct, secret)).toMatchObject({
      valid: true,
      details: { secret: 'current', endpointId: null },
    });
    expect(await verify(direct, first)).toMatchObject({
      valid: true,
      details: { secret: 'previous', endpointId: null },
    });
    expect(await verify(own, secret)).toMatchObject({
      reason: 'wrong_secret',
      details: { secret: 'default', endpointId: `wh_${id}` },
    });
  });

  it('uses no delivery or secret of another account or mode', async () => {
    const { secret } = await register();
    const { canonical } = await received();
    const stranger = await service.merchant();
    const sorted = JSON.stringify(Object.fromEntries(Object.entries(canonical.body).reverse()));
    for (const apiKey of [merchant.liveKey, stranger.testKey, stranger.liveKey]) {
      const unknown = {
        deliveryId: null,
        endpointId: null,
        secret: 'unknown',
        secretEndpointId: null,
        differences: [],
      };
      expect(await verify(canonical, 'f'.repeat(64), { apiKey })).toMatchObject({
        reason: 'wrong_secret',
        details: unknown,
      });
      // The right secret with keys in another order: only a caller who may see the delivery learns it.
      expect(await verify(canonical, secret, { apiKey, payload: sorted })).toMatchObject({
        reason: 'wrong_secret',
        details: unknown,
      });
      // A signature that matches the given secret matches for every caller.
      expect(await verify(canonical, secret, { apiKey })).toMatchObject({ valid: true, details: unknown });
    }
    expect(await verify(canonical, secret, { payload: sorted })).toMatchObject({ reason: 'body_reserialized' });
  });

  it.each<[string, unknown, string]>([
    ['nothing', {}, 'payload'],
    ['no headers', { payload: '', secret: '' }, 'headers'],
    ['no secret', { payload: '', headers: {} }, 'secret'],
    ['a parsed payload', { payload: { id: 1 }, headers: {}, secret: '' }, 'payload'],
    ['headers as a text', { payload: '', headers: 'a: b', secret: '' }, 'headers'],
    ['headers as a list', { payload: '', headers: [['a', 'b']], secret: '' }, 'headers'],
    ['headers of numbers', { payload: '', headers: { a: 1 }, secret: '' }, 'headers'],
    ['headers of lists of numbers', { payload: '', headers: { a: [1] }, secret: '' }, 'headers'],
    ['nulls', { payload: null, headers: null, secret: null }, 'secret'],
    ['a field too many', { payload: '', headers: {}, secret: '', tolerance: 1 }, 'tolerance'],
    ['a secret without measure', { payload: '', headers: {}, secret: 'x'.repeat(1_001) }, 'secret'],
  ])('refuses %s', async (_what, body, param) => {
    const answer = await service.call<{ error: { code: string; details: { param: string }[] } }>(
      'POST',
      '/v1/webhooks/verify',
      { key, body },
    );
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
    expect(answer.body.error.details.map((detail) => detail.param)).toContain(param);
  });

  it.each([
    ['ids that are none', { 'x-service-delivery-id': "wd_'; DROP" }],
    ['many ids', { 'x-service-delivery-id': ['a', 'b'] }],
    ['strange names', { '': 'x', constructor: 'x', toString: 'x' }],
  ])('ignores %s', async (_what, headers) => {
    const { secret } = await register();
    const { canonical } = await received();
    expect(await verify(canonical, secret, { headers })).toMatchObject({ valid: true });
  });
});

describe('a sample event', () => {
  const send = (id: string, body: unknown, apiKey = key): Promise<Answer<Delivery>> =>
    service.call<Delivery>('POST', `${ENDPOINTS}/${id}/test`, { key: apiKey, body });
  const endOf = (id: string): Promise<Delivery> =>
    waitFor('the end of the delivery', async () => {
      const { body } = await service.call<Delivery>('GET', `/v1/webhooks/deliveries/${id}`, { key });
      return body.status !== 'PENDING' && body.status !== 'PROCESSING' && body;
    });

  it('arrives signed and marked under every name that is sent', async () => {
    const { id, secret } = await register(['charge.paid']);
    const { body: catalog } = await service.call<{ event: string; description: string; legacy: boolean }[]>(
      'GET',
      '/v1/webhooks/event-catalog',
    );
    expect(catalog.length).toBeGreaterThanOrEqual(10);
    for (const { event, legacy } of catalog) {
      const answer = await send(`wh_${id}`, { event });
      expect([event, answer.status]).toEqual([event, 200]);
      expect(answer.body).toMatchObject({ endpointId: `wh_${id}`, eventType: event, maxAttempts: 1 });
      const [webhook] = await receiver.waitForType(event);
      if (!webhook) throw new Error('nothing came');
      expect(webhook.headers['x-service-delivery-id']).toBe(answer.body.id);
      expect(await verify(webhook, secret)).toMatchObject({ valid: true });
      expect(webhook.body).toMatchObject({ sample: true });
      const amount = event.startsWith('withdrawal.') ? 150_000 : 1990;
      if (legacy) expect(webhook.body).toMatchObject({ event, data: { amount, sequence: 1 } });
      else
        expect(webhook.body).toMatchObject({
          type: event,
          sequence: 1,
          data: { object: objectOf(event) },
        });
      expect(await endOf(answer.body.id)).toMatchObject({ status: 'DELIVERED', attempts: 1 });
    }
    expect(receiver.received).toHaveLength(catalog.length);
    const listed = await service.call<{ total: number }>('GET', '/v1/webhooks/deliveries', { key });
    expect(listed.body.total).toBe(catalog.length);
  });

  /** Cases and reports have no metadata that could be marked. */
  function objectOf(event: string): object {
    if (event.startsWith('med')) return { object: 'med_case' };
    return event.startsWith('report') ? { object: 'report' } : { metadata: { sample: true } };
  }

  it('has exactly the fields of a real event', async () => {
    const { id } = await register(['charge.paid', 'payment.completed']);
    const { body: charge } = await service.createCharge(key, {
      customer: {
        name: 'Maria da Silva',
        document: '52998224725',
        email: 'maria@example.com',
        phone: '+5511987654321',
      },
    });
    await service.simulate(key, charge.id, { event: 'pay' });
    for (const event of ['charge.paid', 'payment.completed']) {
      const [real] = await receiver.waitForType(event);
      await send(id, { event });
      const [, sample] = await receiver.waitForType(event, 2);
      const { sample: mark, ...body } = sample?.body ?? {};
      expect(mark).toBe(true);
      const unmarked = JSON.parse(
        JSON.stringify(body).replace('"metadata":{"sample":true}', '"metadata":{}'),
      ) as object;
      expect(fields(unmarked)).toEqual(fields(real?.body));
    }
  });

  it('is attempted once', async () => {
    const { id } = await register();
    receiver.answer = 500;
    const { body } = await send(id, { event: 'charge.expired' });
    expect(await endOf(body.id)).toMatchObject({
      status: 'FAILED',
      attempts: 1,
      lastStatusCode: 500,
      nextRetryAt: null,
    });
  });

  it('can be retried unchanged after a failure, and is never recovered', async () => {
    const { id } = await register();
    receiver.answer = 500;
    const { body } = await send(id, { event: 'charge.paid' });
    await endOf(body.id);
    const since = new Date(service.clock.now().getTime() - 60_000).toISOString();
    const recovery = await service.call('POST', `${ENDPOINTS}/${id}/recover`, { key, body: { since } });
    expect(recovery.body).toMatchObject({ failed: 0, charges: 0, queued: 0 });
    receiver.answer = 200;
    expect((await service.call('POST', `/v1/webhooks/deliveries/${body.id}/retry`, { key })).status).toBe(200);
    await receiver.waitForType('charge.paid', 2);
    expect(await endOf(body.id)).toMatchObject({ status: 'DELIVERED', attempts: 2 });
    expect(new Set(receiver.received.map(({ rawBody }) => rawBody)).size).toBe(1);
  });

  it('changes nothing in the account, and is not among its events', async () => {
    const { id } = await register();
    await send(id, { event: 'charge.paid' });
    await receiver.waitForType('charge.paid');
    for (const table of ['transactions', 'events']) {
      expect(await service.sql(`SELECT 1 FROM ${table} WHERE account_id = $1`, [merchant.accountId])).toEqual([]);
    }
  });

  it('is shown as it would be sent, without an endpoint, for every name', async () => {
    const { id } = await register();
    await send(id, { event: 'charge.paid' });
    const [sent] = await receiver.waitForType('charge.paid');
    const show = (event: string): Promise<Answer<Record<string, unknown>>> =>
      service.call('GET', `/v1/webhooks/event-catalog/${event}/sample`, { key });
    const shown = (await show('charge.paid')).body;
    expect(shown).toMatchObject({ object: 'event', type: 'charge.paid', sample: true });
    expect(fields(shown)).toEqual(fields(sent?.body));
    const { body: catalog } = await service.call<{ event: string }[]>('GET', '/v1/webhooks/event-catalog');
    const answers = await Promise.all(catalog.map(async ({ event }) => [event, (await show(event)).status] as const));
    expect(answers.filter(([, status]) => status !== 200)).toEqual([]);
    expect(answers.length).toBeGreaterThan(15);
    expect((await show('nothing.here')).status).toBe(404);
  });

  it.each<[unknown, RegExp]>([
    [{ event: 'charge.exploded' }, /event-catalog/],
    [{ event: '*' }, /event-catalog/],
    [{ event: '' }, /event-catalog/],
    [{ event: 1 }, /name of an event/],
    [{ event: null }, /required/],
    [{}, /required/],
    [{ event: 'charge.paid', url: 'https://x.example/' }, /known field/],
  ])('for %j is a 400', async (body, message) => {
    const { id } = await register();
    const answer = await service.call<{ error: { code: string; message: string } }>('POST', `${ENDPOINTS}/${id}/test`, {
      key,
      body,
    });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
    expect(answer.body.error.message).toMatch(message);
  });

  it('is not sent to an INACTIVE endpoint', async () => {
    const { id } = await register();
    await service.call('PATCH', `${ENDPOINTS}/${id}`, { key, body: { status: 'INACTIVE' } });
    const answer = await send(id, { event: 'charge.paid' });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: { type: 'invalid_request_error', code: 'webhook_endpoint_inactive' } });
  });
});
