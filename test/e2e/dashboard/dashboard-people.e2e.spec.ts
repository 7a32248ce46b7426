import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { describeWith } from '../../support/needs.js';
import { barriers, Dashboard, go, heading, inDialog, PASSWORD, PNG } from '../../support/dashboard.js';
import { readDemo } from '../../support/process.js';
import { WebhookReceiver } from '../../support/receiver.js';

jest.setTimeout(600_000);

const NEXT = 'another horse, another battery';
const LAST = 'the last horse of the stable';
const STEP_MS = 30_000;

/** Each role does its own work, and every open screen is checked for barriers. */
describeWith('browser')('people at the dashboard in a real browser', () => {
  const dashboard = new Dashboard();
  let owner: Page;

  beforeAll(async () => {
    await dashboard.start({ CORRECTION_LIMIT: '1000' });
    owner = await dashboard.asOwner('/team');
  });
  afterAll(() => dashboard.stop());

  async function invite(email: string, role: string): Promise<string> {
    await dashboard.visit(owner, '/team');
    await owner.getByRole('button', { name: 'Convidar' }).click();
    await inDialog(owner).getByLabel('E-mail').fill(email);
    await inDialog(owner).getByLabel('Papel').selectOption(role);
    await inDialog(owner).getByRole('button', { name: 'Enviar o convite' }).dblclick();
    await inDialog(owner).waitFor({ state: 'detached' });
    return dashboard.linkTo(email, /\/dashboard\/invitation#(\S+)/);
  }
  async function choose(page: Page, password: string, done: string): Promise<void> {
    await page.getByLabel('Nova senha').fill(password);
    await page.getByRole('button', { name: 'Salvar a senha' }).click();
    await page.getByText(done).waitFor();
  }
  const logOut = async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: 'Sair' }).click();
    await heading(page, 'Entrar');
  };
  const home = (page: Page): Promise<void> => page.getByRole('navigation', { name: 'Principal' }).waitFor();

  it('lets an OWNER set a second factor, change the password, and come back after forgetting it', async () => {
    const email = 'dona@example.com';
    const page = await dashboard.open(`/invitation#${await invite(email, 'OWNER')}`);
    await heading(page, 'Aceitar o convite');
    const found: unknown[] = await barriers(page, 'invitation');
    await choose(page, PASSWORD, 'Pronto. Agora entre');
    await dashboard.visit(page, '/settings');
    await dashboard.logIn(page, email, PASSWORD);
    await heading(page, 'Configurações');
    const factor = page.getByRole('region', { name: 'Segundo fator' });
    await factor.getByRole('button', { name: 'Configurar' }).click();
    // A draft that was typed and left must not reappear.
    await inDialog(page).getByLabel('Senha').fill('rascunho');
    await inDialog(page).getByRole('button', { name: 'Voltar' }).click();
    await factor.getByRole('button', { name: 'Configurar' }).click();
    expect(await inDialog(page).getByLabel('Senha').inputValue()).toBe('');
    await inDialog(page).getByLabel('Senha').fill('another one');
    await inDialog(page).getByRole('button', { name: 'Continuar' }).click();
    await inDialog(page).getByText('A senha não confere.').waitFor();
    await inDialog(page).getByLabel('Senha').fill(PASSWORD);
    await inDialog(page).getByRole('button', { name: 'Continuar' }).click();
    const shown = await inDialog(page).getByRole('button', { name: 'Copiar o segredo' }).innerText();
    const totp = new TOTP({ secret: Secret.fromBase32(shown.trim().split(/\s/)[0] ?? '') });
    found.push(...(await barriers(page, 'second factor')));
    await inDialog(page).getByLabel('Código que o aplicativo mostra').fill('não é');
    await inDialog(page).getByRole('button', { name: 'Confirmar' }).click();
    await inDialog(page).getByText('O código está errado').waitFor();
    await inDialog(page).getByLabel('Código que o aplicativo mostra').fill(totp.generate());
    await inDialog(page).getByRole('button', { name: 'Confirmar' }).click();
    const codes = (await inDialog(page).locator('pre').innerText()).split('\n');
    expect(codes).toHaveLength(10);
    await inDialog(page).getByRole('button', { name: 'Fechar' }).click();
    await logOut(page);
    await dashboard.logIn(page, email, PASSWORD);
    await page.getByLabel('Código do aplicativo').fill(totp.generate({ timestamp: Date.now() + STEP_MS }));
    await page.getByRole('button', { name: 'Entrar' }).click();
    await home(page);
    await go(page, 'Configurações');
    await page.getByRole('button', { name: 'Editar o nome' }).click();
    await inDialog(page).getByLabel('Nome').fill('Dona Maria');
    await inDialog(page).getByRole('button', { name: 'Salvar' }).dblclick();
    await inDialog(page).waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'Você' }).getByText('Dona Maria').waitFor();
    await page.getByRole('button', { name: 'Trocar a senha' }).click();
    await inDialog(page).getByLabel('Senha atual').fill(PASSWORD);
    await inDialog(page).getByLabel('Nova senha').fill('1234567890');
    await inDialog(page).getByRole('button', { name: 'Trocar', exact: true }).click();
    await inDialog(page).getByText('Nova senha é uma das senhas tentadas primeiro; escolha outra').waitFor();
    await inDialog(page).getByLabel('Nova senha').fill(NEXT);
    await inDialog(page).getByRole('button', { name: 'Trocar', exact: true }).dblclick();
    await inDialog(page).getByText('Senha alterada.').waitFor();
    await inDialog(page).getByRole('button', { name: 'Fechar' }).click();
    await logOut(page);
    await page.getByRole('link', { name: 'Esqueci a senha' }).click();
    await page.getByLabel('E-mail').fill(email);
    await page.getByRole('button', { name: 'Enviar o link' }).click();
    await page.getByText('um link foi enviado').waitFor();
    await dashboard.visit(
      page,
      `/reset-password#${await dashboard.linkTo(email, /\/dashboard\/reset-password#(\S+)/)}`,
    );
    await heading(page, 'Escolher uma senha nova');
    found.push(...(await barriers(page, 'reset-password')));
    await choose(page, LAST, 'A senha foi trocada');
    await dashboard.visit(page, '/forgot-password');
    await dashboard.visit(page, '/reset-password#used');
    await page.getByLabel('Nova senha').fill(LAST);
    await page.getByRole('button', { name: 'Salvar a senha' }).click();
    await page.getByText('Este link não vale mais').waitFor();
    await page.getByRole('link', { name: 'Ir para o login' }).click();
    await dashboard.logIn(page, email, NEXT);
    await page.getByText('E-mail ou senha incorretos.').waitFor();
    await dashboard.logIn(page, email, LAST);
    await page.getByLabel('Código do aplicativo').fill(codes[0] ?? '');
    await page.getByRole('button', { name: 'Entrar' }).click();
    await home(page);
    expect(found).toEqual([]);
    await page.context().close();
  });

  it('lets an OWNER rotate a webhook’s secret, verify a webhook, resend lost ones, and switch it off', async () => {
    const receiver = await WebhookReceiver.start();
    try {
      await dashboard.visit(owner, '/test/webhooks');
      await owner.getByRole('button', { name: 'Novo endpoint' }).click();
      await inDialog(owner).getByLabel('URL').fill(receiver.url);
      await inDialog(owner).getByRole('button', { name: 'Criar endpoint' }).dblclick();
      await inDialog(owner).getByRole('button', { name: 'Fechar' }).click();
      expect(await owner.getByRole('button', { name: 'Trocar o segredo' }).count()).toBe(1);
      await owner.getByRole('button', { name: 'Trocar o segredo' }).click();
      await inDialog(owner).getByRole('button', { name: 'Trocar', exact: true }).click();
      const shown = await inDialog(owner).getByRole('button', { name: 'Copiar o segredo' }).innerText();
      const secret = shown.trim().split(/\s/)[0] ?? '';
      await inDialog(owner).getByRole('button', { name: 'Fechar' }).click();
      await owner.getByText('Segredo antigo vale até').waitFor();
      const { id } = await dashboard.charge();
      await dashboard.simulate(id, { event: 'pay' });
      const [paid] = await receiver.waitForType('charge.paid');
      await owner.getByRole('button', { name: 'Verificar uma assinatura' }).click();
      await inDialog(owner)
        .getByLabel('Corpo, byte a byte')
        .fill(String(paid?.rawBody ?? ''));
      await inDialog(owner)
        .getByLabel('Cabeçalhos')
        .fill(
          Object.entries(paid?.headers ?? {})
            .map(([name, value]) => `${name}: ${String(value)}`)
            .join('\n'),
        );
      await inDialog(owner).getByLabel('Segredo que o servidor usa').fill(secret);
      await inDialog(owner).getByRole('button', { name: 'Verificar' }).click();
      await inDialog(owner).getByText('Assinatura válida', { exact: true }).waitFor();
      await inDialog(owner).getByRole('button', { name: 'Voltar' }).click();
      await owner.getByRole('button', { name: 'Reenviar entregas que falharam' }).click();
      await inDialog(owner).getByRole('button', { name: 'Contar' }).click();
      await inDialog(owner).getByText('Nada se perdeu neste tempo.').waitFor();
      expect(
        await inDialog(owner)
          .getByRole('button', { name: /^Enviar \d/ })
          .count(),
      ).toBe(0);
      await inDialog(owner).getByRole('button', { name: 'Voltar' }).click();
      await owner.getByRole('button', { name: 'Desativar' }).click();
      await inDialog(owner).getByRole('button', { name: 'Desativar' }).dblclick();
      await owner.getByText('Desativado', { exact: true }).waitFor();
      const told = receiver.received.length;
      await dashboard.simulate((await dashboard.charge()).id, { event: 'pay' });
      await owner.getByRole('button', { name: 'Ativar', exact: true }).waitFor();
      expect(receiver.received).toHaveLength(told);
    } finally {
      await receiver.stop();
    }
  });

  it('lets an ADMIN act, and keeps settings and owners for an OWNER', async () => {
    const page = await dashboard.open(`/invitation#${await invite('adm@example.com', 'ADMIN')}`);
    await choose(page, PASSWORD, 'Pronto. Agora entre');
    await dashboard.visit(page, '/test/sales/new');
    await dashboard.logIn(page, 'adm@example.com', PASSWORD);
    await page.getByLabel('Valor em reais').fill('33');
    await page.getByRole('button', { name: 'Criar cobrança' }).click();
    await heading(page, /Venda de R\$\s33,00/);
    await page.getByRole('button', { name: 'Pagar (teste)' }).click();
    await page.getByRole('button', { name: 'Reembolsar' }).waitFor();
    await go(page, 'Equipe');
    const demo = page.getByRole('row', { name: new RegExp(readDemo(dashboard.dataDir).email) });
    await demo.first().waitFor();
    expect(await demo.first().getByRole('button').count()).toBe(0);
    await go(page, 'Configurações');
    await page.getByRole('region', { name: 'Conta' }).waitFor();
    expect(await page.getByRole('region', { name: 'Conta' }).getByRole('button').count()).toBe(0);
    await page.context().close();
  });

  it('lets operators correct the books, with two of them for a large correction, and find accounts and keys', async () => {
    const passwordFile = join(dashboard.dataDir, 'operators-password');
    writeFileSync(passwordFile, PASSWORD);
    const operators: Page[] = [];
    const { account_id: account } = readDemo(dashboard.dataDir);
    for (const email of ['op1@example.com', 'op2@example.com']) {
      await dashboard.cli(['operator', 'create', '--email', email, '--password-file', passwordFile]);
      const page = await dashboard.open('/operations?queue=corrections');
      await dashboard.logIn(page, email, PASSWORD);
      await heading(page, 'Operação');
      operators.push(page);
    }
    const [first, second] = operators as [Page, Page];
    for (const path of ['/test/sales', '/live', '/team']) {
      await dashboard.visit(second, path);
      await second.getByText('Isto é de uma conta, e operadores não têm conta.').waitFor();
    }
    await second.getByRole('link', { name: 'Ir para a operação' }).click();
    await heading(second, 'Operação');
    await dashboard.visit(second, '/operations?queue=corrections');
    const enter = async (amount: string, reason: string): Promise<void> => {
      await first.getByRole('button', { name: 'Lançar tarifa ou perda' }).click();
      await inDialog(first).getByLabel('Id da conta').fill(account);
      await inDialog(first).getByLabel('Modo').selectOption('test');
      await inDialog(first).getByLabel('Valor').fill(amount);
      await inDialog(first).getByLabel('Quem paga').selectOption('merchant');
      await inDialog(first).getByLabel('Motivo').fill(reason);
      await inDialog(first).getByRole('button', { name: 'Lançar', exact: true }).dblclick();
      await inDialog(first).waitFor({ state: 'detached' });
    };
    const row = (page: Page, reason: string): ReturnType<Page['getByRole']> => page.getByRole('row', { name: reason });
    await enter('-5,00', 'a tarifa voltou');
    await row(first, 'a tarifa voltou').getByText('Aplicada').waitFor();
    await row(first, 'a tarifa voltou')
      .getByText(/^-R\$\s5,00$/)
      .waitFor();
    await enter('20,00', 'tarifa de novembro');
    await row(first, 'tarifa de novembro').getByText('aguarda outro operador').waitFor();
    await first
      .getByLabel('Fila')
      .getByRole('option', { name: /Correções \(1, há 0 min\)/ })
      .waitFor({ state: 'attached' });
    await row(second, 'tarifa de novembro').getByRole('button', { name: 'Aprovar' }).click();
    await inDialog(second).getByRole('button', { name: 'Aprovar' }).dblclick();
    await row(second, 'tarifa de novembro').getByText('Aplicada').waitFor();
    // A boleto paid after its time: no bank sends that money back by itself.
    const boleto = await dashboard.api<{ id: string }>('POST', '/v1/payments', {
      amount: 4100,
      paymentMethods: ['BOLETO'],
      idempotencyKey: 'late-boleto',
      customerName: 'Maria',
      customerDocument: '52998224725',
    });
    for (const event of ['expire', 'pay']) {
      await dashboard.api('POST', `/v1/sandbox/payments/${boleto.id}/simulate`, { event });
    }
    await dashboard.visit(first, '/operations?queue=unmatched');
    await row(first, '41,00').getByRole('button', { name: 'Resolver' }).click();
    await inDialog(first).getByLabel('O que fazer').selectOption('returned_elsewhere');
    await inDialog(first).getByLabel('Id da devolução no banco').fill('TED4711');
    await inDialog(first).getByLabel('Motivo').fill('devolvido por TED');
    await inDialog(first).getByRole('button', { name: 'Confirmar' }).dblclick();
    await row(first, '41,00').getByText('aguarda outro operador').waitFor();
    await dashboard.visit(second, '/operations?queue=corrections');
    await row(second, 'devolvido por TED').getByRole('button', { name: 'Aprovar' }).click();
    await inDialog(second).getByRole('button', { name: 'Aprovar' }).dblclick();
    await row(second, 'devolvido por TED').getByText('Aplicada').waitFor();
    await dashboard.visit(first, '/operations?queue=unmatched');
    await first.getByText('Nenhum Pix sem cobrança.').waitFor();
    const { available } = await dashboard.api<{ available: number }>('GET', '/v1/wallets/balance');
    await dashboard.visit(second, '/operations?queue=accounts');
    await second.getByLabel('Buscar contas').fill('nobody-at-all');
    await second.getByRole('button', { name: 'Buscar', exact: true }).click();
    await second.getByText('Nenhuma conta.').waitFor();
    await second.getByLabel('Buscar contas').fill('demo');
    await second.getByRole('button', { name: 'Buscar', exact: true }).click();
    await second.getByText('Chaves', { exact: true }).first().click();
    const keys = second.getByRole('group', { name: /^Chaves de/ });
    await keys.getByRole('row').nth(1).waitFor();
    await second.getByRole('button', { name: 'Configurar' }).first().click();
    await inDialog(second).getByLabel('Valor máximo de uma cobrança').fill('150,00');
    await inDialog(second).getByLabel('CPFs e CNPJs bloqueados').fill('529.982.247-25');
    await inDialog(second).getByLabel('Webhooks avisam o resultado das disputas').uncheck();
    await inDialog(second).getByRole('button', { name: 'Salvar' }).click();
    await inDialog(second).waitFor({ state: 'detached' });
    await second.getByRole('button', { name: 'Configurar' }).first().click();
    expect([
      await inDialog(second).getByLabel('Valor máximo de uma cobrança').inputValue(),
      await inDialog(second).getByLabel('CPFs e CNPJs bloqueados').inputValue(),
    ]).toEqual(['150,00', '52998224725']);
    await inDialog(second).getByLabel('Valor máximo de uma cobrança').fill('');
    await inDialog(second).getByLabel('CPFs e CNPJs bloqueados').fill('');
    await inDialog(second).getByLabel('Webhooks avisam o resultado das disputas').check();
    await inDialog(second).getByRole('button', { name: 'Salvar' }).click();
    await inDialog(second).waitFor({ state: 'detached' });
    expect(available).toEqual(expect.any(Number));
    // Each queue is checked for barriers at the width of a telephone and of a desk.
    const found: unknown[] = [];
    const options = await second.getByLabel('Fila').getByRole('option').all();
    const names = await Promise.all(options.map(async (option) => String(await option.getAttribute('value'))));
    expect(names.length).toBeGreaterThan(10);
    for (const name of names) {
      await second.getByLabel('Fila').selectOption(name);
      await second.waitForLoadState('networkidle');
      for (const width of [320, 1280]) {
        await second.setViewportSize({ width, height: 900 });
        found.push(...(await barriers(second, `queue ${name} ${String(width)}`)));
      }
    }
    expect(found).toEqual([]);
    for (const page of operators) await page.context().close();
  });

  it('goes by keyboard alone from a dispute to its appeal, with evidence', async () => {
    const { id } = await dashboard.charge({ amount: 8800 });
    await dashboard.simulate(id, { event: 'pay' });
    await dashboard.simulate(id, { event: 'med_open' });
    await dashboard.visit(owner, '/test/disputes');
    await owner.getByRole('link', { name: /88,00/ }).waitFor();
    const tabTo = async (name: string | RegExp): Promise<void> => {
      for (let n = 0; n < 60; n++) {
        await owner.keyboard.press('Tab');
        const text = await owner.evaluate<string>(
          "document.activeElement?.type === 'file' ? 'file' : (document.activeElement?.innerText || document.activeElement?.getAttribute('aria-label') || '')",
        );
        if (typeof name === 'string' ? text === name : name.test(text)) return;
      }
      throw new Error(`Tab does not come to ${String(name)}`);
    };
    await tabTo(/^R\$\s88,00$/);
    await owner.keyboard.press('Enter');
    await heading(owner, /Disputa de R\$\s88,00/);
    await tabTo('file');
    const [chooser] = await Promise.all([owner.waitForEvent('filechooser'), owner.keyboard.press('Space')]);
    await chooser.setFiles({ name: 'entrega.png', mimeType: 'image/png', buffer: PNG });
    await owner.getByRole('link', { name: 'entrega.png' }).waitFor();
    await owner.getByRole('heading', { level: 1 }).evaluate('document.querySelector("main").focus()');
    await tabTo('Enviar defesa');
    await owner.keyboard.press('Enter');
    await inDialog(owner).waitFor();
    await inDialog(owner).getByLabel('O que aconteceu').focus();
    await owner.keyboard.type('Entregue em mãos.', { delay: 60 }); // as a person does: an open dialog rests for a moment
    await tabTo('Enviar a defesa');
    await owner.keyboard.press('Enter');
    await owner.getByText('Defesa enviada', { exact: true }).waitFor();
    await owner.getByText('Entregue em mãos.').waitFor();
  });

  it('has no accessibility barrier in open dialogs or in live mode', async () => {
    const found: unknown[] = [];
    const { id } = await dashboard.charge();
    await dashboard.simulate(id, { event: 'pay' });
    for (const [path, dialogs] of [
      [`/test/sales/${id.slice(3)}`, ['Reembolsar']],
      ['/test/webhooks', ['Novo endpoint', 'Verificar uma assinatura']],
      ['/test/developers', ['Criar chave']],
      ['/team', ['Convidar']],
      ['/settings', ['Editar', 'Trocar a senha']],
      ['/test/payouts/destinations', ['Salvar destino']],
      ['/test/sales/new', []],
      ['/live', []],
      ['/live/sales', []],
      ['/live/balance', []],
      ['/live/payouts', []],
      ['/live/payouts/new', []],
      ['/live/payouts/schedule', []],
      ['/live/developers', ['Criar chave']],
    ] as const) {
      await dashboard.visit(owner, path);
      await owner.getByRole('heading', { level: 1 }).waitFor();
      await owner.waitForLoadState('networkidle');
      for (const width of [320, 1280]) {
        await owner.setViewportSize({ width, height: 900 });
        if (dialogs.length === 0) found.push(...(await barriers(owner, `${path} ${String(width)}`)));
        for (const name of dialogs) {
          await owner.getByRole('button', { name, exact: true }).first().click();
          await inDialog(owner).waitFor();
          found.push(...(await barriers(owner, `${path} ${name} ${String(width)}`)));
          await inDialog(owner).getByRole('button', { name: 'Voltar' }).click();
        }
      }
    }
    expect(found).toEqual([]);
    expect(dashboard.faults).toEqual([]);
  });
});
