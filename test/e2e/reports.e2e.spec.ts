import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { saoPauloDay } from '../../src/brazil/index.js';
import type { ReportBody, ReportListBody } from '../../src/reports/dto/report.body.js';
import { expectLedgerCoherent } from '../support/coherence.js';
import { reach } from '../support/evidence.js';
import { ask as askProgram, balancesBy, bookkeepersAvailable } from '../support/bookkeepers.js';
import { WebhookReceiver } from '../support/receiver.js';
import { aPaidCharge, type ErrorAnswer, paymentIdOf, refundEnd, requestRefund } from '../support/refunds.js';
import { type ChargeAnswer, type Merchant, TestService } from '../support/service.js';
import { waitFor } from '../support/wait.js';

const TODAY = saoPauloDay(new Date());
const WINDOW = { from: TODAY, to: TODAY };

describe('reports', () => {
  const directory = mkdtempSync(join(tmpdir(), 'recebe-reports-'));
  let service: TestService;
  let merchant: Merchant;
  let other: Merchant;
  let sale: ChargeAnswer;

  const ask = <T = ReportBody>(body: object, key = merchant.testKey) =>
    service.call<T>('POST', '/v1/reports', { key, body: { ...WINDOW, ...body } });
  const read = async (id: string, key = merchant.testKey): Promise<ReportBody> =>
    (await service.call<ReportBody>('GET', `/v1/reports/${id}`, { key })).body;
  const ready = async (body: object, key = merchant.testKey): Promise<ReportBody> => {
    const { status, body: asked } = await ask(body, key);
    expect(status).toBe(202);
    return waitFor(`the report ${asked.id}`, async () => {
      const report = await read(asked.id, key);
      return report.status === 'ready' ? report : undefined;
    });
  };
  const download = async ({ download_url: url }: ReportBody): Promise<{ text: string; headers: Headers }> => {
    const answer = await fetch(reach(service, String(url)));
    expect(answer.status).toBe(200);
    return { text: await answer.text(), headers: answer.headers };
  };
  const file = async (body: object, key = merchant.testKey): Promise<string> =>
    (await download(await ready(body, key))).text;
  const keep = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  };

  beforeAll(async () => {
    service = await TestService.start();
    merchant = await service.merchant({ fee_bps: '100' });
    other = await service.merchant({ release_days: '1' });
    const key = merchant.testKey;
    sale = (
      await service.createCharge(key, {
        amount: 1000,
        customer: { name: '=HYPERLINK("https://evil.example","Maria")', document: '52998224725' },
        metadata: { orderId: '-1042', note: 'two, with "quotes"\nand lines' },
      })
    ).body;
    await service.simulate(key, sale.id, { event: 'pay' });
    const { body: refund } = await requestRefund(service, key, paymentIdOf(sale), { amount: 300 });
    await refundEnd(service, key, refund);
    const disputed = await aPaidCharge(service, key, 500);
    await service.simulate(key, disputed.id, { event: 'med_open' });
    await waitFor('the case', async () => (await service.sql('SELECT 1 FROM med_cases WHERE visible')).length === 1);
    await aPaidCharge(service, other.testKey, 700);
  });
  afterEach(() => expectLedgerCoherent(service.database.url));
  afterAll(async () => {
    await service.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  it('are asked for, made, told of and downloaded', async () => {
    const receiver = await WebhookReceiver.start();
    const endpoint = { url: receiver.url, events: ['report.ready'] };
    await service.call('POST', '/v1/webhooks/endpoints', { key: merchant.testKey, body: endpoint });
    const { status, body: asked } = await ask({ type: 'statement', format: 'csv' });
    expect(status).toBe(202);
    expect(asked).toStrictEqual({
      id: expect.stringMatching(/^rep_[0-9a-f-]{36}$/),
      object: 'report',
      type: 'statement',
      format: 'csv',
      from: expect.stringMatching(/T03:00:00\.000Z$/),
      to: expect.stringMatching(/T02:59:59\.999Z$/),
      columns: null,
      status: 'pending',
      rows: 0,
      progress: 0,
      size: null,
      download_url: null,
      created_at: expect.any(String),
      ready_at: null,
      expires_at: null,
    });
    const [told] = await receiver.waitForType('report.ready');
    expect(told?.body['data']).toMatchObject({ object: { id: asked.id, status: 'ready', download_url: null } });
    const report = await read(asked.id);
    const { text, headers } = await download(report);
    expect(report).toMatchObject({ status: 'ready', rows: 5, progress: 1, size: Buffer.byteLength(text) });
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(headers.get('content-disposition')).toContain(`filename="recebe-test-statement-${TODAY}-${TODAY}.csv"`);
    expect(await read(report.id.slice('rep_'.length))).toMatchObject({ id: report.id });
    const { body: list } = await service.call<ReportListBody>('GET', '/v1/reports', { key: merchant.testKey });
    expect(list.data[0]).toMatchObject({ id: report.id, status: 'ready', download_url: null });
    await receiver.stop();
  });

  it('have the statement line by line, bucket by bucket', async () => {
    const text = await file({ type: 'statement', format: 'csv', columns: ['bucket', 'type', 'amount', 'balance'] });
    expect(text).toBe(
      [
        'bucket,type,amount,balance',
        'available,sale,9.90,9.90',
        'available,refund,-3.00,6.90',
        'available,sale,4.95,11.85',
        'available,med_hold,-5.00,6.85',
        'retained,med_hold,5.00,5.00',
        '',
      ].join('\r\n'),
    );
  });
});
