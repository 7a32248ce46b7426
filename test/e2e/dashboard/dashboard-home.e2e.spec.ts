import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Page } from 'playwright-core';
import { barriers, Dashboard, heading } from '../../support/dashboard.js';
import { describeWith } from '../../support/needs.js';
import { waitFor } from '../../support/wait.js';

jest.setTimeout(300_000);

const PHONE = { width: 390, height: 844 };
const DESK = { width: 1440, height: 900 };

describeWith('browser')('the home of the dashboard', () => {
  const dashboard = new Dashboard();
  let page: Page;

  beforeAll(async () => {
    await dashboard.start();
    page = await dashboard.asOwner('/test', { viewport: DESK });
  });
  afterAll(() => dashboard.stop());

  /** Findings of axe at both widths, and whether the page is too wide. */
  async function barriersAtBothWidths(about: string): Promise<unknown[]> {
    const found = [];
    for (const viewport of [PHONE, DESK]) {
      await page.setViewportSize(viewport);
      found.push(...(await barriers(page, `${about} at ${String(viewport.width)} px`)));
    }
    return found;
  }

  it('leads to a first payment link where nothing was sold', async () => {
    await page.getByText('Nenhuma venda ainda: crie seu primeiro link.').waitFor();
    const link = page.getByRole('link', { name: 'Criar link de pagamento' });
    expect(await link.getAttribute('href')).toBe('/dashboard/test/links');
    expect(await barriersAtBothWidths('empty home')).toEqual([]);
  });

  it('shows what was received with the figures that explain it, and what comes', async () => {
    const first = await dashboard.charge({ amount: 12_000, customer: { name: 'Maria' } });
    const second = await dashboard.charge({ amount: 4000 });
    await dashboard.charge({ amount: 9900 });
    for (const { id } of [first, second]) await dashboard.simulate(id, { event: 'pay' });
    await dashboard.api('POST', `/v1/payments/${second.id.replace('ch_', '')}/refund`, {
      amount: 1000,
      idempotencyKey: 'home-refund',
    });
    await dashboard.simulate(first.id, { event: 'med_open' });
    await dashboard.visit(page, '/test');
    await heading(page, 'Início');
    for (const name of ['Hoje', 'Este mês']) {
      const card = page.getByRole('region', { name });
      await card.getByText(/^R\$\s160,00$/).waitFor();
      const facts = (await card.getByRole('definition').allInnerTexts()).map((text) => text.replace(/\s/g, ' '));
      // The sample charge of the demo is the fourth one.
      expect(facts).toEqual([
        ...['2 antes 0', 'R$ 80,00 antes R$ 0,00', '4 antes 0', '50 % antes 0 %', 'R$ 10,00 antes 0', 'R$ 150,00'],
      ]);
    }
    await page
      .getByRole('region', { name: 'Hoje' })
      .getByText(/ontem até \d\d:\d\d/)
      .waitFor();
    const needs = page.getByRole('region', { name: 'Precisa de você' });
    await needs.getByRole('link', { name: /120,00/ }).waitFor();
    await needs.getByText(/faltam \d+ d/).waitFor();
    await page.getByRole('region', { name: 'A receber' }).getByText('Nenhum saque a caminho.').waitFor();
    expect(await barriersAtBothWidths('home')).toEqual([]);
  });

  it('compares each day with the period before, in calendar days or bank days as chosen last', async () => {
    const chart = page.getByRole('slider', { name: 'Recebido por dia' });
    await chart.focus();
    expect(await chart.getAttribute('aria-valuetext')).toMatch(/: R\$\s160,00; Período anterior: R\$\s0,00$/);
    const points = async (): Promise<number> => Number(await chart.getAttribute('aria-valuemax')) + 1;
    expect(await points()).toBe(7);
    await page.getByRole('button', { name: '30 dias' }).click();
    await page.getByText('Ver como tabela').click();
    await page.getByRole('group', { name: 'Recebido por dia' }).getByRole('row').nth(30).waitFor();
    expect(await points()).toBe(30);
    await page.getByRole('combobox', { name: 'Dias do gráfico' }).selectOption('bank');
    await page.reload();
    await chart.waitFor();
    expect(await page.getByRole('combobox', { name: 'Dias do gráfico' }).inputValue()).toBe('bank');
    expect(await points()).toBe(7);
  });

  it('shows a paid sale at once to a person who has chosen that notice', async () => {
    await dashboard.visit(page, '/settings');
    const wants = page.getByRole('checkbox', { name: 'Venda paga: No painel' });
    expect(await wants.isChecked()).toBe(false);
    await wants.click();
    await waitFor('the choice', () => wants.isChecked());
    expect(await barriersAtBothWidths('notices')).toEqual([]);
    await dashboard.visit(page, '/test');
    await page.getByRole('region', { name: 'Hoje' }).waitFor();
    const { id } = await dashboard.charge({ amount: 3300 });
    await dashboard.simulate(id, { event: 'pay' });
    await page.getByText(/^Venda paga: R\$\s33,00$/).waitFor();
  });

  it('lists a new notice under the bell at once, counts it until it is marked as read, and links its sale', async () => {
    await dashboard.visit(page, '/settings');
    const wants = page.getByRole('checkbox', { name: 'Venda paga: No painel' });
    await wants.waitFor();
    if (!(await wants.isChecked())) await wants.click();
    await waitFor('the choice', () => wants.isChecked());
    await dashboard.visit(page, '/test');
    await page.getByRole('region', { name: 'Hoje' }).waitFor();
    const bell = page.getByRole('button', { name: /^Avisos/ });
    const list = page.getByRole('dialog', { name: 'Avisos' });
    const { id } = await dashboard.charge({ amount: 4_400 });
    await dashboard.simulate(id, { event: 'pay' });
    await page.getByRole('button', { name: /^Avisos: \d+ não lidos?$/ }).waitFor();
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await bell.focus();
      await page.keyboard.press('Enter');
      await list.getByRole('link', { name: /^Venda paga: R\$\s44,00$/ }).waitFor();
      expect(await barriers(page, `bell at ${String(width)}`)).toEqual([]);
      // A toast of the sale may take the first Escape.
      await waitFor('the closed list', async () => {
        await page.keyboard.press('Escape');
        return list.isHidden();
      });
      await page.waitForFunction("document.activeElement?.classList.contains('bell')");
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    await bell.click();
    await list.getByRole('button', { name: 'Marcar tudo como lido' }).click();
    await list.getByText('não lido').first().waitFor({ state: 'hidden' });
    await list.getByRole('link', { name: /^Venda paga: R\$\s44,00$/ }).click();
    await list.waitFor({ state: 'hidden' });
    await page.waitForURL(new RegExp(`/test/sales/${id.replace(/^[a-z]+_/, '')}$`));
    await page.reload();
    await page.getByRole('button', { name: 'Avisos', exact: true }).waitFor();
  });

  it('begins for an operator with the first queue in which something waits', async () => {
    const operator = await dashboard.operator('operadora@recebe.example');
    const queue = operator.getByRole('combobox', { name: 'Fila' });
    // Nothing waits: the first queue of all is shown.
    await operator.getByText('Nenhum pagamento aguarda decisão.').waitFor();
    expect(await queue.inputValue()).toBe('reviews');
    await operator.route('**/v1/operations/queues', async (route) => {
      const answer = await route.fetch();
      const { data } = (await answer.json()) as { data: { name: string; waiting: number }[] };
      await route.fulfill({
        json: { data: data.map((one) => ({ ...one, waiting: one.name === 'unmatched' ? 2 : 0 })) },
      });
    });
    await operator.reload();
    await operator.getByText('Nenhum Pix sem cobrança.').waitFor();
    expect(await queue.inputValue()).toBe('unmatched');
    await operator.context().close();
  });

  it('has no errors, no requests to other hosts, and no policy violations', () => {
    expect(dashboard.faults).toEqual([]);
  });
});
