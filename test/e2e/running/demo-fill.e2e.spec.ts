import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { normalizeTaxId } from '../../../src/brazil/index.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { CLI, DEMO, Processes, type ServiceProcess, withDatabase } from '../../support/process.js';

jest.setTimeout(120_000);

interface Page<T> {
  readonly data: readonly T[];
  readonly total: number;
}

describe('the demo account’s month', () => {
  const processes = new Processes();
  const dataDir = processes.dataDir();
  let service: ServiceProcess;

  const get = async <T>(path: string): Promise<T> =>
    (await (await fetch(`${service.url}${path}`, { headers: { apikey: service.demo().test_api_key } })).json()) as T;
  const count = async (status: string): Promise<number> =>
    (await get<Page<unknown>>(`/v1/payments?limit=1&status=${status}`)).total;

  beforeAll(async () => {
    service = await processes.start(dataDir, { DEMO_FILL: 'true' });
  });
  afterAll(() => processes.cleanUp());

  it('has sales of every kind, on most days, at realistic hours', async () => {
    const statuses = [
      'PAID',
      'EXPIRED',
      'CANCELLED',
      'REFUNDED',
      'WAITING_PAYMENT',
      'APPROVED',
      'DISPUTE',
      'PROCESSING',
    ];
    const counts = await Promise.all(statuses.map(count));
    expect(counts.every((one) => one > 0)).toBe(true);
    expect(counts.reduce((sum, one) => sum + one)).toBeGreaterThan(120);
    const { dailyVolume } = await get<{ dailyVolume: { currencies: object }[] }>(
      '/v1/payments/stats?days=30&basis=paid',
    );
    expect(dailyVolume.filter(({ currencies }) => Object.keys(currencies).length > 0).length).toBeGreaterThan(25);
    const { data } = await get<Page<{ createdAt: string; updatedAt: string; status: string }>>('/v1/refunds?limit=100');
    expect(data.length).toBeGreaterThan(5);
    for (const { createdAt, updatedAt, status } of data) {
      expect(status).toBe('REFUNDED');
      expect(Date.parse(updatedAt) - Date.parse(createdAt)).toBeLessThan(60_000);
    }
  });

  it('has customers with names, tax ids and e-mails, some of whom bought again', async () => {
    interface Customer {
      readonly name: string | null;
      readonly tax_id: string | null;
      readonly email: string | null;
      readonly totals: readonly { readonly sales: number }[];
    }
    const { data } = await get<Page<Customer>>('/v1/customers?limit=100&order=most_bought');
    expect(data.length).toBeGreaterThan(30);
    const sales = data.map(({ totals }) => totals.reduce((sum, one) => sum + one.sales, 0));
    expect(Math.max(...sales)).toBeGreaterThan(2);
    const { total } = await get<Page<unknown>>('/v1/payments?limit=1&status=PAID');
    expect(sales.reduce((sum, one) => sum + one)).toBeGreaterThan(total * 0.8);
    for (const { name, tax_id: taxId, email } of data) {
      expect(name).toMatch(/^\S+ \S+$/);
      expect(normalizeTaxId(taxId ?? '')).toBe(taxId);
      if (name !== 'Maria Souza') expect(email).toMatch(/^[a-z]+\.[a-z]+@example\.com$/);
    }
  });

  it('has one dispute under way, one that was won and one that was lost', async () => {
    interface Case {
      status: string;
      response_deadline: string;
      money_outcome: string | null;
    }
    const { data } = await get<Page<Case>>('/v1/med/cases');
    expect(data.map(({ money_outcome: outcome }) => outcome)).toEqual([
      null,
      'closed_without_refund',
      'refunded_to_merchant',
    ]);
    expect(data[0]?.status).toBe('open');
    expect(Date.parse(data[0]?.response_deadline ?? '')).toBeGreaterThan(Date.now());
  });

  it('has money that is not released yet, and an account with default settings', async () => {
    interface Balance {
      readonly pending: number;
      readonly next_release_at: string;
    }
    const { pending, next_release_at: at } = await get<Balance>('/v1/wallets/balance');
    expect(pending).toBeGreaterThan(0);
    expect(Date.parse(at)).toBeGreaterThan(Date.now());
    const { stdout } = await processes.run(CLI, ['account', 'list'], { DATA_DIR: dataDir });
    expect(JSON.parse(stdout)).toMatchObject({ accounts: [{ release_days: 0, payer_lock: false }] });
  });

  it('has a webhook endpoint that fails, and a report', async () => {
    const { data } = await get<Page<{ lastError: string | null; attempts: number }>>(
      '/v1/webhooks/deliveries?limit=100',
    );
    expect(data.some(({ lastError, attempts }) => attempts > 0 && lastError !== null)).toBe(true);
    expect((await get<Page<unknown>>('/v1/reports')).data).toHaveLength(1);
  });

  it('passes every check: books, chain of the ledger, statistics', async () => {
    await withDatabase(dataDir, (url) => expectLedgerCoherent(url));
    for (const command of [
      ['ledger', 'verify'],
      ['ledger', 'check', '--events'],
      ['statistics', 'check'],
    ]) {
      const { code, stderr } = await processes.run(CLI, command, { DATA_DIR: dataDir });
      expect({ command, code, stderr }).toEqual({ command, code: 0, stderr: '' });
    }
  });

  it('is made only once', async () => {
    const before = (await get<Page<unknown>>('/v1/payments?limit=1')).total;
    await service.kill('SIGTERM');
    service = await processes.start(dataDir, { DEMO_FILL: 'true' });
    expect((await get<Page<unknown>>('/v1/payments?limit=1')).total).toBe(before);
    const { code, stderr } = await processes.run(DEMO, ['--fill'], { DATA_DIR: dataDir });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'The demo account has sales already: its month is made before the first one.\n',
    });
  });

  it('can be made by hand beside a running service', async () => {
    const other = processes.dataDir();
    const empty = await processes.start(other);
    const { code, stderr } = await processes.run(DEMO, ['--fill'], { DATA_DIR: other });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const answer = await fetch(`${empty.url}/v1/payments?limit=1&status=PAID`, {
      headers: { apikey: empty.demo().test_api_key },
    });
    expect(((await answer.json()) as Page<unknown>).total).toBeGreaterThan(80);
    await withDatabase(other, (url) => expectLedgerCoherent(url));
  });
});
