import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { saoPauloDay, saoPauloMonthBounds } from '../../../src/brazil/index.js';
import { readXlsx } from 'hucre/xlsx';
import { SYSTEM } from '../../../src/audit/index.js';
import { CustomerDataService } from '../../../src/transactions/index.js';
import { ReportProcessor } from '../../../src/reports/report.processor.js';
import type { ReportBody, ReportListBody } from '../../../src/reports/dto/report.body.js';
import { textsOf } from '../../support/pdf.js';
import { runCli } from '../../support/cli.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { reach } from '../../support/evidence.js';
import { itWith } from '../../support/needs.js';
import { balancesBy, libreOfficeRows, ofxAccounts, type SheetCell, spreadsheet } from '../../support/bookkeepers.js';
import { WebhookReceiver } from '../../support/receiver.js';
import { TEST_ENCRYPTION_KEY } from '../../support/process.js';
import { aPaidCharge, type ErrorAnswer, paymentIdOf, refundEnd, requestRefund } from '../../support/refunds.js';
import { onDisk } from '../../support/storage.js';
import { type ChargeAnswer, type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const TODAY = saoPauloDay(new Date());
const WINDOW = { from: TODAY, to: TODAY };

describe('reports', () => {
  const directory = mkdtempSync(join(tmpdir(), 'recebe-reports-'));
  const service = TestService.forSpec();
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
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('are requested, written, announced and downloaded', async () => {
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
      locale: null,
      from: expect.stringMatching(/T03:00:00\.000Z$/),
      to: expect.stringMatching(/T02:59:59\.999Z$/),
      columns: null,
      filters: null,
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

  it('have one line for each movement of the statement, bucket by bucket', async () => {
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

  it('have sales by the day of payment, refunds and disputes, with keys of the metadata as columns', async () => {
    const columns = ['payment', 'amount', 'platform_fee', 'net_amount', 'refunded', 'disputed', 'metadata.orderId'];
    const [, first, second] = (await file({ type: 'sales', format: 'csv', columns })).split('\r\n');
    expect(first).toBe(`tx_${paymentIdOf(sale)},10.00,0.10,9.90,3.00,0.00,'-1042`);
    expect(second).toMatch(/^tx_[0-9a-f-]{36},5\.00,0\.05,4\.95,0\.00,5\.00,$/);
    const refunds = await file({
      type: 'refunds',
      format: 'csv',
      columns: ['payment', 'status', 'amount', 'currency'],
    });
    expect(refunds).toBe(`payment,status,amount,currency\r\ntx_${paymentIdOf(sale)},REFUNDED,3.00,BRL\r\n`);
    const disputes = await file({ type: 'disputes', format: 'csv', columns: ['status', 'amount', 'held', 'lost'] });
    expect(disputes).toBe('status,amount,held,lost\r\nopen,5.00,5.00,0.00\r\n');
  });

  it('contain the sales of a filtered list, paid or not, and do not store the search text', async () => {
    const { testKey: key, accountId } = await service.merchant();
    const make = async (name: string, events: Record<string, unknown>[] = []): Promise<ChargeAnswer> => {
      const { body } = await service.createCharge(key, { amount: 1000, customer: { name }, expires_in: 90 });
      for (const event of events) await service.simulate(key, body.id, event);
      return body;
    };
    const maria = await make('Maria Souza', [{ event: 'pay' }]);
    const waiting = await make('Maria Lima');
    const joao = await make('João', [{ event: 'pay' }]);
    const returned = 'E00000000202611211530abcDEF12345';
    // A second Pix of a paid charge goes back: its id finds the sale, as in the list.
    await service.simulate(key, joao.id, { event: 'pay', end_to_end_id: returned });
    const rows = async (filters: object): Promise<string[]> => {
      const text = await file(
        { type: 'sales', format: 'csv', columns: ['payment', 'status', 'paid_at'], filters },
        key,
      );
      return text
        .split('\r\n')
        .slice(1, -1)
        .map((line) => line.split(',').slice(0, 2).join(' '));
    };
    const line = (sale: ChargeAnswer, status: string): string => `tx_${paymentIdOf(sale)} ${status}`;
    const listed = async (query: string): Promise<string[]> => {
      const { body } = await service.call<{ data: { id: string; status: string }[] }>(
        'GET',
        `/v1/payments?sortOrder=asc&startDate=${TODAY}&endDate=${TODAY}&${query}`,
        { key },
      );
      return body.data.map(({ id, status }) => `${id} ${status}`);
    };
    const all = [line(maria, 'PAID'), line(waiting, 'WAITING_PAYMENT'), line(joao, 'PAID')];
    expect(await rows({ basis: 'created' })).toEqual(all);
    expect(await rows({ basis: 'paid' })).toEqual([all[0], all[2]]);
    expect(await rows({})).toEqual([all[0], all[2]]);
    for (const [filters, query] of [
      [{ status: 'PAID' }, 'status=PAID'],
      [{ query: 'maria' }, 'query=maria'],
      [{ query: 'mar', status: 'WAITING_PAYMENT' }, 'query=mar&status=WAITING_PAYMENT'],
      [{ query: returned }, `query=${returned}`],
      [{ query: paymentIdOf(joao) }, `query=${paymentIdOf(joao)}`],
      [{ query: 'nobody' }, 'query=nobody'],
    ] as const) {
      const found = await rows({ basis: 'created', ...filters });
      expect([query, found]).toEqual([query, await listed(query)]);
      expect(query === 'query=nobody' || found.length > 0).toBe(true);
    }
    expect(await rows({ query: 'lima' })).toEqual([]);
    // A charge that the clock has ended is written as expired before the search.
    service.clock.advance(91);
    expect(await rows({ basis: 'created', status: 'EXPIRED' })).toEqual([line(waiting, 'EXPIRED')]);
    const { body: refused } = await ask<ErrorAnswer>({ type: 'refunds', format: 'csv', filters: {} }, key);
    expect(refused.error).toMatchObject({ param: 'filters' });
    const { body: unknown } = await ask<ErrorAnswer>({ type: 'sales', format: 'csv', filters: { name: 'x' } }, key);
    expect(unknown.error.param).toContain('name');
    const asked = await ready({ type: 'sales', format: 'csv', filters: { query: 'maria' } }, key);
    expect(asked.filters).toEqual({ basis: 'paid', status: null, query: 'maria' });
    const told = await service.sql(
      `SELECT 1 FROM events WHERE account_id = '${accountId}' AND data::text LIKE '%"query": "%'`,
    );
    expect(told).toEqual([]);
    const who = { taxId: null, email: 'nobody@example.com', phone: null, mode: null, isEmailAlone: false };
    await service.get(CustomerDataService).erase(accountId, who, false, SYSTEM);
    expect((await read(asked.id, key)).filters).toEqual({ basis: 'paid', status: null, query: null });
  });

  it('quote CSV by RFC 4180', async () => {
    const text = await file({ type: 'sales', format: 'csv', columns: ['customer_name', 'metadata.note'] });
    const [, maria] = text.split('\r\n');
    expect(maria).toBe(`"'=HYPERLINK(""https://evil.example"",""Maria"")","two, with ""quotes""\nand lines"`);
  });

  it('show both parts of a sale with a reserve', async () => {
    const { testKey } = await service.merchant({ fee_bps: '100', reserve_bps: '1000', reserve_days: '3' });
    await aPaidCharge(service, testKey, 700);
    const journal = await file({ type: 'statement', format: 'journal' }, testKey);
    expect(journal.split('\n').filter((line) => line.startsWith('  ') && !line.includes(';'))).toEqual([
      '  Income:RecebeTest:Sales  -7.00 BRL',
      '  Assets:RecebeTest:Available  6.23 BRL',
      '  Assets:RecebeTest:Pending  0.70 BRL',
      '  Expenses:RecebeTest:Fees:Platform  0.07 BRL',
    ]);
    const columns = ['bucket', 'type', 'amount', 'balance'];
    expect(await file({ type: 'statement', format: 'csv', columns }, testKey)).toBe(
      ['bucket,type,amount,balance', 'available,sale,6.23,6.23', 'pending,sale,0.70,0.70', ''].join('\r\n'),
    );
  });

  itWith('bookkeepers')(
    'have a journal that hledger, ledger and beancount balance alike, equal to the wallet',
    async () => {
      const path = keep('today.journal', await file({ type: 'statement', format: 'journal' }));
      const balances = [
        'Assets:RecebeTest:Available 6.85 BRL',
        'Assets:RecebeTest:Retained 5.00 BRL',
        'Expenses:RecebeTest:Fees:Platform 0.15 BRL',
        'Income:RecebeTest:Refunds 3.00 BRL',
        'Income:RecebeTest:Sales -15.00 BRL',
      ];
      const next = { from: saoPauloDay(new Date(Date.now() + 86_400_000)), to: '2027-11-01' };
      const later = keep('later.journal', await file({ type: 'statement', format: 'journal', ...next }));
      const pending = keep('pending.journal', await file({ type: 'statement', format: 'journal' }, other.testKey));
      for (const program of ['hledger', 'ledger', 'beancount'] as const) {
        expect(balancesBy(program, path)).toEqual(balances);
        expect(balancesBy(program, later)).toEqual([
          'Assets:RecebeTest:Available 6.85 BRL',
          'Assets:RecebeTest:Retained 5.00 BRL',
          'Equity:RecebeTest:Opening -11.85 BRL',
        ]);
        expect(balancesBy(program, pending)).toEqual([
          'Assets:RecebeTest:Pending 7.00 BRL',
          'Income:RecebeTest:Sales -7.00 BRL',
        ]);
      }
    },
  );

  itWith('bookkeepers')('have an OFX file that ofxdump reads: a statement of each bucket', async () => {
    const path = keep('today.ofx', await file({ type: 'statement', format: 'ofx' }));
    const account = (bucket: 'A' | 'R'): string => `RECEBETST  ${merchant.accountId.slice(-12)}${bucket}-BRL`;
    expect(ofxAccounts(path)).toEqual([
      { account: account('A'), balance: '6.85', amounts: ['9.90', '-3.00', '4.95', '-5.00'] },
      { account: account('R'), balance: '5.00', amounts: ['5.00'] },
    ]);
  });

  itWith('bookkeepers')('run no formula in a spreadsheet program', async () => {
    for (const type of ['statement', 'sales', 'refunds', 'disputes']) {
      const text = await file({ type, format: 'csv' });
      const { formulas, cells } = spreadsheet(keep(`${type}.csv`, text));
      expect(formulas).toEqual([]);
      expect(cells).toBeGreaterThan(15);
    }
    // The checker sees a formula where there is one.
    expect(spreadsheet(keep('bad.csv', 'a,b,c\r\n=1+1,2,3\r\n4,5,6\r\n')).formulas).toHaveLength(1);
  });

  it('are written as programs in Brazil read them, with the locale pt-BR', async () => {
    const columns = ['bucket', 'type', 'amount', 'balance', 'description', 'metadata.order_id'];
    const asked = await ready({ type: 'statement', format: 'csv', locale: 'pt-BR', columns });
    expect(asked).toMatchObject({ locale: 'pt-BR', rows: 5 });
    const { text } = await download(asked);
    expect(Buffer.from(text).subarray(0, 4).toString()).not.toContain('\ufeff');
    expect(text.split('\r\n')).toEqual([
      'Saldo;Tipo;Valor;Saldo depois;Descrição;Pedido',
      'Disponível;Venda;"9,90";"9,90";"Pagamento recebido, menos as tarifas";',
      'Disponível;Reembolso;"-3,00";"6,90";Reembolso ao pagador;',
      'Disponível;Venda;"4,95";"11,85";"Pagamento recebido, menos as tarifas";',
      'Disponível;Retido por disputa;"-5,00";"6,85";Retido por uma disputa;',
      'Retido;Retido por disputa;"5,00";"5,00";Retido por uma disputa;',
      '',
    ]);
  });

  it('close a month: what it began with and what moved make what the wallet has', async () => {
    const month = TODAY.slice(0, 7);
    const last = saoPauloDay(new Date(saoPauloMonthBounds(month).to.getTime() - 1));
    const order = { type: 'closing', from: `${month}-01`, to: last };
    const balances = async (): Promise<number[]> => {
      const path = `/v1/wallets/balance?currency=BRL&at=${encodeURIComponent(new Date().toISOString())}`;
      const { body } = await service.call<Record<string, number>>('GET', path, { key: merchant.testKey });
      return ['available', 'pending', 'retained'].map((bucket) => body[bucket] ?? Number.NaN);
    };
    const { download_url: sheet } = await ready({ ...order, format: 'xlsx', locale: 'pt-BR' });
    const bytes = Buffer.from(await (await fetch(reach(service, String(sheet)))).arrayBuffer());
    const [{ rows } = { rows: [] }] = (await readXlsx(bytes)).sheets;
    const cents = rows
      .slice(1)
      .map(([line, , ...amounts]) => [line, ...amounts.slice(0, 3).map((amount) => Math.round(Number(amount) * 100))]);
    expect(cents).toEqual([
      ['Saldo inicial', 0, 0, 0],
      ['Vendas', 1500, 0, 0],
      ['Tarifas', -15, 0, 0],
      ['Reembolsos', -300, 0, 0],
      ['Disputas', -500, 0, 500],
      ['Saques', 0, 0, 0],
      ['Liberações', 0, 0, 0],
      ['Correções', 0, 0, 0],
      ['Saldo final', ...(await balances())],
    ]);
    const { download_url: document, ...made } = await ready({ ...order, format: 'pdf' });
    expect(made).toMatchObject({ rows: 5, progress: 1 });
    const answer = await fetch(reach(service, String(document)));
    expect(answer.headers.get('content-type')).toBe('application/pdf');
    const texts = textsOf(Buffer.from(await answer.arrayBuffer()));
    expect(texts[0]).toMatch(/^Fechamento de [a-zç]+ de 20\d\d$/);
    const at = texts.indexOf('Saldo final');
    expect(texts.slice(at, at + 5)).toEqual(['Saldo final', 'R$ 6,85', 'R$ 0,00', 'R$ 5,00', 'R$ 11,85']);
  });

  describe('in LibreOffice with Brazilian settings', () => {
    let shop: Merchant;
    const TAX_ID = '00000000191';
    const NAME = 'José Conceição; filho';
    const amounts = [1990, 123_456, 5];

    const rowsOf = async (name: string, body: object): Promise<Record<string, SheetCell | undefined>[]> => {
      const { download_url: url, format } = await ready(body, shop.testKey);
      const answer = await fetch(reach(service, String(url)));
      const path = join(directory, `${name}.${format}`);
      writeFileSync(path, Buffer.from(await answer.arrayBuffer()));
      const [headings = [], ...rows] = libreOfficeRows(path);
      return rows.map((row) => Object.fromEntries(headings.map(({ value }, index) => [value, row[index]])));
    };
    const sum = (rows: Record<string, SheetCell | undefined>[], heading: string): number => {
      const cells = rows.map((row) => row[heading]);
      expect(cells.every((cell) => cell?.kind === 'float' || cell?.kind === 'currency')).toBe(true);
      return cells.reduce((total, cell) => total + Math.round(Number(cell?.value) * 100), 0);
    };

    beforeAll(async () => {
      shop = await service.merchant({ fee_bps: '250' });
      for (const amount of amounts) {
        const body = {
          amount,
          customer: { name: NAME, document: TAX_ID },
          metadata: { order_id: '0042', note: '=1+1' },
        };
        const { body: charge } = await service.createCharge(shop.testKey, body);
        await service.simulate(shop.testKey, charge.id, { event: 'pay' });
      }
    });

    for (const format of ['csv', 'xlsx']) {
      itWith('libreOffice')(`a ${format} has amounts that sum up to those of the API, and whole texts`, async () => {
        const columns = ['day', 'paid_at', 'status', 'amount', 'platform_fee', 'net_amount', 'customer_name'];
        const others = ['customer_document', 'metadata.order_id', 'metadata.note'];
        const order = { type: 'sales', format, locale: 'pt-BR', columns: [...columns, ...others] };
        const rows = await rowsOf('sales', order);
        const { body: list } = await service.call<{
          data: { amount: number; netAmount: number; platformFee: number }[];
        }>(...(['GET', '/v1/payments?limit=10'] as const), { key: shop.testKey });
        for (const [heading, name] of [
          ['Valor', 'amount'],
          ['Tarifa da plataforma', 'platformFee'],
          ['Valor líquido', 'netAmount'],
        ] as const) {
          expect(sum(rows, heading)).toBe(list.data.reduce((total, payment) => total + payment[name], 0));
        }
        expect(rows).toHaveLength(amounts.length);
        for (const row of rows) {
          expect(row['Nome do cliente']).toMatchObject({ kind: 'string', value: NAME });
          expect(row['CPF ou CNPJ do cliente']).toMatchObject({ kind: 'string', value: '000.000.001-91' });
          expect(row['Situação']?.value).toBe('Paga');
          expect(row['Pedido']).toMatchObject({ kind: 'string', value: expect.stringMatching(/^'?0042$/) });
          expect(row['Dia']).toMatchObject({ kind: 'date', value: TODAY });
          expect(row['Pago em']?.value).toMatch(new RegExp(`^${TODAY}T`));
          expect(Object.values(row).filter((cell) => cell?.formula)).toEqual([]);
        }
        expect(rows[0]?.['note']?.kind).toBe('string');
      });

      itWith('libreOffice')(`the statement as ${format} sums up to the balance`, async () => {
        const rows = await rowsOf('statement', { type: 'statement', format, locale: 'pt-BR' });
        const { body: balance } = await service.call<{ available: number }>('GET', '/v1/wallets/balance?currency=BRL', {
          key: shop.testKey,
        });
        expect(rows.every((row) => row['Saldo']?.value === 'Disponível')).toBe(true);
        expect(sum(rows, 'Valor')).toBe(balance.available);
      });
    }

    itWith('libreOffice')('an xlsx without a locale has names of the API, bare tax ids and numbers', async () => {
      const rows = await rowsOf('plain', { type: 'sales', format: 'xlsx' });
      expect(sum(rows, 'amount')).toBe(amounts.reduce((total, amount) => total + amount));
      expect(rows[0]).toMatchObject({
        customer_document: { kind: 'string', value: TAX_ID },
        status: { kind: 'string', value: 'PAID' },
        paid_at: { kind: 'date' },
      });
    });
  });

  it.each([
    ['type', { type: 'theft' }],
    ['format', { format: 'xls' }],
    ['format', { type: 'sales', format: 'journal' }],
    ['format', { type: 'sales', format: 'pdf' }],
    ['format', { type: 'closing', format: 'csv', from: '2026-10-01', to: '2026-10-31' }],
    ['to', { type: 'closing', format: 'pdf', from: '2026-10-01', to: '2026-10-30' }],
    ['to', { type: 'closing', format: 'pdf', from: '2026-10-02', to: '2026-11-01' }],
    ['columns', { type: 'closing', format: 'xlsx', from: '2026-10-01', to: '2026-10-31', columns: ['line'] }],
    ['locale', { locale: 'en-US' }],
    ['locale', { format: 'ofx', locale: 'pt-BR' }],
    ['columns', { format: 'xlsx', columns: ['toString'] }],
    ['format', { type: 'sales', format: 'ofx' }],
    ['columns', { format: 'journal', columns: ['day'] }],
    ['columns', { columns: ['day', 'password_hash'] }],
    ['columns', { columns: ['metadata.'] }],
    ['columns', { columns: ['toString'] }],
    ['columns', { columns: [] }],
    ['columns', { columns: ['day', 'day'] }],
    ['columns', { columns: 'day' }],
    ['from', { from: 'yesterday' }],
    ['from', { from: '2026-02-30' }],
    ['to', { from: '2026-11-02', to: '2026-11-01' }],
    ['from', { from: '2019-12-31', to: '2020-01-31' }],
    ['from', { from: '9998-12-31', to: '9999-12-31' }],
    ['to', { from: '2025-01-01', to: '2026-11-01' }],
    ['to', { to: undefined }],
    ['mode', { mode: 'live' }],
  ])('refuse a bad %s: %j', async (param, body) => {
    const before = await service.sql('SELECT 1 FROM reports');
    const { status, body: refused } = await ask<ErrorAnswer>({ type: 'statement', format: 'csv', ...body });
    expect(status).toBe(400);
    expect(refused.error).toMatchObject({ type: 'invalid_request_error', param });
    expect(await service.sql('SELECT 1 FROM reports')).toHaveLength(before.length);
  });

  it('allow exactly 400 days', async () => {
    expect((await ask({ type: 'statement', format: 'csv', from: '2025-01-01', to: '2026-02-04' })).status).toBe(202);
    expect((await ask({ type: 'statement', format: 'csv', from: '2025-01-01', to: '2026-02-05' })).status).toBe(400);
  });

  it('belong to one account and mode', async () => {
    const report = await ready({ type: 'statement', format: 'csv' });
    for (const key of [other.testKey, merchant.liveKey]) {
      const { status, body } = await service.call<ErrorAnswer>('GET', `/v1/reports/${report.id}`, { key });
      expect([status, body.error.code]).toEqual([404, 'not_found']);
      const { body: list } = await service.call<ReportListBody>('GET', '/v1/reports', { key });
      expect(list.data.map(({ id }) => id)).not.toContain(report.id);
    }
    expect(await file({ type: 'statement', format: 'csv', columns: ['amount'] }, merchant.liveKey)).toBe('amount\r\n');
    expect(await file({ type: 'statement', format: 'csv', columns: ['amount'] }, other.testKey)).toBe(
      'amount\r\n7.00\r\n',
    );
  });

  it('are limited to five at once', async () => {
    const busy = await service.merchant();
    const insert = `INSERT INTO reports (id, account_id, mode, type, format, window_from, window_to, status, created_at)
      SELECT gen_random_uuid(), $1, 'test', 'statement', 'csv', now(), now(), 'pending', now() FROM generate_series(1, 4)`;
    await service.sql(insert, [busy.accountId]);
    const asked = await Promise.all(
      Array.from({ length: 4 }, () =>
        ask<ErrorAnswer>({ type: 'statement', format: 'csv' }, busy.testKey).then(({ status, body }) => ({
          status,
          body,
        })),
      ),
    );
    const refused = asked.filter(({ status }) => status === 422);
    expect(refused.length).toBeGreaterThanOrEqual(1);
    expect(refused[0]?.body.error.code).toBe('report_limit_reached');
    expect((await ask({ type: 'statement', format: 'csv' }, busy.liveKey)).status).toBe(202);
    await service.sql(
      `UPDATE reports SET status = 'ready', size = 2147483648, expires_at = now() WHERE account_id = $1`,
      [busy.accountId],
    );
    const { body } = await ask<ErrorAnswer>({ type: 'statement', format: 'csv' }, busy.testKey);
    expect(body.error).toMatchObject({ code: 'report_limit_reached', message: expect.stringContaining('2147483648') });
    // The limit applies even to small reports.
    await service.sql(`UPDATE reports SET size = 70 WHERE account_id = $1`, [busy.accountId]);
    await service.sql(insert.replace('(1, 4)', '(1, 996)').replace("'pending'", "'ready'"), [busy.accountId]);
    const first = `SELECT id FROM reports WHERE account_id = $1 AND status = 'ready' ORDER BY id LIMIT 1`;
    const [oldest] = await service.sql<{ id: string }>(first, [busy.accountId]);
    expect((await ask({ type: 'statement', format: 'csv' }, busy.testKey)).status).toBe(202);
    // At a thousand files the oldest makes room for the next.
    const [now] = await service.sql<{ id: string }>(first, [busy.accountId]);
    expect(now?.id).not.toBe(oldest?.id);
    const [gone] = await service.sql('SELECT status FROM reports WHERE id = $1', [oldest?.id]);
    expect(gone).toEqual({ status: 'expired' });
  });

  it('can be written by the command line too, whole or not at all', async () => {
    const env = { DATABASE_URL: service.database.url, DATA_DIR: directory, ENCRYPTION_KEY: TEST_ENCRYPTION_KEY };
    const out = join(directory, 'cli.csv');
    const create = (...args: string[]) =>
      runCli(['report', 'create', '--mode', 'test', '--from', TODAY, '--to', TODAY, '--out', out, ...args], env);
    const { code, stdout, stderr } = await create('--account', merchant.accountId);
    expect([code, stderr]).toEqual([0, '']);
    const written = readFileSync(out, 'utf8');
    expect(JSON.parse(stdout)).toEqual({ file: out, rows: 5, bytes: Buffer.byteLength(written) });
    expect(written).toBe(await file({ type: 'statement', format: 'csv' }));

    const wrong = await create('--account', merchant.accountId, '--columns', 'day,nothing');
    expect([wrong.code, wrong.stdout]).toEqual([1, '']);
    expect(wrong.stderr).toContain('names a column that is none of day, created_at');
    expect((await create('--account', '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12')).code).toBe(1);
    expect((await create('--account', merchant.accountId, '--from', 'yesterday')).code).toBe(2);
    expect(readFileSync(out, 'utf8')).toBe(written);
    expect(readdirSync(directory).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it('end when a customer of the account is erased, and after seven days', async () => {
    const report = await ready({ type: 'sales', format: 'csv' });
    const who = { taxId: null, email: 'nobody@example.com', phone: null, mode: null, isEmailAlone: false };
    await service.get(CustomerDataService).erase(merchant.accountId, who, false, SYSTEM);
    expect(await read(report.id)).toMatchObject({ status: 'expired', download_url: null });
    expect((await fetch(reach(service, String(report.download_url)))).status).toBe(404);

    const untouched = await ready({ type: 'sales', format: 'csv' }, other.testKey);
    service.clock.advance(7 * 86_400 + 1);
    await waitFor('the end of its file', async () => (await read(untouched.id, other.testKey)).status === 'expired');
    await waitFor(
      'nothing to do',
      async () => (await service.sql(`SELECT 1 FROM work WHERE kind = 'report'`)).length === 0,
    );
  });
});

describe('a report that cannot be written', () => {
  it('is tried again, and finally given up', async () => {
    const place = await onDisk();
    const { service } = place;
    try {
      const { testKey: key } = await service.merchant();
      await place.storage.check();
      await place.fail('down');
      const body = { type: 'statement', format: 'csv', ...WINDOW };
      const { body: asked } = await service.call<ReportBody>('POST', '/v1/reports', { key, body });
      const status = async (): Promise<string> =>
        (await service.call<ReportBody>('GET', `/v1/reports/${asked.id}`, { key })).body.status;
      const attempts = async (): Promise<number> =>
        (await service.sql<{ attempts: number }>(`SELECT attempts FROM work WHERE leased_until IS NULL`))[0]
          ?.attempts ?? 0;
      for (let attempt = 1; attempt <= 4; attempt++) {
        await waitFor(`attempt ${attempt}`, async () => (await attempts()) === attempt);
        expect(await status()).toBe('processing');
        service.clock.advance(600);
      }
      await waitFor('the end', async () => (await status()) === 'failed');
      const events = await service.sql(`SELECT 1 FROM events WHERE type = 'report.failed'`);
      expect(events).toHaveLength(1);
      await place.mend();
      const { body: second } = await service.call<ReportBody>('POST', '/v1/reports', { key, body });
      await waitFor('another one', async () => {
        const { body: report } = await service.call<ReportBody>('GET', `/v1/reports/${second.id}`, { key });
        return report.status === 'ready';
      });
      expect((await place.stored()).filter((name) => name.startsWith(asked.id.slice(4)))).toEqual([]);
    } finally {
      await place.stop();
    }
  });
});

describe('a report that two processes make', () => {
  it('is left to the first process while its storage stalls', async () => {
    const place = await onDisk();
    const { service, storage } = place;
    try {
      const { testKey: key } = await service.merchant();
      const write = storage.write.bind(storage);
      let goOn = (): void => undefined;
      const stalled = new Promise<void>((resolve) => (goOn = resolve));
      storage.write = async (...of) => {
        storage.write = write;
        await stalled;
        return write(...of);
      };
      const body = { type: 'statement', format: 'csv', ...WINDOW };
      const { body: asked } = await service.call<ReportBody>('POST', '/v1/reports', { key, body });
      const leasedUntil = async (): Promise<number> => {
        const [row] = await service.sql<{ at: Date | null }>(
          'SELECT leased_until AS at FROM work WHERE subject_id = $1',
          [asked.id.slice('rep_'.length)],
        );
        return row?.at?.getTime() ?? 0;
      };
      const first = await waitFor('its lease', leasedUntil);
      await waitFor('a longer lease', async () => (await leasedUntil()) > first + 3_000);
      goOn();
      await waitFor('the report', async () => {
        const { body: report } = await service.call<ReportBody>('GET', `/v1/reports/${asked.id}`, { key });
        return report.status === 'ready';
      });
    } finally {
      await place.stop();
    }
  });

  it('keeps the file of the first process, even when the second is late or fails at its end', async () => {
    const place = await onDisk();
    const { service, storage } = place;
    try {
      const { testKey: key } = await service.merchant();
      const read = async (id: string): Promise<ReportBody> =>
        (await service.call<ReportBody>('GET', `/v1/reports/${id}`, { key })).body;
      const reports = service.get(ReportProcessor);
      const write = storage.write.bind(storage);
      let late: Promise<unknown> | undefined;
      // The lease of the first process is over, and another process makes the whole file meanwhile.
      storage.write = async (name, chunks) => {
        storage.write = write;
        late = reports.run({ subjectId: name, attempt: 2, prolong: () => Promise.resolve() });
        await late;
        return write(name, chunks);
      };
      const body = { type: 'statement', format: 'csv', ...WINDOW };
      const { body: asked } = await service.call<ReportBody>('POST', '/v1/reports', { key, body });
      const id = asked.id.slice('rep_'.length);
      await waitFor('the work to rest', async () => {
        const [row] = await service.sql<{ rests: boolean }>(
          'SELECT leased_until IS NULL AND due_at > now() AS rests FROM work WHERE subject_id = $1',
          [id],
        );
        return row?.rests === true;
      });
      expect(late).toBeDefined();
      const whole = async (): Promise<number> =>
        (await fetch(reach(service, String((await read(id)).download_url)))).status;
      expect([(await read(id)).status, await whole()]).toEqual(['ready', 200]);

      const close = storage.close.bind(storage);
      const { body: second } = await service.call<ReportBody>('POST', '/v1/reports', { key, body });
      await waitFor('the second', async () => (await read(second.id)).status === 'ready');
      await service.sql(`UPDATE reports SET status = 'processing' WHERE id = $1`, [second.id.slice(4)]);
      // The last attempt: the commit succeeded, and the step after it fails.
      storage.close = () => {
        storage.close = close;
        return Promise.reject(new Error('not now'));
      };
      await reports.run({ subjectId: second.id.slice(4), attempt: 5, prolong: () => Promise.resolve() });
      const { status, download_url: url } = await read(second.id);
      expect([status, (await fetch(reach(service, String(url)))).status]).toEqual(['ready', 200]);
    } finally {
      await place.stop();
    }
  });
});
