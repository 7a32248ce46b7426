import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import pg from 'pg';
import type { ChargeBody } from '../../../src/charges/dto/charge.body.js';
import type { PayoutBody } from '../../../src/payouts/index.js';
import { ownerUrl } from '../../../tools/harness/local-servers.js';
import { barriers, Dashboard, go, heading, inDialog, postAsPage } from '../../support/dashboard.js';
import { describeWith } from '../../support/needs.js';
import { CPF, OTHER_CPF } from '../../support/payouts.js';
import { readDemo } from '../../support/process.js';
import { waitFor } from '../../support/wait.js';

jest.setTimeout(600_000);

/** Money on its way to the bank, as a shop's people see it. */
describeWith('browser')('payouts at the dashboard in a real browser', () => {
  const dashboard = new Dashboard();
  let account: string;
  let owner: Page;
  let admin: Page;

  beforeAll(async () => {
    await dashboard.start();
    account = readDemo(dashboard.dataDir).account_id;
    await fund(100_000);
    owner = await dashboard.asOwner();
    admin = await dashboard.colleague(owner, 'bia@example.com', 'ADMIN');
  });
  afterAll(() => dashboard.stop());

  const fund = async (amount: number): Promise<void> => {
    const { id } = await dashboard.charge({ amount });
    await dashboard.simulate(id, { event: 'pay' });
  };
  /** Moves times in the database, which nobody waits for. */
  const sql = async (text: string, id: string): Promise<void> => {
    const client = new pg.Client({ connectionString: ownerUrl(dashboard.dataDir) });
    await client.connect();
    try {
      expect((await client.query(text, [id])).rowCount).toBe(1);
    } finally {
      await client.end();
    }
  };
  const set = async (...settings: string[]): Promise<void> => {
    expect((await dashboard.cli(['account', 'set', account, ...settings])).stderr).toBe('');
  };
  const payouts = async (): Promise<PayoutBody[]> =>
    (await dashboard.api<{ data: PayoutBody[] }>('GET', '/v1/payouts?limit=100')).data;
  const visit = async (page: Page, path: string, title: string | RegExp): Promise<void> => {
    await dashboard.visit(page, path);
    await heading(page, title);
  };
  const send = (page: Page): Locator => page.getByRole('button', { name: /^Enviar R\$/, disabled: false });
  /** Fills in the form for a new receiver by CPF, up to the step of confirmation. */
  const prepare = async (page: Page, amount: string, key = CPF): Promise<void> => {
    await visit(page, '/test/payouts/new', 'Novo saque');
    await page.getByLabel('Valor em reais').waitFor();
    const destination = page.getByLabel('Destino', { exact: true });
    if ((await destination.count()) > 0) await destination.selectOption({ label: 'Outro destino' });
    await page.getByLabel('Chave Pix', { exact: true }).fill(key);
    await page.getByLabel('Valor em reais').fill(amount);
    await page.getByRole('button', { name: 'Continuar' }).click();
    await page.getByRole('heading', { name: 'Confira antes de enviar' }).waitFor();
  };
  const status = (page: Page, name: string): Promise<void> =>
    page.getByRole('region', { name: 'Resumo' }).getByText(name, { exact: true }).waitFor();

  it('leads from the balance to a first payout to the own key, which arrives', async () => {
    await go(owner, 'Saldo');
    await owner.getByRole('region', { name: 'Como este dinheiro chega ao seu banco' }).waitFor();
    await owner.getByRole('link', { name: /^sacar R\$\s1\.000,00$/ }).click();
    await heading(owner, 'Novo saque');
    const key = owner.getByLabel('Chave Pix', { exact: true });
    await key.fill('52998224724');
    await owner.getByText('Se for celular, escreva +55 antes. Como CPF, confira os dígitos.').waitFor();
    await key.fill(CPF);
    await owner.getByText('CPF. Se for celular, escreva +55 antes.').waitFor();
    await owner.getByLabel('Valor em reais').fill('1');
    await key.fill('11987654321');
    await owner.getByRole('button', { name: 'Continuar' }).click();
    await owner.getByRole('alert').getByText('Para o celular, escreva +5511987654321. Se for CPF').waitFor();
    await key.fill(CPF);
    await owner.getByLabel('Salvar este destino').check();
    await owner.getByLabel('Nome do destino').fill('Minha conta');
    await owner.getByRole('button', { name: 'Sacar tudo' }).click();
    expect(await owner.getByLabel('Valor em reais').inputValue()).toBe('1000,00');
    await owner.getByLabel('Valor em reais').fill('1.000,01');
    await owner.getByRole('button', { name: 'Continuar' }).click();
    await owner.getByText(/^O valor passa do que dá para sacar: R\$\s1\.000,00\.$/).waitFor();
    await owner.getByLabel('Valor em reais').fill('129,90');
    await owner.getByLabel('Descrição').fill('Retirada');
    // The second press of a double click must not confirm what nobody has read.
    await owner.getByRole('button', { name: 'Continuar' }).dblclick();
    const fact = (text: RegExp | string): Locator => owner.getByRole('definition').filter({ hasText: text });
    await fact(/^Minha conta$/).waitFor();
    await fact('529.982.247-25 (CPF)').waitFor();
    await fact(/^R\$\s870,10$/).waitFor();
    expect(await payouts()).toEqual([]);
    await send(owner).dblclick();
    await heading(owner, /^Saque de R\$\s129,90$/);
    await status(owner, 'Pago');
    await owner.getByText('Pago: o dinheiro chegou').waitFor();
    await owner.getByText(`Pedido por ${readDemo(dashboard.dataDir).email}`).waitFor();
    await owner.getByRole('button', { name: /^Copiar E\w{13}…\w{6}$/ }).waitFor();
    expect((await payouts()).map(({ amount, metadata }) => [amount, metadata])).toEqual([
      [12_990, { description: 'Retirada' }],
    ]);
    await go(owner, 'Saques');
    const row = owner.getByRole('row', { name: /129,90/ });
    await row.getByText('Minha conta').waitFor();
    await row.getByText('***.982.247-**').waitFor();
    await owner.getByLabel('Situação').selectOption('failed');
    await owner.getByText('Nenhum saque com estes filtros.').waitFor();
    await go(owner, 'Saldo');
    await owner
      .getByRole('row', { name: /-R\$\s129,90/ })
      .getByRole('link', { name: 'saque' })
      .click();
    await heading(owner, /^Saque de R\$\s129,90$/);
  });

  it('asks before the same payout is sent again, and sends it once if so told', async () => {
    const before = (await payouts()).length;
    await visit(owner, '/test/payouts/new', 'Novo saque');
    await owner.getByLabel('Valor em reais').fill('129,90');
    await owner.getByRole('button', { name: 'Continuar' }).click();
    await send(owner).click();
    await owner.getByRole('heading', { name: 'Enviar de novo?' }).waitFor();
    await owner.getByRole('link', { name: 'Ver esse saque' }).waitFor();
    expect(await payouts()).toHaveLength(before);
    await owner.getByRole('button', { name: /^Enviar .* de novo$/, disabled: false }).dblclick();
    await heading(owner, /^Saque de R\$\s129,90$/);
    expect(await payouts()).toHaveLength(before + 1);
  });

  it('sends one payout if the answer is lost, and none if the form then says something else', async () => {
    const before = (await payouts()).length;
    let lost = 0;
    await owner.route('**/v1/dashboard/test/payouts', async (route) => {
      if (route.request().method() !== 'POST' || ++lost > 1) return route.continue();
      // The service has made the payout, but the answer never arrives.
      await route.fetch();
      return route.abort();
    });
    await prepare(owner, '7,77');
    await send(owner).click();
    await owner.getByText('o saque é enviado uma vez só').waitFor();
    await owner.getByRole('button', { name: 'Voltar', disabled: false }).click();
    await owner.getByLabel('Valor em reais').fill('7,78');
    await owner.getByRole('button', { name: 'Continuar', disabled: false }).click();
    await send(owner).click();
    await owner.getByText('O primeiro envio deste formulário chegou').waitFor();
    await owner.getByRole('button', { name: 'Voltar', disabled: false }).click();
    await owner.getByLabel('Valor em reais').fill('7,77');
    await owner.getByRole('button', { name: 'Continuar', disabled: false }).click();
    await send(owner).click();
    await heading(owner, /^Saque de R\$\s7,77$/);
    await owner.unroute('**/v1/dashboard/test/payouts');
    expect(await payouts()).toHaveLength(before + 1);
  });

  it('explains why a payout is not accepted, and sets nothing aside', async () => {
    const before = (await payouts()).length;
    const refused = async (explanation: string | RegExp): Promise<void> => {
      await prepare(owner, '6,66', OTHER_CPF);
      await send(owner).click();
      await owner.getByRole('alert').getByText(explanation).waitFor();
    };
    await set('payout_max=500');
    await refused(/^Cada saque vai até R\$\s5,00\.$/);
    await set('payout_max=none', 'payout_daily_max=100');
    await refused(/^O limite de hoje ainda permite R\$\s0,00\. Amanhã ele começa de novo\.$/);
    await set('payout_daily_max=none', 'payouts_to=own', `tax_id=${CPF}`);
    await refused('Esta conta só saca para contas do próprio titular');
    await set('payouts_to=none', 'tax_id=none');
    expect(await payouts()).toHaveLength(before);
  });

  it('counts the fee of the account', async () => {
    await set('payout_fee=350');
    await prepare(owner, '10', OTHER_CPF);
    const fact = (text: RegExp): Locator => owner.getByRole('definition').filter({ hasText: text });
    await fact(/^R\$\s3,50$/).waitFor();
    await fact(/^R\$\s13,50$/).waitFor();
    await set('payout_fee=0');
  });

  it('takes a Pix code with its amount, and a bank account by the name of the bank', async () => {
    await visit(owner, '/test/payouts/new', 'Novo saque');
    await owner.getByLabel('Destino', { exact: true }).selectOption({ label: 'Outro destino' });
    await owner.getByLabel('Tipo de destino').selectOption({ label: 'Pix copia e cola' });
    const { pix } = await dashboard.api<ChargeBody>(
      'POST',
      '/v1/charges',
      { amount: 1_234, payment_method: 'pix' },
      { 'Idempotency-Key': 'code-to-pay' },
    );
    await owner.getByLabel('Pix copia e cola').fill(pix.br_code);
    expect(await owner.getByLabel('Valor em reais').inputValue()).toBe('12,34');
    await owner.getByRole('button', { name: 'Continuar' }).click();
    await owner.getByRole('button', { name: /^Enviar R\$\s12,34/, disabled: false }).click();
    await heading(owner, /^Saque de R\$\s12,34$/);
    await status(owner, 'Pago');

    await visit(owner, '/test/payouts/destinations', 'Destinos de saques');
    await owner.getByRole('button', { name: 'Salvar destino' }).click();
    const dialog = inDialog(owner);
    await dialog.getByLabel('Tipo de destino').selectOption({ label: 'Agência e conta' });
    await dialog.getByLabel('Banco').selectOption({ label: 'Itaú' });
    await dialog.getByLabel('Agência', { exact: true }).fill('0001');
    await dialog.getByLabel('Conta', { exact: true }).fill('12345-6');
    await dialog.getByLabel('Titular', { exact: true }).fill('Padaria São João');
    await dialog.getByLabel('CPF ou CNPJ do titular').fill('11.222.333/0001-81');
    await dialog.getByLabel('Nome do destino').fill('Itaú da padaria');
    await dialog.getByRole('button', { name: 'Salvar', disabled: false }).dblclick();
    const card = owner.getByRole('region', { name: 'Itaú da padaria' });
    await card.getByText('***56').waitFor();
    await card.getByRole('button', { name: 'Aprovar' }).click();
    await dialog.getByRole('button', { name: 'Aprovar', disabled: false }).dblclick();
    await card.getByText('Aprovado', { exact: true }).waitFor();
    await card.getByRole('button', { name: 'Excluir' }).click();
    await dialog.getByRole('button', { name: 'Excluir', disabled: false }).dblclick();
    await card.waitFor({ state: 'detached' });
    await dashboard.visit(admin, '/test/payouts/destinations');
    await admin.getByRole('region', { name: 'Minha conta' }).getByRole('link', { name: 'Sacar' }).waitFor();
    expect(await admin.getByRole('button', { name: 'Aprovar' }).count()).toBe(0);
  });

  it('waits for a second person above the amount of the account, who approves, and says why the bank refused', async () => {
    await set('payout_approval_above=2000');
    await prepare(owner, '30', OTHER_CPF);
    await owner
      .getByRole('note')
      .getByText(/^Acima de R\$\s20,00, o saque aguarda a aprovação de outra pessoa/)
      .waitFor();
    await send(owner).click();
    await heading(owner, /^Saque de R\$\s30,00$/);
    await owner.getByText('aguarda a aprovação de outra pessoa').waitFor();
    await owner.getByText('Você pediu este saque: outra pessoa').waitFor();
    expect(await owner.getByRole('button', { name: /^(Aprovar|Recusar)$/ }).count()).toBe(0);
    await owner.getByRole('button', { name: 'Recusar (teste)' }).click();
    await go(admin, 'Início');
    await admin.getByRole('link', { name: '1 saque espera a aprovação de outra pessoa' }).click();
    await heading(admin, 'Saques');
    expect(await admin.getByLabel('Situação').inputValue()).toBe('pending');
    await admin.getByRole('row', { name: /30,00/ }).getByRole('link').first().click();
    await admin.getByText('Este saque espera a sua decisão').waitFor();
    await admin.getByRole('button', { name: 'Aprovar' }).click();
    await inDialog(admin)
      .getByText(/^R\$\s30,00 vão para CPF \*\*\*\.444\.777-\*\*\.$/)
      .waitFor();
    await inDialog(admin).getByRole('button', { name: 'Aprovar', disabled: false }).dblclick();
    for (const page of [admin, owner]) {
      await page.getByText('O banco de quem recebe recusou o Pix. O dinheiro voltou ao saldo disponível.').waitFor();
      await page.getByText('Aprovado por bia@example.com').waitFor();
      await status(page, 'Falhou');
    }
    await owner.getByRole('link', { name: 'Fazer outro saque' }).click();
    await heading(owner, 'Novo saque');
  });

  it('lets a second person approve on a phone, where a payout is a card with its approval before its sending', async () => {
    await prepare(owner, '33', OTHER_CPF);
    await send(owner).click();
    await heading(owner, /^Saque de R\$\s33,00$/);
    await admin.setViewportSize({ width: 390, height: 844 });
    await visit(admin, '/test/payouts', 'Saques');
    const row = admin.getByRole('row', { name: /33,00/ });
    await row.getByRole('cell', { name: 'CPF ***.444.777-**' }).waitFor();
    const widths = "(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth])(document.querySelector('.scroll'))";
    const [inner, outer] = await admin.evaluate<[number, number]>(widths);
    expect(inner).toBe(outer);
    await row.getByRole('link').click();
    await admin.getByRole('button', { name: 'Aprovar' }).click();
    await inDialog(admin).getByRole('button', { name: 'Aprovar', disabled: false }).click();
    await status(admin, 'Pago');
    await admin.getByText('Pago: o dinheiro chegou').waitFor();
    const steps = admin.getByRole('region', { name: 'Andamento' }).getByRole('listitem');
    const texts = (await steps.allTextContents()).map((step) => step.replace(/^[\d/]+, [\d:]+ /, ''));
    expect(texts).toEqual([
      `Pedido por ${readDemo(dashboard.dataDir).email}`,
      'Aprovado por bia@example.com',
      'Enviado pelo banco',
      'Pago: o dinheiro chegou',
    ]);
    await admin.setViewportSize({ width: 1280, height: 900 });
  });

  it('lets a second person refuse with the one-time code of their login', async () => {
    await prepare(owner, '31', OTHER_CPF);
    await send(owner).click();
    await heading(owner, /^Saque de R\$\s31,00$/);
    const [payout] = await payouts();
    const colleague = await dashboard.colleague(owner, 'caio@example.com', 'ADMIN');
    const totp = await dashboard.withSecondFactor(colleague);
    await visit(colleague, `/test/payouts/${payout?.id ?? ''}`, /^Saque de R\$\s31,00$/);
    await colleague.getByRole('button', { name: 'Recusar', exact: true }).click();
    const confirm = inDialog(colleague).getByRole('button', { name: 'Recusar' });
    expect(await confirm.isDisabled()).toBe(true);
    await inDialog(colleague).getByLabel('Código do aplicativo').fill('000000');
    await inDialog(colleague).getByRole('button', { name: 'Recusar', disabled: false }).click();
    await inDialog(colleague).getByText('espere o aplicativo mostrar o próximo').waitFor();
    await inDialog(colleague).getByLabel('Código do aplicativo').fill(totp());
    await inDialog(colleague).getByRole('button', { name: 'Recusar', disabled: false }).click();
    await colleague.getByText('Recusado por caio@example.com').waitFor();
    await status(colleague, 'Cancelado');
    await colleague.context().close();
  });

  it('explains to the person behind an API key why another one has to decide', async () => {
    await visit(admin, '/test/developers', 'Desenvolvedores');
    const issued = await admin.evaluate(postAsPage, {
      ...{ path: '/v1/api-keys', body: { test: true, label: 'saques' } },
    });
    const payout = await dashboard.api<PayoutBody>(
      'POST',
      '/v1/payouts',
      { amount: 3_200, destination: { type: 'pix_key', key: OTHER_CPF } },
      { apikey: String(issued['apiKey']), 'Idempotency-Key': 'by-the-key' },
    );
    await visit(admin, `/test/payouts/${payout.id}`, /^Saque de R\$\s32,00$/);
    await admin.getByRole('button', { name: 'Aprovar' }).click();
    await inDialog(admin).getByRole('button', { name: 'Aprovar', disabled: false }).click();
    await inDialog(admin).getByText('Outra pessoa precisa decidir').waitFor();
    await inDialog(admin).getByRole('button', { name: 'Voltar', disabled: false }).click();
    // The person who requested a payout may cancel it while it waits.
    await admin.getByRole('button', { name: 'Mais ações' }).click();
    await admin.getByRole('menuitem', { name: 'Cancelar o saque' }).click();
    await inDialog(admin)
      .getByText(/^R\$\s32,00 voltam ao saldo disponível agora\.$/)
      .waitFor();
    await inDialog(admin).getByRole('button', { name: 'Cancelar o saque', disabled: false }).dblclick();
    await status(admin, 'Cancelado');
    await admin.getByText('Cancelado por bia@example.com').waitFor();
    await set('payout_approval_above=none');
  });

  it('shows what came back, with its reason in words', async () => {
    await prepare(owner, '9', OTHER_CPF);
    await send(owner).click();
    await status(owner, 'Pago');
    await owner.getByRole('button', { name: 'Devolver (teste)' }).click();
    await status(owner, 'Devolvido');
    const returns = owner.getByRole('group', { name: 'Devoluções' });
    await returns.getByRole('cell', { name: 'a agência ou conta não existe' }).waitFor();
    await owner.getByRole('group', { name: 'No extrato' }).getByRole('cell', { name: 'Saque devolvido' }).waitFor();
  });

  it('makes payouts by itself as the schedule says, until it is turned off', async () => {
    await visit(owner, '/test/payouts/schedule', 'Saques programados');
    await owner.getByText('Nenhum saque programado').waitFor();
    await owner.getByLabel('Quando').selectOption({ label: 'Toda semana' });
    await owner.getByLabel('Dia da semana').selectOption({ label: 'quinta-feira' });
    await owner.getByLabel('Horário de São Paulo').fill('10:30');
    await owner.getByLabel('Destino').selectOption({ label: 'Minha conta (CPF ***.982.247-**)' });
    await owner.getByLabel('Quanto fica no saldo').fill('100');
    await owner.getByLabel('Saque mínimo').fill('x');
    expect(await owner.getByRole('button', { name: 'Salvar' }).isDisabled()).toBe(true);
    await owner.getByLabel('Saque mínimo').fill('50');
    await owner.getByRole('button', { name: 'Salvar' }).dblclick();
    const sentence =
      /Toda quinta-feira às 10:30, o que passar de R\$\s100,00 no saldo disponível vai para Minha conta \(CPF \*\*\*\.982\.247-\*\*\), se for pelo menos R\$\s50,00\.$/;
    await owner.getByRole('region', { name: 'Agora' }).getByText(sentence).waitFor();
    await owner.reload();
    await owner.getByRole('region', { name: 'Editar' }).getByText(sentence).waitFor();
    expect(await owner.getByLabel('Dia da semana').inputValue()).toBe('4');
    await go(owner, 'Saldo');
    await owner.getByRole('region', { name: 'Como este dinheiro chega ao seu banco' }).getByText(sentence).waitFor();
    // The last Thursday becomes due.
    await sql(`UPDATE accounts SET payout_schedule_after = now() - interval '8 days' WHERE id = $1`, account);
    await sql(`UPDATE work SET due_at = now() WHERE kind = 'payout_schedule' AND subject_id = $1`, account);
    await go(owner, 'Saques');
    await owner.getByRole('note').getByText(sentence).waitFor();
    const before = (await payouts()).length;
    await waitFor('the payout of the schedule', async () => (await payouts()).length > before, 60_000);
    const [payout] = await payouts();
    await visit(owner, `/test/payouts/${payout?.id ?? ''}`, /^Saque de/);
    await owner.getByText('Pedido pela programação').waitFor();
    await status(owner, 'Pago');
    const { available } = await dashboard.api<{ available: number }>('GET', '/v1/wallets/balance');
    expect(available).toBe(10_000);
    // The only schedule of the account goes to the other mode, whose first destination is saved in place.
    await visit(owner, '/live/payouts/schedule', 'Saques programados');
    await owner.getByText('Antes, salve um destino.').waitFor();
    await owner.getByRole('button', { name: 'Salvar destino' }).click();
    await inDialog(owner).getByLabel('Chave Pix', { exact: true }).fill(CPF);
    await inDialog(owner).getByRole('button', { name: 'Salvar', disabled: false }).click();
    await owner.getByText('A conta tem uma programação só').waitFor();
    await visit(owner, '/test/payouts/schedule', 'Saques programados');
    await owner.getByRole('button', { name: 'Desativar' }).click();
    await inDialog(owner).getByRole('button', { name: 'Desativar', disabled: false }).dblclick();
    await owner.getByText('Nenhum saque programado').waitFor();
    await fund(50_000);
  });

  it('says before a live payout that the account has no tax id', async () => {
    const missing = owner.getByRole('note').getByText('Falta o CPF ou CNPJ da conta');
    await visit(owner, '/live/payouts/new', 'Novo saque');
    await missing.waitFor();
    await set(`tax_id=${CPF}`);
    await owner.reload();
    await owner.getByLabel('Valor em reais').waitFor();
    expect(await missing.count()).toBe(0);
    await set('tax_id=none');
  });

  it('lets a MEMBER look, and not act', async () => {
    const member = await dashboard.colleague(owner, 'rui@example.com', 'MEMBER');
    await member.getByText('rui@example.com · Leitura').waitFor();
    await go(member, 'Saques');
    await member.getByRole('row').nth(1).getByRole('link').first().click();
    await heading(member, /^Saque de/);
    await member.getByRole('region', { name: 'Andamento' }).waitFor();
    expect(await member.getByRole('region', { name: 'Teste' }).count()).toBe(0);
    expect(await member.getByRole('link', { name: 'Novo saque' }).count()).toBe(0);
    await visit(member, '/test/payouts/new', 'Novo saque');
    expect(await member.getByRole('button', { name: 'Continuar' }).isDisabled()).toBe(true);
    await visit(member, '/test/payouts/schedule', 'Saques programados');
    await member.getByText('Só um dono da conta muda a programação.').waitFor();
    expect(await member.getByRole('button', { name: 'Salvar' }).count()).toBe(0);
    await member.context().close();
  });

  it('lets an operator say how a payout ended that the bank does not report', async () => {
    // While it waits for approval there is time to tell the sandbox's bank.
    await set('payout_approval_above=100');
    const payout = await dashboard.api<PayoutBody>(
      'POST',
      '/v1/payouts',
      { amount: 4_700, destination: { type: 'pix_key', key: OTHER_CPF } },
      { 'Idempotency-Key': 'never-reported' },
    );
    await dashboard.api('POST', `/v1/sandbox/payouts/${payout.id}/simulate`, { event: 'review' });
    await admin.evaluate(postAsPage, { path: `/v1/dashboard/test/payouts/${payout.id}/approve`, body: {} });
    await set('payout_approval_above=none');
    await visit(owner, `/test/payouts/${payout.id}`, /^Saque de R\$\s47,00$/);
    await owner.getByText('em análise no banco').waitFor();
    // Operators see payouts that were sent more than five minutes ago.
    await sql(`UPDATE payouts SET sent_at = sent_at - interval '6 minutes' WHERE id = $1`, payout.id.slice(3));
    const operator = await dashboard.operator('op@example.com');
    await visit(operator, '/operations?queue=payouts', 'Operação');
    const row = operator.getByRole('row', { name: /47,00/ });
    await row.getByText('em análise no banco').waitFor();
    await row.getByRole('cell', { name: 'Demo (teste)' }).waitFor();
    await operator
      .getByLabel('Fila')
      .getByRole('option', { name: /^Saques sem desfecho \(1, há \d+ min\)$/ })
      .waitFor({ state: 'attached' });
    await row.getByRole('button', { name: 'Resolver' }).click();
    const dialog = inDialog(operator);
    await dialog
      .getByRole('definition')
      .filter({ hasText: /^R\$\s47,00$/ })
      .waitFor();
    await dialog.getByLabel('No banco').selectOption({ label: 'Não foi pago' });
    await dialog.getByText(/^R\$\s47,00 voltam ao saldo do lojista\./).waitFor();
    expect(await barriers(operator, 'resolve a payout')).toEqual([]);
    expect(await dialog.getByRole('button', { name: 'Confirmar' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Comprovação').fill('O extrato de 28/11 não o tem.');
    await dialog.getByRole('button', { name: 'Confirmar', disabled: false }).dblclick();
    await row.waitFor({ state: 'detached' });
    await status(owner, 'Falhou');
    await owner.getByText('O banco não enviou o saque. O dinheiro voltou ao saldo disponível.').waitFor();
    await visit(owner, '/team', 'Equipe');
    await owner
      .getByRole('row', { name: /Saque resolvido por um operador/ })
      .getByRole('link')
      .click();
    await heading(owner, /^Saque de R\$\s47,00$/);
    await operator.context().close();
  });

  it('has no errors, no requests to other hosts, and no policy violations', () => {
    expect(dashboard.faults).toEqual([]);
  });
});
