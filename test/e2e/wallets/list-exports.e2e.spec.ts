import { beforeAll, describe, expect, it } from '@jest/globals';
import { readXlsx } from 'hucre/xlsx';
import { saoPauloDay } from '../../../src/brazil/index.js';
import type { ReportBody } from '../../../src/reports/dto/report.body.js';
import { reach } from '../../support/evidence.js';
import { aPaymentLink } from '../../support/payment-links.js';
import { aPayout, payoutOf, simulatePayout } from '../../support/payouts.js';
import { type ErrorAnswer } from '../../support/refunds.js';
import { type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const TODAY = saoPauloDay(new Date());
type Item = Record<string, unknown>;

/** A list and its file: the columns of the id and of the amount, and their fields in the list. */
const LISTS = {
  statement: { path: '/v1/wallets/entries', id: 'id', amount: 'amount', totals: true },
  disputes: { path: '/v1/med/cases', id: 'dispute', amount: 'amount', totals: true },
  payouts: { path: '/v1/payouts', id: 'payout', amount: 'amount', totals: true },
  payment_links: { path: '/v1/payment-links', id: 'payment_link', amount: 'paid_amount', totals: true },
  customers: { path: '/v1/customers', id: 'customer', amount: 'amount_paid', totals: true },
  deliveries: { path: '/v1/webhooks/deliveries', id: 'delivery', amount: 'attempts', totals: false },
} as const;

describe('exports of lists', () => {
  const service = TestService.forSpec();
  let merchant: Merchant;
  let other: Merchant;
  let endpoint = '';
  const get = async <T>(path: string, key = merchant.testKey): Promise<T> =>
    (await service.call<T>('GET', path, { key })).body;
  const ask = <T>(body: object, key = merchant.testKey) =>
    service.call<T>('POST', '/v1/reports', { key, body: { from: TODAY, to: TODAY, ...body } });
  /** The lines of the file, without its headings. */
  const file = async (body: { format: 'csv' | 'xlsx'; type: string }, key = merchant.testKey): Promise<string[][]> => {
    const answer = await ask<ReportBody>(body, key);
    expect([answer.status, body]).toEqual([202, body]);
    const report = await waitFor(`the report of ${body.type}`, async () => {
      const read = await get<ReportBody>(`/v1/reports/${answer.body.id}`, key);
      return read.status === 'ready' ? read : undefined;
    });
    const bytes = Buffer.from(await (await fetch(reach(service, String(report.download_url)))).arrayBuffer());
    const lines =
      body.format === 'csv'
        ? bytes
            .toString('utf8')
            .split('\r\n')
            .slice(0, -1)
            .map((line) => line.split(line.includes(';') ? ';' : ','))
        : ((await readXlsx(bytes)).sheets[0]?.rows ?? []).map((row) => row.map(String));
    expect(report.rows).toBe(lines.length - 1);
    return lines.slice(1);
  };

  beforeAll(async () => {
    merchant = await service.merchant({ release_days: '0' });
    other = await service.merchant();
    const key = merchant.testKey;
    const { body } = await service.call<{ id: string }>('POST', '/v1/webhooks/endpoints', {
      key,
      body: { url: 'http://127.0.0.1:9/hooks', events: ['charge.created', 'charge.paid'] },
    });
    endpoint = body.id;
    const sell = async (customer: object, amount: number): Promise<string> => {
      const { body: sale } = await service.createCharge(key, { amount, customer });
      await service.simulate(key, sale.id, { event: 'pay' });
      return sale.id;
    };
    await sell({ name: 'Maria Souza', document: '52998224725' }, 5000);
    await sell({ name: 'Maria Souza', document: '52998224725' }, 2500);
    await sell({ name: 'Ana Dias', email: 'ana@example.com' }, 1200);
    const cases = [await sell({ name: 'João' }, 700), await sell({ name: 'João' }, 900)];
    for (const id of cases) await service.simulate(key, id, { event: 'med_open' });
    await waitFor('both cases', async () => (await get<{ data: Item[] }>('/v1/med/cases')).data.length === 2);
    const [first] = (await get<{ data: Item[] }>('/v1/med/cases')).data;
    await service.call('POST', `/v1/med/cases/${String(first?.['id'])}/accept`, { key });
    const paid = await aPayout(service, key, { amount: 300 });
    expect((await simulatePayout(service, key, paid.id, { event: 'pay' })).status).toBeLessThan(300);
    await payoutOf(service, key, paid.id, 'paid');
    const failed = await aPayout(service, key, { amount: 400 });
    expect((await simulatePayout(service, key, failed.id, { event: 'fail' })).status).toBeLessThan(300);
    await payoutOf(service, key, failed.id, 'failed');
    const [, ended] = [await aPaymentLink(service, key), await aPaymentLink(service, key, { amount: 900 })];
    await service.sql('UPDATE payment_links SET paid_count = 1, paid_amount = 900 WHERE id = $1', [ended.id.slice(3)]);
    await service.call('POST', `/v1/payment-links/${ended.id}/end`, { key });
    await waitFor('the deliveries', async () => {
      const { total } = await get<{ total: number }>('/v1/webhooks/deliveries');
      return total > 4;
    });
    // Nothing is delivered from here on, so list and file read the same.
    await service.sql(
      `UPDATE webhook_deliveries SET status = 'CANCELLED', next_attempt_at = NULL WHERE account_id = $1`,
      [merchant.accountId],
    );
  }, 120_000);

  it.each([
    ['statement', {}],
    ['statement', { type: 'sale' }],
    ['statement', { bucket: 'available', currency: 'BRL' }],
    ['statement', { currency: 'EUR' }],
    ['disputes', { status: 'open' }],
    ['disputes', { status: 'accepted', type: 'med' }],
    ['payouts', {}],
    ['payouts', { status: 'failed' }],
    ['payment_links', {}],
    ['payment_links', { status: 'ended' }],
    ['customers', {}],
    ['customers', { query: 'maria' }],
    ['customers', { query: 'nobody' }],
    ['deliveries', { status: 'CANCELLED' }],
    ['deliveries', { status: 'DELIVERED' }],
  ] as const)('has the rows and the sum of the list of %s with %j', async (type, filters) => {
    const { path, id, amount, totals } = LISTS[type];
    const search = new URLSearchParams(filters).toString();
    const { data } = await get<{ data: Item[] }>(`${path}?limit=100&${search}`);
    const ids = data.map((one) => String(one['id'])).toSorted();
    const columns = [id, amount];
    for (const body of [
      { format: 'csv' as const, columns },
      { format: 'csv' as const, columns, locale: 'pt-BR' },
      { format: 'xlsx' as const, columns },
    ]) {
      const rows = await file({ type, ...body, ...(Object.keys(filters).length === 0 ? {} : { filters }) });
      expect(rows.map(([first = '']) => first).toSorted()).toEqual(ids);
      if (!totals) continue;
      const sum = rows.reduce((all, [, value = '']) => all + Number(value.replaceAll('"', '').replace(',', '.')), 0);
      const { amounts } = await get<{ amounts: { amount: number }[] }>(`${path}/totals?${search}`);
      expect(Math.round(sum * 100)).toBe(amounts[0]?.amount ?? 0);
    }
  });

  it('has the deliveries of one endpoint alone', async () => {
    const all = await file({ type: 'deliveries', format: 'csv' });
    expect(await file({ type: 'deliveries', format: 'csv', filters: { endpointId: endpoint } } as never)).toEqual(all);
    const none = { endpointId: '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12' };
    expect(await file({ type: 'deliveries', format: 'csv', filters: none } as never)).toEqual([]);
  });

  it.each(Object.keys(LISTS))('has no rows of %s for another account or mode', async (type) => {
    for (const key of [other.testKey, merchant.liveKey]) expect(await file({ type, format: 'csv' }, key)).toEqual([]);
  });

  it.each([
    ['payouts', { query: 'maria' }, 'filters.query'],
    ['payouts', { status: 'PAID' }, 'filters.status'],
    ['disputes', { type: 'sale' }, 'filters.type'],
    ['customers', { status: 'PAID' }, 'filters.status'],
    ['refunds', {}, 'filters'],
  ])('refuses a report of %s with %j', async (type, filters, param) => {
    const { status, body } = await ask<ErrorAnswer>({ type, format: 'csv', filters });
    expect([status, body.error.param]).toEqual([400, param]);
  });

  it('refuses filters of an ofx or a journal, whose balances would not add up', async () => {
    for (const format of ['ofx', 'journal']) {
      const { status, body } = await ask<ErrorAnswer>({ type: 'statement', format, filters: { type: 'sale' } });
      expect([status, body.error.param]).toEqual([400, 'filters']);
    }
  });
});
