import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { saoPauloDay } from '../../../src/brazil/index.js';
import type { ReportBody } from '../../../src/reports/dto/report.body.js';
import { balancesBy, ofxAccounts, spreadsheet } from '../../support/bookkeepers.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { reach } from '../../support/evidence.js';
import { itWith } from '../../support/needs.js';
import { aFundedMerchant, aPayout, CPF, payoutOf, readPayout, simulatePayout } from '../../support/payouts.js';
import type { ErrorAnswer } from '../../support/refunds.js';
import { type Merchant, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

const TODAY = saoPauloDay(new Date());
const ACCOUNT = {
  ...{ type: 'bank_account', ispb: '00000000', branch: '0001', number: '123456-7' },
  ...{ account_type: 'checking', name: 'Ana', tax_id: CPF },
};

describe('reports with payouts', () => {
  const directory = mkdtempSync(join(tmpdir(), 'recebe-reports-'));
  const service = TestService.forSpec();
  let merchant: Merchant;
  let paid: string;
  let failed: string;
  let endToEndId: string;

  const ask = <T = ReportBody>(body: object, key = merchant.testKey) =>
    service.call<T>('POST', '/v1/reports', { key, body: { from: TODAY, to: TODAY, ...body } });
  const file = async (body: object, key = merchant.testKey): Promise<string> => {
    const { body: asked } = await ask(body, key);
    const { download_url: url } = await waitFor('the report', async () => {
      const { body: report } = await service.call<ReportBody>('GET', `/v1/reports/${asked.id}`, { key });
      return report.status === 'ready' ? report : undefined;
    });
    return (await fetch(reach(service, String(url)))).text();
  };
  const keep = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  };

  beforeAll(async () => {
    merchant = await aFundedMerchant(service, { payout_fee: 30 });
    const key = merchant.testKey;
    const words = { description: '=1+1', metadata: { ref: 'A-7' } };
    paid = (await aPayout(service, key, { ...words, amount: 500 })).id;
    endToEndId = (await payoutOf(service, key, paid, 'paid')).settlement.end_to_end_id ?? '';
    await simulatePayout(service, key, paid, { event: 'return', amount: 200 });
    await waitFor('the return', async () => (await readPayout(service, key, paid)).amount_returned === 200);
    failed = (await aPayout(service, key, { amount: 700, destination: ACCOUNT })).id;
    await simulatePayout(service, key, failed, { event: 'fail' });
    await payoutOf(service, key, failed, 'failed');
  });
  afterEach(() => expectLedgerCoherent(service.database.url));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('have one row for each payout, masked, in the order of creation', async () => {
    const columns = [
      ...['payout', 'status', 'amount', 'fee', 'amount_returned', 'destination_type', 'destination'],
      ...['destination_tax_id', 'end_to_end_id', 'failure', 'description', 'metadata.ref', 'metadata.description'],
    ];
    const masked = '***.982.247-**';
    expect(await file({ type: 'payouts', format: 'csv', columns })).toBe(
      [
        columns.join(','),
        `${paid},paid,5.00,0.30,2.00,pix_key,${masked},${masked},${endToEndId},,'=1+1,A-7,'=1+1`,
        `${failed},failed,7.00,0.30,0.00,bank_account,00000000 0001 ***67,${masked},,rejected_by_receiver,,,`,
        '',
      ].join('\r\n'),
    );
  });

  it('have all columns by default, and no row of another account', async () => {
    const other = await service.merchant();
    expect(await file({ type: 'payouts', format: 'csv' }, other.testKey)).toBe(
      [
        [
          ...['day', 'created_at', 'payout', 'status', 'currency', 'amount', 'fee', 'amount_returned'],
          ...['destination_type', 'destination', 'destination_tax_id', 'destination_id', 'end_to_end_id', 'paid_at'],
          ...['failure', 'description', 'metadata'],
        ].join(','),
        '',
      ].join('\r\n'),
    );
    const [, first = ''] = (await file({ type: 'payouts', format: 'csv' })).split('\r\n');
    expect(first.startsWith(`${TODAY},`)).toBe(true);
  });

  it.each([
    ['format', { format: 'ofx' }],
    ['columns', { format: 'csv', columns: ['refund'] }],
    ['filters.status', { format: 'csv', filters: { status: 'PAID' } }],
    ['filters.query', { format: 'csv', filters: { query: 'maria' } }],
  ])('are refused with a wrong %s', async (param, body) => {
    const { status, body: refused } = await ask<ErrorAnswer>({ type: 'payouts', ...body });
    expect([status, refused.error.param]).toEqual([400, param]);
  });

  it('name the payouts in the lines of the statement', async () => {
    const columns = ['type', 'amount', 'balance', 'source', 'end_to_end_id', 'metadata.ref'];
    const [, sale, ...lines] = (await file({ type: 'statement', format: 'csv', columns })).split('\r\n');
    expect(sale).toMatch(/^sale,100\.00,100\.00,tx_/);
    expect(lines).toEqual([
      `payout,-5.30,94.70,${paid},${endToEndId},A-7`,
      `payout_returned,2.00,96.70,${paid},${endToEndId},A-7`,
      `payout,-7.30,89.40,${failed},,`,
      `payout_failed,7.30,96.70,${failed},,`,
      '',
    ]);
  });

  itWith('bookkeepers')('have a journal that hledger, ledger and beancount balance alike', async () => {
    const journal = await file({ type: 'statement', format: 'journal' });
    expect(journal).toContain(`"Payout returned, money back"\n`);
    expect(journal).toContain(`  ; source: ${paid}\n`);
    const path = keep('payouts.journal', journal);
    for (const program of ['hledger', 'ledger', 'beancount'] as const) {
      expect(balancesBy(program, path)).toEqual([
        'Assets:RecebeTest:Available 96.70 BRL',
        'Assets:RecebeTest:Payouts 3.00 BRL',
        'Expenses:RecebeTest:Fees:Platform 0.30 BRL',
        'Income:RecebeTest:Sales -100.00 BRL',
      ]);
    }
  });

  itWith('bookkeepers')('have an OFX file that ofxdump reads, with the balance after the payouts', async () => {
    const text = await file({ type: 'statement', format: 'ofx' });
    expect(text).toContain(`<MEMO>${paid} ${endToEndId}`);
    const [available] = ofxAccounts(keep('payouts.ofx', text));
    expect(available).toMatchObject({ balance: '96.70', amounts: ['100.00', '-5.30', '2.00', '-7.30', '7.30'] });
  });

  itWith('bookkeepers')('run no formula in a spreadsheet program', async () => {
    const { formulas, cells } = spreadsheet(keep('payouts.csv', await file({ type: 'payouts', format: 'csv' })));
    expect(formulas).toEqual([]);
    expect(cells).toBeGreaterThan(15);
  });
});
