import { beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { EventBody, EventListBody } from '../../../src/webhooks/dto/event.body.js';
import { aPaidCharge, paymentIdOf, refundEnd, requestRefund } from '../../support/refunds.js';
import { type Answer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const EVERY_NAME = 'type=*,payment.created,payment.completed,payment.status_changed,payment.refunded';

const FIRST_CURSOR = `evc_0_${'0'.repeat(32)}_0`;

/** Reads server-sent events as a client without a library does. */
class Stream {
  readonly items: EventBody[] = [];
  lastId: string | undefined;
  ended = false;
  readonly #abort = new AbortController();

  static async open(service: TestService, key: string, query = '', lastId?: string): Promise<Stream> {
    const stream = new Stream();
    const response = await fetch(`${service.url}/v1/events/stream${query}`, {
      headers: { apikey: key, ...(lastId === undefined ? {} : { 'last-event-id': lastId }) },
      signal: stream.#abort.signal,
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    void stream.#read(response).catch(() => undefined);
    return stream;
  }

  async #read(response: Response): Promise<void> {
    let text = '';
    for await (const bytes of response.body ?? []) {
      text += Buffer.from(bytes as Uint8Array).toString();
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const fields: Partial<Record<string, string>> = Object.fromEntries(
          block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]),
        );
        if (fields['id'] === undefined) continue;
        this.lastId = fields['id'];
        if (fields['data'] !== undefined) this.items.push(JSON.parse(fields['data']) as EventBody);
      }
    }
    this.ended = true;
  }

  close(): void {
    this.#abort.abort();
  }
}

const nameOf = ({ type }: EventBody): string => type;
const cursorOf = ({ cursor }: EventBody): string => cursor;

