import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Page } from 'playwright-core';
import { barriers, Dashboard, heading, inDialog, postAsPage } from '../../support/dashboard.js';
import { describeWith } from '../../support/needs.js';
import { WebhookReceiver } from '../../support/receiver.js';

jest.setTimeout(600_000);

const CUSTOMER = { name: 'Maria da Silva', email: 'maria.da.silva@example.com', document: '52998224725' };
const WIDTHS = [
  ['1440', { viewport: { width: 1440, height: 900 } }],
  ['390', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' as const }],
] as const;

describeWith('browser')('the screen of a sale', () => {
  const dashboard = new Dashboard();
  const receivers: WebhookReceiver[] = [];

  beforeAll(async () => {
    await dashboard.start();
  });
  afterAll(async () => {
    await dashboard.stop();
    await Promise.all(receivers.map((receiver) => receiver.stop()));
  });

  const aSale = async (more: object = {}): Promise<string> => {
    const { id } = await dashboard.charge({
      ...{ amount: 12_990, description: 'Café especial', customer: CUSTOMER, metadata: { order_id: '1042' } },
      ...more,
    });
    return id.slice(3);
  };
  const pay = (id: string): Promise<unknown> => dashboard.simulate(`ch_${id}`, { event: 'pay' });
  const visit = async (page: Page, id: string): Promise<void> => {
    await dashboard.visit(page, `/test/sales/${id}`);
    await heading(page, /Venda de/);
  };
  /** Lists ids that are in more than one line. */
  const brokenIds = (page: Page): Promise<string[]> =>
    page.evaluate<string[]>(
      "[...document.querySelectorAll('.id code')].filter((id) => id.getClientRects().length > 1).map((id) => id.innerText)",
    );

  it.each(WIDTHS)(
    'shows facts, course, ways to share and receipt without barriers at %s px',
    async (width, options) => {
      const id = await aSale();
      const page = await dashboard.asOwner('', options);
      await visit(page, id);
      const facts = page.getByRole('region', { name: 'Resumo' });
      for (const text of ['Maria da Silva', '529.982.247-25', 'Café especial', '1042', 'Pix'])
        await facts.getByText(text, { exact: true }).waitFor();
      const share = page.getByRole('group', { name: 'Página de pagamento' });
      const url = await share.getByRole('link', { name: 'Abrir' }).getAttribute('href');
      expect((await fetch((url ?? '').replace('localhost', '127.0.0.1'))).status).toBe(200);
      const whatsApp = new URL((await share.getByRole('link', { name: 'WhatsApp' }).getAttribute('href')) ?? '');
      expect(whatsApp.origin).toBe('https://wa.me');
      expect(whatsApp.searchParams.get('text')).toMatch(/^Para pagar R\$\s129,90 a .+:\nhttp.+\/checkout\//);
      expect(await share.getByRole('link', { name: 'E-mail' }).getAttribute('href')).toMatch(
        /^mailto:maria\.da\.silva%40example\.com\?subject=Cobran/,
      );
      expect(await barriers(page, `a waiting sale at ${width} px`)).toEqual([]);
      expect(await brokenIds(page)).toEqual([]);
      expect(await page.getByRole('region', { name: 'Comprovante' }).count()).toBe(0);

      await pay(id);
      const receipt = page.getByRole('group', { name: 'Comprovante' });
      const address = await receipt.getByRole('link', { name: 'Abrir' }).getAttribute('href');
      const shown = await fetch((address ?? '').replace('localhost', '127.0.0.1'));
      expect([shown.status, (await shown.text()).includes('129,90')]).toEqual([200, true]);
      await receipt.getByRole('link', { name: 'WhatsApp' }).waitFor();
      expect(await share.count()).toBe(0);
      const course = page.getByRole('region', { name: 'Andamento' }).getByRole('listitem');
      await course.filter({ hasText: 'Disponível no saldo' }).waitFor();
      expect(await course.allInnerTexts()).toEqual([
        expect.stringMatching(/^Cobrança criada\s+\d\d\/\d\d\/\d{4}, \d\d:\d\d:\d\d/),
        expect.stringMatching(/^Pagamento recebido · Pix\s+\d\d\/\d\d\/\d{4}, \d\d:\d\d:\d\d/),
        expect.stringMatching(/^Disponível no saldo R\$\s\d+,\d\d\s+\d\d\/\d\d\/\d{4}/),
      ]);
      expect(await barriers(page, `a paid sale at ${width} px`)).toEqual([]);
      expect(await brokenIds(page)).toEqual([]);
      await page.context().close();
    },
  );

  it('copies the link of the payment page, and prints its QR code alone', async () => {
    const id = await aSale();
    const owner = await dashboard.asOwner('', { permissions: ['clipboard-read', 'clipboard-write'] });
    await visit(owner, id);
    await owner.getByRole('button', { name: 'Copiar link' }).click();
    await owner.getByText('Link copiado.').waitFor();
    expect(await owner.evaluate<string>('navigator.clipboard.readText()')).toBe(`${dashboard.base}/checkout/${id}`);
    await owner.evaluate('window.print = () => { window.printed = document.querySelector(".poster").innerText; }');
    await owner.getByRole('button', { name: 'Imprimir QR Code' }).click();
    await owner.waitForFunction('window.printed !== undefined');
    await owner.emulateMedia({ media: 'print' });
    expect(await owner.locator('.poster').isVisible()).toBe(true);
    expect(await owner.getByRole('navigation', { name: 'Principal' }).isVisible()).toBe(false);
    await owner.evaluate('dispatchEvent(new Event("afterprint"))');
    await owner.locator('.poster').waitFor({ state: 'detached' });
    await owner.context().close();
  });

  it('refunds half by one click, and says when the balance is not enough', async () => {
    const id = await aSale();
    await pay(id);
    const page = await dashboard.asOwner();
    await visit(page, id);
    await page.getByRole('button', { name: 'Reembolsar' }).click();
    const dialog = inDialog(page);
    await dialog.getByText('Saldo disponível').waitFor();
    await dialog.getByRole('button', { name: /^Metade/ }).click();
    await dialog.getByText(/R\$\s64,95 voltam para quem pagou \(Maria da Silva\); restam R\$\s64,95\./).waitFor();
    await dialog.getByLabel('Como devolver').selectOption('Devolver o mesmo Pix');
    await dialog.getByRole('button', { name: /^Devolver R/ }).dblclick();
    await page.getByText('Reembolsado', { exact: true }).waitFor();
    await page.getByRole('cell', { name: 'Devolver o mesmo Pix' }).waitFor();
    const { data } = await dashboard.api<{ data: { amount: number; strategy: string }[] }>(
      'GET',
      `/v1/payments/${id}/refunds`,
    );
    expect(data.map(({ amount, strategy }) => [amount, strategy])).toEqual([[6_495, 'devolution']]);
    // The money of the account is elsewhere.
    await page.route('**/wallets/balance?*', async (route) => {
      const answer = await route.fetch();
      const body = (await answer.json()) as object;
      await route.fulfill({ response: answer, json: { ...body, available: 500 } });
    });
    await page.getByRole('button', { name: 'Reembolsar' }).click();
    await dialog.getByText(/O saldo disponível não basta: faltam R\$\s59,95\./).waitFor();
    expect(await dialog.getByRole('button', { name: /^Devolver R/ }).isDisabled()).toBe(true);
    await dialog.getByLabel('Valor').fill('5');
    await dialog.getByRole('button', { name: /^Devolver R\$\s5,00/, disabled: false }).waitFor();
    await page.context().close();
  });

  it('folds the webhooks of each fact under it, with the answer of each endpoint', async () => {
    const [good, bad] = await Promise.all([WebhookReceiver.start(), WebhookReceiver.start()]);
    receivers.push(good, bad);
    bad.answer = 410;
    for (const { url } of [good, bad])
      await dashboard.api('POST', '/v1/webhooks/endpoints', { url, events: ['charge.paid'] });
    const id = await aSale();
    await pay(id);
    const page = await dashboard.asOwner();
    await visit(page, id);
    const paid = page
      .getByRole('region', { name: 'Andamento' })
      .getByRole('listitem')
      .filter({ hasText: 'Pagamento recebido' });
    // Failures are open by themselves.
    await paid.getByText(`${new URL(bad.url).host} · respondeu HTTP 410`).waitFor();
    await paid.getByText('2 webhooks · 1 com falha').waitFor();
    await paid.getByText(`${new URL(good.url).host} · respondeu HTTP 200`).waitFor();
    await paid.getByRole('link', { name: 'charge.paid' }).first().click();
    await heading(page, 'Entrega de charge.paid');
    await page.context().close();
  });

  it('keeps notes of the team, which a member reads and their author deletes', async () => {
    const id = await aSale();
    const owner = await dashboard.asOwner();
    await visit(owner, id);
    const notes = owner.getByRole('region', { name: 'Notas da equipe' });
    await notes.getByLabel('Nova nota').fill('Pediu outra cor.\nEnviar amanhã.');
    await notes.getByText('469 caracteres restam').waitFor();
    await notes.getByRole('button', { name: 'Salvar nota' }).dblclick();
    await notes.getByRole('listitem').filter({ hasText: 'Enviar amanhã.' }).waitFor();
    expect(await notes.getByLabel('Nova nota').inputValue()).toBe('');
    const reader = await dashboard.colleague(owner, 'leitura@example.com', 'MEMBER');
    await visit(reader, id);
    const read = reader.getByRole('region', { name: 'Notas da equipe' });
    await read.getByText('Pediu outra cor.').waitFor();
    expect(await read.getByRole('button').count()).toBe(0);
    expect(await read.getByLabel('Nova nota').count()).toBe(0);
    await expect(
      reader.evaluate(postAsPage, { path: `/v1/dashboard/test/payments/${id}/notes`, body: { text: 'x' } }),
    ).rejects.toThrow(/403/);
    await reader.context().close();
    expect(await notes.getByRole('listitem').count()).toBe(1);
    await notes.getByRole('button', { name: 'Excluir' }).click();
    await inDialog(owner).getByRole('button', { name: 'Excluir' }).click();
    await notes.getByRole('listitem').waitFor({ state: 'detached' });
    await owner.context().close();
  });

  it('goes to the next and previous sale of the list by buttons and keys, over its pages', async () => {
    const customer = { name: 'Vizinha' };
    for (let n = 0; n < 27; n++) await aSale({ amount: 1_000 + n, customer });
    const page = await dashboard.asOwner('/test/sales?query=vizinha');
    const title = (cents: number): Promise<void> =>
      heading(page, `Venda de R$ ${(cents / 100).toFixed(2).replace('.', ',')}`);
    await page.getByRole('row').nth(25).getByRole('link').first().click();
    await title(1_002);
    await page.keyboard.press('k');
    await title(1_003);
    await page.getByRole('link', { name: 'Próxima' }).click();
    await title(1_002);
    // The next sale is on the second page of the list.
    await page.getByRole('link', { name: 'Próxima' }).waitFor();
    await page.keyboard.press('j');
    await title(1_001);
    await page.reload();
    await page.getByRole('link', { name: 'Próxima' }).waitFor();
    await page.keyboard.press('j');
    await title(1_000);
    expect(await page.getByRole('button', { name: 'Próxima' }).isDisabled()).toBe(true);
    await page.getByLabel('Nova nota').focus();
    await page.keyboard.type('k');
    await title(1_000);
    await page.getByRole('link', { name: 'Voltar às vendas' }).click();
    await heading(page, 'Vendas');
    expect(new URL(page.url()).searchParams.get('query')).toBe('vizinha');
    await page.context().close();
  });

  it('has no errors, no requests to other hosts, and no policy violations', () => {
    expect(dashboard.faults).toEqual([]);
  });
});
