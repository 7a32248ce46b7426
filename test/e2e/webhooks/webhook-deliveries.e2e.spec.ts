import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { StatisticsService } from '../../../src/transactions/index.js';
import { RecoveryRepository } from '../../../src/webhooks/log/recovery.repository.js';
import { Dispatcher } from '../../../src/webhooks/sending/dispatcher.service.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { type ReceivedWebhook, WebhookReceiver } from '../../support/receiver.js';
import { type Answer, type ChargeAnswer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

interface Delivery extends Record<string, unknown> {
  id: string;
  endpointId: string | null;
  eventType: string;
  status: string;
  attempts: number;
  maxAttempts: number;
  nextRetryAt: string | null;
  createdAt: string;
  payload: { id?: string; event?: string; sequence?: number; data: Record<string, unknown> };
}

interface Detail extends Delivery {
  url: string;
  eventId: string;
  manual: boolean;
  history: Record<string, unknown>[];
}

interface Page {
  data: Delivery[];
  total: number;
  limit: number;
  offset: number;
}

const UNKNOWN_ID = '019a4c1e-8a00-7c3d-9d52-6f1b2a3c4d5e';

describe('webhook deliveries', () => {
  // Each delivery gets two attempts: at once and after 10 s.
  const service = TestService.forSpec({ env: { WEBHOOK_RETRY_SCHEDULE: '10' } });
  const receiver = WebhookReceiver.forSpec();
  let merchant: Merchant;

  beforeEach(async () => {
    merchant = await service.merchant();
  });
  afterEach(async () => {
    receiver.answer = 200;
    await quiet();
    receiver.received.length = 0;
    await expectLedgerCoherent(service.database.url);
  });

  function get<T = Record<string, unknown>>(path: string, key = merchant.testKey): Promise<Answer<T>> {
    return service.call<T>('GET', path, { key });
  }

  function post<T = Record<string, unknown>>(path: string, body?: unknown, key = merchant.testKey): Promise<Answer<T>> {
    return service.call<T>('POST', path, { key, ...(body === undefined ? {} : { body }) });
  }

  /** Registers an endpoint. @returns its `wh_…` id */
  async function register(events: string[], url = receiver.url, key = merchant.testKey): Promise<string> {
    const { status, body } = await post<{ id: string }>('/v1/webhooks/endpoints', { url, events }, key);
    expect(status).toBe(201);
    return `wh_${body.id}`;
  }

  async function list(query = ''): Promise<Delivery[]> {
    const { status, body } = await get<Page>(`/v1/webhooks/deliveries${query}`);
    expect(status).toBe(200);
    return body.data;
  }

  /** Waits until the merchant's deliveries are `count`, all in `status`; newest first. */
  function settled(count: number, status = 'DELIVERED'): Promise<Delivery[]> {
    return waitFor(`${count} × ${status}`, async () => {
      const found = await list('?limit=100');
      return found.length === count && found.every((delivery) => delivery.status === status) ? found : null;
    });
  }

  /** Waits until no account has anything to relay or send. */
  function quiet(): Promise<unknown> {
    return waitFor('the workers', async () => {
      const [row] = await service.sql<{ busy: boolean }>(
        `SELECT EXISTS (SELECT 1 FROM events WHERE status = 'pending')
           OR EXISTS (SELECT 1 FROM webhook_deliveries WHERE status = 'PROCESSING'
             OR (status = 'PENDING' AND next_attempt_at <= $1)) AS busy`,
        [service.clock.now()],
      );
      return row?.busy === false;
    });
  }

  /** Brings refused deliveries to their end. */
  async function failed(count: number): Promise<Delivery[]> {
    return waitFor(`${count} × FAILED`, async () => {
      // A clock that moves during an attempt would end the attempt's lease.
      await waitFor('the attempts under way', async () => {
        const sending = await service.sql(`SELECT 1 FROM webhook_deliveries WHERE status = 'PROCESSING'`);
        return sending.length === 0;
      });
      service.clock.advance(15);
      const found = await list('?status=FAILED&limit=100');
      return found.length === count ? found : null;
    });
  }

  async function charge(body: Record<string, unknown> = {}): Promise<ChargeAnswer> {
    const created = await service.createCharge(merchant.testKey, body);
    expect(created.status).toBe(201);
    return created.body;
  }

  async function pay(id: string): Promise<void> {
    expect((await service.simulate(merchant.testKey, id, { event: 'pay' })).status).toBe(200);
  }

  const eventIdOf = (webhook: ReceivedWebhook | undefined): unknown => webhook?.body['id'];
  const deliveryIdOf = (webhook: ReceivedWebhook | undefined): unknown => webhook?.headers['x-service-delivery-id'];

  describe('in the list', () => {
    it('have exactly the documented fields, and the payload that was received', async () => {
      const endpointId = await register(['charge.created']);
      await charge();
      const [delivery] = await settled(1);
      const [webhook] = receiver.received;
      expect(delivery).toStrictEqual({
        id: deliveryIdOf(webhook),
        endpointId,
        eventType: 'charge.created',
        status: 'DELIVERED',
        attempts: 1,
        maxAttempts: 2,
        lastStatusCode: 200,
        lastError: null,
        nextRetryAt: null,
        deliveredAt: expect.any(String),
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
        payload: webhook?.body,
      });
      expect(delivery?.id).toMatch(/^wd_[0-9a-f-]{36}$/);
    });

    it('show the reason of a failed attempt and the time of the next one while they wait', async () => {
      await register(['charge.created']);
      receiver.answer = 503;
      await charge();
      const [delivery] = await waitFor('the attempt', async () => {
        const found = await list('?status=PENDING');
        return found[0]?.attempts === 1 ? found : null;
      });
      expect(delivery).toMatchObject({ lastStatusCode: 503, lastError: 'HTTP 503', deliveredAt: null });
      const wait = Date.parse(delivery?.nextRetryAt ?? '') - Date.parse(String(delivery?.['updatedAt']));
      expect(wait).toBeGreaterThanOrEqual(9_000);
      expect(wait).toBeLessThanOrEqual(11_000);
      receiver.answer = 200;
      service.clock.advance(12);
      await settled(1);
    });

    it('are found by status, event and endpoint, in pages from the newest on', async () => {
      const both = await register(['charge.created', 'charge.paid']);
      const paidOnly = await register(['charge.paid']);
      const ids: string[] = [];
      for (let count = 0; count < 3; count++) ids.push((await charge()).id);
      for (const id of ids) await pay(id);
      const all = await settled(9);
      expect(all.map((delivery) => delivery.createdAt)).toEqual(
        all
          .map((delivery) => delivery.createdAt)
          .sort()
          .reverse(),
      );

      const paged: Delivery[] = [];
      for (let offset = 0; offset < 10; offset += 2) {
        const { body } = await get<Page>(`/v1/webhooks/deliveries?limit=2&offset=${offset}`);
        expect(body).toMatchObject({ total: 9, limit: 2, offset });
        paged.push(...body.data);
      }
      expect(paged).toEqual(all);
      expect((await get<Page>('/v1/webhooks/deliveries')).body).toMatchObject({ limit: 25, offset: 0 });
      expect((await get<Page>('/v1/webhooks/deliveries?offset=999999999')).body).toMatchObject({ data: [], total: 9 });

      const expectFound = async (query: string, wanted: (delivery: Delivery) => boolean): Promise<void> => {
        const { body } = await get<Page>(`/v1/webhooks/deliveries?${query}&limit=100`);
        const expected = all.filter(wanted);
        expect({ query, ids: body.data.map(({ id }) => id), total: body.total }).toEqual({
          query,
          ids: expected.map(({ id }) => id),
          total: expected.length,
        });
      };
      await expectFound('status=DELIVERED', () => true);
      await expectFound('status=FAILED', () => false);
      await expectFound('eventType=charge.paid', ({ eventType }) => eventType === 'charge.paid');
      await expectFound('eventType=payout.paid', () => false);
      for (const endpoint of [both, paidOnly]) {
        await expectFound(`endpointId=${endpoint}`, ({ endpointId }) => endpointId === endpoint);
        await expectFound(`endpointId=${endpoint.slice(3)}`, ({ endpointId }) => endpointId === endpoint);
        await expectFound(
          `endpointId=${endpoint}&eventType=charge.paid&status=DELIVERED`,
          ({ endpointId, eventType }) => endpointId === endpoint && eventType === 'charge.paid',
        );
      }
      await expectFound(`endpointId=${UNKNOWN_ID}`, () => false);

      // The history of an endpoint outlives it.
      expect((await service.call('DELETE', `/v1/webhooks/endpoints/${both}`, { key: merchant.testKey })).status).toBe(
        200,
      );
      await expectFound(`endpointId=${both}`, ({ endpointId }) => endpointId === both);
    });

    it('refuse unknown filters', async () => {
      for (const [query, param] of [
        ['status=DONE', 'status'],
        ['status=delivered', 'status'],
        ['status=', 'status'],
        ['status=FAILED&status=PENDING', 'status'],
        ['eventType=charge.exploded', 'eventType'],
        ['eventType=*', 'eventType'],
        ['eventType=', 'eventType'],
        ['endpointId=nonsense', 'endpointId'],
        ['endpointId=ch_019a4c1e-8a00-7c3d-9d52-6f1b2a3c4d5e', 'endpointId'],
        ['limit=0', 'limit'],
        ['limit=101', 'limit'],
        ['limit=2.5', 'limit'],
        ['offset=-1', 'offset'],
        ['offset=9999999999', 'offset'],
        ['offset=a', 'offset'],
        ['page=1', 'page'],
        ['event_type=charge.paid', 'event_type'],
      ]) {
        const { status, body } = await get(`/v1/webhooks/deliveries?${query}`);
        expect({ query, status, body }).toMatchObject({
          query,
          status: 400,
          body: { error: { code: 'invalid_request', details: [{ param }] } },
        });
      }
    });

    it('are counted by status', async () => {
      expect((await get('/v1/webhooks/stats')).body).toStrictEqual({
        total: 0,
        PENDING: 0,
        PROCESSING: 0,
        DELIVERED: 0,
        FAILED: 0,
        CANCELLED: 0,
      });
      await register(['charge.created', 'payment.created']);
      await charge();
      await settled(2);
      const broken = await WebhookReceiver.start();
      broken.answer = 500;
      const endpoint = await register(['charge.created'], broken.url);
      await charge();
      await failed(1);
      await charge();
      const counts = async (): Promise<Record<string, unknown>> => (await get('/v1/webhooks/stats')).body;
      const done = { total: 8, DELIVERED: 6, FAILED: 1, PROCESSING: 0 };
      await waitFor('the attempts', async () => {
        const { DELIVERED, PENDING, PROCESSING } = await counts();
        return DELIVERED === 6 && PENDING === 1 && PROCESSING === 0;
      });
      expect(await counts()).toStrictEqual({ ...done, PENDING: 1, CANCELLED: 0 });
      await service.call('DELETE', `/v1/webhooks/endpoints/${endpoint}`, { key: merchant.testKey });
      expect(await counts()).toStrictEqual({ ...done, PENDING: 0, CANCELLED: 1 });
      await broken.stop();
    });
  });

  describe('read by id', () => {
    it('show every attempt, and the receiver’s answer', async () => {
      await register(['charge.created']);
      receiver.answer = 500;
      await charge();
      const [{ id = '' } = {}] = await failed(1);
      const { status, body } = await get<Detail>(`/v1/webhooks/deliveries/${id}`);
      expect(status).toBe(200);
      const [item] = await list();
      const { url, eventId, manual, history, ...rest } = body;
      expect(rest).toStrictEqual(item);
      expect({ url, eventId, manual }).toEqual({ url: receiver.url, eventId: body.payload.id, manual: false });
      expect(history).toStrictEqual(
        [1, 2].map((number) => ({
          number,
          startedAt: expect.any(String),
          durationMs: expect.any(Number),
          statusCode: 500,
          error: 'HTTP 500',
          responseBody: 'ok',
        })),
      );
      const gap = Date.parse(String(history[1]?.['startedAt'])) - Date.parse(String(history[0]?.['startedAt']));
      expect(gap).toBeGreaterThanOrEqual(9_000);
      expect((await get(`/v1/webhooks/deliveries/${id.slice(3)}`)).body).toEqual(body);
    });

    it('get a 404 under any other id', async () => {
      for (const id of [UNKNOWN_ID, `wd_${UNKNOWN_ID}`, 'nonsense', 'wh_1', '%00']) {
        for (const answer of [
          await get(`/v1/webhooks/deliveries/${id}`),
          await post(`/v1/webhooks/deliveries/${id}/retry`),
        ]) {
          expect([id, answer.status, answer.body]).toMatchObject([id, 404, { error: { code: 'not_found' } }]);
        }
      }
    });
  });

  describe('tried again by hand', () => {
    it('get one more attempt after the last one, and keep their id and body', async () => {
      await register(['charge.created']);
      receiver.answer = 500;
      await charge();
      const [{ id = '' } = {}] = await failed(1);
      for (const attempts of [3, 4]) {
        const { status, body } = await post<Delivery>(`/v1/webhooks/deliveries/${id}/retry`);
        expect(status).toBe(200);
        expect(body).toMatchObject({ id, maxAttempts: attempts });
        await waitFor('the attempt', async () => {
          const { body: now } = await get<Detail>(`/v1/webhooks/deliveries/${id}`);
          return now.status === (attempts === 4 ? 'DELIVERED' : 'FAILED') && now.attempts === attempts;
        });
        receiver.answer = 200;
      }
      expect(receiver.received).toHaveLength(4);
      expect(new Set(receiver.received.map(deliveryIdOf))).toEqual(new Set([id]));
      expect(new Set(receiver.received.map(({ rawBody }) => rawBody)).size).toBe(1);
      const { body } = await get<Detail>(`/v1/webhooks/deliveries/${id}`);
      expect(body.history.map((attempt) => attempt['number'])).toEqual([1, 2, 3, 4]);

      const again = await post<{ error: { code: string } }>(`/v1/webhooks/deliveries/${id}/retry`);
      expect([again.status, again.body.error.code]).toEqual([400, 'webhook_delivery_not_retryable']);
    });

    it('do not wait for their next retry, and keep their attempts', async () => {
      await register(['charge.created']);
      receiver.answer = 500;
      await charge();
      const [{ id = '' } = {}] = await waitFor('the attempt', async () => {
        const found = await list('?status=PENDING');
        return found[0]?.attempts === 1 ? found : null;
      });
      receiver.answer = 200;
      expect((await post<Delivery>(`/v1/webhooks/deliveries/${id}/retry`)).status).toBe(200);
      const [delivery] = await settled(1);
      expect(delivery).toMatchObject({ id, attempts: 2, maxAttempts: 2 });
    });

    it('wake the sender when the attempt is due and only the endpoint is paused', async () => {
      const endpoint = await register(['charge.created']);
      receiver.answer = 500;
      await charge();
      const [{ id = '' } = {}] = await waitFor('the attempt', async () => {
        const found = await list('?status=PENDING');
        return found[0]?.attempts === 1 ? found : null;
      });
      await quiet();
      await service.sql(
        `WITH paused AS (UPDATE webhook_endpoints SET paused_until = now() + interval '1 day' WHERE account_id = $2)
         UPDATE webhook_deliveries SET next_attempt_at = now() - interval '1 minute' WHERE id = $1`,
        [id.slice(3), merchant.accountId],
      );
      const [paused] = await service.sql<{ paused_until: Date }>(
        'SELECT paused_until FROM webhook_endpoints WHERE id = $1',
        [endpoint.slice(3)],
      );
      const isShownPaused = expect.objectContaining({ id, nextRetryAt: paused?.paused_until.toISOString() }) as unknown;
      for (const query of ['?status=PENDING', `?endpointId=${endpoint}`]) {
        expect(await list(query)).toEqual([isShownPaused]);
      }
      expect((await get<Detail>(`/v1/webhooks/deliveries/${id}`)).body).toEqual(isShownPaused);
      const woken = jest.spyOn(service.get(Dispatcher), 'wake');
      receiver.answer = 200;
      expect((await post<Delivery>(`/v1/webhooks/deliveries/${id}/retry`)).status).toBe(200);
      expect(woken.mock.calls).toEqual([[[{ accountId: merchant.accountId, endpointId: endpoint.slice(3) }]]]);
      const [delivery] = await settled(1);
      expect(delivery).toMatchObject({ id, status: 'DELIVERED', attempts: 2 });
    });

    it('make one attempt, however many requests come at once', async () => {
      await register(['charge.created']);
      receiver.answer = 500;
      await charge();
      const [{ id = '' } = {}] = await failed(1);
      await quiet();
      const before = receiver.received.length;
      const release = receiver.hold();
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => post<Delivery>(`/v1/webhooks/deliveries/${id}/retry`)),
      );
      release();
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      await waitFor('the end', async () => (await list('?status=FAILED')).length === 1);
      await quiet();
      expect(receiver.received.length - before).toBe(1);
      expect((await get<Detail>(`/v1/webhooks/deliveries/${id}`)).body).toMatchObject({ attempts: 3, maxAttempts: 3 });
    });

    it('do not wait for a circuit breaker, and neither do resent deliveries', async () => {
      await register(['charge.created']);
      receiver.answer = 500;
      const { id: chargeId } = await charge();
      const [{ id = '' } = {}] = await failed(1);
      receiver.answer = 200;
      const pause = (): Promise<unknown> =>
        service.sql(
          'UPDATE webhook_endpoints SET failures = 9, failing_since = $2, paused_until = $3 WHERE account_id = $1',
          [merchant.accountId, service.clock.now(), new Date(service.clock.now().getTime() + 3_600_000)],
        );
      await pause();
      await post(`/v1/webhooks/deliveries/${id}/retry`);
      await waitFor('the delivery', async () => (await list('?status=DELIVERED')).length === 1);
      await pause();
      await post(`/v1/payments/${chargeId}/resend-webhook`);
      await settled(2);
    });

    it('require an active endpoint and a delivery that was not cancelled', async () => {
      const endpoint = await register(['charge.created']);
      receiver.answer = 500;
      await charge();
      const [{ id = '' } = {}] = await failed(1);
      await charge();
      const waiting = await waitFor('the attempt', async () => (await list('?status=PENDING'))[0]);
      const patch = { key: merchant.testKey, body: { status: 'INACTIVE' } };
      expect((await service.call('PATCH', `/v1/webhooks/endpoints/${endpoint}`, patch)).status).toBe(200);
      await waitFor('the cancellation', async () => (await list('?status=CANCELLED')).length === 1);
      const refusals = [id, waiting.id].map(async (each) => {
        const { status, body } = await post<{ error: { code: string } }>(`/v1/webhooks/deliveries/${each}/retry`);
        return [status, body.error.code];
      });
      expect(await Promise.all(refusals)).toEqual([
        [400, 'webhook_endpoint_inactive'],
        [400, 'webhook_delivery_not_retryable'],
      ]);
    });
  });

  it('get at most a hundred attempts, since one answer shows all of them', async () => {
    await register(['charge.created']);
    receiver.answer = 500;
    await charge();
    const [{ id = '' } = {}] = await failed(1);
    await service.sql('UPDATE webhook_deliveries SET attempts = 99, max_attempts = 99 WHERE id = $1', [
      id.replace('wd_', ''),
    ]);
    expect((await post(`/v1/webhooks/deliveries/${id}/retry`)).status).toBe(200);
    await waitFor('the hundredth', async () => {
      const { body } = await get<Detail>(`/v1/webhooks/deliveries/${id}`);
      return body.attempts === 100 && body.status === 'FAILED';
    });
    const again = await post<{ error: { code: string } }>(`/v1/webhooks/deliveries/${id}/retry`);
    expect([again.status, again.body.error.code]).toEqual([400, 'webhook_delivery_not_retryable']);
  });

  it('are recovered by one call per account at a time, so that others can use the database', async () => {
    const endpoint = await register(['charge.created']);
    receiver.answer = 500;
    await charge();
    await failed(1);
    const holder = await service.database.pool.connect();
    try {
      await holder.query(`SELECT pg_advisory_lock(hashtextextended('webhook_recovery:' || $1, 0))`, [
        endpoint.replace('wh_', ''),
      ]);
      const body = { since: new Date(Date.now() - 3_600_000).toISOString(), dry_run: true };
      const recover = (): Promise<Answer> =>
        service.call('POST', `/v1/webhooks/endpoints/${endpoint}/recover`, { key: merchant.testKey, body });
      const looks = jest.spyOn(service.get(RecoveryRepository), 'failed');
      const first = recover();
      await waitFor('the first', () => looks.mock.calls.length === 1);
      const gone = new AbortController();
      const path = `${service.url}/v1/webhooks/endpoints/${endpoint}/recover`;
      const headers = { apikey: merchant.testKey, 'Content-Type': 'application/json' };
      const wanted = { method: 'POST', headers, body: JSON.stringify(body), signal: gone.signal };
      const abandoned = Promise.allSettled(Array.from({ length: 5 }, () => fetch(path, wanted)));
      await delay(500);
      gone.abort();
      await abandoned;
      const calls = Array.from({ length: 24 }, recover);
      expect((await Promise.race(calls)).status).toBe(503);
      expect((await get('/v1/wallets')).status).toBe(200);
      await holder.query('SELECT pg_advisory_unlock_all()');
      expect((await first).status).toBe(200);
      const statuses = (await Promise.all(calls)).map(({ status }) => status);
      // Twenty calls wait, five of them abandoned: nothing is begun for callers who hung up.
      expect(statuses.filter((status) => status === 200)).toHaveLength(15);
      expect(statuses.filter((status) => status === 503)).toHaveLength(9);
      expect(looks).toHaveBeenCalledTimes(16);
      looks.mockRestore();
    } finally {
      await holder.query('SELECT pg_advisory_unlock_all()');
      holder.release();
    }
  });

  it('number the events of a charge in their order, whatever happens at once', async () => {
    await register(['*', 'payment.status_changed']);
    const charges = await Promise.all(Array.from({ length: 12 }, () => charge({ expires_in: 60 })));
    service.clock.advance(59);
    await Promise.all(
      charges.flatMap(({ id }) => [
        ...['pay', 'expire', 'fail'].map((event) => service.simulate(merchant.testKey, id, { event })),
        post(`/v1/payments/${id}/resend-webhook`),
      ]),
    );
    await quiet();
    for (const { id } of charges) {
      const { status } = (await service.getCharge(merchant.testKey, id)).body;
      const told = receiver.received.flatMap(({ body }) => {
        const content = body['data'] as { object?: { id: string; status: string }; paymentId?: string };
        if (content.object?.id !== id) return [];
        return [{ event: body['id'], sequence: body['sequence'], status: content.object.status }];
      });
      const bySequence = new Map(told.map((each) => [each.sequence, each]));
      expect([...bySequence.keys()].sort()).toEqual([1, 2]);
      expect(bySequence.get(2)?.status).toBe(status);
      expect(new Set(told.map(({ event, sequence }) => `${String(event)} ${String(sequence)}`)).size).toBe(2);
      expect(receiver.ofType('payment.status_changed')).toContainEqual(
        expect.objectContaining({
          body: {
            event: 'payment.status_changed',
            data: expect.objectContaining({ paymentId: id.slice(3), sequence: 2 }),
          },
        }),
      );
    }
  });

  describe('when a payment is resent', () => {
    const resend = (id: string, key?: string): Promise<Answer> => post(`/v1/payments/${id}/resend-webhook`, {}, key);

    it('contain the current status: the same event, in new deliveries, to every current subscriber', async () => {
      await register(['*', 'payment.completed', 'payment.status_changed']);
      const { id } = await charge();
      const raw = id.slice(3);
      expect((await resend(raw)).body).toStrictEqual({ resent: true, status: 'WAITING_PAYMENT' });
      await receiver.waitForType('charge.created', 2);
      await pay(id);
      await settled(5);
      await register(['charge.paid']);
      for (const form of [raw, `tx_${raw}`, `ch_${raw}`]) {
        const { status, body } = await resend(form);
        expect([status, body]).toEqual([200, { resent: true, status: 'PAID' }]);
      }
      await settled(5 + 3 * 4);
      const created = receiver.ofType('charge.created');
      const paid = receiver.ofType('charge.paid');
      const completed = receiver.ofType('payment.completed');
      expect([created.length, paid.length, completed.length]).toEqual([2, 7, 4]);
      expect(receiver.ofType('payment.status_changed')).toHaveLength(4);
      for (const same of [created, paid, completed]) expect(new Set(same.map(({ rawBody }) => rawBody)).size).toBe(1);
      expect(new Set(receiver.received.map(deliveryIdOf)).size).toBe(receiver.received.length);
      expect(eventIdOf(created[0])).not.toBe(eventIdOf(paid[0]));
      expect([created[0]?.body['sequence'], paid[0]?.body['sequence']]).toEqual([1, 2]);
      expect(completed[0]?.body).toMatchObject({ data: { sequence: 2, status: 'PAID' } });
      const manual = (await list('?limit=100')).map(
        async (delivery) => (await get<Detail>(`/v1/webhooks/deliveries/${delivery.id}`)).body.manual,
      );
      expect((await Promise.all(manual)).filter(Boolean)).toHaveLength(13);
    });

    it('are not made without a subscriber', async () => {
      const { id } = await charge();
      expect((await resend(id)).body).toEqual({ resent: false, status: 'WAITING_PAYMENT' });
      await register(['charge.paid']);
      expect((await resend(id)).body).toEqual({ resent: false, status: 'WAITING_PAYMENT' });
      expect(await list()).toEqual([]);
    });

    it('report an expiry that was not written yet, after writing it', async () => {
      await register(['charge.expired', 'charge.created']);
      const { id } = await charge({ expires_in: 60 });
      await settled(1);
      // The clock of this service runs ahead and it has no workers: the other service's sweeper sees no expiry.
      const api = await TestService.start({ database: service.database, env: { ROLE: 'api' } });
      try {
        api.clock.advance(service.clock.offsetMs / 1000 + 61);
        const answer = await api.call('POST', `/v1/payments/${id}/resend-webhook`, { key: merchant.testKey });
        expect(answer.body).toEqual({ resent: true, status: 'EXPIRED' });
      } finally {
        await api.stop();
      }
      service.clock.advance(61);
      const webhooks = await receiver.waitForType('charge.expired', 2);
      expect(new Set(webhooks.map(eventIdOf)).size).toBe(1);
      expect(new Set(webhooks.map(({ rawBody }) => rawBody)).size).toBe(1);
      expect(webhooks[0]?.body).toMatchObject({ sequence: 2, data: { object: { status: 'expired' } } });
      const events = await service.sql('SELECT type, sequence FROM events WHERE subject_id = $1 ORDER BY sequence', [
        id.slice(3),
      ]);
      expect(events).toEqual([
        { type: 'transaction.created', sequence: 1 },
        { type: 'transaction.expired', sequence: 2 },
      ]);
    });

    it('are a 404 for an id of no payment', async () => {
      for (const id of [UNKNOWN_ID, `tx_${UNKNOWN_ID}`, 'nonsense', `wd_${UNKNOWN_ID}`, '%00']) {
        const { status, body } = await resend(id);
        expect([id, status, body]).toMatchObject([id, 404, { error: { code: 'not_found' } }]);
      }
    });
  });

  describe('recovered after an outage', () => {
    const recover = (endpoint: string, body: unknown, key?: string): Promise<Answer> =>
      post(`/v1/webhooks/endpoints/${endpoint}/recover`, body, key);
    let since: string;

    beforeEach(() => {
      since = new Date(service.clock.now().getTime() - 1_000).toISOString();
    });

    it('are sent once for each charge in its current state, and not a second time', async () => {
      const endpoint = await register(['charge.created', 'charge.paid', 'payment.created']);
      const healthy = await charge();
      await settled(2);
      receiver.answer = 500;
      const [unpaid, paid] = [await charge(), await charge()];
      await pay(paid.id);
      await failed(5);
      // Two deliveries of the unpaid charge failed, and three of the paid one.
      receiver.answer = 200;
      const [later] = [await charge()];
      await waitFor('the breaker to close', async () => {
        service.clock.advance(15);
        return (await list('?status=DELIVERED')).length === 4;
      });
      receiver.received.length = 0;

      const counts = { object: 'webhook_recovery', since, failed: 5, charges: 2, has_more: false };
      const dry = await recover(endpoint, { since, dry_run: true });
      expect([dry.status, dry.body]).toStrictEqual([200, { ...counts, dry_run: true, queued: 0 }]);
      await quiet();
      expect(receiver.received).toEqual([]);

      const real = await recover(endpoint.slice(3), { since });
      expect([real.status, real.body]).toStrictEqual([200, { ...counts, dry_run: false, queued: 2 }]);
      const again = await recover(endpoint, { since });
      expect(again.body).toMatchObject({ failed: 0, charges: 0, queued: 0 });
      await waitFor('both', () => receiver.received.length === 2);
      await quiet();
      expect(receiver.received).toHaveLength(2);
      const told = receiver.received.map(({ body }) => [body['type'], body['sequence'], body['data']]);
      expect(told).toEqual(
        expect.arrayContaining([
          ['charge.created', 1, { object: expect.objectContaining({ id: unpaid.id, status: 'pending' }) }],
          [
            'charge.paid',
            2,
            {
              object: expect.objectContaining({ id: paid.id, status: 'paid' }),
              payment: expect.objectContaining({ amount: 1990 }),
            },
          ],
        ]),
      );
      expect((await recover(endpoint, { since, dry_run: true })).body).toMatchObject({ failed: 0, charges: 0 });
      const text = receiver.received.map(({ rawBody }) => rawBody).join();
      for (const { id } of [healthy, later]) expect(text).not.toContain(id);
    });

    it('are sent even when they were cancelled with the endpoint', async () => {
      const endpoint = await register(['charge.created']);
      receiver.answer = 500;
      const { id } = await charge();
      await waitFor('the first attempt', async () => (await list('?status=PENDING'))[0]?.['attempts'] === 1);
      const status = (body: object): Promise<Answer> =>
        service.call('PATCH', `/v1/webhooks/endpoints/${endpoint}`, { key: merchant.testKey, body });
      await status({ status: 'INACTIVE' });
      await waitFor('it to be cancelled', async () => (await list('?status=CANCELLED')).length === 1);
      await status({ status: 'ACTIVE' });
      receiver.reset();
      expect((await recover(endpoint, { since })).body).toMatchObject({ failed: 1, charges: 1, queued: 1 });
      await waitFor('it', () => receiver.received.length === 1);
      expect(receiver.received[0]?.rawBody).toContain(id);
      expect((await recover(endpoint, { since })).body).toMatchObject({ failed: 0, queued: 0 });
    });

    it('are sent in the current state also under their old name', async () => {
      const endpoint = await register(['payment.created', 'charge.created']);
      receiver.answer = 500;
      const { id } = await charge();
      await pay(id);
      await failed(2);
      receiver.reset();
      expect((await recover(endpoint, { since })).body).toMatchObject({ failed: 2, charges: 1, queued: 1 });
      await waitFor('it', () => receiver.received.length === 1);
      const [webhook] = receiver.received;
      expect(webhook?.body).toMatchObject({
        type: 'charge.created',
        sequence: 1,
        data: { object: { status: 'paid' } },
      });
    });

    it('are sent under the name that failed', async () => {
      const endpoint = await register(['charge.created', 'payment.created']);
      await charge();
      const [{ id = '' } = {}] = await waitFor('both', async () => {
        const found = await list('?eventType=payment.created&status=DELIVERED');
        return found.length === 1 && (await list('?status=DELIVERED')).length === 2 ? found : null;
      });
      await service.sql(`UPDATE webhook_deliveries SET status = 'FAILED', delivered_at = NULL WHERE id = $1`, [
        id.slice(3),
      ]);
      receiver.received.length = 0;
      expect((await recover(endpoint, { since })).body).toMatchObject({ failed: 1, charges: 1, queued: 1 });
      expect(await receiver.waitForType('payment.created')).toHaveLength(1);
      expect((await recover(endpoint, { since })).body).toMatchObject({ failed: 0, charges: 0, queued: 0 });
    });

    it('are sent once when many requests come at once', async () => {
      const endpoint = await register(['charge.created']);
      receiver.answer = 500;
      for (let count = 0; count < 4; count++) await charge();
      await failed(4);
      receiver.reset();
      const answers = await Promise.all(Array.from({ length: 6 }, () => recover(endpoint, { since })));
      expect(answers.reduce((sum, { body }) => sum + Number(body['queued']), 0)).toBe(4);
      await waitFor('all', () => receiver.received.length === 4);
      await quiet();
      expect(receiver.received).toHaveLength(4);
    });

    it('are sent again when the recovery failed too', async () => {
      const endpoint = await register(['charge.created']);
      receiver.answer = 500;
      await charge();
      await failed(1);
      expect((await recover(endpoint, { since })).body).toMatchObject({ failed: 1, queued: 1 });
      await failed(2);
      expect((await recover(endpoint, { since })).body).toMatchObject({ failed: 2, charges: 1, queued: 1 });
      await failed(3);
    });

    it('are those of this endpoint since the given time', async () => {
      const endpoint = await register(['charge.created']);
      const other = await register(['charge.created']);
      receiver.answer = 500;
      await charge();
      await failed(2);
      service.clock.advance(60);
      const afterwards = service.clock.now().toISOString();
      expect((await recover(endpoint, { since: afterwards })).body).toMatchObject({ failed: 0, queued: 0 });
      expect((await recover(endpoint, { since, dry_run: true })).body).toMatchObject({ failed: 1, charges: 1 });
      expect((await recover(other, { since, dry_run: true })).body).toMatchObject({ failed: 1, charges: 1 });
      receiver.answer = 200;
      await recover(endpoint, { since });
      await waitFor('it', async () => (await list(`?endpointId=${endpoint}&status=DELIVERED`)).length === 1);
      expect(await list(`?endpointId=${other}&status=DELIVERED`)).toEqual([]);
      expect((await recover(other, { since, dry_run: true })).body).toMatchObject({ failed: 1, charges: 1 });
    });

    it('can be more than fit into one transaction', async () => {
      const endpoint = await register(['charge.created']);
      await charge();
      await settled(1);
      // State after a long outage: 1200 deliveries of 1200 charges, and 300 more of the first of these.
      await service.sql(
        `WITH made AS (
           INSERT INTO transactions SELECT (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), 'txid', md5(n::text)))).*
           FROM transactions t, generate_series(1, 1200) n WHERE t.account_id = $1 RETURNING id),
         told AS (
           INSERT INTO events (id, account_id, mode, type, subject_id, sequence, data, occurred_at, status, next_attempt_at)
           SELECT gen_random_uuid(), $1, 'test', 'transaction.created', m.id, 1,
             jsonb_set(e.data, '{transaction,id}', to_jsonb(m.id)), now(), 'done', now()
           FROM made m, (SELECT data FROM events WHERE account_id = $1 LIMIT 1) e RETURNING id, subject_id),
         failed AS MATERIALIZED (
           SELECT gen_random_uuid() AS id, e.id AS event_id, e.subject_id, c.copy > 1 AS manual
           FROM (SELECT *, row_number() OVER () AS number FROM told) e
           CROSS JOIN generate_series(1, 2) AS c (copy) WHERE c.copy = 1 OR e.number <= 300),
         messages AS (
           INSERT INTO webhook_messages (id, account_id, mode, event_id, event_type, manual, payload, delivery_ids)
           SELECT id, $1, 'test', event_id, 'charge.created', manual, '{}', ARRAY[id] FROM failed)
         INSERT INTO webhook_deliveries (id, account_id, mode, endpoint_id, message_id, event_type, subject_id, manual,
           status, attempts, max_attempts, created_at, updated_at)
         SELECT id, $1, 'test', $2, id, 'charge.created', subject_id, manual, 'FAILED', 2, 2, $3, $3 FROM failed`,
        [merchant.accountId, endpoint.slice(3), service.clock.now()],
      );
      await charge(); // the application's clock has gone on
      const counts = { failed: 1500, charges: 1200 };
      expect((await recover(endpoint, { since, dry_run: true })).body).toMatchObject(counts);
      expect((await recover(endpoint, { since })).body).toMatchObject({ ...counts, queued: 1200 });
      expect((await recover(endpoint, { since })).body).toMatchObject({ failed: 0, charges: 0, queued: 0 });
      const [row] = await service.sql(
        `SELECT count(*)::int AS made, count(DISTINCT subject_id)::int AS charges FROM webhook_deliveries
         WHERE account_id = $1 AND manual AND status <> 'FAILED'`,
        [merchant.accountId],
      );
      expect(row).toEqual({ made: 1200, charges: 1200 });
      await waitFor('all of them', async () => (await get('/v1/webhooks/stats')).body['DELIVERED'] === 1202, 30_000);
      // Transactions without rows of settlements, which no other check may read.
      await service.sql(
        `DELETE FROM transactions WHERE account_id = $1 AND id NOT IN (
        SELECT resource_id FROM idempotency_keys)`,
        [merchant.accountId],
      );
      await service.get(StatisticsService).rebuild(merchant.accountId);
    }, 60_000);

    it('refuse invalid requests', async () => {
      const endpoint = await register(['*']);
      const now = service.clock.now().toISOString();
      for (const [body, param] of [
        [{}, 'since'],
        [{ since: 'yesterday' }, 'since'],
        [{ since: 1_763_000_000 }, 'since'],
        [{ since: '2026-11-21T12:00:00' }, 'since'],
        [{ since: '2020-01-01T00:00:00Z' }, 'since'],
        [{ since: '2999-01-01T00:00:00Z' }, 'since'],
        [{ since: now, dry_run: 'yes' }, 'dry_run'],
        [{ since: now, dryRun: true }, 'dryRun'],
      ]) {
        const answer = await recover(endpoint, body);
        expect([body, answer.status, answer.body]).toMatchObject([
          body,
          400,
          { error: { code: 'invalid_request', param } },
        ]);
      }
    });

    it('require an active endpoint, except for counting', async () => {
      const endpoint = await register(['charge.created']);
      const patch = { key: merchant.testKey, body: { status: 'INACTIVE' } };
      await service.call('PATCH', `/v1/webhooks/endpoints/${endpoint}`, patch);
      expect(await recover(endpoint, { since })).toMatchObject({
        status: 400,
        body: { error: { code: 'webhook_endpoint_inactive' } },
      });
      expect((await recover(endpoint, { since, dry_run: true })).status).toBe(200);
      await service.call('DELETE', `/v1/webhooks/endpoints/${endpoint}`, { key: merchant.testKey });
      expect((await recover(endpoint, { since, dry_run: true })).status).toBe(404);
      expect((await recover(UNKNOWN_ID, { since })).status).toBe(404);
      expect((await recover('nonsense', { since })).status).toBe(404);
    });
  });

  describe('to the URL of a single payment', () => {
    async function payment(webhookUrl: string): Promise<string> {
      const { status, body } = await post<{ id: string }>('/v1/payments', {
        amount: 1990,
        currency: 'BRL',
        paymentMethods: ['PIX'],
        webhookUrl,
        idempotencyKey: randomUUID(),
      });
      expect(status).toBe(201);
      return body.id;
    }

    it('get its payment.* events instead of the endpoints, which keep the charge.* events', async () => {
      const own = await WebhookReceiver.start();
      try {
        const endpoint = await register(['*', 'payment.created', 'payment.completed', 'payment.status_changed']);
        const id = await payment(own.url);
        const twin = await payment(own.url);
        await pay(`ch_${id}`);
        const [completed] = await own.waitForType('payment.completed');
        await settled(2 + 2 + 3);
        const types = (webhooks: readonly ReceivedWebhook[]): unknown[] =>
          webhooks.map(({ headers }) => headers['x-service-event-type']).sort();
        expect(types(own.received)).toEqual(['payment.completed', 'payment.created', 'payment.created']);
        const alias = 'payment.status_changed';
        expect(types(receiver.received)).toEqual(['charge.created', 'charge.created', 'charge.paid', alias]);
        expect(completed?.body).toMatchObject({ data: { paymentId: id, status: 'PAID', sequence: 2 } });

        // Signed with the account's default secret, which exists before anybody has requested it.
        expect(completed?.headers['x-service-signature']).toMatch(/^sha256=[0-9a-f]{64}$/);

        const listed = await list();
        expect(listed.filter(({ eventType }) => eventType.startsWith('payment.'))).toHaveLength(4);
        for (const { eventType, endpointId, id: deliveryId } of listed) {
          const isOwn = eventType.startsWith('payment.') && eventType !== alias;
          expect(endpointId).toBe(isOwn ? null : endpoint);
          const { body } = await get<Detail>(`/v1/webhooks/deliveries/${deliveryId}`);
          expect(body.url).toBe(isOwn ? own.url : receiver.url);
        }
        // The URL has one row, however many payments name it, and no list shows it.
        const rows = await service.sql<{ id: string }>(
          `SELECT id FROM webhook_endpoints WHERE account_id = $1 AND kind = 'direct'`,
          [merchant.accountId],
        );
        expect(rows).toHaveLength(1);
        const hidden = String(rows[0]?.id);
        expect((await get('/v1/webhooks/endpoints')).text).not.toContain(hidden);
        expect(
          (await post(`/v1/webhooks/endpoints/${hidden}/recover`, { since: new Date().toISOString() })).status,
        ).toBe(404);

        expect((await post(`/v1/payments/${twin}/resend-webhook`)).body).toMatchObject({ resent: true });
        await own.waitForType('payment.created', 3);
      } finally {
        await own.stop();
      }
    });

    it('are tried again like other deliveries, by hand too', async () => {
      const own = await WebhookReceiver.start();
      try {
        own.answer = 410;
        await payment(own.url);
        const [{ id = '' } = {}] = await waitFor('the end', async () => {
          const found = await list('?status=FAILED');
          return found.length === 1 ? found : null;
        });
        // A delivery that a 410 ended keeps its attempts when one more is requested.
        await service.sql('UPDATE webhook_deliveries SET max_attempts = 9 WHERE id = $1', [id.slice(3)]);
        own.answer = 200;
        expect((await post<Delivery>(`/v1/webhooks/deliveries/${id}/retry`)).body).toMatchObject({ maxAttempts: 9 });
        await settled(1);
      } finally {
        await own.stop();
      }
    });

    it('belong to their mode and account', async () => {
      const own = await WebhookReceiver.start();
      try {
        const first = await payment(own.url);
        await settled(1);
        const mine = merchant;
        merchant = await service.merchant();
        await payment(own.url);
        await settled(1);
        const rows = await service.sql<{ account_id: string }>(
          `SELECT account_id FROM webhook_endpoints WHERE kind = 'direct' AND url = $1`,
          [own.url],
        );
        expect(rows.map((row) => row.account_id).sort()).toEqual([mine.accountId, merchant.accountId].sort());
        expect((await post(`/v1/payments/${first}/resend-webhook`)).status).toBe(404);
      } finally {
        await own.stop();
      }
    });
  });

  it('are hidden from the other mode and from other accounts', async () => {
    const endpoint = await register(['charge.created']);
    await charge();
    await settled(1);
    receiver.answer = 500;
    const { id } = await charge();
    const [delivery] = await failed(1);
    const stranger = await service.merchant();
    const since = new Date(service.clock.now().getTime() - 600_000).toISOString();
    const filters = ['', 'status=FAILED', 'status=DELIVERED', 'eventType=charge.created'];
    for (const key of [merchant.liveKey, stranger.testKey, stranger.liveKey]) {
      for (const query of filters.flatMap((filter) => [`?${filter}`, `?endpointId=${endpoint}&${filter}`])) {
        const { status, body } = await get<Page>(`/v1/webhooks/deliveries${query}`, key);
        expect([query, status, body.data, body.total]).toEqual([query, 200, [], 0]);
      }
      expect((await get('/v1/webhooks/stats', key)).body).toMatchObject({ total: 0, FAILED: 0, DELIVERED: 0 });
      const answers = [
        await get(`/v1/webhooks/deliveries/${delivery?.id}`, key),
        await post(`/v1/webhooks/deliveries/${delivery?.id}/retry`, undefined, key),
        await post(`/v1/webhooks/endpoints/${endpoint}/recover`, { since }, key),
        await post(`/v1/webhooks/endpoints/${endpoint}/recover`, { since, dry_run: true }, key),
        await post(`/v1/payments/${id}/resend-webhook`, undefined, key),
      ];
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    }
    const [untouched] = await list();
    expect(untouched).toEqual(delivery);
  });
});