describe('the list of events', () => {
  const service = TestService.forSpec();
  let merchant: Merchant;
  let key: string;
  let paidId: string;

  const list = (query = '', apikey = key): Promise<Answer<EventListBody>> =>
    service.call<EventListBody>('GET', `/v1/events?${query}`, { key: apikey });
  const items = async (query = ''): Promise<EventBody[]> => (await list(query)).body.data;

  beforeAll(async () => {
    merchant = await service.merchant();
    key = merchant.testKey;
    const paid = await aPaidCharge(service, key, 1000);
    paidId = paid.id;
    const { body: refund } = await requestRefund(service, key, paymentIdOf(paid), { amount: 300 });
    await refundEnd(service, key, refund);
    await service.createCharge(key, { metadata: { order: '1042' } });
    await waitFor('the events', async () => (await items()).length === 4);
  });

  it('shows the same events as webhooks, newest first, under the names that an endpoint with * gets', async () => {
    const [created, refunded, paid, first] = await items();
    expect([created, refunded, paid, first].map((item) => item?.type)).toEqual([
      'charge.created',
      'charge.refunded',
      'charge.paid',
      'charge.created',
    ]);
    expect(created?.data).toMatchObject({ object: { status: 'pending', metadata: { order: '1042' } } });
    expect(paid?.data).toMatchObject({ object: { id: paidId, status: 'paid' }, payment: { amount: 1000 } });
    expect(refunded?.data).toMatchObject({ amount_refunded: 300, refund: { amount: 300 } });
    expect([first?.sequence, paid?.sequence]).toEqual([1, 2]);
  });

  it('contains the webhook of the same event, byte for byte', async () => {
    const [webhook] = await service.sql<{ event_id: string }>(
      `SELECT replace(id::text, '-', '') AS event_id FROM events WHERE type = 'transaction.paid'`,
    );
    const [paid] = await items('type=charge.paid');
    expect(paid?.id).toBe(`evt_${String(webhook?.event_id)}`);
  });

  it('filters by subject, names and start time', async () => {
    expect((await items(`subject=${paidId}`)).map(nameOf)).toEqual([
      'charge.refunded',
      'charge.paid',
      'charge.created',
    ]);
    expect((await items(`subject=${paidId.slice(3)}&type=charge.paid`)).map(nameOf)).toEqual(['charge.paid']);
    expect((await items('type=payment.completed')).map(({ data }) => data)).toMatchObject([{ status: 'PAID' }]);
    expect(await items('created_after=2099-01-01')).toEqual([]);
    expect(await items('created_after=2020-01-01')).toHaveLength(4);
  });

  it('covers the last thirty days', async () => {
    const { accountId, testKey } = await service.merchant();
    const days = (count: number): Promise<unknown> =>
      service.sql(`UPDATE events SET occurred_at = now() - $2 * interval '1 day' WHERE account_id = $1`, [
        accountId,
        count,
      ]);
    await service.createCharge(testKey);
    await waitFor('the event', async () => (await list('', testKey)).body.data.length === 1);
    await days(29.9);
    expect((await list('', testKey)).body.data).toHaveLength(1);
    await days(30.1);
    expect((await list('', testKey)).body.data).toEqual([]);
  });

  it('is read page by page in both directions, each name of each event once', async () => {
    const all = await items(`${EVERY_NAME}&limit=100`);
    expect(all.length).toBeGreaterThan(8);
    expect(new Set(all.map(cursorOf)).size).toBe(all.length);
    for (const limit of [1, 2, 3, 7]) {
      const older: EventBody[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const from: string = cursor === '' ? '' : `&starting_after=${cursor}`;
        const { body } = await list(`${EVERY_NAME}&limit=${limit}${from}`);
        expect(body.data.length).toBeLessThanOrEqual(limit);
        older.push(...body.data);
        cursor = body.next_cursor;
      }
      expect(older.map(cursorOf)).toEqual(all.map(cursorOf));
      const newer: EventBody[] = [];
      for (let cursor = all.at(-1)?.cursor ?? '', more = true; more;) {
        const { body } = await list(`${EVERY_NAME}&limit=${limit}&after=${cursor}`);
        newer.push(...body.data);
        cursor = body.next_cursor ?? '';
        more = body.has_more;
      }
      expect(newer.map(cursorOf)).toEqual(all.map(cursorOf).reverse().slice(1));
    }
  });

  it('shows events of the key’s account and mode only', async () => {
    const other = await service.merchant();
    for (const apikey of [merchant.liveKey, other.testKey]) {
      expect((await list('', apikey)).body).toEqual({ object: 'list', data: [], has_more: false, next_cursor: null });
      expect((await list(`subject=${paidId}`, apikey)).body.data).toEqual([]);
    }
  });

  it.each([
    ['a name that is no event', 'type=charge.paid,charge.lost', 'type'],
    ['no name', 'type=', 'type'],
    ['a cursor that is none', 'after=evt_1', 'after'],
    [
      'two directions',
      'after=evc_1_019aa0f07d5c7c3e9b1a2f4d6c8e0a12_1&starting_after=evc_1_019aa0f07d5c7c3e9b1a2f4d6c8e0a12_1',
      'after',
    ],
    ['a subject that is no id', 'subject=order-1042', 'subject'],
    ['no date', 'created_after=yesterday', 'created_after'],
    ['too large a page', 'limit=101', 'limit'],
    ['an unknown field', 'cursor=x', 'cursor'],
  ])('refuses %s', async (_case, query, param) => {
    const { status, body } = await service.call<{ error: { param: string } }>('GET', `/v1/events?${query}`, { key });
    expect([status, body.error.param]).toEqual([400, param]);
  });

  it('holds back events written after an uncommitted one, so that no reader misses it', async () => {
    const account = await service.merchant();
    const write = (client: pg.Client | pg.Pool, type: string): Promise<pg.QueryResult> =>
      client.query(
        `INSERT INTO events (id, account_id, mode, type, subject_id, data, sequence, occurred_at, next_attempt_at)
         SELECT gen_random_uuid(), $1, 'test', $2, gen_random_uuid(), data, 1, now(), now()
         FROM events WHERE type = 'report.ready' LIMIT 1`,
        [account.accountId, type],
      );
    await service.call('POST', '/v1/reports', {
      key,
      body: { type: 'sales', format: 'csv', from: '2026-11-01', to: '2026-11-02' },
    });
    await waitFor('an event of a report', async () => (await items('type=report.ready')).length === 1);
    const slow = new pg.Client({ connectionString: service.database.url });
    await slow.connect();
    const seen = async (after?: string): Promise<EventListBody> =>
      (await list(after === undefined ? '' : `after=${after}`, account.testKey)).body;
    try {
      await write(service.database.pool, 'report.ready');
      const start = await waitFor('the first', async () => (await seen()).data[0]?.cursor);
      await slow.query('BEGIN');
      await write(slow, 'report.failed');
      await write(service.database.pool, 'report.ready');
      const { data, next_cursor: cursor } = await seen(start);
      expect(data).toEqual([]);
      await slow.query('COMMIT');
      await waitFor('both', async () => (await seen(cursor ?? '')).data.length === 2);
      expect((await seen(start)).data.map(nameOf)).toEqual(['report.failed', 'report.ready']);
    } finally {
      await slow.end();
    }
  });

  it('refuses cursors from before a restore of the database, and accepts its own', async () => {
    const [newest] = await items();
    await service.sql(`UPDATE events SET xid = xid + 1000000000`);
    const ofAnother = newest?.cursor.replace(/^evc_(\d+)/, (_, xid) => `evc_${Number(xid) + 1_000_000_000}`) ?? '';
    const second = await TestService.start({ database: service.database });
    try {
      const answer = await second.call<{ error: { code: string } }>('GET', `/v1/events?after=${ofAnother}`, { key });
      expect([answer.status, answer.body.error.code]).toEqual([400, 'unknown_cursor']);
      expect((await items()).map(({ id }) => id)).toContain(newest?.id);
      await service.createCharge(key);
      await waitFor('the next one', async () => (await items())[0]?.id !== newest?.id);
    } finally {
      await second.stop();
    }
  });
});

