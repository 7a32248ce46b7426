import { mkdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Page } from 'playwright-core';
import { barriers, Dashboard, go, heading, inDialog, PNG } from '../../support/dashboard.js';
import { describeWith } from '../../support/needs.js';
import { waitFor } from '../../support/wait.js';

jest.setTimeout(600_000);

const MARIA = { name: 'Maria da Silva', document: '52998224725', email: 'maria@example.com' };
const WIDTHS = [1440, 1024, 390];

/** Links and customers as a shop without a programmer uses them. */
describeWith('browser')('payment links and customers at the dashboard in a real browser', () => {
  const dashboard = new Dashboard();
  /** Folder for pictures of the screens, for people to look at; undefined: none. */
  const pictures = process.env['SCREENSHOTS'];
  let page: Page;
  let link = '';
  let customer = '';

  beforeAll(async () => {
    await dashboard.start();
    page = await dashboard.asOwner();
  });
  afterAll(() => dashboard.stop());

  const fill = (label: string, text: string): Promise<void> => page.getByLabel(label).fill(text);
  const addressOf = async (): Promise<string> => {
    const text = await page.getByRole('button', { name: /copiar o link$/ }).innerText();
    return new URL(/http\S+/.exec(text)?.[0] ?? '').pathname;
  };

  it('makes a link whose amount the payer chooses, and shows how to share it', async () => {
    await go(page, 'Links de pagamento');
    await heading(page, 'Links de pagamento');
    await page.getByText('Ainda não há links de pagamento.').waitFor();
    await page.getByRole('link', { name: 'Crie o primeiro link.' }).click();
    await heading(page, 'Novo link de pagamento');
    await fill('O que você vende', 'Café do mês');
    await fill('Descrição', 'Meio quilo, torrado na véspera.');
    await page.getByLabel('Preço').selectOption({ label: 'Quem paga escolhe' });
    await fill('Valor mínimo', '100');
    await fill('Valor máximo', '50');
    await page.getByRole('checkbox', { name: 'Nome completo' }).check();
    await page.getByRole('checkbox', { name: 'CPF ou CNPJ' }).check();
    await fill('Pergunta a quem paga', 'Em grãos ou moído?');
    await fill('Quantas vezes', '2');
    await page.getByLabel('Foto').setInputFiles({ name: 'x.png', mimeType: 'image/png', buffer: Buffer.from('none') });
    await page.getByRole('alert').getByText('Este arquivo não é uma imagem.').waitFor();
    await page.getByLabel('Foto').setInputFiles({ name: 'cafe.png', mimeType: 'image/png', buffer: PNG });
    await page.getByRole('img', { name: 'Foto do que você vende' }).waitFor();
    await page.getByRole('button', { name: 'Criar link' }).click();
    await page.getByRole('alert').getByText('é menor que o valor mínimo').waitFor();
    await fill('Valor mínimo', '10');
    await fill('Valor máximo', '100');
    await page.getByRole('button', { name: 'Criar link' }).dblclick();
    await heading(page, 'Café do mês');
    link = page.url().split('/').at(-1) ?? '';
    await page.getByText(/^De R\$\s10,00 a R\$\s100,00$/).waitFor();
    await page.getByText('0 de 2', { exact: true }).waitFor();
    const share = page.getByRole('region', { name: 'Divulgar' });
    expect(await share.getByRole('link', { name: 'WhatsApp' }).getAttribute('href')).toMatch(
      /^https:\/\/wa\.me\/\?text=Caf%C3%A9%20do%20m%C3%AAs%3A%20http.*pay%2F\w{12}$/,
    );
    const broken = '[...document.images].filter((one) => !one.complete || one.naturalWidth === 0).length';
    await waitFor('the pictures', () => page.evaluate<boolean>(`${broken} === 0`));
    expect((await dashboard.api<{ data: object[] }>('GET', '/v1/payment-links')).data).toHaveLength(1);
  });

  it('sells by it on a phone without script, once for a visit that is loaded again', async () => {
    const path = await addressOf();
    const phone = await dashboard.browser.newContext({
      ...{ locale: 'pt-BR', javaScriptEnabled: false, viewport: { width: 390, height: 844 } },
    });
    const visitor = await phone.newPage();
    for (let turn = 0; turn < 2; turn++) {
      await visitor.goto(`${dashboard.base}${path}`);
      await visitor.getByLabel('Valor em reais').fill('50,00');
      await visitor.getByLabel('Nome completo').fill(MARIA.name);
      await visitor.getByLabel('CPF ou CNPJ').fill(MARIA.document);
      await visitor.getByLabel('Em grãos ou moído?').fill('Moído');
      await visitor.getByRole('button', { name: 'Pagar com Pix' }).click();
      await visitor.locator('main[data-status="pending"]').waitFor();
      await visitor.reload();
    }
    const id = /checkout\/([0-9a-f-]{36})/.exec(visitor.url())?.[1] ?? '';
    await phone.close();
    await dashboard.simulate(`ch_${id}`, { event: 'pay' });
    const sold = page.getByRole('region', { name: 'Vendas deste link' });
    await sold.getByText('Paga', { exact: true }).waitFor();
    await sold.getByText('Moído').waitFor();
    await page.getByText('1 de 2', { exact: true }).waitFor();
    expect(await sold.getByRole('row').count()).toBe(2);
  });

  it('changes only what was edited, lists by status, and ends for good', async () => {
    await page.getByRole('link', { name: 'Editar' }).click();
    await heading(page, 'Editar o link');
    expect(await page.getByLabel('Valor máximo').inputValue()).toBe('100,00');
    await fill('O que você vende', 'Café de dezembro');
    await page.getByRole('button', { name: 'Sem foto' }).click();
    await page.getByRole('button', { name: 'Salvar' }).dblclick();
    await heading(page, 'Café de dezembro');
    const after = await dashboard.api<object>('GET', `/v1/payment-links/${link}`);
    expect(after).toMatchObject({ name: 'Café de dezembro', picture: null, question: 'Em grãos ou moído?' });
    await page.getByRole('button', { name: 'Encerrar' }).click();
    await inDialog(page).getByRole('button', { name: 'Encerrar para sempre', disabled: false }).dblclick();
    await page.getByText('Este link não recebe mais pagamentos.').waitFor();
    expect(await page.getByRole('link', { name: 'Editar' }).count()).toBe(0);
    await go(page, 'Links de pagamento');
    await page.getByRole('row', { name: /Café de dezembro.*Encerrado.*1 de 2.*50,00/ }).waitFor();
    await page.getByLabel('Situação').selectOption('active');
    await page.getByText('Nenhum link nesta situação.').waitFor();
    expect(page.url()).toMatch(/status=active$/);
    await page.goBack();
    await page.getByText('1 link', { exact: true }).waitFor();
  });

  it('finds a customer, and shows what was bought, given back and disputed', async () => {
    const { id } = await dashboard.charge({ amount: 4200, customer: MARIA, metadata: { order_id: '1042' } });
    await dashboard.simulate(id, { event: 'pay' });
    await dashboard.simulate(id, { event: 'med_open' });
    await go(page, 'Clientes');
    await heading(page, 'Clientes');
    await page.getByLabel('Buscar', { exact: true }).fill('529.982.247-25');
    await page.getByRole('button', { name: 'Buscar' }).click();
    await page.getByRole('row', { name: /maria@example\.com.*529\.982\.247-25.*2.*92,00.*–.*42,00/ }).waitFor();
    await page.getByText('1 cliente', { exact: true }).waitFor();
    await page.getByText('Visões').click();
    await page.getByLabel('Nome da visão').fill('Maria');
    await page.getByRole('button', { name: 'Salvar' }).click();
    await page.getByRole('link', { name: 'Limpar' }).click();
    await page.getByText('Visões').click();
    await page.getByRole('button', { name: 'Maria', exact: true }).click();
    expect(new URL(page.url()).searchParams.get('query')).toBe('529.982.247-25');
    await dashboard.visit(page, `/test/sales/${id.replace('ch_', 'tx_')}`);
    await page.getByRole('link', { name: 'Ver cliente' }).click();
    await heading(page, MARIA.name);
    customer = page.url().split('/').at(-1) ?? '';
    await page
      .getByRole('definition')
      .filter({ hasText: /^R\$\s92,00$/ })
      .waitFor();
    await page.getByRole('row', { name: /42,00.*Em disputa.*1042/ }).waitFor();
  });

  it('skips pages of customers that are empty and have a next page', async () => {
    await page.route('**/customers?*', async (route) => {
      const url = new URL(route.request().url());
      if (!url.searchParams.has('starting_after'))
        return route.fulfill({ json: { data: [], has_more: true, next_cursor: 'empty' } });
      url.searchParams.delete('starting_after');
      return route.continue({ url: url.href });
    });
    await dashboard.visit(page, '/test/customers');
    await page.getByRole('row', { name: /Maria da Silva/ }).waitFor();
    expect(await page.getByRole('button', { name: 'Mais antigos' }).count()).toBe(0);
    await page.unroute('**/customers?*');
  });

  it.each(['light', 'dark'] as const)('has no finding of axe and fits every width (%s)', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    const found: unknown[] = [];
    for (const [path, title] of [
      ['/test/links', 'Links de pagamento'],
      ['/test/links/new', 'Novo link de pagamento'],
      [`/test/links/${link}`, 'Café de dezembro'],
      ['/test/customers', 'Clientes'],
      [`/test/customers/${customer}`, MARIA.name],
    ] as const) {
      await dashboard.visit(page, path);
      await heading(page, title);
      await waitFor('the rows', async () => (await page.getByText('Carregando').count()) === 0);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        const about = `${path.split('/').slice(2, 4).join('-').slice(0, 14)}-${String(width)}-${colorScheme}`;
        found.push(...(await barriers(page, about)));
        if (pictures === undefined) continue;
        mkdirSync(pictures, { recursive: true });
        await page.screenshot({ path: `${pictures}/${about}.png`, fullPage: true });
      }
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    expect(found).toEqual([]);
  });

  it('lets an OWNER export and erase a customer, and nobody else', async () => {
    const admin = await dashboard.colleague(page, 'bia@example.com', 'ADMIN');
    await dashboard.visit(admin, `/test/customers/${customer}`);
    await heading(admin, MARIA.name);
    expect(await admin.getByRole('button', { name: /^(Exportar|Apagar) dados$/ }).count()).toBe(0);
    await dashboard.visit(page, `/test/customers/${customer}`);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Exportar dados' }).click();
    const file = readFileSync(await (await download).path(), 'utf8');
    expect(JSON.parse(file)).toMatchObject({ transactions: [{ customer_name: MARIA.name }, { amount: 4200 }] });
    await page.getByRole('button', { name: 'Apagar dados' }).click();
    await inDialog(page)
      .getByText(/saem das 2 compras/)
      .waitFor();
    await inDialog(page).getByRole('button', { name: 'Apagar para sempre', disabled: false }).dblclick();
    // The disputed sale needs its payer until the case is over.
    await inDialog(page).getByText('menos em 1 que ainda estão abertos').waitFor();
    await inDialog(page).getByRole('button', { name: 'Fechar', disabled: false }).click();
    await heading(page, 'Clientes');
    await page.getByRole('row', { name: /Maria da Silva.*1.*42,00.*42,00/ }).waitFor();
    expect(dashboard.faults).toEqual([]);
  });
});
