import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import Stripe from 'stripe';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { type ReceivedWebhook, WebhookReceiver } from '../../support/receiver.js';
import { type Answer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

interface Endpoint extends Record<string, unknown> {
  id: string;
  url: string;
  events: string[];
  status: string;
  secret: string;
  updatedAt: string;
}
interface Refusal extends Record<string, unknown> {
  error: { code: string; param?: string; details?: { param: string; code: string }[] };
}

const PATH = '/v1/webhooks/endpoints';
const stripe = new Stripe('sk_test_unused');

const service = TestService.forSpec({ env: { WEBHOOK_RETRY_SCHEDULE: '10,30,120' } });
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

async function register(events = ['charge.created'], url = receiver.url, apiKey = key): Promise<Endpoint> {
  const answer = await service.call<Endpoint>('POST', PATH, { key: apiKey, body: { url, events } });
  expect(answer.status).toBe(201);
  return answer.body;
}

function patch<T = Endpoint>(id: string, body: unknown, apiKey = key): Promise<Answer<T>> {
  return service.call<T>('PATCH', `${PATH}/${id}`, { key: apiKey, body });
}

async function listed(apiKey = key): Promise<Endpoint[]> {
  return (await service.call<{ data: Endpoint[] }>('GET', PATH, { key: apiKey })).body.data;
}

interface Row extends Record<string, unknown> {
  status: string;
  attempts: number;
  next_attempt_at: Date | null;
}
const deliveriesOf = (endpoint: Endpoint): Promise<Row[]> =>
  service.sql<Row>('SELECT * FROM webhook_deliveries WHERE endpoint_id = $1 ORDER BY id', [endpoint.id]);

const waitForDelivery = (endpoint: Endpoint, status: string, attempts = 1): Promise<Row> =>
  waitFor(`a delivery that is ${status}`, async () =>
    (await deliveriesOf(endpoint)).find((row) => row.status === status && row.attempts >= attempts),
  );

const header = (webhook: ReceivedWebhook | undefined): string => String(webhook?.headers['x-service-signature']);

/** Verifies with Stripe's library, as a merchant's receiver does. */
function isAccepted(webhook: ReceivedWebhook | undefined, secret: string): boolean {
  try {
    const at = service.clock.now().getTime();
    stripe.webhooks.constructEvent(webhook?.rawBody ?? '', header(webhook), secret, 300, undefined, at);
    return true;
  } catch {
    return false;
  }
}

const legacySignature = (webhook: ReceivedWebhook | undefined, secret: string): string =>
  `sha256=${createHmac('sha256', secret)
    .update(webhook?.rawBody ?? '')
    .digest('hex')}`;

describe('changing an endpoint', () => {
  it('changes only the sent fields, and answers without the secret', async () => {
    const endpoint = await register(['charge.created', 'charge.paid']);
    const url = 'https://merchant.example/other';
    const first = await patch(endpoint.id, { url });
    expect(first.status).toBe(200);
    expect(first.body).toStrictEqual({
      id: endpoint.id,
      url,
      events: ['charge.created', 'charge.paid'],
      status: 'ACTIVE',
    });
    const second = await patch(`wh_${endpoint.id}`, { events: ['*', 'payment.created', '*'] });
    expect(second.body).toStrictEqual({ id: endpoint.id, url, events: ['*', 'payment.created'], status: 'ACTIVE' });
    const third = await patch(endpoint.id, { status: 'INACTIVE', events: ['charge.expired'] });
    expect(third.body).toStrictEqual({ id: endpoint.id, url, events: ['charge.expired'], status: 'INACTIVE' });
    expect(await listed()).toMatchObject([
      { id: `wh_${endpoint.id}`, url, events: ['charge.expired'], status: 'INACTIVE' },
    ]);
    for (const answer of [first, second, third]) expect(answer.text).not.toContain(endpoint.secret);
  });

  it('does nothing for a request without a field or a body', async () => {
    const endpoint = await register();
    const [before] = await listed();
    service.clock.advance(60);
    for (const options of [{ body: {} }, {}]) {
      const answer = await service.call('PATCH', `${PATH}/${endpoint.id}`, { key, ...options });
      expect(answer.status).toBe(200);
      expect(answer.body).toStrictEqual({
        id: endpoint.id,
        url: receiver.url,
        events: ['charge.created'],
        status: 'ACTIVE',
      });
    }
    expect(await listed()).toEqual([before]);
    await patch(endpoint.id, { events: ['charge.paid'] });
    expect((await listed())[0]?.updatedAt).not.toBe(before?.updatedAt);
  });

  it.each<[object, string]>([
    [{ secret: 'x' }, 'secret'],
    [{ id: '1' }, 'id'],
    [{ Url: 'https://x.example/' }, 'Url'],
    [{ url: null }, 'url'],
    [{ url: 1 }, 'url'],
    [{ url: '' }, 'url'],
    [{ url: 'ftp://x.example/' }, 'url'],
    [{ url: 'https://user:pass@x.example/' }, 'url'],
    [{ events: null }, 'events'],
    [{ events: [] }, 'events'],
    [{ events: 'charge.paid' }, 'events'],
    [{ events: [1] }, 'events.0'],
    [{ events: ['charge.paid', 'charge.exploded'] }, 'events.1'],
    [{ status: null }, 'status'],
    [{ status: 'active' }, 'status'],
    [{ status: 'DELETED' }, 'status'],
    [{ status: true }, 'status'],
    [{ status: 'INACTIVE', url: 'nowhere' }, 'url'],
  ])('%j is a 400 that changes nothing', (body, param) => expectRefused(body, param));

  it('to an excessive size is a 400 that changes nothing', async () => {
    await expectRefused({ url: `https://x.example/${'a'.repeat(2048)}` }, 'url');
    await expectRefused({ events: Array.from({ length: 101 }, () => 'charge.paid') }, 'events');
  });

  async function expectRefused(body: object, param: string): Promise<void> {
    const endpoint = await register();
    const before = await listed();
    const answer = await patch<Refusal>(endpoint.id, body);
    expect({ status: answer.status, code: answer.body.error.code }).toEqual({ status: 400, code: 'invalid_request' });
    expect(answer.body.error.details?.map((detail) => detail.param)).toContain(param);
    expect(await listed()).toEqual(before);
  }

  it('requires https in live mode', async () => {
    const endpoint = await register(['*'], 'https://merchant.example/', merchant.liveKey);
    expect((await patch(endpoint.id, { url: 'http://merchant.example/' }, merchant.liveKey)).status).toBe(400);
    expect((await patch(endpoint.id, { url: 'https://merchant.example/2' }, merchant.liveKey)).status).toBe(200);
  });

  it('to INACTIVE cancels waiting deliveries for good; ACTIVE delivers later events', async () => {
    const endpoint = await register();
    receiver.answer = 500;
    await service.createCharge(key);
    await waitForDelivery(endpoint, 'PENDING');
    expect((await patch(endpoint.id, { status: 'INACTIVE' })).status).toBe(200);
    expect(await deliveriesOf(endpoint)).toMatchObject([
      { status: 'CANCELLED', attempts: 1, next_attempt_at: null, delivered_at: null },
    ]);
    await service.createCharge(key);
    await waitFor(
      'the relay',
      async () => (await service.sql(`SELECT 1 FROM events WHERE status = 'pending'`)).length === 0,
    );
    receiver.reset();
    expect((await patch(endpoint.id, { status: 'ACTIVE' })).status).toBe(200);
    service.clock.advance(300);
    const { body: charge } = await service.createCharge(key);
    await waitForDelivery(endpoint, 'DELIVERED');
    expect(receiver.received.map(({ body }) => (body['data'] as { object: { id: string } }).object.id)).toEqual([
      charge.id,
    ]);
    expect((await deliveriesOf(endpoint)).map((row) => row.status).sort()).toEqual(['CANCELLED', 'DELIVERED']);
  });

  it('sends waiting deliveries to the new address', async () => {
    const endpoint = await register(['charge.created'], 'http://127.0.0.1:9/');
    await service.createCharge(key);
    await waitForDelivery(endpoint, 'PENDING');
    await patch(endpoint.id, { url: receiver.url });
    service.clock.advance(60);
    await waitForDelivery(endpoint, 'DELIVERED');
    expect(receiver.received).toHaveLength(1);
  });

  it('clears past failures only for a new address or for ACTIVE', async () => {
    const endpoint = await register();
    const spoil = (): Promise<unknown> =>
      service.sql(
        `UPDATE webhook_endpoints SET failures = 7, failing_since = now(), paused_until = now() + interval '1 hour' WHERE id = $1`,
        [endpoint.id],
      );
    const health = async (): Promise<unknown> => {
      const [row] = await service.sql<Record<string, unknown>>(
        `SELECT failures, failing_since IS NULL AND paused_until IS NULL AS clean FROM webhook_endpoints WHERE id = $1`,
        [endpoint.id],
      );
      return row;
    };
    for (const body of [{}, { events: ['*'] }, { url: receiver.url }, { status: 'INACTIVE' }]) {
      await spoil();
      await patch(endpoint.id, body);
      expect({ body, health: await health() }).toEqual({ body, health: { failures: 7, clean: false } });
    }
    for (const body of [{ status: 'ACTIVE' }, { url: 'https://merchant.example/new' }]) {
      await spoil();
      await patch(endpoint.id, body);
      expect({ body, health: await health() }).toEqual({ body, health: { failures: 0, clean: true } });
    }
  });
});

describe('a request with several mistakes', () => {
  /** Mistakes of fields in the order of the documentation, then of the body. */
  const rows: [object, string[]][] = [
    [{ url: 'ftp://x.example/', events: 'charge.paid' }, ['url: invalid', 'events: invalid']],
    [
      { url: 1, events: ['charge.exploded', 'charge.paid', 7] },
      ['url: invalid', 'events.0: invalid', 'events.2: invalid'],
    ],
    [
      { Url: 'x', events: [], url: 'https://u:p@x.example/' },
      ['url: invalid', 'events: invalid', 'Url: unknown_field'],
    ],
    [
      { url: 'http://169.254.169.254/', events: [null, '*', 'charge.exploded'], secret: 'x' },
      ['url: invalid', 'events.0: invalid', 'events.2: invalid', 'secret: unknown_field'],
    ],
    [{ url: 'https://x.example/', events: ['\ud800'] }, ['events.0: invalid_characters']],
    [{ url: 'ftp://x.example/\ud800', events: ['?'] }, ['events.0: invalid', 'url: invalid_characters']],
    [
      { url: '', events: ['?', ...Array.from({ length: 100 }, () => '*')] },
      ['url: invalid', 'events: invalid', 'events.0: invalid'],
    ],
  ];
  const created: [object, string[]][] = [
    ...rows,
    [{ events: ['charge.exploded'] }, ['url: required', 'events.0: invalid']],
    [{ url: 'ftp://x.example/' }, ['url: invalid', 'events: required']],
    [{ url: null, status: 'ACTIVE' }, ['url: required', 'events: required', 'status: unknown_field']],
  ];
  const changed: [object, string[]][] = [
    ...rows,
    [
      { status: 'DELETED', events: ['charge.exploded'], url: 'nowhere', id: 1 },
      ['url: invalid', 'events.0: invalid', 'status: invalid', 'id: unknown_field'],
    ],
    [{ status: null, url: 'ftp://x.example/' }, ['url: invalid', 'status: invalid']],
    [{ status: null, url: 'https://x.example/', events: ['*'] }, ['status: invalid']],
  ];

  function expectNamed({ status, body }: Answer<Refusal>, named: string[]): void {
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(body.error.details?.map(({ param, code }) => `${param}: ${code}`)).toEqual(named);
    expect(body.error.param).toBe(body.error.details?.[0]?.param);
  }

  it.each(created)('to register an endpoint with %j names %j', async (body, named) => {
    expectNamed(await service.call<Refusal>('POST', PATH, { key, body }), named);
    expect(await listed()).toEqual([]);
  });

  it.each(changed)('to change an endpoint with %j names %j', async (body, named) => {
    const endpoint = await register();
    const before = await listed();
    expectNamed(await patch<Refusal>(endpoint.id, body), named);
    expect(await listed()).toEqual(before);
  });

  it('names the rules of its mode together with the others', async () => {
    const body = { url: 'http://merchant.example/', events: 1, x: 1 };
    const named = ['events: invalid', 'x: unknown_field'];
    expectNamed(await service.call<Refusal>('POST', PATH, { key, body }), named);
    expectNamed(await service.call<Refusal>('POST', PATH, { key: merchant.liveKey, body }), ['url: invalid', ...named]);
  });

  it('to send a sample names the event and unknown fields', async () => {
    const { id } = await register();
    const sample = (body: object): Promise<Answer<Refusal>> =>
      service.call<Refusal>('POST', `${PATH}/${id}/test`, { key, body });
    expectNamed(await sample({ event: 'charge.exploded', x: 1 }), ['event: invalid', 'x: unknown_field']);
    expectNamed(await sample({ event: 1, x: 1 }), ['event: invalid', 'x: unknown_field']);
    expectNamed(await sample({ x: 1 }), ['event: required', 'x: unknown_field']);
    expectNamed(await sample({ event: 'charge.paid', x: 1 }), ['x: unknown_field']);
    expect(receiver.received).toEqual([]);
  });
});

describe('deleting an endpoint', () => {
  it('is final: every route answers 404, waiting deliveries are cancelled, its secrets are erased', async () => {
    const endpoint = await register();
    const kept = await register(['charge.paid'], 'https://merchant.example/kept');
    await service.call('POST', `${PATH}/${endpoint.id}/rotate-secret`, { key, body: { overlap_seconds: 3600 } });
    receiver.answer = 500;
    await service.createCharge(key);
    await waitForDelivery(endpoint, 'PENDING');

    const answer = await service.call('DELETE', `${PATH}/wh_${endpoint.id}`, { key });
    expect(answer.status).toBe(200);
    expect(answer.body).toStrictEqual({ deleted: true });
    expect((await listed()).map(({ id }) => id)).toEqual([`wh_${kept.id}`]);
    expect(await deliveriesOf(endpoint)).toMatchObject([{ status: 'CANCELLED', attempts: 1, next_attempt_at: null }]);
    const [row] = await service.sql(
      `SELECT status, octet_length(secret_sealed) AS secret, previous_secret_sealed, previous_secret_until
       FROM webhook_endpoints WHERE id = $1`,
      [endpoint.id],
    );
    expect(row).toEqual({ status: 'INACTIVE', secret: 0, previous_secret_sealed: null, previous_secret_until: null });

    for (const id of [endpoint.id, `wh_${endpoint.id}`]) {
      for (const [method, path, body] of [
        ['DELETE', '', undefined],
        ['PATCH', '', {}],
        ['PATCH', '', { status: 'ACTIVE' }],
        ['POST', '/rotate-secret', undefined],
        ['POST', '/test', { event: 'charge.paid' }],
      ] as const) {
        const again = await service.call<Refusal>(method, `${PATH}/${id}${path}`, { key, body });
        expect([method, path, again.status, again.body.error.code]).toEqual([method, path, 404, 'not_found']);
      }
    }
    await service.createCharge(key);
    await waitFor(
      'the relay',
      async () => (await service.sql(`SELECT 1 FROM events WHERE status = 'pending'`)).length === 0,
    );
    expect(await deliveriesOf(endpoint)).toHaveLength(1);
  });

  it('frees its place: deleted endpoints and addresses of single payments do not count towards 100', async () => {
    await service.sql(
      `INSERT INTO webhook_endpoints (id, account_id, mode, url, events, secret_sealed, status, kind, created_at, updated_at)
       SELECT gen_random_uuid(), $1, 'test', 'https://merchant.example/' || kind || n, '{}', '', 'ACTIVE', kind, now(), now()
       FROM generate_series(1, 99) n, (VALUES ('registered'), ('direct')) kinds (kind)`,
      [merchant.accountId],
    );
    const last = await register();
    const refused = await service.call<Refusal>('POST', PATH, { key, body: { url: receiver.url, events: ['*'] } });
    expect([refused.status, refused.body.error.code]).toEqual([422, 'webhook_endpoint_limit_reached']);
    await register(['*'], 'https://merchant.example/', merchant.liveKey);
    await service.call('DELETE', `${PATH}/${last.id}`, { key });
    expect(await listed()).toHaveLength(99);
    await register();
    expect((await service.call('POST', PATH, { key, body: { url: receiver.url, events: ['*'] } })).status).toBe(422);
  });

  it('cannot reach or change the address of a single payment', async () => {
    const [row] = await service.sql<{ id: string }>(
      `INSERT INTO webhook_endpoints (id, account_id, mode, url, events, secret_sealed, status, kind, created_at, updated_at)
       VALUES (gen_random_uuid(), $1, 'test', $2, '{}', '', 'ACTIVE', 'direct', now(), now()) RETURNING id`,
      [merchant.accountId, receiver.url],
    );
    expect(await listed()).toEqual([]);
    for (const [method, path, body] of [
      ['PATCH', '', { status: 'INACTIVE' }],
      ['DELETE', '', undefined],
      ['POST', '/rotate-secret', undefined],
      ['POST', '/test', { event: 'charge.paid' }],
    ] as const) {
      expect((await service.call(method, `${PATH}/${row?.id}${path}`, { key, body })).status).toBe(404);
    }
  });
});

describe('rotating a secret', () => {
  const rotate = (endpoint: Endpoint, body?: unknown): Promise<Answer<{ id: string; secret: string }>> =>
    service.call('POST', `${PATH}/${endpoint.id}/rotate-secret`, { key, ...(body === undefined ? {} : { body }) });
  const next = async (): Promise<ReceivedWebhook[]> => {
    receiver.received.length = 0;
    await service.createCharge(key);
    const webhooks = [
      ...(await receiver.waitForType('charge.created')),
      ...(await receiver.waitForType('payment.created')),
    ];
    // Otherwise an unrecorded attempt would be sent again when the clock passes its lease.
    await waitFor('the outcomes', async () => {
      const open = await service.sql(`SELECT 1 FROM webhook_deliveries WHERE status = 'PROCESSING'`);
      return open.length === 0;
    });
    return webhooks;
  };

  it('applies at once: later deliveries are signed with the new secret alone', async () => {
    const endpoint = await register(['charge.created', 'payment.created']);
    const answer = await rotate(endpoint);
    expect(answer.status).toBe(200);
    expect(answer.body).toStrictEqual({ id: endpoint.id, secret: expect.stringMatching(/^[0-9a-f]{64}$/) });
    const { secret } = answer.body;
    expect(secret).not.toBe(endpoint.secret);
    const [canonical, legacy] = await next();
    expect(header(canonical)).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
    expect(isAccepted(canonical, secret)).toBe(true);
    expect(isAccepted(canonical, endpoint.secret)).toBe(false);
    expect(header(legacy)).toBe(legacySignature(legacy, secret));
  });

  it('lets the old secret sign for the requested overlap, after the new one', async () => {
    const endpoint = await register(['charge.created', 'payment.created']);
    const { secret } = (await rotate(endpoint, { overlap_seconds: 600 })).body;
    const [canonical, legacy] = await next();
    expect(header(canonical)).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
    for (const accepted of [secret, endpoint.secret]) expect(isAccepted(canonical, accepted)).toBe(true);
    const time = /^t=(\d+)/.exec(header(canonical))?.[1] ?? '';
    const newest = createHmac('sha256', secret).update(`${time}.${canonical?.rawBody}`).digest('hex');
    expect(header(canonical).split(',')[1]).toBe(`v1=${newest}`);
    expect(header(legacy)).toBe(`${legacySignature(legacy, secret)},${legacySignature(legacy, endpoint.secret)}`);

    service.clock.advance(601);
    const [after, legacyAfter] = await next();
    expect(isAccepted(after, secret)).toBe(true);
    expect(isAccepted(after, endpoint.secret)).toBe(false);
    expect(header(legacyAfter)).toBe(legacySignature(legacyAfter, secret));
  });

  it('a second time ends the previous overlap', async () => {
    const endpoint = await register(['charge.created', 'payment.created']);
    const first = (await rotate(endpoint, { overlap_seconds: 86_400 })).body.secret;
    const second = (await rotate(endpoint, { overlap_seconds: 86_400 })).body.secret;
    const [canonical] = await next();
    expect([endpoint.secret, first, second].map((secret) => isAccepted(canonical, secret))).toEqual([
      false,
      true,
      true,
    ]);
    const third = (await rotate(endpoint)).body.secret;
    const [last] = await next();
    expect([first, second, third].map((secret) => isAccepted(last, secret))).toEqual([false, false, true]);
  });

  it.each([
    [{ overlap_seconds: -1 }, 'overlap_seconds'],
    [{ overlap_seconds: 86_401 }, 'overlap_seconds'],
    [{ overlap_seconds: 0.5 }, 'overlap_seconds'],
    [{ overlap_seconds: '60' }, 'overlap_seconds'],
    [{ overlap_seconds: null }, 'overlap_seconds'],
    [{ overlapSeconds: 60 }, 'overlapSeconds'],
  ])('with %j is a 400 that changes nothing, for an endpoint and for the account', async (body, param) => {
    const endpoint = await register();
    const rows = (): Promise<unknown[]> => service.sql('SELECT * FROM webhook_endpoints WHERE id = $1', [endpoint.id]);
    const before = await rows();
    for (const path of [`${PATH}/${endpoint.id}/rotate-secret`, '/v1/webhooks/default-secret/rotate']) {
      const answer = await service.call<Refusal>('POST', path, { key, body });
      expect(answer.status).toBe(400);
      expect(answer.body.error.details?.map((detail) => detail.param)).toContain(param);
    }
    expect(await rows()).toEqual(before);
    expect(
      await service.sql('SELECT 1 FROM webhook_default_secrets WHERE account_id = $1', [merchant.accountId]),
    ).toEqual([]);
  });

  it('gives the account a secret for each mode', async () => {
    const path = '/v1/webhooks/default-secret/rotate';
    const answers = [
      await service.call<{ secret: string }>('POST', path, { key }),
      await service.call<{ secret: string }>('POST', path, { key, body: {} }),
      await service.call<{ secret: string }>('POST', path, { key, body: { overlap_seconds: 60 } }),
      await service.call<{ secret: string }>('POST', path, { key: merchant.liveKey }),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(body).toStrictEqual({ secret: expect.stringMatching(/^[0-9a-f]{64}$/) });
    }
    expect(new Set(answers.map(({ body }) => body.secret)).size).toBe(4);
    const rows = await service.sql(
      `SELECT mode, previous_secret_sealed IS NOT NULL AS has_previous, previous_secret_until IS NOT NULL AS overlaps
       FROM webhook_default_secrets WHERE account_id = $1 ORDER BY mode`,
      [merchant.accountId],
    );
    expect(rows).toEqual([
      { mode: 'live', has_previous: false, overlaps: false },
      { mode: 'test', has_previous: true, overlaps: true },
    ]);
  });
});

describe('an endpoint', () => {
  const routes = [
    ['PATCH', '', { status: 'INACTIVE' }],
    ['PATCH', '', {}],
    ['DELETE', '', undefined],
    ['POST', '/rotate-secret', undefined],
    ['POST', '/test', { event: 'charge.paid' }],
  ] as const;

  it.each(routes)('is a 404 for another account or mode: %s %s %j', async (method, path, body) => {
    const endpoint = await register();
    const stranger = await service.merchant();
    const row = (): Promise<unknown[]> => service.sql('SELECT * FROM webhook_endpoints WHERE id = $1', [endpoint.id]);
    const before = await row();
    for (const other of [stranger.testKey, stranger.liveKey, merchant.liveKey]) {
      const answer = await service.call<Refusal>(method, `${PATH}/${endpoint.id}${path}`, { key: other, body });
      expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found']);
    }
    expect(await row()).toEqual(before);
    expect(await deliveriesOf(endpoint)).toEqual([]);
    expect((await service.call(method, `${PATH}/${endpoint.id}${path}`, { key, body })).status).toBe(200);
  });

  it.each(routes)('is a 404 when its id is unknown or malformed: %s %s %j', async (method, path, body) => {
    for (const id of [
      '019a4c1e-8a00-7c3d-9d52-6f1b2a3c4d5e',
      'wh_019a4c1e-8a00-7c3d-9d52-6f1b2a3c4d5e',
      'wd_019a4c1e-8a00-7c3d-9d52-6f1b2a3c4d5e',
      '019A4C1E-8A00-7C3D-9D52-6F1B2A3C4D5E',
      'wh_',
      '1',
      '%00',
      "'",
      'a'.repeat(150),
    ]) {
      const answer = await service.call<Refusal>(method, `${PATH}/${id}${path}`, { key, body });
      expect([id, answer.status, answer.body.error.code]).toEqual([id, 404, 'not_found']);
    }
  });
});