describe('the stream of events', () => {
  const service = TestService.forSpec();
  let key: string;

  beforeAll(async () => {
    ({ testKey: key } = await service.merchant());
  });

  it('delivers each event', async () => {
    const { body: charge } = await service.createCharge(key);
    const stream = await Stream.open(service, key, `?type=charge.paid&subject=${charge.id}`);
    await service.createCharge(key);
    await service.simulate(key, charge.id, { event: 'pay' });
    await waitFor('the event', () => Promise.resolve(stream.items.length === 1));
    expect(stream.items[0]?.data).toMatchObject({ object: { id: charge.id, status: 'paid' } });
    stream.close();
  });

  it('moves the cursor of a reader over events that it did not ask for', async () => {
    const stream = await Stream.open(service, key, '?type=report.failed');
    const { id } = (await service.createCharge(key)).body;
    const created = await waitFor('the event of the charge', async () => {
      const { body } = await service.call<{ data: EventBody[] }>('GET', `/v1/events?subject=${id}`, { key });
      return body.data[0];
    });
    const place = created.cursor.replace(/_\d+$/, '');
    await waitFor('the place behind the charge', () => stream.lastId?.startsWith(place));
    stream.close();
    expect(stream.items).toEqual([]);
  });

  it('resumes at the place where it was cut, whatever happened between', async () => {
    const first = await Stream.open(service, key);
    await aPaidCharge(service, key, 500);
    await waitFor('two events', () => Promise.resolve(first.items.length === 2));
    first.close();
    await aPaidCharge(service, key, 600);
    const second = await Stream.open(service, key, '?type=charge.paid', first.lastId);
    await aPaidCharge(service, key, 700);
    await waitFor('both', () => Promise.resolve(second.items.length === 2));
    expect(second.items.map(({ data }) => data)).toMatchObject([
      { payment: { amount: 600 } },
      { payment: { amount: 700 } },
    ]);
    second.close();
  });

  it('loses and repeats no event and keeps the order of each charge, however often it is cut', async () => {
    let stream = await Stream.open(service, key);
    const seen: EventBody[] = [];
    let cuts = 0;
    const cut = async (): Promise<void> => {
      stream.close();
      seen.push(...stream.items);
      stream = await Stream.open(service, key, '', stream.lastId ?? seen.at(-1)?.cursor);
      cuts++;
    };
    // A stream that is cut before its first event has no cursor to resume from.
    const sales = 40;
    await aPaidCharge(service, key, 100);
    await waitFor('the first', () => Promise.resolve(stream.items.length === 2));
    const selling = Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let n = 0; n < sales / 8; n++) await aPaidCharge(service, key, 100);
      }),
    );
    let isSelling = true;
    void selling.finally(() => (isSelling = false));
    while (isSelling) await cut();
    await waitFor('all of them', () => Promise.resolve(seen.length + stream.items.length >= 2 * (sales + 1)));
    await cut();
    stream.close();
    expect(cuts).toBeGreaterThan(3);
    expect(new Set(seen.map(cursorOf)).size).toBe(seen.length);
    expect(seen).toHaveLength(2 * (sales + 1));
    const last = new Map<string, number>();
    for (const { sequence, data } of seen) {
      const { id } = (data as { object: { id: string } }).object;
      expect(sequence).toBe((last.get(id) ?? 0) + 1);
      last.set(id, sequence);
    }
  });

  it('has fifty places, and frees the place of a closed stream at once', async () => {
    const { testKey } = await service.merchant();
    const streams = await Promise.all(Array.from({ length: 50 }, () => Stream.open(service, testKey)));
    const refused = await service.call<{ error: { code: string } }>('GET', '/v1/events/stream', { key: testKey });
    expect([refused.status, refused.body.error.code]).toEqual([429, 'too_many_streams']);
    streams[0]?.close();
    await waitFor('a place', async () => {
      const { status } = await service.call('GET', '/v1/events/stream', { key: testKey });
      return status === 200;
    });
    expect((await service.call('HEAD', '/v1/events/stream', { key })).status).toBe(200);
    for (const stream of streams) stream.close();
  });

  it('ends with the service, which does not wait for its readers', async () => {
    const second = await TestService.start({ database: service.database });
    const stream = await Stream.open(second, key);
    await second.stop();
    // A stream that is cut off has no end: it fails.
    await waitFor('the end', () => Promise.resolve(stream.ended));
  });

  it('shows a resend once more to readers that ask for resends, also after a cut, and to no others', async () => {
    const { testKey, liveKey } = await service.merchant();
    const { id } = await aPaidCharge(service, testKey, 900);
    const query = `?type=charge.created,charge.paid,payment.completed&resends=true`;
    const stream = await Stream.open(service, testKey, `${query}&created_after=2020-01-01&after=${FIRST_CURSOR}`);
    await waitFor('what has happened', () => Promise.resolve(stream.items.length === 3));
    const [created] = stream.items;
    const again = await service.call('POST', `/v1/events/${String(created?.id)}/resend`, { key: testKey });
    expect([again.status, again.body]).toEqual([200, { id: created?.id, object: 'event', deliveries: 0 }]);
    await waitFor('the resend', () => Promise.resolve(stream.items.length === 4));
    stream.close();
    await service.call('POST', `/v1/payments/${id}/resend-webhook`, { key: testKey });
    const resumed = await Stream.open(service, testKey, query, stream.lastId);
    await waitFor('the resent status', () => Promise.resolve(resumed.items.length === 2));
    resumed.close();
    const names = [...stream.items, ...resumed.items].map(nameOf);
    expect(names.slice(3)).toEqual(['charge.created', 'charge.paid', 'payment.completed']);
    expect(stream.items[3]?.data).toMatchObject({ object: { id, status: 'paid' } });
    expect([stream.items[3]?.id, stream.items[3]?.sequence]).toEqual([created?.id, 1]);
    const events = (each: string): Promise<Answer<EventListBody>> =>
      service.call<EventListBody>('GET', `/v1/events?type=*${each}`, { key: testKey });
    expect((await events('')).body.data.map(nameOf)).toEqual(['charge.paid', 'charge.created']);
    expect((await events('&resends=true')).body.data.map(nameOf)).toEqual([
      ...['charge.paid', 'charge.created', 'charge.paid', 'charge.created'],
    ]);
    for (const [key, eventId] of [
      [liveKey, created?.id],
      [testKey, 'evt_1'],
    ]) {
      const answer = await service.call('POST', `/v1/events/${String(eventId)}/resend`, { key: String(key) });
      expect(answer.status).toBe(404);
    }
  });

  it('refuses an invalid cursor', async () => {
    const bad = await service.call('GET', '/v1/events/stream', { key, headers: { 'last-event-id': 'x' } });
    expect(bad.status).toBe(400);
    const good = await service.call('GET', '/v1/events/stream', { key, headers: { 'last-event-id': '' } });
    expect(good.status).toBe(200);
  });
});
