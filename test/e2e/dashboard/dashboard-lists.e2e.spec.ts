import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Page } from 'playwright-core';
import { Dashboard, heading } from '../../support/dashboard.js';
import { describeWith } from '../../support/needs.js';

jest.setTimeout(300_000);

/** Common parts of all lists, tried in the list of sales. */
describeWith('browser')('lists of the dashboard in a real browser', () => {
  const dashboard = new Dashboard();
  let page: Page;
  const visit = async (path: string, title: string): Promise<void> => {
    await dashboard.visit(page, path);
    await heading(page, title);
  };
  const overflow = (): Promise<number> =>
    page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');

  beforeAll(async () => {
    await dashboard.start();
    for (const name of ['Zuleica Um', 'Zuleica Dois', 'Outra']) {
      const { id } = await dashboard.charge({ customer: { name }, metadata: { order_id: name, description: 'Pão' } });
      if (name !== 'Outra') await dashboard.simulate(id, { event: 'pay' });
    }
    page = await dashboard.asOwner();
    await page.setViewportSize({ width: 1440, height: 900 });
  });
  afterAll(() => dashboard.stop());

  it('keep filters and order in the address, also for back and forward, and ignore wrong values', async () => {
    await visit('/test/sales?status=NOTHING&page=-1', 'Vendas');
    await page.getByText('4 vendas').waitFor();
    await page.getByRole('combobox', { name: 'Situação' }).selectOption('Paga');
    await page.getByText('2 vendas').waitFor();
    expect(new URL(page.url()).search).toBe('?status=PAID');
    await page.getByRole('button', { name: 'Quando' }).click();
    await page.waitForURL(/sortOrder=asc/);
    await page.goBack();
    await page.goBack();
    await page.getByText('4 vendas').waitFor();
    await page.goForward();
    await page.getByText('2 vendas').waitFor();
  });

  it('sum what is filtered, and keep it as a view', async () => {
    await visit('/test/sales?query=zuleica&status=PAID', 'Vendas');
    const { amounts } = await dashboard.api<{ amounts: { amount: number }[] }>(
      'GET',
      '/v1/payments/totals?query=zuleica&status=PAID',
    );
    const sum = ((amounts[0]?.amount ?? 0) / 100).toFixed(2).replace('.', ',');
    await page
      .getByRole('status')
      .filter({ hasText: `2 vendas · 2 pagas: R$\u00a0${sum}` })
      .waitFor();
    await page.getByText('Visões').click();
    await page.getByLabel('Nome da visão').fill('Da Zuleica');
    await page.getByRole('button', { name: 'Salvar' }).click();
    await visit('/test/sales', 'Vendas');
    await page.getByText('4 vendas').waitFor();
    await page.getByText('Visões').click();
    await page.getByRole('button', { name: 'Da Zuleica', exact: true }).click();
    await page.getByText('2 vendas').waitFor();
  });

  it('export what is seen as a file for a Brazilian spreadsheet', async () => {
    await visit('/test/sales?query=zuleica', 'Vendas');
    await page.getByRole('button', { name: 'Exportar' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'CSV para Excel' }).click(),
    ]);
    const text = readFileSync(await download.path(), 'utf8');
    expect(text.trim().split('\r\n')).toHaveLength(3);
    expect(text).not.toContain('Outra');
  });

  it('go by j, k and Enter, search by / and show the keys by ?, and leave fields alone', async () => {
    await visit('/test/sales', 'Vendas');
    await page.getByText('4 vendas').waitFor();
    await page.getByRole('heading', { level: 1 }).click();
    await page.keyboard.press('/');
    await page.locator('main [type=search]:focus').waitFor({ timeout: 5_000 });
    await page.keyboard.type('j?');
    expect(await page.getByRole('main').getByRole('searchbox').inputValue()).toBe('j?');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.getByRole('heading', { level: 1 }).click();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Teclas da lista' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { level: 1 }).click();
    for (const key of ['j', 'j', 'k', 'Enter']) await page.keyboard.press(key);
    await heading(page, /^Venda de/);
  });

  it('say whose money an entry is, and fit a telephone and a tablet', async () => {
    await visit('/test/balance', 'Saldo');
    const row = page.getByRole('row', { name: /Zuleica Um/ }).first();
    await row.waitFor();
    expect(await row.innerText()).toMatch(/Zuleica Um · Zuleica Um\s+Pão · Pix/);
    for (const [width, height] of [
      [390, 844],
      [1024, 768],
    ] as const) {
      await page.setViewportSize({ width, height });
      for (const [path, title] of [
        ['/test/sales', 'Vendas'],
        ['/test/balance', 'Saldo'],
        ['/test/payouts', 'Saques'],
        ['/test/disputes', 'Disputas'],
        ['/test/webhooks', 'Webhooks'],
      ] as const) {
        await visit(path, title);
        await page.getByText(/Visões/).waitFor();
        expect([width, path, await overflow()]).toEqual([width, path, 0]);
        if (process.env['LOOK'] !== undefined)
          await page.screenshot({ path: `${process.env['LOOK']}/${title}-${String(width)}.png`, fullPage: true });
      }
    }
  });

  it('have no errors, no requests to other hosts, and no policy violations', () => {
    expect(dashboard.faults).toEqual([]);
  });
});
