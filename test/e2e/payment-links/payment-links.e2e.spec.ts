import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  aPaymentLink,
  createLink,
  type LinkAnswer,
  pathOf,
  readLink,
  visitAndPay,
} from '../../support/payment-links.js';
import { type Answer, type Merchant, TestService } from '../../support/service.js';

/** A picture of one pixel. */
const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAFUlEQVR4nGNgaPiPB41KN+BAg1MaAD3yxzkvN8oQAAAAAElFTkSuQmCC';

describe('payment links', () => {
  const service = TestService.forSpec();
  let merchant: Merchant;
  const change = (id: string, body: unknown, key = merchant.testKey): Promise<Answer<LinkAnswer>> =>
    service.call<LinkAnswer>('PATCH', `/v1/payment-links/${id}`, { key, body });
  const end = (id: string): Promise<Answer<LinkAnswer>> =>
    service.call<LinkAnswer>('POST', `/v1/payment-links/${id}/end`, { key: merchant.testKey });
  const later = (seconds: number): string => new Date(service.clock.now().getTime() + seconds * 1000).toISOString();

  beforeAll(async () => {
    merchant = await service.merchant();
  });

  it('answers a new link with every field and an unguessable address', async () => {
    const expiresAt = later(86_400);
    const { status, body } = await createLink(service, merchant.testKey, {
      ...{ name: 'Café', description: 'Half a kilo', picture: PNG, max_payments: 50, expires_at: expiresAt },
      ...{ ask: ['phone', 'name'], question: 'Whole or ground?', return_url: 'https://shop.example/thanks' },
      metadata: { campaign: 'december', _hidden: 1, med: 1 },
    });
    expect(status).toBe(201);
    const url = String(body.url);
    expect(url).toMatch(/^https:\/\/pay\.example\.com\/pay\/[1-9A-HJ-NP-Za-km-z]{12}$/);
    expect(body).toStrictEqual({
      ...{ id: expect.stringMatching(/^pl_[0-9a-f-]{36}$/), object: 'payment_link', url, qr_code_url: `${url}/qr.png` },
      ...{ status: 'active', ended_reason: null, name: 'Café', description: 'Half a kilo', picture: `${url}/picture` },
      ...{ amount: 5000, amount_min: null, amount_max: null, currency: 'BRL', max_payments: 50, expires_at: expiresAt },
      ...{ ask: ['name', 'phone'], question: 'Whole or ground?', return_url: 'https://shop.example/thanks' },
      ...{ metadata: { campaign: 'december' }, paid_count: 0, paid_amount: 0 },
      ...{ created_at: expect.any(String), updated_at: expect.any(String) },
    });
    expect(await readLink(service, merchant.testKey, String(body.id))).toStrictEqual(body);
    expect(await readLink(service, merchant.testKey, String(body.id).slice(3).toUpperCase())).toStrictEqual(body);
  });

  it('takes an amount that the payer chooses, with bounds or without, and a day as its end', async () => {
    const free = await aPaymentLink(service, merchant.testKey, { amount: undefined });
    expect([free['amount'], free['amount_min'], free['amount_max']]).toEqual([null, null, null]);
    const bounded = { amount: undefined, amount_min: 1000, amount_max: 9000 };
    expect(await aPaymentLink(service, merchant.testKey, bounded)).toMatchObject({
      amount_min: 1000,
      amount_max: 9000,
    });
    const byDay = await aPaymentLink(service, merchant.testKey, { expires_at: '2030-12-24' });
    expect(byDay['expires_at']).toBe('2030-12-25T02:59:59.999Z');
  });

  it('makes one link for one Idempotency-Key, and requires the key', async () => {
    const key = randomUUID();
    const [first, again] = await Promise.all([1, 2].map(() => createLink(service, merchant.testKey, {}, key)));
    expect(first?.body.id).toBe(again?.body.id);
    const replayed = await createLink(service, merchant.testKey, {}, key);
    expect([replayed.body, replayed.headers.get('idempotent-replayed')]).toEqual([first?.body, 'true']);
    const other = await createLink(service, merchant.testKey, { amount: 1 }, key);
    expect(other).toMatchObject({ status: 409, body: { error: { code: 'idempotency_key_reused' } } });
    const none = await service.call('POST', '/v1/payment-links', { key: merchant.testKey, body: {} });
    expect(none).toMatchObject({ status: 400, body: { error: { code: 'idempotency_key_required' } } });
  });

  it.each([
    [{ name: undefined }, 'name'],
    [{ name: '  ' }, 'name'],
    [{ name: 'two\nlines' }, 'name'],
    [{ amount: null }, 'amount'],
    [{ amount: 0 }, 'amount'],
    [{ amount: 5000, amount_min: 1 }, 'amount'],
    [{ amount: undefined, amount_min: 2, amount_max: 1 }, 'amount_max'],
    [{ max_payments: 0 }, 'max_payments'],
    [{ max_payments: null }, 'max_payments'],
    [{ expires_at: '2020-01-01' }, 'expires_at'],
    [{ expires_at: null }, 'expires_at'],
    [{ expires_at: 'tomorrow' }, 'expires_at'],
    [{ ask: ['name', 'name'] }, 'ask'],
    [{ ask: ['address'] }, 'ask'],
    [{ ask: 'name' }, 'ask'],
    [{ picture: 'https://shop.example/coffee.png' }, 'picture'],
    [{ picture: `data:image/png;base64,${'A'.repeat(60_000)}` }, 'picture'],
    [{ return_url: 'http://shop.example/' }, 'return_url'],
    [{ return_url: 'javascript:alert(1)' }, 'return_url'],
    [{ question: 'x'.repeat(141) }, 'question'],
    [{ price: 1 }, 'price'],
  ])('refuses %j and names the field', async (body, param) => {
    const answer = await createLink(service, merchant.testKey, body);
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'invalid_request', details: [{ param }] } } });
  });

  it('lists newest first by cursor, and shows no link of another account or mode', async () => {
    const own = await service.merchant();
    const links: LinkAnswer[] = [];
    for (const name of ['one', 'two', 'three']) links.unshift(await aPaymentLink(service, own.testKey, { name }));
    const page = (query: string, key = own.testKey): Promise<Answer<{ data: LinkAnswer[]; next_cursor: string }>> =>
      service.call('GET', `/v1/payment-links${query}`, { key });
    const first = await page('?limit=2');
    expect(first.body).toStrictEqual({
      ...{ object: 'list', data: links.slice(0, 2), has_more: true, next_cursor: links[1]?.id },
    });
    const second = await page(`?limit=2&starting_after=${first.body.next_cursor}`);
    expect(second.body).toStrictEqual({ object: 'list', data: links.slice(2), has_more: false, next_cursor: null });
    for (const key of [own.liveKey, (await service.merchant()).testKey]) {
      expect((await page('', key)).body.data).toEqual([]);
      const id = links[0]?.id ?? '';
      expect((await service.call('GET', `/v1/payment-links/${id}`, { key })).status).toBe(404);
      expect((await change(id, { name: 'mine' }, key)).status).toBe(404);
      expect((await service.call('POST', `/v1/payment-links/${id}/end`, { key })).status).toBe(404);
    }
    expect((await page('?starting_after=nonsense')).status).toBe(400);
    expect((await page(`/nonsense`)).status).toBe(404);
  });

  it('lists links by their status, whatever has ended them', async () => {
    const { testKey: key } = await service.merchant();
    const active = await aPaymentLink(service, key, { name: 'active', max_payments: 2 });
    const ended = await aPaymentLink(service, key, { name: 'ended' });
    await service.call('POST', `/v1/payment-links/${ended.id}/end`, { key });
    const full = await aPaymentLink(service, key, { name: 'full', max_payments: 1 });
    for (const link of [active, full]) {
      await service.simulate(key, await visitAndPay(service, pathOf(link)), { event: 'pay' });
    }
    const expired = await aPaymentLink(service, key, { name: 'expired', expires_at: '2099-01-01' });
    await service.sql(`UPDATE payment_links SET expires_at = now() WHERE id = $1`, [expired.id.slice(3)]);
    const page = (query: string): Promise<Answer<{ data: LinkAnswer[]; next_cursor: string }>> =>
      service.call('GET', `/v1/payment-links?${query}`, { key });
    const ids = async (query: string): Promise<string[]> => (await page(query)).body.data.map(({ id }) => id);
    expect(await ids('status=active')).toEqual([active.id]);
    expect(await ids('status=ended')).toEqual([expired.id, full.id, ended.id]);
    expect(await ids(`status=ended&limit=1&starting_after=${full.id}`)).toEqual([ended.id]);
    expect(await page('status=full')).toMatchObject({ status: 400, body: { error: { param: 'status' } } });
  });

  it('changes only what is sent, and empties a field by null', async () => {
    const { id } = await aPaymentLink(service, merchant.testKey, {
      ...{ description: 'Half a kilo', max_payments: 5, question: 'Whole?', ask: ['name'], metadata: { a: 1 } },
      ...{ picture: PNG, return_url: 'https://shop.example/' },
    });
    const before = await readLink(service, merchant.testKey, id);
    const renamed = await change(id, { name: 'Tea' });
    expect(renamed.body).toStrictEqual({ ...before, name: 'Tea', updated_at: renamed.body['updated_at'] });
    const emptied = await change(id, {
      ...{ description: null, max_payments: null, question: '', picture: null, return_url: null, ask: [] },
      ...{ amount: null, amount_min: 100, metadata: {} },
    });
    expect(emptied.body).toMatchObject({
      ...{ description: null, max_payments: null, question: null, picture: null, return_url: null, ask: [] },
      ...{ amount: null, amount_min: 100, metadata: {} },
    });
    expect(await readLink(service, merchant.testKey, id)).toStrictEqual(emptied.body);
    expect(await change(id, { amount: 500 })).toMatchObject({ status: 400, body: { error: { param: 'amount' } } });
    expect((await change(id, { name: null })).status).toBe(400);
    expect((await change(id, { paid_count: 3 })).status).toBe(400);
  });

  it('ends a link once, and then refuses changes', async () => {
    const { id } = await aPaymentLink(service, merchant.testKey);
    const ended = await end(id);
    expect(ended).toMatchObject({ status: 200, body: { status: 'ended', ended_reason: 'ended' } });
    expect((await end(id)).body).toStrictEqual(ended.body);
    expect(await change(id, { name: 'Tea' })).toMatchObject({
      status: 409,
      body: { error: { code: 'payment_link_ended' } },
    });
    expect((await end('pl_nobody')).status).toBe(404);
  });

  it('reads as ended once it has expired, and as active once its end is later', async () => {
    const { id } = await aPaymentLink(service, merchant.testKey, { expires_at: later(60) });
    service.clock.advance(61);
    expect(await readLink(service, merchant.testKey, id)).toMatchObject({ status: 'ended', ended_reason: 'expired' });
    expect((await change(id, { expires_at: later(60) })).body).toMatchObject({ status: 'active', ended_reason: null });
  });

  it('records who created, changed and ended it', async () => {
    const { id } = await aPaymentLink(service, merchant.testKey);
    await change(id, { name: 'Tea' });
    await end(id);
    const rows = await service.sql<{ type: string; data: object }>(
      `SELECT type, data FROM audit_events WHERE data->>'payment_link_id' = $1 ORDER BY id`,
      [id],
    );
    expect(rows.map(({ type }) => type)).toEqual(['created', 'changed', 'ended'].map((what) => `payment_link.${what}`));
    expect(rows[1]?.data).toEqual({ mode: 'test', payment_link_id: id, fields: ['name'] });
  });
});
