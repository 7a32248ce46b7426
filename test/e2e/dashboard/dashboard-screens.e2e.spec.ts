import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeWith } from '../../support/needs.js';
import { Dashboard, go, heading, inDialog, PNG } from '../../support/dashboard.js';
import { readDemo } from '../../support/process.js';
import { WebhookReceiver } from '../../support/receiver.js';
import { waitFor } from '../../support/wait.js';

jest.setTimeout(600_000);

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Right-to-left script with marks that turn the direction, and markup */
const HOSTILE_NAME = '\u202eمريم <img src=x onerror="document.title=1"> \u202c"&amp;';

/** Checks of each screen beyond the stories: one login, and many checks on each page. */
describeWith('browser')('screens of the dashboard in a real browser', () => {
  const dashboard = new Dashboard();
  let page: Page;
  const visit = async (path: string, title: string | RegExp): Promise<void> => {
    await dashboard.visit(page, path);
    await heading(page, title);
  };
  const overflow = (): Promise<number> =>
    page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  const later = (ms: number): string => new Date(Date.now() + ms).toISOString();

  beforeAll(async () => {
    await dashboard.start();
    page = await dashboard.asOwner();
  });
  afterAll(() => dashboard.stop());

  it('makes a charge with the chosen expiry, of any name and description', async () => {
    await visit('/test/sales/new', 'Nova cobrança');
    expect(await page.getByLabel('Validade').getByRole('option').allInnerTexts()).toEqual([
      '1 hora',
      '6 horas',
      '1 dia',
    ]);
    await page.getByLabel('Valor em reais').fill('9.999.999.999,99');
    await page.getByLabel('Validade').selectOption('6 horas');
    const description = page.getByLabel('Descrição');
    expect(await description.getAttribute('maxlength')).toBe('500');
    await description.fill('ç'.repeat(500));
    await page.getByText('Cliente (opcional)').click();
    await page.getByLabel('Nome').fill(HOSTILE_NAME);
    await page.getByRole('button', { name: 'Criar cobrança' }).dblclick();
    await heading(page, /Venda de R\$\s9\.999\.999\.999,99/);
    const id = page.url().split('/').at(-1) ?? '';
    const sale = await dashboard.api<{ pixExpiresAt: string; createdAt: string; customerName: string }>(
      'GET',
      `/v1/payments/${id}`,
    );
    expect(Date.parse(sale.pixExpiresAt) - Date.parse(sale.createdAt)).toBe(6 * HOUR_MS);
    await page.getByText('ç'.repeat(500)).waitFor();
    await page.getByText(sale.customerName, { exact: true }).waitFor();
    expect(await page.title()).toMatch(/^Venda de/);
    await page.setViewportSize({ width: 320, height: 900 });
    expect(await overflow()).toBe(0);
    await page.setViewportSize({ width: 1280, height: 900 });
    // Back after a write shows an unsent form, and forward shows the sale: no second charge is made.
    await page.goBack();
    await heading(page, 'Nova cobrança');
    expect(await page.getByLabel('Valor em reais').inputValue()).toBe('');
    await page.goForward();
    await heading(page, /Venda de/);
    expect((await dashboard.api<{ total: number }>('GET', '/v1/payments?query=img')).total).toBe(1);
  });

  it('shows one page for unknown addresses and for objects of others', async () => {
    const nobody = '01a20000-0000-7000-8000-000000000000';
    for (const path of [
      ...['/anything', '/anything/sales', '/test/anything', '/test/sales/x/y', `/test/sales/${nobody}`],
      ...[`/test/disputes/med_${nobody}`, `/test/webhooks/deliveries/wd_${nobody}`, '/live/disputes/1'],
    ]) {
      await visit(path, 'Página não encontrada');
      await page.getByText('Não há nada neste endereço.').waitFor();
      expect([path, await page.getByRole('heading', { name: 'Saldo' }).count()]).toEqual([path, 0]);
    }
    // A sale of one mode is not found in the other.
    const { id } = await dashboard.charge();
    await visit(`/live/sales/${id.slice(3)}`, 'Página não encontrada');
    await visit(`/test/sales/${id.slice(3)}`, /Venda de/);
    await page.getByRole('link', { name: 'Produção' }).click();
    await heading(page, 'Vendas');
    expect(page.url()).toMatch(/\/live\/sales$/);
  });

  it('lists the most urgent dispute first, whatever its age, and shows the held amount', async () => {
    for (const [amount, response_deadline] of [
      [1100, later(2 * DAY_MS)],
      [1200, null],
      [1300, later(6 * DAY_MS)],
    ] as const) {
      const { id } = await dashboard.charge({ amount, customer: { name: `Rita ${String(amount)}` } });
      await dashboard.simulate(id, { event: 'pay' });
      await dashboard.simulate(id, { event: 'med_open', response_deadline });
    }
    await visit('/test/disputes', 'Disputas');
    const rows = page.getByRole('group', { name: 'Disputas' }).getByRole('row');
    await rows.nth(3).waitFor();
    expect((await rows.allInnerTexts()).slice(1).map((text) => /1[123],00/.exec(text)?.[0])).toEqual([
      ...['11,00', '13,00', '12,00'],
    ]);
    await rows.nth(1).getByRole('link', { name: 'Rita 1100' }).waitFor();
    await go(page, 'Início');
    const open = page.getByRole('region', { name: 'Precisa de você' }).getByRole('listitem');
    await open.nth(2).waitFor();
    expect(await open.first().innerText()).toContain('11,00');
    await open.first().getByRole('link').click();
    await heading(page, /Disputa de/);
    const held = page.getByRole('definition').filter({ hasText: /^R\$\s11,00$/ });
    await held.nth(1).waitFor();
    // Pressing a key must not lose a draft.
    await page.getByRole('button', { name: 'Enviar defesa' }).click();
    await inDialog(page).getByText('O banco não recebe nada deste serviço').waitFor();
    await inDialog(page).getByLabel('O que aconteceu').fill('um rascunho');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Enviar defesa' }).click();
    expect(await inDialog(page).getByLabel('O que aconteceu').inputValue()).toBe('um rascunho');
    // Without evidence the appeal is sent only by a second decision; a file is attached in the dialog itself.
    const sendAppeal = inDialog(page).getByRole('button', { name: 'Enviar a defesa', disabled: false });
    await inDialog(page).getByText('0 arquivos anexados').waitFor();
    expect(await sendAppeal.count()).toBe(0);
    await inDialog(page).getByLabel('Enviar sem nenhuma prova').check();
    await sendAppeal.waitFor();
    await inDialog(page).getByLabel('Enviar sem nenhuma prova').uncheck();
    await inDialog(page)
      .locator('input[type=file]')
      .setInputFiles({ name: 'entrega.png', mimeType: 'image/png', buffer: PNG });
    await inDialog(page).getByText('1 arquivo anexado').waitFor();
    await sendAppeal.waitFor();
    await inDialog(page).getByRole('button', { name: 'Voltar' }).click();
    // An upload that breaks off says so, and the file can be sent again.
    await page.route('**/storage/**', (route) => route.abort('connectionreset'));
    const file = { name: 'recibo.png', mimeType: 'image/png', buffer: PNG };
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByText('O envio foi interrompido. Tente de novo.').waitFor();
    await page.unroute('**/storage/**');
    await page.getByRole('button', { name: 'Tentar de novo' }).click();
    await page.getByRole('link', { name: 'recibo.png' }).waitFor();
    expect(await page.getByText('O envio foi interrompido').count()).toBe(0);
  });

  it('lists failing and disabled endpoints first', async () => {
    const receivers = await Promise.all([WebhookReceiver.start(), WebhookReceiver.start()]);
    const [good, bad] = receivers;
    bad.answer = 500;
    try {
      const register = (url: string): Promise<{ id: string }> =>
        dashboard.api('POST', '/v1/webhooks/endpoints', { url, events: ['charge.paid'] });
      const failing = await register(`${bad.url}/fails`);
      const off = await register(`${good.url}/off`);
      for (let n = 0; n < 5; n++) await register(`${good.url}/fine-${String(n)}`);
      await dashboard.api('PATCH', `/v1/webhooks/endpoints/${off.id}`, { status: 'INACTIVE' });
      await dashboard.api('POST', `/v1/webhooks/endpoints/${failing.id}/test`, { event: 'charge.paid' });
      await visit('/test', 'Início');
      const card = page.getByRole('region', { name: 'Webhooks' });
      await card.getByText('Falhando', { exact: true }).waitFor();
      const shown = (await card.getByText(/\/(?:fails|off|fine-\d)/).allInnerTexts()).map((text) => text.trim());
      expect(shown[0]).toContain('/fails');
      expect(shown[1]).toMatch(/\/off Desligado$/);
      expect(shown).toHaveLength(6);
      await card.getByText('e mais 1 sem falhas').waitFor();
    } finally {
      await Promise.all(receivers.map((receiver) => receiver.stop()));
    }
  });

  it('shows every way of paying, and does all that the sandbox can', async () => {
    await visit('/test/sales/new', 'Nova cobrança');
    await page.getByLabel('Valor em reais').fill('75');
    for (const name of ['Cartão', 'Boleto', 'Cripto']) await page.getByRole('checkbox', { name }).check();
    expect(await page.getByLabel('Validade').count()).toBe(0);
    await page.getByLabel('Pedido').fill('todos-os-meios');
    await page.getByRole('button', { name: 'Criar cobrança' }).dblclick();
    await heading(page, /Venda de R\$\s75,00/);
    const pay = page.getByRole('region', { name: 'Para pagar' });
    await pay.getByRole('button', { name: 'Copiar a linha do boleto' }).waitFor();
    await pay.getByRole('button', { name: 'Copiar o código Pix' }).waitFor();
    await pay.getByRole('button', { name: 'Copiar o endereço da cripto' }).waitFor();
    expect(await pay.getByRole('link', { name: 'abrir o PDF' }).getAttribute('href')).toContain('boleto.pdf');
    const link = await pay.getByRole('button', { name: /copiar o link$/ }).innerText();
    expect((await fetch(/http\S+/.exec(link)?.[0].replace('localhost', '127.0.0.1') ?? '')).status).toBe(200);
    const act = (name: string): Promise<void> => page.getByRole('button', { name: `${name} (teste)` }).dblclick();
    const status = (name: string): Promise<void> => page.getByText(name, { exact: true }).first().waitFor();
    await act('Autenticar o cartão');
    await status('Em análise');
    await act('Pagar com Cartão');
    await status('Paga (cartão)');
    expect(await page.getByText('Paga (cartão)', { exact: true }).first().getAttribute('class')).toBe('status good');
    await act('Contestar no cartão');
    await status('Contestada no cartão');
    await act('Decidir pela loja');
    await status('Paga (cartão)');
    await act('O próximo reembolso falha');
    await page.getByRole('button', { name: 'Reembolsar' }).click();
    await inDialog(page)
      .getByRole('button', { name: /^Devolver/ })
      .dblclick();
    await status('Falhou');
    expect((await dashboard.api<{ total: number }>('GET', '/v1/payments?query=todos-os-meios')).total).toBe(1);
    // A payment in another currency has neither Pix nor boleto, and no page for payers.
    await visit('/test/sales/new', 'Nova cobrança');
    await page.getByRole('checkbox', { name: 'Pix' }).uncheck();
    for (const name of ['MB WAY', 'Multibanco']) await page.getByRole('checkbox', { name }).check();
    await page.getByLabel('Moeda').selectOption('EUR');
    await page.getByLabel('Valor em EUR').fill('12,50');
    await page.getByLabel('Celular do MB WAY').fill('+351 912 345 678');
    await page.getByRole('button', { name: 'Criar cobrança' }).click();
    await heading(page, /Venda de €\s12,50/);
    await pay.getByText('Entidade Multibanco').waitFor();
    await pay.getByText('+351912345678', { exact: false }).waitFor();
    expect(await pay.getByRole('button', { name: /copiar o link$/ }).count()).toBe(0);
    await act('Recusar');
    await status('Recusada');
  });

  it('exports the filtered list', async () => {
    const names = ['Zuleica Um', 'Zuleica Dois', 'Outra'];
    const made: { id: string }[] = [];
    for (const name of names) made.push(await dashboard.charge({ customer: { name } }));
    await dashboard.simulate(made[0]?.id ?? '', { event: 'pay' });
    await visit('/test/sales?query=zuleica&status=WAITING_PAYMENT', 'Vendas');
    await page.getByRole('row', { name: /Zuleica Dois/ }).waitFor();
    await page.getByRole('button', { name: 'Exportar' }).click();
    await page.getByRole('menuitem', { name: 'Outro período ou formato' }).click();
    await heading(page, 'Relatórios');
    expect([
      await page.getByLabel('Tipo').inputValue(),
      await page.getByLabel('Vendas', { exact: true }).inputValue(),
      await page.getByLabel('Situação').inputValue(),
      await page.getByLabel('Buscar', { exact: true }).inputValue(),
    ]).toEqual(['sales', 'created', 'WAITING_PAYMENT', 'zuleica']);
    await page.getByLabel('Formato').selectOption('CSV para programas');
    await page.getByRole('button', { name: 'Gerar relatório' }).dblclick();
    await page.getByRole('cell', { name: 'Vendas · Aguardando pagamento · zuleica (csv)' }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page
        .getByRole('button', { name: /^Baixar/ })
        .first()
        .click(),
    ]);
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\r\n');
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain('Zuleica Dois');
  });

  it('issues a key with an end and addresses, and clears the form for the next one', async () => {
    await visit('/test/developers', 'Desenvolvedores');
    const day = later(30 * DAY_MS).slice(0, 10);
    await page.getByRole('button', { name: 'Criar chave' }).click();
    await inDialog(page).getByLabel('Nome').fill('loja de longe');
    await inDialog(page).getByLabel('Expira em').fill(day);
    await inDialog(page).getByLabel('Endereços IP permitidos').fill('203.0.113.7, 2001:db8::/32');
    await inDialog(page).getByRole('button', { name: 'Criar' }).click();
    const key = (
      await inDialog(page)
        .getByText(/^ak_test_/)
        .innerText()
    ).trim();
    await inDialog(page).getByRole('button', { name: 'Fechar' }).click();
    await page.getByText('203.0.113.7, 2001:db8::/32').waitFor();
    expect((await fetch(`${dashboard.service.url}/v1/wallets`, { headers: { apikey: key } })).status).toBe(403);
    await page.getByRole('button', { name: 'Criar chave' }).click();
    for (const label of ['Nome', 'Expira em', 'Endereços IP permitidos'])
      expect(await inDialog(page).getByLabel(label).inputValue()).toBe('');
    await inDialog(page).getByRole('button', { name: 'Voltar' }).click();
  });

  it('keeps two tabs in two modes apart', async () => {
    const other = await page.context().newPage();
    dashboard.watch(other);
    await other.goto(`${dashboard.base}/dashboard/live/sales`);
    await heading(other, 'Vendas');
    await visit('/test/sales', 'Vendas');
    await page.getByRole('table').waitFor();
    // A page without a mode in its address stays in the mode of its tab.
    for (const [tab, mode] of [
      [page, 'test'],
      [other, 'live'],
    ] as const) {
      await go(tab, 'Configurações');
      await heading(tab, 'Configurações');
      await go(tab, 'Vendas');
      await waitFor('the list of the tab’s mode', () => Promise.resolve(tab.url().endsWith(`/${mode}/sales`) || null));
    }
    await other.getByText('Ainda não há vendas.').waitFor();
    await other.close();
  });

  it('shows a failing endpoint although its newest deliveries all wait, and says when nothing was lost', async () => {
    const receiver = await WebhookReceiver.start();
    receiver.answer = 500;
    try {
      const { id } = await dashboard.api<{ id: string }>('POST', '/v1/webhooks/endpoints', {
        url: `${receiver.url}/down`,
        events: ['charge.created', 'charge.paid'],
      });
      for (let n = 0; n < 6; n++) {
        await dashboard.api('POST', `/v1/webhooks/endpoints/${id}/test`, { event: 'charge.paid' });
      }
      await waitFor('a pause', async () => {
        const { data } = await dashboard.api<{ data: { attempts: number }[] }>(
          'GET',
          `/v1/webhooks/deliveries?endpointId=${id}`,
        );
        return data.filter(({ attempts }) => attempts > 0).length >= 5;
      });
      for (let n = 0; n < 22; n++) await dashboard.charge();
      await visit('/test/webhooks', 'Webhooks');
      await page.getByText(/Falhando desde .*: HTTP 500\. Entregas que aguardam: \d+/).waitFor();
      const card = page
        .getByRole('region')
        .filter({ hasText: '/down' })
        .or(page.locator('section', { hasText: '/down' }));
      await card.getByRole('button', { name: 'Reenviar entregas que falharam' }).click();
      await inDialog(page).getByLabel('Falhas desde').selectOption('30');
      await inDialog(page).getByRole('button', { name: 'Contar' }).click();
      await inDialog(page).getByText('Nada se perdeu neste tempo.').waitFor();
      await inDialog(page).getByRole('button', { name: 'Contar' }).click();
      await inDialog(page).getByText('Nada se perdeu neste tempo.').waitFor();
      await inDialog(page).getByRole('button', { name: 'Voltar' }).click();
    } finally {
      await receiver.stop();
    }
  });

  it('shows words instead of codes, and reasons in the person’s language', async () => {
    await visit('/test/webhooks', 'Webhooks');
    await page.getByRole('button', { name: 'Verificar uma assinatura' }).click();
    await inDialog(page).getByLabel('Corpo, byte a byte').fill('{}');
    await inDialog(page).getByLabel('Cabeçalhos').fill('Content-Type: application/json');
    await inDialog(page).getByLabel('Segredo que o servidor usa').fill('whsec_x');
    await inDialog(page).getByRole('button', { name: 'Verificar' }).click();
    await inDialog(page).getByText('Falta o cabeçalho com a assinatura').waitFor();
    await inDialog(page).getByRole('button', { name: 'Voltar' }).click();
    const { id } = await dashboard.charge();
    for (let times = 0; times < 2; times++) await dashboard.simulate(id, { event: 'pay' });
    await visit(`/test/sales/${id.slice(3)}`, /Venda de/);
    await page.getByText('a cobrança já estava paga').waitFor();
    const { email, password } = readDemo(dashboard.dataDir);
    const outside = await dashboard.open('');
    await outside.route('**/v1/auth/login', (route) =>
      route.fulfill({
        status: 503,
        contentType: 'application/json',
        body: JSON.stringify({ error: { code: 'service_unavailable', message: 'Busy.' } }),
      }),
    );
    await dashboard.logIn(outside, email, password);
    await outside.getByText('O serviço está ocupado. Tente de novo em instantes.').waitFor();
    await outside.context().close();
  });

  it('changes the old names of events together with the others, and tests no deleted endpoint', async () => {
    const receiver = await WebhookReceiver.start();
    receiver.answer = 410;
    try {
      const { id } = await dashboard.api<{ id: string }>('POST', '/v1/webhooks/endpoints', {
        url: `${receiver.url}/old-names`,
        events: ['*', 'payment.completed'],
      });
      await dashboard.api('POST', `/v1/webhooks/endpoints/${id}/test`, { event: 'charge.paid' });
      await visit('/test/webhooks', 'Webhooks');
      const card = page.locator('section', { hasText: '/old-names' });
      await card.getByText('todos, payment.completed').waitFor();
      await card.getByRole('button', { name: 'Editar' }).click();
      await inDialog(page).getByRole('checkbox', { name: 'payment.completed' }).uncheck();
      await inDialog(page).getByRole('button', { name: 'Salvar' }).click();
      await card.getByText('todos', { exact: true }).waitFor();
      const delivery = await waitFor('the failed delivery', async () => {
        const path = `/v1/webhooks/deliveries?endpointId=${id}&status=FAILED`;
        return (await dashboard.api<{ data: { id: string }[] }>('GET', path)).data[0] ?? null;
      });
      await visit(`/test/webhooks/deliveries/${delivery.id}`, /Entrega de/);
      await page.getByRole('button', { name: 'Tentar agora' }).waitFor();
      await dashboard.api('DELETE', `/v1/webhooks/endpoints/${id}`);
      await visit(`/test/webhooks/deliveries/${delivery.id}`, /Entrega de/);
      await page.getByText('excluído: não recebe mais eventos').waitFor();
      expect(await page.getByRole('button', { name: 'Tentar agora' }).count()).toBe(0);
    } finally {
      await receiver.stop();
    }
  });

  it('fits a telephone: whole words, the amount of an entry in sight, and a menu that Esc closes', async () => {
    await page.setViewportSize({ width: 360, height: 900 });
    await visit('/test/balance', 'Saldo');
    const amount = page.getByRole('group', { name: 'Extrato' }).getByRole('row').nth(1).getByRole('cell').nth(2);
    await amount.waitFor();
    const box = await amount.boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? 1000)).toBeLessThanOrEqual(360);
    expect(await overflow()).toBe(0);
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('link', { name: 'Vendas', exact: true }).waitFor();
    await page.keyboard.press('Escape');
    expect(await page.getByRole('button', { name: 'Menu' }).getAttribute('aria-expanded')).toBe('false');
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  it('has no errors, no requests to other hosts, and no policy violations', () => {
    expect(dashboard.faults).toEqual([]);
  });
});
