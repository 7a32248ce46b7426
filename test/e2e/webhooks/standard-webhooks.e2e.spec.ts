import { expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { describeWith } from '../../support/needs.js';
import { type ReceivedWebhook, WebhookReceiver } from '../../support/receiver.js';
import { type Answer, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const ENDPOINTS = '/v1/webhooks/endpoints';

interface Registered {
  readonly id: string;
  readonly secret: string;
  readonly standardSecret?: string;
  readonly signature?: string;
}

const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

/** Verifies as a receiver that uses the official library. */
function verify(secret: string | undefined, { headers, rawBody }: ReceivedWebhook, body = rawBody): unknown {
  const given = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
  return new Webhook(secret ?? '').verify(body, given);
}

describeWith()('an endpoint with the signature of Standard Webhooks', () => {
  const service = TestService.forSpec({ env: { WEBHOOK_RETRY_SCHEDULE: '1,2' } });
  const receiver = WebhookReceiver.forSpec();

  async function endpoint(
    body: Record<string, unknown>,
    events = ['charge.created', 'payment.created'],
  ): Promise<{
    registered: Registered;
    key: string;
    call: (method: string, path: string, body?: unknown) => Promise<Answer<Registered>>;
  }> {
    receiver.reset();
    const { testKey: key } = await service.merchant();
    const call = (method: string, path: string, given?: unknown): Promise<Answer<Registered>> =>
      service.call<Registered>(method, path, { key, body: given });
    const answer = await call('POST', ENDPOINTS, { url: receiver.url, events, ...body });
    expect(answer.status).toBe(201);
    return { registered: answer.body, key, call };
  }

  it('gets deliveries of both families that the library verifies, beside our own header', async () => {
    const { registered, key, call } = await endpoint({ signature: 'standard' });
    const bytes = Buffer.from(registered.secret, 'hex').toString('base64');
    expect(registered).toMatchObject({ signature: 'standard', standardSecret: `whsec_${bytes}` });
    await service.createCharge(key);
    for (const type of ['charge.created', 'payment.created']) {
      const [webhook] = await receiver.waitForType(type);
      if (!webhook) throw new Error(`No ${type}`);
      expect(verify(registered.standardSecret, webhook)).toEqual(webhook.body);
      expect(webhook.headers['webhook-id']).toBe(webhook.headers['x-service-delivery-id']);
      expect(webhook.headers['x-service-signature']).toMatch(/v1=[0-9a-f]{64}$|^sha256=[0-9a-f]{64}$/);
      const explained = await call('POST', '/v1/webhooks/verify', {
        payload: webhook.rawBody,
        headers: webhook.headers,
        secret: registered.standardSecret,
      });
      expect(explained.body).toMatchObject({ valid: true, reason: null });
      expect(() => verify(registered.standardSecret, webhook, `${webhook.rawBody} `)).toThrow('No matching signature');
    }
  });

  it('gets the same id and a new time and signature with a retry', async () => {
    const { registered, key } = await endpoint({ signature: 'standard' }, ['charge.created']);
    receiver.answer = 500;
    await service.createCharge(key);
    const [first] = await receiver.waitForType('charge.created');
    receiver.answer = 200;
    const [, second] = await receiver.waitForType('charge.created', 2);
    if (!first || !second) throw new Error('No two attempts');
    for (const attempt of [first, second]) expect(verify(registered.standardSecret, attempt)).toEqual(attempt.body);
    expect(second.headers['webhook-id']).toBe(first.headers['webhook-id']);
    expect(Number(second.headers['webhook-timestamp'])).toBeGreaterThan(Number(first.headers['webhook-timestamp']));
    expect(second.headers['webhook-signature']).not.toBe(first.headers['webhook-signature']);
  });

  it('gets both signatures in the overlap of a rotation', async () => {
    const { registered, key, call } = await endpoint({ signature: 'standard' }, ['charge.created']);
    const rotated = await call('POST', `${ENDPOINTS}/${registered.id}/rotate-secret`, { overlap_seconds: 3600 });
    expect(rotated.body.standardSecret).not.toBe(registered.standardSecret);
    await service.createCharge(key);
    const [webhook] = await receiver.waitForType('charge.created');
    if (!webhook) throw new Error('No webhook');
    for (const secret of [registered.standardSecret, rotated.body.standardSecret]) {
      expect(verify(secret, webhook)).toEqual(webhook.body);
    }
  });

  it('is left alone by default, may choose later, and may go back', async () => {
    const { registered, key, call } = await endpoint({}, ['charge.created']);
    expect(Object.keys(registered)).toEqual(['id', 'url', 'events', 'status', 'secret']);
    const path = `${ENDPOINTS}/${registered.id}`;
    const next = async (count: number): Promise<ReceivedWebhook> => {
      await service.createCharge(key);
      const webhook = (await receiver.waitForType('charge.created', count)).at(-1);
      if (!webhook) throw new Error('No webhook');
      return webhook;
    };
    const standardNames = (webhook: ReceivedWebhook): string[] => names.filter((name) => name in webhook.headers);
    expect(standardNames(await next(1))).toEqual([]);
    expect((await call('PATCH', path, { signature: 'standard' })).body).toMatchObject({ signature: 'standard' });
    const webhook = await next(2);
    const secret = `whsec_${Buffer.from(registered.secret, 'hex').toString('base64')}`;
    expect(verify(secret, webhook)).toEqual(webhook.body);
    const back = await call('PATCH', path, { signature: 'default' });
    expect(back.body).not.toHaveProperty('signature');
    expect(standardNames(await next(3))).toEqual([]);
    await waitFor('the deliveries to end', () => receiver.received.length === 3);
  });

  it('refuses a signature that does not exist', async () => {
    const { registered, call } = await endpoint({});
    for (const [method, path] of [
      ['POST', ENDPOINTS],
      ['PATCH', `${ENDPOINTS}/${registered.id}`],
    ] as const) {
      const answer = await call(method, path, { url: receiver.url, events: ['*'], signature: 'svix' });
      expect(answer.status).toBe(400);
      expect(answer.text).toContain('"param":"signature"');
    }
  });
});
