import { describe, expect, it } from '@jest/globals';
import { deliveryDetail, deliveryItem, deliveryList, deliveryStats, recoveryBody } from './deliveries.serializer.js';
import type { AttemptRecord, DeliveryRecord } from './delivery-log.repository.js';

const ID = '019a4c1e-8a00-7c3d-9d52-6f1b2a3c4d5e';
const ENDPOINT = '019a4c1e-0001-7c3d-9d52-6f1b2a3c4d5e';
const EVENT = '019a4c1e-0002-7c3d-9d52-6f1b2a3c4d5e';
const at = (second: number): Date => new Date(Date.UTC(2026, 10, 3, 12, 0, second, 1));

// A row may carry more than its type says: none of it may leave.
const delivery = {
  id: ID,
  endpointId: ENDPOINT,
  kind: 'registered',
  url: 'https://merchant.example/hook',
  endpointStatus: 'ACTIVE',
  pausedUntil: null,
  eventId: EVENT,
  eventType: 'charge.paid',
  messageId: 'never shown',
  manual: false,
  payload: '{"type": "charge.paid", "sequence": 2, "data": {"object": {"amount": 1990}}}',
  status: 'PENDING',
  attempts: 1,
  maxAttempts: 15,
  nextAttemptAt: at(30),
  lastStatusCode: 500,
  lastError: 'HTTP 500',
  deliveredAt: null,
  createdAt: at(0),
  updatedAt: at(20),
  accountId: '019a4c1e-0003-7c3d-9d52-6f1b2a3c4d5e',
  mode: 'test',
  subjectId: '019a4c1e-0004-7c3d-9d52-6f1b2a3c4d5e',
  secretSealed: Buffer.from('sealed'),
} satisfies DeliveryRecord & Record<string, unknown>;

const item = {
  id: `wd_${ID}`,
  endpointId: `wh_${ENDPOINT}`,
  eventType: 'charge.paid',
  status: 'PENDING',
  attempts: 1,
  maxAttempts: 15,
  lastStatusCode: 500,
  lastError: 'HTTP 500',
  nextRetryAt: '2026-11-03T12:00:30.001Z',
  deliveredAt: null,
  createdAt: '2026-11-03T12:00:00.001Z',
  updatedAt: '2026-11-03T12:00:20.001Z',
  payload: { type: 'charge.paid', sequence: 2, data: { object: { amount: 1990 } } },
};

describe('delivery serializers', () => {
  it('list the fields of the contract, and no others', () => {
    expect(deliveryItem(delivery)).toStrictEqual(item);
    expect(deliveryList({ deliveries: [delivery], total: 7 }, 1, 3)).toStrictEqual({
      data: [item],
      total: 7,
      limit: 1,
      offset: 3,
    });
  });

  it.each([
    ['a pause that ends later', { pausedUntil: at(50) }, at(50)],
    ['a pause that ends earlier', { pausedUntil: at(29) }, at(30)],
    ['a pause, where the delivery was due long ago', { nextAttemptAt: at(1), pausedUntil: at(50) }, at(50)],
    ['no pause, where the delivery is due already', { nextAttemptAt: at(1) }, at(1)],
    ['an endpoint that is off', { endpointStatus: 'INACTIVE' }, null],
  ] as const)('show the time of the next retry with %s', (_case, differences, expected) => {
    const { nextRetryAt } = deliveryItem({ ...delivery, ...differences });
    expect(nextRetryAt).toBe(expected?.toISOString() ?? null);
  });

  it('show a next retry only for waiting deliveries', () => {
    for (const status of ['PROCESSING', 'DELIVERED', 'FAILED', 'CANCELLED'] as const) {
      expect(deliveryItem({ ...delivery, status }).nextRetryAt).toBeNull();
    }
    expect(deliveryItem({ ...delivery, nextAttemptAt: null }).nextRetryAt).toBeNull();
  });

  it('show no endpoint for a delivery to the URL of a payment', () => {
    expect(deliveryItem({ ...delivery, kind: 'direct' }).endpointId).toBeNull();
  });

  it('show the time of the delivery', () => {
    const done = { ...delivery, status: 'DELIVERED', deliveredAt: at(21), lastError: null } as const;
    expect(deliveryItem(done)).toMatchObject({ deliveredAt: '2026-11-03T12:00:21.001Z', lastError: null });
  });

  it('show a single delivery with its attempts', () => {
    const attempt = {
      number: 1,
      startedAt: at(19),
      durationMs: 84,
      statusCode: 500,
      error: 'HTTP 500',
      responseBody: 'no',
      accountId: delivery.accountId,
      deliveryId: ID,
    } satisfies AttemptRecord & Record<string, unknown>;
    expect(deliveryDetail({ ...delivery, manual: true }, [attempt])).toStrictEqual({
      ...item,
      url: 'https://merchant.example/hook',
      eventId: 'evt_019a4c1e00027c3d9d526f1b2a3c4d5e',
      manual: true,
      history: [
        {
          number: 1,
          startedAt: '2026-11-03T12:00:19.001Z',
          durationMs: 84,
          statusCode: 500,
          error: 'HTTP 500',
          responseBody: 'no',
        },
      ],
    });
  });

  it('show the counts of deliveries by status and of a recovery', () => {
    const counts = { PENDING: 1, PROCESSING: 2, DELIVERED: 30, FAILED: 4, CANCELLED: 5 };
    expect(deliveryStats(counts)).toStrictEqual({ total: 42, ...counts });
    expect(
      recoveryBody({ since: at(0), dryRun: true, failed: 3, charges: 2, queued: 0, hasMore: false }),
    ).toStrictEqual({
      object: 'webhook_recovery',
      since: '2026-11-03T12:00:00.001Z',
      dry_run: true,
      failed: 3,
      charges: 2,
      queued: 0,
      has_more: false,
    });
  });
});
