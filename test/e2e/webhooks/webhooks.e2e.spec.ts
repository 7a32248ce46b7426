import { afterEach, describe, expect, it } from '@jest/globals';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { WebhookReceiver } from '../../support/receiver.js';
import { type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

interface DeliveryRow extends Record<string, unknown> {
  id: string;
  status: string;
  attempts: number;
}

describe('webhooks', () => {
  const service = TestService.forSpec({ env: { WEBHOOK_RETRY_SCHEDULE: '10,30,120' } });
  const receiver = WebhookReceiver.forSpec();
  let merchant: Merchant;

  afterEach(async () => {
    receiver.reset();
    await expectLedgerCoherent(service.database.url);
  });

  async function merchantWith(events: string[], url = receiver.url): Promise<string> {
    merchant = await service.merchant();
    const answer = await service.call<{ id: string }>('POST', '/v1/webhooks/endpoints', {
      key: merchant.testKey,
      body: { url, events },
    });
    expect(answer.status).toBe(201);
    return answer.body.id;
  }

  function deliveries(): Promise<DeliveryRow[]> {
    return service.sql<DeliveryRow>('SELECT * FROM webhook_deliveries WHERE account_id = $1 ORDER BY id', [
      merchant.accountId,
    ]);
  }

  it('retries by the schedule until delivered: every attempt is a row, id and body stay, the time changes', async () => {
    await merchantWith(['charge.created']);
    receiver.answer = 500;
    await service.createCharge(merchant.testKey);
    const pauses = [10, 30];
    for (const [index, pause] of pauses.entries()) {
      const failed = await waitFor('the attempt to be recorded', async () =>
        (await deliveries()).find((row) => row.status === 'PENDING' && row.attempts === index + 1),
      );
      expect(failed).toMatchObject({
        last_status_code: 500,
        last_error: 'HTTP 500',
        delivered_at: null,
        max_attempts: 4,
      });
      const waits = ((failed['next_attempt_at'] as Date).getTime() - (failed['updated_at'] as Date).getTime()) / 1000;
      expect(waits).toBeGreaterThanOrEqual(pause * 0.9);
      expect(waits).toBeLessThanOrEqual(pause * 1.1);
      if (index === 1) receiver.answer = 204;
      service.clock.advance(pause * 1.1 + 31);
    }
    const done = await waitFor('the delivery', async () =>
      (await deliveries()).find((row) => row.status === 'DELIVERED'),
    );
    expect(done).toMatchObject({ attempts: 3, last_status_code: 204, last_error: null, next_attempt_at: null });
    const attempts = await service.sql(
      'SELECT number, status_code, error FROM webhook_attempts WHERE delivery_id = $1 ORDER BY number',
      [done.id],
    );
    expect(attempts).toEqual([
      { number: 1, status_code: 500, error: 'HTTP 500' },
      { number: 2, status_code: 500, error: 'HTTP 500' },
      { number: 3, status_code: 204, error: null },
    ]);
    expect(receiver.received).toHaveLength(3);
    expect(new Set(receiver.received.map(({ rawBody }) => rawBody)).size).toBe(1);
    expect(new Set(receiver.received.map(({ headers }) => headers['x-service-delivery-id']))).toEqual(
      new Set([`wd_${done.id}`]),
    );
    const times = receiver.received.map(({ headers }) =>
      Number(/^t=(\d+),/.exec(String(headers['x-service-signature']))?.[1]),
    );
    expect(times[2]).toBeGreaterThan(times[0] ?? Infinity);
  });

  it('gives up after the last attempt', async () => {
    await merchantWith(['charge.created'], 'http://127.0.0.1:9/');
    await service.createCharge(merchant.testKey);
    let made = -1;
    const failed = await waitFor('the end', async () => {
      const [row] = await deliveries();
      // Once after each attempt: one whose lease runs out while it is on its way would be made twice.
      if (row?.status === 'PENDING' && Number(row['attempts']) > made) {
        made = Number(row['attempts']);
        service.clock.advance(200);
      }
      return row?.status === 'FAILED' && row;
    });
    expect(failed).toMatchObject({ attempts: 4, last_status_code: null, next_attempt_at: null });
    expect(failed['last_error']).toMatch(/refused/i);
  });

  it('an answer 410 makes the endpoint inactive', async () => {
    const id = await merchantWith(['charge.created']);
    receiver.answer = 410;
    await service.createCharge(merchant.testKey);
    await waitFor('the end', async () => (await deliveries()).find((row) => row.status === 'FAILED'));
    const { body } = await service.call<{ data: { id: string; status: string }[] }>('GET', '/v1/webhooks/endpoints', {
      key: merchant.testKey,
    });
    expect(body.data).toMatchObject([{ id: `wh_${id}`, status: 'INACTIVE' }]);
    await service.createCharge(merchant.testKey);
    await waitFor(
      'the relay',
      async () => (await service.sql(`SELECT 1 FROM events WHERE status = 'pending'`)).length === 0,
    );
    expect(await deliveries()).toHaveLength(1);
  });

  it('repeats an attempt whose worker died, after its lease', async () => {
    await merchantWith(['charge.created']);
    receiver.answer = 500;
    await service.createCharge(merchant.testKey);
    const [row] = await waitFor('the first attempt', async () => {
      const rows = await deliveries();
      return rows[0]?.status === 'PENDING' && rows[0].attempts === 1 ? rows : null;
    });
    // As a worker leaves it that is killed between the post and the record.
    await service.sql(
      `UPDATE webhook_deliveries SET status = 'PROCESSING', attempts = 2, next_attempt_at = $2 WHERE id = $1`,
      [row?.id, service.clock.now()],
    );
    receiver.answer = 200;
    const done = await waitFor('the delivery', async () =>
      (await deliveries()).find(({ status }) => status === 'DELIVERED'),
    );
    expect(done.attempts).toBe(3);
  });

  it('treats a redirect as a failure and does not follow it', async () => {
    const trap = createServer((_request, response) => response.writeHead(302, { location: receiver.url }).end());
    await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
    await merchantWith(['charge.created'], `http://127.0.0.1:${(trap.address() as AddressInfo).port}/`);
    await service.createCharge(merchant.testKey);
    const failed = await waitFor('the attempt', async () =>
      (await deliveries()).find((row) => row.attempts === 1 && row.status === 'PENDING'),
    );
    expect(failed).toMatchObject({ last_status_code: 302 });
    expect(receiver.received).toHaveLength(0);
    trap.close();
  });

  it('makes one delivery for each name of a transition, all with one event id', async () => {
    await merchantWith(['charge.expired', 'payment.failed', 'payment.expired', 'payment.status_changed']);
    const { body: charge } = await service.createCharge(merchant.testKey);
    await service.simulate(merchant.testKey, charge.id, { event: 'expire' });
    const names = ['charge.expired', 'payment.failed', 'payment.expired', 'payment.status_changed'];
    for (const name of names) await receiver.waitForType(name);
    expect(receiver.received).toHaveLength(4);
    expect(receiver.ofType('payment.expired')[0]?.body).toMatchObject({
      event: 'payment.expired',
      data: { status: 'EXPIRED', previousStatus: 'WAITING_PAYMENT', transactionId: `tx_${charge.id.slice(3)}` },
    });
    expect(receiver.ofType('payment.expired')[0]?.body['data']).not.toHaveProperty('netAmount');
    expect(new Set((await deliveries()).map((row) => row['event_id'])).size).toBe(1);
  });

  it('sends payment.refunded for a payer-lock mismatch, and neither payment.completed nor charge.paid', async () => {
    merchant = await service.merchant({ payer_lock: 'true' });
    await service.call('POST', '/v1/webhooks/endpoints', {
      key: merchant.testKey,
      body: { url: receiver.url, events: ['*', 'payment.completed', 'payment.refunded', 'payment.failed'] },
    });
    const { body: charge } = await service.createCharge(merchant.testKey, {
      expected_payer_tax_id: '52998224725',
      customer: { name: 'Maria' },
    });
    await service.simulate(merchant.testKey, charge.id, { event: 'pay', payer_document: '11144477735' });
    const [refunded] = await receiver.waitForType('payment.refunded');
    expect(refunded?.body).toMatchObject({ data: { status: 'REFUNDED', previousStatus: 'WAITING_PAYMENT' } });
    await waitFor('all deliveries', async () => (await deliveries()).every(({ status }) => status === 'DELIVERED'));
    expect(receiver.received.map(({ headers }) => headers['x-service-event-type']).sort()).toEqual([
      'charge.created',
      'payment.refunded',
    ]);
  });

  it('never shows a secret in the list, and has a public catalog', async () => {
    await merchantWith(['*']);
    const listed = await service.call('GET', '/v1/webhooks/endpoints', { key: merchant.testKey });
    expect(listed.text).not.toMatch(/secret|[0-9a-f]{64}/);
    expect(listed.body).toEqual({
      data: [
        {
          id: expect.stringMatching(/^wh_[0-9a-f-]{36}$/),
          url: receiver.url,
          events: ['*'],
          status: 'ACTIVE',
          createdAt: expect.any(String),
          updatedAt: expect.any(String),
        },
      ],
    });
    const catalog = await service.call<{ event: string; description: string; legacy: boolean }[]>(
      'GET',
      '/v1/webhooks/event-catalog',
    );
    expect(catalog.status).toBe(200);
    expect(catalog.body.filter((item) => !item.legacy).map((item) => item.event)).toEqual(
      expect.arrayContaining(['charge.created', 'charge.paid', 'charge.failed', 'charge.expired', 'payout.paid']),
    );
    expect(catalog.body.find((item) => item.event === 'payment.completed')).toMatchObject({ legacy: true });
  });

  it.each([
    [{ url: 'ftp://x.example/', events: ['*'] }, 'url'],
    [{ url: 'http://user:pass@x.example/', events: ['*'] }, 'url'],
    [{ url: 'nonsense', events: ['*'] }, 'url'],
    [{ url: 'http://x.example/', events: [] }, 'events'],
    [{ url: 'http://x.example/', events: ['charge.exploded'] }, 'events.0'],
    [{ url: 'http://x.example/', events: 'charge.paid' }, 'events'],
  ])('refuses an endpoint with %j', async (body, param) => {
    const { testKey } = await service.merchant();
    const answer = await service.call<{ error: { details: { param: string }[] } }>('POST', '/v1/webhooks/endpoints', {
      key: testKey,
      body,
    });
    expect(answer.status).toBe(400);
    expect(answer.body.error.details.map((detail) => detail.param)).toContain(param);
  });

  it('requires https in live mode', async () => {
    const { liveKey } = await service.merchant();
    const body = { url: 'http://x.example/', events: ['*'] };
    expect((await service.call('POST', '/v1/webhooks/endpoints', { key: liveKey, body })).status).toBe(400);
    const safe = { ...body, url: 'https://x.example/' };
    expect((await service.call('POST', '/v1/webhooks/endpoints', { key: liveKey, body: safe })).status).toBe(201);
  });
});
