import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { BrowserContext, Page } from 'playwright-core';
import { describeWith } from '../../support/needs.js';
import { barriers, Dashboard, go, heading, inDialog, PASSWORD, PNG, SCREENS } from '../../support/dashboard.js';
import { readDemo } from '../../support/process.js';
import { WebhookReceiver } from '../../support/receiver.js';
import { trial } from '../../support/scale.js';
import { waitFor } from '../../support/wait.js';

jest.setTimeout(600_000);

/** Finds elements as a person does: by role and name, never by a selector of the page. */
describeWith('browser')('the dashboard in a real browser', () => {
  const dashboard = new Dashboard();
  const { dataDir, processes, faults } = dashboard;
  const open: Dashboard['open'] = (...options) => dashboard.open(...options);
  const asOwner: Dashboard['asOwner'] = (...options) => dashboard.asOwner(...options);
  const logIn: Dashboard['logIn'] = (...who) => dashboard.logIn(...who);
  const cli: Dashboard['cli'] = (args) => dashboard.cli(args);
  const api: Dashboard['api'] = (...call) => dashboard.api(...call);
  const aCharge: Dashboard['charge'] = (body) => dashboard.charge(body);
  const simulate: Dashboard['simulate'] = (id, event) => dashboard.simulate(id, event);
  const waitForLink: Dashboard['linkTo'] = (to, pattern) => dashboard.linkTo(to, pattern);
  const base = (): string => dashboard.base;

  beforeAll(async () => {
    await dashboard.start();
  });
  afterAll(() => dashboard.stop());

  it('makes a first charge, its payment and a refund of R$ 9,90, and finds them by name and order', async () => {
    const page = await asOwner();
    await heading(page, 'Início');
    await page.getByRole('link', { name: 'Nova cobrança' }).click();
    await page.getByLabel('Valor em reais').fill('129,90');
    await page.getByLabel('Pedido').fill('1042');
    await page.getByText('Cliente (opcional)').click();
    await page.getByLabel('Nome').fill('Maria <b>Silva</b>');
    await page.getByRole('button', { name: 'Criar cobrança' }).dblclick();
    await heading(page, /Venda de R\$\s129,90/);
    await page.getByRole('button', { name: 'Pagar (teste)' }).click();
    await page.getByText('Paga', { exact: true }).first().waitFor();
    for (const query of ['Maria', '1042', 'Maria, pedido #1042']) {
      await page.getByRole('searchbox', { name: 'Buscar vendas' }).fill(query);
      await page.keyboard.press('Enter');
      await heading(page, 'Vendas');
      await page.getByRole('row', { name: /Maria/ }).first().waitFor();
      // A double click sends the form twice and creates one charge.
      await waitFor('a list of one sale', async () => (await page.getByRole('row').count()) === 2);
    }
    await page.getByRole('table').getByRole('link').first().click();
    await page.getByRole('button', { name: 'Reembolsar' }).click();
    const dialog = inDialog(page);
    await dialog.getByLabel('Valor').fill('200');
    expect(await dialog.getByRole('button', { name: /Devolver/ }).isDisabled()).toBe(true);
    await dialog.getByLabel('Valor').fill('9,90');
    await dialog.getByText(/R\$\s9,90 voltam para quem pagou \(Maria <b>Silva<\/b>\); restam R\$\s120,00\./).waitFor();
    await dialog.getByRole('button', { name: /Devolver/ }).dblclick();
    await page.getByText('Reembolsado', { exact: true }).waitFor();
    const refunds = page.getByRole('group', { name: 'Reembolsos' }).last();
    expect(await refunds.getByRole('row').count()).toBe(2);
    await go(page, 'Saldo');
    await page
      .getByRole('row', { name: /-R\$\s9,90/ })
      .getByRole('link', { name: /Maria/ })
      .click();
    await heading(page, /Venda de/);
    await page.context().close();
  });

  it('answers a dispute with two files and an appeal', async () => {
    const { id } = await aCharge({ amount: 7700, customer: { name: 'João' } });
    await simulate(id, { event: 'pay' });
    await simulate(id, { event: 'med_open' });
    const page = await asOwner('/test/disputes');
    await page.getByRole('link', { name: /77,00/ }).click();
    await heading(page, /Disputa de R\$\s77,00/);
    const files = join(dataDir, 'evidence-of-spec');
    const paths = ['entrega.png', 'conversa.png'].map((name) => `${files}-${name}`);
    for (const path of paths) writeFileSync(path, PNG);
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      page.getByRole('button', { name: 'escolha arquivos' }).click(),
    ]);
    await chooser.setFiles(paths);
    await page.getByRole('link', { name: /entrega\.png/ }).waitFor();
    await page.getByRole('link', { name: /conversa\.png/ }).waitFor();
    await page.getByRole('link', { name: /conversa\.png/ }).scrollIntoViewIfNeeded();
    await waitFor('the pictures', () =>
      page.evaluate<boolean>(
        "[...document.querySelectorAll('td img')].every(({ naturalWidth }) => naturalWidth === 1)",
      ),
    );
    // A file that is no picture is refused before it is sent.
    const [again] = await Promise.all([
      page.waitForEvent('filechooser'),
      page.getByRole('button', { name: 'escolha arquivos' }).click(),
    ]);
    await again.setFiles({ name: 'virus.exe', mimeType: 'application/x-msdownload', buffer: Buffer.from('MZ') });
    await page.getByText('Só imagens (PNG, JPEG, WebP, GIF) e PDF.').waitFor();
    await page.getByRole('button', { name: 'Enviar defesa' }).click();
    await inDialog(page).getByLabel('O que aconteceu').fill('Pedido entregue em 20/11, recebido por João.');
    await inDialog(page).getByRole('button', { name: 'Enviar a defesa' }).click();
    await page.getByText('Defesa enviada', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Decide pela loja (teste)' }).dblclick();
    await page.getByText('Encerrada', { exact: true }).first().waitFor();
    await page.context().close();
  });

  it('shows why a webhook fails, and resends what was lost', async () => {
    const receiver = await WebhookReceiver.start();
    try {
      receiver.answer = 500;
      const page = await asOwner('/test/webhooks');
      await page.getByRole('button', { name: 'Novo endpoint' }).click();
      await inDialog(page).getByLabel('URL').fill(receiver.url);
      await inDialog(page).getByLabel('Assinatura').selectOption('Também Standard Webhooks');
      await inDialog(page).getByRole('button', { name: 'Criar endpoint' }).click();
      await inDialog(page).getByText('Guarde este segredo agora').waitFor();
      await inDialog(page)
        .getByText(/^whsec_/)
        .waitFor();
      await inDialog(page).getByRole('button', { name: 'Fechar' }).click();
      await page.getByRole('button', { name: 'Testar' }).click();
      await inDialog(page).getByRole('button', { name: 'Enviar' }).click();
      await page.getByRole('cell', { name: 'HTTP 500' }).first().waitFor();
      await page.getByText(/Falhando desde .*: HTTP 500/).waitFor();
      expect(receiver.received[0]?.headers['webhook-signature']).toMatch(/^v1,/);
      await page.getByRole('group', { name: 'Entregas' }).getByRole('link').first().click();
      await page.getByText('HTTP 500').first().waitFor();
      await page.getByText('ok', { exact: true }).first().waitFor();
      receiver.answer = 200;
      await page.getByRole('button', { name: 'Tentar agora' }).click();
      await inDialog(page).getByRole('button', { name: 'Tentar agora' }).click();
      await page.getByText('Entregue', { exact: true }).first().waitFor();
      for (const screen of ['Webhooks', 'Início']) {
        await go(page, screen);
        await page.getByText('Saudável').waitFor();
      }
      await page.context().close();
    } finally {
      await receiver.stop();
    }
  });

  it('makes a file of the statement, and offers it for download', async () => {
    const page = await asOwner('/test/sales?startDate=2026-11-01');
    await page.getByRole('button', { name: 'Exportar' }).click();
    await page.getByRole('menuitem', { name: 'Outro período ou formato' }).click();
    await heading(page, 'Relatórios');
    // The export contains what the list shows.
    expect(await page.getByLabel('Tipo').inputValue()).toBe('sales');
    expect((await page.locator('.dates [role=spinbutton]').allInnerTexts()).slice(0, 3)).toEqual(['01', '11', '2026']);
    await page.getByLabel('Tipo').selectOption('statement');
    // A reader of Portuguese is offered a workbook first.
    expect(await page.getByLabel('Formato').inputValue()).toBe('xlsx pt-BR');
    await page.getByLabel('Formato').selectOption('CSV para Excel');
    await page.getByRole('button', { name: 'Gerar relatório' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page
        .getByRole('button', { name: /^Baixar/ })
        .first()
        .click(),
    ]);
    const path = await download.path();
    expect(readFileSync(path, 'utf8')).toContain('Dia;Criado em;Moeda;Saldo;Tipo;Valor;Saldo depois');
    await page.context().close();
  });

  it('issues, rotates and revokes a key, each shown once', async () => {
    const page = await asOwner('/test/developers');
    await page.getByRole('button', { name: 'Criar chave' }).dblclick();
    await inDialog(page).getByLabel('Nome').fill('site');
    await inDialog(page).getByRole('button', { name: 'Criar' }).click();
    const key = (
      await inDialog(page)
        .getByText(/^ak_test_/)
        .innerText()
    ).trim();
    expect((await fetch(`${dashboard.service.url}/v1/wallets`, { headers: { apikey: key } })).status).toBe(200);
    // Pressing a key must not lose the key that is shown once.
    for (let times = 0; times < 3; times += 1) await page.keyboard.press('Escape');
    expect(await inDialog(page).getByText(key).count()).toBe(1);
    await inDialog(page).getByRole('button', { name: 'Fechar' }).click();
    expect(await page.getByText(key).count()).toBe(0);
    expect(await page.evaluate('document.activeElement?.textContent')).toBe('Criar chave');
    await page.getByRole('button', { name: 'Trocar' }).first().click();
    await inDialog(page).getByRole('button', { name: 'Trocar' }).click();
    const rotated = (
      await inDialog(page)
        .getByText(/^ak_test_/)
        .innerText()
    ).trim();
    await inDialog(page).getByRole('button', { name: 'Fechar' }).click();
    const status = async (apikey: string, path = 'wallets'): Promise<number> =>
      (await fetch(`${dashboard.service.url}/v1/${path}`, { headers: { apikey } })).status;
    expect([await status(key), await status(rotated), await status(rotated, 'charges/nobody')]).toEqual([
      401, 200, 404,
    ]);
    // The list now shows the new key instead of the old one.
    await page.getByRole('button', { name: 'Revogar' }).first().click();
    await inDialog(page).getByRole('button', { name: 'Revogar' }).click();
    await inDialog(page).waitFor({ state: 'detached' });
    expect(await status(rotated)).toBe(401);
    await page.context().close();
  });

  it('finds the request of a program by its answer, and shows a sample of an event', async () => {
    await fetch(`${dashboard.service.url}/v1/charges/nobody`, { headers: { apikey: readDemo(dataDir).test_api_key } });
    const page = await asOwner('/test/developers');
    await page.getByLabel('Resposta').selectOption('404');
    const requests = page.getByRole('group', { name: 'Requisições' }).getByRole('row');
    // The log is written a moment after the answer.
    const found = requests.filter({ hasText: 'GET /v1/charges/' }).first();
    await page.getByRole('button', { name: 'Buscar', exact: true }).click();
    await waitFor('the request in the log', async () => {
      if (await found.isVisible()) return true;
      await page.getByRole('button', { name: 'Atualizar' }).click();
      return null;
    });
    // Ids and fingerprints have such digits too.
    expect(await requests.getByRole('cell', { name: '200', exact: true }).count()).toBe(0);
    await page.getByLabel('Evento', { exact: true }).selectOption('charge.expired');
    await page.getByText('"type": "charge.expired"').waitFor();
    await page.context().close();
  });

  it('invites a colleague, who chooses a password by the link and can look but not act', async () => {
    const owner = await asOwner('/team');
    await owner.getByRole('button', { name: 'Convidar' }).click();
    await inDialog(owner).getByLabel('E-mail').fill('bia@example.com');
    await inDialog(owner).getByRole('button', { name: 'Enviar o convite' }).click();
    await owner.getByText('bia@example.com').first().waitFor();
    const link = await waitForLink('bia@example.com', /\/dashboard\/invitation#(\S+)/);
    const page = await open(`/invitation#${link}`);
    await page.getByLabel('Nova senha').fill(PASSWORD);
    await page.getByRole('button', { name: 'Salvar a senha' }).click();
    await page.getByText('Pronto. Agora entre').waitFor();
    expect(page.url()).not.toContain(link);
    await page.goto(`${base()}/dashboard/test/sales`);
    await logIn(page, 'bia@example.com', PASSWORD);
    await heading(page, 'Vendas');
    expect(await page.getByRole('link', { name: 'Nova cobrança' }).count()).toBe(0);
    await page.getByRole('table').getByRole('link').first().click();
    await heading(page, /Venda de/);
    for (const name of ['Reembolsar', 'Cancelar a cobrança', 'Pagar (teste)', 'Reenviar webhooks']) {
      expect(await page.getByRole('button', { name }).count()).toBe(0);
    }
    await page.goto(`${base()}/dashboard/team`);
    await page.getByText('Só donos e administradores veem a equipe da conta.').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    // The service refuses the action that the page does not offer.
    const refused = await page.evaluate(async () => {
      const answer = await fetch('/v1/dashboard/test/webhooks/default-secret/rotate', {
        method: 'POST',
        headers: { 'X-Requested-With': 'dashboard' },
      });
      return answer.status;
    });
    expect(refused).toBe(403);
    await page.context().close();
    await owner.context().close();
  });

  it('shows payers the account as its owner wants it, and lets nobody else change it', async () => {
    const page = await asOwner('/settings');
    await page.getByRole('button', { name: 'Editar', exact: true }).click();
    const dialog = inDialog(page);
    await dialog.getByLabel('Nome').fill('Padaria da Vila');
    await dialog.getByLabel('Cor do checkout').fill('#7a1fa2');
    const wrong = { name: 'logo.gif', mimeType: 'image/gif', buffer: Buffer.from('GIF89a') };
    await dialog.getByLabel('Logotipo do checkout').setInputFiles(wrong);
    await dialog.getByText('O logotipo é um PNG, JPEG ou WebP').waitFor();
    await dialog
      .getByLabel('Logotipo do checkout')
      .setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: PNG });
    await dialog.getByRole('img', { name: 'Logotipo' }).waitFor();
    await dialog.getByRole('button', { name: 'Salvar' }).click();
    await page.getByRole('region', { name: 'Conta' }).getByText('Padaria da Vila').waitFor();
    const { id } = await aCharge();
    const checkout = await (await fetch(`${dashboard.service.url}/checkout/${id.slice(3)}`)).text();
    expect(checkout).toContain('Padaria da Vila');
    expect(checkout).toContain('#7a1fa2');
    expect(checkout).toContain(`${id.slice(3)}/logo`);
    // An invisible colour is refused with its reason.
    await page.getByRole('button', { name: 'Editar', exact: true }).click();
    await dialog.getByLabel('Nome').fill('Demo');
    await dialog.getByLabel('Cor do checkout').fill('#fffff0');
    await dialog.getByRole('button', { name: 'Salvar' }).click();
    await dialog
      .getByText(/stands out from white/)
      .first()
      .waitFor();
    await dialog.getByLabel('Cor do checkout').fill('#0b6b60');
    await dialog.getByRole('button', { name: 'Salvar' }).click();
    await page.getByRole('region', { name: 'Conta' }).getByText('Demo', { exact: true }).waitFor();
    await page.context().close();
  });

  it('lets an operator decide about a held payment', async () => {
    const passwordFile = join(dataDir, 'operator-password');
    writeFileSync(passwordFile, PASSWORD);
    const made = await cli(['operator', 'create', '--email', 'op@example.com', '--password-file', passwordFile]);
    expect(made.stderr).toBe('');
    const { account_id: accountId } = readDemo(dataDir);
    await cli(['account', 'set', accountId, 'payer_lock=true']);
    const { id } = await aCharge({
      amount: 4400,
      expected_payer_tax_id: '52998224725',
      customer: { name: 'Ana', document: '52998224725' },
    });
    await simulate(id, { event: 'pay', payer_document: null });
    const page = await open('');
    await logIn(page, 'op@example.com', PASSWORD);
    await go(page, 'Operação');
    await page.getByRole('row', { name: /44,00/ }).getByRole('button', { name: 'Aceitar' }).click();
    await inDialog(page)
      .getByText(/R\$\s44,00 são creditados a Demo\./)
      .waitFor();
    await inDialog(page).getByRole('button', { name: 'Aceitar' }).click();
    await page.getByRole('row', { name: /44,00/ }).getByRole('button').first().waitFor({ state: 'detached' });
    await cli(['account', 'set', accountId, 'payer_lock=false']);
    await page.context().close();
  });

  it('lets an operator see a dispute, decide it, and change an account', async () => {
    for (const [amount, claimed] of [
      [7100, 3100],
      [7200, 3200],
    ]) {
      const { id } = await aCharge({ amount });
      await simulate(id, { event: 'pay' });
      await simulate(id, { event: 'med_open', amount: claimed, reason: 'golpe' });
    }
    const page = await open('');
    await logIn(page, 'op@example.com', PASSWORD);
    await heading(page, 'Operação');
    const queue = page.getByLabel('Fila');
    await queue.selectOption('med');
    const row = (claimed: RegExp): ReturnType<Page['getByRole']> => page.getByRole('row', { name: claimed });
    await row(/31,00/).getByText('o banco informou outro valor').waitFor();
    await row(/31,00/).getByText('Ver', { exact: true }).click();
    await row(/31,00/).getByText('golpe').waitFor();
    // A value typed for one case must not appear for the next.
    await row(/31,00/).getByRole('button', { name: 'Aprovar' }).click();
    await inDialog(page).getByLabel('Outro valor').fill('12,34');
    await inDialog(page).getByRole('button', { name: 'Voltar' }).click();
    await row(/32,00/).getByRole('button', { name: 'Aprovar' }).click();
    expect(await inDialog(page).getByLabel('Outro valor').inputValue()).toBe('');
    await inDialog(page).getByRole('button', { name: 'Voltar' }).click();
    await row(/31,00/).getByRole('button', { name: 'Rejeitar' }).click();
    await inDialog(page).getByRole('button', { name: 'Rejeitar' }).click();
    await row(/31,00/).first().waitFor({ state: 'detached' });
    await queue.selectOption('accounts');
    await page.getByRole('button', { name: 'Configurar' }).first().click();
    await inDialog(page).getByLabel('Tarifa, em').fill('99');
    await inDialog(page).getByRole('button', { name: 'Salvar' }).click();
    await page.getByRole('cell', { name: /0,99?\s?%|1\s?%/ }).waitFor();
    await cli(['account', 'set', readDemo(dataDir).account_id, 'fee_bps=0']);
    await queue.selectOption('connections');
    await page.getByText('Nenhuma conta conectada a um banco.').waitFor();
    await page.context().close();
  });

  it('works by keyboard alone for a charge, its payment and a refund', async () => {
    const page = await open('');
    const { email, password } = readDemo(dataDir);
    await page.getByLabel('E-mail').waitFor();
    await page.keyboard.type(email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(password);
    await page.keyboard.press('Enter');
    await heading(page, 'Início');
    const tabTo = async (name: string | RegExp): Promise<void> => {
      for (let n = 0; n < 60; n++) {
        await page.keyboard.press('Tab');
        const text = await page.evaluate<string>(
          "document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.innerText ?? ''",
        );
        if (typeof name === 'string' ? text === name : name.test(text)) return;
      }
      throw new Error(`Tab does not come to ${String(name)}`);
    };
    await tabTo('Nova cobrança');
    await page.keyboard.press('Enter');
    await heading(page, 'Nova cobrança');
    await page.getByLabel('Valor em reais').focus();
    await page.keyboard.type('10');
    await page.keyboard.press('Enter');
    await heading(page, /Venda de R\$\s10,00/);
    await tabTo('Pagar (teste)');
    await page.keyboard.press('Enter');
    await page.getByText('Paga', { exact: true }).first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.press('Escape');
    await tabTo('Reembolsar');
    await page.keyboard.press('Enter');
    await tabTo(/^Devolver/);
    // A dialog that has just opened ignores a press that was meant for the page.
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /^Devolver/, disabled: false }).waitFor();
    expect(await page.getByText('Reembolsado', { exact: true }).count()).toBe(0);
    await page.keyboard.press('Enter');
    await page.getByText('Reembolsado', { exact: true }).waitFor();
    await page.context().close();
  });

  it.each(['light', 'dark'] as const)(
    'has no finding of axe, at any width and in both languages (%s)',
    async (colorScheme) => {
      const { data } = await api<{ data: { id: string }[] }>('GET', '/v1/payments?limit=1');
      const cases = await api<{ data: { id: string }[] }>('GET', '/v1/med/cases?limit=1');
      const deliveries = await api<{ data: { id: string }[] }>('GET', '/v1/webhooks/deliveries?limit=1');
      const destination = await api<{ id: string }>('POST', '/v1/payout-destinations', {
        ...{ type: 'pix_key', key: 'maria@example.com', tax_id: '52998224725', label: 'Maria' },
      });
      const payout = await api<{ id: string }>(
        'POST',
        '/v1/payouts',
        { amount: 100, destination: destination.id },
        { 'Idempotency-Key': 'payout-of-spec' },
      );
      const found: unknown[] = [];
      const check = async (page: Page, path: string, about: string): Promise<void> => {
        found.push(...(await barriers(page, `${path} ${about}`)));
      };
      for (const locale of ['pt-BR', 'en-US']) {
        const outside = await open('', { colorScheme, locale });
        await outside.getByRole('heading', { level: 1 }).waitFor();
        await check(outside, 'login', locale);
        await outside.goto(`${base()}/dashboard/forgot-password`);
        await outside.getByRole('heading', { level: 1 }).waitFor();
        await check(outside, 'forgot-password', locale);
        await outside.context().close();
      }
      const page = await asOwner('', { colorScheme });
      const paths = [
        ...SCREENS,
        `/test/sales/${data[0]?.id ?? ''}`,
        `/test/disputes/${cases.data[0]?.id ?? ''}`,
        `/test/payouts/${payout.id}`,
        `/test/webhooks/deliveries/${deliveries.data[0]?.id ?? ''}`,
      ];
      // A trial checks every combination; CI checks each language, scheme and width.
      for (const language of trial(['pt-BR', 'en'], colorScheme === 'light' ? ['pt-BR'] : ['en'])) {
        await page.evaluate(`localStorage.setItem('recebe.language', '${language}')`);
        for (const path of paths) {
          await page.goto(`${base()}/dashboard${path}`);
          await page.getByRole('heading', { level: 1 }).waitFor();
          await page.waitForLoadState('networkidle');
          for (const width of trial([320, 768, 1280], [320, colorScheme === 'light' ? 768 : 1280])) {
            await page.setViewportSize({ width, height: 900 });
            await check(page, path, `${language} ${String(width)}`);
          }
        }
      }
      await page.evaluate("localStorage.setItem('recebe.language', 'pt-BR')");
      await page.goto(`${base()}/dashboard/test/sales/${data[0]?.id ?? ''}`);
      await page.context().close();
      expect(found).toEqual([]);
    },
  );

  it('shows nothing of other accounts, and reports that a login was ended elsewhere', async () => {
    const page = await asOwner('/test/sales/01a20000-0000-7000-8000-000000000000');
    await heading(page, 'Página não encontrada');
    const other = await asOwner('/settings');
    await other.getByRole('button', { name: 'Terminar' }).first().waitFor();
    for (let left = await other.getByRole('button', { name: 'Terminar' }).count(); left > 0; left--) {
      await other.getByRole('button', { name: 'Terminar' }).first().click();
      await other
        .getByRole('button', { name: 'Terminar' })
        .nth(left - 1)
        .waitFor({ state: 'detached' });
    }
    await go(page, 'Vendas');
    await page.getByRole('heading', { level: 1, name: 'Entrar' }).waitFor();
    await page.getByText('O seu acesso terminou').waitFor();
    expect(await page.getByRole('table').count()).toBe(0);
    await other.getByRole('button', { name: 'Sair' }).click();
    await other.getByRole('heading', { level: 1, name: 'Entrar' }).waitFor();
    await other.goBack();
    await other.getByRole('heading', { level: 1, name: 'Entrar' }).waitFor();
    await page.context().close();
    await other.context().close();
  });

  it('ends a login after an idle hour, although its page goes on polling', async () => {
    const page = await open('/test/sales');
    await page.clock.install();
    const { email, password } = readDemo(dataDir);
    await logIn(page, email, password);
    await heading(page, 'Vendas');
    await page.clock.fastForward('50:00');
    await page.getByRole('heading', { level: 1, name: 'Vendas' }).click();
    await page.clock.fastForward('50:00');
    await heading(page, 'Vendas');
    await page.clock.fastForward('11:00');
    await page.getByRole('button', { name: 'Entrar' }).waitFor();
    const session = await page.evaluate(async () => (await fetch('/v1/auth/session')).status);
    expect(session).toBe(401);
    await page.context().close();
  });

  it('makes one charge when the answer to a form was lost', async () => {
    const page = await asOwner('/test/sales/new');
    let lost = 0;
    await page.route('**/v1/dashboard/test/charges', async (route) => {
      if (++lost > 1) return route.continue();
      // The service has made the charge, but the answer never arrives.
      await route.fetch();
      return route.abort();
    });
    await page.getByLabel('Valor em reais').fill('8,88');
    await page.getByLabel('Pedido').fill('lost-answer');
    await page.getByRole('button', { name: 'Criar cobrança' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Criar cobrança' }).click();
    await heading(page, /Venda de R\$\s8,88/);
    const { total } = await api<{ total: number }>('GET', '/v1/payments?query=lost-answer');
    expect(total).toBe(1);
    await page.getByRole('button', { name: 'Pagar (teste)' }).dblclick();
    await page.getByText('Paga', { exact: true }).first().waitFor();
    // The payment succeeded once: a second Pix would have been sent back.
    await page.reload();
    await page.getByText('Paga', { exact: true }).first().waitFor();
    expect(await page.getByText('Pix devolvido').count()).toBe(0);
    await page.context().close();
  });

  it('waits for the network when it is away, and goes on when it is back', async () => {
    for (const name of ['Com rede', 'Sem rede']) await aCharge({ customer: { name } });
    const page = await asOwner('/test/sales');
    await page
      .getByRole('row', { name: /Com rede/ })
      .getByRole('link')
      .first()
      .click();
    await heading(page, /Venda de/);
    await page.goBack();
    const other = page.getByRole('row', { name: /Sem rede/ });
    await other.waitFor();
    await page.context().setOffline(true);
    await other.getByRole('link').first().click();
    await page.waitForTimeout(500);
    expect(await page.getByText('Sem rede').count()).toBe(0);
    await page.context().setOffline(false);
    await page.getByText('Sem rede').first().waitFor();
    await page.context().close();
  });

  it('shows the chosen columns, also after a reload', async () => {
    await aCharge({ customer: { name: 'Com e-mail', email: 'com@example.com' } });
    const page = await asOwner('/test/sales');
    await page.getByText('Colunas').click();
    await page.getByRole('checkbox', { name: 'E-mail' }).check();
    await page.getByRole('checkbox', { name: 'Forma de pagamento' }).uncheck();
    await page.getByRole('cell', { name: 'com@example.com' }).first().waitFor();
    await page.reload();
    await page.getByRole('columnheader', { name: 'E-mail' }).waitFor();
    expect(await page.getByRole('columnheader', { name: 'Forma de pagamento' }).count()).toBe(0);
    await page.context().close();
  });

  it('shows a new payment on its page and in the lists without a reload', async () => {
    const { id } = await aCharge({ customer: { name: 'Paga de longe' } });
    const page = await asOwner(`/test/sales/${id.slice(3)}`);
    await page.getByText('Aguardando pagamento').first().waitFor();
    const list = await asOwner('/test/sales');
    const row = list.getByRole('row', { name: /Paga de longe/ });
    await row.getByText('Aguardando pagamento').waitFor();
    // The streams are open a moment after the pages.
    await page.waitForTimeout(1_000);
    const before = performance.now();
    await simulate(id, { event: 'pay' });
    await Promise.all([
      page.getByText('Paga', { exact: true }).first().waitFor(),
      row.getByText('Paga', { exact: true }).waitFor(),
    ]);
    const elapsed = performance.now() - before;
    process.stderr.write(`dashboard: a payment is shown after ${elapsed.toFixed(0)} ms\n`);
    await page.context().close();
    await list.context().close();
  });

  it('shows that the service is away, and recovers by itself when it is back', async () => {
    const { id } = await aCharge();
    const page = await asOwner(`/test/sales/${id.slice(3)}`);
    await page.getByText('Aguardando pagamento').first().waitFor();
    const port = new URL(dashboard.service.url).port;
    await dashboard.service.kill('SIGTERM');
    await page.getByText('O serviço não responde').waitFor();
    dashboard.service = await processes.start(dataDir, {
      LOG_LEVEL: 'error',
      RATE_LIMIT_LOGIN_PER_15_MINUTES: '1000',
      PORT: port,
    });
    await page.getByText('O serviço não responde').waitFor({ state: 'detached' });
    await simulate(id, { event: 'pay' });
    await page.getByText('Paga', { exact: true }).first().waitFor();
    await page.context().close();
  });

  it('weighs at most 170 kB for the first screen with its font, and 350 kB for all screens', async () => {
    const context: BrowserContext = await dashboard.browser.newContext({ locale: 'pt-BR' });
    const page = await context.newPage();
    const sizes = new Map<string, number>();
    page.on('response', (response) => {
      const { pathname } = new URL(response.url());
      if (pathname.startsWith('/dashboard')) sizes.set(pathname, Number(response.headers()['content-length'] ?? 0));
    });
    const weight = (): number => [...sizes.values()].reduce((sum, size) => sum + size, 0);
    await page.goto(`${base()}/dashboard`);
    const { email, password } = readDemo(dataDir);
    await logIn(page, email, password);
    await heading(page, 'Início');
    await page.waitForLoadState('networkidle');
    const first = weight();
    expect([...sizes.keys()].some((name) => name.endsWith('.woff2'))).toBe(true);
    // A screen is loaded when it is opened.
    const early = [...sizes.keys()].filter((name) => /(?:sales|sale|balance|webhooks|operations)-/.test(name));
    expect(early).toEqual([]);
    await go(page, 'Vendas');
    await heading(page, 'Vendas');
    expect([...sizes.keys()].some((name) => name.includes('/sales-'))).toBe(true);
    await context.close();
    const directory = 'dist/dashboard/assets';
    const all = readdirSync(directory).filter((name) => /\.(?:br|woff2)$/.test(name) && !name.startsWith('gallery-'));
    const bytes = all.reduce((sum, name) => sum + readFileSync(join(directory, name)).length, 0);
    process.stderr.write(`dashboard: ${String(first)} bytes for the first screen, ${String(bytes)} for all\n`);
    expect(first).toBeLessThan(170_000);
    expect(bytes).toBeLessThan(350_000);
  });

  it('has no errors, no requests to other hosts, and no policy violations', () => {
    expect(faults).toEqual([]);
  });
});
